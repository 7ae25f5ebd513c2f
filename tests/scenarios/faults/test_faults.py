"""Calls of files and of MPI that fail, write less than asked, wait or never return, one at a time: whoever fails says
so in one line, nothing that was safe is lost, and nobody hangs.

LOCKSTEP_FAULTS: how many calls of each kind are chosen, or `all`; tests/soak takes more.
"""
import contextlib
import os
import shutil
import signal
import time
import unittest

import h5py

from harness import ROOT, todays
from segments import SegmentsTest

LIBRARY = os.environ["LOCKSTEP_FAULTS_LIBRARY"]
CHOSEN = os.environ.get("LOCKSTEP_FAULTS", "1")
FILE_FAULTS = [("write", "fail"), ("write", "short"), ("write", "delay"), ("sync", "fail"), ("sync", "delay"),
               ("rename", "fail"), ("rename", "delay"), ("open", "fail"), ("open", "delay"), ("close", "fail"),
               ("close", "delay"), ("truncate", "fail"), ("truncate", "delay"), ("read", "fail"), ("read", "short"),
               ("read", "delay"), ("remove", "fail"), ("remove", "delay")]
GOES_ON = "the run goes on without this checkpoint"


class Faults(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 4096}", "simulation: {epoch: 2us}")
        self.run_whole()
        self.dice = self.random()

    def environment_of(self, fault):
        return {"LD_PRELOAD": LIBRARY, "LOCKSTEP_FAULT_FOLDER": str(self.folder), "LOCKSTEP_FAULT": fault,
                "LOCKSTEP_FAULT_COUNT": str(self.folder / "counts")}

    def faulty(self, fault, *arguments, **layout):
        """A run of which one call goes wrong: its status and its own lines."""
        process = self.start(*arguments, "--checkpoint-every", "0.01s", of_program=self.environment_of(fault), **layout)
        status, _, lines = self.end(process)
        return status, lines

    def calls(self, **layout):
        """Which calls of each kind are chosen: some at random, and the last one."""
        (self.folder / "counts").unlink(missing_ok=True)
        self.assertEqual(self.faulty("", **layout)[0], 0)
        counts = {}
        for line in (self.folder / "counts").read_text().splitlines():  # of each rank
            kind, count = line.split()
            counts[kind] = max(counts.get(kind, 0), int(count))
        return {kind: self.some(count) for kind, count in counts.items()}

    def some(self, count):
        if CHOSEN == "all" or count <= int(CHOSEN):
            return range(1, count + 1)
        return sorted({count, *self.dice.sample(range(1, count + 1), int(CHOSEN))})

    def assert_readable(self):
        """The epochs of the output are the first ones of the whole run."""
        output = self.folder / "o.h5"
        if not output.exists() or output.stat().st_size == 0:
            return  # it was being created
        with h5py.File(self.folder / "whole.h5") as whole, h5py.File(output, "r") as file:
            if "stats/sm/warp_instructions" not in file:
                return
            found, expected = (f["stats/sm/warp_instructions"] for f in (file, whole))
            epochs = len(file["epochs/time"])
            self.assertTrue((found[:epochs] == expected[:epochs]).all())

    def assert_advised_once(self, lines):
        self.assertEqual(len([line for line in lines if GOES_ON not in line]), 1, lines)
        for line in lines:
            self.assertIn(" - ", line)

    def test_a_run_that_begins(self):
        calls = self.calls()
        for kind, what in FILE_FAULTS:
            for call in todays(calls[kind]):
                with self.subTest(fault=f"{kind}:{call}:{what}"):
                    self.clear()
                    status, lines = self.faulty(f"{kind}:{call}:{what}")
                    self.assert_in_order(status, lines, what)

    def test_a_run_that_goes_on(self):
        """What it went on from is still there, and leads to the same end."""
        self.leave_a_checkpoint()
        self.restore()
        calls = self.calls(resume="o.ckpt")
        for kind, what in FILE_FAULTS:
            for call in todays(calls[kind]):
                with self.subTest(fault=f"{kind}:{call}:{what}"):
                    self.restore()
                    status, lines = self.faulty(f"{kind}:{call}:{what}", resume="o.ckpt")
                    self.assert_in_order(status, lines, what)
                    if status != 0:
                        self.assert_goes_on()

    def test_calls_of_mpi(self):
        chosen = self.calls(ranks=2)["mpi"]
        for what in ("fail", "die", "delay"):
            for call in todays(chosen):
                with self.subTest(fault=f"mpi:{call}:{what}"):
                    self.clear()
                    status, lines = self.faulty(f"mpi:{call}:{what}", ranks=2)
                    self.assertLessEqual(len(lines), 2, "each rank may say so")
                    self.assert_readable()
                    if what == "delay" or status == 0:
                        self.assertEqual((status, lines), (0, []))
                        self.assert_same_result()

    def test_sigterm_while_libraries_are_taken_down(self):
        """The run is over by then."""
        self.assertEqual(self.faulty("exit:1:signal"), (0, []))
        self.assert_same_result()

    def test_a_second_sigint_ends_at_once(self):
        """It comes while the checkpoint of the first one waits for the disk."""
        self.long_run()
        for _ in range(10):
            self.clear()
            process = self.start_and_wait(of_program=self.environment_of("sync:1:delay"))
            self.wait_for_epochs()
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                time.sleep(0.02)
            status = self.end(process)[0]
            if status == -signal.SIGINT:
                break
            self.assertEqual(status, 130, "a process that does not run hears of two as of one")
        self.assertEqual(status, -signal.SIGINT)
        with h5py.File(self.folder / "o.h5", "r") as file:
            self.assertGreater(len(file["epochs/time"]), 0)

    def wait_for_epochs(self):
        for _ in range(3000):
            time.sleep(0.02)
            with contextlib.suppress(OSError), h5py.File(self.folder / "o.h5", "r", swmr=True) as file:
                if len(file["epochs/time"]) > 0:
                    return
        self.fail("it wrote nothing")

    def clear(self):
        for left in self.folder.glob("o.*"):
            left.unlink()

    def leave_a_checkpoint(self):
        for _ in range(100):  # a run may be over before the signal comes
            self.clear()
            process = self.start_and_wait()
            process.send_signal(signal.SIGTERM)
            if self.end(process)[0] == 75:
                break
        for name in ("o.h5", "o.ckpt"):
            shutil.move(self.folder / name, self.folder / ("good-" + name))

    def restore(self):
        self.clear()
        for name in ("o.h5", "o.ckpt"):
            shutil.copy(self.folder / ("good-" + name), self.folder / name)

    def assert_in_order(self, status, lines, what):
        self.assertIn(status, (0, 1), lines)
        self.assert_readable()
        if status == 0:
            self.assertTrue(all(GOES_ON in line for line in lines), lines)
            self.assertTrue(lines == [] or what == "fail")
            self.assert_whole()
        else:
            self.assertEqual(what, "fail", lines)
            self.assert_advised_once(lines)

    def assert_goes_on(self):
        for checkpoint in ("o.ckpt", "o.ckpt.previous"):
            status, _, lines = self.end(self.start(resume=checkpoint))
            if status == 0:
                break
        self.assertEqual((status, lines), (0, []))
        self.assert_whole()

    def assert_whole(self):
        """A checkpoint that could not be looked at may be left."""
        same = self.lockstep("diff", "whole.h5", "o.h5")
        self.assertEqual(same.returncode, 0, same.stdout)


if __name__ == "__main__":
    unittest.main()
