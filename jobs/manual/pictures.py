#!/usr/bin/python3
"""The pictures of docs/machine: a box for each part, and in it the key and the value of what governs the part.

    jobs/manual/pictures.py           draws all
    jobs/manual/pictures.py --check   exit status 1 if a key in a picture is not declared, or a drawing is not current
    jobs/manual/pictures.py --left    prints the keys of the machine that stand in no picture

What stands where is in machine.py.  Keys, units and values come from the declarations (declarations.py): a picture
cannot name a key that is not there, and shows the value of a V100 behind PCIe 3.0.
"""
import argparse
import html
import pathlib
import sys

import machine
from declarations import declarations, settings, written

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDE, GAP, MARGIN = 256, 40, 14      # a column, the room between two of them, around all
LINE, TITLE, PAD, BETWEEN = 17, 20, 8, 24
FILL = {"part": "#eef3fa", "queue": "#e6f4ea", "link": "#ffffff", "policy": "#fff4e0", "note": "#f5f5f5"}
OWN_UNIT = ("amount of memory", "frequency", "time", "bandwidth", "word", "policy", "text", "true or false", "count",
            "ratio")
EDGE = {"part": "#3b6ea8", "queue": "#2f8f5b", "link": "#7a7a7a", "policy": "#c77d0a", "note": "#9a9a9a"}


class UndeclaredKey(Exception):
    """A picture names a key that no schema declares."""


def fits(name, value):
    """Whether a key and its value have room beside each other, by the widths of their letters."""
    return 7 * len(name) + 7.6 * len(value) + 28 <= WIDE


def with_unit(value, unit, name):
    """A count with its unit, unless the key says it or the value has one of its own."""
    if unit in OWN_UNIT or unit == name:
        return value
    return f"{value} {unit.removesuffix('s') if value == '1' else unit}"


class Keys:
    """What to write for a key."""

    def __init__(self, root):
        self.declared, self.said = declarations(root), settings(root)
        self.used = set()

    def line(self, key):
        """(unit-bearing value, meaning) of a declared key."""
        if key not in self.declared:
            raise UndeclaredKey(key)
        self.used.add(key)
        declared = self.declared[key]
        value = written(self.said.get(key, declared.default))
        return with_unit(value, declared.unit, key.rpartition(".")[2]), declared.meaning


class Drawing:
    def __init__(self, keys, picture):
        self.keys, self.picture = keys, picture
        self.places, self.shapes = {}, []
        self.lay_out()

    @staticmethod
    def named(box):
        """(what is written, the whole key) of the keys of a box."""
        for name in box["keys"]:
            whole = not box["prefix"] or name.startswith(("gpu.", "host.", "policies."))
            yield name, name if whole else f"{box['prefix']}.{name}"

    def height(self, box):
        lines = len(box["text"])
        for name, full in self.named(box):
            lines += 1 if fits(name, self.keys.line(full)[0]) else 2
        return 2 * PAD + TITLE + lines * LINE + (LINE if box["prefix"] else 0)

    def lay_out(self):
        """Columns from left to right; in a column boxes from top to bottom, `down` lower than they would be."""
        bottom = 0
        for number, column in enumerate(self.picture["columns"]):
            y = MARGIN
            for box in column:
                y += box["down"]
                height = self.height(box)
                self.places[box["name"]] = (MARGIN + number * (WIDE + GAP), y, height, number)
                y += height + BETWEEN
            bottom = max(bottom, y - BETWEEN)
        self.width = 2 * MARGIN + len(self.picture["columns"]) * (WIDE + GAP) - GAP
        self.bottom = bottom + MARGIN

    def text(self, x, y, words, style="", anchor="start", title=""):
        tip = f"<title>{html.escape(title)}</title>" if title else ""
        self.shapes.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" {style}>{tip}{html.escape(words)}</text>')

    def draw_box(self, box):
        x, y, height, _ = self.places[box["name"]]
        kind = box["kind"]
        dashes = ' stroke-dasharray="5 3"' if kind == "link" else ""
        self.shapes.append(f'<rect x="{x}" y="{y}" width="{WIDE}" height="{height}" rx="6" fill="{FILL[kind]}" '
                           f'stroke="{EDGE[kind]}" stroke-width="1.4"{dashes}/>')
        line = y + PAD + 13
        self.text(x + 10, line, box["title"], 'class="title"')
        line += TITLE - 13 + LINE - 6
        prefix = box["prefix"]
        if prefix:
            self.text(x + 10, line, prefix, 'class="prefix"')
            line += LINE
        for words in box["text"]:
            self.text(x + 10, line, words, 'class="words"')
            line += LINE
        for name, full in self.named(box):
            value, meaning = self.keys.line(full)
            self.text(x + 10, line, name, 'class="key"', title=f"{full}: {meaning}")
            line += 0 if fits(name, value) else LINE
            self.text(x + WIDE - 10, line, value, 'class="value"', "end", f"{full}: {meaning}")
            line += LINE

    def draw_arrow(self, begin, end, words=""):
        bx, by, bh, bc = self.places[begin]
        ex, ey, eh, ec = self.places[end]
        if bc == ec:
            down = ey > by
            x = bx + WIDE / 2 + (0 if down else 24)
            path = f"M {x} {by + bh if down else by} V {ey - 2 if down else ey + eh + 2}"
            at = (x + 6, (by + bh + ey) / 2 + 4) if down else (x + 6, (ey + eh + by) / 2 + 4)
        else:
            right = ec > bc
            low, high = max(by, ey), min(by + bh, ey + eh)
            y0, y1 = ((low + high) / 2,) * 2 if low + 8 < high else (by + bh / 2, ey + eh / 2)
            x0, x1 = (bx + WIDE, ex - 2) if right else (bx, ex + WIDE + 2)
            middle = x1 - 0.3 * GAP if right else x1 + 0.2 * GAP  # the two ways do not run into each other
            path = f"M {x0} {y0} H {middle} V {y1} H {x1}"
            at = (middle + 4, y1 - 5)
        self.shapes.append(f'<path d="{path}" class="arrow" marker-end="url(#head)"/>')
        if words:
            self.text(*at, words, 'class="words"')

    def svg(self):
        for arrow in self.picture["arrows"]:
            self.draw_arrow(*arrow)
        for column in self.picture["columns"]:
            for box in column:
                self.draw_box(box)
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.bottom:g}" width="{self.width}" '
            f'height="{self.bottom:g}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">',
            f"<title>{html.escape(self.picture['title'])}</title>",
            "<style>.title{font-weight:bold;font-size:13px}.prefix{font-family:monospace;font-size:11px;fill:#666}"
            ".key{font-family:monospace;font-size:11.5px;fill:#234}.value{font-size:11.5px;font-weight:bold;fill:#222}"
            ".words{font-size:11.5px;fill:#444}.arrow{fill:none;stroke:#555;stroke-width:1.4}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
            f'<rect width="{self.width}" height="{self.bottom:g}" fill="#ffffff"/>',
            *self.shapes, "</svg>", ""])


def drawings(root, pictures=None):
    """File -> SVG of every picture, and the keys that they name."""
    keys = Keys(root)
    made = {root / "docs/machine" / f"{name}.svg": Drawing(keys, picture).svg()
            for name, picture in (pictures or machine.PICTURES).items()}
    return made, keys


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--left", action="store_true")
    arguments = parser.parse_args()
    try:
        made, keys = drawings(ROOT)
    except UndeclaredKey as undeclared:
        print(f"pictures: no schema declares {undeclared} (jobs/manual/machine.py)")
        return 1
    if arguments.left:
        print("\n".join(key for key, declared in keys.declared.items()
                        if key.startswith(("gpu.", "host.")) and declared.unit != "group" and key not in keys.used))
        return 0
    status = 0
    for path, text in made.items():
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(ROOT)} is not current: run jobs/manual/pictures.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
