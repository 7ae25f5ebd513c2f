"""Checkpoints that were cut or have a bit flipped are refused in one line, or go on to the same file.

LOCKSTEP_DAMAGES: how many; tests/soak takes more.
"""
import os
import shutil
import unittest

from segments import WORKLOADS, SegmentsTest

DAMAGES = int(os.environ.get("LOCKSTEP_DAMAGES", "20"))


class DamagedCheckpoints(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.scenario(WORKLOADS / "vector_add.yaml", "{n: 16384}")
        self.run_whole()
        for _ in range(20):  # a run may be over before its first checkpoint
            stopped = self.start("--set", "simulation.stop_at=60us", "--checkpoint-every", "0.001s")
            self.assertEqual(self.end(stopped)[0], 4)
            if (self.folder / "o.ckpt").exists():
                break
        for name in ("o.h5", "o.ckpt"):
            shutil.copy(self.folder / name, self.folder / ("good-" + name))
        self.good = (self.folder / "o.ckpt").read_bytes()
        self.dice = self.random()

    def resumed(self, damaged):
        """The line that refused it, or none if the run ended as the whole one."""
        for left in self.folder.glob("o.*"):
            left.unlink()
        shutil.copy(self.folder / "good-o.h5", self.folder / "o.h5")
        (self.folder / "o.ckpt").write_bytes(damaged)
        status, _, lines = self.end(self.start(resume="o.ckpt"))
        if status == 0:
            self.assert_same_result()
            return None
        self.assertEqual((status, len(lines)), (1, 1), lines)
        self.assertTrue(lines[0].startswith("lockstep: o.ckpt: "), lines[0])
        self.assertTrue(lines[0].endswith(" - start the run anew"), lines[0])
        same = (self.folder / "o.h5").read_bytes() == (self.folder / "good-o.h5").read_bytes()
        self.assertTrue(same, "the output was touched")
        return lines[0]

    def test_a_good_one_goes_on(self):
        self.assertIsNone(self.resumed(self.good))

    def test_cut(self):
        for _ in range(DAMAGES // 5):
            length = self.dice.choice((0, 7, 100, len(self.good) - 1, self.dice.randrange(len(self.good))))
            with self.subTest(length=length):
                self.assertIsNotNone(self.resumed(self.good[:length]))

    def test_flipped_bits(self):
        refused = 0
        for _ in range(DAMAGES):
            at, bit = self.dice.randrange(len(self.good)), self.dice.randrange(8)
            damaged = bytearray(self.good)
            damaged[at] ^= 1 << bit
            with self.subTest(at=at, bit=bit):
                refused += self.resumed(bytes(damaged)) is not None
        self.assertGreater(refused, DAMAGES // 2)


if __name__ == "__main__":
    unittest.main()
