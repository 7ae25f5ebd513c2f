"""What `lockstep export` writes is all that the file has, in the form that other programs expect."""
import csv
import json
import unittest
from collections import Counter, defaultdict

import h5py

from harness import ROOT, ScenarioTest

NEVER = 2**63 - 1


class Export(ScenarioTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.owner = cls.share_a_folder()
        cls.recorded = cls.make("recorded.h5", "--set", "simulation.record_faults=true", "--set",
                                "simulation.record_blocks=true")

    @classmethod
    def make(cls, name, *settings, scenario="oversubscribed_tiny", status=0):
        run = cls.owner.lockstep("run", ROOT / f"configs/scenarios/{scenario}.yaml", "--quiet", "--output", name,
                                 *settings)
        assert run.returncode == status, run.stderr
        return cls.owner.folder / name

    def export(self, file, *arguments):
        run = self.lockstep("export", file, "--output", "out", *arguments)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        return self.folder / "out"

    def slices(self, file, *arguments):
        trace = json.loads(self.export(file, "--format", "perfetto", *arguments).read_text())
        self.names = {(event["pid"], event["tid"], event["name"]): event["args"]["name"]
                      for event in trace["traceEvents"] if event["ph"] == "M"}
        return [event for event in trace["traceEvents"] if event["ph"] == "X"]

    def test_counters_as_csv_add_up_to_final_stats(self):
        sums = defaultdict(int)
        with open(self.export(self.recorded, "--format", "csv"), newline="") as file:
            for row in csv.DictReader(file):
                self.assertNotEqual(row["value"], "0")
                sums[row["counter"]] += float(row["value"]) if "." in row["value"] else int(row["value"])
        with h5py.File(self.recorded) as file:
            for kind, group in file["stats"].items():
                for name, counter in group.items():
                    if counter.attrs["kind"] in ("counter", b"counter"):
                        total = int(file[f"final/stats/{kind}/{name}"][:].sum())
                        self.assertEqual(sums[f"{kind}/{name}"], total, name)

    def test_csv_names_instance_tenant_and_entry(self):
        with open(self.export(self.recorded, "--format", "csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        one = next(row for row in rows if row["counter"] == "sm/stalls")
        with h5py.File(self.recorded) as file:
            names = [name.decode() for name in file["axes/sm/stalls_names"][:]]
            tenants = [name.decode() for name in file["axes/tenants"][:]]
            epoch = list(file["epochs/time"][:]).index(int(one["time_fs"]))
            place = (epoch, int(one["instance"]), tenants.index(one["tenant"]), names.index(one["name"]))
            self.assertEqual(int(file["stats/sm/stalls"][place]), int(one["value"]))

    def test_a_table_as_csv_has_its_columns_and_rows(self):
        for table in ("kernels", "faults", "thread_blocks", "tenants"):
            with open(self.export(self.recorded, "--format", "csv", "--table", table), newline="") as file:
                rows = list(csv.reader(file))
            with h5py.File(self.recorded) as file:
                self.assertEqual(rows[0], list(file[table].dtype.names))
                self.assertEqual(len(rows) - 1, len(file[table]))
                last = [value.decode() if isinstance(value, bytes) else f"{value:.17g}" if value.dtype == float
                        else str(value) for value in file[table][-1]]
                rows[-1] = [f"{float(text):.17g}" if file[table].dtype[name] == float else text
                            for name, text in zip(rows[0], rows[-1])]
            self.assertEqual(rows[-1], last)

    def test_perfetto_has_a_slice_for_every_row(self):
        count = Counter(event["cat"] for event in self.slices(self.recorded))
        with h5py.File(self.recorded) as file:
            moved = sum(row["class"] == b"migrate" for row in file["faults"][:])
            self.assertEqual(count, {"kernel": len(file["kernels"]), "block": len(file["thread_blocks"]),
                                     "fault": len(file["faults"]), "transfer": moved})
        self.assertGreater(moved, 0)

    def test_slices_of_a_track_nest_and_never_cross(self):
        tracks = defaultdict(list)
        for event in self.slices(self.recorded):
            begin, length = (round(event[key] * 1000) for key in ("ts", "dur"))
            self.assertGreaterEqual(length, 0)
            tracks[event["pid"], event["tid"]].append((begin, -length, begin + length, event["cat"]))
        for events in tracks.values():
            open_ends = []
            for begin, _, end, _ in sorted(events, key=lambda event: event[:2]):
                while open_ends and open_ends[-1] <= begin:
                    open_ends.pop()
                if open_ends:
                    self.assertLessEqual(end, open_ends[-1])
                open_ends.append(end)

    def test_times_are_whole_nanoseconds_of_the_file(self):
        kernels = [event for event in self.slices(self.recorded, "--table", "kernels")]
        self.assertEqual({event["cat"] for event in kernels}, {"kernel"})
        with h5py.File(self.recorded) as file:
            expected = sorted((row["launched"] // 10**6, row["done"] // 10**6) for row in file["kernels"][:])
        found = sorted((round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)) for event in kernels)
        self.assertEqual(found, expected)
        text = (self.folder / "out").read_text()
        self.assertRegex(text, r'"ts": \d+\.\d{3}, "dur": \d+\.\d{3}, ')

    def test_tracks_are_named_after_tenants_and_sms(self):
        self.slices(self.recorded)
        processes = {name for (_, _, what), name in self.names.items() if what == "process_name"}
        with h5py.File(self.recorded) as file:
            expected = {name.decode() for name in file["axes/tenants"][:]}
            expected |= {f"sm[{sm}]" for sm in set(file["thread_blocks"]["sm"])}
        self.assertEqual(processes, expected)

    def test_what_had_not_ended_ends_with_the_run(self):
        cut = self.make("cut.h5", "--set", "simulation.stop_at=40us", "--set", "simulation.record_blocks=true",
                        scenario="two_tenants_tiny", status=4)
        unfinished = [event for event in self.slices(cut) if not event["args"]["finished"]]
        self.assertNotEqual(unfinished, [])
        for event in unfinished:
            self.assertEqual(round((event["ts"] + event["dur"]) * 1000), 40_000)

    def test_mistakes_get_one_line(self):
        plain = self.make("plain.h5", scenario="two_tenants_tiny")
        self.write("notes.txt", "text")
        for arguments, said in (
                ((plain, "--format", "csv", "--table", "faults"),
                 "has no /faults, which was not recorded - run with --set simulation.record_faults=true"),
                ((plain, "--format", "perfetto", "--table", "thread_blocks"),
                 "has no /thread_blocks, which was not recorded - run with --set simulation.record_blocks=true"),
                ((plain, "--format", "csv", "--table", "kernel"), 'there is no such table - did you mean "kernels"?'),
                ((plain, "--format", "perfetto", "--table", "tenants"), "has no slices"),
                (("notes.txt", "--format", "csv"), "notes.txt: cannot read: "),
                (("none.h5", "--format", "csv"), "none.h5: "),
                ((plain, "--format", "csv", "--output", self.recorded), "is an HDF5 file, which would be lost"),
                ((plain, "--format", "csv", "--output", "no/where.csv"), "cannot be written: No such file")):
            with self.subTest(said=said):
                run = self.lockstep("export", *arguments)
                self.assertEqual((run.returncode, run.stdout), (1, ""))
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
                self.assertIn(said, run.stderr)
        self.assertEqual(self.lockstep("export", plain, "--format", "xml").returncode, 2)


if __name__ == "__main__":
    unittest.main()
