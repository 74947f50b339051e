"""Black-box test of `fp8jit gemm`: ragged sizes, every scale mode and output, checked against float64.

Case i picks scale mode, output and kind of data round robin and the sizes so that each value of each dimension meets
each mode; the seed decides the rest.
"""

import ml_dtypes
import numpy as np

import command as frame
from gemm_reference import Reference, check_bounds, check_exact
from numeric_policy import bf16_bits, encode_e4m3, quantize, round_to_bf16, scale_shape

SIZES = (1, 2, 7, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, 384)
MODES = (("tensor", "tensor"), ("row", "row"), ("1x128", "128x128"))
OUTPUTS = ("bf16", "f32")
KINDS = ("signed", "integers", "positive", "floating", "special")


def pick_sizes(case, generator):
    """m walks through all sizes, n and k are drawn."""
    return SIZES[case % len(SIZES)], int(generator.choice(SIZES)), int(generator.choice(SIZES))


def random_codes(generator, kind, shape):
    if kind == "integers":
        return encode_e4m3(generator.integers(-4, 5, shape).astype(np.float32))
    if kind == "positive":
        draw = (
            lambda: np.abs(generator.standard_normal(shape)),
            lambda: generator.random(shape),
            lambda: generator.standard_exponential(shape),
        )[generator.integers(3)]
        return encode_e4m3((draw() * 60).astype(np.float32))
    codes = encode_e4m3((generator.standard_normal(shape) * 100).astype(np.float32))
    if kind == "special":  # all 256 codes, but NaN only here and there
        codes = generator.integers(0, 256, shape).astype(np.uint8)
        nan = (codes & 0x7F) == 0x7F
        codes[nan & (generator.random(shape) > 0.05)] = 0x01
    return codes


def random_scales(generator, kind, unit, rows, columns):
    shape = scale_shape(unit, rows, columns)
    if kind == "integers":  # a power of two that does not vary along k
        exponents = generator.integers(-6, 7, (shape[0],) + (1,) * (len(shape) - 1))
        return np.ascontiguousarray(np.broadcast_to(np.exp2(exponents), shape)).astype(np.float32)
    return np.exp(generator.uniform(-6, 1, shape)).astype(np.float32)


def floating_operand(generator, shape):
    """Activations as a model has them: normal, some channels ten times larger. As the file and as bf16 values."""
    x = generator.standard_normal(shape).astype(np.float32)
    x[:, generator.random(shape[1]) < 0.03] *= 10
    if generator.random() < 0.5:
        return x, round_to_bf16(x)
    return bf16_bits(x), round_to_bf16(x)


def make_operand(generator, kind, unit, shape, flags):
    """(files by flag, codes, scales) of one operand."""
    operand, scale = flags
    if kind == "floating":
        file, values = floating_operand(generator, shape)
        codes, scales, _ = quantize(values, unit)
        return {operand: file}, codes, scales
    codes = random_codes(generator, kind, shape)
    scales = random_scales(generator, kind, unit, *shape)
    return {operand: codes, scale: scales}, codes, scales


def run_case(command, case, generator):
    m, n, k = pick_sizes(case, generator)
    unit_a, unit_b = MODES[case % len(MODES)]
    output = OUTPUTS[case // len(MODES) % len(OUTPUTS)]
    kind = KINDS[case % len(KINDS)]
    alpha = float(np.float32(generator.choice([1.0, 1.0, 0.5, 1.7] if kind != "integers" else [1.0, 0.25])))
    problem = f"gemm m={m} n={n} k={k} a=e4m3 b=e4m3 d={output} sa={unit_a} sb={unit_b}"
    files_a, a, sa = make_operand(generator, kind, unit_a, (m, k), ("a", "sa"))
    files_b, b, sb = make_operand(generator, kind, unit_b, (n, k), ("b", "sb"))

    options = [] if alpha == 1.0 else ["--alpha", repr(alpha)]
    info, files = command.run("gemm", problem, files_a | files_b, ["out"], options)
    result = files["out"]

    title = f"{problem} data={kind} alpha={alpha}"
    if result.dtype != np.float32:
        return title, f"--out has type {result.dtype}, expected float32"
    if info["problem"] != problem or len(info["kernel_key"]) != 64:
        return title, f"unexpected JSON: {info}"
    if output == "bf16" and not np.array_equal(result, round_to_bf16(result), equal_nan=True):
        return title, "a bf16 result has bits below bf16"
    reference = Reference(a, sa, unit_a, b, sb, unit_b, alpha)
    if kind == "integers":
        return title, check_exact(result, reference, output)
    return title, check_bounds(result, reference, output, one_signed=kind == "positive")


if __name__ == "__main__":
    assert ml_dtypes.finfo(ml_dtypes.float8_e4m3fn).max == 448
    frame.main(__doc__.splitlines()[0], 210, run_case)
