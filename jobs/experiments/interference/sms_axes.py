#!/usr/bin/python3
"""On what S2, S4, S7 and S13 of paper 004 (chapter 5) depend: what the paper leaves open of cores, DRAM and GPU.

    jobs/experiments/interference/sms_axes.py run [--folder DIR] [--jobs N] [--categories H HML] [--mixes 3]
    jobs/experiments/interference/sms_axes.py show [the same]

`run` simulates mixes of benchmarks beside a GPU that draws frames, under the schedulers that came before with request
buffers of several sizes, and under SMS with its batches and with batches of 1 and 10. The machines are sms_16c1g, one
where each bank turns from writes to reads by itself, one where misses of cores come evenly instead of in groups, and
those with frames that compute more and so ask for less memory at a time. The default is a quick set: a mix of category
H. `show` prints each run, and what the claims say on each machine, with each scheduler at 300 requests and at its best
size.
"""
import math
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import sweeps  # noqa: E402
from sms import (BATCHES, CATEGORIES, GPU, SCHEDULERS, WEIGHTS, Machine, Results, Run, gpu_banks,  # noqa: E402
                 mixes, run_alone, run_or_show)

BEFORE = ("FR-FCFS", "PAR-BS", "ATLAS", "TCM")
BUFFERS = (64, 256, 300)
HALF, QUARTER = 64, 128  # multiply-adds for each float: about this share of the requests of a GPU that only copies
MACHINES = {
    "as it is": Machine(),
    "turns of a bank": Machine(turnaround="bank"),
    "spread misses": Machine(misses="spread"),
    "both": Machine(turnaround="bank", misses="spread"),
    f"work {HALF}": Machine(work=HALF),
    f"work {QUARTER}": Machine(work=QUARTER),
    f"both, work {HALF}": Machine(turnaround="bank", misses="spread", work=HALF),
}
COLUMNS = ("CPU speedup", "GPU speedup", *(f"weight {weight}" for weight in WEIGHTS), "unfairness",
           "banks with requests of the GPU", "data bus busy, %",
           "unanswered reads of a core")


def variants(mix, machine, span):
    """Runs of a mix by label."""
    def of(scheduler, buffer=300):
        return Run(mix, True, scheduler, span, buffer, machine)

    runs = {f"{name}, {size}": of(SCHEDULERS[name], size) for name in BEFORE for size in BUFFERS}
    runs["SMS"] = of(SCHEDULERS["SMS"])
    runs.update({f"SMS, batches of {size}": of(scheduler) for size, scheduler in BATCHES.items()})
    return runs


def machines(arguments):
    return {name: MACHINES[name] for name in arguments.machines or MACHINES}


def all_runs(arguments):
    runs = []
    for machine in machines(arguments).values():
        runs.append(run_alone(GPU, arguments.span, machine))
        for category in arguments.categories:
            for mix in mixes(category, arguments.mixes):
                runs += [run_alone(name, arguments.span, machine) for name in sorted(set(mix))]
                runs += [run for label, run in variants(mix, machine, arguments.span).items()
                         if label in (arguments.labels or (label,))]
    return list(dict.fromkeys(runs))


def tiny(arguments):
    """SMS on the last machine, and what is in its mix alone."""
    machine = list(machines(arguments).values())[-1]
    mix = next(mixes(arguments.categories[0], 1))
    return [run_alone(name, arguments.span, machine) for name in sorted({GPU, *mix})] + [
        variants(mix, machine, arguments.span)["SMS"]]


@sweeps.blank_if_missing(3)
def memory_of(results, run):
    """Banks with requests of the GPU while it has any; the share of time in which data are on a bus, in percent; how
    many reads of a core are unanswered on average."""
    with sweeps.open_output(results.output / f"{run.name()}.h5") as file:
        final = file["final/stats"]
        nanoseconds = file["final/end"][()] * 1e-6  # cycles of the DRAM; 3.2 cycles of a core
        bus = final["partition/data_bus_cycles"][:].sum() / (nanoseconds * run.machine.controllers)
        reads = (final["cpu/read_cycles"][:].sum() / (3.2 * nanoseconds * len(run.benchmarks)) if run.benchmarks
                 else math.nan)
        return gpu_banks(final["partition"]), 100 * bus, reads


def measured(results, arguments, category, machine):
    """{label: values of COLUMNS}, means over the mixes."""
    by_label = {}
    for mix in mixes(category, arguments.mixes):
        for label, run in variants(mix, machine, arguments.span).items():
            by_label.setdefault(label, []).append((*results.of_run(run), *memory_of(results, run)))
    rows = {}
    for label, values in by_label.items():
        cpu, gpu, slowdown, *memory = zip(*values)
        cpu, gpu = map(sweeps.mean_of, (cpu, gpu))
        rows[label] = (cpu, gpu, *(cpu + weight * gpu for weight in WEIGHTS),
                       sweeps.mean_of(slowdown, statistics.harmonic_mean), *map(sweeps.mean_of, memory))
    return rows


def best(rows, name, column):
    """Label of the scheduler's size with the highest value in a column."""
    labels = [f"{name}, {size}" for size in BUFFERS if not math.isnan(rows[f"{name}, {size}"][column])]
    return max(labels, key=lambda label: rows[label][column], default=f"{name}, {BUFFERS[-1]}")


def ahead(one, other):
    return 100 * (one / other - 1)


def claims(rows):
    """{claim: value or text} of one machine."""
    sms = rows["SMS"]
    found = {}
    for column, weight in enumerate(WEIGHTS, 2):
        for name in BEFORE:
            label = best(rows, name, column)
            values = [ahead(sms[column], rows[one][column]) for one in (f"{name}, 300", label)]
            found[f"S2: SMS over {name}, weight {weight}, %"] = (
                "" if any(map(math.isnan, values)) else
                f"{values[0]:+.1f}; {values[1]:+.1f} ({label.split()[-1]})")
    found["S4: cores' speedup under SMS over TCM's"] = sms[0] / rows["TCM, 300"][0]
    found["S4: the same, TCM with 64"] = sms[0] / rows["TCM, 64"][0]
    found["S4: GPU speedup under FR-FCFS"] = rows["FR-FCFS, 300"][1]
    found["S4: under TCM"] = rows["TCM, 300"][1]
    found["S4: under SMS"] = sms[1]
    one, ten = rows["SMS, batches of 1"], rows["SMS, batches of 10"]
    for column, weight in enumerate(WEIGHTS, 2):
        found[f"S7: batches of 1 over 10, weight {weight}, %"] = ahead(one[column], ten[column])
    found["S7: unfairness, 1 over 10"] = one[4] / ten[4]
    for column, weight in enumerate(WEIGHTS, 2):
        for name in BEFORE:
            found[f"S13: {name}, 256 over 64 requests, weight {weight}, %"] = ahead(
                rows[f"{name}, 256"][column], rows[f"{name}, 64"][column])
    return found


def show(arguments):
    results = Results(arguments)
    chosen = machines(arguments)
    for category in arguments.categories:
        table = {}
        for name, machine in chosen.items():
            rows = measured(results, arguments, category, machine)
            sweeps.print_table(f"{category}: {name}", COLUMNS, rows)
            for claim, value in claims(rows).items():
                table.setdefault(claim, []).append(value)
        sweeps.print_table(f"{category}: claims", chosen, table)
    alone = {name: memory_of(results, run_alone(GPU, arguments.span, machine))[:2]
             for name, machine in chosen.items()}
    sweeps.print_table("the GPU alone", COLUMNS[-3:-1], alone)


def main():
    parser = sweeps.parser_of(__doc__, "sms_axes", "show")
    parser.add_argument("--categories", nargs="+", choices=CATEGORIES, default=["H"])
    parser.add_argument("--machines", nargs="+", choices=list(MACHINES), help="default: all")
    parser.add_argument("--labels", nargs="+", metavar="LABEL", help='only these rows are run: "TCM, 64" SMS')
    parser.add_argument("--mixes", type=int, default=1, help="of each category")
    parser.add_argument("--span", default="400us", help="simulated; 1.28 million cycles of a core")
    run_or_show(parser, all_runs, tiny, show)


if __name__ == "__main__":
    main()
