# test_cli_exact.sh - a sum of a million elements in the order exact: shuffled, in shards, by any number of threads, at every level of instructions,
# in tiles of any size, no bit differs; of lanes64 shuffles do.
source "$(dirname "$0")/lib.sh"
elements=1048576
[ -n "${TSR_SHORT:-}" ] && elements=65536
cat >exact.tsr <<END
from tessera import *
from tessera.stdlib import exact_round, exact_words


def unlike(a, b):
    return sum(cast(bitcast(a, i32) != bitcast(b, i32), i32))


def in_shards(x, shards: int):
    """Each shard's sum in words, and the sum of these."""
    rows = exact_words(reshape(x, (shards, x.shape[0] // shards)))
    return exact_round(sum(sum(rows, axis=1), axis=0))


@cases(case("million", N=$((elements / 64))))
@jit
def million(x: Tensor["64*N", f32], key: Tensor["64*N", f32]) -> tuple[Tensor[f32], Tensor[i32], Tensor[i32], Tensor[i32]]:
    y = x * key * x
    total, usual = sum(y, order="exact"), sum(y)
    shuffled, again = take(y, argsort(key)), take(y, argsort(-x))
    exact = unlike(total, sum(shuffled, order="exact")) + unlike(total, sum(again, order="exact"))
    shards = unlike(total, in_shards(shuffled, 4)) + unlike(total, in_shards(again, 64))
    lanes = unlike(usual, sum(shuffled)) + unlike(usual, sum(again))
    print("shuffles", exact, "shards", shards, "of lanes64", lanes)
    return total, exact, shards, lanes


@cases(case("rows", M=16, N=$((elements / 16))))
@jit
def rows(x: Tensor["M", "N", f32]) -> tuple[Tensor["M", f32], Tensor["N", f32]]:
    return sum(x, axis=1, order="exact"), sum(x, axis=0, order="exact")
END

exits 0 "a million elements" "$tsr" run exact.tsr:million --steps 1 --threads 1 --out one
has out '^shuffles 0 shards 0 of lanes64 [12]$' "no bit of the exact sums differs, and some of the others do"
exits 0 "rows and columns" "$tsr" run exact.tsr:rows --steps 1 --threads 1 --out rows1
others=(--threads=2 --threads=3 --threads=7 --isa=x86-64-v3 --isa=x86-64-v2+fma --unoptimised --backend=interp)
for other in "${others[@]}"; do
    exits 0 "$other" "$tsr" run exact.tsr:million --steps 1 "$other" --out other
    exits 0 "$other: the same bits" diff -r one other
    exits 0 "$other: rows and columns" "$tsr" run exact.tsr:rows --steps 1 "$other" --out rows2
    exits 0 "$other: the same bits of them" diff -r rows1 rows2
done
for schedule in P0.ROWS=1,P1.COLUMNS=16 P0.SUB=16,P1.COLUMNS=48 P0.SUB=32; do
    exits 0 "$schedule" "$tsr" run exact.tsr:rows --steps 1 --schedule "$schedule" --out rows2
    exits 0 "$schedule: the same bits" diff -r rows1 rows2
done
finish
