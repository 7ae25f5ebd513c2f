"""kill -9 at random moments: the newest checkpoint, or the one before, goes on to the same file.

LOCKSTEP_KILLS: how many runs are killed, of a rank and of the whole job each; tests/soak takes more.
"""
import contextlib
import os
import signal
import time
import unittest

import h5py

from segments import SegmentsTest

KILLS = int(os.environ.get("LOCKSTEP_KILLS", "8"))


class Kills(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.four_tenants()
        self.printed, self.seconds = self.run_whole()
        self.dice = self.random()

    def epochs(self):
        """Of the output, which everybody can read after a kill."""
        with h5py.File(self.folder / "o.h5", "r") as file:
            return len(file["epochs/time"])

    def killed(self, seconds, **layout):
        """One segment with a checkpoint as often as the machine writes one; False if it was over before."""
        if layout.get("ranks"):  # mpirun waits for ever for one that dies before MPI knows it
            process = self.start_and_wait("--checkpoint-every", "0.001s", **layout)
        else:
            process = self.start("--checkpoint-every", "0.001s", resume=self.resumable(), **layout)
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.dice.choice(self.children(process)), signal.SIGKILL)
        status, _, _ = self.end(process)
        return status != 0

    def kill_until_over(self, kills, **layout):
        """Killed and resumed so often, then left to its end."""
        moments = []
        for _ in range(kills):
            moments.append(self.dice.uniform(0, 1.2 * self.seconds))
            before = self.resumable()
            if not self.killed(moments[-1], **layout):
                break
            if before and not self.resumable():
                break  # killed at its very end: nothing is lost only if the result is whole
            if self.resumable():
                self.epochs()
        else:
            self.finish(threads=self.dice.choice((1, 2)))
        with self.subTest(moments=moments, **layout):
            self.assert_same_result()

    def test_of_the_whole_run(self):
        for _ in range(KILLS // 4):
            self.kill_until_over(4, threads=self.dice.choice((1, 2)))

    def test_of_a_rank(self):
        for _ in range(KILLS // 4):
            self.kill_until_over(4, ranks=2)

    def test_while_it_is_resumed(self):
        """The first milliseconds after the start, again and again."""
        self.interrupt(0.5 * self.seconds)
        for _ in range(KILLS):
            process = self.start(resume=self.resumable())
            time.sleep(self.dice.uniform(0.01, 0.08))
            process.kill()
            process.wait(timeout=20)
        self.finish()
        self.assert_same_result()

    def with_two_checkpoints(self):
        """A run that has written two; where the disk is busy one may end before."""
        for _ in range(5):
            process = self.start("--checkpoint-every", "0.001s")
            while process.poll() is None:
                if (self.folder / "o.ckpt.previous").exists():
                    return process
                time.sleep(0.002)
        return self.fail("no run has written two checkpoints")

    def test_the_one_before_goes_on_as_well(self):
        process = self.with_two_checkpoints()
        process.kill()
        process.wait(timeout=20)
        cut = (self.folder / "o.ckpt").read_bytes()[:-1000]
        (self.folder / "o.ckpt").unlink()  # both names may be of one file, if it was killed between them
        (self.folder / "o.ckpt").write_bytes(cut)
        status, _, lines = self.end(self.start(resume="o.ckpt"))
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertIn("there is an older one: --resume o.ckpt.previous", lines[0])
        status, _, lines = self.end(self.start(resume="o.ckpt.previous"))
        self.assertEqual((status, lines), (0, []))
        self.assert_same_result()


if __name__ == "__main__":
    unittest.main()
