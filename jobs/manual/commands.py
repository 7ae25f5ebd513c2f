#!/usr/bin/python3
"""Writes docs/commands.md: what `lockstep help` says of every command.

    jobs/manual/commands.py           writes the page
    jobs/manual/commands.py --check   exit status 1 if the page is not what would be written

The program is build/release/lockstep, or that of the environment variable LOCKSTEP.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEAD = """# Commands

This page is generated (`jobs/manual/commands.py`) from the program itself: `lockstep help COMMAND` and `man lockstep`
say the same. An introduction with the usual options: [running](running.md).

"""


def said(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def commands(program):
    """(name, what it does) of every command, in the order of the program's help."""
    listed = said(program, "--help").split("\nCOMMANDS\n")[1].split("\n\n")[0]
    return re.findall(r"(?m)^  ([a-z]+) +(\S.*)$", listed)


def page(program):
    parts = [HEAD, "| command | what it does |\n|---|---|\n"]
    parts += [f"| [`{name}`](#lockstep-{name}) | {words} |\n" for name, words in commands(program)]
    for name, _ in commands(program):
        text = said(program, "help", name)
        text = text[text.index("SYNOPSIS"):].rstrip()
        parts.append(f"\n## lockstep {name}\n\n```text\n{text}\n```\n")
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text = page(os.environ.get("LOCKSTEP", ROOT / "build/release/lockstep"))
    path = ROOT / "docs/commands.md"
    if not check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        print("docs/commands.md is out of date: run jobs/manual/commands.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
