"""Black-box test of `fp8jit quantize`: codes, scales and amax equal to the numeric policy, byte for byte."""

import numpy as np

import command as frame
from numeric_policy import UNITS, bf16_bits, quantize, quantize_given, round_to_bf16, scale_shape

SIZES = (1, 2, 7, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, 384)
KINDS = ("normal", "wide", "special", "tiny", "zero_units")
SPECIAL = np.array(
    [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45, 1.1e-38, -1.2e-38, 448.0, -464.0, 3.3e38, 2.0**-9],
    np.float32,
)
GIVEN = np.array([0.0, np.nan, np.inf, 1e-45, 1e-39, 2.0**-9, 0.37, 1.0, 3e38], np.float32)


def make_values(generator, kind, shape):
    """float32 test data. wide: 40 binades; tiny: subnormal units, whose multiplier overflows."""
    x = generator.standard_normal(shape).astype(np.float32)
    if kind == "wide":
        x *= np.exp2(generator.integers(-20, 21, shape)).astype(np.float32)
    elif kind == "special":
        chosen = generator.random(shape) < 0.02
        x[chosen] = generator.choice(SPECIAL, int(chosen.sum()))
    elif kind == "tiny":
        x *= np.float32(1e-39)
    elif kind == "zero_units":
        x[: (shape[0] + 1) // 2] = 0
        x[:, : shape[1] // 2] *= np.float32(-0.0)
    return x


def equal_bits(actual, expected, name):
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{name}: {actual.dtype}{actual.shape}, expected {expected.dtype}{expected.shape}"
    same = actual == expected
    if actual.dtype == np.float32:
        same = (actual.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(actual) & np.isnan(expected))
    if same.all():
        return ""
    where = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{name}: {(~same).sum()} differ, first {where}: {actual[where]!r}, expected {expected[where]!r}"


def run_case(command, case, generator):
    m, n = SIZES[case % len(SIZES)], int(generator.choice(SIZES))
    unit = UNITS[case % len(UNITS)]
    source = ("bf16", "f32")[case // len(UNITS) % 2]
    kind = KINDS[case % len(KINDS)]
    is_given = generator.random() < 0.4
    problem = f"quant m={m} n={n} x={source} q=e4m3 s={unit}" + (" sc=given" if is_given else "")
    values = make_values(generator, kind, (m, n))
    file = values
    if source == "bf16":
        values = round_to_bf16(values)
        file = bf16_bits(values) if generator.random() < 0.5 else file
    inputs, outputs = {"x": file}, ["q", "amax"]

    if is_given:
        scales = generator.choice(GIVEN, scale_shape(unit, m, n))
        codes, amax = quantize_given(values, scales, unit)
        inputs["s"] = scales
    else:
        codes, scales, amax = quantize(values, unit)
        outputs.append("s")
    info, files = command.run("quantize", problem, inputs, outputs)

    title = f"{problem} data={kind}"
    if info["problem"] != problem:
        return title, f"unexpected JSON: {info}"
    wrong = equal_bits(files["q"], codes, "codes") or equal_bits(files["amax"], amax, "amax")
    if not wrong and not is_given:
        wrong = equal_bits(files["s"], scales, "scales")
    return title, wrong


if __name__ == "__main__":
    frame.main(__doc__.splitlines()[0], 80, run_case)
