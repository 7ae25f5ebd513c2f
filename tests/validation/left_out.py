#!/usr/bin/python3
"""What error one should expect: each parameter that rows chose goes back to what it would be without them.

    left_out.py print   simulates the rows of searched.yaml with those values, and prints the table
    left_out.py table   as `print`, and writes the table into docs/validation/index.md

The mean that is seen counts rows that chose parameters of the machine.  The expected one takes, for these rows, the
errors without them (leave one group out); both are of all rows of docs/validation/v100.md and a100.md.
"""
import argparse
import os
import pathlib
import re
import statistics
import sys

import yaml
from validate import PAGES, ROOT, cells_of_pages, is_row, number, results_of

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- left_out.py: begin -->\n", "<!-- left_out.py: end -->\n"


def seen_errors():
    """Error of each row of the tables, in percent, but of those whose measurement is a parameter."""
    return {cells[0]: 100 * (number(cells[3]) / number(cells[2]) - 1)
            for cells in cells_of_pages() if is_row(cells) and cells[5] != "MMA"}


def without(arguments, described, group):
    """Errors of the group's rows, in percent, with what the file would say without them."""
    lost = set(group["rows"]) - {row["item"] for row in described["rows"]}
    if lost:
        sys.exit(f"left_out.py: searched.yaml: no such row: {', '.join(sorted(lost))}")
    settings = {f"gpu.{key}": value for key, value in group["set"].items()}
    runs = {name: {**run, "set": {**run.get("set", {}), **settings}} for name, run in described["runs"].items()}
    results = results_of(arguments, {**described, "runs": runs}, lambda row: row["item"] in group["rows"])
    return {result.row["item"]: result.error for result in results}


def table(groups, left_out, seen):
    """Lines of the table; a row that chose several parameters counts with its largest error."""
    lines = ["| parameters, chosen by rows | rows | mean error with them | without | what stands there instead |",
             "|---|---:|---:|---:|---|"]
    worst = {}
    for group, errors in zip(groups, left_out):
        for item, error in errors.items():
            worst[item] = max(worst.get(item, 0), abs(error))
        lines.append(f"| {group['name']} | {len(errors)} | "
                     f"{statistics.fmean(abs(seen[item]) for item in errors):.1f} % | "
                     f"{statistics.fmean(abs(error) for error in errors.values()):.1f} % | {group['without']} |")
    expected = [worst.get(item, abs(error)) for item, error in seen.items()]
    mean = statistics.fmean(map(abs, seen.values()))
    lines += ["", f"Over {len(seen)} rows the mean error is {mean:.1f} % with these fits, "
                  f"and {statistics.fmean(expected):.1f} % without them (median {statistics.median(expected):.1f} %)."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("print", "table"))
    parser.add_argument("--lockstep", default=os.environ.get("LOCKSTEP", ROOT / "build/release/lockstep"))
    parser.add_argument("--only", default="", help="groups whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=1, help="runs of a group at a time")
    arguments = parser.parse_args()
    described = yaml.safe_load((HERE / "rows.yaml").read_text())
    groups = [group for group in yaml.safe_load((HERE / "searched.yaml").read_text())
              if re.search(arguments.only, group["name"])]
    left_out = [without(arguments, described, group) for group in groups]
    text = table(groups, left_out, seen_errors())
    if arguments.verb == "print":
        print(text, end="")
        return
    page = PAGES / "index.md"
    old = page.read_text()
    page.write_text(old[:old.index(BEGIN)] + BEGIN + text + old[old.index(END):])


if __name__ == "__main__":
    main()
