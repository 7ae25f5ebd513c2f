#!/usr/bin/python3
"""Builds the CUDA programs of a folder, captures each and replays what was recorded.

    jobs/capture/suite.py FOLDER [--only EXPRESSION] [--include FOLDER] [--gpu v100] [--seconds 120] [--table suite.csv]
                          [--lockstep build/release/lockstep] [--nvcc nvcc] [--option=-std=c++17]

A program is a folder below FOLDER of whose .cu and .cpp files one has a main function: all of them are built together
by nvcc -cudart shared -arch=sm_75, and if that fails, as where files include each other, the one alone.  In a folder
with several main functions each .cu file with one is a program.  It runs where its source is, without arguments.  The
table says of each: built, ended with status 0, captured, replayed with --check, and the first reason why not.  Exit
status 1 if a recording was replayed wrongly.
"""
import argparse
import csv
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COLUMNS = ("program", "built", "captured", "replayed", "launches", "reason")
MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*main\s*\(", re.MULTILINE)


def run(command, seconds, folder):
    """Status and the last line that the command said; status None when it took too long."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, timeout=seconds, text=True,
                              errors="replace", capture_output=True, check=False)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {seconds} s"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line or line.startswith("lockstep") or "check failed" in line]
    return done.returncode, (telling or lines or [""])[-1].strip()


class Suite:
    """What is done to each program, in a folder that goes away."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, pathlib.Path(scratch)

    def build(self, sources):
        """The first of the sources has the main function."""
        program = self.scratch / "program"
        program.unlink(missing_ok=True)
        folders = [sources[0].parent, *self.options.include]
        for files in dict.fromkeys((tuple(sources), tuple(sources[:1]))):
            status, said = run([self.options.nvcc, "-cudart", "shared", "-arch=sm_75", "-w", *self.options.option,
                                *(f"-I{folder}" for folder in folders), *files, "-o", program],
                               self.options.seconds, sources[0].parent)
            if status == 0:
                return program, said
        return None, said

    def capture(self, program, source):
        output = self.scratch / "captured.workload"
        shutil.rmtree(output, ignore_errors=True)
        command = [self.options.lockstep, "capture", "--gpu", self.options.gpu, "--output", output, "--", program]
        status, said = run(command, self.options.seconds, source.parent)
        for left in self.scratch.glob("*.part"):
            shutil.rmtree(left)
        return output if output.exists() else None, status, said

    def replay(self, recording):
        scenario = self.scratch / "scenario.yaml"
        scenario.write_text(f"gpu: {self.options.gpu}\nhost: pcie3\n"
                            f"tenants: [{{name: captured, workload: {recording}}}]\n")
        return run([self.options.lockstep, "run", scenario, "--check", "--quiet", "--threads", "auto", "--output",
                    self.scratch / "out.h5", "--overwrite"], self.options.seconds, self.scratch)

    def row(self, name, sources):
        row = dict.fromkeys(COLUMNS, "")
        row["program"] = name
        program, row["reason"] = self.build(sources)
        row["built"] = "yes" if program else "no"
        if not program:
            return row
        recording, status, said = self.capture(program, sources[0])
        row["captured"] = "yes" if recording and status == 0 else "part" if recording else "no"
        row["reason"] = "" if status == 0 else said
        if not recording:
            return row
        text = (recording / "workload.yaml").read_text()
        row["launches"] = re.search(r"^# (\d+) launches", text, re.MULTILINE).group(1)
        status, said = self.replay(recording)
        row["replayed"] = {0: "right", 3: "wrong", None: "too long"}.get(status, "refused")
        row["reason"] = row["reason"] or ("" if status == 0 else said)
        return row


def has_main(path):
    return MAIN.search(path.read_text(errors="replace")) is not None


def programs(folder, only):
    """Names and sources, the one with the main function first."""
    for here in sorted({path.parent for path in folder.rglob("*.cu")}):
        if not only.search(str(here.relative_to(folder))):
            continue
        sources = sorted([*here.glob("*.cu"), *here.glob("*.cpp")])
        mains = [path for path in sources if has_main(path)]
        if len(mains) == 1:
            yield str(here.relative_to(folder)), [mains[0], *(path for path in sources if path != mains[0])]
        else:
            yield from ((str(path.relative_to(folder)), [path]) for path in mains if path.suffix == ".cu")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--only", default="", type=re.compile, help="folders whose name has this in it")
    parser.add_argument("--include", action="append", default=[], type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--option", action="append", default=[], help="of nvcc")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--table", default="suite.csv")
    parser.add_argument("--lockstep", default="build/release/lockstep", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch, open(options.table, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        for name, sources in programs(options.folder, options.only):
            rows.append(Suite(options, scratch).row(name, sources))
            table.writerow(rows[-1])
            file.flush()
            print("  ".join(str(rows[-1][column]) for column in COLUMNS), flush=True)
    for column, good in (("built", "yes"), ("captured", "yes"), ("replayed", "right")):
        print(f"{column}: {sum(row[column] == good for row in rows)} of {len(rows)}")
    return 1 if any(row["replayed"] == "wrong" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
