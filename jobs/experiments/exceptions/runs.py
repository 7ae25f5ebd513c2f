"""Runs of an experiment: a benchmark on k20 under policies, and how long its kernel took."""
import dataclasses
import math
import pathlib
import re
import sys
import zlib

import benchmarks

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

REPOSITORY = sweeps.REPOSITORY
# Host file and what a fault costs (section 5.3).
HOSTS = {"NVLink": ("nvlink", "migrate: 12us, allocate: 10us"),
         "PCIe": ("pcie3_tanasic", "migrate: 25us, allocate: 12us")}


def handling(name, link, serialize):
    """`policies.fault_handling` of the paper: by the host, or `local`."""
    pool = ", pool: 1024" if name == "local" else ""
    return f"{{name: {name}, cost_model: tanasic, batch: per-block, serialize: {serialize}, {HOSTS[link][1]}{pool}}}"


@dataclasses.dataclass(frozen=True)
class Run:
    """A benchmark on k20 with these policies."""

    benchmark: str
    placement: str
    policies: tuple  # of (key, YAML flow text)
    host: str = "nvlink"
    sms: int = 16
    quick: bool = False
    machine: tuple = ()  # of (key of the GPU, YAML flow text), beside the number of SMs

    def name(self):
        """Of its files: the policies by name, their parameters as a checksum."""
        names = [re.search(r"[a-z][a-z0-9-]+", text.replace("name:", ""))[0] for _, text in self.policies]
        size = ["quick"] if self.quick else []
        checksum = zlib.crc32(repr(self.policies + self.machine).encode())
        return "-".join([self.benchmark, self.placement, self.host, f"{self.sms}sms", *size, *names, f"{checksum:08x}"])

    def scenario(self, folder):
        parameters = getattr(benchmarks.ALL[self.benchmark], "quick" if self.quick else "full")
        policies = {"page_manager": "base-pages", **dict(self.policies)}
        listed = ", ".join(f"{key}: {text}" for key, text in policies.items())
        override = "".join(f", gpu.{key}: {text}" for key, text in self.machine)
        return (f"gpu: {REPOSITORY}/configs/gpus/k20.yaml\nhost: {REPOSITORY}/configs/hosts/{self.host}.yaml\n"
                f"simulation: {{epoch: 1ms}}\noverride: {{gpu.sm.count: {self.sms}{override}}}\n"
                f"policies: {{{listed}}}\n"
                f"tenants:\n  - {{name: one, workload: {folder}/{self.benchmark}_{self.placement}.yaml, "
                f"parameters: {parameters}}}\n")


class Experiment:
    """A folder with the scenarios of runs, the sweep that runs them, and their output."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = arguments.folder.resolve()

    def run(self, runs, tiny=()):
        """`tiny`: those that run with --tiny."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for run in runs:
            text = benchmarks.workload_text(run.benchmark, run.placement)
            (self.folder / f"{run.benchmark}_{run.placement}.yaml").write_text(text)
        sweeps.run_sweep(self.arguments, {run.name(): run.scenario(self.folder) for run in runs},
                         [run.name() for run in tiny], "10ms")

    def kernels(self, run):
        """Rows of /kernels of the measured kernel."""
        with sweeps.open_output(self.folder / "output" / f"{run.name()}.h5") as file:
            kernels = file["kernels"][:]
        return kernels[kernels["kernel"] == benchmarks.ALL[run.benchmark].kernel.encode()]

    @sweeps.blank_if_missing()
    def time(self, run):
        """Femtoseconds in which the benchmark's kernel ran; NaN without such a run, or while it goes on."""
        return sweeps.kernel_time(self.kernels(run))

    @sweeps.blank_if_missing()
    def stalled(self, run, cause):
        """Percent of the schedulers' cycles in the benchmark's kernel that issue nothing for this cause."""
        kernels = self.kernels(run)
        cycles = sum(float(kernels[name].sum()) for name in kernels.dtype.names
                     if name == "issue_slots" or name.startswith("stall_"))
        return 100 * float(kernels[f"stall_{cause}"].sum()) / cycles

    def ratio(self, base, run):
        """Performance of `run` relative to `base`."""
        return self.time(base) / self.time(run)


def geometric_mean(values):
    values = [value for value in values if not math.isnan(value)]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def parser_of(text):
    parser = sweeps.parser_of(text, "exceptions", "draw")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes on two cores")
    return parser
