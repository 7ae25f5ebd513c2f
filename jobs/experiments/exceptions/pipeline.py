#!/usr/bin/python3
"""Cost of the exception schemes when nothing faults: Figures 10 and 11 of paper 000 (MICRO 2017).

    jobs/experiments/exceptions/pipeline.py run [--lockstep PROGRAM] [--folder DIR] [--jobs N] [--only NAME ...]
    jobs/experiments/exceptions/pipeline.py draw [--folder DIR]

`run` runs each workload on k20 with each scheme, all data in GPU memory, and writes pipeline.csv; `draw` prints
the table beside the paper's means and draws pipeline.png. Relative performance is cycles of stall-on-fault over
cycles of the scheme, where a workload's cycles are those of its kernels from launch to end.
"""
import argparse
import concurrent.futures
import csv
import math
import pathlib
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]

# Parboil by name, in sizes of seconds, and streams for comparison.
WORKLOADS = {
    "bfs": "{vertices: 32768, edges: 262144}",
    "cutcp": "{bins: 6}",
    "histo": "{n: 262144, slices: 8, blocks: 64}",
    "lbm": "{width: 128, height: 32, depth: 32}",
    "mri_gridding": "{tiles: 64, samples: 8192}",
    "mri_q": "{voxels: 16384}",
    "sad": "{columns: 8, rows: 8}",
    "sgemm": "{n: 512}",
    "spmv": "{rows: 32768, entries: 524288}",
    "stencil3d": "{width: 128, height: 128, depth: 32}",
    "tpacf": "{points: 512, sets: 8}",
}
SCHEMES = {
    "stall-on-fault": "stall-on-fault",
    "warp-disable-commit": "warp-disable-commit",
    "warp-disable-last-check": "warp-disable-last-check",
    "replay-queue": "replay-queue",
    "operand-log 8 KiB": "{name: operand-log, bytes: 8KiB}",
    "operand-log 16 KiB": "{name: operand-log, bytes: 16KiB}",
    "operand-log 32 KiB": "{name: operand-log, bytes: 32KiB}",
}
# Geometric means that the paper prints, in percent (sections 5.2, Figures 10 and 11).
PAPER = {"warp-disable-commit": 84, "warp-disable-last-check": 90, "replay-queue": 94, "operand-log 8 KiB": 96.6,
         "operand-log 16 KiB": 99.2}


def scenario(folder, workload, parameters, scheme):
    path = folder / f"{workload}_{scheme.replace(' ', '_')}.yaml"
    path.write_text(f"gpu: {REPOSITORY}/configs/gpus/k20.yaml\nhost: {REPOSITORY}/configs/hosts/nvlink.yaml\n"
                    f"simulation: {{epoch: 1ms}}\npolicies: {{exception_scheme: {SCHEMES[scheme]}}}\ntenants:\n"
                    f"  - {{name: one, workload: {REPOSITORY}/configs/workloads/{workload}.yaml, "
                    f"parameters: {parameters}}}\n")
    return path


def cycles_of(lockstep, folder, workload, scheme):
    """Simulated femtoseconds in which a kernel of the workload ran."""
    import h5py
    path = scenario(folder, workload, WORKLOADS[workload], scheme)
    output = path.with_suffix(".h5")
    done = subprocess.run([lockstep, "run", path, "--quiet", "--threads", "1", "--output", output],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{workload} with {scheme}: {done.stderr.strip()}")
    with h5py.File(output) as file:
        kernels = file["kernels"][:]
    output.unlink()
    return int((kernels["done"] - kernels["launched"]).sum())


def run(arguments):
    arguments.folder.mkdir(parents=True, exist_ok=True)
    points = [(w, s) for w in WORKLOADS if w in (arguments.only or WORKLOADS) for s in SCHEMES]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        times = pool.map(lambda point: cycles_of(arguments.lockstep, arguments.folder, *point), points)
        rows = [(*point, time) for point, time in zip(points, times)]
    with open(arguments.folder / "pipeline.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("workload", "scheme", "femtoseconds"))
        writer.writerows(rows)
    draw(arguments)


def relative(folder):
    """{workload: {scheme: performance relative to stall-on-fault}} of pipeline.csv."""
    times = {}
    with open(folder / "pipeline.csv", newline="") as file:
        for row in csv.DictReader(file):
            times.setdefault(row["workload"], {})[row["scheme"]] = int(row["femtoseconds"])
    return {w: {s: of["stall-on-fault"] / t for s, t in of.items()} for w, of in times.items()}


def draw(arguments):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plot
    table = relative(arguments.folder)
    schemes = [s for s in SCHEMES if s != "stall-on-fault"]
    means = {s: math.exp(sum(math.log(of[s]) for of in table.values()) / len(table)) for s in schemes}
    print(f"{'':14}" + "".join(f"{s.replace('operand-', ''):>24}" for s in schemes))
    for workload, of in table.items():
        print(f"{workload:14}" + "".join(f"{100 * of[s]:23.1f}%" for s in schemes))
    print(f"{'geometric mean':14}" + "".join(f"{100 * means[s]:23.1f}%" for s in schemes))
    paper = [f"{PAPER[s]:23.1f}%" if s in PAPER else f"{'nearly 100%':>24}" for s in schemes]
    print(f"{'paper 000':14}" + "".join(paper))
    figure, axis = plot.subplots(figsize=(11, 4))
    names = [*table, "mean"]
    for i, scheme in enumerate(schemes):
        values = [100 * table[w][scheme] for w in table] + [100 * means[scheme]]
        axis.bar([x + (i - 2.5) * 0.13 for x in range(len(names))], values, 0.13, label=scheme)
    axis.set_xticks(range(len(names)), names, rotation=30)
    axis.set_ylabel("performance, stall-on-fault = 100 %")
    axis.set_ylim(40, 105)
    axis.set_title("k20, no faults: what precise exceptions cost (000, Figures 10 and 11)")
    axis.legend(ncol=3, fontsize=8)
    figure.tight_layout()
    figure.savefig(arguments.folder / "pipeline.png", dpi=120)
    print(f"drawn: {arguments.folder / 'pipeline.png'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("run", "draw"))
    parser.add_argument("--lockstep", default=REPOSITORY / "build/release/lockstep")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("exceptions"))
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    parser.add_argument("--only", nargs="*", choices=WORKLOADS, help="these workloads")
    arguments = parser.parse_args()
    run(arguments) if arguments.verb == "run" else draw(arguments)


if __name__ == "__main__":
    main()
