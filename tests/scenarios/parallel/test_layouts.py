"""Any layout, the same bits: threads, ranks, instruction set and CPU level change nothing."""
import unittest

from harness import ROOT, ScenarioTest, todays

LAYOUTS = [(2, 0), (4, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 2)]  # threads, ranks
FEW_LAYOUTS = [(2, 0), (1, 2), (1, 3)]
SOME_LAYOUTS = [(2, 0), (1, 3), (2, 2)]

# Quanta and intervals that end often in a small scenario.
DRAM_SCHEDULERS = [
    "cfr-fcfs",
    "par-bs",
    "{name: atlas, quantum: 3000, starve: 2000}",
    "{name: tcm, quantum: 3000, cluster_threshold: 0.4}",
    "{name: ctcm, quantum: 3000, cluster_threshold: 0, shuffle_interval: 100}",
    "{name: sms, bypass_below: 2}",
]


class Layouts(ScenarioTest):
    """Compares every byte outside /run with the run on one thread."""

    def assert_same_everywhere(self, scenario, *settings, layouts=LAYOUTS):
        first = self.lockstep("run", scenario, "--quiet", "--output", "first.h5", *settings)
        self.assertEqual(first.returncode, 0, first.stderr)
        for threads, ranks in layouts:
            with self.subTest(threads=threads, ranks=ranks):
                self.assert_same(scenario, settings, threads, ranks, {})
        with self.subTest(cpu="x86-64-v2"):
            self.assert_same(scenario, settings, 1, 0, {"LOCKSTEP_CPU_LEVEL": "2"})

    def assert_same(self, scenario, settings, threads, ranks, extra_environment):
        other = self.lockstep(
            "run", scenario, "--quiet", "--output", "other.h5", "--threads", threads, *settings,
            ranks=ranks, extra_environment=extra_environment,
        )
        self.assertEqual(other.returncode, 0, other.stderr)
        difference = self.lockstep("diff", "first.h5", "other.h5")
        self.assertEqual(difference.returncode, 0, difference.stdout)

    def test_checking_changes_nothing(self):
        for scenario in ("two_tenants_tiny", "oversubscribed_tiny"):
            path = ROOT / f"configs/scenarios/{scenario}.yaml"
            for output, check in (("first.h5", []), ("other.h5", ["--check"])):
                run = self.lockstep("run", path, "--quiet", "--output", output, *check)
                self.assertEqual(run.returncode, 0, run.stderr)
            difference = self.lockstep("diff", "first.h5", "other.h5")
            self.assertEqual(difference.stdout, "equal outside /run\n"
                             "only other.h5 was run with --check: digests are not compared\n")

    def test_two_tenants_on_the_tiny_gpu(self):
        self.assert_same_everywhere(ROOT / "configs/scenarios/two_tenants_tiny.yaml",
                                    "--set", "simulation.record_blocks=true")

    def test_every_dram_scheduler(self):
        for scheduler in todays(DRAM_SCHEDULERS):
            with self.subTest(scheduler=scheduler):
                setting = f"policies.dram_scheduler={scheduler}"
                self.assert_same_everywhere(
                    ROOT / "configs/scenarios/two_tenants_tiny.yaml",
                    "--set", setting, "--set", "gpu.memory.dram.write_queue=0",
                    layouts=FEW_LAYOUTS,
                )

    def test_schedulers_of_several_dram_channels(self):
        for scheduler in todays(("fr-fcfs", *DRAM_SCHEDULERS[1:4], DRAM_SCHEDULERS[5])):
            with self.subTest(scheduler=scheduler):
                self.assert_same_everywhere(
                    ROOT / "configs/scenarios/two_tenants_tiny.yaml",
                    "--set", f"policies.dram_scheduler={scheduler}", "--set", "gpu.memory.dram.channels=4",
                    "--set", "gpu.memory.dram.write_queue=0", layouts=FEW_LAYOUTS,
                )

    def test_two_tenants(self):
        self.assert_same_everywhere(ROOT / "configs/scenarios/two_tenants.yaml", layouts=SOME_LAYOUTS)

    def test_asynchronous_copies_under_faults(self):
        self.write("copies.yaml", f"""
gpu: {ROOT}/configs/gpus/tiny.yaml
host: {ROOT}/configs/hosts/pcie3.yaml
tenants:
  - {{name: copies, workload: {ROOT}/configs/workloads/sgemm_async.yaml, parameters: {{n: 96}}, memory: managed}}
  - {{name: other, workload: {ROOT}/configs/workloads/vector_add.yaml, parameters: {{n: 4000}}, memory: managed}}
policies: {{sharing: smk, exception_scheme: replay-queue, block_switching: on-fault}}
""")
        self.assert_same_everywhere("copies.yaml", "--check", layouts=FEW_LAYOUTS)

    def test_inference_beside_training(self):
        self.assert_same_everywhere(ROOT / "configs/scenarios/inference_beside_training.yaml", "--check",
                                    layouts=FEW_LAYOUTS)

    def test_one_dense_matrix_product(self):
        self.assert_same_everywhere(ROOT / "configs/scenarios/matrix_product.yaml", layouts=SOME_LAYOUTS)


if __name__ == "__main__":
    unittest.main()
