"""Floating-point arithmetic, comparison and selection (PTX ISA 9.7.3 to 9.7.7)."""
import math
import struct
from fractions import Fraction

import numbers_exact as nx
from case_writer import CaseFile, bits_of, signed

FORMATS = {"f16": nx.F16, "bf16": nx.BF16, "f32": nx.F32, "f64": nx.F64}
PREFIX = {"f16": "h", "bf16": "h", "f32": "f", "f64": "d"}
VALUES = {
    "f16": [0x3c00, 0xc000, 0x3555, 0x0001, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e01, 0x8000, 0x1234],
    "bf16": [0x3f80, 0xc000, 0x3eab, 0x0001, 0x807f, 0x7f7f, 0x7f80, 0xff80, 0x7fc1, 0x8000, 0x4123],
    "f32": [0x3f800000, 0xc0000000, 0x3eaaaaab, 1, 0x807fffff, 0x7f7fffff, 0x7f800000, 0xff800000,
            0x7fc00001, 0x80000000, 0x41234567],
    "f64": [0x3ff0000000000000, 0xc000000000000000, 0x3fd5555555555555, 1, 0x800fffffffffffff,
            0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001,
            1 << 63, 0x4024680000000001],
}
MODES = ["rn", "rz", "rm", "rp"]
ORDERED = ["eq", "ne", "lt", "le", "gt", "ge"]
FLOAT_RELATIONS = ORDERED + ["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"]


def columns(kind, count):
    v = VALUES[kind]
    n = len(v)
    rows = [(v[i % n], v[(i * 7 + i // n + 2) % n], v[(i * 3 + 5) % n]) for i in range(22)]
    return [list(c) for c in zip(*rows)][:count]


def shown(kind, bits):
    """A NaN of f64 may keep a payload; narrower results are canonical."""
    return "nan" if kind == "f64" and nx.F64.decode(bits) == "nan" else bits


def scalar(out, opcode, kind, count, function, title, flushed=False):
    fmt, p = FORMATS[kind], PREFIX[kind]
    cols = columns(kind, count)
    expected = []
    for row in zip(*cols):
        row = [nx.flush(fmt, v) for v in row] if flushed else row
        result = function(*row)
        expected.append(shown(kind, nx.flush(fmt, result) if flushed else result))
    out.case(f"{opcode}.{kind} %{p}d, " + ", ".join(f"%{p}{n}" for n in "abc"[:count]), title,
             dict(zip("abc", cols)), {p + "d": expected})


def packed(out, opcode, kind, count, function, title, flushed=False):
    """The same on both halves of a register."""
    fmt = FORMATS[kind]
    low, high = columns(kind, count), [c[5:] + c[:5] for c in columns(kind, count)]

    def one(row):
        row = [nx.flush(fmt, v) for v in row] if flushed else row
        result = function(*row)
        return nx.flush(fmt, result) if flushed else result
    expected = [one(h) << 16 | one(l) for h, l in zip(zip(*high), zip(*low))]
    out.case(f"{opcode}.{kind}x2 %d, " + ", ".join(f"%{n}" for n in "abc"[:count]), title,
             {n: [h << 16 | l for h, l in zip(high[i], low[i])] for i, n in enumerate("abc"[:count])},
             {"d": expected})


def arithmetic(out):
    two = {"add": nx.add, "sub": nx.sub, "mul": nx.mul}
    for name, f in two.items():
        for kind in ("f32", "f64"):
            fmt = FORMATS[kind]
            scalar(out, name, kind, 2, lambda a, b: f(fmt, a, b), "rounds to nearest")
            for mode in MODES:
                scalar(out, f"{name}.{mode}", kind, 2, lambda a, b: f(fmt, a, b, mode), mode)
        scalar(out, f"{name}.ftz", "f32", 2, lambda a, b: f(nx.F32, a, b), "flushes", flushed=True)
        scalar(out, f"{name}.rz.sat", "f32", 2,
               lambda a, b: nx.saturate(nx.F32, f(nx.F32, a, b, "rz")), "clamps to [0, 1]")
        for kind in ("f16", "bf16"):
            fmt = FORMATS[kind]
            for emit in (scalar, packed):
                emit(out, f"{name}.rn", kind, 2, lambda a, b: f(fmt, a, b), "rounds once")
        for emit in (scalar, packed):
            emit(out, f"{name}.ftz.sat", "f16", 2, lambda a, b: nx.saturate(nx.F16, f(nx.F16, a, b)),
                 "flushes and clamps", flushed=True)
    for name in ("fma", "mad"):
        for kind in ("f32", "f64"):
            fmt = FORMATS[kind]
            for mode in MODES:
                scalar(out, f"{name}.{mode}", kind, 3, lambda a, b, c: nx.fma(fmt, a, b, c, mode), mode)
    scalar(out, "fma.rn.ftz.sat", "f32", 3,
           lambda a, b, c: nx.saturate(nx.F32, nx.fma(nx.F32, a, b, c)), "flushes and clamps", flushed=True)

    def relu(fmt, bits):
        return bits if fmt.decode(bits) == "nan" else 0 if fmt.is_negative(bits) else bits
    for kind in ("f16", "bf16"):
        fmt = FORMATS[kind]
        for emit in (scalar, packed):
            emit(out, "fma.rn", kind, 3, lambda a, b, c: nx.fma(fmt, a, b, c), "rounds once")
            emit(out, "fma.rn.relu", kind, 3, lambda a, b, c: relu(fmt, nx.fma(fmt, a, b, c)),
                 "negative results become zero")
    for emit in (scalar, packed):
        emit(out, "fma.rn.sat", "f16", 3, lambda a, b, c: nx.saturate(nx.F16, nx.fma(nx.F16, a, b, c)),
             "clamps to [0, 1]")


def quotients_and_roots(out):
    one = {"f32": 0x3f800000, "f64": 0x3ff0000000000000}
    for kind in ("f32", "f64"):
        fmt = FORMATS[kind]
        for mode in MODES:
            scalar(out, f"div.{mode}", kind, 2, lambda a, b: nx.div(fmt, a, b, mode), mode)
            scalar(out, f"rcp.{mode}", kind, 1, lambda a: nx.div(fmt, one[kind], a, mode), mode)
            scalar(out, f"sqrt.{mode}", kind, 1, lambda a: nx.sqrt(fmt, a, mode), mode)
    scalar(out, "div.rn.ftz", "f32", 2, lambda a, b: nx.div(nx.F32, a, b), "flushes", flushed=True)
    a, b = [0x40c00000, 0xc1200000, 0x3f800000], [0x40000000, 0x40800000, 0x7f800000]
    exact = {"fd": [0x40400000, 0xc0200000, 0]}
    for name in ("approx", "full"):
        out.case(f"div.{name}.f32 %fd, %fa, %fb", "exact quotients", {"a": a, "b": b}, exact)
    out.case("rcp.approx.f32 %fd, %fa", "powers of two", {"a": [0x40000000, 0xc0800000, 0x80000000]},
             {"fd": [0x3f000000, 0xbe800000, 0xff800000]})
    out.case("sqrt.approx.f32 %fd, %fa", "squares", {"a": [0x40800000, 0x41100000, 0xbf800000, 0]},
             {"fd": [0x40000000, 0x40400000, "nan", 0]})
    out.case("rsqrt.approx.f32 %fd, %fa", "squares", {"a": [0x40800000, 0x3e800000, 0, 0x7f800000]},
             {"fd": [0x3f000000, 0x40000000, 0x7f800000, 0]})
    d = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
    out.case("rcp.approx.ftz.f64 %dd, %da", "upper word only; subnormals are zeros",
             {"a": [d(2.0), d(-4.0), 1, 1 << 63 | 1, 0x7ff8000000000000, d(2.0) | 0xffff]},
             {"dd": [d(0.5), d(-0.25), 0x7ff0000000000000, 0xfff0000000000000, 0x7fffffff00000000, d(0.5)]})
    out.case("rsqrt.approx.f64 %dd, %da", "squares", {"a": [d(4.0), d(0.25), 0]},
             {"dd": [d(0.5), d(2.0), 0x7ff0000000000000]})
    out.case("rsqrt.approx.ftz.f64 %dd, %da", "upper word only", {"a": [d(4.0), d(-1.0), 1]},
             {"dd": [d(0.5), 0x7fffffff00000000, 0x7ff0000000000000]})


def functions(out):
    f = lambda x: struct.unpack("<I", struct.pack("<f", x))[0]
    inf, minus = 0x7f800000, 0xff800000
    out.case("ex2.approx.f32 %fd, %fa", "integers are exact",
             {"a": [f(3), f(-2), minus, inf, 0x80000000, 0x7fc00000]},
             {"fd": [f(8), f(0.25), 0, inf, f(1), "nan"]})
    out.case("lg2.approx.f32 %fd, %fa", "powers of two are exact", {"a": [f(8), f(0.25), 0, inf, f(-1)]},
             {"fd": [f(3), f(-2), minus, inf, "nan"]})
    out.case("sin.approx.f32 %fd, %fa", "zero", {"a": [0, 0x80000000, inf]}, {"fd": [0, 0x80000000, "nan"]})
    out.case("cos.approx.f32 %fd, %fa", "zero", {"a": [0, 0x80000000, inf]}, {"fd": [f(1), f(1), "nan"]})
    out.case("tanh.approx.f32 %fd, %fa", "limits", {"a": [minus, 0x80000000, 0, inf, 0x7fc00000]},
             {"fd": [f(-1), 0x80000000, 0, f(1), "nan"]})
    # 2^-11 relative is 2^12 or fewer units of f32.
    x = [f(v) for v in (0.5, 1.0, -2.5)]
    for name, g in (("sin", math.sin), ("cos", math.cos), ("tanh", math.tanh)):
        out.case(f"{name}.approx.f32 %fd, %fa", "within 2^-11", {"a": x},
                 {"fd ~ 4096": [f(g(v)) for v in (0.5, 1.0, -2.5)]})
    for kind, one, two, ftz in (("f16", 0x3c00, 0x4000, ""), ("bf16", 0x3f80, 0x4000, ".ftz")):
        infinity = FORMATS[kind].infinity
        a = [two, 0, 0x8000, infinity, infinity | 0x8000]
        four = one + 2 * (0x400 if kind == "f16" else 0x80)
        tanh_a, tanh_d = [0, 0x8000, infinity, infinity | 0x8000], [0, 0x8000, one, one | 0x8000]
        out.case(f"ex2.approx{ftz}.{kind} %hd, %ha", "exact powers", {"a": a}, {"hd": [four, one, one, infinity, 0]})
        out.case(f"tanh.approx.{kind} %hd, %ha", "limits", {"a": tanh_a}, {"hd": tanh_d})
        double = lambda values: [v << 16 | v for v in values]
        out.case(f"ex2.approx{ftz}.{kind}x2 %d, %a", "both halves", {"a": double(a)},
                 {"d": double([four, one, one, infinity, 0])})
        out.case(f"tanh.approx.{kind}x2 %d, %a", "both halves", {"a": double(tanh_a)}, {"d": double(tanh_d)})
    out.case("ex2.approx.ftz.bf16 %hd, %ha", "subnormals count as zeros", {"a": [1, 0x807f, 0xc300]},
             {"hd": [0x3f80, 0x3f80, 0]})


def signs_and_extremes(out):
    for kind in ("f32", "f64", "f16", "bf16"):
        fmt = FORMATS[kind]
        top = fmt.sign
        usable = [v for v in VALUES[kind] if fmt.decode(v) != "nan"]
        p = PREFIX[kind]
        out.case(f"abs.{kind} %{p}d, %{p}a", "clears the sign", {"a": usable}, {p + "d": [v & ~top for v in usable]})
        out.case(f"neg.{kind} %{p}d, %{p}a", "flips the sign", {"a": usable}, {p + "d": [v ^ top for v in usable]})
        if kind in ("f32", "f64"):
            other = usable[3:] + usable[:3]
            out.case(f"copysign.{kind} %{p}d, %{p}a, %{p}b", "sign of a, rest of b", {"a": usable, "b": other},
                     {p + "d": [y & ~top | x & top for x, y in zip(usable, other)]})
        for name, larger in (("min", False), ("max", True)):
            scalar(out, name, kind, 2, lambda a, b: nx.minimum(fmt, a, b, larger=larger), "a NaN loses; -0 < +0")
            if kind == "f64":
                continue
            scalar(out, name + ".NaN", kind, 2, lambda a, b: nx.minimum(fmt, a, b, True, larger), "a NaN wins")

            def xorsign(a, b, nan):
                sign = (a ^ b) & top
                result = nx.minimum(fmt, a & ~top, b & ~top, nan, larger)
                return result if fmt.decode(result) == "nan" else result | sign
            scalar(out, name + ".xorsign.abs", kind, 2, lambda a, b: xorsign(a, b, False), "sign a ^ b")
            if kind != "f32":
                packed(out, name, kind, 2, lambda a, b: nx.minimum(fmt, a, b, larger=larger), "both halves")
                packed(out, name + ".NaN", kind, 2, lambda a, b: nx.minimum(fmt, a, b, True, larger), "both halves")
                packed(out, name + ".NaN.xorsign.abs", kind, 2, lambda a, b: xorsign(a, b, True), "both halves")
    double = [0x80010001, 0x3c007c00, 0xfc00bc00]
    out.case("abs.ftz.f16x2 %d, %a", "flushes", {"a": double}, {"d": [0, 0x3c007c00, 0x7c003c00]})
    out.case("neg.ftz.f16x2 %d, %a", "flushes", {"a": double}, {"d": [0x00008000, 0xbc00fc00, 0x7c003c00]})
    out.case("abs.bf16x2 %d, %a", "both halves", {"a": double}, {"d": [0x00010001, 0x3c007c00, 0x7c003c00]})
    out.case("neg.bf16x2 %d, %a", "both halves", {"a": double}, {"d": [0x00018001, 0xbc00fc00, 0x7c003c00]})
    out.case("abs.ftz.f32 %fd, %fa", "flushes", {"a": [0x80000001, 0xbf800000]}, {"fd": [0, 0x3f800000]})
    out.case("neg.ftz.f32 %fd, %fa", "flushes", {"a": [0x80000001, 0xbf800000]}, {"fd": [0, 0x3f800000]})


def properties(out):
    tests = {"finite": lambda f, b: not nx.is_special(f.decode(b)),
             "infinite": lambda f, b: f.decode(b) in ("+inf", "-inf"),
             "number": lambda f, b: f.decode(b) != "nan", "notanumber": lambda f, b: f.decode(b) == "nan",
             # zeros count as normal
             "normal": lambda f, b: not nx.is_special(f.decode(b)) and (nx.flush(f, b) == b or f.decode(b) == 0),
             "subnormal": lambda f, b: not nx.is_special(f.decode(b)) and nx.flush(f, b) != b}
    for name, function in tests.items():
        for kind in ("f32", "f64"):
            fmt = FORMATS[kind]
            out.case(f"testp.{name}.{kind} %pd, %{PREFIX[kind]}a", "class of the value", {"a": VALUES[kind]},
                     {"pd": [int(function(fmt, v)) for v in VALUES[kind]]})


def combine(name, a, b):
    return {"and": a and b, "or": a or b, "xor": a != b}[name]


def relation_of(kind):
    """A function (relation, a, b) of the bits, and the two operand columns."""
    if kind in FORMATS:
        fmt = FORMATS[kind]
        cols = columns(kind, 2)
        cols[1][::5] = cols[0][::5]
        return (lambda r, a, b: nx.compare(fmt, r, a, b)), cols, PREFIX[kind]
    bits = int(kind[1:])
    top = 1 << (bits - 1)
    v = [0, 1, top, top - 1, 2 * top - 1, 77]
    cols = [[x for x in v for _ in v][::2], [y for _ in v for y in v][::2]]
    alias = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}

    def integer(r, a, b):
        x, y = (signed(a, bits), signed(b, bits)) if kind[0] == "s" else (a, b)
        r = alias.get(r, r)
        return {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[r]
    return integer, cols, {16: "h", 32: "", 64: "x"}[bits]


def relations_of(kind):
    if kind in FORMATS:
        return FLOAT_RELATIONS
    return {"b": ["eq", "ne"], "s": ORDERED, "u": ORDERED + ["lo", "ls", "hi", "hs"]}[kind[0]]


def predicates(out):
    for kind in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"):
        function, (a, b), p = relation_of(kind)
        for i, relation in enumerate(relations_of(kind)):
            holds = [function(relation, x, y) for x, y in zip(a, b)]
            out.case(f"setp.{relation}.{kind} %pd|%pe, %{p}a, %{p}b", "result and its complement",
                     {"a": a, "b": b}, {"pd": [int(h) for h in holds], "pe": [int(not h) for h in holds]})
            boolean = ("and", "or", "xor")[i % 3]
            c = [i & 1 for i in range(len(a))]
            out.case(f"setp.{relation}.{boolean}.{kind} %pd|%pe, %{p}a, %{p}b, !%pc", "with a predicate",
                     {"a": a, "b": b, "c": c},
                     {"pd": [int(combine(boolean, h, not z)) for h, z in zip(holds, c)],
                      "pe": [int(combine(boolean, not h, not z)) for h, z in zip(holds, c)]})
    for kind in ("f16", "bf16"):
        function, (a, b), _ = relation_of(kind)
        high_a, high_b = a[3:] + a[:3], b[3:] + b[:3]
        ins = {"a": [h << 16 | l for h, l in zip(high_a, a)], "b": [h << 16 | l for h, l in zip(high_b, b)],
               "c": [i & 1 for i in range(len(a))]}
        for relation in FLOAT_RELATIONS:
            low = [function(relation, x, y) for x, y in zip(a, b)]
            high = [function(relation, x, y) for x, y in zip(high_a, high_b)]
            out.case(f"setp.{relation}.{kind}x2 %pd|%pe, %a, %b", "one result per half", ins,
                     {"pd": [int(v) for v in low], "pe": [int(v) for v in high]})
            out.case(f"setp.{relation}.xor.{kind}x2 %pd|%pe, %a, %b, %pc", "with a predicate", ins,
                     {"pd": [int(v != bool(z)) for v, z in zip(low, ins["c"])],
                      "pe": [int(v != bool(z)) for v, z in zip(high, ins["c"])]})
    sub = {"a": [0x0001, 0x8001], "b": [0x8000, 0x0000]}
    out.case("setp.eq.ftz.f16 %pd, %ha, %hb", "subnormals count as zeros", sub, {"pd": [1, 1]})
    out.case("setp.eq.ftz.f32 %pd, %fa, %fb", "subnormals count as zeros",
             {"a": [1, 0x807fffff], "b": [0x80000000, 0]}, {"pd": [1, 1]})


TRUE = {"u16": 0xffff, "s16": 0xffff, "u32": 0xffffffff, "s32": 0xffffffff, "f32": 0x3f800000, "f16": 0x3c00,
        "bf16": 0x3f80}
SET_PREFIX = {"u16": "h", "s16": "h", "u32": "", "s32": "", "f32": "f", "f16": "h", "bf16": "h"}


def values_by_relation(out):
    integers = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64"]
    table = {"u32": integers + ["f32", "f64", "f16", "bf16"], "s32": ["s32", "f32", "f16", "bf16"],
             "f32": ["u32", "f32", "f64"], "f16": integers + ["f16", "f32", "f64"],
             "bf16": integers + ["f16", "bf16", "f32", "f64"], "u16": ["f16", "bf16"], "s16": ["f16", "bf16"]}
    for to, sources in table.items():
        for kind in sources:
            function, (a, b), p = relation_of(kind)
            relation = relations_of(kind)[-1] if kind[0] == "b" and kind != "bf16" else "ge"
            holds = [function(relation, x, y) for x, y in zip(a, b)]
            d = SET_PREFIX[to] + "d"
            out.case(f"set.{relation}.{to}.{kind} %{d}, %{p}a, %{p}b", "true value or zero",
                     {"a": a, "b": b}, {d: [TRUE[to] if h else 0 for h in holds]})
            c = [i & 1 for i in range(len(a))]
            out.case(f"set.{relation}.xor.{to}.{kind} %{d}, %{p}a, %{p}b, %pc", "with a predicate",
                     {"a": a, "b": b, "c": c},
                     {d: [TRUE[to] if h != bool(z) else 0 for h, z in zip(holds, c)]})
    for kind in ("f16", "bf16"):
        function, (a, b), _ = relation_of(kind)
        high_a, high_b = a[3:] + a[:3], b[3:] + b[:3]
        c = [i & 1 for i in range(len(a))]
        ins = {"a": [h << 16 | l for h, l in zip(high_a, a)], "b": [h << 16 | l for h, l in zip(high_b, b)], "c": c}
        for to in (kind + "x2", "u32", "s32"):
            yes = TRUE[kind] if to == kind + "x2" else 0xffff
            for relation in ("lt", "neu"):
                pairs = [(function(relation, x, y), function(relation, u, v))
                         for x, y, u, v in zip(high_a, high_b, a, b)]
                out.case(f"set.{relation}.{to}.{kind}x2 %d, %a, %b", "each half for itself", ins,
                         {"d": [yes * h << 16 | yes * l for h, l in pairs]})
                out.case(f"set.{relation}.and.{to}.{kind}x2 %d, %a, %b, %pc", "with a predicate", ins,
                         {"d": [(yes * h << 16 | yes * l) * z for (h, l), z in zip(pairs, c)]})


def selection(out):
    for kind, p in (("b16", "h"), ("b32", ""), ("b64", "x"), ("u16", "h"), ("s32", ""), ("u64", "x"), ("f32", "f"),
                    ("f64", "d")):
        a, b, c = [1, 2, 3, 4], [11, 12, 13, 14], [1, 0, 0, 1]
        out.case(f"selp.{kind} %{p}d, %{p}a, %{p}b, %pc", "a where c holds", {"a": a, "b": b, "c": c},
                 {p + "d": [1, 12, 13, 4]})
        if kind in ("b16", "u16"):
            continue
        out.case(f"slct.{kind}.s32 %{p}d, %{p}a, %{p}b, %c", "a where c >= 0",
                 {"a": a, "b": b, "c": [0, 0xffffffff, 0x80000000, 5]}, {p + "d": [1, 12, 13, 4]})
        out.case(f"slct.{kind}.f32 %{p}d, %{p}a, %{p}b, %fc", "a where c >= 0; NaN takes b",
                 {"a": a, "b": b, "c": [0x80000000, 0xbf800000, 0x7fc00000, 0x3f800000]}, {p + "d": [1, 12, 13, 4]})
    out.case("slct.ftz.b32.f32 %d, %a, %b, %fc", "a subnormal counts as zero",
             {"a": [1], "b": [2], "c": [0x80000001]}, {"d": [1]})


def files():
    arithmetic_file = CaseFile("float", "Floating-point arithmetic.")
    for group in (arithmetic, quotients_and_roots, functions, signs_and_extremes, properties):
        group(arithmetic_file)
    compare_file = CaseFile("compare", "Comparison and selection.")
    for group in (predicates, values_by_relation, selection):
        group(compare_file)
    return [arithmetic_file, compare_file]
