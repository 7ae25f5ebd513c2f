"""Checkpoints of others, made to do harm: numbers within a part changed, and its checksum made to fit.

Which numbers are lengths is not known here, so any number that may be one is changed.  A length that no file can have
is refused (tests/unit/core/checkpoint tells each kind of list); another number, such as a place in a list or a time,
is believed, and the run may end in any way, or be ended here.  What must never be: memory for what is not there."""
import os
import random
import resource
import shutil
import struct
import subprocess
import unittest

import h5py
import numpy

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

CHUNK = 1 << 20
MASK = (1 << 64) - 1
ODD = 0x9e3779b97f4a7c15
TRIES = int(os.environ.get("LOCKSTEP_CRAFTED", "40"))
SECONDS = 20
MOST_BYTES = 600 << 20


def rotated(values, by):
    by = numpy.uint64(by)
    return (values << by) | (values >> (numpy.uint64(64) - by))


def checksum(data):
    """As core/checkpoint/checksum.cpp has it."""
    padded = data + bytes(-len(data) % 32)
    sums = numpy.array([len(data), 1, 2, 3], dtype=numpy.uint64)
    for row in numpy.frombuffer(padded, dtype="<u8").reshape(-1, 4):
        sums = rotated((sums ^ row) * numpy.uint64(ODD), 29)
    result = 0
    for value in sums:
        result = (result ^ int(value)) * ODD & MASK
        result = (result << 29 | result >> 35) & MASK
    return result


class CraftedCheckpoints(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 512}", "simulation: {epoch: 200ns}")
        self.run_command = ["run", "scenario.yaml", "--quiet", "--output", "o.h5"]
        while not (self.folder / "o.ckpt").exists():  # a fast run may end before its first one
            run = self.lockstep(*self.run_command, "--set", "simulation.stop_at=10us", "--checkpoint-every", "0.001s")
            self.assertEqual(run.returncode, 4, run.stderr)
        for name in ("o.h5", "o.ckpt"):
            shutil.copy(self.folder / name, self.folder / f"good.{name}")

    def parts(self):
        """Names and bytes of those that are short enough to be summed here."""
        found = {}
        with h5py.File(self.folder / "good.o.ckpt") as file:
            file["parts"].visititems(lambda name, thing: found.update({name: thing[...].tobytes()})
                                     if isinstance(thing, h5py.Dataset) and 16 < thing.size < 200_000 else None)
            for name in ("run", "components/host"):
                if name in found:
                    self.assertEqual(checksum(found[name]), file["checksums"][name][0])
        return found

    def resume(self, part, data):
        for name in ("o.h5", "o.ckpt"):
            shutil.copy(self.folder / f"good.{name}", self.folder / name)
        with h5py.File(self.folder / "o.ckpt", "r+") as file:
            del file["parts"][part]
            file["parts"].create_dataset(part, data=numpy.frombuffer(data, dtype="u1"))
            file["checksums"][part][0] = checksum(data)
        try:
            return subprocess.run([LOCKSTEP, *self.run_command, "--resume", "o.ckpt"], cwd=self.folder,
                                  env=environment(), capture_output=True, text=True, timeout=SECONDS,
                                  check=False).stderr
        except subprocess.TimeoutExpired:
            return ""

    def test_long_lengths(self):
        """A number that may be a length becomes one that no file has: it takes no memory."""
        dice = random.Random(int(os.environ.get("LOCKSTEP_SEED", "1")))
        parts = self.parts()
        self.assertGreater(len(parts), 5)
        for number in range(TRIES):
            part = dice.choice(sorted(parts))
            data = parts[part]
            places = [at for at in range(len(data) - 8) if 0 < struct.unpack_from("<Q", data, at)[0] <= len(data)]
            if not places:
                continue
            at, value = dice.choice(places), dice.choice([1 << 24, 1 << 31, 1 << 33, 1 << 40, MASK])
            with self.subTest(number=number, part=part, at=at, value=value):
                said = self.resume(part, data[:at] + struct.pack("<Q", value) + data[at + 8:])
                self.assertNotIn("_M_", said)
                self.assertNotIn("out of memory", said)
                self.assertNotIn("bad_alloc", said)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(most, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
