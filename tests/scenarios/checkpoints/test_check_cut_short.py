"""A signal that comes while `--check` compares: there is a checkpoint of the end, from which the check is done."""
import shutil
import signal
import subprocess
import time
import unittest

import h5py
from segments import SegmentsTest

from harness import LOCKSTEP, ROOT, environment

# What is simulated takes a moment; the check makes and reads all of `big`.
WORKLOAD = """\
module: {module}
parameters: {{n: 4096}}
buffers:
  a: {{type: f32, count: n, memory: managed}}
  b: {{type: f32, count: n, memory: managed}}
  c: {{type: f32, count: n, memory: managed}}
  big: {{type: f32, count: 33554432, memory: managed, init: {{uniform: {{low: 0, high: 1, seed: 1}}}}}}
program:
  - launch: {{kernel: vector_add, grid: [ceil(n / 256)], block: [256], arguments: [a, b, c, n]}}
  - synchronize
"""


class CheckCutShort(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.write("w.yaml", WORKLOAD.format(module=ROOT / "configs/workloads/vector_add.ptx"))
        self.scenario("w.yaml", more="simulation: {epoch: 1us}")
        whole = self.lockstep("run", "scenario.yaml", "--quiet", "--check", "--output", "whole.h5")
        self.assertEqual((whole.returncode, whole.stderr), (0, ""))
        self.printed = whole.stdout

    def signalled_while_it_checks(self, attempt):
        """What attempt(seconds) returns when its signal came after the check had begun and before it ended, by
        bisection: how long it takes to get there depends on the machine, and on how busy it is. `attempt` returns what
        ended, with the exit status first (0: the signal came too late), and the name of the output."""
        early, late = 0.0, None
        for _ in range(20):
            seconds = (early + late) / 2 if late else early + 0.4
            ended, output = attempt(seconds)
            if ended[0] == 75 and self.has_all_epochs(output):
                return ended
            early, late = (early, seconds) if ended[0] == 0 else (seconds, late)  # 1: mpirun had not started it
            if late and late - early < 0.05:  # the machine is busier than it was, or less busy
                early, late = early / 2, None
        self.fail(f"no signal of 20 came while it checked, the last after {seconds:.2f} s: {ended}")

    def cut_short(self, **layout):
        def attempt(seconds):
            process = self.start("--check", resume=self.resumable(), **layout)
            time.sleep(seconds)
            for child in self.children(process):
                subprocess.run(["kill", "-TERM", str(child)], check=False)
            return self.end(process), "o.h5"

        return self.signalled_while_it_checks(attempt)

    def has_all_epochs(self, output):
        """False: the signal came before the check."""
        if not (self.folder / output).exists():
            return False
        with h5py.File(self.folder / output) as file, h5py.File(self.folder / "whole.h5") as whole:
            return file["epochs/time"].shape == whole["epochs/time"].shape

    def test_it_is_done_when_the_run_is_resumed(self):
        for layout in ({}, {"threads": 2}, {"ranks": 2}):
            with self.subTest(layout=layout):
                status, printed, lines = self.cut_short(**layout)
                self.assertEqual((status, lines), (75, ["lockstep: ended by SIGTERM - go on with --resume o.ckpt"]))
                self.assertEqual(printed, "")
                with h5py.File(self.folder / "o.h5") as file, h5py.File(self.folder / "whole.h5") as whole:
                    self.assertNotIn("final/end", file)
                    self.assertNotIn("check", file["run"].attrs)
                    self.assertEqual(file["run"].attrs["ended_by"], b"SIGTERM")
                    self.assertTrue((file["epochs/time"][:] == whole["epochs/time"][:]).all())
                status, printed, lines = self.end(self.start("--check", resume="o.ckpt"))
                self.assertEqual((status, printed, lines), (0, self.printed, []))
                with h5py.File(self.folder / "o.h5") as file:
                    self.assertEqual(file["run"].attrs["check"], b"passed")
                self.assert_same_result()
                (self.folder / "o.h5").unlink()

    def test_it_may_be_cut_short_again(self):
        for _ in range(2):
            self.assertEqual(self.cut_short()[0], 75)
        self.assertEqual(self.end(self.start("--check", resume="o.ckpt"))[0], 0)
        self.assert_same_result()

    def test_another_time_to_stop_is_refused_then(self):
        self.assertEqual(self.cut_short()[0], 75)
        status, _, lines = self.end(self.start("--check", "--set", "simulation.stop_at=1ms", resume="o.ckpt"))
        self.assertEqual(status, 1)
        self.assertIn("had come to its end", lines[0])

    def test_a_sweep_does_what_is_left_of_the_check(self):
        self.write("sweep.yaml", "scenario: scenario.yaml\narguments: [--check]\noutput: points\n")

        def attempt(seconds):
            shutil.rmtree(self.folder / "points", ignore_errors=True)
            sweep = subprocess.Popen([LOCKSTEP, "sweep", "sweep.yaml"], cwd=self.folder, env=environment(),
                                     stderr=subprocess.PIPE, text=True)
            time.sleep(seconds)
            sweep.send_signal(signal.SIGTERM)
            _, errors = sweep.communicate(timeout=60)
            return (sweep.returncode, errors), "points/scenario.h5"

        status, errors = self.signalled_while_it_checks(attempt)
        self.assertEqual(status, 75, errors)
        self.assertTrue((self.folder / "points/scenario.ckpt").exists())
        again = self.lockstep("sweep", "sweep.yaml")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("1 of 1 points done, 0 of them before", again.stderr)
        self.assertIn("check passed", (self.folder / "points/scenario.log").read_text())

    def test_a_sweep_asks_for_the_mark_of_a_check(self):
        self.write("sweep.yaml", "scenario: scenario.yaml\narguments: [--check]\noutput: points\n")
        for before in (0, 1):
            run = self.lockstep("sweep", "sweep.yaml")
            self.assertIn(f"1 of 1 points done, {before} of them before", run.stderr)
        for mark in ("failed", None):
            with h5py.File(self.folder / "points/scenario.h5", "a") as file:
                del file["run"].attrs["check"]
                if mark:
                    file["run"].attrs["check"] = mark
            run = self.lockstep("sweep", "sweep.yaml")
            self.assertIn("1 of 1 points done, 0 of them before", run.stderr)


if __name__ == "__main__":
    unittest.main()
