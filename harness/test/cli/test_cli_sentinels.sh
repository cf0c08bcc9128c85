# test_cli_sentinels.sh - --sentinels: the operation that first made a NaN or an infinity is named, with its line, its element, what it
# read and its turn; what came in with an input is told apart, and what no output shows is no matter.
source "$(dirname "$0")/lib.sh"

cat >kernels.tsr <<'END'
from tessera import *


@cases(case("hot", M=4, x=constant(200)), case("usual", M=4, x=constant(1)))
@kernel
def weights(x: Tensor["M", f32]) -> Tensor["M", f32]:
    e = exp(x)
    return e / sum(e)


@cases(case("grows", N=6, M=3, x=constant(1e6)))
@kernel
def powers(x: Tensor["M", f32], turns: Tensor["N", f32]) -> Tensor["M", f32]:
    y = x
    for i in range(N):
        y = y * x
    return y + sum(turns)


@cases(case("masked", M=4, x=constant(1)))
@kernel
def masked(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return where(iota((M,), axis=0) > 1, x, -inf)


@cases(case("given", M=100, x=special()))
@kernel
def half(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x * 0.5


@cases(case("negative", M=4, x=constant(-1)))
@kernel
def left(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return where(x > 0, sqrt(x), 0)


def length(x):
    return sum(sqrt(x * x))


@cases(case("origin", M=4, x=constant(0)))
@kernel
def slope(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return grad(length)(x)
END
exits 1 "what is made is a failure" "$tsr" bench kernels.tsr --backend interp,cpu --quick --db r.db --failures packs --sentinels --json
cp out bench.json
python3 - >found <<'END'
import json
for r in json.load(open("out"))["results"]:
    s = r["check"]["sentinels"]
    print(r["kernel"], r["case"], r["backend"], r["status"], s["origin"], s.get("operation"), s.get("line"), s.get("index"), s.get("input"),
          [o["low"] for o in s.get("operands", [])], [(t["line"], t["turn"]) for t in s.get("turns", [])], r["why"])
END
while read -r pattern; do
    has found "^$pattern" "$pattern"
done <<'END'
weights hot interp mismatch operation tessera.exp 7 \[0\] None \[200\.0\] \[\] sentinels: output .*\[0\] is nan: 'tessera.exp' in line 7
weights hot cpu mismatch operation tessera.exp 7 \[0\] None \[200\.0\] \[\] sentinels: output
weights usual cpu ok none None None
half given cpu ok input None None \[[0-9]+\] x
powers grows cpu mismatch operation tessera.mul 16 \[0\] None \[.*\] \[\(15, 5\)\] sentinels: .* in turn 5 of the loop in line 15
masked masked cpu ok constant tessera.constant 23
left negative cpu ok none
slope origin cpu mismatch operation tessera.div 39 \[0\] None \[1\.0, 0\.0\] \[\] sentinels: output .*\[0\] is nan: 'tessera.div' in line 39, in the derivative of 'tessera.sqrt', made inf
END
exits 0 "whose derivative it is part of" python3 -c "
import json
of = {r['kernel']: r['check']['sentinels'].get('derivative_of') for r in json.load(open('bench.json'))['results']}
assert of['slope'] == 'tessera.sqrt' and of['weights'] is None, of"

named="^sentinels output .* 'tessera.exp' in line 7"

# The pack asks for it again; one that did not ask is told, and no other verdict comes of it.
exits 0 "a pack of a failure" "$tsr" replay "$(ls packs/weights-hot-* | head -1)"
has out "^REPRODUCED_EXACT" "happens again"
has out "$named" "with its operation"
exits 0 "a case without the option" "$tsr" bench kernels.tsr --filter weights/hot --backend cpu --quick --db r.db
exits 0 "is packed" "$tsr" pack-repro last:weights/hot@cpu --db r.db --failures held
exits 0 "and replayed" "$tsr" replay held/weights-hot-*
hasnt out "sentinels" "with no more than it recorded"
exits 0 "until it is asked" "$tsr" replay --sentinels held/weights-hot-*
has out "^REPRODUCED_EXACT" "with the verdict of before"
has out "$named" "what made it so"

# A NaN that the code alone has.
exits 1 "wrong code" "$tsr" bench kernels.tsr --filter weights/usual --backend cpu --quick --db r.db --inject nan --sentinels
has out "not finite: output .* is nan: no operation made it" "is told from a wrong formula"

# Arrays of one's own.
python3 - <<'END'
import struct
for name, values in (("hot", [1, 200, 1]), ("broken", [1, float("nan"), 1]), ("usual", [1, 1, 1])):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
    head += " " * ((64 - (11 + len(head)) % 64) % 64) + "\n"
    open(name + ".npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<3f", *values))
END
exits 1 "an overflow" "$tsr" run kernels.tsr --kernel weights --in hot.npy --out . --sentinels
has err "'tessera.exp' in line 7 made inf at \[1\] of 200" "is named"
exits 0 "an input" "$tsr" run kernels.tsr --kernel weights --in broken.npy --out . --sentinels
has err "came in with input x\[1\]" "is told"
exits 0 "finite arrays" "$tsr" run kernels.tsr --kernel weights --in usual.npy --out . --sentinels
hasnt err "sentinels" "are no matter"
finish
