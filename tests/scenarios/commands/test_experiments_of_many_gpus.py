"""The scenarios that the experiments of several GPUs write are valid, in every size, and no two runs share a file."""
import argparse
import pathlib
import sys
import unittest

from harness import ROOT, ScenarioTest

sys.path.insert(0, str(ROOT / "jobs/experiments/many_gpus"))

import all_reduce  # noqa: E402
import collective  # noqa: E402
import placement  # noqa: E402
import shared_pages  # noqa: E402
import slices  # noqa: E402
import spill  # noqa: E402
import tenants  # noqa: E402
import uplink  # noqa: E402

SIZES = ("whole", "quick", "tiny")


class ExperimentsOfManyGpus(ScenarioTest):
    def arguments(self, size):
        return argparse.Namespace(quick=size == "quick", tiny=size == "tiny", folder=pathlib.Path(self.folder))

    def assert_valid(self, scenarios, files, every=1):
        for name, text in files.items():
            self.write(name, text)
        for name in list(scenarios)[::every]:
            self.write("point.yaml", scenarios[name])
            done = self.lockstep("validate", "point.yaml")
            self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")

    def test_every_experiment_writes_valid_scenarios(self):
        for experiment in (collective, shared_pages, slices, spill, uplink):
            for size in SIZES:
                with self.subTest(experiment.__name__, size=size):
                    self.assert_valid(experiment.scenarios(self.arguments(size)), tenants.FILES, 3)

    def test_rings_of_every_size(self):
        for size in SIZES:
            arguments = self.arguments(size)
            self.assert_valid(all_reduce.scenarios(arguments), all_reduce.files(arguments), 4)

    def test_the_oracle_takes_the_pairs_that_disturb_each_other_least(self):
        known = {("dense", "dense"): 2.0, ("dense", "stream"): 1.1, ("stream", "dense"): 1.1, ("stream", "stream"): 3.0}
        before = placement.slowdown_beside
        placement.slowdown_beside = lambda _, first, second: known[first, second]
        try:
            places = placement.oracle(self.arguments("tiny"))
        finally:
            placement.slowdown_beside = before
        for gpu in set(places.values()):
            kinds = {name.rstrip("0123456789") for name, place in places.items() if place == gpu}
            self.assertEqual(kinds, {"dense", "stream"})

    def test_placements_are_valid(self):
        for size in SIZES:
            self.assert_valid(placement.pairs(self.arguments(size)), tenants.FILES, 5)
            placed = {policy: placement.placed(self.arguments(size), policy)
                      for policy in placement.POLICIES if policy != "oracle"}
            self.assert_valid(placed, tenants.FILES)


if __name__ == "__main__":
    unittest.main()
