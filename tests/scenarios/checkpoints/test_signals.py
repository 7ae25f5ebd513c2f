"""Signals: SIGTERM and SIGINT leave a checkpoint and end the run, SIGUSR1 leaves one and lets it go on."""
import contextlib
import os
import signal
import time
import unittest

import h5py
from segments import SegmentsTest

ENDED = "lockstep: ended by {} - go on with --resume o.ckpt"


class Signals(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.four_tenants()
        self.printed, self.seconds = self.run_whole()

    def test_sigint_is_like_sigterm(self):
        process = self.start_and_wait()
        process.send_signal(signal.SIGINT)
        status, first, lines = self.end(process)
        self.assertEqual((status, lines), (130, [ENDED.format("SIGINT")]))
        self.assertTrue(first + self.finish() == self.printed)
        self.assert_same_result()

    def test_the_tables_of_what_has_been_are_left(self):
        """On any layout; the run goes on as if they were not there."""
        for layout in ({}, {"threads": 2}, {"ranks": 3}):
            with self.subTest(layout=layout):
                self.interrupt_with_work_done(layout)
                with h5py.File(self.folder / "o.h5") as file:
                    self.assert_tables_of_what_has_been(file)
                    self.assertTrue((file["faults"]["found"][:] <= file["epochs/time"][-1]).all())
                self.finish()
                self.assert_same_result()

    def interrupt_with_work_done(self, layout):
        """A busy machine may have done nothing when the signal comes: then the run goes on for as long again. A machine
        with free cores may have ended the run: then it begins anew, and the signal comes sooner."""
        for share in (0.5, 0.25, 0.12, 0.06, 0.03):
            (self.folder / "o.h5").unlink(missing_ok=True)
            over = False
            while not over:
                _, over = self.interrupt(share * self.seconds, **layout)
                if not over and self.instructions().any():
                    return
        self.fail("no signal came while it ran")

    def instructions(self):
        """Of each epoch, SM, and tenant in the output."""
        with h5py.File(self.folder / "o.h5") as file:
            return file["stats/sm/warp_instructions"][:]

    def test_the_epoch_under_way_is_left_up_to_the_moment_of_the_signal(self):
        self.long_run(epoch="1s")
        while not self.resumable() or not self.instructions().any():
            self.assertFalse(self.interrupt(0.5)[1], "it ended too early")
        with h5py.File(self.folder / "o.h5") as file:
            self.assert_tables_of_what_has_been(file)
            self.assertEqual(len(file["epochs/time"]), 1)
            self.assertLess(file["epochs/time"][0], 10**15)  # fs

    def assert_tables_of_what_has_been(self, file):
        self.assertEqual(file["run"].attrs["ended_by"], b"SIGTERM")
        self.assertNotIn("final/end", file)
        instructions = file["stats/sm/warp_instructions"][:]
        self.assertGreater(instructions.sum(), 0)
        self.assertTrue((instructions.sum(axis=0) == file["final/stats/sm/warp_instructions"][:]).all())
        self.assertEqual(instructions.sum(), file["tenants"]["warp_instructions"].sum())
        self.assertTrue((file["kernels"]["enqueued"][:] <= file["epochs/time"][-1]).all())

    def test_sigterm_twice_is_like_once(self):
        process = self.start_and_wait()
        for _ in range(20):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.001)  # those that come before it is heard count as one
        status, first, lines = self.end(process)
        self.assertEqual((status, lines), (75, [ENDED.format("SIGTERM")]))
        self.assertTrue(first + self.finish() == self.printed)
        self.assert_same_result()

    def test_sigterm_while_it_starts(self):
        """Before main() it kills; afterwards there is a checkpoint of what has not begun."""
        statuses = []
        for delay in (0.005, 0.01, 0.015, 0.02, 0.03, 0.05):
            process = self.start(resume=self.resumable())
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            status, _, lines = self.end(process)
            statuses.append(status)
            self.assertEqual(lines, [ENDED.format("SIGTERM")] if status == 75 else [])
            self.assertIn(status, (75, -signal.SIGTERM))
        self.finish()
        self.assert_same_result()

    def test_a_signal_that_was_held_back_at_the_start_is_heard(self):
        """As `sweep` starts its runs: none is too early."""
        mine = [signal.SIGTERM, signal.SIGUSR1]
        for _ in range(5):
            process = self.start(resume=self.resumable(),
                                 preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, mine))
            process.send_signal(signal.SIGUSR1)
            process.send_signal(signal.SIGTERM)
            status, _, lines = self.end(process)
            self.assertEqual((status, lines), (75, [ENDED.format("SIGTERM")]))
        self.finish()
        self.assert_same_result()

    def test_sigusr1_while_it_starts(self):
        """Before the program's first instruction it kills, which a busy machine puts off; afterwards never."""
        ended = []
        for delay in (0.002, 0.004, 0.006, 0.008, 0.01, 0.012, 0.016, 0.03, 0.1, 0.3):
            process = self.start()
            time.sleep(delay)
            process.send_signal(signal.SIGUSR1)
            status = self.end(process)[0]
            self.assertIn(status, (0, -signal.SIGUSR1))
            ended.append(status)
        self.assertEqual(ended[-2:], [0, 0])
        self.assert_same_result()

    def test_a_second_sigterm_to_a_rank_is_like_one(self):
        """Also where METIS has cut the machine for the ranks, which replaces the handler of SIGTERM."""
        for gap in (0.001, 0.02):
            process = self.start_and_wait(ranks=2)
            rank = self.children(process)[-1]
            for _ in range(3):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGTERM)
                time.sleep(gap)
            status, _, lines = self.end(process)
            self.assertEqual((status, lines), (75, [ENDED.format("SIGTERM")]))
        self.finish()
        self.assert_same_result()

    def test_sigterm_while_others_wait_in_an_exchange(self):
        """To each rank in turn; mpirun hands on the status."""
        for victim in (0, 2):
            process = self.start_and_wait(ranks=3)
            os.kill(self.children(process)[victim], signal.SIGTERM)
            status, _, lines = self.end(process)
            self.assertEqual((status, lines), (75, [ENDED.format("SIGTERM")]))
        self.finish()
        self.assert_same_result()

    def test_sigterm_to_mpirun(self):
        """It lets its ranks end, passes nothing on any more, and returns 1: scripts look for the checkpoint as well.

        Open MPI waits for its patience before it passes the signal on, too: the run takes longer than that."""
        self.long_run(n=2048)
        process = self.start_and_wait(ranks=2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(process)[0], 1)
        self.assertTrue(self.resumable())
        process = self.start_and_wait()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(process)[0::2], (75, [ENDED.format("SIGTERM")]))

    def test_sigusr1_ten_times_a_second(self):
        process = self.start_and_wait(threads=2)
        written = set()
        while process.poll() is None:
            process.send_signal(signal.SIGUSR1)
            time.sleep(0.1)
            if self.resumable():
                written.add((self.folder / "o.ckpt").stat().st_ino)
        status, output, lines = self.end(process)
        self.assertEqual((status, lines), (0, []))
        self.assertTrue(output == self.printed)
        self.assertGreater(len(written), 0)
        self.assert_same_result()

    def test_sigusr1_to_mpirun_reaches_all_ranks(self):
        process = self.start_and_wait(ranks=2)
        process.send_signal(signal.SIGUSR1)
        status, output, lines = self.end(process)
        self.assertEqual((status, lines), (0, []))
        self.assertTrue(output == self.printed)
        self.assert_same_result()

    def test_compare_takes_no_checkpoint(self):
        run = self.lockstep("compare", "scenario.yaml", "--resume", "o.ckpt")
        self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)
        self.assertIn("--resume", run.stderr)


if __name__ == "__main__":
    unittest.main()
