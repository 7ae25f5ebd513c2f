"""The page of `lockstep report`, as a browser shows it: all values, no message, no request."""
import html
import json
import re
import subprocess
import sys
import unittest

import h5py

from harness import ROOT, ScenarioTest
from short_numbers import in_short

sys.path.insert(0, str(ROOT / "jobs/analysis"))

import lockstep_analysis as la  # noqa: E402


class Report(ScenarioTest):
    def make(self, name, *settings, scenario="two_tenants_tiny"):
        run = self.lockstep("run", ROOT / f"configs/scenarios/{scenario}.yaml", "--quiet", "--output", name, "--set",
                            "simulation.record_blocks=true", *settings)
        self.assertEqual(run.returncode, 0, run.stderr)

    def report(self, *files):
        run = self.lockstep("report", *files, "--output", "page.html")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        return (self.folder / "page.html").read_text()

    def browse(self, *arguments):
        """What chromium prints; no console message, no request but the page."""
        self.folder.joinpath("profile").mkdir(exist_ok=True)
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                   "--enable-logging=stderr",
                   f"--user-data-dir={self.folder}/profile", f"--log-net-log={self.folder}/net.json",
                   "--window-size=1200,5000", *arguments, f"file://{self.folder}/page.html"]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("CONSOLE", run.stderr)
        return run.stdout

    def dumped_tables(self, dom, kind):
        """By name: the texts of the cells, row by row."""
        found = {}
        for name, body in re.findall(rf'<table[^>]* data-{kind}="([^"]+)">(.*?)</table>', dom, re.DOTALL):
            rows = re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
            found[name] = [[html.unescape(re.sub(r"<[^>]*>", "", cell))
                            for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows]
        return found

    def test_every_series_and_its_last_value_stand_in_the_page(self):
        self.make("o.h5")
        self.report("o.h5")
        series = self.dumped_tables(self.browse("--dump-dom"), "series")
        run = la.load(self.folder / "o.h5")
        self.assertEqual(list(series), list(la.metrics.DEFINITIONS))
        for name, rows in series.items():
            last, whole = la.metrics.by_epoch(run, name).iloc[-1], la.metrics.whole(run, name)
            self.assertEqual([row[0] for row in rows[1:]], run.tenant_names)
            for tenant, shown_last, shown_whole in rows[1:]:
                for shown, value in ((shown_last, last[tenant]), (shown_whole, whole[tenant])):
                    self.assertEqual(None if shown == "-" else float(shown), None if value != value else value, name)

    def test_kernels_of_each_tenant_are_those_of_the_package_longest_first(self):
        self.make("o.h5")
        self.report("o.h5")
        head, *rows = self.dumped_tables(self.browse("--dump-dom"), "table")["kernels"]
        run = la.load(self.folder / "o.h5")
        sums = la.metrics.kernels(run)
        self.assertEqual(head[6:-1], [metric["short"] for metric in la.metrics.KERNEL_DEFINITIONS.values()])
        self.assertEqual(len(rows), len(sums))
        places = []
        for tenant, kernel, launches, duration, cycles, instructions, *values, faults in rows:
            of = sums.loc[(tenant, kernel)]
            places.append((run.tenant_names.index(tenant), -of["cycles"]))
            self.assertEqual([int(text.replace(",", "")) for text in (launches, cycles, instructions, faults)],
                             [of[name] for name in ("launches", "cycles", "warp_instructions", "far_faults")])
            self.assertAlmostEqual(float(duration), of["duration"] / 1e9, places=2)
            self.assertEqual(values, [in_short(metric, of[name])
                                      for name, metric in la.metrics.KERNEL_DEFINITIONS.items()])
        self.assertEqual(places, sorted(places))

    def test_every_plot_and_timeline_has_something_drawn(self):
        self.make("o.h5")
        self.report("o.h5")
        dom = self.browse("--dump-dom")
        lacks = {"cluster_occupancy"}  # no kernel has clusters
        self.assertEqual(dom.count('class="plot"'), len(set(la.metrics.DEFINITIONS) - lacks))
        self.assertIn('class="dygraph-axis-label dygraph-axis-label-y"', dom)
        self.browse(f"--screenshot={self.folder}/page.png")
        import matplotlib.image
        pixels = matplotlib.image.imread(self.folder / "page.png")[:, :, :3]
        for colour in ("0072b2", "d55e00"):  # of both tenants
            wanted = [int(colour[i:i + 2], 16) / 255 for i in (0, 2, 4)]
            self.assertGreater((abs(pixels - wanted).max(axis=2) < 0.02).sum(), 500, colour)

    def test_it_asks_for_nothing_but_the_page(self):
        self.make("o.h5")
        text = self.report("o.h5")
        self.assertIn("default-src 'none'", text)
        self.assertIn("Permission is hereby granted, free of charge", text)
        self.browse("--dump-dom")
        log = (self.folder / "net.json").read_text()
        log = json.loads(log if log.rstrip().endswith("}") else log.rstrip().rstrip(",") + "]}")
        start, of_browser = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"], "not an origin"
        asked = [event["params"]["url"] for event in log["events"]
                 if event["type"] == start and event.get("params", {}).get("initiator", of_browser) != of_browser]
        self.assertEqual(asked, [])

    def test_two_files_are_compared(self):
        self.make("a.h5")
        self.make("b.h5", "--set", "gpu.sm.clock=800MHz")
        self.report("a.h5", "b.h5")
        dom = self.browse("--dump-dom")
        rows = self.dumped_tables(dom, "table")["comparison"][1:]
        for row, one, other in zip(rows, *(la.load(self.folder / name).table("tenants").itertuples()
                                           for name in ("a.h5", "b.h5"))):
            self.assertEqual(row[0], one.tenant)
            self.assertEqual(int(row[4].replace(",", "")), one.cycles)
            self.assertEqual(int(row[5].replace(",", "")), other.cycles)
        names = [row[0] for row in self.dumped_tables(dom, "series")["l2_hit_rate"][1:]]
        self.assertEqual(names, ["A: graph", "A: dense", "B: graph", "B: dense"])

    def test_long_series_keep_the_extremes_of_every_pixel(self):
        self.make("o.h5", "--set", "simulation.epoch=25ns")
        text = self.report("o.h5")
        run = la.load(self.folder / "o.h5")
        self.assertGreater(len(run.times), 2000)
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1))
        for plot in data["plots"]:
            self.assertLessEqual(len(plot["rows"]), 2000)
            values = la.metrics.by_epoch(run, plot["name"])
            for column, tenant in enumerate(values, 1):
                shown = [row[column] for row in plot["rows"] if row[column] is not None]
                if values[tenant].notna().any():
                    self.assertEqual((min(shown), max(shown)), (values[tenant].min(), values[tenant].max()))

    def test_delays_are_those_of_the_file(self):
        self.make("o.h5")
        text = self.report("o.h5")
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text).group(1))
        with h5py.File(self.folder / "o.h5") as file:
            for delay in data["runs"][0]["delays"]:
                matrix = file[f"final/stats/{delay['counter']}"][:].sum(axis=0)
                self.assertEqual(delay["cycles"], matrix.ravel().tolist())


if __name__ == "__main__":
    unittest.main()
