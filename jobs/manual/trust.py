#!/usr/bin/python3
"""How far to trust the simulator: docs/trust.md, docs/validation/claims.md, verdicts in docs/validation/index.md.

    jobs/manual/trust.py           writes them
    jobs/manual/trust.py --check   exit status 1, with the name of the page, if one is not what would be written

The errors come from the tables of docs/validation/v100.md and a100.md, the claims from tests/validation/claims.yaml,
and what is not modelled from the lines after `Simplified:` in the sources.
"""
import argparse
import collections
import pathlib
import re
import statistics
import sys

import claims

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- trust.py: begin -->\n", "<!-- trust.py: end -->\n"
SOURCES = {".hpp", ".cpp", ".cc"}
ROOMS = {
    "models/sm": "Streaming multiprocessor", "models/isa": "Instructions, lowering and the functional interpreter",
    "models/noc": "Network", "models/memory": "L2 and DRAM", "models/vm": "GMMU and TLBs",
    "models/coordinator": "Coordinator", "models/host_link": "Host link", "models/driver": "Driver",
    "models/host": "Host", "models/dispatch": "Dispatcher and preemption", "models/cpu": "CPU cores",
    "models/fabric": "Between GPUs", "models/gpc": "Hubs of GPCs",
    "models/workload": "Workloads", "models/reference": "Functional run", "models/gpu": "The whole machine",
    "core": "Engine", "partitioner": "Partitioner", "jobs/capture": "Capture", "jobs": "The program",
}


def rows(text):
    """The cells of every line of a table, without the lines that separate the head."""
    for line in text.splitlines():
        if line.startswith("| ") and not re.match(r"\|[-:| ]+\|$", line):
            yield [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def measured_class(item, unit):
    if unit in ("GB/s", "B/clk/SM"):
        of_all = re.match(r"stream|add|ReLU|layer norm|softmax", item)
        return "streams over all of memory" if of_all else "bandwidth of caches"
    if unit == "cycles/warp":
        return "L1 hits with bank conflicts"
    if unit == "us":
        return "instruction fetch of a large kernel"
    memory = re.match(r"shared load|chain|L1|L2|DRAM", item)
    return "latency of memories" if memory else "latency of operations"


def errors(root):
    """(class, machine) -> the errors of its rows, in percent."""
    found = collections.defaultdict(list)
    for page in ("v100", "a100"):
        for cells in rows((root / f"docs/validation/{page}.md").read_text(encoding="utf-8")):
            if len(cells) != 6 or not re.fullmatch(r"[-+]\d+ %", cells[4]):
                continue
            item, unit, real, simulated = cells[0], cells[1], *(float(x.replace(",", "")) for x in cells[2:4])
            machine, _, rest = item.rpartition(": ")
            kind = "whole kernels" if cells[5] == "GV" else measured_class(rest, unit)
            found[kind, machine or "V100"].append(100 * (simulated / real - 1))
    return found


def error_table(root):
    found = errors(root)
    lines = ["| class of workload | machine | rows | mean of the absolute errors | median | largest |",
             "|---|---|---:|---:|---:|---:|"]
    for (kind, machine), values in sorted(found.items(), key=lambda pair: (pair[0][1] != "V100", pair[0][1], pair[0])):
        sizes = [abs(value) for value in values]
        lines.append(f"| {kind} | {machine} | {len(values)} | {statistics.fmean(sizes):.1f} % | "
                     f"{statistics.median(sizes):.1f} % | {max(values, key=abs):+.0f} % |")
    return "\n".join(lines) + "\n"


def expected_error(root):
    """The sentence of docs/validation/index.md about the error that one should expect."""
    index = (root / "docs/validation/index.md").read_text(encoding="utf-8")
    return re.search(r"^Over \d+ rows the mean error .*$", index, re.MULTILINE).group()


def room_of(path):
    return max((room for room in ROOMS if path.as_posix().startswith(room + "/")), key=len)


def simplifications(root):
    """(file, words) of every `Simplified:` in a comment, to the end of its paragraph or the next word with a colon."""
    for folder in ("core", "models", "partitioner", "jobs"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SOURCES:
                continue
            text = path.read_text(encoding="utf-8")
            for begin in re.finditer(r"Simplified: ", text):
                words = []
                for line in text[begin.end():].splitlines():
                    if words and not re.match(r"\s*///? ?\S", line):
                        break
                    words.append(re.sub(r"^\s*///? ?", "", line))
                said = re.split(r"\s+(?:Sources?|Contract|Cost model|Simplified): ", " ".join(words))[0].strip()
                if not re.match(r"nothing\.?$", said):
                    yield path.relative_to(root), re.sub(r"\s+", " ", said)


def simplified_lists(root):
    by_room = collections.defaultdict(list)
    for path, words in simplifications(root):
        by_room[room_of(path)].append((path, words))
    lines = []
    for room, title in ROOMS.items():
        if room in by_room:
            lines += ["", f"### {title}", ""]
            lines += [f"- `{path.relative_to(room)}`: {words}" for path, words in by_room[room]]
    return "\n".join(lines).lstrip("\n") + "\n"


PAGE = """# How far to trust it

This page says how far the simulated figures may be from real ones, and what the simulator leaves out. It is generated
(`jobs/manual/trust.py`) from the tables of the [validation](validation/index.md), and from the comments of the sources
that begin with `Simplified:`.

## Errors beside real GPUs

The table compares published measurements with the same programs on the simulated machine. Rows and sources stand on the
pages of the [V100](validation/v100.md) and of the [A100 and Pascal](validation/a100.md).

{errors}
Some parameters of the machines were chosen so that certain rows fit; these rows cannot show how right the machine is.
With each such parameter as it would be without its rows ([what error to
expect](validation/index.md#what-error-to-expect)) the error is larger:

{expected}

Trust orders of magnitude, and comparisons between two policies on one machine, more than an absolute figure of a single
kernel.

## Claims of the papers that do not hold here, or hold in part

[Claims](validation/claims.md) has all claims, with those that hold and with commands.

| | claim | the paper | here | verdict | cause |
|---|---|---|---|---|---|
{claims}

## What is not modelled

The list follows the folders of the sources. Each line quotes a comment of the file that it names.

{simplified}"""


def pages(root):
    """Path -> text of everything that is generated."""
    chapters = claims.load(root)
    index = root / "docs/validation/index.md"
    text = index.read_text(encoding="utf-8")
    yield root / "docs/trust.md", PAGE.format(errors=error_table(root), expected=expected_error(root),
                                              claims="\n".join(claims.open_claims(chapters)),
                                              simplified=simplified_lists(root))
    yield root / "docs/validation/claims.md", claims.claims_page(chapters)
    yield index, text[:text.index(BEGIN)] + BEGIN + claims.verdict_table(chapters) + text[text.index(END):]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    arguments = parser.parse_args()
    status = 0
    for path, text in pages(arguments.root):
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(arguments.root)} is out of date: run jobs/manual/trust.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
