"""Control flow, warp collectives, barriers and fences (PTX ISA 9.7.12, 9.7.13)."""
from case_writer import CaseFile

LANES = list(range(32))
ALL = "0xffffffff"


def branches(out):
    odd = {"a": [t & 1 for t in LANES]}
    out.case("mov.u32 %d, 1\n@%pa bra DONE\nmov.u32 %d, 2\nDONE:", "taken where the guard holds", odd,
             {"d": [2 - (t & 1) for t in LANES]}, opcode="bra")
    out.case("mov.u32 %d, 1\nbra.uni DONE\nmov.u32 %d, 2\nDONE:", "taken by all", {}, {"d": [1]}, opcode="bra.uni")
    out.case("mov.u32 %d, 9\nand.b32 %e, %tid, 3\nsetp.gt.u32 %pd, %e, 2\n@%pd bra DONE\nlist: .branchtargets T0, T1, T2\n"
             "brx.idx %e, list\nT0:\nmov.u32 %d, 10\nbra DONE\nT1:\nmov.u32 %d, 11\nbra DONE\nT2:\nmov.u32 %d, 12\nDONE:",
             "by the index", {}, {"d": [10, 11, 12, 9]}, opcode="brx.idx")
    for opcode in ("ret", "exit"):
        out.case(f"mov.b64 %xd, 5\nst.global.b64 [%xo], %xd\n@%pa {opcode}\nmov.b64 %xd, 7", "ends these threads", odd,
                 {"xd": [5 if t & 1 else 7 for t in LANES]}, opcode=opcode)
    out.case("mov.u32 %d, 3\n@%pa trap", "not reached", {"a": [0]}, {"d": [3]}, opcode="trap")
    out.case("nanosleep.u32 20\nmov.u32 %d, 3", "goes on", {}, {"d": [3]})


def shuffles(out):
    a = [100 + t for t in LANES]

    def run(mode, b, c):
        values, valid = [], []
        for lane in LANES:
            bound, segment = c & 31, c >> 8 & 31
            top, bottom = lane & segment | bound & ~segment & 31, lane & segment
            if mode == "up":
                j, ok = lane - b, lane - b >= top
            elif mode == "down":
                j, ok = lane + b, lane + b <= top
            elif mode == "bfly":
                j, ok = lane ^ b, (lane ^ b) <= top
            else:
                j = bottom | b & ~segment & 31
                ok = j <= top
            values.append(a[j] if ok else a[lane])
            valid.append(int(ok))
        return values, valid
    for mode, b, c in (("up", 1, 0), ("up", 4, 0x1800), ("down", 1, 31), ("down", 2, 0x181f), ("bfly", 16, 31),
                       ("bfly", 3, 0x1c1f), ("idx", 5, 31), ("idx", 6, 0x1c1f)):
        values, valid = run(mode, b, c)
        out.case(f"shfl.sync.{mode}.b32 %d|%pd, %a, {b}, {c}, {ALL}", f"b = {b}, c = {c:#x}", {"a": a},
                 {"d": values, "pd": valid})


def votes(out):
    p = [int(t % 3 == 0) for t in LANES]
    ballot = sum(v << t for t, v in enumerate(p))
    ins = {"a": p}
    out.case(f"vote.sync.all.pred %pd, %pa, {ALL}\nvote.sync.all.pred %pe, !%pb, {ALL}", "every lane", ins,
             {"pd": [0], "pe": [1]})
    out.case(f"vote.sync.any.pred %pd, %pa, {ALL}\nvote.sync.any.pred %pe, %pb, {ALL}", "some lane", ins,
             {"pd": [1], "pe": [0]})
    out.case(f"vote.sync.uni.pred %pd, %pa, {ALL}\nvote.sync.uni.pred %pe, %pb, {ALL}", "all the same", ins,
             {"pd": [0], "pe": [1]})
    out.case(f"vote.sync.ballot.b32 %d, %pa, {ALL}", "a bit per lane", ins, {"d": [ballot]})
    out.case(f"activemask.b32 %d", "all lanes run", {}, {"d": [0xffffffff]})


def reductions(out):
    a = [(t * 0x9e3779b9 + 5) & 0xffffffff for t in LANES]
    s = [v - (v >> 31 << 32) for v in a]
    results = {"add.u32": sum(a), "add.s32": sum(a), "min.u32": min(a), "max.u32": max(a), "min.s32": min(s),
               "max.s32": max(s)}
    bits = {"and": 0xffffffff, "or": 0, "xor": 0}
    for v in a:
        bits = {"and": bits["and"] & v, "or": bits["or"] | v, "xor": bits["xor"] ^ v}
    results.update({f"{k}.b32": v for k, v in bits.items()})
    for name, value in results.items():
        out.case(f"redux.sync.{name} %d, %a, {ALL}", "over all lanes", {"a": a}, {"d": [value & 0xffffffff]})
    keys = [t % 5 for t in LANES]
    masks = [sum(1 << u for u in LANES if keys[u] == keys[t]) for t in LANES]
    for width, p in ((32, ""), (64, "x")):
        out.case(f"match.any.sync.b{width} %d, %{p}a, {ALL}", "lanes with the same value", {"a": keys}, {"d": masks})
        out.case(f"match.all.sync.b{width} %d|%pd, %{p}a, {ALL}", "one differs", {"a": keys}, {"d": [0], "pd": [0]})
        out.case(f"match.all.sync.b{width} %d|%pd, %{p}b, {ALL}", "all the same", {"b": [7]},
                 {"d": [0xffffffff], "pd": [1]})


def barriers(out):
    out.case(f"st.shared.b32 [%ms], %tid\nbar.warp.sync {ALL}\nxor.b32 %e, %tid, 1\nmad.lo.u32 %e, %e, 64, %bs\n"
             "ld.shared.b32 %d, [%e]", "orders memory in the warp", {}, {"d": [t ^ 1 for t in LANES]},
             opcode="bar.warp.sync")
    threads = 64
    other = [(t + 32) % threads for t in range(threads)]
    exchange = "st.shared.b32 [%ms], %tid\n{0}\nadd.u32 %e, %tid, 32\nand.b32 %e, %e, 63\n" \
               "mad.lo.u32 %e, %e, 64, %bs\nld.shared.b32 %d, [%e]"
    for text in ("bar.sync 1", "bar.sync 1, 64", "bar.cta.sync 2", "barrier.sync 1", "barrier.sync.aligned 1, 64",
                 "barrier.cta.sync.aligned 3"):
        out.case(exchange.format(text), "orders memory in the block", {}, {"d": other}, threads=threads,
                 opcode=text.split()[0])
    for prefix in ("bar", "barrier"):
        out.case(f"setp.lt.u32 %pd, %tid, 32\n@%pd bra CONSUME\nst.shared.b32 [%bs], 77\n{prefix}.arrive 1, 64\n"
                 f"mov.u32 %d, 77\nbra DONE\nCONSUME:\n{prefix}.sync 1, 64\nld.shared.b32 %d, [%bs]\nDONE:",
                 "does not wait", {}, {"d": [77]}, threads=threads, opcode=f"{prefix}.arrive")
        ins = {"a": [int(t % 3 == 0) for t in range(threads)], "b": [1], "c": [0]}
        for count in ("", ", 64"):
            out.case(f"{prefix}.red.popc.u32 %d, 1{count}, %pa", "threads with the predicate", ins, {"d": [22]},
                     threads=threads)
            out.case(f"{prefix}.red.and.pred %pd, 1{count}, %pa\n{prefix}.red.and.pred %pe, 1{count}, %pb",
                     "all threads", ins, {"pd": [0], "pe": [1]}, threads=threads)
            out.case(f"{prefix}.red.or.pred %pd, 1{count}, %pa\n{prefix}.red.or.pred %pe, 1{count}, %pc",
                     "some thread", ins, {"pd": [1], "pe": [0]}, threads=threads)


def fences(out):
    for text in ("membar.cta", "membar.gl", "membar.sys", "fence.sc.gpu", "fence.acq_rel.cta", "fence.acquire.sys",
                 "fence.release.gpu"):
        out.case(f"st.global.b32 [%xg+32], 5\n{text}\nld.global.b32 %d, [%xg+32]", "changes no value", {}, {"d": [5]},
                 opcode=text)


def files():
    out = CaseFile("control", "Control flow, collectives, barriers and fences.")
    for group in (branches, shuffles, votes, reductions, barriers, fences):
        group(out)
    return [out]
