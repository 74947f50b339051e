"""ldmatrix, stmatrix, movmatrix and mma (PTX ISA 9.7.14): small integers, so that every product and sum is exact;
the layouts are the ISA's tables of fragments."""
from fractions import Fraction

import numbers_exact as nx
from case_writer import CaseFile

LANES = range(32)


def transfers(out):
    # Matrix m has element 256 * m + 8 * row + column at row 8 * m + row of 16 bytes in the extra shared memory.
    fill = "mad.lo.u32 %r9, %tid, 16, %bm\nmul.lo.u32 %r8, %tid, 8\nand.b32 %r7, %tid, 7\nshr.u32 %r6, %tid, 3\n" \
           "mul.lo.u32 %r8, %r7, 8\nmad.lo.u32 %r8, %r6, 256, %r8\nmad.lo.u32 %r8, %r8, 65537, 65536\n" \
           "add.u32 %r5, %r8, 131074\nadd.u32 %r4, %r8, 262148\nadd.u32 %r3, %r8, 393222\n" \
           "st.shared.v4.b32 [%r9], {%r8, %r5, %r4, %r3}\nbar.warp.sync 0xffffffff\n"

    def element(m, row, column):
        return 256 * m + 8 * row + column
    outputs = ["d", "e", "g", "i"]
    for count in (1, 2, 4):
        registers = ", ".join("%" + r for r in outputs[:count])
        for trans in ("", ".trans"):
            expected = {}
            for m in range(count):
                values = []
                for lane in LANES:
                    low, high = ((lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1))
                    if trans:
                        low, high = low[::-1], high[::-1]
                    values.append(element(m, *high) << 16 | element(m, *low))
                expected[outputs[m]] = values
            opcode = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            out.case(f"{fill}{opcode} {{{registers}}}, [%r9]", "rows by thread address", {}, expected, opcode=opcode)
            # The same the other way: what ldmatrix would have given is stored, and read row by row.
            opcode = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            ins = {f"r{10 + m}": expected[outputs[m]] for m in range(count)}
            rows = {}
            for word, register in enumerate(outputs):
                rows[register] = [element(t // 8, t % 8, 2 * word + 1) << 16 | element(t // 8, t % 8, 2 * word)
                                  for t in LANES]
            if count < 4:  # the threads of the other matrices see zeros
                for register in outputs:
                    rows[register] = [v if t < 8 * count else 0 for t, v in enumerate(rows[register])]
            sources = ", ".join(f"%r{10 + m}" for m in range(count))
            out.case("mad.lo.u32 %r9, %tid, 16, %bm\nst.shared.v4.b32 [%r9], {0, 0, 0, 0}\nbar.warp.sync 0xffffffff\n"
                     f"{opcode} [%r9], {{{sources}}}\nbar.warp.sync 0xffffffff\n"
                     "ld.shared.v4.b32 {%d, %e, %g, %i}, [%r9]", "rows by thread address", ins, rows, opcode=opcode)
    held = [element(0, t // 4, 2 * (t % 4) + 1) << 16 | element(0, t // 4, 2 * (t % 4)) for t in LANES]
    turned = [element(0, 2 * (t % 4) + 1, t // 4) << 16 | element(0, 2 * (t % 4), t // 4) for t in LANES]
    out.case("movmatrix.sync.aligned.m8n8.trans.b16 %d, %a", "transposes", {"a": held}, {"d": turned})


def fragment_a(per, i, lane):
    """Row and k of element i: registers of eight rows by 16 bytes, `per` elements to a word."""
    register, place = divmod(i, per)
    return lane // 4 + 8 * (register % 2), lane % 4 * per + place + register // 2 * 4 * per


def fragment_b(per, i, lane):
    register, place = divmod(i, per)
    return lane % 4 * per + place + register * 4 * per, lane // 4


def fragment_c(i, lane):
    return lane // 4 + (8 if i & 2 else 0), lane % 4 * 2 + (i & 1)


def packed(values, bits):
    return sum(v << bits * i for i, v in enumerate(values))


def products(out):
    table = [(32, a, b, acc) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2") for acc in ("f32", "f16")] + \
            [(16, "e4m3", "e5m2", "f32"), (16, "e5m2", "e5m2", "f16")] + \
            [(k, kind, kind, acc) for k in (16, 8) for kind, acc in (("f16", "f32"), ("bf16", "f32"), ("f16", "f16"))] + \
            [(8, "tf32", "tf32", "f32"), (4, "tf32", "tf32", "f32")]
    formats = {"e4m3": (nx.E4M3, 8), "e5m2": (nx.E5M2, 8), "f16": (nx.F16, 16), "bf16": (nx.BF16, 16),
               "tf32": (nx.F32, 32)}  # small integers are the same in both
    for k, kind_a, kind_b, acc in table:
        (fmt_a, bits), (fmt_b, _) = formats[kind_a], formats[kind_b]
        a = [[(r * 3 + c * 5) % 7 - 3 for c in range(k)] for r in range(16)]
        b = [[(r * 2 + c * 3) % 5 - 2 for c in range(8)] for r in range(k)]
        c = [[r - 2 * n for n in range(8)] for r in range(16)]
        d = [[c[r][n] + sum(a[r][i] * b[i][n] for i in range(k)) for n in range(8)] for r in range(16)]
        per = 32 // bits
        words = k * bits // 128  # registers of B; twice as many of A

        def code(fmt, v):
            return fmt.encode(Fraction(v), "rn")
        ins = {}
        for register in range(2 * words):
            ins[f"r{register}"] = [packed([code(fmt_a, a[y][x]) for y, x in
                                           (fragment_a(per, register * per + j, lane) for j in range(per))], bits)
                                   for lane in LANES]
        for register in range(words):
            ins[f"r{4 + register}"] = [packed([code(fmt_b, b[y][x]) for y, x in
                                               (fragment_b(per, register * per + j, lane) for j in range(per))], bits)
                                       for lane in LANES]
        sources = "{" + ", ".join(f"%r{r}" for r in range(2 * words)) + "}, {" + \
                  ", ".join(f"%r{4 + r}" for r in range(words)) + "}"
        outs = {}
        if acc == "f32":
            for i in range(4):
                ins[f"f{i}"] = [code(nx.F32, c[y][x]) for y, x in (fragment_c(i, lane) for lane in LANES)]
                outs[f"f{4 + i}"] = [code(nx.F32, d[y][x]) for y, x in (fragment_c(i, lane) for lane in LANES)]
            operands = f"{{%f4, %f5, %f6, %f7}}, {sources}, {{%f0, %f1, %f2, %f3}}"
        else:
            for i in range(2):
                def pair(matrix, lane):
                    return packed([code(nx.F16, matrix[y][x]) for y, x in
                                   (fragment_c(2 * i + j, lane) for j in range(2))], 16)
                ins[f"r{6 + i}"] = [pair(c, lane) for lane in LANES]
                outs[f"r{8 + i}"] = [pair(d, lane) for lane in LANES]
            operands = f"{{%r8, %r9}}, {sources}, {{%r6, %r7}}"
        out.case(f"mma.sync.aligned.m16n8k{k}.row.col.{acc}.{kind_a}.{kind_b}.{acc} {operands}", "d = a * b + c", ins, outs)


def files():
    out = CaseFile("matrix", "Matrices in registers: ldmatrix, stmatrix, movmatrix, mma.")
    for group in (transfers, products):
        group(out)
    return [out]
