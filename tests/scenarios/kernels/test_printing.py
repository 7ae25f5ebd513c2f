"""What kernels print reaches the user: the same lines in the same order in any layout."""
import unittest

from harness import ROOT, ScenarioTest


def literal(name, text):
    content = text.encode() + b"\0"
    numbers = ", ".join(str(byte) for byte in content)
    return f".global .align 1 .b8 {name}[{len(content)}] = {{{numbers}}};\n"


# say(data, last): every thread prints a line with its block, its index and data[i]; thread `last` of
# the grid begins another one.
PTX = f"""\
.version 7.8
.target sm_70
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
{literal("format", "%3u %2u %s %.1f" + chr(10))}
{literal("begun", "begun")}
{literal("name", "name")}
.visible .entry say(.param .u64 data, .param .u32 last)
{{
  .local .align 8 .b8 buffer[24];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<12>;
  .reg .f32 %f<2>;
  .reg .f64 %fd<2>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [last];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  cvt.f64.f32 %fd1, %f1;
  mov.u64 %rd4, buffer;
  st.local.v2.u32 [%rd4], {{%r2, %r4}};
  mov.u64 %rd5, name;
  cvta.global.u64 %rd6, %rd5;
  st.local.u64 [%rd4+8], %rd6;
  st.local.f64 [%rd4+16], %fd1;
  cvta.local.u64 %rd7, %rd4;
  mov.u64 %rd8, format;
  cvta.global.u64 %rd9, %rd8;
  {{
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %rd9;
    st.param.b64 [a], %rd7;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r6, [r];
  }}
  setp.ne.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mov.u64 %rd8, begun;
  cvta.global.u64 %rd9, %rd8;
  {{
    .param .b64 f;
    .param .b64 a;
    .param .b32 r;
    st.param.b64 [f], %rd9;
    st.param.b64 [a], 0;
    call.uni (r), vprintf, (f, a);
    ld.param.b32 %r7, [r];
  }}
done:
  cvt.rn.f32.u32 %f1, %r6;
  st.global.f32 [%rd3], %f1;
  ret;
}}
"""

WORKLOAD = """\
module: k.ptx
parameters: {blocks: 40, block: 1, last: 100000}
buffers:
  data: {type: f32, count: blocks * block, memory: managed, init: {linear: {start: 0, step: 0.5}}}
program:
  - launch: {kernel: say, grid: [blocks], block: [block], arguments: [data, last]}
  - synchronize
  - read: data
"""


class Printing(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", PTX)
        self.write("w.yaml", WORKLOAD)

    @staticmethod
    def lines(blocks):
        return [f"{block:3d}  0 name {block / 2:.1f}" for block in range(blocks)]

    def run_once(self, *settings, **more):
        run = self.lockstep("run", "scenario.yaml", "--quiet", *settings, **more)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_each_thread_is_heard_once(self):
        self.scenario("w.yaml")
        self.assertEqual(sorted(self.run_once().splitlines()), self.lines(40))

    def test_any_layout_prints_the_same_in_the_same_order(self):
        self.scenario("w.yaml", "{blocks: 12, block: 64}")
        first = self.run_once("--output", "first.h5")
        self.assertEqual(first.count("\n"), 12 * 64)
        for threads, ranks in ((2, 0), (1, 2), (1, 3), (2, 2)):
            with self.subTest(threads=threads, ranks=ranks):
                other = self.run_once("--threads", threads, "--output", "other.h5", ranks=ranks)
                self.assertEqual(other, first)
                self.assertEqual(self.lockstep("diff", "first.h5", "other.h5").returncode, 0)

    def test_checking_prints_nothing_more(self):
        self.scenario("w.yaml")
        checked = self.run_once("--check").splitlines()
        self.assertEqual(sorted(line for line in checked if " name " in line), self.lines(40))

    def test_a_line_left_open_ends_with_its_tenant(self):
        self.scenario("w.yaml", "{blocks: 1, last: 0}")
        self.assertEqual(self.run_once(), "  0  0 name 0.0\nbegun\n")

    def test_lines_of_several_tenants_bear_their_names(self):
        self.write(
            "scenario.yaml",
            f"gpu: {ROOT}/configs/gpus/tiny.yaml\n"
            f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
            "tenants:\n"
            "  - {name: one, workload: w.yaml, parameters: {blocks: 3}}\n"
            "  - {name: two, workload: w.yaml, parameters: {blocks: 2}}\n")
        expected = [f"one: {line}" for line in self.lines(3)]
        expected += [f"two: {line}" for line in self.lines(2)]
        self.assertEqual(sorted(self.run_once().splitlines()), expected)

    def test_another_declaration_of_vprintf_is_refused(self):
        self.write("k.ptx", PTX.replace(".param .b64 a);", ".param .b32 a);", 1))
        self.scenario("w.yaml")
        run = self.lockstep("run", "scenario.yaml", "--quiet")
        self.assertEqual(run.returncode, 1)
        self.assertIn("k.ptx:4:31: vprintf takes a format and a buffer of arguments", run.stderr)


if __name__ == "__main__":
    unittest.main()
