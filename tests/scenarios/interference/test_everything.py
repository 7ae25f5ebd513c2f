"""All at once - CPU cores, MeDiC, MASK, Mosaic, memory too small for all: the same bits in any layout."""
import unittest

from harness import ROOT, todays
from segments import SegmentsTest

LAYOUTS = [(2, 0), (4, 0), (1, 1), (1, 2), (1, 3), (1, 4)]  # threads, ranks
SCENARIO = """\
gpu: {root}/configs/gpus/tiny.yaml
host: {root}/configs/hosts/nvlink.yaml
simulation: {{epoch: 50us}}
override: {{gpu.cpu.cores: 2, gpu.memory.dram.write_queue: 0, gpu.memory.dram.gpu_queue: 16, gpu.noc.mapping: frame,
            gpu.vm.l2_tlb.entries: 16, gpu.vm.walkers: 2, gpu.memory.capacity: 12MiB,
            gpu.memory.fragmentation: {{index: 0.4, occupancy: 0.1}}}}
policies:
  sharing: spatial
  page_manager: mosaic
  eviction: lru
  tlb_fill: {{name: mask, epoch: 3000, entries: 4}}
  cache_policy: {{name: medic, walks: true, walk_levels: {{epoch: 3000, least: 20}}, resample: 4000, profile: 8}}
  dram_scheduler: medic-mask
tenants:
  - {{name: sum, workload: {root}/configs/workloads/managed_add.yaml, parameters: {{n: 163840, blocks: 4}}, sms: 2}}
  - {{name: add, workload: {root}/configs/workloads/vector_add.yaml, parameters: {{n: 524288}}, sms: 2}}
  - {{name: mcf, cpu: {{profile: mcf, memory: 64KiB}}, instructions: 100000}}
  - {{name: lbm, cpu: {{profile: lbm, memory: 64KiB}}, instructions: 150000, arrival: 20us}}
"""


class Everything(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.write("scenario.yaml", SCENARIO.format(root=ROOT))

    def test_any_layout_the_same(self):
        first = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", "first.h5")
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertEqual(first.stdout.count("check passed"), 5)
        for threads, ranks in todays(LAYOUTS):
            with self.subTest(threads=threads, ranks=ranks):
                other = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", "other.h5",
                                      "--threads", threads, ranks=ranks)
                self.assertEqual((other.returncode, other.stdout), (0, first.stdout), other.stderr)
                difference = self.lockstep("diff", "first.h5", "other.h5")
                self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_interrupted_and_resumed_in_another_layout(self):
        _, seconds = self.run_whole()
        for share, layout in ((0.3, {"ranks": 2}), (0.3, {"threads": 2})):
            if self.interrupt(share * seconds, **layout)[1]:
                break
        else:
            self.finish()
        self.assert_same_result()


if __name__ == "__main__":
    unittest.main()
