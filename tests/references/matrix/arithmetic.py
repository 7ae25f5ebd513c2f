"""One element of D = A B + C as the tensor cores of each generation compute it, exactly.

Written from the published models of their arithmetic (MMA-Sim, arXiv 2511.10909; arXiv 2512.07004), and from the
instructions into which ptxas expands what they lack; not from the simulator's code.
"""
import numbers_of_matrices as numbers

ARITHMETICS = ("volta", "turing", "ampere", "ada", "hopper", "blackwell")
FLOATS = {"f16": numbers.F16, "bf16": numbers.BF16, "tf32": numbers.TF32, "e4m3": numbers.E4M3, "e5m2": numbers.E5M2,
          "f64": numbers.F64}
RESULTS = {"f16": numbers.F16, "f32": numbers.F32, "f64": numbers.F64}
ROUNDINGS = {"rn": numbers.nearest, "rz": numbers.truncate, "rm": numbers.downwards, "rp": numbers.upwards}
INTEGER_BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4}


def fused_sum(terms, fraction_bits):
    """The terms (a, b) with b None for an addend, aligned, truncated and added."""
    if any(a.kind != "finite" or (b and b.kind != "finite") for a, b in terms):
        total = numbers.ZERO
        for a, b in terms:
            term = numbers.multiply(a, b) if b else a
            if term.kind != "finite":
                total = numbers.add(total, term)
        return total
    parts, top = [], None
    for a, b in terms:
        whole = a.whole * b.whole if b else a.whole
        if whole == 0:
            continue
        exponent = a.exponent + b.exponent if b else a.exponent
        top = exponent if top is None or exponent > top else top
        parts.append((whole, a.scale + b.scale if b else a.scale))
    if top is None:
        return numbers.ZERO
    unit = top - fraction_bits
    return numbers.finite(sum(in_units(whole, scale - unit) for whole, scale in parts), unit)


def in_units(whole, up):
    """whole * 2 ** up, truncated towards zero."""
    if up >= 0:
        return whole << up
    return whole >> -up if whole >= 0 else -(-whole >> -up)


def fused_chain(a, b, c, result, groups, fraction_bits, kept=None):
    """Group after group; what is between them has the result's format."""
    rounding = numbers.nearest if result is numbers.F16 else numbers.truncate_to_infinity
    code = None
    for group in groups:
        exact = fused_sum([(a[k], b[k]) for k in group] + [(c, None)], fraction_bits)
        code = result.encode(exact, rounding)
        if kept and exact.kind == "finite":
            code &= ~(2 ** (result.fraction_bits - kept) - 1)
        c = result.decode(code)
    return code


def consecutive(count, size):
    return [range(first, first + size) for first in range(0, count, size)]


def dot_floats(form, a, b, c):
    """a, b: codes along k; c: a code.  Returns the code of D."""
    k = form["k"]
    left = [FLOATS[form["a"]].decode(x) for x in a]
    right = [FLOATS[form["b"]].decode(x) for x in b]
    wide = "f32" in (form["c"], form["d"])
    result = numbers.F32 if wide else numbers.F16
    addend = RESULTS[form["c"]].decode(c)
    if wide and form["c"] == "f16":
        addend = numbers.F32.decode(numbers.F32.encode(addend, numbers.nearest))
    code = in_result(form, left, right, addend, result, k)
    if wide and form["d"] == "f16":
        return numbers.F16.encode(numbers.F32.decode(code), numbers.nearest)
    return code


def in_result(form, a, b, c, result, k):
    generation = ARITHMETICS.index(form["arithmetic"])
    after_turing, after_ada = generation >= 2, generation >= 4
    if form["a"] in ("e4m3", "e5m2"):
        return fp8(form, a, b, c, result, k)
    if form["a"] == "f16" and form["m"] == 8 and form["k"] == 4 and not form["wmma"] and after_turing:
        return scalar(a, b, c, result)
    size = {"volta": 4, "turing": 8, "ampere": 8, "ada": 8}.get(form["arithmetic"], k)
    if form["a"] == "tf32" and (not after_ada or form["wmma"]):
        size = 4
    fraction_bits = 23 if generation == 0 else 25 if after_ada else 24
    return fused_chain(a, b, c, result, consecutive(k, min(size, k)), fraction_bits)


def fp8(form, a, b, c, result, k):
    if form["arithmetic"] == "ada":
        return fused_chain(a, b, c, result, consecutive(k, 16), 13, 13 if result is numbers.F32 else None)
    if form["arithmetic"] == "blackwell":
        return fused_chain(a, b, c, result, [range(k)], 25)
    # Hopper: converted to f16, the lower half of every register first; C is added in the end.
    a, b = ([numbers.rounded(x, numbers.F16) for x in side] for side in (a, b))
    groups = [[i for i in range(k) if i % 4 < 2], [i for i in range(k) if i % 4 >= 2]]
    product = result.decode(fused_chain(a, b, numbers.ZERO, result, groups, 25))
    return result.encode(numbers.add(c, product), numbers.nearest)


def scalar(a, b, c, result):
    def fma(x, y, z):
        return numbers.rounded(numbers.add(numbers.multiply(x, y), z), numbers.F32)

    def plus(x, y):
        return numbers.rounded(numbers.add(x, y), numbers.F32)

    if result is numbers.F32:
        total = numbers.ZERO
        for x, y in zip(a, b):
            total = fma(x, y, total)
        return numbers.F32.encode(plus(c, total), numbers.nearest)
    pairs = [fma(a[i + 1], b[i + 1], numbers.multiply(a[i], b[i])) for i in (0, 2)]
    return numbers.F16.encode(plus(plus(c, pairs[0]), pairs[1]), numbers.nearest)


def dot_doubles(form, a, b, c):
    total = numbers.F64.decode(c)
    for x, y in zip(a, b):
        product = numbers.multiply(numbers.F64.decode(x), numbers.F64.decode(y))
        exact = numbers.add(product, total, zero_is_negative=form["rounding"] == "rm")
        code = numbers.F64.encode(exact, ROUNDINGS[form["rounding"]])
        total = numbers.F64.decode(code)
    return 0x7ff8000000000000 if total.kind == "nan" else code


def integer(code, element):
    bits = INTEGER_BITS[element]
    return code - 2 ** bits if element[0] == "s" and code >> (bits - 1) else code


def dot_integers(form, a, b, c):
    exact = sum(integer(x, form["a"]) * integer(y, form["b"]) for x, y in zip(a, b))
    exact += c - 2 ** 32 if c >> 31 else c
    if form["saturate"]:
        exact = min(max(exact, -2 ** 31), 2 ** 31 - 1)
    return exact % 2 ** 32


def dot_bits(form, a, b, c):
    ones = sum((x & y) if form["operation"] == "and" else (x ^ y) for x, y in zip(a, b))
    return (c + ones) % 2 ** 32


def dot(form, a, b, c):
    if form["a"] == "f64":
        return dot_doubles(form, a, b, c)
    if form["a"] == "b1":
        return dot_bits(form, a, b, c)
    if form["a"] in INTEGER_BITS:
        return dot_integers(form, a, b, c)
    return dot_floats(form, a, b, c)
