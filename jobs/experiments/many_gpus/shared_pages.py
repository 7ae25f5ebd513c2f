#!/usr/bin/python3
"""Managed memory of two GPUs under each peer policy, beside a tenant that one of them is shared with.

    jobs/experiments/many_gpus/shared_pages.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/shared_pages.py show [--quick] [--folder DIR]

A breadth-first search over a graph in managed memory that two V100s with an NVLink between them work on
(managed_graph). `run` lets it go with each `peer_policy`, without and with a tenant bound by DRAM on half of GPU 1;
`show` prints its times, how much faster each policy is than pages that move on each touch, without and with the
neighbour, and what the neighbour pays: do gains that are published for GRIT (HPCA 2024: 60, 49, 29 % over each alone)
hold beside another tenant?
"""
import machines
import tenants

import sweeps

POLICIES = ("migrate", "remote", "duplicate", "driver", "grit")
FABRIC = "nvlink2"
ALONE = "stream-alone"
SHARE = {"v100": 40, "tiny": 2}  # SMs of each where both are


def name_of(policy, beside):
    return f"{policy}-{'beside' if beside else 'alone'}"


def graph(arguments):
    vertices = tenants.size(arguments, 16384, 2048, 256)
    return machines.tenant("graph", "managed_graph", {"vertices": vertices, "edges": 8 * vertices}, gpus=[0, 1],
                           sms=SHARE[tenants.small_gpu(arguments)])


def neighbour(arguments, **more):
    return tenants.small_stream(arguments, gpu=1, sms=SHARE[tenants.small_gpu(arguments)], **more)


def text_of(arguments, policy, beside):
    listed = [graph(arguments)]
    if beside:
        listed.append(neighbour(arguments, relaunch=True))
    return machines.scenario(tenants.small_gpu(arguments), 2, listed, FABRIC,
                             {"peer_policy": policy, "sharing": "spatial"})


def scenarios(arguments):
    texts = {name_of(policy, beside): text_of(arguments, policy, beside)
             for policy in POLICIES for beside in (False, True)}
    return texts | {ALONE: machines.scenario(tenants.small_gpu(arguments), 2, [neighbour(arguments)], FABRIC,
                                             {"sharing": "spatial"})}


def show(arguments):
    times = {(policy, beside): machines.turnaround(arguments, name_of(policy, beside), "graph")
             for policy in POLICIES for beside in (False, True)}
    alone_kernel = machines.kernel_time(arguments, ALONE, "stream")
    rows = {}
    for policy in POLICIES:
        kernel = machines.kernel_time(arguments, name_of(policy, True), "stream")
        rows[policy] = [times[policy, False] / 1e12, machines.slower(times["migrate", False], times[policy, False]),
                        times[policy, True] / 1e12, machines.slower(times["migrate", True], times[policy, True]),
                        machines.slower(kernel, alone_kernel)]
    sweeps.print_table("peer_policy", ("alone, ms", "faster than migrate by, %", "beside, ms",
                                       "faster than migrate by, % (beside)", "neighbour slower by, %"), rows)


if __name__ == "__main__":
    machines.run_or_show(__doc__, "shared-pages", scenarios, show,
                         [ALONE, *(name_of(policy, beside) for policy in POLICIES[:2] for beside in (False, True))],
                         "50ms", lambda _: tenants.FILES)
