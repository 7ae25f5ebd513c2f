"""A disk that is full at any moment, of an epoch or a checkpoint: one line, and the older checkpoint goes on.

LOCKSTEP_DISKS: how many sizes.
"""
import os
import shutil
import subprocess
import unittest

from segments import SegmentsTest

DISKS = int(os.environ.get("LOCKSTEP_DISKS", "30"))


class FullDisks(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.four_tenants()
        self.run_whole()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        self.dice = self.random()

    def mount(self, kibibytes):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kibibytes}k", "none", self.disk],
                                 capture_output=True, check=False)
        if os.geteuid() != 0 or mounted.returncode != 0:
            self.skipTest("needs the right to mount a small file system")

    def resize(self, kibibytes):
        subprocess.run(["mount", "-o", f"remount,size={kibibytes}k", self.disk], check=True)

    def test_the_run_says_so_and_goes_on_when_there_is_room(self):
        self.mount(64)
        try:
            endings = [self.ending_with(self.dice.randrange(300, 12_000)) for _ in range(DISKS)]
        finally:
            subprocess.run(["umount", self.disk], check=True)
        self.assertIn("no room for the output", endings)
        self.assertIn("no room for a checkpoint", endings)

    def ending_with(self, kibibytes):
        with self.subTest(kibibytes=kibibytes):
            for left in self.disk.iterdir():
                left.unlink()
            self.resize(kibibytes)
            process = self.start("--checkpoint-every", "0.001s", output="disk/o.h5")
            status, _, lines = self.end(process)
            missed = [line for line in lines if "the run goes on without" in line]
            for line in lines:
                self.assertRegex(line, r"^lockstep: disk/o\.\S+: .*No space left on device", lines)
            if status == 0:
                self.assertEqual(missed, lines)
                self.same_result()
                return "no room for a checkpoint" if missed else "room"
            self.assertEqual((status, len(lines) - len(missed)), (1, 1), lines)
            if (self.disk / "o.ckpt").exists():
                self.resize(100_000)
                status, _, lines = self.end(self.start(output="disk/o.h5", resume="disk/o.ckpt"))
                self.assertEqual((status, lines), (0, []))
                self.same_result()
            return "no room for the output"

    def same_result(self):
        shutil.copy(self.disk / "o.h5", self.folder / "o.h5")
        same = self.lockstep("diff", "whole.h5", "o.h5")
        self.assertEqual(same.returncode, 0, same.stdout + same.stderr)


if __name__ == "__main__":
    unittest.main()
