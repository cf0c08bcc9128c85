# test_cli_matrix_unit.sh - a kernel of others that adds as a matrix unit does: the order with the unit's name has goldens, which the
# interpreter makes, and the kernel is held to them bit for bit. No code of ours is made of such an order.
source "$(dirname "$0")/lib.sh"
units=$(dirname "$tsr")/harness/test_units.so
mkdir corpus && cd corpus || exit 1 # goldens lie beside it
for unit in amx.bf16 avx512.vdpbf16ps; do
    cat >"$unit.tsr" <<END_OF_KERNEL
from tessera import *


@cases(
    case("usual", M=7, K=90, N=5),
    case("square", M=6, K=6, N=6),
    case("exact", M=3, K=70, N=4, x=integers(-4, 5), y=integers(-4, 5)),
)
@kernel
def product(x: Tensor["M", "K", bf16], y: Tensor["K", "N", bf16]) -> Tensor["M", "N", f32]:
    """x @ y."""
    return matmul(x, y, out=f32, order="$unit")
END_OF_KERNEL
done
held=(bench amx.bf16.tsr --quick --threads 1 --db r.db --with)

exits 0 "its golden" "$tsr" golden record amx.bf16.tsr
exits 0 "a kernel that adds so" "$tsr" "${held[@]}" "$units:as_amx=product" --profile strict
has out "3 against a golden" "has its bits"
exits 1 "one that adds as another unit does" "$tsr" "${held[@]}" "$units:as_avx512=product" --profile strict
has out "mismatch" "has other bits"
exits 0 "under a weaker profile" "$tsr" "${held[@]}" "$units:as_avx512=product" --profile deterministic
exits 1 "which is no weaker than the unit" "$tsr" "${held[@]}" "$units:too_short=product" --profile deterministic
mv ../golden ../golden.amx
exits 0 "the golden of the other unit" "$tsr" golden record avx512.vdpbf16ps.tsr
exits 0 "is its own" "$tsr" bench avx512.vdpbf16ps.tsr --quick --threads 1 --db r.db --with "$units:as_avx512=product" --profile strict

# No code is made of it, and each way to ask for it says why.
for level in asm module mlir; do
    exits 3 "no $level" "$tsr" compile amx.bf16.tsr --emit $level -o nothing
    has err "E0622" "with its diagnostic"
done
exits 0 "its graph" "$tsr" compile amx.bf16.tsr --emit graph
has out 'order = "amx.bf16"' "names the unit"
exits 3 "nothing of ours to time" "$tsr" bench amx.bf16.tsr --quick --db r.db
has err "product.*--with" "and what to type"
exits 3 "nothing of ours to check" "$tsr" check amx.bf16.tsr
exits 0 "the interpreter computes it" "$tsr" bench amx.bf16.tsr --quick --db r.db --backend interp --profile strict
exits 0 "it is linted" "$tsr" lint --strict amx.bf16.tsr
sed 's/"K", bf16\]/"K", f16]/; s/"N", bf16\]/"N", f16]/' amx.bf16.tsr >other.tsr
exits 3 "factors that the unit does not take" "$tsr" compile other.tsr --emit graph
has err "E0624" "have a diagnostic of their own"
# Attention beyond strict is a kernel of tiles of the library: one phase, on the unit, unless a schedule or strict bits are asked for.
while read -r phases library case words; do
    # shellcheck disable=SC2086
    exits 0 "attention on a chip, $case $words" "$tsr" compile "$root/corpus/attention/attention.tsr" --kernel attention_causal --case "$case" \
        --emit metadata $words
    cp out m.json
    exits 0 "is $phases phases, library: $library" /usr/bin/python3 -c '
import json, sys
m = json.load(open("m.json"))
assert (len(m["phases"]), m.get("library", "none")) == (int(sys.argv[1]), sys.argv[2]), (m["phases"], m.get("library"))
assert sys.argv[2] == "none" or m["matrix_units"], m' "$phases" "$library"
done <<'END'
1 causal_attention rows --profile deterministic --isa sm_80
1 causal_attention rows --profile fast --isa gfx942
1 causal_attention f16_rows --profile deterministic --isa sm_90a
4 none rows --profile strict --isa sm_80
4 none rows --profile deterministic --isa sm_80 --schedule CHAIN=0
4 none rows --profile deterministic --isa sm_75
END

# Kernels of rows that threads have room for are the library's, with the bits of strict; those of longer rows have a schedule.
while read -r library file words; do
    # shellcheck disable=SC2086
    exits 0 "rows on a chip, $words" "$tsr" compile "$root/corpus/normalisation/$file.tsr" --emit metadata --isa sm_90a $words
    [ "$library" = "$(sed -n 's/^ "library": "\(.*\)",$/\1/p' out)" ] && pass "is ${library:-a schedule}" || fail "is not ${library:-a schedule}"
done <<'END'
rows softmax --profile strict --kernel softmax_rows --dims M=64,N=4096,T=bf16
rows softmax --profile fast --kernel logsumexp_rows --dims M=64,N=1000
rows norms --profile strict --kernel layernorm_rows --dims M=64,N=4096,T=f32
rows norms --profile strict --kernel rmsnorm_rows --dims M=8192,N=1000,T=bf16
END
exits 0 "softmax of longer rows" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --emit metadata --isa sm_90a --kernel softmax_rows --case blocks
hasnt out '"library"' "has a schedule"

# The model weighs tiles that are lowered as they stand: other tiles, other cycles; and the library's beside the phases.
# cycles FILE WORDS...: estimated cycles on sm_80.
cycles() {
    "$tsr" compile "$root/corpus/$1" --isa sm_80 --profile deterministic --emit space "${@:2}" 2>err | sed -n 's/^estimated cycles = //p'
}
heads=(attention/attention.tsr --kernel attention_full --dims B=1,H=16,Sq=2048,Sk=2048,D=64,T=bf16)
one=(attention/attention.tsr --kernel attention_full --dims B=1,H=16,Sq=1,Sk=2048,D=64,T=bf16)
causal=("${heads[@]/attention_full/attention_causal}")
flash=(tile/tile_attention.tsr --kernel tile_flash_attention --dims B=1,H=16,S=2048,D_h=64,S_kv=2048)
[ "$(cycles "${heads[@]}")" -lt "$(cycles "${heads[@]}" --schedule CHAIN=0)" ] && pass "the library's attention costs less than phases" ||
    fail "the library's attention costs no less than phases"
[ "$(cycles "${one[@]}")" -lt "$(cycles "${one[@]}" --schedule CHAIN=0)" ] && pass "one query has tiles of its own size" ||
    fail "one query costs no less than phases"
[ "$(cycles "${causal[@]}")" -lt "$(cycles "${heads[@]}")" ] && pass "keys that nobody sees cost nothing" ||
    fail "a causal attention costs no less than a whole one"
[ "$(cycles "${flash[@]}" --space BN=64)" -ne "$(cycles "${flash[@]}" --space BN=128)" ] && pass "blocks of keys have a cost" ||
    fail "blocks of keys cost the same"

finish
