#!/usr/bin/python3
"""Applies each change of mutations.yaml, builds the one target that must notice it, runs that, and puts the file back.
Prints a table; fails if a change survives.

The tree that is changed is a copy, build/mutations; its first build takes as long as any, the others some seconds to
minutes each.  With --here it is this tree and its build/release: for who waits at the keyboard.
"""
import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[3]
LIST = pathlib.Path(__file__).with_name("mutations.yaml")
MOST_SECONDS = 900


def copy():
    """The committed state, in a folder that keeps its build from one time to the next."""
    tree = ROOT / "build/mutations"
    if not tree.exists():
        subprocess.run(["git", "worktree", "add", "--detach", tree], cwd=ROOT, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--force", "--detach",
                    subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()],
                   cwd=tree, check=True)
    return tree


def build(tree, target):
    is_script = target.endswith(".py")
    command = ["cmake", "--build", "--preset", "release", "--target", "lockstep" if is_script else target]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)


def notices(tree, mutation):
    """Whether the target fails."""
    target = mutation["target"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if target.endswith(".py"):
        scenarios = tree / "tests/scenarios"
        environment["LOCKSTEP"] = str(tree / "build/release/lockstep")
        environment["PYTHONPATH"] = f"{scenarios}:{scenarios}/checkpoints"
        command = ["/usr/bin/python3", scenarios / target]
    else:
        command = [tree / "build/release/tests" / target, "--gtest_brief=1"]
        if "filter" in mutation:
            command.append("--gtest_filter=" + mutation["filter"])
    try:
        run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=MOST_SECONDS,
                             check=False)
    except subprocess.TimeoutExpired:
        return True
    return run.returncode != 0


def obstacle(tree, mutation):
    """Why the change cannot be tried, or nothing.  A script that is not there would fail, as if it had noticed."""
    if (tree / mutation["file"]).read_text().count(mutation["from"]) != 1:
        return "has no single: " + mutation["from"]
    target = mutation["target"]
    if target.endswith(".py") and not (tree / "tests/scenarios" / target).exists():
        return f"has the target {target}, which is not in tests/scenarios"
    return None


def fate(tree, mutation):
    if obstacle(tree, mutation):
        return "not applicable"
    path = tree / mutation["file"]
    text = path.read_text()
    path.write_text(text.replace(mutation["from"], mutation["to"]))
    try:
        if build(tree, mutation["target"]).returncode != 0:
            return "does not build"
        return "noticed" if notices(tree, mutation) else "SURVIVED"
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="*", help="only changes of files or for targets like this")
    parser.add_argument("--here", action="store_true", help="change this tree, not a copy")
    parser.add_argument("--list", action="store_true", help="only say whether each change can be applied")
    arguments = parser.parse_args()
    mutations = [m for m in yaml.safe_load(LIST.read_text())
                 if any(fnmatch.fnmatch(m[key], arguments.pattern) for key in ("file", "target"))]
    if arguments.list:
        stale = [m for m in mutations if obstacle(ROOT, m)]
        for mutation in stale:
            print(mutation["file"], obstacle(ROOT, mutation))
        print(f"{len(mutations)} changes, {len(stale)} cannot be applied")
        return 1 if stale else 0
    tree = ROOT if arguments.here else copy()
    subprocess.run(["cmake", "--preset", "release"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    failed = 0
    for mutation in mutations:
        begin = time.monotonic()
        result = fate(tree, mutation)
        failed += result != "noticed"
        print(f"{result:15} {time.monotonic() - begin:5.0f} s  {mutation['target']:30} {mutation['file']}: "
              f"{mutation['from']}", flush=True)
    for target in sorted({m["target"] for m in mutations}):  # as it was
        build(tree, target)
    print(f"{len(mutations)} changes, {failed} not noticed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
