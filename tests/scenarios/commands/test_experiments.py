"""The scenarios that the experiments of papers 000 and 002 to 004 write are valid, and no two runs share a file."""
import argparse
import pathlib
import re
import sys
import unittest

import h5py
import numpy
from harness import ROOT, ScenarioTest

sys.path.insert(0, str(ROOT / "jobs/experiments/exceptions"))
sys.path.insert(1, str(ROOT / "jobs/experiments/interference"))
sys.path.insert(2, str(ROOT / "jobs/experiments/preemption"))

import benchmarks  # noqa: E402
import contexts  # noqa: E402
import deadlines  # noqa: E402
import fragmentation  # noqa: E402
import mask  # noqa: E402
import mask_sweeps  # noqa: E402
import mosaic  # noqa: E402
import mosaic_paging  # noqa: E402
import pipeline  # noqa: E402
import progress  # noqa: E402
import sizes  # noqa: E402
import sms_axes  # noqa: E402
import use_cases  # noqa: E402


def all_runs(sms=(16,)):
    arguments = argparse.Namespace(quick=True, serialize=use_cases.SERIALIZATIONS, thresholds=[])
    schemes = ["stall-on-fault", *pipeline.SCHEMES.values()]
    runs = [pipeline.run_of(b, s, n, arguments) for n in sms for b in benchmarks.PARBOIL for s in schemes]
    for figure in use_cases.FIGURES.values():
        for n in sms:
            runs += use_cases.runs_of(figure, n, arguments)
    return list(dict.fromkeys(runs))


class Experiments(ScenarioTest):
    def test_every_benchmark_is_valid_wherever_its_data_are(self):
        for name, benchmark in benchmarks.ALL.items():
            for placement in (benchmarks.RESIDENT, benchmarks.COPIED, benchmarks.PAGED):
                with self.subTest(benchmark=name, placement=placement):
                    text = benchmarks.workload_text(name, placement)
                    self.assertIn(f"kernel: {benchmark.kernel},", text)
                    self.write("workload.yaml", text)
                    done = self.lockstep("validate", self.scenario("workload.yaml", benchmark.full))
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_outputs_and_prepared_buffers_exist(self):
        for name, benchmark in benchmarks.ALL.items():
            text = benchmarks.source_of(name).read_text()
            for buffer in (*benchmark.outputs, *benchmark.prepared):
                self.assertIn(f"\n  {buffer}: {{type", text, name)

    def test_applications_for_studies_of_tlbs_have_32_mib_and_more(self):
        for name, parameters in sizes.LARGE.items():
            with self.subTest(name):
                scenario = self.scenario(ROOT / f"configs/workloads/{name}.yaml", parameters)
                valid = self.lockstep("validate", scenario)
                self.assertEqual(valid.returncode, 0, valid.stderr)
                smaller = self.lockstep("run", scenario, "--set", "host.memory=33554431B", "--quiet")
                self.assertIn("host memory is full", smaller.stderr)

    def test_every_point_of_paper_004_is_valid(self):
        for experiment in (fragmentation, mask, mask_sweeps, mosaic, mosaic_paging):
            points = list(dict.fromkeys(experiment.points()))
            self.assertEqual(len({point.name() for point in points}), len(points))
            for point in points[::5]:
                with self.subTest(point.name()):
                    for file, text in point.workloads().items():
                        self.write(file, text)
                    self.write("point.yaml", point.scenario())
                    done = self.lockstep("validate", "point.yaml")
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_machine_of_sms_is_valid(self):
        arguments = argparse.Namespace(machines=None, labels=None, categories=sms_axes.CATEGORIES, mixes=2,
                                       span="400us")
        runs = sms_axes.all_runs(arguments)
        self.assertEqual(len({run.name() for run in runs}), len(runs))
        for run in {run.machine: run for run in runs}.values():
            with self.subTest(machine=run.machine):
                self.write("run.yaml", run.scenario())
                done = self.lockstep("validate", "run.yaml")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_point_of_paper_002_is_valid(self):
        folder = pathlib.Path(self.folder)
        for workload, _ in contexts.KERNELS.values():
            self.write(f"{workload}.yaml", contexts.workload_text(workload))
        scenarios = {name: contexts.scenario(name, "live-cp", folder) for name in contexts.KERNELS}
        scenarios |= {str(pair): contexts.pair_scenario(pair, True, folder) for pair in contexts.PAIRS}
        for name, text in scenarios.items():
            with self.subTest(name):
                self.write("point.yaml", text)
                done = self.lockstep("validate", "point.yaml")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_kernel_of_paper_003_is_valid(self):
        folder = pathlib.Path(self.folder)
        for kernel in deadlines.KERNELS:
            with self.subTest(kernel):
                self.write(f"{kernel}.yaml", deadlines.workload_text(kernel))
                self.write("point.yaml", deadlines.Run(kernel, "dual-kernel", "share", 2).scenario(folder))
                done = self.lockstep("validate", "point.yaml")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_b_plus_trees_have_full_levels(self):
        """Else their kernels read outside of the keys."""
        for parameters in (contexts.KERNELS["BT"][1], deadlines.KERNELS["btree_range"].parameters):
            keys = int(re.search(r"keys: (\d+)", parameters)[1])
            self.assertIn(keys, [64**level for level in range(2, 5)])
        keys = int(re.search(r"keys: (\d+)", deadlines.KERNELS["btree"].parameters)[1])
        self.assertIn(keys, [16**level for level in range(2, 6)])

    def test_progress_is_the_time_in_which_an_application_alone_comes_as_far(self):
        with h5py.File("progress", "w", driver="core", backing_store=False) as file:
            microsecond = 10**9
            file["final/end"] = 30 * microsecond
            file["tenants"] = numpy.array([(30 * microsecond,)], dtype=[("end", "<i8")])
            file["epochs/time"] = numpy.array([10, 20, 30]) * microsecond
            # Of two SMs: 100 instructions in a dense phase, then 10 in each epoch.
            file["stats/sm/warp_instructions"] = numpy.array([[[60], [40]], [[5], [5]], [[10], [0]]])
            alone = progress.Progress(file)
        for instructions, time in ((50, 5), (105, 15), (120, 30), (135, 45)):  # beyond the span: at its last rate
            self.assertAlmostEqual(alone.time_of(instructions, span=30), time)
        for instructions, time in ((120, 30), (170, 35), (240 + 105, 75)):  # was done at 30: starts over
            self.assertAlmostEqual(alone.time_of(instructions, span=60), time)

    def test_progress_counts_copies_for_as_long_as_they_have_taken(self):
        with h5py.File("progress", "w", driver="core", backing_store=False) as file:
            microsecond = 10**9
            file["final/end"] = 50 * microsecond
            file["tenants"] = numpy.array([(50 * microsecond,)], dtype=[("end", "<i8")])
            file["epochs/time"] = numpy.array([10, 20, 30, 40, 50]) * microsecond
            # Copies until 10, between 20 and 30, and from 40 on.
            file["stats/sm/warp_instructions"] = numpy.array([[[0]], [[100]], [[0]], [[100]], [[0]]])
            alone = progress.Progress(file)
        for instructions, time in ((0, 0), (50, 15), (100, 20), (150, 35), (200, 40), (250, 65), (400, 90)):
            self.assertAlmostEqual(alone.time_of(instructions, span=200), time)
        for instructions, idle, time in ((0, 4, 4), (100, 4, 24), (100, 40, 30), (200, 4, 44), (200, 12, 52),
                                         (200, 40, 60), (400, 4, 94), (400, 40, 110), (50, 4, 15)):
            self.assertAlmostEqual(alone.time_of(instructions, span=200, idle=idle), time)

    def test_progress_ends_when_the_last_tenant_has_been_done_once_not_with_the_epoch(self):
        with h5py.File("progress", "w", driver="core", backing_store=False) as file:
            microsecond = 10**9
            file["final/end"] = 30 * microsecond
            # The first is done at 25 and executes nothing more, the second has begun anew at 12.
            file["tenants"] = numpy.array([(25 * microsecond,), (12 * microsecond,)], dtype=[("end", "<i8")])
            file["epochs/time"] = numpy.array([10, 20, 30]) * microsecond
            file["stats/sm/warp_instructions"] = numpy.array([[[60, 10]], [[5, 20]], [[5, 40]]])
            shared = progress.Progress(file)
        self.assertAlmostEqual(shared.end, 25)
        numpy.testing.assert_allclose(shared.executed[-1], [70, 10 + 20 + 40 / 2])
        self.assertAlmostEqual(shared.times[-1], 25)

    def test_every_run_has_a_name_of_its_own(self):
        runs = all_runs((8, 16))
        names = {run.name() for run in runs}
        self.assertEqual(len(names), len(runs))
        self.assertLess(max(map(len, names)), 128)

    def test_every_choice_of_policies_is_valid(self):
        folder = pathlib.Path(self.folder)
        for run in all_runs():
            if run.benchmark not in ("histo", "quadtree"):
                continue
            with self.subTest(run=run.name()):
                text = benchmarks.workload_text(run.benchmark, run.placement)
                self.write(f"{run.benchmark}_{run.placement}.yaml", text)
                self.write("run.yaml", run.scenario(folder))
                done = self.lockstep("validate", "run.yaml")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
