"""Ranks that were not started for the same thing end with one line that says what differs, never in a hang."""
import shutil
import subprocess
import unittest

from harness import LOCKSTEP, MPIRUN, ROOT, ScenarioTest, environment


class RanksAgree(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 1024}")

    def start(self, *commands):
        """The finished process of one rank per command line."""
        each = [[":", "-n", "1", LOCKSTEP, *map(str, command)] for command in commands]
        ranks = [word for command in each for word in command][1:]
        return subprocess.run(
            [MPIRUN, "--oversubscribe", "--bind-to", "none", *ranks],
            cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60, check=False,
        )

    def assert_refused(self, parts, *commands):
        run = self.start(*commands)
        self.assertEqual(run.returncode, 1, run.stderr)
        lines = [line for line in run.stderr.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(len(lines), 1, run.stderr)
        for part in ["the ranks do not run the same", *parts]:
            self.assertIn(part, lines[0])
        self.assertFalse((self.folder / "scenario.h5").exists())

    def test_equal_ones_run(self):
        usual = ["run", "scenario.yaml", "--quiet"]
        run = self.start(usual, usual)
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_another_setting_is_named_with_both_values(self):
        usual = ["run", "scenario.yaml", "--quiet"]
        self.assert_refused(
            ["rank 1 has 2 as gpu.sm.count, rank 0 has "], usual, [*usual, "--set", "gpu.sm.count=2"]
        )

    def test_another_stop_is_named(self):
        usual = ["run", "scenario.yaml", "--quiet"]
        self.assert_refused(
            ["rank 2 has ", "simulation.stop_at"], usual, usual, [*usual, "--set", "simulation.stop_at=1us"]
        )

    def test_another_scenario_file_is_named(self):
        other = self.folder / "other"
        other.mkdir()
        text = (self.folder / "scenario.yaml").read_text()
        (other / "scenario.yaml").write_text(text + "# a comment\n")
        here = ["run", "scenario.yaml", "--quiet", "--output", "scenario.h5"]
        there = ["run", "other/scenario.yaml", "--quiet", "--output", "scenario.h5"]
        self.assert_refused(["scenario.yaml"], here, there)

    def test_other_bytes_of_a_file_are_named(self):
        """As on nodes whose disks hold different files: each rank sees its own through a link."""
        for rank in ("0", "1"):
            folder = self.folder / rank
            folder.mkdir()
            for name in ("vector_add.yaml", "vector_add.ptx"):
                shutil.copy(ROOT / "configs/workloads" / name, folder)
        with (self.folder / "1/vector_add.ptx").open("a", encoding="utf-8") as module:
            module.write("// a comment\n")
        self.scenario("/proc/self/cwd/vector_add.yaml", "{n: 1024}")
        command = ["run", self.folder / "scenario.yaml", "--quiet"]
        ranks = [["-n", "1", "--wdir", self.folder / rank, LOCKSTEP, *command] for rank in ("0", "1")]
        run = subprocess.run(
            [MPIRUN, "--oversubscribe", "--bind-to", "none", *map(str, [*ranks[0], ":", *ranks[1]])],
            cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60, check=False,
        )
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("as /proc/self/cwd/vector_add.ptx, rank 0 has bytes with the digest", run.stderr)

    def test_another_number_of_threads_is_named(self):
        usual = ["run", "scenario.yaml", "--quiet"]
        self.assert_refused(["rank 1 has 2 as --threads, rank 0 has 1"], usual, [*usual, "--threads", "2"])

    def test_other_options_are_named(self):
        usual = ["run", "scenario.yaml", "--quiet"]
        for option, value, name in (("--output", "other.h5", "other.h5"), ("--checkpoint-every", "1min", "60 s")):
            self.assert_refused([f"rank 1 has {name} as {option}, rank 0 has "], usual, [*usual, option, value])
        self.assert_refused(["rank 1 has on as --check, rank 0 has off"], usual, [*usual, "--check"])

    def test_another_command_is_named(self):
        self.assert_refused(
            ["rank 1 has validate as the command, rank 0 has run"],
            ["run", "scenario.yaml", "--quiet"],
            ["validate", "scenario.yaml"],
        )

    def test_a_usage_error_on_one_rank_is_told(self):
        self.assert_refused(
            ["rank 1 has a mistake: ", "--no-such-option", "as the command, rank 0 has run"],
            ["run", "scenario.yaml", "--quiet"],
            ["run", "scenario.yaml", "--no-such-option"],
        )

    def test_a_usage_error_on_all_is_one_of_usage(self):
        wrong = ["run", "scenario.yaml", "--no-such-option"]
        self.assertEqual(self.start(wrong, wrong).returncode, 2)


if __name__ == "__main__":
    unittest.main()
