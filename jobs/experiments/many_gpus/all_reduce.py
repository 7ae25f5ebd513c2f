#!/usr/bin/python3
"""All-reduce in rings of 2, 4 and 8 A100s on NVSwitch 2, beside measurements of DGX nodes.

    jobs/experiments/many_gpus/all_reduce.py run [--quick] [--folder DIR] [--jobs N]
    jobs/experiments/many_gpus/all_reduce.py show [--quick] [--folder DIR]

`run` simulates a `collective` step for each size: copies and sums in a ring, which the host begins step by step;
`show` prints them beside NCCL's times (microsoft/vidur, data/profiling/network/a100_dgx/all_reduce.csv at 7d475133:
medians of nodes of as many GPUs as the ring has).
"""
import machines

import sweeps

# Milliseconds by MiB and GPUs.
MEASURED = {
    2: {4: 0.063, 8: 0.095, 16: 0.139, 32: 0.247, 64: 0.430},
    4: {4: 0.085, 8: 0.123, 16: 0.200, 32: 0.319, 64: 0.603},
    8: {4: 0.099, 8: 0.155, 16: 0.275, 32: 0.411, 64: 0.675},
}
QUICK = (4, 16)
TINY = 1 / 16  # MiB


def name_of(gpus, size):
    return f"ring-{gpus}-{size:g}"


def sizes(arguments):
    return (TINY,) if arguments.tiny else QUICK if arguments.quick else tuple(MEASURED[2])


def workload(gpus, size):
    """Sums of zeros: what is added does not change how long it takes."""
    count = int(size * 2**20) // 4
    ranks = range(gpus)
    buffers = "".join(f"  data{k}: {{type: f32, count: {count}, memory: device, gpu: {k}}}\n"
                      f"  arrived{k}: {{type: f32, count: {count // gpus}, memory: device, gpu: {k}}}\n" for k in ranks)
    return (f"module: {machines.CONFIGS}/workloads/ring_all_reduce.ptx\nbuffers:\n{buffers}program:\n"
            f"  - collective: {{operation: all_reduce, buffers: [{', '.join(f'data{k}' for k in ranks)}], "
            f"arrived: [{', '.join(f'arrived{k}' for k in ranks)}], kernel: add_part}}\n")


def files(arguments):
    return {f"{name_of(gpus, size)}-steps.yaml": workload(gpus, size)
            for gpus in MEASURED for size in sizes(arguments)}


def scenarios(arguments):
    return {name_of(gpus, size): machines.scenario(
        "a100", gpus, [machines.tenant("ring", f"{name_of(gpus, size)}-steps.yaml", gpus=list(range(gpus)))],
        "nvswitch2") for size in sizes(arguments) for gpus in MEASURED}


def show(arguments):
    rows = {}
    for size in sizes(arguments):
        values = []
        for gpus, measured in MEASURED.items():
            simulated = machines.turnaround(arguments, name_of(gpus, size), "ring") / 1e12
            real = measured.get(size, float("nan"))
            values += [sweeps.cell(real, ".3f"), sweeps.cell(simulated, ".3f"),
                       sweeps.cell(100 * (simulated / real - 1), "+.0f")]
        rows[f"{size:g}"] = values
    columns = [f"{gpus} GPUs, {what}" for gpus in MEASURED for what in ("real, ms", "simulated", "%")]
    machines.print_table("MiB", columns, rows)


if __name__ == "__main__":
    machines.run_or_show(__doc__, "all-reduce", scenarios, show, [name_of(2, TINY), name_of(4, TINY)], "60us", files)
