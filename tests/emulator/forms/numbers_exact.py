"""Exact floating-point arithmetic for expected results: numbers are fractions, rounding is explicit.

Written from IEEE 754 and the PTX ISA; shares nothing with the emulator.
"""
from fractions import Fraction
from math import isqrt


class Format:
    """A binary floating-point format; `inf` says whether it has infinities."""

    def __init__(self, exponent_bits, mantissa_bits, nan, inf=True, max_code=None):
        self.e, self.m, self.nan, self.inf = exponent_bits, mantissa_bits, nan, inf
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.sign = 1 << (exponent_bits + mantissa_bits)
        self.infinity = ((1 << exponent_bits) - 1) << mantissa_bits if inf else None
        self.max_code = max_code if max_code is not None else self.infinity - 1

    def decode(self, bits):
        """A Fraction, or "nan", "+inf", "-inf"; zeros lose their sign (see is_negative)."""
        magnitude = bits & (self.sign - 1)
        negative = bits & self.sign
        if self.inf and magnitude > self.infinity or not self.inf and magnitude > self.max_code:
            return "nan"
        if self.inf and magnitude == self.infinity:
            return "-inf" if negative else "+inf"
        exponent, fraction = magnitude >> self.m, magnitude & ((1 << self.m) - 1)
        value = Fraction(fraction, 1 << self.m)
        value = (value + 1) * Fraction(2) ** (exponent - self.bias) if exponent else \
            value * Fraction(2) ** (1 - self.bias)
        return -value if negative else value

    def is_negative(self, bits):
        return bool(bits & self.sign)

    def encode(self, value, mode="rn", negative_zero=False, saturate=False):
        """`value` rounded by rn, rz, rm, rp or rna."""
        if value == "nan":
            return self.nan
        if value in ("+inf", "-inf"):
            code = self.max_code if saturate or not self.inf else self.infinity
            return code | (self.sign if value == "-inf" else 0)
        if value == 0:
            return self.sign if negative_zero else 0
        negative, magnitude = value < 0, abs(value)
        exponent = 0
        while magnitude >= Fraction(2) ** (exponent + 1):
            exponent += 1
        while magnitude < Fraction(2) ** exponent:
            exponent -= 1
        exponent = max(exponent, 1 - self.bias)
        scaled = magnitude / Fraction(2) ** (exponent - self.m)
        low = int(scaled)
        rest = scaled - low
        up = {"rn": rest > Fraction(1, 2) or rest == Fraction(1, 2) and low & 1,
              "rna": rest >= Fraction(1, 2), "rz": False,
              "rm": negative and rest > 0, "rp": not negative and rest > 0}[mode]
        low += 1 if up else 0
        if low >= 1 << (self.m + 1):
            low >>= 1
            exponent += 1
        code = low if low < 1 << self.m else \
            ((exponent + self.bias) << self.m) | (low & ((1 << self.m) - 1))
        if code > self.max_code:
            away = mode in ("rn", "rna") or mode == "rm" and negative or mode == "rp" and not negative
            code = self.infinity if away and self.inf and not saturate else self.max_code
        return code | (self.sign if negative else 0)


F16 = Format(5, 10, 0x7fff)
BF16 = Format(8, 7, 0x7fff)
F32 = Format(8, 23, 0x7fffffff)
F64 = Format(11, 52, 0x7fffffffffffffff)
E4M3 = Format(4, 3, 0x7f, inf=False, max_code=0x7e)
E5M2 = Format(5, 2, 0x7f)
TF32 = Format(8, 10, 0x3ffff)


def is_special(value):
    return isinstance(value, str)


def negated(value):
    return {"nan": "nan", "+inf": "-inf", "-inf": "+inf"}[value] if is_special(value) else -value


def add(fmt, a, b, mode="rn"):
    x, y = fmt.decode(a), fmt.decode(b)
    if "nan" in (x, y) or {x, y} == {"+inf", "-inf"}:
        return fmt.nan
    if is_special(x) or is_special(y):
        return fmt.encode(x if is_special(x) else y)
    both_negative = fmt.is_negative(a) and fmt.is_negative(b)
    cancels = x + y == 0 and not (x == 0 and fmt.is_negative(a) == fmt.is_negative(b))
    return fmt.encode(x + y, mode, both_negative or cancels and mode == "rm")


def sub(fmt, a, b, mode="rn"):
    return add(fmt, a, b if fmt.decode(b) == "nan" else b ^ fmt.sign, mode)


def product(fmt, a, b):
    x, y = fmt.decode(a), fmt.decode(b)
    negative = fmt.is_negative(a) != fmt.is_negative(b)
    if "nan" in (x, y) or (is_special(x) and y == 0) or (is_special(y) and x == 0):
        return "nan", negative
    if is_special(x) or is_special(y):
        return "-inf" if negative else "+inf", negative
    return x * y, negative


def mul(fmt, a, b, mode="rn"):
    value, negative = product(fmt, a, b)
    return fmt.encode(value, mode, negative)


def fma(fmt, a, b, c, mode="rn"):
    value, negative = product(fmt, a, b)
    z = fmt.decode(c)
    if "nan" in (value, z) or {value, z} == {"+inf", "-inf"}:
        return fmt.nan
    if is_special(value) or is_special(z):
        return fmt.encode(value if is_special(value) else z)
    both_negative = negative and fmt.is_negative(c)
    cancels = value + z == 0 and not (value == 0 and negative == fmt.is_negative(c))
    return fmt.encode(value + z, mode, both_negative or cancels and mode == "rm")


def div(fmt, a, b, mode="rn"):
    x, y = fmt.decode(a), fmt.decode(b)
    negative = fmt.is_negative(a) != fmt.is_negative(b)
    if "nan" in (x, y) or (is_special(x) and is_special(y)) or (x == 0 and y == 0):
        return fmt.nan
    if is_special(x) or y == 0:
        return fmt.encode("-inf" if negative else "+inf")
    if is_special(y):
        return fmt.encode(Fraction(0), mode, negative)
    return fmt.encode(x / y, mode, negative)


def sqrt(fmt, a, mode="rn"):
    x = fmt.decode(a)
    if x == "nan" or x == "-inf" or not is_special(x) and x < 0:
        return fmt.nan
    if x == "+inf" or x == 0:
        return a
    shift = 2 * (fmt.m + fmt.bias + 4)  # the root is exact to far more bits than are kept
    scaled = x * Fraction(2) ** (2 * shift)
    root = isqrt(int(scaled))
    exact = root * root == scaled
    return fmt.encode(Fraction(2 * root + (0 if exact else 1), 2 ** (shift + 1)), mode)


def minimum(fmt, a, b, nan=False, larger=False):
    x, y = fmt.decode(a), fmt.decode(b)
    if x == "nan" or y == "nan":
        if nan or x == y:
            return fmt.nan
        return b if x == "nan" else a
    def key(bits):
        value = fmt.decode(bits)
        order = {"+inf": (2, 0), "-inf": (0, 0)}.get(value, (1, value)) if is_special(value) else (1, value)
        return order, not fmt.is_negative(bits)
    return (max if larger else min)(a, b, key=key)


def flush(fmt, bits):
    exponent = ((1 << fmt.e) - 1) << fmt.m
    return bits if bits & exponent else bits & fmt.sign


def saturate(fmt, bits):
    value = fmt.decode(bits)
    if value == "nan" or value == "-inf" or not is_special(value) and value <= 0:
        return 0
    return fmt.encode(Fraction(1)) if value == "+inf" or value > 1 else bits


def compare(fmt, relation, a, b):
    x, y = fmt.decode(a), fmt.decode(b)
    unordered = "nan" in (x, y)
    if relation in ("num", "nan"):
        return unordered == (relation == "nan")
    base = relation[:-1] if len(relation) == 3 else relation
    if unordered:
        return len(relation) == 3
    def key(v):
        return {"+inf": (1, 0), "-inf": (-1, 0)}[v] if is_special(v) else (0, v)
    p, q = key(x), key(y)
    return {"eq": p == q, "ne": p != q, "lt": p < q, "le": p <= q, "gt": p > q, "ge": p >= q}[base]
