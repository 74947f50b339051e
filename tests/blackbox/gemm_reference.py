"""The GEMM in float64 and the accuracy bounds of docs/problems.md, from codes and scales alone."""

import ml_dtypes
import numpy as np

from numeric_policy import decode_e4m3, spread

HALF_UNIT = {"bf16": 2.0**-8, "f32": 0.0}


class Reference:
    """R, the product before the output rounding, and N = max(|R|, sqrt(sum of squared terms)) of every element."""

    def __init__(self, a, sa, unit_a, b, sb, unit_b, alpha):
        left = decode_e4m3(a) * spread(sa, unit_a, *a.shape).astype(np.float64)
        right = decode_e4m3(b) * spread(sb, unit_b, *b.shape).astype(np.float64)
        self.r = alpha * (left @ right.T)
        # A NaN code makes a NaN of every sum that it enters; the mask does not rely on how BLAS spreads it.
        self.nan = np.isnan(left).any(axis=1)[:, None] | np.isnan(right).any(axis=1)[None, :]
        norm = abs(alpha) * np.sqrt(np.nan_to_num(left) ** 2 @ (np.nan_to_num(right) ** 2).T)
        self.n = np.maximum(np.abs(np.where(self.nan, 0.0, self.r)), norm)


def check_bounds(result, reference, output, one_signed):
    """Returns an empty text if `result` is within the bounds, else what is wrong."""
    if result.shape != reference.r.shape:
        return f"shape {result.shape}, expected {reference.r.shape}"
    if not np.array_equal(np.isnan(result), reference.nan):
        return f"{(np.isnan(result) != reference.nan).sum()} elements differ in being NaN"
    good = ~reference.nan
    r, n, d = reference.r[good], reference.n[good], result[good].astype(np.float64)
    error = np.maximum(np.abs(d - r) - HALF_UNIT[output] * np.abs(r), 0.0)
    limit = 2e-3 if one_signed else 1e-3
    total, allowed = np.linalg.norm(error), limit * np.linalg.norm(n)
    if not total <= allowed:
        return f"norm of the error {total:.3e}, allowed {allowed:.3e}"
    if not one_signed and not (error <= 3e-3 * n).all():
        worst = (error / np.where(n > 0, n, 1.0)).max()
        return f"largest error {worst:.3e} of N, allowed 3e-3"
    return ""


def check_exact(result, reference, output):
    """Small integers and power-of-two scales: nothing but the output rounds."""
    expected = reference.r.astype(np.float32)
    if output == "bf16":
        expected = expected.astype(ml_dtypes.bfloat16).astype(np.float32)
    if result.shape != expected.shape:
        return f"shape {result.shape}, expected {expected.shape}"
    wrong = result != expected
    if wrong.any():
        i, j = np.argwhere(wrong)[0]
        return f"{wrong.sum()} elements differ, first [{i},{j}]: {result[i, j]!r}, expected {expected[i, j]!r}"
    return ""
