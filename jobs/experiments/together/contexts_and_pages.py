#!/usr/bin/python3
"""Do blocks that wait for pages gain by leaving when memory is short, where their contexts take room from pages?

    jobs/experiments/together/contexts_and_pages.py run [--seeds 5] [--folder DIR] [--jobs N]
    jobs/experiments/together/contexts_and_pages.py show [--seeds 5] [--folder DIR]

A kernel whose data come from CPU memory runs on two SMs of the machine of Tanasic et al. 2017 (000, Table 1) with
NVLink. GPU memory has room for a part of its data. Blocks that wait for pages stay, or leave their SM (section 4.1), at
most one or four of each SM; their contexts are as large as what they occupy, or live registers alone, compressed (Lin
et al., 002, section III). The places of contexts are in GPU memory and leave that much less for pages. `free` contexts
move at once and take no memory. Runs of a point differ in the seed of the kernel's data.

`show` prints how long the kernel takes, over the time that it takes with enough memory and without leaving, and how
many pages are evicted: means over seeds, with half of their 95 % confidence intervals.
"""
import math
import pathlib
import re
import sys

import seeds

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "exceptions"))

import benchmarks  # noqa: E402
import runs  # noqa: E402
import sweeps  # noqa: E402

# Kernels whose accesses depend on their data, and the bytes of their managed buffers.
KERNELS = {
    "spmv": ("{rows: 16384, entries: 131072}", 4 * (4 * 16384 + 2 * 131072)),
    "histo": ("{n: 262144, slices: 2, blocks: 64, rounds: 1}", 4 * 262144),
}
WAYS = {
    "stay": "none",
    "one leaves": "{name: on-fault, extra_blocks: 1}",
    "four leave": "{name: on-fault, extra_blocks: 4}",
    "four, live": "{name: on-fault, extra_blocks: 4, context: live-compressed}",
    "four, free": "{name: on-fault, extra_blocks: 4, ideal: true}",
}
ROOM = (125, 90, 75)  # memory for pages in percent of the data, if no context takes any
ENOUGH = 400
LINK = "NVLink"
SMS = 2
TABLES = 256 << 10  # bytes for page tables
UNIT = 32 << 10  # of which memory has a whole number


def name_of(kernel, room, way, seed):
    return f"{kernel}-{room}-{re.sub('[, ]+', '_', way)}-{seed}"


def workload_name(kernel, seed):
    return f"{kernel}_data_{seed}.yaml"


def text_of(arguments, kernel, room, way, seed):
    parameters, data = KERNELS[kernel]
    configs = sweeps.REPOSITORY / "configs"
    capacity = -(-(TABLES + data * room // 100) // UNIT) * (UNIT >> 10)
    return (f"gpu: {configs}/gpus/k20.yaml\nhost: {configs}/hosts/{runs.HOSTS[LINK][0]}.yaml\n"
            f"simulation: {{epoch: 1ms}}\noverride: {{gpu.sm.count: {SMS}, gpu.memory.capacity: {capacity}KiB}}\n"
            f"policies: {{page_manager: base-pages, prefetcher: sequential-local, exception_scheme: replay-queue, "
            f"block_switching: {WAYS[way]}, fault_handling: {runs.handling('host', LINK, 'cpu+link')}}}\n"
            f"tenants:\n  - {{name: one, workload: {arguments.folder.resolve()}/{workload_name(kernel, seed)}, "
            f"parameters: {parameters}}}\n")


def points(arguments):
    return [(kernel, room, way, seed) for kernel in KERNELS for seed in range(1, arguments.seeds + 1)
            for room, way in [(ENOUGH, "stay"), *((room, way) for room in ROOM for way in WAYS)]]


def run(arguments):
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for kernel in KERNELS:
        text = benchmarks.workload_text(kernel, benchmarks.PAGED)
        for seed in range(1, arguments.seeds + 1):
            (arguments.folder / workload_name(kernel, seed)).write_text(text.replace("seed: 1", f"seed: {seed}"))
    tiny = [("spmv", ENOUGH, "stay", 1), ("spmv", 75, "four leave", 1)]
    sweeps.run_sweep(arguments, {name_of(*one): text_of(arguments, *one) for one in points(arguments)},
                     [name_of(*one) for one in tiny], "1ms")


@sweeps.blank_if_missing(2)
def measured(arguments, point):
    """Returns the kernel's time in femtoseconds, and the pages that were evicted."""
    with sweeps.open_output(arguments.folder / "output" / f"{name_of(*point)}.h5") as file:
        kernels = file["kernels"][:]
        evicted = int(file["final/stats/host/pages_evicted"][:].sum())
    return sweeps.kernel_time(kernels[kernels["kernel"] == benchmarks.ALL[point[0]].kernel.encode()]), evicted


def cells(arguments, kernel, room):
    texts = []
    for way in WAYS:
        times, evictions = [], []
        for seed in range(1, arguments.seeds + 1):
            before, _ = measured(arguments, (kernel, ENOUGH, "stay", seed))
            time, evicted = measured(arguments, (kernel, room, way, seed))
            times.append(time / before)
            evictions.append(math.nan if math.isnan(time) else evicted)
        texts.append(f"{seeds.cell(times, '.2f')}, {sweeps.cell(sweeps.mean_of(evictions), '.0f')}".strip(", "))
    return texts


def show(arguments):
    for kernel in KERNELS:
        rows = {f"{room} %": cells(arguments, kernel, room) for room in ROOM}
        sweeps.print_table(f"{kernel}, memory for", list(WAYS), rows)


if __name__ == "__main__":
    seeds.run_or_show(__doc__, "together-contexts-and-pages", run, show)
