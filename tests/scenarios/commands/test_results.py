"""What a run says at its end: in 80 columns, with the same numbers as every other program, and how it ended."""
import json
import re
import subprocess
import sys
import unittest

from harness import ROOT
from one_kernel import OneKernel
from short_numbers import in_short, rate_text

sys.path.insert(0, str(ROOT / "jobs/analysis"))

import lockstep_analysis as la  # noqa: E402

TWO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"
LONG_NAME = "tenant-with-a-name-of-forty-letters-0001"


class Results(OneKernel):
    def simulate(self, *arguments, scenario=TWO, status=0):
        run = self.lockstep("run", scenario, "--output", "r.h5", *arguments)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def test_no_line_is_longer_than_a_terminal(self):
        self.assertEqual(len(LONG_NAME), 40)
        self.write("s.yaml", f"gpu: {ROOT}/configs/gpus/tiny.yaml\nhost: {ROOT}/configs/hosts/pcie3.yaml\n"
                             "override: {gpu.memory.capacity: 6MiB}\ntenants:\n"
                             f"  - {{name: {LONG_NAME}, workload: {ROOT}/configs/workloads/managed_add.yaml}}\n"
                             f"  - {{name: {LONG_NAME[:-1]}2, workload: {ROOT}/configs/workloads/sgemm.yaml}}\n")
        said = self.simulate("--quiet", scenario="s.yaml").stdout
        self.assertEqual(said, "")
        said = self.simulate("--check", scenario="s.yaml").stdout
        self.assertIn("\n" + LONG_NAME + "\n", said)
        for line in said.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_page_faults_are_no_memory_stalls(self):
        said = self.simulate(scenario=ROOT / "configs/scenarios/managed_add.yaml").stdout
        shares = la.metrics.stall_shares(la.load(self.folder / "r.h5")).loc["add"]
        self.assertGreater(shares["fault"], 0.5)
        self.assertIn(f"{shares['fault']:.0%} fault", said)

    def test_the_table_says_what_the_package_says(self):
        said = self.simulate().stdout
        run = la.load(self.folder / "r.h5")
        ipc = la.metrics.whole(run, "instructions_per_cycle")
        shares = la.metrics.stall_shares(run)
        kernels = la.metrics.kernels(run)
        for tenant in run.tenant_names:
            row = next(line.split() for line in said.splitlines() if line.startswith(tenant + " "))
            self.assertEqual(row[3], rate_text(ipc[tenant]))
            self.assertIn(f"{shares.loc[tenant, 'issued']:.0%} issued", said)
            for kernel, sums in kernels.loc[tenant].iterrows():
                row = next(line.split() for line in said.splitlines() if line.startswith(f"  {kernel} "))
                rates = [sums["occupancy"], sums["l1_hit_rate"], sums["l2_hit_rate"]]
                self.assertEqual(row[1:], [
                    str(int(sums["launches"])), str(int(sums["cycles"])),
                    rate_text(sums["kernel_instructions_per_cycle"]),
                    *("-" if rate != rate else f"{rate:.0%}" for rate in rates),
                    f"{sums['kernel_dram_bandwidth'] / 1e9:.1f}"])

    def test_little_is_not_nothing(self):
        slow = self.simulate("--set", "policies.prefetcher=none", scenario=ROOT / "configs/scenarios/quickstart.yaml")
        ipc = la.metrics.whole(la.load(self.folder / "r.h5"), "instructions_per_cycle")["stream"]
        self.assertLess(ipc, 0.005)
        self.assertRegex(slow.stdout, rf"(?m)^stream .* {ipc:.1g} ")

    def test_kernels_stand_the_longest_first(self):
        said = self.simulate().stdout
        cycles = [int(line.split()[2]) for line in said.splitlines() if re.match(r"  bfs_", line)]
        self.assertEqual(cycles, sorted(cycles, reverse=True))
        self.assertGreater(len(cycles), 1)

    def test_all_programs_say_the_same_of_a_metric(self):
        self.simulate("--quiet")
        run = la.load(self.folder / "r.h5")
        watched = self.lockstep("watch", "r.h5").stdout.splitlines()
        heads = re.split(r"\s{2,}", watched[1].strip())
        plotted = subprocess.run(["/usr/bin/python3", ROOT / "jobs/analysis/plot_run.py", self.folder / "r.h5"],
                                 capture_output=True, text=True, check=True).stdout
        self.lockstep("report", "r.h5")
        page = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>',
                                    (self.folder / "r.html").read_text(), re.DOTALL)[1])
        reported = {plot["name"]: plot["whole"] for plot in page["plots"]}
        for name, metric in la.metrics.DEFINITIONS.items():
            whole = la.metrics.whole(run, name)
            self.assertEqual(reported[name], [None if value != value else value for value in whole], name)
            for tenant, value in whole.items():
                row = next(line for line in watched if line.startswith(tenant + " ")).split()
                self.assertEqual(row[heads.index(metric["short"])], in_short(metric, value), (name, tenant))
        ipc = la.metrics.whole(run, "instructions_per_cycle")
        self.assertEqual([row["ipc"] for row in page["runs"][0]["table"]], ipc.to_list())
        for tenant, value in ipc.items():
            self.assertIn(f"{value:.2f}", next(line for line in plotted.splitlines() if line.startswith(tenant)))

    def test_a_tenant_that_stop_at_cut_off_is_told_of(self):
        run = self.simulate("--set", "simulation.stop_at=60us", status=4)
        self.assertRegex(run.stderr, r"(?m)^lockstep: tenant graph had not finished at 60us, .* - give it more time \(")
        self.assertNotIn("tenant dense", run.stderr)
        self.assertEqual(run.stdout.count("NOT FINISHED"), 1)
        self.assertRegex(run.stdout, r"(?m)^graph .*\n  NOT FINISHED")
        self.assertIn("4 simulation.stop_at came before", " ".join(self.lockstep("run", "--help").stdout.split()))

    def test_a_check_that_could_not_be_made_counts_more(self):
        self.simulate("--set", "simulation.stop_at=30us", "--check", status=3)

    def test_a_sweep_takes_what_stop_at_cut_off_as_a_result(self):
        self.write("w.yaml", f"scenario: {TWO}\ngrid: {{simulation.stop_at: [30us, 40us]}}\n")
        sweep = self.lockstep("sweep", "w.yaml")
        self.assertEqual(sweep.returncode, 0, sweep.stderr)


if __name__ == "__main__":
    unittest.main()
