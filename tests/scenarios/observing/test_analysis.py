"""The analysis package reads what the program wrote, down to the last digit."""
import subprocess
import sys
import unittest

from harness import ROOT, ScenarioTest

ANALYSIS = ROOT / "jobs/analysis"
sys.path.insert(0, str(ANALYSIS))

import lockstep_analysis as la  # noqa: E402


class Analysis(ScenarioTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = cls.share_a_folder()
        scenario = ROOT / "configs/scenarios/two_tenants_tiny.yaml"
        run = cls.shared.lockstep("compare", scenario, "--output", ".", "--quiet")
        assert run.returncode == 0, run.stderr
        cls.files = cls.shared.folder
        cls.run_file = cls.files / "two_tenants_tiny.h5"

    def setUp(self):
        super().setUp()
        self.run_ = la.load(self.run_file)

    def test_counters_are_indexed_by_time_instance_tenant_and_name(self):
        frame = self.run_["sm/stalls"]
        self.assertEqual(frame.index.names, ["time", "instance", "tenant", "name"])
        self.assertEqual(set(frame.index.levels[2]), set(self.run_.tenant_names))
        self.assertIn("barrier", frame.index.levels[3])

    def test_a_matrix_tells_who_waited_behind_whom(self):
        self.assertEqual(self.run_["partition/l2_wait_behind"].index.names, ["time", "instance", "tenant", "behind"])

    def test_every_counter_adds_up_to_final_stats(self):
        for name in self.run_.counters:
            if self.run_.file[f"stats/{name}"].attrs["kind"] not in (b"counter", "counter"):
                continue
            with self.subTest(counter=name):
                total = self.run_.file[f"final/stats/{name}"][:].sum()
                self.assertEqual(int(self.run_[name][name].sum()), int(total))

    def test_a_tenants_instructions_per_cycle_are_those_of_its_table(self):
        table = self.run_.table("tenants").set_index("tenant")["instructions_per_cycle"]
        self.assertEqual(la.metrics.whole(self.run_, "instructions_per_cycle").to_dict(), table.to_dict())

    def test_a_hit_rate_is_the_quotient_of_the_totals(self):
        hits, misses = (self.run_.file[f"final/stats/partition/sector_{what}"][:].sum(axis=0)
                        for what in ("hits", "misses"))
        rates = la.metrics.whole(self.run_, "l2_hit_rate")
        for tenant, name in enumerate(self.run_.tenant_names):
            self.assertEqual(rates[name], int(hits[tenant]) / int(hits[tenant] + misses[tenant]))

    def test_slowdown_is_that_of_compare(self):
        alone = {name: la.load(self.files / f"two_tenants_tiny-alone-{name}.h5") for name in self.run_.tenant_names}
        said = (self.files / "two_tenants_tiny.compare.yaml").read_text()
        for name, value in la.metrics.slowdown(self.run_, alone).items():
            line = next(line for line in said.splitlines() if line.startswith(f"  {name}:"))
            self.assertEqual(float(line.split("slowdown: ")[1].rstrip("}")), value)

    def test_a_time_that_never_came_is_missing(self):
        run = self.lockstep("run", ROOT / "configs/scenarios/two_tenants_tiny.yaml", "--quiet", "--output", "cut.h5",
                            "--set", "simulation.stop_at=30us")
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertTrue(la.load(self.folder / "cut.h5").table("tenants")["end"].isna().any())

    def test_a_file_that_is_no_output_is_refused_in_one_line(self):
        path = self.write("notes.h5", "text")
        for program in ("plot_run.py", "example.py"):
            result = subprocess.run(["/usr/bin/python3", ANALYSIS / program, path], capture_output=True, text=True,
                                    check=False)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"^\S*notes.h5: cannot be read as an output of lockstep: [^\n]*\n$")

    def test_a_collected_sweep_is_indexed_by_its_parameters(self):
        self.write("s.yaml", f"scenario: {ROOT}/configs/scenarios/two_tenants_tiny.yaml\n"
                             "grid: {gpu.memory.capacity: [32MiB, 64MiB]}\n")
        for command in ("sweep", "collect"):
            result = self.lockstep(command, "s.yaml")
            self.assertEqual(result.returncode, 0, result.stderr)
        sweep = la.load(self.folder / "s.h5")
        self.assertTrue(sweep.is_finished)
        one = la.load(next((self.folder / "s").glob("*32MiB.h5")))
        cycles = sweep.tenants["cycles"].xs("32MiB", level="gpu.memory.capacity").to_list()
        self.assertEqual(cycles, one.table("tenants")["cycles"].to_list())
        counted = sweep.total("sm/warp_instructions").xs("32MiB", level="gpu.memory.capacity").to_numpy().sum()
        self.assertEqual(counted, one["sm/warp_instructions"]["sm/warp_instructions"].sum())

    def test_it_installs_without_network_beside_the_systems_packages(self):
        def do(*command):
            result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stdout

        do("cp", "-r", ANALYSIS, "source")  # building leaves files beside it
        do("/usr/bin/python3", "-m", "venv", "--system-site-packages", "environment")
        do("environment/bin/pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--quiet",
           "./source")
        say = f"import lockstep_analysis as la; print(la.__file__, la.load({str(self.run_file)!r}).tenant_names)"
        output = do("environment/bin/python", "-c", say)
        self.assertIn("environment", output)
        self.assertIn(str(self.run_.tenant_names), output)

    def test_the_example_and_the_plots_run(self):
        result = subprocess.run(["/usr/bin/python3", ANALYSIS / "example.py", self.run_file], capture_output=True,
                                text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("The busiest epoch", result.stdout)
        result = subprocess.run(["/usr/bin/python3", ANALYSIS / "plot_run.py", self.run_file, "--output",
                                 self.folder / "run.png"], capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater((self.folder / "run.png").stat().st_size, 10_000)


class Accounts(ScenarioTest):
    def account(self, *paths):
        result = subprocess.run(["/usr/bin/python3", ANALYSIS / "plot_run.py", *paths], cwd=self.folder,
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80, result.stdout)
        return result.stdout

    def test_what_happened_is_told_in_words(self):
        scenario = ROOT / "configs/scenarios/oversubscribed_tiny.yaml"
        for policy in ("tree", "none"):
            run = self.lockstep("run", scenario, "--quiet", "--output", f"{policy}.h5", "--set",
                                f"policies.prefetcher={policy}")
            self.assertEqual(run.returncode, 0, run.stderr)
        said = " ".join(self.account("tree.h5", "none.h5").split())
        tree, none = (la.load(self.folder / f"{policy}.h5") for policy in ("tree", "none"))
        tables = [run.table("tenants").set_index("tenant") for run in (tree, none)]
        for tenant in tree.tenant_names:
            fewer = int(tables[1]["far_faults"][tenant]) - int(tables[0]["far_faults"][tenant])
            seconds = [float(table["end"][tenant] - table["arrival"][tenant]) for table in tables]
            gain = seconds[1] / seconds[0]
            how = f"{gain:.1f} times as fast" if gain >= 1 else f"{1 / gain:.1f} times as slow"
            self.assertIn(f"With prefetcher tree, {tenant} is {how} as with prefetcher none", said)
            if fewer > 0:
                self.assertIn(f"with {fewer} page faults fewer", said)
        self.assertRegex(said, r"sum was slowed most by \w+, whose \w+ [\w ]+ \(\d+% of its waiting there\)")

    def test_who_was_slowed_by_whom_is_the_largest_wait_behind_another(self):
        import types

        import numpy as np
        from lockstep_analysis import account
        run = types.SimpleNamespace(tenant_names=["a", "b", "c"], gpus=[], times=[100_000_000], file={  # 100 ns
            "interference/dram": np.array([[900, 10, 30], [0, 0, 0], [0, 0, 0]], dtype=float),
            "interference/walkers": np.array([[0, 20, 0], [0, 50, 0], [0, 0, 0]], dtype=float)})
        self.assertEqual(account.slowed(run, 0), ("c", account.REASONS["dram"], 30 / 940))
        self.assertEqual(account.slowed(run, 1), ("", "", 0.0))
        run.times = [4_000_000_000]  # 30 ns are less than one in a hundred
        self.assertEqual(account.slowed(run, 0), ("", "", 0.0))


class Plots(ScenarioTest):
    def test_a_picture_shows_what_happened_and_nothing_else(self):
        """Of two runs side by side: the same axes from 0, one colour a tenant, units, who and where."""
        import matplotlib
        matplotlib.use("Agg")
        from lockstep_analysis import plots
        scenario = ROOT / "configs/scenarios/oversubscribed_tiny.yaml"
        for policy in ("tree", "none"):
            run = self.lockstep("run", scenario, "--quiet", "--output", f"{policy}.h5", "--set",
                                f"policies.prefetcher={policy}")
            self.assertEqual(run.returncode, 0, run.stderr)
        runs = [la.load(self.folder / f"{policy}.h5") for policy in ("tree", "none")]
        figure = plots.overview(*runs)
        rows = [figure.axes[row:row + 2] for row in range(0, len(figure.axes), 2)]
        labels = [row[0].get_ylabel() for row in rows]
        for part in ("SMs with", "page faults", "host link\nGB/s", "MiB"):
            self.assertTrue(any(part in label for label in labels), labels)
        for row in rows:
            self.assertEqual({axis.get_ylim()[0] for axis in row}, {0})
            self.assertGreater(row[0].get_ylim()[1], 0)
            self.assertEqual(row[0].get_ylim(), row[1].get_ylim())
        self.assertEqual(figure._suptitle.get_text(), "oversubscribed_tiny on tiny")
        self.assertEqual([axis.get_title() for axis in rows[0]],
                         ["policies.prefetcher: tree", "policies.prefetcher: none"])
        self.assertRegex(rows[-1][0].get_xlabel(), "^simulated time, (us|ms)$")
        named = dict(zip(*reversed(rows[0][0].get_legend_handles_labels())))
        self.assertEqual(list(named), runs[0].tenant_names)
        self.assertEqual(len({handle.get_edgecolor() for handle in named.values()}), len(named))

    def test_a_run_without_paging_has_no_empty_panels(self):
        import matplotlib
        matplotlib.use("Agg")
        from lockstep_analysis import plots
        run = self.lockstep("run", ROOT / "configs/scenarios/two_tenants_tiny.yaml", "--quiet", "--output", "r.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        labels = [axis.get_ylabel() for axis in plots.overview(la.load(self.folder / "r.h5")).axes]
        self.assertTrue(labels[0].startswith("SMs"))
        self.assertFalse([label for label in labels if "faults" in label or "MiB" in label])

    def test_fewer_epochs_hold_the_same_counts(self):
        from lockstep_analysis.coarser import Coarser
        run = self.lockstep("run", ROOT / "configs/scenarios/oversubscribed_tiny.yaml", "--quiet", "--output", "r.h5",
                            "--set", "simulation.epoch=1us")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = la.load(self.folder / "r.h5")
        coarse = Coarser(run, rows=7)
        self.assertEqual(len(coarse.times), 7)
        for counter in ("host/far_faults", "sm/warp_instructions", "link/bytes"):
            for tenant, total in run.by_tenant(counter).sum().items():
                self.assertAlmostEqual(coarse.by_tenant(counter)[tenant].sum() / max(total, 1), 1, places=9)
        last = run.by_tenant("host/resident_pages").iloc[-1].to_dict()
        self.assertEqual(coarse.by_tenant("host/resident_pages").iloc[-1].to_dict(), last)

    def test_kernels_blocks_and_delays_have_a_figure_each(self):
        import matplotlib
        matplotlib.use("Agg")
        from lockstep_analysis import plots
        run = self.lockstep("run", ROOT / "configs/scenarios/two_tenants_tiny.yaml", "--quiet", "--output", "r.h5",
                            "--set", "simulation.record_blocks=true")
        self.assertEqual(run.returncode, 0, run.stderr)
        run = la.load(self.folder / "r.h5")
        bars = plots.kernels(run).axes[0].collections
        self.assertEqual(sum(len(bar.get_paths()) for bar in bars), len(run.table("kernels")))
        shown = plots.blocks(run).axes[0].images[0].get_array()
        self.assertEqual(len(shown), run.table("thread_blocks")["sm"].max() + 1)
        self.assertGreater(shown.max(), 0)
        matrix = plots.delays(run).axes[0].images[0].get_array()
        self.assertEqual(matrix.sum(), run.file["final/stats/partition/dram_wait_behind"][:].sum())


if __name__ == "__main__":
    unittest.main()
