#!/usr/bin/env python3
"""suite.py - StableHLO's own test files through this compiler: each is imported, compiled and run, and its checks are judged.

A file of testdata/ or testdata/quantized/ is a program without arguments that hands pairs of values to custom calls @check.expect_eq, expect_close and
expect_almost_eq; one of tests/interpret has them as operations of the dialect check. The pairs become the results of its function here, and are
compared as the checks say: exactly, within 3 units in the last place, or within an absolute 1e-3 (1e-4 for the dialect), or what else they ask.

The files are given by a folder, a checkout of openxla/stablehlo. 77: there is none, or NumPy is missing. 1: a file fails that the list of known
ones (known.txt, a name a line) does not have, or one of these passes. --write makes that list anew.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import os
import re
import sys
import tempfile
import time
from pathlib import Path

from parallel import Parallel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KNOWN = HERE / "known.txt"

CHECK = re.compile(
    r'^\s*(?:%\w+ = )?(?:stablehlo\.custom_call @check\.|"?check\.)(?:expect_)?(?P<kind>\w+)"?\s*\(?(?P<operands>%[^){]*?)\)?\s*'
    r"(?P<value>, dense<.*>)?\s*(?P<attrs>\{[^}]*\})?\s*:\s*(?P<types>.*)$"
)
GENERIC = re.compile(r'^\s*"check\.expect_(?P<kind>\w+)"\((?P<operands>[^)]*)\) <\{value = (?P<value>dense<.*>) : tensor<.*\}>(?P<attrs>) : \((?P<types>.*)\) -> \(\)$')
BEGINS = re.compile(r'^\s*(?:%\w+ = )?(?:stablehlo\.custom_call @|")?check\.')
LIMIT = re.compile(r"(tolerance|m(?:in|ax)_ulp_difference) = ([0-9.e+-]+)")
MODULE = re.compile(r"^\s*module @(?P<name>[\w.]+)", re.M)
PUBLIC = re.compile(r"^\s*func\.func (?!private)", re.M)
FUNCTION = re.compile(r"^\s*func\.func (public )?@(?P<name>[\w.]+)\(\)(?P<rest>.*)\{\s*$")
RETURN = re.compile(r"^\s*(func\.)?return\b.*$")


class Unread(Exception):
    """The file has another form than this script knows."""


def types_of(words):
    """Types of a list between commas, those of a function's inputs included."""
    words = words.strip()
    if words.startswith("("):
        words = words[1 : words.index(") ->")]
    found, depth, start = [], 0, 0
    for at, letter in enumerate(words + ","):
        depth += letter in "<({["
        depth -= letter in ">)}]"
        if letter == "," and depth == 0:
            found.append(words[start:at].strip())
            start = at + 1
    return [one for one in found if one]


class Checked:
    """A function whose checks are its results."""

    def __init__(self):
        self.values, self.types, self.kinds, self.lines = [], [], [], []

    def check(self, match, number):
        operands = [one.strip() for one in match["operands"].split(",") if one.strip().startswith("%")]
        types = types_of(match["types"])
        kind = f"expect_{match['kind']}"
        if not kind.startswith(("expect_eq", "expect_close", "expect_almost_eq")):
            raise Unread(kind)
        limits = {name: float(value) for name, value in LIMIT.findall(match["operands"] + (match["attrs"] or ""))}
        if "tolerance" not in limits:
            limits["tolerance"] = 1e-3 if not match["value"] and "custom_call" in match[0] else 1e-4
        if match["value"]:
            name = f"%expected{number}"
            self.lines.append(f"    {name} = stablehlo.constant {match['value'].removeprefix(', ')} : {types[0]}")
            operands.append(name)
        types = (types * len(operands))[: len(operands)]
        self.values += operands[:2]
        self.types += types[:2]
        self.kinds.append((kind, "bf16" in types[0], limits))


def statements(text):
    """Lines, and checks of several lines as one."""
    begun = []
    for line in text.split("\n"):
        if begun or (BEGINS.match(line) and not matched(line)):
            begun.append(line.strip())
            if not matched(" ".join(begun)):
                continue
            line = " ".join(begun)
        begun = []
        yield line
    if begun:
        raise Unread(begun[0])


def matched(line):
    return GENERIC.match(line) or CHECK.match(line)


def rewritten(text):
    """The file with results in the place of checks: text, functions and the kinds of their checks."""
    out, functions, current, head = [], {}, None, 0
    for number, line in enumerate(statements(text)):
        function = FUNCTION.match(line)
        if function:
            current, head = Checked(), len(out)
            functions[function["name"]] = current
            out.append(line)
            continue
        match = matched(line) if current else None
        if match:
            current.lines = []
            current.check(match, number)
            out += current.lines
        elif current and RETURN.match(line) and current.values:
            out.append(f"    func.return {', '.join(current.values)} : {', '.join(current.types)}")
            name = FUNCTION.match(out[head])["name"]
            out[head] = f"  func.func public @{name}() -> ({', '.join(current.types)}) {{"
            current = None
        else:
            out.append(line)
    if not functions or not any(one.values for one in functions.values()):
        raise Unread("no checks")
    return "\n".join(out), {name: one.kinds for name, one in functions.items() if one.values}


# ---- judging ----


def widened(array):
    """Numbers of bf16, which NumPy has not, as f32."""
    import numpy as np

    return (np.atleast_1d(array).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def ordered(array):
    """Bits as numbers in the order of what they stand for."""
    import numpy as np

    bits = array.view(f"i{array.dtype.itemsize}").astype(np.int64)
    limit = np.int64((1 << (8 * array.dtype.itemsize - 1)) - 1)
    return np.where(bits < 0, -(bits & limit), bits)


def apart(a, b):
    """Units in the last place between two, all there are between what is finite and what is not."""
    import numpy as np

    x, y = ordered(a), ordered(b)
    units = np.abs(np.maximum(x, y).astype(object) - np.minimum(x, y).astype(object))
    nan = np.isnan(a) & np.isnan(b)
    return np.where(nan | (a == b), 0, np.where(np.isfinite(a) & np.isfinite(b), units, float(1 << 64)))


def holds(kind, limits, a, b, narrow):
    """Does the check hold? Every NaN is like any other."""
    import numpy as np

    if a.shape != b.shape:
        return False
    with np.errstate(invalid="ignore"):
        same = (a == b) | ((a != a) & (b != b))
        if kind.startswith("expect_eq") or a.dtype.kind != "f":
            return same.all()
        if kind.startswith("expect_close"):
            most, least = limits.get("max_ulp_difference", 3), limits.get("min_ulp_difference", 0)
            units = np.where(same, 0, apart(a, b) / (65536 if narrow else 1))
            return ((least <= units) & (units <= most)).all()
        return (same | (np.abs(a.astype(np.float64) - b.astype(np.float64)) <= limits["tolerance"])).all()


# ---- running ----


class Diagnostic(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("id", ctypes.c_char_p), ("message", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kernel", ctypes.c_char_p)] + [
        (name, ctypes.c_char_p) for name in ("case_name", "dims", "profile", "isa", "constants", "schedule")
    ] + [(name, ctypes.c_uint32) for name in ("threads", "generic", "check_bounds")]


class Refused(Exception):
    """The compiler says no: the diagnostic's identifier and its message."""


def start(build):
    sys.path.insert(0, str(build / "python"))
    os.environ["TSR"] = str(build / "tsr")
    global compiler, tessera
    import tessera

    compiler = ctypes.CDLL(str(build / "compiler" / "libtessera-compiler.so"))
    compiler.tsrGetCompiledModule.restype = ctypes.c_void_p


def module_of(text, name, kernel, folder):
    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = Options(size=ctypes.sizeof(Options), kernel=kernel.encode() if kernel else None)
    data = text.encode()
    code = compiler.tsrCompile(data, ctypes.c_size_t(len(data)), name.encode(), ctypes.byref(options), ctypes.byref(handle))
    try:
        if code:
            one = Diagnostic(size=ctypes.sizeof(Diagnostic))
            compiler.tsrGetDiagnostic(handle, 0, ctypes.byref(one))
            raise Refused(f"{(one.id or b'').decode()} {(one.message or b'').decode()}")
        image = compiler.tsrGetCompiledModule(handle, ctypes.byref(size))
        path = Path(folder) / "module.tsrm"
        path.write_bytes(ctypes.string_at(image, size.value))
        return tessera.load(str(path))
    finally:
        compiler.tsrDestroyCompilation(handle)


def arrays_of(results):
    import numpy as np

    results = results if isinstance(results, (tuple, list)) else (results,)
    return [np.asarray(one) for one in results]


def kernel_of(text, function):
    """Its name, where there are several: main has the one of its module."""
    module = MODULE.search(text)
    name = module["name"] if module and function == "main" else function
    return name if len(PUBLIC.findall(text)) > 1 else None


def checks_of(p):
    """The checks behind a run on several devices, and the values that they need of the main function."""
    checked = Checked()
    lines = []
    for number, line in enumerate(statements(p.after)):
        match = matched(line)
        if match:
            checked.lines = []
            checked.check(match, number)
            lines += checked.lines
        elif line.strip():
            raise Unread(line.strip())
    return checked, lines


def judge_parallel(text, path, folder):
    """A function that several devices run: their values are the parts of its kernel's along leading axes."""
    import numpy as np

    try:
        p = Parallel(text, types_of)
    except ValueError as other:
        raise Unread(other) from other
    checked, lines = checks_of(p)
    asked = [(name, kind) for name, kind in zip(checked.values, checked.types) if p.number(name) is None]
    known = arrays_of(
        module_of(p.values(lines, p.operands + [name for name, _ in asked], p.operand_types + [kind for _, kind in asked]), path, None, folder)()
    )
    devices = p.grid[0] * p.grid[1]
    each = len(p.operands) // devices
    leading = p.leading(p.grid[1] > 1)
    inputs = [np.stack(known[at : len(p.operands) : each]).reshape(leading + list(known[at].shape)) for at in range(each)]
    results = [one.reshape([devices] + list(one.shape[len(leading) :])) for one in arrays_of(module_of(p.program, path, None, folder)(*inputs))]
    expected = {name: known[len(p.operands) + at] for at, (name, _) in enumerate(asked)}
    for at, (kind, narrow, limits) in enumerate(checked.kinds):
        pair = []
        for name in checked.values[2 * at : 2 * at + 2]:
            number = p.number(name)
            one = expected[name] if number is None else results[number % len(results)][number // len(results)]
            pair.append(widened(one) if narrow else one)
        if not holds(kind, limits, *pair, narrow):
            return f"other values: {kind} of {checked.values[2 * at]}"
    return "pass"


def judge(path):
    """The file's name, "pass" or why not, and seconds."""
    begun = time.monotonic()
    try:
        whole = Path(path).read_text(encoding="utf-8")
        if "interpreter.run_parallel" in whole:
            with tempfile.TemporaryDirectory(prefix="suite-") as folder:
                return path, judge_parallel(whole, path, folder), time.monotonic() - begun
        text, functions = rewritten(whole)
        with tempfile.TemporaryDirectory(prefix="suite-") as folder:
            for function, kinds in functions.items():
                results = arrays_of(module_of(text, path, kernel_of(text, function), folder)())
                for at, (kind, narrow, limits) in enumerate(kinds):
                    a, b = results[2 * at : 2 * at + 2]
                    if not holds(kind, limits, widened(a) if narrow else a, widened(b) if narrow else b, narrow):
                        return path, f"other values: {kind} of @{function}", time.monotonic() - begun
        return path, "pass", time.monotonic() - begun
    except (Refused, Unread) as refused:
        return path, f"refused: {refused}", time.monotonic() - begun
    except Exception as error:  # noqa: BLE001 - whatever a file does is told of it
        return path, f"error: {type(error).__name__}: {error}", time.monotonic() - begun


def parts_of(path, folder):
    """The modules of a file, each as a file of its own; those without checks are left out."""
    for number, part in enumerate(re.split(r"^// -----.*$", path.read_text(encoding="utf-8"), flags=re.M)):
        if "check.e" in part or "expect" in part:
            one = Path(folder) / f"{path.parent.name}_{path.stem}_{number}.mlir"
            one.write_text(part, encoding="utf-8")
            yield one


def files_of(folder, every, interpreted, parts):
    whole, of_parts = sorted(Path(folder).glob("testdata/*.mlir")), sorted(Path(folder).glob("testdata/quantized/*.mlir"))
    if not every:
        whole, of_parts = whole[::29], of_parts[::29]
    if interpreted:
        of_parts += sorted(Path(folder).glob("tests/interpret/*.mlir")) + sorted(Path(folder).glob("tests/math/*.mlir"))
    return whole + [one for path in of_parts for one in parts_of(path, parts)]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--folder", type=Path, default=os.environ.get("STABLEHLO_SOURCE"), help="stablehlo/ of a checkout of openxla/stablehlo")
    options.add_argument("--all", action="store_true", help="every file of testdata and testdata/quantized, not one in 29")
    options.add_argument("--interpret", action="store_true", help="tests/interpret and tests/math, too")
    options.add_argument("--filter", default="", help="files whose name holds this regular expression")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--write", action="store_true", help="make the list of known failures anew")
    given = options.parse_args()
    try:
        import numpy  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    if not given.folder or not given.folder.is_dir():
        print("skipped: no folder of StableHLO's tests: say --folder, or STABLEHLO_SOURCE")
        return 77
    with tempfile.TemporaryDirectory(prefix="parts-") as parts:
        files = [str(one) for one in files_of(given.folder, given.all, given.interpret, parts) if re.search(given.filter, one.name)]
        with concurrent.futures.ProcessPoolExecutor(given.jobs, initializer=start, initargs=(given.build,)) as pool:
            outcomes = list(pool.map(judge, files, chunksize=4))
    return report(outcomes, given)


def report(outcomes, given):
    known = set(KNOWN.read_text(encoding="utf-8").split()) if KNOWN.exists() else set()
    reasons, failed, passed = collections.Counter(), [], []
    for path, outcome, _ in outcomes:
        name = Path(path).name
        (passed if outcome == "pass" else failed).append(name)
        if outcome != "pass":
            reasons[re.sub(r"line \d+ column \d+: |\d+", "", outcome)[:110]] += 1
            if name not in known or given.filter:
                print(f"{name}: {outcome}")
    for reason, count in reasons.most_common(30):
        print(f"{count:6}  {reason}")
    print(f"{len(passed)} of {len(outcomes)} files pass; {sum(one[2] for one in outcomes):.0f} s of work")
    if given.write:
        KNOWN.write_text("".join(f"{name}\n" for name in sorted(failed)), encoding="utf-8")
        return 0
    lost = [name for name in failed if name not in known]
    won = [name for name in passed if name in known]
    for name in won:
        print(f"{name} passes: take it out of known.txt")
    return 1 if lost or won else 0


if __name__ == "__main__":
    sys.exit(main())
