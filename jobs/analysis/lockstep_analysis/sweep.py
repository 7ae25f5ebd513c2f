"""What `lockstep collect` wrote: one row per point of a sweep."""
import numpy as np
import pandas as pd


def decoded(values):
    """Texts as such, numbers as they are."""
    return values if values.dtype.kind not in "SO" else np.char.decode(values.astype("S"))


class Sweep:
    """Parameters are numbers where all of a key are, else texts, as the sweep's file has them."""

    def __init__(self, path, file):
        self.path = str(path)
        self.file = file
        self.parameters = pd.DataFrame(
            {key: decoded(file["parameters"][key][:]) for key in file["parameters"]})
        self.points = self.parameters.assign(
            name=[name.decode() for name in file["points/name"][:]],
            status=[status.decode() for status in file["points/status"][:]])

    @property
    def is_finished(self):
        return bool((self.points["status"] == "done").all())

    @property
    def tenants(self):
        """Columns of /tenants, by parameters and number of the tenant; only points that are done."""
        columns = self.file.get("tenants", {})
        parts = {name: self._rows(f"tenants/{name}", "tenant") for name in columns}
        return pd.DataFrame(parts)

    def total(self, counter):
        """What each point counted in all, by parameters and the counter's axes; summed over instances."""
        return self._rows(f"final/stats/{counter}", "entry").rename(counter).to_frame()

    @property
    def metrics(self):
        """Of `lockstep compare`, by parameters."""
        values = {name: self.file["metrics"][name][:] for name in self.file.get("metrics", {})}
        return pd.DataFrame(values, index=self._index())[self._done()]

    def _done(self):
        return (self.points["status"] == "done").to_numpy()

    def _index(self):
        return pd.MultiIndex.from_frame(self.parameters)

    def _rows(self, path, level):
        """A series with one entry per point and place in its row."""
        if path not in self.file:
            raise KeyError(f"{self.path}: has no /{path}")
        values = decoded(self.file[path][:])
        flat = pd.DataFrame(values.reshape(len(values), -1), index=self._index())[self._done()]
        flat.columns.name = level
        return flat.stack()
