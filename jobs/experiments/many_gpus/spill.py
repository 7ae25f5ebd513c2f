#!/usr/bin/python3
"""Where evicted pages go: to the host or to a neighbour's memory, beside a tenant that uses that memory.

    jobs/experiments/many_gpus/spill.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/spill.py show [--quick] [--folder DIR]

A tenant on GPU 0 of four V100s with an NVLink for each pair goes three times over more managed memory than fits; GPUs
1 to 3 are its own as well, and have free memory. `run` lets pages go to the host, to the next GPU, and to the one with
the least on its way, with pages that move back and such that are reached where they are, without and with a tenant on
GPU 1 that is bound by its DRAM; `show` prints times of the first, and by how much kernels of the second take longer
than alone.
"""
import machines
import tenants

import sweeps

SPILLS = ("host", "neighbour", "least-loaded")
POLICIES = ("migrate", "remote")
FABRIC = "nvlink2"
ALONE = "stream-alone"
SHARE = {"v100": 40, "tiny": 2}  # SMs of each where both are


def name_of(policy, spill, beside):
    return f"{policy}-{spill}-{'beside' if beside else 'alone'}"


def elements(arguments):
    return tenants.size(arguments, 1048576, 65536, 16384)


def neighbour(arguments, **more):
    return tenants.small_stream(arguments, gpu=1, sms=SHARE[tenants.small_gpu(arguments)], **more)


def text_of(arguments, policy, spill, beside):
    parameters = {"n": elements(arguments), "passes": 3}
    if tenants.small_gpu(arguments) == "tiny":
        parameters["blocks"] = 4
    listed = [machines.tenant("passes", "passes.yaml", parameters, gpus=[0, 1, 2, 3],
                              sms=SHARE[tenants.small_gpu(arguments)])]
    if beside:
        listed.append(neighbour(arguments, relaunch=True))
    room = 2 * 4 * elements(arguments) * 3 // 4 // 4096 * 4  # KiB
    room += tenants.size(arguments, 256, 0, 0)  # for page tables
    return machines.scenario(tenants.small_gpu(arguments), 4, listed, FABRIC,
                             {"peer_policy": f"{{name: {policy}, spill: {spill}}}", "prefetcher": "none",
                              "sharing": "spatial"}, {"gpus.0.memory.capacity": f"{room}KiB"})


def points():
    return [(policy, spill, beside) for policy in POLICIES for spill in SPILLS for beside in (False, True)]


def scenarios(arguments):
    texts = {name_of(*point): text_of(arguments, *point) for point in points()}
    return texts | {ALONE: machines.scenario(tenants.small_gpu(arguments), 4, [neighbour(arguments)], FABRIC,
                                             {"sharing": "spatial"})}


def show(arguments):
    rows = {}
    alone_kernel = machines.kernel_time(arguments, ALONE, "stream")
    for policy in POLICIES:
        for spill in SPILLS:
            alone, beside = (machines.turnaround(arguments, name_of(policy, spill, other), "passes")
                             for other in (False, True))
            kernel = machines.kernel_time(arguments, name_of(policy, spill, True), "stream")
            rows[f"{policy}, to {spill}"] = [alone / 1e12, beside / 1e12, machines.slower(beside, alone),
                                             machines.slower(kernel, alone_kernel)]
    columns = ("alone, ms", "beside, ms", "slower by, %", "neighbour slower by, %")
    sweeps.print_table("pages of peer_policy", columns, rows)


if __name__ == "__main__":
    machines.run_or_show(__doc__, "spill", scenarios, show,
                         [ALONE, *(name_of("migrate", spill, beside)
                                   for spill in SPILLS[:2] for beside in (False, True))],
                         "50ms", lambda _: tenants.FILES)
