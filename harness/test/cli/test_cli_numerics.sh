# test_cli_numerics.sh - @verify.numerics: results that break a promise are a mismatch of their own, with the first element; no golden is
# recorded of them, and tsr check finds them on shapes that are drawn. @same_as: results are held to another kernel's formula, too.
source "$(dirname "$0")/lib.sh"

cat >kernels.tsr <<'END'
from tessera import *

LIMIT = 1


@verify.numerics(stable=True, bounded=[-LIMIT, 1])
@cases(case("a", M=100), case("wide", M=100, x=normal(0, 1000)))
@kernel
def kept(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return tanh(x)


@verify.numerics(bounded=[-1, 1.5])
@cases(case("a", M=100))
@kernel
def beyond(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 2.0


@verify.numerics(bounded=[-1000, 1000])
@cases(case("a", M=100, x=special()))
@kernel
def no_number(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 0.0


@verify.numerics(stable=True)
@cases(case("small", M=100), case("great", M=100, x=constant(200)))
@kernel
def overflows(x: Tensor["M", f32]) -> Tensor["M", f32]:
    e = exp(x)
    return e / sum(e)


@verify.numerics(stable=True)
@cases(case("special", M=100, x=special()))
@kernel
def as_infinite_as_f64(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 0.5


@verify.numerics(stable=True)
@cases(case("usual", M=2), case("great", M=2, x=constant(1e30)))
@kernel
def unit(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x / maximum(sqrt(sum(x * x)), 1e-12)


@verify.numerics(stable=True)
@cases(case("great", M=4, x=constant(3e38)))
@kernel
def average(x: Tensor["M", f32]) -> Tensor[f32]:
    return 1.0 / mean(x)


@verify.numerics(stable=True)
@cases(case("hot", M=4, x=constant(200.0)), case("cold", M=4, x=constant(-200.0)))
@kernel
def gate(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return 1.0 / (exp(x) * exp(x))


@verify.numerics(stable=True)
@cases(case("great", M=2, N=8, x=normal(0, 1e30), g=ones(), b=zeros()), case("usual", M=2, N=8))
@kernel
def normalised(x: Tensor["M", "N", f32], g: Tensor["N", f32], b: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    return layernorm(x, g, b)


@cases(case("a", M=100))
@kernel
def says_nothing(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x


@cases(case("a", M=37, N=129, x=uniform(0.5, 1)))
@kernel
def shares(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return x / sum(x, axis=1, keepdims=True)


@same_as("shares")
@kernel.autotune(space=dict(BM=[16], BN=[64]))
@cases(case("a", M=37, N=129, x=uniform(0.5, 1)), case("narrow", M=37, N=50, x=uniform(0.5, 1)))
@kernel
def shares_of_blocks(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    a = tile.load(x, T.rows, T.cols)
    return a / sum(a, axis=1, keepdims=True)


@same_as("shares")
@kernel.autotune(space=dict(BM=[16]))
@cases(case("a", M=37, N=129, x=uniform(0.5, 1)))
@kernel
def shares_of_rows(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    a = tile.load(x, tile.context().rows)
    return a / sum(a, axis=1, keepdims=True)


@same_as("shares")
@kernel.autotune(space=dict(BM=[16], BN=[64], BK=[32]))
@cases(case("a", M=37, N=129, x=uniform(0.5, 1)))
@kernel
def shares_in_turns(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    s = tile.zeros((T.m, 1), f32)
    for k in tile.range(N, T.k):
        s += sum(tile.load(x, T.rows, k), axis=1, keepdims=True)
    return tile.load(x, T.rows, T.cols) / s


@same_as("shares")
@cases(case("a", M=37, N=129, x=uniform(0.5, 1)))
@kernel
def products(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return x * (1.0 / sum(x, axis=1, keepdims=True))
END
cat >functions.tsr <<'END'
from tessera import *

TOP = 6


@verify.numerics(bounded=[0, TOP], stable=True)
def clamped(x):
    return minimum(maximum(x, 0.0), 6.0)


@verify.numerics(bounded=[0, 1])
def shares(x):
    e = exp(x - max(x))
    return e / sum(e)


@verify.numerics(stable=True)
def unit(x):
    return x / sqrt(sum(x * x))


@cases(case("usual", M=10), case("great", M=10, x=constant(1e30)))
@kernel
def layer(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return unit(shares(clamped(x)) + x)


@cases(case("a", M=5, N=4))
@kernel
def turns(x: Tensor["M", f32], y: Tensor["N", f32]) -> Tensor["M", f32]:
    for i in range(N):
        x = clamped(x) + shares(x)
    return x


@verify.numerics(bounded=[-100, 100])
def grown(x):
    return x * 3.0


@cases(case("few", M=5, N=2), case("many", M=5, N=9))
@kernel
def grows(x: Tensor["M", f32], y: Tensor["N", f32]) -> Tensor["M", f32]:
    for i in range(N):
        x = grown(x)
    return x


@cases(case("a", M=5))
@kernel
def sides(x: Tensor["M", f32]) -> Tensor["M", f32]:
    if max(x) > 0.0:
        x = shares(x)
    return x
END
cat >turns.tsr <<'END'
from tessera import *


@verify.numerics(bounded=[-100, 100])
def grown(x):
    return x * 3.0


@verify.numerics(bounded=[-100, 100])
def greater(a, b):
    return maximum(a, b)


def added(carry, y):
    return carry + grown(y), None


@cases(case("a", x=constant(1.0)), case("other", x=constant(-1.0)), case("most", x=constant(50.0)))
@kernel
def side(x: Tensor[5, f32]) -> Tensor[5, f32]:
    if max(x) > 0.0:
        x = grown(x)
    else:
        x = x * 2.0
    return x


@cases(case("few", N=3, K=2, x=constant(1.0)), case("many", N=7, K=2, x=constant(1.0)))
@kernel
def nested(x: Tensor[5, f32], y: Tensor["N", f32], z: Tensor["K", f32]) -> Tensor[5, f32]:
    for i in range(N):
        for j in range(K):
            if max(x) < 50.0:
                x = grown(x) * 0.5
    return x


@cases(case("few", limit=constant(20.0)), case("many", limit=constant(300.0)), case("none", limit=constant(0.0)))
@kernel
def until(x: Tensor[5, f32], limit: Tensor[f32]) -> Tensor[5, f32]:
    n = 1.0
    while bounded(n < limit, 20):
        x = grown(x * 0.0 + n)
        n = n * 3.0
    return x


@cases(case("a", N=4), case("far", N=4, y=constant(50.0)))
@kernel
def scanned(x: Tensor[5, f32], y: Tensor["N", f32]) -> Tensor[5, f32]:
    last, nothing = scan(added, x, y)
    return last


@cases(case("a"))
@kernel
def greatest(x: Tensor[5, f32]) -> Tensor[f32]:
    return reduce(greater, x, -inf)


@cases(case("usual", M=512, x=constant(0.01), large=True), case("great", M=512, large=True))
@kernel
def wide(x: Tensor["M", 2048, f32], y: Tensor[2048, "M", f32]) -> Tensor["M", "M", f32]:
    return grown(x @ y)


@cases(case("a", N=4, large=True))
@kernel
def wide_turns(x: Tensor[5, f32], y: Tensor["N", f32]) -> Tensor[5, f32]:
    for i in range(N):
        x = grown(x)
    return x


@cases(case("a"))
@kernel
def endless(x: Tensor[5, f32]) -> Tensor[5, f32]:
    n = 1.0
    while bounded(n < 20.0, 200000000):
        x = grown(x * 0.0 + n)
        n = n * 3.0
    return x
END
exits 1 "promises are held to" "$tsr" bench kernels.tsr --backend interp,cpu --profile strict,fast --quick --db r.db --failures packs --json
python3 - >found <<'END'
import json
for r in json.load(open("out"))["results"]:
    print(r["kernel"], r["case"], r["backend"], r["profile"], r["status"], r["check"].get("numerics"), r["why"])
END
while read -r pattern; do
    has found "^$pattern" "$pattern"
done <<'END'
kept a interp [a-z]+ ok holds
kept wide cpu [a-z]+ ok holds
beyond a interp [a-z]+ mismatch violated verify.numerics: output out\[2\] is 2.00800157
beyond a cpu [a-z]+ mismatch violated verify.numerics: output out\[2\] is 2.00800157
no_number a cpu [a-z]+ mismatch violated verify.numerics: output out.* is nan
overflows small cpu [a-z]+ ok holds
overflows great interp [a-z]+ mismatch violated verify.numerics: output out\[0\] is nan
overflows great cpu [a-z]+ mismatch violated verify.numerics: output out\[0\] is nan
as_infinite_as_f64 special cpu [a-z]+ ok holds
unit usual cpu [a-z]+ ok holds
unit great interp [a-z]+ mismatch violated verify.numerics: on the way 'tessera.mul' in line [0-9]+ gives inf .*; 2 of 2
unit great cpu [a-z]+ mismatch violated verify.numerics: on the way
average great cpu [a-z]+ mismatch violated verify.numerics: on the way
gate hot cpu [a-z]+ mismatch violated verify.numerics: on the way
normalised great cpu [a-z]+ mismatch violated verify.numerics: on the way
normalised usual cpu [a-z]+ ok holds
says_nothing a cpu [a-z]+ ok None
shares_of_blocks a interp strict mismatch .* same_as shares: output out\[0, 0\]
shares_of_blocks a cpu strict mismatch .* same_as shares: output out\[0, 0\]
shares_of_blocks a cpu fast mismatch .* same_as shares: output out\[0, 0\]
shares_of_blocks narrow cpu strict ok
shares_of_rows a cpu strict ok
shares_in_turns a cpu strict ok
shares_in_turns a cpu fast ok
products a interp strict mismatch .* same_as shares: .* differ
products a cpu fast ok
END
hasnt found "beyond a .* (ok|holds)" "what is broken holds nowhere"

# Promises of functions that kernels call are proved for any finite floats, else they are tried on what the call reads.
exits 1 "functions keep theirs, too" "$tsr" bench functions.tsr --backend interp,cpu --quick --db r.db --failures packs --json
has err "^promises  clamped in line 25 proved \(4\), shares in line 25 tested \(4\)" "and the run says by what"
promises() {
    python3 - >found <<'END'
import json
for r in json.load(open("out"))["results"]:
    for p in r["check"]["promises"]:
        print(r["kernel"], r["case"], r["backend"], r["status"], r["check"].get("numerics"), p["function"], p["line"], p["by"], p["holds"], r["why"])
END
}
promises
while read -r pattern; do
    has found "^$pattern" "$pattern"
done <<'END'
layer usual cpu ok None clamped 25 proof True
layer usual cpu ok None shares 25 test True
layer usual interp ok None unit 25 test True
layer great cpu mismatch violated clamped 25 proof True
layer great cpu mismatch violated unit 25 test False verify.numerics: 'unit', called in line 25, .*tessera.mul
turns a cpu ok None clamped 32 proof True
turns a cpu ok None shares 32 test True
grows few cpu ok None grown 45 test True
grows many cpu mismatch violated grown 45 test False verify.numerics: 'grown', called in line 45, in turn \[8\] gives
sides a cpu ok None shares 53 test True
END

# In a branch or a loop, the worst turn of those in which the call happens.
exits 1 "functions in branches and loops do" "$tsr" bench turns.tsr --backend interp --db r.db --failures packs --json
promises
while read -r pattern; do
    has found "^$pattern$" "$pattern"
done <<'END'
side a interp ok None grown 22 test True .*
side other interp ok None grown 22 none None .*
side most interp mismatch violated grown 22 test False .* line 22, gives 150, outside .*
nested few interp ok None grown 34 test True .*
nested many interp mismatch violated grown 34 test False .* line 34, in turn \[4, 1\] gives 115[.].*
until few interp ok None grown 43 test True .*
until many interp mismatch violated grown 43 test False .* line 43, in turn \[5\] gives 729, outside .*
until none interp ok None grown 43 none None .*
scanned a interp ok None grown 15 test True .*
scanned far interp mismatch violated grown 15 test False .* line 15, in turn \[0\] gives 150, outside .*
greatest a interp ok None greater 58 none None .*
wide usual interp ok None grown 64 test True .*
wide great interp mismatch violated grown 64 test False .* line 64, gives .* of 262144 are
wide_turns a interp ok None grown 71 none None .*
endless a interp ok None grown 80 none None .*
END

exits 1 "goldens" "$tsr" golden record kernels.tsr --golden golden
for kernel in kept beyond overflows unit; do
    ls golden/"$kernel" golden/*/"$kernel" 2>/dev/null
done >recorded
has recorded "^wide.json" "of what holds are recorded"
hasnt recorded "great.json" "of what does not are not"
hasnt recorded "shares_of_blocks" "nor of what is not the same as another kernel"

# On arrays of one's own, which are the first shape.
python3 - <<'END'
import struct
for name, value in (("great", 200), ("small", 1)):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<6f", *[value] * 6))
END
cat >own.tsr <<'END'
from tessera import *


@verify.numerics(stable=True)
@kernel
def overflows(x: Tensor["M", f32]) -> Tensor["M", f32]:
    e = exp(x)
    return e / sum(e)
END
exits 0 "inputs that keep a promise" "$tsr" check own.tsr --relation numerics --inputs x=small.npy
has out "numerics +holds .[0-9]+ runs on [2-9][0-9]* shapes, " "are tried beside shapes that are drawn"
exits 1 "inputs that break it" "$tsr" check own.tsr --relation numerics --inputs x=great.npy --failures own_packs
has out "with M=6, on the inputs of --inputs" "are told"
rm great.npy
exits 0 "a pack of them" "$tsr" replay own_packs/*
has out "^REPRODUCED_EXACT" "holds them"
exits 2 "a tree of them" "$tsr" check own.tsr --trees --inputs x=small.npy

# The right results are in the pack, beside what was meant.
pack=$(ls packs/shares_of_blocks-a-* | head -1)
exits 0 "a pack of another meaning" "$tsr" replay "$pack"
has out "^now +mismatch: same_as shares: " "fails again"
python3 - "$pack" >out 2>err <<'END' && pass "expects what the named kernel gives" || fail "expects what the named kernel gives"
import struct, subprocess, sys
def first(name):
    data = subprocess.run(["bsdtar", "-xOf", sys.argv[1], name], capture_output=True, check=True).stdout
    return struct.unpack_from("<f", data, 10 + struct.unpack("<H", data[8:10])[0])[0]
assert first("actual/out.npy") > 1.5 * first("expected/out.npy") > 0
END

exits 1 "a gate of two that compute it" "$tsr" gate kernels.tsr --filter shares_of_blocks/a --with kernels.tsr:shares_of_rows=shares_of_blocks \
    --against kernels.tsr:shares_of_blocks --mde 50 --margin 20 --db r.db
has out "FAILED: mismatch" "holds them to the named kernel"
exits 5 "under strict" "$tsr" gate kernels.tsr --filter shares_of_blocks/a --with kernels.tsr:shares_of_rows=shares_of_blocks \
    --against kernels.tsr:shares_of_blocks --profile strict --mde 50 --margin 20 --db r.db
has out "cannot be prepared: same_as shares: " "nothing says what is right"

exits 1 "shapes that are drawn" "$tsr" check kernels.tsr --relation numerics --failures packs
has out "^kept" "are tried"
has out "numerics +holds" "where a promise is kept"
has out "numerics +violated" "and where it is broken"
has out "between the result and the upper bound, 1.5" "which is told"
has out "numerics +not verified: the kernel has no @verify.numerics" "and where there is none"
exits 1 "what overflows on the way to 0" "$tsr" check kernels.tsr --relation numerics --filter average --failures packs
has out "on the way 'tessera.reduce' in line [0-9]+ gives inf" "is told, too"
finish
