"""What programs do wrong with matrix units and asynchronous copies is refused at load or ends its tenant, in a line."""
import unittest

from harness import ROOT, ScenarioTest

PTX = """\
.version 8.6
.target {target}
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 number)
{{
  .reg .pred %p<4>;
  .reg .b32 %r<40>;
  .reg .f32 %f<40>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 room[4096];
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r30, [number];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, room;
  {line}
  add.u32 %r1, %r1, %r3;
  st.global.u32 [%rd1], %r1;
  ret;
}}
"""
WORKLOAD = """\
module: k.ptx
buffers:
  out: {type: u32, count: 1024, memory: device}
program:
  - launch: {kernel: k, grid: [1], block: [32], arguments: [out, 12]}
  - copy: {buffer: out, to: host}
"""
SUMS = "{%f0, %f1, %f2, %f3}"
A = "{%r3, %r4, %r5, %r6}"
B = "{%r7, %r8}"
BY_THREAD = r"k\.ptx:15: tenant one, kernel k, block \(0, 0, 0\), thread \(0, 0, 0\): "

# GPU, target, line, what is said.
AT_LOAD = (
    ("a100", "sm_89", f"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {SUMS}, {A}, {B}, {SUMS};",
     r"k\.ptx:15:3: mma m16n8k32\.f32\.e4m3\.e4m3\.f32 needs matrix units of ada .* a GPU like L40 \(8\.9\)"),
    ("v100", "sm_80", f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {SUMS}, {A}, {B}, {SUMS};",
     r"k\.ptx:15:3: mma m16n8k16\.f32\.f16\.f16\.f32 needs matrix units of ampere .* like A100 \(8\.0\)"),
    ("v100", "sm_75", f"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {SUMS}, {{%r3, %r4}}, {{%r7}}, {SUMS};",
     r"k\.ptx:15:3: mma m16n8k8\.f32\.f16\.f16\.f32 needs matrix units of turing .* like T4 \(7\.5\)"),
    ("a100", "sm_80", "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, "
     "[%r2], 12;", r"k\.ptx:15:\d+: the stride of a matrix is a multiple of 16 bytes - .* a multiple of 8"),
    ("a100", "sm_80", f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {SUMS}, {{%r3, %r4}}, {B}, {SUMS};",
     r"k\.ptx:15:\d+: a of mma\S+ has 4 registers, not 2 - "),
    ("a100", "sm_80", "cp.async.ca.shared.global [%r2], [%rd1], 12;", r"k\.ptx:15:\d+: a copy has 4, 8 or 16 bytes - "),
    ("a100", "sm_80", "cp.async.cg.shared.global [%r2], [%rd1], 8;",
     r"k\.ptx:15:\d+: a copy has 16 bytes with \.cg - "),
)
BY_THREADS = (
    ("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r2+8];",
     "misaligned access of 16 bytes at 0x8 - "),
    ("cp.async.cg.shared.global [%r2+8], [%rd1], 16;",
     "asynchronous copy of 16 bytes to shared address 8, which is not"),
    ("cp.async.cg.shared.global [%r2], [%rd1+8], 16;", "misaligned access of 16 bytes at 0x"),
    ("mbarrier.test_wait.parity.shared.b64 %p2, [room], 0;",
     "no barrier has been initialised at shared address 0x0 - "),
    ("mbarrier.init.shared.b64 [room], 64; mbarrier.arrive.shared.b64 %rd4, [room], 65;",
     "65 arrivals at the barrier at shared address 0x0, whose phase of parity 0 waits for 64 more of 64"),
    ("setp.lt.u32 %p1, %r1, 16; @%p1 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
     f"{SUMS}, {A}, {B}, {SUMS}; cvt.rzi.u32.f32 %r3, %f0;",
     "mma needs all lanes of the warp, and lanes 16-31 are not there"),
)


class MatrixMistakes(ScenarioTest):
    def line_for(self, gpu, target, line):
        self.write("k.ptx", PTX.format(target=target, line=line))
        self.write("w.yaml", WORKLOAD)
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                   "tenants:\n  - {name: one, workload: w.yaml}\n")
        done = self.lockstep("run", "s.yaml", "--quiet", "--output", "out.h5")
        self.assertEqual(done.returncode, 1, line)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_what_a_machine_does_not_have_is_refused_at_load_with_one_that_has_it(self):
        for gpu, target, line, said in AT_LOAD:
            with self.subTest(line):
                self.assertRegex(self.line_for(gpu, target, line), said)

    def test_what_threads_do_ends_their_tenant(self):
        for line, said in BY_THREADS:
            with self.subTest(line):
                error = self.line_for("a100", "sm_80", line)
                self.assertRegex(error, BY_THREAD)
                self.assertIn(said, error)


if __name__ == "__main__":
    unittest.main()
