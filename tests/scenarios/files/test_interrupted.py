"""Runs that are cut off: by a full disk, a folder that goes, a rank that dies.  (By signals: ../checkpoints.)"""
import contextlib
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from harness import LOCKSTEP, MPIRUN, ROOT, ScenarioTest, environment, epochs_in

WORKLOADS = ROOT / "configs/workloads"


class Interrupted(ScenarioTest):
    """Runs that end in the middle leave a file that can be read to its last epoch."""

    def long_run(self):
        self.scenario(WORKLOADS / "sgemm.yaml", "{n: 1024}", "simulation: {epoch: 500ns}")
        return [LOCKSTEP, "run", "scenario.yaml", "--quiet", "--output", "o.h5"]

    def assert_readable(self, path):
        """By this program, h5py and h5dump, without a word about SWMR or repair."""
        read = self.lockstep("diff", path, path)
        self.assertEqual(read.returncode, 0, read.stderr + read.stdout)
        with h5py.File(self.folder / path, "r") as file:
            self.assertGreater(len(file["epochs/time"]), 0)
        dump = subprocess.run(["h5dump", self.folder / path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              check=False)
        self.assertEqual((dump.returncode, dump.stderr), (0, b""))

    def test_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(
                ["mount", "-t", "tmpfs", "-o", "size=200k", "none", disk],
                capture_output=True, check=False).returncode != 0:
            self.skipTest("needs the right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.long_run()
        run = self.lockstep("run", "scenario.yaml", "--quiet", "--output", "disk/o.h5")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, r"^lockstep: disk/o\.h5: .*No space left on device")

    def test_file_size_limit(self):
        """What was written of epochs is readable; a file that was still being created is not left."""
        command = self.long_run()
        for limit, remains in ((60_000, False), (600_000, True)):
            with self.subTest(limit=limit):
                run = subprocess.run(
                    command, cwd=self.folder, env=environment(), capture_output=True, text=True,
                    timeout=100, check=False,
                    preexec_fn=lambda size=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
                self.assertEqual(run.returncode, 1, run.stderr)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertRegex(run.stderr, r"^lockstep: o\.h5: .*File too large")
                self.assertEqual((self.folder / "o.h5").exists(), remains)
        self.assert_readable("o.h5")

    def start(self, command):
        process = subprocess.Popen(command, cwd=self.folder, env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def wait_for_epochs(self, process):
        deadline = time.monotonic() + 60
        path = self.folder / "o.h5"
        while not path.exists() or path.stat().st_blocks * 512 < 200_000 or epochs_in(path) == 0:
            self.assertIsNone(process.poll(), "it ended too early")
            self.assertLess(time.monotonic(), deadline, "it wrote nothing")
            time.sleep(0.05)

    def test_a_folder_that_is_removed_under_way(self):
        command = self.long_run()
        (self.folder / "results").mkdir()
        process = self.start([*command[:-1], "results/o.h5"])
        deadline = time.monotonic() + 60
        output = self.folder / "results/o.h5"
        while (not output.exists() or output.stat().st_size == 0) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        shutil.rmtree(self.folder / "results")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(errors, "lockstep: results/o.h5: was removed during the run, or its folder - run again and "
                                 "leave the output in its place\n")

    @staticmethod
    def ranks_of(mpirun):
        """Process ids of the program below mpirun."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, rest = entry.read_text().split("(", 1)[1].rsplit(")", 1)
                if int(rest.split()[1]) == mpirun and name == "lockstep":
                    found.append(int(entry.parent.name))
        return sorted(found)

    def test_a_second_run_to_the_same_file(self):
        first = self.start(self.long_run())
        self.wait_for_epochs(first)
        second = self.lockstep("run", "scenario.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(second.returncode, 1)
        self.assertRegex(second.stderr, r"^lockstep: o\.h5: is being written by another run")
        first.kill()
        first.wait(timeout=20)
        self.assert_readable("o.h5")

    def test_a_result_that_another_program_reads_is_left_alone(self):
        self.scenario(WORKLOADS / "vector_add.yaml", "{n: 256}")
        command = ["run", "scenario.yaml", "--quiet", "--output", "o.h5"]
        self.assertEqual(self.lockstep(*command).returncode, 0)
        before = (self.folder / "o.h5").read_bytes()
        with h5py.File(self.folder / "o.h5"):
            run = self.lockstep(*command)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "lockstep: o.h5: is open in another program - close it there "
                                     "or choose another --output\n")
        self.assertEqual((self.folder / "o.h5").read_bytes(), before)
        self.assertEqual(self.lockstep(*command).returncode, 0)

    def test_a_killed_process(self):
        process = self.start(self.long_run())
        self.wait_for_epochs(process)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        self.assert_readable("o.h5")

    def test_a_killed_rank(self):
        for victim in (0, 1):
            with self.subTest(rank=victim):
                (self.folder / "o.h5").unlink(missing_ok=True)
                process = self.start([MPIRUN, "-n", "3", "--oversubscribe", "--bind-to", "none",
                                      *self.long_run()])
                self.wait_for_epochs(process)
                ranks = self.ranks_of(process.pid)
                self.assertEqual(len(ranks), 3)
                os.kill(ranks[victim], signal.SIGKILL)
                self.assertNotEqual(process.wait(timeout=60), 0)
                self.assertEqual(self.ranks_of(process.pid), [])
                self.assert_readable("o.h5")


if __name__ == "__main__":
    unittest.main()
