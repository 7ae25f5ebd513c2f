"""Several GPUs in any layout, the same bits: threads, ranks (whole GPUs, parts of them), interruptions."""
import unittest

from harness import ROOT, todays
from machines import COPIED, DENSE, DIRECT, GATHER, KERNELS, PAGED, RING, TREES, ManyGpusTest
from segments import SegmentsTest

LAYOUTS = [(2, 0), (1, 2), (1, 3), (2, 2)]  # threads, ranks
RECORDED = "simulation: {epoch: 20us, record_faults: true, record_blocks: true}"
LITTLE_MEMORY = "override: {gpu.memory.capacity: 448KiB}"
PREEMPTED = """\
policies:
  preemption: {name: chimera}
  exception_scheme: replay-queue
"""


class LayoutsOfGpus(ManyGpusTest, SegmentsTest):
    def scenarios(self):
        paged = [f"{PAGED}, gpu: 1", f"{DENSE}, gpu: 0", f"{PAGED}, gpu: 0", f"{COPIED}, gpu: 1"]
        uplink = "uplinks: [{gpus: [0, 1], bandwidth: 8GB/s}]"
        yield "two GPUs, over-subscribed, one uplink", self.machine(
            paged, "gpus: 2", f"{RECORDED}\n{LITTLE_MEMORY}\npolicies: {{sharing: spatial}}", host=uplink)
        urgent = [f"{DENSE}, gpu: 2", f"{DENSE}, gpu: 2, priority: 2, arrival: 20us, latency_bound: 5us",
                  f"{PAGED}, gpu: 0", f"{COPIED}, gpu: 1"]
        several = [f"{GATHER}", f"{RING}", f"{COPIED}, gpu: 3", f"{PAGED}, gpu: 2"]
        yield "four GPUs and a fabric", self.machine(
            several, "gpus: 4", f"{RECORDED}\nfabric: {ROOT}/configs/fabrics/nvswitch2.yaml\n"
                                "policies: {sharing: spatial}")
        linked = [f"{GATHER}", f"{DENSE}, gpu: 1"]
        yield "two GPUs and a direct link", self.machine(
            linked, "gpus: 2", f"{RECORDED}\nfabric: {ROOT}/configs/fabrics/nvlink1.yaml\n"
                               "policies: {sharing: spatial}")
        for title, kernels in (("round a ring", KERNELS), ("along trees", TREES), ("directly", DIRECT)):
            yield f"kernels that wait for each other {title}", self.machine(
                [kernels, f"{COPIED}, gpu: 3"], "gpus: 4",
                f"{RECORDED}\nfabric: {ROOT}/configs/fabrics/nvswitch2.yaml\npolicies: {{sharing: spatial}}")
        yield "three GPUs, one preempts", self.machine(urgent, "gpus: 3", f"{RECORDED}\n{PREEMPTED}")

    def assert_equal_files(self, one, other):
        difference = self.lockstep("diff", one, other)
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_threads_and_ranks(self):
        for title, scenario in todays(self.scenarios()):
            self.run_it(scenario, "first.h5", "--check").close()
            for threads, ranks in LAYOUTS:
                with self.subTest(title, threads=threads, ranks=ranks):
                    self.run_it(scenario, "other.h5", "--check", "--threads", threads, ranks=ranks).close()
                    self.assert_equal_files("first.h5", "other.h5")

    def test_interrupted_and_resumed(self):
        for title, scenario in todays(self.scenarios()):
            scenario.rename(self.folder / "scenario.yaml")
            _, seconds = self.run_whole()
            for first, second in (((2, 1), (0, 2)), ((0, 1), (3, 1))):
                with self.subTest(title, first=first, second=second):
                    _, over = self.interrupt(0.5 * seconds, ranks=first[0], threads=first[1])
                    if not over:
                        self.finish(ranks=second[0], threads=second[1])
                    self.assert_same_result()


if __name__ == "__main__":
    unittest.main()
