# test_cli_tiles.sh - kernels made of tiles: what docs/tiles.md shows runs and holds, those that say so have the bits of the same
# computation on tensors, and what is wrong with one is an error at its place.
source "$(dirname "$0")/lib.sh"
bench=("$tsr" bench --quick --threads 1,2 --db r.db --failures packs --json)

# all_ok WHAT KERNELS: the results of ./out hold, and are of so many kernels.
all_ok() {
    if python3 - "$2" <<'END' 2>err; then
import json, sys
results = json.load(open("out"))["results"]
bad = [f"{r['kernel']}/{r['case']}@{r['backend']}: {r['status']}: {r['why']}" for r in results if r["status"] != "ok"]
assert not bad, "\n".join(bad)
assert len({r["kernel"] for r in results}) == int(sys.argv[1]), {r["kernel"] for r in results}
END
        pass "$1"
    else
        fail "$1"
    fi
}

# ---- the page ----
python3 - "$root/docs/tiles.md" <<'END'
import re, sys
blocks = re.findall(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S)
for number, block in enumerate(blocks):
    open(f"page{number}.tsr", "w").write(block)
open("kernels", "w").write(str(sum(len(re.findall("^@cases", block, re.M)) for block in blocks)))
END
exits 0 "the kernels of the page run" "${bench[@]}" page*.tsr --backend interp,cpu --profile strict
all_ok "... with the same bits on both" "$(cat kernels)"

# ---- the bits of tensors ----
cat >tensors.tsr <<'END'
from tessera import *


@kernel
def tile_softmax(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x)


@kernel
def tile_layernorm(x: Tensor["M", "N", f32], gain: Tensor["N", f32], bias: Tensor["N", f32]) -> Tensor["M", "N", f32]:
    return layernorm(x, gain, bias)


@kernel
def tile_matmul(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return x @ y


@kernel
def tile_mlp(
    x: Tensor["M", "D", f32], w1: Tensor["D", "H", f32], b1: Tensor["H", f32], w2: Tensor["H", "D", f32]
) -> Tensor["M", "D", f32]:
    return x + gelu(x @ w1 + b1) @ w2


@kernel
def tile_quantised(
    x: Tensor["M", "K", i8], y: Tensor["K", "N", i8], x_scale: Tensor["M", f32], y_scale: Tensor["N", f32]
) -> Tensor["M", "N", f32]:
    return scaled_matmul(x, y, x_scale, y_scale)


@kernel
def tile_dropout_blocks(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return dropout(x, p=0.1, seed=7)


@kernel
def tile_dropout_rows(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return dropout(x, p=0.1, seed=7)


@kernel
def tile_attention_rows(
    q: Tensor["H", "S", "D", f32], k: Tensor["H", "S", "D", f32], v: Tensor["H", "S", "D", f32]
) -> Tensor["H", "S", "D", f32]:
    return attention(q, k, v)
END
while read -r kernel case; do
    exits 0 "$kernel/$case beside it" "$tsr" bench "$root/corpus/tile" --filter "$kernel/$case" --backend cpu --quick --threads 1 \
        --with tensors.tsr --profile strict --db r.db --failures packs --json
    all_ok "... has the same bits" 1
done <<'END'
tile_softmax edge
tile_layernorm edge
tile_matmul chunks
tile_matmul edge
tile_mlp edge
tile_quantised edge
tile_dropout_blocks edge
tile_dropout_rows edge
tile_attention_rows edge
END

# ---- batches ----
cat >batches.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[3]))
@cases(case("edge", B=2, H=3, M=7, K=5, N=4))
@kernel
def shared(x: KTile["B", "H", "M", "K", f32], w: KTile["K", "N", f32], b: KTile["N", f32]) -> Tensor["B", "H", "M", "N", f32]:
    T = tile.context()
    return tile.dot(tile.load(x, T.rows), tile.load(w)) + tile.load(b)
END
sed -e 's/KTile/Tensor/; s/KTile/Tensor/; s/KTile/Tensor/; /autotune/d; /tile.context/d' -e 's/return .*/return x @ w + b/' batches.tsr >batches_of_tensors.tsr
exits 0 "an input without batches is the same for each" "$tsr" bench batches.tsr --backend interp,cpu --quick --threads 1 \
    --with batches_of_tensors.tsr --profile strict --db r.db --failures packs --json
all_ok "... with the bits of tensors" 1

# ---- axes of no places ----
cat >none.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[2]))
@cases(case("none", M=3, K=0, N=4))
@kernel
def product(x: KTile["M", "K", f32], w: KTile["K", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.dot(tile.load(x, tile.context().rows), tile.load(w))


@kernel.autotune(space=dict(BM=[2]))
@cases(case("none", M=3, N=0))
@kernel
def twice(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.load(x, tile.context().rows) + tile.load(x, tile.context().rows, shift=(1, 1))
END
exits 0 "all of an axis may be none" "${bench[@]}" none.tsr --backend interp,cpu --profile strict
all_ok "... on both" 2

# ---- sizes ----
cat >sizes.tsr <<'END'
from tessera import *

base = Schedule(block=(128, 128), warps=8, stages=3)
small = base.with_block(16, 32).with_warps(4)
chain = block(m=[16, 64], n=[32]).k([8]).warps([4, 8]).stages([2, 3]).swizzle("xor")


@kernel.schedule(small)
def one(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.load(x, tile.context().rows, tile.context().cols)


@kernel.schedule(chain)
def two(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.load(x, tile.context().rows, tile.context().cols)


@kernel.autotune(space=dict(BM=[16, 64], BN=[32], warps=[4]), metric="latency_ms")
def three(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.load(x, tile.context().rows, tile.context().cols)
END
for kernel in one two three; do
    exits 0 "$kernel has tiles of its schedule" "$tsr" compile sizes.tsr --kernel "$kernel" --dims M=40,N=40 --emit graph
    has out "size = \[16, 32\]" "... of 16 by 32"
    has out "warps = 4" "... and its hints"
done
echo 'wrong = Schedule(block=(0, 4))' | cat - sizes.tsr >wrong.tsr
exits 3 "a size of 0" "$tsr" compile wrong.tsr --kernel one --dims M=40,N=40
has err "error\[E1005\]" "... is E1005"

# ---- what is wrong ----
# refused ID WHAT: body of a kernel on stdin.
refused() {
    {
        printf '%s\n' 'from tessera import *' '@cases(case("a", M=40, N=37))' '@kernel' \
            'def f(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:'
        sed 's/^/    /'
    } >wrong.tsr
    exits 3 "$2" "$tsr" compile wrong.tsr --case a
    has err "error\[$1\]" "... is $1"
}
refused E0601 "a tensor in memory is no tile" <<<'return x + tile.load(x, tile.context().rows)'
refused E1002 "blocks of columns are none of rows" <<<'return tile.load(x, tile.context().cols)'
refused E1002 "an unknown place" <<<'return tile.load(x, rows=5)'
refused E1002 "a tile that is no block of the result" <<'END'
T = tile.context()
a = tile.load(x, T.rows)
return tile.load(x)[0:3]
END
refused E0601 "a name of a loop's body, behind it" <<'END'
for b in tile.range(N, 8):
    a = tile.load(x)
return a
END
refused E1004 "a number that changes from turn to turn" <<'END'
n = 0
a = tile.load(x)
for b in tile.range(N, 8):
    n = n + 1
return a
END
refused E0623 "a chance of dropout above 1" <<<'return tile.dropout(tile.load(x), p=1.5)'
refused E1002 "a mask for places that are not known" <<<'return tile.load(x) + tile.dropout(tile.full((8, 8), 1.0), p=0.5)'
refused E1008 "groups that do not divide" <<'END'
T = tile.context()
return tile.ungroup(tile.group(tile.load(x, T.rows, T.cols), 24))
END
refused E1010 "a store to an input" <<'END'
tile.store(x, tile.load(x))
return tile.load(x)
END
refused E1006 "a condition on a tile" <<'END'
a = tile.load(x)
if a:
    a = -a
return a
END
refused E0326 "a return inside of a loop" <<'END'
for b in tile.range(N, 8):
    return tile.load(x)
END
cat >half.tsr <<'END'
from tessera import *
@cases(case("a", M=4, N=37), case("b", M=4, N=8))
@kernel
def half(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return tile.load(x, cols=8)
END
for command in "compile --case a" "compile --case a --emit asm" "bench --backend interp,cpu --quick --db r.db"; do
    exits 3 "columns that nobody writes" "$tsr" ${command%% *} half.tsr ${command#* }
    has err "half.tsr:5:12: error\[E1011\]: in case 'a', no program instance writes place 8 of axis 1 of 'out'" "... are named"
done
exits 1 "... and found" "$tsr" lint half.tsr
has out "half.tsr:5:12: error\[E1011\]" "... by the lint"
grep -v cases half.tsr >open.tsr
exits 0 "... which are none without dimensions" "$tsr" compile open.tsr --emit graph
exits 3 "... of --dims" "$tsr" bench open.tsr --dims M=4,N=9 --backend interp --quick --db r.db
has err "open.tsr:4:12: error\[E1011\]" "... too"
/usr/bin/python3 -c '
import numpy
numpy.save("x.npy", numpy.zeros((4, 9), numpy.float32))'
exits 3 "... of arrays" "$tsr" run open.tsr --in x=x.npy --out given
has err "open.tsr:4:12: error\[E1011\]" "... too"
cat >many.tsr <<'END'
from tessera import *
@kernel.autotune(space=dict(BM=[1]))
@cases(case("many", M=3, N=4000000))
@kernel
def many(x: KTile["M", "N", f32]) -> Tensor["M", f32]:
    a = tile.zeros((tile.context().m,), f32)
    for n in tile.range(N, 1):
        a = exp(a) + sum(tile.load(x, tile.context().rows, n), axis=1)
    return a
END
"$tsr" bench many.tsr --backend interp,cpu --quick --db r.db --failures packs --json >out 2>err
/usr/bin/python3 -c '
import json
for r in json.load(open("out"))["results"]:
    assert r["status"] == "unsupported" and "program instances are" in r["why"], r' || fail "more instances than can be written out are unsupported"
cat >crowded.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[32], BN=[32]))
@cases(case("some", S=320, D=32), case("many", S=2016, D=32))
def crowded(q: KTile["S", "D", f32], k: KTile["S", "D", f32], v: KTile["S", "D", f32]) -> Tensor["S", "D", f32]:
    """Weights that depend on what is carried: each turn is phases of its own."""
    T = tile.context()
    a = tile.load(q, T.rows)
    acc = tile.zeros((T.m, D), f32)
    m = tile.full((T.m,), -INF)
    for n in tile.range_n(k.shape, T.n):
        s = tile.dot(a, tile.load(k, n).T)
        up = maximum(m, max(s, axis=1))
        acc = acc * exp(m - up)[:, None] + tile.dot(exp(s - up[:, None]), tile.load(v, n))
        m = up
    return acc
END
"$tsr" bench crowded.tsr --backend cpu --quick --db r.db --failures packs --json >out 2>err
/usr/bin/python3 -c '
import json
got = {r["case"]: r["status"] for r in json.load(open("out"))["results"]}
assert got == {"some": "ok", "many": "unsupported"}, got' && pass "more phases than there are" || fail "more phases than there are are unsupported"
cat >constants.tsr <<'END'
from tessera import *


@constants(causal=True)
@kernel.autotune(space=dict(BM=[16]))
@cases(case("edge", M=37), case("plain", M=37, causal=False), case("again", M=37, causal=False))
def masked(x: KTile["M", "M", f32], *, causal: bool) -> Tensor["M", "M", f32]:
    T = tile.context()
    a = tile.load(x, T.rows)
    if causal:
        a = a * 2.0
    return a
END
"$tsr" lint constants.tsr --json >out 2>err
/usr/bin/python3 -c '
import json
found = [f["message"] for f in json.load(open("out"))["findings"] if f["id"] == "duplicate-case"]
assert len(found) == 1 and "again" in found[0], found' && pass "cases of other constants" || fail "cases of other constants are no duplicates"
cat >edge.tsr <<'END'
from tessera import *
@kernel.autotune(space=dict(BM=[16], BN=[64]))
@cases(case("a", M=37, N=100))
def edge(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    return tile.ungroup(tile.group(tile.load(x, T.rows, T.cols), 32) * 2.0)
END
exits 3 "groups at an edge that are not whole" "$tsr" bench edge.tsr --backend interp --quick --db r.db --failures packs --json
has err "E1013.*36 of 64 places" "... are refused with their number"

# Loops that end before the first block, in a case, and in some instances.
cat >before.tsr <<'END'
from tessera import *
@kernel.autotune(space=dict(BM=[16], BN=[16], BK=[16]))
@cases(case("some", M=33, N=20, K=100, J=50, y=integers(1, 3)), case("none", M=33, N=20, K=50, J=100, y=integers(1, 3)))
def stops(x: KTile["M", "K", f32], y: KTile["K", "N", f32], z: KTile["J", 1, f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range(K, T.k, stop=K - J):
        acc = tile.mma(tile.load(x, T.rows, k), tile.load(y, k, T.cols), acc)
    return acc

@kernel.autotune(space=dict(BM=[16], BN=[16], BK=[16]))
@cases(case("fixed"))
def rows(x: KTile[33, 50, f32], y: KTile[50, 20, f32]) -> Tensor[33, 20, f32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range(50, T.k, stop=T.rows.start + T.m - 20):
        acc = tile.mma(tile.load(x, T.rows, k), tile.load(y, k, T.cols), acc)
    for k in tile.range(50, T.k, start=T.rows.start - 100):
        acc = tile.mma(tile.load(x, T.rows, k), tile.load(y, k, T.cols), acc)
    return acc
END
exits 0 "bounds before the first block" "$tsr" bench before.tsr --backend interp,cpu,ptx-emulated,rocm-emulated --quick --db r.db --failures packs --json
printf 'import numpy as np\nnp.save("bx.npy", np.ones((33, 50), "f4")); np.save("by.npy", np.ones((50, 20), "f4")); np.save("bz.npy", np.ones((100, 1), "f4"))\n' | /usr/bin/python3 -
for backend in interp cpu ptx-emulated; do
    exits 0 "no block of this case" "$tsr" run before.tsr:stops --in x=bx.npy --in y=by.npy --in z=bz.npy --backend $backend --out before
    exits 0 "gives zeros" /usr/bin/python3 -c 'import glob, numpy as np; assert not np.load(glob.glob("before/*.npy")[0]).any()'
    exits 0 "as many as each instance has" "$tsr" run before.tsr:rows --in x=bx.npy --in y=by.npy --backend $backend --out these
    exits 0 "are added" /usr/bin/python3 -c 'import glob, numpy as np; assert np.load(glob.glob("these/*.npy")[0])[:, 0].tolist() == [50] * 16 + [66] * 16 + [82]'
done
finish
