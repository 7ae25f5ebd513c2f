"""A run that is interrupted again and again, at random moments and resumed in random layouts, ends in the same file.

LOCKSTEP_CHAINS: how many runs are interrupted; tests/soak takes more.
"""
import os
import subprocess
import unittest

import h5py

from harness import ROOT, todays
from segments import LAYOUTS, SegmentsTest

CHAINS = int(os.environ.get("LOCKSTEP_CHAINS", "2"))
SHIPPED = sorted(path.stem for path in (ROOT / "configs/workloads").glob("*.yaml"))


class Resume(SegmentsTest):
    def test_three_times_in_a_row_in_any_layout(self):
        self.four_tenants()
        printed, seconds = self.run_whole()
        dice = self.random()
        for chain in range(CHAINS):
            output, log = "", []
            for _ in range(3):
                (ranks, threads), delay = dice.choice(LAYOUTS), dice.uniform(0.05, 0.5 * seconds)
                log.append((ranks, threads, delay))
                part, over = self.interrupt(delay, ranks=ranks, threads=threads)
                output += part
                if over:
                    break
            else:
                ranks, threads = dice.choice(LAYOUTS)
                output += self.finish(ranks=ranks, threads=threads)
            with self.subTest(chain=chain, log=log):
                self.assertTrue(output == printed, "the segments print what the whole run does, each line once")
                self.assert_same_result()

    def test_the_file_is_the_same_to_the_byte(self):
        self.four_tenants()
        _, seconds = self.run_whole()
        self.interrupt(0.4 * seconds)
        self.finish(threads=2)
        packed = []
        for name in ("whole.h5", "o.h5"):
            with h5py.File(self.folder / name, "r+") as file:
                del file["run"]
            subprocess.run(["h5repack", name, "packed.h5"], cwd=self.folder, check=True)
            packed.append((self.folder / "packed.h5").read_bytes())
        self.assertEqual(len(packed[0]), len(packed[1]))
        self.assertTrue(packed[0] == packed[1])

    def test_the_run_adds_up_its_segments(self):
        self.four_tenants()
        _, seconds = self.run_whole()
        interrupted, over = 0, False
        while not over and interrupted < 2:
            over = self.interrupt(0.3 * seconds)[1]
            interrupted += not over
        if not over:
            self.finish()
        with h5py.File(self.folder / "o.h5") as file, h5py.File(self.folder / "whole.h5") as whole:
            self.assertEqual(file["run"].attrs["segments"], interrupted + 1)
            self.assertEqual(whole["run"].attrs["segments"], 1)
            self.assertGreaterEqual(file["run"].attrs["windows"], whole["run"].attrs["windows"])
            for name in ("warp_instructions", "scenario_digest"):
                self.assertEqual(file["run"].attrs[name], whole["run"].attrs[name])

    def test_shipped_workloads(self):
        dice = self.random()
        for workload in todays(SHIPPED, 10):
            with self.subTest(workload=workload):
                for left in self.folder.glob("o.*"):  # by another that failed
                    left.unlink()
                self.scenario(ROOT / f"configs/workloads/{workload}.yaml")
                _, seconds = self.run_whole()
                for _ in range(2):
                    if self.interrupt(dice.uniform(0.02, seconds), threads=dice.choice((1, 2)))[1]:
                        break
                else:
                    self.finish(threads=dice.choice((1, 2)))
                self.assert_same_result()

    def test_another_time_to_stop(self):
        """A later one, or an earlier one that lies behind the checkpoint."""
        self.four_tenants()
        whole = self.lockstep("run", "scenario.yaml", "--quiet", "--output", "whole.h5", "--set",
                              "simulation.stop_at=1325us")
        self.assertEqual(whole.returncode, 4, whole.stderr)
        stopped = self.start("--set", "simulation.stop_at=620us", "--checkpoint-every", "0.02s")
        self.assertEqual(self.end(stopped)[0], 4)
        self.assertTrue(self.resumable(), "it could go on")
        longer = self.start("--set", "simulation.stop_at=1325us", resume="o.ckpt")
        self.assertEqual(self.end(longer)[0], 4)
        same = self.lockstep("diff", "whole.h5", "o.h5")
        self.assertEqual(same.returncode, 0, same.stdout)
        before = self.start("--set", "simulation.stop_at=1ns", resume="o.ckpt")
        status, _, lines = self.end(before)
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertIn("choose a later simulation.stop_at", lines[0])


if __name__ == "__main__":
    unittest.main()
