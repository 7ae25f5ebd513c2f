#!/usr/bin/python3
"""Whether every source compiles by itself: the build joins several, so that one may live on what another includes,
until a file is added and the next build joins others.

alone.py [PATTERN]     only sources whose path has this in it; all take some five minutes on two cores
"""
import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/alone"


def commands(pattern):
    """One for each source that is in the repository."""
    subprocess.run(["cmake", "--preset", "release", "-B", BUILD, "-DLOCKSTEP_TESTS=ON", "-DCMAKE_UNITY_BUILD=OFF",
                    "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DLOCKSTEP_COPY_OPTIONS="],
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    all_of_them = json.loads((BUILD / "compile_commands.json").read_text())
    return {entry["file"]: entry for entry in all_of_them
            if pattern in entry["file"] and not pathlib.Path(entry["file"]).is_relative_to(BUILD)}


def compiles(entry):
    words = shlex.split(entry["command"])
    words = words[words.index("/usr/bin/c++") if "/usr/bin/c++" in words else 0:]
    output = words.index("-o")
    words = [word for word in words[:output] + words[output + 2:] if not word.startswith("-M")]
    run = subprocess.run([*words, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, check=False)
    return run.returncode == 0, [line for line in run.stderr.splitlines() if "error" in line][:1]


def main():
    entries = commands(sys.argv[1] if len(sys.argv) > 1 else "")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for file, (good, why) in zip(entries, pool.map(compiles, entries.values())):
            failed += not good
            if not good:
                print(pathlib.Path(file).relative_to(ROOT), *why, flush=True)
    print(f"{len(entries)} sources, {failed} do not compile by themselves")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
