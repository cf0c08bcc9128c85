"""Computes the goldens of a corpus a second time, from docs/numerics.md, docs/derivatives.md, docs/functions.md and docs/ir.md.

Nothing of Tessera takes part but the text of the graph (`tsr compile --emit graph`): inputs, orders, functions, conversions and
composites are written here from those pages. Exit code 1: an output, or a golden's key, is not what the golden says.
"""
import argparse
import fnmatch
import hashlib
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

import cases
import compute
import derive
import draw
import formats
import functions
import graph

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 1


def c_hex(value):
    """C's %a."""
    if value == 0 or value != value or abs(value) == float("inf"):
        return {"0.0": "0x0p+0", "-0.0": "-0x0p+0"}.get(str(float(value)), str(value).replace("Infinity", "inf"))
    mantissa, exponent = float(value).hex().split("p")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}{'.' + fraction if fraction else ''}p{exponent}"


def key_of(case, distributions, text):
    lines = ["tsr.golden/1", "numerics 1", "functions 1", f"seed {SEED}"]
    lines += [f"dim {name} {case.dims[name]}" for name in case.symbols if name in case.dims]
    lines += [f"type {name} {case.types[name]}" for name in case.symbols if name in case.types]
    lines += [f"input {kind} {c_hex(a)} {c_hex(b)}" for kind, a, b in distributions]
    plain = re.sub(r'"(check|print|more):\d+:', r'"\1:', text)  # without the lines of effects
    return hashlib.sha256(("\n".join(lines) + "\n" + plain).encode()).hexdigest()


def compute_case(tsr, source, case, sequences):
    """(key, [SHA-256 of each output]) of a case."""
    def emitted(*what):
        return subprocess.run([tsr, "compile", source, "--kernel", case.kernel, "--case", case.name, *what], check=True, capture_output=True,
                              text=True).stdout

    text = emitted("--emit", "graph")
    called = '"tessera.tiles"' in text  # docs/derivatives.md, Kernels of tiles
    kernel = graph.parse(emitted("--emit-after", "called-tiles") if called else text, case.dims)
    inputs, distributions = [], []
    for i, (parameter, (_, given)) in enumerate(zip(kernel.attributes["inputs"], kernel.arguments)):
        distributions.append(case.distribution_of(parameter, given.element))
        inputs.append((draw.tensor(distributions[-1], SEED, i, given.shape, given.element), given.element))
    machine = compute.Machine(sequences, kernel.attributes.get("math") == "correct")
    outputs = machine.run(derive.expand_kernel(kernel), inputs)
    return key_of(case, distributions, text), [hashlib.sha256(formats.to_bytes(v, t)).hexdigest() for v, t in outputs]


def main():
    parser = argparse.ArgumentParser(prog="ci/numerics", description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", default=str(ROOT / "corpus"))
    parser.add_argument("--tsr", default=str(ROOT / "build/tsr"))
    parser.add_argument("--filter", default="*", help="a pattern of KERNEL/CASE")
    parser.add_argument("--every", type=int, default=1, help="of the cases, each so many'th")
    parser.add_argument("--large", action="store_true", help="large cases, too: hours")
    parser.add_argument("--functions", default=str(ROOT / "docs/functions.md"), help="the page of the specified functions")
    given = parser.parse_args()
    sequences = functions.read_page(given.functions)
    np.seterr(all="ignore")
    checked, different, left_out, position = 0, 0, 0, 0
    for source in sorted(pathlib.Path(given.corpus).glob("**/*.tsr")):
        for case in cases.read(source):
            name = f"{case.kernel}/{case.name}"
            golden = ROOT / "golden" / source.parent.name / case.kernel / f"{case.name}.json"
            if not fnmatch.fnmatch(name, given.filter) or (case.large and not given.large) or not golden.exists():
                continue
            position += 1
            if position % given.every:
                continue
            wanted = json.loads(golden.read_text())
            try:
                key, digests = compute_case(given.tsr, source, case, sequences)
            except graph.HasBlocks:
                left_out += 1
                continue
            wrong = [o["name"] for o, digest in zip(wanted["outputs"], digests) if o["sha256"] != digest]
            wrong += ["the key"] if key != wanted["key"] else []
            checked += 1
            different += bool(wrong)
            if wrong:
                print(f"{name}: {', '.join(wrong)}: not the golden's", flush=True)
    print(f"{checked} cases computed a second time, {different} differ from their goldens; {left_out} with blocks left out")
    return 1 if different or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
