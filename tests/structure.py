#!/usr/bin/python3
"""The shape of the source tree: what a reader can hold in mind, and who may know whom.

    tests/structure.py             prints the twenty largest of each kind, their distance from the limit, and what
                                   breaks a rule
    tests/structure.py --check     prints only what breaks a rule; exit status 1 if anything does
    tests/structure.py --words R   prints the comments of room R that break the rule of words

The limits on size are alarms.  Code is cut where an idea ends: a class that is one idea stays whole below them, and no
part of a class moves to a second file for the sake of a number.

Rules, for the C++ of core, models, partitioner, jobs and tests:

  folder   A folder lists at most 30 entries.  A header and its source (one stem) are one entry, a subfolder is one.
  file     A source file has at most 600 lines.
  class    A class has at most 60 member functions (declared or defined, overloads count) and at most 800 lines over
           all files: its body and the member functions outside it.
  cycle    Files do not include each other in a circle.
  layer    core includes only core; models and partitioner also core; jobs all of these; tests everything.
  one way  In core, in models and in every folder below them that has subfolders, the entries include one way: a
           subfolder is one node, whatever stands below it, and a header and its source in the folder itself are
           another.  So a file beside the subfolders is either below one (an interface, a type, that the subfolder
           includes) or above it (a registry, the class that composes the parts, which includes the subfolder), and
           not both.  Two files in one folder may use each other (a.cpp includes b.hpp, b.cpp includes a.hpp).
  words    Comments of production code are written as docs/design/house-style.md asks.  Those that are plainly not -
           they begin with a word that stands for something not yet named, or have a phrase that the page lists - are
           counted in each room, and a room has no more of them than unclear_comments.yaml says.  That number only
           falls: lower it with the comments.  A comment behind code (`int a;  ///< ...` and `int a;  // ...`) names
           its thing too: it begins neither with a preposition that leads nowhere ("of the page", "by tenant") nor
           with half a sentence ("until it ends", "when data come").

Functions and line ranges come from universal-ctags.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import yaml

LAYERS = {
    "core": {"core"},
    "models": {"core", "models"},
    "partitioner": {"core", "partitioner"},
    "jobs": {"core", "models", "partitioner", "jobs"},
    "tests": {"core", "models", "partitioner", "jobs", "tests"},
}
ONE_WAY = ("core", "models")
SOURCES = (".hpp", ".cpp", ".cc")
MOST_ENTRIES = 30
MOST_FILE_LINES = 600
MOST_FUNCTIONS = 60
MOST_CLASS_LINES = 800
SHOWN = 20
UNCLEAR = pathlib.Path("tests/unclear_comments.yaml")
# A word without a noun before it at the start of a comment, behind `name:` too; phrases that leave the reader to guess.
UNCLEAR_BEGINNING = re.compile(
    r"(?:`\w+`: )?(?:What(?:ever)?|Of|One|Its?|They|Them|The same|The others?|Who(?:ever|se|m)?|That|Those|These|This|"
    r"By|Which|Such|Likewise|So|Another|Others?|Nobody|None of (?:them|it|these|those)|(?:For|In|With) (?:it|its|them)|"
    r"Where (?:it|they|those)|Whether (?:it|they)|(?:Ends|Puts|Takes) it)\b|"
    r"True:|False:|As \w+\(")
# The same behind code, in lower case too, with fragments that lean on the name of the member.
UNCLEAR_BEHIND = re.compile(
    r"(?:`\w+`: )?(?:\.\.\.|(?:of|by|among|what(?:ever)?|who(?:ever|se|m)?|which|its?|itself|they|them|their|that|"
    r"those|these|this|the (?:same|others?|rest|next|asker)|where|when|until|since|if|how|then|there|here|else|"
    r"likewise|also|and|or|so|such|nobody|has|have|is|was|were|can|may|must|would|whether (?:it|they)|"
    r"(?:in|on|at|for|with|from|to|within|behind|before|after|beside|between) "
    r"(?:it|its|them|those|these|which|whom|others))\b)", re.IGNORECASE)
# Code in front of a comment: text and numbers are passed over, since both may hold // or '.
CODE = re.compile(r"""(?:"(?:\\.|[^"\\])*"|\b\d[\w'.]*|'(?:\\.|[^'\\])*'|/(?!/)|[^"'/])*""")
NO_WORDS = re.compile(r"// *(?:namespace|NOLINT|clang-format)")
UNCLEAR_PHRASE = re.compile(
    r"; (?:they|it|those)\.|\bwhether (?:it|one|they) (?:did|does|do|was|is|has)\.|\bof it left\.")


def entry(path):
    """What a listing of its folder shows of a file: sources of one stem are one entry."""
    return path.stem if path.suffix in SOURCES else path.name


class Tree:
    """The files below `root`, and what each of them includes."""

    def __init__(self, root):
        self.root = root
        self.files = [
            pathlib.Path(folder, name).relative_to(root)
            for layer in LAYERS
            for folder, folders, names in os.walk(root / layer)
            if "__pycache__" not in folder
            for name in names
        ]
        self.sources = sorted(path for path in self.files if path.suffix in SOURCES)
        texts = {path: (root / path).read_text(encoding="utf-8") for path in self.sources}
        self.lines = {path: text.count("\n") for path, text in texts.items()}
        known = set(self.sources)
        self.includes = {
            path: {
                pathlib.Path(found)
                for found in re.findall(r'^ *# *include "([^"]+)"', text, re.MULTILINE)
                if pathlib.Path(found) in known
            }
            for path, text in texts.items()
        }

    def entries(self):
        """folder -> the entries of its listing."""
        listed = collections.defaultdict(set)
        for path in self.files:
            listed[path.parent].add(entry(path))
            for folder in path.parents:
                if folder.parent != folder:
                    listed[folder.parent].add(folder.name + "/")
        return {folder: names for folder, names in listed.items() if folder.parts}


class Size:
    """Of one class: member functions, and the line ranges that belong to it as (file, first, last)."""

    def __init__(self):
        self.bodies = []
        self.functions = 0
        self.outside = []

    def lines(self):
        return sum(last - first + 1 for _, first, last in self.bodies + self.outside)

    def holds(self, path, line):
        return any(path == file and first <= line <= last for file, first, last in self.bodies)


def tags_of(tree):
    """What universal-ctags knows of the C++ files: a dictionary for each class, function and prototype."""
    found = subprocess.run(
        ["ctags-universal", "--languages=C++", "--output-format=json", "--fields=+neKSZ", "--kinds-C++=+p", "-L", "-",
         "-f", "-"],
        cwd=tree.root, input="\n".join(map(str, tree.sources)), capture_output=True, text=True, check=True)
    return [tag for tag in map(json.loads, found.stdout.splitlines()) if tag["_type"] == "tag"]


def functions(tree):
    """"name (file:line)" -> lines of every function with a body."""
    return {
        f"{'::'.join(filter(None, (tag.get('scope'), tag['name'])))} ({tag['path']}:{tag['line']})":
            tag["end"] - tag["line"] + 1
        for tag in tags_of(tree) if tag["kind"] == "function" and "end" in tag
    }


def classes(tree):
    """Qualified name -> Size of every class and struct."""
    tags = tags_of(tree)
    sizes = collections.defaultdict(Size)
    for tag in tags:
        if tag["kind"] in ("class", "struct"):
            name = "::".join(filter(None, (tag.get("scope"), tag["name"])))
            sizes[name].bodies.append((tag["path"], tag["line"], tag["end"]))
    for tag in tags:
        if tag["kind"] in ("function", "prototype") and tag.get("scope") in sizes:
            size = sizes[tag["scope"]]
            if size.holds(tag["path"], tag["line"]):
                size.functions += 1
            else:
                size.outside.append((tag["path"], tag["line"], tag["end"]))
    return sizes


def circles(graph):
    """The groups of nodes that reach each other (Tarjan), each in alphabetical order."""
    index, low, stack, groups = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1 or node in graph.get(node, ()):
                groups.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return groups


def siblings(tree, folder):
    """(one entry of the folder, another) -> the includes that lead from the one to the other."""
    def node(path):
        below = path.relative_to(folder)
        return below.parts[0] + "/" if len(below.parts) > 1 else entry(below)

    edges = collections.defaultdict(list)
    for path, included in tree.includes.items():
        for other in included:
            if folder in path.parents and folder in other.parents and node(path) != node(other):
                edges[node(path), node(other)].append(f"{path} -> {other}")
    return edges


def two_way(tree):
    """The entries of a folder that include each other in a circle with a subfolder in it."""
    for folder, names in sorted(tree.entries().items()):
        if folder.parts[0] not in ONE_WAY or not any(name.endswith("/") for name in names):
            continue
        edges = siblings(tree, folder)
        graph = collections.defaultdict(set)
        for one, other in edges:
            graph[one].add(other)
        for group in circles(graph):
            if any(name.endswith("/") for name in group):
                inside = [example for (one, other), found in sorted(edges.items())
                          if one in group and other in group for example in sorted(found)[:2]]
                yield f"one way: in {folder}: {', '.join(group)} include each other" + "".join(
                    f"\n    {example}" for example in inside)


def room_of(path):
    """Where comments are counted: a folder of models, or one of the other layers."""
    return "/".join(path.parts[:2]) if path.parts[0] == "models" else path.parts[0]


def doc_comments(text):
    """(line, words) of every block of ///."""
    block, first = [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        said = re.match(r"\s*///(?!<) ?(.*)", line)
        if said:
            first = first or number
            block.append(said[1])
        elif block:
            yield first, " ".join(block)
            block, first = [], 0


def comments_behind_code(text):
    """(line, words) of every comment that stands behind code, the first line of it."""
    for number, line in enumerate(text.splitlines(), 1):
        code = CODE.match(line)[0]
        comment = line[len(code):]
        if code.strip() and comment.startswith("//") and not NO_WORDS.match(comment):
            yield number, comment.lstrip("/<").strip()


def unclear_comments(tree):
    """Room -> (file, line, words) of the comments of production code that break the rule of words."""
    found = collections.defaultdict(list)
    for path in tree.sources:
        if path.parts[0] == "tests":
            continue
        text = (tree.root / path).read_text(encoding="utf-8")
        unclear = [comment for comment in doc_comments(text)
                   if UNCLEAR_BEGINNING.match(comment[1]) or UNCLEAR_PHRASE.search(comment[1])]
        unclear += [comment for comment in comments_behind_code(text)
                    if UNCLEAR_BEHIND.match(comment[1]) or UNCLEAR_BEGINNING.match(comment[1]) or
                    UNCLEAR_PHRASE.search(comment[1])]
        found[room_of(path)] += [(path, line, words) for line, words in sorted(unclear)]
    return {room: comments for room, comments in found.items() if comments}


def too_many_unclear(tree):
    bounds = tree.root / UNCLEAR
    most = (yaml.safe_load(bounds.read_text(encoding="utf-8")) if bounds.exists() else None) or {}
    for room, found in sorted(unclear_comments(tree).items()):
        if len(found) > most.get(room, 0):
            yield (f"words: {room} has {len(found)} unclear comments (at most {most.get(room, 0)}); the last ones:"
                   + "".join(f"\n    {path}:{line}: {words[:60]}" for path, line, words in found[-3:]))


def broken(tree, sizes):
    """A line for every rule that something breaks."""
    for folder, names in sorted(tree.entries().items()):
        if len(names) > MOST_ENTRIES:
            yield f"folder: {folder} lists {len(names)} entries (at most {MOST_ENTRIES})"
    for path, lines in tree.lines.items():
        if lines > MOST_FILE_LINES:
            yield f"file: {path} has {lines} lines (at most {MOST_FILE_LINES})"
    for name, size in sorted(sizes.items()):
        if size.functions > MOST_FUNCTIONS:
            yield f"class: {name} has {size.functions} member functions (at most {MOST_FUNCTIONS})"
        if size.lines() > MOST_CLASS_LINES:
            yield f"class: {name} has {size.lines()} lines (at most {MOST_CLASS_LINES})"
    for group in circles(tree.includes):
        yield f"cycle: {', '.join(map(str, group))} include each other"
    for path, included in tree.includes.items():
        for other in sorted(included):
            if other.parts[0] not in LAYERS[path.parts[0]]:
                yield f"layer: {path} includes {other}"
    yield from two_way(tree)
    yield from too_many_unclear(tree)


def report(tree, sizes):
    """The largest folders, files, classes and functions; `left` is the distance from the limit."""
    print("entries  left  folder")
    largest = sorted(tree.entries().items(), key=lambda pair: -len(pair[1]))
    for folder, names in largest[:SHOWN]:
        print(f"{len(names):7}  {MOST_ENTRIES - len(names):4}  {folder}")
    print("\nlines  left  file")
    for path, lines in sorted(tree.lines.items(), key=lambda pair: -pair[1])[:SHOWN]:
        print(f"{lines:5}  {MOST_FILE_LINES - lines:4}  {path}")
    counted = sorted(tree.lines.values())
    if counted:
        print(f"median {counted[len(counted) // 2]}, nine of ten at most {counted[len(counted) * 9 // 10]}")
    print("\nlines  left  files  class")
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1].lines())[:SHOWN]:
        files = {path for path, _, _ in size.bodies + size.outside}
        print(f"{size.lines():5}  {MOST_CLASS_LINES - size.lines():4}  {len(files):5}  {name}")
    print("\nfunctions  left  class")
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1].functions)[:SHOWN]:
        print(f"{size.functions:9}  {MOST_FUNCTIONS - size.functions:4}  {name}")
    print("\nlines  function (no limit: it should fit a screen)")
    for name, lines in sorted(functions(tree).items(), key=lambda pair: -pair[1])[:SHOWN]:
        print(f"{lines:5}  {name}")
    print()


def main():
    parser = argparse.ArgumentParser(description="Sizes and includes of the source tree.")
    parser.add_argument("--check", action="store_true", help="print only broken rules; exit status 1 if there are any")
    parser.add_argument("--words", metavar="ROOM", help="print the unclear comments of a room, such as models/sm")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    if arguments.words:
        for path, line, words in unclear_comments(tree).get(arguments.words, ()):
            print(f"{path}:{line}: {words}")
        return 0
    sizes = classes(tree)
    if not arguments.check:
        report(tree, sizes)
    found = list(broken(tree, sizes))
    print("\n".join(found) if found else "structure: every rule holds")
    return 1 if found and arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
