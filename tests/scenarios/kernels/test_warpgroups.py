"""Products of warp groups in whole machines: who has them, mistakes with them, counters and preemption."""
import itertools
import unittest

import h5py

from beside_others import SLIPS, BesideOthers
from harness import ROOT, ScenarioTest

# Parameters that differ by tenant.
WORKLOADS = {
    "gemm_wgmma": "{{m: 512, k: {}}}",
    "gemm_tma_wgmma": "{{m: 512, k: {}}}",
    "gemm_tma_wgmma_pairs": "{{m: 1024, k: {}}}",
    "flash_attention_hopper": "{{length: 512, width: {}}}",
    "fp8_gemm": "{{m: 512, blocks: 6, k: {}}}",
}
VALUES = {"flash_attention_hopper": (128, 64, 128), "fp8_gemm": (512, 640, 768)}
HOPPER = ("--set", "gpu.compute_capability='9.0'")

# slip(data, mistake): the second block of 64 threads makes a mistake.
SLIP = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry slip(.param .u64 data, .param .u32 mistake)
{
  .shared .align 1024 .b8 room[4096];
  .reg .pred %p<4>;
  .reg .b32 %r<12>, %d<4>;
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
  setp.ne.u32 %p1, %r2, 1;
  @%p1 bra after;
  ts: .branchtargets group, registers;
  brx.idx %r1, ts;
group:
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, 0, 0, 1, 1, 1, 0, 0;
  bra after;
registers:
  setmaxnreg.inc.sync.aligned.u32 256;
after:
  st.global.u32 [%rd3], %r4;
  ret;
}
"""

MISTAKES = (
    ("k.ptx:24", "wgmma needs the four warps of a warp group, and the block ends with 2 of them"),
    ("k.ptx:27", "setmaxnreg.inc to 256 registers"),
)


class WarpgroupMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", SLIP)

    def test_each_ends_its_tenant_only(self):
        for mistake, (line, what) in enumerate(MISTAKES):
            with self.subTest(what=what):
                self.beside_others(SLIPS.replace("KIND", "device"))
                self.assert_ended([line, "kernel slip", "block (1, 0, 0)", what],
                                  f"tenants.0.parameters.mistake={mistake}", HOPPER[1])


class WarpgroupsOfGpus(ScenarioTest):
    def scene(self, gpu, tenants=1, workload="gemm_wgmma", **more):
        keys = "".join(f"{key}: {value}\n" for key, value in more.items())
        values = VALUES.get(workload, (448, 512, 576))
        each = "".join(f"  - {{name: t{t}, workload: {ROOT}/configs/workloads/{workload}.yaml, "
                       f"parameters: {WORKLOADS[workload].format(values[t])}}}\n" for t in range(tenants))
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   f"{keys}tenants:\n{each}")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def test_an_a100_refuses_them_with_the_line_and_a_gpu_that_has_them(self):
        self.scene("a100")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in ("gemm_wgmma.ptx:", "needs a GPU of hopper: the machine is of ampere",
                     "simulate a GPU like H100 (9.0)"):
            self.assertIn(part, run.stderr)

    def test_an_h200_multiplies_as_an_h100_does(self):
        for workload in WORKLOADS:
            self.scene("h200", workload=workload)
            self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5", "--overwrite")

    def test_counters_tell_products_and_cycles(self):
        self.scene("h100")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            stats = file["final/stats/sm"]
            products = 512 // 64 * 448 // 16
            self.assertEqual(stats["matrix_instructions"][()].sum(), 4 * products, "each by four warps")
            self.assertEqual(stats["tensor_cycles"][()].sum(), 4 * 64 * products, "64 cycles for 128 columns")

    def test_tenants_that_take_turns_lose_nothing(self):
        for preemption, workload in itertools.product(("drain", "switch"), WORKLOADS):
            with self.subTest(preemption=preemption, workload=workload):
                policies = f"{{sharing: {{name: time-sliced, slice: 40us}}, preemption: {preemption}}}"
                self.scene("h100", tenants=3, workload=workload, policies=policies)
                self.good("run", "s.yaml", "--quiet", "--check", "--set", "gpu.sm.count=2",
                          "--set", "gpu.dispatch.gpcs=[2]", "--output", "o.h5", "--overwrite")


if __name__ == "__main__":
    unittest.main()
