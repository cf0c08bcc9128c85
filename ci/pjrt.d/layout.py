#!/usr/bin/env python3
"""layout.py HEADER - do runtime/pjrt/pjrt.h and the interface's own header agree in every size, every offset and every constant that ours has?

Two programs print them, one of each header. 1: they do not agree.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RUNTIME = Path(__file__).resolve().parent.parent.parent / "runtime"


def preprocessed(header, *flags):
    return subprocess.run(["cc", "-E", "-P", *flags, header], capture_output=True, text=True, check=True).stdout


def questions(words):
    """(struct, its members) and the constants of our header, as the preprocessor leaves them."""
    structs = {}
    for name, body in re.findall(r"typedef struct (PJRT_\w+) \{(.*?)\} \1;", words, re.S):
        body = re.sub(r"union \{(.*?)\};", r"\1", body, flags=re.S)
        members = [re.search(r"\(\*(\w+)\)|(\w+)$", one.strip()) for one in body.split(";") if one.strip()]
        structs[name] = [member[1] or member[2] for member in members]
    constants = re.findall(r"\b(PJRT_\w+)\s*(?:=\s*\d+)?\s*(?=[,}])", "".join(re.findall(r"enum \w* ?\{.*?\}", words, re.S)))
    return structs, constants


def is_slot(struct, member):
    return struct == "PJRT_Api" and member[0].isupper()


def program(include, structs, constants, theirs):
    """Their slots have the prefix of all their names."""
    lines = [include, "#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for struct, members in structs.items():
        last = members[-1] if members else None
        for member in members:
            field = f"PJRT_{member}" if theirs and is_slot(struct, member) else member
            lines.append(f'printf("{struct}.{member} %zu %zu\\n", offsetof({struct}, {field}), sizeof((({struct} *)0)->{field}));')
        if last:
            lines.append(f'printf("{struct} %zu\\n", sizeof({struct}));')
    lines += [f'printf("{name} %d\\n", (int){name});' for name in constants]
    return "\n".join([*lines, "return 0;", "}"])


def answers(words, *flags):
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "ask.c"), Path(folder, "ask")
        source.write_text(words)
        subprocess.run(["cc", "-w", *flags, str(source), "-o", str(made)], check=True)
        return subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    ours = preprocessed(RUNTIME / "pjrt/pjrt.h", f"-I{RUNTIME}")
    structs, constants = questions(ours)
    mine = answers(program('#include "pjrt/pjrt.h"', structs, constants, False), f"-I{RUNTIME}")
    other = answers(program(f'#include "{sys.argv[1]}"', structs, constants, True))
    for left, right in zip(mine, other):
        if left != right:
            print(f"ours {left}, theirs {right}")
    print(f"{len(structs)} structs, {len(mine)} sizes, offsets and constants: {'they agree' if mine == other else 'they differ'}")
    return 0 if mine == other and len(structs) > 80 else 1


if __name__ == "__main__":
    sys.exit(main())
