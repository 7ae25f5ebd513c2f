"""Ranks that were not started for the same thing end with one line that says what differs, never in a hang."""
import shutil
import subprocess
import unittest

import h5py

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


class SettingsReachFiles(ScenarioTest):
    """What a scenario names its GPU, host and workload by - a word, a path, a folder - matters to no command."""

    SETTINGS = {
        "gpu.sm.count": 2,
        "host.launch_overhead": "2us",
        "tenants.0.parameters.n": 2048,
        "tenants.one.workload.buffers.a.init": "{value: 2}",
        "policies.sharing": "spatial",
        "simulation.seed": 7,
    }

    def setUp(self):
        super().setUp()
        for kind, name in (("gpus", "tiny"), ("hosts", "pcie3")):
            (self.folder / kind).mkdir()
            shutil.copy(ROOT / f"configs/{kind}/{name}.yaml", self.folder / kind)
        (self.folder / "added.workload").mkdir()
        for name in ("vector_add.yaml", "vector_add.ptx"):
            shutil.copy(ROOT / "configs/workloads" / name, self.folder / "added.workload")
            shutil.copy(ROOT / "configs/workloads" / name, self.folder)
        (self.folder / "added.workload/vector_add.yaml").rename(self.folder / "added.workload/workload.yaml")
        self.write_scenario("words", "tiny", "pcie3", "vector_add")
        self.write_scenario("paths", "gpus/tiny.yaml", "./hosts/pcie3.yaml", "vector_add.yaml")
        self.write_scenario("folder", f"{ROOT}/configs/gpus/tiny.yaml", "hosts/pcie3.yaml", "added.workload")

    def write_scenario(self, name, gpu, host, workload):
        self.write(f"{name}.yaml", f"""\
            gpu: {gpu}
            host: {host}
            tenants:
              - {{name: one, workload: {workload}, parameters: {{n: 1024}}}}
            """)

    def settings(self):
        return [word for key, value in self.SETTINGS.items() for word in ("--set", f"{key}={value}")]

    def test_a_run_does_as_it_is_told(self):
        for name in ("words", "paths", "folder"):
            for ranks in (0, 2, 3):
                with self.subTest(scenario=name, ranks=ranks):
                    run = self.lockstep("run", f"{name}.yaml", "--output", "o.h5", "--quiet", "--check",
                                        *self.settings(), ranks=ranks)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    with h5py.File(self.folder / "o.h5") as file:
                        self.assertEqual(len(file["axes/sm/instance"]), 2)
                        self.assertIn("launch_overhead: 2us", file["config"][()].decode())
                        seen = (file["final/end"][()], file["final/digests/one/c"][()])
                    self.assertEqual(getattr(self, "seen", seen), seen)
                    self.seen = seen

    def test_all_commands_take_the_same_settings(self):
        self.write("sweep.yaml", "scenario: [words.yaml, paths.yaml, folder.yaml]\ngrid: {gpu.sm.count: [1, 2]}\n")
        for name in ("words", "paths", "folder"):
            for command, ranks in (("validate", 0), ("validate", 2), ("partition", 0), ("compare", 0), ("compare", 2)):
                with self.subTest(command=command, ranks=ranks, scenario=name):
                    run = self.lockstep(command, f"{name}.yaml", *self.settings(), ranks=ranks)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
        run = self.lockstep("sweep", "sweep.yaml")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("6 of 6 points done", run.stderr)

    def test_another_machine_or_workload_may_be_set_by_its_word(self):
        shutil.copy(self.folder / "gpus/tiny.yaml", self.folder / "gpus/other.yaml")
        for settings in (["gpu=other"], ["gpu=other", "gpu.sm.count=2"], ["gpu=gpus/other.yaml", "gpu.sm.count=2"],
                         ["host=nvlink"], ["tenants.0.workload=vector_add"],
                         ["tenants.0.workload=vector_add.yaml", "tenants.0.workload.buffers.a.init={value: 3}"]):
            for ranks in (0, 2):
                with self.subTest(settings=settings, ranks=ranks):
                    words = [word for setting in settings for word in ("--set", setting)]
                    run = self.lockstep("run", "words.yaml", "--output", "o.h5", "--quiet", *words, ranks=ranks)
                    self.assertEqual((run.returncode, run.stderr), (0, ""))
                    with h5py.File(self.folder / "o.h5") as file:
                        self.assertEqual(len(file["axes/sm/instance"]), 2 if "gpu.sm.count=2" in settings else 4)

    def test_a_word_that_stands_for_no_file_is_named(self):
        for setting, said in (("gpu=no_such", "no_such.yaml"), ("tenants.0.workload=no_such", "no_such.yaml"),
                              ("policies.sharing.no=1", "policies.sharing"), ("gpu.sm.cuont=1", "gpu.sm.cuont")):
            for ranks in (0, 2):
                with self.subTest(setting=setting, ranks=ranks):
                    run = self.lockstep("run", "words.yaml", "--quiet", "--set", setting, ranks=ranks)
                    self.assertEqual(run.returncode, 1)
                    lines = [line for line in run.stderr.splitlines() if line.startswith("lockstep: ")]
                    self.assertEqual(len(lines), 1, run.stderr)
                    self.assertIn(said, lines[0])

    def test_other_bytes_of_what_a_word_stands_for_are_named(self):
        """The GPU's file lies beside each rank's own scenario, with another comment in it."""
        commands = []
        for rank in ("0", "1"):
            shutil.copytree(self.folder / "gpus", self.folder / rank / "gpus")
            for name in ("words.yaml", "vector_add.yaml", "vector_add.ptx"):
                shutil.copy(self.folder / name, self.folder / rank)
            commands += [":", "-n", "1", "--wdir", str(self.folder / rank), LOCKSTEP, "run",
                         "/proc/self/cwd/words.yaml", "--quiet", "--set", "gpu.sm.count=2"]
        with (self.folder / "1/gpus/tiny.yaml").open("a", encoding="utf-8") as gpu:
            gpu.write("# a comment\n")
        run = subprocess.run(
            [MPIRUN, "--oversubscribe", "--bind-to", "none", *commands[1:]],
            cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60, check=False,
        )
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("as /proc/self/cwd/gpus/tiny.yaml, rank 0 has bytes with the digest", run.stderr)


if __name__ == "__main__":
    unittest.main()
