"""Bulk copies in whole machines: who has them, mistakes with them, pages, layouts, checkpoints and preemption."""
import unittest

import h5py

from beside_others import SLIPS, BesideOthers
from harness import ROOT, ScenarioTest

ENGINE = ("--set", "gpu.sm.bulk.lines_in_flight=16")

# slip(data, mistake): thread 70 of all makes a mistake with a bulk copy.
SLIP = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry slip(.param .u64 data, .param .u32 mistake)
{
  .shared .align 8 .b64 gate[2];
  .shared .align 16 .b8 room[256];
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [mistake];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r5;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra ready;
  mbarrier.init.shared.b64 [gate], 2;
ready:
  bar.sync 0;
  mov.u32 %r8, room;
  setp.ne.u32 %p1, %r5, 70;
  @%p1 bra after;
  ts: .branchtargets size, address, shared, room_end, global_end, barrier, bytes;
  brx.idx %r1, ts;
size:
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 20, [gate];
  bra after;
address:
  cp.async.bulk.global.shared::cta.bulk_group [%rd1+8], [%r8], 16;
  bra after;
shared:
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8+4], [%rd1], 16, [gate];
  bra after;
room_end:
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8+480], [%rd1], 128, [gate];
  bra after;
global_end:
  cp.async.bulk.global.shared::cta.bulk_group [%rd1+1504], [%r8], 64;
  bra after;
barrier:
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 64, [gate+8];
  bra after;
bytes:
  mbarrier.complete_tx.shared.b64 [gate], 1048575;
  cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1], 16, [gate];
after:
  bar.sync 0;
  st.global.u32 [%rd3], %r4;
  ret;
}
"""

MISTAKES = (
    ("k.ptx:31", "bulk copy of 20 bytes, which are no multiple of 16"),
    ("k.ptx:34", "which is not a multiple of 16"),
    ("k.ptx:37", "bulk copy at shared address 0x14, which is not a multiple of 16"),
    ("k.ptx:40", "bulk copy of 128 bytes at shared address 0x1f0, outside of the block's"),
    ("k.ptx:43", "bulk copy to "),
    ("k.ptx:46", "no barrier has been initialised at shared address 0x8"),
    ("k.ptx:50", "transactions of 16 bytes more at the barrier at shared address 0x0"),
)


class BulkCopyMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", SLIP)

    def test_each_ends_its_tenant_only(self):
        for mistake, (line, what) in enumerate(MISTAKES):
            for kind in ("managed", "device"):
                with self.subTest(what=what, kind=kind):
                    self.beside_others(SLIPS.replace("KIND", kind))
                    self.assert_ended([line, "kernel slip", "block (1, 0, 0)", "thread (6, 0, 0)", what],
                                      f"tenants.0.parameters.mistake={mistake}", ENGINE[1])

    def test_layouts_agree_about_a_mistake(self):
        self.beside_others(SLIPS.replace("KIND", "managed"))
        self.assert_layouts_agree("--set", "tenants.0.parameters.mistake=6", *ENGINE)


class BulkCopiesOfGpus(ScenarioTest):
    def scene(self, gpu, tenants=1, **more):
        keys = "".join(f"{key}: {value}\n" for key, value in more.items())
        each = "".join(f"  - {{name: t{t}, workload: {ROOT}/configs/workloads/scale_bulk.yaml, "
                       f"parameters: {{n: {9000 + 1000 * t}, blocks: 8}}, memory: managed}}\n" for t in range(tenants))
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   f"{keys}tenants:\n{each}")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def test_an_a100_refuses_them_with_the_line_and_a_gpu_that_has_them(self):
        self.scene("a100")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in ("scale_bulk.ptx:75:", "mbarrier.arrive.expect_tx needs the engine for bulk copies of compute "
                     "capability 9.0 or later", "simulate a GPU like H100 (9.0)"):
            self.assertIn(part, run.stderr)

    def test_an_h100_and_an_h200_run_them_in_any_layout(self):
        for gpu in ("h100", "h200"):
            self.scene(gpu)
            self.good("run", "s.yaml", "--quiet", "--check", "--output", "one.h5")
            for layout, more in (("threads", {}), ("ranks2", {"ranks": 2}), ("ranks3", {"ranks": 3})):
                threads = ["--threads", 2] if layout == "threads" else []
                self.good("run", "s.yaml", "--quiet", *threads, "--output", f"{layout}.h5", **more)
                self.good("diff", "one.h5", f"{layout}.h5")

    def test_counters_tell_copies_lines_and_bytes(self):
        self.scene("h100")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            stats = file["final/stats/sm"]
            self.assertEqual(stats["bulk_copies"][()].sum(), 2 * 9, "nine tiles of 1024 floats, there and back")
            self.assertEqual(stats["bulk_lines"][()].sum(), 2 * -(-9000 * 4 // 128))
            self.assertEqual(stats["bulk_bytes"][()].sum(), 2 * 9000 * 4)
            self.assertEqual(stats["async_copy_bytes"][()].sum(), 9000 * 4)
            for name in ("bulk_copies", "bulk_lines", "bulk_bytes"):
                self.assertEqual(file["kernels"][name].sum(), stats[name][()].sum(), name)

    def test_tenants_that_take_turns_and_page_lose_nothing(self):
        for scheme in ("stall-on-fault", "replay-queue", "operand-log"):
            for preemption in ("drain", "switch"):
                with self.subTest(scheme=scheme, preemption=preemption):
                    self.scene("tiny", tenants=3, policies=f"{{sharing: {{name: time-sliced, slice: 5us}}, "
                               f"preemption: {preemption}, exception_scheme: {scheme}}}")
                    self.good("run", "s.yaml", "--quiet", "--check", *ENGINE, "--output", "o.h5")


if __name__ == "__main__":
    unittest.main()
