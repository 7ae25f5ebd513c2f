"""`lockstep watch` follows a run from its first epoch to its end, and leaves it alone."""
import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import termios
import time
import unittest

import h5py

from harness import LOCKSTEP, ROOT, ScenarioTest, environment

SCENARIO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"


class Watch(ScenarioTest):
    def start_run(self, *settings):
        """Some seconds, in many epochs."""
        self.scenario(ROOT / "configs/workloads/sgemm.yaml", "{n: 512}", "simulation: {epoch: 2us}")
        return self.start("run", "scenario.yaml", "--quiet", "--overwrite", "--output", "o.h5", *settings)

    def start(self, *arguments):
        process = subprocess.Popen([LOCKSTEP, *arguments], cwd=self.folder, env=environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        return process

    def wait_for_output(self):
        while not (self.folder / "o.h5").exists() or (self.folder / "o.h5").stat().st_size == 0:
            time.sleep(0.01)

    def test_a_run_that_is_done_is_shown_as_its_tables_have_it(self):
        run = self.lockstep("run", SCENARIO, "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        watch = self.lockstep("watch", "o.h5")
        self.assertEqual((watch.returncode, watch.stderr), (0, ""))
        self.assertIn("done; of the whole run:", watch.stdout)
        with h5py.File(self.folder / "o.h5") as file:
            for row in file["tenants"][:]:
                line = next(line for line in watch.stdout.splitlines() if line.startswith(row["tenant"].decode()))
                self.assertEqual(line.split()[1], f"{row['instructions_per_cycle']:.3f}")

    def test_it_follows_a_run_to_its_end(self):
        run = self.start_run()
        self.wait_for_output()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        watch = self.start("watch", "o.h5", "--every", "0.1s")
        output, errors = watch.communicate(timeout=120)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual((watch.returncode, errors), (0, ""))
        self.assertEqual(run.wait(timeout=60), 0, run.stderr.read())
        looks = [line for line in output.splitlines() if "us simulated" in line]
        self.assertGreater(len(looks), 2, output)
        self.assertIn("since the last look:", looks[0])
        self.assertIn("done; of the whole run:", looks[-1])
        simulated = [float(line.split("o.h5: ")[1].split()[0]) for line in looks]
        self.assertEqual(simulated, sorted(simulated))
        seconds = spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime
        self.assertLess(seconds, 5, "watching costs as much as running")

    def test_a_run_that_was_killed_is_told_of(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            with self.subTest(signal=number):
                (self.folder / "o.h5").unlink(missing_ok=True)
                run = self.start_run()
                self.wait_for_output()
                watch = self.start("watch", "o.h5", "--every", "0.05s")
                time.sleep(0.7)
                run.send_signal(number)
                output, errors = watch.communicate(timeout=60)
                self.assertEqual(watch.returncode, 1)
                self.assertRegex(errors, r"^lockstep: o.h5: its run has left it unfinished - [^\n]*--resume FILE`\n$")

    def watched_at_a_terminal(self, rows, columns, *arguments):
        """What `watch` writes to a terminal of this size."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        watch = subprocess.Popen([LOCKSTEP, "watch", *arguments], cwd=self.folder, env=environment(), stdout=theirs,
                                 stderr=subprocess.PIPE)
        self.addCleanup(watch.stderr.close)
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(watch.wait(60), 0, watch.stderr.read())
        return text.decode()

    def test_nothing_wraps_or_scrolls_in_a_small_window(self):
        """Each look is written over the one before, line by line: the screen is never cleared."""
        for rows, columns in ((24, 80), (24, 40), (4, 20), (3, 5), (2, 1)):
            with self.subTest(rows=rows, columns=columns):
                (self.folder / "o.h5").unlink(missing_ok=True)
                run = self.start_run()
                self.wait_for_output()
                text = self.watched_at_a_terminal(rows, columns, "o.h5", "--every", "0.1s")
                self.assertEqual(run.wait(timeout=60), 0)
                looks = re.split(r"\033\[(\d+)A\r", text)
                self.assertGreater(len(looks), 2)
                heights = []
                for look in looks[::2]:
                    self.assertTrue(look.endswith("\033[J"), repr(look))
                    lines = look.removesuffix("\033[J").replace("\r\n", "\n").splitlines()
                    heights.append(len(lines))
                    self.assertLess(len(lines), max(rows, 2))
                    for line in lines:
                        self.assertTrue(line.endswith("\033[K"), repr(line))
                        self.assertLess(len(line.removesuffix("\033[K")), columns)
                self.assertEqual([int(up) for up in looks[1::2]], heights[:-1])

    def test_control_characters_of_a_name_do_not_reach_the_terminal(self):
        run = self.lockstep("run", SCENARIO, "--quiet", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        name = "\033]0;x\007\033[31mred\u009b1m"
        with h5py.File(self.folder / "o.h5", "r+") as file:
            for place in ("tenants", "axes/tenants"):
                rows, attributes = file[place][...], dict(file[place].attrs)
                if rows.dtype.names:
                    kind = [(key, "S40" if key == "tenant" else rows.dtype[key]) for key in rows.dtype.names]
                    rows = rows.astype(kind)
                    rows["tenant"][0] = name.encode()
                else:
                    rows = rows.astype("S40")
                    rows[0] = name.encode()
                del file[place]
                file[place] = rows
                for key in attributes.keys() - {"CLASS", "NAME", "REFERENCE_LIST"}:
                    file[place].attrs[key] = attributes[key]
        self.lockstep("run", SCENARIO, "--quiet", "--output", "other.h5")
        other = next(row.decode() for row in h5py.File(self.folder / "o.h5")["axes/tenants"][1:])
        for command in (["watch", "o.h5"], ["diff", "o.h5", "other.h5"],
                        ["compare", "--shared", "o.h5", "--alone", f"{other}=o.h5"]):
            with self.subTest(command=command):
                run = self.lockstep(*command)
                for stream in (run.stdout, run.stderr):
                    self.assertNotRegex(stream, "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
        self.assertIn("\\x1b]0;x\\x07", self.lockstep("watch", "o.h5").stdout)

    def test_an_older_output_is_not_taken_for_the_run_that_begins(self):
        self.assertEqual(self.start_run("--set", "tenants.0.parameters.n=64").wait(60), 0)
        run = self.start_run()
        time.sleep(0.3)
        self.assertIsNone(run.poll())
        watch = self.lockstep("watch", "o.h5", "--every", "0.05s")
        self.assertEqual((watch.returncode, run.wait(60)), (0, 0), watch.stderr)
        with h5py.File(self.folder / "o.h5") as file:
            end = file["final/end"][()]
        last = [line for line in watch.stdout.splitlines() if "us simulated" in line][-1]
        self.assertIn(f"o.h5: {end / 1e9:.3f} us simulated", last)

    def test_a_start_that_fails_leaves_an_older_output_alone(self):
        self.assertEqual(self.start_run("--set", "tenants.0.parameters.n=64").wait(60), 0)
        before = (self.folder / "o.h5").read_bytes()
        for settings in (["--set", "gpu.memory.capacity=1KiB"], ["--resume", "o.ckpt"]):
            self.assertEqual(self.start_run(*settings).wait(60), 1)
            self.assertEqual((self.folder / "o.h5").read_bytes(), before)
        self.assertEqual(list(self.folder.glob("o.h5.*")), [])

    def test_mistakes_get_one_line(self):
        self.write("notes.h5", "text")
        with h5py.File(self.folder / "other.h5", "w") as file:
            file["data"] = 1
        for name, said in (("notes.h5", "cannot read"), ("none.h5", "none.h5"), ("other.h5", "is no output of a run")):
            for command in ("watch", "report"):
                with self.subTest(name=name, command=command):
                    run = self.lockstep(command, name)
                    self.assertEqual((run.returncode, run.stdout), (1, ""))
                    self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                    self.assertIn(said, run.stderr)
        self.assertEqual(self.lockstep("watch", "o.h5", "--every", "0s").returncode, 2)


if __name__ == "__main__":
    unittest.main()
