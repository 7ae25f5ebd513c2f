#!/usr/bin/python3
"""How long an urgent task waits for SMs whose blocks wait for pages: exception scheme x preemption technique.

    jobs/experiments/together/preempted_faults.py run [--seeds 5] [--folder DIR] [--jobs N]
    jobs/experiments/together/preempted_faults.py show [--seeds 5] [--folder DIR]

An urgent task of one wave of blocks arrives eight times beside a kernel whose data are in CPU memory, on eight SMs of
the machine of Tanasic et al. 2017 (000, Table 1) with NVLink, under exception schemes of that paper and ways to
leave an SM of Lin et al. (002) and Shieh 2016 (003). The kernel starts over when it has ended; its data are in CPU
memory again. Runs of a point differ in the seed from which the times of arrival are drawn.

`show` prints by how much the task ends later than alone: in the mean, and the longest such time. Both are means over
seeds, with half of their 95 % confidence intervals.
"""
import pathlib
import sys

import seeds
import urgent_task

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "exceptions"))

import benchmarks  # noqa: E402
import runs  # noqa: E402
import sweeps  # noqa: E402

SCHEMES = ("stall-on-fault", "warp-disable-last-check", "replay-queue", "operand-log")
TECHNIQUES = ("drain", "switch", "flush", "dual-kernel")
KERNELS = ("sgemm", "histo", "spmv")
BOUND = "5us"
LINK = "NVLink"


def name_of(kernel, scheme, technique, seed):
    return f"{kernel or 'alone'}-{scheme}-{technique}-{seed}"


def text_of(arguments, kernel, scheme, technique, seed):
    """`kernel`: "" for the task alone."""
    batch = (f"  - {{name: batch, workload: {arguments.folder.resolve()}/{kernel}.yaml, relaunch: true, "
             f"parameters: {benchmarks.ALL[kernel].quick}}}\n" if kernel else "")
    configs = sweeps.REPOSITORY / "configs"
    return (f"gpu: {configs}/gpus/k20.yaml\nhost: {configs}/hosts/{runs.HOSTS[LINK][0]}.yaml\n"
            f"simulation: {{epoch: 1ms, seed: {seed}, stop_at: {urgent_task.SPAN}}}\n"
            f"override: {{gpu.sm.count: {urgent_task.SMS}}}\n"
            f"policies: {{page_manager: base-pages, prefetcher: sequential-local, "
            f"fault_handling: {runs.handling('host', LINK, 'cpu+link')}, "
            f"exception_scheme: {scheme}, sharing: exclusive, preemption: {technique}}}\ntenants:\n{batch}"
            + urgent_task.tenant(f", latency_bound: {BOUND}"))


def points(arguments):
    return [(kernel, scheme, technique, seed) for kernel in KERNELS for scheme in SCHEMES for technique in TECHNIQUES
            for seed in range(1, arguments.seeds + 1)]


ALONE = ("", SCHEMES[0], "none", 1)


def run(arguments):
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for kernel in KERNELS:
        text = benchmarks.workload_text(kernel, benchmarks.PAGED)
        (arguments.folder / f"{kernel}.yaml").write_text(text)
    tiny = [ALONE, (KERNELS[0], "replay-queue", "switch", 1)]
    sweeps.run_sweep(arguments, {name_of(*one): text_of(arguments, *one) for one in (ALONE, *points(arguments))},
                     [name_of(*one) for one in tiny], "700us")


def output(arguments, point):
    return arguments.folder / "output" / f"{name_of(*point)}.h5"


def cells(arguments, kernel, scheme, alone):
    """Returns a cell for each technique: by how much tasks end later, in the mean and at most."""
    texts = []
    for technique in TECHNIQUES:
        means, longest = [], []
        for seed in range(1, arguments.seeds + 1):
            times = urgent_task.times_of(output(arguments, (kernel, scheme, technique, seed)), 1)
            for values, value in zip((means, longest), urgent_task.lateness(times, alone)):
                values.append(value)
        texts.append(f"{seeds.cell(means)}, {seeds.cell(longest)}".strip(", "))
    return texts


def show(arguments):
    alone = urgent_task.time_alone(output(arguments, ALONE))
    urgent_task.print_alone(alone, "; later by, in the mean and at most, us")
    for kernel in KERNELS:
        rows = {scheme: cells(arguments, kernel, scheme, alone) for scheme in SCHEMES}
        sweeps.print_table(f"beside {kernel}", TECHNIQUES, rows)


if __name__ == "__main__":
    seeds.run_or_show(__doc__, "together-preempted-faults", run, show)
