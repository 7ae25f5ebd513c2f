"""Steps of training GPT-2 in bf16: a program with products by cuBLASLt is captured, learns, and replays."""
import pathlib
import re
import unittest

import h5py

from capture_harness import NVCC, CaptureTest, build, needs_nvcc
from harness import ROOT

HEADER = NVCC and pathlib.Path(NVCC).parents[1] / "include/cublasLt.h"
PROGRAM = pathlib.Path(__file__).resolve().parent / "libraries/gpt2_step.cu"
SMALL = "1 2 16 64 2 100".split()  # layers, batch, length, channels, heads, vocabulary


@needs_nvcc
@unittest.skipUnless(HEADER and HEADER.exists(), "there is no cuBLASLt to link programs with")
class Training(CaptureTest):
    def capture_step(self, *more, options=()):
        program = build("gpt2_step", self.folder, "-std=c++17", "-arch=sm_80", *options, "-lcublasLt",
                        sources=(PROGRAM,))
        done = self.capture(program, *SMALL, *more, options=("--gpu", "a100"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_gradients_of_all_parameters_say_how_the_loss_changes(self):
        self.assertEqual(self.capture_step("1", "check", options=("-DNUMBER=float",)).splitlines()[0], "right")

    def test_steps_lower_the_loss_and_replay_on_an_a100(self):
        losses = [float(loss) for loss in re.findall(r"loss ([0-9.]+)", self.capture_step("2"))]
        self.assertEqual(len(losses), 2)
        self.assertAlmostEqual(losses[0], 4.6, delta=0.1)  # log 100
        self.assertLess(losses[1], losses[0])
        with h5py.File(self.folder / "out.workload/program.h5") as file:
            kernels = {name.decode() for name in file["kernels"][()]}
        self.assertTrue({"gemm_mma_bf16_bf16", "bias_gradient"} <= kernels, kernels)
        self.write("scenario.yaml", (
            f"gpu: {ROOT}/configs/gpus/a100.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            "tenants: [{name: one, workload: out.workload}]\n"))
        done = self.lockstep("run", "scenario.yaml", "--check", "--quiet", "--output", "out.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
