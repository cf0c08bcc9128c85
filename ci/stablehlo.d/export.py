#!/usr/bin/env python3
"""export.py - kernels as StableHLO, judged three ways: the text is parsed and verified by jaxlib, this compiler reads it back and its interpreter
gives the same bits, and XLA runs it on a CPU within the derived bounds of docs/numerics.md.

Each kernel of the files, by default those of the corpus, is taken with its largest small case (--cases N: so many). Composites are read back as the
operations that they are named after; `written out` is the same text with other names, so that their decompositions are read. XLA is asked for
results within a bound for any order of summation and functions of one unit in the last place, which it does not promise: what is farther is listed,
with how far. --iree FOLDER asks IREE as well, a compiler that is none of XLA's (iree.py).

77: jax is missing. 1: a text is not parsed, is not read back, or has other bits, and no line of
export_known.txt has the kernel and the reason.
"""
import argparse
import collections
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import jax
    import ml_dtypes
    import numpy as np
    from jax._src import xla_bridge
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir
except ImportError as missing:
    print(f"export.py: skipped: {missing}")
    sys.exit(77)

from iree import Iree

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KNOWN = HERE / "export_known.txt"
ELEMENTS = 1 << 16  # of the inputs of a case that is run
SIGNATURE = re.compile(r"func\.func public @main\((?P<inputs>.*?)\) -> \((?P<outputs>.*?)\) \{")
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)>")
STORED = {  # as files have it, and as XLA has it
    "bf16": ("<u2", ml_dtypes.bfloat16),
    "f8E4M3FN": ("|u1", ml_dtypes.float8_e4m3fn),
    "f8E5M2": ("|u1", ml_dtypes.float8_e5m2),
    "i4": ("|i1", ml_dtypes.int4),
    "i1": ("|b1", np.bool_),
}
COLUMNS = ["kernels", "refused", "parsed", "read back", "same bits", "written out, same", "written out, near", "XLA same", "XLA near", "XLA far", "XLA refused"]


def shape_of(words):
    """Shape and element of each tensor of a list."""
    return [([int(n) for n in dims.split("x")[:-1]], element) for dims, element in TENSOR.findall(words)]


def xla_dtype(element):
    if element in STORED:
        return np.dtype(STORED[element][1])
    return np.dtype(element.replace("ui", "uint") if element.startswith("ui") else re.sub("^i", "int", element).replace("f", "float", element.startswith("f")))


def numbers_for(shapes, highest):
    """Integers below some number, and normal floats."""
    draw = np.random.default_rng(1)
    made = []
    for dims, element in shapes:
        t = xla_dtype(element)
        if element == "i1":
            made.append(draw.integers(0, 2, dims).astype(np.bool_))
        elif element.startswith(("i", "ui")):
            made.append(np.asarray(draw.integers(0, highest, dims)).astype(t))
        else:
            made.append(np.asarray(draw.standard_normal(dims)).astype(np.float32).astype(t))
    return made


def stored(array, element):
    """As a file of ours holds it."""
    if element == "i4":
        return array.astype(np.int8)
    return array.view(STORED[element][0]) if element in STORED else array


def loaded(path, element):
    array = np.load(path)
    if element == "i4":
        return array.astype(ml_dtypes.int4)
    return array.view(STORED[element][1]) if element in STORED else array


class Tools:
    def __init__(self, build, folder):
        self.build, self.folder = Path(build), Path(folder)

    def run(self, tool, *arguments):
        done = subprocess.run([str(self.build / tool), *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=240)
        if done.returncode not in (0, 1, 3, 4):
            sys.exit(f"{tool} {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr[-400:]}")
        return done

    def cases(self, path):
        """Small cases of each kernel, in the order of the file."""
        found = collections.OrderedDict()
        listed = self.run("tsr", "bench", "--list", "--quick", "--backend", "interp", path).stdout
        for line in listed.splitlines():
            kernel, _, case = line.split("@")[0].partition("/")
            if case and case not in found.setdefault(kernel, []):
                found[kernel].append(case)
        return found

    def emitted(self, path, kernel, case):
        """The text, or why there is none."""
        target = self.folder / "emitted.mlir"
        done = self.run("tsr", "compile", path, "--kernel", kernel, "--case", case, "--emit", "stablehlo", "-o", target)
        return (target.read_text(), None) if done.returncode == 0 else (None, done.stderr.strip().splitlines()[-1])

    def names(self, path, kernel, case, kind):
        text = self.run("tsr", "compile", path, "--kernel", kernel, "--case", case, "--emit", "graph").stdout
        return re.findall(r'"([^"]*)"', re.search(rf"{kind} = \[(.*?)\]", text)[1])

    def interpreted(self, path, kernel, case, inputs, shapes):
        """The kernel's outputs as stored; None for one that is an effect of the kernel, and no result."""
        folder, out = self.folder / "kernel", self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        folder.mkdir(exist_ok=True)
        given = []
        for name, array, (_, element) in zip(self.names(path, kernel, case, "inputs"), inputs, shapes):
            np.save(folder / f"{name}.npy", stored(array, element))
            given += ["--in", f"{name}={folder / name}.npy"]
        done = self.run("tsr", "run", path, "--kernel", kernel, "--case", case, "--backend", "interp", *given, "--out", out)
        if done.returncode:
            return done.stderr.strip()
        written = [out / f"{name}.npy" for name in self.names(path, kernel, case, "outputs")]
        return [np.load(one) if one.exists() else None for one in written]

    def read_back(self, text, kernel, inputs, shapes):
        """Outputs, references and bounds of the text, or a message."""
        folder, source = self.folder / "back", self.folder / "back.mlir"
        folder.mkdir(exist_ok=True)
        source.write_text(text)
        for i, (array, (_, element)) in enumerate(zip(inputs, shapes)):
            np.save(folder / f"a{i}.npy", stored(array, element))
        done = self.run("tsr-interp", source, kernel, folder)
        if done.returncode:
            return done.stderr.strip()
        count = len(shape_of(SIGNATURE.search(text)["outputs"]))
        return [[np.load(folder / f"r{i}{kind}.npy") for i in range(count)] for kind in ("", ".reference", ".bound")]


def same_bits(a, b):
    """Equal bytes, as far as the first has results."""
    return len(a) == len(b) and all(x is None or (x.shape == y.shape and x.tobytes() == y.tobytes()) for x, y in zip(a, b))


def distance(values, references, bounds, shapes):
    """The farthest element in bounds; 1 or less is within, infinity where a NaN or an infinity is another one."""
    worst = 0.0
    for value, reference, bound, (_, element) in zip(values, references, bounds, shapes):
        if not value.size:
            continue
        with np.errstate(all="ignore"):
            x = np.asarray(value).astype(np.float64)
        free = np.isinf(bound)
        equal = (x == reference) | (np.isnan(x) & np.isnan(reference)) | free
        with np.errstate(all="ignore"):
            far = np.where(equal, 0, np.abs(x - reference) / np.maximum(bound, 1e-300))
        far = np.where(np.isnan(far), np.inf, far)
        worst = max(worst, float(far.max()))
    return worst


class Xla:
    """XLA on a CPU, through JAX's own client."""

    def __init__(self):
        jax.config.update("jax_enable_x64", True)
        self.backend = xla_bridge.get_backend("cpu")
        self.context = mlir.make_ir_context()

    def parse(self, text):
        with self.context:
            module = ir.Module.parse(text)
            module.operation.verify()
            return module

    def run(self, module, inputs):
        devices = xla_client.DeviceList(tuple(self.backend.local_devices()[:1]))
        program = self.backend.compile_and_load(module, devices, xla_client.CompileOptions())
        done = program.execute_sharded([jax.device_put(x) for x in inputs])
        return [np.asarray(one[0]) for one in done.disassemble_into_single_device_arrays()]


class Judge:
    def __init__(self, tools, with_xla, iree):
        self.tools, self.xla, self.with_xla, self.iree = tools, Xla(), with_xla, iree
        self.columns = [*COLUMNS, *([f"IREE {word}" for word in ("same", "near", "far", "refused")] if iree else [])]
        self.rows = collections.OrderedDict()
        self.failed = False
        self.known = {line.split("#")[0].strip() for line in KNOWN.read_text().splitlines()} - {""}

    def note(self, name, words, fails=True):
        known = name.split()[1].partition("/")[0] in self.known
        print(f"{name}: {words[:300]}{' (known)' if known and fails else ''}", flush=True)
        self.failed |= fails and not known

    def kernel(self, path, kernel, case):
        row = self.rows.setdefault(path.parent.name, collections.Counter())
        name = f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path} {kernel}/{case}"
        row["kernels"] += 1
        text, why = self.tools.emitted(path, kernel, case)
        if text is None:
            row["refused"] += 1
            return self.note(name, f"refused: {why}")
        try:
            module = self.xla.parse(text)
        except Exception as error:
            return self.note(name, f"jaxlib does not parse it: {error}".replace("\n", " "))
        row["parsed"] += 1
        self.values(name, row, (path, kernel, case), text, module)

    def values(self, name, row, which, text, module):
        signature = SIGNATURE.search(text)
        shapes, outputs = shape_of(signature["inputs"]), shape_of(signature["outputs"])
        for highest in (7, 1):  # as indices and lengths a kernel may take none but zeros
            inputs = numbers_for(shapes, highest)
            own = self.tools.interpreted(*which, inputs, shapes)
            if not isinstance(own, str):
                break
        kernel = re.search(r"module @(\w+)", text)[1]
        back = self.tools.read_back(text, kernel, inputs, shapes)
        if isinstance(back, str):
            return self.note(name, f"it is not read back: {back}")
        row["read back"] += 1
        if isinstance(own, str):
            return self.note(name, f"the kernel does not run: {own}")
        if same_bits(own, back[0]):
            row["same bits"] += 1
        else:
            self.note(name, f"other bits when it is read back, {distance([loaded_as(x, e) for x, (_, e) in zip(back[0], outputs)], back[1], back[2], outputs):.3g} bounds away")
        self.written_out(name, row, text, inputs, shapes, back, outputs)
        if self.with_xla:
            self.other(name, row, "XLA", lambda: self.xla.run(module, inputs), back, outputs)
        if self.iree and self.iree.takes(shapes + outputs):
            self.other(name, row, "IREE", lambda: self.iree.run(text, inputs, len(outputs)), back, outputs)

    def written_out(self, name, row, text, inputs, shapes, back, outputs):
        if 'name = "tessera.' in text:
            kernel = re.search(r"module @(\w+)", text)[1]
            plain = self.tools.read_back(text.replace('name = "tessera.', 'name = "other.').replace("tessera.math", "other.math"), kernel, inputs, shapes)
            if isinstance(plain, str):
                return self.note(name, f"written out it is not read back: {plain}")
        else:
            plain = back
        if same_bits(plain[0], back[0]):
            row["written out, same"] += 1
            return
        far = distance([loaded_as(x, e) for x, (_, e) in zip(plain[0], outputs)], back[1], back[2], outputs)
        row["written out, near"] += far <= 1
        if far > 1:
            self.note(name, f"written out it is {far:.3g} bounds away")

    def other(self, name, row, who, run, back, outputs):
        try:
            values = run()
        except Exception as error:
            values = str(error)
        if isinstance(values, str):
            row[f"{who} refused"] += 1
            return self.note(name, f"{who}: {values}".replace("\n", " "), False)
        if same_bits([stored(np.asarray(x), e) for x, (_, e) in zip(values, outputs)], back[0]):
            row[f"{who} same"] += 1
            return
        far = distance(values, back[1], back[2], outputs)
        row[f"{who} {'near' if far <= 1 else 'far'}"] += 1
        if far > 1:
            self.note(name, f"{who} is {far:.3g} bounds away", False)

    def table(self):
        width = max(map(len, self.rows)) + 2
        total = collections.Counter()
        print("".ljust(width) + "  ".join(self.columns))
        for group, row in [*self.rows.items(), ("all", total)]:
            print(group.ljust(width) + "  ".join(str(row[c]).rjust(len(c)) for c in self.columns))
            total.update(row)

def loaded_as(array, element):
    if element == "i4":
        return array
    return array.view(STORED[element][1]) if element in STORED and element != "i1" else array


def small(tools, path, kernel, cases, limit):
    """The largest cases that are not too large; the first where there is none."""
    sizes = {}
    for case in cases:
        text, _ = tools.emitted(path, kernel, case)
        shapes = shape_of(SIGNATURE.search(text)["inputs"]) if text else []
        sizes[case] = sum(int(np.prod(dims)) for dims, _ in shapes)
    fit = sorted((case for case in cases if sizes[case] <= ELEMENTS), key=lambda case: -sizes[case])
    return fit[:limit] or cases[:1]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", default=ROOT / "build")
    options.add_argument("--cases", type=int, default=1, help="of each kernel")
    options.add_argument("--no-xla", action="store_true", help="XLA parses, and runs nothing")
    options.add_argument("--iree", help="a folder with the packages iree-base-compiler and iree-base-runtime, unpacked; `path`: their programs are in $PATH")
    options.add_argument("files", nargs="*", type=Path, help="default: the corpus")
    args = options.parse_args()
    paths = args.files or sorted(p for p in (ROOT / "corpus").glob("*/*") if p.suffix in (".tsr", ".mlir"))
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(args.build, folder)
        judge = Judge(tools, not args.no_xla, Iree(args.iree, folder) if args.iree else None)
        for path in paths:
            for kernel, cases in tools.cases(path.resolve()).items():
                for case in small(tools, path.resolve(), kernel, cases, args.cases):
                    judge.kernel(path.resolve(), kernel, case)
    judge.table()
    return judge.failed


if __name__ == "__main__":
    sys.exit(main())
