"""A run that fails while it starts leaves no file behind, and says what helps."""
import resource
import subprocess
import unittest

from harness import LOCKSTEP, ROOT, ScenarioTest, environment


class FailedStarts(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 1024}")

    def run_with(self, kind, limit, *command):
        return subprocess.run(
            [LOCKSTEP, *command], cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60,
            check=False, preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)))

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_without_descriptors(self):
        """Whichever file it is that cannot be opened any more."""
        before, refused = self.files(), 0
        for limit in range(4, 40):
            run = self.run_with(resource.RLIMIT_NOFILE, limit, "run", "scenario.yaml", "--quiet", "--output", "n.h5")
            if run.returncode == 0:
                break
            if "Too many open files" in run.stderr and run.stderr.startswith("lockstep: n.h5"):
                refused += 1
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
                self.assertIn("Too many open files - raise the limit of open files (ulimit -n)", run.stderr)
            self.assertEqual(self.files(), before, f"with {limit} descriptors: {run.stderr}")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(refused, 0)

    def test_before_the_first_byte(self):
        before = self.files()
        for limit in (0, 100, 2000, 20000):
            run = self.run_with(resource.RLIMIT_FSIZE, limit, "run", "scenario.yaml", "--quiet", "--output", "n.h5")
            self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)
            self.assertIn("File too large - raise the limit of a file's size (ulimit -f)", run.stderr)
            self.assertEqual(self.files(), before)

    def test_an_empty_file_is_told_from_a_damaged_one(self):
        self.write("n.h5", "")
        for command in (["diff", "n.h5", "n.h5"], ["watch", "n.h5"], ["report", "n.h5"]):
            run = self.lockstep(*command)
            self.assertEqual(run.returncode, 1)
            self.assertIn("n.h5: cannot read: it is empty; its run has just begun, or was ended", run.stderr)

    def test_calibrate_runs_no_script_of_the_current_folder(self):
        (self.folder / "tests/validation").mkdir(parents=True)
        script = self.write("tests/validation/calibrate.py", "#!/bin/sh\necho run by mistake\n")
        script.chmod(0o755)
        run = self.lockstep("calibrate", "gpu.yaml", "measured.yaml")
        self.assertNotIn("run by mistake", run.stdout)
        self.assertEqual(run.returncode, 1)


if __name__ == "__main__":
    unittest.main()
