"""recursion.py LIBRARY LIST: every function of the library that calls itself, straight or through others, is in the list, which says
what bounds it. Calls are read from the machine code, so that they are those that there are."""
import os
import pathlib
import re
import subprocess
import sys

LIBRARY, LIST = sys.argv[1], pathlib.Path(sys.argv[2])
HEADER = re.compile(r"^[0-9a-f]+ <([^>+]+)>:$")
TARGET = re.compile(r"\s(?:call|jmp|bl|b)\s+[0-9a-fx]+ <([^>+]+)(?:@plt)?>$")
RELOCATION = re.compile(r"R_\w+(?:PLT32|PC32|CALL26|JUMP26)\s+([A-Za-z_][\w.]*)")
ENGLISH = {**os.environ, "LC_ALL": "C"}  # what objdump prints is read


def plain(name):
    """Without what the compiler adds to copies and pieces of a function."""
    return name.split(".")[0]


def read_calls():
    """Reads who calls whom. Static functions belong to their object: OBJECT:NAME; others are their names."""
    calls, local, unit, function, is_call = {}, {}, "", None, False
    symbols = subprocess.run(["objdump", "-t", LIBRARY], capture_output=True, text=True, check=True, env=ENGLISH).stdout
    for line in symbols.splitlines():
        if line.endswith("file format elf64-x86-64") or "file format" in line:
            unit = line.split(":")[0]
        fields = line.split()
        if len(fields) > 5 and fields[1] == "l" and fields[2] == "F":
            local.setdefault(unit, set()).add(plain(fields[-1]))
    code = subprocess.Popen(["objdump", "-dr", "--no-show-raw-insn", LIBRARY], stdout=subprocess.PIPE, text=True, env=ENGLISH)
    pending = None  # the target that a line shows is none where a relocation follows
    for line in list(code.stdout) + [""]:
        line = line.rstrip()
        relocation, named = " R_" in line or "\tR_" in line, RELOCATION.search(line)
        target = (named[1] if named else None) if relocation else pending
        called = key(unit, plain(target), local) if target and plain(target) else None
        # A jump of a function to its own beginning is a loop.
        if called and (called != function or is_call):
            calls.setdefault(function, set()).add(called)
        shown = TARGET.search(line)
        pending = shown[1] if shown else None
        if not relocation:
            is_call = "call" in line or re.search(r"\sbl\s", line) is not None
        if "file format" in line:
            unit = line.split(":")[0]
        header = HEADER.match(line)
        if header:
            function = key(unit, plain(header[1]), local)
            calls.setdefault(function, set())
    if code.wait() != 0:
        sys.exit("objdump failed")
    return calls


def key(unit, name, local):
    return f"{unit}:{name}" if name in local.get(unit, ()) else name


def reach(calls, start):
    seen, waiting = set(), [start]
    while waiting:
        for called in calls.get(waiting.pop(), ()):
            if called not in seen:
                seen.add(called)
                waiting.append(called)
    return seen


def main():
    listed = {word for line in LIST.read_text().splitlines() if not line.startswith("#") for word in line.split()}
    calls = read_calls()
    # A jump inside of a function is no call: only those to its beginning have its bare name.
    recursive = sorted(f for f in calls if f in reach(calls, f))
    missing = [f for f in recursive if f.split(":")[-1] not in listed]
    for function in missing:
        print(f"{function} calls itself and is not in {LIST.name}: make it a loop, or say there what bounds it")
    print(f"{len(calls)} functions, {len(recursive)} that call themselves, {len(missing)} not in the list")
    return 1 if missing or len(calls) < 500 or not recursive else 0


sys.exit(main())
