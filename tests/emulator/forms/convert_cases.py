"""mov, cvt and cvta (PTX ISA 9.7.9)."""
from fractions import Fraction

import numbers_exact as nx
from case_writer import CaseFile, bits_of, signed
from float_cases import FORMATS, MODES, PREFIX as FLOAT_PREFIX, VALUES

WIDTH = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}
# 8-bit types live in wider registers.
PREFIX = {8: "h", 16: "h", 32: "", 64: "x"}
INTEGER_MODES = ["rni", "rzi", "rmi", "rpi"]


def low(kind):
    return -(1 << (WIDTH[kind] - 1)) if kind[0] == "s" else 0


def high(kind):
    return (1 << (WIDTH[kind] - (kind[0] == "s"))) - 1


def typed(kind, bits):
    return signed(bits, WIDTH[kind]) if kind[0] == "s" else bits_of(bits, WIDTH[kind])


def register_value(kind, v):
    """Of a destination register, which is at least 16 bits wide: 8-bit results are extended."""
    return bits_of(v, max(WIDTH[kind], 16))


def between_integers(out):
    values = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
              0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, 0x123456789abcdef0]
    for to in WIDTH:
        for source in WIDTH:
            d, s = PREFIX[WIDTH[to]] + "d", PREFIX[WIDTH[source]] + "a"
            ins = {"a": [bits_of(v, max(WIDTH[source], 16)) for v in values]}
            out.case(f"cvt.{to}.{source} %{d}, %{s}", "truncates or extends", ins,
                     {d: [register_value(to, typed(to, typed(source, v))) for v in values]})
            can_saturate = low(source) < low(to) or high(source) > high(to)
            if can_saturate:
                out.case(f"cvt.sat.{to}.{source} %{d}, %{s}", "clamps", ins,
                         {d: [register_value(to, max(low(to), min(high(to), typed(source, v)))) for v in values]})


def integral(value, mode):
    floor = value.numerator // value.denominator
    rest = value - floor
    if mode == "rmi" or rest == 0:
        return floor
    if mode == "rpi":
        return floor + 1
    if mode == "rzi":
        return floor + (value < 0)
    return floor + (rest > Fraction(1, 2) or rest == Fraction(1, 2) and floor & 1)


FRACTIONS = {"f16": [0x3e00, 0x4100, 0xbe00, 0xc100, 0x3800, 0xb800, 0x5bff, 0x77ff],
             "bf16": [0x3fc0, 0x4020, 0xbfc0, 0xc020, 0x3f00, 0xbf00, 0x437f, 0x4f00],
             "f32": [0x3fc00000, 0x40200000, 0xbfc00000, 0xc0200000, 0x3f000000, 0xbf000000, 0x4effffff, 0x5f000000],
             "f64": [0x3ff8000000000000, 0x4004000000000000, 0xbff8000000000000, 0xc004000000000000,
                     0x3fe0000000000000, 0xbfe0000000000000, 0x41dfffffffc00000, 0x43dfffffffffffff]}


def float_to_integer(out):
    for kind, fmt in FORMATS.items():
        values = VALUES[kind] + FRACTIONS[kind]
        for i, to in enumerate(WIDTH):
            for mode in (INTEGER_MODES if to in ("s32", "u64") else INTEGER_MODES[i % 4:][:1]):
                expected = []
                for bits in values:
                    v = fmt.decode(bits)
                    if v == "nan":
                        wide = kind == "f64" or WIDTH[to] == 64
                        result = 1 << (WIDTH[to] - 1) if wide else 0
                        result = typed(to, result)
                    elif nx.is_special(v):
                        result = high(to) if v == "+inf" else low(to)
                    else:
                        result = max(low(to), min(high(to), integral(v, mode)))
                    expected.append(register_value(to, result))
                d = PREFIX[WIDTH[to]] + "d"
                out.case(f"cvt.{mode}.{to}.{kind} %{d}, %{FLOAT_PREFIX[kind]}a", "rounds and clamps",
                         {"a": values}, {d: expected})


def integer_to_float(out):
    values = [0, 1, 0x7f, 0x81, 0xff, 0x7fff, 0x8001, 0xffff, 0x7fffffff, 0x80000001, 0xffffffff, 0x1000001,
              0x7fffffffffffffff, 0x8000000000000001, 0xffffffffffffffff, 0x0180000000000001, 0x0080000000000000]
    for kind, fmt in FORMATS.items():
        for i, source in enumerate(WIDTH):
            for mode in (MODES if source in ("s64", "u32") else MODES[i % 4:][:1]):
                d = FLOAT_PREFIX[kind] + "d"
                out.case(f"cvt.{mode}.{kind}.{source} %{d}, %{PREFIX[WIDTH[source]]}a", "rounds once",
                         {"a": [bits_of(v, max(WIDTH[source], 16)) for v in values]},
                         {d: [fmt.encode(Fraction(typed(source, v)), mode) for v in values]})


def shown(kind, bits):
    return "nan" if FORMATS[kind].decode(bits) == "nan" and kind in ("f64", "f32") else bits


def converted(source, to, bits, mode="rn", saturate=False):
    v = FORMATS[source].decode(bits)
    return FORMATS[to].encode(v, mode, FORMATS[source].is_negative(bits), saturate)


def between_floats(out):
    for to, source in (("f32", "f16"), ("f64", "f16"), ("f64", "f32"), ("f32", "bf16"), ("f64", "bf16")):
        d = FLOAT_PREFIX[to] + "d"
        values = VALUES[source] + FRACTIONS[source]
        out.case(f"cvt.{to}.{source} %{d}, %{FLOAT_PREFIX[source]}a", "widens exactly", {"a": values},
                 {d: [shown(to, converted(source, to, v)) for v in values]})
    extra = {"f32": [0x477fefff, 0x477ff000, 0x33000001, 0x33000000, 0x387fffff, 0x3f808000, 0x3f818000, 0x7f7f8000],
             "f64": [0x40effdffffffffff, 0x40effe0000000000, 0x3e60000000000001, 0x3ff0100000000001, 0x47efffffefffffff,
                     0x47effffff0000000, 0x3690000000000001, 0x3810000000000000]}
    for to, source in (("f16", "f32"), ("f16", "f64"), ("bf16", "f64"), ("f32", "f64")):
        d = FLOAT_PREFIX[to] + "d"
        values = VALUES[source] + FRACTIONS[source] + extra[source]
        for mode in MODES:
            out.case(f"cvt.{mode}.{to}.{source} %{d}, %{FLOAT_PREFIX[source]}a", "rounds once", {"a": values},
                     {d: [shown(to, converted(source, to, v, mode)) for v in values]})
    for to, source in (("bf16", "f16"), ("f16", "bf16")):
        values = VALUES[source] + FRACTIONS[source]
        for mode in MODES:
            out.case(f"cvt.{mode}.{to}.{source} %hd, %ha", "rounds once", {"a": values},
                     {"hd": [converted(source, to, v, mode) for v in values]})
    values = VALUES["f32"] + FRACTIONS["f32"] + extra["f32"]

    def relu(to, bits):
        return bits if FORMATS[to].decode(bits) == "nan" else 0 if bits & FORMATS[to].sign else bits
    for to in ("f16", "bf16"):
        for mode in ("rn", "rz"):
            plain = [converted("f32", to, v, mode) for v in values]
            finite = [converted("f32", to, v, mode, True) for v in values]
            if to == "bf16":
                out.case(f"cvt.{mode}.bf16.f32 %hd, %fa", "rounds", {"a": values}, {"hd": plain})
            out.case(f"cvt.{mode}.relu.{to}.f32 %hd, %fa", "negative results become zero", {"a": values},
                     {"hd": [relu(to, v) for v in plain]})
            out.case(f"cvt.{mode}.satfinite.{to}.f32 %hd, %fa", "no infinities", {"a": values}, {"hd": finite})
            other = values[4:] + values[:4]
            out.case(f"cvt.{mode}.{to}x2.f32 %d, %fa, %fb", "a in the upper half", {"a": values, "b": other},
                     {"d": [x << 16 | y for x, y in zip(plain, plain[4:] + plain[:4])]})
            out.case(f"cvt.{mode}.relu.satfinite.{to}x2.f32 %d, %fa, %fb", "clamped", {"a": values, "b": other},
                     {"d": [relu(to, x) << 16 | relu(to, y) for x, y in zip(finite, finite[4:] + finite[:4])]})
    for kind in ("f16", "bf16", "f32", "f64"):
        fmt, p = FORMATS[kind], FLOAT_PREFIX[kind]
        values = [v for v in FRACTIONS[kind] + VALUES[kind] if fmt.decode(v) != "nan"]
        for mode in INTEGER_MODES:
            expected = [v if nx.is_special(fmt.decode(v)) else
                        fmt.encode(Fraction(integral(fmt.decode(v), mode)), "rn", fmt.is_negative(v)) for v in values]
            out.case(f"cvt.{mode}.{kind}.{kind} %{p}d, %{p}a", "to an integral value", {"a": values},
                     {p + "d": expected})
    out.case("cvt.sat.f32.f32 %fd, %fa", "to [0, 1]", {"a": VALUES["f32"]},
             {"fd": [nx.saturate(nx.F32, v) for v in VALUES["f32"]]})
    out.case("cvt.ftz.f32.f32 %fd, %fa", "flushes", {"a": [1, 0x807fffff, 0x3f800000]},
             {"fd": [0, 0x80000000, 0x3f800000]})


def tensor_formats(out):
    values = VALUES["f32"] + [0x3f801000, 0x3f803000, 0x3f800fff, 0xbf801000, 0x7f7ff000, 0x7f7fefff]

    def tf32(bits, mode, saturate=False):
        if nx.F32.decode(bits) == "nan":
            return "nan"
        wide = nx.Format(8, 10, 0).encode(nx.F32.decode(bits), mode, nx.F32.is_negative(bits), saturate)
        return wide << 13
    out.case("cvt.rna.tf32.f32 %d, %fa", "ties away from zero", {"a": values[:8] + values[9:]},
             {"d": [tf32(v, "rna") for v in values[:8] + values[9:]]})
    out.case("cvt.rna.satfinite.tf32.f32 %d, %fa", "no infinities", {"a": values[:8] + values[9:]},
             {"d": [tf32(v, "rna", True) for v in values[:8] + values[9:]]})
    for mode in ("rn", "rz"):
        plain = [tf32(v, mode) for v in values[:8] + values[9:]]
        out.case(f"cvt.{mode}.tf32.f32 %d, %fa", "low 13 bits are zero", {"a": values[:8] + values[9:]}, {"d": plain})
        out.case(f"cvt.{mode}.relu.tf32.f32 %d, %fa", "negative results become zero",
                 {"a": values[:8] + values[9:]}, {"d": [0 if v >> 31 else v for v in plain]})
    for name, fmt in (("e4m3", nx.E4M3), ("e5m2", nx.E5M2)):
        values = VALUES["f32"] + [0x43e00000, 0x43e80000, 0x43d80000, 0x3a800000, 0x3a800001, 0x3ac00000, 0x3b200000,
                                  0x47600000, 0x47680000, 0x37000000, 0x37000001, 0x37400000, 0x3f880000, 0x3f980000]

        def narrow(bits, source="f32"):
            f = FORMATS[source]
            return fmt.encode(f.decode(bits), "rn", f.is_negative(bits), True)

        def relu(code):
            return code if fmt.decode(code) == "nan" else 0 if code & 0x80 else code
        codes = [narrow(v) for v in values]
        other = codes[7:] + codes[:7]
        ins = {"a": values, "b": values[7:] + values[:7]}
        out.case(f"cvt.rn.satfinite.{name}x2.f32 %hd, %fa, %fb", "a in the upper byte", ins,
                 {"hd": [x << 8 | y for x, y in zip(codes, other)]})
        out.case(f"cvt.rn.satfinite.relu.{name}x2.f32 %hd, %fa, %fb", "negative results become zero", ins,
                 {"hd": [relu(x) << 8 | relu(y) for x, y in zip(codes, other)]})
        halves = VALUES["f16"] + [0x5f00, 0x5f40, 0x1400, 0x1401, 0x7b00, 0x7b80]
        pairs = [x << 16 | y for x, y in zip(halves, halves[3:] + halves[:3])]
        out.case(f"cvt.rn.satfinite.{name}x2.f16x2 %hd, %a", "upper half to upper byte", {"a": pairs},
                 {"hd": [narrow(v >> 16, "f16") << 8 | narrow(v & 0xffff, "f16") for v in pairs]})
        codes = [0x00, 0x80, 0x01, 0x87, 0x38, 0xb9, 0x7e, 0xfe, 0x7f, 0x7b, 0x7c, 0xfc, 0x08, 0x44]

        def widened(code):
            return nx.F16.encode(fmt.decode(code), "rn", bool(code & 0x80))
        all_pairs = [x << 8 | y for x, y in zip(codes, codes[5:] + codes[:5])]
        out.case(f"cvt.rn.f16x2.{name}x2 %d, %ha", "exact", {"a": all_pairs},
                 {"d": [widened(v >> 8) << 16 | widened(v & 0xff) for v in all_pairs]})

    def clamp(v, kind):
        return bits_of(max(low(kind), min(high(kind), signed(v, 32))), WIDTH[kind])
    a, b, c = [5, 0xffffffff, 0x7fffffff, 0x80000000, 200], [0xffffff80, 70000, 255, 128, 0], [0x12345678] * 5
    for kind in ("u16", "s16"):
        out.case(f"cvt.pack.sat.{kind}.s32 %d, %a, %b", "b below a", {"a": a, "b": b},
                 {"d": [clamp(x, kind) << 16 | clamp(y, kind) for x, y in zip(a, b)]})
    for kind in ("u8", "s8"):
        out.case(f"cvt.pack.sat.{kind}.s32.b32 %d, %a, %b, %c", "b, a, then c's low bits", {"a": a, "b": b, "c": c},
                 {"d": [bits_of(z << 16, 32) | clamp(x, kind) << 8 | clamp(y, kind) for x, y, z in zip(a, b, c)]})


def moves(out):
    for kind, p in (("b16", "h"), ("b32", ""), ("b64", "x"), ("u16", "h"), ("s32", ""), ("u64", "x"), ("f32", "f"),
                    ("f64", "d")):
        out.case(f"mov.{kind} %{p}d, %{p}a", "copies", {"a": [0x1234, 0x8765]}, {p + "d": [0x1234, 0x8765]})
    out.case("mov.pred %pd, %pa", "copies", {"a": [1, 0]}, {"pd": [1, 0]})
    out.case("mov.u32 %d, %laneid", "special register", {}, {"d": list(range(32))})
    out.case("mov.b32 %d, {%ha, %hb}", "the first element in the low bits", {"a": [0x1111], "b": [0x2222]},
             {"d": [0x22221111]})
    out.case("mov.b64 %xd, {%a, %b}", "the first element in the low bits", {"a": [1], "b": [2]}, {"xd": [0x200000001]})
    out.case("mov.b32 {%hd, %he}, %a", "splits", {"a": [0x22221111]}, {"hd": [0x1111], "he": [0x2222]})
    out.case("mov.b64 {%d, %e}, %xa", "splits", {"a": [0x200000001]}, {"d": [1], "e": [2]})
    out.case("mov.b64 {%hd, %ha, %hb, %he}, %xa", "splits", {"a": [0x4444333322221111]},
             {"hd": [0x1111], "he": [0x4444]})
    out.case("cvta.shared.u64 %xd, %xt\ncvta.to.shared.u64 %xe, %xd\nisspacep.shared %pd, %xd\n"
             "isspacep.global %pe, %xd".replace("%xt", "%xb"), "there and back", {"b": [0x400, 0x410]},
             {"xe": [0x400, 0x410], "pd": [1, 1], "pe": [0, 0]})
    out.case("cvta.global.u64 %xd, %xg\ncvta.to.global.u64 %xe, %xd\nsub.s64 %xe, %xe, %xg", "there and back", {},
             {"xe": [0]}, opcode="cvta.to.global.u64")
    out.case("isspacep.global %pd, %xg\nisspacep.shared %pe, %xg", "by the address", {}, {"pd": [1], "pe": [0]})


def files():
    out = CaseFile("convert", "Conversions and moves.")
    for group in (between_integers, float_to_integer, integer_to_float, between_floats, tensor_formats, moves):
        group(out)
    return [out]
