"""Exchange through shared memory of other blocks, barriers of clusters and multicast end in the same file in any
layout, and interrupted: alone, and beside more urgent tenants, for which clusters drain, start again or are saved."""
import pathlib
import sys
import unittest

import h5py

from harness import ROOT, todays
from segments import WORKLOADS, SegmentsTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kernels"))
import test_clusters as clusters  # noqa: E402

URGENT = f"workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 64}}, arrival: 12us, priority: 1, latency_bound: 20us"


class ClustersInSegments(SegmentsTest):
    def tenants(self, *tenants, policies="{}"):
        clusters.write_files(self)
        each = "".join(f"  - {{name: t{number}, {tenant}}}\n" for number, tenant in enumerate(tenants))
        self.write("scenario.yaml", f"gpu: gpu.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   "simulation: {epoch: 5us}\noverride: {gpu.sm.count: 8, gpu.dispatch.gpcs: [3, 5]}\n"
                   f"policies: {policies}\ntenants:\n{each}")

    def test_alone(self):
        for workload in todays(("w", "storm", "spread")):
            with self.subTest(workload=workload):
                self.tenants(f"workload: {workload}.yaml")
                self.assert_same_in_any_layout()

    def test_beside_a_more_urgent_tenant(self):
        cases = (("drain", "w", None), ("switch", "w", "saved"), ("switch", "spread", None), ("flush", "storm", None),
                 ("dual-kernel", "w", None))
        for preemption, workload, moved in todays(cases):
            with self.subTest(preemption=preemption, workload=workload):
                rounds = "" if workload == "spread" else "rounds: 40, "
                self.tenants(f"workload: {workload}.yaml, parameters: {{{rounds}clusters: 16, size: 3}}", URGENT,
                             policies=f"{{sharing: exclusive, preemption: {preemption}}}")
                self.assert_same_in_any_layout()
                with h5py.File(self.folder / "whole.h5") as file:
                    if moved:
                        self.assertGreater(file[f"final/stats/hub/{moved}"][:, 0].sum(), 0)
                    if preemption == "drain":
                        self.assertEqual(file["final/stats/sm/blocks_saved"][:, 0].sum(), 0)

    def test_in_turns(self):
        self.tenants("workload: w.yaml, parameters: {rounds: 20, clusters: 8}", "workload: storm.yaml",
                     policies="{sharing: {name: time-sliced, slice: 5us}, preemption: switch}")
        self.assert_same_in_any_layout()


if __name__ == "__main__":
    unittest.main()
