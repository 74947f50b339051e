"""The numeric policy of docs/problems.md in numpy: FP8 and bf16 conversions, scale units, quantization.

Written from the documentation and on ml_dtypes alone, so that it can disagree with the C++ code. Everything that the
policy rounds is a float32 operation here; numpy rounds to nearest even and keeps subnormals.
"""

import ml_dtypes
import numpy as np

E4M3_MAX = np.float32(448.0)
NAN_CODE = 0x7F
FLOAT_MAX = np.finfo(np.float32).max
UNITS = ("tensor", "row", "1x128", "128x128")


def ceil_div(a, b):
    return -(-a // b)


def decode_e4m3(codes):
    """uint8 codes -> float64, exact."""
    return codes.view(ml_dtypes.float8_e4m3fn).astype(np.float64)


def encode_e4m3(values):
    """float32 -> uint8 codes: nearest even, saturating; every NaN becomes 0x7F; the sign of zero is kept."""
    clipped = np.clip(values.astype(np.float32), -E4M3_MAX, E4M3_MAX)
    codes = clipped.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    return np.where(np.isnan(values), np.uint8(NAN_CODE), codes)


def round_to_bf16(values):
    """float32 -> float32 holding bf16 values, nearest even, overflow to Inf."""
    return values.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)


def bf16_bits(values):
    """float32 -> uint16, the form in which .npy files hold bf16."""
    return values.astype(np.float32).astype(ml_dtypes.bfloat16).view(np.uint16)


def scale_shape(unit, rows, columns):
    """Shape of the scale array of a [rows, columns] operand with columns along k."""
    return {
        "tensor": (1,),
        "row": (rows,),
        "1x128": (rows, ceil_div(columns, 128)),
        "128x128": (ceil_div(rows, 128), ceil_div(columns, 128)),
    }[unit]


def spread(scales, unit, rows, columns):
    """The scale array widened to one value per element: [rows, columns]."""
    if unit == "tensor":
        return np.broadcast_to(scales.reshape(1, 1), (rows, columns))
    if unit == "row":
        return np.broadcast_to(scales[:, None], (rows, columns))
    by_column = np.repeat(scales, 128, axis=1)[:, :columns]
    return by_column if unit == "1x128" else np.repeat(by_column, 128, axis=0)[:rows]


def unit_amax(x, unit):
    """Largest absolute value of each unit, NaN elements ignored: float32 of scale_shape."""
    rows, columns = x.shape
    magnitude = np.where(np.isnan(x), np.float32(0), np.abs(x))
    if unit == "tensor":
        return magnitude.max(initial=0).reshape(1)
    if unit == "row":
        return magnitude.max(axis=1, initial=0)
    height = 1 if unit == "1x128" else 128
    padded = np.zeros((ceil_div(rows, height) * height, ceil_div(columns, 128) * 128), np.float32)
    padded[:rows, :columns] = magnitude
    return padded.reshape(padded.shape[0] // height, height, padded.shape[1] // 128, 128).max(axis=(1, 3))


def quantize(x, unit):
    """float32 [rows, columns] -> codes, dequantization scales, amax."""
    amax = unit_amax(x, unit)
    with np.errstate(all="ignore"):
        usable = np.isfinite(amax) & (amax > 0)
        multiplier = np.where(usable, E4M3_MAX / np.where(usable, amax, np.float32(1)), np.float32(1))
        multiplier = np.minimum(multiplier.astype(np.float32), FLOAT_MAX)
        codes = encode_e4m3(x * spread(multiplier, unit, *x.shape))
        return codes, (np.float32(1) / multiplier).astype(np.float32), amax


def quantize_given(x, scales, unit):
    """The same with dequantization scales from outside, used as they are: codes, amax."""
    with np.errstate(all="ignore"):
        multiplier = np.float32(1) / scales.astype(np.float32)
        return encode_e4m3(x * spread(multiplier, unit, *x.shape)), unit_amax(x, unit)
