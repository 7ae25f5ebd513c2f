"""Lanes of a warp that wait for each other, and member masks that name lanes which do not come."""
import unittest

from harness import ROOT, ScenarioTest

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
  .reg .b32 %r<20>;
  .reg .b64 %rd<8>;
  .reg .pred %p<8>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
"""

# Each thread adds one to a[1] under the lock a[0].
LOCK = HEAD + """\
TRY:
  atom.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra TRY;
  ld.volatile.global.u32 %r3, [%rd1+4];
  add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [%rd1+4], %r3;
  membar.gl;
  atom.global.exch.b32 %r4, [%rd1], 0;
  ret;
}
"""

# Lane 0 sets the word that the others poll, when it has met them.
POLL = HEAD + """\
  .shared .align 4 .b32 word;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra MEET;
AGAIN:
  ld.volatile.shared.u32 %r2, [word];
  setp.ne.u32 %p2, %r2, 7;
  @%p2 bra AGAIN;
MEET:
  @%p1 st.volatile.shared.u32 [word], 7;
  @!%p1 st.global.u32 [%rd3], %r2;
  ret;
}
"""

# Every fourth lane executes INSTRUCTION (line 16), which makes %r2.
PARTLY = HEAD + """\
  and.b32 %r3, %r1, 3;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra SKIP;
  INSTRUCTION
SKIP:
  st.global.u32 [%rd3], %r2;
  ret;
}
"""

# Lane l asks with the mask of the lanes below it (line 18).
BELOW = HEAD + """\
  mov.u32 %r4, 1;
  shl.b32 %r4, %r4, %r1;
  sub.u32 %r4, %r4, 1;
  and.b32 %r3, %r1, 1;
  setp.eq.u32 %p1, %r3, 0;
  vote.sync.ballot.b32 %r2, %p1, %r4;
  st.global.u32 [%rd3], %r2;
  ret;
}
"""

WORKLOAD = """\
module: k.ptx
parameters: {blocks: 1, block: 32}
buffers:
  a: {type: u32, count: 64, memory: device}
program:
  - copy: {buffer: a, to: device}
  - launch: {kernel: k, grid: [blocks], block: [block], arguments: [a]}
  - copy: {buffer: a, to: host}
  - save: a
"""


class ThreadScheduling(ScenarioTest):
    def kernel(self, ptx, gpu="tiny", parameters="{}"):
        self.write("k.ptx", ptx)
        self.write("w.yaml", WORKLOAD)
        self.write(
            "s.yaml",
            f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
            f"tenants: [{{name: t, workload: w.yaml, parameters: {parameters}}}]\n")

    def run_well(self, *arguments, **more):
        run = self.lockstep("run", "s.yaml", "--quiet", *arguments, **more)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    @staticmethod
    def warnings(run):
        return [line for line in run.stderr.splitlines() if line.startswith("lockstep: warning: ")]

    def test_a_lock_around_a_loop_passes_from_lane_to_lane(self):
        for gpu in ("tiny", "v100", "a100"):
            with self.subTest(gpu=gpu):
                self.kernel(LOCK, gpu, "{blocks: 2, block: 64}")
                self.assertIn("check passed", self.run_well("--check").stdout)

    def test_a_polled_word_reaches_the_lanes_that_wait_for_it(self):
        self.kernel(POLL)
        self.assertIn("check passed", self.run_well("--check").stdout)

    def test_any_layout_and_any_interruption_give_the_same(self):
        self.kernel(LOCK, parameters="{blocks: 3, block: 64}")
        self.run_well("--output", "first.h5")
        for threads, ranks in ((2, 0), (1, 2), (1, 3)):
            with self.subTest(threads=threads, ranks=ranks):
                self.run_well("--threads", threads, "--output", "other.h5", ranks=ranks)
                self.assertEqual(self.lockstep("diff", "first.h5", "other.h5").returncode, 0)

    def test_a_machine_before_volta_says_that_it_cannot(self):
        self.kernel(POLL, "k20")
        run = self.lockstep("run", "s.yaml", "--quiet", "--set", "simulation.progress_limit=0s")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("ten million backward branches", run.stderr)
        self.assertIn("sm.thread_scheduling: warp", run.stderr)

    def test_a_shuffle_of_all_lanes_goes_on_without_those_that_do_not_come(self):
        for instruction in ("shfl.sync.down.b32 %r2, %r1, 4, 31, 0xffffffff;",
                            "vote.sync.ballot.b32 %r2, %p1, 0xffffffff;",
                            "match.any.sync.b32 %r2, %r1, 0xffffffff;",
                            "redux.sync.add.u32 %r2, %r1, 0xffffffff;",
                            "mov.u32 %r5, 0xffffffff; shfl.sync.idx.b32 %r2, %r1, 1, 31, %r5;"):
            with self.subTest(instruction=instruction):
                self.kernel(PARTLY.replace("INSTRUCTION", instruction))
                run = self.run_well("--check")
                self.assertIn("check passed", run.stdout)
                warnings = self.warnings(run)
                self.assertEqual(len(warnings), 1, run.stderr)
                self.assertIn("k.ptx:16", warnings[0])
                self.assertIn("mask 0xffffffff", warnings[0])
                self.assertIn("lanes 1-3, 5-7, 9-11", warnings[0])

    def test_any_layout_warns_the_same(self):
        self.kernel(PARTLY.replace("INSTRUCTION", "redux.sync.add.u32 %r2, %r1, 0xffffffff;"),
                    parameters="{blocks: 6}")
        first = self.warnings(self.run_well())
        self.assertEqual(len(first), 1)
        for threads, ranks in ((2, 0), (1, 2), (1, 3)):
            with self.subTest(threads=threads, ranks=ranks):
                self.assertEqual(self.warnings(self.run_well("--threads", threads, ranks=ranks)), first)

    def test_other_masks_that_never_are_complete_are_reported(self):
        for instruction, mask in (("shfl.sync.down.b32 %r2, %r1, 4, 31, 0x0fffffff;", "0x0fffffff"),
                                  ("bar.warp.sync 0x00ff00ff;", "0x00ff00ff")):
            with self.subTest(instruction=instruction):
                # The others wait for these at a barrier that these never reach.
                text = PARTLY.replace("INSTRUCTION", instruction)
                text = text.replace("SKIP:\n", "SKIP:\n  bar.sync 0;\n")
                self.kernel(text)
                run = self.lockstep("run", "s.yaml", "--quiet")
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertIn("k.ptx:16", run.stderr)
                self.assertIn(f"mask {mask}", run.stderr)
                self.assertIn("lanes 1-3, 5-7", run.stderr)

    def test_a_vote_hears_of_the_lanes_that_the_mask_names(self):
        self.kernel(BELOW)
        run = self.run_well("--check")
        self.assertIn("check passed", run.stdout)
        warnings = self.warnings(run)
        self.assertEqual(len(warnings), 1, run.stderr)
        self.assertIn("k.ptx:18", warnings[0])
        self.assertIn("lane 0 executes an instruction with the mask 0x00000000", warnings[0])


if __name__ == "__main__":
    unittest.main()
