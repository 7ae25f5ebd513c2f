"""Kernels whose warps do different work: one lane copies while others wait, and warps take turns by named barriers."""
import unittest

import h5py
import numpy as np

from harness import ROOT, ScenarioTest

# stream(in, out, rounds): lane 0 of warp 0 copies pieces of 256 bytes, two ahead, and meets its warp after each; warps
# 1 and 2 sum them up in turns, by barriers at which a warp arrives once and then waits.
STREAM = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry stream(.param .u64 in, .param .u64 out, .param .u32 rounds)
{
  .shared .align 128 .b8 room[512];
  .shared .align 8 .b64 full[2];
  .shared .align 8 .b64 empty[2];
  .shared .align 4 .b8 order[4];
  .reg .pred %p<8>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  shr.u32 %r4, %r2, 5;
  and.b32 %r5, %r2, 31;
  mov.u32 %r6, room;
  mov.u32 %r7, full;
  mov.u32 %r8, empty;
  mov.u32 %r9, order;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra ready;
  mbarrier.init.shared::cta.b64 [%r7], 1;
  mbarrier.init.shared::cta.b64 [%r7+8], 1;
  mbarrier.init.shared::cta.b64 [%r8], 2;
  mbarrier.init.shared::cta.b64 [%r8+8], 2;
  st.shared.u32 [%r9], 0;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  mov.u32 %r10, 0;
  mov.u32 %r11, 0;
  mul.lo.u32 %r12, %r3, %r1;
  setp.ne.u32 %p2, %r4, 0;
  @%p2 bra sum;
copy:
  and.b32 %r13, %r10, 1;
  shr.u32 %r14, %r10, 1;
  and.b32 %r14, %r14, 1;
  xor.b32 %r14, %r14, 1;
  shl.b32 %r15, %r13, 3;
  add.u32 %r16, %r7, %r15;
  add.u32 %r17, %r8, %r15;
  mov.u32 %r18, 0;
  @%p1 bra meet;
again:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r17], %r14, 10000000;
  @!%p3 bra again;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r16], 256;
  shl.b32 %r19, %r13, 8;
  add.u32 %r19, %r19, %r6;
  add.u32 %r20, %r12, %r10;
  mul.wide.u32 %rd3, %r20, 256;
  add.u64 %rd4, %rd1, %rd3;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r19], [%rd4], 256, [%r16];
  mul.lo.u32 %r18, %r10, 3;
meet:
  shfl.sync.idx.b32 %r21, %r18, 0, 31, 0xffffffff;
  add.u32 %r11, %r11, %r21;
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r1;
  @%p4 bra copy;
  bra store;
sum:
  setp.ne.u32 %p5, %r4, 1;
  @%p5 bra turn;
  bar.arrive 1, 64;
turn:
  and.b32 %r13, %r10, 1;
  shr.u32 %r14, %r10, 1;
  and.b32 %r14, %r14, 1;
  shl.b32 %r15, %r13, 3;
  add.u32 %r16, %r7, %r15;
  add.u32 %r17, %r8, %r15;
full_again:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r16], %r14, 10000000;
  @!%p3 bra full_again;
  bar.sync %r4, 64;
  ld.shared.u32 %r22, [%r9];
  mad.lo.u32 %r22, %r22, 5, %r4;
  bar.warp.sync 0xffffffff;
  st.shared.u32 [%r9], %r22;
  sub.u32 %r23, 3, %r4;
  bar.arrive %r23, 64;
  add.u32 %r11, %r11, %r22;
  shl.b32 %r19, %r13, 8;
  add.u32 %r19, %r19, %r6;
  shl.b32 %r24, %r4, 7;
  add.u32 %r19, %r19, %r24;
  shl.b32 %r24, %r5, 2;
  add.u32 %r19, %r19, %r24;
  ld.shared.u32 %r25, [%r19+-128];
  add.u32 %r11, %r11, %r25;
  bar.warp.sync 0xffffffff;
  setp.ne.u32 %p6, %r5, 0;
  @%p6 bra next;
  mbarrier.arrive.shared::cta.b64 _, [%r17];
next:
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r1;
  @%p4 bra turn;
store:
  mad.lo.u32 %r26, %r3, 96, %r2;
  mul.wide.u32 %rd5, %r26, 4;
  add.u64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r11;
  ret;
}
"""

WORKLOAD = """\
module: k.ptx
parameters: {rounds: 9, blocks: 5}
buffers:
  in: {type: u32, count: 64 * rounds * blocks, memory: KIND, init: {permutation: {seed: 5}}}
  out: {type: u32, count: 96 * blocks, memory: device}
program:
  - launch: {kernel: stream, grid: [blocks], block: [96], arguments: [in, out, rounds]}
  - copy: {buffer: out, to: host}
  - save: in
  - save: out
"""


def sums(words, rounds, blocks):
    """What stream writes."""
    out = np.zeros((blocks, 3, 32), dtype=np.uint64)
    pieces = words.reshape(blocks, rounds, 2, 32).astype(np.uint64)
    order = 0
    for turn in range(rounds):
        out[:, 0] += 3 * turn
        for warp in (1, 2):
            order = (5 * order + warp) % 2**32
            out[:, warp] += order + pieces[:, turn, warp - 1]
    return out.reshape(-1).astype(np.uint32)


class WarpSpecialised(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", STREAM)
        self.write("w.yaml", WORKLOAD.replace("KIND", "device").replace(
            "program:\n", "program:\n  - copy: {buffer: in, to: device}\n"))
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/h100.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   "tenants:\n  - {name: one, workload: w.yaml}\n")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def test_lanes_wait_for_one_that_waits_for_a_copy(self):
        run = self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertNotIn("goes on without", run.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            words, out = (file[f"buffers/one/{name}"][()] for name in ("in", "out"))
        np.testing.assert_array_equal(out, sums(words, 9, 5))

    def test_copies_that_fault(self):
        self.write("w.yaml", WORKLOAD.replace("KIND", "managed"))
        run = self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5",
                        "--set", "policies.exception_scheme=stall-on-fault")
        self.assertNotIn("goes on without", run.stderr)

    def test_any_layout_does_the_same(self):
        self.good("run", "s.yaml", "--quiet", "--output", "one.h5")
        for layout, threads, more in (("threads", 2, {}), ("ranks2", 1, {"ranks": 2}), ("ranks3", 1, {"ranks": 3})):
            with self.subTest(layout=layout):
                self.good("run", "s.yaml", "--quiet", "--threads", threads, "--output", f"{layout}.h5", **more)
                self.good("diff", "one.h5", f"{layout}.h5")


if __name__ == "__main__":
    unittest.main()
