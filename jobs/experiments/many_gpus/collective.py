#!/usr/bin/python3
"""A collective beside a tenant that is bound by DRAM: who pays at which port, cache and channel.

    jobs/experiments/many_gpus/collective.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/collective.py show [--quick] [--folder DIR]

Sums in a ring of four A100s on NVSwitch 2, and training steps whose gradients are summed so (data_parallel_step).
`run` lets each go alone and beside a tenant on half of GPU 3: one bound by DRAM, and one that gathers from GPU 2 over
the fabric. `show` prints by how much each is slower, and the time that the ring's lines waited behind the neighbour's.
"""
import machines
import tenants

import sweeps

COLLECTIVES = ("ring_all_reduce", "data_parallel_step")
NEIGHBOURS = ("none", "stream", "gather")
SHARE = {"a100": 54, "tiny": 2}  # SMs of each where both are
RESOURCES = ("port_out", "port_in", "l2_bank", "dram")


def gpu(arguments):
    return "tiny" if arguments.tiny else "a100"


def name_of(collective, neighbour):
    return f"{collective}-{neighbour}"


def ring(arguments, collective):
    sizes = {"ring_all_reduce": {"part": tenants.size(arguments, 1048576, 32768, 1024),
                                 "blocks": tenants.size(arguments, 216, 54, 4)},
             "data_parallel_step": {"features": tenants.size(arguments, 16384, 1024, 256),
                                    "batch": tenants.size(arguments, 256, 32, 16),
                                    "blocks": tenants.size(arguments, 108, 54, 2)}}[collective]
    return machines.tenant(collective, collective, sizes, gpus=[0, 1, 2, 3], sms=SHARE[gpu(arguments)])


def beside(arguments, neighbour):
    more = {"sms": SHARE[gpu(arguments)], "relaunch": True}
    if neighbour == "stream":
        return tenants.stream(arguments, gpu=3, **more)
    elements = {"n": tenants.size(arguments, 1048576, 32768, 2048), "blocks": tenants.size(arguments, 216, 108, 4)}
    return machines.tenant("gather", "peer_gather", elements, gpus=[2, 3], **more)


def text_of(arguments, collective, neighbour):
    listed = [ring(arguments, collective)]
    if neighbour != "none":
        listed.append(beside(arguments, neighbour))
    return machines.scenario(gpu(arguments), 4, listed, "nvswitch2", {"sharing": "spatial"})


def points():
    return [(collective, neighbour) for collective in COLLECTIVES for neighbour in NEIGHBOURS]


def scenarios(arguments):
    return {name_of(*point): text_of(arguments, *point) for point in points()}


@sweeps.blank_if_missing(len(RESOURCES))
def waited(arguments, run):
    """Microseconds that requests of the collective waited behind the neighbour's, by resource."""
    sums = dict.fromkeys(RESOURCES, 0.0)
    with machines.output(arguments, run) as file:
        for on_gpu in file["interference"].values():
            for resource in RESOURCES:
                if resource in on_gpu and len(on_gpu[resource]) > 1:  # both tenants are there
                    sums[resource] += float(on_gpu[resource][0, 1]) / 1e3  # of ns
    return list(sums.values())


def show(arguments):
    rows = {}
    for collective in COLLECTIVES:
        alone = machines.turnaround(arguments, name_of(collective, "none"), collective)
        for neighbour in NEIGHBOURS[1:]:
            run = name_of(collective, neighbour)
            rows[f"{collective} beside {neighbour}"] = [
                alone / 1e12, machines.slower(machines.turnaround(arguments, run, collective), alone),
                *waited(arguments, run)]
    sweeps.print_table("", ("alone, ms", "slower by, %", *(f"waited at {name}, us" for name in RESOURCES)), rows)


if __name__ == "__main__":
    machines.run_or_show(__doc__, "collective", scenarios, show,
                         [name_of("ring_all_reduce", neighbour) for neighbour in NEIGHBOURS], "50ms",
                         lambda _: tenants.FILES)
