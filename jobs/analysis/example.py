#!/usr/bin/env python3
"""An analysis to begin with: where the time of each tenant went, and what changed from epoch to epoch.

example.py RUN.h5
"""
import sys

import lockstep_analysis as la


def main(path):
    run = la.load(path)

    print("Metrics of the whole run")
    for name in ("instructions_per_cycle", "l1_hit_rate", "l2_hit_rate"):
        values = la.metrics.whole(run, name)
        print(f"  {la.metrics.title(name):<52}", "  ".join(f"{tenant} {value:.3f}" for tenant, value in values.items()))

    print("The three commonest reasons not to issue")
    stalls = run["sm/stalls"].groupby(level=["tenant", "name"])["sm/stalls"].sum()
    for tenant in run.tenant_names:
        most = stalls[tenant].nlargest(3)
        print(f"  {tenant:<16}", ", ".join(f"{cause} {slots / max(stalls[tenant].sum(), 1):.0%}"
                                           for cause, slots in most.items()))

    print("The busiest epoch")
    executed = run.by_tenant("sm/warp_instructions").sum(axis=1)
    print(f"  ends at {executed.idxmax() / 1e9:.1f} us: {executed.max():.0f} of {executed.sum():.0f} warp instructions")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except la.NoOutput as error:
        sys.exit(str(error))
