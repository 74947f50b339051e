"""Black-box test of `fp8jit emulate`: boxes of tensor copies against numpy slices."""

import json
import pathlib
import subprocess

import numpy as np

import command as frame

PTX = pathlib.Path(__file__).resolve().with_name("box_copy.ptx")
MODES = ("eager", "lazy", "random")
SPANS = {0: 0, 32: 32, 64: 64, 128: 128}


def swizzle(box, span):
    """The box as it lies in shared memory: 16-byte chunks of each 128-byte line change places (PTX ISA, tables)."""
    if span == 0:
        return box
    lines = np.zeros(-(-box.nbytes // 128) * 128, np.uint8)
    lines[: box.nbytes] = box.view(np.uint8).ravel()
    chunks = lines.reshape(-1, 8, 16)
    moved = np.empty_like(chunks)
    for line in range(chunks.shape[0]):
        for chunk in range(8):
            moved[line, chunk ^ (line % (span // 16))] = chunks[line, chunk]
    return moved.ravel()[: box.nbytes].view(np.float32).reshape(box.shape)


def slice_with_fill(x, row, column, shape, fill):
    """The box of `shape` at (row, column); elements outside x are `fill`."""
    box = np.full(shape, fill, np.float32)
    for i in range(shape[0]):
        for j in range(shape[1]):
            if 0 <= row + i < x.shape[0] and 0 <= column + j < x.shape[1]:
                box[i, j] = x[row + i, column + j]
    return box


def run(command, entry, arguments, mode):
    line = [str(command.program), "emulate", str(PTX), "--entry", entry, "--block", "128", "--mode", mode, "--json"]
    for argument in arguments:
        line += ["--arg", argument]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout.strip()} {done.stderr.strip()}\n{line}"
    return json.loads(done.stdout)


def run_case(command, case, generator):
    span = list(SPANS)[case % 4]
    inner = span // 4 if span else 4 * int(generator.integers(1, 33))
    rows = int(generator.integers(1, 33))
    if span:
        rows = -(-rows * span // 128) * 128 // span  # whole lines, so that every byte of the box is one of its own
    x = generator.standard_normal((int(generator.integers(1, 50)), 4 * int(generator.integers(1, 40)))).astype(np.float32)
    row, column = int(generator.integers(-5, x.shape[0] + 5)), int(generator.integers(-9, x.shape[1] + 9))
    fill = ("zero", "nan")[case // 4 % 2]
    mode = MODES[case % 3] + (f":{case}" if case % 3 == 2 else "")
    path, out = command.folder / "x.npy", command.folder / "box.npy"
    np.save(path, x)
    title = f"box {rows}x{inner} of {x.shape} at ({row},{column}), swizzle {span}, {fill}, {mode}"
    tensor_map = f"box={rows}x{inner},swizzle={span}"

    if case % 5 != 4:
        run(command, "load_box", [f"map:{path},{tensor_map},fill={fill}", f"out:{out}:f32:{rows}x{inner}",
                                  f"s32:{column}", f"s32:{row}", f"u32:{rows * inner * 4}"], mode)
        expected = swizzle(slice_with_fill(x, row, column, (rows, inner), np.nan if fill == "nan" else 0), span)
        found = np.load(out)
        return title, "" if np.array_equal(found, expected, equal_nan=True) else "the box differs from the slice"

    row, column = max(row, 0), max(column, 0)
    box = generator.integers(-8, 9, (rows, inner)).astype(np.float32)
    np.save(command.folder / "box_in.npy", box)
    np.save(path, np.round(x * 16))  # sums of small integers are exact in any order
    before = np.load(path)
    run(command, "add_box", [f"map:inout:{path},{tensor_map}", f"in:{command.folder / 'box_in.npy'}",
                             f"s32:{column}", f"s32:{row}", f"u32:{rows * inner * 4}"], mode)
    added = swizzle(box, span)  # an involution: what lies in shared memory, seen as the box
    expected = before.copy()
    height, width = min(rows, before.shape[0] - row), min(inner, before.shape[1] - column)
    if height > 0 and width > 0:
        expected[row : row + height, column : column + width] += added[:height, :width]
    return title + " add", "" if np.array_equal(np.load(path), expected) else "the sum differs"


if __name__ == "__main__":
    frame.main(__doc__.splitlines()[0], 200, run_case)
