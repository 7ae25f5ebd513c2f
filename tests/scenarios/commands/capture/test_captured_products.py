"""Products of matrices by cuBLAS: a captured program gets right ones, by kernels that its recording names."""
import pathlib
import unittest

import h5py

from capture_harness import CaptureTest, NVCC, build, needs_nvcc
from harness import ROOT

HEADER = NVCC and pathlib.Path(NVCC).parents[1] / "include/cublas_v2.h"
PROGRAM = pathlib.Path(__file__).resolve().parent / "libraries/products.cu"
needs_cublas = unittest.skipUnless(HEADER and HEADER.exists(), "there is no cuBLAS to link programs with")


class Products(CaptureTest):
    def captured(self, gpu):
        program = build("products", self.folder, "-arch=sm_75", "-lcublas", sources=(PROGRAM,))
        done = self.capture(program, options=("--gpu", gpu))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("right\n", done.stdout)
        self.assertIn("cublasDgemm_v2: is not there in captured programs", done.stderr)
        with h5py.File(self.folder / "out.workload/program.h5") as file:
            return {name.decode() for name in file["kernels"][()]}

    @needs_nvcc
    @needs_cublas
    def test_of_an_a100_are_by_matrix_instructions_and_replay(self):
        kernels = self.captured("a100")
        self.assertEqual(kernels, {"gemm_fma_f32_f32", "gemm_mma_f16_f16", "gemm_mma_f16_f32", "gemm_mma_bf16_bf16",
                                   "gemm_mma_bf16_f32"})
        self.write("scenario.yaml", (
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            "override: {gpu.compute_capability: '8.0'}\ntenants: [{name: one, workload: out.workload}]\n"))
        done = self.lockstep("run", "scenario.yaml", "--check", "--quiet", "--output", "out.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @needs_nvcc
    @needs_cublas
    def test_of_a_v100_are_sums_of_f32(self):
        self.assertTrue(all(name.startswith("gemm_fma_") for name in self.captured("v100")))


if __name__ == "__main__":
    unittest.main()
