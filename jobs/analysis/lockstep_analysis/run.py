"""One output file: counters by epoch, totals and tables as data frames."""
import pathlib
import re

import h5py
import numpy as np
import pandas as pd

from . import configuration

NEVER = np.iinfo(np.int64).max  # of a time that has not come
HERTZ = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0}


class Run:
    """Names of counters are those of docs/output.md without /stats/: "sm/warp_instructions"."""

    def __init__(self, path, file):
        self.path = str(path)
        self.file = file
        self.times = pd.Index(file["epochs/time"][:], name="time")  # fs; later rows are not complete yet
        self.tenant_names = [name.decode() for name in file["axes/tenants"][:]]
        self.config = file["config"][()].decode()

    @property
    def is_finished(self):
        return "final/end" in self.file

    @property
    def scenario(self):
        """The name of its file, as the command line said."""
        named = re.search(r"([^/ ]+)\.yaml", self.command_line)
        return named[1] if named else pathlib.Path(self.path).stem

    @property
    def machine(self):
        return configuration.by_key(self.config).get("gpu.name", "a GPU")

    @property
    def command_line(self):
        line = self.file["run"].attrs.get("command_line", "") if "run" in self.file else ""
        return line.decode() if isinstance(line, bytes) else str(line)

    @property
    def counters(self):
        """The names of all counters and gauges."""
        found = []
        self.file["stats"].visititems(
            lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        return sorted(found)

    def tenants_of(self, counter):
        """The names of those by which it counts: of one of several GPUs ("gpu1/sm/l1_hits") those there."""
        axis = f"axes/{counter.split('/')[0]}/tenants"
        return [name.decode() for name in self.file[axis][:]] if axis in self.file else self.tenant_names

    def axes(self, counter):
        """What tells the entries of a counter apart, as levels of its index."""
        dataset = self._dataset(counter)
        names = dataset.attrs["axes"]
        names = (names.decode() if isinstance(names, bytes) else str(names)).split(", ")
        axes = []
        for number, name in enumerate(names):
            if name == "epoch":
                axes.append(self.times)
            elif name == "tenant":
                # Of a matrix, the second is the tenant that the first waited for.
                level = "behind" if any(axis.name == "tenant" for axis in axes) else "tenant"
                axes.append(pd.Index(self.tenants_of(counter), name=level))
            elif name == "instance":
                axes.append(pd.RangeIndex(dataset.shape[number], name=name))
            else:
                scale = self.file[f"axes/{counter}_{name}s"][:]
                labels = [label.decode() for label in scale] if name == "name" else scale
                axes.append(pd.Index(labels, name=name))
        return axes

    def values(self, counter):
        """The numbers alone, [epochs, instances, ...]."""
        return self._dataset(counter)[: len(self.times)]

    def __getitem__(self, counter):
        """A frame of one column: increments of a counter, levels of a gauge."""
        index = pd.MultiIndex.from_product(self.axes(counter))
        return pd.DataFrame({counter: self.values(counter).ravel()}, index=index)

    def is_level(self, counter):
        """Of a gauge the rows are levels, of a counter increments."""
        kind = self._dataset(counter).attrs["kind"]
        return "gauge" in (kind.decode() if isinstance(kind, bytes) else str(kind))

    def by_tenant(self, counter):
        """[epochs, tenants]: summed over instances and names."""
        names = [axis.name for axis in self.axes(counter)]
        values = self.values(counter)
        if "tenant" not in names:
            raise KeyError(f"{counter} is not counted by tenant")
        rest = tuple(n for n, name in enumerate(names) if name not in ("time", "tenant"))
        tenants = pd.Index(self.tenants_of(counter), name="tenant")
        return pd.DataFrame(values.sum(axis=rest), index=self.times, columns=tenants)

    def table(self, name):
        """/kernels, /tenants, /faults, /thread_blocks, run/profile/...; a time that never came is missing."""
        if name not in self.file:
            raise KeyError(f"{self.path}: has no /{name}: it was not recorded, or the run has not finished")
        dataset = self.file[name]
        frame = pd.DataFrame.from_records(dataset[:])
        for column in frame:
            if frame[column].dtype == object:
                frame[column] = frame[column].str.decode("utf-8")
            elif self._unit(dataset, column) == "fs":
                times = frame[column].astype("Int64")
                frame[column] = times.mask(times == NEVER)
        return frame

    def setting(self, key):
        """The text of a value of the configuration, such as "gpu.sm.warps"."""
        path = []
        for line in self.config.splitlines():
            name, _, value = line.strip().partition(":")
            path[(len(line) - len(line.lstrip())) // 2:] = [name]
            if ".".join(path) == key:
                return value.strip()
        raise KeyError(f"{self.path}: /config has no {key}")

    def bytes(self, key):
        """A size of the configuration, such as gpu.memory.capacity."""
        found = re.fullmatch(r"(\d+)([KMGT]i)?B", self.setting(key))
        return int(found[1]) * 1024 ** (" KMGT".index(found[2][0]) if found[2] else 0)

    def core_clock(self):
        """Hertz of gpu.sm.clock."""
        found = re.fullmatch(r"([\d.]+)([A-Za-z]+)", self.setting("gpu.sm.clock"))
        return float(found[1]) * HERTZ[found[2]]

    def elapsed(self):
        """Femtoseconds that each row covers: epochs in which nothing happened have none, and count to the next."""
        return np.diff(self.times.to_numpy(), prepend=0)

    def _dataset(self, counter):
        if f"stats/{counter}" not in self.file:
            raise KeyError(f"{self.path}: has no counter {counter}")
        return self.file[f"stats/{counter}"]

    @staticmethod
    def _unit(dataset, column):
        unit = dataset.attrs.get(f"unit of {column}", b"")
        return unit.decode() if isinstance(unit, bytes) else str(unit)
