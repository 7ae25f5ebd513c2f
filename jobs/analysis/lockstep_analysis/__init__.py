"""Reads what Lockstep writes.

    import lockstep_analysis as la
    run = la.load("two_tenants.h5")
    run["sm/warp_instructions"]            # by time (fs), instance, tenant
    run.table("kernels")                   # one row per grid
    la.metrics.by_epoch(run, "l2_hit_rate")
    la.metrics.whole(run, "instructions_per_cycle")
    la.metrics.slowdown(run, {"graph": la.load("alone.h5")})
    la.load("sweep.h5").tenants            # of `lockstep collect`, by parameters and tenant
"""
from . import metrics
from .files import NoOutput, load
from .run import Run
from .sweep import Sweep

__all__ = ["NoOutput", "Run", "Sweep", "load", "metrics"]
