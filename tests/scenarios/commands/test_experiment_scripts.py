"""Every script of jobs/experiments runs and shows something, and what has not run, or not to its end, stays blank."""
import math
import pathlib
import re
import subprocess
import sys
import unittest

import h5py
from harness import LOCKSTEP, ROOT, ScenarioTest, todays

FOLDER = ROOT / "jobs/experiments"
ALL_SCRIPTS = sorted(path for path in FOLDER.rglob("*.py") if 'if __name__ == "__main__"' in path.read_text())
sys.path.append(str(FOLDER))

import sweeps  # noqa: E402


def second_verb(script):
    return re.search(re.escape(script.name) + r" (draw|show)", script.read_text())[1]


def figures_of(text):
    """Numbers: those of the paper, and those of outputs."""
    return re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?![\w.])", text)


class ExperimentScripts(ScenarioTest):
    def script(self, path, *arguments):
        done = subprocess.run([sys.executable, path, *arguments, "--folder", self.folder, "--lockstep", LOCKSTEP],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("nan", re.split(r"\W+", done.stdout), done.stdout)
        return done.stdout

    def run_and_interrupt(self, path):
        """Its tables have figures, which go when their runs do."""
        self.script(path, "run", "--tiny", "--jobs", "2")
        shown = self.script(path, second_verb(path), "--tiny")
        outputs = sorted(pathlib.Path(self.folder, "output").glob("*.h5"))
        self.assertGreater(len(outputs), 1)
        for output in outputs[::2]:
            output.write_bytes(output.read_bytes()[:1000])  # as after a full disk
        for output in outputs[1::2]:
            with h5py.File(output, "a") as file:  # as if it had not ended
                del file["final"]
        blank = self.script(path, second_verb(path), "--tiny")
        self.assertGreater(len(figures_of(shown)), len(figures_of(blank)), shown)


def test_of(path):
    def test(self):
        self.run_and_interrupt(path)
    return test


for _path in todays(ALL_SCRIPTS):
    setattr(ExperimentScripts, f"test_{_path.stem}_runs_and_leaves_blank_what_is_not_there", test_of(_path))


class Blanks(ScenarioTest):
    def test_a_run_that_is_missing_cut_off_or_going_on_counts_as_missing(self):
        path = pathlib.Path(self.folder) / "run.h5"
        with self.assertRaises(sweeps.Missing):
            sweeps.open_output(path)
        path.write_bytes(b"\x89HDF\r\n")
        with self.assertRaises(sweeps.Missing):
            sweeps.open_output(path)
        path.unlink()
        with h5py.File(path, "w") as file:
            file["epochs/time"] = [1]
        with self.assertRaises(sweeps.Missing):
            sweeps.open_output(path)
        with h5py.File(path, "a") as file:
            file["final/end"] = 1
        with sweeps.open_output(path) as file:
            self.assertEqual(file["final/end"][()], 1)

    def test_values_of_missing_runs_are_nan_in_means_nothing_and_in_tables_blank(self):
        @sweeps.blank_if_missing(2)
        def pair(there):
            if there:
                return [1, 3]
            raise sweeps.Missing
        self.assertEqual(pair(True), [1, 3])
        self.assertTrue(all(map(math.isnan, pair(False))))
        self.assertEqual(sweeps.mean_of([*pair(True), *pair(False)]), 2)
        self.assertEqual([sweeps.cell(value, "+.1f") for value in (1.5, *pair(False))], ["+1.5", "", ""])
        self.assertTrue(math.isnan(sweeps.mean_of(pair(False))))

    def test_a_mistake_in_what_reads_an_output_is_none_of_a_missing_run(self):
        @sweeps.blank_if_missing()
        def reads():
            raise KeyError("stats/cpu")
        with self.assertRaises(KeyError):
            reads()


if __name__ == "__main__":
    unittest.main()
