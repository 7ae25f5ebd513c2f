#!/usr/bin/python3
"""Loads that a round of a loop makes for the next one, in what ptxas makes of kernels for the V100.

carried_loads.py --tools DIR [PTX ...]

DIR holds ptxas and nvdisasm 11.8; without files, those of workloads and validation.  An innermost loop
carries a load if it reads the register before the load writes it, and nothing else writes it in between or behind: the
value comes from the round before.  The source may ask for that (a pointer that is followed); if it does not, ptxas has
moved a load of the next round above arithmetic of this one.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\d+\s+)?(\S+)\s*(.*?)\s*;")
BACK = re.compile(r"BRA `\((\.L_\w+)\)")
NO_RESULT = ("ST", "RED", "BRA", "BAR", "EXIT", "ISETP", "FSETP", "DSETP")


def disassembled(ptx, tools, folder):
    """{kernel: lines}, empty for what ptxas 11.8 does not read."""
    text = re.sub(r"\.version \S+", ".version 7.8", ptx.read_text(), count=1)
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(re.sub(r"\.target \S+", ".target sm_70", text, count=1))
    compiled = subprocess.run([tools / "ptxas", "-arch=sm_70", source, "-o", cubin], capture_output=True, check=False)
    if compiled.returncode:
        return {}
    text = subprocess.run([tools / "nvdisasm", "-c", cubin], capture_output=True, text=True, check=True).stdout
    sections = text.split(".section\t.text.")[1:]
    return {section.split(",")[0]: section.splitlines() for section in sections}


def innermost_loops(lines):
    """Their instructions: (opcode, operands)."""
    code, labels = [], {}
    for line in lines:
        if label := re.match(r"^(\.L_\w+):", line):
            labels[label[1]] = len(code)
        elif instruction := INSTRUCTION.match(line):
            code.append(instruction.groups())
    back = [(labels[target[1]], at) for at, (opcode, operands) in enumerate(code)
            if (target := BACK.match(f"{opcode} {operands}")) and labels.get(target[1], at + 1) <= at]
    for head, tail in back:  # a branch to itself is padding
        if head < tail and not any(head <= other and end < tail for other, end in back):
            yield code[head:tail + 1]


def written(opcode, operands):
    """Numbers of the registers that it writes."""
    first = re.match(r"R(\d+)", operands)
    if not first or opcode.startswith(NO_RESULT):
        return range(0)
    words = 4 if ".128" in opcode else 2 if ".64" in opcode or "WIDE" in opcode else 1
    return range(int(first[1]), int(first[1]) + words)


def reads(opcode, operands, register):
    sources = operands if opcode.startswith(NO_RESULT) else operands.partition(",")[2]
    return re.search(rf"\bR{register}\b", sources) is not None


def is_carried(body, at, register):
    """What the load at this place writes is read by the next round."""
    if any(register in written(*later) for later in body[at + 1:]):
        return False
    for earlier in body[:at]:
        if reads(*earlier, register):
            return True
        if register in written(*earlier):
            return False
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", required=True, type=pathlib.Path, help="folder of ptxas and nvdisasm 11.8")
    parser.add_argument("ptx", nargs="*", type=pathlib.Path,
                        default=sorted([*ROOT.glob("configs/workloads/*.ptx"), *ROOT.glob("tests/validation/*/*.ptx")]))
    arguments = parser.parse_args()
    kernels = loops = loads = 0
    with tempfile.TemporaryDirectory() as folder:
        for ptx in arguments.ptx:
            for kernel, lines in disassembled(ptx, arguments.tools, pathlib.Path(folder)).items():
                kernels += 1
                for body in innermost_loops(lines):
                    loops += 1
                    places = [at for at, (opcode, _) in enumerate(body) if re.match("LD[GSL]", opcode)]
                    loads += len(places)
                    carried = [at for at in places if any(is_carried(body, at, r) for r in written(*body[at]))]
                    for at in carried[:1]:
                        print(f"{ptx.stem}, {kernel}: {' '.join(body[at])}")
    print(f"{kernels} kernels, {loops} innermost loops, {loads} loads in them")


if __name__ == "__main__":
    main()
