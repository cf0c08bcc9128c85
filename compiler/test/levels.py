#!/usr/bin/env python3
"""levels.py - TSR_OPT [--bless] [WORD...]: runs the cases of every level (cases/*/*.mlir, *.tsr with a RUN line) through tsr-opt.

Line one of a case says what it shows, its RUN line holds the arguments, and the file next to it (.expect) holds what tsr-opt prints. TAMPER
lines change that text instead, by a sed expression each, and .expect holds what is said about every changed text; %graph stands for all
passes on Graph IR. --bless writes those files anew; a WORD picks cases by name."""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

GRAPH = "--pass specialize --pass decompose --pass widen --pass normalize --pass simplify"
CASES = pathlib.Path(__file__).parent / "cases"
WRONG_INPUT = 3


def text_of(path):
    """The text of a file, some of which are no UTF-8."""
    return path.read_bytes().decode("latin-1")


def lines_of(case, word):
    """The values of the lines RUN or TAMPER of a case."""
    return re.findall(rf"^(?://|#) {word}: (.*)$", text_of(case), re.MULTILINE)


def run(tsr_opt, arguments, folder, text=""):
    """Returns what tsr-opt prints, and its exit code."""
    done = subprocess.run([tsr_opt, *arguments], cwd=folder, input=text.encode("latin-1"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode("latin-1"), done.returncode


def run_case(tsr_opt, case):
    """Returns what tsr-opt prints for a case, and its exit code where that is not 0."""
    arguments = lines_of(case, "RUN")[0].replace("%graph", GRAPH).split()
    said, code = run(tsr_opt, [*arguments, case.name], case.parent)
    return said + (f"// exit code {code}\n" if code else "")


def tamper_with(tsr_opt, case):
    """Returns what tsr-opt says about the changed texts of a case: none of them is right."""
    good = run_case(tsr_opt, case)
    expressions = lines_of(case, "TAMPER")
    with tempfile.TemporaryDirectory() as folder:
        room = pathlib.Path(folder)
        (room / "good").write_bytes(good.encode("latin-1"))
        for number, expression in enumerate(expressions):
            changed = subprocess.run(["sed", "-E", expression, "good"], cwd=room, stdout=subprocess.PIPE, check=True)
            (room / f"tampered{number}").write_bytes(changed.stdout)
        names = [f"tampered{number}" for number in range(len(expressions))]
        said, code = run(tsr_opt, ["--verify", "--split-input-file", "-", *names], room, good)
        texts = [text_of(room / name) for name in names]
    found = "the text itself is refused\n" if "tsr-opt: -:" in said else ""
    for name, expression, text in zip(names, expressions, texts):
        refusals = re.findall(rf"^tsr-opt: {name}:(.*)$", said, re.MULTILINE)
        found += f"{expression}\n" + "".join(f"   {refusal}\n" for refusal in refusals)
        found += "    changes nothing\n" if text == good else "" if refusals else "    is accepted\n"
    return found + ("" if code == WRONG_INPUT else f"exit code {code}\n")


def differs(case, expect, found):
    """Prints how what was found differs from what is expected."""
    expected = text_of(expect) if expect.exists() else ""
    if found == expected:
        return False
    print(f"NOT OK - {case.relative_to(CASES)}: {text_of(case).splitlines()[0]}")
    print(*list(difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm=""))[:60], sep="\n")
    return True


def main(tsr_opt, *words):
    bless = words[:1] == ("--bless",)
    words = words[bless:]
    if bless and os.environ.get("CI"):
        sys.exit("levels.py: expectations are blessed by a person, not by CI")
    cases = [case for case in sorted([*CASES.glob("*/*.mlir"), *CASES.glob("*/*.tsr")]) if lines_of(case, "RUN")]
    chosen = [case for case in cases if not words or any(word in str(case.relative_to(CASES)) for word in words)]
    failures = 0
    for case in chosen:
        expect = case.with_suffix(".expect")
        found = (tamper_with if lines_of(case, "TAMPER") else run_case)(tsr_opt, case)
        if not bless:
            failures += differs(case, expect, found)
        elif not expect.exists() or text_of(expect) != found:
            expect.write_bytes(found.encode("latin-1"))
            print(f"wrote {expect.relative_to(CASES)}")
    for expect in sorted(CASES.glob("*/*.expect")):
        if expect.with_suffix(".mlir").exists() or expect.with_suffix(".tsr").exists():
            continue
        failures += 1
        print(f"NOT OK - {expect.relative_to(CASES)} belongs to no case")
    print(f"{len(chosen)} cases, {failures} failures")
    sys.exit(failures > 0 or not chosen)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), *sys.argv[2:])
