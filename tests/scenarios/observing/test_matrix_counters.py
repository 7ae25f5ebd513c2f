"""What tensor units did: counted by type, by kernel and over all, in every place that shows counters."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

SIDE = 128
PRODUCTS = SIDE ** 3 // (16 * 8 * 16)  # of m16n8k16
INTERVAL = 8  # cycles, of an A100


class MatrixCounters(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", (
            f"gpu: {ROOT}/configs/gpus/a100.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\npolicies: {{sharing: smk}}\n"
            f"tenants:\n  - {{name: products, workload: {ROOT}/configs/workloads/gemm_mma.yaml,"
            f" parameters: {{m: {SIDE}, n: {SIDE}, k: {SIDE}}}}}\n"
            f"  - {{name: sums, workload: {ROOT}/configs/workloads/vector_add.yaml, parameters: {{n: 4096}}}}\n"
            f"  - {{name: copies, workload: {ROOT}/configs/workloads/sgemm_async.yaml, parameters: {{n: 32}}}}\n"))
        done = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_instructions_cycles_and_bytes_are_those_of_the_algorithm(self):
        with h5py.File(self.folder / "o.h5") as file:
            stats = file["final/stats/sm"]
            self.assertEqual(stats["matrix_instructions"][()].sum(axis=0).tolist(),
                             [[PRODUCTS] + 7 * [0], 8 * [0], 8 * [0]])
            self.assertEqual(stats["tensor_cycles"][()].sum(axis=0).tolist(), [INTERVAL * PRODUCTS, 0, 0])
            self.assertGreater(stats["matrix_wavefronts"][()].sum(axis=0)[0], 0)
            # Both factors once: of two bytes for the only tile, of four for each tile of 16 x 16.
            self.assertEqual(stats["async_copy_bytes"][()].sum(axis=0).tolist(),
                             [2 * SIDE * SIDE * 2, 0, 2 * 32 * 32 * 4 * (32 // 16)])

    def test_kernels_have_their_own(self):
        with h5py.File(self.folder / "o.h5") as file:
            stats, kernels = file["final/stats/sm"], file["kernels"][()]
            for name in ("tensor_cycles", "matrix_wavefronts", "async_copy_bytes"):
                for tenant in range(3):
                    self.assertEqual(kernels[name][kernels["tenant"] == tenant].sum(),
                                     stats[name][()].sum(axis=0)[tenant], name)
            row = kernels[kernels["tenant"] == 0][0]
            self.assertEqual((row["matrix_instructions_f16"], row["matrix_instructions_tf32"]), (PRODUCTS, 0))
            self.assertAlmostEqual(row["tensor_activity"], INTERVAL * PRODUCTS / (4 * row["active_cycles"]))

    def test_the_page_and_describe_show_them(self):
        self.assertEqual(self.lockstep("report", "o.h5", "--output", "o.html").returncode, 0)
        self.assertTrue("tensor units busy" in (self.folder / "o.html").read_text())
        for word, names in (("tensor", ("tensor_cycles", "tensor_activity")),
                            ("matrix", ("matrix_instructions", "matrix_wavefronts"))):
            told = self.lockstep("describe", word).stdout
            for name in names:
                self.assertIn(name, told)
        self.assertIn("mbarrier", self.lockstep("describe", "mbarrier").stdout)


if __name__ == "__main__":
    unittest.main()
