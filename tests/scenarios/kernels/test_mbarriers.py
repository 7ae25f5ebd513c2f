"""Barriers of mbarrier: mistakes with them end their tenant, and a phase that nobody ends is told with its barrier."""
import unittest

from beside_others import SLIPS, BesideOthers
from harness import ROOT, ScenarioTest

# slip(data, mistake): thread 70 of all makes a mistake with a barrier; the others wait for each other.
SLIP = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry slip(.param .u64 data, .param .u32 mistake)
{
  .shared .align 8 .b64 gate[2];
  .shared .align 16 .b8 room[16];
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
  setp.ne.u32 %p1, %r5, 70;
  @%p1 bra after;
  ts: .branchtargets test, wait, beyond, misaligned, none, complete, copies, outside;
  brx.idx %r1, ts;
test:
  mbarrier.test_wait.parity.shared.b64 %p2, [gate+8], 0;
  bra after;
wait:
  mbarrier.try_wait.parity.shared.b64 %p2, [gate+8], 1;
  bra after;
beyond:
  mbarrier.arrive.shared.b64 %rd4, [gate], 3;
  bra after;
misaligned:
  mov.u32 %r6, gate;
  mbarrier.arrive.shared.b64 %rd4, [%r6+4];
  bra after;
none:
  mov.u32 %r7, 0;
  mbarrier.init.shared.b64 [gate+8], %r7;
  bra after;
complete:
  mbarrier.arrive.noComplete.shared.b64 %rd4, [gate], 2;
  bra after;
copies:
  mov.u32 %r8, room;
  cp.async.ca.shared.global [%r8], [%rd1], 16;
  cp.async.mbarrier.arrive.noinc.shared.b64 [gate];
  mbarrier.inval.shared.b64 [gate];
  cp.async.wait_all;
  bra after;
outside:
  mbarrier.arrive.b64 %rd4, [%rd1];
after:
  bar.sync 0;
  st.global.u32 [%rd3], %r4;
  ret;
}
"""

MISTAKES = (
    ("k.ptx:30", "no barrier has been initialised at shared address 0x8"),
    ("k.ptx:33", "no barrier has been initialised at shared address 0x8"),
    ("k.ptx:36", "3 arrivals at the barrier at shared address 0x0, whose phase of parity 0 waits for 2 more of 2"),
    ("k.ptx:40", "a barrier at shared address 0x4, which is not a multiple of 8"),
    ("k.ptx:44", "mbarrier.init of a count of 0"),
    ("k.ptx:47", "2 arrivals with .noComplete completes the phase"),
    ("k.ptx:52", "no barrier has been initialised at shared address 0x0"),
    ("k.ptx:57", "which is not in shared memory"),
)

# hang(data): 33 arrivals are waited for, and 32 threads arrive.
HANG = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry hang(.param .u64 data)
{
  .shared .align 8 .b64 gate[2];
  .reg .pred %p<3>;
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ready;
  mbarrier.init.shared.b64 [gate+8], 33;
ready:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra wait;
  mbarrier.arrive.shared.b64 %rd1, [gate+8];
wait:
  mbarrier.WAIT.parity.shared.b64 %p2, [gate+8], 0;
  @!%p2 bra wait;
  ret;
}
"""


class MbarrierMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", SLIP)

    def test_each_ends_its_tenant_only(self):
        for mistake, (line, what) in enumerate(MISTAKES):
            for kind in ("managed", "device"):
                with self.subTest(what=what, kind=kind):
                    self.beside_others(SLIPS.replace("KIND", kind))
                    self.assert_ended([line, "kernel slip", "block (1, 0, 0)", "thread (6, 0, 0)", what],
                                      f"tenants.0.parameters.mistake={mistake}")

    def test_layouts_agree_about_a_mistake(self):
        self.beside_others(SLIPS.replace("KIND", "managed"))
        self.assert_layouts_agree("--set", "tenants.0.parameters.mistake=6")


class MbarriersThatNobodyCompletes(ScenarioTest):
    def hang(self, wait, *more, **where):
        self.write("k.ptx", HANG.replace("WAIT", wait))
        self.write("w.yaml", "module: k.ptx\nbuffers:\n  data: {type: u32, count: 64, memory: device}\nprogram:\n"
                   "  - launch: {kernel: hang, grid: [1], block: [96], arguments: [data]}\n  - synchronize\n")
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   "simulation: {epoch: 50us, progress_limit: 4ms}\ntenants:\n  - {name: one, workload: w.yaml}\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", *more, **where)
        self.assertEqual(run.returncode, 1, run.stderr)
        return [line for line in run.stderr.splitlines() if "mpirun" not in line and line.strip()]

    def test_the_report_names_the_barrier_its_counts_and_who_waits(self):
        text = "\n".join(self.hang("try_wait"))
        for word in ("tenant one waits for ever, since", "kernel hang (", "block (0, 0, 0)",
                     "3 warps at line 20 waits: mbarrier for the barrier at shared address 0x8, "
                     "whose phase of parity 0 waits for 1 more of 33 arrivals"):
            self.assertIn(word, text)

    def test_who_asks_again_and_again_is_told_with_the_barrier_too(self):
        self.assertIn("for the barrier at shared address 0x8, whose phase of parity 0 waits for 1 more of 33 arrivals",
                      "\n".join(self.hang("test_wait")))

    def test_every_layout_says_the_same(self):
        first = self.hang("try_wait")
        for other in (self.hang("try_wait", "--threads", 2), self.hang("try_wait", ranks=2),
                      self.hang("try_wait", ranks=3)):
            self.assertEqual(other[:len(first)], first)


if __name__ == "__main__":
    unittest.main()
