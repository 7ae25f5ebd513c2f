"""Thread block clusters in whole machines: right values, exchange through shared memory of other blocks, barriers,
layouts, mistakes."""
import unittest

import h5py
import numpy as np

from harness import ROOT, ScenarioTest

# exchange(out, rounds): all blocks of a cluster read, write and add to each other's shared memory.
EXCHANGE = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry exchange(.param .u64 out, .param .u32 rounds)
{
  .shared .align 16 .b8 own[2048];
  .reg .pred %p<4>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %cluster_ctarank;
  mov.u32 %r7, %cluster_nctarank;
  mov.u32 %r8, own;
  shl.b32 %r9, %r4, 2;
  add.u32 %r10, %r8, %r9;
  st.shared.u32 [%r10], %r5;
  st.shared.u32 [%r10+1024], 0;
  mov.u32 %r11, 0;
  mov.u32 %r20, 0;
round:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r12, 0;
ranks:
  mapa.shared::cluster.u32 %r13, %r10, %r12;
  ld.shared::cluster.u32 %r14, [%r13];
  mad.lo.u32 %r11, %r11, 31, %r14;
  atom.shared::cluster.add.u32 %r15, [%r13+1024], %r6;
  add.u32 %r12, %r12, 1;
  setp.lt.u32 %p1, %r12, %r7;
  @%p1 bra ranks;
  add.u32 %r16, %r6, 1;
  rem.u32 %r16, %r16, %r7;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mapa.shared::cluster.u32 %r17, %r10, %r16;
  st.shared::cluster.u32 [%r17], %r11;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p2, %r20, %r1;
  @%p2 bra round;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ld.shared.u32 %r18, [%r10];
  ld.shared.u32 %r19, [%r10+1024];
  mul.wide.u32 %rd2, %r5, 8;
  add.u64 %rd3, %rd1, %rd2;
  st.global.v2.u32 [%rd3], {%r18, %r19};
  ret;
}
"""

WORKLOAD = """\
module: k.ptx
parameters: {rounds: 3, size: 4, clusters: 3, threads: 96}
buffers:
  out: {type: u32, count: 2 * size * clusters * threads, memory: device}
program:
  - launch: {kernel: exchange, grid: [size * clusters], block: [threads], cluster: [size], non_portable_cluster: true,
             arguments: [out, rounds]}
  - copy: {buffer: out, to: host}
"""


def exchanged(rounds, size, clusters, threads):
    """What exchange writes."""
    out = np.zeros((clusters, size, threads, 2), dtype=np.uint64)
    for cluster in range(clusters):
        own = np.arange(cluster * size * threads, (cluster + 1) * size * threads, dtype=np.uint64).reshape(size, -1)
        total = np.zeros((size, threads), dtype=np.uint64)
        for _ in range(rounds):
            for rank in range(size):
                total = (total * 31 + own[rank]) % 2**32
            own = np.roll(total, 1, axis=0)
        out[cluster, :, :, 0] = own
        out[cluster, :, :, 1] = rounds * sum(range(size))
    return out.reshape(-1).astype(np.uint32)


GPU = """\
include: {root}/configs/gpus/tiny.yaml
"""


class Clusters(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("k.ptx", EXCHANGE)
        self.write("w.yaml", WORKLOAD)
        tiny = (ROOT / "configs/gpus/tiny.yaml").read_text(encoding="utf-8").replace('"7.0"', '"9.0"')
        self.write("gpu.yaml", tiny)
        self.scene()

    def scene(self, tenants=1, gpcs="[3, 5]", **more):
        keys = "".join(f"{key}: {value}\n" for key, value in more.items())
        each = "".join(f"  - {{name: t{t}, workload: w.yaml}}\n" for t in range(tenants))
        sms = sum(int(sm) for sm in gpcs.strip("[]").split(","))
        self.write("s.yaml", f"gpu: gpu.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                   f"override: {{gpu.sm.count: {sms}, gpu.dispatch.gpcs: {gpcs}}}\n{keys}tenants:\n{each}")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def test_blocks_exchange_what_the_interpreter_says(self):
        for size in (1, 2, 3, 5, 10):
            with self.subTest(size=size):
                self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5",
                          "--set", f"tenants.0.parameters.size={size}")

    def test_any_layout_writes_the_same(self):
        self.good("run", "s.yaml", "--quiet", "--check", "--output", "one.h5")
        for layout, more in (("threads", {}), ("ranks2", {"ranks": 2}), ("ranks3", {"ranks": 3})):
            threads = ["--threads", 2] if layout == "threads" else []
            self.good("run", "s.yaml", "--quiet", *threads, "--output", f"{layout}.h5", **more)
            self.good("diff", "one.h5", f"{layout}.h5")


if __name__ == "__main__":
    unittest.main()
