#!/usr/bin/python3
"""Who pays when an urgent task takes places from two tenants that share translations: MASK and Mosaic x preemption.

    jobs/experiments/together/preempted_translations.py run [--seeds 5] [--folder DIR] [--jobs N]
    jobs/experiments/together/preempted_translations.py show [--seeds 5] [--folder DIR]

Two applications stand side by side on eight SMs of the machine of Mosaic's evaluation (004, section 7.4), their places
shared out fairly (`sharing: smk`; 003, sections 1 and 5). The first looks up words all over 32 MiB; the second works on
tiles. An urgent task of one wave of blocks arrives eight times. It waits until blocks end, or places are made for it by
partial context switching. Data are in GPU memory. Runs of a point differ in the seed from which the times of arrival
are drawn.

`show` prints by how much the task ends later than alone, and by how many percent the launches of each application that
end with and without the task take longer with it: means over seeds, with half of their 95 % confidence intervals. A
second table has what switching costs without the task, when the applications' launches make places for each other.
"""
import math
import pathlib
import sys

import seeds
import urgent_task

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "interference"))

import sweeps  # noqa: E402
from mosaic import NEAR  # noqa: E402

MASK = "tlb_fill: mask, cache_policy: mask, dram_scheduler: mask"
DESIGNS = {
    "4 KiB pages": "page_manager: base-pages",
    "MASK": f"page_manager: base-pages, {MASK}",
    "Mosaic": "page_manager: mosaic",
    "MASK and Mosaic": f"page_manager: mosaic, {MASK}",
}
WAYS = {"waits": "none", "switches": "switch"}
# A table of 32 MiB in which every thread looks up at random, and tiles of 8 to 12 MiB: several launches end in time.
SIZES = {
    "page_view_count": "{entries: 65536, pages: 8192, page_slots: 16384, pair_slots: 4194304}",
    "fft": "{batch: 2000}",
    "convolution_separable": "{width: 2048, height: 384}",
}
PAIRS = (("page_view_count", "fft"), ("page_view_count", "convolution_separable"))
ALONE = ((), "4 KiB pages", "waits", 1)


def name_of(pair, design, way, seed):
    """`seed`: 0 without the task."""
    return "-".join([*(pair or ["alone"]), design.replace(" ", "_"), way, str(seed)])


def text_of(pair, design, way, seed):
    configs = sweeps.REPOSITORY / "configs"
    tenants = "".join(f"  - {{name: {name}, workload: {configs}/workloads/{name}.yaml, parameters: {SIZES[name]}, "
                      "relaunch: true}\n" for name in pair)
    if seed > 0:
        tenants += urgent_task.tenant()
    changes = ", ".join(f"{key}: {value}" for key, value in (("gpu.sm.count", urgent_task.SMS), *NEAR))
    return (f"gpu: {configs}/gpus/mosaic_maxwell.yaml\nhost: {configs}/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: 1ms, seed: {max(seed, 1)}, stop_at: {urgent_task.SPAN}}}\noverride: {{{changes}}}\n"
            f"policies: {{sharing: smk, preemption: {WAYS[way]}, {DESIGNS[design]}}}\ntenants:\n{tenants}")


def points(arguments):
    """Applications make places for each other's launches, too: each way has runs without the task."""
    without = [(pair, design, way, 0) for pair in PAIRS for design in DESIGNS for way in WAYS]
    return without + [(pair, design, way, seed) for pair in PAIRS for design in DESIGNS for way in WAYS
                      for seed in range(1, arguments.seeds + 1)]


def run(arguments):
    tiny = [ALONE, (PAIRS[0], "MASK and Mosaic", "switches", 1)]
    sweeps.run_sweep(arguments, {name_of(*one): text_of(*one) for one in (ALONE, *points(arguments))},
                     [name_of(*one) for one in tiny], "700us")


def output(arguments, point):
    return arguments.folder / "output" / f"{name_of(*point)}.h5"


@sweeps.blank_if_missing(len(PAIRS[0]))
def launches_of(arguments, point):
    """Returns for each application the times of its launches that ended, in their order."""
    with sweeps.open_output(output(arguments, point)) as file:
        rows = file["kernels"][:]
    rows = rows[rows["done"] < 2**63 - 1]
    return [(rows["done"] - rows["launched"])[rows["tenant"] == tenant].tolist() for tenant in range(len(point[0]))]


def longer(now, before):
    """Returns by how many percent the launches take longer that have ended in both runs; NaN without any."""
    if isinstance(now, float) or isinstance(before, float) or not (both := min(len(now), len(before))):
        return math.nan
    return 100 * (sum(now[:both]) / sum(before[:both]) - 1)


def cells(arguments, pair, design, way, alone):
    """Returns by how much tasks end later, in the mean and at most, and what each application pays."""
    means, longest = [], []
    losses = [[] for _ in pair]
    before = launches_of(arguments, (pair, design, way, 0))
    for seed in range(1, arguments.seeds + 1):
        point = (pair, design, way, seed)
        times = urgent_task.times_of(output(arguments, point), len(pair))
        for values, value in zip((means, longest), urgent_task.lateness(times, alone)):
            values.append(value)
        for loss, now, was in zip(losses, launches_of(arguments, point), before):
            loss.append(longer(now, was))
    return [seeds.cell(means), seeds.cell(longest), *(seeds.cell(loss) for loss in losses)]


def show(arguments):
    alone = urgent_task.time_alone(output(arguments, ALONE))
    urgent_task.print_alone(alone)
    for pair in PAIRS:
        columns = ["task later, us", "at most, us", *(f"{name} slower, %" for name in pair)]
        rows = {f"{design}, {way}": cells(arguments, pair, design, way, alone) for design in DESIGNS for way in WAYS}
        sweeps.print_table(" + ".join(pair), columns, rows)
        runs = {(design, way): launches_of(arguments, (pair, design, way, 0)) for design in DESIGNS for way in WAYS}
        rows = {design: [longer(*both) for both in zip(runs[design, "switches"], runs[design, "waits"])]
                for design in DESIGNS}
        sweeps.print_table("without the task, switches", [f"{name} slower, %" for name in pair], rows, ".1f")


if __name__ == "__main__":
    seeds.run_or_show(__doc__, "together-preempted-translations", run, show)
