#!/usr/bin/python3
"""Tables of docs/validation whose models have changed since they were measured.

    tests/validation/stale.py            lists them: commits and lines since, and in which folders most of them lie
    tests/validation/stale.py PAGE ...   of these pages only (mask, sms.md)
    tests/validation/stale.py --marks    exit status 1, with the place, where a table says no commit or an unknown one

A table says `<!-- measured: COMMIT -->` behind itself; a mark counts for all tables above it up to the mark or the
heading before. Of a table whose rows were measured at several commits that is the oldest. Tables of claims
(`| claim ... |`) have none: they stand on others. tests/validation/stale.yaml lists on which files a page depends.
A change of comments or of blank lines is none.
"""
import argparse
import collections
import dataclasses
import pathlib
import re
import subprocess
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = "docs/validation"
DEPENDENCES = "tests/validation/stale.yaml"
MARK = re.compile(r"<!-- measured: ([0-9a-f]{8,40}) -->")
# Lines that change nothing: blank ones, and comments of C++, Python and YAML that have a line of their own.
MEANINGLESS = re.compile(r"\s*(//.*|#( .*)?|)$")


@dataclasses.dataclass
class Table:
    page: str
    line: int
    title: str
    commit: str = ""

    def place(self):
        return f"{PAGES}/{self.page}.md:{self.line}"


def tables_of(page, text):
    """The tables of a page that are measured, with the commits that their marks name."""
    found, open_ones, inside = [], [], False
    for number, line in enumerate(text.splitlines(), 1):
        mark = MARK.fullmatch(line.strip())
        if mark:
            for table in open_ones:
                table.commit = mark[1]
        if mark or line.startswith("#"):
            open_ones = []
        if line.startswith("|") and not inside:
            title = line.strip("| ").split(" | ")[0]
            if not title.startswith("claim"):
                open_ones.append(Table(page, number, title))
                found.append(open_ones[-1])
        inside = line.startswith("|")
    return found


class Repository:
    def __init__(self, root):
        self.root = root

    def git(self, *arguments):
        done = subprocess.run(["git", "-C", self.root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def knows(self, commit):
        return self.git("cat-file", "-e", f"{commit}^{{commit}}")[0] == 0

    def is_shallow(self):
        return self.git("rev-parse", "--is-shallow-repository")[1].strip() == "true"

    def changes(self, commit, paths):
        """{file: lines that changed since}, of the files as they stand in the working tree."""
        _, text = self.git("diff", "--unified=0", "--no-color", "--no-renames", commit, "--", *paths)
        lines, file = collections.Counter(), ""
        for line in text.splitlines():
            if line.startswith("diff --git a/"):
                file, in_hunk = line.split(" b/")[-1], False
            elif line.startswith("@@"):
                in_hunk = True
            elif line[:1] in ("+", "-") and in_hunk and not MEANINGLESS.match(line[1:]):
                lines[file] += 1
        return lines

    def commits_since(self, commit, paths):
        return int(self.git("rev-list", "--count", "--no-merges", f"{commit}..HEAD", "--", *paths)[1] or 0)


def dependences(root):
    """Page -> paths, as git takes them."""
    listed = yaml.safe_load((root / DEPENDENCES).read_text(encoding="utf-8"))
    common = listed.pop("common")
    return {page: [*common, *paths] for page, paths in listed.items()}


def measured_pages(root, wanted=()):
    """(page, its tables) of every page, or of those that are wanted; a page without measured tables is none."""
    wanted = {name.removesuffix(".md") for name in wanted}
    for path in sorted((root / PAGES).glob("*.md")):
        tables = tables_of(path.stem, path.read_text(encoding="utf-8"))
        if tables and path.stem not in ("index", "claims") and (not wanted or path.stem in wanted):
            yield path.stem, tables


def wrong_marks(root):
    """What is wrong with the marks and with the list of dependences, one line each."""
    repository, depends = Repository(root), dependences(root)
    for page, tables in measured_pages(root):
        if page not in depends:
            yield f"{DEPENDENCES}: {page}.md has tables and no list of what they depend on"
        for table in tables:
            if not table.commit:
                yield f"{table.place()}: no `<!-- measured: COMMIT -->` behind the table '{table.title}'"
            elif not repository.knows(table.commit) and not repository.is_shallow():
                yield f"{table.place()}: commit {table.commit} is not in this repository"
    for page, paths in depends.items():
        for path in paths:
            if not list(root.glob(path.removeprefix(":!"))):
                yield f"{DEPENDENCES}: {page}: {path} matches no file"


def folder_of(file):
    return "/".join(file.split("/")[:3]) if file.startswith("models/") else file.rsplit("/", 1)[0]


def stale(root, wanted=()):
    """(table, commits, lines by folder) of each table whose models have changed."""
    repository, depends, known = Repository(root), dependences(root), {}
    for page, tables in measured_pages(root, wanted):
        for table in tables:
            if not repository.knows(table.commit):
                sys.exit(f"{table.place()}: commit {table.commit or 'none'} is not in this repository"
                         " (tests/validation/stale.py --marks; git fetch --unshallow)")
            if (page, table.commit) not in known:
                lines = collections.Counter()
                for file, count in repository.changes(table.commit, depends[page]).items():
                    lines[folder_of(file)] += count
                known[page, table.commit] = repository.commits_since(table.commit, depends[page]), lines
            commits, lines = known[page, table.commit]
            if lines:
                yield table, commits, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", metavar="PAGE")
    parser.add_argument("--marks", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    arguments = parser.parse_args()
    if arguments.marks:
        wrong = list(wrong_marks(arguments.root))
        print(*wrong, sep="\n", end="\n" * bool(wrong))
        return bool(wrong)
    for table, commits, lines in stale(arguments.root, arguments.pages):
        most = ", ".join(f"{folder} {count}" for folder, count in lines.most_common(3))
        print(f"{table.place()}: '{table.title}', measured at {table.commit[:8]}: {commits} commits, "
              f"{lines.total()} lines since, most in {most}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
