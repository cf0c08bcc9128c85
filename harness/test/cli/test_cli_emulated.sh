# test_cli_emulated.sh - the code for GPUs on this CPU, thread by thread: the same bits as the interpreter's, on all of the
# corpus, in whatever order threads run; each chip's own code; packs of it that replay.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

"$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend ptx-emulated >out 2>err </dev/null
if grep -q "threads are emulated on" out err; then
    echo "skipped: no code for emulated threads is made for this machine"
    exit 77
fi

cat >check.py <<"END"
import json, sys
wanted = sys.argv[2:]
results = json.load(open(sys.argv[1]))["results"]
found = {r["backend"] for r in results}
assert found == set(wanted), f"backends {found}"
for r in results:
    assert r["status"] == "ok", (r["kernel"], r["case"], r["backend"], r["status"])
    assert r["check"]["against"] in ("golden", "reference"), r["check"]
    assert r["check"]["bitwise"], (r["kernel"], r["case"], r["backend"])
    assert r["time_ns"] is None, "nothing is timed on emulated threads"
    o = r.get("occupancy")
    assert o is None or (0 <= o["share"] <= 1 and o["workgroups"] >= 0 and o["by"]), o
# Orders that are a matrix unit's own are for the chips that have it.
plain = [r for r in results if not r["source"]["path"].endswith("/matrix_units.tsr")]
cases = {b: {(r["kernel"], r["case"]) for r in plain if r["backend"] == b} for b in wanted}
assert all(c == cases[wanted[0]] for c in cases.values()), "they computed other cases"
shares = {r["occupancy"]["share"] for r in results if "occupancy" in r}
assert len(results) < 100 or len(shares) > 1, "the code of every kernel fills its unit alike"
print(len(results))
END

# Short: of each kernel the cases that differ in what its code does, not those that only have other sizes or values.
some=() fewer=()
if [ -n "${TSR_SHORT:-}" ]; then
    some=(--filter '*/prime,*/ragged,*/blocks,*/chunks,*/zero,*/empty,*/bf16,*/f16,*/f64,*/i8,*/special,*/signed_zeros,*/every')
    fewer=(--filter '*/prime,*/blocks,*/bf16,*/edge,matmul_f32/chunks')
fi
both=ptx-emulated,rocm-emulated
exits 0 "the corpus on both families" "$tsr" bench "${most_of_corpus[@]}" --quick --backend $both --profile strict "${some[@]}" --json
cp out both.json
exits 0 "all of it has the bits" $python check.py both.json ptx-emulated rocm-emulated

few=("$root/corpus/normalisation/softmax.tsr" "$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/reduction/sum.tsr"
    "$root/corpus/tile/tile_attention.tsr")
orders="reversed shuffled:7" ptx_chips="sm_75 sm_90a" amd_chips="gfx90a gfx1100" long_orders="forward shuffled:3"
ptx_units="sm_80 sm_86 sm_90 sm_90a" amd_units="gfx90a gfx942 gfx1100"
if [ -n "${TSR_SHORT:-}" ]; then
    orders=shuffled:7 ptx_chips=sm_90a amd_chips=gfx1100 long_orders=shuffled:3 ptx_units="sm_80 sm_90a" amd_units="gfx942 gfx1100"
fi
for order in $orders; do
    exits 0 "threads $order" env TESSERA_EMULATE_ORDER=$order "$tsr" bench "${few[@]}" --quick --backend $both --profile strict "${fewer[@]}" --json
    cp out order.json
    exits 0 "the same bits, threads $order" $python check.py order.json ptx-emulated rocm-emulated
done

for chip in $ptx_chips; do
    exits 0 "code of $chip" "$tsr" bench "${few[@]}" --quick --backend ptx-emulated --isa $chip --profile strict "${fewer[@]}" --json
    cp out chip.json
    exits 0 "$chip has the bits" $python check.py chip.json ptx-emulated
done
for chip in $amd_chips; do
    exits 0 "code of $chip" "$tsr" bench "${few[@]}" --quick --backend rocm-emulated --isa $chip --profile strict "${fewer[@]}" --json
    cp out chip.json
    exits 0 "$chip has the bits" $python check.py chip.json rocm-emulated
done

# Rows of which a workgroup's memory holds not one: no piece of them is moved to the workspace. Where scores are never seen,
# nothing is read that nobody wrote.
long="$root/harness/test/barriers/long_rows.tsr"
for order in $long_orders; do
    for chip in ptx-emulated:sm_75 rocm-emulated:gfx942; do
        exits 0 "long rows on ${chip#*:}, $order" env TESSERA_EMULATE_ORDER=$order \
            "$tsr" bench "$long" --backend interp,${chip%:*} --isa ${chip#*:} --profile strict --json
        cp out long.json
        exits 0 "their bits on ${chip#*:}" $python -c "
import json, sys
results = [r for r in json.load(open('long.json'))['results'] if r['backend'] != 'interp']
assert len(results) == 8, len(results)
for r in results:
    assert r['status'] == 'ok' and r['check']['bitwise'], (r['kernel'], r['case'], r['status'])
    assert not r['fallbacks'], r['fallbacks']
"
    done
done

# Orders that are a matrix unit's own, on each chip that has one.
units="$root/corpus/matmul/matrix_units.tsr"
for chip in $ptx_units; do
    exits 0 "the unit of $chip" "$tsr" bench "$units" --quick --backend ptx-emulated --isa $chip --profile strict --json
    cp out unit.json
    exits 0 "its bits on $chip" $python check.py unit.json ptx-emulated
done
for chip in $amd_units; do
    exits 0 "the unit of $chip" "$tsr" bench "$units" --quick --backend rocm-emulated --isa $chip --profile strict --json
    cp out unit.json
    exits 0 "its bits on $chip" $python check.py unit.json rocm-emulated
done

# A unit that reads the workgroup's memory: each way its sides can lie there, with lines and steps that there are not.
cat >stages.tsr <<"END"
"""Products whose sides lie by lines and by steps."""
from tessera import *


@cases(
    case("whole", M=128, N=128, K=256),
    case("rest", M=100, N=72, K=336),
    case("one", M=64, N=32, K=16),
)
@kernel
def by_rows(x: Tensor["M", "K", bf16], y: Tensor["K", "N", bf16]) -> Tensor["M", "N", f32]:
    """x @ y."""
    return matmul(x, y, out=f32, order="mma.sm90.bf16")


@cases(
    case("whole", M=128, N=128, K=256),
    case("rest", M=100, N=72, K=340),
    case("unaligned", M=70, N=33, K=99),
)
@kernel
def by_steps(x: Tensor["M", "K", f16], y: Tensor["N", "K", f16]) -> Tensor["M", "N", f32]:
    """x @ y.T."""
    return matmul(x, transpose(y), out=f32, order="mma.sm90.f16")


@cases(
    case("whole", M=128, N=128, K=256),
    case("rest", M=100, N=76, K=345),
)
@kernel
def by_columns(x: Tensor["K", "M", f16], y: Tensor["K", "N", f16]) -> Tensor["M", "N", f32]:
    """x.T @ y."""
    return matmul(transpose(x), y, out=f32, order="mma.sm90.f16")


@cases(
    case("whole", M=128, N=128, K=512, E=i8),
    case("rest", M=100, N=72, K=336, E=i8),
    case("unaligned", M=70, N=33, K=99, E=i8),
    case("unsigned", M=64, N=64, K=160, E=u8),
)
@kernel
def of_bytes(x: Tensor["M", "K", "E"], y: Tensor["N", "K", "E"]) -> Tensor["M", "N", i32]:
    """x @ y.T, exactly."""
    return x @ transpose(y)


@cases(
    case("whole", M=128, N=128, K=512, E=f8e4m3fn),
    case("rest", M=100, N=72, K=336, E=f8e4m3fn),
    case("small", M=5, N=9, K=36, E=f8e5m2),
    case("special", M=64, N=64, K=96, E=f8e4m3fn, x=special(), y=special()),
    case("wide", M=64, N=64, K=160, E=f8e5m2, x=normal(0, 100), y=normal(0, 1e-2)),
    case("unaligned", M=70, N=33, K=99, E=f8e4m3fn),
)
@kernel
def short_sums(x: Tensor["M", "K", "E"], y: Tensor["N", "K", "E"]) -> Tensor["M", "N", f32]:
    """x @ y.T of 8-bit floats."""
    return matmul(x, transpose(y), out=f32, order="mma.sm90.fp8")


@cases(
    case("whole", M=128, N=128, K=512, E=f8e4m3fn),
    case("rest", M=100, N=72, K=345, E=f8e5m2),
)
@kernel
def turned_sums(x: Tensor["K", "M", "E"], y: Tensor["K", "N", "E"]) -> Tensor["M", "N", f32]:
    """x.T @ y of 8-bit floats."""
    return matmul(transpose(x), y, out=f32, order="mma.sm90.fp8")
END
for schedule in MR=64,NR=32,DEPTH=2 MR=128,NR=128,STAGE=32,DEPTH=4 MR=64,NR=256,STAGE=16,DEPTH=3; do
    exits 0 "stages of $schedule" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench stages.tsr --quick --backend ptx-emulated --isa sm_90a \
        --profile strict --schedule $schedule --json
    cp out stages.json
    exits 0 "the bits of $schedule" $python check.py stages.json ptx-emulated
done
exits 0 "code for it" "$tsr" compile stages.tsr --kernel by_rows --isa sm_90a --schedule MR=128,NR=128,DEPTH=3 --emit asm
has out "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 .*, 1, 1, 1, 0, 1;" "the right side is turned"
has out "fence.proxy.async.shared::cta" "what was copied is fenced"
has out "wgmma.wait_group.sync.aligned 1;" "products go on while the next ones begin"

# Stages that a thread beside the workgroup's loads, or that all threads copy: the same bits by other code, of more threads.
while read -r loader threads has hasnt; do
    for kernel in by_rows by_steps by_columns of_bytes short_sums; do
        words=(--isa sm_90a --schedule "MR=64,NR=64,BM=64,BN=64,LOADER=$loader")
        exits 0 "$kernel, LOADER=$loader" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench stages.tsr --quick --backend ptx-emulated \
            --profile strict --filter "$kernel/whole" --json "${words[@]}"
        cp out stages.json
        exits 0 "the bits of $kernel, LOADER=$loader" $python check.py stages.json ptx-emulated
        exits 0 "code of $kernel, LOADER=$loader" "$tsr" compile stages.tsr --kernel "$kernel" --case whole --emit asm "${words[@]}"
        has out "$has" "has its copies"
        hasnt out "$hasnt" "has no others"
        has out "maxntid $threads" "is for its threads"
    done
done <<'END'
0 128 cp.async.cg.shared.global cp.async.bulk.tensor
1 160 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes cp.async.cg.shared.global
END

# ... beside which one group of warps multiplies, or two: the same bits for more threads.
while read -r warps threads; do
    words=(--isa sm_90a --schedule "MR=128,NR=64,BM=128,BN=64,WARPS=$warps")
    exits 0 "WARPS=$warps" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench stages.tsr --quick --backend ptx-emulated --profile strict \
        --filter "by_rows/whole" --json "${words[@]}"
    cp out stages.json
    exits 0 "the bits of WARPS=$warps" $python check.py stages.json ptx-emulated
    exits 0 "code of WARPS=$warps" "$tsr" compile stages.tsr --kernel by_rows --case whole --emit asm "${words[@]}"
    has out "maxntid $threads" "is for its threads"
done <<'END'
4 160
8 384
END
# Two groups share tiles of twice the columns where smaller ones would be more than the chip's units; not where something else is
# asked for, or no loader can bring them.
cat >groups.tsr <<"END"
from tessera import *


@cases(
    case("many", M=1536, N=1536, K=192),
    case("few", M=1408, N=1536, K=192),
    case("edge", M=1536, N=1672, K=192),
)
@kernel
def product(x: Tensor["M", "K", bf16], y: Tensor["K", "N", bf16]) -> Tensor["M", "N", f32]:
    return matmul(x, y, out=f32, order="mma.sm90.bf16")
END
while read -r case columns threads words; do
    exits 0 "tiles of $case $words" "$tsr" compile groups.tsr --case "$case" --isa sm_90a ${words:+--schedule "$words"} --emit metadata
    has out "\"P0.NR\": $columns[,\$]?" "are of $columns columns"
    has out "\"threads\": $threads\$" "for $threads threads"
done <<'END'
many 256 384
few 128 160
edge 128 128
many 128 160 WARPS=4
many 128 128 LOADER=0
many 128 160 NR=128
many 128 384 MR=256
END
exits 3 "groups without rows" "$tsr" compile stages.tsr --kernel by_rows --case whole --isa sm_90a --schedule MR=64,BM=64,WARPS=8 --emit asm
has err "MR = 64, WARPS = 8" "are refused"
exits 3 "rows that are no boxes have no loader" "$tsr" compile stages.tsr --kernel by_steps --case unaligned --isa sm_90a --schedule LOADER=1 --emit asm
has err "LOADER" "which is told"

# ... and of kernels of tiles, by one warpgroup or two, beside which a third copies; the left side in memory, or in registers where it was
# computed.
tiles="$root/harness/test/barriers/tile_stages.tsr"
while read -r sizes has hasnt; do
    exits 0 "tiles of $sizes" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench "$tiles" --quick --backend ptx-emulated --isa sm_90a \
        --profile strict --space $sizes --json
    cp out tiles.json
    exits 0 "the bits of $sizes" $python check.py tiles.json ptx-emulated
    exits 0 "code of $sizes" "$tsr" compile "$tiles" --kernel scores --case whole --isa sm_90a --space $sizes --emit asm
    has out "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {.*}, %rd[0-9]*, %rd[0-9]*, 1, 1, 1, 0, 0;" "both sides in memory"
    has out "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {.*}, {%r[0-9]*, .*}, %rd[0-9]*, 1, 1, 1, 1;" "weights in registers"
    hasnt out "mma.sync\|st.shared.b16" "nothing is multiplied in another way"
    has out "$has" "has its copies"
    hasnt out "$hasnt" "has no others"
done <<'END'
BM=64,warps=4 cp.async.cg.shared.global cp.async.bulk.tensor\|setmaxnreg
BM=128,warps=8 setmaxnreg.inc.sync.aligned.u32.240 cp.async.wait_group.[^0]
END

# Units that add as threads do multiply tiles in strict; of one that no hardware was seen to add so, threads do.
while read -r family chip kernel instruction; do
    tiles="$root/harness/test/barriers/tile_units.tsr"
    exits 0 "$kernel on $chip" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench "$tiles" --quick --backend $family-emulated --isa "$chip" \
        --profile strict --filter "$kernel/*" --json
    cp out tiles.json
    exits 0 "its bits on $chip" $python check.py tiles.json $family-emulated
    exits 0 "code of $kernel on $chip" "$tsr" compile "$tiles" --kernel "$kernel" --case whole --isa "$chip" --emit asm
    has out "$instruction" "is the unit's, or the threads'"
done <<"END"
ptx sm_80 by_lines mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
ptx sm_80 by_steps mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
ptx sm_90 by_lines mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
ptx sm_90a by_steps mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
ptx sm_80 windows mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
ptx sm_90a windows mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
rocm gfx942 windows v_mfma_i32_16x16x32_i8
rocm gfx1100 windows v_wmma_i32_16x16x16_iu8
ptx sm_80 beside st.shared
rocm gfx942 neighbours ds_write
ptx sm_80 doubles fma.rn.f64
ptx sm_90 doubles mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
rocm gfx90a by_steps v_mfma_i32_16x16x16i8
rocm gfx942 by_lines v_mfma_i32_16x16x32_i8
rocm gfx942 doubles v_fmac_f64
rocm gfx942+chain doubles v_mfma_f64_16x16x4_f64
rocm gfx90a+chain doubles v_mfma_f64_16x16x4f64
rocm gfx1100 by_lines v_wmma_i32_16x16x16_iu8
rocm gfx1100 by_steps v_wmma_i32_16x16x16_iu8
END

# Bytes that lie by steps on both sides are read where they are; others are loaded.
for kernel in octets octets_computed; do
    exits 0 "code of $kernel" "$tsr" compile "$root/harness/test/barriers/tile_stages.tsr" --kernel $kernel --case whole --isa sm_90a \
        --profile strict --emit asm
    has out "wgmma.mma_async.sync.aligned.m64n[0-9]*k32.s32.s8.s8 {.*, 1;" "is the unit's that reads memory"
    hasnt out "mma.sync" "and no other"
done
has out "wgmma.mma_async.sync.aligned.m64n32k32.s32.s8.s8 {.*}, {%r[0-9]*, .*}, %rd[0-9]*, 1;" "the left side in registers"
while read -r case chip instruction; do
    exits 0 "code of whole tensors, $case" "$tsr" compile stages.tsr --kernel of_bytes --case $case --isa $chip --profile strict --emit asm
    has out "$instruction" "is the unit's of $chip, too"
done <<'END'
whole sm_90a wgmma.mma_async.sync.aligned.m64n[0-9]*k32.s32.s8.s8
unsigned sm_90a wgmma.mma_async.sync.aligned.m64n[0-9]*k32.s32.u8.u8
unsigned sm_80 mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32
END

# No other instruction adds as wgmma adds 8-bit floats, so that what cannot be copied is turned in registers.
exits 0 "code of them" "$tsr" compile stages.tsr --kernel short_sums --case whole --isa sm_90a --profile strict --emit asm
has out "wgmma.mma_async.sync.aligned.m64n[0-9]*k32.f32.e4m3.e4m3 {.*, 1, 1, 1;" "turns no side"
exits 3 "another chip" "$tsr" compile stages.tsr --kernel short_sums --case whole --isa sm_90 --profile strict --emit asm
has err "E0622" "has no such unit"

# So does the scheduler with those of integers, of whole tensors, in strict; what follows is in the same kernel. A side's bytes are
# turned in registers.
while read -r family chip instruction; do
    exits 0 "products of i8 on $chip" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench "$root/corpus/matmul/matmul_i8.tsr" --quick \
        --backend $family-emulated --isa "$chip" --profile strict
    has out "matmul_i8_scaled +[^ ]+ +6/6" "have their bits"
    exits 0 "code of them on $chip" "$tsr" compile "$root/corpus/matmul/matmul_i8.tsr" --kernel matmul_i8_scaled --case square_1024 \
        --isa "$chip" --profile strict --emit asm
    has out "$instruction" "is the unit's"
    hasnt out "phase_1|st\.shared\.u8|ds_(write|store)_b8" "one phase, and no bytes one by one"
done <<"END"
ptx sm_80 mma\.sync\.aligned\.m16n8k32\.row\.col\.s32\.s8\.s8\.s32
ptx sm_80 ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16
ptx sm_90a wgmma\.mma_async\.sync\.aligned\.m64n[0-9]*k32\.s32\.s8\.s8
rocm gfx90a v_mfma_i32_16x16x16i8
rocm gfx942 v_mfma_i32_16x16x32_i8
rocm gfx1100 v_wmma_i32_16x16x16_iu8
END

# One fma after the other, too, in chunks as threads have them: f64 on sm_90, as a GPU was seen to add, f32 and f64 on chips of AMD that
# a probe found to. Steps that are no whole instructions are the threads'.
cat >chains.tsr <<"END"
"""Products in the order of threads."""
from tessera import *


@cases(
    case("whole", M=64, N=64, K=1536, E=f32),
    case("rest", M=70, N=33, K=1036, E=f32),
    case("odd", M=33, N=33, K=517, E=f32),
    case("wide", M=32, N=32, K=64, E=f32, x=normal(0, 1e30), y=normal(0, 1e-30)),
    case("low", M=32, N=32, K=64, E=f32, x=normal(0, 1e-22), y=normal(0, 1e-22)),
    case("special", M=32, N=32, K=64, E=f32, x=special(), y=special()),
    case("doubles", M=64, N=64, K=1036, E=f64),
    case("special_doubles", M=32, N=32, K=64, E=f64, x=special(), y=special()),
)
@kernel
def chains(x: Tensor["M", "K", "E"], y: Tensor["K", "N", "E"]) -> Tensor["M", "N", "E"]:
    """x @ y + 1."""
    return x @ y + 1.0


@cases(case("single", M=33, N=33, K=1036))
@kernel
def in_one(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """x @ y in one chain."""
    return matmul(x, y, order="seq")
END
while read -r family chip case instruction; do
    exits 0 "chains on $chip" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench chains.tsr --backend $family-emulated --isa "$chip" \
        --profile strict --json
    cp out chains.json
    exits 0 "their bits on $chip" $python check.py chains.json $family-emulated
    exits 0 "code of $case on $chip" "$tsr" compile chains.tsr --kernel chains --case $case --isa "$chip" --profile strict --emit asm
    has out "$instruction" "is the unit's, or the threads'"
done <<"END"
ptx sm_90 doubles mma\.sync\.aligned\.m8n8k4\.row\.col\.f64
ptx sm_80 doubles fma\.rn\.f64
rocm gfx942 whole v_(pk_)?fma
rocm gfx942+chain whole v_mfma_f32_16x16x4_f32
rocm gfx942+chain odd v_(pk_)?fma
rocm gfx90a+chain doubles v_mfma_f64_16x16x4f64
END
for chip in gfx942 gfx942+chain; do
    exits 0 "deterministic, $chip" "$tsr" compile chains.tsr --kernel chains --case whole --isa $chip --profile deterministic --emit asm
    has out "v_mfma_f32_16x16x4_f32" "multiplies with the unit"
done

# Beyond strict a convolution of narrow floats is a kernel of tiles of the library: one phase, on the matrix unit, with what follows.
while read -r kernel case chip instruction; do
    exits 0 "$kernel on $chip" "$tsr" compile "$root/corpus/convolution/conv2d.tsr" --kernel $kernel --case $case --isa $chip \
        --profile deterministic --emit asm
    has out "$instruction" "is the unit's"
    hasnt out "phase_1" "one phase"
done <<'END'
conv2d_3x3 unit sm_80 mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
conv2d_residual edge sm_90a mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
conv2d_residual edge gfx942 v_mfma_f32_16x16x16_bf16
conv2d_3x3 unit_special gfx1100 v_wmma_f32_16x16x16_f16
END

# 8-bit floats, with a scale for each row: threads multiply them in strict, units beyond it.
while read -r family chip instruction; do
    exits 0 "8-bit floats on $chip" env TESSERA_EMULATE_ORDER=shuffled:3 "$tsr" bench "$tiles" --quick --backend $family-emulated \
        --isa "$chip" --profile strict,deterministic --filter 'scaled/*'
    has out "scaled +[^ ]+ +6/6" "have their bits, or keep to their bound"
    exits 0 "code of them on $chip" "$tsr" compile "$tiles" --kernel scaled --case edge --isa "$chip" --profile deterministic --emit asm
    has out "$instruction" "is the unit's"
done <<"END"
ptx sm_80 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
ptx sm_90a wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
rocm gfx942 v_mfma_f32_16x16x16_f16
rocm gfx1100 v_wmma_f32_16x16x16_f16
END

exits 0 "beyond strict within the bound" "$tsr" bench "${few[@]}" --quick --backend $both --profile deterministic,fast "${fewer[@]}"

# Beyond strict an exponential is the chip's own; strict writes it out.
exits 0 "exponentials" "$tsr" bench "$root/corpus/elementwise/functions.tsr" --quick --backend $both --profile deterministic,fast --filter 'exponentials/*'
while read -r chip instruction; do
    for profile in strict deterministic fast; do
        exits 0 "an exponential of $chip" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --case prime \
            --isa "$chip" --profile $profile --emit asm
        if [ $profile = strict ]; then
            hasnt out "$instruction" "is written out"
        else
            has out "$instruction" "is one instruction"
        fi
    done
done <<"END"
sm_75 ex2\.approx\.ftz\.f32
sm_90a ex2\.approx\.ftz\.f32
gfx942 v_exp_f32
gfx1100 v_exp_f32
END

# A target that --isa names counts for the backends that it is of.
exits 0 "a chip, and this machine's own level" "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend cpu,ptx-emulated --isa sm_90
exits 2 "no such chip" "$tsr" bench "$root/corpus/elementwise/saxpy.tsr" --quick --backend ptx-emulated --isa sm_12

# A pack of it runs the same code again.
exits 0 "a pack" "$tsr" pack-repro softmax_rows --case prime "$root/corpus/normalisation/softmax.tsr" --backend ptx-emulated -o p.repro.tar.lz4
exits 0 "replays" "$tsr" replay p.repro.tar.lz4
has out "^REPRODUCED_EXACT .code-hash-same" "the same code, the same bits"
exits 0 "the module of the chip" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --case prime --isa sm_80 --emit asm
has out "^\.target sm_80" "is PTX"
hasnt out "(div|sqrt|rcp|ex2|lg2)\.approx|\.ftz" "nothing is approximate, nothing flushes"
exits 0 "every step of it" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --case prime --isa sm_80 --emit-after insert-barriers
hasnt out "tile.barrier" "threads that share rows side by side hand each other values"
has out "threads<[0-9]+x[0-9]+, [0-9]+x[0-9]+>" "tiles are spread over threads"
exits 0 "stages of a product" "$tsr" compile "$root/corpus/matmul/matmul_f32.tsr" --kernel matmul_f32 --case prime --isa sm_80 --emit-after insert-barriers
has out "tile.barrier" "threads wait where they meet in memory"

# Nothing is timed on emulated threads, so cases run beside each other where there are cores for it; their results stand in the
# order of the cases, and one that takes its process down takes none of the others with it.
cat >beside.py <<"END"
import json, sys
alone, beside = ([r for r in json.load(open(f))["results"]] for f in sys.argv[1:3])
key = lambda r: (r["kernel"], r["case"], r["status"], (r["check"] or {}).get("sha256"))
assert [key(r) for r in alone] == [key(r) for r in beside], "other results, or another order"
assert [r["case"] for r in beside if r["status"] != "ok"] == ["prime"], "more than the case that crashes"
spans = [(t["began_ns"], t["began_ns"] + sum(s["ns"] for s in t["steps"])) for t in (r.get("timeline") for r in beside) if t]
ran_beside = sum(later[0] < earlier[1] for earlier, later in zip(spans, spans[1:]))
assert int(sys.argv[3]) == 1 or ran_beside, "each case waited for the one before it"
END
rows=("$root/corpus/normalisation/softmax.tsr" --quick --backend ptx-emulated --profile strict --inject crash@softmax_rows/prime --json)
exits 1 "a case that crashes, on one core" taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$tsr" bench "${rows[@]}" --failures alone.d
cp out alone.json
exits 1 "a case that crashes, on all" "$tsr" bench "${rows[@]}" --failures beside.d
cp out beside.json
exits 0 "the same results in the same order" $python beside.py alone.json beside.json "$(nproc)"

# One that takes long holds up none of those behind it, and its result still stands before theirs.
cat >behind.py <<"END"
import json, sys
found, limit_ns = json.load(open(sys.argv[1]))["results"], 3e9
assert [r["status"] for r in found[:4]] == ["ok", "timeout", "ok", "ok"], "other results, or another order"
before, behind = found[0]["timeline"], found[3]["timeline"]
hung_until = before["began_ns"] + sum(s["ns"] for s in before["steps"]) + limit_ns
assert int(sys.argv[2]) == 1 or behind["began_ns"] < hung_until, "a case waited for one before it"
END
rows=("$root/corpus/normalisation/softmax.tsr" --quick --backend ptx-emulated --profile strict --inject hang@softmax_rows/one --timeout 3 --json)
exits 1 "a case that hangs" "$tsr" bench "${rows[@]}" --failures behind.d
cp out behind.json
exits 0 "those behind it do not wait" $python behind.py behind.json "$(nproc)"

# Weights that f16 takes in parts are at most 1; those whose scores have lost their least one are not.
cat >turned.tsr <<'END'
from tessera import *


@cases(case("small", M=64, K=64, N=64, s=normal(0, 4)))
@kernel.autotune(space=dict(BM=[64], BN=[64], BK=[64], warps=[4]))
@kernel
def turned_weights(s: KTile["M", "K", f32], v: KTile["K", "N", f16]) -> Tensor["M", "N", f32]:
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range(K, T.k):
        S = tile.load(s, rows=T.rows, cols=k)
        c = -8.0 / sqrt(float(K))
        P = exp(S * c - max(S, axis=1, keepdims=True) * c)
        acc = tile.mma(P, cast(tile.load(v, rows=k, cols=T.cols), f32), acc)
    return acc
END
exits 0 "exponentials of what is above 0" "$tsr" bench turned.tsr --quick --backend ptx-emulated --isa sm_80 --profile deterministic

# Code for threads is made fast and without care, unless it would take more of a thread's stack than there is.
if [ "$(uname -m)" = x86_64 ]; then
    exits 0 "a block of attention" "$tsr" compile "$root/corpus/tile/tile_attention.tsr" --kernel tile_flash_attention --case several --isa gfx942-emulated --emit asm --no-cache
    largest=$(sed -n 's/^[[:space:]]*subq[[:space:]]*\$\([0-9]*\), %rsp.*/\1/p' out | sort -n | tail -1)
    if [ "${largest:-99999}" -le 24576 ]; then
        pass "leaves room on a thread's stack"
    else
        fail "a frame of $largest bytes"
    fi
fi
finish
