# test_cli_constant.sh - --constant: weights are brought into the layout of the loops outside of the launches; bits are the same.
source "$(dirname "$0")/lib.sh"
cat >k.tsr <<'END'
from tessera import *


@cases(case("few", B=1, H=5, W=6, C=20, K=70), case("deep", B=2, H=4, W=4, C=64, K=20))
@kernel
def conv(
    x: Tensor["B", "H", "W", "C", f32], w: Tensor[3, 3, "C", "K", f32]
) -> Tensor["B", "H", "W", "K", f32]:
    """A convolution."""
    return conv2d(x, w, padding=1)


@cases(case("one", M=1, N=65, K=530), case("many", M=40, N=65, K=66))
@kernel
def linear(
    x: Tensor["M", "K", f32], w: Tensor["N", "K", f32], b: Tensor["N", f32]
) -> Tensor["M", "N", f32]:
    """A dense layer; one row of it is turned over where w stays as it lies."""
    return relu(x @ w.T + b)


@cases(case("one", M=40, N=65, K=66, x=integers(-9, 9), w=integers(-9, 9)))
@kernel
def counted(x: Tensor["M", "K", i8], w: Tensor["K", "N", i8]) -> Tensor["M", "N", i32]:
    """In groups, where the processor has them."""
    return x @ w


@cases(case("one", B=3, M=40, N=65, K=66))
@kernel
def both(
    x: Tensor["B", "M", "K", f16], w: Tensor["B", "K", "N", f16], v: Tensor["N", "N", f32]
) -> Tensor["B", "M", "N", f32]:
    """Two products; the first one's weights are narrow, and others for each x."""
    return cast(x @ w, f32) @ v


@cases(case("one", N=9))
@kernel
def sums(w: Tensor["N", f32], x: Tensor["N", f32]) -> Tensor["N", f32]:
    """No contraction."""
    return w + x
END
bench=("$tsr" bench k.tsr --quick --no-cache --db r.db)

# Every way computes what the interpreter does, which the command judges; the last says which inputs were prepared.
while IFS='|' read -r what options; do
    # shellcheck disable=SC2086 # several words
    exits 0 "bits are those of the interpreter $what" "${bench[@]}" --constant w --export json=run.json $options
done <<'WAYS'
on threads|--filter conv,linear,counted,both --threads 1,3 --profile all
on a simulated device|--filter conv,linear,counted,both --device simulated --threads 2
in unoptimised code|--filter conv,linear,counted,both --threads 1 --unoptimised --isa x86-64-v2+fma
by code for any dimensions|--filter conv,linear,counted,both --threads 1 --generic
with the matrix where it lies|--threads 1 --schedule PACK_B=0 --filter linear
WAYS
exits 0 "a benchmark with constants" "${bench[@]}" --filter 'both*' --constant w,v --threads 1 --export json=run.json --json
has run.json '"constants": "w,v"' "says which inputs were prepared"
exits 0 "a benchmark without" "${bench[@]}" --filter 'both*' --threads 1 --export json=run.json
has run.json '"constants": null' "says that none was"

# Constants that a module says its phases prepare.
phases() {
    "$tsr" compile k.tsr --kernel "$1" --case "$2" --emit module -o m.tsrm "${@:3}" &&
        strings -n 8 m.tsrm | sed -n 's/.*"constant": "\(.*\)".*/\1/p' | tr '\n' ' '
}
while IFS='|' read -r kernel case options wanted; do
    # shellcheck disable=SC2086 # several words
    found=$(phases "$kernel" "$case" $options)
    if [ "$found" = "$wanted" ]; then pass "$kernel/$case $options: ${wanted:-no }phases are prepared"; else
        fail "$kernel/$case $options: phases of '$found', not '$wanted'"
    fi
done <<'MODULES'
conv|few||
conv|few|--constant w|w 
conv|few|--constant w --generic|
conv|few|--constant w --generic --specialize deep|w 
conv|few|--constant w --isa x86-64-v3,aarch64-neon|w w 
linear|one|--constant w|w 
linear|one|--constant w --unoptimised|
both|one|--constant v,w|w v 
MODULES

# Arrays of one's own, from a source and from a module.
/usr/bin/python3 - <<'END'
import numpy as np
rng = np.random.default_rng(1)
for name, shape in (("x", (7, 66)), ("w", (33, 66)), ("b", (33,))):
    np.save(name + ".npy", rng.standard_normal(shape).astype(np.float32))
END
run=("$tsr" run --in x=x.npy --in w=w.npy --in b=b.npy)
exits 0 "run without a constant" "${run[@]}" k.tsr --kernel linear --out plain
exits 0 "run with one" "${run[@]}" k.tsr --kernel linear --out prepared --constant w
exits 0 "has the same bits" diff -r plain prepared
exits 0 "also on a simulated device" "${run[@]}" k.tsr --kernel linear --out simulated --constant w --device simulated
exits 0 "the same bits there" diff -r plain simulated
exits 0 "a module for a constant" "$tsr" compile k.tsr --kernel linear --generic --constant w --specialize M=7,N=33,K=66 --emit module -o m.tsrm
exits 0 "runs without preparing" "${run[@]}" m.tsrm --out module
exits 0 "and after preparing" "${run[@]}" m.tsrm --out module2 --constant w
exits 0 "with the same bits" diff -r plain module
exits 0 "in both ways" diff -r plain module2
exits 3 "a module's constants are prepared together" "${run[@]}" m.tsrm --out o --constant x
has err "'w'" "says which one is missing"
exits 3 "a module has no other names" "${run[@]}" m.tsrm --out o --constant q
has err "'q'.*: x, w, b" "says what there is"

# Names that cannot be.
compile=("$tsr" compile k.tsr --emit schedule)
exits 3 "a name that is no input" "${compile[@]}" --kernel conv --constant weights
has err "'weights'.*: x, w$" "says which inputs can be"
exits 3 "an input that is only added" "${compile[@]}" --kernel linear --constant w,b
has err "'b'.*: x, w$" "says which inputs can be"
exits 3 "a kernel without contractions" "${compile[@]}" --kernel sums --constant w
has err "'w'.*none$" "says that none can be"
exits 3 "a word that is empty" "${compile[@]}" --kernel conv --constant w,,x
exits 2 "a command that has no launches" "$tsr" lint k.tsr --constant w
exits 4 "a program, of whose kernels nothing is prepared" "$tsr" compile "$root/corpus/programs/loop.tsr" --kernel recurrence --case small \
    --constant x --emit module -o program.tsrm
has err "--constant" "says what to leave out"
finish
