"""Checks the Markdown files, and runs the commands that README.md shows.

Static: folder READMEs have at most 60 lines, links and named files exist, nothing names a single machine or a task left
to do, every environment variable that the code reads is in the README's table. Commands: each line of a README.md block
that starts with "$ build/bin/fp8jit" must succeed, and print the lines shown below it up to numbers.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE_LIMIT = 60
FORBIDDEN = re.compile(r"\bTODO\b|\bFIXME\b|(?<![\w.])/(?:work|root|home)/\w|pypi\.org|pythonhosted")
LINK = re.compile(r"\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)")
NUMBER = re.compile(r"\b[0-9a-f]{8,}\b|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def markdown_files():
    skipped = {"build", ".git"}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in skipped)
        yield from (pathlib.Path(folder) / name for name in sorted(files) if name.endswith(".md"))


def check_static(failures):
    for path in markdown_files():
        name, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        lines = text.splitlines()
        is_folder_readme = path.name == "README.md" and path.parent != ROOT
        if is_folder_readme and len(lines) > LINE_LIMIT:
            failures.append(f"{name}: {len(lines)} lines, expected at most {LINE_LIMIT}")
        for number, line in enumerate(lines, 1):
            if found := FORBIDDEN.search(line):
                failures.append(f"{name}:{number}: {found.group()!r} does not belong into the documentation")
        for target in LINK.findall(text):
            if not (path.parent / target).exists():
                failures.append(f"{name}: link to {target}, which does not exist")


def check_environment_table(failures):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = (ROOT / "support/environment.cpp").read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r'"([A-Z][A-Z0-9_]+)"', code))):
        if f"| `{name}`" not in readme:
            failures.append(f"README.md: environment variable {name} of support/environment.cpp is not in the table")


def shown_commands(text):
    """(command line, output lines shown) of every command in a fenced block."""
    commands = []
    for block in re.findall(r"```(?:console|sh)\n(.*?)```", text, re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            elif commands and line.strip() and not block.startswith("./dev"):
                commands[-1][1].append(line)
    return [entry for entry in commands if entry[0].startswith("build/bin/fp8jit")]


def normalized(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def check_commands(program, failures):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="fp8jit-readme-") as folder:
        environment = os.environ | {"FP8JIT_CACHE_DIR": folder}
        for line, shown in shown_commands(text):
            words = shlex.split(line.split(" | ")[0])
            done = subprocess.run([program] + words[1:], capture_output=True, text=True, env=environment, cwd=ROOT)
            if done.returncode != 0:
                failures.append(f"README.md: {line!r} failed with {done.returncode}: {done.stderr.strip()}")
                continue
            printed = {normalized(row) for row in (done.stdout + done.stderr).splitlines()}
            for row in shown:
                if row != "..." and normalized(row) not in printed:
                    failures.append(f"README.md: {line!r} shows {row!r}, which it does not print")
            print(f"ran {line}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", help="the fp8jit program; without it the commands are not run")
    arguments = parser.parse_args()
    failures = []
    if arguments.command:
        check_commands(arguments.command, failures)
    else:
        check_static(failures)
        check_environment_table(failures)
    print("\n".join(failures) or "documentation is in order")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
