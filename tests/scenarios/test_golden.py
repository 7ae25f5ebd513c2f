"""Golden statistics: what small runs count stands in golden/, beside the reason where it can be worked out.

A change of the simulated machine shows as a difference that a person must accept:

    LOCKSTEP_RENEW_GOLDEN=1 ctest --test-dir build/release -R scenarios_test_golden && git diff tests/scenarios/golden

writes the values anew and keeps the reasons, which have to be read again.  Counters that are zero are left out.
"""
import copy
import difflib
import os
import pathlib
import re
import unittest

import h5py
import yaml

from harness import ROOT, ScenarioTest

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
FILES = sorted(GOLDEN.rglob("*.yaml"))
RENEW = "LOCKSTEP_RENEW_GOLDEN" in os.environ
REASON_COLUMN = 36


def tell(values, axes, scales):
    """A number; a list by tenant; a map by name or by the least value of a bin, without zeros."""
    if not axes:
        return int(values)
    entries = [tell(value, axes[1:], scales[1:]) for value in values]
    if axes[0] == "tenant":
        return entries[0] if len(entries) == 1 else entries
    labels = [label.decode() if isinstance(label, bytes) else int(label) for label in scales[0]]
    return {label: entry for label, entry in zip(labels, entries) if entry}


def holds_anything(value):
    return any(map(holds_anything, value)) if isinstance(value, list) else bool(value)


def kinds(stats):
    """The groups that hold counters, by name: those of one of several GPUs are "gpu1/sm"."""
    for name, group in stats.items():
        if any(isinstance(item, h5py.Group) for item in group.values()):
            yield from ((f"{name}/{kind}", inner) for kind, inner in group.items())
        else:
            yield name, group


def count(path):
    """All counters of an output file that counted something, summed over the instances of a kind."""
    counted = {}
    with h5py.File(path, "r") as file:
        for kind, group in kinds(file["final/stats"]):
            for name, values in group.items():
                if values.attrs["kind"] != b"counter":
                    continue
                series = file["stats"][kind][name]
                axes = values.attrs["axes"].decode().split(", ")
                scales = [scale[0][:] for scale in series.dims][2:]
                total = tell(values[...].sum(axis=0), axes[1:], scales)
                assert total == tell(series[...].sum(axis=(0, 1)), axes[1:], scales), f"the epochs of {kind}.{name}"
                if holds_anything(total):
                    counted.setdefault(kind, {})[name] = total
    return counted


def show(value):
    return yaml.safe_dump(value, default_flow_style=True, width=10**6, sort_keys=False).replace("\n...", "").strip()


class Golden:
    """One file: its text up to the statistics, what it expects, and the reasons by path."""

    def __init__(self, path):
        self.path = path
        self.text = path.read_text()
        self.head, _, values = self.text.partition("statistics:\n")
        document = yaml.safe_load(self.text)
        self.scenario = document["scenario"]
        self.statistics = document.get("statistics") or {}
        self.reasons, kind = {}, ""
        for line in values.splitlines():
            found = re.match(r"( +)([\w/]+):(?:.*?)(?:\s# (.*))?$", line)
            kind = found[2] if len(found[1]) == 2 else kind
            if found[3]:
                self.reasons[kind, found[2]] = found[3]

    def written_with(self, statistics):
        lines = ["statistics:"]
        for kind in sorted(statistics):
            lines.append(f"  {kind}:")
            for name, value in sorted(statistics[kind].items()):
                line = f"    {name}: {show(value)}"
                if (kind, name) in self.reasons:
                    line = f"{line:{REASON_COLUMN}}  # {self.reasons[kind, name]}"
                lines.append(line)
        return self.head + "\n".join(lines) + "\n"

    def difference(self, statistics):
        return "".join(difflib.unified_diff(
            self.written_with(self.statistics).splitlines(True), self.written_with(statistics).splitlines(True),
            str(self.path.relative_to(GOLDEN.parent)), "this run", n=0))


class GoldenStatistics(ScenarioTest):
    def statistics_of(self, golden):
        text = yaml.safe_dump(golden.scenario, sort_keys=False)
        self.write("s.yaml", text.replace("configs/", f"{ROOT}/configs/"))
        if "profile: alone.h5" in text:  # of what policies.preemption goes by
            alone = self.lockstep("run", "s.yaml", "--quiet", "--set", "policies.preemption=none",
                                  "--set", "simulation.record_blocks=true", "--output", "alone.h5")
            self.assertEqual(alone.returncode, 0, alone.stderr)
        if "plan: plan.yaml" in text:
            self.write("plan.yaml", "- {urgent: 1, others: drain}\n- {urgent: 2, others: switch}\n")
        run = self.lockstep("run", "s.yaml", "--quiet", "--check", "--output", "o.h5")
        self.assertEqual(run.returncode, 0, run.stderr)
        return count(self.folder / "o.h5")

    def test_every_scenario_counts_what_is_written(self):
        self.assertGreaterEqual(len(FILES), 12)
        for path in FILES:
            with self.subTest(scenario=path.relative_to(GOLDEN)):
                golden = Golden(path)
                statistics = self.statistics_of(golden)
                if RENEW:
                    path.write_text(golden.written_with(statistics))
                    continue
                self.assertEqual(golden.text, golden.written_with(golden.statistics), "is not written as renewed")
                difference = golden.difference(statistics)
                self.assertEqual(difference, "", f"\n{difference}see the top of test_golden.py")

    def test_a_doubled_counter_is_a_difference(self):
        golden = Golden(GOLDEN / "l1_latency.yaml")
        doubled = copy.deepcopy(golden.statistics)
        doubled["sm"]["l1_hits"] *= 2
        self.assertRegex(golden.difference(doubled), r"(?m)^-    l1_hits: \d+.*\n\+    l1_hits: \d+")
        self.assertEqual(golden.difference(golden.statistics), "")

    def test_every_kind_of_component_is_counted_somewhere(self):
        counted = set()
        for path in FILES:
            counted |= set(Golden(path).statistics)
        self.assertGreaterEqual(counted, {"dispatcher", "gmmu", "host", "link", "partition", "sm"})

    def test_every_policy_is_counted_somewhere(self):
        """Also one that is added tomorrow."""
        page = self.lockstep("describe", "policies").stdout
        known = set(re.findall(r"(?m)^policies\.(\w+)\{([\w-]+)\} ", page))
        usual = dict(re.findall(r"(?m)^policies\.(\w+) +policy +([\w-]+) ", page))
        self.assertEqual(set(usual), {point for point, _ in known})
        counted = set()
        for path in FILES:
            for point, choice in {**usual, **Golden(path).scenario.get("policies", {})}.items():
                counted.add((point, choice if isinstance(choice, str) else choice["name"]))
        self.assertEqual(known - counted, set())


if __name__ == "__main__":
    unittest.main()
