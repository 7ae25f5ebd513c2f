"""Points of an experiment: applications on a machine under policies, and what came of them."""
import dataclasses
import pathlib
import sys
import zlib

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402
from paged import paged  # noqa: E402

REPOSITORY = sweeps.REPOSITORY
WORKLOADS = REPOSITORY / "configs/workloads"


@dataclasses.dataclass(frozen=True)
class Point:
    """Applications on a machine under policies, each with its workload's parameters."""

    gpu: str
    applications: tuple  # of (name, YAML map of parameters)
    policies: tuple  # of (key, YAML flow text)
    relaunch: bool = False
    sms: int | tuple = 0  # of each application, or of each its own; 0: all share all
    overrides: tuple = ()  # of (key, value): what differs from the machine
    paged: bool = False  # data come from CPU memory when they are touched

    def name(self):
        """Of its files: applications by name, policies as a checksum."""
        names = [name for name, _ in self.applications]
        return "-".join([*names, f"{zlib.crc32(repr(self).encode()):08x}"])

    def sms_of(self, index):
        """How many an application has; 0: all share all."""
        return self.sms[index] if isinstance(self.sms, tuple) else self.sms

    def scenario(self):
        listed = ", ".join(f"{key}: {text}" for key, text in self.policies)
        tenants = ""
        for index, (name, parameters) in enumerate(self.applications):
            is_copy = name in [other for other, _ in self.applications[:index]]
            label = f"{name}_{index + 1}" if is_copy else name
            sms = self.sms_of(index)
            more = ", relaunch: true" * self.relaunch + f", sms: {sms}" * (sms > 0)
            workload = f"{name}_paged.yaml" if self.paged else f"{WORKLOADS}/{name}.yaml"
            tenants += (f"  - {{name: {label}, workload: {workload}, "
                        f"parameters: {parameters}{more}}}\n")
        changes = ", ".join(f"{key}: {value}" for key, value in self.overrides)
        return (f"override: {{{changes}}}\n" * bool(changes) +
                f"gpu: {REPOSITORY}/configs/gpus/{self.gpu}.yaml\nhost: {REPOSITORY}/configs/hosts/pcie3.yaml\n"
                f"simulation: {{epoch: 100us}}\npolicies: {{{listed}}}\ntenants:\n{tenants}")

    def workloads(self):
        """{file: text} of what its scenario refers to and is not shipped."""
        return {f"{name}_paged.yaml": paged((WORKLOADS / f"{name}.yaml").read_text())
                .replace("module: ", f"module: {WORKLOADS}/") for name, _ in self.applications if self.paged}


class Experiment:
    """A folder with the scenarios of points, the sweep that runs them, and their outputs."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = arguments.folder.resolve()

    def run(self, points, tiny=(), span="60us"):
        """A point that stands there more than once runs once. `tiny`: those that do with --tiny, for so long."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for point in points:
            for file, text in point.workloads().items():
                (self.folder / file).write_text(text)
        sweeps.run_sweep(self.arguments, {point.name(): point.scenario() for point in points},
                         [point.name() for point in tiny], span)

    def output(self, point):
        """The HDF5 file of a point, open for reading."""
        return sweeps.open_output(self.folder / "output" / f"{point.name()}.h5")


def parser_of(text, folder):
    return sweeps.parser_of(text, folder, "show")


def run_or_show(text, folder, points, show, tiny, span="60us"):
    """The program of an experiment without options of its own: runs `points()` - with --tiny `tiny()` for a span - if
    asked to, and shows what came."""
    arguments = parser_of(text, folder).parse_args()
    experiment = Experiment(arguments)
    if arguments.verb == "run":
        experiment.run(list(points()), tiny(), span)
    show(experiment)
