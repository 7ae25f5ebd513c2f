"""CPU cores that are interrupted and resumed in another layout: the same bits."""
import unittest

from harness import ROOT
from segments import SegmentsTest


class CpuResume(SegmentsTest):
    def interrupt_and_resume(self, override):
        self.write("t.txt", "".join(f"{i % 40} {i * 64 % 8192:#x} {i * 832 % 16384}\n" for i in range(2000)))
        self.write(
            "scenario.yaml",
            f"gpu: {ROOT}/configs/gpus/sms_16c1g.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: 20us}}\npolicies: {{dram_scheduler: sms}}\noverride: {override}\ntenants:\n"
            f"  - {{name: add, workload: {ROOT}/configs/workloads/vector_add.yaml, relaunch: true}}\n"
            "  - {name: traced, cpu: {trace: t.txt, memory: 64KiB}, relaunch: true}\n"
            + "".join(f"  - {{name: {name}, cpu: {{profile: {name}, memory: 1MiB}}, instructions: {instructions}}}\n"
                      for name, instructions in (("mcf", 150000), ("lbm", 200000), ("gcc", 2000000))))
        _, seconds = self.run_whole()
        for share, layout in ((0.3, {"ranks": 2}), (0.3, {"threads": 2})):
            if self.interrupt(share * seconds, **layout)[1]:
                break
        else:
            self.finish()
        self.assert_same_result()

    def test_interrupted_on_two_ranks_and_resumed_on_two_threads(self):
        self.interrupt_and_resume("{}")

    def test_with_banks_that_turn_alone_and_misses_that_are_spread(self):
        self.interrupt_and_resume("{gpu.memory.dram.turnaround: bank, gpu.cpu.misses: spread}")


if __name__ == "__main__":
    unittest.main()
