# test_cli_order.sh - the order probe: every kernel of the corpus adds as its order says, and the digest in the results is
# that of the tree, whatever the code looks like.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

# Short: of each kernel a case or two; the full form has all, where long sums take most of the time.
some=() probed=()
if [ -n "${TSR_SHORT:-}" ]; then
    some=(--filter '*/prime,*/ragged,*/chunks,*/bf16,sum_rows/f64,sum_rows/blocks')
    probed=(--filter '*/prime,*/chunks,sum_all_squares/one')
fi
exits 0 "the corpus adds in its orders" "$tsr" golden verify "${most_of_corpus[@]}" --quick --backend cpu --order-probe "${some[@]}"
has err "$all_hold" "all of it"

probe() {
    exits 0 "probe: $*" "$tsr" bench "$root/corpus/matmul/matmul_f32.tsr" \
        "$root/corpus/matmul/matmul_i8.tsr" "$root/corpus/reduction" --quick --backend cpu --profile strict \
        --order-probe --json "${probed[@]}" "$@"
}
probe --threads 1
cp out one.json
probe --threads 2 --unoptimised
cp out other.json
cat >check.py <<"END"
import json
one, other = ({(r["kernel"], r["case"]): r["order_probe"] for r in json.load(open(f))["results"]} for f in ("one.json", "other.json"))
assert one == other, "they depend on threads or on optimisation"
assert one[("matmul_f32", "chunks")] and one[("sum_rows", "prime")]
assert one[("matmul_f32", "chunks")] == one[("matmul_f32_yt", "chunks")], "one K in one order is one tree"
assert one[("matmul_f32", "chunks")] != one[("matmul_f32_seq", "chunks")], "chunk512 and seq are two"
assert one[("cumsum_rows", "prime")] == one[("cumsum_columns", "prime")] != one[("sum_rows", "prime")], "running sums are one chain"
assert one[("matmul_i8", "prime")] is None and one[("max_min_rows", "prime")] is None, "integers and maxima have no order"
END
exits 0 "the digests are those of the trees" $python check.py
exits 0 "in a quick run it is not asked for" "$tsr" bench "$root/corpus/matmul" --quick --backend cpu --profile strict --filter 'matmul_f32/prime' --json
has out '"order_probe": null' "there is no digest"
finish
