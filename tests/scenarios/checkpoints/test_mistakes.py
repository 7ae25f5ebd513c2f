"""What cannot be resumed is refused in one line; what cannot be written harms neither run nor older checkpoint."""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time
import unittest

import h5py

from harness import ROOT, epochs_in
from segments import SegmentsTest


class Mistakes(SegmentsTest):
    def setUp(self):
        super().setUp()
        self.four_tenants()

    def checkpoint(self):
        """One early in the run, and the output it goes with."""
        process = self.start_and_wait()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.end(process)[0], 75)

    def assert_refused(self, parts, *arguments, resume="o.ckpt", **more):
        status, _, lines = self.end(self.start(*arguments, resume=resume, **more))
        self.assertEqual((status, len(lines)), (1, 1), lines)
        for part in parts:
            self.assertIn(part, lines[0])

    def test_other_runs(self):
        self.checkpoint()
        before = (self.folder / "o.h5").read_bytes()
        other = "o.ckpt: is the checkpoint of another run: "
        self.assert_refused([other, "gpu.sm.count"], "--set", "gpu.sm.count=8")
        self.assert_refused([other, "it has off as --check, this one has on"], "--check")
        self.assert_refused([other, "it has true as simulation.record_faults"], "--set",
                            "simulation.record_faults=false")
        self.assert_refused([other, "tenants.1.workload.buffers.in.init"], "--set",
                            "tenants.1.workload.buffers.in.init.linear.step=2")
        talker = (self.folder / "talker.yaml").read_text()
        self.write("talker.yaml", talker.replace("delay: 150us", "delay: 151us"))
        self.assert_refused([other, "it has 150us as ", "this one has 151us"])
        self.write("talker.yaml", talker)
        with (self.folder / "k.ptx").open("a", encoding="utf-8") as module:
            module.write("// a comment\n")
        self.assert_refused([other, "it has bytes with the digest ", "as tenants.t3.module"], ranks=2)
        self.assertEqual((self.folder / "o.h5").read_bytes(), before)

    def test_no_checkpoint(self):
        self.checkpoint()
        self.assert_refused(["nothing.ckpt: cannot be read: No such file"], resume="nothing.ckpt")
        self.assert_refused(["o.h5: is no checkpoint of lockstep"], output="p.h5", resume="o.h5")
        self.assert_refused(["scenario.yaml: is damaged, or no checkpoint"], resume="scenario.yaml")
        self.assert_refused([".: cannot be read: it is a folder"], resume=".")
        with h5py.File(self.folder / "o.ckpt", "r+", libver="latest") as file:
            file.attrs.modify("format", 99)
        self.assert_refused(["o.ckpt: is a checkpoint of another format than 1"])

    def test_other_outputs(self):
        self.checkpoint()
        shutil.move(self.folder / "o.h5", self.folder / "kept.h5")
        shutil.copy(self.folder / "o.ckpt", self.folder / "kept.ckpt")
        self.assert_refused(["o.h5: is not there, and should hold what the run wrote before the checkpoint"])
        run = self.lockstep("run", ROOT / "configs/scenarios/two_tenants_tiny.yaml", "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_refused(["o.h5: is not the output of the run whose checkpoint is kept.ckpt"],
                            resume="kept.ckpt")

    def test_a_later_checkpoint_than_its_output(self):
        whole = self.start_and_wait("--checkpoint-every", "0.001s")
        while whole.poll() is None and epochs_in(self.folder / "o.h5") < 5:
            time.sleep(0.05)
        whole.send_signal(signal.SIGTERM)
        if self.end(whole)[0] == 0:
            self.skipTest("this computer is too fast")
        shutil.copy(self.folder / "o.ckpt", self.folder / "late.ckpt")
        short = self.start("--set", "simulation.stop_at=1us")
        self.assertEqual(self.end(short)[0], 4)
        self.assert_refused(["o.h5: has less than the ", " epochs that were recorded before the checkpoint"],
                            resume="late.ckpt")

    def test_what_is_no_checkpoint_is_not_replaced(self):
        self.write("o.ckpt", "precious")
        status, _, lines = self.end(self.start("--checkpoint-every", "1min"))
        self.assertEqual((status, len(lines)), (1, 1))
        self.assertIn("o.ckpt: is there and is no checkpoint of lockstep, which would replace it", lines[0])
        self.assertEqual(self.end(self.start())[0], 0)
        self.assertEqual((self.folder / "o.ckpt").read_text(), "precious")

    def test_an_interval_needs_a_unit(self):
        for wrong in ("30", "5parsecs", "-1s", "0s"):
            run = self.lockstep("run", "scenario.yaml", "--checkpoint-every", wrong)
            self.assertEqual((run.returncode, len(run.stderr.splitlines())), (2, 1), run.stderr)

    def test_a_file_size_limit(self):
        """Too small for a checkpoint, large enough for the output: the run goes on and says so."""
        self.run_whole()
        self.checkpoint()
        size = (self.folder / "o.ckpt").stat().st_size - 50_000
        self.assertGreater(size, 2 * (self.folder / "whole.h5").stat().st_size)
        process = self.start("--checkpoint-every", "0.05s", resume="o.ckpt",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        status, _, lines = self.end(process)
        self.assertEqual(status, 0, lines)
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, r"^lockstep: o\.ckpt: cannot write: .*File too large.*; the run goes on without")
        self.assert_same_result()

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3500k", "none", disk],
                                               capture_output=True, check=False).returncode != 0:
            self.skipTest("needs the right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        self.run_whole()
        self.checkpoint()
        older = (self.folder / "o.ckpt").read_bytes()
        for name in ("o.ckpt", "o.h5"):
            shutil.copy(self.folder / name, disk)
        (disk / "ballast").write_bytes(bytes(max(0, free(disk) - len(older) // 2)))
        process = self.start(output="disk/o.h5", resume="disk/o.ckpt")
        status, _, lines = self.end(process)
        full = status == 1 and len(lines) == 1 and "No space left on device" in lines[0]
        self.assertTrue(full or status == 0, (status, lines))
        if status == 1:
            self.assertEqual((disk / "o.ckpt").read_bytes(), older)
            (disk / "ballast").unlink()
            status, _, lines = self.end(self.start(output="disk/o.h5", resume="disk/o.ckpt"))
            self.assertEqual((status, lines), (0, []))
        shutil.move(disk / "o.h5", self.folder / "o.h5")
        (self.folder / "o.ckpt").unlink()
        self.assert_same_result()


def free(folder: pathlib.Path):
    """Bytes."""
    return os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize


if __name__ == "__main__":
    unittest.main()
