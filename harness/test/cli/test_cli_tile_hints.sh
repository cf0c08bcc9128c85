# test_cli_tile_hints.sh - hints of a kernel of tiles: on each kind of chip two values of one are two codes, and those that
# change nothing there are said; a kernel that chips cannot have as it stands says why.
source "$(dirname "$0")/lib.sh"
cat >flash.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[64, 32], BN=[64, 32], warps=[2, 4], stages=[2, 1], vector=[4, 8]))
@cases(case("a", H=1, S=64, D=32, S_kv=128))
def flash(q: KTile["H", "S", "D", bf16], cache: KVCache):
    T = tile.context()
    Q = tile.load(q, T.rows, vector=T.vector)
    acc = tile.zeros((T.m, T.d), f32); m = tile.full((T.m,), -INF); l = tile.zeros((T.m,), f32)
    for n in tile.range_n(cache.K.shape, T.n):
        S = tile.dot(Q, tile.transpose(tile.load(cache.K, n, prefetch=PREFETCH))) * tile.rsqrt(float(T.d))
        P, m_c, l_c = tile.softmax_online(S)
        acc, m, l = tile.softmax_accumulate(acc, m, l, tile.cast(P, bf16), tile.load(cache.V, n, space="SPACE"), m_c, l_c)
    return tile.cast(acc / l[:, None], bf16)
END
sed 's/, prefetch=PREFETCH//; s/SPACE/shared/' flash.tsr >usual.tsr
sed 's/, prefetch=PREFETCH//; s/SPACE/register/' flash.tsr >space.tsr
sed 's/PREFETCH/0/; s/SPACE/shared/' flash.tsr >prefetch.tsr

# code FILE CHIP SPACE: the digest of what is generated.
code() {
    case $2 in gfx*) form=hsaco ;; *) form=ptx ;; esac
    "$tsr" compile "$1" --isa "$2" --profile deterministic ${3:+--space "$3"} --emit $form -o code.bin >out 2>err || return
    sha256sum <code.bin
}

for chip in sm_80 sm_90a gfx942; do
    usual=$(code usual.tsr "$chip" "") || fail "$chip makes code"
    for choice in BM=32 BN=32 warps=4 stages=1 vector=8; do
        other=$(code usual.tsr "$chip" $choice)
        if [ -n "$other" ] && [ "$other" != "$usual" ]; then pass "$chip: $choice"; else fail "$chip: $choice changes nothing"; fi
    done
    for load in space prefetch; do
        other=$(code $load.tsr "$chip" "")
        if [ -n "$other" ] && [ "$other" != "$usual" ]; then pass "$chip: $load of a load"; else fail "$chip: $load of a load changes nothing"; fi
    done
    exits 0 "$chip: metadata" "$tsr" compile usual.tsr --isa "$chip" --profile deterministic --emit metadata
    hasnt out '"unused_hints"' "no hint is left over"
    hasnt out '"fallbacks"' "as it stands"
done
exits 0 "a CPU joins tiles" "$tsr" compile usual.tsr --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*warps=2' "which needs no hints"

# Both products on the matrix unit, and between them no memory but the workgroup's.
exits 0 "tiles of sm_80" "$tsr" compile usual.tsr --isa sm_80 --profile deterministic --emit tile
for phrase in 'tile.mma' 'factor = true' 'tile.copy_wait'; do has out "$phrase" "has $phrase"; done
hasnt out 'tile.workspace' "no score is in far memory"

cat >long.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[64]))
@cases(case("a", M=64, N=1000))
def rows(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    a = tile.load(x, tile.context().rows)
    return a - max(a, axis=1, keepdims=True)
END
exits 0 "a row of 1000" "$tsr" compile long.tsr --isa sm_80 --emit metadata
has out '"as": "whole tensors"' "is joined"
has out 'tessera.reduce' "because of its maximum"

for file in usual space prefetch; do
    exits 0 "the same bits: $file" "$tsr" bench $file.tsr --backend ptx-emulated,rocm-emulated --profile strict --quick
done
finish
