"""sources.py TSR: sources that nobody means, each in a file of its own. None ends the program by a signal or as a bug of it.

A row of SOURCES: a name; the exit code of `tsr bench`; where it says what is wrong, as line and identifier of a diagnostic
(REFUSED: there is none, and the case is an error with a reason; None: of the file); the source, as text or bytes;
the ways to run it, where there are more than one. `python3 sources.py TSR WORDS` runs only rows whose names have these words.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TSR = os.path.abspath(sys.argv[1])
ONLY = sys.argv[2] if len(sys.argv) > 2 else ""
REFUSED = "refused"
EVERY_WAY = [(), ("--generic",), ("--unoptimised",)]
# Under TSR_SHORT most long sources are run in one way, and the longest that is refused only as a whole has fewer statements.
SHORT = bool(os.environ.get("TSR_SHORT"))
MOST_WAYS, NORMS = (EVERY_WAY[:1], 1500) if SHORT else (EVERY_WAY, 9000)
BODY = 6  # the line of a kernel's first statement

SMALL, SQUARE = "x: Tensor[4, 6, f32]", "x: Tensor[4, 6, f32], w: Tensor[6, 6, f32]"
SAME = "Tensor[4, 6, f32]"


def kernel(body, parameters=SMALL, result=SAME, cases='case("a")', above=""):
    lines = body if isinstance(body, str) else "\n".join(body)
    return f"from tessera import *\n\n{above}@cases({cases})\n@kernel\ndef k({parameters}) -> {result}:\n" + \
        "".join(f"    {line}\n" for line in lines.split("\n"))


def returned(value, *args, **more):
    return kernel(f"return {value}", *args, **more)


def again(statement, times):
    return ["y = x"] + [statement] * times + ["return y"]


def tree(leaves):
    """A sum whose terms are added in pairs."""
    lines, names = [f"a{i} = x * {i}.5" for i in range(leaves)], [f"a{i}" for i in range(leaves)]
    while len(names) > 1:
        pairs = [(names[i], names[i + 1]) for i in range(0, len(names), 2)]
        names = [f"b{len(names)}_{i}" for i in range(len(pairs))]
        lines += [f"{name} = {a} + {b}" for name, (a, b) in zip(names, pairs)]
    return lines + [f"return {names[0]}"]


def with_case(words, parameters='x: Tensor["N", f32]', result='Tensor["N", f32]'):
    return returned("x + 1", parameters, result, f'case("a", {words})')


LAST, HALF = 2**63 - 1, 2**62
IMAGE, PIXEL = "x: Tensor[1, 5, 5, 3, f32], w: Tensor[2, 2, 3, 4, f32]", "Tensor[1, 1, 1, 4, f32]"
DENSE = '"tessera.dense"() <{value = dense_resource<k> : tensor<4xf32>}> : () -> tensor<4xf32>'


def formula(operation, behind):
    return f"""from tessera import *
@graph(\"\"\"
"builtin.module"() ({{
  "tessera.kernel"() <{{inputs = ["x", "y"], name = "f", outputs = ["y0"]}}> ({{
  ^bb0(%x: tensor<4xf32>, %y: tensor<3x4xf32>):
    %0 = {operation}
    "tessera.return"(%0) : (tensor<4xf32>) -> ()
  }}) : () -> ()
}}) : () -> ()
{behind}
\"\"\")
@kernel
def f(x: Tensor[4, f32], y: Tensor[3, 4, f32]) -> Tensor[4, f32]:
    ...
"""


DEEP = 5000
SYMBOLS = [[f"S{i}_{j}" for j in range(8)] for i in range(16)]

SOURCES = [
    # ---- numbers ----
    ("stride", 3, (BODY, "E0607"), returned(f"conv2d(x, w, stride={LAST}, padding=3)", IMAGE, PIXEL)),
    ("padding", 3, (BODY, "E0607"), returned(f"conv2d(x, w, padding={LAST})", IMAGE, PIXEL)),
    ("padding 2^62", 3, (BODY, "E0607"), returned(f"conv2d(x, w, padding={HALF})", IMAGE, PIXEL)),
    ("stride 2^31", 0, None, returned("conv2d(x, w, stride=2147483648)", IMAGE, PIXEL)),
    ("window stride", 3, (BODY, "E0607"), returned(f"window(x, axis=0, size=2, stride={LAST})", SMALL, "Tensor[1, 6, 2, f32]")),
    ("window size", 3, (BODY, "E0502"), returned(f"window(x, axis=0, size={LAST})", SMALL, "Tensor[1, 6, 2, f32]")),
    ("slice step", 3, (BODY, "E0607"), returned(f"x[:, 0:6:{LAST}]", SMALL, "Tensor[4, 1, f32]")),
    ("one of many columns", 0, None, returned("sum(x[0:1:2147483648], axis=0)", 'x: Tensor["N", "M", f32]',
                                              'Tensor["M", f32]', 'case("a", N=1, M=8)')),
    ("index", 3, (BODY, "E0507"), returned("x[:, -9223372036854775808]", SMALL, "Tensor[4, f32]")),
    ("axis", 3, (BODY, "E0504"), returned(f"softmax(x, axis={LAST})")),
    ("batch_dims", 3, (BODY, "E0607"), returned(f"take(x, i, axis=1, batch_dims={LAST})", SMALL + ", i: Tensor[4, i32]")),
    ("integer of 5000 digits", 3, (BODY, "E0110"), returned("x + 1" + "0" * 5000)),
    ("exponent", 3, (BODY, "E0413"), returned("x + 1e999999999999")),
    ("reshape", 3, (BODY, "E0502"), returned(f"reshape(x, ({HALF}, 4, 6))")),
    ("seed", 0, None, returned(f"cast(x, f16 @ stochastic_round({LAST}))", SMALL, "Tensor[4, 6, f16]")),
    ("loss_scale", 3, (BODY, "E0609"), returned(f"cast(x, f16 @ loss_scale({LAST}))")),
    ("eps nan", 0, None, returned("layernorm(x, g, g, eps=nan)", SMALL + ", g: Tensor[6, f32]")),
    ("least i64", 0, None, kernel(["y = x * 4611686018427387904 * 2", "return -y, abs(y), y / -1"], "x: Tensor[4, i64]",
                                  "tuple[Tensor[4, i64], Tensor[4, i64], Tensor[4, i64]]",
                                  'case("a", x=constant(1))')),
    ("constants that double", 3, (65, "E0417"), "from tessera import *\nA0 = 1\n" +
     "".join(f"A{i + 1} = A{i} + A{i}\n" for i in range(70)) + returned("x * A70")),
    ("schedule", 3, (3, "E0803"), returned("x + 1", above=f"@schedule(vector={LAST})\n")),
    ("schedule zero", 3, (3, "E0803"), returned("x + 1", above="@schedule(vector=0)\n")),

    # ---- sizes ----
    ("dimension", 3, (3, "E0707"), returned("x", f"x: Tensor[{LAST}, f32]", f"Tensor[{LAST}, f32]")),
    ("dimension 2^63", 3, (5, "E0404"), returned("x", f"x: Tensor[{LAST + 1}, f32]", f"Tensor[{LAST + 1}, f32]")),
    ("2^62 elements", 3, (3, "E0903"), returned("x", "x: Tensor[2147483648, 2147483648, f32]", "Tensor[2147483648, 2147483648, f32]")),
    ("case 2^63", 3, (3, "E0706"), with_case(f"N={LAST}")),
    ("case -1", 3, (3, "E0706"), with_case("N=-1")),
    ("case 2^31 twice", 3, (3, "E0903"), with_case("N=2147483648", 'x: Tensor["N", "N", f32]', 'Tensor["N", "N", f32]')),
    ("dimension of a symbol", 3, (3, "E0707"), with_case("N=2", f'x: Tensor["{LAST}*N", f32]', f'Tensor["{LAST}*N", f32]')),
    ("divided by zero", 3, (3, "E0707"), with_case("N=2", 'x: Tensor["N//0", f32]', 'Tensor["N//0", f32]')),
    ("broadcast", 3, (BODY, "E0903"), returned(f"broadcast_to(x, ({LAST}, 4, 6))", SMALL, f"Tensor[{LAST}, 4, 6, f32]")),
    ("arange", 3, (BODY, "E0903"), returned(f"arange({LAST})", SMALL, f"Tensor[{LAST}, i32]")),
    ("zeros", 3, (BODY, "E0903"), returned("zeros((4294967296, 4294967296), f32)", SMALL, "Tensor[4294967296, 4294967296, f32]")),
    ("broadcast in a case", 3, (BODY, "E0903"), returned("sum(broadcast_to(x[0, 0], (4 * N, N, N)))", 'x: Tensor["N", "N", f32]',
                                                  "Tensor[f32]", 'case("a", N=65536)')),
    ("product of ten symbols", 3, (5, "E0503"), with_case("N=3", 'x: Tensor["' + "*".join("N" * 10) + '", f32]', 'Tensor["N", f32]')),

    ("windows of 2^44", 3, (BODY, "E0903"), returned("sum(window(window(broadcast_to(x, (65599, 65599)), axis=0, size=64), axis=1, size=64))",
                                             "x: Tensor[1, 1, f32]", "Tensor[f32]")),
    ("a formula of 64 terms", 3, REFUSED, returned("conv2d(x, w)", 'x: Tensor[1, 9, 9, "G+H+I+R", f32], w: Tensor["A+B+C+P", "D+E+F+Q", '
                                                   '"G+H+I+R", "O", f32]', 'Tensor[1, "10-A-B-C-P", "10-D-E-F-Q", "O", f32]',
                                                   'case("a", A=1, B=1, C=1, D=1, E=1, F=1, G=1, H=1, I=1, P=1, Q=1, R=1, O=2)'), [("--generic",)]),
    ("30 halves of a symbol", 3, (BODY + 16, "E0503"), kernel(again("y = y[::2]", 30)[:-1] + ["return sum(y)"], 'x: Tensor["N", f32]',
                                                   "Tensor[f32]", 'case("a", N=70000)')),
    ("powers of a symbol", 3, (BODY + 4, "E0503"), kernel(["n = x.shape[0]"] + ["n = (n * n * n * n * n * n) // 2"] * 30 +
                                               ["return sum(x[0:n])"], 'x: Tensor["N", f32]', "Tensor[f32]", 'case("a", N=1)')),

    # ---- counts ----
    ("concat 300", 3, (BODY, "E0607"), returned("concat([" + ", ".join(["x"] * 300) + "])", SMALL, "Tensor[1200, 6, f32]")),
    ("concat 64", 0, None, returned("concat([" + ", ".join(["x"] * 64) + "])", SMALL, "Tensor[256, 6, f32]")),
    ("sum of 190", 0, None, returned(" + ".join(["x"] * 190))),
    ("5000 parameters", 3, (5, "E0905"), returned("x0", ", ".join(f"x{i}: Tensor[4, f32]" for i in range(5000)), "Tensor[4, f32]")),
    ("5000 results", 3, (5, "E0905"), returned("x, " * 5000, "x: Tensor[4, f32]", "tuple[" + "Tensor[4, f32], " * 5000 + "]")),
    ("9 axes", 3, (5, "E0902"), returned("x", "x: Tensor[" + "1, " * 9 + "f32]", "Tensor[" + "1, " * 9 + "f32]")),
    ("9 axes by None", 3, (BODY, "E0902"), returned("x[" + "None, " * 7 + "]")),
    ("128 symbols", 0, None, returned("x0", ", ".join(f"x{i}: Tensor[" + ", ".join(f'"{s}"' for s in row) + ", f32]"
                                                      for i, row in enumerate(SYMBOLS)),
                                      "Tensor[" + ", ".join(f'"{s}"' for s in SYMBOLS[0]) + ", f32]",
                                      'case("a", ' + ", ".join(f"{s}=1" for row in SYMBOLS for s in row) + ")")),
    ("20 kernels", 0, None, "from tessera import *\n" + "".join(
        f'@cases(case("a"))\n@kernel\ndef k{i}(x: Tensor[4, f32]) -> Tensor[4, f32]:\n    return x + {i}\n' for i in range(20))),
    ("two of a name", 3, (11, "E0309"), returned("x") + "\n\n" + returned("x").split("\n", 2)[2]),

    # ---- formulas as Graph IR ----
    *((f"{graph} without a text", 3, (2, "E0340"), f"from tessera import *\n{graph}\n@kernel\ndef f(x: Tensor[4, f32]) -> Tensor[4, f32]:\n    ...\n")
      for graph in ("@graph", "@graph()", "@graph(3)")),
    *((f"{what} in a formula", 3, (2, "E0340"), formula(operation, behind)) for what, operation, behind in (
        ("the compiler's own fold", """"tessera.fold"(%x, %y) <{carried = 1 : i64, turns = [0]}> ({
        ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
          "tessera.next"(%a) : (tensor<4xf32>) -> ()
        }) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32>""", ""),
        ("a constant that is nowhere", DENSE, ""),
        ("a constant of another length", DENSE, '{-# dialect_resources: { builtin: { k: "0x040000000000803F" } } #-}'),
        ("a constant without an end", DENSE, '{-# dialect_resources: { builtin: { k: "0x0400'),
        ("a constant of no hash", DENSE.replace("<k>", "<sha256_0>"),
         '{-# dialect_resources: { builtin: { sha256_0: "0x04000000' + "0000803F" * 4 + '" } } #-}'))),

    # ---- length: nothing calls itself for each statement ----
    ("3000 sums", 0, None, kernel(again("y = y + x", 3000)), EVERY_WAY),
    ("1000 functions", 0, None, kernel(again("y = exp(y)", 1000))),
    ("3000 squares", 0, None, kernel(again("y = y * y", 3000))),
    ("1000 transpositions", 0, None, kernel(again("y = y.T", 1000)), MOST_WAYS),
    ("3000 slices", 0, None, kernel(again("y = y[:, :]", 3000))),
    ("500 conversions", 0, None, kernel(again("y = cast(cast(y, f64), f32)", 500)), MOST_WAYS),
    ("a tree of 256", 0, None, kernel(tree(256)), MOST_WAYS),
    ("3000 counts", 0, None, kernel(["c = n"] + ["c = maximum(c, c)"] * 3000 + ["return dot(x, x, (1,), (1,), k_count=c)"],
                                    SMALL + ", n: Tensor[4, i32]", "Tensor[4, 4, f32]")),
    ("200 counts that double", 0, None, kernel(["c = arange(4)"] + ["c = c + c"] * 200 +
                                               ["return dot(x, x, (1,), (1,), k_count=c)"], SMALL, "Tensor[4, 4, f32]")),
    ("16 outputs of 190 statements each", 0, None, kernel(
        ["y0 = x - sum(x, axis=1, keepdims=True)"] +
        [line for i in range(1, 17) for line in [f"y{i} = y{i - 1} * x"] + [f"y{i} = y{i} + x"] * 189] +
        ["return " + ", ".join(f"y{i}" for i in range(1, 17))], SMALL, "tuple[" + ", ".join([SAME] * 16) + "]"), EVERY_WAY),
    ("2000 statements behind a reduction", 0, None, kernel(["y = x - sum(x, axis=1, keepdims=True)"] + ["y = y * x"] * 2000 +
                                                           ["return y"])),
    ("210000 statements", 3, (BODY + 200001, "E0904"), kernel(again("y = y + x", 210000))),
    (f"{NORMS} norms", 3, REFUSED, kernel(again("y = layernorm(y, g, g)", NORMS), SMALL + ", g: Tensor[6, f32]")),
    ("1000 contractions", 0, None, kernel(again("y = y @ w", 1000), SQUARE)),
    ("1000 reductions", 0, None, kernel(again("y = y + sum(y)", 1000))),
    ("1000 gathers", 0, None, kernel(again("y = take(y, i)", 1000), SMALL + ", i: Tensor[4, i32]")),
    ("300 joined one by one", 3, REFUSED, kernel(again("y = concat([y, x])", 300), SMALL, "Tensor[1204, 6, f32]")),

    # ---- depth ----
    ("minus", 3, (BODY, "E0901"), returned("-" * DEEP + "x")),
    ("parentheses", 3, (BODY, "E0901"), returned("(" * DEEP + "x" + ")" * DEEP)),
    ("calls", 3, (BODY, "E0901"), returned("exp(" * DEEP + "x" + ")" * DEEP)),
    ("subscripts", 3, (BODY, "E0901"), returned("x" + "[0]" * DEEP)),
    ("attributes", 3, (BODY, "E0901"), returned("x" + ".T" * DEEP)),
    ("not", 3, (BODY, "E0901"), returned("not " * DEEP + "x")),
    ("terms", 3, (BODY, "E0901"), returned(" + ".join(["x"] * DEEP))),
    ("lists", 3, (BODY, "E0901"), returned("concat(" + "[" * DEEP + "x" + "]" * DEEP + ")")),
    ("dimension in parentheses", 3, (5, "E0901"), returned("x", 'x: Tensor["' + "(" * DEEP + "N" + ")" * DEEP + '", f32]',
                                                'Tensor["N", f32]', 'case("a", N=3)')),
    ("open brackets", 3, (1, "E0106"), "(" * 100000),
    ("indentation", 3, (1, "E0205"), "\n".join(" " * i + "x" for i in range(2000))),

    # ---- bytes and names ----
    ("empty", 3, None, ""),
    ("newlines", 3, None, "\n" * 100000),
    ("NUL", 3, (BODY, "E0101"), returned("x\0 + 1")),
    ("escape", 3, (BODY, "E0101"), returned("x\x1b[31m")),
    ("latin-1 comment", 3, (BODY, "E0101"), returned("x # \u00e4").encode("latin-1")),
    ("latin-1 text", 3, (BODY, "E0101"), kernel(['"""\u00e4\u00ff"""', "return x"]).encode("latin-1")),
    ("cut UTF-8", 3, (BODY + 2, "E0101"), kernel(["y = x", "return y"]).encode() + b"# \xe2\x82"),
    ("unclosed text", 3, (BODY, "E0102"), kernel(['"""', "return x"])),
    ("kernel of 1000 letters", 3, (5, "E0906"), returned("x").replace("def k(", "def " + "k" * 1000 + "(")),
    ("name of 100000 letters", 0, None, kernel(["y" * 100000 + " = x + 1", "return " + "y" * 100000])),
    ("case of 1000 letters", 3, (3, "E0702"), returned("x", cases='case("' + "c" * 1000 + '")')),
    ("case with a slash", 3, (3, "E0702"), returned("x", cases='case("../../evil")')),
    ("more than 4 MiB", 3, None, "# " + "x" * (4 << 20)),
    ("unknown type", 3, (5, "E0401"), returned("x", "x: Tensor[4, f31]", "Tensor[4, f31]")),
    ("constants of each other", 3, (1, "E0301"), "A = B\nB = A\n" + returned("x * A")),
    ("infinite mean", 3, (3, "E0711"), returned("x", cases='case("a", x=normal(1e400, 1))')),
    ("empty range", 3, (3, "E0711"), returned("x", cases='case("a", x=integers(5, 5))')),
]


def bench(folder, name, *options):
    command = [TSR, "bench", name, "--quick", "--profile", "strict", "--backend", "cpu", "--json", "--db", "h.db", "--failures",
               "failed", *options]
    done = subprocess.run(command, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL, timeout=500)
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def write(folder, number, source):
    name = f"s{number}.tsr"
    (folder / name).write_bytes(source if isinstance(source, bytes) else source.encode())
    return name


def diagnosed(said, name, place):
    """Checks that there is this error on this line of the file, or one about it where there is no line."""
    found = re.findall(rf"^{re.escape(name)}:(\d+):\d+: error\[(E\d+)\]: ", said, re.M)
    good = (str(place[0]), place[1]) in found if isinstance(place, tuple) else name in said
    return None if good else f"no error {place}, but {found}"


def results_wrong(results, wanted):
    other = [r["why"] for r in results if r["status"] != wanted or (wanted == "error" and not r["why"])]
    return f"not {wanted}: {other}" if other or not results else None


def alone(folder, row):
    """A row whose file is refused as a whole."""
    number, _, code, place, source = row[:5]
    name = write(folder, number, source)
    got, _, said = bench(folder, name)
    yield row, "", diagnosed(said, name, place) if got == code else f"exit {got}, not {code}: {said[-300:]}"


def together(folder, rows):
    """Rows that are refused when they are read: a folder of them, each file for itself."""
    (folder / "refused").mkdir()
    names = [write(folder / "refused", row[0], row[4]) for row in rows]
    got, _, said = bench(folder, "refused")
    for row, name in zip(rows, names):
        why = diagnosed(said, f"refused/{name}", row[3])
        yield row, "", why or (None if got == 3 else f"exit {got}, not 3: {said[-300:]}")


def run_together(folder, rows, code, options):
    """Rows that have results, all of them ok or all of them errors: a folder of them, whose kernels have names of their own."""
    place = folder / "-".join(["run", str(code), *options])
    place.mkdir()
    names = [write(place, row[0], row[4].replace("def k", f"def s{row[0]}_k")) for row in rows]
    got, outcome, said = bench(folder, place.name, *options)
    results = json.loads(outcome or '{"results": []}')["results"]
    for row, name in zip(rows, names):
        own = [r for r in results if pathlib.Path(r["source"]["path"]).name == name]
        why = results_wrong(own, "error" if code else "ok")
        yield row, " ".join(options), why or (None if got == code else f"exit {got}, not {code}: {said[-300:]}")


def all_rows(folder, rows):
    read_only = [row for row in rows if isinstance(row[3], tuple)]
    if read_only:
        yield from together(folder, read_only)
    run = [row for row in rows if row[3] == REFUSED or row[2] == 0]
    for code in 0, 3:
        for options in EVERY_WAY:
            these = [row for row in run if row[2] == code and options in (row[5] if len(row) > 5 else [()])]
            if these:
                yield from run_together(folder, these, code, options)
    for row in rows:
        if row not in read_only and row not in run:
            yield from alone(folder, row)


def main():
    rows = [(number, *row) for number, row in enumerate(SOURCES) if ONLY in row[0]]
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(TSR_CACHE=os.path.join(place, "cache"), LC_ALL="C")
        told = [(row[1], options, why) for row, options, why in all_rows(pathlib.Path(place), rows)]
    for name, options, why in told:
        print(f"{'NOT OK' if why else 'ok'} - {name} {options}" + (f": {why}" if why else ""))
    failures = sum(why is not None for _, _, why in told)
    print(f"{len(rows)} sources, {failures} failures")
    return 1 if failures or not rows else 0


sys.exit(main())
