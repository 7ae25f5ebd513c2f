#!/usr/bin/python3
"""Simulated GPUs beside real ones, row by row: rows.yaml says what runs and what was measured.

    validate.py table   runs everything (minutes), writes the tables of docs/validation/v100.md and a100.md, and
                        scatter.svg
    validate.py check   runs what is marked quick; exit status 1 if a row's error is above its bound (bounds.yaml)
    validate.py print   prints the rows only (with --only: some)
    validate.py renew   as `table`, and the errors that are found become the bounds
                        (both with --only: the other rows stay as the pages have them)
"""
import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import h5py
import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ROOT / "docs/validation"
OTHER_CARDS = ("A100: ", "Pascal: ")  # rows of a100.md; all others are of v100.md
BEGIN, END = "<!-- validate.py: begin -->\n", "<!-- validate.py: end -->\n"
CLOCKS = ("sm", "noc", "memory", "dispatch", "vm")
CARD_CLOCK = {"v100": "1380MHz", "a100": "1410MHz", "gtx1080ti": "1481MHz", "h100": "1755MHz",
              "h200": "1980MHz"}
SLACK = 2  # percent that a bound is above the error that it was made of
COUNTERS = {"dram_reads": "DRAM reads", "dram_writes": "DRAM writes", "l2_reads": "sectors that SMs read of L2",
            "shared": "instructions on shared memory"}


class Run:
    """What a scenario of one workload left."""

    def __init__(self, lockstep, folder, name, description, gpu=None):
        model = description.get("gpu", "v100")
        gpu = gpu or ROOT / f"configs/gpus/{model}.yaml"
        clock = description.get("clock", CARD_CLOCK[model])
        self.hertz = float(clock.removesuffix("MHz")) * 1e6
        override = {f"gpu.{part}.clock": clock for part in CLOCKS}
        stem = folder / re.sub(r"\W", "_", name)
        scenario = stem.with_suffix(".yaml")
        scenario.write_text(yaml.safe_dump({
            "gpu": str(gpu),
            "host": str(ROOT / "configs/hosts/pcie3.yaml"),
            "simulation": {"record_blocks": True},
            "override": {**override, **description.get("set", {})},
            "tenants": [{"name": "one", "workload": str(HERE / (description["workload"] + ".yaml")),
                         "parameters": description.get("parameters", {})}],
        }))
        output = stem.with_suffix(".h5")
        command = [lockstep, "run", scenario, "--quiet", "--threads", "1", "--output", output, "--overwrite"]
        ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        if ended.returncode:
            sys.exit(f"validate.py: run '{name}' failed: {ended.stderr.strip()}")
        with h5py.File(output, "r") as file:
            text = file["config"][()]
            machine = yaml.safe_load(text.decode() if isinstance(text, bytes) else text)
            self.gpu = machine["gpu"]
            # From an SM to the dispatcher, and on to the host.
            self.end_is_known_after = (float(str(self.gpu["dispatch"]["link_latency"]).split()[0]) / self.hertz
                                       + float(machine["host"]["link_latency"].removesuffix("ns")) * 1e-9)
            self.launch = float(str(self.gpu["dispatch"]["launch_latency"]).split()[0])
            self.buffers = {key: data[:] for key, data in file.get("buffers/one", {}).items()}
            self.kernels = file["kernels"][:]
            self.blocks = file["thread_blocks"][:]
            self.shared = int(file["final/stats/sm/shared_accesses"][:].sum())

    def of_kernel(self, name):
        found = [i for i, kernel in enumerate(self.kernels) if kernel["kernel"].decode() == name]
        if not found:
            sys.exit(f"validate.py: no launch of kernel {name}")
        return found

    def seconds(self, kernel):
        """Of its last launch, from the start of the first block until the last one has ended and all that it stored is
        acknowledged."""
        grid = self.of_kernel(kernel)[-1]
        blocks = self.blocks[self.blocks["grid"] == grid]
        return float(self.kernels[grid]["done"] - blocks["started"].min()) * 1e-15 - self.end_is_known_after

    def value(self, row):
        """What the row is about, in its unit."""
        unit = row["unit"]
        if "period" in row:
            done = [float(self.kernels[i]["done"]) for i in self.of_kernel(row["period"])]
            return (done[-1] - done[0]) / (len(done) - 1) * 1e-9
        if "kernel" in row:
            seconds = self.seconds(row["kernel"])
            return row["moved"] / seconds * 1e-9 if unit == "GB/s" else seconds * self.hertz + self.launch
        cycles = float(self.buffers[row["buffer"]].max())
        if unit == "B/clk/SM":
            return row["moved"] / cycles
        if unit == "GB/s":
            return row["moved"] / (cycles / self.hertz) * 1e-9
        return cycles / row["per"] / (self.hertz * 1e-9 if unit == "ns" else 1)

    def counters(self, kernel):
        """What the table of counters has of a kernel."""
        counted = self.kernels[self.of_kernel(kernel)[0]]
        return {"dram_reads": counted["dram_reads"], "dram_writes": counted["dram_writes"],
                "l2_reads": counted["l2_hits"] + counted["l2_misses"], "shared": self.shared}


class Result:
    """A row, and what was simulated."""

    def __init__(self, row, run):
        self.row, self.value = row, run.value(row)
        self.counters = run.counters(row["kernel"]) if "counters" in row else None
        self.error = 100 * (self.value / row["real"] - 1)

    def line(self):
        real, value = (f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.4g}" for x in (self.row["real"], self.value))
        row = self.row
        return f"| {row['item']} | {row['unit']} | {real} | {value} | {self.error:+.0f} % | {row['source']} |"

    def counters_line(self):
        pairs = ((self.row["counters"][name], self.counters[name]) for name in COUNTERS)
        return f"| {self.row['item']} | " + " | ".join(f"{real / 1e3:,.1f}, {value / 1e3:,.1f}"
                                                       for real, value in pairs) + " |"

    def is_kernel(self):
        return self.row["source"] == "GV"

    def is_of_another_card(self):
        return self.row["item"].startswith(OTHER_CARDS)

    def is_a_parameter(self):
        """Its measurement is a parameter of the machine: the row shows that the machine keeps it, and no accuracy."""
        return self.row["source"] == "MMA"


class Kept(Result):
    """A row that is not simulated anew, as its page has it."""

    def __init__(self, row, value, counters):
        self.row, self.value, self.counters = row, value, counters
        self.error = 100 * (value / row["real"] - 1)


def number(cell):
    return float(cell.replace(",", ""))


def cells_of_pages():
    """Cells of each line of the pages."""
    for page in ("v100.md", "a100.md"):
        for line in (PAGES / page).read_text().splitlines():
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def is_row(cells):
    """Whether they are those of a row that was simulated, not of another table."""
    return len(cells) == 6 and re.fullmatch(r"[-+]\d+ %", cells[4])


def kept_results(rows):
    """Rows that the pages have."""
    values, counters = {}, {}
    for cells in cells_of_pages():
        if is_row(cells):
            values[cells[0]] = number(cells[3])
        elif len(cells) == 5 and all(re.fullmatch(r"[\d,.]+, [\d,.]+", cell) for cell in cells[1:]):
            counters[cells[0]] = {name: 1e3 * number(cell.split(", ")[1])
                                  for name, cell in zip(COUNTERS, cells[1:])}
    lost = [row["item"] for row in rows if row["item"] not in values]
    if lost:
        sys.exit(f"validate.py: no page has these rows, simulate them, too: {', '.join(lost)}")
    return [Kept(row, values[row["item"]], counters.get(row["item"])) for row in rows]


def results_of(arguments, described, wanted):
    """Of the rows whose runs are wanted, in the table's order."""
    rows = [row for row in described["rows"] if wanted(row)]
    names = list(dict.fromkeys(row["run"] for row in rows))
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        folder = pathlib.Path(name)
        runs = dict(zip(names, pool.map(
            lambda run: Run(arguments.lockstep, folder, run, described["runs"][run]), names)))
    return [Result(row, runs[row["run"]]) for row in rows]


def summary(results):
    """Mean and median of the absolute errors, and the correlation of the logarithms."""
    errors = [abs(result.error) for result in results]
    real, simulated = ([math.log(x) for x in values] for values in zip(*((r.row["real"], r.value) for r in results)))
    mean_real, mean_simulated = statistics.fmean(real), statistics.fmean(simulated)
    covariance = sum((a - mean_real) * (b - mean_simulated) for a, b in zip(real, simulated))
    spread = math.sqrt(sum((a - mean_real) ** 2 for a in real) * sum((b - mean_simulated) ** 2 for b in simulated))
    return (f"mean absolute error {statistics.fmean(errors):.1f} %, median {statistics.median(errors):.1f} %, "
            f"largest {max(errors):.0f} %, correlation of the logarithms {covariance / spread:.4f}")


def table(title, results):
    return [f"| {title} | unit | real | simulated | error | source |\n", "|---|---|---:|---:|---:|---|\n",
            *(result.line() + "\n" for result in results), "\n"]


def text_of_v100(results):
    """Its rows, with the summary of all cards, its kernels, and their counters."""
    measured = [result for result in results if not result.is_a_parameter()]
    micro, kernels = ([result for result in measured if result.is_kernel() is chosen] for chosen in (False, True))
    text = []
    if micro:
        text += table("microbenchmark", [result for result in micro if not result.is_of_another_card()])
        text += [f"{len(micro)} rows, with those of the other cards: {summary(micro)}.\n", "\n"]
    if kernels:
        text += [*table("kernel, cold L2", kernels), f"{len(kernels)} rows: {summary(kernels)}.\n", "\n"]
    counted = [result.counters_line() + "\n" for result in results if result.counters]
    if counted:
        text += ["| thousands, real and simulated | " + " | ".join(COUNTERS.values()) + " |\n",
                 "|---|" + "---:|" * len(COUNTERS) + "\n", *counted, "\n"]
    return text


def text_of_a100(results):
    """The rows of other cards; then those of matrix instructions, also the V100's."""
    others = [result for result in results if result.is_of_another_card() and not result.is_a_parameter()]
    return (table("microbenchmark", others)
            + table("matrix instruction", [result for result in results if result.is_a_parameter()]))


def write_pages(results):
    for name, text in (("v100.md", text_of_v100(results)), ("a100.md", text_of_a100(results))):
        page = (PAGES / name).read_text()
        (PAGES / name).write_text(page[:page.index(BEGIN)] + BEGIN + "".join(text) + page[page.index(END):])


def plot(results):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "lockstep"
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(5, 5))
    for label, chosen, mark in (("microbenchmarks", False, "o"), ("kernels", True, "s")):
        part = [result for result in results if result.is_kernel() is chosen]
        axes.scatter([r.row["real"] for r in part], [r.value for r in part], s=14, marker=mark, label=label)
    ends = [min(r.row["real"] for r in results) / 2, max(r.row["real"] for r in results) * 2]
    axes.plot(ends, ends, color="grey", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="real", ylabel="simulated", xlim=ends, ylim=ends)
    axes.legend()
    figure.tight_layout()
    figure.savefig(HERE / "scatter.svg", metadata={"Date": None})


def renew(results):
    bounds = {result.row["item"]: math.ceil(abs(result.error)) + SLACK for result in results}
    text = "# Most error of each row, in percent: written by `validate.py renew`, kept by `validate.py check`.\n"
    (HERE / "bounds.yaml").write_text(text + yaml.safe_dump(bounds, sort_keys=False))


def check(results):
    bounds = yaml.safe_load((HERE / "bounds.yaml").read_text())
    outside = [r for r in results if abs(r.error) > bounds[r.row["item"]]]
    for result in outside:
        print(f"{result.line()} is outside of its bound, {bounds[result.row['item']]} %")
    return 1 if outside else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("table", "check", "renew", "print"))
    parser.add_argument("--lockstep", default=os.environ.get("LOCKSTEP", ROOT / "build/release/lockstep"))
    parser.add_argument("--only", default="", help="rows whose run matches this regular expression")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    arguments = parser.parse_args()
    described = yaml.safe_load((HERE / "rows.yaml").read_text())
    quick = arguments.verb == "check"

    def wanted(row):
        return re.search(arguments.only, row["run"]) and (not quick or described["runs"][row["run"]].get("quick"))

    results = results_of(arguments, described, wanted)
    if quick:
        return check(results)
    if arguments.verb == "print":
        print("\n".join(result.line() for result in results))
        return 0
    new = {result.row["item"]: result for result in results}
    kept = {result.row["item"]: result for result in kept_results(
        [row for row in described["rows"] if row["item"] not in new])}
    results = [new.get(row["item"]) or kept[row["item"]] for row in described["rows"]]
    if arguments.verb == "renew":
        renew(results)
    write_pages(results)
    plot(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
