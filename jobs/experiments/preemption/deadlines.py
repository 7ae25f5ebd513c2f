#!/usr/bin/python3
"""Preemption within a latency bound: Figures 4.1 to 4.5 of paper 003 (Shieh, 2016).

    jobs/experiments/preemption/deadlines.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/preemption/deadlines.py draw [--quick] [--folder DIR]

`run` lets the urgent task (4096 registers, 2048 bytes, 256 threads per block) arrive at random times beside each of
the paper's kernels, on its machine, for each technique and each latency bound; `draw` prints tables beside what the
paper says. The oracle knows blocks from a run of the same tenants without a preemption. The kernels have the paper's
registers per thread (Table 4.2). Contexts move through the memory system (real), or at the SM's share of its
bandwidth and without traffic, as the paper has it (share).

- Violations: tasks that end later than the bound and their time alone after their launch, of those launched while the
  other kernel ran.
- Late releases: tasks for which a chosen block's place came free later than the bound after the request.
- Overhead: warp instructions that are lost (flushed ones, and for a switch those of two transfers) over those that all
  preempted blocks had executed.
- In use: registers of an SM that blocks have, in the mean from the request until the task has what it is to get there.
- Estimation error: of drains, |expected - actual| / actual.
"""
import collections
import dataclasses
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

REPOSITORY = sweeps.REPOSITORY
WORKLOADS = REPOSITORY / "configs/workloads"
MICROSECOND = 10**9  # in femtoseconds
TASK = "{blocks: 90, rounds: 20}"  # as many as run at once


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A workload that keeps the GPU busy, with registers per thread as in Table 4.2."""

    parameters: str
    registers: int


KERNELS = {
    "pathfinder": Kernel("{columns: 200000, rows: 160, steps: 20}", 16),
    "hotspot": Kernel("{width: 512, height: 512, steps: 2, launches: 12}", 36),
    "streamcluster": Kernel("{points: 65536, dimensions: 16, centres: 8, candidates: 8, block: 512}", 12),
    "dwt2d": Kernel("{width: 1024, height: 1024, levels: 1}", 14),
    "invert_mapping": Kernel("{points: 524288, features: 18, block: 256}", 12),
    "stencil_coarsened": Kernel("{width: 256, height: 256, depth: 16, steps: 8}", 28),
    "srad": Kernel("{width: 512, height: 512, iterations: 6}", 20),
    "btree_range": Kernel("{keys: 262144, ranges: 16384}", 20),
    "bfs_two": Kernel("{vertices: 131072, edges: 1048576, block: 512}", 16),
    "backprop": Kernel("{inputs: 16384, units: 32, epochs: 3}", 24),
    "heartwall": Kernel("{width: 256, height: 256, points: 120, frames: 5}", 32),
}
QUICK = ("hotspot", "stencil_coarsened", "srad", "bfs_two")
TECHNIQUES = ("chimera", "chimera-plus", "dual-kernel", "oracle")
TRAFFICS = ("real", "share")
BOUNDS = (2, 3, 4, 5)
REGISTERS = 32768  # of an SM
ORACLE = 6.9  # % of violations at 2 us, in 003
PAPER = {"violations": {"chimera": (14.03, 7.95, 1.93, 1.28), "dual-kernel": (8.36, 1.30, 0, 0)},
         "overhead": {"chimera": (67, 55.3, 50.1, 40.5), "dual-kernel": (50.1, 38.2, 26.6, 15.9)}}


@dataclasses.dataclass(frozen=True)
class Run:
    kernel: str  # "": the task alone
    technique: str = "none"
    traffic: str = ""
    bound: int = 0
    quick: bool = False

    def name(self):
        parts = [self.kernel or "alone", self.technique, self.traffic, f"{self.bound}us", "quick" if self.quick else ""]
        return "-".join(filter(None, parts))

    def profile(self):
        """The run that an oracle goes by."""
        return Run(self.kernel, quick=self.quick)

    def scenario(self, folder):
        count = 8 if self.quick else 40
        bound = f", latency_bound: {self.bound}us" if self.bound else ""
        profile = f", profile: {folder}/output/{self.profile().name()}.h5" if self.technique == "oracle" else ""
        preemption = f"{{name: {self.technique}, traffic: {self.traffic}{profile}}}" if self.traffic else self.technique
        records = ", record_blocks: true" if self == self.profile() else ""
        batch = (f"  - {{name: batch, workload: {folder}/{self.kernel}.yaml, relaunch: true, "
                 f"parameters: {KERNELS[self.kernel].parameters}}}\n" if self.kernel else "")
        return (f"gpu: {REPOSITORY}/configs/gpus/shieh_gtx480.yaml\nhost: {REPOSITORY}/configs/hosts/pcie3.yaml\n"
                f"simulation: {{epoch: 1ms{records}}}\n"
                f"policies: {{preemption: {preemption}, exception_scheme: replay-queue}}\ntenants:\n{batch}"
                f"  - {{name: urgent, workload: {WORKLOADS}/urgent.yaml, parameters: {TASK}, priority: 1{bound}, "
                f"arrival: 150us, arrivals: {{uniform: [40us, 120us], count: {count}}}}}\n")


def workload_text(kernel):
    """The shipped workload whose launches state the paper's registers."""
    text = (WORKLOADS / f"{kernel}.yaml").read_text().replace("module: ", f"module: {WORKLOADS}/")
    return re.sub(r"(launch: \{kernel: \w+,)", rf"\1 registers: {KERNELS[kernel].registers},", text)


def runs_of(arguments):
    kernels = QUICK if arguments.quick else KERNELS
    bounds = BOUNDS[::3] if arguments.quick else BOUNDS
    alone = [Run("", quick=arguments.quick)]
    return alone + [Run(kernel, technique, traffic, bound, arguments.quick) for kernel in kernels
                    for technique in TECHNIQUES for traffic in TRAFFICS for bound in bounds]


def run(arguments):
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    runs = runs_of(arguments)
    for kernel in {run.kernel for run in runs} - {""}:
        (folder / f"{kernel}.yaml").write_text(workload_text(kernel))
    for part in ({one.profile() for one in runs}, set(runs)):  # profiles first
        sweeps.run_sweep(arguments, {one.name(): one.scenario(folder) for one in sorted(part, key=Run.name)})


@dataclasses.dataclass
class Measures:
    tasks: int = 0
    late: int = 0
    late_releases: int = 0
    executed: int = 0
    lost: int = 0
    time: int = 0
    registers: int = 0  # times that
    errors: list = dataclasses.field(default_factory=list)
    techniques: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add(self, other):
        self.tasks += other.tasks
        self.late += other.late
        self.late_releases += other.late_releases
        self.executed += other.executed
        self.lost += other.lost
        self.time += other.time
        self.registers += other.registers
        self.errors += other.errors
        self.techniques += other.techniques

    def violations(self):
        return 100 * self.late / self.tasks if self.tasks else float("nan")

    def releases(self):
        return 100 * self.late_releases / self.tasks if self.tasks else float("nan")

    def overhead(self):
        return 100 * self.lost / self.executed if self.executed else float("nan")

    def use(self):
        return 100 * self.registers / (self.time * REGISTERS) if self.time else float("nan")

    def error(self):
        return 100 * sum(self.errors) / len(self.errors) if self.errors else float("nan")


def task_times(kernels, tenant):
    rows = kernels[kernels["tenant"] == tenant]
    return rows[rows["done"] < 2**63 - 1]


def measure(path, bound, alone):
    import h5py
    import numpy
    with h5py.File(path) as file:
        kernels, rows = file["kernels"][:], file["preemptions"][:]
        time, registers = (int(file["final/stats/dispatcher"][key][()].sum())
                           for key in ("takeover_time", "takeover_registers"))
    measures = Measures(time=time, registers=registers)
    others = kernels[kernels["tenant"] == 0]
    for task in task_times(kernels, 1):
        if not ((others["launched"] < task["launched"]) & (others["done"] > task["launched"])).any():
            continue
        measures.tasks += 1
        measures.late += bool(task["done"] - task["launched"] > alone + bound * MICROSECOND)
    known = rows[rows["expected"] < 2**63 - 1]
    late = known[known["released"] - known["asked"] > bound * MICROSECOND]
    measures.late_releases = len(set(late["urgent"].tolist()))
    switched = known["technique"] == b"switch"
    measures.executed = int(known["executed"].sum())
    measures.lost = int(known["lost"].sum() + known["expected_loss"][switched].sum())
    drains = known[(known["technique"] == b"drain") & (known["released"] > known["asked"])]
    actual = (drains["released"] - drains["asked"]).astype(numpy.float64)
    measures.errors = (numpy.abs(drains["expected"] - actual) / actual).tolist()
    measures.techniques.update(name.decode() for name in known["technique"])
    return measures


def draw(arguments):
    import h5py
    output = arguments.folder / "output"
    with h5py.File(output / f"{Run('', quick=arguments.quick).name()}.h5") as file:
        times = task_times(file["kernels"][:], 0)
    alone = int((times["done"] - times["launched"]).min())
    print(f"the task alone takes {alone / MICROSECOND:.2f} us")
    total = collections.defaultdict(Measures)
    titles = "".join(f"{title:>9}" for title in ("late %", "places %", "lost %", "use %", "error %"))
    print(f"{'kernel':20}{'technique':14}{'traffic':8}{'bound':>6}{'tasks':>7}{titles}  techniques")
    for one in runs_of(arguments)[1:]:
        measures = measure(output / f"{one.name()}.h5", one.bound, alone)
        total[one.technique, one.traffic, one.bound].add(measures)
        print_row(one.kernel, (one.technique, one.traffic, one.bound), measures)
    for (technique, traffic, bound), measures in total.items():
        print_row("all", (technique, traffic, bound), measures)
        for what in PAPER:
            if technique in PAPER[what]:
                print(f"{'':20}paper: {what} {PAPER[what][technique][BOUNDS.index(bound)]} %")
        if technique == "dual-kernel" and total["chimera", traffic, bound].time:
            ratio = measures.use() / total["chimera", traffic, bound].use()
            print(f"{'':20}in use, times as much as with chimera: {ratio:.2f}, paper 2.93 at 2 us")
        if technique == "oracle" and bound == 2:
            print(f"{'':20}paper: violations {ORACLE} %")


def print_row(kernel, run_with, measures):
    technique, traffic, bound = run_with
    shares = ", ".join(f"{name} {count}" for name, count in sorted(measures.techniques.items()))
    values = (measures.violations(), measures.releases(), measures.overhead(), measures.use(),
              measures.error())
    numbers = "".join(f"{value:9.1f}" for value in values)
    print(f"{kernel:20}{technique:14}{traffic:8}{bound:4}us{measures.tasks:7}{numbers}  {shares}")


def main():
    parser = sweeps.parser_of(__doc__, "preemption-deadlines", "draw")
    parser.add_argument("--quick", action="store_true", help="few kernels, bounds and tasks")
    arguments = parser.parse_args()
    {"run": run, "draw": draw}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
