# test_cli_mlir.sh - the backend mlir: kernels through stock mlir-opt and llc have the strict bits. All cases:
# tsr bench corpus/ --backend interp,cpu,mlir --profile strict
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

"$tsr" golden verify "$root/corpus" --filter saxpy/one --backend mlir >out 2>err
if [ $? -eq 4 ]; then
    echo "skipped: $(cat err)"
    exit 77
fi

# Each case is five programs of LLVM. Short: a part of the corpus, and not beside the interpreter and cpu, which other tests compare.
backends=interp,cpu,mlir least=50
if [ -n "${TSR_SHORT:-}" ]; then
    backends=mlir least=35
    most_of_corpus+=("$root/corpus/convolution" "$root/corpus/normalisation/norms.tsr" "$root/corpus/types/float8.tsr")
fi
exits 0 "a case of each kernel" "$tsr" bench "${most_of_corpus[@]}" -v --quick --backend $backends --profile strict \
    --filter '*/prime' --filter attention_causal/ragged --filter sum_rows/blocks --filter matmul_f32/chunks --json
cp out opinion.json
cat >check.py <<'END'
import json, sys
results = [r for r in json.load(open("opinion.json"))["results"] if r["backend"] == "mlir"]
expressed = [r for r in results if r["status"] == "ok"]
assert all(r["check"]["bitwise"] for r in expressed)
assert {r["status"] for r in results} <= {"ok", "unsupported"}, "something differs"
assert all("not expressed in MLIR" in r["why"] for r in results if r["status"] == "unsupported")
kernels, said = {r["kernel"] for r in results}, {r["kernel"] for r in expressed}
assert len(said) >= int(sys.argv[1]) and {"matmul_f32", "softmax_rows", "layernorm_rows", "attention_causal"} <= said, sorted(kernels - said)
print(len(said), "kernels of", len(kernels))
END
exits 0 "all that can be expressed has the same bits" $python check.py $least

exits 0 "a kernel in MLIR's own dialects" "$tsr" compile "$root/corpus/matmul/matmul_f32.tsr" --kernel matmul_f32 --case prime \
    --emit mlir
hasnt out "tessera|sched|tile\." "has nothing of ours in it"
mlir-opt-19 out >/dev/null 2>err && pass "and mlir-opt takes it" || fail "and mlir-opt takes it"

exits 1 "a wrong bit" "$tsr" bench "$root/corpus" -v --backend mlir --profile strict --filter saxpy/prime --inject flip-bit
has out "^saxpy/prime +mlir .*mismatch" "is seen"
pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
exits 4 "its replay" "$tsr" replay "$pack"
has out "a replay starts no other programs" "is refused: a sandbox has no tools"
exits 0 "where no backend is named" "$tsr" bench "$root/corpus" -v --profile strict --filter saxpy/prime --list
hasnt out "mlir" "it takes no part"
finish
