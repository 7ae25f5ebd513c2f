"""What the command line takes, and what it says otherwise."""
import os
import subprocess
import unittest

import h5py

from harness import LOCKSTEP, ROOT, ScenarioTest


class CommandLine(ScenarioTest):
    def test_usage(self):
        for arguments, parts in ((("run",), ["run: ", "scenario", "`lockstep run --help`"]),
                                 (("run", "s.yaml", "--thread", "2"),
                                  ["run --thread: there is no such option", 'did you mean "--threads"?']),
                                 (("run", "s.yaml", "--set", "a=1", "b=2"), ['"b=2" stands alone', "--set of its own"]),
                                 (("runn",), ["runn: there is no such command", 'did you mean "run"?']),
                                 (("run", "s.yaml", "--threads", "many"), ["--threads", "many"]),
                                 (("run", "s.yaml", "--threads", "0"), ["--threads", "0"])):
            with self.subTest(arguments=arguments):
                run = self.lockstep(*arguments)
                self.assertEqual((run.returncode, run.stdout), (2, ""))
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertTrue(run.stderr.startswith("lockstep: "), run.stderr)
                for part in parts:
                    self.assertIn(part, run.stderr)

    def test_settings_repeat_their_option_as_its_help_says(self):
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 256}")
        told = self.lockstep("run", "--help").stdout
        self.assertIn("--set KEY=VALUE ", told)
        self.assertIn("replaces what the scenario says; as often as wanted", told)
        self.assertNotIn("...\n", told)
        run = self.lockstep("run", "--set", "gpu.sm.count=2", "scenario.yaml", "--set", "simulation.seed=7", "--quiet",
                            "--set", "gpu.sm.count=3", "--output", "o.h5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with h5py.File(self.folder / "o.h5") as file:
            config = file["config"][()].decode()
        self.assertRegex(config, r"seed: 7\b")
        self.assertRegex(config, r"count: 3\b")

    def test_help_is_a_manual_page(self):
        commands = self.lockstep("--help").stdout.split("COMMANDS\n")[1].split("\n\n")[0]
        names = [line.split()[0] for line in commands.splitlines() if not line.startswith("   ")]
        self.assertIn("predict", names)
        for name in names:
            with self.subTest(command=name):
                page = self.lockstep(name, "--help")
                self.assertEqual((page.returncode, page.stderr), (0, ""))
                titles = [line for line in page.stdout.splitlines() if line.isupper() and not line.startswith(" ")]
                self.assertEqual([title for title in titles if title not in ("ARGUMENTS", "FILES")],
                                 ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS", "EXAMPLES"])
                self.assertIn(f" lockstep {name}", page.stdout.split("EXAMPLES\n")[1])

    def test_standard_output_that_takes_nothing(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([LOCKSTEP, "describe"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("standard output: cannot be written", run.stderr)

    def test_more_threads_or_ranks_than_cores(self):
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 256}")
        cores = len(os.sched_getaffinity(0))
        for threads, ranks in ((cores + 1, 0), (1, cores + 1)):
            with self.subTest(threads=threads, ranks=ranks):
                run = self.lockstep("run", "scenario.yaml", "--output", "o.h5", "--threads", threads, ranks=ranks)
                self.assertEqual(run.returncode, 0, run.stderr)
                notes = [line for line in run.stderr.splitlines() if "share" in line]
                self.assertEqual(len(notes), 1, run.stderr)
                self.assertRegex(notes[0], rf"^lockstep: note: {cores + 1} threads \({max(ranks, 1)} ranks?\) "
                                           rf"share {cores} cores? on ")
        run = self.lockstep("run", "scenario.yaml", "--output", "o.h5")
        self.assertNotIn("share", run.stderr)


if __name__ == "__main__":
    unittest.main()
