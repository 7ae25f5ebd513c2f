"""Several GPUs in one scenario: each tenant runs on its own, as if that were the only one."""
import sys
import unittest

import h5py
import numpy

from harness import ROOT
from machines import COPIED, DENSE, PAGED, WORKLOADS, ManyGpusTest, datasets, ends

sys.path.insert(0, str(ROOT / "jobs/analysis"))

import lockstep_analysis as la  # noqa: E402

LITTLE_MEMORY = "override: {gpu.memory.capacity: 448KiB}"
RECORDED = "simulation: {record_faults: true, record_blocks: true}"
UNTIL_THE_END = ("sm/skipped_cycles",)


class SeveralGpus(ManyGpusTest):
    def alone(self, tenant, output, gpus="", more=""):
        """The tenant on a machine of one GPU."""
        return self.run_it(self.machine([tenant], gpus=gpus, more=more, name="alone.yaml"), output, "--check")

    def assert_same_counts(self, group, alone):
        """Whatever was counted of a GPU is what its only tenant counts alone.  Idle cycles go on to the run's end."""
        expected, got = datasets(alone), datasets(group)
        self.assertGreater(len(expected), 100)
        self.assertEqual(sorted(got), sorted(expected))
        for name, values in expected.items():
            if name not in UNTIL_THE_END:
                numpy.testing.assert_array_equal(got[name], values, name)

    def test_each_tenant_does_beside_others_what_it_does_alone(self):
        more = f"{LITTLE_MEMORY}\n{RECORDED}"
        tenants = [f"{PAGED}, gpu: 0", f"{COPIED}, gpu: 1", f"{DENSE}, gpu: 2"]
        with self.run_it(self.machine(tenants, "gpus: 3", more), "o.h5", "--check") as file:
            for number, tenant in enumerate((PAGED, COPIED, DENSE)):
                with self.alone(tenant, f"alone{number}.h5", more=more) as alone:
                    self.assertEqual(ends(file)[number], ends(alone)[0], tenant)
                    self.assert_same_counts(file[f"final/stats/gpu{number}"], alone["final/stats"])
                    mine = file["kernels"][file["kernels"]["tenant"] == number]
                    for column in ("enqueued", "launched", "done", "warp_instructions", "l2_hits", "l1_hit_rate"):
                        numpy.testing.assert_array_equal(mine[column], alone["kernels"][column])
                    faults = file["faults"][file["faults"]["tenant"] == number]
                    self.assertEqual(len(faults), len(alone["faults"]))
                    numpy.testing.assert_array_equal(faults["mapped"], alone["faults"]["mapped"])
            self.assertGreater(len(file["faults"]), 3)

    def test_launches_of_other_gpus_do_not_move_parameters(self):
        """SMs fetch parameters of a launch from memory: where they stand must not count launches of other GPUs."""
        gpu = ROOT / "configs/gpus/v100.yaml"
        more = "override: {gpus.0.sm.count: 4, gpus.1.sm.count: 4}"
        victim = f"{DENSE}, gpu: 0, arrival: 20us"
        pager = f"workload: {WORKLOADS}/managed_add.yaml, parameters: {{n: 8192, blocks: 4}}, gpu: 1"
        gpus = f"gpus: [{gpu}, {gpu}]"
        with self.run_it(self.machine([victim], gpus, more, name="alone.yaml"), "alone.h5") as alone, \
                self.run_it(self.machine([victim, pager], gpus, more)) as beside:
            first = beside["kernels"][0]
            self.assertEqual(int(first["tenant"]), 1, "the other GPU launches first")
            mine = beside["kernels"][beside["kernels"]["tenant"] == 0]
            for column in ("launched", "done", "warp_instructions", "l2_hits"):
                numpy.testing.assert_array_equal(mine[column], alone["kernels"][column])

    def test_tenants_of_one_gpu_share_it_and_nobody_else(self):
        pair = [COPIED, DENSE]
        sharing = "policies: {sharing: spatial}"
        several = self.machine([f"{pair[0]}, gpu: 1", f"{PAGED}, gpu: 0", f"{pair[1]}, gpu: 1"], more=sharing)
        with self.run_it(several, "o.h5", "--check") as file, \
                self.run_it(self.machine(pair, "", sharing, name="one.yaml"), "one.h5") as one:
            self.assertEqual([ends(file)[0], ends(file)[2]], ends(one))
            self.assert_same_counts(file["final/stats/gpu1"], one["final/stats"])
            self.assertEqual([name.decode() for name in file["axes/gpu1/tenants"]], ["t0", "t2"])

    def test_a_copy_takes_what_the_cpu_wrote_and_initial_content_elsewhere(self):
        """Initial content does not come from the host, bytes that the CPU or an earlier copy wrote do."""
        (self.folder / "written.yaml").write_text(f"""\
module: {WORKLOADS}/saxpy.ptx
buffers:
  x: {{type: f32, count: 5000, memory: device, init: {{uniform: {{low: 0, high: 1, seed: 3}}}}}}
  y: {{type: f32, count: 5000, memory: device}}
  flag: {{type: f32, count: 3, memory: device, init: {{value: 7}}}}
program:
  - fill: {{buffer: flag, value: 2}}
  - copy: {{buffer: x, to: device}}
  - copy: {{buffer: y, to: device}}
  - copy: {{buffer: flag, to: device}}
  - launch: {{kernel: saxpy, grid: [2], block: [64], arguments: [x, y, 2.0, 5000]}}
  - copy: {{buffer: y, to: host}}
  - copy: {{buffer: y, to: device}}
  - launch: {{kernel: saxpy, grid: [1], block: [32], arguments: [flag, y, 1.0, 3]}}
  - copy: {{buffer: y, to: host}}
""")
        tenants = [f"workload: written.yaml, gpu: {gpu}" for gpu in (0, 1)]
        self.run_it(self.machine(tenants), "o.h5", "--check").close()

    def test_gpus_may_differ(self):
        tiny = ROOT / "configs/gpus/tiny.yaml"
        more = "override: {gpus.1.sm.count: 2}"
        scenario = self.machine([f"{DENSE}, gpu: 0", f"{DENSE}, gpu: 1"], f"gpus: [{tiny}, {tiny}]", more)
        with self.run_it(scenario) as file:
            self.assertEqual(file["stats/gpu0/sm/warp_instructions"].shape[1], 4)
            self.assertEqual(file["stats/gpu1/sm/warp_instructions"].shape[1], 2)
            with self.alone(DENSE, "four.h5") as four, \
                    self.alone(DENSE, "two.h5", more="override: {gpu.sm.count: 2}") as two:
                self.assertEqual(ends(file), ends(four) + ends(two))

    def test_a_list_of_one_is_one_gpu(self):
        tiny = ROOT / "configs/gpus/tiny.yaml"
        self.run_it(self.machine([DENSE], "gpus: [%s]" % tiny), "list.h5").close()
        self.run_it(self.machine([DENSE], ""), "one.h5").close()
        difference = self.lockstep("diff", "list.h5", "one.h5")
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_the_configuration_of_one_gpu_says_nothing_of_placement(self):
        """Nobody uses it there, and digests of older outputs and checkpoints stay what they are."""
        for gpus, more, is_there in (("", "", False), ("", "policies: {placement: spread}", False),
                                     ("gpus: 2", "", True)):
            with self.run_it(self.machine([COPIED], gpus, more)) as file:
                self.assertEqual("\n  placement: " in file["config"][()].decode(), is_there)
                self.assertIn("\n  eviction:", file["config"][()].decode())

    def test_tables_name_the_gpu_only_where_there_are_several(self):
        for gpus, is_there in (("gpus: 2", True), ("", False)):
            with self.run_it(self.machine([PAGED], gpus, f"{LITTLE_MEMORY}\n{RECORDED}")) as file:
                for table in ("tenants", "kernels", "faults", "thread_blocks"):
                    self.assertEqual("gpu" in file[table].dtype.names, is_there, table)
                self.assertEqual("gpu0" in file["stats"], is_there)
                self.assertEqual("sm" in file["stats"], not is_there)

    def test_relaunched_tenants_stop_when_the_last_on_any_gpu_is_measured(self):
        tenants = [f"{DENSE}, gpu: 0, relaunch: true", f"{PAGED}, gpu: 1"]
        with self.run_it(self.machine(tenants), "o.h5", "--check") as file:
            self.assertGreater(file["tenants"]["rounds"][0], 2)
            self.assertEqual(file["tenants"]["rounds"][1], 1)
            # It was stopped, not left alone: what it does after the other's end is at most one round.
            self.assertLess(file["final/end"][()], 2 * ends(file)[1])

    def test_host_memory_is_shared(self):
        scenario = self.machine([f"{COPIED}, gpu: 0", f"{COPIED}, gpu: 1"], host="memory: 1MiB")
        run = self.lockstep("run", scenario, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        big = COPIED.replace("20000", "100000")
        run = self.lockstep("run", self.machine([f"{big}, gpu: 0", f"{big}, gpu: 1"], host="memory: 1MiB"), "--quiet")
        self.assertEqual(run.returncode, 1)
        self.assertIn("host memory is full", run.stderr)

    def test_compare_runs_each_alone_on_its_gpu(self):
        tenants = [f"{DENSE}, gpu: 0", f"{DENSE}, gpu: 1", f"{COPIED}, gpu: 1"]
        run = self.lockstep("compare", self.machine(tenants, more="policies: {sharing: spatial}"), "--output", "c")
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / "c/s-alone-t1.h5") as alone:
            self.assertEqual(alone["tenants"]["gpu"][0], 1)
        text = (self.folder / "c/s.compare.yaml").read_text()
        self.assertIn("slowdown: 1}", text.split("t1:")[0], "who has a GPU for itself is not slowed down")

    def test_a_run_is_repeated_from_its_output(self):
        tenants = [f"{DENSE}, gpu: 1", f"{COPIED}"]
        self.run_it(self.machine(tenants, more="policies: {placement: spread}"), "o.h5").close()
        run = self.lockstep("run", "--config-of", "o.h5", "--quiet", "--output", "again.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        difference = self.lockstep("diff", "o.h5", "again.h5")
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_what_is_made_of_outputs_knows_them(self):
        tenants = [f"{DENSE}, gpu: 1", f"{COPIED}, gpu: 0"]
        self.run_it(self.machine(tenants, more=RECORDED), "o.h5").close()
        for command in (["report", "o.h5"], ["export", "o.h5", "--format", "csv", "--output", "o.csv"],
                        ["export", "o.h5", "--format", "perfetto", "--output", "o.json"],
                        ["watch", "o.h5"], ["plot", "o.h5"]):
            run = self.lockstep(*command)
            self.assertEqual(run.returncode, 0, f"{command}: {run.stderr}")
        lines = (self.folder / "o.csv").read_text().splitlines()
        self.assertTrue(any("gpu1/sm/warp_instructions,0,t0" in line for line in lines))
        self.assertFalse(any("gpu1/sm/warp_instructions,0,t1" in line for line in lines))


class ShippedScenarios(ManyGpusTest):
    def run_shipped(self, name, *arguments, ranks=0):
        scenario = ROOT / f"configs/scenarios/{name}.yaml"
        return self.run_it(scenario, f"{name}.h5", "--overwrite", *arguments, ranks=ranks)

    def test_eight_gpus_of_which_four_have_less_memory_than_their_tenants_use(self):
        with self.run_shipped("eight_gpus_tiny", "--check") as file:
            self.assertEqual([int(gpu) for gpu in file["tenants"]["gpu"]], [gpu for gpu in range(8) for _ in (0, 1)])
            for gpu in range(4):
                self.assertGreater(file[f"final/stats/gpu{gpu}/host/pages_evicted"][:].sum(), 0, gpu)
            self.assertGreater(file["interference/uplink"][:8, :8].sum(), 0)
            expected = ends(file)
        with self.run_shipped("eight_gpus_tiny", "--threads", 2, ranks=2) as file:
            self.assertEqual(ends(file), expected)

    def test_tenants_of_different_gpus_wait_for_each_other_at_their_uplink(self):
        with self.run_shipped("shared_uplink_tiny", "--check") as file:
            waited = file["interference/uplink"][:]
            self.assertGreater(waited[0][1], 0)
            self.assertGreater(waited[1][0], 0)


class AnalysedInPython(ManyGpusTest):
    """The analysis package adds up over GPUs what it is asked of tenants."""

    def setUp(self):
        super().setUp()
        tenants = [f"{DENSE}, gpu: 1", f"{COPIED}, gpu: 0", f"{DENSE}, gpu: 0"]
        tiny = ROOT / "configs/gpus/tiny.yaml"
        more = f"{RECORDED}\noverride: {{gpus.1.sm.clock: 700MHz}}\npolicies: {{sharing: spatial}}"
        self.run_it(self.machine(tenants, f"gpus: [{tiny}, {tiny}]", more)).close()
        self.run_ = la.load(self.folder / "o.h5")

    def test_counters_of_all_gpus_by_tenant(self):
        together = self.run_.by_tenant("sm/warp_instructions").sum()
        self.assertEqual(list(together.index), ["t0", "t1", "t2"])
        self.assertEqual(together["t0"], self.run_.by_tenant("gpu1/sm/warp_instructions")["t0"].sum())
        self.assertEqual(together["t1"], self.run_.by_tenant("gpu0/sm/warp_instructions")["t1"].sum())
        self.assertEqual(self.run_["sm/warp_instructions"].sum().item(), together.sum())

    def test_metrics_go_by_the_clock_of_each_tenants_gpu(self):
        table = self.run_.table("tenants").set_index("tenant")["instructions_per_cycle"]
        self.assertEqual(la.metrics.whole(self.run_, "instructions_per_cycle").to_dict(), table.to_dict())
        self.assertEqual(self.run_.core_clock("t0"), 700e6)
        shares = la.metrics.stall_shares(self.run_).sum(axis=1).round(6)
        self.assertEqual(shares.to_dict(), {f"t{i}": 1 for i in range(3)})
        kernels = la.metrics.kernels(self.run_).reset_index()
        of_table = self.run_.table("kernels")
        for name in ("occupancy", "kernel_instructions_per_cycle"):
            for tenant, value in zip(kernels["tenant"], kernels[name]):
                row = of_table[of_table["tenant"] == int(tenant[1:])]
                self.assertAlmostEqual(value, row[name].iloc[0], places=9, msg=f"{name} of {tenant}")

    def test_pictures(self):
        import matplotlib
        matplotlib.use("Agg")
        from lockstep_analysis import plots
        self.assertEqual([axis.get_ylabel() for axis in plots.overview(self.run_).axes][0], "SMs with\na thread block")
        sms = plots.blocks(self.run_).axes[0].images[0].get_array().shape[0]
        self.assertEqual(sms, 2 * 4)
        self.assertEqual(plots.delays(self.run_).axes[0].images[0].get_array().shape, (3, 3))
        self.assertEqual(self.run_.machine, "2 x tiny")


class Placement(ManyGpusTest):
    def places(self, policy, tenants, gpus="gpus: 3", more=""):
        scenario = self.machine(tenants, gpus, f"policies: {{placement: {policy}, sharing: spatial}}\n{more}")
        with self.run_it(scenario) as file:
            return [int(gpu) for gpu in file["tenants"]["gpu"]]

    def test_policies(self):
        small, large = COPIED.replace("20000", "1000"), COPIED
        for policy, tenants, expected in (
                ("fixed", [small, f"{small}, gpu: 2", small], [0, 2, 0]),
                ("packed", [small, large, small], [0, 0, 0]),
                ("spread", [small, f"{small}, gpu: 0", small], [1, 0, 2]),
                ("least-memory", [large, small, small, small], [0, 1, 2, 1])):
            with self.subTest(policy):
                self.assertEqual(self.places(policy, tenants), expected)

    def test_packed_goes_on_where_memory_is_full(self):
        # Two buffers of 80000 bytes each, and page tables: 192 KiB.
        self.assertEqual(self.places("packed", [COPIED] * 4, more="override: {gpu.memory.capacity: 512KiB}"),
                         [0, 0, 1, 1])

    def test_random_is_the_seeds(self):
        tenants = [COPIED.replace("20000", "1000")] * 8
        first = self.places("random", tenants)
        self.assertEqual(self.places("random", tenants), first)
        self.assertGreater(len(set(first)), 1)
        self.assertNotEqual(self.places("random", tenants, more="simulation: {seed: 2}"), first)


if __name__ == "__main__":
    unittest.main()
