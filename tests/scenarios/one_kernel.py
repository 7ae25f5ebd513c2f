"""A scenario of one tenant that launches one kernel, to be changed in one place."""
from harness import ROOT, ScenarioTest

TINY = ROOT / "configs/gpus/tiny.yaml"
HOST = ROOT / "configs/hosts/pcie3.yaml"

# k(out, n): thread t stores to out[t * n + shift].
PTX = """\
.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.lo.u32 %r3, %r2, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+SHIFT], %r2;
  ret;
}
"""

WORKLOAD = """\
module: k.ptx
parameters: {n: 1, count: 1000, block: 64}
buffers:
  out: {type: u32, count: count, memory: device}
program:
  - launch: {kernel: k, grid: [1], block: [block], arguments: [out, n]}
  - copy: {buffer: out, to: host}
"""


class OneKernel(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.kernel()
        self.write("w.yaml", WORKLOAD)
        self.scenario_file()

    def kernel(self, old="", new="", shift=0):
        self.write("k.ptx", PTX.replace("SHIFT", str(shift)).replace(old, new, 1))

    def workload(self, old, new):
        self.assertIn(old, WORKLOAD)
        self.write("w.yaml", WORKLOAD.replace(old, new, 1))

    def scenario_file(self, more="", gpu=TINY):
        self.write(
            "s.yaml",
            f"gpu: {gpu}\nhost: {HOST}\ntenants:\n  - {{name: one, workload: w.yaml}}\n{more}",
        )
