"""What stands behind a buffer in its last page: zeros, whoever had the memory before."""
import itertools
import unittest

import h5py

from harness import ROOT, ScenarioTest

# spread(data, value): thread t of all stores value to data[t].
# beyond(data, behind): thread t stores data[t] to behind[t].
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry spread(.param .u64 data, .param .u32 value)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r1;
  ret;
}
.visible .entry beyond(.param .u64 data, .param .u64 behind)
{
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd2, [behind];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r1, [%rd4];
  st.global.u32 [%rd5], %r1;
  ret;
}
"""

# Fills memory with ones, and ends.
FIRST = """\
module: k.ptx
buffers:
  data: {{type: u32, count: 1024 * {pages}, memory: {memory}, check: false}}
program:
  - launch: {{kernel: spread, grid: [4 * {pages}], block: [256], arguments: [data, 4294967295]}}
  - synchronize
  - free: data
"""

# A buffer of a page less 96 bytes, of twos on the host or not; all of its page goes to `behind`.
SECOND = """\
module: k.ptx
buffers:
  data: {{type: u32, count: 1000, memory: {memory}, init: {{value: 2}}}}
  behind: {{type: u32, count: 1024, memory: device}}
program:
{copy}
  - launch: {{kernel: beyond, grid: [4], block: [256], arguments: [data, behind]}}
  - copy: {{buffer: behind, to: host}}
  - save: behind
"""


class LastPage(ScenarioTest):
    def run_second(self, first, second, policies="{}", copy=True):
        """What the second tenant finds, in the memory that the first one has filled."""
        self.write("k.ptx", PTX)
        self.write("first.yaml", FIRST.format(memory=first, pages=60))
        copies = "  - copy: {buffer: data, to: device}" if second == "device" and copy else "  - synchronize"
        self.write("second.yaml", SECOND.format(memory=second, copy=copies))
        self.write(
            "s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"override: {{gpu.memory.capacity: 512KiB}}\npolicies: {policies}\ntenants:\n"
            "  - {name: one, workload: first.yaml}\n  - {name: two, workload: second.yaml, arrival: 5ms}\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--no-bounds", "--output", "o.h5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with h5py.File(self.folder / "o.h5") as file:
            ends = dict(zip((row["tenant"].decode() for row in file["tenants"]), file["tenants"]["end"]))
            self.assertLess(ends["one"], 5_000_000_000_000, "the first was still there")
            return list(file["buffers/two/behind"])

    def test_it_reads_as_zeros(self):
        for first, second in itertools.product(("device", "managed"), ("device", "managed", "pinned")):
            with self.subTest(first=first, second=second):
                self.assertEqual(self.run_second(first, second), [2] * 1000 + [0] * 24)

    def test_with_small_pages_only(self):
        for second in ("device", "managed"):
            with self.subTest(second=second):
                found = self.run_second("managed", second, "{page_manager: base-pages}")
                self.assertEqual(found, [2] * 1000 + [0] * 24)

    def test_a_buffer_that_was_never_written_reads_as_zeros(self):
        self.assertEqual(self.run_second("device", "device", copy=False), [0] * 1024)


if __name__ == "__main__":
    unittest.main()
