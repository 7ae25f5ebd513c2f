"""Builds programs that use the GPU, captures them, replays what was recorded."""
import pathlib
import shutil
import subprocess
import unittest

import h5py

from harness import LOCKSTEP, ScenarioTest

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = pathlib.Path(LOCKSTEP).parent / "capture"
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
needs_nvcc = unittest.skipUnless(NVCC, "there is no nvcc to build programs with")
LAUNCH, COPY_TO_HOST, DELAY, LAUNCH_PROGRAMMATIC = 0, 2, 14, 15  # RecordedStep::Kind


def build(name, folder, *options, sources=()):
    program = folder / name
    options = options or ("-arch=sm_75",)
    sources = sources or (HERE / f"programs/{name}.cu",)
    subprocess.run([NVCC, "-cudart", "shared", *options, *sources, "-o", program], check=True, capture_output=True)
    return program


def build_host(name, folder, *options, library="libcudart.so.13"):
    """A program of hosts/: it has no kernels, or loads them as PTX, so that no nvcc is needed."""
    program = folder / name
    subprocess.run(["c++", "-std=c++17", "-pthread", *options, HERE / f"hosts/{name}.cpp", LIBRARIES / library,
                    "-ldl", "-o", program], check=True)
    return program


class CaptureTest(ScenarioTest):
    """Has a verb for capturing."""

    def capture(self, program, *arguments, output="out.workload", options=(), **how):
        return self.lockstep("capture", *options, "--output", output, "--", program, *arguments, **how)

    def replay(self, workload, *more, output="out.h5", extra=""):
        scenario = self.scenario(workload, more=extra)
        done = self.lockstep("run", scenario, "--check", "--output", output, *more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def steps(self, recording="out.workload"):
        with h5py.File(self.folder / recording / "program.h5") as file:
            return file["steps"][()]

    def count(self, kind, recording="out.workload"):
        return int((self.steps(recording)["kind"] == kind).sum())
