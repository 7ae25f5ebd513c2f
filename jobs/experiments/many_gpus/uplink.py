#!/usr/bin/python3
"""The tenant that pays without sharing a GPU: two V100s behind one uplink of the PCIe tree, a tenant on each.

    jobs/experiments/many_gpus/uplink.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/uplink.py show [--quick] [--folder DIR]

`run` lets a tenant that pages, one that copies and one that computes run beside each kind of neighbour on the other
GPU, with links of their own, with an uplink of one link's rate, and with one of half of it; `show` prints by how much
each is slower than without a neighbour. With links of their own they meet at the driver alone, which has a queue for
each GPU.
"""
import machines
import tenants

import sweeps

VICTIMS = {"paging": tenants.paging, "copying": tenants.copying, "dense": tenants.dense}
NEIGHBOURS = {"none": None, **VICTIMS}
JOINS = {"own links": None, "one link's rate": "11.223GB/s", "half of it": "5.6115GB/s"}


def name_of(victim, neighbour, join):
    return f"{victim}-{neighbour}-{list(JOINS).index(join)}"


def text_of(arguments, victim, neighbour, join):
    listed = [VICTIMS[victim](arguments, "victim", gpu=0)]
    if NEIGHBOURS[neighbour]:
        listed.append(NEIGHBOURS[neighbour](arguments, "neighbour", gpu=1, relaunch=True))
    uplinks = JOINS[join] and {"host.uplinks": f"[{{gpus: [0, 1], bandwidth: {JOINS[join]}}}]"}
    return machines.scenario(tenants.gpu(arguments), 2, listed, override=uplinks)


def points():
    return [(victim, neighbour, join) for victim in VICTIMS for neighbour in NEIGHBOURS for join in JOINS]


def scenarios(arguments):
    return {name_of(*point): text_of(arguments, *point) for point in points()}


def show(arguments):
    columns = [f"beside {name}, {join}" for name in list(NEIGHBOURS)[1:] for join in JOINS]
    rows = {}
    for victim in VICTIMS:
        values = []
        for neighbour in list(NEIGHBOURS)[1:]:
            for join in JOINS:
                alone, beside = (machines.turnaround(arguments, name_of(victim, other, join), "victim")
                                 for other in ("none", neighbour))
                values.append(machines.slower(beside, alone))
        rows[victim] = values
    sweeps.print_table("slower by, %", columns, rows, ".1f")


if __name__ == "__main__":
    machines.run_or_show(__doc__, "uplink", scenarios, show,
                         [name_of("copying", other, join) for other in ("none", "copying")
                          for join in ("own links", "one link's rate")], "5ms", lambda _: tenants.FILES)
