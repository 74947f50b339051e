#!/usr/bin/env python3
"""Compiles kernels/*.cu to the .ptx beside them with NVRTC; --check only compares.

usage: compile_kernels.py [--check] [--cuda /usr/local/cuda] [kernel.cu ...]
Exit status: 0 done or equal, 1 a kernel does not compile or differs, 77 no NVRTC of the version that wrote the files.
"""
import argparse
import ctypes
import pathlib
import sys

OPTIONS = [b"-arch=sm_90a", b"--minimal", b"-default-device", b"-std=c++17"]
FOLDER = pathlib.Path(__file__).resolve().parent / "kernels"


def compile_kernel(nvrtc, path):
    """The PTX of a file, or None after printing the compiler's log."""
    program = ctypes.c_void_p()
    options = [*OPTIONS, b"-I" + bytes(FOLDER)]
    array = (ctypes.c_char_p * len(options))(*options)
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), path.read_bytes(), path.name.encode(), 0, None, None)
    status = nvrtc.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if log.value:
        print(log.value.decode(), file=sys.stderr)
    if status != 0:
        return None
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.value.decode()


def compiler_line(ptx):
    """The comment by which NVRTC names its build."""
    return next((line for line in ptx.splitlines() if "Compiler Build ID" in line), "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--cuda", type=pathlib.Path, default="/usr/local/cuda")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    libraries = list(arguments.cuda.glob("lib*/libnvrtc.so.13"))
    if not libraries:
        print(f"no lib*/libnvrtc.so.13 in {arguments.cuda}")
        return 77
    nvrtc = ctypes.CDLL(str(libraries[0]))
    failed = False
    for path in arguments.files or sorted(FOLDER.glob("*.cu")):
        ptx = compile_kernel(nvrtc, path)
        target = path.with_suffix(".ptx")
        if ptx is None:
            failed = True
        elif not arguments.check:
            target.write_text(ptx)
        elif compiler_line(target.read_text()) != compiler_line(ptx):
            print(f"{target.name} is from another build of NVRTC: not compared")
            return 77
        elif target.read_text() != ptx:
            print(f"{target.name} is not what NVRTC makes of {path.name}: run compile_kernels.py")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
