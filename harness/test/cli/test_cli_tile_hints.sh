# test_cli_tile_hints.sh - hints of a kernel of tiles: on each kind of chip two values of one are two codes, and those that
# change nothing there are said; a kernel that chips cannot have as it stands says why.
source "$(dirname "$0")/lib.sh"
cat >flash.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[64, 32], BN=[64, 32], warps=[2, 4], stages=[2, 1], vector=[4, 8]))
@cases(case("a", H=1, S=64, D=32, S_kv=256))
def flash(q: KTile["H", "S", "D", bf16], cache: KVCache):
    T = tile.context()
    Q = tile.load(q, T.rows, vector=T.vector)
    acc = tile.zeros((T.m, T.d), f32); m = tile.full((T.m,), -INF); l = tile.zeros((T.m,), f32)
    for n in tile.range_n(cache.K.shape, T.n, RANGE):
        S = tile.dot(Q, tile.transpose(tile.load(cache.K, n, prefetch=PREFETCH, swizzle="SWIZZLE"))) * tile.rsqrt(float(T.d))
        P, m_c, l_c = tile.softmax_online(S)
        acc, m, l = tile.softmax_accumulate(acc, m, l, tile.cast(P, bf16), tile.load(cache.V, n, space="SPACE"), m_c, l_c)
    return tile.cast(acc / l[:, None], bf16)
END
for ahead in prefetch=0 prefetch=1 prefetch=2 stages=1 stages=3; do
    sed "s/, prefetch=PREFETCH, swizzle=\"SWIZZLE\"//; s/SPACE/shared/; s/RANGE/$ahead/" flash.tsr >range_$ahead.tsr
done
sed 's/, swizzle="SWIZZLE"//; s/SPACE/shared/' flash.tsr >loads.tsr
sed 's/prefetch=PREFETCH/stages=1/; s/"shared"/&, prefetch=0/; s/, RANGE//' loads.tsr >own.tsr
sed 's/prefetch=PREFETCH/stages=1/; s/"shared"/&, prefetch=0/; s/RANGE/stages=3/' loads.tsr >each.tsr
sed 's/PREFETCH/1/; s/RANGE/stages=1/' loads.tsr >keys.tsr
sed 's/, prefetch=PREFETCH//; s/"shared"/&, prefetch=0/; s/RANGE/prefetch=1/' loads.tsr >values.tsr
sed -i 's/, RANGE//' flash.tsr
sed 's/, prefetch=PREFETCH, swizzle="SWIZZLE"//; s/SPACE/shared/' flash.tsr >usual.tsr
sed 's/, prefetch=PREFETCH, swizzle="SWIZZLE"//; s/SPACE/register/' flash.tsr >space.tsr
sed 's/PREFETCH, swizzle="SWIZZLE"/0/; s/SPACE/shared/' flash.tsr >prefetch.tsr
for order in none xor; do sed "s/, prefetch=PREFETCH//; s/SPACE/shared/; s/SWIZZLE/$order/" flash.tsr >$order.tsr; done

# code FILE CHIP SPACE: the digest of what is generated.
code() {
    case $2 in gfx*) form=hsaco ;; *) form=ptx ;; esac
    "$tsr" compile "$1" --isa "$2" --profile deterministic ${3:+--space "$3"} --emit $form -o code.bin >out 2>err || return
    sha256sum <code.bin
}

# alike CHIP WHAT FILE...: the same code of each.
alike() {
    for file in "${@:3}"; do code $file.tsr "$1" ""; done >digests
    if [ "$(wc -l <digests)" = $(($# - 2)) ] && [ "$(sort -u digests | wc -l)" = 1 ]; then pass "$1: $2"; else fail "$1: $2"; fi
}

chips="sm_80 sm_90a gfx942"
[ -z "${TSR_SHORT:-}" ] || chips="sm_90a gfx942"
for chip in $chips; do
    usual=$(code usual.tsr "$chip" "") || fail "$chip makes code"
    for choice in BM=32 BN=32 warps=4 stages=1 vector=8; do
        other=$(code usual.tsr "$chip" $choice)
        if [ -n "$other" ] && [ "$other" != "$usual" ]; then pass "$chip: $choice"; else fail "$chip: $choice changes nothing"; fi
    done
    for load in space prefetch none xor; do
        other=$(code $load.tsr "$chip" "")
        if [ -n "$other" ] && [ "$other" != "$usual" ]; then pass "$chip: $load of a load"; else fail "$chip: $load of a load changes nothing"; fi
    done
    if [ "$(code none.tsr "$chip" "")" != "$(code xor.tsr "$chip" "")" ]; then pass "$chip: none, xor"; else fail "$chip: none is xor"; fi
    for ahead in prefetch=0 stages=1; do
        other=$(code range_$ahead.tsr "$chip" "")
        if [ -n "$other" ] && [ "$other" != "$usual" ]; then pass "$chip: $ahead of a range"; else fail "$chip: $ahead of a range changes nothing"; fi
    done
    alike "$chip" "of all loads, none is ahead" "range_prefetch=0" "range_stages=1" own
    alike "$chip" "of the range before the space" "range_prefetch=1" usual
    alike "$chip" "of a load before the range: keys alone are ahead" keys values
    if [ "$(code keys.tsr "$chip" "")" != "$(code own.tsr "$chip" "")" ]; then pass "$chip: keys"; else fail "$chip: keys are not ahead"; fi
    for ahead in prefetch=0 stages=1; do
        exits 0 "$chip: metadata" "$tsr" compile range_$ahead.tsr --isa "$chip" --profile deterministic --emit metadata
        has out '"unused_hints": "stages=2"' "the space is below a range"
    done
    for file in usual none xor; do
        exits 0 "$chip: metadata" "$tsr" compile $file.tsr --isa "$chip" --profile deterministic --emit metadata
        hasnt out '"unused_hints"' "no hint is left over"
        hasnt out '"fallbacks"' "as it stands"
    done
done
# Deeper where a chip copies by itself; elsewhere one trip ahead is all, so that more is one of a kind with it.
for chip in sm_80 sm_90a; do alike $chip "two ahead are three stages" range_prefetch=2 range_stages=3; done
if [ "$(code range_prefetch=2.tsr sm_80 "")" != "$(code usual.tsr sm_80 "")" ]; then pass "two ahead are more"; else fail "two ahead are one"; fi
alike gfx942 "one ahead at most" range_prefetch=2 range_stages=3 usual
exits 0 "a CPU" "$tsr" compile range_prefetch=2.tsr --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*prefetch=2' "lists what a range says"

exits 0 "a CPU joins tiles" "$tsr" compile usual.tsr --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*warps=2' "which needs no hints"

# Both products on the matrix unit, and between them no memory but the workgroup's.
exits 0 "tiles of sm_80" "$tsr" compile usual.tsr --isa sm_80 --profile deterministic --emit tile
for phrase in 'tile.mma' 'factor = true' 'tile.copy_wait'; do has out "$phrase" "has $phrase"; done
hasnt out 'tile.workspace' "no score is in far memory"

cat >long.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[32]))
@cases(case("a", M=64, N=1000))
def rows(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    a = tile.load(x, tile.context().rows)
    return a - max(a, axis=1, keepdims=True)
END
exits 0 "a row of 1000" "$tsr" compile long.tsr --isa sm_80 --emit metadata
has out '"as": "whole tensors"' "is joined"
has out 'tessera.reduce' "because of its maximum"

for file in usual space prefetch none xor range_prefetch=0 range_stages=3 own; do
    exits 0 "the same bits: $file" "$tsr" bench $file.tsr --backend ptx-emulated,rocm-emulated --profile strict --quick
done

# ---- how rows lie ----
# One for each way to multiply: threads, fragments that are loaded as matrices or by runs, single bytes; and edges.
cat >rows.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[32], BN=[64], BK=[32], stages=[2]))
@cases(case("whole", M=64, N=64, K=96), case("edge", M=50, N=70, K=90))
def floats(x: KTile["M", "K", bf16], y: KTile["N", "K", bf16]) -> Tensor["M", "N", f32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range_k(x.shape, T.k):
        acc = tile.mma(tile.load(x, T.rows, k, swizzle="ORDER"), tile.transpose(tile.load(y, T.cols, k, swizzle="ORDER")), acc)
    return acc


@kernel.autotune(space=dict(BM=[32], BN=[64], BK=[128]))
@cases(case("whole", M=64, N=64, K=256), case("edge", M=50, N=70, K=200))
def octets(x: KTile["M", "K", i8], y: KTile["K", "N", i8]) -> Tensor["M", "N", i32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), i32)
    for k in tile.range_k(x.shape, T.k):
        acc = tile.mma(tile.load(x, T.rows, k, swizzle="ORDER"), tile.load(y, k, T.cols, swizzle="ORDER"), acc)
    return acc


@kernel.schedule(block(m=16, n=16).swizzle("ORDER"))
@cases(case("whole", M=16, K=24, N=16))
def whole(x: KTile["M", "K", f32], y: KTile["K", "N", f32]) -> Tensor["M", "N", f32]:
    T = tile.context()
    return tile.dot(exp(tile.load(x, T.rows, space="shared")), tile.load(y, cols=T.cols))
END
for order in none pad xor; do
    sed "s/ORDER/$order/g" rows.tsr >rows_$order.tsr
    for chip in sm_80 sm_90 gfx942 gfx1100; do
        case $chip in gfx*) backend=rocm-emulated ;; *) backend=ptx-emulated ;; esac
        exits 0 "$order on $chip" "$tsr" bench rows_$order.tsr --backend $backend --isa $chip --profile strict,deterministic --quick
    done
done
for chip in sm_80 gfx942 gfx1100; do
    for kernel in floats octets whole; do
        for order in none pad xor; do
            "$tsr" compile rows_$order.tsr --kernel $kernel --isa $chip --profile deterministic --emit asm | sha256sum
        done >digests
        if [ "$(sort -u digests | wc -l)" = 3 ]; then pass "$chip: $kernel"; else fail "$chip: $kernel has two orders in one code"; fi
    done
done

# conflicts ORDER: the degrees of all conflicts of banks in `octets`, on sm_80.
conflicts() {
    "$tsr" lint rows_$1.tsr --isa sm_80 --json 2>err | /usr/bin/python3 -c '
import json, re, sys
found = [f["message"] for f in json.load(sys.stdin)["findings"] if f["id"] == "bank-conflict" and f["kernel"] == "octets"]
print(sum(int(re.search("degree ([0-9]+)", m)[1]) for m in found))'
}
if [ "$(conflicts xor)" -lt "$(conflicts pad)" ] && [ "$(conflicts pad)" -lt "$(conflicts none)" ]; then
    pass "banks meet least with xor, most with none"
else
    fail "conflicts: none $(conflicts none), pad $(conflicts pad), xor $(conflicts xor)"
fi

# refused CHIP PLACE WHAT [PROFILE]: a hint that no code follows, in rows_xor.tsr changed by the sed script on stdin.
refused() {
    sed -f /dev/stdin rows_xor.tsr >refused.tsr
    exits 4 "$3" "$tsr" compile refused.tsr --kernel floats --isa "$1" --profile "${4:-deterministic}" --emit asm
    has err "refused.tsr:$2: error\[E1025\]" "... is refused there"
}
refused sm_80 10:28 "a tile in registers" <<<'10s/(tile.load(x, T.rows, k, swizzle="xor"), /(exp(tile.load(x, T.rows, k, swizzle="xor")), /'
refused gfx942 10:24 "rows on different banks as they are" strict <<<'s/BK=\[32\]/BK=[24]/'
refused sm_90a 10:24 "rows that wgmma reads" <<<'s/BM=\[32\]/BM=[64]/; s/"xor"/"none"/'
refused sm_80 6:5 "a kernel that has no rows there" <<'CHANGE'
s/@kernel.autotune.*BN=\[64\], BK=\[32\].*$/@kernel.schedule(block(m=32, n=64).k(32).swizzle("pad"))/
s/, swizzle="xor")/, space="register")/g
CHANGE
sed 's/BM=\[32\]/BM=[64]/' rows_xor.tsr >by_itself.tsr
exits 0 "xor is what wgmma reads" "$tsr" compile by_itself.tsr --kernel floats --isa sm_90a --profile deterministic --emit asm
has out wgmma "... and there is one"
exits 0 "a CPU" "$tsr" compile rows_xor.tsr --kernel floats --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*swizzle=xor' "takes no notice"

# ---- stages, and what is fetched ahead, without a loop ----
cat >stages.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[16], BN=[16], stages=[2, 3]))
@cases(case("a", M=64, N=64, K=64))
def product(x: KTile["M", "K", bf16], y: KTile["K", "N", bf16]) -> Tensor["M", "N", f32]:
    T = tile.context()
    return tile.dot(tile.load(x, T.rows), tile.load(y, cols=T.cols))
END
sed 's/^@kernel.autotune.*/chosen = block(m=16, n=16).stages(2)\n@kernel.schedule(chosen)/' stages.tsr >chain.tsr
sed 's/^@kernel.autotune/@specialize(when=dict(backend="ptx"), use=dict(stages=3))\n&/' stages.tsr >special.tsr
sed 's/, stages=\[2, 3\]//; s/load(x, T.rows/&, stages=2/' stages.tsr >load.tsr
sed 's/^    return .*/    acc = tile.zeros((T.m, T.n), f32)\n    for k in tile.range_k(x.shape, 16):\n        acc = acc + 1\n&/' stages.tsr >other.tsr
sed '4s/, stages=\[2, 3\]//; s/16):$/16, stages=2):/' other.tsr >range.tsr
sed 's/16, stages=2):$/16, prefetch=2):/' range.tsr >ahead.tsr
sed 's/stages=2/prefetch=2/' load.tsr >once.tsr
# without_loop FILE PLACE CHIP
without_loop() {
    exits 4 "$1.tsr for $3" "$tsr" compile $1.tsr --isa "$3" --profile deterministic --emit asm
    has err "$1.tsr:$2: error\[E1026\]" "... is refused there"
    has err "kernel 'product'" "... and says whose loop it is"
}
for chip in sm_80 sm_90a gfx942 spirv-vulkan; do
    without_loop stages 4:55 $chip
    without_loop load 8:21 $chip
    without_loop range 9:5 $chip
    without_loop ahead 9:5 $chip
done
without_loop chain 4:35 sm_80
without_loop special 5:58 sm_80
without_loop special 5:55 gfx942
without_loop other 4:55 sm_80
exits 0 "a CPU" "$tsr" compile stages.tsr --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*stages=2' "takes no notice of stages"
exits 0 "a CPU" "$tsr" compile ahead.tsr --isa x86-64-v3 --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*prefetch=2' "... nor of a range without a load"
exits 4 "a range whose loads go by themselves" "$tsr" compile each.tsr --isa sm_80 --profile deterministic --emit asm
has err "each.tsr:10:5: error\[E1026\]" "... is refused, too"
has err "this loop has no stages: no load" "... and says what it lacks"
exits 0 "a load that no loop repeats" "$tsr" compile once.tsr --isa sm_80 --profile deterministic --emit metadata
has out '"unused_hints": "[A-Za-z0-9=,]*prefetch=2' "may say prefetch, which is listed"
for wrong in prefetch=-1 stages=0 'prefetch=\"x\"'; do
    sed "s/prefetch=2):$/$wrong):/" ahead.tsr >wrong.tsr
    exits 3 "$wrong" "$tsr" compile wrong.tsr --isa sm_80 --emit asm
    has err 'wrong.tsr:9:[0-9]+: error\[E[0-9]+\]' "... is refused there"
done

# ---- sizes that no chip has ----
cat >sizes.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[64], BN=[64], BK=[64], warps=[4]))
@cases(case("a", M=2048, N=2048, K=2048))
def product(x: KTile["M", "K", bf16], y: KTile["K", "N", bf16]) -> Tensor["M", "N", f32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range_k(x.shape, T.k):
        acc = tile.mma(tile.load(x, T.rows, k), tile.load(y, k, T.cols), acc)
    return acc


@kernel.autotune(space=dict(BM=[16]))
@cases(case("a", M=64, N=100000))
def rows(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    return exp(tile.load(x, tile.context().rows))
END
# no_chip_has CHIP PLACE ID HELP, in sizes.tsr changed by the sed script on stdin.
no_chip_has() {
    sed -f /dev/stdin sizes.tsr >size.tsr
    exits 4 "$3 for $1" "$tsr" compile size.tsr --kernel product --isa "$1" --profile deterministic --emit asm
    has err "size.tsr:$2: error\[$3\]" "... is refused there"
    has err "help: take $4" "... which says what fits"
}
for chip in sm_80 sm_90a; do
    no_chip_has $chip 8:11 E1023 "tiles of 128 x 128 or smaller ones$" <<<'s/BM=\[64\], BN=\[64\]/BM=[1024], BN=[1024]/'
    no_chip_has $chip 8:11 E1023 "tiles of 128 x 128 or smaller ones, or more warps" <<<'s/BM=\[64\], BN=\[64\]/BM=[256], BN=[256]/'
done
no_chip_has gfx942 8:11 E1023 "tiles of 128 x 256 or smaller ones$" <<<'s/BM=\[64\], BN=\[64\]/BM=[1024], BN=[1024]/'
no_chip_has sm_80 4:64 E1023 "smaller tiles, or fewer: there is room for stages=9" <<<'s/warps=\[4\]/stages=[16]/'
no_chip_has sm_90a 10:24 E1023 "smaller tiles, or fewer: there is room for stages=23" <<<'10s/T.rows, k/&, stages=30/'
for chip in sm_80 sm_90a gfx942 gfx1100; do
    no_chip_has $chip 10:15 E1027 "rows of a multiple of 16, columns of [0-9]+, steps of 16, or --profile strict" <<<'s/\[64\]/[8]/g'
done
sed 's/\[64\]/[8]/g' sizes.tsr >size.tsr
exits 0 "which adds by threads" "$tsr" compile size.tsr --kernel product --isa sm_80 --emit metadata

# Sizes that a case chose, or another chip has, are computed in another way.
exits 0 "a long row" "$tsr" compile sizes.tsr --kernel rows --isa sm_80 --emit metadata
has out 'more than the registers' "... is joined because of registers"
sed 's/BN=\[64\]/BN=[8]/; s/"a", M=2048, N=2048/"a", M=2048, N=8/' sizes.tsr >narrow.tsr
exits 0 "8 columns of 8" "$tsr" compile narrow.tsr --kernel product --isa gfx942 --profile deterministic --emit metadata
has out '"as": "threads"' "... are those of the case"
sed 's/BN=\[64\]/BN=[24]/' sizes.tsr >columns.tsr
exits 0 "24 columns" "$tsr" compile columns.tsr --kernel product --isa gfx942 --profile deterministic --emit metadata
has out '"as": "threads"' "... are 3 instructions of another chip"
sed 's/BK=\[64\]/BK=[512]/' sizes.tsr >steps.tsr
exits 0 "512 steps" "$tsr" compile steps.tsr --kernel product --isa gfx942 --profile deterministic --emit metadata
has out 'its factors need [0-9]+ bytes' "... fit no workgroup's memory"
sed 's/BK=\[64\], warps=\[4\]/BK=[96], stages=[2]/; s/bf16/f32/g' sizes.tsr >fewer.tsr
exits 0 "two stages" "$tsr" compile fewer.tsr --kernel product --isa gfx942 --emit metadata
has out '"type": "stages"' "... are one where there is no room for two"
hasnt out 'whole tensors' "... and nothing is joined"
finish
