"""Runs the program on small scenarios; shared by the scenario tests.

The path of the program comes in LOCKSTEP, the one of mpirun in MPIRUN.
"""
import contextlib
import datetime
import os
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKSTEP = os.environ["LOCKSTEP"]
MPIRUN = os.environ.get("MPIRUN", "mpirun")
TIME_LIMIT = 300


def environment():
    """Open MPI refuses to run as root, and spins when ranks outnumber cores, unless told not to."""
    extra = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }
    return {**os.environ, **extra}


def todays(cases, share=1):
    """Every `share`-th of the cases, others each day; all with LOCKSTEP_ALL_CASES.  LOCKSTEP_SHARE, which CI sets,
    divides them further."""
    share *= int(os.environ.get("LOCKSTEP_SHARE", "1"))
    if "LOCKSTEP_ALL_CASES" in os.environ:
        share = 1
    today = datetime.date.today().toordinal() % share
    return (case for number, case in enumerate(cases) if number % share == today)


def runs_below(parent):
    """The runs that the process has started: their states (Z: ended) by process id."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, rest = entry.read_text().split("(", 1)[1].rsplit(")", 1)
            state, its_parent = rest.split()[:2]
            if int(its_parent) == parent and name in ("lockstep", "exe"):  # a sweep starts /proc/self/exe
                found[int(entry.parent.name)] = state
    return found


def epochs_in(path):
    """How many can be read of an output that is being written; 0 before it can be."""
    try:
        with h5py.File(path, "r", libver="latest", swmr=True) as file:
            return len(file["epochs/time"])
    except OSError:
        return 0


SM_OF_HOPPER = ("sm:\n  bulk: {lines_in_flight: 32, start_latency: 20}\n"
                "  shared: {bytes: 228KiB, bytes_per_block: 227KiB}\n  l1: {unified_bytes: 256KiB}\n")


def target_of(workload):
    """What the workload's PTX is for, as "sm_80" or "sm_90a"; None: nothing that the tiny GPU lacks."""
    path = pathlib.Path(workload)
    named = re.search(r"^module: (\S+\.ptx)$", path.read_text(encoding="utf-8"), re.M) if path.is_file() else None
    ptx = path.parent / named[1] if named else path.with_suffix(".ptx")
    found = re.search(r"^\.target (sm_80|sm_90a)$", ptx.read_text(encoding="utf-8"), re.M) if ptx.exists() else None
    return found[1] if found else None


def tiny_gpu(workload, folder):
    """The file of the tiny GPU, with an A100's arithmetic or an H100's bulk copies and storage where the workload needs
    that."""
    tiny, target = ROOT / "configs/gpus/tiny.yaml", target_of(workload)
    if target is None:
        return tiny
    newer = pathlib.Path(folder) / f"tiny_{target}.yaml"
    text = tiny.read_text(encoding="utf-8").replace('"7.0"', '"8.0"' if target == "sm_80" else '"9.0"')
    newer.write_text(text.replace("sm:\n", SM_OF_HOPPER, 1) if target == "sm_90a" else text, encoding="utf-8")
    return newer


def gpus_of(workload):
    """How many GPUs the buffers of a workload name."""
    path = pathlib.Path(workload)
    numbers = re.findall(r"\bgpu: (\d+)", path.read_text(encoding="utf-8")) if path.is_file() else []
    return max(map(int, numbers), default=0) + 1


class ScenarioTest(unittest.TestCase):
    """A test case with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    @classmethod
    def share_a_folder(cls):
        """An instance whose folder lives as long as the class's tests."""
        owner = cls("run")
        ScenarioTest.setUp(owner)
        cls.addClassCleanup(owner.doCleanups)
        return owner

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def lockstep(self, *arguments, ranks=0, before=(), extra_environment=None, overwrite=True):
        """The finished process; `ranks` > 0 runs it under mpirun.  `before`: a command that starts it.

        Runs replace what an earlier run of the test has left, unless `overwrite` is false.
        """
        command = [*before, LOCKSTEP, *map(str, arguments)]
        if overwrite and arguments and arguments[0] in ("run", "compare") and "--help" not in arguments:
            command.append("--overwrite")
        if ranks:
            command = [MPIRUN, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
        run = subprocess.run(
            command,
            cwd=self.folder,
            env={**environment(), **(extra_environment or {})},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
        )
        self.assert_advised(run)
        return run

    def assert_advised(self, run):
        """Whatever a test has refused: the line says what to do, after a dash."""
        if run.returncode in (1, 2):
            for line in run.stderr.splitlines():
                if line.startswith("lockstep: ") and "points done" not in line:
                    self.assertIn(" - ", line)

    def scenario(self, workload, parameters="{}", more=""):
        """A scenario with one tenant on the tiny GPU, or on as many as it needs; `workload` is a file name."""
        count = gpus_of(workload)
        several = f"gpus: {count}\nfabric: {ROOT}/configs/fabrics/nvswitch2.yaml\n" if count > 1 else ""
        gpus = f", gpus: {list(range(count))}" if count > 1 else ""
        return self.write(
            "scenario.yaml",
            f"gpu: {tiny_gpu(workload, self.folder)}\n"
            f"{several}"
            f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
            "tenants:\n"
            f"  - {{name: one, workload: {workload}, parameters: {parameters}{gpus}}}\n"
            f"{more}\n",
        )
