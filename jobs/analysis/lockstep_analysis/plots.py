"""Standard plots of a run; each returns a matplotlib figure."""
import matplotlib.pyplot as plt
import numpy as np

from . import panels
from .coarser import Coarser
from .configuration import differences

MICROSECOND = 1e9  # fs
LIMIT_REACH = 3  # times what the values reach
TIME_UNITS = (("ns", 1e6), ("us", 1e9), ("ms", 1e12), ("s", 1e15))


def overview(run, other=None, same_time=False):
    """What happened over time, by tenant, a panel for each thing that did; a second run stands beside the first.

    `same_time`: both have one axis of time, so that the shorter one ends where it ends in the longer one's.
    """
    runs = [run] if other is None else [run, other]
    coarse = [Coarser(each) for each in runs]
    shown = panels.telling(coarse, most=5 if other is None else 4)
    figure, axes = plt.subplots(max(len(shown), 1), len(runs), squeeze=False, sharex="col", sharey="row",
                                figsize=(5 + 4.5 * len(runs), 1.2 + 1.6 * max(len(shown), 1)))
    for row, (panel, frames) in zip(axes, shown):
        for axis, frame in zip(row, frames):
            _draw(axis, frame)
        row[0].set_ylabel(panel.label)
        top = panel.most or 1.08 * max(np.nanmax(frame.to_numpy(dtype=float)) for frame in frames)
        row[0].set_ylim(0, _with_limit(row, panel, runs, top))  # from 0: a difference looks as large as it is
    longest = max((float(each.times[-1]) for each in runs if len(each.times)), default=1.0)
    for column, (each, title) in enumerate(zip(runs, _titles(runs))):
        _time_axis(axes[-1, column], each, longest, same_time)
        axes[0, column].set_title(title, fontsize="medium")
    figure.suptitle(f"{run.scenario} on {run.machine}")
    figure.align_ylabels(axes[:, 0])
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="lower center", ncol=4, frameon=False)
    inch = 1 / figure.get_figheight()
    figure.tight_layout(rect=(0, (0.1 + 0.25 * -(-len(run.tenant_names) // 4)) * inch, 1, 1 - 0.1 * inch))
    return figure


def colour(tenant):
    """Of the tenant with this number, in every picture: those of Okabe and Ito, which the colour-blind tell apart."""
    palette = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
    return palette[tenant % len(palette)]


def _draw(axis, frame):
    """Steps from the beginning of each epoch to its end."""
    edges = np.concatenate(([0], frame.index.to_numpy(dtype=float)))
    for tenant, name in enumerate(frame):
        values = frame[name].to_numpy(dtype=float)
        axis.stairs(values, edges, color=colour(tenant), label=name, linewidth=1.2, baseline=None)
        axis.stairs(np.nan_to_num(values), edges, color=colour(tenant), alpha=0.12, fill=True)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _with_limit(row, panel, runs, top):
    """Draws what the values cannot pass where it is near enough to be seen beside them; the end of the axis."""
    limits = [panel.limit(run) for run in runs] if panel.limit else []
    for axis, limit in zip(row, limits):
        if limit > LIMIT_REACH * top:
            continue
        axis.axhline(limit, color="#666666", linestyle="--", linewidth=1)
        axis.annotate("capacity", (1, limit), xycoords=("axes fraction", "data"), xytext=(-2, 2),
                      textcoords="offset points", ha="right", fontsize="x-small", color="#666666")
        top = max(top, 1.2 * limit)
    return top


def _time_axis(axis, run, longest, same_time):
    """In the unit that suits the longest run; each has its own length unless both have the longest one's."""
    unit, length = next((pair for pair in TIME_UNITS if longest < 5000 * pair[1]), TIME_UNITS[-1])
    axis.set_xlim(0, float(run.times[-1]) if len(run.times) and not same_time else longest)
    axis.xaxis.set_major_formatter(lambda time, _: f"{time / length:g}")
    axis.set_xlabel(f"simulated time, {unit}")


def _titles(runs):
    """What tells the runs apart."""
    if len(runs) == 1:
        return [""]
    differing = list(differences(*runs).items())[:2]
    return ["; ".join(f"{key}: {values[n]}" for key, values in differing) or run.path for n, run in enumerate(runs)]


def kernels(run):
    """When each grid ran, a row per tenant."""
    figure, axis = plt.subplots(figsize=(9, 1 + 0.6 * len(run.tenant_names)))
    table = run.table("kernels")
    end = table["done"].fillna(run.times[-1] if len(run.times) else 0)
    for tenant, name in enumerate(run.tenant_names):
        mine = table["tenant"] == tenant
        starts = table.loc[mine, "launched"].astype(float) / MICROSECOND
        lengths = (end - table["launched"])[mine].astype(float) / MICROSECOND
        axis.broken_barh(list(zip(starts, lengths)), (tenant - 0.4, 0.8), facecolors=colour(tenant), edgecolors="white",
                         label=name)
    axis.set_yticks(range(len(run.tenant_names)), run.tenant_names)
    return _finished(figure, axis)


def blocks(run):
    """Thread blocks that each SM has, by time (simulation.record_blocks)."""
    table = run.table("thread_blocks")
    last = run.times[-1] if len(run.times) else 1
    edges = np.linspace(0, last, 401)
    if "gpu" in table:  # of several GPUs one above the other
        table["sm"] += table["gpu"] * (int(table["sm"].max()) + 1 if len(table) else 1)
    count = np.zeros((int(table["sm"].max()) + 1 if len(table) else 1, len(edges) - 1))
    for sm, rows in table.groupby("sm"):
        started = np.sort(rows["started"].to_numpy(dtype=np.int64))
        done = np.sort(rows["done"].fillna(last).to_numpy(dtype=np.int64))
        middle = (edges[1:] + edges[:-1]) / 2
        count[sm] = np.searchsorted(started, middle, "right") - np.searchsorted(done, middle, "right")
    figure, axis = plt.subplots(figsize=(9, 4))
    image = axis.imshow(count, aspect="auto", origin="lower", interpolation="nearest",
                        extent=(0, last / MICROSECOND, -0.5, len(count) - 0.5))
    figure.colorbar(image, label="resident thread blocks")
    axis.set_ylabel("SM")
    return _finished(figure, axis)


def delays(run, counter="partition/dram_wait_behind"):
    """Who waited for whom: a matrix of tenants, of the whole run."""
    matrix = run[counter].groupby(level=["tenant", "behind"])[counter].sum().unstack()
    matrix = matrix.reindex(index=run.tenant_names, columns=run.tenant_names)
    figure, axis = plt.subplots(figsize=(5, 4))
    figure.colorbar(axis.imshow(matrix.to_numpy(dtype=float)), label=counter)
    axis.set_xticks(range(len(run.tenant_names)), run.tenant_names)
    axis.set_yticks(range(len(run.tenant_names)), run.tenant_names)
    axis.set_xlabel("behind")
    axis.set_ylabel("waited")
    figure.tight_layout()
    return figure


def _finished(figure, axis):
    axis.set_xlabel("simulated time, us")
    figure.tight_layout()
    return figure
