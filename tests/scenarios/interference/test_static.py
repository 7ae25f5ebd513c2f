"""Partitions of its own for each tenant: MASK's Static (004, section 6.6)."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

SCENARIO = """\
gpu: {root}/configs/gpus/tiny.yaml
host: {root}/configs/hosts/pcie3.yaml
override: {{gpu.noc.mapping: grouped, gpu.memory.capacity: {capacity}}}
policies: {{sharing: spatial, page_manager: {page_manager}}}
tenants:
  - {{name: one, workload: {root}/configs/workloads/vector_add.yaml, parameters: {{n: 65536}}}}
  - {{name: two, workload: {root}/configs/workloads/bandwidth.yaml, parameters: {{n: 65536}}}}
"""
# Pages that are evicted, and device buffers beside them.
MANAGED = ("vector_add.yaml, parameters: {n: 65536}", "managed_add.yaml, parameters: {n: 65536, blocks: 4}")
FEW = ("bandwidth.yaml, parameters: {n: 65536}", "bandwidth.yaml, parameters: {n: 16384}")


class Static(ScenarioTest):
    def scenario(self, page_manager="base-pages", capacity="64MiB", changes=()):
        text = SCENARIO.format(root=ROOT, page_manager=page_manager, capacity=capacity)
        for before, after in changes:
            text = text.replace(before, after)
        self.write("s.yaml", text)

    def requests(self, *arguments, output="s.h5", ranks=0):
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", output, *arguments, ranks=ranks)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with h5py.File(self.folder / output) as file:
            return file["final/stats/partition/requests"][:]

    def test_a_tenants_requests_reach_its_own_partitions_only(self):
        for page_manager in ("base-pages", "{name: base-pages, frames: random}", "mixed-pages", "large-pages"):
            with self.subTest(page_manager):
                self.scenario(page_manager)
                requests = self.requests()
                half = len(requests) // 2
                self.assertGreater(half, 0)
                self.assertTrue((requests[:half, 0] > 0).all() and (requests[half:, 1] > 0).all())
                self.assertFalse(requests[:half, 1].any() or requests[half:, 0].any())

    def test_pages_that_are_evicted_come_back_to_their_own_partitions(self):
        self.scenario(capacity="1MiB", changes=(MANAGED, FEW))
        requests = self.requests()
        half = len(requests) // 2
        self.assertFalse(requests[:half, 1].any() or requests[half:, 0].any())

    def test_any_layout_the_same(self):
        self.scenario()
        self.requests(output="first.h5")
        for arguments, ranks in ((["--threads", 2], 0), ([], 2), ([], 3)):
            self.requests(*arguments, output="other.h5", ranks=ranks)
            difference = self.lockstep("diff", "first.h5", "other.h5")
            self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_what_it_does_not_go_with(self):
        third = ("tenants:\n", f"tenants:\n  - {{name: three, workload: {ROOT}/configs/workloads/saxpy.yaml}}\n")
        for page_manager, changes, parts in (
                ("base-pages", (third,), ("gives 3 tenants as many partitions each",)),
                ("{name: mosaic, compaction: none}", (), ("page_manager mosaic", "base-pages")),
                ("base-pages", (("sharing: spatial", "sharing: spatial, exception_scheme: replay-queue, "
                                 "fault_handling: local"),), ("fault_handling local", "fault_handling: host"))):
            with self.subTest(parts[0]):
                self.scenario(page_manager, changes=changes)
                run = self.lockstep("run", "s.yaml", "--quiet")
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertRegex(run.stderr, r"s.yaml:3:\d+: ")
                for part in parts:
                    self.assertIn(part, run.stderr)


if __name__ == "__main__":
    unittest.main()
