"""A GPU's file names the warp scheduler of scenarios that name none."""
import unittest

import h5py
import yaml

from harness import ROOT, ScenarioTest

SGEMM = ROOT / "configs/workloads/sgemm.yaml"


class DefaultScheduler(ScenarioTest):
    def scheduler_of(self, output, *settings):
        """The scheduler that the run says it had; settings as of --set."""
        arguments = [part for setting in settings for part in ("--set", setting)]
        run = self.lockstep("run", "scenario.yaml", "--quiet", "--output", output, *arguments)
        self.assertEqual(run.returncode, 0, run.stderr)
        with h5py.File(self.folder / output) as file:
            return yaml.safe_load(file["config"][()])["policies"]["warp_scheduler"]

    def assert_same(self, one, other):
        self.assertEqual(self.lockstep("diff", one, other).returncode, 0)

    def test_a_scenario_that_names_none_has_the_gpus(self):
        self.scenario(SGEMM, "{n: 64}")
        self.assertEqual(self.scheduler_of("none.h5"), "gto")
        self.assertEqual(self.scheduler_of("gpu.h5", "gpu.sm.warp_scheduler=lrr"), "lrr")

    def test_a_scenario_that_names_one_has_that(self):
        self.scenario(SGEMM, "{n: 64}", "policies: {warp_scheduler: gto}")
        self.assertEqual(self.scheduler_of("gto.h5", "gpu.sm.warp_scheduler=lrr"), "gto")
        self.scenario(SGEMM, "{n: 64}")
        chosen = self.scheduler_of("set.h5", "gpu.sm.warp_scheduler=lrr", "policies.warp_scheduler=two-level")
        self.assertEqual(chosen["name"], "two-level")

    def test_cards_have_the_scheduler_with_which_they_are_validated(self):
        for gpu, scheduler in (("v100", "lrr"), ("a100", "lrr"), ("gtx1080ti", "gto")):
            with self.subTest(gpu=gpu):
                self.write("scenario.yaml", f"gpu: {ROOT}/configs/gpus/{gpu}.yaml\n"
                                            f"host: {ROOT}/configs/hosts/pcie3.yaml\n"
                                            f"tenants: [{{name: one, workload: {SGEMM}, parameters: {{n: 32}}}}]\n")
                self.assertEqual(self.scheduler_of(f"{gpu}.h5"), scheduler)

    def test_what_a_run_says_of_itself_repeats_it(self):
        self.scenario(SGEMM, "{n: 64}")
        self.scheduler_of("first.h5", "gpu.sm.warp_scheduler=lrr")
        run = self.lockstep("run", "--config-of", "first.h5", "--quiet", "--output", "again.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_same("first.h5", "again.h5")


if __name__ == "__main__":
    unittest.main()
