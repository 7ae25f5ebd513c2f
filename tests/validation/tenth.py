#!/usr/bin/python3
"""A tenth of the rows of every measured table, drawn at random: what is run anew to see that figures repeat.

    tests/validation/tenth.py --seed SEED [PAGE ...]
        lists the drawn rows of these pages (all: exceptions contexts ...), and the command that stands above each table
    tests/validation/tenth.py --seed SEED [PAGE ...] --against OUTPUT ...
        compares them with the tables that commands have printed into these files: same, differs, or not printed

At least one row of each table is drawn, and none that has a paper's figures (`004`). The seed and the row decide, not
the order of tables: a changed page keeps the draws of the others. A printed row is that of a table with the same title
(the first cell of its head), or of any table that has an equal first cell where no title is the same. Pages put some
rows together: of these all figures must be among those that were printed for the same first cell. Exit status 1: a row
differs.
"""
import argparse
import dataclasses
import hashlib
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import stale  # noqa: E402

SHARE = 10
FIGURE = re.compile(r"[\d,]*\.?\d+")
OF_A_PAPER = re.compile(r"00\d\b")


@dataclasses.dataclass
class Row:
    page: str
    line: int
    table: int  # the line of its table's head
    title: str  # the first cell of its table's head
    head: str  # the whole head
    command: str  # the last block of commands above it
    cells: list

    def place(self):
        return f"{stale.PAGES}/{self.page}.md:{self.line}"


def cells_of(line):
    return [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]


def rows_of(page, text):
    """The rows of all tables of a text."""
    rows, head, first, command, open_block = [], None, 0, [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    ") and line.strip():
            command = [*command, line.strip()] if open_block else [line.strip()]
        open_block = line.startswith("    ")
        if not line.startswith("|"):
            head = None
        elif head is None:
            head, first = cells_of(line), number
        elif not set(line) <= set("|-: ") and not OF_A_PAPER.match(cells_of(line)[0]):
            rows.append(Row(page, number, first, head[0], " | ".join(head), "; ".join(command), cells_of(line)))
    return rows


def drawn(seed, rows):
    """A tenth of the rows of each table, at least one, in the order of the page."""
    def lot(row):
        return hashlib.sha256(f"{seed}/{row.page}/{row.head}/{row.cells[0]}".encode()).hexdigest()

    chosen = []
    for group in grouped(rows):
        count = max(1, len(group) // SHARE)
        chosen += sorted(sorted(group, key=lot)[:count], key=lambda row: row.line)
    return chosen


def grouped(rows):
    """The rows of each table."""
    groups = []
    for row in rows:
        if groups and groups[-1][0].table == row.table and groups[-1][0].page == row.page:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def figures(rows):
    return {figure for row in rows for cell in row.cells[1:] for figure in FIGURE.findall(cell)}


def verdict(row, printed):
    """"same", "same figures" of rows in another form, "differs: ...", "other figures: ...", or "not printed"."""
    named = [other for other in printed if other.cells[0] == row.cells[0]]
    alike = [other for other in named if len(other.cells) == len(row.cells)]
    alike = [other for other in alike if other.title == row.title] or alike
    if not named:
        return "not printed"
    if any(other.cells == row.cells for other in alike):
        return "same"
    missing = figures([row]) - figures(named)
    if not missing:
        return "same figures"
    if not alike:
        return "other figures: " + ", ".join(sorted(missing))
    nearest = max(alike, key=lambda other: sum(a == b for a, b in zip(other.cells, row.cells)))
    return "differs: " + " | ".join(nearest.cells)


def measured_rows(root, pages):
    """The rows of the tables that say at which commit they were measured."""
    for page, tables in stale.measured_pages(root, pages):
        lines = {table.line for table in tables if table.commit}
        text = (root / stale.PAGES / f"{page}.md").read_text(encoding="utf-8")
        for group in grouped(rows_of(page, text)):
            if group[0].table in lines:
                yield from group


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--against", nargs="+", type=pathlib.Path, metavar="OUTPUT")
    parser.add_argument("--root", type=pathlib.Path, default=stale.ROOT)
    arguments = parser.parse_args()
    printed = [row for path in arguments.against or () for row in rows_of("", path.read_text(encoding="utf-8"))]
    is_other = False
    for row in drawn(arguments.seed, list(measured_rows(arguments.root, arguments.pages))):
        said = verdict(row, printed) if arguments.against else row.command
        is_other |= said.startswith(("differs", "other"))
        print(f"{row.place()}: {' | '.join(row.cells)}\n    {said}")
    return int(is_other)


if __name__ == "__main__":
    sys.exit(main())
