"""Whatever waits for ever is found, in the same words in every layout; what only takes long is not."""
import unittest

from harness import ROOT, ScenarioTest

PTX = """\
.version 7.8
.target sm_70
.address_size 64
// poll(flag): until flag[0] is not zero.
.visible .entry poll(.param .u64 flag)
{
  .reg .pred %p<2>;
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
// lock(flag): takes a lock that nobody gives back, and sleeps longer and longer.
.visible .entry lock(.param .u64 flag)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r2, 32;
again:
  nanosleep.u32 %r2;
  shl.b32 %r3, %r2, 1;
  min.u32 %r2, %r3, 1024;
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
// chain(flag): a block waits for the next one.
.visible .entry chain(.param .u64 flag)
{
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  add.u32 %r3, %r1, 1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p1, %r3, %r2;
  @%p1 bra set;
again:
  ld.volatile.global.u32 %r4, [%rd3+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra again;
set:
  mov.u32 %r5, 1;
  st.volatile.global.u32 [%rd3], %r5;
  ret;
}
// compute(flag, n): n rounds in a register, then a store.
.visible .entry compute(.param .u64 flag, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 7;
again:
  mad.lo.u32 %r2, %r2, 1664525, 1013904223;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  or.b32 %r3, %r2, 1;
  st.global.u32 [%rd1], %r3;
  ret;
}
// chase(flag, n): n loads, each from where the one before says.
.visible .entry chase(.param .u64 flag, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flag];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
again:
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.volatile.global.u32 %r2, [%rd3];
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  add.u32 %r2, %r2, 1000;
  st.global.u32 [%rd1], %r2;
  ret;
}
// locks(flag): two threads take two locks in opposite order, each the second when the other has its first.
.visible .entry locks(.param .u64 flag)
{
  .reg .pred %p<6>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [flag];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  add.u32 %r1, %r1, %r2;
  xor.b32 %r3, %r1, 1;
  mul.wide.u32 %rd2, %r1, 4;
  mul.wide.u32 %rd3, %r3, 4;
  add.u64 %rd4, %rd1, %rd2;
  add.u64 %rd5, %rd1, %rd3;
first:
  atom.global.cas.b32 %r4, [%rd4], 0, 1;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra first;
  atom.global.add.u32 %r5, [%rd1+8], 1;
meet:
  ld.volatile.global.u32 %r6, [%rd1+8];
  setp.lt.u32 %p2, %r6, 2;
  @%p2 bra meet;
second:
  atom.global.cas.b32 %r7, [%rd5], 0, 1;
  setp.ne.u32 %p3, %r7, 0;
  @%p3 bra second;
  atom.global.exch.b32 %r8, [%rd5], 0;
  atom.global.exch.b32 %r8, [%rd4], 0;
  ret;
}
"""

LAUNCH = """\
module: k.ptx
parameters: {blocks: 1, n: 0}
buffers:
  flag: {type: u32, count: 4096, memory: KIND, init: zero}
program:
  - launch: {kernel: KERNEL, grid: [blocks], block: [32], arguments: [ARGUMENTS]}
"""


class NoProgress(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)

    def workload(self, kernel, arguments="flag", kind="device", more=""):
        text = LAUNCH.replace("KERNEL", kernel).replace("ARGUMENTS", arguments).replace("KIND", kind)
        self.write(f"{kernel}.yaml", text + more)

    def tenants(self, *tenants, simulation="epoch: 50us, progress_limit: 4ms", more=""):
        self.write("scenario.yaml",
                   f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   f"simulation: {{{simulation}}}\n{more}tenants:\n"
                   + "".join(f"  - {{name: {name}, {text}}}\n" for name, text in tenants))

    def run_it(self, *more, **where):
        return self.lockstep("run", "scenario.yaml", "--quiet", "--output", "o.h5", *more, **where)

    def assert_found(self, *words, status=1):
        run = self.run_it()
        self.assertEqual(run.returncode, status, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        return run.stderr

    def assert_ends(self, *more):
        run = self.run_it(*more)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_a_warp_that_polls_a_word_nobody_sets(self):
        for kind in ("device", "managed", "pinned"):
            with self.subTest(kind=kind):
                self.workload("poll", kind=kind)
                self.tenants(("one", "workload: poll.yaml"))
                self.assert_found("tenant one waits for ever, since", "kernel poll (", "block (0, 0, 0)",
                                  "at line 1", "and polls address 0x", "(line 12)",
                                  "0x0 when last read", "simulation.progress_limit")

    def test_a_lock_that_nobody_gives_back(self):
        self.workload("lock")
        text = (self.folder / "lock.yaml").read_text()
        self.write("lock.yaml", text + "  - launch: {kernel: lock, grid: [blocks], block: [32], arguments: [flag]}\n")
        self.tenants(("one", "workload: lock.yaml, parameters: {blocks: 2}"))
        self.assert_found("tenant one waits for ever, since", "kernel lock (")

    def test_two_that_take_two_locks_in_opposite_order(self):
        """Lanes of a warp, and blocks."""
        for blocks, threads in ((1, 2), (2, 1)):
            with self.subTest(blocks=blocks):
                self.workload("locks")
                text = (self.folder / "locks.yaml").read_text().replace("block: [32]", f"block: [{threads}]")
                self.write("locks.yaml", text)
                self.tenants(("one", f"workload: locks.yaml, parameters: {{blocks: {blocks}}}"))
                self.assert_found("tenant one waits for ever, since", "kernel locks (", "0x1 when last read")

    def test_blocks_that_wait_for_blocks_without_a_place(self):
        self.workload("chain")
        self.tenants(("one", "workload: chain.yaml, parameters: {blocks: 300}"))
        self.assert_found("tenant one waits for ever, since", "kernel chain (", "blocks running", "at line")
        self.tenants(("one", "workload: chain.yaml, parameters: {blocks: 8}"))
        self.assert_ends("--check")

    def test_the_limit_is_long_unless_it_is_said(self):
        self.workload("poll")
        self.tenants(("one", "workload: poll.yaml"), simulation="epoch: 50us")
        self.assert_found("(100.000 ms)")

    def test_others_go_on_if_that_is_wanted(self):
        self.workload("poll")
        self.workload("compute", "flag, n")
        tenants = (("stuck", "workload: poll.yaml, sms: 1"),
                   ("busy", "workload: compute.yaml, parameters: {n: 400000}, sms: 1"))
        simulation = "epoch: 50us, progress_limit: 4ms"
        self.tenants(*tenants, simulation=simulation, more="policies: {sharing: spatial}\n")
        self.assert_found("tenant stuck waits for ever, since")
        self.tenants(*tenants, simulation=simulation + ", on_no_progress: warn, stop_at: 20ms",
                     more="policies: {sharing: spatial}\n")
        text = self.assert_found("lockstep: warning: at ", "tenant stuck waits for ever, since", status=4)
        self.assertEqual(text.count("warning"), 1)
        self.assertNotIn("tenant busy", text.splitlines()[0])
        self.assertIn("tenant stuck had not finished", text)
        self.assertNotIn("tenant busy had not finished", text)

    def test_every_layout_says_the_same(self):
        self.workload("chain")
        self.tenants(("one", "workload: chain.yaml, parameters: {blocks: 300}"))
        texts = [self.run_it().stderr, self.run_it("--threads", 2).stderr,
                 self.run_it(ranks=2).stderr, self.run_it(ranks=3).stderr]
        lines = [[line for line in text.splitlines()
                  if "mpirun" not in line and line.strip()] for text in texts]
        for other in lines[1:]:
            self.assertEqual(other[:len(lines[0])], lines[0])

    def test_a_resumed_run_says_the_same(self):
        self.workload("chain")
        self.tenants(("one", "workload: chain.yaml, parameters: {blocks: 300}"))
        whole = self.run_it("--checkpoint-every", "0.001s").stderr
        self.assertIn("waits for ever", whole)
        resumed = self.run_it("--resume", "o.ckpt", "--threads", 2)
        self.assertEqual((resumed.returncode, resumed.stderr), (1, whole))

    def test_a_run_that_was_told_goes_on_with_a_longer_limit(self):
        self.workload("poll", kind="pinned", more="  - delay: 3ms\n  - synchronize\n")
        self.tenants(("one", "workload: poll.yaml"))
        stopped = self.run_it("--checkpoint-every", "0.001s")
        self.assertEqual(stopped.returncode, 1)
        resumed = self.run_it("--resume", "o.ckpt", "--set", "simulation.progress_limit=0s",
                              "--set", "simulation.stop_at=9ms")
        self.assertEqual(resumed.returncode, 4, resumed.stderr)

    def test_what_takes_long_is_no_spin(self):
        self.workload("compute", "flag, n")
        self.tenants(("one", "workload: compute.yaml, parameters: {n: 1000000}"))
        self.assert_ends()
        self.workload("chase", "flag, n")
        text = (self.folder / "chase.yaml").read_text().replace("init: zero", "init: {linear: {start: 1, step: 1}}")
        self.write("chase.yaml", text.replace("count: 4096", "count: 200000"))
        self.tenants(("one", "workload: chase.yaml, parameters: {n: 100000}"))
        self.assert_ends()

    def test_a_kernel_may_wait_for_its_host(self):
        self.workload("poll", kind="pinned", more="  - delay: 30ms\n  - fill: {buffer: flag, value: 1}\n")
        self.tenants(("one", "workload: poll.yaml"))
        self.assert_ends()

    def test_a_host_that_looks_again_and_again(self):
        loop = ("  - repeat:\n      until: {buffer: flag, index: 0, equals: 1}\n"
                "      program:\n        - delay: 10us\n")
        self.workload("poll", kind="pinned", more=loop)
        self.tenants(("one", "workload: poll.yaml"))
        self.assert_found("tenant one waits for ever, since", "poll.yaml:")

    def test_it_can_be_left_alone(self):
        self.workload("poll")
        self.tenants(("one", "workload: poll.yaml"),
                     simulation="epoch: 50us, progress_limit: 0s, stop_at: 2ms")
        self.assertEqual(self.run_it().returncode, 4)


if __name__ == "__main__":
    unittest.main()
