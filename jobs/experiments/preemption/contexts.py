#!/usr/bin/python3
"""Lightweight contexts: Figures 3, 6, 8, 9 and 14 to 17 of paper 002 (Lin, Nyland, Zhou, SC 2016).

    jobs/experiments/preemption/contexts.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/preemption/contexts.py draw [--quick] [--folder DIR]

`run` lets every kernel run alone on the paper's machine with each way to make room, and a signal every 10,000 cycles to
one SM after the other, and pairs of kernels of which one takes SMs from the other; `draw` prints tables beside what
the paper says.

- Occupancy (Figure 3): of registers and shared memory of an SM, by its blocks.
- occup: all registers, warps stop anywhere. live, live-cp, live-cp-tb: live registers at preemption points, as they
  are, compressed by warp, compressed by block where all its warps stand at one barrier. drain: blocks run to their end.
- Registers (Figures 6, 9): bytes in contexts over bytes occupied. Classes (Figures 8, 9): of live registers.
- Spill (Figure 14): from a block's stop until its place is free; of occup from the signal on.
- Latency (Figure 15): from a signal until the SM's last block has left; drain: the part until a block has stopped.
- Worst (Figure 16): the longest of the signals over their mean.
- In place (Figure 17): from the decision until the last block has left; and bytes of a context, with what is not in the
  way left on chip, over all of it.
"""
import dataclasses
import math
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

REPOSITORY = sweeps.REPOSITORY
CYCLE = 1e6 / 0.7  # of 700 MHz, in femtoseconds
WORKLOADS = REPOSITORY / "configs/workloads"
# Table II; long enough for some signals.
KERNELS = {
    "BP": ("backprop", "{inputs: 32768, units: 32, epochs: 1}"),
    "BFS": ("bfs_two", "{vertices: 65536, edges: 524288, block: 512}"),
    "BT": ("btree_range", "{keys: 262144, ranges: 8192}"),
    "CFD": ("cfd", "{cells: 24576, iterations: 1, block: 192}"),
    "DWT": ("dwt2d", "{width: 512, height: 512, levels: 1}"),
    "HW": ("heartwall", "{width: 192, height: 192, points: 60, frames: 2}"),
    "HS": ("hotspot", "{width: 512, height: 512, steps: 2, launches: 3}"),
    "HG": ("histogram1024", "{n: 1048576, blocks: 45}"),
    "KM": ("invert_mapping", "{points: 131072, features: 18, block: 256}"),
    "LK": ("gicov", "{width: 160, height: 160, circles: 3, directions: 60}"),
    "LUD": ("lud", "{tiles: 16}"),
    "SR": ("srad_reduce", "{pixels: 1048576, passes: 2}"),
    "PF": ("pathfinder", "{columns: 100000, rows: 60, steps: 20}"),
    "SC": ("streamcluster", "{points: 32768, dimensions: 16, centres: 8, candidates: 3, block: 512}"),
}
QUICK = ("BP", "BFS", "HS", "LUD", "PF", "SC")
MECHANISMS = {
    "occup": "name: switch, context: occupied",
    "live": "name: switch, context: live, points: selective",
    "live-cp": "name: switch, context: live-compressed, points: selective",
    "live-cp-tb": "name: switch, context: live-compressed-block, points: selective",
    "drain": "name: drain",
}
PAIRS = (("BT", "HG"), ("BP", "HS"), ("HS", "PF"), ("LUD", "BP"), ("PF", "SC"), ("KM", "LUD"), ("HG", "BT"),
         ("SC", "HG"))  # who loses SMs, who takes them
QUICK_PAIRS = (("BP", "HS"), ("PF", "SC"), ("SC", "BP"))
QUICK_COPIES = "{name: quick, link_curve: affine, link_bandwidth: 100GB/s}"  # kernels meet more often
PAIR_MECHANISM = "name: switch, context: live-compressed, points: selective, in_place: "
PAPER = {"registers": {"live": 65.7, "live-cp": 8.5, "live-cp-tb": 5.4}, "spill": {"live-cp": 17.7},
         "latency": {"live-cp": 40.3}, "drain part": {"live-cp": 55.8},
         "worst": {"occup": 1.4, "live-cp": 1.6, "drain": 2.4}}


def runs_of(arguments):
    names = QUICK if arguments.quick else KERNELS
    return [(name, mechanism) for name in names for mechanism in MECHANISMS]


def pairs_of(arguments):
    return [(pair, in_place) for pair in (QUICK_PAIRS if arguments.quick else PAIRS) for in_place in (False, True)]


def name_of_pair(pair, in_place):
    return f"{'-'.join(pair)}-{'in-place' if in_place else 'complete'}"


def workload_text(workload):
    """The shipped workload in device memory: the paper's machine has no page faults."""
    text = (WORKLOADS / f"{workload}.yaml").read_text().replace("module: ", f"module: {WORKLOADS}/")
    managed = re.findall(r"^  (\w+): \{.*memory: managed", text, re.MULTILINE)
    copies = "".join(f"  - copy: {{buffer: {name}, to: device}}\n" for name in managed)
    text = text.replace("memory: managed", "memory: device").replace("\nprogram:\n", f"\nprogram:\n{copies}")
    return re.sub(r"^( *)- read: (\w+)$", r"\1- copy: {buffer: \2, to: host}", text, flags=re.MULTILINE)


def machine_text(preemption, host=f"{REPOSITORY}/configs/hosts/pcie3.yaml"):
    return (f"gpu: {REPOSITORY}/configs/gpus/gtx480.yaml\nhost: {host}\n"
            "simulation: {epoch: 1ms}\n"
            "policies:\n  warp_scheduler: lrr\n  exception_scheme: replay-queue\n"
            f"  preemption: {{{preemption}}}\ntenants:\n")


def tenant_text(tenant, name, folder, more=""):
    workload, parameters = KERNELS[name]
    return f"  - {{name: {tenant}, workload: {folder}/{workload}.yaml, parameters: {parameters}{more}}}\n"


def scenario(name, mechanism, folder):
    return machine_text(f"{MECHANISMS[mechanism]}, signal: 10000") + tenant_text("one", name, folder)


def pair_scenario(pair, in_place, folder):
    again = ", priority: 1, arrival: 200us, arrivals: {uniform: [100us, 400us], count: 8}"
    return (machine_text(PAIR_MECHANISM + str(in_place).lower(), QUICK_COPIES)
            + tenant_text("victim", pair[0], folder, ", relaunch: true")
            + tenant_text("urgent", pair[1], folder, again))


def run(arguments):
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for workload, _ in KERNELS.values():
        (folder / f"{workload}.yaml").write_text(workload_text(workload))
    scenarios = {f"{name}-{mechanism}": scenario(name, mechanism, folder) for name, mechanism in runs_of(arguments)}
    scenarios |= {name_of_pair(*one): pair_scenario(*one, folder) for one in pairs_of(arguments)}
    tiny = ["LUD-occup", "LUD-live-cp"]
    sweeps.run_sweep(arguments, scenarios, tiny, "1500us")


@dataclasses.dataclass
class Measures:
    """Of one kernel and mechanism; times in cycles."""

    signals: int
    latency: float  # of a signal, in the mean
    worst: float  # over that
    stop: float  # of a block, in the mean
    spill: float  # the same, from its stop on
    blocks: int  # that were saved
    resident: float  # blocks in an SM, in the median
    occupied: int  # bytes of registers
    shared: int  # bytes
    saved: int
    classes: list  # dead, uniform, random, strided registers of warps
    block_classes: list  # dead, random, local uniform, local strided, global uniform, global strided


def measure(path):
    """Of a run; all blank without it."""
    try:
        return measures_of(sweeps.open_output(path))
    except sweeps.Missing:
        return BLANK


def measures_of(file):
    import numpy
    with file:
        rows, stats = file["preemptions"][:], file["final/stats/sm"]
        total = {key: stats[key][()].sum(axis=(0, 1)) for key in ("context_parts", "context_registers",
                                                                  "context_block_registers")}
        stop, blocks = int(stats["block_stop_cycles"][()].sum()), int(stats["blocks_saved"][()].sum())
    waits = (rows["released"] - rows["asked"]).astype(numpy.float64) / CYCLE
    _, signal = numpy.unique(rows[["asked", "sm"]], return_inverse=True)
    longest = numpy.array([waits[signal == s].max() for s in range(signal.max() + 1)]) if len(rows) else numpy.zeros(0)
    latency = float(longest.mean()) if len(longest) else math.nan
    stop = stop / blocks if blocks else math.nan
    switched = rows["technique"] == b"switch"  # what meets no point drains
    saved = waits[switched]
    resident = float(numpy.median(numpy.unique(signal[switched], return_counts=True)[1])) if len(saved) else 0
    occupied, _, of_registers, shared = total["context_parts"][:4].tolist()
    return Measures(len(longest), latency, float(longest.max()) / latency if len(longest) else math.nan, stop,
                    float(saved.mean()) - stop if len(saved) else math.nan, blocks, resident, occupied, shared,
                    of_registers, total["context_registers"].tolist(), total["context_block_registers"].tolist())


BLANK = Measures(*[math.nan] * 10, [math.nan] * 4, [math.nan] * 6)


@sweeps.blank_if_missing(2)
def measure_pair(path):
    """Cycles from the decisions until the last block of an SM has left, in the mean, and bytes of a context."""
    import numpy
    with sweeps.open_output(path) as file:
        rows, stats = file["preemptions"][:], file["final/stats/sm"]
        saved, blocks = (int(stats[key][()].sum()) for key in ("context_bytes_saved", "blocks_saved"))
    waits = (rows["released"] - rows["asked"]).astype(numpy.float64) / CYCLE
    _, decision = numpy.unique(rows[["asked", "sm"]], return_inverse=True)
    longest = [waits[decision == one].max() for one in range(decision.max() + 1)] if len(rows) else [math.nan]
    return float(numpy.mean(longest)), saved / blocks if blocks else math.nan


def percent(part, whole):
    return 100 * part / whole if whole else math.nan


def mean(values):
    values = [value for value in values if not math.isnan(value)]
    return sum(values) / len(values) if values else math.nan


def geometric_mean(values):
    return math.exp(mean([math.log(value) if value > 0 else math.nan for value in values]))


def print_table(title, columns, rows, summary=None):
    """rows: {kernel: values}; summary: (name, function of a column)."""
    print(f"\n{title}\n{'':8}" + "".join(f"{column:>12}" for column in columns))
    for name, values in rows.items():
        print(f"{name:8}" + "".join(f"{sweeps.cell(value, '.1f'):>12}" for value in values))
    if summary:
        print(f"{summary[0]:8}" + "".join(f"{sweeps.cell(summary[1](list(column)), '.1f'):>12}"
                                          for column in zip(*rows.values())))


def print_paper(what, columns):
    print(f"{'002':8}" + "".join(f"{PAPER[what][c]:12.1f}" if c in PAPER[what] else f"{'':12}" for c in columns))


def draw(arguments):
    output = arguments.folder / "output"
    names = QUICK if arguments.quick else KERNELS
    all_of = {(name, mechanism): measure(output / f"{name}-{mechanism}.h5") for name, mechanism in runs_of(arguments)}
    kinds = ("live", "live-cp", "live-cp-tb")
    occup = {name: all_of[name, "occup"] for name in names}
    print_table("Figure 3: occupancy of an SM, %", ("registers", "shared"),
                {n: [percent(one.resident * part, one.blocks * size) for part, size in
                     ((one.occupied, 128 * 1024), (one.shared, 48 * 1024))] for n, one in occup.items()},
                ("mean", mean))
    print("BP_1 in 002   60.9        13.7")
    print_table("Figures 6 and 9: registers in contexts, % of those occupied", kinds,
                {n: [percent(all_of[n, k].saved, all_of[n, k].occupied) for k in kinds] for n in names}, ("mean", mean))
    print_paper("registers", kinds)
    print_table("Figure 8: live registers by class, %", ("uniform", "strided", "random"),
                {n: [percent(all_of[n, "live-cp"].classes[c], sum(all_of[n, "live-cp"].classes[1:])) for c in (1, 3, 2)]
                 for n in names}, ("mean", mean))
    print("BP in 002     47.4        52.6         0.0")
    titles = ("random", "local u.", "local s.", "global u.", "global s.")
    print_table("Figure 9: registers of blocks at one barrier by class, %", titles,
                {n: [percent(all_of[n, "live-cp-tb"].block_classes[c], sum(all_of[n, "live-cp-tb"].block_classes[1:]))
                     for c in range(1, 6)] for n in names}, ("mean", mean))

    def ratio(name, kind):
        occupied = all_of[name, "occup"]
        return percent(all_of[name, kind].spill, occupied.spill + occupied.stop)
    print_table("Figure 14: spilling a block, % of occup", kinds, {n: [ratio(n, k) for k in kinds] for n in names},
                ("geomean", geometric_mean))
    print_paper("spill", kinds)
    others = (*kinds, "drain")
    print_table("Figure 15: from a signal until the SM is free, % of occup", others,
                {n: [percent(all_of[n, k].latency, all_of[n, "occup"].latency) for k in others] for n in names},
                ("geomean", geometric_mean))
    print_paper("latency", others)
    print_table("Figure 15: drain part of a block's time, %", kinds,
                {n: [percent(all_of[n, k].stop, all_of[n, k].stop + all_of[n, k].spill) for k in kinds] for n in names},
                ("mean", mean))
    print_paper("drain part", kinds)
    everything = tuple(MECHANISMS)
    print_table("Figure 16: the longest signal over the mean", everything,
                {n: [all_of[n, k].worst for k in everything] for n in names}, ("mean", mean))
    print_paper("worst", everything)
    pairs = {}
    for pair, _ in pairs_of(arguments)[::2]:
        complete, in_place = (measure_pair(output / f"{name_of_pair(pair, kept)}.h5") for kept in (False, True))
        pairs["-".join(pair)] = [percent(part, whole) for part, whole in zip(in_place, complete)]
    print_table("Figure 17: in place, % of all to memory", ("latency", "bytes"), pairs, ("mean", mean))
    print("002          78.5")
    print_table("Signals", everything, {n: [all_of[n, k].signals for k in everything] for n in names})
    print_table("Cycles from a signal until the SM is free", everything,
                {n: [all_of[n, k].latency for k in everything] for n in names})


def main():
    parser = sweeps.parser_of(__doc__, "preemption-contexts", "draw")
    parser.add_argument("--quick", action="store_true", help="few kernels")
    arguments = parser.parse_args()
    {"run": run, "draw": draw}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
