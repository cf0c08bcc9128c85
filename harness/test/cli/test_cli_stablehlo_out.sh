# test_cli_stablehlo_out.sh - kernels go out as StableHLO and come back: the text is a program of this compiler's own, with the kernel's bits, also where
# its composites are only what they are made of. ci/stablehlo --export judges all of the corpus, by jaxlib and XLA, too.
source "$(dirname "$0")/lib.sh"
corpus=$root/corpus
: >out >err

# every FILE...: each kernel of these files as text, read and written again; counts what came back, and what came back as it was.
every() {
    written=0 returned=0 alike=0
    for file in "$@"; do
        "$tsr" compile "$file" --emit stablehlo >whole 2>err || fail "$file: $(cat err)"
        for kernel in $(sed -n 's|^// \([a-z0-9_]*\).*|\1|p; s|^module @\([a-z0-9_]*\) .*|\1|p' whole | sort -u); do
            written=$((written + 1))
            "$tsr" compile "$file" --kernel "$kernel" --emit stablehlo -o once.mlir 2>err || fail "$kernel: $(cat err)"
            "$tsr" compile once.mlir --emit stablehlo >twice.mlir 2>err && returned=$((returned + 1)) || fail "$kernel: $(cat err)"
            cmp -s once.mlir twice.mlir && alike=$((alike + 1))
        done
    done
    [ $written -gt 0 ] || fail "$* holds no kernel"
}

every "$corpus"/{normalisation/*,attention/attention,elementwise/saxpy,elementwise/activations,matmul/matmul_f32,training/*}.tsr
[ $alike -eq $written ] && pass "$written kernels come back as they went" || fail "$alike of $written kernels come back as they went"
every "$corpus"/{reduction/positions,models/block,programs/loop,programs/while,programs/scatter,types/float8,tile/tile_rows,transforms/rules}.tsr
[ $returned -eq $written ] && pass "$written others are read" || fail "$returned of $written others are read"

# Arrays for the inputs of a text: small multiples of a quarter, and every number of four bits.
cat >arrays.py <<'END'
import re
import numpy as np

head = re.search(r"@main\((.*?)\) ->", open("text.mlir").read())[1]
draw = np.random.default_rng(1)
for i, (dims, element) in enumerate(re.findall(r"tensor<([0-9x]*)(f32|i4)>", head)):
    shape = [int(n) for n in dims.split("x")[:-1]]
    if element == "i4":
        np.save(f"a{i}.npy", draw.integers(-8, 8, shape).astype(np.int8))
    else:
        np.save(f"a{i}.npy", (np.round(draw.standard_normal(shape) * 8) / 4).astype(np.float32))
END

# bits FILE KERNEL CASE: the kernel, its text, and the text whose composites have names of others, on the same arrays.
bits() {
    local file=$corpus/$1 kernel=$2 case=$3 given=() back=() i=0 name
    exits 0 "$kernel as text" "$tsr" compile "$file" --kernel "$kernel" --case "$case" --emit stablehlo -o text.mlir
    sed 's/name = "tessera[.]/name = "other./' text.mlir >plain.mlir
    cmp -s text.mlir plain.mlir && fail "it has no composite"
    /usr/bin/python3 arrays.py || fail "arrays"
    "$tsr" compile "$file" --kernel "$kernel" --emit graph >graph
    for name in $(sed -n 's/.*inputs = \[\([^]]*\)\].*/\1/p' graph | tr -d '",'); do
        given+=(--in "$name=a$i.npy") back+=(--in "a$i=a$i.npy") i=$((i + 1))
    done
    exits 0 "the kernel" "$tsr" run "$file" --kernel "$kernel" --case "$case" --backend interp "${given[@]}" --out "own_$kernel"
    exits 0 "its text" "$tsr" run text.mlir --backend interp "${back[@]}" --out "text_$kernel"
    exits 0 "what it is made of" "$tsr" run plain.mlir --backend interp "${back[@]}" --out "plain_$kernel"
    i=0
    for name in $(sed -n 's/.*outputs = \[\([^]]*\)\].*/\1/p' graph | tr -d '",'); do
        cmp -s "own_$kernel/$name.npy" "text_$kernel/r$i.npy" && pass "the text has its bits" || fail "the text has other bits"
        cmp -s "own_$kernel/$name.npy" "plain_$kernel/r$i.npy" && pass "so has what it is made of" || fail "what it is made of has other bits"
        i=$((i + 1))
    done
}
bits attention/attention.tsr attention_causal ragged
bits types/float8.tsr convert_f8 i4
bits elementwise/dropout.tsr dropout_rows f32
bits reduction/sorted.tsr topk_rows prime

# Attributes of a composite of ours come from a file.
exits 0 "a softmax" "$tsr" compile "$corpus/normalisation/softmax.tsr" --kernel softmax_rows --case one --emit stablehlo -o soft.mlir
sed 's/axis = 1 : i64/axis = "1"/' soft.mlir >kind.mlir
exits 3 "an attribute of another kind" "$tsr" compile kind.mlir
has err "kind.mlir:3:.*error\[E1202\]: .*the attribute 'axis' of tessera.softmax is not of the kind int" "is named"
sed 's/axis = 1 : i64//' soft.mlir >lacks.mlir
exits 3 "an attribute that lacks" "$tsr" compile lacks.mlir
has err "tessera.softmax lacks the attribute 'axis'" "is named, too"
sed 's/axis = 1 : i64/axis = 7 : i64/' soft.mlir >axis.mlir
exits 3 "an axis that it does not have" "$tsr" compile axis.mlir
has err "error\[E1202\]: stablehlo.composite: " "is refused as in a kernel"

cat >unknown.tsr <<'END'
from tessera import *


@cases(case("four", N=4))
@kernel
def unknown(x: Tensor["N", f32]) -> Tensor["N", f32]: ...
END
exits 3 "a kernel without a formula" "$tsr" compile unknown.tsr --emit stablehlo
has err "unknown" "has nothing to write"
exits 2 "a level that is misspelt" "$tsr" compile unknown.tsr --emit stablehol
has err "did you mean stablehlo?" "has a suggestion"
# Sizes of a matrix unit, and places on a mesh: other text, the same bits, whether composites are read or what they are made of.
opt=$(dirname "$tsr")/tsr-opt

# padded FILE KERNEL CASE: the kernel beside its padded and annotated text, on the same arrays.
padded() {
    local back=() i
    exits 0 "$2 as text" "$opt" "$corpus/$1" --kernel "$2" --case "$3" --pass lower-to-stablehlo
    sed 's/name = "tessera[.]/name = "other./' out >text.mlir
    exits 0 "for a matrix unit" "$opt" "$corpus/$1" --kernel "$2" --case "$3" --pass lower-to-stablehlo --pass pad-for-tpu --pass annotate-sharding=pair=2
    sed 's/name = "tessera[.]/name = "other./' out >unit.mlir
    has unit.mlir 'sdy.mesh @mesh = <\["pair"=2\]>' "it has a mesh"
    has unit.mlir '"stablehlo.pad"' "something is padded"
    exits 0 "again" "$opt" unit.mlir -tessera-pad-for-tpu
    cmp -s out unit.mlir && pass "and has these sizes then" || fail "padding again changes it"
    /usr/bin/python3 arrays.py || fail "arrays"
    for i in $(seq 0 "$(($(grep -c . <<<"$(sed -n 's/.*@main(\([^)]*\)).*/\1/p' text.mlir | grep -o '%a[0-9]*')") - 1))"); do back+=(--in "a$i=a$i.npy"); done
    exits 0 "the text" "$tsr" run text.mlir --backend interp "${back[@]}" --out "plain_$2"
    exits 0 "for a matrix unit" "$tsr" run unit.mlir --backend interp "${back[@]}" --out "unit_$2"
    exits 0 "... as code" "$tsr" run unit.mlir --backend cpu "${back[@]}" --out "code_$2"
    cmp -s "plain_$2/r0.npy" "unit_$2/r0.npy" && cmp -s "plain_$2/r0.npy" "code_$2/r0.npy" && pass "the same bits" || fail "other bits"
}
padded matmul/matmul_f32.tsr matmul_f32 prime
padded attention/attention.tsr attention_causal ragged
padded matmul/batched.tsr matmul_batched chunks

exits 0 "the spelling of another tool" "$(dirname "$tsr")/tessera-tpu-opt" "$corpus/matmul/matmul_f32.tsr" --kernel matmul_f32 -tessera-lower-to-stablehlo -tessera-annotate-sharding
has out 'sdy.mesh @mesh = <\["data"=2, "model"=2\]>' "has the usual mesh"
mv out whole.mlir
exits 3 "a mesh twice" "$opt" whole.mlir --pass annotate-sharding
has err "the program has a mesh" "is refused"
cat >even.mlir <<'END'
func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = stablehlo.add %x, %y : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
END
for wrong in "data=0|no axis of a mesh" "data=2,data=2|there is already" "data=2;a7=-|no tensor of main" "data=2;a0=data|more axes" "data=2;a0=-,-,-|does not have" \
    "data=2;a0=row,-|no axis of the mesh" "data=3;a0=data,-|does not divide" "data=2;a0=data,data|twice" "data=2;a0=-,-;a0=-,-|named twice"; do
    exits 3 "a sharding: ${wrong%|*}" "$opt" even.mlir --pass "annotate-sharding=${wrong%|*}"
    has err "${wrong#*|}" "says '${wrong#*|}'"
done
exits 3 "a multiple of nothing" "$opt" even.mlir --pass pad-for-tpu=rows=0
has err "rows=N,columns=N" "says what it takes"
exits 2 "a pass of IR behind them" "$opt" even.mlir --pass pad-for-tpu --pass simplify
has err "simplify takes IR" "is refused"
# Products from outside whose parts do not fit are left as they are.
product() {
    echo "func.func @main(%x: tensor<4x6xf32>, %y: tensor<6x4xf32>) -> tensor<$2xf32> {"
    echo "  %0 = stablehlo.dot_general %x, %y, $1 : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<$2xf32>"
    printf '  return %%0 : tensor<%sxf32>\n}\n' "$2"
}
product "contracting_dims = [1] x [0]" 4x4 >product.mlir
exits 0 "a product" "$opt" product.mlir --pass pad-for-tpu
has out '"stablehlo.pad"' "is padded"
for wrong in "contracting_dims = [7] x [0]|4x4" "contracting_dims = [1] x [3]|4x4" "contracting_dims = [1, 1] x [0]|4x4" \
    "batching_dims = [9] x [9], contracting_dims = [1] x [0]|4x4" "contracting_dims = [1] x [0]|4"; do
    product "${wrong%|*}" "${wrong#*|}" >product.mlir
    exits 0 "a product with $wrong" "$opt" product.mlir --pass pad-for-tpu
    hasnt out '"stablehlo.pad"' "is left"
done
"$tsr" compile "$corpus/matmul/matmul_f32.tsr" --kernel matmul_f32 --emit graph >graph
exits 3 "Graph IR for a pass of StableHLO" "$opt" graph --pass pad-for-tpu
has err "lower-to-stablehlo" "says what makes it"
finish
