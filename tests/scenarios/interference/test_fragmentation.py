"""GPU memory that foreign data fragment before a run (004, section 7.5.4)."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

LAYOUTS = [(2, 0), (1, 2), (2, 3)]  # threads, ranks
SCENARIO = """\
gpu: {root}/configs/gpus/tiny.yaml
host: {root}/configs/hosts/pcie3.yaml
simulation: {{epoch: 50us}}
override: {{gpu.noc.mapping: frame, gpu.memory.capacity: 32MiB,
            gpu.memory.fragmentation: {{index: {index}, occupancy: {occupancy}}}}}
policies: {{sharing: spatial, page_manager: {page_manager}}}
tenants:
  - {{name: one, workload: {root}/configs/workloads/vector_add.yaml, parameters: {{n: 524288}}}}
  - {{name: two, workload: {root}/configs/workloads/vector_add.yaml, parameters: {{n: 524288}}, arrival: 10us}}
"""


class Fragmentation(ScenarioTest):
    def run_it(self, page_manager="mosaic", index=1, occupancy=0.25, output="s.h5", **layout):
        self.write("s.yaml", SCENARIO.format(root=ROOT, page_manager=page_manager, index=index, occupancy=occupancy))
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", output,
                            "--threads", layout.get("threads", 1), ranks=layout.get("ranks", 0))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def counted(self, *names):
        with h5py.File(self.folder / "s.h5") as file:
            return [int(file["final/stats/page_manager"][name][:].sum()) for name in names]

    def test_compaction_makes_large_frames_for_all_that_want_one(self):
        self.assertIn("check passed: 2047 foreign pages", self.run_it())
        emptied, coalesced, violations = self.counted("foreign_emptied", "coalesced", "guarantee_violations")
        self.assertEqual((emptied, coalesced, violations), (6, 6, 0))

    def test_without_compaction_pages_lie_beside_foreign_ones(self):
        self.assertIn("check passed: 2047 foreign pages", self.run_it("{name: mosaic, compaction: none}"))
        moved, coalesced, violations = self.counted("foreign_moved", "coalesced", "guarantee_violations")
        self.assertEqual((moved, coalesced), (0, 0))
        self.assertGreater(violations, 3000)

    def test_other_page_managers_do_with_what_is_free(self):
        for page_manager, index in (("base-pages", 1), ("{name: base-pages, frames: random}", 1), ("mixed-pages", 1),
                                    ("large-pages", 0.2)):
            with self.subTest(page_manager):
                self.assertIn("foreign pages", self.run_it(page_manager, index))

    def test_any_layout_the_same(self):
        self.run_it(output="first.h5")
        for threads, ranks in LAYOUTS:
            with self.subTest(threads=threads, ranks=ranks):
                self.run_it(output="other.h5", threads=threads, ranks=ranks)
                difference = self.lockstep("diff", "first.h5", "other.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_too_little_is_left(self):
        self.write("s.yaml", SCENARIO.format(root=ROOT, page_manager="mosaic", index=1, occupancy=1))
        run = self.lockstep("run", "s.yaml", "--quiet")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"s.yaml:5:\d+: foreign pages leave 0 of gpu.memory.capacity's 33554432 bytes, "
                                     r"and tenant one needs \d+ for device buffers and page tables - lower index")
        self.assertEqual(len(run.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
