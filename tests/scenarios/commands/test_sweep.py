"""`lockstep sweep` runs the points of a sweep that are not done, `collect` puts their results into one file."""
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

import h5py

from harness import LOCKSTEP, ROOT, ScenarioTest, environment, runs_below

SWEEP = """\
scenario: s.yaml
output: points
grid: {gpu.sm.count: [1, 2], tenants.one.parameters.n: [256, 512]}
seeds: [3]
"""


class Sweeps(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 128}")
        (self.folder / "scenario.yaml").rename(self.folder / "s.yaml")
        self.write("sweep.yaml", SWEEP)

    def sweep(self, *arguments, status=0):
        run = self.lockstep("sweep", "sweep.yaml", *arguments)
        self.assertEqual(run.returncode, status, run.stderr + run.stdout)
        return run.stderr

    def names(self, pattern="*.h5"):
        return sorted(path.name for path in (self.folder / "points").glob(pattern))

    def test_every_combination_is_run_as_by_hand(self):
        self.assertIn("4 of 4 points done, 0 of them before, 0 failed", self.sweep("--jobs", 2))
        self.assertEqual(self.names(), [f"s-count={c}-n={n}-seed=3.h5" for c in (1, 2) for n in (256, 512)])
        run = self.lockstep("run", "s.yaml", "--quiet", "--output", "o.h5", "--set", "gpu.sm.count=2", "--set",
                            "tenants.one.parameters.n=512", "--set", "simulation.seed=3")
        self.assertEqual(run.returncode, 0, run.stderr)
        same = self.lockstep("diff", "o.h5", "points/s-count=2-n=512-seed=3.h5")
        self.assertEqual(same.returncode, 0, same.stdout)

    def test_what_is_done_is_not_run_again_unless_something_changed(self):
        self.sweep()
        self.assertIn("4 of 4 points done, 4 of them before", self.sweep())
        (self.folder / "points/s-count=1-n=256-seed=3.h5").unlink()
        self.assertIn("4 of 4 points done, 3 of them before", self.sweep())
        text = (self.folder / "s.yaml").read_text()
        self.write("s.yaml", text + "simulation: {epoch: 7us}\n")
        errors = self.sweep()
        self.assertIn("4 of 4 points done, 0 of them before", errors)
        self.assertIn("note: 4 of them had an output of other settings, which is replaced", errors)

    def test_it_goes_on_after_failures_and_names_them(self):
        name = "s-count=2-n=256-seed=3"
        (self.folder / f"points/{name}.h5").mkdir(parents=True)
        errors = self.sweep(status=1)
        self.assertIn("3 of 4 points done, 0 of them before, 1 failed", errors)
        self.assertIn(f"lockstep: {name} failed with status 1 - see points/{name}.log", errors)
        self.assertIn("is not a file that could be written anew", (self.folder / f"points/{name}.log").read_text())

    def test_an_interrupted_one_goes_on(self):
        self.scenario(ROOT / "configs/workloads/sgemm.yaml", "{n: 128}")
        self.write("sweep.yaml", "scenario: scenario.yaml\noutput: points\nseeds: [1]\n")
        process = subprocess.Popen([LOCKSTEP, "sweep", "sweep.yaml", "--quiet"], cwd=self.folder, env=environment())
        self.addCleanup(process.kill)
        while not self.names():
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=60), 75)
        self.assertEqual(self.names("*.ckpt"), ["scenario-seed=1.ckpt"])
        self.sweep("--quiet")
        self.assertEqual(self.names("*.ckpt"), [])
        with h5py.File(self.folder / "points/scenario-seed=1.h5") as file:
            self.assertEqual(file["run"].attrs["segments"], 2)

    def run_of(self, process):
        """The id of the run that the sweep has started."""
        while not runs_below(process.pid):
            self.assertIsNone(process.poll(), "it ended before its run was seen")
            time.sleep(0.001)
        return next(iter(runs_below(process.pid)))

    def test_a_signal_when_all_is_done_leaves_nothing_to_go_on_with(self):
        self.write("sweep.yaml", "scenario: s.yaml\noutput: points\n")
        process = self.start()
        run = self.run_of(process)
        process.send_signal(signal.SIGSTOP)
        while runs_below(process.pid)[run] != "Z":
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(errors, "lockstep: 1 of 1 points done, 0 of them before, 0 failed\n")

    @staticmethod
    def has_been_told(run):
        pending = re.search(r"^ShdPnd:\s*(\w+)", pathlib.Path(f"/proc/{run}/status").read_text(), re.M)[1]
        return int(pending, 16) >> (signal.SIGTERM - 1) & 1

    def test_a_run_that_fails_after_a_signal_is_named(self):
        self.long_points()
        process = self.start("--jobs", "1")
        run = self.run_of(process)
        os.kill(run, signal.SIGSTOP)
        process.send_signal(signal.SIGTERM)
        while not self.has_been_told(run):
            time.sleep(0.001)
        os.kill(run, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 75)
        self.assertIn("scenario-seed=1 was ended by SIGKILL", errors)

    def long_points(self):
        self.scenario(ROOT / "configs/workloads/sgemm.yaml", "{n: 512}")
        self.write("sweep.yaml", "scenario: scenario.yaml\noutput: points\nseeds: [1, 2]\n")

    def start(self, *arguments):
        process = subprocess.Popen([LOCKSTEP, "sweep", "sweep.yaml", *arguments], cwd=self.folder, env=environment(),
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def test_the_runs_of_a_killed_one_leave_checkpoints(self):
        self.long_points()
        process = self.start("--jobs", "2")
        while len(self.names()) < 2:
            time.sleep(0.002)
        time.sleep(0.3)
        process.kill()
        process.wait(timeout=60)
        self.assertIn("2 of 2 points done, 0 of them before, 0 failed", self.sweep())
        self.assertEqual(self.names("*.ckpt"), [])
        for seed in (1, 2):
            with h5py.File(self.folder / f"points/scenario-seed={seed}.h5") as file:
                self.assertEqual(file["run"].attrs["segments"], 2)

    def test_several_at_once_share_the_points(self):
        self.long_points()
        processes = [self.start("--jobs", "1") for _ in range(4)]
        done = 0
        for process in processes:
            _, errors = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, errors)
            total, before, failed = map(int, re.search(
                r"(\d+) of 2 points done, (\d+) of them before, (\d+) failed", errors).groups())
            self.assertEqual((total, failed), (2, 0))
            done += total - before
        self.assertEqual(done, 2)
        for seed in (1, 2):
            self.assertEqual((self.folder / f"points/scenario-seed={seed}.log").read_text(), "")

    def test_a_failure_without_a_word_is_told_with_its_status(self):
        """As on a full disk, where the log is as empty as the output."""
        run = subprocess.run([LOCKSTEP, "sweep", "sweep.yaml"], cwd=self.folder, env=environment(),
                             capture_output=True, text=True, check=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual(run.returncode, 1, run.stderr)
        name = "s-count=1-n=256-seed=3"
        self.assertIn(f"lockstep: {name} failed with status 1, and points/{name}.log is empty - is the disk full?",
                      run.stderr)

    def test_collect_leaves_nothing_on_a_full_disk(self):
        self.sweep()
        run = subprocess.run([LOCKSTEP, "collect", "sweep.yaml"], cwd=self.folder, env=environment(),
                             capture_output=True, text=True, check=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)))
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
        self.assertEqual([path.name for path in self.folder.glob("points.h5*")], [])

    def test_collect(self):
        self.sweep()
        (self.folder / "points/s-count=2-n=512-seed=3.h5").unlink()
        run = self.lockstep("collect", "sweep.yaml")
        self.assertEqual((run.returncode, run.stdout), (0, "points.h5: 3 of 4 points\n"), run.stderr)
        with h5py.File(self.folder / "points.h5") as all_points:
            self.assertEqual(all_points["points/status"][:].tolist(), [b"done"] * 3 + [b"missing"])
            self.assertEqual(all_points["parameters/gpu.sm.count"][:].tolist(), [1, 1, 2, 2])
            counted = all_points["final/stats/sm/warp_instructions"]
            self.assertIn("gpu.sm.count", counted.dims[0].keys())
            for row, name in enumerate(all_points["points/name"][:3]):
                with h5py.File(self.folder / f"points/{name.decode()}.h5") as one:
                    total = one["final/stats/sm/warp_instructions"][:].sum(axis=0)
                    self.assertEqual(counted[row].tolist(), total.tolist())
                    self.assertEqual(all_points["tenants/end"][row].tolist(), one["tenants"]["end"].tolist())
            self.assertEqual(counted[3].tolist(), [0])

    def test_compare(self):
        self.write("sweep.yaml", f"scenario: {ROOT}/configs/scenarios/two_tenants_tiny.yaml\ncommand: compare\n"
                                 "output: points\nseeds: [1]\n")
        self.sweep()
        self.assertIn("1 of 1 points done, 1 of them before", self.sweep())
        self.assertEqual(self.lockstep("collect", "sweep.yaml").returncode, 0)
        with h5py.File(self.folder / "points.h5") as file:
            self.assertGreater(file["metrics/weighted_speedup"][0], 0)

    def test_one_point(self):
        self.sweep("--point", 2)
        self.assertEqual(self.names(), ["s-count=2-n=256-seed=3.h5"])
        self.assertIn("there are only 4 points", self.sweep("--point", 4, status=1))

    def test_mistakes(self):
        for old, new, parts in (
                ("seeds:", "seeeds:", ["sweep.yaml:4:1", "seeeds", 'did you mean "seeds"']),
                ("[256, 512]", "[]", ["sweep.yaml: has no points"]),
                ("[256, 512]", "[256, 256]", ["sweep.yaml:1:", "two points would write s-count=1-n=256-seed=3.h5"]),
                ("output: points", "output: s.yaml", ["s.yaml: is no folder that can be written to"]),
                ("output: points", "command: walk", ["sweep.yaml:2:", "is neither run nor compare"])):
            with self.subTest(new=new):
                self.write("sweep.yaml", SWEEP.replace(old, new))
                errors = self.sweep(status=1)
                self.assertEqual(len(errors.splitlines()), 1, errors)
                for part in parts:
                    self.assertIn(part, errors)

    def test_slurm_commands_that_are_missing(self):
        run = subprocess.run([LOCKSTEP, "sweep", "sweep.yaml", "--slurm", "script"], cwd=self.folder,
                             env={**os.environ, "PATH": "/nowhere"}, capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "lockstep: sbatch: cannot be started: No such file or directory - load Slurm's "
                                     "commands, or leave --slurm out\n")

    def test_a_file_that_is_no_collection_stays(self):
        self.sweep()
        self.write("points.h5", "precious")
        run = self.lockstep("collect", "sweep.yaml")
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1))
        self.assertIn("points.h5: is there and is no collected sweep", run.stderr)

    def test_the_shipped_example(self):
        run = self.lockstep("sweep", ROOT / "configs/sweeps/two_tenants_tiny.yaml", "--quiet")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        run = self.lockstep("collect", ROOT / "configs/sweeps/two_tenants_tiny.yaml")
        self.assertEqual(run.stdout, "two_tenants_sweep.h5: 4 of 4 points\n")


if __name__ == "__main__":
    unittest.main()
