#!/usr/bin/python3
"""Preemption within a latency bound: Figures 4.1 to 4.5 of paper 003 (Shieh, 2016).

    jobs/experiments/preemption/deadlines.py run [--quick] [--bounds US ...] [--techniques NAME ...] [--models NAME ...]
    jobs/experiments/preemption/deadlines.py draw [the same]

`run` lets the urgent task (4096 registers, 2048 bytes, 256 threads per block) arrive at random times beside each of
the paper's kernels, on its machine, for each technique and each latency bound; `draw` prints a table for each figure
beside what the paper says. The oracle knows blocks from a run of the same tenants without a preemption. The kernels
have the paper's registers per thread (Table 4.2).

- share: contexts move at the SM's share of the bandwidth and without traffic, and costs are estimated as in the paper.
- real: contexts move through the memory system, costs are estimated as in the paper.
- measured: real, but a switch is expected to take what those of its kernel took, and a block that has done as much
  as finished ones in the mean is not drained.
- median, ninth: share, but a block is expected to be as long as the median, or the ninth tenth, of the finished blocks
  that are at least as long as what it has executed. Only if --models names them.

- Late (Figures 4.1, 4.5a): tasks that end later than the bound and the first one's time alone after their launch, of
  those launched while the other kernel ran; warm: with the time alone of later ones, which find their data in the
  caches. Released late: of these, tasks for which a chosen block's place came free later than the bound after the
  request.
- Error (Figure 4.2): of drains, |expected - actual| / actual; signed, (expected - actual) / actual.
- Lost (Figures 4.3, 4.5b): warp instructions of flushed blocks, and what switches and drains were estimated to lose,
  over those that all preempted blocks had executed; estimated: how much of it switches and drains were estimated to
  lose.
- In use (Figure 4.4): registers of an SM that blocks have, in the mean from the request until the task has what it is
  to get there; alone: of the kernel's blocks without a preemption (Table 4.2).
- Techniques (Figure 4.5c): of preempted blocks.
"""
import collections
import dataclasses
import math
import pathlib
import re
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

REPOSITORY = sweeps.REPOSITORY
WORKLOADS = REPOSITORY / "configs/workloads"
MICROSECOND = 10**9  # in femtoseconds
TASK = "{blocks: 90, rounds: 20}"  # as many as run at once
ARRIVALS = 40  # some 80 us apart, once the other kernel has its data


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A workload that keeps the GPU busy, with registers per thread and blocks per SM as in Table 4.2."""

    parameters: str
    registers: int
    resident: int  # threads of an SM
    edits: tuple = ()  # of the shipped workload: pattern, text


KERNELS = {
    "pathfinder": Kernel("{columns: 200000, rows: 160, steps: 20}", 16, 1536),
    "hotspot": Kernel("{width: 512, height: 512, steps: 2, launches: 12}", 36, 768),
    "streamcluster": Kernel("{points: 65536, dimensions: 16, centres: 8, candidates: 8, block: 512}", 12, 1536),
    "dwt2d": Kernel("{width: 1024, height: 1024, levels: 1}", 14, 1536),
    "invert_mapping": Kernel("{points: 524288, features: 18, block: 256}", 12, 1536),
    # kmeansPoint; its results, which follow it in the workload, are not among the paper's kernels.
    "kmeans": Kernel("{points: 65536, features: 18, clusters: 8, rounds: 16, block: 256}", 12, 1536,
                     ((r" +- launch: \{kernel: kmeans_(accumulate|move)[^}]*\}\n", ""),)),
    "stencil_coarsened": Kernel("{width: 256, height: 256, depth: 16, steps: 8}", 28, 1024),
    "srad": Kernel("{width: 512, height: 512, iterations: 6}", 20, 1536),
    "btree_range": Kernel("{keys: 262144, ranges: 16384}", 20, 1536),
    # findK, of keys of the whole tree.
    "btree": Kernel("{keys: 65536, queries: 65536, block: 256}", 16, 1536, ((r"high: 12300", "high: 3 * keys + 12"),)),
    "nw_two": Kernel("{tiles: 64}", 48, 256),
    "bfs_two": Kernel("{vertices: 131072, edges: 1048576, block: 512}", 16, 1536),
    "backprop": Kernel("{inputs: 16384, units: 32, epochs: 3}", 24, 1280),
    "heartwall": Kernel("{width: 256, height: 256, points: 120, frames: 5}", 32, 1024),
}
# With real traffic, --quick.
FEW = ("hotspot", "stencil_coarsened", "srad", "bfs_two")
TINY = "backprop"
TECHNIQUES = ("chimera", "chimera-plus", "dual-kernel", "oracle")
MODELS = {"share": "traffic: share", "real": "traffic: real",
          "measured": "traffic: real, switch_estimate: measured, beyond_mean: unknown",
          "median": "traffic: share, drain_estimate: quantile, drain_quantile: 50",
          "ninth": "traffic: share, drain_estimate: quantile, drain_quantile: 90"}
USUAL = ("share", "real", "measured")
WAYS = ("flush", "switch", "drain")
BOUNDS = (2, 3, 4, 5)
REGISTERS = 32768  # of an SM
# Of a drain, us: the question reaches the SM, and the dispatcher hears of the block's end; 45 cycles of 1.4 GHz each.
MESSAGES = 2 * 45 / 1400
# What the paper says, by bound in us; %.
PAPER = {"late": {"chimera": {2: 14.03, 3: 7.95, 4: 1.93, 5: 1.28}, "dual-kernel": {2: 8.36, 3: 1.30, 4: 0, 5: 0},
                  "oracle": {2: 6.9}},
         "lost": {"chimera": {2: 67, 3: 55.3, 4: 50.1, 5: 40.5}, "dual-kernel": {2: 50.1, 3: 38.2, 4: 26.6, 5: 15.9}}}


@dataclasses.dataclass(frozen=True)
class Run:
    kernel: str  # "": the task alone
    technique: str = "none"
    model: str = ""
    bound: int = 0

    def name(self):
        bound = f"{self.bound}us" if self.bound else ""
        parts = [self.kernel or "alone", self.technique, self.model, bound]
        return "-".join(filter(None, parts))

    def profile(self):
        """The run that an oracle goes by."""
        return Run(self.kernel)

    def scenario(self, folder):
        bound = f", latency_bound: {self.bound}us" if self.bound else ""
        profile = f", profile: {folder}/output/{self.profile().name()}.h5" if self.technique == "oracle" else ""
        preemption = f"{{name: {self.technique}, {MODELS[self.model]}{profile}}}" if self.model else self.technique
        records = ", record_blocks: true" if self == self.profile() else ""
        batch = (f"  - {{name: batch, workload: {folder}/{self.kernel}.yaml, relaunch: true, "
                 f"parameters: {KERNELS[self.kernel].parameters}}}\n" if self.kernel else "")
        return (f"gpu: {REPOSITORY}/configs/gpus/shieh_gtx480.yaml\nhost: {REPOSITORY}/configs/hosts/pcie3.yaml\n"
                f"simulation: {{epoch: 1ms{records}, stop_at: {600 + 100 * ARRIVALS}us}}\n"
                f"policies: {{preemption: {preemption}, exception_scheme: replay-queue}}\ntenants:\n{batch}"
                f"  - {{name: urgent, workload: {WORKLOADS}/urgent.yaml, parameters: {TASK}, priority: 1{bound}, "
                f"arrival: 550us, arrivals: {{uniform: [40us, 120us], count: {ARRIVALS}}}}}\n")


def workload_text(kernel):
    """The shipped workload whose launches state the paper's registers."""
    text = (WORKLOADS / f"{kernel}.yaml").read_text().replace("module: ", f"module: {WORKLOADS}/")
    for pattern, instead in KERNELS[kernel].edits:
        text, found = re.subn(pattern, instead, text)
        assert found, f"{kernel}.yaml has changed"
    return re.sub(r"(launch: \{kernel: \w+,)", rf"\1 registers: {KERNELS[kernel].registers},", text)


def kernels_of(arguments, model="share"):
    return FEW if arguments.quick and model != "share" else tuple(KERNELS)


def bounds_of(arguments, model):
    return [bound for bound in arguments.bounds if not arguments.quick or model == "share" or bound == BOUNDS[0]]


def techniques_of(arguments, model):
    """Quick: what distinguishes the models is in those that estimate."""
    few = TECHNIQUES[::2] if arguments.quick and model != "share" else TECHNIQUES
    return [technique for technique in few if technique in arguments.techniques]


def runs_of(arguments):
    """Tightest bound first, so that its table is whole soonest."""
    return [Run(kernel, technique, model, bound) for bound in arguments.bounds for model in arguments.models
            if bound in bounds_of(arguments, model) for technique in techniques_of(arguments, model)
            for kernel in kernels_of(arguments, model)]


def run(arguments):
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for kernel in kernels_of(arguments):
        (folder / f"{kernel}.yaml").write_text(workload_text(kernel))
    runs = runs_of(arguments)
    profiles = [Run(""), *dict.fromkeys(one.profile() for one in runs if one.technique == "oracle")]
    tiny = [one for one in runs if (one.kernel, one.technique, one.model, one.bound) == (TINY, "oracle", "share", 2)]
    for part, chosen in ((profiles, [profiles[0], *(one.profile() for one in tiny)]), (runs, tiny)):
        sweeps.run_sweep(arguments, {one.name(): one.scenario(folder) for one in part},
                         [one.name() for one in chosen], "700us")


@dataclasses.dataclass
class Measures:
    tasks: int = 0
    late: int = 0
    late_warm: int = 0
    released_late: int = 0
    executed: int = 0
    lost: int = 0
    estimated: int = 0  # of what was lost
    time: int = 0
    registers: int = 0  # times that
    errors: list = dataclasses.field(default_factory=list)  # signed
    techniques: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    waits: dict = dataclasses.field(default_factory=dict)  # by technique: expected and actual, in us

    def add(self, other):
        for name in ("tasks", "late", "late_warm", "released_late", "executed", "lost", "estimated", "time",
                     "registers", "errors", "techniques"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for technique, waits in other.waits.items():
            self.waits[technique] = [a + b for a, b in zip(self.waits.get(technique, ([], [])), waits)]

    def value(self, what):
        if what == "tasks":
            return float(self.tasks)
        part, whole = {"late": (self.late, self.tasks), "late, warm": (self.late_warm, self.tasks),
                       "released late": (self.released_late, self.tasks),
                       "lost": (self.lost, self.executed), "estimated": (self.estimated, self.lost),
                       "in use": (self.registers, self.time * REGISTERS),
                       "error": (sum(map(abs, self.errors)), len(self.errors)),
                       "signed error": (sum(self.errors), len(self.errors)),
                       "too short": (sum(error < 0 for error in self.errors), len(self.errors)),
                       **{name: (self.techniques[name], self.techniques.total())
                          for name in WAYS}}[what]
        return 100 * part / whole if whole else math.nan


def task_times(kernels, tenant):
    rows = kernels[kernels["tenant"] == tenant]
    return rows[rows["done"] < 2**63 - 1]


def measure(path, bound, alone):
    """Of a run; all blank without it."""
    try:
        return measures_of(sweeps.open_output(path), bound, alone)
    except sweeps.Missing:
        return Measures()


def measures_of(file, bound, alone):
    import numpy
    with file:
        time, registers = (int(file["final/stats/dispatcher"][key][()].sum())
                           for key in ("takeover_time", "takeover_registers"))
        kernels, rows = file["kernels"][:], file["preemptions"][:]
    measures = Measures(time=time, registers=registers)
    others = kernels[kernels["tenant"] == 0]
    for task in task_times(kernels, 1) if not math.isnan(alone[0]) else ():
        if not ((others["launched"] < task["launched"]) & (others["done"] > task["launched"])).any():
            continue
        measures.tasks += 1
        taken = task["done"] - task["launched"] - bound * MICROSECOND
        measures.late += bool(taken > alone[0])
        measures.late_warm += bool(taken > alone[1])
    known = rows[rows["expected"] < 2**63 - 1]
    waits = (known["released"] - known["asked"]).astype(numpy.float64)
    measures.released_late = len(set(known["urgent"][waits > bound * MICROSECOND].tolist()))
    measures.executed = int(known["executed"].sum())
    kept = known["technique"] != b"flush"
    measures.estimated = int(known["expected_loss"][kept].sum())
    measures.lost = int(known["lost"].sum()) + measures.estimated
    drains = (known["technique"] == b"drain") & (waits > 0)
    measures.errors = ((known["expected"][drains] - waits[drains]) / waits[drains]).tolist()
    for technique in WAYS:
        its = known["technique"] == technique.encode()
        measures.techniques[technique] = int(its.sum())
        measures.waits[technique] = ((known["expected"][its] / MICROSECOND).tolist(),
                                     (waits[its] / MICROSECOND).tolist())
    return measures


def sum_of(measured, names, column):
    measures = Measures()
    for name in names:
        measures.add(measured[name, column])
    return measures


def mean_of_kernels(measured, names, column, what):
    """Each kernel counts once, however many tasks it met and however long its blocks are."""
    return sweeps.mean_of([measured[name, column].value(what) for name in names])


def print_figure(title, what, columns, names, measured, paper=None):
    """`measured`: {(kernel or "all", column): Measures}; a column is (technique, model, bound)."""
    print(f"\n{title}")
    for n, part in enumerate(zip(*columns)):
        print(f"{'':20}" + "".join(f"{str(word) + ('us' if n == 2 else ''):>14}" for word in part))
    for name in (*names, "all"):
        print(f"{name:20}" + "".join(f"{sweeps.cell(measured[name, column].value(what), '.1f'):>14}"
                                     for column in columns))
    means = "".join(f"{sweeps.cell(mean_of_kernels(measured, names, column, what), '.1f'):>14}" for column in columns)
    print(f"{'mean of kernels':20}{means}")
    quick = "".join(f"{sweeps.cell(sum_of(measured, FEW, column).value(what), '.1f'):>14}" for column in columns)
    print(f"{'few (' + str(len(FEW)) + ')':20}{quick}")
    if paper:
        said = [PAPER[paper].get(technique, {}).get(bound, "") for technique, _, bound in columns]
        print(f"{'003':20}" + "".join(f"{one:14}" for one in said))


@sweeps.blank_if_missing(2)
def time_alone(path):
    """Of the first task, and the median of later ones, which find their data in the caches. Without it no task counts
    as late."""
    with sweeps.open_output(path) as file:
        times = task_times(file["kernels"][:], 0)
    times = (times["done"] - times["launched"]).tolist()
    return times[0], statistics.median(times[1:] or times)


def waits_of(measures):
    """Mean times of flushes, switches and drains, three tenths of the signed errors of drains, how many of them are
    expected to take no time, and their signed error if estimates included the messages; the last two in %."""
    means = [sweeps.mean_of(times) for way in WAYS for times in measures.waits.get(way, ([], []))]
    few = len(measures.errors) < 10
    tenths = [math.nan] * 9 if few else statistics.quantiles(measures.errors, n=10)
    drains = [(expected, actual) for expected, actual in zip(*measures.waits.get("drain", ([], []))) if actual > 0]
    at_once = sweeps.mean_of([100.0 * (expected == 0) for expected, _ in drains])
    with_messages = sweeps.mean_of([100 * (expected + MESSAGES - actual) / actual for expected, actual in drains])
    return [*means, float(len(measures.errors)), *(100 * tenths[n] for n in (0, 4, 8)), at_once, with_messages]


def draw(arguments):
    output = arguments.folder / "output"
    alone = time_alone(output / f"{Run('').name()}.h5")
    shown = [sweeps.cell(time / MICROSECOND, ".2f") for time in alone]
    print(f"the first task alone takes {shown[0]} us, later ones {shown[1]} us")
    names = kernels_of(arguments)
    measured = collections.defaultdict(Measures)
    for one in runs_of(arguments):
        column = one.technique, one.model, one.bound
        measured[one.kernel, column] = measure(output / f"{one.name()}.h5", one.bound, alone)
        measured["all", column].add(measured[one.kernel, column])
    tightest = arguments.bounds[0]
    columns = [(technique, model, tightest) for model in arguments.models
               for technique in techniques_of(arguments, model) if tightest in bounds_of(arguments, model)]
    print_figure("Figure 4.1: late tasks, %", "late", columns, names, measured, "late")
    print_figure("Tasks for which a place was free later than the bound, %", "released late", columns, names, measured)
    print_figure("Figure 4.2: error of drain estimates, %", "error", columns, names, measured)
    print_figure("Signed error of drain estimates, %", "signed error", columns, names, measured)
    print_figure("Drains that took longer than expected, %", "too short", columns, names, measured)
    print_figure("Figure 4.3: lost, %", "lost", columns, names, measured, "lost")
    print_figure("Figure 4.4: registers in use, %", "in use", columns, names, measured)
    print(f"{'alone':20}" + ", ".join(
        f"{name} {100 * KERNELS[name].registers * KERNELS[name].resident / REGISTERS:.1f}" for name in names))
    for model in arguments.models:
        ratios = [measured[name, ("dual-kernel", model, tightest)].value("in use")
                  / measured[name, ("chimera", model, tightest)].value("in use")
                  for name in kernels_of(arguments, model) if measured[name, ("chimera", model, tightest)].time]
        ratio = sweeps.cell(sweeps.mean_of(ratios), ".2f")
        print(f"{'':20}dual kernel over Chimera, {model}: {ratio}, in 003 2.93")
    every = [(technique, model, bound) for model in arguments.models for technique in techniques_of(arguments, model)
             for bound in bounds_of(arguments, model)]
    titles = ("tasks", "late", "late, warm", "released late", "lost", "estimated", *WAYS, "error", "signed error",
              "too short")
    means = ("late", "lost")
    rows, waits = {}, {}
    for column in every:
        technique, model, bound = column
        one = measured["all", column]
        name = f"{technique}, {model}, {bound} us"
        rows[name] = ([one.value(title) for title in titles]
                      + [mean_of_kernels(measured, names, column, what) for what in means]
                      + [PAPER[what].get(technique, {}).get(bound, math.nan) for what in means])
        waits[name] = waits_of(one)
    print("\nFigure 4.5: all kernels, %; mean: each kernel counts once")
    columns = [*titles, *(f"{whose} {what}" for whose in ("mean", "003") for what in means)]
    sweeps.print_table("", columns, rows, ".1f")
    print("Expected and actual time of a preempted block, us; tenths of the signed errors of drains, %")
    ways = [f"{way}, {what}" for way in WAYS for what in ("expected", "actual")]
    sweeps.print_table("", [*ways, "drains", "first", "fifth", "ninth", "no time", "signed with messages"], waits)


def main():
    parser = sweeps.parser_of(__doc__, "preemption-deadlines", "draw")
    parser.add_argument("--quick", action="store_true", help="few kernels and one bound with real traffic")
    parser.add_argument("--bounds", type=int, nargs="+", choices=BOUNDS, default=BOUNDS, metavar="US")
    parser.add_argument("--techniques", nargs="+", choices=TECHNIQUES, default=TECHNIQUES, metavar="NAME")
    parser.add_argument("--models", nargs="+", choices=tuple(MODELS), default=USUAL, metavar="NAME")
    arguments = parser.parse_args()
    {"run": run, "draw": draw}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
