"""Loads, stores, atomics and cp.async (PTX ISA 9.7.9, 9.7.13). Every thread has a cell of 64 bytes in global
(%xg) and in shared memory (%ms, generic %xs): the inputs a, b, c in bytes 0, 8, 16, then zeros."""
from fractions import Fraction

import numbers_exact as nx
from case_writer import CaseFile, bits_of, signed

A = [0x8123456789abcdef, 0x00000000ffff8001, 0x7fff123480ff7f80]
B = [0x1111222233334444, 5, 0xffffffffffffffff]


def loads(out):
    kinds = {"b8": ("h", 8, 0), "u8": ("", 8, 0), "s8": ("", 8, 1), "u16": ("", 16, 0), "s16": ("", 16, 1),
             "b32": ("", 32, 0), "s32": ("x", 32, 1), "u64": ("x", 64, 0), "f32": ("f", 32, 0), "f64": ("d", 64, 0)}
    widths = {"h": 16, "": 32, "x": 64, "f": 32, "d": 64}
    for kind, (p, bits, is_signed) in kinds.items():
        values = [bits_of(signed(a, bits) if is_signed else bits_of(a, bits), widths[p]) for a in A]
        for space, address in (("global", "%xg"), ("shared", "%ms")):
            out.case(f"ld.{space}.{kind} %{p}d, [{address}]", "extends to the register", {"a": A}, {p + "d": values})
        out.case(f"ld.{kind} %{p}d, [%xs]", "generic address", {"a": A}, {p + "d": values})
    low, high = [a & 0xffffffff for a in A], [a >> 32 for a in A]
    b_low = [b & 0xffffffff for b in B]
    ins = {"a": A, "b": B}
    for opcode in ("ld.global", "ld.volatile.global", "ld.relaxed.gpu.global", "ld.acquire.sys.global",
                   "ld.global.nc", "ld.global.nc.L1::no_allocate.L2::128B", "ld.weak.global.ca",
                   "ld.relaxed.sys.mmio.global"):
        out.case(f"{opcode}.v2.b32 {{%d, %e}}, [%xg]", "neighbours", ins, {"d": low, "e": high})
    out.case("ld.shared.v4.u32 {%d, %e, %g, %i}, [%ms]", "sixteen bytes", ins,
             {"d": low, "e": high, "g": b_low, "i": [b >> 32 for b in B]})
    out.case("ld.global.v2.f64 {%dd, %de}, [%xg]", "sixteen bytes", ins, {"dd": A, "de": B})
    out.case("ld.shared.b32 %d, [%ms+8]", "displacement", ins, {"d": b_low})
    out.case("ld.volatile.shared.u32 %d, [%ms+4]", "displacement", ins, {"d": high})
    out.case("ld.const.u32 %d, [table+4]", "constant memory", {}, {"d": [22]},
             module=".const .align 4 .b32 table[2] = {11, 22};")
    out.case(".local .align 8 .b8 buffer[16]\nst.local.b64 [buffer+8], %xa\nld.local.u32 %d, [buffer+12]",
             "local memory", {"a": A}, {"d": high}, opcode="ld.local.u32")
    out.case("createpolicy.fractional.L2::evict_last.b64 %xt, 1.0\n"
             "ld.global.L2::cache_hint.b32 %d, [%xg], %xt", "the hint changes nothing", ins, {"d": low},
             opcode="ld.global.L2::cache_hint.b32")


def stores(out):
    ins = {"a": A, "b": B}
    for opcode in ("st.global", "st.volatile.global", "st.relaxed.gpu.global", "st.release.sys.global",
                   "st.weak.global.wb", "st.relaxed.sys.mmio.global"):
        out.case(f"{opcode}.b32 [%xg+32], %a\nld.global.b64 %xd, [%xg+32]", "four bytes", ins,
                 {"xd": [a & 0xffffffff for a in A]})
    out.case("st.shared.b8 [%ms+33], %ha\nld.shared.b32 %d, [%ms+32]", "one byte", ins,
             {"d": [(a & 0xff) << 8 for a in A]})
    out.case("st.shared.u16 [%ms+34], %a\nld.shared.b32 %d, [%ms+32]", "the register's low bits", ins,
             {"d": [(a & 0xffff) << 16 for a in A]})
    out.case("st.v2.b64 [%xs+32], {%xb, %xa}\nld.shared.v2.b64 {%xd, %xe}, [%ms+32]", "generic address", ins,
             {"xd": B, "xe": A})
    out.case("st.global.v4.f32 [%xg+16], {%fa, %fb, %fb, %fa}\nld.global.v2.b64 {%xd, %xe}, [%xg+16]",
             "in order", ins, {"xd": [(b & 0xffffffff) << 32 | a & 0xffffffff for a, b in zip(A, B)],
                               "xe": [(a & 0xffffffff) << 32 | b & 0xffffffff for a, b in zip(A, B)]})


def hints(out):
    ins, outs = {"a": A}, {"d": [a & 0xffffffff for a in A]}
    read = "\nld.global.b32 %d, [%xg]"
    out.case("prefetch.global.L2 [%xg]" + read, "changes nothing", ins, outs)
    out.case("prefetch.L1 [%xg]" + read, "changes nothing", ins, outs)
    out.case("prefetchu.L1 [%xg]" + read, "changes nothing", ins, outs)
    out.case("applypriority.global.L2::evict_normal [%bg], 128" + read, "changes nothing", ins, outs)
    out.case("discard.global.L2 [%bg], 128\nst.global.b32 [%xg], 7" + read, "what is written later stands", ins,
             {"d": [7]})
    policy = "\nld.global.L2::cache_hint.b32 %d, [%xg], %xt"
    for text in ("createpolicy.fractional.L2::evict_first.b64 %xt", "createpolicy.fractional.L2::evict_last.b64 %xt, 0.5",
                 "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %xt, [%bg], 128, 256",
                 "createpolicy.cvt.L2.b64 %xt, %xa"):
        out.case(text + policy, "a hint that changes nothing", ins, outs)
    out.case("mov.b64 %xt, maps\ncvta.param.u64 %xt, %xt\nprefetch.tensormap [%xt]" + read, "changes nothing", ins,
             outs, opcode="prefetch.tensormap")


def combined(name, kind, bits):
    """The new value, from the old one and the operand, as typed numbers."""
    return {"add": lambda o, b: o + b, "min": min, "max": max, "and": lambda o, b: o & b,
            "or": lambda o, b: o | b, "xor": lambda o, b: o ^ b, "exch": lambda o, b: b,
            "inc": lambda o, b: 0 if o >= b else o + 1,
            "dec": lambda o, b: b if o == 0 or o > b else o - 1}[name]


PREFIX = {16: "h", 32: "", 64: "x"}


def integer_atomics(out):
    forms = [("add", k) for k in ("u32", "s32", "u64")] + \
            [(n, k) for n in ("min", "max") for k in ("u32", "s32", "u64", "s64")] + \
            [("inc", "u32"), ("dec", "u32")] + \
            [(n, k) for n in ("and", "or", "xor", "exch") for k in ("b32", "b64")]
    spaces = (("global", "%xg"), ("shared", "%ms"), ("", "%xs"))
    for i, (name, kind) in enumerate(forms):
        bits = int(kind[1:])
        p = PREFIX[bits]
        old = [v & ((1 << bits) - 1) for v in (0, 5, 0xffffffffffffffff, 0x8000000080000000, 3)]
        b = [v & ((1 << bits) - 1) for v in (7, 5, 2, 0x7fffffffffffffff, 0)]
        def typed(v):
            return signed(v, bits) if kind[0] == "s" else v
        new = [bits_of(combined(name, kind, bits)(typed(o), typed(v)), bits) for o, v in zip(old, b)]
        for j, (space, address) in enumerate(spaces):
            dot = "." + space if space else ""
            order = (".relaxed.gpu", ".acq_rel.sys", "", ".release.cta", ".acquire.cta")[(i + j) % 5]
            read = f"\nld{dot}.b{bits} %{p}e, [{address}]"
            out.case(f"atom{order}{dot}.{name}.{kind} %{p}d, [{address}], %{p}b{read}", "old value, then the new one",
                     {"a": old, "b": b}, {p + "d": old, p + "e": new})
            if name != "exch":
                order = ("", ".relaxed.gpu", ".release.sys")[(i + j) % 3]
                out.case(f"red{order}{dot}.{name}.{kind} [{address}], %{p}b{read}", "the new value",
                         {"a": old, "b": b}, {p + "e": new})
    for bits in (16, 32, 64):
        p = PREFIX[bits]
        for space, address in spaces:
            dot = "." + space if space else ""
            out.case(f"atom{dot}.cas.b{bits} %{p}d, [{address}], %{p}b, %{p}c\nld{dot}.b{bits} %{p}e, [{address}]",
                     "swaps where the old value is b", {"a": [5, 6], "b": [5, 5], "c": [9, 9]},
                     {p + "d": [5, 6], p + "e": [9, 6]})
    out.case("atom.global.add.u32 %d, [%bg], 1\nbar.warp.sync 0xffffffff\nld.global.b32 %e, [%bg]", "all lanes count", {}, {"e": [32]})
    out.case("red.shared.max.u32 [%bs], %tid\nbar.warp.sync 0xffffffff\nld.shared.b32 %e, [%bs]", "all lanes", {}, {"e": [31]})


def float_atomics(out):
    f32 = ([0x3f800000, 0x40490fdb, 0x7f7fffff], [0x40000000, 0x3eaaaaab, 0x7f7fffff])
    f64 = ([0x3ff0000000000000, 0x400921fb54442d18], [0x3fd5555555555555, 0xc000000000000000])
    for kind, p, fmt, (a, b) in (("f32", "f", nx.F32, f32), ("f64", "d", nx.F64, f64)):
        new = [nx.add(fmt, x, y) for x, y in zip(a, b)]
        for space, address in (("global", "%xg"), ("shared", "%ms")):
            read = f"\nld.{space}.{kind} %{p}e, [{address}]"
            out.case(f"atom.{space}.add.{kind} %{p}d, [{address}], %{p}b{read}", "rounds to nearest",
                     {"a": a, "b": b}, {p + "d": a, p + "e": new})
            out.case(f"red.{space}.add.{kind} [{address}], %{p}b{read}", "rounds to nearest", {"a": a, "b": b},
                     {p + "e": new})
    out.case("red.global.add.f32 [%xg], %fb\nld.global.f32 %fe, [%xg]", "global memory flushes",
             {"a": [1], "b": [0x00000001]}, {"fe": [0]})
    out.case("red.shared.add.f32 [%ms], %fb\nld.shared.f32 %fe, [%ms]", "shared memory keeps subnormals",
             {"a": [1], "b": [1]}, {"fe": [2]})
    for kind, fmt in (("f16", nx.F16), ("bf16", nx.BF16)):
        a, b = ([0x3c00, 0x7bff, 0x0001], [0x4000, 0x7bff, 0x0001]) if kind == "f16" else \
            ([0x3f80, 0x7f7f, 0x0001], [0x4000, 0x7f7f, 0x0001])
        new = [nx.add(fmt, x, y) for x, y in zip(a, b)]
        for op, outs in (("atom", {"hd": a, "he": new}), ("red", {"he": new})):
            d = "%hd, " if op == "atom" else ""
            out.case(f"{op}.global.add.noftz.{kind} {d}[%xg], %hb\nld.global.b16 %he, [%xg]", "keeps subnormals",
                     {"a": a, "b": b}, outs)
            pair_a, pair_b, pair_new = ([v << 16 | w for v, w in zip(x, x[1:] + x[:1])] for x in (a, b, new))
            d = "%d, " if op == "atom" else ""
            outs = {"d": pair_a, "e": pair_new} if op == "atom" else {"e": pair_new}
            out.case(f"{op}.shared.add.noftz.{kind}x2 {d}[%ms], %b\nld.shared.b32 %e, [%ms]", "both halves",
                     {"a": pair_a, "b": pair_b}, outs)


def vector_atomics(out):
    one, two, three, four, half = 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x3f000000
    ins = {"a": [two << 32 | one], "b": [half << 32 | three]}
    out.case("atom.global.add.v2.f32 {%fd, %fe}, [%xg], {%fa, %f1}\nld.global.v2.f32 {%f2, %f3}, [%xg]",
             "element by element", {**ins, "f1": [one]},
             {"fd": [one], "fe": [two], "f2": [two], "f3": [three]})
    out.case("red.global.add.v4.f32 [%xg], {%fa, %fa, %fa, %f1}\nld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%xg]",
             "element by element", {**ins, "f1": [half]},
             {"f2": [two], "f3": [three], "f4": [four], "f5": [one]})
    values = {"f16": (0x3c00, 0x4000, 0x4200), "bf16": (0x3f80, 0x4000, 0x4040)}  # 1, 2, 3
    for kind, (h1, h2, h3) in values.items():
        cell = {"a": [h2 << 48 | h1 << 32 | h2 << 16 | h1], "b": [h1], "c": [h2]}
        read = "\nld.global.v4.b16 {%ha, %hb, %hc, %he}, [%xg]"
        for name, expected in (("add", [h3, h3, h3, h3]), ("min", [h1, h1, h1, h1]), ("max", [h2, h2, h2, h2])):
            outs = {r: [v] for r, v in zip(("ha", "hb", "hc", "he"), expected)}
            out.case(f"red.global.{name}.noftz.v4.{kind} [%xg], {{%hc, %hb, %hc, %hb}}{read}", "four elements",
                     cell, outs)
            out.case(f"atom.global.{name}.noftz.v2.{kind} {{%hd, %he}}, [%xg], {{%hc, %hb}}"
                     "\nld.global.v2.b16 {%ha, %hb}, [%xg]", "two elements", cell,
                     {"hd": [h1], "ha": expected[:1], "hb": expected[:1]})
            pair = {"a": [h2 << 48 | h1 << 32 | h2 << 16 | h1], "b": [h1 << 16 | h2]}
            both = [expected[0] << 16 | expected[0]]
            out.case(f"atom.global.{name}.noftz.v2.{kind}x2 {{%d, %e}}, [%xg], {{%b, %b}}"
                     "\nld.global.v2.b32 {%g, %i}, [%xg]", "two pairs", pair,
                     {"d": [h2 << 16 | h1], "e": [h2 << 16 | h1], "g": both, "i": both})
            out.case(f"red.global.{name}.noftz.v2.{kind}x2 [%xg], {{%b, %b}}\nld.global.v2.b32 {{%g, %i}}, [%xg]",
                     "two pairs", pair, {"g": both, "i": both})


def copies(out):
    ins, whole = {"a": A, "b": B}, {"xd": A, "xe": B}
    end = "\ncp.async.commit_group\ncp.async.wait_group 0\nld.shared.v2.b64 {%xd, %xe}, [%ms+32]"
    out.case("cp.async.cg.shared.global [%ms+32], [%xg], 16" + end, "sixteen bytes", ins, whole)
    out.case("cp.async.ca.shared::cta.global.L2::128B [%ms+32], [%xg], 16" + end, "sixteen bytes", ins, whole)
    out.case("cp.async.ca.shared.global [%ms+32], [%xg], 8, 4" + end, "zeros beyond the source size", ins,
             {"xd": [a & 0xffffffff for a in A], "xe": [0]})
    out.case("cp.async.cg.shared.global [%ms+32], [%xg], 16, 8" + end, "zeros beyond the source size", ins,
             {"xd": A, "xe": [0]})
    out.case("cp.async.ca.shared.global [%ms+32], [%xg], 16, %pc" + end, "zeros where the source is ignored",
             {**ins, "c": [0, 1]}, {"xd": [A[i % 3] if i % 2 == 0 else 0 for i in range(6)]})
    out.case("cp.async.cg.shared.global [%ms+32], [%xg], 16, %pc" + end, "zeros where the source is ignored",
             {**ins, "c": [1]}, {"xd": [0], "xe": [0]})
    body = "cp.async.ca.shared.global [%ms+32], [%xg], 4\ncp.async.commit_group\n" \
           "cp.async.ca.shared.global [%ms+36], [%xg+4], 4\n"
    read = "ld.shared.b64 %xd, [%ms+32]"
    out.case(body + "cp.async.commit_group\ncp.async.wait_group 0\n" + read, "both groups", ins, {"xd": A},
             opcode="cp.async.wait_group")
    out.case(body + "cp.async.commit_group\ncp.async.wait_all\n" + read, "both groups", ins, {"xd": A},
             opcode="cp.async.commit_group")
    out.case(body + "cp.async.wait_all\n" + read, "also what is in no group", ins, {"xd": A}, opcode="cp.async.wait_all")


def files():
    out = CaseFile("memory", "Loads, stores, atomics and cp.async.")
    for group in (loads, stores, hints, integer_atomics, float_atomics, vector_atomics, copies):
        group(out)
    return [out]
