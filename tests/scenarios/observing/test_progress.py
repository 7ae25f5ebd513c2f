"""The live line: what it says, that it fits the terminal, and when it has colour."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from harness import LOCKSTEP, TIME_LIMIT, ScenarioTest, environment

BOLD = "\033[1m"


class Progress(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", "gpu: tiny\nhost: pcie3\ntenants:\n"
                             "  - {name: long, workload: sgemm, parameters: {n: 320}}\n")

    def shown(self, columns, *arguments, **variables):
        """Standard error of a run at a terminal of this width."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        env = {key: value for key, value in environment().items() if key != "NO_COLOR"} | {"TERM": "xterm"} | variables
        run = subprocess.Popen([LOCKSTEP, "run", "s.yaml", "--output", "o.h5", "--overwrite", *arguments],
                               cwd=self.folder, env=env,
                               stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(run.wait(TIME_LIMIT), 0)
        return text.decode()

    @staticmethod
    def lines(text):
        """What stood in the line, one after the other, without colour."""
        return [re.sub(r"\033\[[0-9;]*m", "", line).rstrip("\r\n") for line in text.split("\r\033[K")[1:]]

    def test_it_says_how_far_the_run_is_and_how_long_it_takes(self):
        lines = self.lines(self.shown(200, "--set", "tenants.0.parameters.n=512"))
        self.assertGreater(len(lines), 1)
        self.assertRegex(lines[-1], r"^[\d.]+ us simulated, \d+% of 1024 blocks, (about \d+ s left, )?"
                                    r"[\d.]+ M warp instructions/s, after \d+ s$")
        shares = [int(re.search(r"(\d+)% of", line)[1]) for line in lines]
        self.assertEqual(shares, sorted(shares))
        self.assertTrue(any("left" in line for line in lines), lines)

    def test_it_fits_the_terminal(self):
        for columns in (60, 12):
            lines = self.lines(self.shown(columns))
            self.assertTrue(lines)
            for line in lines:
                self.assertLess(len(line), columns)
                self.assertRegex(line, r"^[\d.]+ us")

    def test_what_cannot_be_known_before_is_not_foretold(self):
        """With a time to stop at, blocks may be left."""
        for line in self.lines(self.shown(200, "--set", "simulation.stop_at=1s")):
            self.assertRegex(line, r"^[\d.]+ us simulated, \d+ blocks done, [\d.]+ M warp")

    def test_colour_is_for_terminals_and_who_wants_it(self):
        self.assertIn(BOLD, self.shown(80))
        self.assertNotIn(BOLD, self.shown(80, NO_COLOR="1"))
        self.assertNotIn("\033", self.lockstep("run", "none.yaml").stderr)


if __name__ == "__main__":
    unittest.main()
