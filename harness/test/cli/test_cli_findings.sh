# test_cli_findings.sh - three findings of docs/findings.md are found again: in NumPy, where it is installed.
source "$(dirname "$0")/lib.sh"
export TESSERA_PYTHON=/usr/bin/python3
functions=$root/docs/examples/numpy_functions.py
if ! "$TESSERA_PYTHON" -c 'import numpy' 2>/dev/null || ! [ -e "$(dirname "$tsr")/python/tessera/_tessera.abi3.so" ]; then
    echo "skipped: python3-numpy or the package tessera is missing"
    exit 77
fi
check=("$tsr" check "$root/corpus/reduction" "$root/corpus/normalisation/softmax.tsr" --with "$functions" --shapes 1)

# The kernel of the corpus has cases of thousands of rows, and each smaller shape that is tried on the way down starts NumPy: that is for the full form.
columns=("$tsr" check columns.tsr --with "$functions" --shapes 1)
[ -n "${TSR_SHORT:-}" ] || columns=("${check[@]}")
cat >columns.tsr <<'END'
from tessera import *


@cases(case("few", M=16, N=2))
@kernel
def sum_columns(x: Tensor["M", "N", f32]) -> Tensor["N", f32]:
    return sum(x, axis=0)
END
exits 1 "a column's sum depends on the number of columns" "${columns[@]}" --filter sum_columns --relation batch
has out "between N=1 and N=2" "from one to two"
exits 0 "the tree of a row's sum" "${check[@]:0:6}" --filter sum_rows --trees
has out "as NumPy does" "is NumPy's pairwise sum"
exits 0 "a softmax of rows" "${check[@]}" --filter softmax_rows --relation batch,threads,isolation
has out "batch of M +holds" "holds"
finish
