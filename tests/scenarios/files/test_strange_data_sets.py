"""HDF5 files of others in which a data set is something else than readers take it for: understood, or one line."""
import shutil
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy

from harness import LOCKSTEP, ROOT, TIME_LIMIT, ScenarioTest, environment, todays

SCENARIO = ROOT / "configs/scenarios/two_tenants_tiny.yaml"
RECORD = ["simulation.record_faults=true", "simulation.record_blocks=true"]


def put(file, name, **how):
    """Another data set in place of this one, with its attributes."""
    attributes = dict(file[name].attrs)
    del file[name]
    new = file.create_dataset(name, **how)
    for key, value in attributes.items():
        if key not in ("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME"):
            new.attrs[key] = value


def first_element(data):
    return data[...].flat[0] if data.size else numpy.zeros((), data.dtype)


def other_width(dtype):
    """The same kind of type, narrower."""
    if dtype.names:
        return numpy.dtype([(name, other_width(dtype[name])) for name in dtype.names])
    return numpy.dtype("S1") if dtype.kind == "S" else numpy.dtype(f"<{dtype.kind}{max(dtype.itemsize // 2, 1)}")


# What a data set becomes, by what is strange about it.
KINDS = {
    "a single value": lambda file, name, old: put(file, name, data=first_element(old)),
    "a single byte": lambda file, name, old: put(file, name, data=numpy.uint8(5)),
    "nothing": lambda file, name, old: put(file, name, data=h5py.Empty(old.dtype)),
    "no rows": lambda file, name, old: put(file, name, shape=(0,), dtype=old.dtype),
    "one row less": lambda file, name, old: put(file, name, data=old[:-1]) if old.shape and old.shape[0] else None,
    "one axis more": lambda file, name, old: put(file, name, data=old[...].reshape((*old.shape, 1))),
    "flat": lambda file, name, old: put(file, name, data=old[...].reshape(-1)),
    "narrow": lambda file, name, old: put(file, name, shape=old.shape, dtype=other_width(old.dtype)),
    "wide": lambda file, name, old: put(file, name, shape=old.shape, dtype="S900"),
    "reals": lambda file, name, old: put(file, name, shape=old.shape, dtype="<f4"),
    "big-endian": lambda file, name, old: put(file, name, shape=old.shape, dtype=">u8"),
    "texts of any length": lambda file, name, old: put(file, name, shape=old.shape, dtype=h5py.string_dtype()),
    "lists": lambda file, name, old: put(file, name, shape=old.shape, dtype=h5py.vlen_dtype("u8")),
    "references": lambda file, name, old: put(file, name, shape=old.shape, dtype=h5py.ref_dtype),
    "ones": lambda file, name, old: put(file, name, data=numpy.full(old.shape, 0xff, "u1").repeat(
        old.dtype.itemsize, axis=-1).reshape(-1).view(old.dtype).reshape(old.shape)) if old.shape else None,
    "a folder": lambda file, name, old: (file.__delitem__(name), file.create_group(name)),
    "missing": lambda file, name, old: file.__delitem__(name),
}


def data_sets(path):
    names = []
    with h5py.File(path) as file:
        file.visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
    return names


class StrangeDataSets(ScenarioTest):
    def strange_files(self, good, names):
        """(what is strange, file) of each data set and kind."""
        with h5py.File(good) as file:
            kept = {name: file[name] for name in names}
            for number, name in enumerate(names):
                for kind, change in KINDS.items():
                    path = self.folder / f"{number}-{kind.replace(' ', '-')}.h5"
                    shutil.copy(good, path)
                    with h5py.File(path, "r+") as strange:
                        old = kept[name]
                        try:
                            change(strange, name, old)
                        except (TypeError, ValueError):  # no such type of this kind
                            path.unlink()
                            continue
                    yield f"{name}: {kind}", path

    def look(self, what, command, folder=None):
        """A complaint, or ""."""
        run = subprocess.run([LOCKSTEP, *map(str, command)], cwd=folder or self.folder, env=environment(),
                             capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT, check=False)
        lines = run.stderr.splitlines()
        if run.returncode not in (0, 1) or "internal error" in run.stderr or "out of memory" in run.stderr:
            return f"{what}: {command[0]}: {run.returncode}: {run.stderr[:300]}"
        if run.returncode == 1 and command[0] != "diff" and (len(lines) != 1 or " - " not in lines[0]):
            return f"{what}: {command[0]}: {run.stderr[:300]}"
        return ""

    def assert_refused_well(self, looks):
        with ThreadPoolExecutor(3) as pool:
            complaints = [complaint for complaint in pool.map(lambda look: self.look(*look), looks) if complaint]
        self.assertEqual(complaints, [], "\n".join(complaints))

    def test_outputs(self):
        words = [word for setting in RECORD for word in ("--set", setting)]
        run = self.lockstep("run", SCENARIO, "--quiet", "--profile", "--check", "--output", "good.h5", *words)
        self.assertEqual(run.returncode, 0, run.stderr)
        good = self.folder / "good.h5"
        series = ["stats/sm/warp_instructions", "stats/host/far_faults", "stats/partition/read_behind"]
        names = [name for name in data_sets(good) if not name.startswith(("stats/", "final/", "axes/"))]
        names += [name for name in series if name in data_sets(good)]
        names += ["final/end", "final/stats/sm/warp_instructions", "axes/tenants", "axes/sm/instance"]
        looks = []
        for what, path in self.strange_files(good, names):
            name = what.split(":")[0]
            commands = [["watch", path], ["report", path, "--output", path.with_suffix(".html")], ["diff", good, path],
                        ["export", path, "--format", "csv", "--output", path.with_suffix(".csv")]]
            if name in ("kernels", "tenants", "thread_blocks", "faults", "config"):
                commands += [["export", path, "--format", "perfetto", "--output", path.with_suffix(".json")],
                             ["export", path, "--format", "csv", "--table", name, "--output", path.with_suffix(".csv")],
                             ["compare", "--shared", path, "--alone", f"{name}={path}", "--output", self.folder / "c"]]
            if name.startswith("run/profile"):
                commands += [["partition", SCENARIO, "--weights", path], ["predict", path]]
            if name in ("run/scenario", "run/facts"):
                commands.append(["run", "--config-of", path, "--quiet", "--output", path.with_suffix(".again.h5")])
            if name in ("kernels", "thread_blocks", "config"):
                commands.append(["validate", SCENARIO, "--set",
                                 f"policies.preemption={{name: oracle, profile: {path}}}"])
            looks += [(what, command) for command in commands]
        self.assert_refused_well(todays(looks, 4))

    def test_outputs_that_a_sweep_collects(self):
        self.write("sweep.yaml", f"scenario: {SCENARIO}\noutput: points\n")
        self.assertEqual(self.lockstep("sweep", "sweep.yaml").returncode, 0)
        good = self.folder / "points" / f"{SCENARIO.stem}.h5"
        names = ["tenants", "final/end", "final/stats/sm/warp_instructions", "final/stats/host/far_faults"]
        for what, path in list(self.strange_files(good, names)):
            shutil.move(path, good)
            self.assertEqual(self.look(what, ["collect", "sweep.yaml", "--output", "c.h5"]), "")
            self.assertEqual(list(self.folder.glob("*.writing")), [])

    def test_outputs_that_runs_go_on_with(self):
        """And checkpoints: each part of one, and its checksums."""
        self.scenario(ROOT / "configs/workloads/sgemm.yaml", "{n: 256}", "simulation: {epoch: 1us}")
        run = ["run", "scenario.yaml", "--quiet", "--output", "o.h5"]
        while not (self.folder / "o.ckpt").exists():  # a fast run may end before its first one
            stop = self.lockstep(*run, "--set", "simulation.stop_at=20us", "--checkpoint-every", "0.001s")
            self.assertEqual(stop.returncode, 4, stop.stderr)
        shutil.copy(self.folder / "o.h5", self.folder / "good.h5")
        shutil.copy(self.folder / "o.ckpt", self.folder / "good.ckpt")
        resume = [*run, "--resume", "o.ckpt"]
        for place, names in (("o.h5", ["epochs/time", "kernels", "stats/sm/warp_instructions", "config"]),
                             ("o.ckpt", ["parts/identity", "parts/run", "parts/recorder", "parts/engine",
                                         "parts/components/host", "checksums/run", "checksums/components/host"])):
            good = self.folder / ("good" + place[1:])
            names = [name for name in names if name in data_sets(good)]
            self.assertGreater(len(names), 3)
            for what, path in todays(self.strange_files(good, names), 3):
                shutil.copy(self.folder / "good.h5", self.folder / "o.h5")
                shutil.copy(self.folder / "good.ckpt", self.folder / "o.ckpt")
                shutil.move(path, self.folder / place)
                self.assertEqual(self.look(what, resume), "")

    def test_recordings(self):
        workload = ROOT / "tests/scenarios/commands/capture/recordings/saxpy.workload"
        self.write("r.yaml", "gpu: tiny\nhost: pcie3\ntenants:\n  - {name: one, workload: x.workload}\n")
        shutil.copytree(workload, self.folder / "x.workload")
        good = workload / "program.h5"
        for what, path in [("as it was", good), *self.strange_files(good, data_sets(good))]:
            shutil.copy(path, self.folder / "x.workload/program.h5")
            for command in (["describe", "x.workload"], ["run", "r.yaml", "--quiet", "--check", "--output", "o.h5"],
                            ["extract", "x.workload", "--launches", "0", "0", "--output", "e.workload"]):
                shutil.rmtree(self.folder / "e.workload", ignore_errors=True)
                self.assertEqual(self.look(what, command), "")


if __name__ == "__main__":
    unittest.main()
