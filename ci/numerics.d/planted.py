"""planted.py TSR - wrong rules of derivatives are seen by the check of `tsr fuzz --derivatives`: that <J v, u> is <v, JT u>.

Its kernels run with the rules of rules.py, of which one at a time gives twice the last of its contributions. With none, all checks hold.
"""
import subprocess
import sys
import tempfile

import numpy as np

import compute
import derive
import draw
import functions
import graph
import rules
import run

KERNELS = 120
PLANTED = ["add", "sub", "mul", "div", "fma", "sin", "tanh", "logistic", "exp", "log", "sqrt", "broadcast", "reshape", "slice", "concat", "gather",
           "reduce", "dot", "softmax", "layernorm", "cumsum", "scatter"]
SHOWN = {"dot": "matmul"}  # of those that graphs of sources have as composites


def twice(rule):
    def wrong(b, op, t, wanted):
        out = rule(b, op, t, wanted)
        last = max(i for i, v in enumerate(out) if v)
        return [b.add(v, v) if i == last else v for i, v in enumerate(out)]
    return wrong


def kernels(tsr, count=KERNELS, seed=1):
    """The graphs of these kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/drawn.tsr"
        for number in range(count):
            source = subprocess.run([tsr, "fuzz", "--derivatives", "--seed", str(seed), "--show", str(number)], check=True, capture_output=True, text=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(source.stdout)
            yield subprocess.run([tsr, "compile", path, "--case", "only", "--emit", "graph"], check=True, capture_output=True, text=True).stdout


def first_check(kernel):
    """The kernel with what its first check, of the inner products, is made of."""
    end = kernel.operations[-1]
    wanted = {end.operands[kernel.attributes["outputs"].index("check0")]}
    operations = [graph.Operation(end.name, list(wanted), {}, [])]
    for op in reversed(kernel.operations[:-1]):
        if wanted & set(op.results):
            wanted |= set(op.operands)
            operations.insert(0, op)
    return type(kernel)(kernel.attributes, kernel.arguments, operations)


def holds(text, machine):
    kernel = first_check(graph.parse(text, {}))
    inputs = [(draw.tensor(("normal", 0, 1), run.SEED, i, t.shape, t.element), t.element) for i, (_, t) in enumerate(kernel.arguments)]
    outputs = machine.run(derive.expand_kernel(kernel), inputs)
    return bool(np.all(outputs[0][0]))


def main():
    np.seterr(all="ignore")
    machine = compute.Machine(functions.read_page(run.ROOT / "docs/functions.md"), False)
    texts = list(kernels(sys.argv[1]))
    wrong = [i for i, text in enumerate(texts[:20]) if not holds(text, machine)]
    seen = []
    for name in PLANTED:
        right = rules.REVERSE[name]
        rules.REVERSE[name] = twice(right)
        seen += [name] if any(not holds(text, machine) for text in texts if f'"tessera.{SHOWN.get(name, name)}"' in text) else []
        rules.REVERSE[name] = right
    print("".join(f"not seen: {name}\n" for name in PLANTED if name not in seen), end="")
    print(f"{len(seen)} of {len(PLANTED)} wrong rules are seen; without one, {len(wrong)} of 20 kernels fail")
    return 1 if wrong or len(seen) < len(PLANTED) else 0


if __name__ == "__main__":
    sys.exit(main())
