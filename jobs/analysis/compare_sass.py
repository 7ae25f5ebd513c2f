#!/usr/bin/python3
"""Sets our lowered kernels against what ptxas makes of the same PTX.

For each kernel of the given workloads: registers (`ptxas -v`), instructions in the program text, and
warp instructions executed. The executed instructions of the SASS are not measured (there is no GPU):
every PTX line gets a .loc, nvdisasm tells which SASS instruction stems from which line, and every
straight stretch of SASS counts as often as our functional interpreter executes the PTX block it
stems from (of several, when ptxas predicated: the most frequent one with a fair share), limited by
how often it can be reached. Where ptxas unrolled a loop, each copy counts its share, those of the
remainder only when the trips per entry are fewer than the copies. Slow paths behind a call do not
count. Synchronisation of SASS that our machine does not have (BSSY, BSYNC, BMOV) does count; padding,
the work-around SHFL and the set-up of an unused stack pointer do not. Registers are rows of the
allocation, the stack pointer, and two that sm_70 keeps for itself.

  jobs/analysis/compare_sass.py --counts build/release/isa_counts --tools DIR [WORKLOAD.yaml ...]

DIR holds ptxas and nvdisasm 11.8 (Debian's nvidia-cuda-toolkit, `dpkg -x`); V100 is sm_70, which the
PTX is compiled for. Prints a Markdown table; exit status 1 when a bound is broken.
"""

import argparse
import collections
import glob
import math
import os
import re
import subprocess
import sys
import tempfile

INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,5})\*/\s+(.*?);")
LINE_NOTE = re.compile(r'//## File ".*?", line (\d+)')
# One SASS instruction each: their copies count how often ptxas copied a line.
COUNTABLE = ("LDG", "STG", "LDS", "STS", "LDL", "STL", "BAR", "SHFL", "RED", "ATOM")
# Work-arounds for errors of the first Volta silicon and the set-up of an unused stack pointer.
SET_UP = re.compile(r"SHFL\.IDX PT, RZ, RZ, RZ, RZ|MOV(\.U32)? R1,.* c\[0x0\]\[0x28\]")


def read_counts(tool, workload):
    """{kernel: {registers, lowered [(slots, n)], lines {line: n}, block_of {line: b}, blocks {b: n}}}"""
    text = subprocess.run([tool, workload], check=True, capture_output=True, text=True).stdout
    kernels, module, kernel = {}, None, None
    for line in text.splitlines():
        word = line.split()
        if word[0] == "kernel":
            module = word[1]
            kernel = {"registers": int(word[3]), "lowered": [], "block_of": {}, "blocks": {}}
            kernels[word[2]] = kernel
        elif word[0] == "reference":
            number, times, block = (int(w) for w in word[1:])
            kernel["block_of"].setdefault(number, block)
            # The first instruction of a block: lanes may leave it half-way, but few do.
            kernel["blocks"].setdefault(block, times)
        else:
            kernel["lowered"].append((int(word[2]), int(word[3])))
    return module, kernels


def with_line_numbers(ptx):
    """The PTX for sm_70, every instruction line marked with its own number."""
    result, depth = [], 0
    for number, line in enumerate(ptx.splitlines(), 1):
        text = line.strip()
        if text.startswith(".version"):
            line = '.version 7.8'
        elif text.startswith(".target"):
            line = ".target sm_70"
        elif text.startswith(".address_size"):
            line += '\n.file 1 "kernel.ptx"'
        if depth > 0 and text and not text.startswith((".", "//", "$", "{", "}", ")")):
            result.append(f".loc 1 {number} 0")
        depth += text.count("{") - text.count("}") if not text.endswith(";") else 0
        result.append(line)
    return "\n".join(result) + "\n"


class Sass:
    """One kernel's machine code: basic blocks of (opcode, text, PTX line), edges, loops."""

    def __init__(self, section):
        self.blocks, self.static = [[]], 0
        names, line = {}, 0
        for text in section.splitlines():
            note = LINE_NOTE.search(text)
            if note:
                line = int(note[1])
            label = re.match(r"^\s*\.(L_x_\d+):", text)
            if label:
                self.start_block()
                names[label[1]] = len(self.blocks) - 1
            match = INSTRUCTION.match(text)
            if not match or match[2].startswith("NOP"):
                continue
            if SET_UP.search(match[2]):
                continue
            guard, rest = re.match(r"(@!?U?P\d+\s+)?(.*)", match[2]).groups()
            self.blocks[-1].append((rest.split()[0], rest, line, bool(guard)))
            if re.match(r"(BRA|EXIT|RET|BRX|CALL|BREAK)", rest):
                self.start_block()
        self.blocks = [b for b in self.blocks] if self.blocks[-1] else self.blocks[:-1]
        # The last instruction is a branch to itself: padding.
        while self.blocks and (not self.blocks[-1] or self.is_padding(len(self.blocks) - 1, names)):
            self.blocks.pop()
        self.static = sum(len(b) for b in self.blocks)
        self.find_edges(names)
        self.find_loops()

    def start_block(self):
        if self.blocks[-1]:
            self.blocks.append([])

    def is_padding(self, b, names):
        block = self.blocks[b]
        target = re.search(r"`\(\.(L_x_\d+)\)", block[-1][1])
        return len(block) == 1 and block[0][0] == "BRA" and not block[0][3] and target and names.get(
            target[1], b) >= b

    def find_edges(self, names):
        self.next = []
        for b, block in enumerate(self.blocks):
            after = []
            opcode, text, _, guarded = block[-1] if block else ("", "", 0, True)
            target = re.search(r"`\(\.(L_x_\d+)\)", text)
            if opcode.startswith("BRA") and target and target[1] in names:
                after.append(names[target[1]])
            ends = opcode.startswith(("BRA", "EXIT", "RET", "BRX")) and not guarded
            if not ends and b + 1 < len(self.blocks):
                after.append(b + 1)
            self.next.append([t for t in after if t < len(self.blocks)])

    def find_loops(self):
        """For each block the header of the smallest loop around it (backward edges), or None; what
        cannot be reached without a call (slow paths) is not in `reached`."""
        self.reached, work = set(), [0]
        while work:
            b = work.pop()
            if b not in self.reached:
                self.reached.add(b)
                work += self.next[b]
        self.loop = [None] * len(self.blocks)
        loops = sorted((b - t, t, b) for b in self.reached for t in self.next[b] if t <= b)
        for _, head, tail in loops:
            for b in range(head, tail + 1):
                if self.loop[b] is None:
                    self.loop[b] = (head, tail)

    def is_slow_path(self, b):
        return any(i[0].startswith("CALL") for i in self.blocks[b])


SYNCHRONISATION = ("BSYNC", "BSSY", "BMOV", "WARPSYNC", "BREAK")


def is_meeting(sass, b):
    """Only says where lanes meet: as often executed as it is reached."""
    return all(i[0].startswith(SYNCHRONISATION) for i in sass.blocks[b])


def block_of(sass, b, kernel):
    """The PTX block a stretch of SASS stems from. Predicated code comes from several: the one that
    is executed most often of those with a fair share of the instructions."""
    known = collections.Counter(
        kernel["block_of"][i[2]] for i in sass.blocks[b]
        if i[2] in kernel["block_of"] and not i[0].startswith(SYNCHRONISATION))
    if not known:
        return None
    size = sum(known.values())
    fair = [p for p, n in known.items() if n * 6 >= size or n >= 4]
    return max(fair or known, key=lambda p: (kernel["blocks"][p], known[p]))


def shares(sass, kernel, origin, by_loop):
    """What part of the PTX block's executions each SASS copy of it takes, by SASS loop."""
    copies = {}
    for loop, blocks in by_loop.items():
        lines = collections.Counter(
            (i[2], i[0].split(".")[0])
            for b in blocks for i in sass.blocks[b]
            if i[0].startswith(COUNTABLE) and kernel["block_of"].get(i[2]) == origin)
        copies[loop] = max(lines.values(), default=1)
    inside = [loop for loop in by_loop if loop is not None]
    chosen = list(by_loop)
    if inside and len(by_loop) > 1:
        # Copies inside the unrolled loop against those that do what is left over.
        times = kernel["blocks"][origin]
        before = kernel["blocks"].get(origin - 1, times)
        entered = before if 0 < before < times else times
        largest = max(inside, key=lambda loop: copies[loop])
        if copies[largest] > 1:
            rest = [loop for loop in by_loop if loop != largest]
            chosen = [largest] if times >= copies[largest] * entered else [
                min(rest, key=lambda loop: copies[loop])]
    return {loop: 1.0 / copies[loop] for loop in chosen}


def limit_by_flow(sass, times):
    """A block is not executed more often than it is reached: corrects code that ptxas moved in front
    of a loop, or that stems from a loop's lines behind it. A loop is left as often as entered."""
    before = collections.defaultdict(list)
    for b in sass.reached:
        for t in sass.next[b]:
            before[t].append(b)

    def entries(head, tail):
        return sum(times.get(p, 0) for p in before[head] if not head <= p <= tail)

    for b in sorted(times):
        if not before[b] or any(p >= b for p in before[b]):
            continue
        left = {sass.loop[p] for p in before[b]
                if sass.loop[p] and not sass.loop[p][0] <= b <= sass.loop[p][1]}
        reached = sum(times.get(p, 0) for p in before[b] if sass.loop[p] not in left)
        if is_meeting(sass, b):  # lanes that parted come together: once, not once each
            times[b] = max([times.get(p, 0) for p in before[b] if sass.loop[p] not in left] +
                           [entries(*loop) for loop in left])
            continue
        limit = reached + sum(entries(*loop) for loop in left)
        times[b] = min(times[b], limit)


def executed(sass, kernel):
    """Warp instructions that the SASS would execute, and how often each of its blocks is."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    meetings = []
    for b in sass.reached:
        origin = block_of(sass, b, kernel)
        if is_meeting(sass, b):
            meetings.append(b)
        elif origin is not None and not sass.is_slow_path(b):
            groups[origin][sass.loop[b]].append(b)
    times = {}
    for origin, by_loop in groups.items():
        share = shares(sass, kernel, origin, by_loop)
        for loop in share:
            for b in by_loop[loop]:
                times[b] = kernel["blocks"][origin] * share[loop]
    for b in meetings:
        times[b] = 0
    limit_by_flow(sass, times)
    return sum(len(sass.blocks[b]) * n for b, n in times.items()), times


def compile_module(tools, module, directory):
    """{kernel: (registers, Sass)}"""
    source, cubin = os.path.join(directory, "k.ptx"), os.path.join(directory, "k.cubin")
    with open(module, encoding="utf-8") as file:
        text = with_line_numbers(file.read())
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    log = subprocess.run(
        [os.path.join(tools, "ptxas"), "-v", "-lineinfo", "-arch=sm_70", source, "-o", cubin],
        check=True, capture_output=True, text=True).stderr
    registers, kernel = {}, None
    for line in log.splitlines():
        name = re.search(r"Compiling entry function '(\w+)'", line)
        kernel = name[1] if name else kernel
        used = re.search(r"Used (\d+) registers", line)
        if used:
            registers[kernel] = int(used[1])
    listing = subprocess.run([os.path.join(tools, "nvdisasm"), "-c", "-g", cubin], check=True,
                             capture_output=True, text=True).stdout
    result = {}
    for section in re.split(r"//-+ \.text\.", listing)[1:]:
        name = re.match(r"(\w+)", section)[1]
        result[name] = (registers.get(name, 0), Sass(section.split("//---------------------")[0]))
    return result


def compare(tool, tools, workload):
    module, kernels = read_counts(tool, workload)
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        machine = compile_module(tools, module, directory)
    for name, kernel in kernels.items():
        registers, sass = machine[name]
        ours = sum(slots * times for slots, times in kernel["lowered"])
        rows.append({
            "workload": os.path.basename(workload)[:-5], "kernel": name,
            "registers": (registers, kernel["registers"]),
            "static": (sass.static, sum(slots for slots, _ in kernel["lowered"])),
            "executed": (executed(sass, kernel)[0], ours)})
    return rows


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", required=True, help="the isa_counts program")
    parser.add_argument("--tools", required=True, help="folder of ptxas and nvdisasm 11.8")
    parser.add_argument("workloads", nargs="*",
                        default=sorted(glob.glob(os.path.join(here, "../../configs/workloads/*.yaml"))))
    arguments = parser.parse_args()
    rows = []
    for workload in arguments.workloads:
        try:
            rows += compare(arguments.counts, arguments.tools, workload)
        except subprocess.CalledProcessError as error:
            print(f"{workload}: skipped, {error.stderr.strip()[:200]}", file=sys.stderr)
    print("| workload | kernel | registers ptxas | ours | static SASS | ours | executed SASS | ours | ratio |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    logs, broken = [], 0
    for row in rows:
        theirs, ours = row["executed"]
        ratio = ours / theirs if theirs else float("nan")
        wide = abs(row["registers"][1] - row["registers"][0]) > max(4, 0.15 * row["registers"][0])
        far = theirs > 0 and not 0.75 <= ratio <= 1.25
        broken += wide + far
        if theirs > 0 and ours > 0:
            logs.append(math.log(ratio))
        print("| {} | {} | {} | {}{} | {} | {} | {:.0f} | {} | {:.2f}{} |".format(
            row["workload"], row["kernel"], *row["registers"], " !" if wide else "", *row["static"],
            theirs, ours, ratio, " !" if far else ""))
    mean = math.exp(sum(logs) / len(logs)) if logs else float("nan")
    print(f"\nGeometric mean of executed warp instructions, ours to SASS: {mean:.3f} "
          f"over {len(logs)} kernels; \"!\" marks {broken} values outside of the bounds.")
    return 0 if broken == 0 and 0.9 <= mean <= 1.1 else 1


if __name__ == "__main__":
    sys.exit(main())
