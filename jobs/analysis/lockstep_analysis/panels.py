"""What a picture of a run can show over time, by tenant: levels and metrics, each with its unit and its axis."""
from dataclasses import dataclass
from typing import Callable

import pandas as pd

from . import metrics

PAGE_MEBIBYTES = 4096 / 2**20


@dataclass(frozen=True)
class Panel:
    label: str
    values: Callable  # of a run: frame by time and tenant
    scale: float = 1
    most: float = 0  # end of the axis; 0: what the values need
    limit: Callable = None  # of a run: what the values of all tenants together cannot pass

    def of(self, run):
        return self.values(run) * self.scale


def _busy_sms(run):
    active = run.by_tenant("sm/active_cycles")
    seconds = run.elapsed() / metrics.FEMTOSECONDS_PER_SECOND
    return pd.DataFrame({tenant: active[tenant] / (seconds * run.core_clock(tenant)) for tenant in active},
                        index=active.index)


def _resident(run):
    return run.by_tenant("host/resident_pages") * PAGE_MEBIBYTES


def _capacity(run):
    return run.bytes("gpu.memory.capacity") / 2**20


def _waiting(run):
    return run.by_tenant("gmmu/far_faults_waiting")


def _metric(name, label, scale=1.0, most=0.0):
    return Panel(label, lambda run: metrics.by_epoch(run, name), scale, most)


ALL = (
    Panel("SMs with\na thread block", _busy_sms),
    Panel("page faults\nwaiting", _waiting),
    _metric("link_bandwidth", "host link\nGB/s", 1e-9),
    Panel("managed memory\non the GPU, MiB", _resident, limit=_capacity),
    _metric("instructions_per_cycle", "warp instructions\nper cycle"),
    _metric("dram_bandwidth", "DRAM\nGB/s", 1e-9),
    _metric("l2_hit_rate", "L2 hits\n%", 100, 100),
    _metric("l1_hit_rate", "L1 hits\n%", 100, 100),
)


def telling(runs, most=5):
    """The first panels in which something happens in one of the runs, with what each shows of each."""
    shown = []
    for panel in ALL:
        frames = [panel.of(run) for run in runs]
        if len(shown) < most and any((frame.fillna(0) != 0).to_numpy().any() for frame in frames):
            shown.append((panel, frames))
    return shown
