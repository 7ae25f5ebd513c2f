"""Grids that are hard to preempt: whose blocks wait for each other, leave something behind, or lose their tenant."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

WORKLOADS = ROOT / "configs/workloads"
TECHNIQUES = ("drain", "{name: switch, context: live-compressed, points: selective}", "switch", "flush", "chimera",
              "{name: dual-kernel, rounds: serial}", "dual-kernel")
HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
INDEX = """
  .reg .b64 %rd<16>;
  .reg .b32 %r<24>;
  .reg .pred %p<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd1, %r4, 4;
"""

# All blocks meet after each round, in which a thread reads what one of the next block wrote in the round before. Half
# of the blocks come `late` to the first, on each SM: what the others wait for can still be flushed.
COOPERATIVE = HEAD + """
.visible .entry cooperative(.param .u64 values, .param .u64 arrived, .param .u32 rounds,
  .param .u32 late) {""" + INDEX + """
  ld.param.u64 %rd2, [values];
  ld.param.u64 %rd3, [arrived];
  ld.param.u32 %r5, [rounds];
  mov.u32 %r6, %nctaid.x;
  mul.lo.u32 %r7, %r6, %r3;
  add.u32 %r8, %r4, %r3;
  rem.u32 %r8, %r8, %r7;
  mul.wide.u32 %rd4, %r8, 4;
  mul.wide.u32 %rd5, %r7, 4;
  add.u64 %rd6, %rd2, %rd1;
  add.u64 %rd7, %rd2, %rd4;
  add.u64 %rd8, %rd6, %rd5;
  add.u64 %rd9, %rd7, %rd5;
  mov.u32 %r9, 0;
  ld.param.u32 %r15, [late];
  shr.u32 %r16, %r2, 2;
  and.b32 %r16, %r16, 1;
  mul.lo.u32 %r15, %r15, %r16;
delay:
  setp.eq.u32 %p1, %r15, 0;
  @%p1 bra next;
  sub.u32 %r15, %r15, 1;
  bra delay;
next:
  ld.relaxed.gpu.global.u32 %r10, [%rd6];
  ld.relaxed.gpu.global.u32 %r11, [%rd7];
  mad.lo.u32 %r10, %r10, 3, %r11;
  add.u32 %r10, %r10, %r9;
  st.global.u32 [%rd8], %r10;
  mov.b64 %rd10, %rd6;
  mov.b64 %rd6, %rd8;
  mov.b64 %rd8, %rd10;
  mov.b64 %rd10, %rd7;
  mov.b64 %rd7, %rd9;
  mov.b64 %rd9, %rd10;
  add.u32 %r9, %r9, 1;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra met;
  fence.acq_rel.gpu;
  atom.relaxed.gpu.global.add.u32 %r12, [%rd3], 1;
  mul.lo.u32 %r13, %r9, %r6;
again:
  ld.acquire.gpu.global.u32 %r14, [%rd3];
  setp.lt.u32 %p2, %r14, %r13;
  @%p2 bra again;
met:
  bar.sync 0;
  setp.lt.u32 %p3, %r9, %r5;
  @%p3 bra next;
  ret;
}
"""
COOPERATIVE_PROGRAM = """
module: cooperative.ptx
parameters: {blocks: 32, rounds: 20, late: 1000}
buffers:
  values: {type: u32, count: 512 * blocks, memory: device, init: {linear: {start: 1, step: 7}}}
  arrived: {type: u32, count: 1, memory: device}
program:
  - copy: {buffer: values, to: device}
  - copy: {buffer: arrived, to: device}
  - launch: {kernel: cooperative, grid: [blocks], block: [256], arguments: [values, arrived, rounds, late]}
  - copy: {buffer: values, to: host}
"""

# Prefix sums in one pass: a block spins until the one before it has published its sum.
LOOK_BACK = HEAD + """
.visible .entry look_back(.param .u64 in, .param .u64 out, .param .u64 published, .param .u32 rounds) {
  .shared .align 4 .b8 sum[4];
  .shared .align 4 .b8 before[4];""" + INDEX + """
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [out];
  ld.param.u64 %rd4, [published];
  ld.param.u32 %r5, [rounds];
  add.u64 %rd2, %rd2, %rd1;
  add.u64 %rd3, %rd3, %rd1;
  mul.wide.u32 %rd5, %r2, 4;
  add.u64 %rd4, %rd4, %rd5;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 st.shared.u32 [sum], 0;
  bar.sync 0;
  ld.global.u32 %r6, [%rd2];
work:
  mad.lo.u32 %r6, %r6, 1664525, 1013904223;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra work;
  red.shared.add.u32 [sum], %r6;
  bar.sync 0;
  @%p1 bra known;
  ld.shared.u32 %r7, [sum];
  mov.u32 %r8, 0;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra first;
again:
  ld.acquire.gpu.global.u32 %r9, [%rd4-4];
  and.b32 %r10, %r9, 1;
  setp.eq.u32 %p3, %r10, 0;
  @%p3 bra again;
  sub.u32 %r8, %r9, 1;
first:
  st.shared.u32 [before], %r8;
  shl.b32 %r7, %r7, 1;
  add.u32 %r11, %r8, %r7;
  add.u32 %r11, %r11, 1;
  st.release.gpu.global.u32 [%rd4], %r11;
known:
  bar.sync 0;
  ld.shared.u32 %r8, [before];
  add.u32 %r6, %r6, %r8;
  st.global.u32 [%rd3], %r6;
  ret;
}
"""
LOOK_BACK_PROGRAM = """
module: look_back.ptx
parameters: {blocks: 64, rounds: 400}
buffers:
  in: {type: u32, count: 256 * blocks, memory: device, init: {linear: {start: 3, step: 11}}}
  out: {type: u32, count: 256 * blocks, memory: device}
  published: {type: u32, count: blocks, memory: device}
program:
  - copy: {buffer: in, to: device}
  - copy: {buffer: published, to: device}
  - launch: {kernel: look_back, grid: [blocks], block: [256], arguments: [in, out, published, rounds]}
  - copy: {buffer: out, to: host}
"""

# Sixteen words of local memory per thread, at indices that depend on what was read before.
LOCAL_ARRAYS = HEAD + """
.visible .entry local_arrays(.param .u64 out, .param .u32 rounds) {
  .local .align 4 .b8 words[64];""" + INDEX + """
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r5, [rounds];
  add.u64 %rd2, %rd2, %rd1;
  mov.u64 %rd3, words;
  mov.u32 %r6, 0;
fill:
  mul.wide.u32 %rd4, %r6, 4;
  add.u64 %rd5, %rd3, %rd4;
  mad.lo.u32 %r7, %r6, 77, %r4;
  st.local.u32 [%rd5], %r7;
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p1, %r6, 16;
  @%p1 bra fill;
  mov.u32 %r8, %r4;
next:
  and.b32 %r9, %r8, 15;
  mul.wide.u32 %rd4, %r9, 4;
  add.u64 %rd5, %rd3, %rd4;
  ld.local.u32 %r10, [%rd5];
  mad.lo.u32 %r8, %r8, 5, %r10;
  shr.u32 %r11, %r8, 7;
  and.b32 %r11, %r11, 15;
  mul.wide.u32 %rd4, %r11, 4;
  add.u64 %rd5, %rd3, %rd4;
  st.local.u32 [%rd5], %r8;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra next;
  st.global.u32 [%rd2], %r8;
  ret;
}
"""
LOCAL_ARRAYS_PROGRAM = """
module: local_arrays.ptx
parameters: {blocks: 48, rounds: 60}
buffers:
  out: {type: u32, count: 256 * blocks, memory: device}
program:
  - launch: {kernel: local_arrays, grid: [blocks], block: [256], arguments: [out, rounds]}
  - copy: {buffer: out, to: host}
"""

# One thread stores where nothing is, after `rounds` of work; its tenant ends with that.
FAILING = HEAD + """
.visible .entry failing(.param .u64 out, .param .u32 rounds, .param .u32 block) {""" + INDEX + """
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r5, [rounds];
  ld.param.u32 %r6, [block];
  add.u64 %rd2, %rd2, %rd1;
  mov.u32 %r7, %r4;
work:
  mad.lo.u32 %r7, %r7, 1664525, 1013904223;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p1, %r5, 0;
  @%p1 bra work;
  setp.eq.u32 %p2, %r2, %r6;
  @%p2 st.global.u32 [%rd2+1073741824], %r7;
more:
  mad.lo.u32 %r7, %r7, 1664525, 1013904223;
  shr.u32 %r8, %r7, 24;
  setp.ne.u32 %p3, %r8, 77;
  @%p3 bra more;
  st.global.u32 [%rd2], %r7;
  ret;
}
"""
FAILING_PROGRAM = """
module: failing.ptx
parameters: {blocks: 32, rounds: 1000, block: 0}
buffers:
  out: {type: u32, count: 256 * blocks, memory: device}
program:
  - launch: {kernel: failing, grid: [blocks], block: [256], arguments: [out, rounds, block]}
  - copy: {buffer: out, to: host}
"""
KERNELS = {"cooperative": (COOPERATIVE, COOPERATIVE_PROGRAM), "look_back": (LOOK_BACK, LOOK_BACK_PROGRAM),
           "local_arrays": (LOCAL_ARRAYS, LOCAL_ARRAYS_PROGRAM), "failing": (FAILING, FAILING_PROGRAM)}


def scenario(technique, batch, urgent, more="", arrival="{every: 12us, count: 5}"):
    """A workload, its parameters in braces behind it, and urgent blocks that come again and again; `more`: policies."""
    return (f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\nsimulation: {{epoch: 50us}}\n"
            f"policies: {{preemption: {technique}, exception_scheme: replay-queue{more}}}\ntenants:\n"
            f"  - {{name: batch, workload: {batch}}}\n"
            f"  - {{name: urgent, workload: {urgent}, priority: 1, arrival: 15us, latency_bound: 2us, "
            f"arrivals: {arrival}}}\n")


def shipped(name, parameters=""):
    return f"{WORKLOADS}/{name}.yaml" + (f", parameters: {parameters}" if parameters else "")


URGENT = shipped("urgent", "{blocks: 16, rounds: 10}")


class PreemptedGrids(ScenarioTest):
    def setUp(self):
        super().setUp()
        for name, (kernel, program) in KERNELS.items():
            (self.folder / f"{name}.ptx").write_text(kernel)
            (self.folder / f"{name}.yaml").write_text(program)

    def run_checked(self, text, *options, output="out.h5", ranks=0):
        self.write("scenario.yaml", text)
        done = self.lockstep("run", "scenario.yaml", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, text + done.stderr)

    def count(self, kind, name, output="out.h5"):
        with h5py.File(self.folder / output, "r") as file:
            return int(file[f"final/stats/{kind}/{name}"][()].sum())

    def test_under_stall_on_fault_a_block_is_saved_when_its_page_has_come(self):
        text = scenario("{name: dual-kernel, context: live-compressed}", shipped("managed_add"), URGENT)
        text = text.replace("replay-queue", "stall-on-fault")
        self.run_checked(text)
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows = file["preemptions"][:]
        waited = [row for row in rows if row["faulted"] and row["technique"] == b"switch"]
        self.assertTrue(waited)
        handling = 45e9  # of the driver, in femtoseconds
        self.assertTrue(all(row["expected"] > handling for row in waited))
        self.assertGreater(max(row["stopped"] - row["asked"] for row in waited), 0.2 * handling)
        self.assert_layouts_write("out.h5", text)

    def assert_layouts_write(self, output, text):
        for options, ranks in ((("--threads", 2), 0), ((), 2), ((), 3)):
            self.run_checked(text, *options, output="other.h5", ranks=ranks)
            done = self.lockstep("diff", output, "other.h5")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check_techniques(self, batch, techniques=TECHNIQUES):
        for technique in techniques:
            with self.subTest(technique):
                self.run_checked(scenario(technique, batch, URGENT))
                self.assertGreater(self.count("dispatcher", "sms_taken"), 0)
                self.assertEqual(self.count("sm", "blocks_saved"), self.count("sm", "blocks_restored"))

    def test_blocks_that_wait_for_all_others_get_on(self):
        self.check_techniques("cooperative.yaml")

    def test_blocks_that_wait_for_the_one_before_them_get_on(self):
        self.check_techniques("look_back.yaml")

    def test_a_row_tells_after_which_line_a_block_could_not_be_flushed(self):
        """The first store to what its kernel also reads."""
        self.run_checked(scenario("chimera", "cooperative.yaml", URGENT))
        with h5py.File(self.folder / "out.h5", "r") as file:
            rows = file["preemptions"][()]
        store = COOPERATIVE.splitlines().index("  st.global.u32 [%rd8], %r10;") + 1
        ended = rows[(rows["idempotent"] == 0) & (rows["executed"] > 0)]
        self.assertEqual(set(ended["ended_by"]), {store})
        self.assertEqual(set(rows["ended_by"][rows["idempotent"] == 1]), {0})

    def test_persistent_blocks_take_each_chunk_once(self):
        self.check_techniques(shipped("persistent", "{n: 20000, block: 256, blocks: 32}"))

    def test_what_was_added_atomically_counts_once(self):
        self.check_techniques(shipped("histogram", "{n: 65536}"))

    def test_local_arrays_keep_their_contents(self):
        self.check_techniques("local_arrays.yaml")

    def test_blocks_with_local_arrays_return_to_other_sms(self):
        urgent = shipped("urgent", "{blocks: 8, rounds: 300}")
        text = scenario("switch", "local_arrays.yaml", urgent)
        self.run_checked(text, "--threads", 1)
        self.assertGreater(self.count("dispatcher", "blocks_moved"), 0)
        self.assert_layouts_write("out.h5", text)

    def test_they_go_on_from_a_checkpoint(self):
        self.run_checked(scenario("switch", "local_arrays.yaml", URGENT), "--threads", 1)
        for stop in ("50us", "120us"):
            with self.subTest(stop):
                options = ("--threads", 1, "--output", "part.h5", "--checkpoint-every", "0.001s")
                self.lockstep("run", "scenario.yaml", "--check", *options, "--set", f"simulation.stop_at={stop}")
                done = self.lockstep("run", "scenario.yaml", "--check", "--threads", 2, "--output", "part.h5",
                                     "--resume", "part.ckpt")
                self.assertEqual(done.returncode, 0, done.stderr)
                done = self.lockstep("diff", "out.h5", "part.h5")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_two_tenants_in_one_sm_are_preempted_by_a_third(self):
        """First they have parts of each SM, and one that arrives gets its own; then places of one are shared."""
        third = (f"  - {{name: third, workload: {shipped('vector_add', '{n: 16384}')}, priority: 2, arrival: 20us, "
                 "latency_bound: 2us}\n")
        for technique, sharing in (("switch", ", sharing: smk"), ("dual-kernel", ""), ("chimera", "")):
            with self.subTest(technique):
                self.run_checked(scenario(technique, shipped("sgemm", "{n: 128}"), URGENT, sharing) + third)
                self.assertGreater(self.count("dispatcher", "sms_taken"), 0)

    def test_tenants_get_on_with_slices_of_a_microsecond_and_little_memory(self):
        policies = (", sharing: {name: time-sliced, slice: 1us}, prefetcher: none, "
                    "fault_handling: {name: host, cost_model: tanasic}")
        large = shipped("managed_add", "{n: 65536}")
        self.run_checked(scenario("switch", large, large, policies, "{at: [15us]}"),
                         "--set", "gpu.memory.capacity=3MiB")
        self.assertGreater(self.count("dispatcher", "sms_taken"), 10)
        self.assertEqual(self.count("sm", "blocks_saved"), self.count("sm", "blocks_restored"))
        self.assertGreater(self.count("host", "pages_evicted"), 0)

    def test_blocks_that_return_again_and_again_keep_the_pages_that_they_wait_for(self):
        """Contexts and pages of both tenants do not fit; a block leaves as often as its page comes."""
        policies = ", sharing: {name: time-sliced, slice: 1us}"
        large = shipped("managed_add", "{n: 131072}")
        both = scenario("switch", large, large, policies, "{at: [15us]}")
        self.run_checked(both, "--set", "gpu.memory.capacity=3MiB")
        self.assertGreater(self.count("host", "pages_evicted"), 0)

    def fails(self, text):
        self.write("scenario.yaml", text)
        done = self.lockstep("run", "scenario.yaml", "--output", "out.h5")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stderr, r"kernel failing.*")

    def test_a_tenant_may_end_while_its_blocks_are_saved(self):
        for technique in TECHNIQUES:
            with self.subTest(technique):
                self.fails(scenario(technique, "failing.yaml, parameters: {block: 2, rounds: 3000}",
                                    shipped("urgent", "{blocks: 12, rounds: 800}"), arrival="{at: [15us]}"))
                self.assertGreater(self.count("dispatcher", "sms_taken"), 0)
                self.assertGreaterEqual(self.count("sm", "blocks_saved"), "switch" in technique)
                with h5py.File(self.folder / "out.h5", "r") as file:
                    end = dict(zip(file["tenants"]["tenant"].astype(str), file["tenants"]["end"]))
                self.assertLess(end["batch"], end["urgent"])

    def test_a_tenant_may_end_while_it_preempts(self):
        for technique in TECHNIQUES:
            with self.subTest(technique):
                self.fails(scenario(technique, shipped("sgemm", "{n: 128}"),
                                    "failing.yaml, parameters: {blocks: 16, rounds: 100}", arrival="{at: [25us]}"))
                self.assertGreater(self.count("dispatcher", "sms_taken"), 0)
                with h5py.File(self.folder / "out.h5", "r") as file:
                    self.assertEqual(int(file["tenants"]["rounds"][0]), 1)


if __name__ == "__main__":
    unittest.main()
