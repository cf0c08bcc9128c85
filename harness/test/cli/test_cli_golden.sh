# test_cli_golden.sh - recording, listing and verifying; refusal to overwrite; stale keys.
source "$(dirname "$0")/lib.sh"
small_corpus
export TSR_DB=$scratch/results.db

exits 0 "list before anything was recorded" "$tsr" golden list corpus
has out "^missing +product/exact" "says missing"
exits 5 "verify without goldens has no verdict" "$tsr" golden verify corpus
exits 0 "record" "$tsr" golden record corpus
has err "4 recorded, 0 unchanged" "records every case"
[ -f golden/small/product/exact.json ] && pass "beside the corpus" || fail "beside the corpus"
find golden -type f -exec sha256sum {} + | sort >first.sums
exits 0 "record again" "$tsr" golden record corpus
has err "0 recorded, 4 unchanged" "changes nothing"
rm -r golden
exits 0 "record from nothing" "$tsr" golden record corpus
find golden -type f -exec sha256sum {} + | sort >second.sums
same first.sums second.sums "goldens are reproducible, byte for byte"
exits 0 "list" "$tsr" golden list corpus
has out "^present +product/exact" "says present"
exits 0 "list one file" "$tsr" golden list corpus/small/small.tsr
has out "^present +product/exact" "finds the goldens of the corpus that it lies in"
exits 0 "verify" "$tsr" golden verify corpus
has err "8 hold, 0 do not" "holds on every backend"
# Short: all kernels, without the cases that only have other sizes, and those of integers, whose sums no order changes.
some=()
if [ -n "${TSR_SHORT:-}" ]; then
    some=(--filter '*/prime,*/zero,*/empty,*/bf16,*/f16,*/f64,*/i4,*/i8,*/i32,*/f8e4m3fn,*/special,*/ties,*/subnormal,*/signed_zeros,*/overflow'
        --filter '*/edge,*/ragged,*/blocks,*/chunks,*/small,*/padded,*/several,narrow_i64/one')
fi
exits 0 "all of the corpus has its bits on this CPU" "$tsr" golden verify "$root/corpus" --quick --backend cpu "${some[@]}"
exits 0 "verify unoptimised code" "$tsr" golden verify "${most_of_corpus[@]}" --quick --unoptimised --backend cpu
has err "$all_hold" "has the same bits for the whole corpus"
exits 0 "bench" "$tsr" bench corpus --quick
has out "against a golden, 0 against the interpreter" "checks against goldens"

exits 0 "another seed has other goldens" "$tsr" golden list corpus --seed 2
has out "^stale +product/exact" "so these are stale"
exits 0 "a stale golden is replaced" "$tsr" golden record corpus --seed 2 --golden elsewhere
exits 0 "in a directory of choice" "$tsr" golden list corpus --seed 2 --golden elsewhere
has out "^present +product/exact" "where they are found"

# The key is what the kernel means: not where it stands, nor how it is laid out, nor what is said about it.
mkdir -p moved/corpus/deeper && cp -r golden moved/
mv moved/golden/small moved/golden/deeper
sed -e 's/@kernel/@kernel  # marked/' -e 's/    return x @ y/\n    # The product.\n    return (x @ y)/' \
    -e '1s/.*/"""Other words."""\n\n/' -e 's/case("tiny", M=4, N=6, K=8)/case("tiny", K=8, N=6, M=4)/' \
    corpus/small/small.tsr >moved/corpus/deeper/other.tsr
exits 0 "list a corpus that was moved and laid out anew" "$tsr" golden list moved/corpus
hasnt out "stale|missing" "no key has changed"
exits 0 "verify it" "$tsr" golden verify moved/corpus

# The same key, other bits: something that must not change has changed.
digest=$(sed -n 's/.*"sha256": "\(.*\)".*/\1/p' golden/small/product/exact.json)
sed -i -e "s/$digest/$(printf '%064d' 7)/" golden/small/product/exact.json
exits 3 "a golden whose tensor is not the recorded one is damaged" "$tsr" golden verify corpus --backend cpu \
    --filter product/exact
sed -i -e 's/"file": ".*"/"file": null/' golden/small/product/exact.json
exits 1 "record refuses to overwrite other bits under the same key" "$tsr" golden record corpus
has out "key is unchanged but the bits" "and says so"
exits 1 "verify fails" "$tsr" golden verify corpus --backend cpu --filter product/exact
exits 1 "bench fails" "$tsr" bench corpus --quick --backend cpu --profile strict --filter product/exact
cp corpus/small/small.tsr before.tsr
sed -i 's/return x @ y/return x @ y + 1.0/' corpus/small/small.tsr
exits 0 "a kernel that was changed" "$tsr" golden list corpus
has out "^stale +product/exact" "has stale goldens"
exits 0 "bench asks the interpreter then" "$tsr" bench corpus --quick --backend cpu --profile strict --filter product/exact
has out "golden is stale" "and says why"
exits 0 "the list" "$tsr" golden list corpus
has out "^present +addition/tiny" "and the others stay"
exits 0 "they are recorded anew" "$tsr" golden record corpus
has err "2 recorded, 2 unchanged" "and only they"
finish
