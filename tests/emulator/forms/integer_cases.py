"""Integer arithmetic, logic and shifts (PTX ISA 9.7.1, 9.7.2, 9.7.8)."""
from case_writer import CaseFile, bits_of, signed

# The register of each operand by type, for sources a b c and result d.
PREFIX = {16: "h", 32: "", 64: "x"}
INTEGERS = ["u16", "s16", "u32", "s32", "u64", "s64"]


def width(kind):
    return int(kind[1:])


def samples(bits):
    top = 1 << (bits - 1)
    full = (1 << bits) - 1
    return [0, 1, 7, full, top, top - 1, 0x1234 & full, full - 5]


def value(bits, kind):
    return signed(bits, width(kind)) if kind[0] == "s" else bits_of(bits, width(kind))


def quotient(a, b):
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def remainder(a, b):
    return a - b * quotient(a, b)


def clamp(v, bits):
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, v))


def operand_columns(bits, count):
    s = samples(bits)
    pairs = [(x, y) for x in s for y in s][:28:1]
    pairs = pairs[::2] + [(y, x) for x, y in pairs[::2]]
    columns = [[p[0] for p in pairs], [p[1] for p in pairs]]
    columns.append([s[(i * 3 + 2) % len(s)] for i in range(len(pairs))])
    return columns[:count]


def by_type(out, opcode, kind, count, function, title, result=None, skip=None):
    """opcode.kind d, a, b..: `function` of typed values gives the result."""
    bits = width(kind)
    columns = operand_columns(bits, count)
    rows = [r for r in zip(*columns) if not skip or not skip(*[value(v, kind) for v in r])]
    p = PREFIX[bits]
    d = PREFIX[result or bits]
    text = f"{opcode}.{kind} %{d}d, " + ", ".join(f"%{p}{n}" for n in "abc"[:count])
    ins = {n: [r[i] for r in rows] for i, n in enumerate("abc"[:count])}
    expected = [bits_of(function(*[value(v, kind) for v in r]), result or bits) for r in rows]
    out.case(text, title, ins, {d + "d": expected})


def arithmetic(out):
    for kind in INTEGERS:
        bits = width(kind)
        by_type(out, "add", kind, 2, lambda a, b: a + b, "wraps")
        by_type(out, "sub", kind, 2, lambda a, b: a - b, "wraps")
        by_type(out, "mul.lo", kind, 2, lambda a, b: a * b, "low half")
        by_type(out, "mul.hi", kind, 2, lambda a, b: (a * b) >> bits, "high half")
        by_type(out, "mad.lo", kind, 3, lambda a, b, c: a * b + c, "low half plus c")
        by_type(out, "mad.hi", kind, 3, lambda a, b, c: ((a * b) >> bits) + c, "high half plus c")
        by_type(out, "sad", kind, 3, lambda a, b, c: abs(a - b) + c, "c + |a - b|")
        by_type(out, "div", kind, 2, quotient, "toward zero", skip=lambda a, b: b == 0)
        by_type(out, "rem", kind, 2, remainder, "sign of a", skip=lambda a, b: b == 0)
        by_type(out, "min", kind, 2, min, "smaller")
        by_type(out, "max", kind, 2, max, "larger")
    for kind in ["u16", "s16", "u32", "s32"]:
        bits = width(kind)
        by_type(out, "mul.wide", kind, 2, lambda a, b: a * b, "whole product", result=2 * bits)
        rows = list(zip(*operand_columns(bits, 2)))
        c = [3 + 11 * i for i in range(len(rows))]
        p, w = PREFIX[bits], PREFIX[2 * bits]
        out.case(f"mad.wide.{kind} %{w}d, %{p}a, %{p}b, %{w}c", "whole product plus c",
                 {"a": [r[0] for r in rows], "b": [r[1] for r in rows], "c": c},
                 {w + "d": [bits_of(value(x, kind) * value(y, kind) + z, 2 * bits)
                            for (x, y), z in zip(rows, c)]})
    for kind in ["s16", "s32", "s64"]:
        by_type(out, "abs", kind, 1, abs, "magnitude; the smallest stays")
        by_type(out, "neg", kind, 1, lambda a: -a, "wraps")
    by_type(out, "add.sat", "s32", 2, lambda a, b: clamp(a + b, 32), "saturates")
    by_type(out, "sub.sat", "s32", 2, lambda a, b: clamp(a - b, 32), "saturates")
    by_type(out, "mad.hi.sat", "s32", 3, lambda a, b, c: clamp(((a * b) >> 32) + c, 32), "saturates")
    by_type(out, "min.relu", "s32", 2, lambda a, b: max(min(a, b), 0), "not below zero")
    by_type(out, "max.relu", "s32", 2, lambda a, b: max(a, b, 0), "not below zero")


def chains(out):
    for kind in ["u32", "s32", "u64", "s64"]:
        bits, p = width(kind), PREFIX[width(kind)]
        a, b, c = operand_columns(bits, 3)
        full = 1 << bits
        ins = {"a": a, "b": b, "c": c}
        out.case(f"add.cc.{kind} %{p}d, %{p}a, %{p}b\naddc.u32 %g, 0, 0", "sum and carry", ins,
                 {p + "d": [(x + y) % full for x, y in zip(a, b)],
                  "g": [(x + y) // full for x, y in zip(a, b)]})
        out.case(f"add.cc.{kind} %{p}e, %{p}a, %{p}b\naddc.cc.{kind} %{p}d, %{p}c, %{p}a\n"
                 "addc.u32 %g, 0, 0", "takes and gives the carry", ins,
                 {p + "d": [(z + x + (x + y) // full) % full for x, y, z in zip(a, b, c)],
                  "g": [(z + x + (x + y) // full) // full for x, y, z in zip(a, b, c)]},
                 opcode=f"addc.cc.{kind}")
        out.case(f"sub.cc.{kind} %{p}d, %{p}a, %{p}b\nsubc.u32 %g, 0, 0", "difference and borrow", ins,
                 {p + "d": [(x - y) % full for x, y in zip(a, b)],
                  "g": [0xffffffff if x < y else 0 for x, y in zip(a, b)]})
        out.case(f"sub.cc.{kind} %{p}e, %{p}a, %{p}b\nsubc.cc.{kind} %{p}d, %{p}c, %{p}a\n"
                 "subc.u32 %g, 0, 0", "takes and gives the borrow", ins,
                 {p + "d": [(z - x - (x < y)) % full for x, y, z in zip(a, b, c)],
                  "g": [0xffffffff if z - x - (x < y) < 0 else 0 for x, y, z in zip(a, b, c)]},
                 opcode=f"subc.cc.{kind}")
        for half in ["lo", "hi"]:
            parts = [bits_of(value(x, kind) * value(y, kind) >> (bits if half == "hi" else 0), bits)
                     for x, y in zip(a, b)]
            out.case(f"mad.{half}.cc.{kind} %{p}d, %{p}a, %{p}b, %{p}c\naddc.u32 %g, 0, 0",
                     "product plus c and carry", ins,
                     {p + "d": [(t + z) % full for t, z in zip(parts, c)],
                      "g": [(t + z) // full for t, z in zip(parts, c)]})
            out.case(f"add.cc.{kind} %{p}e, %{p}a, %{p}b\n"
                     f"madc.{half}.cc.{kind} %{p}d, %{p}a, %{p}b, %{p}c\naddc.u32 %g, 0, 0",
                     "product plus c plus carry", ins,
                     {p + "d": [(t + z + (x + y) // full) % full
                                for t, x, y, z in zip(parts, a, b, c)],
                      "g": [(t + z + (x + y) // full) // full for t, x, y, z in zip(parts, a, b, c)]},
                     opcode=f"madc.{half}.cc.{kind}")


def dot_products(out):
    a = [0x01020304, 0xff80017f, 0xffffffff, 0x80000001]
    b = [0x05060708, 0x02030405, 0xffffffff, 0x7f7f8080]
    c = [10, 0xfffffff0, 1, 0x7fffffff]

    def fields(v, kind, bits):
        parts = [(v >> (bits * i)) & ((1 << bits) - 1) for i in range(32 // bits)]
        return [signed(x, bits) if kind == "s32" else x for x in parts]
    for ta in ["u32", "s32"]:
        for tb in ["u32", "s32"]:
            ins = {"a": a, "b": b, "c": c}
            out.case(f"dp4a.{ta}.{tb} %d, %a, %b, %c", "four byte products", ins,
                     {"d": [bits_of(z + sum(p * q for p, q in zip(fields(x, ta, 8), fields(y, tb, 8))), 32)
                            for x, y, z in zip(a, b, c)]})
            for mode, first in (("lo", 0), ("hi", 2)):
                out.case(f"dp2a.{mode}.{ta}.{tb} %d, %a, %b, %c", "two products", ins,
                         {"d": [bits_of(z + sum(p * q for p, q in zip(fields(x, ta, 16),
                                                                     fields(y, tb, 8)[first:])), 32)
                                for x, y, z in zip(a, b, c)]})
    for kind in ["u32", "s32"]:
        differences = [[abs(p - q) for p, q in zip(fields(x, kind, 8), fields(y, kind, 8))]
                       for x, y in zip(a, b)]
        ins = {"a": a, "b": b, "c": c}
        out.case(f"vabsdiff4.u32.{kind}.{kind} %d, %a, %b, %c", "bytes, c has no effect", ins,
                 {"d": [sum(v << (8 * i) for i, v in enumerate(d)) for d in differences]})
        out.case(f"vabsdiff4.u32.{kind}.{kind}.add %d, %a, %b, %c", "their sum and c", ins,
                 {"d": [bits_of(z + sum(d), 32) for z, d in zip(c, differences)]})


def products24(out):
    a = [0x00ffffff, 0x12345678, 0xff800000, 3, 0x007fffff]
    b = [0x00ffffff, 0x00abcdef, 2, 0xfffffffd, 0x007fffff]
    c = [1, 0x7fffffff, 0x80000000, 5, 0x7fffffff]
    for kind in ["u32", "s32"]:
        def part(v):
            return signed(v, 24) if kind == "s32" else v & 0xffffff
        for half, shift in (("lo", 0), ("hi", 16)):
            t = [bits_of(part(x) * part(y) >> shift, 32) for x, y in zip(a, b)]
            out.case(f"mul24.{half}.{kind} %d, %a, %b", "product of the low 24 bits",
                     {"a": a, "b": b}, {"d": t})
            out.case(f"mad24.{half}.{kind} %d, %a, %b, %c", "plus c",
                     {"a": a, "b": b, "c": c}, {"d": [bits_of(v + z, 32) for v, z in zip(t, c)]})
    t = [signed(signed(x, 24) * signed(y, 24) >> 16, 32) for x, y in zip(a, b)]
    out.case("mad24.hi.sat.s32 %d, %a, %b, %c", "saturates", {"a": a, "b": b, "c": c},
             {"d": [bits_of(clamp(v + signed(z, 32), 32), 32) for v, z in zip(t, c)]})


def pairs(out):
    a = [0x0001ffff, 0x7fff8000, 0x12345678, 0xfffe0003]
    b = [0x0002ffff, 0x00018000, 0x80007fff, 0xffff0001]

    def both(function, kind):
        def one(x, y):
            f = (lambda v: signed(v, 16)) if kind == "s16x2" else (lambda v: v)
            return bits_of(function(f(x), f(y)), 16)
        return [one(x >> 16, y >> 16) << 16 | one(x & 0xffff, y & 0xffff) for x, y in zip(a, b)]
    for kind in ["u16x2", "s16x2"]:
        for name, function in (("add", lambda x, y: x + y), ("min", min), ("max", max)):
            out.case(f"{name}.{kind} %d, %a, %b", "both halves", {"a": a, "b": b},
                     {"d": both(function, kind)})
    for name, function in (("min", min), ("max", max)):
        out.case(f"{name}.relu.s16x2 %d, %a, %b", "not below zero", {"a": a, "b": b},
                 {"d": both(lambda x, y: max(function(x, y), 0), "s16x2")})


def logic(out):
    for bits in (16, 32, 64):
        p = PREFIX[bits]
        a, b = operand_columns(bits, 2)
        for name, f in (("and", lambda x, y: x & y), ("or", lambda x, y: x | y),
                        ("xor", lambda x, y: x ^ y)):
            out.case(f"{name}.b{bits} %{p}d, %{p}a, %{p}b", "bitwise", {"a": a, "b": b},
                     {p + "d": [f(x, y) for x, y in zip(a, b)]})
        out.case(f"not.b{bits} %{p}d, %{p}a", "complement", {"a": a},
                 {p + "d": [bits_of(~x, bits) for x in a]})
        out.case(f"cnot.b{bits} %{p}d, %{p}a", "1 for zero", {"a": a},
                 {p + "d": [int(x == 0) for x in a]})
        counts = [0, 1, 5, bits - 1, bits, bits + 1, 200, 0xffffffff]
        values = [0x8123456789abcdef & ((1 << bits) - 1) | 1 << (bits - 1)] * len(counts)
        ins = {"a": values, "b": counts}
        out.case(f"shl.b{bits} %{p}d, %{p}a, %b", "counts clamp", ins,
                 {p + "d": [bits_of(v << min(n, bits), bits) for v, n in zip(values, counts)]})
        for kind in (f"b{bits}", f"u{bits}"):
            out.case(f"shr.{kind} %{p}d, %{p}a, %b", "fills with zeros", ins,
                     {p + "d": [v >> min(n, bits) for v, n in zip(values, counts)]})
        out.case(f"shr.s{bits} %{p}d, %{p}a, %b", "fills with the sign", ins,
                 {p + "d": [bits_of(signed(v, bits) >> min(n, bits), bits)
                            for v, n in zip(values, counts)]})
    bits2 = {"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}
    out.case("and.pred %pd, %pa, %pb", "predicates", bits2, {"pd": [0, 0, 0, 1]})
    out.case("or.pred %pd, %pa, %pb", "predicates", bits2, {"pd": [0, 1, 1, 1]})
    out.case("xor.pred %pd, %pa, %pb", "predicates", bits2, {"pd": [0, 1, 1, 0]})
    out.case("not.pred %pd, %pa", "predicates", bits2, {"pd": [1, 1, 0, 0]})
    a, b, c = operand_columns(32, 3)
    for table in (0x80, 0xe8, 0x96, 0xca, 0x1b):
        expected = []
        for x, y, z in zip(a, b, c):
            r = 0
            for i in range(32):
                index = (x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1
                r |= (table >> index & 1) << i
            expected.append(r)
        out.case(f"lop3.b32 %d, %a, %b, %c, {table}", f"table {table:#x}",
                 {"a": a, "b": b, "c": c}, {"d": expected})


def shifts_and_fields(out):
    counts = [0, 1, 31, 32, 33, 64, 0xffffffff]
    ins = {"a": [0x89abcdef] * 7, "b": [0x01234567] * 7, "c": counts}
    both = 0x0123456789abcdef
    for mode in ("wrap", "clamp"):
        n = [c & 31 if mode == "wrap" else min(c, 32) for c in counts]
        out.case(f"shf.l.{mode}.b32 %d, %a, %b, %c", "upper word of {b, a} << c", ins,
                 {"d": [bits_of((both << k) >> 32, 32) for k in n]})
        out.case(f"shf.r.{mode}.b32 %d, %a, %b, %c", "lower word of {b, a} >> c", ins,
                 {"d": [bits_of(both >> k, 32) for k in n]})
    for kind in ("u32", "s32", "u64", "s64"):
        bits, p = width(kind), PREFIX[width(kind)]
        v = 0xf123456789abcdef & ((1 << bits) - 1)
        positions, lengths = [0, 4, 8, bits - 4, bits, 300, 3], [8, 0, bits, 8, 8, 4, 1]
        expected = []
        for pos, length in zip(positions, lengths):
            pos &= 0xff
            length &= 0xff
            msb = bits - 1
            sign = 0 if kind[0] == "u" or length == 0 else v >> min(pos + length - 1, msb) & 1
            d = 0
            for i in range(bits):
                bit = v >> (pos + i) & 1 if i < length and pos + i <= msb else sign
                d |= bit << i
            expected.append(d)
        out.case(f"bfe.{kind} %{p}d, %{p}a, %b, %c", "field of a",
                 {"a": [v] * 7, "b": positions, "c": lengths}, {p + "d": expected})
        values = [0, 1, 1 << (bits - 1), (1 << bits) - 1, 0x10, 0x7f00]

        def top(x):
            x = ~signed(x, bits) if kind[0] == "s" and x >> (bits - 1) else x
            return bits_of(x, bits).bit_length() - 1
        out.case(f"bfind.{kind} %d, %{p}a", "highest bit unlike the sign", {"a": values},
                 {"d": [bits_of(top(x), 32) for x in values]})
        out.case(f"bfind.shiftamt.{kind} %d, %{p}a", "distance to the top", {"a": values},
                 {"d": [0xffffffff if top(x) < 0 else bits - 1 - top(x) for x in values]})
    for bits in (32, 64):
        p = PREFIX[bits]
        values = [0, 1, 1 << (bits - 1), (1 << bits) - 1, 0x12345678]
        out.case(f"brev.b{bits} %{p}d, %{p}a", "reversed", {"a": values},
                 {p + "d": [int(f"{x:0{bits}b}"[::-1], 2) for x in values]})
        out.case(f"popc.b{bits} %d, %{p}a", "ones", {"a": values}, {"d": [x.bit_count() for x in values]})
        out.case(f"clz.b{bits} %d, %{p}a", "leading zeros", {"a": values},
                 {"d": [bits - x.bit_length() for x in values]})
        fields, targets = [0xff, 0x123, 0xffffffff, 7], [0, 0xffffffffffffffff & ((1 << bits) - 1), 0, 0x55]
        positions, lengths = [4, bits - 4, 0, 40], [8, 8, bits, 0]
        expected = []
        for f, t, pos, length in zip(fields, targets, positions, lengths):
            for i in range(min(length, max(bits - pos, 0))):
                t = t & ~(1 << (pos + i)) | (f >> i & 1) << (pos + i)
            expected.append(t)
        out.case(f"bfi.b{bits} %{p}d, %{p}a, %{p}b, %r1, %r2", "a's low bits into b",
                 {"a": fields, "b": targets, "r1": positions, "r2": lengths}, {p + "d": expected})


def permutations(out):
    a, b = 0x83828180, 0x07060504
    pool = [a >> 8 * i & 0xff for i in range(4)] + [b >> 8 * i & 0xff for i in range(4)]
    selectors = [0x3210, 0x7654, 0x0123, 0x8888, 0xb4f0]

    def default(s):
        d = 0
        for i in range(4):
            n = s >> 4 * i & 15
            byte = pool[n & 7]
            d |= ((0xff if byte & 0x80 else 0) if n & 8 else byte) << 8 * i
        return d
    ins = {"a": [a] * 5, "b": [b] * 5, "c": selectors}
    out.case("prmt.b32 %d, %a, %b, %c", "bytes of {b, a}, or their signs", ins,
             {"d": [default(s) for s in selectors]})

    def pick(*indices):
        return sum(pool[n] << 8 * i for i, n in enumerate(reversed(indices)))
    modes = {"f4e": [(3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)],
             "b4e": [(5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)],
             "rc8": [(0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4],
             "ecl": [(3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)],
             "ecr": [(0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)],
             "rc16": [(1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)]}
    for mode, table in modes.items():
        out.case(f"prmt.b32.{mode} %d, %a, %b, %c", "by the low two bits of c",
                 {"a": [a] * 4, "b": [b] * 4, "c": [0, 1, 2, 3]}, {"d": [pick(*row) for row in table]})


def counted_bits(out):
    a = [0x89abcdef, 0x00000080, 0xffffffff, 0x12345678, 5]
    n = [8, 8, 0, 32, 35]
    for mode in ("clamp", "wrap"):
        for kind in ("u32", "s32"):
            expected = []
            for x, b in zip(a, n):
                b1, large = b & 31, b >= 32 and mode == "clamp"
                mask = 0 if large else bits_of(~0 << b1, 32)
                sign = 0 if b1 == 0 or large or kind == "u32" else x >> (b1 - 1) & 1
                expected.append(x & ~mask & 0xffffffff | (mask if sign else 0))
            out.case(f"szext.{mode}.{kind} %d, %a, %b", "extends b bits", {"a": a, "b": n}, {"d": expected})
        positions, widths = [0, 4, 28, 32, 3, 0, 33], [8, 0, 8, 4, 32, 32, 2]
        expected = []
        for p, w in zip(positions, widths):
            if mode == "clamp":
                mask = bits_of(((1 << min(w, 32)) - 1) << p, 32) if p < 32 else 0
            else:
                mask = bits_of(((1 << (w & 31)) - 1) << (p & 31), 32)
            expected.append(mask)
        out.case(f"bmsk.{mode}.b32 %d, %a, %b", "b ones from bit a", {"a": positions, "b": widths},
                 {"d": expected})
    masks, bases, offsets = [0xb1, 0xb1, 0xb1, 0xb1, 0xb1], [0, 1, 7, 4, 2], [1, 2, 0xffffffff, 0, 9]
    out.case("fns.b32 %d, %a, %b, %c", "the n-th set bit from a base",
             {"a": masks, "b": bases, "c": offsets}, {"d": [0, 5, 7, 4, 0xffffffff]})


def files():
    out = CaseFile("integer", "Integer arithmetic, logic and shifts.")
    for group in (arithmetic, chains, dot_products, products24, pairs, logic, shifts_and_fields,
                  permutations, counted_bits):
        group(out)
    return [out]
