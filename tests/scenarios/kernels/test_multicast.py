"""Bulk copies to several blocks of a cluster go on line by line."""
import unittest

import test_clusters as clusters

# tile(in, out, ranks): rank 0 has 16 KiB copied to itself (ranks: 0), or to both blocks; out: cycles until they came.
TILE = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry tile(.param .u64 in, .param .u64 out, .param .u16 ranks)
{
  .shared .align 128 .b8 room[16384];
  .shared .align 8 .b64 gate;
  .reg .pred %p<4>;
  .reg .b16 %rs<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u16 %rs1, [ranks];
  mov.u32 %r1, room;
  mov.u32 %r2, gate;
  mov.u32 %r3, %cluster_ctarank;
  setp.ne.u32 %p1, %r3, 0;
  setp.eq.u16 %p2, %rs1, 0;
  mbarrier.init.shared::cta.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16384;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u64 %rd3, %clock64;
  @%p1 bra wait;
  @%p2 bra alone;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r1], [%rd1], 16384, [%r2], %rs1;
  bra wait;
alone:
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 16384, [%r2];
wait:
  and.pred %p3, %p1, %p2;
  @%p3 bra end;
loop:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r2], 0;
  @!%p3 bra loop;
  mov.u64 %rd4, %clock64;
  sub.u64 %rd4, %rd4, %rd3;
  mul.wide.u32 %rd5, %r3, 8;
  add.u64 %rd5, %rd2, %rd5;
  st.global.u64 [%rd5], %rd4;
end:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
}
"""

TILE_WORKLOAD = """\
module: tile.ptx
parameters: {ranks: 0}
buffers:
  in: {type: u32, count: 4096, memory: device, init: {permutation: {seed: 3}}}
  out: {type: u64, count: 2, memory: device, check: false}
program:
  - copy: {buffer: in, to: device}
  - launch: {kernel: tile, grid: [2], block: [1], cluster: [2], arguments: [in, out, ranks]}
  - copy: {buffer: out, to: host}
  - save: out
"""


class Multicast(clusters.ClustersTest):
    def test_lines_of_a_multicast_go_on_as_they_come(self):
        """Both blocks have a tile a hundred cycles after one would have it alone, however many lines it has."""
        self.write("tile.ptx", TILE)
        self.write("tile.yaml", TILE_WORKLOAD)
        self.scene("tile")
        alone = self.values()[0]
        for cycles in self.values("--set", "tenants.0.parameters.ranks=3"):
            self.assertTrue(60 < cycles - alone < 160, (cycles, alone))


if __name__ == "__main__":
    unittest.main()
