# test_cli_found_order.sh - a tree that was found in code of others is written as an order; the interpreter computes it, so the code has
# goldens, and is held to their bits. Where no single order describes the code, none is written.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_orders.so
mkdir corpus && cd corpus || exit 1 # goldens lie beside it
cat >k.tsr <<'END_OF_KERNEL'
from tessera import *


@cases(case("usual", M=7, K=90, N=5))
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """x @ y."""
    return x @ y


@cases(case("usual", M=7, N=90))
@kernel
def row_sums(x: Tensor["M", "N", f32]) -> Tensor["M", f32]:
    """The sum of each row."""
    return sum(x, axis=-1)
END_OF_KERNEL
write=("$tsr" check k.tsr --trees --filter product --dims M=6,K=90,N=5)

# Orders that are found, written and held: blocks, lanes, rests; products that are rounded; sums in f64.
for want in in_blocks_of_lanes: backward:tree\\\(rounded:89:-1:-1\\\) in_f64:accum\\\(f64\\\); do
    IFS=: read -r function text <<<"$want"
    with="$functions:$function=product"
    exits 0 "the order of $function" "${write[@]}" --with "$with" --write "$function.tsr"
    has out "written to $function.tsr" "is written"
    has "$function.tsr" "${text:-tree\\(0:33:4\\+\\(1:34:4\\)\\+\\(2:35:4\\+\\(3:36:4\\)\\)\\+36\\+\\(37\\)\\+\\(}" "as it adds"
    exits 0 "its golden" "$tsr" golden record "$function.tsr"
    exits 0 "$function against the golden" "$tsr" bench "$function.tsr" --with "$with" --profile strict --quick --threads 1 --db r.db
    has out "1 against a golden" "has its bits"
done
exits 1 "another function against it" "$tsr" bench backward.tsr --with "$functions:in_f64=product" --profile strict --quick --db r.db
has out "mismatch" "has other bits"
exits 0 "the tree of what was written" "$tsr" check backward.tsr --trees --with "$functions:in_blocks_of_lanes=product" --write again.tsr
cmp -s <(tail -n +4 again.tsr) <(tail -n +4 in_blocks_of_lanes.tsr) && pass "is asked by its file as well" ||
    fail "is asked by its file as well"
exits 0 "the sum of ours" "$tsr" check k.tsr --trees --filter row_sums --write sums.tsr
exits 0 "is held to the order that was found" "$tsr" check sums.tsr --trees --with "$(dirname "$tsr")/harness/test_relations.so:by_nothing=row_sums"
exits 0 "as a document" "${write[@]}" --with "$functions:backward=product" --write j.tsr --json
has out '"written": "j.tsr"' "with the path"

# No single order: elements that differ in the tree, or in what is rounded; sums that no order says; a tree that is not all.
for function in by_column by_fma rounded_in_f64 by_value; do
    exits 5 "no order for $function" "${write[@]}" --with "$functions:$function=product" --write none.tsr
    has out "not written" "says so"
    [ -e none.tsr ] && fail "and leaves no file" || pass "and leaves no file"
done
has out "random inputs" "and what is not a tree's shows in the bits"

# No code is made of a written order, and each way to ask for it says why.
for level in asm module mlir; do
    exits 3 "no $level" "$tsr" compile backward.tsr --emit $level -o nothing
    has err "E0622" "with its diagnostic"
done
exits 0 "its graph" "$tsr" compile backward.tsr --emit graph
exits 3 "nothing of ours to time" "$tsr" bench backward.tsr --quick --db r.db
has err "product.*--with" "and what to type"
exits 3 "nothing of ours to check" "$tsr" check backward.tsr
exits 0 "it is linted" "$tsr" lint backward.tsr
sed 's/"found"/"found", K=91/; s/90/"K"/' backward.tsr >other.tsr
sed -i 's/\[6, 90/[6, "K"/; s/\[90,/["K",/' other.tsr
exits 3 "an order of another length" "$tsr" golden record other.tsr
has out "element 90 of 91" "names the first element that it leaves out"

exits 2 "a file without trees" "$tsr" check k.tsr --write f.tsr
exits 2 "dimensions without a file" "$tsr" check k.tsr --trees --dims M=1,K=3,N=2
exits 2 "a file of two kernels" "$tsr" check k.tsr --trees --write f.tsr

# A library that everyone uses.
peer=$(dirname "$tsr")/peers/openblas.so
if [ -e "$peer" ]; then
    matmul=$root/corpus/matmul/matmul_f32.tsr
    ask=("$tsr" check "$matmul" --trees --filter matmul_f32 --dims M=48,K=700,N=40 --with "$peer" --write b.tsr)
    "${ask[@]}" >out 2>err </dev/null
    if [ $? -eq 5 ] && grep -q "no single order" out; then
        pass "the order of OpenBLAS # skipped: its kernel for this CPU adds elements of one result in several orders"
        finish
    fi
    exits 0 "the order of OpenBLAS" "${ask[@]}"
    exits 0 "its golden" "$tsr" golden record b.tsr
    exits 0 "OpenBLAS against it" "$tsr" bench b.tsr --with "$peer" --profile strict --quick --threads 1 --db r.db
    has out "1 against a golden" "has its bits"
else
    echo "skipped: libopenblas-dev is not installed: nothing asked of it"
fi
finish
