"""Launches that overlap with the one before them in their stream: what is faster, what stays equal, what is said."""
import unittest

import h5py

from harness import ROOT, todays
from segments import SegmentsTest

# produce(a, n): each thread counts to n and stores. consume(a, b, n): counts to n, waits, then adds to what was stored.
PTX = """\
.version 7.8
.target sm_90
.address_size 64
.visible .entry produce(.param .u64 a, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  griddepcontrol.wait;
  LETS_GO
  ld.param.u64 %rd1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r4, %r2, %r3, %r4;
  mov.u32 %r5, %r4;
again:
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd2, %rd1, %rd2;
  ld.global.u32 %r6, [%rd2];
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%rd2], %r5;
  ret;
}
.visible .entry consume(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 last) {
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r7, [last];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r4, %r2, %r3, %r4;
  mov.u32 %r5, %r4;
again:
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  griddepcontrol.launch_dependents;
  sub.u32 %r8, %r7, %r4;
  mul.wide.u32 %rd3, %r8, 4;
  add.u64 %rd3, %rd1, %rd3;
  mul.wide.u32 %rd4, %r4, 4;
  add.u64 %rd4, %rd2, %rd4;
  griddepcontrol.wait;
  ld.global.u32 %r6, [%rd3];
  ld.global.u32 %r9, [%rd4];
  add.u32 %r5, %r5, %r6;
  add.u32 %r5, %r5, %r9;
  st.global.u32 [%rd4], %r5;
  ret;
}
"""
WORKLOAD = """\
module: k.ptx
parameters: {blocks: 4, n: 400, rounds: 3}
buffers:
  a: {type: u32, count: 64 * blocks, memory: MEMORY}
  b: {type: u32, count: 64 * blocks, memory: MEMORY}
program:
  - copy: {buffer: a, to: device}
  - copy: {buffer: b, to: device}
  - repeat:
      times: rounds
      program:
        - launch: {kernel: produce, grid: [blocks], block: [64], arguments: [a, n]HOW}
        - launch: {kernel: consume, grid: [blocks], block: [64], arguments: [a, b, n, 64 * blocks - 1]HOW}
  - copy: {buffer: b, to: host}
"""
POLICIES = ("{}", "{sharing: spatial}", "{sharing: smk}", "{sharing: smk, preemption: switch}",
            "{sharing: {name: time-sliced, slice: 5us}, preemption: switch}", "{preemption: drain}",
            "{preemption: switch}", "{preemption: {name: switch, in_place: true}}", "{preemption: flush}",
            "{preemption: chimera}", "{preemption: dual-kernel}")


class DependentLaunches(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.files()

    def files(self, lets_go="griddepcontrol.launch_dependents;", memory="device"):
        self.write("k.ptx", PTX.replace("LETS_GO", lets_go))
        text = WORKLOAD.replace("MEMORY", memory)
        if memory == "managed":
            text = "\n".join(line for line in text.splitlines() if "copy:" not in line) + "\n  - synchronize\n"
        self.write("beside.yaml", text.replace("HOW", ", programmatic: true"))
        self.write("behind.yaml", text.replace("HOW", ""))

    def write_scenario(self, workload="beside.yaml", policies="{}", more="", tenants=1):
        gpu = self.write("gpu.yaml", (ROOT / "configs/gpus/tiny.yaml").read_text().replace('"7.0"', '"9.0"'))
        names = [f"  - {{name: t{i}, workload: {workload}, priority: {i}, arrival: {5 * i}us, latency_bound: 2us}}\n"
                 for i in range(tenants)]
        self.write("scenario.yaml", f"gpu: {gpu}\nhost: {ROOT}/configs/hosts/nvlink.yaml\npolicies: {policies}\n"
                   f"{more}\ntenants:\n" + "".join(names))

    def run_checked(self, *options, output="out.h5", ranks=0):
        done = self.lockstep("run", "scenario.yaml", "--check", "--output", output, *options, ranks=ranks)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return self.kernels(output)

    def kernels(self, output="out.h5"):
        with h5py.File(self.folder / output, "r") as file:
            return file["kernels"][()]

    def length(self, *options):
        rows = self.run_checked(*options)
        return int(rows["done"].max()) - int(rows["launched"].min())

    def test_kernels_overlap_and_see_what_was_stored_before_them(self):
        self.write_scenario("behind.yaml")
        behind = self.length()
        self.write_scenario()
        beside = self.length()
        self.assertLess(beside, 0.75 * behind, "half of each consumer's time lies beside its producer")
        rows = self.kernels()
        self.assertLess(rows["launched"][1], rows["done"][0])
        self.assertTrue((rows["done"][1:] >= rows["done"][:-1]).all())

    def test_without_launch_dependents_they_begin_as_blocks_end(self):
        self.files(lets_go="")
        self.write_scenario()
        self.run_checked()
        rows = self.kernels()
        self.assertTrue((rows["done"][1:] >= rows["done"][:-1]).all())

    def test_every_policy_gives_the_same_results(self):
        for policies in todays(POLICIES):
            with self.subTest(policies):
                self.write_scenario(policies=policies, tenants=2)
                self.run_checked()

    def test_more_blocks_than_the_gpu_has_room_for(self):
        for policies in ("{}", "{sharing: smk}"):
            with self.subTest(policies):
                self.write_scenario(policies=policies, tenants=2)
                self.run_checked("--set", "gpu.sm.blocks=2", "--set", "tenants.t0.parameters.blocks=23")

    def test_pages_that_are_missing_and_blocks_that_are_switched(self):
        self.files(memory="managed")
        for scheme in todays(("stall-on-fault", "replay-queue", "operand-log")):
            for switching in ("none", "{name: on-fault, threshold: 0}"):
                if scheme == "stall-on-fault" and switching != "none":
                    continue
                with self.subTest(scheme=scheme, switching=switching):
                    self.write_scenario(policies=f"{{exception_scheme: {scheme}, block_switching: {switching}, "
                                        "prefetcher: none, page_manager: base-pages}")
                    self.run_checked("--set", "gpu.sm.blocks=2")

    def test_every_layout_writes_the_same_also_interrupted(self):
        path = self.folder / "beside.yaml"
        path.write_text(path.read_text().replace("rounds: 3", "rounds: 60"))
        for policies in todays(("{}", "{sharing: smk}", "{preemption: switch}")):
            with self.subTest(policies):
                for left in self.folder.glob("o.*"):
                    left.unlink()
                self.write_scenario(policies=policies, tenants=2, more="simulation: {epoch: 2us}")
                self.assert_same_in_any_layout()

    def test_a_grid_that_never_ends_is_named_by_who_waits_for_it(self):
        endless = "spin: ld.volatile.global.u32 %r7, [%rd1];\n  setp.ge.u32 %p1, %r7, 0;\n  @%p1 bra spin;\n"
        self.files(lets_go="griddepcontrol.launch_dependents;\n  ld.param.u64 %rd1, [a];\n  " + endless)
        self.write_scenario(more="simulation: {progress_limit: 1ms}")
        done = self.lockstep("run", "scenario.yaml", "--output", "out.h5")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"warps wait for the end of grid 0 \(griddepcontrol\.wait\)")

    def test_a_mistake_ends_the_tenant_and_who_waits_for_it(self):
        wild = "mov.u64 %rd1, 64;\n  mov.u32 %r1, 1;\n  again2: add.u32 %r1, %r1, 1;\n  setp.lt.u32 %p1, %r1, 3000;\n" \
            "  @%p1 bra again2;\n  st.global.u32 [%rd1], %r1;\n  "
        self.files(lets_go="griddepcontrol.launch_dependents;\n  " + wild)
        self.write_scenario()
        done = self.lockstep("run", "scenario.yaml", "--output", "out.h5")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"kernel produce, block \(\d+, 0, 0\), thread .*0x40")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_the_key_takes_a_truth_value(self):
        self.write_scenario()
        path = self.folder / "beside.yaml"
        path.write_text(path.read_text().replace("programmatic: true", "programmatic: often"))
        done = self.lockstep("run", "scenario.yaml", "--output", "out.h5")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"beside\.yaml:12:\d+: .*often.* - ")
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
