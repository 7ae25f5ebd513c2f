"""Memory that a tenant will give back is waited for, and the others go on."""
import unittest

from beside_others import BesideOthers
from harness import ROOT
from paging_kernels import PTX

# Holds one large page of device memory and wants another one, which there is not.
HOLDING = """\
module: k.ptx
buffers:
  own: {type: u32, count: 1024, memory: device}
  data: {type: u32, count: 1024, memory: managed}
program:
  - launch: {kernel: reach, grid: [1], block: [32], arguments: [data, 1, 99, 64]}
"""

# Wants one large page.
WANTING = """\
module: k.ptx
buffers:
  data: {type: u32, count: 4096, memory: KIND}
program:
  - launch: {kernel: reach, grid: [2], block: [64], arguments: [data, 32, 1000, 64]}
"""


class WaitingForMemory(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)

    def two_large_pages(self, arrival, kind="managed"):
        """Page tables take one; tenant one holds the other, and two comes to want it."""
        self.write("w.yaml", HOLDING)
        self.write("two.yaml", WANTING.replace("KIND", kind))
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
            "override: {gpu.memory.capacity: 4MiB}\n"
            "policies:\n  sharing: spatial\n  page_manager: large-pages\n"
            "  fault_handling: {name: host, cost_model: tanasic, serialize: none}\n"
            "tenants:\n  - {name: one, workload: w.yaml, sms: 2}\n"
            f"  - {{name: two, workload: two.yaml, sms: 2, arrival: {arrival}ns}}\n")

    def test_memory_of_a_tenant_that_is_ending_is_waited_for(self):
        """One fails 2.4 us after the begin and has left at 3.0 us.  Two faults about a
        microsecond after its arrival, and takes device memory at once."""
        for kind, arrivals in (("managed", range(0, 2000, 250)), ("device", range(2500, 3200, 200))):
            for arrival in arrivals:
                with self.subTest(kind=kind, arrival=arrival):
                    self.two_large_pages(arrival, kind)
                    self.assert_ended(["w.yaml:4:", "GPU memory is full", "buffer data"], others=1)

    def test_layouts_agree_about_waiting_for_memory(self):
        for kind, arrival in (("managed", 1000), ("device", 2500)):
            with self.subTest(kind=kind):
                self.two_large_pages(arrival, kind)
                self.assert_layouts_agree()


if __name__ == "__main__":
    unittest.main()
