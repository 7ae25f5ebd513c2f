"""Products of warp groups, and registers that warps give each other, end in the same file in any layout, and
interrupted: alone, and with blocks that are saved for another tenant."""
import unittest

import h5py

from harness import ROOT, todays
from segments import WORKLOADS, SegmentsTest

# Parameters of a run alone, and of a longer one that another tenant interrupts.
RUNS = {
    "gemm_wgmma": ("{m: 768, k: 640}", "{m: 768, k: 2560}"),
    "gemm_tma_wgmma": ("{m: 768, k: 640}", "{m: 768, k: 2560}"),
    "flash_attention_hopper": ("{width: 64, length: 384}", "{heads: 4, length: 1024, causal: 0}"),
    "fp8_gemm": ("{m: 384, blocks: 3}", "{m: 768, k: 2560, blocks: 2}"),
}
# Blocks of a cluster, which drain.
OF_CLUSTERS = {"gemm_tma_wgmma_pairs": ("{m: 1024, k: 640}", "{m: 1024, k: 2560, blocks: 4}")}
URGENT = f"workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 96}}, arrival: 130us, priority: 1"


class Warpgroups(SegmentsTest):
    def tenants(self, *tenants, policies="{}"):
        each = "".join(f"  - {{name: t{number}, {tenant}}}\n" for number, tenant in enumerate(tenants))
        self.write("scenario.yaml", f"gpu: {ROOT}/configs/gpus/h100.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   "simulation: {epoch: 5us}\noverride: {gpu.sm.count: 2, gpu.dispatch.gpcs: [2]}\n"
                   f"policies: {policies}\ntenants:\n{each}")

    def test_alone(self):
        for workload, (parameters, _) in todays({**RUNS, **OF_CLUSTERS}.items(), 2):
            with self.subTest(workload=workload):
                self.tenants(f"workload: {WORKLOADS}/{workload}.yaml, parameters: {parameters}")
                self.assert_same_in_any_layout()

    def test_saved_for_another_tenant(self):
        for workload, (_, parameters) in todays(RUNS.items(), 2):
            with self.subTest(workload=workload):
                self.tenants(f"workload: {WORKLOADS}/{workload}.yaml, parameters: {parameters}", URGENT,
                             policies="{sharing: exclusive, preemption: switch}")
                self.assert_same_in_any_layout()
                with h5py.File(self.folder / "whole.h5") as file:
                    self.assertGreater(file["final/stats/sm/blocks_saved"][:, 0].sum(), 0)

    def test_clusters_drain_for_another_tenant(self):
        for workload, (_, parameters) in OF_CLUSTERS.items():
            with self.subTest(workload=workload):
                self.tenants(f"workload: {WORKLOADS}/{workload}.yaml, parameters: {parameters}", URGENT,
                             policies="{sharing: exclusive, preemption: drain}")
                self.assert_same_in_any_layout()


if __name__ == "__main__":
    unittest.main()
