"""Points of an experiment as one `lockstep sweep`: what is done stays done, however often it is started."""
import argparse
import dataclasses
import pathlib
import subprocess
import sys
import zlib

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Point:
    """Applications on a machine under policies, each with its workload's parameters."""

    gpu: str
    applications: tuple  # of (name, YAML map of parameters)
    policies: tuple  # of (key, YAML flow text)
    relaunch: bool = False
    sms: int = 0  # of each application; 0: all share all

    def name(self):
        """Of its files: applications by name, policies as a checksum."""
        names = [name for name, _ in self.applications]
        return "-".join([*names, f"{zlib.crc32(repr(self).encode()):08x}"])

    def scenario(self):
        listed = ", ".join(f"{key}: {text}" for key, text in self.policies)
        tenants = ""
        for name, parameters in self.applications:
            more = ", relaunch: true" * self.relaunch + f", sms: {self.sms}" * (self.sms > 0)
            tenants += (f"  - {{name: {name}, workload: {REPOSITORY}/configs/workloads/{name}.yaml, "
                        f"parameters: {parameters}{more}}}\n")
        return (f"gpu: {REPOSITORY}/configs/gpus/{self.gpu}.yaml\nhost: {REPOSITORY}/configs/hosts/pcie3.yaml\n"
                f"simulation: {{epoch: 100us}}\npolicies: {{{listed}}}\ntenants:\n{tenants}")


class Experiment:
    """A folder with the scenarios of points, the sweep that runs them, and their outputs."""

    def __init__(self, arguments, command):
        self.folder = arguments.folder.resolve()
        self.lockstep, self.jobs, self.command = arguments.lockstep, arguments.jobs, command

    def run(self, points, options=()):
        self.folder.mkdir(parents=True, exist_ok=True)
        for point in points:
            (self.folder / f"{point.name()}.yaml").write_text(point.scenario())
        scenarios = "".join(f"  - {point.name()}.yaml\n" for point in dict.fromkeys(points))
        settings = ", ".join(f"'{option}'" for option in ("--threads", "1", *options))
        sweep = self.folder / "sweep.yaml"
        sweep.write_text(f"command: {self.command}\noutput: {self.folder}/output\narguments: [{settings}]\n"
                         f"scenario:\n{scenarios}")
        status = subprocess.run([self.lockstep, "sweep", sweep, "--jobs", str(self.jobs)], check=False).returncode
        if status:
            sys.exit(status)

    def output(self, point):
        """The HDF5 file of a point, open for reading."""
        import h5py
        return h5py.File(self.folder / "output" / f"{point.name()}.h5")

    def metrics(self, point):
        """What `compare` said of a point."""
        import yaml
        name = point.name()
        return yaml.safe_load((self.folder / "output" / name / f"{name}.compare.yaml").read_text())


def parser_of(text, folder):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", "show"))
    parser.add_argument("--lockstep", type=pathlib.Path, default=REPOSITORY / "build/release/lockstep")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(folder))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    return parser
