"""Where an element of A, B, C or D stands: (lane, register, first bit), by the drawings of the PTX manual."""
import functools

ELEMENT_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64, "s8": 8, "u8": 8, "s4": 4, "u4": 4,
                "b1": 1}
RESULT_BITS = {"f16": 16, "f32": 32, "f64": 64, "s32": 32}


def a_place(bits, row, k):
    per = max(32 // bits, 1)
    word, part = divmod(k, per)
    return 4 * (row % 8) + word % 4, row // 8 + 2 * (word // 4), part * bits


def b_place(bits, k, column):
    per = max(32 // bits, 1)
    word, part = divmod(k, per)
    return 4 * column + word % 4, word // 4, part * bits


def c_place(bits, row, column):
    lane = 4 * (row % 8) + column // 2
    if bits == 16:
        return lane, row // 8, 16 * (column % 2)
    return lane, 2 * (row // 8) + column % 2, 0


def quad_pair_places(form, pair):
    """A, B and C (or D) of one quad pair, as functions."""
    def lane(member):
        return 4 * pair + member % 4 + 16 * (member // 4)

    def strip(u, v):
        return lane(u), v // 2, 16 * (v % 2)

    def a(row, k):
        return strip(k + 4 * (row // 4), row % 4) if form["a_column"] else strip(row, k)

    def b(k, column):
        return strip(k + 4 * (column // 4), column % 4) if form["b_row"] else strip(column, k)

    def c(bits, row, column):
        if bits == 16:
            return strip(row, column)
        member = row % 2 + 2 * (column // 2 % 2) + 4 * (row // 4)
        return lane(member), column % 2 + 2 * (row // 2 % 2) + 4 * (column // 4), 0
    return a, b, c


def registers(form):
    """How many of A, B, C, D a lane has."""
    if form["a"] == "f16" and form["m"] == 8 and not form["wmma"]:
        return 2, 2, 8 if form["c"] == "f32" else 4, 8 if form["d"] == "f32" else 4
    bits = ELEMENT_BITS[form["a"]]
    width = max(bits, 32)

    def of(elements, size):
        return elements * size // 32 // max(size, 32)
    a, b = form["m"] * form["k"] * bits // 32 // width, form["k"] * form["n"] * bits // 32 // width
    if form["wmma"] and form["a"] == "f16":
        a = b = 8
    return a, b, of(form["m"] * form["n"], RESULT_BITS[form["c"]]), of(form["m"] * form["n"], RESULT_BITS[form["d"]])


def shifted(place, count):
    lane, register, bit = place
    return lane, register + count, bit


def wmma_places(form):
    """The sm_80 mapping: two m16n8 fragments side by side; A and B of f16 stand there again up to eight registers."""
    bits = ELEMENT_BITS[form["a"]]
    per = max(32 // bits, 1)
    tall = 2 * max(form["k"] // per // 4, 1)  # registers of A of m16n8
    flat = max(form["k"] // per // 4, 1)
    m, n = form["m"], form["n"]

    def a(row, k):
        if n == 32:
            return b_place(bits, k, row)
        return shifted(a_place(bits, row % 16, k), tall * (row // 16))

    def b(k, column):
        if n == 32:
            return shifted(a_place(bits, column % 16, k), tall * (column // 16))
        return shifted(b_place(bits, k, column % 8), flat * (column // 8))

    def c(size, row, column):
        block = 2 if size == 16 else 4
        if n == 32:
            return shifted(c_place(size, column % 16, row), block * (column // 16))
        if m == 32:
            return shifted(c_place(size, row % 16, column), block * (row // 16))
        return shifted(c_place(size, row, column % 8), block * (column // 8))
    return a, b, c


class Fragments:
    """Products of the form in one warp: functions for the places of their elements."""

    def __init__(self, form):
        self.form = form
        self.counts = registers(form)
        bits = ELEMENT_BITS[form["a"]]
        if form["wmma"]:
            self.products = [wmma_places(form)]
        elif form["a"] == "f16" and form["m"] == 8:
            self.products = [quad_pair_places(form, pair) for pair in range(4)]
        else:
            self.products = [(functools.partial(a_place, bits), functools.partial(b_place, bits), c_place)]

    def pack(self, elements, count, bits):
        """{place: code} -> rows of 32 lanes; of wmma's f16 the registers above repeat the lower ones."""
        rows = [[0] * 32 for _ in range(count)]
        used = 1 + max(register for _, register, _ in elements)
        for (lane, register, bit), code in elements.items():
            for copy in range(register, count, used):
                rows[copy][lane] |= code << bit
        digits = 16 if bits == 64 else 8
        # A row pair holds 32 lanes of 64 bits, each with its low word first.
        return "".join(f"{word & 0xffffffff:08x}{word >> 32:08x}" if digits == 16 else f"{word:08x}"
                       for row in rows for word in row)
