"""Thread block clusters in whole machines: right values, exchange through shared memory of other blocks, barriers,
layouts, mistakes."""
import sys
import unittest

import h5py
import numpy as np

from harness import ROOT, ScenarioTest

sys.path.insert(0, str(ROOT / "jobs/analysis"))

import lockstep_analysis as la  # noqa: E402

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
  - save: out
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


# storm(out, rounds): arrivals and waits of warps that do different work between them; odd warps leave early.
STORM = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry storm(.param .u64 out, .param .u32 rounds)
{
  .shared .align 16 .b8 counter[16];
  .reg .pred %p<6>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %cluster_ctarank;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra ready;
  st.shared.u32 [counter], 0;
ready:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  shr.u32 %r7, %r4, 5;
  and.b32 %r8, %r7, 1;
  mov.u32 %r9, counter;
  mov.u32 %r10, 0;
  mapa.shared::cluster.u32 %r11, %r9, %r10;
  mov.u32 %r12, 0;
  mov.u32 %r13, 0;
round:
  red.shared::cluster.add.u32 [%r11], 1;
  barrier.cluster.arrive.release;
  add.u32 %r14, %r7, %r6;
  and.b32 %r14, %r14, 3;
work:
  mad.lo.u32 %r13, %r13, 5, %r14;
  add.u32 %r14, %r14, -1;
  setp.ge.s32 %p2, %r14, 0;
  @%p2 bra work;
  barrier.cluster.wait.acquire;
  add.u32 %r12, %r12, 1;
  shr.u32 %r15, %r1, 1;
  setp.eq.u32 %p3, %r12, %r15;
  setp.eq.u32 %p4, %r8, 1;
  and.pred %p3, %p3, %p4;
  @%p3 bra done;
  setp.lt.u32 %p5, %r12, %r1;
  @%p5 bra round;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ld.shared::cluster.u32 %r16, [%r11];
  mad.lo.u32 %r13, %r16, 1000, %r13;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
done:
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r13;
  ret;
}
"""

STORM_WORKLOAD = """\
module: storm.ptx
parameters: {rounds: 12, size: 5, clusters: 6, threads: 160}
buffers:
  out: {type: u32, count: size * clusters * threads, memory: device}
program:
  - launch: {kernel: storm, grid: [size * clusters], block: [threads], cluster: [size], arguments: [out, rounds]}
  - copy: {buffer: out, to: host}
"""

# spread(in, out): multicast, st.async, red.async, copies between blocks, arrivals at barriers of other blocks.
SPREAD = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry spread(.param .u64 in, .param .u64 out)
{
  .shared .align 128 .b8 room[1024];
  .shared .align 16 .b8 box[512];
  .shared .align 16 .b8 copy[512];
  .shared .align 16 .b8 source[512];
  .shared .align 16 .b8 sum[16];
  .shared .align 8 .b64 gate;
  .shared .align 8 .b64 last;
  .reg .pred %p<6>;
  .reg .b32 %r<48>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %cluster_ctarank;
  mov.u32 %r7, %cluster_nctarank;
  mov.u32 %r8, %clusterid.x;
  mov.u32 %r20, room;
  mov.u32 %r21, box;
  mov.u32 %r22, copy;
  mov.u32 %r23, source;
  mov.u32 %r24, sum;
  mov.u32 %r25, gate;
  mov.u32 %r26, last;
  shl.b32 %r9, %r4, 2;
  add.u32 %r10, %r23, %r9;
  mad.lo.u32 %r11, %r5, 7, 1;
  st.shared.u32 [%r10], %r11;
  fence.proxy.async.shared::cta;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra ready;
  st.shared.u32 [%r24], 0;
  mbarrier.init.shared::cta.b64 [%r25], 1;
  mbarrier.init.shared::cta.b64 [%r26], %r7;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r25], 2560;
ready:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  add.u32 %r12, %r6, 1;
  rem.u32 %r12, %r12, %r7;
  add.u32 %r13, %r21, %r9;
  mapa.shared::cluster.u32 %r14, %r13, %r12;
  mapa.shared::cluster.u32 %r15, %r25, %r12;
  mapa.shared::cluster.u32 %r16, %r22, %r12;
  mapa.shared::cluster.u32 %r17, %r24, %r12;
  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r14], %r5, [%r15];
  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r17], %r4, [%r15];
  @%p1 bra wait;
  cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r16], [%r23], 512, [%r15];
  setp.ne.u32 %p2, %r6, 0;
  @%p2 bra wait;
  mul.wide.u32 %rd3, %r8, 1024;
  add.u64 %rd4, %rd1, %rd3;
  mov.u32 %r18, 1;
  shl.b32 %r18, %r18, %r7;
  add.u32 %r18, %r18, -1;
  cvt.u16.u32 %rs1, %r18;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r20], [%rd4], 1024, [%r25], %rs1;
wait:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r25], 0;
  @!%p3 bra wait;
  ld.shared.u32 %r30, [%r13];
  add.u32 %r31, %r22, %r9;
  ld.shared.u32 %r32, [%r31];
  add.u32 %r33, %r20, %r9;
  ld.shared.u32 %r34, [%r33];
  ld.shared.u32 %r35, [%r33+512];
  ld.shared.u32 %r36, [%r24];
  mad.lo.u32 %r37, %r30, 3, %r32;
  mad.lo.u32 %r37, %r37, 5, %r34;
  mad.lo.u32 %r37, %r37, 7, %r35;
  mad.lo.u32 %r37, %r37, 11, %r36;
  mov.u32 %r38, 0;
  mapa.shared::cluster.u32 %r39, %r26, %r38;
  bar.sync 0;
  @%p1 bra store;
  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r39];
store:
  mul.wide.u32 %rd5, %r5, 4;
  add.u64 %rd6, %rd2, %rd5;
  st.global.u32 [%rd6], %r37;
  setp.ne.u32 %p4, %r6, 0;
  @%p4 bra end;
all:
  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [%r26], 0;
  @!%p5 bra all;
end:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
}
""".replace("  .reg .b64 %rd<10>;", "  .reg .b64 %rd<10>;\n  .reg .b16 %rs<4>;")

SPREAD_WORKLOAD = """\
module: spread.ptx
parameters: {size: 4, clusters: 5}
buffers:
  in: {type: u32, count: 256 * clusters, memory: KIND, init: {permutation: {seed: 3}}}
  out: {type: u32, count: size * clusters * 128, memory: device}
program:
  - copy: {buffer: in, to: device}
  - launch: {kernel: spread, grid: [size * clusters], block: [128], cluster: [size], arguments: [in, out]}
  - copy: {buffer: out, to: host}
"""


# cycles(out, hops, kind): a thread of rank 0 reads memory of rank 1, or adds to it, or all meet; so often.
CYCLES = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry cycles(.param .u64 out, .param .u32 hops, .param .u32 kind)
{
  .shared .align 16 .b8 room[16];
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [hops];
  ld.param.u32 %r2, [kind];
  mov.u32 %r3, room;
  mov.u32 %r4, 1;
  mapa.shared::cluster.u32 %r5, %r3, %r4;
  mov.u32 %r6, 0;
  st.shared.u32 [%r3], 0;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  mov.u32 %r7, 0;
  mov.u32 %r8, %cluster_ctarank;
  setp.eq.u32 %p1, %r2, 2;
  mov.u64 %rd2, %clock64;
  @%p1 bra meet;
  setp.ne.u32 %p2, %r8, 0;
  @%p2 bra end;
  setp.eq.u32 %p3, %r2, 1;
  @%p3 bra add;
read:
  add.u32 %r9, %r5, %r6;
  ld.volatile.shared::cluster.u32 %r6, [%r9];
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, %r1;
  @%p1 bra read;
  bra store;
add:
  atom.shared::cluster.add.u32 %r6, [%r5], %r6;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, %r1;
  @%p1 bra add;
  bra store;
meet:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  add.u32 %r7, %r7, 1;
  setp.lt.u32 %p1, %r7, %r1;
  @%p1 bra meet;
store:
  mov.u64 %rd3, %clock64;
  sub.u64 %rd3, %rd3, %rd2;
  cvt.u64.u32 %rd4, %r6;
  add.u64 %rd3, %rd3, %rd4;
  st.global.u64 [%rd1], %rd3;
end:
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  ret;
}
"""

CYCLES_WORKLOAD = """\
module: cycles.ptx
parameters: {hops: 32, kind: 0}
buffers:
  out: {type: u64, count: 1, memory: device, check: false}
program:
  - launch: {kernel: cycles, grid: [2], block: [1], cluster: [2], arguments: [out, hops, kind]}
  - copy: {buffer: out, to: host}
  - save: out
"""


def write_files(test):
    """The GPU and the workloads into the folder of a test."""
    tiny = (ROOT / "configs/gpus/tiny.yaml").read_text(encoding="utf-8").replace('"7.0"', '"9.0"')
    test.write("gpu.yaml", tiny.replace("sm:\n", "sm:\n  bulk: {lines_in_flight: 32, start_latency: 20}\n", 1))
    test.write("k.ptx", EXCHANGE)
    test.write("w.yaml", WORKLOAD)
    test.write("storm.ptx", STORM)
    test.write("storm.yaml", STORM_WORKLOAD)
    test.write("cycles.ptx", CYCLES)
    test.write("cycles.yaml", CYCLES_WORKLOAD)
    test.write("spread.ptx", SPREAD)
    test.write("spread.yaml", SPREAD_WORKLOAD.replace("KIND", "device"))


class ClustersTest(ScenarioTest):
    def setUp(self):
        super().setUp()
        write_files(self)
        self.scene()

    def scene(self, workload="w", tenants=1, gpcs="[3, 5]", **more):
        keys = "".join(f"{key}: {value}\n" for key, value in more.items())
        each = "".join(f"  - {{name: t{t}, workload: {workload}.yaml}}\n" for t in range(tenants))
        sms = sum(int(sm) for sm in gpcs.strip("[]").split(","))
        self.write("s.yaml", f"gpu: gpu.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                   f"override: {{gpu.sm.count: {sms}, gpu.dispatch.gpcs: {gpcs}}}\n{keys}tenants:\n{each}")

    def good(self, *arguments, **where):
        run = self.lockstep(*arguments, **where)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        return run

    def values(self, *arguments, buffer="out"):
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5", *arguments)
        with h5py.File(self.folder / "o.h5") as file:
            return file[f"buffers/t0/{buffer}"][()]


class Clusters(ClustersTest):
    def refused(self, *parts, arguments=()):
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", *arguments)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for part in parts:
            self.assertIn(part, run.stderr)

    def test_blocks_exchange_what_the_interpreter_says(self):
        for size in (1, 2, 3, 5, 10):
            with self.subTest(size=size):
                self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5",
                          "--set", f"tenants.0.parameters.size={size}")

    def test_blocks_exchange_what_they_should(self):
        for size in (1, 2, 3, 5, 10):
            with self.subTest(size=size):
                np.testing.assert_array_equal(self.values("--set", f"tenants.0.parameters.size={size}"),
                                              exchanged(3, size, 3, 96))

    def test_storms_of_barriers_and_messages_of_all_kinds(self):
        for workload in ("storm", "spread"):
            with self.subTest(workload=workload):
                self.scene(workload)
                self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")

    def test_multicast_from_managed_memory(self):
        managed = SPREAD_WORKLOAD.replace("KIND", "managed").replace("  - copy: {buffer: in, to: device}\n", "")
        self.write("spread.yaml", managed)
        for scheme in ("stall-on-fault", "replay-queue"):
            with self.subTest(scheme=scheme):
                self.scene("spread", policies=f"{{exception_scheme: {scheme}}}")
                self.good("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")

    def test_any_layout_writes_the_same(self):
        for workload in ("w", "storm", "spread"):
            self.scene(workload)
            self.good("run", "s.yaml", "--quiet", "--output", "one.h5")
            for layout, more in (("threads", {}), ("ranks2", {"ranks": 2}), ("ranks3", {"ranks": 3})):
                with self.subTest(workload=workload, layout=layout):
                    threads = ["--threads", 2] if layout == "threads" else []
                    self.good("run", "s.yaml", "--quiet", *threads, "--output", f"{layout}.h5", **more)
                    self.good("diff", "one.h5", f"{layout}.h5")

    def test_tenants_beside_each_other(self):
        for policies in ("{sharing: spatial}", "{sharing: smk}", "{sharing: smk, preemption: switch}",
                         "{sharing: {name: time-sliced, slice: 5us}, preemption: drain}",
                         "{sharing: {name: time-sliced, slice: 5us}, preemption: switch}",
                         "{exception_scheme: replay-queue, block_switching: on-fault}"):
            with self.subTest(policies=policies):
                self.scene("w", tenants=3, policies=policies, gpcs="[3, 3, 4]")
                self.good("run", "s.yaml", "--quiet", "--output", "o.h5",
                          *(argument for t in range(3) for argument in ("--set", f"tenants.{t}.parameters.size=3")))
                with h5py.File(self.folder / "o.h5") as file:
                    for t in range(3):
                        np.testing.assert_array_equal(file[f"buffers/t{t}/out"][()], exchanged(3, 3, 3, 96))
                    saved = file["final/stats/sm/blocks_saved"][()].sum()
                    self.assertEqual(saved, 3 * file["final/stats/hub/saved"][()].sum())
                    if "preemption: switch" not in policies:
                        self.assertEqual(saved, 0)

    def test_gpcs_that_have_other_sms_than_the_gpu(self):
        self.refused("dispatch.gpcs have 8 SMs in all, and sm.count is 6", "give dispatch.gpcs: [6]",
                     arguments=("--set", "gpu.sm.count=6"))

    def test_a_cluster_that_no_gpc_has_room_for(self):
        self.scene("w", tenants=2, policies="{sharing: spatial}", gpcs="[4, 4]")
        self.refused("w.yaml:", "kernel exchange is launched in clusters of 16 blocks, which stand in one GPC",
                     arguments=("--set", "tenants.1.parameters={size: 16, threads: 1024}"))

    def test_a_gpu_of_an_older_generation(self):
        self.refused("needs thread block clusters of compute capability 9.0 or later", "simulate a GPU like H100 (9.0)",
                     arguments=("--set", "gpu.compute_capability=8.0"))

    def test_counters(self):
        self.scene("w")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            stats, hub = file["final/stats/sm"], file["final/stats/hub"]
            words = 3 * 4 * 96 * 3 * (3 + 3 + 1)  # of other blocks: loads, atomics and the store of each round
            self.assertEqual(stats["remote_bytes"][()].sum(), 4 * words)
            self.assertEqual(stats["remote_accesses"][()].sum(), words // 32)
            self.assertEqual(stats["cluster_barriers"][()].sum(), 12 * 7)
            self.assertGreater(stats["cluster_wait_cycles"][()].sum(), 12 * 3 * 7 * 90)
            self.assertEqual(hub["clusters"][()].sum(), 3)
            self.assertEqual(hub["barriers"][()].sum(), 3 * 7)
            self.assertEqual(hub["accesses"][()].sum(), words // 32)
            self.assertEqual(file["kernels"][0]["remote_bytes"], 4 * words)
            self.assertGreater(file["kernels"][0]["stall_cluster"], 0)
            self.assertEqual(file["kernels"][0]["stall_barrier"], 0)
            kernel = file["kernels"][0]
            self.assertLess(hub["cluster_cycles"][()].sum(), 3 * kernel["active_cycles"])
            self.assertGreater(hub["cluster_cycles"][()].sum(), 3 * 3 * 2 * 190)
            for name in ("cluster_cycles", "cluster_place_cycles"):
                self.assertEqual(kernel[name], hub[name][()].sum())
            self.assertEqual(kernel["cluster_occupancy"], kernel["cluster_cycles"] / kernel["cluster_place_cycles"])
            self.assertEqual(float(la.metrics.whole(la.load(self.folder / "o.h5"), "cluster_occupancy")["t0"]),
                             kernel["cluster_occupancy"])

    def test_occupancy_of_a_gpc_by_one_cluster(self):
        """Of 4 blocks in a GPC of 4 SMs, each of which has room for one more of the grid."""
        self.scene("w", gpcs="[4, 4]")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5", "--set", "gpu.sm.blocks=2",
                  "--set", "tenants.0.parameters={size: 4, clusters: 1}")
        with h5py.File(self.folder / "o.h5") as file:
            self.assertEqual(file["kernels"][0]["cluster_occupancy"], 0.5)
            self.assertEqual(file["kernels"][0]["cluster_cycles"], file["final/stats/hub/cluster_cycles"][()].sum())

    def cycles(self, kind, *arguments):
        """Cycles of one more of a kind, of 32."""
        self.scene("cycles")
        taken = [int(self.values("--set", f"tenants.0.parameters={{kind: {kind}, hops: {hops}}}", *arguments)[0])
                 for hops in (32, 64)]
        self.assertEqual((taken[1] - taken[0]) % 32, 0, taken)
        return (taken[1] - taken[0]) // 32

    def test_cycles_of_a_small_machine(self):
        """Four links and the service, beside the instructions of the loop; two links and the barrier's own time."""
        slow = ("--set", "gpu.noc.hub={link_latency: 60, service_latency: 7, barrier_latency: 30}")
        read, add, meet = (self.cycles(kind) for kind in range(3))
        self.assertEqual((read - 4 * 45 - 10, add - 4 * 45 - 10, meet - 2 * 45 - 100), (4, 0, 14))
        self.assertEqual([self.cycles(kind, *slow) for kind in range(3)],
                         [read + 4 * 15 - 3, add + 4 * 15 - 3, meet + 2 * 15 - 70])

    def test_an_h100_reads_shared_memory_of_another_block_as_measured(self):
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/h100.yaml\nhost: {ROOT}/configs/hosts/nvlink.yaml\n"
                   f"tenants:\n  - {{name: t0, workload: {ROOT}/tests/validation/micro/hopper/dsmem.yaml}}\n")
        self.good("run", "s.yaml", "--quiet", "--output", "o.h5")
        with h5py.File(self.folder / "o.h5") as file:
            cycles = {name: file[f"buffers/t0/{name}"][()] for name in ("chain", "get", "put", "barrier")}
        self.assertTrue(181 <= cycles["chain"][0] / 64 <= 213, cycles)
        for name in ("get", "put"):
            self.assertAlmostEqual(1024 * 16 * 64 / cycles[name][0], 21, delta=1, msg=str(cycles))
        self.assertTrue(180 <= cycles["barrier"][0] / 32 <= 250, cycles)


if __name__ == "__main__":
    unittest.main()
