"""`lockstep watch` follows a run from its first epoch to its end, and leaves it alone."""
import resource
import signal
import subprocess
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
