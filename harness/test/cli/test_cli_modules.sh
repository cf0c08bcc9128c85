# test_cli_modules.sh - modules with images of several levels: which is taken, equal bits, and what is refused.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
if ! $python -c 'import numpy' 2>/dev/null; then
    echo "skipped: no NumPy (package python3-numpy)"
    exit 77
fi
mapfile -t levels < <("$tsr" devices | awk '$2 == "yes" {print $1}' | tac)
if [ ${#levels[@]} -lt 2 ]; then
    echo "skipped: this machine runs ${#levels[@]} ISA levels"
    exit 77
fi
best=${levels[-1]}
lower=${levels[-2]}
all=$(IFS=, && echo "${levels[*]}")

# Dimensions that no vector divides; a matmul packs and has phases that differ from level to level.
$python - <<'END'
import numpy as np
rng = np.random.default_rng(7)
def save(name, *shape):
    np.save(name + ".npy", rng.standard_normal(shape).astype(np.float32))
save("softmax_x", 13, 127); save("matmul_x", 130, 67); save("matmul_y", 67, 95); save("short", 13, 126)
np.save("double.npy", np.zeros((13, 127)))
END
cat >kernels.tsr <<'END'
@cases(case("odd", M=13, N=127))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x, axis=-1)


@cases(case("odd", M=130, K=67, N=95))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return gelu(x @ y)
END
run() { # LEVEL MODULE OUT INPUT...
    local level=$1 module=$2 out=$3
    shift 3
    TESSERA_ISA=$level "$tsr" run "$module" --threads 2 --out "$out" "$@"
}
for kernel in rows product; do
    inputs=(--in x=softmax_x.npy)
    [ $kernel = product ] && inputs=(--in x=matmul_x.npy --in y=matmul_y.npy)
    exits 0 "$kernel: one module for $all" "$tsr" compile kernels.tsr --kernel $kernel --isa "$all" --emit module \
        -o $kernel.tsrm --threads 2
    exits 0 "the interpreter" "$tsr" run kernels.tsr --kernel $kernel --backend interp "${inputs[@]}" --out $kernel.interp
    for level in "${levels[@]}"; do
        exits 0 "run under the limit $level" run "$level" $kernel.tsrm "$kernel.$level" "${inputs[@]}"
        has err "the image for ${level/+/\\+}\$" "takes that image"
        exits 0 "has the interpreter's bits" diff -r $kernel.interp "$kernel.$level"
    done
    exits 0 "run without a limit" run "" $kernel.tsrm "$kernel.best" "${inputs[@]}"
    has err "the image for ${best/+/\\+}\$" "takes the best image"
done
exits 0 "the same module again" "$tsr" compile kernels.tsr --kernel product --isa "$all" --emit module -o again.tsrm \
    --threads 2
same product.tsrm again.tsrm "is the same bytes"

exits 0 "a module for $best alone" "$tsr" compile kernels.tsr --kernel rows --isa "$best" --emit module -o one.tsrm
exits 4 "below its level" run "$lower" one.tsrm o --in x=softmax_x.npy
has err "no image of 'rows' fits this device \\(${lower//+/\\+}, the limit of TESSERA_ISA\\); the module has [^ ]*/${best//+/\\+}" "is told"
exits 4 "a limit that is no level" run x86-64-v9 one.tsrm o --in x=softmax_x.npy
has err "TESSERA_ISA=x86-64-v9" "is told"
exits 4 "bench above the limit" env TESSERA_ISA="$lower" "$tsr" bench kernels.tsr --quick --isa "$best"
has err "${best//+/\\+} .*TESSERA_ISA=${lower//+/\\+}" "is told"
exits 2 "several levels elsewhere" "$tsr" compile kernels.tsr --kernel rows --isa "$all" --emit asm
exits 2 "several levels to bench" "$tsr" bench kernels.tsr --quick --isa "$all"
exits 3 "a level twice" "$tsr" compile kernels.tsr --kernel rows --isa "$best,$best" --emit module -o o.tsrm
has err "the level '${best//+/\\+}' is given twice" "is told"
exits 2 "a level that nobody knows" "$tsr" compile kernels.tsr --kernel rows --isa "$best,x86-64-v5" --emit module -o o.tsrm

# Code for another architecture is made here, and does not run.
case $(uname -m) in
x86_64) foreign=aarch64-neon ;;
*) foreign=x86-64-v3 ;;
esac
exits 0 "a module for $foreign" "$tsr" compile kernels.tsr --kernel rows --isa $foreign --emit module -o foreign.tsrm
exits 4 "which does not run here" run "" foreign.tsrm o --in x=softmax_x.npy
has err "no image of 'rows' fits this device .*; the module has [^ ]*/$foreign" "is told"
exits 4 "bench for $foreign" "$tsr" bench kernels.tsr --quick --isa $foreign
has err "'$foreign'" "is told"
exits 0 "a module for both" "$tsr" compile kernels.tsr --kernel rows --isa "$foreign,$lower" --emit module -o both.tsrm
exits 0 "runs" run "" both.tsrm both --in x=softmax_x.npy
exits 0 "with the interpreter's bits" diff -r rows.interp both

exits 3 "an array of another shape" run "" rows.tsrm o --in x=short.npy
has err " x .*\[13, 127\].*\[13, 126\]" "is told"
exits 3 "an array of another type" run "" rows.tsrm o --in x=double.npy
exits 3 "an array that is missing" run "" product.tsrm o --in x=matmul_x.npy
exits 3 "an input that is not there" run "" rows.tsrm o --in z=softmax_x.npy
exits 2 "an option of the compiler" "$tsr" run rows.tsrm --in x=softmax_x.npy --isa "$best"

# Any dimensions: one module for shapes that no vector or block divides, and code of its own for two of them.
cat >any.tsr <<'END'
@cases(case("odd", M=13, N=127), case("even", M=16, N=128))
@kernel
def norm(x: Tensor["M", "N", f32], g: Tensor["N", f32], b: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    return layernorm(x, g, b)


@cases(case("one", H=2, S=9, D=10, T=f32), case("half", H=2, S=9, D=10, T=f16))
@kernel
def heads(q: Tensor["H", "S", "D", "T"], k: Tensor["H", "2*S", "D", "T"], v: Tensor["H", "2*S", "D", "T"]) -> Tensor[
    "H", "S", "D", "T"
]:
    return attention(q, k, v, causal=True)


@cases(case("one", N=11, M=4))
@kernel
def middles(x: Tensor["N", f32], z: Tensor["M", f32], y: Tensor["(N - M) // 2 + M", f32]) -> Tensor[
    "(N - M) // 2 + M", f32
]:
    return y * 2


@cases(case("one", M=6, N=2))
@kernel
def shares(x: Tensor["M", "N", f32], y: Tensor["M // N", f32]) -> Tensor["M // N", f32]:
    return exp(y)


@cases(case("one", M=3, N=70))
@kernel
def first(x: Tensor["M", "N", f32]) -> Tensor["M", 64, f32]:
    return x[:, :64]


@cases(case("one", N=7, K=3))
@kernel
def put(x: Tensor["N", f32], part: Tensor["K", f32], at: Tensor[i32]) -> Tensor["N", f32]:
    return dynamic_update(x, part, at)


@cases(case("one", M=3, N=70))
@kernel
def woven(x: Tensor["M", "N", f32]) -> Tensor["M", "N", 2, f32]:
    return concat([x[:, :, None], -x[:, :, None]], axis=2)
END
$python - <<'END'
import numpy as np
rng = np.random.default_rng(3)
for i, (m, n) in enumerate([(13, 127), (16, 128), (1, 1), (3, 0), (0, 5), (7, 4097), (2, 12345), (130, 64)]):
    np.save(f"x{i}.npy", rng.standard_normal((m, n)).astype(np.float32))
    np.save(f"g{i}.npy", rng.standard_normal(n).astype(np.float32))
for i, (h, s, d) in enumerate([(2, 9, 10), (1, 1, 1), (3, 130, 17), (1, 300, 64)]):
    for name, rows in ("q", s), ("k", 2 * s), ("v", 2 * s):
        np.save(f"{name}{i}.npy", rng.standard_normal((h, rows, d)).astype(np.float32))
END
exits 0 "a module for any dimensions" "$tsr" compile any.tsr --kernel norm --generic --specialize odd --specialize M=16,N=128 \
    --isa "$all" --emit module -o norm.tsrm
for level in "$lower" "$best"; do
    for i in 0 1 2 3 4 5 6 7; do
        inputs=(--in x=x$i.npy --in g=g$i.npy --in b=g$i.npy)
        exits 0 "$level, shape $i" run "$level" norm.tsrm any "${inputs[@]}"
        exits 0 "the interpreter" "$tsr" run any.tsr --kernel norm --backend interp "${inputs[@]}" --out interp
        exits 0 "has the same bits" diff -r any interp
    done
done
exits 0 "images for chips beside it" "$tsr" compile any.tsr --kernel norm --generic --specialize odd --isa "$lower,sm_80,gfx942" --emit module -o chips.tsrm
exits 0 "their metadata" "$tsr" compile chips.tsrm --emit metadata
cp out chips.json
exits 0 "have grids of any dimensions, and of odd's" /usr/bin/python3 -c '
import json
images = json.load(open("chips.json"))["images"]
assert [(i["isa"], "when" in i) for i in images if i["isa"] in ("sm_80", "gfx942")] == [
    ("sm_80", False), ("sm_80", True), ("gfx942", False), ("gfx942", True)], images
for i in images:
    assert all(isinstance(p["grid"], int if "when" in i else str) for p in i["phases"]), i'
exits 0 "attention for any dimensions" "$tsr" compile any.tsr --kernel heads --generic --emit module -o heads.tsrm
for i in 0 1 2 3; do
    inputs=(--in q=q$i.npy --in k=k$i.npy --in v=v$i.npy)
    exits 0 "shape $i" run "" heads.tsrm any "${inputs[@]}"
    exits 0 "the interpreter" "$tsr" run any.tsr --kernel heads --backend interp "${inputs[@]}" --out interp
    exits 0 "has the same bits" diff -r any interp
done
exits 3 "shapes that do not agree" run "" heads.tsrm o --in q=q0.npy --in k=k1.npy --in v=v0.npy
has err " k .*\\[H, 2\*S, D\\].*\\[1, 2, 1\\]" "are told with their formula"
for n in 0 1 4 15; do # by 8: negative, odd and positive differences
    $python -c "
import numpy as np
np.save('mx.npy', np.ones($n, np.float32)); np.save('mz.npy', np.ones(8, np.float32))
np.save('my.npy', np.arange(($n - 8) // 2 + 8, dtype=np.float32))"
    exits 0 "a dimension by division" "$tsr" compile any.tsr --kernel middles --generic --emit module -o middles.tsrm
    exits 0 "with $n" run "" middles.tsrm any --in mx.npy --in mz.npy --in my.npy
    exits 0 "the interpreter" "$tsr" run any.tsr --kernel middles --backend interp --in mx.npy --in mz.npy --in my.npy --out interp
    exits 0 "has the same bits" diff -r any interp
done
exits 0 "a divisor of any size" "$tsr" compile any.tsr --kernel shares --generic --emit module -o shares.tsrm
$python -c "
import numpy as np
np.save('s2.npy', np.ones((6, 2), np.float32)); np.save('s0.npy', np.ones((6, 0), np.float32))
np.save('s.npy', np.ones(3, np.float32))"
exits 0 "divides" run "" shares.tsrm any --in s2.npy --in s.npy
exits 3 "but not by 0" run "" shares.tsrm o --in s0.npy --in s.npy
exits 0 "elements that are stored one by one" "$tsr" compile any.tsr --kernel woven --generic --isa "$all" --emit module -o woven.tsrm
for level in "$lower" "$best"; do
    for i in 0 2 3 5; do
        exits 0 "$level, shape $i" run "$level" woven.tsrm any --in x=x$i.npy
        exits 0 "the interpreter" "$tsr" run any.tsr --kernel woven --backend interp --in x=x$i.npy --out interp
        exits 0 "has the same bits" diff -r any interp
    done
done
$python -c "
import numpy as np
np.save('p7.npy', np.zeros(7, np.float32)); np.save('p3.npy', np.ones(3, np.float32)); np.save('at.npy', np.int32(5))"
exits 0 "a part at a place that is a value" "$tsr" compile any.tsr --kernel put --generic --emit module -o put.tsrm
exits 0 "which fits" run "" put.tsrm any --in x=p7.npy --in part=p3.npy --in at=at.npy
exits 3 "and which is larger" run "" put.tsrm o --in x=p3.npy --in part=p7.npy --in at=at.npy
has err "put.*N=3, K=7: .*K [+] N" "is refused at launch"
exits 3 "as the source is" "$tsr" run any.tsr --kernel put --in x=p3.npy --in part=p7.npy --in at=at.npy --out o
has err "any.tsr:[0-9]+:[0-9]+: error\\[E0503\\]" "at its line"
exits 0 "a slice of any length" "$tsr" compile any.tsr --kernel first --generic --emit module -o first.tsrm
exits 0 "that is long enough" run "" first.tsrm any --in x=x0.npy
exits 3 "and one that is not" run "" first.tsrm o --in x=x2.npy
has err "'first' .*M=1, N=1: .*N >= 64" "is refused by name"
for wrong in "2:--specialize odd:--specialize goes with --generic" \
    "3:--generic --specialize nosuch:kernel norm has no case nosuch" \
    "3:--generic --specialize M=4:dimension N has no value; give N=" \
    "3:--generic --specialize M=4,N=4,K=4:3 dimensions are given; the kernel has 2" \
    "3:--generic --specialize M=4,N=x:'N=x' is not NAME=NUMBER" \
    "3:--generic --specialize odd --specialize M=13,N=127:given twice"; do
    code=${wrong%%:*}
    rest=${wrong#*:}
    read -ra words <<<"${rest%%:*}"
    exits "$code" "compile ${rest%%:*}" "$tsr" compile any.tsr --kernel norm "${words[@]}" --emit module -o o.tsrm
    has err "${rest#*:}" "is refused"
done
exits 0 "their schedule" "$tsr" compile any.tsr --kernel norm --generic --emit schedule
has out 'extent = #tessera.dim<"N">' "has loops over dimensions"
exits 3 "a parameter that they have not" "$tsr" compile any.tsr --kernel norm --generic --schedule NOSUCH=2 --emit asm
exits 0 "their parameters" "$tsr" compile any.tsr --kernel norm --generic --emit space
for pass_name in $("$tsr" compile --emit-after list); do
    exits 0 "their IR after $pass_name" "$tsr" compile any.tsr --kernel norm --generic --emit-after "$pass_name"
    has out "." "is there"
done
exits 2 "a pass that there is not" "$tsr" compile any.tsr --kernel norm --generic --emit-after nosuch
mkdir corpus && cp any.tsr corpus
exits 0 "a pack of code for any dimensions" "$tsr" pack-repro norm --case odd --generic corpus
cp "$(cat out)" norm.repro
exits 0 "is replayed" "$tsr" replay norm.repro
has out "^REPRODUCED_EXACT \\(code-hash-same\\)" "from its source"
lz4 -dc norm.repro | tar t >members
has members "^ir/[0-9]+-schedule.mlir" "and has the levels"
has members "^module.tsrm" "and the module"
exits 0 "their Tile IR" "$tsr" compile any.tsr --kernel norm --generic --emit tile
has out "workgroups = .*M" "has formulas"
exits 0 "bench by code for any dimensions" "$tsr" bench any.tsr --quick --generic --backend cpu --profile strict --export json=any.json
has any.json '"schedule": "generic"' "says so"
cat >fixed.tsr <<'END'
@cases(case("one"))
@kernel
def fixed(x: Tensor[13, 127, f32]) -> Tensor[127, f32]:
    return sum(x, axis=0)
END
exits 0 "no dimensions" "$tsr" compile fixed.tsr --generic --emit module -o fixed.tsrm
exits 0 "run" run "" fixed.tsrm any --in x=softmax_x.npy
exits 0 "the interpreter" "$tsr" run fixed.tsr --backend interp --in x=softmax_x.npy --out interp
exits 0 "has the same bits" diff -r any interp
exits 3 "nor any to specialise" "$tsr" compile fixed.tsr --generic --specialize one --emit module -o o.tsrm
has err "the kernel's shapes are fixed" "is told"
exits 3 "a case of other types" "$tsr" compile any.tsr --kernel heads --generic --specialize half --emit module -o o.tsrm
has err " half .* one" "is refused"

# A flipped bit, a module cut short, one of another version, and one whose metadata names a part that is not there.
$python - <<'END'
import hashlib, struct
data = bytearray(open("rows.tsrm", "rb").read())
flipped = bytearray(data); flipped[len(data) // 2] ^= 4
open("flipped.tsrm", "wb").write(flipped)
open("cut.tsrm", "wb").write(data[:-1])
future = bytearray(data); future[10] = 77
open("future.tsrm", "wb").write(future)
count, = struct.unpack_from("<I", data, 12)
for i in range(count):  # rename the last elf part, with the hash that fits
    at = 16 + 80 * i
    kind = bytes(data[at:at + 32])
    if b"/" in kind:
        last = at
kind = b"x86_64-elf/x86-64-v1".ljust(32, b"\0")
offset, size = struct.unpack_from("<QQ", data, last + 32)
data[last:last + 32] = kind
data[last + 48:last + 80] = hashlib.sha256(kind + data[offset:offset + size]).digest()
open("renamed.tsrm", "wb").write(data)
END
for wrong in "flipped:does not match its SHA-256" "cut:truncated" "future:made for ABI 2.77" \
    "renamed:which the module lacks"; do
    exits 3 "a module that is ${wrong%%:*}" run "" "${wrong%%:*}.tsrm" o --in x=softmax_x.npy
    has err "${wrong#*:}" "is refused"
done
[ ! -e o ] && pass "nothing was written" || fail "nothing was written"

# A chain of ten products has two intermediate results at once.
cat >chain.tsr <<'END'
from tessera import *


@cases(case("some", M=24, K=32))
@kernel
def chain(x: Tensor["M", "K", f32], w: Tensor["K", "K", f32]) -> Tensor["M", "K", f32]:
    return x @ w @ w @ w @ w @ w @ w @ w @ w @ w @ w
END
exits 0 "a chain of products" "$tsr" bench chain.tsr --quick --backend cpu,interp --profile strict --json
cp out chain.json
exits 0 "two results share the workspace's bytes" $python -c '
import json
one, = (r for r in json.load(open("chain.json"))["results"] if r["backend"] == "cpu")
result, weights, memory = 24 * 32 * 4, 32 * 32 * 4, one["memory"]
assert one["check"]["bitwise"] and memory["workspace_bytes"] == 2 * result and memory["unplanned_workspace_bytes"] == 9 * result, memory
assert memory["inputs_bytes"] == result + weights and memory["outputs_bytes"] == result and memory["prepared_bytes"] == 0, memory
assert memory["peak_bytes"] == 4 * result + weights and memory["unplanned_peak_bytes"] == 11 * result + weights, memory
assert [p["live_bytes"] // result for p in memory["phases"]] == [1] + 8 * [2] + [1] and {p["what"] for p in memory["phases"]} == {"dot"}, memory'

# Equal layers have the code of the first.
cat >layers.tsr <<'END'
@cases(case("a", S=9, D=24, F=40, w=normal(0, 0.2)))
@jit
def layers(x: Tensor["S", "D", f32], w: list[tuple[Tensor["D", f32], Tensor["D", "F", f32], Tensor["F", "D", f32]], 5]) -> Tensor["S", "D", f32]:
    for p in w:
        x = x + silu(rmsnorm(x, p[0]) @ p[1]) @ p[2]
    return x
END
exits 0 "five layers" "$tsr" bench layers.tsr --backend cpu,interp --profile strict --isa "$best" --threads 1,2 --quick
codes='import json; m = json.load(open("meta")); print([p.get("code_of", i) for i, p in enumerate(m["phases"])], "dispatch" in str(m))'
"$tsr" compile layers.tsr --emit metadata --isa "$best" >meta
exits 0 "are compiled" $python -c "$codes"
has out "^.0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, [0-9]+. False$" "as one"
"$tsr" compile layers.tsr --emit metadata --isa "$best" --unoptimised >meta
exits 0 "without optimisation" $python -c 'import json; assert not [p for p in json.load(open("meta"))["phases"] if "code_of" in p]'
exits 0 "with checks of bounds" "$tsr" bench layers.tsr --backend cpu,interp --profile strict --check-bounds --quick
sed 's/, 5\])/, 40])/' layers.tsr >more.tsr
exits 0 "forty layers" "$tsr" bench more.tsr --backend cpu,interp --profile strict --quick
"$tsr" compile more.tsr --emit metadata >meta
exits 0 "are a program" $python -c 'import json; p = json.load(open("meta"))["program"]; print(len(p["commands"]) // 40, len(p["kernels"]))'
has out "^[1-3] [1-4]$" "of a few kernels"
finish
