#!/usr/bin/env python3
"""How fast the whole machine is: the tables of docs/performance.md.

machine.py [--lockstep build/release/lockstep] [--runs 3] [PART ...]

Parts: speed, layouts, idle, growth.  Run it on an idle machine; every figure is a median.
"""
import argparse
import operator
import os
import pathlib
import statistics
import subprocess
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "configs/workloads"

# Copies of the shipped workloads that launch often enough for kernels to dominate the transfers.
VECTOR_ADD = f"""
module: {WORKLOADS}/vector_add.ptx
parameters: {{n: 1048576, block: 256}}
buffers:
  a: {{type: f32, count: n, memory: device, init: {{uniform: {{low: 0, high: 1, seed: 1}}}}}}
  b: {{type: f32, count: n, memory: device, init: {{linear: {{start: 0, step: 0.5}}}}}}
  c: {{type: f32, count: n, memory: device}}
program:
  - copy: {{buffer: a, to: device}}
  - copy: {{buffer: b, to: device}}
  - repeat:
      times: 16
      program:
        - launch: {{kernel: vector_add, grid: [ceil(n / block)], block: [block], arguments: [a, b, c, n]}}
"""
IDLE = VECTOR_ADD.replace("n: 1048576", "n: 65536").replace("times: 16", "times: 2")

KERNELS = {
    "sgemm": (WORKLOADS / "sgemm.yaml", "{n: 512}"),
    "stencil2d": (WORKLOADS / "stencil2d.yaml", "{width: 1024, height: 1024, steps: 6}"),
    "vector_add": (VECTOR_ADD, "{}"),
    "bfs": (WORKLOADS / "bfs.yaml", "{vertices: 131072, edges: 2097152}"),
}


def scenario_text(workload, parameters, *, root=ROOT, gpu="v100", epoch="100us", more="override: {}"):
    """A scenario of one tenant with the configuration below `root`; `more`: another line of it."""
    configs = root / "configs"
    return (f"gpu: {configs}/gpus/{gpu}.yaml\nhost: {configs}/hosts/pcie3.yaml\n"
            f"simulation: {{epoch: {epoch}}}\n{more}\n"
            f"tenants:\n  - {{name: one, workload: {workload}, parameters: {parameters}}}\n")


class Bench:
    """Writes scenarios to a folder and runs them."""

    def __init__(self, lockstep, runs):
        self.lockstep = lockstep
        self.runs = runs
        self.holder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.holder.name)

    def scenario(self, workload, parameters, override="{}", epoch="100us"):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        if not isinstance(workload, pathlib.Path):
            text, workload = workload, folder / "workload.yaml"
            workload.write_text(text)
        path = folder / "scenario.yaml"
        path.write_text(scenario_text(workload, parameters, epoch=epoch, more=f"override: {override}"))
        return path

    def once(self, scenario, threads=1, ranks=0):
        output = self.folder / "out.h5"
        output.unlink(missing_ok=True)
        command = [self.lockstep, "run", scenario, "--quiet", "--threads", str(threads)]
        command += ["--overwrite", "--output", output]
        if ranks:
            command = ["mpirun", "-n", str(ranks), *command]
        environment = {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        subprocess.run(list(map(str, command)), check=True, env=environment)
        with h5py.File(output, "r") as file:
            result = dict(file["run"].attrs)
            result["simulated_ms"] = file["final/end"][()] * 1e-12
        return result

    def median(self, runs, key):
        return statistics.median(run[key] for run in runs)

    def repeat(self, scenario, **layout):
        return [self.once(scenario, **layout) for _ in range(self.runs)]

    def walls_in_turn(self, scenarios):
        """Seconds of every run, by name; in turn, so that a drift of the machine cancels."""
        walls = {name: [] for name in scenarios}
        for _ in range(self.runs):
            for name, scenario in scenarios.items():
                walls[name].append(self.once(scenario)["wall_seconds"])
        return walls


def speed(bench):
    print("| kernel, v100, one thread | million warp instructions/s | peak memory, MB |")
    print("|---|---|---|")
    for name, (workload, parameters) in KERNELS.items():
        runs = bench.repeat(bench.scenario(workload, parameters))
        rate = bench.median(runs, "warp_instructions_per_second") / 1e6
        memory = bench.median(runs, "peak_memory_bytes") / 1e6
        print(f"| {name} | {rate:.2f} | {memory:.0f} |", flush=True)


def layouts(bench):
    print("| kernel, v100 | 2 threads / 1 | 2 ranks / 1 | synchronisation, 2 threads | imbalance |"
          " windows per simulated ms |")
    print("|---|---|---|---|---|---|")
    for name in ("sgemm", "stencil2d", "bfs"):
        scenario = bench.scenario(*KERNELS[name])
        threads, ranks, shares, imbalances = [], [], [], []
        for _ in range(bench.runs):  # in turn, so that a drift of the machine cancels
            one = bench.once(scenario)
            two = bench.once(scenario, threads=2)
            both = bench.once(scenario, ranks=2)
            threads.append(one["wall_seconds"] / two["wall_seconds"])
            ranks.append(one["wall_seconds"] / both["wall_seconds"])
            shares.append(two["synchronisation_share"])
            imbalances.append(two["imbalance_share"])
        print(
            f"| {name} | {statistics.median(threads):.2f} | {statistics.median(ranks):.2f} "
            f"| {statistics.median(shares):.1%} | {statistics.median(imbalances):.1%} "
            f"| {one['windows'] / one['simulated_ms']:.0f} |",
            flush=True,
        )


def idle(bench):
    print("| two kernels | wall seconds |")
    print("|---|---|")
    launch = IDLE.rindex("        - launch")
    pause = IDLE[:launch] + "        - delay: 1000ms\n" + IDLE[launch:]
    scenarios = {
        "one after the other": bench.scenario(IDLE, "{}", epoch="10us"),
        "1 s of simulated idle between": bench.scenario(pause, "{}", epoch="10us"),
    }
    for name, seconds in bench.walls_in_turn(scenarios).items():
        print(f"| {name} | {statistics.median(seconds):.3f} |", flush=True)


def growth(bench):
    print("| SMs, partitions, elements | wall seconds | ratio to the one before |")
    print("|---|---|---|")
    scenarios = {}
    for factor in (1, 2, 4, 8):
        override = f"{{gpu.sm.count: {10 * factor}, gpu.memory.partitions: {4 * factor}}}"
        text = VECTOR_ADD.replace("n: 1048576", f"n: {131072 * factor}")
        name = f"{10 * factor}, {4 * factor}, {131072 * factor}"
        scenarios[name] = bench.scenario(text, "{}", override)
    before, ratios = None, []
    for name, seconds in bench.walls_in_turn(scenarios).items():
        if before:
            ratios.append(statistics.median(map(operator.truediv, seconds, before)))
        ratio = f"{ratios[-1]:.2f}" if ratios else ""
        print(f"| {name} | {statistics.median(seconds):.2f} | {ratio} |")
        before = seconds
    print(f"| geometric mean of the doublings | | {statistics.geometric_mean(ratios):.2f} |")


PARTS = {"speed": speed, "layouts": layouts, "idle": idle, "growth": growth}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    parser.add_argument("--lockstep", default=ROOT / "build/release/lockstep")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    bench = Bench(arguments.lockstep, arguments.runs)
    for part in arguments.parts or PARTS:
        PARTS[part](bench)
        print()


if __name__ == "__main__":
    main()
