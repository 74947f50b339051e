"""Black-box test of the edges: empty problems, every bf16 value, every FP8 code."""

import numpy as np

import command as frame
from gemm_cases import MODES
from numeric_policy import UNITS, decode_e4m3, quantize_given, round_to_bf16, scale_shape
from quantize_cases import equal_bits


def empty_gemm(m, n, k, mode):
    def run(command):
        unit_a, unit_b = mode
        inputs = {
            "a": np.ones((m, k), np.uint8),
            "sa": np.ones(scale_shape(unit_a, m, k), np.float32),
            "b": np.ones((n, k), np.uint8),
            "sb": np.ones(scale_shape(unit_b, n, k), np.float32),
        }
        problem = f"gemm m={m} n={n} k={k} a=e4m3 b=e4m3 d=f32 sa={unit_a} sb={unit_b}"
        _, files = command.run("gemm", problem, inputs, ["out"])
        return problem, equal_bits(files["out"], np.zeros((m, n), np.float32), "result")

    return run


def empty_quant(m, n, unit):
    def run(command):
        problem = f"quant m={m} n={n} x=f32 q=e4m3 s={unit}"
        _, files = command.run("quantize", problem, {"x": np.zeros((m, n), np.float32)}, ["q"])
        return problem, equal_bits(files["q"], np.zeros((m, n), np.uint8), "codes")

    return run


def every_bf16_value(source):
    def run(command):
        bits = np.arange(65536, dtype=np.uint16).reshape(256, 256)
        values = (bits.astype(np.uint32) << 16).view(np.float32)
        one = np.ones(1, np.float32)
        problem = f"quant m=256 n=256 x={source} q=e4m3 s=tensor sc=given"
        _, files = command.run("quantize", problem, {"x": bits, "s": one}, ["q"])
        return f"{problem}, every bf16 value", equal_bits(files["q"], quantize_given(values, one, "tensor")[0], "codes")

    return run


def every_code(output):
    """A holds every code once, B is the identity: D is the decoded codes, and a NaN fills its row."""

    def run(command):
        codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
        one = np.array([0x38], np.uint8)  # 1.0
        identity = np.eye(16, dtype=np.uint8) * one
        problem = f"gemm m=16 n=16 k=16 a=e4m3 b=e4m3 d={output} sa=tensor sb=tensor"
        _, files = command.run("gemm", problem, {"a": codes, "b": identity}, ["out"])
        expected = decode_e4m3(codes).astype(np.float32) + np.float32(0)
        expected[np.isnan(expected).any(axis=1)] = np.nan
        return f"{problem}, every code", equal_bits(files["out"] + np.float32(0), round_to_bf16(expected), "result")

    return run


CASES = (
    [empty_gemm(*sizes, mode) for mode in MODES for sizes in ((0, 17, 129), (17, 0, 129), (17, 16, 0))]
    + [empty_quant(*sizes, unit) for unit in UNITS for sizes in ((0, 129), (129, 0))]
    + [every_bf16_value("bf16"), every_bf16_value("f32"), every_code("bf16"), every_code("f32")]
)


if __name__ == "__main__":
    frame.main(__doc__, len(CASES), lambda command, case, generator: CASES[case](command))
