"""What --profile records, and what it is good for: weights of the next run's partition."""
import unittest

import h5py

from harness import ROOT, ScenarioTest

SCENARIO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"


class Profiles(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.record("profile.h5")

    def record(self, output, *arguments, ranks=0):
        run = self.lockstep("run", SCENARIO, "--profile", "--output", output, *arguments,
                            ranks=ranks)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def costs(self, output):
        with h5py.File(self.folder / output, "r") as file:
            table = file["run/profile/components"][:]
        return {row["component"].decode(): int(row["nanoseconds"]) for row in table}

    def assert_refused(self, parts, *arguments, ranks=0):
        run = self.lockstep(*arguments, ranks=ranks)
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = [line for line in run.stderr.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(len(lines), 1, run.stderr)
        for part in parts:
            self.assertIn(part, lines[0])

    def test_components_of_all_ranks_are_recorded(self):
        self.record("two.h5", ranks=2)
        costs = self.costs("two.h5")
        self.assertEqual(costs.keys(), self.costs("profile.h5").keys())
        self.assertGreater(min(cost for name, cost in costs.items() if name.startswith("sm")), 0)

    def test_windows_add_up_to_the_components(self):
        costs = self.costs("profile.h5")
        with h5py.File(self.folder / "profile.h5", "r") as file:
            windows = file["run/profile/windows"][:]
            workers = file["run/profile/speedup"]["workers"]
        self.assertAlmostEqual(windows["nanoseconds"].sum() / sum(costs.values()), 1, delta=0.05)
        self.assertEqual((workers[0], workers[-1]), (2, 1024))

    def test_partition_takes_the_measured_weights(self):
        def shown(*arguments):
            run = self.lockstep("partition", SCENARIO, "--ranks", 2, *arguments)
            self.assertEqual(run.returncode, 0, run.stderr)
            return run.stdout

        self.assertNotEqual(shown(), shown("--weights", "profile.h5"))

    def test_weights_change_no_byte_of_the_result(self):
        for threads, ranks in ((2, 0), (1, 2), (2, 3)):
            with self.subTest(threads=threads, ranks=ranks):
                run = self.lockstep(
                    "run", SCENARIO, "--quiet", "--weights", "profile.h5", "--output", "other.h5",
                    "--threads", threads, ranks=ranks,
                )
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(self.lockstep("diff", "profile.h5", "other.h5").returncode, 0)

    def test_file_that_is_not_there(self):
        for arguments in (("partition", SCENARIO, "--weights", "none.h5"),
                          ("run", SCENARIO, "--weights", "none.h5")):
            self.assert_refused(["none.h5"], *arguments)

    def test_file_that_is_no_hdf5(self):
        self.write("text.h5", "no profile")
        self.assert_refused(["text.h5"], "partition", SCENARIO, "--weights", "text.h5")

    def test_run_without_a_profile(self):
        run = self.lockstep("run", SCENARIO, "--quiet", "--output", "plain.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_refused(["plain.h5", "holds no profile", "--profile"],
                            "run", SCENARIO, "--weights", "plain.h5", ranks=2)

    def test_profile_of_another_machine(self):
        self.assert_refused(
            ["profile.h5", "another machine", "9 components", "9"],
            "partition", SCENARIO, "--weights", "profile.h5", "--set", "gpu.sm.count=5",
        )

    def test_output_that_would_replace_the_weights(self):
        self.assert_refused(["profile.h5", "--weights", "--output"], "run", SCENARIO,
                            "--weights", "profile.h5", "--output", "profile.h5")


if __name__ == "__main__":
    unittest.main()
