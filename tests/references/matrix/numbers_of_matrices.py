"""Numbers of the formats of matrix instructions, as exact rationals; no floating point of Python's takes part."""
import fractions
import functools
import math

Fraction = fractions.Fraction


class Number:
    """`kind` is "finite", "infinite" or "nan"; `exponent` is what a product's exponent is the sum of."""

    def __init__(self, kind, value=Fraction(0), negative=False, exponent=0):
        self.kind = kind
        self.value = value
        self.negative = negative
        self.exponent = exponent


NAN = Number("nan")


def infinite(negative):
    return Number("infinite", negative=negative)


def finite(value, negative=False, exponent=0):
    """The sign of zero is `negative`."""
    return Number("finite", value, value < 0 if value else negative, exponent)


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
        significand = Fraction(fraction + (2 ** self.fraction_bits if field else 0), 2 ** self.fraction_bits)
        value = significand * Fraction(2) ** exponent
        return finite(-value if negative else value, negative, exponent)

    def encode(self, number, rounding):
        """`rounding`: from (magnitude in units of the last place, negative) to a whole number of units."""
        sign = int(number.negative) << (self.width - 1)
        if number.kind == "nan":
            return self.canonical_nan
        infinity = self.largest_field << self.fraction_bits
        if number.kind == "infinite":
            return sign | infinity
        magnitude = abs(number.value)
        if magnitude == 0:
            return sign
        unit = max(floor_log2(magnitude), 1 - self.bias) - self.fraction_bits
        units = magnitude / Fraction(2) ** unit
        whole = rounding(units, number.negative)
        # The hidden bit carries into the exponent's field by itself.
        code = whole if unit == 1 - self.bias - self.fraction_bits else \
            ((unit + self.fraction_bits + self.bias - 1) << self.fraction_bits) + whole
        if code >= infinity:
            beyond = rounding(Fraction(3, 2), number.negative) == 1 and rounding is not truncate_to_infinity
            return sign | (infinity - 1 if beyond else infinity)
        return sign | code


def floor_log2(value):
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def nearest(units, _negative):
    whole = math.floor(units)
    rest = units - whole
    return whole + (1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1) else 0)


def truncate(units, _negative):
    return math.floor(units)


def truncate_to_infinity(units, _negative):
    """As tensor cores: towards zero, but what is too large becomes infinite."""
    return math.floor(units)


def downwards(units, negative):
    return math.ceil(units) if negative else math.floor(units)


def upwards(units, negative):
    return math.floor(units) if negative else math.ceil(units)


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
        zero = (a.kind == "finite" and a.value == 0) or (b.kind == "finite" and b.value == 0)
        return NAN if zero else infinite(negative)
    return finite(a.value * b.value, negative, a.exponent + b.exponent)


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
    value = a.value + b.value
    if value == 0:
        both_zero = a.value == 0
        return finite(value, a.negative if both_zero and a.negative == b.negative else zero_is_negative)
    return finite(value)


def rounded(number, form, rounding=nearest):
    """The number as the format holds it."""
    return form.decode(form.encode(number, rounding))
