#!/usr/bin/env python3
"""Two programs at the same time on two cores, then with the cores exchanged: how much faster the first one is.

paired.py OTHER [--lockstep PROGRAM] [--root ROOT] [--kernels KERNEL ...] [--pairs 10]

Neighbours and a drift of the clock meet both programs alike, and a slower core meets each of them once.  The time is
what the process takes of its core outside of the system, with start and end.  OTHER may be of another commit: --root
names the folder with that commit's configs/.  Small kernels record epochs of 10 us; large ones are those of
`machine.py speed`.
"""
import argparse
import math
import os
import pathlib
import statistics
import tempfile

from machine import KERNELS, ROOT, VECTOR_ADD, scenario_text

ONE_LAUNCH = VECTOR_ADD.replace("times: 16", "times: 1") + "  - copy: {buffer: c, to: host}\n"
SMALL = {
    "small_sgemm": ("sgemm.yaml", "{n: 256}"),
    "small_stencil2d": ("stencil2d.yaml", "{width: 512, height: 256, steps: 2}"),
    "small_vector_add": (ONE_LAUNCH, "{}"),
    "small_bfs": ("bfs.yaml", "{vertices: 16384, edges: 131072}"),
}
ALL = {**SMALL, **{name: (w.name if isinstance(w, pathlib.Path) else w, p) for name, (w, p) in KERNELS.items()}}


def write_scenario(folder, root, name):
    """A scenario of the kernel with the configuration below `root`."""
    workload, parameters = ALL[name]
    if workload.endswith(".yaml"):
        path = root / "configs/workloads" / workload
    else:
        path = folder / "workload.yaml"
        path.write_text(workload.replace(str(ROOT), str(root)))
    epoch = "10us" if name in SMALL else "100us"
    scenario = folder / "scenario.yaml"
    scenario.write_text(scenario_text(path, parameters, root=root, epoch=epoch))
    return scenario


def start(program, scenario, core):
    """Starts a run on a core; returns the number of its process."""
    output = scenario.parent / "out.h5"
    output.unlink(missing_ok=True)
    process = os.fork()
    if process == 0:
        os.sched_setaffinity(0, {core})
        os.execv(program, [str(program), "run", str(scenario), "--quiet", "--threads", "1", "--output", str(output)])
    return process


def seconds_of(runs, cores):
    """User seconds of two runs at the same time, in the order of `runs`."""
    processes = [start(program, scenario, core) for (program, scenario), core in zip(runs, cores)]
    taken = {}
    while len(taken) < len(processes):
        process, status, usage = os.wait4(-1, 0)
        if status != 0:
            raise SystemExit(f"paired.py: {runs[processes.index(process)][0]} has failed")
        taken[process] = usage.ru_utime
    return [taken[process] for process in processes]


def logarithm(runs, cores):
    """The logarithm of the ratio of their times, the mean over both ways to give out the cores."""
    ratios = [math.log(a / b) for a, b in (seconds_of(runs, order) for order in (cores, cores[::-1]))]
    return sum(ratios) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=pathlib.Path)
    parser.add_argument("--lockstep", type=pathlib.Path, default=ROOT / "build/release/lockstep")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    parser.add_argument("--kernels", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--pairs", type=int, default=10)
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("paired.py: this process may use one core only, and two are needed")
    print("| kernel, v100, one thread | times as fast | standard error |\n|---|---:|---:|")
    for name in arguments.kernels:
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            runs = [(arguments.lockstep.resolve(), write_scenario(pathlib.Path(first), ROOT, name)),
                    (arguments.other.resolve(), write_scenario(pathlib.Path(second), arguments.root.resolve(), name))]
            logarithm(runs, cores)  # the first runs fill the caches of files
            all_of = [logarithm(runs, cores) for _ in range(arguments.pairs)]
        error = statistics.stdev(all_of) / math.sqrt(len(all_of)) if len(all_of) > 1 else 0.0
        print(f"| {name} | {math.exp(-statistics.median(all_of)):.3f} | {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
