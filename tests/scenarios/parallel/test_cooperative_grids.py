"""Grids whose blocks wait for all others, and just fit: beside other tenants, and as they are preempted and preempt."""
import unittest

import h5py

from harness import ROOT, ScenarioTest, todays

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"

# What nvcc makes of grid.sync(), between rounds in which each block reads what the next one has written.
MEET = HEAD + """
.visible .entry meet(.param .u64 out, .param .u32 rounds) {
  .reg .b64 %rd<12>;
  .reg .b32 %r<16>;
  .reg .pred %p<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r11, [rounds];
  mov.u32 %r8, %envreg2;
  cvt.u64.u32 %rd3, %r8;
  mov.u32 %r9, %envreg1;
  cvt.u64.u32 %rd4, %r9;
  bfi.b64 %rd5, %rd4, %rd3, 32, 32;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r1, %tid.x;
  sub.u32 %r5, 0x80000001, %r3;
  setp.eq.u32 %p1, %r4, 0;
  selp.b32 %r5, %r5, 1, %p1;
  setp.ne.u32 %p2, %r1, 0;
  mul.wide.u32 %rd6, %r4, 128;
  add.s64 %rd6, %rd1, %rd6;
  add.u32 %r12, %r4, 1;
  rem.u32 %r13, %r12, %r3;
  mul.wide.u32 %rd7, %r13, 128;
  add.s64 %rd7, %rd1, %rd7;
  mov.u32 %r10, 0;
round:
  @!%p2 st.volatile.global.u32 [%rd6], %r12;
  barrier.sync 0;
  @%p2 bra met;
  atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait:
  ld.acquire.gpu.u32 %r7, [%rd5+4];
  xor.b32 %r7, %r7, %r6;
  setp.gt.s32 %p3, %r7, -1;
  @%p3 bra wait;
met:
  barrier.sync 0;
  ld.volatile.global.u32 %r14, [%rd7];
  mad.lo.u32 %r12, %r12, 3, %r14;
  barrier.sync 0;
  @%p2 bra again;
  atom.add.release.gpu.u32 %r6, [%rd5+4], %r5;
wait2:
  ld.acquire.gpu.u32 %r7, [%rd5+4];
  xor.b32 %r7, %r7, %r6;
  setp.gt.s32 %p3, %r7, -1;
  @%p3 bra wait2;
again:
  barrier.sync 0;
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p4, %r10, %r11;
  @%p4 bra round;
  ret;
}
"""
MEET_PROGRAM = """
module: meet.ptx
parameters: {blocks: 16, rounds: 8, launches: 1}
buffers:
  out: {type: u32, count: 32 * blocks, memory: device}
program:
  - copy: {buffer: out, to: device}
  - repeat:
      times: launches
      program:
        - launch: {kernel: meet, grid: [blocks], block: [128], arguments: [out, rounds]}
  - copy: {buffer: out, to: host}
"""

# The same with a barrier that nobody knows for one: a counter that all add to and wait for.
COUNT = HEAD + """
.visible .entry count(.param .u64 out, .param .u64 arrived) {
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [arrived];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %nctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra met;
  atom.relaxed.gpu.global.add.u32 %r4, [%rd2], 1;
again:
  ld.acquire.gpu.global.u32 %r5, [%rd2];
  setp.lt.u32 %p2, %r5, %r3;
  @%p2 bra again;
met:
  bar.sync 0;
  ld.relaxed.gpu.global.u32 %r5, [%rd2];
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd3, %rd1, %rd3;
  @!%p1 st.global.u32 [%rd3], %r5;
  ret;
}
"""
COUNT_PROGRAM = """
module: count.ptx
parameters: {blocks: 16}
buffers:
  out: {type: u32, count: blocks, memory: device}
  arrived: {type: u32, count: 1, memory: device}
program:
  - copy: {buffer: arrived, to: device}
  - launch: {kernel: count, grid: [blocks], block: [128], arguments: [out, arrived]}
  - copy: {buffer: out, to: host}
"""

# Each thread works on a word of its own, in place; later blocks for longer, so that SMs are free at different times.
WORK = HEAD + """
.visible .entry work(.param .u64 out, .param .u32 rounds, .param .u32 more) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<12>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r5, [rounds];
  ld.param.u32 %r6, [more];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mad.lo.u32 %r5, %r2, %r6, %r5;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.u32 %r7, [%rd2];
next:
  mad.lo.u32 %r7, %r7, 1664525, 1013904223;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra next;
  st.global.u32 [%rd2], %r7;
  ret;
}
"""
WORK_PROGRAM = """
module: work.ptx
parameters: {blocks: 32, rounds: 1500, more: 60}
buffers:
  out: {type: u32, count: 128 * blocks, memory: device}
program:
  - copy: {buffer: out, to: device}
  - launch: {kernel: work, grid: [blocks], block: [128], arguments: [out, rounds, more]}
  - copy: {buffer: out, to: host}
"""
TECHNIQUES = ("none", "drain", "switch", "{name: switch, in_place: true}", "{name: switch, traffic: share}", "flush",
              "chimera", "chimera-plus", "dual-kernel", "{name: dual-kernel, rounds: serial}")
BATCH = "{name: batch, workload: work.yaml}"


def urgent(workload, arrival="20us", more=""):
    return (f"{{name: urgent, workload: {workload}, priority: 1, arrival: {arrival}, latency_bound: 2us{more}}}")


class CooperativeGrids(ScenarioTest):
    """On four SMs with places for four blocks each."""

    def setUp(self):
        super().setUp()
        for name, (kernel, program) in {"meet": (MEET, MEET_PROGRAM), "count": (COUNT, COUNT_PROGRAM),
                                        "work": (WORK, WORK_PROGRAM)}.items():
            (self.folder / f"{name}.ptx").write_text(kernel)
            (self.folder / f"{name}.yaml").write_text(program)

    def write_scenario(self, policies, *tenants):
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   "simulation: {epoch: 100us, stop_at: 20ms}\noverride: {gpu.sm.blocks: 4}\n"
                   f"policies: {{exception_scheme: replay-queue, {policies}}}\ntenants:\n"
                   + "".join(f"  - {tenant}\n" for tenant in tenants))

    def run_checked(self, policies, *tenants, output="out.h5", options=(), ranks=0):
        self.write_scenario(policies, *tenants)
        done = self.lockstep("run", "s.yaml", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, policies + done.stderr)

    def duration(self, tenant=1):
        """Of its kernel, from its launch to its end, in microseconds."""
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows = file["kernels"][()]
        row = rows[rows["tenant"] == tenant][0]
        return (int(row["done"]) - int(row["launched"])) / 1e9

    def test_an_urgent_one_that_just_fits_gets_on(self):
        for technique in todays(TECHNIQUES):
            for workload in ("meet.yaml", "count.yaml"):
                with self.subTest(technique=technique, workload=workload):
                    self.run_checked(f"preemption: {technique}", BATCH, urgent(workload))

    def test_an_urgent_one_of_any_size_gets_on_whenever_it_comes(self):
        for technique in ("switch", "dual-kernel"):
            for batch, blocks, arrival in (("{more: 0}", 16, "20us"), ("{blocks: 13, more: 400}", 15, "33us"),
                                           ("{more: 200}", 5, "1us")):
                with self.subTest(technique=technique, blocks=blocks, arrival=arrival):
                    self.run_checked(f"preemption: {technique}",
                                     f"{{name: batch, workload: work.yaml, parameters: {batch}}}",
                                     urgent(f"meet.yaml, parameters: {{blocks: {blocks}}}", arrival))

    def test_an_urgent_grid_waits_for_no_block_of_its_own_where_sms_make_room(self):
        work = "work.yaml, parameters: {blocks: 16, rounds: 8000, more: 0}"
        self.run_checked("preemption: none", urgent(work))
        alone = self.duration(0)
        for technique in ("switch", "{name: switch, traffic: share}", "dual-kernel", "chimera"):
            with self.subTest(technique):
                self.run_checked(f"preemption: {technique}", BATCH, urgent(work))
                self.assertLess(self.duration(), 1.2 * alone)

    def test_two_that_both_fill_the_gpu_get_on(self):
        second = "{name: second, workload: meet.yaml, arrival: 3us}"
        for policies in ("sharing: smk", "sharing: smk, preemption: switch", "preemption: none", "preemption: drain",
                         "sharing: {name: time-sliced, slice: 5us}, preemption: switch",
                         "sharing: {name: time-sliced, slice: 1us}, preemption: drain",
                         "sharing: {name: time-sliced, slice: 1us}, preemption: {name: switch, signal: 1000}"):
            for blocks in (16,):
                with self.subTest(policies=policies, blocks=blocks):
                    first = f"{{name: first, workload: meet.yaml, parameters: {{blocks: {blocks}, launches: 2}}}}"
                    self.run_checked(policies, first, second, BATCH)

    def test_one_is_preempted_by_another(self):
        """Its blocks are saved, flushed or run to their end, and go on elsewhere."""
        first = "{name: first, workload: meet.yaml, parameters: {rounds: 50}}"
        for technique in todays(TECHNIQUES):
            for blocks in (16,):
                with self.subTest(technique=technique, blocks=blocks):
                    again = ", arrivals: {every: 15us, count: 4}"
                    self.run_checked(f"preemption: {technique}", first,
                                     urgent(f"meet.yaml, parameters: {{blocks: {blocks}}}", "15us", again))

    def test_with_block_switching_they_get_on_in_little_memory(self):
        program = MEET_PROGRAM.replace("memory: device", "memory: managed").replace("32 * blocks", "1024 * blocks")
        lines = [line for line in program.splitlines() if "copy:" not in line]
        (self.folder / "meet.yaml").write_text("\n".join([*lines, "  - synchronize\n"]))
        (self.folder / "meet.ptx").write_text(MEET.replace(", 128;", ", 4096;"))
        more = ("block_switching: {name: on-fault, threshold: 0}, prefetcher: none, page_manager: base-pages, "
                "fault_handling: {name: host, cost_model: tanasic}")
        first = "{name: first, workload: meet.yaml, parameters: {rounds: 3, blocks: 13}}"
        second = "{name: second, workload: meet.yaml, parameters: {rounds: 3, blocks: 10}, priority: 1, arrival: 40us}"
        for policies in ("sharing: smk", "preemption: switch", "sharing: {name: time-sliced, slice: 2us}, "
                         "preemption: switch"):
            with self.subTest(policies):
                self.run_checked(f"{policies}, {more}", BATCH, first, second,
                                 options=("--set", "gpu.memory.capacity=2MiB"))
                with h5py.File(self.folder / "out.h5", "r") as file:
                    saved = file["final/stats/sm/blocks_saved"][()].sum()
                self.assertTrue(saved > 0 or policies == "sharing: smk")

    def test_one_that_cannot_fit_on_its_tenants_sms_is_refused_at_its_launch(self):
        self.write_scenario("sharing: spatial", "{name: first, workload: meet.yaml, sms: 3}", BATCH)
        done = self.lockstep("run", "s.yaml", "--output", "out.h5")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"meet\.yaml:\d+:\d+: kernel meet .*12 of 16 blocks .* - launch fewer blocks")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.run_checked("sharing: spatial", "{name: first, workload: meet.yaml, sms: 3, parameters: {blocks: 12}}",
                         BATCH)

    def test_layouts_and_checkpoints_write_the_same(self):
        for policies in todays(("sharing: smk", "preemption: switch",
                                "sharing: {name: time-sliced, slice: 1us}, preemption: switch")):
            with self.subTest(policies):
                tenants = ("{name: first, workload: meet.yaml}", BATCH, urgent("meet.yaml", "10us"))
                self.run_checked(policies, *tenants, options=("--threads", 1))
                for options, ranks in ((("--threads", 2), 0), ((), 2), ((), 3)):
                    self.run_checked(policies, *tenants, output="other.h5", options=options, ranks=ranks)
                    self.assert_same("other.h5")
                self.lockstep("run", "s.yaml", "--check", "--output", "part.h5", "--checkpoint-every", "0.001s",
                              "--set", "simulation.stop_at=40us")
                done = self.lockstep("run", "s.yaml", "--check", "--threads", 2, "--output", "part.h5",
                                     "--resume", "part.ckpt")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_same("part.h5")

    def assert_same(self, output):
        done = self.lockstep("diff", "out.h5", output)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
