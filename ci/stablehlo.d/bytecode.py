#!/usr/bin/env python3
"""bytecode.py - the reader of MLIR bytecode against JAX's own: each program is written by jaxlib as a portable artifact, read by
`tsr-opt --summary`, and must have the functions, with their types, and the operations, by name and count, that jaxlib has of it.

Programs are those of JAX's test_harnesses.py, two of each group (--all: every one), and files of StableHLO text under --folder, as
StableHLO's own testdata. Needs jax: 77 without it. 1: a program is refused or read otherwise.
"""
import argparse
import collections
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import absl.testing as _  # the harnesses need it
    import numpy as np
    import jax
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
except ImportError as missing:
    print(f"bytecode.py: skipped: {missing}")
    sys.exit(77)

BATCH = 200  # files that one process reads
REMOVED = ["builtin.unrealized_conversion_cast"]  # jaxlib folds these as it reads
# jaxlib's printer says a quantised type otherwise than we do, and bounds have two spellings.
OTHER_SPELLING = re.compile(r"!quant|#stablehlo|!stablehlo\.(?!token)")


class Expected:
    """A module as jaxlib has it."""

    def __init__(self, module):
        self.operations, self.functions = collections.Counter(), []
        for op in module.body.operations:
            name = op.operation.name
            if name == "func.func":
                self.functions.append((op.name.value, str(op.type)))
                for region in op.operation.regions:
                    self.count(region)

    def count(self, region):
        for block in region:
            for op in block.operations:
                name = op.operation.name.replace("func.", "stablehlo.")
                if name not in REMOVED:
                    self.operations[name] += 1
                for inner in op.operation.regions:
                    self.count(inner)


def harnesses(every):
    """Programs of JAX's harnesses as (name, module)."""
    from jax._src.internal_test_util import test_harnesses

    taken = collections.Counter()
    for harness in test_harnesses.all_harnesses:
        if not every and taken[harness.group_name] >= 2 or not harness.filter("cpu"):
            continue
        try:
            arguments = harness.dyn_args_maker(np.random.RandomState(0))
            lowered = jax.jit(harness.dyn_fun).lower(*arguments)
        except Exception:  # a harness that this JAX does not lower for a CPU
            taken["not lowered"] += 1
            continue
        taken[harness.group_name] += 1
        yield harness.fullname, lowered.compiler_ir("stablehlo")
    print(f"harnesses that JAX does not lower: {taken['not lowered']}")


def files(folders):
    for folder in folders:
        paths = [p for p in sorted(Path(folder).rglob("*")) if p.suffix in (".mlir", ".bc") and p.is_file()]
        for path in paths:
            try:
                yield str(path), ir.Module.parse(path.read_text())
            except Exception as error:
                print(f"{path}: jaxlib does not read it: {str(error).splitlines()[0][:120]}")


def summaries(tsr_opt, paths):
    """Runs ours over files: {path: lines}; a refused one has its message."""
    done = subprocess.run([tsr_opt, "--summary", *paths], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"{tsr_opt} ended with {done.returncode}: {done.stderr[-400:]}")
    out, known, lines = {}, set(paths), None
    for line in done.stdout.splitlines():
        path = line.split(": ")[0]
        if path in known:
            lines = out[path] = []
        else:
            lines.append(line)
    for line in done.stderr.splitlines():
        path, _, message = line.removeprefix("tsr-opt: ").partition(": ")
        out[path] = message
    return out


def same(expected, lines):
    operations, functions = collections.Counter(), []
    for line in lines:
        if line.startswith("function "):
            name, _, rest = line.removeprefix("function ").partition(" ")
            functions.append((name, re.sub(r"( private)?( declared)?$", "", rest)))
        else:
            count, name = line.split()
            if name not in REMOVED:
                operations[name] += int(count)
    if operations != expected.operations:
        return f"operations: ours {operations - expected.operations}, theirs {expected.operations - operations}"
    if [name for name, _ in functions] != [name for name, _ in expected.functions]:
        return f"functions: ours {functions}, theirs {expected.functions}"
    for (name, ours), (_, theirs) in zip(functions, expected.functions):
        if ours != theirs and not OTHER_SPELLING.search(theirs):
            return f"type of {name}: ours {ours}, theirs {theirs}"
    return None


class Check:
    def __init__(self, tsr_opt, version):
        self.tsr_opt, self.version, self.batch = tsr_opt, version, {}
        self.counts = collections.Counter()
        self.folder = tempfile.TemporaryDirectory()

    def add(self, name, module):
        try:
            # As plugins get programs: other dialects are left in them (sdy), and functions of CHLO are composites.
            artifact = _jax.mlir.serialize_portable_artifact(module, self.version, True)
        except Exception:  # what this version of StableHLO cannot say
            self.counts["not written"] += 1
            return
        path = f"{self.folder.name}/{len(self.batch)}.bc"
        Path(path).write_bytes(artifact)
        # The artifact, not the module, is what is read: writing it changes operations.
        written = _jax.mlir.deserialize_portable_artifact(artifact, module.context)
        self.batch[path] = name, Expected(written)
        self.counts["bytes"] += len(artifact)
        if len(self.batch) == BATCH:
            self.read()

    def read(self):
        if not self.batch:
            return
        start = time.monotonic()
        found = summaries(self.tsr_opt, list(self.batch))
        self.counts["milliseconds"] += int(1000 * (time.monotonic() - start))
        for path, (name, expected) in self.batch.items():
            lines = found[path]
            wrong = lines if isinstance(lines, str) else same(expected, lines)
            self.counts["refused" if isinstance(lines, str) else "different" if wrong else "read"] += 1
            if wrong:
                print(f"{name}: {wrong}")
        self.batch = {}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsr-opt", required=True, help="the program of a build")
    parser.add_argument("--all", action="store_true", help="every harness of JAX, some minutes")
    parser.add_argument("--folder", action="append", default=[], help="files of StableHLO text under it, instead of the harnesses")
    parser.add_argument("--version", default="1.13.0", help="of StableHLO, in which programs are written (%(default)s)")
    options = parser.parse_args()
    check = Check(options.tsr_opt, options.version)
    if options.folder:
        with mlir.make_ir_context(), ir.Location.unknown():
            for name, module in files(options.folder):
                check.add(name, module)
            check.read()
    else:
        for name, module in harnesses(options.all):
            with module.context, ir.Location.unknown(module.context):
                check.add(name, module)
        check.read()
    c = check.counts
    print(f"read {c['read']}, refused {c['refused']}, different {c['different']}, not written in {options.version}: {c['not written']}; "
          f"{c['bytes']} bytes in {c['milliseconds']} ms")
    return 1 if c["refused"] or c["different"] or not c["read"] else 0


if __name__ == "__main__":
    sys.exit(main())
