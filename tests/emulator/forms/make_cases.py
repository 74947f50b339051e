#!/usr/bin/env python3
"""Writes data/*.ptx: the cases whose expected results are worked out here, from the PTX ISA alone.

usage: make_cases.py [--check]    with --check: fails if a file of data/ is not what this writes
"""
import os
import sys
import tempfile

import control_cases
import convert_cases
import float_cases
import integer_cases
import matrix_cases
import memory_cases

MODULES = (integer_cases, float_cases, convert_cases, memory_cases, control_cases,
           matrix_cases)


def main():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
    is_check = sys.argv[1:] == ["--check"]
    with tempfile.TemporaryDirectory() as folder:
        target = folder if is_check else here
        names = []
        for module in MODULES:
            for file in module.files():
                file.write(target)
                names.append(file.name + ".ptx")
        stale = [n for n in names if is_check and
                 open(os.path.join(here, n)).read() != open(os.path.join(folder, n)).read()]
    if stale:
        sys.exit("run make_cases.py: not up to date: " + ", ".join(stale))


main()
