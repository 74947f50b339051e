"""Collects cases and writes them as .ptx files in the format of README.md."""
import os


class CaseFile:
    def __init__(self, name, comment):
        self.name, self.comment, self.blocks = name, comment, []

    def case(self, body, title, ins=None, outs=None, **directives):
        """`body`: instructions, the one under test first unless `opcode` names it."""
        statements = [s.strip() for s in body.strip().split("\n") if s.strip()]
        opcode = directives.pop("opcode", None) or statements[0].split()[0].rstrip(";")
        lines = [f"//! test {opcode}: {title}"]
        for key, value in directives.items():
            for one in value if isinstance(value, list) else [value]:
                lines.append(f"//! {key} {one}")
        for word, registers in (("in", ins or {}), ("out", outs or {})):
            for register, values in registers.items():
                text = " ".join(v if isinstance(v, str) else f"{v:x}" for v in values)
                lines.append(f"//! {word} {register} = {text}")
        self.blocks.append("\n".join(lines + [s if s in "{}" or s[-1] in ";:" else s + ";" for s in statements]))

    def write(self, folder):
        text = f"// {self.comment} Written by make_cases.py: change it there.\n\n" + \
               "\n\n".join(self.blocks) + "\n"
        with open(os.path.join(folder, self.name + ".ptx"), "w") as file:
            file.write(text)


def bits_of(value, width):
    return value & ((1 << width) - 1)


def signed(value, width):
    value = bits_of(value, width)
    return value - (1 << width) if value >> (width - 1) else value
