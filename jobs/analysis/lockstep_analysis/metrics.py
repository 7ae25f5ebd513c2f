"""Derived metrics.  What each is stands once, in metrics.json; the program itself (the table of a run, /kernels,
`watch` and `report`) is built from it too.

A metric is a sum of counters over another one, or over the cycles or seconds that passed.  Integers are summed exactly
and divided once, so that all programs agree to the last digit.  Time is a tenant's whole time, from arrival to end;
what is over the time in which a kernel runs is called kernel_..., as in /kernels.
"""
import json
import pathlib

import numpy as np
import pandas as pd

_FILE = json.loads((pathlib.Path(__file__).parent / "metrics.json").read_text())
DEFINITIONS = {metric["name"]: metric for metric in _FILE["metrics"]}
KERNEL_DEFINITIONS = {metric["kernel"]: metric for metric in _FILE["metrics"] if "kernel" in metric}
FEMTOSECONDS_PER_SECOND = 1e15


def title(name):
    return f"{DEFINITIONS[name]['title']}, {DEFINITIONS[name]['unit']}"


def by_epoch(run, name):
    """[epochs, tenants]; missing where there was nothing to divide by."""
    metric = DEFINITIONS[name]
    numerator = _sum(run, metric["numerator"])
    if "denominator" in metric:
        return _ratio(numerator, _sum(run, metric["denominator"]) * _factor(run, metric))
    passed = {tenant: _passed(run, metric["per"], run.elapsed(), tenant) for tenant in numerator}
    return _ratio(numerator, pd.DataFrame(passed, index=run.times))


def whole(run, name):
    """By tenant, of the whole run; of what /tenants tells, the tenant's own time."""
    metric = DEFINITIONS[name]
    if "whole" in metric and "tenants" in run.file:
        table = run.table("tenants").set_index("tenant")
        return table[metric["whole"]].rename(name)
    numerator = _sum(run, metric["numerator"]).sum()
    if "denominator" in metric:
        return _ratio(numerator, (_sum(run, metric["denominator"]) * _factor(run, metric)).sum()).rename(name)
    time = run.times[-1] if len(run.times) else 0
    passed = pd.Series({tenant: _passed(run, metric["per"], time, tenant) for tenant in numerator.index})
    return _ratio(numerator, passed).rename(name)


def kernels(run):
    """By tenant and kernel, its launches added up: counts, duration, cycles and the metrics of /kernels."""
    table = run.table("kernels")
    table = table[table["launched"].notna()]
    counts = [column for column in table.columns[list(table.columns).index("duration"):]
              if column not in KERNEL_DEFINITIONS]
    table["tenant"] = [run.tenant_names[tenant] for tenant in table["tenant"]]
    groups = table.groupby(["tenant", "kernel"])
    sums = groups[counts].sum()
    sums.insert(0, "launches", groups.size())
    return sums.assign(**{name: kernel_metric(run, sums, name) for name in KERNEL_DEFINITIONS})


def kernel_metric(run, table, name):
    """Of rows of /kernels, or of sums of them."""
    metric = KERNEL_DEFINITIONS[name]
    numerator = _columns(table, metric["numerator"])
    if "denominator" in metric:
        factor = _factor(run, metric)
        if isinstance(factor, pd.Series):
            factor = factor.reindex(_tenants_of_rows(run, table)).to_numpy()
        return _ratio(numerator, _columns(table, metric["denominator"]) * factor).rename(name)
    passed = table["cycles"] if metric["per"] == "cycle" else table["duration"] / FEMTOSECONDS_PER_SECOND
    return _ratio(numerator, passed.astype(float)).rename(name)


def stall_shares(run):
    """[tenants, causes]: of all slots in which schedulers might have issued; "issued": they did."""
    slots = run["sm/stalls"].groupby(level=["tenant", "name"])["sm/stalls"].sum().unstack()
    slots["issued"] = run.by_tenant("sm/issue_slots").sum()
    return slots.div(slots.sum(axis=1).where(lambda total: total != 0), axis=0).reindex(run.tenant_names)


def slowdown(shared, alone):
    """By tenant: how many times its instructions per cycle are higher alone.  `alone`: runs by tenant."""
    together = whole(shared, "instructions_per_cycle")
    by_itself = pd.Series({tenant: whole(run, "instructions_per_cycle")[tenant] for tenant, run in alone.items()})
    return (by_itself / together[by_itself.index]).rename("slowdown")


def weighted_speedup(shared, alone):
    return (1 / slowdown(shared, alone)).sum()


def _sum(run, weights):
    """0 of a part that the machine does not have, as hubs without clusters."""
    nothing = pd.DataFrame(0, index=run.times, columns=pd.Index(run.tenant_names, name="tenant"))
    return sum(run.by_tenant(counter) * weight if run.has(counter) else nothing for counter, weight in weights.items())


def _columns(table, weights):
    columns = _FILE["columns of /kernels"]
    return sum(table[column] * weight for counter, weight in weights.items() for column in columns[counter])


def _factor(run, metric):
    """By tenant where GPUs may differ."""
    if "denominator_times" not in metric:
        return 1
    key = metric["denominator_times"]
    if not run.gpus:
        return int(run.setting(key))
    return pd.Series({tenant: int(run.setting(key, tenant)) for tenant in run.tenant_names})


def _tenants_of_rows(run, table):
    """Names: of rows of /kernels, or of sums by tenant and kernel."""
    if "tenant" in table:
        return [run.tenant_names[tenant] for tenant in table["tenant"]]
    return table.index.get_level_values("tenant")


def _passed(run, per, femtoseconds, tenant):
    rate = run.core_clock(tenant) if per == "cycle" else 1.0
    return np.asarray(femtoseconds, dtype=float) * rate / FEMTOSECONDS_PER_SECOND


def _ratio(numerator, denominator):
    return numerator.astype(float) / denominator.astype(float).where(denominator != 0)
