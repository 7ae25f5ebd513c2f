#!/usr/bin/python3
"""Writes products of matrices with their results: what models/isa/semantics/families/matrix.cc must compute.

    vectors.py FILE [--count N | --sums N] [--seed S] [--only TEXT]

N products of every form with every arithmetic, or as many as make N sums.  A line holds the form, and the registers of
A, B, C and D in hexadecimal.
"""
import argparse
import random

import arithmetic
import fragments
import numbers_of_matrices as numbers

SINCE = {name: index for index, name in enumerate(arithmetic.ARITHMETICS)}
MMA = [("f16", (8, 8, 4), "volta"), ("f16", (16, 8, 8), "turing"), ("f16", (16, 8, 16), "ampere"),
       ("bf16", (16, 8, 8), "ampere"), ("bf16", (16, 8, 16), "ampere"), ("tf32", (16, 8, 4), "ampere"),
       ("tf32", (16, 8, 8), "ampere"), ("f64", (8, 8, 4), "ampere"), ("f64", (16, 8, 4), "hopper"),
       ("f64", (16, 8, 8), "hopper"), ("f64", (16, 8, 16), "hopper"), ("s8", (8, 8, 16), "turing"),
       ("s8", (16, 8, 16), "ampere"), ("s8", (16, 8, 32), "ampere"), ("s4", (8, 8, 32), "turing"),
       ("s4", (16, 8, 32), "ampere"), ("s4", (16, 8, 64), "ampere"), ("b1", (8, 8, 128), "turing"),
       ("b1", (16, 8, 128), "ampere"), ("b1", (16, 8, 256), "ampere"), ("e4m3", (16, 8, 16), "ada"),
       ("e4m3", (16, 8, 32), "ada")]
LONG = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
WMMA = [(element, shape, since) for element, since in (("f16", "volta"), ("bf16", "ampere"), ("s8", "turing"))
        for shape in LONG]
WMMA += [("tf32", (16, 16, 8), "ampere"), ("f64", (8, 8, 4), "ampere"), ("s4", (8, 8, 32), "turing"),
         ("b1", (8, 8, 128), "turing")]
ACCUMULATORS = {"f16": ("f32", "f16"), "e4m3": ("f32", "f16"), "bf16": ("f32",), "tf32": ("f32",), "f64": ("f64",),
                "s8": ("s32",), "s4": ("s32",), "b1": ("s32",)}
PARTNERS = {"s8": ("s8", "u8"), "s4": ("s4", "u4"), "e4m3": ("e4m3", "e5m2")}


def variants(draw, form, wmma):
    """Free choices of a form, drawn."""
    element = form["a"]
    if element in PARTNERS:
        form["a"] = draw.choice(PARTNERS[element])
        form["b"] = form["a"] if wmma else draw.choice(PARTNERS[element])
    quad_pairs = element == "f16" and form["m"] == 8 and not wmma
    if element == "f16" and (wmma or (quad_pairs and form["d"] == "f32")) and draw.random() < 0.3:
        form["c"] = "f16" if form["c"] == "f32" else "f32"
    if quad_pairs:
        form["a_column"], form["b_row"] = draw.randrange(2), draw.randrange(2)
    if element in ("s8", "s4"):
        form["saturate"] = draw.randrange(2)
    if element == "f64":
        form["rounding"] = draw.choice(("rn", "rz", "rm", "rp"))
    if element == "b1":
        form["operation"] = draw.choice(("xor", "and") if SINCE[form["arithmetic"]] >= SINCE["ampere"] else ("xor",))
    return form


def forms(draw):
    for wmma, table in ((0, MMA), (1, WMMA)):
        for element, (m, n, k), since in table:
            for name in arithmetic.ARITHMETICS[SINCE[since]:]:
                for accumulator in ACCUMULATORS[element]:
                    yield variants(draw, {
                        "m": m, "n": n, "k": k, "a": element, "b": element, "c": accumulator, "d": accumulator,
                        "operation": "multiply", "arithmetic": name, "rounding": "rn", "wmma": wmma, "a_column": 0,
                        "b_row": 0, "saturate": 0}, wmma)


class Codes:
    """Codes of a format in the ways in which sums go wrong."""

    def __init__(self, draw, form, style):
        self.draw, self.form, self.style = draw, form, style
        self.middle = draw.randrange(1, form.largest_field)

    def __call__(self):
        form, draw = self.form, self.draw
        sign = draw.getrandbits(1) << (form.width - 1)
        fraction = draw.getrandbits(form.fraction_bits)
        if draw.random() < 0.25:
            fraction = draw.choice((0, 1, 2 ** form.fraction_bits - 1, 2 ** (form.fraction_bits - 1)))
        field = draw.randrange(form.largest_field)
        luck = draw.random()
        if self.style == "near":
            field = min(max(self.middle + draw.randrange(-3, 4), 0), form.largest_field - 1)
        elif self.style == "one":
            field = min(max(form.bias + draw.randrange(-6, 7), 0), form.largest_field - 1)
        elif self.style == "small":
            field = draw.randrange(min(4, form.largest_field))
        elif self.style == "large":
            field = form.largest_field - 1 - draw.randrange(min(4, form.largest_field))
        elif self.style == "special" and luck < 0.05:
            return draw.choice((form.largest_field << form.fraction_bits | sign | (fraction if luck < 0.02 else 0),
                                sign, form.canonical_nan))
        if luck > 0.93:
            return sign | (draw.getrandbits(form.fraction_bits) if luck > 0.96 else 0)
        return sign | field << form.fraction_bits | fraction


STYLES = ("any", "near", "one", "one", "small", "large", "special")


def float_matrices(draw, form):
    """Codes of A by rows, of B by columns, of C by rows."""
    m, n, k = form["m"], form["n"], form["k"]
    sides = []
    for side, count in (("a", m), ("b", n)):
        sides.append([])
        for _ in range(count):
            codes = Codes(draw, arithmetic.FLOATS[form[side]], draw.choice(STYLES))
            sides[-1].append([codes() for _ in range(k)])
    result = arithmetic.RESULTS[form["c"]]
    c = []
    for row in range(m):
        codes = Codes(draw, result, draw.choice(STYLES))
        c.append([codes() if draw.random() < 0.6 else near_product(draw, form, sides[0][row], sides[1][column], result)
                  for column in range(n)])
    if form["a"] == "tf32":  # the low bits are ignored
        sides = [[[code << 13 | draw.getrandbits(13) for code in codes] for codes in side] for side in sides]
    return sides[0], sides[1], c


def near_product(draw, form, a, b, result):
    """An addend that cancels the products, nearly or wholly, or is about as large."""
    left, right = arithmetic.FLOATS[form["a"]], arithmetic.FLOATS[form["b"]]
    total = numbers.sum_of_products([left.decode(x) for x in a], [right.decode(y) for y in b])
    if total.kind == "finite":
        sign, power = draw.choice(((-1, 0), (-1, 0), (1, 0), (1, -draw.randrange(30)), (1, draw.randrange(30))))
        total = numbers.finite(sign * total.whole, total.scale + power)
    return result.encode(total, draw.choice((numbers.nearest, numbers.truncate_to_infinity)))


def matrices(draw, form):
    if form["a"] in arithmetic.FLOATS:
        return float_matrices(draw, form)
    bits = fragments.ELEMENT_BITS[form["a"]]
    extreme = draw.random() < 0.3

    def code():
        return draw.choice((0, 2 ** bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1)) if extreme else \
            draw.getrandbits(bits)
    c = [[draw.choice((draw.getrandbits(32), 2 ** 31 - 1 - draw.randrange(2000), 2 ** 31 + draw.randrange(2000)))
          for _ in range(form["n"])] for _ in range(form["m"])]
    return ([[code() for _ in range(form["k"])] for _ in range(form["m"])],
            [[code() for _ in range(form["k"])] for _ in range(form["n"])], c)


def vector(draw, form):
    """A line."""
    places = fragments.Fragments(form)
    held = [{}, {}, {}, {}]
    c_bits, d_bits = fragments.RESULT_BITS[form["c"]], fragments.RESULT_BITS[form["d"]]
    for a_of, b_of, c_of in places.products:
        a, b, c = matrices(draw, form)
        mask = (1 << 19) - 1
        for row in range(form["m"]):
            held[0].update({a_of(row, k): code for k, code in enumerate(a[row])})
        for column in range(form["n"]):
            held[1].update({b_of(k, column): code for k, code in enumerate(b[column])})
        if form["a"] == "tf32":
            a, b = ([[code >> 13 & mask for code in codes] for codes in side] for side in (a, b))
        for row in range(form["m"]):
            for column in range(form["n"]):
                held[2][c_of(c_bits, row, column)] = c[row][column]
                held[3][c_of(d_bits, row, column)] = arithmetic.dot(form, a[row], b[column], c[row][column])
    bits = (fragments.ELEMENT_BITS[form["a"]],) * 2 + (c_bits, d_bits)
    words = [places.pack(*each) for each in zip(held, places.counts, bits)]
    return " ".join([str(value) for value in form.values()] + words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--sums", type=int, default=0, help="of each form, instead of --count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="forms whose fields, joined with blanks, contain this")
    parser.add_argument("--every", type=int, default=1, help="leave out all forms but each n-th")
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    lines = 0
    with open(arguments.file, "w", encoding="ascii") as file:
        for round_ in range(arguments.sums or arguments.count):
            left = False
            for index, form in enumerate(forms(draw)):
                if arguments.sums and round_ * form["m"] * form["n"] >= arguments.sums:
                    continue
                left = True
                fields = " ".join(str(value) for value in form.values())
                if arguments.only in fields and index % arguments.every == 0:
                    file.write(vector(draw, form) + "\n")
                    lines += 1
            if not left:
                break
    print(f"{lines} products")


if __name__ == "__main__":
    main()
