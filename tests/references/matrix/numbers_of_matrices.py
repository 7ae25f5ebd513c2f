"""Numbers of the formats of matrix instructions, exact: whole numbers times powers of two.

No floating point of Python's takes part.
"""
import functools


class Number:
    """`kind` is "finite", "infinite" or "nan"; the value is whole * 2 ** scale.

    `exponent` is what a product's exponent is the sum of.
    """

    __slots__ = ("kind", "whole", "scale", "negative", "exponent")

    def __init__(self, kind, whole=0, scale=0, negative=False, exponent=0):
        self.kind = kind
        self.whole = whole
        self.scale = scale
        self.negative = negative
        self.exponent = exponent


NAN = Number("nan")


def infinite(negative):
    return Number("infinite", negative=negative)


def finite(whole, scale=0, negative=False, exponent=0):
    """The sign of zero is `negative`."""
    return Number("finite", whole, scale, whole < 0 if whole else negative, exponent)


ZERO = finite(0)


class Format:
    """IEEE-like: a sign, `exponent_bits`, `fraction_bits`; without infinities all ones alone is NaN."""

    def __init__(self, exponent_bits, fraction_bits, infinities=True):
        self.exponent_bits = exponent_bits
        self.fraction_bits = fraction_bits
        self.infinities = infinities
        self.bias = 2 ** (exponent_bits - 1) - 1
        self.width = 1 + exponent_bits + fraction_bits
        self.largest_field = 2 ** exponent_bits - 1
        self.canonical_nan = 2 ** (self.width - 1) - 1

    @functools.lru_cache(maxsize=70000)
    def decode(self, code):
        negative = code >> (self.width - 1) == 1
        field = code >> self.fraction_bits & self.largest_field
        fraction = code & (2 ** self.fraction_bits - 1)
        if field == self.largest_field:
            if self.infinities:
                return infinite(negative) if fraction == 0 else NAN
            if fraction == 2 ** self.fraction_bits - 1:
                return NAN
        exponent = max(field, 1) - self.bias
        whole = fraction + (2 ** self.fraction_bits if field else 0)
        return finite(-whole if negative else whole, exponent - self.fraction_bits, negative, exponent)

    def encode(self, number, rounding):
        """`rounding`: see nearest()."""
        sign = int(number.negative) << (self.width - 1)
        if number.kind == "nan":
            return self.canonical_nan
        infinity = self.largest_field << self.fraction_bits
        if number.kind == "infinite":
            return sign | infinity
        magnitude = abs(number.whole)
        if magnitude == 0:
            return sign
        lowest = 1 - self.bias
        unit = max(magnitude.bit_length() - 1 + number.scale, lowest) - self.fraction_bits
        up = number.scale - unit
        whole = magnitude << up if up >= 0 else rounding(magnitude, -up, number.negative)
        # The hidden bit carries into the exponent's field by itself.
        code = whole if unit == lowest - self.fraction_bits else ((unit + self.fraction_bits - lowest)
                                                                  << self.fraction_bits) + whole
        if code >= infinity:
            stays = rounding(3, 1, number.negative) == 1 and rounding is not truncate_to_infinity
            return sign | (infinity - 1 if stays else infinity)
        return sign | code


def nearest(magnitude, bits, _negative):
    """magnitude / 2 ** bits as a whole number, for a number of this sign; of two equally near ones the even one."""
    whole = magnitude >> bits
    rest = magnitude - (whole << bits)
    half = 1 << (bits - 1)
    return whole + (1 if rest > half or (rest == half and whole % 2 == 1) else 0)


def truncate(magnitude, bits, _negative):
    return magnitude >> bits


def truncate_to_infinity(magnitude, bits, _negative):
    """As tensor cores: towards zero, but what is too large becomes infinite."""
    return magnitude >> bits


def away(magnitude, bits):
    return -(-magnitude >> bits)


def downwards(magnitude, bits, negative):
    return away(magnitude, bits) if negative else magnitude >> bits


def upwards(magnitude, bits, negative):
    return magnitude >> bits if negative else away(magnitude, bits)


F16 = Format(5, 10)
BF16 = Format(8, 7)
F32 = Format(8, 23)
F64 = Format(11, 52)
TF32 = Format(8, 10)
E4M3 = Format(4, 3, infinities=False)
E5M2 = Format(5, 2)


def multiply(a, b):
    """The exact product."""
    if a.kind == "nan" or b.kind == "nan":
        return NAN
    negative = a.negative != b.negative
    if a.kind == "infinite" or b.kind == "infinite":
        zero = (a.kind == "finite" and a.whole == 0) or (b.kind == "finite" and b.whole == 0)
        return NAN if zero else infinite(negative)
    return finite(a.whole * b.whole, a.scale + b.scale, negative, a.exponent + b.exponent)


def add(a, b, zero_is_negative=False):
    """The exact sum, with the sign of zero that IEEE 754 gives it."""
    if a.kind == "nan" or b.kind == "nan":
        return NAN
    if a.kind == "infinite" and b.kind == "infinite":
        return a if a.negative == b.negative else NAN
    if a.kind == "infinite":
        return a
    if b.kind == "infinite":
        return b
    scale = min(a.scale, b.scale)
    whole = (a.whole << (a.scale - scale)) + (b.whole << (b.scale - scale))
    if whole == 0:
        both_zero = a.whole == 0
        return finite(0, 0, a.negative if both_zero and a.negative == b.negative else zero_is_negative)
    return finite(whole, scale)


def sum_of_products(left, right):
    """The exact sum; a sum of zero is positive."""
    if any(x.kind != "finite" for x in left) or any(y.kind != "finite" for y in right):
        total = ZERO
        for x, y in zip(left, right):
            total = add(total, multiply(x, y))
        return total
    parts = [(x.whole * y.whole, x.scale + y.scale) for x, y in zip(left, right)]
    scale = min(part[1] for part in parts)
    return finite(sum(whole << (of - scale) for whole, of in parts), scale)


def rounded(number, form, rounding=nearest):
    """The number as the format holds it."""
    return form.decode(form.encode(number, rounding))
