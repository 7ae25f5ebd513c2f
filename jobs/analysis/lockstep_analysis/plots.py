"""Standard plots of a run; each returns a matplotlib figure."""
import matplotlib.pyplot as plt
import numpy as np

from . import metrics

MICROSECOND = 1e9  # fs
STANDARD = ("instructions_per_cycle", "dram_bandwidth", "l2_hit_rate")


def epochs(run, names=STANDARD):
    """Metrics by epoch, one below the other, a line per tenant."""
    figure, axes = plt.subplots(len(names), 1, sharex=True, squeeze=False, figsize=(9, 2.7 * len(names)))
    for axis, name in zip(axes[:, 0], names):
        values = metrics.by_epoch(run, name)
        for tenant in values:
            axis.plot(values.index / MICROSECOND, values[tenant], label=tenant, drawstyle="steps-pre")
        axis.set_ylabel(metrics.title(name))
        axis.grid(alpha=0.3)
    axes[0, 0].legend()
    return _finished(figure, axes[-1, 0])


def kernels(run):
    """When each grid ran, a row per tenant."""
    figure, axis = plt.subplots(figsize=(9, 1 + 0.6 * len(run.tenant_names)))
    table = run.table("kernels")
    end = table["done"].fillna(run.times[-1] if len(run.times) else 0)
    for tenant, name in enumerate(run.tenant_names):
        mine = table["tenant"] == tenant
        starts = table.loc[mine, "launched"].astype(float) / MICROSECOND
        lengths = (end - table["launched"])[mine].astype(float) / MICROSECOND
        axis.broken_barh(list(zip(starts, lengths)), (tenant - 0.4, 0.8), facecolors=f"C{tenant}", edgecolors="white",
                         label=name)
    axis.set_yticks(range(len(run.tenant_names)), run.tenant_names)
    return _finished(figure, axis)


def blocks(run):
    """Thread blocks that each SM has, by time (simulation.record_blocks)."""
    table = run.table("thread_blocks")
    last = run.times[-1] if len(run.times) else 1
    edges = np.linspace(0, last, 401)
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
