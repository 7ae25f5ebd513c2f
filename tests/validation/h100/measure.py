#!/usr/bin/python3
"""Simulated Hopper GPUs beside published measurements: prints tables of docs/validation/h100.md (rows.yaml).

    tests/validation/h100/measure.py [TABLE ...]    latencies, halves, rates, streams, kernels (all: ten minutes)
"""
import argparse
import pathlib
import sys
import tempfile

import numpy
import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import validate  # noqa: E402  (of the folder above)

TABLES = ("latencies", "halves", "rates", "streams", "kernels")


class Runs:
    """Runs that several rows look at are made once."""

    def __init__(self, lockstep, folder, machines):
        self.lockstep, self.folder, self.machines, self.made = lockstep, folder, machines, {}

    def of(self, machine, workload, parameters):
        key = f"{machine} {workload} {sorted(parameters.items())}"
        if key not in self.made:
            description = {**self.machines[machine], "workload": workload, "parameters": parameters}
            self.made[key] = validate.Run(self.lockstep, self.folder, f"run {len(self.made)}", description)
        return self.made[key]


def value_of(row, runs):
    """What the row is about, in its unit."""
    def run(parameters):
        return runs.of(row["machine"], row["workload"], parameters)

    whole = run(row.get("parameters", {}))
    if row["unit"] == "us":
        launch = whole.launch / whole.hertz if row.get("launched") else 0
        return (whole.seconds(row["kernel"]) + launch) * 1e6
    if row["unit"] == "TFLOP/s":
        seconds = whole.seconds(row["kernel"]) - run(row["less"]).seconds(row["kernel"])
        return row["work"] / seconds * 1e-12
    return whole.value(row)


def line(*columns):
    print("| " + " | ".join(columns) + " |", flush=True)


def print_rows(rows, runs):
    line("what", "unit", "measured", "simulated", "ratio", "source")
    line("---", "---", "---:", "---:", "---:", "---")
    for row in rows:
        value = value_of(row, runs)
        real = row["real"]
        line(row["item"], row["unit"], f"{real:.4g}", f"{value:.4g}", f"{value / real:.2f}", row["source"])


def print_halves(rows, runs):
    """By how much a line of the far half of L2 takes longer than one of the near half."""
    line("first load of a line", "near", "far", "longer", "measured longer", "source")
    line("---", "---:", "---:", "---:", "---:", "---")
    for row in rows:
        run = runs.of(row["machine"], "micro/hopper/probe", row["parameters"])
        cycles = run.buffers["first"].astype(float)
        usual = numpy.percentile(cycles, (5, 95))
        near, far = (numpy.median(half) for half in (cycles[cycles < usual.mean()], cycles[cycles >= usual.mean()]))
        line(row["item"], f"{near:.0f}", f"{far:.0f}", f"{far - near:.0f}", row["real"], row["source"])


def print_rates(table, runs):
    """Measured / simulated."""
    line("bytes of a copy", *(f"{blocks} blocks" for blocks in table["blocks"]))
    line("---:", *("---:" for _ in table["blocks"]))
    for size, measured in table["measured"].items():
        cells = []
        for blocks, real in zip(table["blocks"], measured):
            if real is None:
                cells.append("")
                continue
            run = runs.of(table["machine"], "micro/bulk_cold",
                          {"bytes": size, "apart": size, "rounds": 16, "blocks": blocks})
            cycles = float(run.buffers["cycles"].max()) / 8
            cells.append(f"{real} / {size * blocks / cycles * run.hertz * 1e-9:.0f}")
        line(str(size), *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], metavar="TABLE")
    parser.add_argument("--lockstep", default=validate.ROOT / "build/release/lockstep", type=pathlib.Path)
    arguments = parser.parse_args()
    described = yaml.safe_load((HERE / "rows.yaml").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(arguments.lockstep.resolve(), pathlib.Path(folder), described["machines"])
        for name in arguments.tables or TABLES:
            {"rates": print_rates, "halves": print_halves}.get(name, print_rows)(described[name], runs)
            print()


if __name__ == "__main__":
    main()
