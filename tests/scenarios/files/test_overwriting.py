"""A run renews its own output; that of another run is replaced only with --overwrite."""
import shutil
import unittest

import h5py

from harness import ROOT, ScenarioTest

TWO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"


class Overwriting(ScenarioTest):
    def setUp(self):
        super().setUp()
        self.scenario(ROOT / "configs/workloads/vector_add.yaml", "{n: 128}")
        self.run_it()

    def run_it(self, *arguments, status=0, ranks=0, scenario="scenario.yaml"):
        run = self.lockstep("run", scenario, "--quiet", *arguments, overwrite=False, ranks=ranks)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def bytes(self, name="scenario.h5"):
        return (self.folder / name).read_bytes()

    def assert_refused(self, *parts, arguments=(), name="scenario.h5", what="output", **more):
        before = self.bytes(name)
        errors = self.run_it(*arguments, status=1, **more)
        errors = [line for line in errors.splitlines() if line.startswith("lockstep: ")]
        self.assertEqual(len(errors), 1, errors)
        for part in (f"{name}: is the {what} of another run: ", "--overwrite replaces it", *parts):
            self.assertIn(part, errors[0])
        self.assertEqual(self.bytes(name), before)

    def test_the_same_run_renews_its_own(self):
        for arguments, ranks in (((), 0), (("--threads", 2), 0), (("--check",), 0), ((), 2), (("--profile",), 0)):
            with self.subTest(arguments=arguments, ranks=ranks):
                self.run_it(*arguments, ranks=ranks)

    def test_other_settings_do_not(self):
        for key, now in (("gpu.sm.count", "2"), ("simulation.stop_at", "1s"), ("tenants.one.parameters.n", "256"),
                         ("simulation.epoch", "7us"), ("policies.sharing", "spatial")):
            with self.subTest(key=key):
                self.assert_refused(key.replace("one", "0"), now, arguments=("--set", f"{key}={now}"))

    def test_nor_does_another_scenario(self):
        self.assert_refused("it has tiny as gpu.name, this one has v100",
                            scenario=ROOT / "configs/scenarios/quickstart.yaml",
                            arguments=("--output", "scenario.h5"))

    def test_nor_other_content(self):
        workload = self.write("mine.yaml", (ROOT / "configs/workloads/vector_add.yaml").read_text()
                              .replace("module: ", f"module: {ROOT}/configs/workloads/"))
        self.scenario(workload.name, "{n: 128}")
        self.run_it("--output", "mine.h5")
        text = workload.read_text()
        workload.write_text(text.replace("step: 0.5", "step: 0.25"))
        self.assert_refused("step", "0.25", arguments=("--output", "mine.h5"), name="mine.h5")

    def test_nor_on_ranks(self):
        self.assert_refused("gpu.sm.count", arguments=("--set", "gpu.sm.count=2"), ranks=2)

    def test_with_it_every_output_is_replaced(self):
        self.run_it("--set", "gpu.sm.count=2", "--overwrite")
        with h5py.File(self.folder / "scenario.h5") as file:
            self.assertIn("count: 2", file["config"][()].decode())

    def test_an_output_that_does_not_tell_its_run_stays(self):
        with h5py.File(self.folder / "scenario.h5", "r+") as file:
            del file["run/facts"]
        errors = self.run_it(status=1)
        self.assertIn("scenario.h5: is an output that does not tell of which run - --overwrite", errors)

    def test_what_cannot_be_read_is_no_output_to_keep(self):
        (self.folder / "scenario.h5").write_bytes(self.bytes()[:100])
        self.run_it("--set", "gpu.sm.count=2")
        (self.folder / "scenario.h5").write_bytes(b"")
        self.run_it()

    def test_other_files_stay_even_with_it(self):
        self.write("notes.h5", "mine")
        errors = self.run_it("--output", "notes.h5", "--overwrite", status=1)
        self.assertIn("is no output of lockstep", errors)

    def test_a_checkpoint_of_another_run_stays(self):
        self.scenario(ROOT / "configs/workloads/sgemm.yaml", "{n: 256}")
        stop = ("--set", "simulation.stop_at=40us")
        self.run_it("--output", "long.h5", "--checkpoint-every", "0.001s", *stop, status=4)
        self.assertTrue((self.folder / "long.ckpt").exists())
        (self.folder / "long.h5").unlink()
        self.assert_refused("gpu.sm.count", arguments=("--output", "long.h5", "--set", "gpu.sm.count=2"),
                            name="long.ckpt", what="checkpoint")


class Comparing(ScenarioTest):
    def compare(self, *arguments, status=0):
        run = self.lockstep("compare", TWO, "--quiet", *arguments, overwrite=False)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def test_all_outputs_are_looked_at_before_the_first_run(self):
        self.compare()
        self.compare()
        outputs = sorted(self.folder.glob("*.h5"))
        self.assertEqual(len(outputs), 3)
        for path in outputs[:2]:
            path.unlink()
        run = self.compare("--set", "tenants.dense.parameters.n=64", status=1)
        self.assertIn("two_tenants_tiny.h5: is the output of another run", run.stderr)
        self.assertEqual(sorted(self.folder.glob("*.h5")), outputs[2:])
        self.compare("--set", "tenants.dense.parameters.n=64", "--overwrite")

    def test_a_run_has_what_compare_wrote(self):
        self.compare()
        run = self.lockstep("run", TWO, "--quiet", overwrite=False)
        self.assertEqual(run.returncode, 0, run.stderr)


class Sweeping(ScenarioTest):
    def test_runs_alone_are_simulated_once(self):
        self.write("sweep.yaml", f"scenario: {TWO}\ncommand: compare\noutput: points\n"
                                 "grid: {tenants.dense.parameters.n: [16, 32, 64]}\n")
        run = self.lockstep("sweep", "sweep.yaml", "--jobs", 3)
        self.assertEqual(run.returncode, 0, run.stderr)
        alone = sorted(path.name.split("-")[0] for path in (self.folder / "points/alone").iterdir())
        self.assertEqual(alone, ["dense"] * 3 + ["graph"])
        names = [path.name for path in (self.folder / "points").iterdir() if path.is_dir() and path.name != "alone"]
        shutil.rmtree(self.folder / "points/alone")
        for name in names:
            n = name.rsplit("=", 1)[1]
            self.lockstep("compare", TWO, "--quiet", "--output", "by_hand", "--set", f"tenants.dense.parameters.n={n}")
            self.assertEqual((self.folder / "by_hand/two_tenants_tiny.compare.yaml").read_text(),
                             (self.folder / f"points/{name}/two_tenants_tiny.compare.yaml").read_text())

    def test_collect_has_names_slowdowns_and_numbers(self):
        self.write("sweep.yaml", f"scenario: {TWO}\ncommand: compare\noutput: points\n"
                                 "grid: {tenants.dense.parameters.n: [16, 32], policies.sharing: [spatial]}\n")
        self.assertEqual(self.lockstep("sweep", "sweep.yaml").returncode, 0)
        self.assertEqual(self.lockstep("collect", "sweep.yaml").returncode, 0)
        with h5py.File(self.folder / "points.h5") as file:
            self.assertEqual(file["tenants/tenant"][:].tolist(), [[b"graph", b"dense"]] * 2)
            self.assertEqual(file["parameters/tenants.dense.parameters.n"][:].tolist(), [16, 32])
            self.assertEqual(file["parameters/policies.sharing"][:].tolist(), [b"spatial"] * 2)
            ratio = file["tenants/ipc_alone"][:] / file["tenants/ipc_shared"][:]
            self.assertLess(abs(file["tenants/slowdown"][:] - ratio).max(), 1e-9)

    def test_a_mistake_in_any_point_is_found_before_the_first_run(self):
        for grid, parts in (
                ("{gpu.sm.count: [2, 0]}", ["point two_tenants_tiny-count=0", "gpu.sm.count"]),
                ("{gpu.sm.cuont: [2, 4]}", ["point two_tenants_tiny-cuont=2", "cuont"]),
                ("{policies.sharing: [spatial, none_such]}",
                 ["point two_tenants_tiny-sharing=none_such", "none_such"])):
            with self.subTest(grid=grid):
                self.write("sweep.yaml", f"scenario: {TWO}\noutput: points\ngrid: {grid}\n")
                run = self.lockstep("sweep", "sweep.yaml")
                self.assertEqual((run.returncode, len(run.stderr.splitlines())), (1, 1), run.stderr)
                for part in parts:
                    self.assertIn(part, run.stderr)
                self.assertFalse((self.folder / "points").exists())


if __name__ == "__main__":
    unittest.main()
