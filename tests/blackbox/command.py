"""Runs the fp8jit command on .npy files, and the frame of a run: numbered cases, shards, seeds, failures."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np


class Command:
    """One working folder and one cache folder, shared by all cases of a shard."""

    def __init__(self, program, device, folder):
        self.program, self.device, self.folder = program, device, pathlib.Path(folder)

    def run(self, verb, problem, inputs, outputs, options=()):
        """Writes `inputs` (flag -> array), runs the command and reads `outputs` (flags) back.

        Returns (parsed JSON, {flag: array}); raises AssertionError with the command line if it fails.
        """
        line = [str(self.program), verb, problem, "--json", "--device", self.device, "--cache", str(self.folder / "cache")]
        for flag, array in inputs.items():
            path = self.folder / f"in_{flag}.npy"
            np.save(path, array)
            line += [f"--{flag}", str(path)]
        for flag in outputs:
            path = self.folder / f"out_{flag}.npy"
            path.unlink(missing_ok=True)
            line += [f"--{flag}", str(path)]
        line += [str(option) for option in options]
        done = subprocess.run(line, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"exit status {done.returncode}: {done.stdout.strip()} {done.stderr.strip()}\n{line}"
        return json.loads(done.stdout), {flag: np.load(self.folder / f"out_{flag}.npy") for flag in outputs}


def main(description, default_cases, run_case):
    """Calls run_case(command, case, generator) -> (title, problem text or "") for every case of the shard."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--command", required=True, help="the fp8jit program")
    parser.add_argument("--device", default="emulator:sm_89")
    parser.add_argument("--cases", type=int, default=default_cases)
    parser.add_argument("--shard", default="0/1", help="i/n: every n-th case, starting with i")
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--seed", type=int, default=20250)
    arguments = parser.parse_args()
    shard, shards = map(int, arguments.shard.split("/"))
    cases = [arguments.only] if arguments.only is not None else range(shard, arguments.cases, shards)

    print(f"seed {arguments.seed}, cases {arguments.cases}, shard {arguments.shard}")
    failures, started = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fp8jit-blackbox-") as folder:
        command = Command(arguments.command, arguments.device, folder)
        for case in cases:
            generator = np.random.default_rng([arguments.seed, case])
            try:
                title, wrong = run_case(command, case, generator)
            except AssertionError as error:
                title, wrong = f"case {case}", str(error)
            if wrong:
                failures += 1
                print(f"FAILED --only {case} --seed {arguments.seed}: {title}\n  {wrong}")
    print(f"{len(cases)} cases, {failures} failed, {time.monotonic() - started:.1f} s")
    sys.exit(1 if failures else 0)
