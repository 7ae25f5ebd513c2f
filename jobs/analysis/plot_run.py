#!/usr/bin/env python3
"""Prints and plots a run: instructions per cycle, DRAM bandwidth and L2 hit rate per epoch and tenant.

plot_run.py RUN.h5 [--output RUN.png]
"""
import argparse
import sys

import matplotlib

matplotlib.use("Agg")
import lockstep_analysis as la  # noqa: E402
from lockstep_analysis import plots  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--output", help="PNG file (default: beside the run)")
    arguments = parser.parse_args()
    try:
        run = la.load(arguments.run)
    except la.NoOutput as error:
        sys.exit(str(error))
    if not isinstance(run, la.Run):
        sys.exit(f"{arguments.run}: is a collected sweep: name the output of a run")
    plots.epochs(run).savefig(arguments.output or arguments.run.removesuffix(".h5") + ".png", dpi=120)

    ipc, bandwidth, hits = (la.metrics.whole(run, name) for name in plots.STANDARD)
    print(f"{'tenant':<16}{'IPC':>8}{'DRAM GB/s':>12}{'L2 hits':>9}")
    for tenant in run.tenant_names:
        rate = "-" if hits[tenant] != hits[tenant] else f"{hits[tenant]:.1%}"
        print(f"{tenant:<16}{ipc[tenant]:>8.2f}{bandwidth[tenant] / 1e9:>12.1f}{rate:>9}")


if __name__ == "__main__":
    main()
