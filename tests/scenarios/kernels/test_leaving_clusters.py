"""Clusters make room as units: whole clusters are flushed, saved and restored, whatever their blocks have under way,
and end with the values that they would have had."""
import itertools
import os
import random
import unittest

import h5py
import test_clusters as clusters
import test_random_clusters as programs

from harness import ROOT, ScenarioTest, todays

SGEMM = f"{ROOT}/configs/workloads/sgemm.yaml"

# early(out, rounds): the threads of rank 0 end early, long before the others, which read shared memory of rank 1.
EARLY = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry early(.param .u64 out, .param .u32 rounds)
{
  .shared .align 16 .b8 room[512];
  .reg .pred %p<4>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mov.u32 %r6, %cluster_ctarank;
  mov.u32 %r8, room;
  shl.b32 %r9, %r4, 2;
  add.u32 %r10, %r8, %r9;
  mad.lo.u32 %r11, %r5, 13, 5;
  st.shared.u32 [%r10], %r11;
  mov.u32 %r12, 1;
  mapa.shared::cluster.u32 %r13, %r10, %r12;
  barrier.cluster.arrive.release;
  setp.eq.u32 %p1, %r6, 0;
  @%p1 bra store;
  barrier.cluster.wait.acquire;
  ld.shared::cluster.u32 %r15, [%r13];
  mov.u32 %r14, 0;
wait:
  mad.lo.u32 %r15, %r15, 3, %r14;
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p2, %r14, %r1;
  @%p2 bra wait;
  ld.shared::cluster.u32 %r16, [%r13];
  add.u32 %r15, %r15, %r16;
  barrier.cluster.arrive.release;
  barrier.cluster.wait.acquire;
  add.u32 %r11, %r11, %r15;
store:
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r11;
  ret;
}
"""
EARLY_WORKLOAD = """\
module: early.ptx
parameters: {rounds: 3000, size: 3, clusters: 12}
buffers:
  out: {type: u32, count: size * clusters * 64, memory: device}
program:
  - launch: {kernel: early, grid: [size * clusters], block: [64], cluster: [size], arguments: [out, rounds]}
  - copy: {buffer: out, to: host}
"""


class LeavingClusters(ScenarioTest):
    def setUp(self):
        super().setUp()
        clusters.write_files(self)
        self.write("early.ptx", EARLY)
        self.write("early.yaml", EARLY_WORKLOAD)

    def scene(self, victim, urgent=f"workload: {SGEMM}, parameters: {{n: 64}}", policies="{}", arrival="12us",
              gpcs="[3, 5]", more=""):
        sms = sum(int(sm) for sm in gpcs.strip("[]").split(","))
        self.write("s.yaml", f"gpu: gpu.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n{more}"
                   f"override: {{gpu.sm.count: {sms}, gpu.dispatch.gpcs: {gpcs}}}\npolicies: {policies}\ntenants:\n"
                   f"  - {{name: t0, workload: {victim}}}\n"
                   f"  - {{name: t1, {urgent}, arrival: {arrival}, priority: 1, latency_bound: 20us}}\n")

    def checked(self, *arguments):
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5", *arguments)
        self.assertEqual(run.returncode, 0, run.stderr + run.stdout)
        self.assertIn("check passed", run.stdout)
        with h5py.File(self.folder / "o.h5") as file:
            stats = file["final/stats"]
            names = {"sm": ("blocks_saved", "blocks_restored", "blocks_flushed"), "hub": ("saved", "flushed", "kept")}
            return {name: int(stats[kind][name][:, 0].sum()) for kind in names if kind in stats for name in names[kind]}

    def assert_whole(self, counts, size):
        self.assertEqual(counts["blocks_saved"], size * counts["saved"], counts)
        self.assertEqual(counts["blocks_restored"], counts["blocks_saved"], counts)
        self.assertEqual(counts["blocks_flushed"], size * counts["flushed"], counts)

    def test_whole_clusters_are_saved_and_return(self):
        for workload in todays(("w.yaml, parameters: {rounds: 40, clusters: 16, size: 3}",
                                "storm.yaml, parameters: {rounds: 60, clusters: 16, size: 3}",
                                "early.yaml")):
            for context in ("occupied", "live", "live-compressed-block"):
                for traffic in ("real", "share"):
                    with self.subTest(workload=workload, context=context, traffic=traffic):
                        self.scene(workload, policies="{sharing: exclusive, preemption: {name: switch, "
                                   f"context: {context}, traffic: {traffic}}}}}")
                        counts = self.checked()
                        self.assertGreater(counts["saved"], 0)
                        self.assert_whole(counts, 3)

    def test_clusters_that_can_be_repeated_start_again(self):
        self.scene("early.yaml", policies="{sharing: exclusive, preemption: flush}")
        counts = self.checked()
        self.assertGreater(counts["flushed"], 0)
        self.assert_whole(counts, 3)

    def test_clusters_start_again_when_none_is_left_that_has_not_started(self):
        for clusters_of_grid in (1, 2):
            for arrival in ("12us", "20us", "40us"):
                with self.subTest(clusters=clusters_of_grid, arrival=arrival):
                    self.scene(f"early.yaml, parameters: {{clusters: {clusters_of_grid}, rounds: 9000}}",
                               policies="{sharing: exclusive, preemption: flush}", arrival=arrival,
                               urgent=f"workload: {SGEMM}, parameters: {{n: 128}}")
                    counts = self.checked()
                    self.assertEqual(counts["flushed"], clusters_of_grid)
                    self.assert_whole(counts, 3)

    def test_clusters_that_can_be_neither_repeated_nor_saved_go_on(self):
        atomic = EARLY.replace("  ld.shared::cluster.u32 %r15", """\
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  red.global.add.u32 [%rd3], 1;
  ld.shared::cluster.u32 %r15""")
        self.write("early.ptx", atomic)
        self.scene("early.yaml", policies="{sharing: exclusive, preemption: flush}")
        counts = self.checked()
        self.assertGreater(counts["kept"], 0)
        self.assert_whole(counts, 3)

    def test_all_techniques_with_clusters_that_are_urgent_and_without(self):
        techniques = ("drain", "{name: switch, points: selective}", "flush", "{name: flush, idempotence: exact}",
                      "chimera", "chimera-plus", "dual-kernel", "{name: dual-kernel, rounds: serial}",
                      "{name: switch, in_place: true}", "{name: switch, signal: 5000}", "{name: drain, signal: 5000}")
        for preemption in todays(techniques):
            for urgent in ("workload: w.yaml, parameters: {clusters: 2, size: 5}",
                           f"workload: {SGEMM}, parameters: {{n: 64}}"):
                with self.subTest(preemption=preemption, urgent=urgent):
                    self.scene("w.yaml, parameters: {rounds: 40, clusters: 16, size: 3}", urgent,
                               f"{{sharing: exclusive, preemption: {preemption}}}")
                    self.assert_whole(self.checked(), 3)

    def test_shared_sms_and_turns(self):
        for policies in ("{sharing: smk, preemption: switch}",
                         "{sharing: {name: time-sliced, slice: 5us}, preemption: switch}",
                         "{sharing: {name: time-sliced, slice: 20us}, preemption: {name: switch, points: selective}}"):
            with self.subTest(policies=policies):
                self.scene("w.yaml, parameters: {rounds: 40, clusters: 96, size: 3}",
                           "workload: storm.yaml, parameters: {size: 3, clusters: 12}", policies)
                counts = self.checked()
                self.assertGreater(counts["saved"], 0)
                self.assert_whole(counts, 3)

    def test_clusters_whose_blocks_wait_for_pages(self):
        copy = "  - copy: {buffer: in, to: device}\n"
        managed = clusters.SPREAD_WORKLOAD.replace("KIND", "managed").replace(copy, "")
        self.write("spread.yaml", managed)
        for scheme in ("stall-on-fault", "replay-queue", "operand-log", "warp-disable-commit"):
            with self.subTest(scheme=scheme):
                self.scene("spread.yaml, parameters: {clusters: 16, size: 3}", policies="{sharing: exclusive, "
                           f"preemption: switch, exception_scheme: {scheme}}}", arrival="6us")
                self.assert_whole(self.checked(), 3)

    def test_a_barrier_of_a_cluster_of_one_block_that_is_saved(self):
        self.scene("w.yaml, parameters: {rounds: 200, clusters: 48, size: 1}",
                   policies="{sharing: exclusive, preemption: switch}")
        self.assertGreater(self.checked()["blocks_saved"], 0)

    def test_a_tenant_with_saved_clusters_that_makes_a_mistake_ends_alone(self):
        """At any time: while its clusters run, stop, are away, or come back."""
        late = clusters.EXCHANGE.replace("  mul.wide.u32 %rd2, %r5, 8;", "  mul.wide.u32 %rd2, %r5, 4096;")
        self.write("k.ptx", late)
        for rounds in todays((20, 32, 36, 40, 44)):
            with self.subTest(rounds=rounds):
                self.scene(f"w.yaml, parameters: {{rounds: {rounds}, clusters: 16, size: 3}}",
                           policies="{sharing: exclusive, preemption: {name: switch, signal: 2000}}")
                run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
                self.assertEqual(run.returncode, 1, run.stderr + run.stdout)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertIn("k.ptx:", run.stderr)
                self.assertIn("check passed", run.stdout)

    def test_random_programs_at_random_times(self):
        first = int(os.environ.get("LOCKSTEP_SEED", 1))
        for seed in todays(itertools.islice(itertools.count(first), 16)):
            with self.subTest(LOCKSTEP_SEED=seed):
                program, pick = programs.Program(seed), random.Random(seed)
                scheme = pick.choice(("stall-on-fault", "warp-disable-commit", "replay-queue", "operand-log"))
                self.write("k.ptx", program.text())
                number = pick.randrange(6, 20)
                count = program.size * number * program.threads * 4
                self.write("r.yaml", f"module: k.ptx\nbuffers:\n  out: {{type: u32, count: {count}, memory: device}}\n"
                           f"  in: {{type: u32, count: {count}, memory: managed, init: {{permutation: {{seed: 1}}}}}}\n"
                           "program:\n"
                           f"  - launch: {{kernel: mixed, grid: [{number * program.size}], block: [{program.threads}], "
                           f"cluster: [{program.size}], arguments: [in, out]}}\n  - copy: {{buffer: out, to: host}}\n")
                sharing, preemption = pick.choice((
                    ("exclusive", "switch"), ("exclusive", "{name: switch, context: live}"),
                    ("exclusive", "flush"), ("exclusive", "chimera"), ("exclusive", "dual-kernel"),
                    ("exclusive", "{name: switch, signal: 3000}"), ("smk", "switch"),
                    ("{name: time-sliced, slice: 3us}", "switch")))
                urgent = pick.choice((f"workload: {SGEMM}, parameters: {{n: 64}}",
                                      "workload: storm.yaml, parameters: {size: 2, clusters: 6}"))
                self.scene("r.yaml", urgent, f"{{sharing: {sharing}, preemption: {preemption}, "
                           f"exception_scheme: {scheme}}}", f"{pick.randrange(1, 30)}us")
                counts = self.checked()
                if program.size > 1:
                    self.assert_whole(counts, program.size)


if __name__ == "__main__":
    unittest.main()
