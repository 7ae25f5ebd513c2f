"""Mistakes about GPUs: a line that says where, what, and what to do."""
import unittest

from harness import ROOT
from machines import DENSE, ManyGpusTest

TINY = ROOT / "configs/gpus/tiny.yaml"


class Mistakes(ManyGpusTest):
    def test_a_gpu_that_is_not_there(self):
        self.assert_refused(self.machine([f"{DENSE}, gpu: 2"]), "tenants.0.gpu", "there is no GPU 2",
                            "choose 0 to 1, or raise gpus")

    def test_a_gpu_where_there_is_one(self):
        self.assert_refused(self.machine([f"{DENSE}, gpu: 0"], ""), "has one GPU", "add gpus: 2")

    def test_numbers_of_gpus(self):
        self.assert_refused(self.machine([DENSE], "gpus: 0"), "1 to 64")
        self.assert_refused(self.machine([DENSE], "gpus: 65"), "1 to 64")
        self.assert_refused(self.machine([DENSE], "gpus: many"), "gpus")
        self.assert_refused(self.machine([DENSE], "gpus: []"), "name one")

    def test_a_list_and_a_gpu(self):
        scenario = self.write("s.yaml", f"gpu: {TINY}\ngpus: [{TINY}, {TINY}]\nhost: pcie3\n"
                              f"tenants: [{{name: a, {DENSE}}}]\n")
        self.assert_refused(scenario, "gpu names one, too", "leave gpu out")

    def test_a_number_without_a_gpu(self):
        scenario = self.write("s.yaml", f"gpus: 2\nhost: pcie3\ntenants: [{{name: a, {DENSE}}}]\n")
        self.assert_refused(scenario, "no key says which GPU", "add gpu: v100")

    def test_a_file_that_is_not_there(self):
        self.assert_refused(self.machine([DENSE], "gpus: [v100, v1000]"), "v1000")

    def test_uplinks(self):
        for uplinks, text in (("[{gpus: [0, 2], bandwidth: 8GB/s}]", "GPU 2 is not there"),
                              ("[{gpus: [0], bandwidth: 8GB/s}, {gpus: [1, 0], bandwidth: 8GB/s}]",
                               "GPU 0 is behind two uplinks"),
                              ("[{gpus: [], bandwidth: 8GB/s}]", "no GPU is behind"),
                              ("[{gpus: [0, 1]}]", "bandwidth"),
                              ("[{gpus: [0, 1], bandwidth: 8}]", "bandwidth"),
                              ("[{gpu: [0, 1], bandwidth: 8GB/s}]", "gpus"),
                              ("8GB/s", "uplinks")):
            with self.subTest(uplinks):
                self.assert_refused(self.machine([DENSE], host=f"uplinks: {uplinks}"), text)

    def test_memory_and_policies_are_those_of_the_gpu(self):
        more = "override: {gpus.1.sm.count: 2}"
        scenario = self.machine([f"{DENSE}, gpu: 1, sms: 3"], f"gpus: [{TINY}, {TINY}]",
                                f"{more}\npolicies: {{sharing: spatial}}")
        self.assert_refused(scenario, "asks for 3 SMs", "has 2")

    def test_a_fabric_has_one_rate_for_all_its_links(self):
        pairs = "{{name: p, kind: direct, rate: 20GB/s, pairs: [{}]}}"
        for fabric, text in ((pairs.format("{gpus: [0, 1], rate: 10GB/s}"), 'unknown key "rate"'),
                             (pairs.format("{gpus: [0, 1], links: 2}, {gpus: [1, 0], links: 3}"),
                              "GPUs 1 and 0 are named twice"),
                             ("{name: p, kind: switch, rate: [20GB/s, 10GB/s]}", "fabric.rate: is a list")):
            with self.subTest(fabric):
                self.assert_refused(self.machine([DENSE], more=f"fabric: {fabric}"), text)

    def test_a_gpu_of_257_tenants(self):
        for tenants in ([f"{DENSE}, gpu: 1"] * 257, [f"{DENSE}, gpu: {i % 2}" for i in range(257)]):
            self.assert_refused(self.machine(tenants), "at most 256 tenants")

    def test_a_placement_that_does_nothing_is_told(self):
        run = self.lockstep("validate", self.machine([DENSE], "", "policies: {placement: spread}"))
        self.assertIn("policies.placement does nothing here: only with several GPUs", run.stderr)
        run = self.lockstep("validate", self.machine([DENSE], more="policies: {placement: spread}"))
        self.assertEqual(run.stderr, "")


if __name__ == "__main__":
    unittest.main()
