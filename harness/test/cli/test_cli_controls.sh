# test_cli_controls.sh - negative controls: every kernel of the corpus, run wrong in every way that it can be, is rejected.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

# Kernels that have each control, or no place for it. The full form has those of which a case takes seconds, too.
sources=("$root/corpus")
[ -z "${TSR_SHORT:-}" ] || sources=("$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/matmul/matmul_i8.tsr" "$root/corpus/attention/rope.tsr"
    "$root/corpus/movement/gather.tsr" "$root/corpus/elementwise/clamp.tsr" "$root/corpus/reduction/sum.tsr" "$root/corpus/reduction/extrema.tsr")
exits 0 "all controls of the corpus" "$tsr" bench "${sources[@]}" --quick --negative-controls --backend cpu \
    --profile strict,deterministic
has out "^[0-9]+ controls of kernels: [0-9]+ rejected, 0 passed, 0 broke, [0-9]+ left out$" "are rejected"
has out "^matmul_f32 +cpu +strict +([0-9]+/[0-9]+ +){7}[0-9]+/[0-9]+$" "a matmul shows every one of them"
has out "^swap-operands does not apply: .*tessera.reduce: has one operand" "what cannot show has its reason"

# The other way round: where no case can show a control, the corpus is found wanting.
mkdir -p corpus/thin
cat >corpus/thin/thin.tsr <<'END'
"""A product whose only case cannot tell x @ y from y @ x."""
from tessera import *


@cases(case("one", M=1, N=1, K=1))
@kernel
def thin(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """x @ y."""
    return x @ y
END
exits 1 "a kernel without a case that tells" "$tsr" bench corpus --negative-controls --backend cpu --profile strict
has out "^PASSED: swap-operands in thin@cpu,strict: rejected 0, accepted 0, outputs unchanged in 1 cases" "is named"

# And the document.
exits 1 "as JSON" "$tsr" bench corpus --negative-controls --backend cpu --profile strict --json
cp out controls.json
exits 0 "which is one document" $python -c '
import json
d = json.load(open("controls.json"))
assert d["schema"] == "tsr.controls/1"
by = {c["control"]: c for c in d["controls"]}
assert by["swap-operands"]["outcome"] == "passed", by
assert by["zero"]["outcome"] == "rejected" and by["zero"]["rejected"] == 1, by
'

# Each of them is a fault too, so it is packed and replayed like the others.
for fault in swap-operands transposed wrong-rounding; do
    exits 1 "$fault by hand" "$tsr" bench "$root/corpus/matmul" --quick --backend cpu --profile strict --filter matmul_f32_seq/square \
        --inject $fault
    pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
    exits 0 "its replay" "$tsr" replay "$pack"
    has out "^REPRODUCED_EXACT" "gives the same bits"
done
exits 0 "a fault that an addition cannot have" "$tsr" bench "$root/corpus/reduction" --quick --profile strict --filter 'sum_rows/prime' \
    --inject swap-operands
has out "unsupported" "is told"
exits 2 "controls of the oracle" "$tsr" bench corpus --negative-controls --backend interp
has err "interp is never wrong on purpose" "cannot be made"
for option in --list --resume --last-failed --fail-fast --order-probe '--inject zero' '--export json=x' '--db x' '--failures x'; do
    # shellcheck disable=SC2086
    exits 2 "controls with $option" "$tsr" bench corpus --negative-controls $option
done
finish
