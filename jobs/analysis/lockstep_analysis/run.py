"""One output file: counters by epoch, totals and tables as data frames.

Of a run with several GPUs "gpu1/sm/l1_hits" is counted on the one; "sm/l1_hits" stands for all of them.
"""
import pathlib
import re

import h5py
import numpy as np
import pandas as pd

from . import configuration

NEVER = np.iinfo(np.int64).max  # of a time that has not come
HERTZ = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0}


def _bytes(text):
    found = re.fullmatch(r"(\d+)([KMGT]i)?B", text)
    return int(found[1]) * 1024 ** (" KMGT".index(found[2][0]) if found[2] else 0)


class Run:
    """Names of counters are those of docs/output.md without /stats/: "sm/warp_instructions"."""

    def __init__(self, path, file):
        self.path = str(path)
        self.file = file
        self.times = pd.Index(file["epochs/time"][:], name="time")  # fs; later rows are not complete yet
        self.tenant_names = [name.decode() for name in file["axes/tenants"][:]]
        self.config = file["config"][()].decode()
        self._settings = configuration.by_key(self.config)

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
        names = [self.setting(f"{gpu}.name") for gpu in self._gpu_keys()]
        kinds = [f"{names.count(name)} x {name}" if len(names) > 1 else name for name in dict.fromkeys(names)]
        return " + ".join(kinds)

    @property
    def gpus(self):
        """Numbers of those that have tenants, where there are several; else nothing."""
        return sorted(int(name[3:]) for name in self.file["axes"] if re.fullmatch(r"gpu\d+", name))

    def gpu_of(self, tenant):
        """Number of the GPU on which a tenant runs, by its name; the first of several; 0 where there is one."""
        return next((gpu for gpu in self.gpus if tenant in self.tenants_of(f"gpu{gpu}/")), 0)

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

    def parts_of(self, counter):
        """The counters that a name stands for: of several GPUs one for each that has it."""
        everywhere = [f"gpu{gpu}/{counter}" for gpu in self.gpus]
        return [part for part in everywhere if f"stats/{part}" in self.file] or [counter]

    def has(self, counter):
        return any(f"stats/{part}" in self.file for part in self.parts_of(counter))

    def axes(self, counter):
        """What tells the entries of a counter of one GPU apart, as levels of its index."""
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
        """A frame of one column: increments of a counter, levels of a gauge.  Of all GPUs, "gpu" is the first level."""
        frames = {}
        for part in self.parts_of(counter):
            index = pd.MultiIndex.from_product(self.axes(part))
            frames[part.split("/")[0]] = pd.DataFrame({counter: self.values(part).ravel()}, index=index)
        return next(iter(frames.values())) if self.parts_of(counter) == [counter] else pd.concat(frames, names=["gpu"])

    def is_level(self, counter):
        """Of a gauge the rows are levels, of a counter increments."""
        kind = self._dataset(self.parts_of(counter)[0]).attrs["kind"]
        return "gauge" in (kind.decode() if isinstance(kind, bytes) else str(kind))

    def by_tenant(self, counter):
        """[epochs, tenants]: summed over instances, names and GPUs."""
        parts = self.parts_of(counter)
        if parts == [counter]:
            return self._by_tenant(counter)
        frames = [self._by_tenant(part).reindex(columns=self.tenant_names, fill_value=0) for part in parts]
        return sum(frames[1:], frames[0]).rename_axis(columns="tenant")

    def _by_tenant(self, counter):
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

    def setting(self, key, tenant=None):
        """The text of a value of the configuration, such as "gpu.sm.warps"; of several GPUs that of a tenant's."""
        if self.gpus and key.startswith("gpu.") and tenant is not None:
            key = f"gpus.{self.gpu_of(tenant)}.{key[len('gpu.'):]}"
        if key not in self._settings:
            raise KeyError(f"{self.path}: /config has no {key}")
        return self._settings[key]

    def bytes(self, key):
        """A size of the configuration, such as gpu.memory.capacity; of several GPUs that of all that have tenants."""
        keys = [key] if not self.gpus else [f"gpus.{gpu}.{key.removeprefix('gpu.')}" for gpu in self.gpus]
        return sum(_bytes(self.setting(each)) for each in keys)

    def core_clock(self, tenant=None):
        """Hertz of gpu.sm.clock; of several GPUs that of a tenant's."""
        found = re.fullmatch(r"([\d.]+)([A-Za-z]+)", self.setting("gpu.sm.clock", tenant))
        return float(found[1]) * HERTZ[found[2]]

    def _gpu_keys(self):
        keys = (re.match(r"gpus\.\d+(?=\.name$)", key) for key in self._settings)
        return [key[0] for key in keys if key] or ["gpu"]

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
