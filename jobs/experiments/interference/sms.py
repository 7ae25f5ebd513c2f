#!/usr/bin/python3
"""DRAM schedulers for CPU cores and a GPU: S1 to S15 of paper 004 (chapter 5, Figures 5.2 to 5.12).

    jobs/experiments/interference/sms.py run [--folder DIR] [--jobs N] [--categories L HML H] [--mixes N] [--span 1ms]
    jobs/experiments/interference/sms.py show [the same]

`run` simulates mixes of 16 benchmarks on sms_16c1g beside a GPU that draws frames, under each scheduler, with batches
and request buffers of other sizes, and each benchmark and the GPU alone; `show` prints CPU and GPU speedups, the
slowdown of the core that suffers most (harmonic means), and what the programs ask for alone. IPCs are those of the
simulated span.
"""
import dataclasses
import pathlib
import random
import statistics
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

# 004, Table 5.3; the classes are its.
CLASSES = {
    "L": ("tonto", "povray", "calculix", "perlbench", "namd", "dealII", "wrf", "gcc"),
    "M": ("sjeng", "gobmk", "gromacs", "h264ref", "bzip2", "astar", "hmmer", "cactusADM", "sphinx3", "omnetpp", "milc",
          "xalancbmk"),
    "H": ("libquantum", "leslie3d", "soplex", "GemsFDTD", "lbm", "mcf"),
}
CATEGORIES = ("L", "ML", "M", "HL", "HML", "HM", "H")
CORES = 16
QUANTUM = 100_000  # of ATLAS and TCM, in DRAM cycles: these runs are shorter than the papers'
# Ages of 50 and 200 cycles and 1 and 10 requests in a thousand are of the cores' cycles, 3.2 of which are one of the
# DRAM: the paper does not say whose they are.
SMS = "name: sms, age_medium: 16, age_high: 63, low_intensity: 3.2, high_intensity: 32"
SCHEDULERS = {
    "FR-FCFS": "{name: fr-fcfs, age_limit: 0}",
    "PAR-BS": "par-bs",
    "ATLAS": f"{{name: atlas, quantum: {QUANTUM}}}",
    "TCM": f"{{name: tcm, quantum: {QUANTUM}}}",
    "CFR-FCFS": "cfr-fcfs",
    "CTCM": f"{{name: ctcm, quantum: {QUANTUM}}}",
    "SMS": f"{{{SMS}}}",
}
BATCHES = {size: f"{{{SMS}, max_batch: {size}}}" for size in ("1", "10")}
BUFFERS = (64, 128, 256)
WEIGHTS = (1, 16)  # of the GPU beside a core: the paper does not give its own (AMB-20)
GPU = "frames"


@dataclasses.dataclass(frozen=True)
class Machine:
    """What the paper leaves open of its machine, and how much a frame of its GPU computes."""

    controllers: int = 4
    turnaround: str = "channel"
    misses: str = "grouped"
    work: int = 0  # multiply-adds for each float that a frame loads

    def overrides(self):
        keys = {"memory.partitions": self.controllers, "memory.dram.turnaround": self.turnaround,
                "cpu.misses": self.misses}
        return ", ".join(f"gpu.{key}: {value}" for key, value in keys.items())


@dataclasses.dataclass(frozen=True)
class Run:
    """Benchmarks on cores, with or without the GPU, under a scheduler."""

    benchmarks: tuple
    gpu: bool
    scheduler: str
    span: str
    buffer: int = 300  # requests of a controller, half of them for the CPU
    machine: Machine = Machine()

    def name(self):
        label = self.benchmarks[0] if len(self.benchmarks) == 1 else f"{len(self.benchmarks)}cores"
        return f"{label}-{zlib.crc32(repr(self).encode()):08x}"

    def scenario(self):
        configs = sweeps.REPOSITORY / "configs"
        tenants = [f"name: {GPU}, workload: {configs}/workloads/frames.yaml, "
                   f"parameters: {{frames: 1000000, work: {self.machine.work}}}"]
        tenants = tenants * self.gpu + [f"name: core{i}, cpu: {{profile: {name}}}"
                                        for i, name in enumerate(self.benchmarks)]
        return (f"gpu: {configs}/gpus/sms_16c1g.yaml\nhost: {configs}/hosts/pcie3.yaml\n"
                f"simulation: {{epoch: {self.span}, stop_at: {self.span}}}\n"
                f"override: {{gpu.memory.dram.queue: {self.buffer}, gpu.memory.dram.gpu_queue: {self.buffer // 2}, "
                f"{self.machine.overrides()}}}\n"
                f"policies: {{translation: ideal, dram_scheduler: {self.scheduler}}}\ntenants:\n"
                + "".join(f"  - {{{tenant}}}\n" for tenant in tenants))


def mixes(category, count):
    """So many times 16 benchmarks, as many of each class of the category."""
    dice = random.Random(category)
    for _ in range(count):
        yield tuple(dice.choice(CLASSES[category[i % len(category)]]) for i in range(CORES))


class Results:
    """What the runs of a folder measured."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.output = arguments.folder.resolve() / "output"
        self.alone = {}

    def ipcs(self, run):
        with sweeps.open_output(self.output / f"{run.name()}.h5") as file:
            return {row["tenant"].decode(): row["instructions_per_cycle"] for row in file["tenants"][:]}

    def ipc_alone(self, name, machine=Machine()):
        if (name, machine) not in self.alone:
            run = run_alone(name, self.arguments.span, machine)
            self.alone[name, machine] = next(iter(self.ipcs(run).values()))
        return self.alone[name, machine]

    @sweeps.blank_if_missing(3)
    def of_run(self, run):
        """CPU weighted speedup, GPU speedup (0: there is none), largest slowdown of a core."""
        shared = self.ipcs(run)
        speedups = [shared[f"core{i}"] / self.ipc_alone(name, run.machine)
                    for i, name in enumerate(run.benchmarks)]
        gpu = shared[GPU] / self.ipc_alone(GPU, run.machine) if run.gpu else 0
        return sum(speedups), gpu, 1 / min(speedups)

    def of_category(self, category, scheduler, buffer=300):
        runs = [Run(mix, True, scheduler, self.arguments.span, buffer)
                for mix in mixes(category, self.arguments.mixes)]
        cpu, gpu, slowdown = zip(*map(self.of_run, runs))
        return sweeps.mean_of(cpu), sweeps.mean_of(gpu), sweeps.mean_of(slowdown, statistics.harmonic_mean)

    @sweeps.blank_if_missing(3)
    def traffic(self, name):
        """Requests in a microsecond, row locality and bank parallelism of a program alone."""
        with sweeps.open_output(self.output / f"{run_alone(name, self.arguments.span).name()}.h5") as file:
            final = file["final/stats"]
            hits, misses = (final["partition"][key][:].sum() for key in ("row_hits", "row_misses"))
            if "cpu" in final and name != GPU:
                core = final["cpu"]
                banks = core["bank_cycles"][:].sum() / max(core["outstanding_cycles"][:].sum(), 1)
            else:
                banks = gpu_banks(final["partition"])
            return (hits + misses) / (file["final/end"][()] * 1e-9), hits / max(hits + misses, 1), banks


def gpu_banks(partition):
    """Banks of all controllers with requests of the GPU, the first tenant, while it has any."""
    time, banks = (partition[name][:][:, 0].astype(float) for name in ("outstanding_cycles", "bank_cycles"))
    return banks.sum() / max(time.max(), 1)


def run_alone(name, span, machine=Machine()):
    benchmarks = () if name == GPU else (name,)
    return Run(benchmarks, name == GPU, SCHEDULERS["FR-FCFS"], span, machine=machine)


def all_runs(arguments):
    runs = [run_alone(GPU, arguments.span)]
    for category in arguments.categories:
        for mix in mixes(category, arguments.mixes):
            runs += [run_alone(name, arguments.span) for name in sorted(set(mix))]
            runs += [Run(mix, True, scheduler, arguments.span)
                     for scheduler in (*SCHEDULERS.values(), *BATCHES.values())]
            runs += [Run(mix, True, SCHEDULERS["TCM"], arguments.span, buffer) for buffer in BUFFERS]
    return list(dict.fromkeys(runs))


def tiny(arguments):
    """A mix under two schedulers, and what is in it alone."""
    mix = next(mixes(arguments.categories[-1], 1))
    return [run_alone(GPU, arguments.span), *(run_alone(name, arguments.span) for name in sorted(set(mix))),
            *(Run(mix, True, SCHEDULERS[name], arguments.span) for name in ("TCM", "SMS"))]


def show(arguments):
    results = Results(arguments)
    rows = {(category, name): results.of_category(category, scheduler)
            for category in arguments.categories for name, scheduler in SCHEDULERS.items()}
    for title, value, mean in (("CPU+GPU weighted speedup, weight 1", lambda row: row[0] + row[1], statistics.fmean),
                               ("CPU weighted speedup", lambda row: row[0], statistics.fmean),
                               ("GPU speedup", lambda row: row[1], statistics.fmean),
                               ("CPU unfairness", lambda row: row[2], statistics.harmonic_mean)):
        table = {category: [value(rows[category, name]) for name in SCHEDULERS] for category in arguments.categories}
        table["**mean**"] = [sweeps.mean_of(column, mean) for column in zip(*table.values())]
        sweeps.print_table(title, SCHEDULERS, table)
    for title, variants in (("SMS, largest batch", [(label, scheduler, 300) for label, scheduler in BATCHES.items()]),
                            ("TCM, requests in a buffer", [(str(size), SCHEDULERS["TCM"], size)
                                                           for size in (*BUFFERS, 300)])):
        for metric, value in (("speedup", lambda row: row[0] + row[1]), ("unfairness", lambda row: row[2])):
            sweeps.print_table(f"{title}: {metric}", [label for label, _, _ in variants],
                               {category: [value(results.of_category(category, scheduler, size))
                                           for _, scheduler, size in variants] for category in arguments.categories})
    names = sorted({name for category in arguments.categories for mix in mixes(category, arguments.mixes)
                    for name in mix})
    sweeps.print_table("alone", ("requests/us", "row locality", "banks"),
                       {name: results.traffic(name) for name in (GPU, *names)})


def run_or_show(parser, all_runs, tiny, show):
    """What a script with these options does: runs all, or with --tiny few for 10 us, if asked to, and shows them."""
    arguments = parser.parse_args()
    if arguments.tiny:
        arguments.span = "10us"
    if arguments.verb == "run":
        sweeps.run_sweep(arguments, {run.name(): run.scenario() for run in all_runs(arguments)},
                         [run.name() for run in tiny(arguments)], arguments.span)
    show(arguments)


def main():
    parser = sweeps.parser_of(__doc__, "sms", "show")
    parser.add_argument("--categories", nargs="+", choices=CATEGORIES, default=list(CATEGORIES))
    parser.add_argument("--mixes", type=int, default=3, help="of each category")
    parser.add_argument("--span", default="6250us", help="simulated; 20 million cycles of a core")
    run_or_show(parser, all_runs, tiny, show)


if __name__ == "__main__":
    main()
