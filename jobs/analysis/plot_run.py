#!/usr/bin/env python3
"""Plots a run over time by tenant, and says what happened; a second run stands beside the first.

plot_run.py RUN.h5 [OTHER.h5] [--output RUN.png] [--same-time]
"""
import argparse
import sys

import matplotlib

matplotlib.use("Agg")
import lockstep_analysis as la  # noqa: E402
from lockstep_analysis import account, plots  # noqa: E402


def load(path):
    try:
        run = la.load(path)
    except la.NoOutput as error:
        sys.exit(str(error))
    if not isinstance(run, la.Run):
        sys.exit(f"{path}: is a collected sweep: name the output of a run")
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("other", nargs="?", help="another run, to compare the first with")
    parser.add_argument("--output", help="PNG file (default: beside the run)")
    parser.add_argument("--same-time", action="store_true", help="both runs on one axis of time")
    arguments = parser.parse_args()
    runs = [load(path) for path in (arguments.run, arguments.other) if path]
    picture = arguments.output or arguments.run.removesuffix(".h5") + ".png"
    plots.overview(*runs, same_time=arguments.same_time).savefig(picture, dpi=120)
    if all(run.is_finished for run in runs):
        print(account.text(*runs))
    print(f"plot: {picture}")


if __name__ == "__main__":
    main()
