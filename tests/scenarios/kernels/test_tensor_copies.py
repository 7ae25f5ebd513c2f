"""Copies of tensor tiles in whole machines: who has them, mistakes with them, pages, layouts and preemption."""
import unittest

import h5py

from beside_others import BesideOthers
from harness import ROOT, ScenarioTest

ENGINE = ("--set", "gpu.sm.bulk.lines_in_flight=16")

# slip(data, mistake, maps): thread 70 of all makes a mistake with a copy of a tile.
SLIP = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry slip(.param .u64 data, .param .u32 mistake, .param .align 64 .b8 maps[512])
{
  .shared .align 1024 .b8 room[512];
  .shared .align 8 .b64 gate;
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [mistake];
  mov.b64 %rd4, maps;
  cvta.param.u64 %rd5, %rd4;
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
  ts: .branchtargets none, swizzle, rank, shared, room_end, global_end, store_end, at_data, place, outside;
  brx.idx %r1, ts;
none:
  cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd5+128, {0}], [gate];
  bra after;
swizzle:
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd5+256, {0, 0}], [gate];
  bra after;
rank:
  cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd5, {0, 0, 0}], [gate];
  bra after;
shared:
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8+64], [%rd5, {0, 0}], [gate];
  bra after;
room_end:
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5, {0, 0}], [%r8+640];
  bra after;
global_end:
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd5+384, {0, 28}], [gate];
  bra after;
store_end:
  cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd5+384, {0, 28}], [%r8];
  bra after;
at_data:
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd1, {0, 28}], [gate];
  bra after;
place:
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd5+16, {0, 28}], [gate];
  bra after;
outside:
  add.s64 %rd6, %rd1, 1073741824;
  cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r8], [%rd6, {0, 28}], [gate];
after:
  bar.sync 0;
  st.global.u32 [%rd3], %r4;
  ret;
}
"""


def map_words(second, rows, pattern, box=3):
    """A tensor of 16 x rows of u32 in the buffer data, as a list of words."""
    words = [second, 4, 0, 0, 0, 0, 15, rows - 1, 0, 0, 0, 0x0f000000, box, 0, 256, 0, pattern]
    return "data, " + ", ".join(map(str, words + [0] * 13))


MAPS = ", ".join((map_words(0x110, 24, 0x10), "data, " + ", ".join(["0"] * 30), map_words(0x2110, 24, 0x100),
                  map_words(0x110, 32, 0x10)))
SLIPS = f"""\
module: k.ptx
parameters: {{blocks: 6, block: 64, mistake: 0}}
buffers:
  data: {{type: u32, count: blocks * block, memory: KIND}}
program:
  - launch: {{kernel: slip, grid: [blocks], block: [block], arguments: [data, mistake, [{MAPS}]]}}
  - synchronize
  - read: data
"""

MISTAKES = (
    ("k.ptx:33", "these bytes are no tensor map"),
    ("k.ptx:36", "rows of its box have 64 bytes, more than its swizzle of 32 bytes"),
    ("k.ptx:39", "has 2 dimensions, the instruction has 3"),
    ("k.ptx:42", "tile at shared address 0x40, which is not a multiple of 128"),
    ("k.ptx:45", "tile of 256 bytes at shared address 0x280, outside of the block's"),
    ("k.ptx:48", "bulk copy from "),
    ("k.ptx:51", "bulk copy to "),
    ("k.ptx:54", "these bytes are no tensor map"),
    ("k.ptx:57", "which is not a multiple of 64"),
    ("k.ptx:61", "which is outside of every buffer"),
)


class TensorCopyMistakes(BesideOthers):
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

    def test_layouts_agree_about_a_mistake_that_is_found_later(self):
        self.beside_others(SLIPS.replace("KIND", "managed"))
        self.assert_layouts_agree("--set", "tenants.0.parameters.mistake=7", *ENGINE)


class TensorCopiesOfGpus(ScenarioTest):
    def scene(self, gpu, tenants=1, **more):
        keys = "".join(f"{key}: {value}\n" for key, value in more.items())
        each = "".join(f"  - {{name: t{t}, workload: {ROOT}/configs/workloads/gemm_tma.yaml, "
                       f"parameters: {{m: {100 + 40 * t}, n: 140, k: 200}}, memory: managed}}\n"
                       for t in range(tenants))
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   f"{keys}tenants:\n{each}")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def test_an_a100_refuses_them_with_the_line(self):
        self.scene("a100")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, r"gemm_tma.ptx:\d+:\d+: .* needs the engine for bulk copies of")

    def test_an_h100_runs_them_in_any_layout(self):
        self.scene("h100")
        self.good("run", "s.yaml", "--quiet", "--check", "--output", "one.h5")
        for layout, more in (("threads", {}), ("ranks2", {"ranks": 2}), ("ranks3", {"ranks": 3})):
            threads = ["--threads", 2] if layout == "threads" else []
            self.good("run", "s.yaml", "--quiet", *threads, "--output", f"{layout}.h5", **more)
            self.good("diff", "one.h5", f"{layout}.h5")

    def test_counters_tell_copies_and_bytes(self):
        self.scene("h100")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            stats = file["final/stats/sm"]
            blocks, steps = 2 * 3, 4
            self.assertEqual(stats["bulk_copies"][()].sum(), blocks * (2 * steps + 1))
            self.assertEqual(stats["async_copy_bytes"][()].sum(), blocks * steps * 2 * 8192)
            for name in ("bulk_copies", "bulk_lines", "bulk_bytes"):
                self.assertEqual(file["kernels"][name].sum(), stats[name][()].sum(), name)

    def test_tenants_that_take_turns_and_page_lose_nothing(self):
        for scheme in ("stall-on-fault", "warp-disable-commit", "warp-disable-last-check", "replay-queue",
                       "operand-log"):
            for preemption in ("drain", "switch"):
                with self.subTest(scheme=scheme, preemption=preemption):
                    self.scene("tiny", tenants=3, policies=f"{{sharing: {{name: time-sliced, slice: 5us}}, "
                               f"preemption: {preemption}, exception_scheme: {scheme}}}")
                    self.good("run", "s.yaml", "--quiet", "--check", *ENGINE, "--set", "gpu.compute_capability=9.0",
                              "--output", "o.h5")


if __name__ == "__main__":
    unittest.main()
