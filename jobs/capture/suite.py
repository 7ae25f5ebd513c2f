#!/usr/bin/python3
"""Builds the CUDA programs of a folder, captures each and replays what was recorded.

    jobs/capture/suite.py FOLDER [--only EXPRESSION] [--include FOLDER] [--gpu v100] [--seconds 120] [--table suite.csv]
                          [--lockstep build/release/lockstep] [--nvcc nvcc] [--option=-std=c++17]
    jobs/capture/suite.py FOLDER --arguments jobs/capture/cuda_samples.txt --listed --arch sm_80 --gpu a100 [the same]
    jobs/capture/suite.py FOLDER --draw 75 --seed 49 --only=-cuda$ --arguments jobs/capture/hecbench.txt
                          --make ARCH=sm_80 --make 'EXTRA_CFLAGS=-cudart shared' [--replay EXPRESSION] [the same]

A program is a folder below FOLDER of whose .cu and .cpp files one has a main function: all of them are built together
by nvcc -cudart shared -arch=sm_75 (--arch), and if that fails, as where files include each other, the one alone.  In a
folder with several main functions each .cu file with one is a program.  With --make a program is a folder with a
Makefile, which builds it with these variables, and its `program =` names what it makes.  It runs where its source is,
without arguments or with those that --arguments has for it, once for each line of its folder and the words.  Words
-DNAME=VALUE in front give NAME that value wherever its sources #define it, in a copy (not with --make).  --listed
leaves out programs that have no line.

The table says of each: built, ended with status 0, captured, what it says of its own results (right, wrong, or
nothing), replayed with --check, and the first reason why not.  Exit status 1 if a recording was replayed wrongly or a
program that was captured says that its results are wrong.
"""
import argparse
import csv
import dataclasses
import itertools
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

COLUMNS = ("program", "built", "captured", "results", "replayed", "launches", "reason")
MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*main\s*\(", re.MULTILINE)
DEFINE = re.compile(r"-D\w+=")
PROGRAM = re.compile(r"^program\s*:?=\s*(\S+)", re.MULTILINE)
WRONG = re.compile(r"(?<!\b0 )\bfail(s|ed|ures?)?\b(?!\s*[:=]?\s*0\b)|\bincorrect\b|\bmismatch", re.IGNORECASE)
RIGHT = re.compile(r"\bpass(ed)?\b|\bsuccess|\bcorrect\b|\bok\b|\bverified\b|results match", re.IGNORECASE)


def run_for(command, seconds, folder):
    """Status, None when it took too long, and the lines that the command said."""
    program = subprocess.Popen([str(word) for word in command], cwd=folder, text=True, errors="replace",
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    with program:
        try:
            said = program.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)  # what it has started as well
            said = program.communicate()[0]
            return None, [*said.splitlines(), f"took longer than {seconds} s"]
    return program.returncode, [line for line in said.splitlines() if line.strip()]


def last_of(lines):
    telling = [line for line in lines if "error" in line or line.startswith("lockstep") or "check failed" in line]
    return (telling or lines or [""])[-1].strip()


def results_of(lines):
    """What a program says of its own results."""
    lines = [line for line in lines if not line.startswith("lockstep")]
    if any(WRONG.search(line) for line in lines):
        return "wrong"
    return "right" if any(RIGHT.search(line) for line in lines) else ""


@dataclasses.dataclass
class Program:
    name: str
    folder: pathlib.Path
    sources: list  # the one with the main function first; none: a Makefile builds it
    words: list    # of its command line
    defines: dict = dataclasses.field(default_factory=dict)  # values of names that its sources define

    def makefile(self):
        """Where it is, or should be."""
        return next((folder / "Makefile" for folder in (self.folder, self.folder / "src")
                     if (folder / "Makefile").exists()), self.folder / "Makefile")


class Suite:
    """What is done to each program, in a folder that goes away."""

    def __init__(self, options, scratch):
        self.options, self.scratch = options, pathlib.Path(scratch)
        self.built, self.build_of_last = None, None

    def built_once(self, program):
        """The same for lines of one program that differ in its words only."""
        if self.built != (program.name, program.defines):
            self.built = (program.name, program.defines)
            self.build_of_last = self.build(program)
        return self.build_of_last

    def build(self, program):
        """The program that was made, and what was said."""
        if self.options.make:
            return self.build_by_make(program.makefile())
        made = self.scratch / "program"
        made.unlink(missing_ok=True)
        folders = [program.folder, *self.options.include]
        if program.defines:
            program, lacking = self.redefined(program)
            folders.insert(0, program.folder)
            if lacking:
                return None, [f"error: no source has #define {lacking}"]
        for files in dict.fromkeys((tuple(program.sources), tuple(program.sources[:1]))):
            status, said = run_for([self.options.nvcc, "-cudart", "shared", f"-arch={self.options.arch}", "-w",
                                    *self.options.option, *(f"-I{folder}" for folder in folders), *files, "-o", made],
                                   self.options.seconds, program.folder)
            if status == 0:
                return made, said
        return None, said

    def redefined(self, program):
        """A copy of the program with other values, and the first name that no source defines."""
        copy = self.scratch / "sources"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(program.folder, copy)
        found = set()
        for path in (path for path in copy.rglob("*") if path.suffix in (".cu", ".cpp", ".cuh", ".h")):
            text = path.read_text(errors="surrogateescape")
            for name, value in program.defines.items():
                defined = re.compile(rf"^(\s*#\s*define\s+{name})(?:[ \t].*)?$", re.MULTILINE)
                text, count = defined.subn(rf"\1 {value}", text)
                found.update([name] if count else [])
            path.write_text(text, errors="surrogateescape")
        sources = [copy / path.relative_to(program.folder) for path in program.sources]
        lacking = next((name for name in program.defines if name not in found), None)
        return dataclasses.replace(program, folder=copy, sources=sources), lacking

    def build_by_make(self, makefile):
        named = PROGRAM.search(makefile.read_text()) if makefile.exists() else None
        if not named:
            return None, ["no Makefile that says `program =`"]
        status, said = run_for(["make", f"CC={self.options.nvcc}", *self.options.make], self.options.seconds,
                               makefile.parent)
        return makefile.parent / named[1] if status == 0 else None, said

    def capture(self, program, made):
        output = self.scratch / "captured.workload"
        shutil.rmtree(output, ignore_errors=True)
        status, said = run_for([self.options.lockstep, "capture", "--gpu", self.options.gpu, "--output", output, "--",
                                made, *program.words],
                               self.options.seconds, made.parent if self.options.make else program.folder)
        for left in self.scratch.glob("*.part"):
            shutil.rmtree(left)
        return output if output.exists() else None, status, said

    def replay(self, recording):
        scenario = self.scratch / "scenario.yaml"
        scenario.write_text(f"gpu: {self.options.gpu}\nhost: pcie3\n"
                            f"tenants: [{{name: captured, workload: {recording}}}]\n")
        return run_for([self.options.lockstep, "run", scenario, "--check", "--quiet", "--threads", "auto", "--output",
                        self.scratch / "out.h5", "--overwrite"], self.options.seconds, self.scratch)

    def row(self, program):
        row = dict.fromkeys(COLUMNS, "")
        row["program"] = " ".join([program.name, *(f"-D{name}={value}" for name, value in program.defines.items()),
                                   *program.words]) if self.options.listed else program.name
        made, said = self.built_once(program)
        row["built"] = "yes" if made else "no"
        if not made:
            row["reason"] = last_of(said)
            return row
        recording, status, said = self.capture(program, made)
        row["captured"] = "yes" if recording and status == 0 else "part" if recording else "no"
        row["reason"] = "" if status == 0 else last_of(said)
        if not recording:
            return row
        row["results"] = results_of(said)
        text = (recording / "workload.yaml").read_text()
        row["launches"] = re.search(r"^# (\d+) launches", text, re.MULTILINE).group(1)
        if self.options.replay.search(program.name):
            status, said = self.replay(recording)
            row["replayed"] = {0: "right", 3: "wrong", None: "too long"}.get(status, "refused")
            row["reason"] = row["reason"] or ("" if status == 0 else last_of(said))
        return row


def has_main(path):
    return MAIN.search(path.read_text(errors="replace")) is not None


def programs(folder, only):
    """Folders of sources with a main function."""
    for here in sorted({path.parent for path in folder.rglob("*.cu")}):
        name = str(here.relative_to(folder))
        if not only.search(name):
            continue
        sources = sorted([*here.glob("*.cu"), *here.glob("*.cpp")])
        mains = [path for path in sources if has_main(path)]
        if len(mains) == 1:
            rest = [path for path in sources if path != mains[0]]
            yield Program(name, here, [mains[0], *rest], [])
        else:
            for path in (path for path in mains if path.suffix == ".cu"):
                yield Program(str(path.relative_to(folder)), here, [path], [])


def lines_of(path):
    """The command lines of each program."""
    lines = {}
    for line in path.read_text().splitlines() if path else []:
        name, *words = shlex.split(line, comments=True) or [""]
        lines.setdefault(name, []).append(words)
    return lines


def with_line(program, words):
    defines = [word[2:].split("=", 1) for word in itertools.takewhile(DEFINE.match, words)]
    return dataclasses.replace(program, words=words[len(defines):], defines=dict(defines))


def chosen(options):
    lines = lines_of(options.arguments)
    if not options.make:
        found = list(programs(options.folder, options.only))
    else:
        names = sorted(path.name for path in options.folder.iterdir()
                       if path.is_dir() and options.only.search(path.name))
        found = [Program(name, options.folder / name, [], []) for name in names]
    if options.listed:
        found = [program for program in found if program.name in lines]
    if options.draw:
        found = random.Random(options.seed).sample(found, options.draw)
    return [with_line(program, words) for program in found for words in lines.get(program.name, [[]])]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--only", default="", type=re.compile, help="folders whose name has this in it")
    parser.add_argument("--draw", type=int, help="so many of them, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--arguments", type=pathlib.Path, help="a file of command lines")
    parser.add_argument("--listed", action="store_true", help="only programs that --arguments has")
    parser.add_argument("--arch", default="sm_75", help="that nvcc compiles for")
    parser.add_argument("--make", action="append", default=[], help="a variable for make, as NAME=VALUE")
    parser.add_argument("--replay", default="", type=re.compile, help="only programs whose name has this in it")
    parser.add_argument("--include", action="append", default=[], type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--option", action="append", default=[], help="of nvcc")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--table", default="suite.csv")
    parser.add_argument("--lockstep", default="build/release/lockstep", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    return parser.parse_args()


def main():
    options = parse()
    rows = []
    with tempfile.TemporaryDirectory() as scratch, open(options.table, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        suite = Suite(options, scratch)
        for program in chosen(options):
            rows.append(suite.row(program))
            table.writerow(rows[-1])
            file.flush()
            print("  ".join(str(rows[-1][column]) for column in COLUMNS), flush=True)
    for column, good in (("built", "yes"), ("captured", "yes"), ("results", "right"), ("replayed", "right")):
        print(f"{column}: {sum(row[column] == good for row in rows)} of {len(rows)}")
    return 1 if any(row["replayed"] == "wrong" or row["results"] == "wrong" and row["captured"] == "yes"
                    for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
