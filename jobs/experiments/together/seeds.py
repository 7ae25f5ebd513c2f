"""Figures of runs that differ in their seed alone: mean, and how far it is to be trusted."""
import math
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402

# Two-sided 95 % quantiles of Student's t distribution, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def interval(values):
    """Returns the mean of what was measured and half of its 95 % confidence interval, NaN where they are unknown."""
    known = [value for value in values if not math.isnan(value)]
    if len(known) < 2:
        return (known or [math.nan])[0], math.nan
    half = STUDENT[len(known) - 1] * statistics.stdev(known) / math.sqrt(len(known))
    return statistics.fmean(known), half


def cell(values, form=".1f"):
    """Returns "mean ± half" for a table; only the mean if one value is known, nothing if none is."""
    mean, half = interval(values)
    return sweeps.cell(mean, form) + ("" if math.isnan(half) else f" ± {half:{form}}")


def run_or_show(text, folder, run, show):
    """The program of such an experiment: `run(arguments)` if asked to, then `show(arguments)`. `--seeds`: how many runs
    differ in their seed alone; at most ten."""
    parser = sweeps.parser_of(text, folder, "show")
    parser.add_argument("--seeds", type=int, choices=range(1, 11), default=5, help="runs of each point")
    arguments = parser.parse_args()
    if arguments.verb == "run":
        run(arguments)
    show(arguments)
