"""An experiment's points as a job array: submitted once, gone on with when they are there."""
import argparse
import contextlib
import io
import os
import pathlib
import sys
import unittest
import unittest.mock

from harness import LOCKSTEP, ROOT, ScenarioTest

sys.path.insert(0, str(ROOT / "jobs/experiments"))

import sweeps  # noqa: E402

# Says what sbatch says and runs each task at once.
SBATCH = """#!/usr/bin/env bash
tasks=${1#--array=} program=$3 sweep=$4
for task in ${tasks//,/ }; do "$program" sweep "$sweep" --point "$task" --quiet || exit 1; done
echo "Submitted batch job 7"
"""


class ExperimentArrays(ScenarioTest):
    def setUp(self):
        super().setUp()
        sbatch = self.write("sbatch", SBATCH)
        sbatch.chmod(0o755)
        path = unittest.mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"})
        path.start()
        self.addCleanup(path.stop)
        self.arguments = argparse.Namespace(lockstep=LOCKSTEP, folder=pathlib.Path(self.folder), jobs=1, tiny=False,
                                            slurm=ROOT / "jobs/slurm/sweep_array.sbatch")
        self.scenarios = {}
        for n in (128, 256):
            self.scenario(ROOT / "configs/workloads/vector_add.yaml", f"{{n: {n}}}")
            self.scenarios[f"of_{n}"] = (self.folder / "scenario.yaml").read_text()

    def run_sweep(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            sweeps.run_sweep(self.arguments, self.scenarios)
        return said.getvalue()

    def test_points_are_submitted_and_the_program_ends(self):
        with self.assertRaises(SystemExit) as ended:
            self.run_sweep()
        self.assertIsNone(ended.exception.code)
        self.assertEqual(sorted(path.name for path in (self.folder / "output").glob("*.h5")),
                         ["of_128.h5", "of_256.h5"])

    def test_when_all_are_done_it_goes_on(self):
        with self.assertRaises(SystemExit):
            self.run_sweep()
        self.assertEqual(self.run_sweep(), "")

    def test_of_no_points_nothing_runs(self):
        self.scenarios = {}
        self.arguments.lockstep = "/no/such/program"
        self.assertEqual(self.run_sweep(), "")
        self.arguments.slurm = None
        self.assertEqual(self.run_sweep(), "")

    def test_what_sbatch_refuses_ends_the_program_with_its_status(self):
        self.write("sbatch", "#!/bin/sh\nexit 3\n").chmod(0o755)
        with self.assertRaises(SystemExit) as ended:
            self.run_sweep()
        self.assertEqual(ended.exception.code, 3)


if __name__ == "__main__":
    unittest.main()
