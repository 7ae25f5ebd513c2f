"""What --profile records, and what it is good for: weights of the next run's partition."""
import unittest

import h5py
import numpy

from harness import ROOT, ScenarioTest

CACHE_GAIN = 1.1  # jobs/profile/speedup.cpp
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
        work = (windows["nanoseconds"].astype(float) * windows["windows"]).sum()
        self.assertAlmostEqual(work / sum(costs.values()), 1, delta=0.25)  # from a sample
        self.assertEqual((workers[0], workers[-1]), (2, 1024))

    def test_the_time_of_each_rank_is_told_apart(self):
        self.record("two.h5", ranks=2)
        for name, ranks in (("profile.h5", 1), ("two.h5", 2)):
            with h5py.File(self.folder / name) as file:
                table = file["run/profile/ranks"][:]
            self.assertEqual(list(table["rank"]), list(range(ranks)))
            for row in table:
                parts = sum(row[part] for part in ("working", "synchronising", "exchanging", "waiting", "other"))
                self.assertAlmostEqual(parts / row["wall"], 1, delta=0.1)

    def test_so_is_that_of_each_window_of_all_ranks(self):
        self.record("two.h5", ranks=2)
        with h5py.File(self.folder / "two.h5") as file:
            ranks, times = file["run/profile/ranks"][:], file["run/profile/times"][:]
        for row in ranks:
            windows = times[times["rank"] == row["rank"]]
            self.assertTrue((numpy.diff(windows["window"].astype(int)) > 0).all())
            spent = {part: windows[part].sum() * 1e-9 for part in ("working", "synchronising", "exchanging", "waiting")}
            for part in ("exchanging", "waiting"):
                self.assertAlmostEqual(spent[part], row[part], delta=0.05 * row["wall"])
            # The copying of messages stands with the work here, and with the synchronisation there.
            self.assertAlmostEqual(sum(spent.values()), row["wall"] - row["other"], delta=0.1 * row["wall"])

    def test_the_three_largest_costs_are_named(self):
        lines = self.record("again.h5").split("largest costs:\n")[1].splitlines()
        self.assertTrue(lines[3].startswith("predicted speed-up: 2: "), lines)
        shares = [int(line.split()[0]) for line in lines[:3]]
        for line in lines[:3]:
            self.assertRegex(line, r"^  \d+ % [a-z]")
        self.assertEqual(shares, sorted(shares, reverse=True))
        self.assertLessEqual(sum(shares), 101)

    def made_up(self, costs, windows, other=0.0, sampling=0.0, apart=1, flushing=0.0, flushes=0,
                full=0.0):
        """A profile: nanoseconds of each component in each window; `other` seconds beside, `sampling` and `flushing`
        among them, and so many windows between two meetings of GPUs."""
        with h5py.File(self.folder / "profile.h5", "r+") as file:
            types = {name: file[f"run/profile/{name}"].dtype for name in ("components", "windows", "ranks")}
            for name in types:
                del file[f"run/profile/{name}"]
            rows = [(window, component, cost, 1) for window in range(windows)
                    for component, cost in enumerate(costs.values())]
            sums = [(name.encode(), cost * windows) for name, cost in costs.items()]
            file["run/profile/windows"] = numpy.array(rows, dtype=types["windows"])
            file["run/profile/components"] = numpy.array(sums, dtype=types["components"])
            work = sum(costs.values()) * windows * 1e-9
            row = (0, work + other, work, 0, 0, 0, other, sampling, apart, flushing, flushes, full)
            file["run/profile/ranks"] = numpy.array([row], dtype=types["ranks"])

    def predicted(self, *arguments):
        """(ranks, threads): speed-up, limit."""
        return {of: (speedup, limit) for of, (speedup, _, limit) in self.predicted_of("profile.h5", *arguments).items()}

    def predicted_of(self, *arguments):
        """(ranks, threads): speed-up, its error, limit."""
        run = self.lockstep("predict", *arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        table = [line.split(maxsplit=5) for line in run.stdout.split("limited by\n")[1].splitlines()]
        return {(int(ranks), int(threads)): (float(speedup), float(error), limit)
                for _, ranks, threads, speedup, error, limit in table}

    def test_equal_components_are_dealt_out_evenly(self):
        self.made_up({f"sm[{i}]": 100_000_000 for i in range(8)}, windows=3)
        predicted = self.predicted("--threads", "4")
        self.assertEqual([predicted[1, 2][0], predicted[2, 1][0], predicted[1, 8][0], predicted[2, 4][0]],
                         [2 * CACHE_GAIN, 2 * CACHE_GAIN, 8 * CACHE_GAIN, 8 * CACHE_GAIN])
        self.assertEqual(predicted[1, 1024][0], predicted[1, 8][0])
        self.assertEqual(predicted[1, 16][1], "one sm at a time")

    def test_ranks_get_whole_gpus_as_long_as_there_are_enough(self):
        gpus = {f"gpu{gpu}/sm[{i}]": cost for gpu, cost in ((0, 30_000_000), (1, 10_000_000)) for i in range(4)}
        self.made_up({"host": 8_000_000, **gpus}, windows=3)
        predicted = self.predicted()
        self.assertEqual(predicted[1, 2][0], round(168 / 88 * CACHE_GAIN, 2))
        self.assertEqual(predicted[2, 1][0], round(168 / 120 * CACHE_GAIN, 2), "the first GPU alone")
        self.assertEqual(predicted[4, 1][0], round(168 / 60 * CACHE_GAIN, 2), "three ranks for it")

    def change_windows(self, change):
        with h5py.File(self.folder / "profile.h5", "r+") as file:
            rows = file["run/profile/windows"][:]
            change(rows)
            file["run/profile/windows"][:] = rows

    def test_gpus_on_ranks_of_their_own_meet_once_in_several_windows(self):
        """A GPU works in even windows, the other one in odd ones: only in two windows together they do the same."""
        costs = {f"gpu{gpu}/sm[{i}]": 50_000 for gpu in (0, 1) for i in range(4)}

        def take_turns(rows):
            rows["nanoseconds"][rows["component"] // 4 == rows["window"] % 2] = 0

        for apart, busiest, exchanges in ((1, 400, 2), (2, 200, 1)):
            self.made_up(costs, windows=48, apart=apart)
            self.change_windows(take_turns)
            predicted = self.predicted()
            with self.subTest(apart=apart):
                self.assertEqual(predicted[2, 1][0], round(400 / (busiest / CACHE_GAIN + exchanges * 1.0), 2))
                self.assertEqual(predicted[4, 1][0], round(400 / (200 / CACHE_GAIN + 2 * 1.5), 2),
                                 "parts of GPUs meet in each window")

    def test_ranks_and_threads_share_the_sampling_of_epochs_but_not_the_writing(self):
        self.made_up({f"sm[{i}]": 100_000_000 for i in range(8)}, windows=10, other=8.0, sampling=6.0)
        predicted = self.predicted()
        self.assertEqual(predicted[2, 1][0], round(16 / (4 / CACHE_GAIN + 2 + 6 / 2), 2))
        self.assertAlmostEqual(predicted[1, 2][0], 16 / (4 / CACHE_GAIN + 2 + 6 / 2), delta=0.01)
        self.assertAlmostEqual(predicted[1, 8][0], 16 / (1 / CACHE_GAIN + 2 + 6 / 8), delta=0.01)
        self.assertEqual(predicted[8, 1][1], "recording epochs")

    def test_a_fast_run_writes_to_the_file_less_often(self):
        """50 s of work and 10 flushes of 0.1 s, ten seconds apart at least: five of them without other workers, one in
        a quarter of the time."""
        self.made_up({f"sm[{i}]": 1_250_000_000 for i in range(4)}, windows=10, other=1.0, flushing=1.0, flushes=10)
        work = 50 / (4 * CACHE_GAIN)
        self.assertAlmostEqual(self.predicted()[1, 4][0], (50 + 0.1 * 5) / (work + 0.1), delta=0.01)
        self.made_up({f"sm[{i}]": 1_250_000_000 for i in range(4)}, windows=10, other=1.0, flushing=1.0, flushes=1)
        self.assertAlmostEqual(self.predicted()[1, 4][0], 51 / (work + 1), delta=0.01)
        self.made_up({f"sm[{i}]": 1_250_000_000 for i in range(4)}, windows=10, other=1.0, flushing=1.0, flushes=10,
                     full=3.9)
        self.assertAlmostEqual(self.predicted()[1, 4][0], 50.5 / (work + 0.3), delta=0.01)

    def test_a_hub_limits_the_speed_up(self):
        self.made_up({"host": 40_000_000, **{f"sm[{i}]": 10_000_000 for i in range(4)}}, windows=3)
        predicted = self.predicted()
        self.assertEqual((predicted[1, 2], predicted[1, 4]),
                         ((2 * CACHE_GAIN, predicted[1, 2][1]), (2 * CACHE_GAIN, "one host at a time")))

    def test_short_windows_are_limited_by_synchronisation(self):
        self.made_up({f"sm[{i}]": 5_000 for i in range(4)}, windows=50)
        predicted = self.predicted()
        self.assertEqual(predicted[1, 4], (round(20 / (5 / CACHE_GAIN + 3.5), 2), "synchronisation of threads"))
        self.assertEqual(predicted[4, 1], (round(20 / (5 / CACHE_GAIN + 1.5), 2), "exchange between ranks"))

    def test_windows_under_nine_microseconds_are_not_shared_among_threads(self):
        self.made_up({f"sm[{i}]": 2_000 for i in range(4)}, windows=50)
        self.assertEqual(self.predicted()[1, 4], (1, "windows with too little work to share"))

    def test_a_window_counts_as_often_as_it_stands_for(self):
        self.made_up({f"sm[{i}]": 10_000_000 for i in range(4)}, windows=25, other=1.0)
        once = self.predicted()[1, 4]
        with h5py.File(self.folder / "profile.h5", "r+") as file:
            rows = file["run/profile/windows"][:]
            rows["windows"] = 5
            del file["run/profile/windows"]
            file["run/profile/windows"] = rows[rows["window"] % 5 == 0]
        self.assertEqual(self.predicted()[1, 4], once)

    def test_a_window_with_a_long_step_has_the_short_ones_of_a_sampled_window(self):
        """Two samples stand for 34 windows; the first component takes long in every second of these, for which the
        profile has no other step.  With four threads such a window takes as long as its long step."""
        self.made_up({f"sm[{i}]": 10_000_000 for i in range(4)}, windows=34)
        rows = [(window, component, 10_000_000, 17) for window in (17, 34) for component in range(4)]
        rows += [(window, 0, 50_000_000, 1) for window in range(1, 35, 2)]
        with h5py.File(self.folder / "profile.h5", "r+") as file:
            dtype = file["run/profile/windows"].dtype
            del file["run/profile/windows"]
            file["run/profile/windows"] = numpy.array(rows, dtype=dtype)
        work, path = 34 * 40 + 17 * 50, 17 * 10 + 17 * 50
        self.assertEqual(self.predicted()[1, 4][0], round(work / path * CACHE_GAIN, 2))

    def copy_made_up(self, name, *arguments, **more):
        self.made_up(*arguments, **more)
        (self.folder / name).write_bytes((self.folder / "profile.h5").read_bytes())

    def test_of_several_runs_the_least_of_each_step_counts(self):
        """One run was disturbed in one component, the other in another: together they know both costs."""
        quiet = {f"sm[{i}]": 10_000_000 for i in range(4)}
        self.copy_made_up("a.h5", {**quiet, "sm[0]": 40_000_000}, windows=24)
        self.copy_made_up("b.h5", {**quiet, "sm[3]": 90_000_000}, windows=24)
        both = self.predicted_of("a.h5", "b.h5")[1, 4]
        self.assertEqual(both[0], 4 * CACHE_GAIN)
        alone = [self.predicted_of(name)[1, 4][0] for name in ("a.h5", "b.h5")]
        for found, wanted in zip(alone, (7 / 4 * CACHE_GAIN, 12 / 9 * CACHE_GAIN)):
            self.assertAlmostEqual(found, wanted, delta=0.006)
        self.assertAlmostEqual(both[1], (alone[0] - alone[1]) / 2, delta=0.011)

    def test_windows_that_are_alike_leave_no_doubt(self):
        self.copy_made_up("a.h5", {f"sm[{i}]": 10_000_000 for i in range(4)}, windows=24)
        self.assertEqual(self.predicted_of("a.h5")[1, 4][1], 0)

    def test_windows_that_differ_leave_some(self):
        """Every third window has one busy component: the parts of the sample hold more or fewer of them."""
        self.made_up({f"sm[{i}]": 10_000_000 for i in range(4)}, windows=27)
        with h5py.File(self.folder / "profile.h5", "r+") as file:
            rows = file["run/profile/windows"][:]
            rows["nanoseconds"][(rows["window"] % 3 == 0) & (rows["component"] > 0)] = 0
            file["run/profile/windows"][:] = rows
        self.assertGreater(self.predicted_of("profile.h5")[1, 4][1], 0.05)

    def test_profiles_of_different_scenarios_are_not_put_together(self):
        self.record("other.h5", "--set", "simulation.seed=2")
        self.assert_refused(["other.h5", "another scenario"], "predict", "profile.h5", "other.h5")

    def test_what_is_beside_the_windows_stays(self):
        self.made_up({f"sm[{i}]": 10_000_000 for i in range(4)}, windows=25, other=1.0)
        self.assertEqual(self.predicted()[1, 4], (round(2 / (0.25 / CACHE_GAIN + 1), 2), "recording epochs"))

    def test_a_profile_of_two_ranks_does_not_tell_all(self):
        self.record("profile.h5", ranks=2)
        self.assert_refused(["profile.h5", "was recorded on 2 ranks"], "predict", "profile.h5")

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
        self.assert_refused(["text.h5"], "predict", "text.h5")

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
