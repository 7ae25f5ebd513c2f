"""Derived metrics.  What each is stands once, in metrics.json; `lockstep watch` and `report` are built from it too.

A metric is a sum of counters over another one, or over the cycles or seconds that passed.  Integers are summed exactly
and divided once, so that all programs agree to the last digit.
"""
import json
import pathlib

import numpy as np
import pandas as pd

DEFINITIONS = {
    metric["name"]: metric for metric in json.loads((pathlib.Path(__file__).parent / "metrics.json").read_text())
}
FEMTOSECONDS_PER_SECOND = 1e15


def title(name):
    return f"{DEFINITIONS[name]['title']}, {DEFINITIONS[name]['unit']}"


def by_epoch(run, name):
    """[epochs, tenants]; missing where there was nothing to divide by."""
    metric = DEFINITIONS[name]
    numerator = _sum(run, metric["numerator"])
    if "denominator" in metric:
        return _ratio(numerator, _sum(run, metric["denominator"]))
    passed = _passed(run, metric["per"], run.elapsed())
    return _ratio(numerator, pd.DataFrame({tenant: passed for tenant in numerator}, index=run.times))


def whole(run, name):
    """By tenant, of the whole run; of what /tenants tells, the tenant's own time."""
    metric = DEFINITIONS[name]
    if "whole" in metric and "tenants" in run.file:
        table = run.table("tenants").set_index("tenant")
        return table[metric["whole"]].rename(name)
    numerator = _sum(run, metric["numerator"]).sum()
    if "denominator" in metric:
        return _ratio(numerator, _sum(run, metric["denominator"]).sum()).rename(name)
    time = run.times[-1] if len(run.times) else 0
    return _ratio(numerator, pd.Series(_passed(run, metric["per"], time), index=numerator.index)).rename(name)


def slowdown(shared, alone):
    """By tenant: how many times its instructions per cycle are higher alone.  `alone`: runs by tenant."""
    together = whole(shared, "instructions_per_cycle")
    by_itself = pd.Series({tenant: whole(run, "instructions_per_cycle")[tenant] for tenant, run in alone.items()})
    return (by_itself / together[by_itself.index]).rename("slowdown")


def weighted_speedup(shared, alone):
    return (1 / slowdown(shared, alone)).sum()


def _sum(run, weights):
    return sum(run.by_tenant(counter) * weight for counter, weight in weights.items())


def _passed(run, per, femtoseconds):
    rate = run.core_clock() if per == "cycle" else 1.0
    return np.asarray(femtoseconds, dtype=float) * rate / FEMTOSECONDS_PER_SECOND


def _ratio(numerator, denominator):
    return numerator.astype(float) / denominator.astype(float).where(denominator != 0)
