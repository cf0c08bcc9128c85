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
has err "no image of 'rows' fits this host \\($lower, the limit of TESSERA_ISA\\); the module has $best" "is told"
exits 4 "a limit that is no level" run x86-64-v9 one.tsrm o --in x=softmax_x.npy
has err "TESSERA_ISA=x86-64-v9 is no ISA level of this machine" "is told"
exits 4 "bench above the limit" env TESSERA_ISA="$lower" "$tsr" bench kernels.tsr --quick --isa "$best"
has err "code for $best cannot run here: TESSERA_ISA=$lower in the environment rules it out" "is told"
exits 2 "several levels elsewhere" "$tsr" compile kernels.tsr --kernel rows --isa "$all" --emit asm
exits 2 "several levels to bench" "$tsr" bench kernels.tsr --quick --isa "$all"
exits 3 "a level twice" "$tsr" compile kernels.tsr --kernel rows --isa "$best,$best" --emit module -o o.tsrm
has err "the level '$best' is given twice" "is told"
exits 2 "a level that nobody knows" "$tsr" compile kernels.tsr --kernel rows --isa "$best,x86-64-v5" --emit module -o o.tsrm

exits 3 "an array of another shape" run "" rows.tsrm o --in x=short.npy
has err "input x has shape \[13, 127\], but the array is \[13, 126\]" "is told"
exits 3 "an array of another type" run "" rows.tsrm o --in x=double.npy
exits 3 "an array that is missing" run "" product.tsrm o --in x=matmul_x.npy
exits 3 "an input that is not there" run "" rows.tsrm o --in z=softmax_x.npy
exits 2 "an option of the compiler" "$tsr" run rows.tsrm --in x=softmax_x.npy --isa "$best"

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
    if kind.startswith(b"elf:"):
        last = at
kind = b"elf:x86-64-v1".ljust(32, b"\0")
offset, size = struct.unpack_from("<QQ", data, last + 32)
data[last:last + 32] = kind
data[last + 48:last + 80] = hashlib.sha256(kind + data[offset:offset + size]).digest()
open("renamed.tsrm", "wb").write(data)
END
for wrong in "flipped:does not match its SHA-256" "cut:truncated" "future:made for ABI 1.77" \
    "renamed:which the module lacks"; do
    exits 3 "a module that is ${wrong%%:*}" run "" "${wrong%%:*}.tsrm" o --in x=softmax_x.npy
    has err "${wrong#*:}" "is refused"
done
[ ! -e o ] && pass "nothing was written" || fail "nothing was written"
finish
