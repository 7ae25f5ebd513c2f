"""Mistakes with clusters of blocks end their tenant with a line, also if a block waits for itself."""
import unittest

from beside_others import SLIPS, BesideOthers
from harness import ROOT, ScenarioTest

# slip(data, mistake): thread 70 of all, in the block of rank 1, makes a mistake with the other block or the barrier.
SLIP = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry slip(.param .u64 data, .param .u32 mistake)
{
  .shared .align 8 .b64 gate[2];
  .shared .align 16 .b8 room[256];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
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
  mov.u32 %r8, room;
  mov.u32 %r9, gate;
  mov.u32 %r10, 0;
  setp.ne.u32 %p1, %r5, 70;
  @%p1 bra after;
  mapa.shared::cluster.u32 %r11, %r8, %r10;
  mapa.shared::cluster.u32 %r12, %r9, %r10;
  ts: .branchtargets rank, place, ended, barrier, transactions, twice;
  brx.idx %r1, ts;
rank:
  mov.u32 %r13, 2;
  mapa.shared::cluster.u32 %r14, %r8, %r13;
  red.shared::cluster.add.u32 [%r14], %r5;
  bra after;
place:
  st.shared::cluster.u32 [%r11+512], %r5;
  bra after;
ended:
  nanosleep.u32 100000;
  red.shared::cluster.add.u32 [%r11], %r5;
  bra after;
barrier:
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r12+8];
  bra after;
transactions:
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r11], %r5, [%r12+8];
  bra after;
twice:
  barrier.cluster.arrive.release;
  barrier.cluster.arrive.release;
after:
  setp.eq.u32 %p2, %r1, 2;
  @%p2 bra done;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
done:
  st.global.u32 [%rd3], %r4;
  ret;
}
"""

MISTAKES = (
    ("k.ptx:32", "shared memory of the block of rank 2, and its cluster has 2 blocks"),
    ("k.ptx:35", "of the block of rank 0 is outside of its 512 bytes"),
    ("k.ptx:39", "accesses shared memory of the block of rank 0 of its cluster, which has ended"),
    ("k.ptx:42", "no barrier has been initialised at shared address 0x8"),
    ("k.ptx:45", "no barrier has been initialised at shared address 0x8"),
    ("k.ptx:49", "arrives at barrier.cluster twice without waiting between"),
)

# stuck(data): the second warp of rank 1 waits at a barrier of its block for the first, which waits for the cluster.
STUCK = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry stuck(.param .u64 data)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra together;
  setp.lt.u32 %p2, %r2, 32;
  @%p2 bra together;
  bar.sync 0;
together:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
}
"""


class ClusterMistakes(BesideOthers):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", SLIP)

    def test_each_ends_its_tenant_only(self):
        for mistake, (line, what) in enumerate(MISTAKES):
            with self.subTest(what=what):
                self.beside_others(SLIPS.replace("KIND", "device").replace("block: [block],",
                                                                           "block: [block], cluster: [2],"))
                self.assert_ended([line, "kernel slip", "block (1, 0, 0)", "thread (6, 0, 0)", what],
                                  f"tenants.0.parameters.mistake={mistake}", "gpu.compute_capability=9.0")

    def test_layouts_agree_about_a_mistake(self):
        self.beside_others(SLIPS.replace("KIND", "device").replace("block: [block],", "block: [block], cluster: [2],"))
        self.assert_layouts_agree("--set", "tenants.0.parameters.mistake=2", "--set", "gpu.compute_capability=9.0")


class StuckClusters(ScenarioTest):
    def test_a_block_that_waits_for_itself_ends_its_tenant(self):
        self.write("k.ptx", STUCK)
        self.write("w.yaml", "module: k.ptx\nbuffers: {data: {type: u32, count: 64, memory: device}}\nprogram:\n"
                   "  - launch: {kernel: stuck, grid: [2], block: [64], cluster: [2], arguments: [data]}\n"
                   "  - synchronize\n")
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                   "override: {gpu.compute_capability: '9.0'}\ntenants: [{name: one, workload: w.yaml}]\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in ("tenant one, kernel stuck, block (1, 0, 0)", "waits at a barrier for ever"):
            self.assertIn(part, run.stderr)


if __name__ == "__main__":
    unittest.main()
