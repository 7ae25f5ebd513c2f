#!/usr/bin/python3
"""What to change of a GPU's configuration so that it measures what a real one does.

    calibrate.py GPU.yaml MEASURED.yaml [--tolerance 2]

MEASURED.yaml is what measure_gpu writes.  Each of its rows is simulated with the configuration as it is; rows.yaml says
which parameter explains a row (`explained`), and how: by cycles more or less, or in proportion.  A row that contains
what another one measures (`beyond`) is told only what that one leaves.  Rows without such a parameter are listed.
"""
import argparse
import os
import pathlib
import re
import sys
import tempfile

import yaml

from validate import HERE, ROOT, Run

KINDS = ("cycles", "ratio")


def fail(what):
    sys.exit(f"lockstep: {what}")


def read_yaml(path):
    try:
        return yaml.safe_load(pathlib.Path(path).read_text())
    except OSError as error:
        fail(f"{path}: {error.strerror} - name a file that can be read")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        fail(f"{path}{place}: {getattr(error, 'problem', 'is no YAML')} - see what measure_gpu writes")


def read_measured(path, rows):
    """Values by row, in its unit."""
    content = read_yaml(path)
    if not isinstance(content, dict) or not isinstance(content.get("measurements"), list):
        fail(f"{path}: has no list `measurements` - see what measure_gpu writes")
    values = {}
    for entry in content["measurements"]:
        item, value, unit = (entry.get(key) if isinstance(entry, dict) else None for key in ("item", "value", "unit"))
        if item not in rows:
            fail(f"{path}: no row of rows.yaml is called {item!r} - write it as rows.yaml does")
        if unit != rows[item]["unit"]:
            fail(f"{path}: '{item}' is in {unit}, rows.yaml has it in {rows[item]['unit']} - convert it")
        if not isinstance(value, (int, float)) or value <= 0:
            fail(f"{path}: '{item}' has the value {value!r} - it must be a number above 0")
        values[item] = value
    return content.get("clock"), values


def parameter_of(gpu, key):
    """Number and unit of a resolved configuration's value."""
    value = gpu
    for part in key.split("."):
        value = value[part]
    number, unit = re.fullmatch(r"([-0-9.e+]+)\s*(.*)", str(value)).groups()
    return float(number), unit


class Finding:
    """A row that is off, and by how much."""

    def __init__(self, row, run, measured):
        self.row, self.measured, self.gpu = row, measured, run.gpu
        self.simulated = run.value(row)
        self.hertz = run.hertz
        self.error = 100 * (self.simulated / measured - 1)

    def cycles(self):
        """By which the real one takes longer."""
        scale = {"ns": 1e-9, "us": 1e-6}.get(self.row["unit"])
        return (self.measured - self.simulated) * (scale * self.hertz if scale else 1)

    def text(self):
        unit = self.row["unit"]
        return f"{self.row['item']}: measured {self.measured:.4g} {unit}, simulated {self.simulated:.4g}"

    def advice(self, beyond):
        """What of the parameter to change; nothing: it is right."""
        explained = self.row["explained"]
        number, unit = parameter_of(self.gpu, explained["parameter"])
        if explained["by"] == "ratio":
            new = number * self.measured / self.simulated
        else:
            new = number + self.cycles() - (beyond.cycles() if beyond else 0)
        new = max(1, round(new))
        if new == round(number):
            return None
        return f"gpu.{explained['parameter']}: {number:.0f} -> {new} {unit}".rstrip()


def findings_of(arguments, described, clock, measured):
    found = {}
    runs = {}
    with tempfile.TemporaryDirectory() as name:
        for item, value in measured.items():
            row = next(row for row in described["rows"] if row["item"] == item)
            if row["run"] not in runs:
                description = dict(described["runs"][row["run"]])
                if clock:
                    description["clock"] = clock
                runs[row["run"]] = Run(arguments.lockstep, pathlib.Path(name), row["run"], description, arguments.gpu)
            found[item] = Finding(row, runs[row["run"]], value)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gpu", type=pathlib.Path, help="configuration of a GPU (YAML)")
    parser.add_argument("measured", type=pathlib.Path, help="what measure_gpu wrote (YAML)")
    parser.add_argument("--tolerance", type=float, default=2, help="percent that do not matter")
    parser.add_argument("--lockstep", default=os.environ.get("LOCKSTEP", ROOT / "build/release/lockstep"))
    arguments = parser.parse_args()
    read_yaml(arguments.gpu)
    described = read_yaml(HERE / "rows.yaml")
    clock, measured = read_measured(arguments.measured, {row["item"]: row for row in described["rows"]})
    arguments.gpu = arguments.gpu.resolve()
    found = findings_of(arguments, described, clock, measured)
    off = [finding for finding in found.values() if abs(finding.error) > arguments.tolerance]
    for finding in off:
        explained = finding.row.get("explained")
        beyond = found.get(explained.get("beyond")) if explained else None
        advice = finding.advice(beyond) if explained else "no parameter alone explains"
        if advice:
            print(f"{advice}  ({finding.text()}, {finding.error:+.0f} %)")
    print(f"{len(found) - len(off)} of {len(found)} rows are within {arguments.tolerance:g} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
