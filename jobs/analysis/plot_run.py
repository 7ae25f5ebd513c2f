#!/usr/bin/env python3
"""Prints and plots a run: IPC, DRAM bandwidth and L2 hit rate per epoch and tenant.

plot_run.py RUN.h5 [--output RUN.png]
"""
import argparse
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

FEMTOSECONDS_PER_MICROSECOND = 1e9


class Run:
    """The series of one output file, by tenant."""

    def __init__(self, path):
        try:
            self.file = h5py.File(path, "r")
        except OSError:  # still being written, or left by a run that was killed
            self.file = h5py.File(path, "r", libver="latest", swmr=True)
        self.end = self.file["epochs/time"][:] / FEMTOSECONDS_PER_MICROSECOND
        self.tenants = [name.decode() for name in self.file["axes/tenants"]]

    def counter(self, kind, name):
        """[epochs, tenants]: increments summed over all instances."""
        values = self.file[f"stats/{kind}/{name}"][: len(self.end)].astype(float)
        return values.sum(axis=1)

    def lengths(self):
        """Microseconds that each row covers; idle epochs write none and count to the next."""
        return np.diff(self.end, prepend=0.0)

    def instructions_per_cycle(self):
        hertz = core_clock(self.file["config"][()].decode())
        cycles = self.lengths() * 1e-6 * hertz
        return self.counter("sm", "warp_instructions") / cycles[:, None]

    def dram_bandwidth(self):
        """GB/s."""
        sectors = self.counter("partition", "dram_reads") + self.counter("partition", "dram_writes")
        return sectors * 32 / (self.lengths()[:, None] * 1e-6) / 1e9

    def mean(self, values):
        """Over simulated time."""
        return np.average(values, weights=self.lengths()) if self.end.size and self.end[-1] else 0.0

    def total_l2_hit_rate(self):
        """Of the whole run, by tenant; nan without accesses."""
        hits, misses = (self.counter("partition", f"sector_{what}").sum(axis=0) for what in ("hits", "misses"))
        with np.errstate(invalid="ignore"):
            return hits / (hits + misses)

    def l2_hit_rate(self):
        hits = self.counter("partition", "sector_hits")
        misses = self.counter("partition", "sector_misses")
        with np.errstate(invalid="ignore"):
            return hits / (hits + misses)


def core_clock(config):
    """Hertz of `gpu.sm.clock`, the first clock of the configuration."""
    units = {"GHz": 1e9, "MHz": 1e6, "kHz": 1e3, "Hz": 1.0}
    for line in config.splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "clock":
            for unit, factor in units.items():
                if value.endswith(unit):
                    return float(value[: -len(unit)]) * factor
    raise SystemExit("no clock in /config")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--output", help="PNG file (default: beside the run)")
    arguments = parser.parse_args()
    try:
        run = Run(arguments.run)
    except (OSError, KeyError) as error:
        sys.exit(f"{arguments.run}: no output of a run: {error}")
    series = [
        ("warp instructions per cycle", run.instructions_per_cycle()),
        ("DRAM bandwidth, GB/s", run.dram_bandwidth()),
        ("L2 hit rate", run.l2_hit_rate()),
    ]
    figure, axes = plt.subplots(len(series), 1, sharex=True, figsize=(9, 8))
    for axis, (title, values) in zip(axes, series):
        axis.set_ylabel(title)
        for tenant, name in enumerate(run.tenants):
            axis.plot(run.end, values[:, tenant], label=name, drawstyle="steps-pre")
        axis.grid(alpha=0.3)
    axes[0].legend()
    axes[-1].set_xlabel("simulated time, us")
    figure.tight_layout()
    output = arguments.output or arguments.run.removesuffix(".h5") + ".png"
    figure.savefig(output, dpi=120)

    print(f"{'tenant':<16}{'IPC':>8}{'DRAM GB/s':>12}{'L2 hits':>9}")
    for tenant, name in enumerate(run.tenants):
        ipc, bandwidth = (run.mean(values[:, tenant]) for _, values in series[:2])
        rate = run.total_l2_hit_rate()[tenant]
        hits = "-" if np.isnan(rate) else f"{rate:.1%}"
        print(f"{name:<16}{ipc:>8.2f}{bandwidth:>12.1f}{hits:>9}")


if __name__ == "__main__":
    main()
