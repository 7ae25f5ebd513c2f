"""Products of matrices by cuBLAS and cuBLASLt, of CUDA 12 and 13: a captured program gets right ones, by kernels that
its recording names."""
import pathlib
import subprocess
import unittest

import h5py

from capture_harness import LIBRARIES, NVCC, CaptureTest
from harness import ROOT

HEADERS = NVCC and pathlib.Path(NVCC).parents[1] / "include"
PROGRAMS = pathlib.Path(__file__).resolve().parent / "libraries"
needs_cublas = unittest.skipUnless(HEADERS and (HEADERS / "cublasLt.h").exists(), "there are no headers of cuBLAS")
OF_CUBLAS = ("_f16_f16", "_f16_f32", "_bf16_bf16", "_bf16_f32")
OF_LIGHT = ("_f16_f16", "_f16_f32", "_bf16_bf16")


@needs_cublas
class Products(CaptureTest):
    def captured(self, name, gpu, version=13):
        """What the program and the capture said."""
        libraries = [LIBRARIES / f"lib{library}.so.{version}" for library in ("cublas", "cublasLt", "cudart")]
        subprocess.run(["c++", "-std=c++17", f"-I{HEADERS}", PROGRAMS / f"{name}.cpp", *libraries, "-o",
                        self.folder / name], check=True)
        done = self.capture(self.folder / name, options=("--gpu", gpu))
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "right"), done.stdout + done.stderr)
        return done.stderr

    def kernels(self):
        with h5py.File(self.folder / "out.workload/program.h5") as file:
            return {name.decode() for name in file["kernels"][()]}

    def check(self, gpu="tiny", override="gpu.compute_capability: '8.0'"):
        self.write("scenario.yaml", (
            f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"override: {{{override}}}\ntenants: [{{name: one, workload: out.workload}}]\n"))
        done = self.lockstep("run", "scenario.yaml", "--check", "--quiet", "--output", "out.h5")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_of_an_a100_are_by_matrix_instructions_and_replay(self):
        said = self.captured("products", "a100")
        self.assertIn("cublasDgemm_v2: is not there in captured programs", said)
        self.assertEqual(self.kernels(), {"gemm_fma_f32_f32", "gemm_mma_tf32_f32"}.union(
            f"gemm_mma{types}" for types in OF_CUBLAS))
        self.check()

    def test_of_an_h100_are_by_warp_groups_where_tiles_can_be_copied(self):
        self.captured("products", "h100")
        self.assertEqual(self.kernels(), {"gemm_fma_f32_f32", "gemm_mma_tf32_f32"}.union(
            f"gemm_{way}{types}" for way in ("mma", "wgmma") for types in OF_CUBLAS))
        self.check("h100", "gpu.sm.count: 4, gpu.dispatch.gpcs: [4]")

    def test_of_a_v100_are_sums_of_f32(self):
        self.captured("products", "v100")
        self.assertTrue(all(name.startswith("gemm_fma_") for name in self.kernels()))

    def test_with_epilogues_are_by_matrix_instructions_and_replay(self):
        said = self.captured("epilogues", "a100")
        for lacking in ("these types of A, B, C, D or the epilogue are not there", "a bit mask of the ReLU",
                        "CUBLASLT_MATMUL_DESC attribute 17 is not there", "cublasLtMatrixTransform: is not there"):
            self.assertIn(lacking, said)
        self.assertEqual(self.kernels(), {"gemm_fma_f32_f32", "gemm_mma_tf32_f32", "bias_gradient"}.union(
            f"gemm_mma{types}" for types in OF_LIGHT))
        self.check()

    def test_with_epilogues_of_a_v100_are_sums_of_f32(self):
        self.captured("epilogues", "v100")
        self.assertEqual(self.kernels(), {"gemm_fma_f32_f32", "bias_gradient"}.union(
            f"gemm_fma{types}" for types in OF_LIGHT))

    def test_of_programs_for_cuda_12(self):
        for name in ("products", "epilogues"):
            with self.subTest(name):
                self.captured(name, "a100", 12)
                (self.folder / "out.workload").rename(self.folder / f"{name}.workload")


if __name__ == "__main__":
    unittest.main()
