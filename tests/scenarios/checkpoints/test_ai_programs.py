"""Attention and a transformer's block end in the same file in any layout, and interrupted: with pages and blocks that
come and go while copies to shared memory are under way."""
import unittest

import h5py

from harness import ROOT
from segments import WORKLOADS, SegmentsTest

FLASH = f"workload: {WORKLOADS}/flash_attention.yaml, parameters: {{heads: 1, length: 128}}"
BLOCK = f"workload: {WORKLOADS}/transformer_block.yaml, parameters: {{heads: 1, length: 64}}"
LARGE_FLASH = f"workload: {WORKLOADS}/flash_attention.yaml, parameters: {{heads: 4, length: 128}}"
URGENT = f"workload: {WORKLOADS}/sgemm.yaml, parameters: {{n: 96}}, arrival: 22us, priority: 1"
MANAGED = f"workload: {WORKLOADS}/managed_add.yaml, parameters: {{n: 4096, blocks: 4}}"


class AiPrograms(SegmentsTest):
    def two_tenants(self, policies, first, second, override=""):
        self.write("scenario.yaml", f"""
gpu: {ROOT}/configs/gpus/tiny.yaml
host: {ROOT}/configs/hosts/nvlink.yaml
simulation: {{epoch: 20us, record_faults: true, record_blocks: true}}
override: {{gpu.compute_capability: "8.0"{override}}}
policies: {{{policies}}}
tenants:
  - {{name: first, {first}}}
  - {{name: second, {second}}}
""")

    def assert_same_although(self, happened):
        """`happened`: a counter of the SMs that is not zero, so that the run is about what it should be about."""
        self.assert_same_in_any_layout()
        with h5py.File(self.folder / "whole.h5") as file:
            self.assertGreater(file[f"final/stats/sm/{happened}"][:, 0].sum(), 0)

    def test_pages_that_come_and_go(self):
        """The GPU's memory holds the contexts of blocks and little more."""
        paging = "sharing: smk, exception_scheme: replay-queue, block_switching: on-fault, eviction: lru"
        for tenant, capacity in ((FLASH, "3240KiB"), (BLOCK, "2480KiB")):
            with self.subTest(tenant=tenant):
                self.two_tenants(paging, f"{tenant}, memory: managed", MANAGED, f", gpu.memory.capacity: {capacity}")
                self.assert_same_although("squashed_instructions")

    def test_blocks_that_are_saved_for_another_tenant(self):
        for tenant in (LARGE_FLASH, BLOCK):
            with self.subTest(tenant=tenant):
                self.two_tenants("sharing: exclusive, preemption: switch", tenant, URGENT)
                self.assert_same_although("blocks_saved")


if __name__ == "__main__":
    unittest.main()
