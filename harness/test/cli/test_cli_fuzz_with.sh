# test_cli_fuzz_with.sh - tsr fuzz --with: cases that nobody wrote, for code of others; one that fails becomes small, stands in a
# source, and happens again from its pack.
source "$(dirname "$0")/lib.sh"
cat >k.tsr <<'END'
from tessera import *


@cases(case("usual", M=5, N=7, T=f32), case("wide", M=3, N=70, T=f32))
@kernel
def twice(x: Tensor["M", "N", "T"]) -> Tensor["M", "N", "T"]:
    """Two times x."""
    return x * 2


@cases(case("usual", V=9, N=6, indices=integers(0, 9)))
@kernel
def rows_of(x: Tensor["V", f32], indices: Tensor["N", i32]) -> Tensor["N", f32]:
    """Elements by their numbers."""
    return take(x, indices)
END
cat >sound.py <<'END'
def twice(x, out):
    rows, columns = x.shape
    for m in range(rows):
        for n in range(columns):
            out[m, n] = 2 * x[m, n]


def rows_of(x, indices, out):
    for n in range(indices.shape[0]):
        out[n] = x[indices[n]]
END
cat >wrong.py <<'END'
import os


def at_an_edge(x, out):
    rows, columns = x.shape
    for m in range(rows):
        for n in range(columns):
            out[m, n] = (3 if n == 16 else 2) * x[m, n]


def at_a_value(x, out):
    rows, columns = x.shape
    for m in range(rows):
        for n in range(columns):
            out[m, n] = 0 if x[m, n] in (float("inf"), -float("inf")) else 2 * x[m, n]


def ends(x, out):
    if x.shape[0] > 4:
        os._exit(3)
    rows, columns = x.shape
    for m in range(rows):
        for n in range(columns):
            out[m, n] = 2 * x[m, n]
END
fuzz=("$tsr" fuzz k.tsr --failures packs --threads 1 --timeout 20 --draws)
# A start of Python for each; the full form draws more.
draws=${TSR_SHORT:+12}
draws=${draws:-25}
exits 0 "what is right" "${fuzz[@]}" "$draws" --with sound.py --json
has out '"compared": [2-5].' "holds in cases that nobody wrote"
has out '"failed": \[\]' "in all of them"
cp out first
exits 0 "again" "${fuzz[@]}" "$draws" --with sound.py --json
same out first "a seed's cases are the same"

for one in "at_a_value|mismatch|M=1, N=" "ends|crash|M=5, N=(1|0)"; do
    IFS='|' read -r symbol status dims <<<"$one"
    rm -rf packs
    exits 1 "$symbol" "${fuzz[@]}" 60 --filter twice --with "wrong.py:$symbol=twice" --json
    has out "\"status\": \"$status\"" "is found: $status"
    has out "\"case\": \".*$dims.*\"" "in a small case: $dims"
    exits 0 "$symbol, from its pack" "$tsr" replay packs/*.repro.tar.lz4 --trust
    has out "^REPRODUCED" "happens again"
done
rm -rf packs
exits 1 "at_an_edge, as text" "${fuzz[@]}" 60 --filter twice --with wrong.py:at_an_edge=twice
has out "^twice on wrong.py.*: mismatch: " "is found"
has out "^    case\\(.*N=17" "in a small case"
sed -n 's/^    \(case(.*)\)$/@cases(\1)/p' out >line
exits 0 "at_an_edge, from its pack" "$tsr" replay packs/*.repro.tar.lz4 --trust
has out "^REPRODUCED" "happens again"
sed "/^@cases(case(\"usual\", M/{r line
d}" k.tsr >shown.tsr
exits 1 "the case that is shown" "$tsr" bench shown.tsr --quick --filter twice/drawn --with wrong.py:at_an_edge=twice --failures packs
has out "mismatch" "stands in a source, and fails there"

cat >contract.tsr <<'END'
@cases(case("usual", M=5, N=7))
@kernel
def twice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]: ...
END
exits 0 "without a formula" "$tsr" fuzz contract.tsr --draws 5 --threads 1 --with sound.py --json
has out '"not_verified": 5,' "it runs, and is not verified"
exits 3 "a file that computes none of them" "${fuzz[@]}" 3 --with "wrong.py"
exits 2 "kernels of its own, or code of others" "${fuzz[@]}" 25 --with sound.py --kernels 3
exits 2 "cases are for --with" "$tsr" fuzz --draws 3
finish
