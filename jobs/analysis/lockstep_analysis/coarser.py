"""Counters of a run in fewer, longer epochs: what a picture can show."""
import numpy as np
import pandas as pd


class Coarser:
    """Epochs of equal length, at most `rows`; what an epoch of the run counted is spread evenly over its time."""

    def __init__(self, run, rows=160):
        self._run = run
        self.tenant_names, self.core_clock, self.gpus = run.tenant_names, run.core_clock, run.gpus
        self._ends = run.times.to_numpy(dtype=float)
        end = self._ends[-1] if len(self._ends) else 1
        shortest = np.diff(self._ends, prepend=0).min(initial=end)
        edges = np.linspace(0, end, int(min(rows, max(end // max(shortest, 1), 1))) + 1)
        self.times = pd.Index(edges[1:], name="time")
        self._edges = edges

    def elapsed(self):
        return np.diff(self._edges)

    def setting(self, key, tenant=None):
        return self._run.setting(key, tenant)

    def has(self, counter):
        return self._run.has(counter)

    def by_tenant(self, counter):
        """Of a level the one at the end of each row; 0 before the first."""
        values = self._run.by_tenant(counter)
        if self._run.is_level(counter):
            levels = np.concatenate((np.zeros((1, values.shape[1])), values.to_numpy(dtype=float)))
            rows = levels[np.searchsorted(self._ends, self.times, side="right")]
            return pd.DataFrame(rows, index=self.times, columns=values.columns)
        ends = np.concatenate(([0], self._ends))
        sums = {tenant: np.concatenate(([0], values[tenant].to_numpy(dtype=float).cumsum())) for tenant in values}
        rows = {tenant: np.diff(np.interp(self._edges, ends, sums[tenant])) for tenant in sums}
        return pd.DataFrame(rows, index=self.times, columns=values.columns)
