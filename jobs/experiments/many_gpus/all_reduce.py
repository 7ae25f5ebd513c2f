#!/usr/bin/python3
"""All-reduce in rings, trees and directly, of 2, 4 and 8 A100s on NVSwitch 2, beside measurements of DGX nodes.

    jobs/experiments/many_gpus/all_reduce.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/all_reduce.py show [--quick] [--folder DIR]

`run` simulates a `collective` step for each size, by one kernel on each GPU, as NCCL does it. For sizes up to 16 MiB it
also does so with kernels along two trees and with kernels that send to all GPUs directly (4 and 8 GPUs), and by copies
and sums in a ring, which the host begins step by step; `show` prints them beside NCCL's times (microsoft/vidur,
data/profiling/network/a100_dgx/all_reduce.csv at 7d475133: medians of nodes of as many GPUs as the ring has).

Sizes up to 512 KiB gave `host.collective_start`: the last table shows how. They are in no other table.
"""
import statistics

import machines

import sweeps

# Milliseconds by MiB and GPUs.
MEASURED = {
    2: {4: 0.063, 8: 0.095, 16: 0.139, 32: 0.247, 64: 0.430},
    4: {4: 0.085, 8: 0.123, 16: 0.200, 32: 0.319, 64: 0.603},
    8: {4: 0.099, 8: 0.155, 16: 0.275, 32: 0.411, 64: 0.675},
}
# Microseconds: median of the medians of all 64 sizes from 2 to 512 KiB. START_SIZE is simulated for them.
SMALL = {2: 46.5, 4: 49.5, 8: 48.0}
START_SIZE = 1 / 4  # MiB
START = 26  # us, host.collective_start
QUICK = (4, 16)
SMALLER = (4, 8, 16)
# The ring, the trees and the direct way of two GPUs are the same pair.
GPUS = {"kernel": (2, 4, 8), "trees": (4, 8), "direct": (4, 8), "copies": (2, 4, 8)}
TINY = 1 / 16  # MiB
# 24 channels as NCCL's on A100s, each a block with 512 threads that work and a warp that posts, or four more (trees).
BLOCKS, THREADS = 24, {"kernel": 544, "trees": 640, "direct": 544}


def name_of(by, gpus, size):
    return f"{by}-{gpus}-{size:g}"


def sizes(arguments, by):
    every = (TINY,) if arguments.tiny else QUICK if arguments.quick else tuple(MEASURED[2])
    return [size for size in every if by == "kernel" or arguments.tiny or size in SMALLER]


def points(arguments):
    small = [] if arguments.tiny else [("kernel", gpus, START_SIZE) for gpus in MEASURED]
    return small + [(by, gpus, size) for by, counts in GPUS.items() for size in sizes(arguments, by)
                    for gpus in counts]


def listed(what, gpus):
    return f"[{', '.join(f'{what}{k}' for k in range(gpus))}]"


def workload(by, gpus, size):
    """Sums of zeros: what is added does not change how long it takes."""
    count = int(size * 2**20) // 4
    others = count // gpus * (gpus - 1)
    room = {"kernel": others, "trees": 2 * count, "direct": others, "copies": count // gpus}[by]
    words = {"trees": 4, "direct": gpus}.get(by, 2)
    buffers = "".join(f"  data{k}: {{type: f32, count: {count}, memory: device, gpu: {k}}}\n"
                      f"  arrived{k}: {{type: f32, count: {room}, memory: device, gpu: {k}}}\n"
                      f"  flags{k}: {{type: u32, count: {words * BLOCKS}, memory: device, gpu: {k}}}\n"
                      for k in range(gpus))
    module, how = ("ring_all_reduce", "kernel: add_part")
    if by != "copies":
        module, algorithm = {"kernel": ("ring_kernel", "ring"), "trees": ("tree_kernel", "tree"),
                             "direct": ("direct_kernel", "direct")}[by]
        how = (f"algorithm: {algorithm}, by: kernel, kernel: {module}, grid: {BLOCKS}, block: {THREADS[by]}, "
               f"flags: {listed('flags', gpus)}")
    return (f"module: {machines.CONFIGS}/workloads/{module}.ptx\nbuffers:\n{buffers}program:\n"
            f"  - collective: {{operation: all_reduce, buffers: {listed('data', gpus)}, "
            f"arrived: {listed('arrived', gpus)}, {how}}}\n")


def files(arguments):
    return {f"{name_of(*point)}-steps.yaml": workload(*point) for point in points(arguments)}


def scenarios(arguments):
    return {name_of(*point): machines.scenario(
        "a100", point[1],
        [machines.tenant("ring", f"{name_of(*point)}-steps.yaml", gpus=list(range(point[1])))], "nvswitch2",
        override={"host.collective_start": f"{START}us"})
        for point in points(arguments)}


def milliseconds(arguments, by, gpus, size):
    return machines.turnaround(arguments, name_of(by, gpus, size), "ring") / 1e12


def show_beside_measurements(arguments, by):
    rows = {}
    for size in sizes(arguments, by):
        values = []
        for gpus in GPUS[by]:
            simulated = milliseconds(arguments, by, gpus, size)
            real = MEASURED[gpus].get(size, float("nan"))
            values += [sweeps.cell(real, ".3f"), sweeps.cell(simulated, ".3f"),
                       sweeps.cell(100 * (simulated / real - 1), "+.0f")]
        rows[f"{size:g}"] = values
    columns = [f"{gpus} GPUs, {what}" for gpus in GPUS[by] for what in ("real, ms", "simulated", "%")]
    sweeps.print_table(f"MiB, by {by}", columns, rows)


def show_start(arguments):
    """What of the time of small sizes is not the kernel's."""
    rows = {}
    for gpus, real in SMALL.items():
        simulated = 1e3 * milliseconds(arguments, "kernel", gpus, START_SIZE) - START
        rows[f"{gpus} GPUs"] = [real, simulated, real - simulated]
    mean = [statistics.fmean(column) for column in zip(*rows.values())]
    sweeps.print_table("up to 512 KiB", ["real, us", f"{1024 * START_SIZE:g} KiB simulated, without start", "rest"],
                       {**rows, "mean": mean}, ".1f")


def show(arguments):
    show_beside_measurements(arguments, "kernel")
    show_beside_measurements(arguments, "trees")
    show_beside_measurements(arguments, "direct")
    show_beside_measurements(arguments, "copies")
    if not arguments.tiny:
        show_start(arguments)


if __name__ == "__main__":
    tiny = [name_of(by, gpus, TINY) for by in ("kernel", "copies") for gpus in (2, 4)]
    tiny += [name_of(by, 4, TINY) for by in ("trees", "direct")]
    machines.run_or_show(__doc__, "all-reduce", scenarios, show, tiny, "60us", files)
