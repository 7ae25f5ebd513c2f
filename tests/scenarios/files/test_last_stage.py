"""The last stage of a run, in which tables and buffers are written: whatever happens there, all programs read the
epochs."""
import os
import random
import resource
import signal
import subprocess
import time
import unittest

import h5py

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

# Saving `big` takes a good part of a second.
WORKLOAD = """\
module: {module}
parameters: {{n: 4096}}
buffers:
  a: {{type: f32, count: n, memory: managed}}
  b: {{type: f32, count: n, memory: managed}}
  c: {{type: f32, count: n, memory: managed}}
  big: {{type: f32, count: 4194304, memory: managed, check: false, init: {{uniform: {{low: 0, high: 1, seed: 1}}}}}}
program:
  - launch: {{kernel: vector_add, grid: [ceil(n / 256)], block: [256], arguments: [a, b, c, n]}}
  - synchronize
  - save: big
"""
RUN = [LOCKSTEP, "run", "scenario.yaml", "--quiet", "--output", "o.h5"]
KILLS = int(os.environ.get("LOCKSTEP_KILLS", "8"))


class LastStage(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("w.yaml", WORKLOAD.format(module=ROOT / "configs/workloads/vector_add.ptx"))
        self.scenario("w.yaml", more="simulation: {epoch: 1us}")
        self.path = self.folder / "o.h5"

    def start(self, command=None, **more):
        process = subprocess.Popen(command or RUN, cwd=self.folder, env=environment(), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, condition, process):
        deadline = time.monotonic() + 100
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            if process.poll() is not None:
                return
            time.sleep(0.002)

    def is_finishing(self):
        """The copy has something in it: an empty one only tries the folder at the start."""
        try:
            return (self.folder / "o.h5.finishing").stat().st_size > 0
        except FileNotFoundError:
            return False

    def read_by_all(self):
        """How many epochs h5py, h5dump and the program itself find; whether the run's tables are there as well."""
        with h5py.File(self.path, "r") as file:
            lengths = []
            file.visititems(lambda name, thing: lengths.append(len(thing[...]))
                            if name.startswith("stats/") and isinstance(thing, h5py.Dataset) else None)
            epochs, complete = len(file["epochs/time"]), "tenants" in file
        self.assertGreaterEqual(min(lengths), epochs)
        dump = subprocess.run(["h5dump", self.path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        self.assertEqual((dump.returncode, dump.stderr), (0, b""))
        same = self.lockstep("diff", "o.h5", "o.h5")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)
        return epochs, complete

    def test_kills_at_random_moments(self):
        whole = self.lockstep(*RUN[1:])
        self.assertEqual(whole.returncode, 0, whole.stderr)
        epochs, complete = self.read_by_all()
        self.assertTrue(complete)
        self.assertFalse((self.folder / "o.h5.finishing").exists())
        endings = set()
        for seed in range(KILLS):
            with self.subTest(seed=seed):
                (self.folder / "o.h5.finishing").unlink(missing_ok=True)  # what the last kill left
                process = self.start()
                self.wait_for(self.is_finishing, process)
                time.sleep(random.Random(seed).uniform(0, 0.6))
                process.send_signal(signal.SIGKILL)
                process.wait(timeout=20)
                found, complete = self.read_by_all()
                self.assertEqual(found, epochs)
                endings.add(complete)
        self.assertIn(False, endings, "no kill came in time")

    def test_the_next_run_clears_away_what_a_kill_left(self):
        process = self.start()
        self.wait_for(self.is_finishing, process)
        process.kill()
        process.wait(timeout=20)
        self.assertEqual(self.lockstep(*RUN[1:]).returncode, 0)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["o.h5", "scenario.yaml", "w.yaml"])

    def test_a_disk_that_fills_there(self):
        whole = self.lockstep(*RUN[1:])
        self.assertEqual(whole.returncode, 0, whole.stderr)
        epochs, _ = self.read_by_all()
        limit = 4_000_000  # the epochs fit, the buffer does not
        run = subprocess.run(RUN, cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=100,
                             check=False,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, r"^lockstep: o\.h5: cannot write: File too large - raise the limit.*\n$")
        self.assertEqual(self.read_by_all(), (epochs, False))
        self.assertFalse((self.folder / "o.h5.finishing").exists())

    def test_a_watcher_that_stays_attached(self):
        process = self.start()
        self.wait_for(self.is_finishing, process)
        with h5py.File(self.path, "r", libver="latest", swmr=True) as watched:
            _, errors = process.communicate(timeout=100)
            self.assertEqual((process.returncode, errors), (0, ""))
            epochs = len(watched["epochs/time"])
            self.assertGreater(watched["stats/sm/warp_instructions"][:epochs].sum(), 0)
        self.assertEqual(self.read_by_all(), (epochs, True))

    def test_an_output_behind_a_link(self):
        (self.folder / "store").mkdir()
        self.path.symlink_to("store/far.h5")
        self.assertEqual(self.lockstep(*RUN[1:]).returncode, 0)
        self.assertTrue(self.path.is_symlink())
        self.assertTrue(self.read_by_all()[1])
        self.assertEqual([path.name for path in (self.folder / "store").iterdir()], ["far.h5"])

    def test_a_folder_in_which_nothing_can_be_created(self):
        (self.folder / "o.h5.finishing").mkdir()
        run = self.lockstep(*RUN[1:])
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^lockstep: o\.h5: cannot create a file beside it: Is a directory - .*\n$")


if __name__ == "__main__":
    unittest.main()
