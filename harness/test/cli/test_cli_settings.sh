# test_cli_settings.sh - `with device(...)`, `with prefetch(...)` and f.with_schedule(s): code for other devices is refused at the line, on
# each kind of target two values of a prefetch, or of a call's schedule, are two codes of the same bits, and what means nothing is said.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db

# of FILE: a kernel whose product reads a fetched side, with ITEMS behind `with`; of nothing where there are none.
of() {
    cat >"$1" <<END
from tessera import *


@kernel
@cases(case("a", M=37, K=300, N=129), case("few", M=1, K=2048, N=200))
def product(x: Tensor["M", "K", f32], w: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
${2:+    with $2:
    }    return tanh(x @ w)
END
}
of plain.tsr ''
of overlapped.tsr 'prefetch(w, into="smem", overlap="compute")'
of alone.tsr 'prefetch(w, into="smem", overlap="none")'
of first.tsr 'prefetch(w, into="l1")'
of second.tsr 'prefetch(w, into="l2")'
of unfetched.tsr 'prefetch(w, into="l2", overlap="none")'

# code FILE ISA CASE: the digest of what is generated.
code() {
    case $2 in gfx*) form=hsaco ;; sm*) form=ptx ;; spirv*) form=spirv ;; *) form=asm ;; esac
    "$tsr" compile "$1" --isa "$2" --case "$3" --emit $form -o code.bin >out 2>err || return
    sha256sum <code.bin
}

# differ WHAT A B: two codes.
differ() {
    if [ -n "$2" ] && [ -n "$3" ] && [ "$2" != "$3" ]; then pass "$1"; else fail "$1: the same code"; fi
}

for isa in sm_75 sm_80 sm_90a gfx942 spirv-vulkan; do
    for case in a few; do
        differ "$isa, $case: overlap" "$(code overlapped.tsr $isa $case)" "$(code alone.tsr $isa $case)"
    done
    differ "$isa: few rows go through the workgroup's memory" "$(code overlapped.tsr $isa few)" "$(code plain.tsr $isa few)"
    exits 0 "$isa: all of it is used" "$tsr" compile overlapped.tsr --isa $isa --emit metadata
    hasnt out '"unused_hints"' "no hint is left over"
    exits 0 "$isa: a cache" "$tsr" compile second.tsr --isa $isa --emit metadata
    has out '"unused_hints": "prefetch\(w\)=l2"' "no code depends on it"
done
for isa in x86-64-v3 x86-64-v4 aarch64-neon; do
    for case in a few; do
        second=$(code second.tsr $isa $case)
        differ "$isa, $case: l1 and l2" "$(code first.tsr $isa $case)" "$second"
        differ "$isa, $case: overlap" "$(code unfetched.tsr $isa $case)" "$second"
    done
    exits 0 "$isa: memory of threads" "$tsr" compile alone.tsr --isa $isa --emit metadata
    has out '"unused_hints": "prefetch\(w\)=smem"' "no code depends on it"
done

exits 0 "a chip's schedule" "$tsr" compile alone.tsr --isa sm_80 --emit schedule
has out 'P0.DEPTH = 1' "has one stage"
exits 0 "a CPU's schedule" "$tsr" compile second.tsr --isa x86-64-v3 --case few --emit schedule
has out 'P0.PREFETCH = 16' "has the distance"
sed 's/^@kernel$/@schedule(prefetch=2)\n@kernel/' second.tsr >won.tsr
exits 0 "with a schedule" "$tsr" compile won.tsr --isa x86-64-v3 --case few --emit schedule
has out 'P0.PREFETCH = 2' "which wins"

# One formula, one golden, the same bits.
for file in plain overlapped second; do "$tsr" compile $file.tsr --emit graph >$file.graph; done
same plain.graph overlapped.graph "Graph IR is that of the formula"
same plain.graph second.graph "whatever is fetched"
for file in overlapped alone first second unfetched; do
    exits 0 "the same bits: $file" "$tsr" bench $file.tsr --backend interp,cpu,ptx-emulated,rocm-emulated --quick
done
exits 0 "hints of a run" "$tsr" bench alone.tsr --backend cpu,ptx-emulated --quick --export json=run.json
has out 'hints +prefetch\(w\): no code here depends on them \(2 results\)' "are said once"
has run.json '"prefetch\(w\)=smem"' "and stand in the results"

# ---- devices ----

of gpu.tsr 'device(gpu)'
of cuda.tsr 'device(cuda), device("sm_90a")'
exits 0 "a plain kernel is compiled, and kept" "$tsr" bench plain.tsr --backend cpu,ptx-emulated --quick
exits 4 "the same for GPUs alone" "$tsr" bench gpu.tsr --backend interp,cpu,ptx-emulated --quick
has out '6 results: 4 ok, 2 unsupported' "is not what is kept"
has out 'gpu.tsr:7:10: error\[E0818\]' "is refused at its line"
hasnt out "\\\\n" "in one line"
for isa in sm_80 gfx90a spirv-opencl sm_80-emulated; do
    exits 0 "a GPU: $isa" "$tsr" compile gpu.tsr --isa $isa --emit schedule
done
exits 0 "the chip" "$tsr" compile cuda.tsr --isa sm_90a --emit schedule
for isa in sm_90 gfx942 x86-64-v3; do
    exits 4 "not the chip: $isa" "$tsr" compile cuda.tsr --isa $isa --emit schedule
    has err 'error\[E0818\]' "is refused"
done

cat >state.tsr <<'END'
from tessera import *


def scores(q, k: Tensor["A", "B", f32] @ device(gpu)):
    return q @ k.T


@cases(case("small", H=2, S=40, D=16, cache=KVCache(length=constant(3))))
@jit
def attended(
    q: Tensor[1, "H", 1, "D", f32], k: Tensor[1, "H", 1, "D", f32], cache: KVCache[1, "H", "S", "D", f32] @ rolling_window @ device(gpu)
) -> tuple[Tensor[1, "H", 1, "D", f32], KVCache[1, "H", "S", "D", f32] @ rolling_window]:
    cache = cache.append(k, k)
    for i in range(2):
        with prefetch(cache, into="smem", overlap="none"):
            s = where(cache.mask(1), q @ cache.K.T, -inf)
            q = softmax(s) @ cache.V
    return q, cache


@cases(case("small", M=7, K=9))
@kernel
def through(q: Tensor["M", "K", f32]) -> Tensor["M", "M", f32]:
    return scores(q, q)
END
exits 4 "a state's device" "$tsr" bench state.tsr --backend interp,cpu,ptx-emulated --quick
has out 'state.tsr:11:126: error\[E0818\]' "is that of its program"
has out 'state.tsr:4:42: error\[E0818\]' "and a function's that of its kernel"
has out '6 results: 4 ok, 2 unsupported' "on other devices alone"
hasnt out '^hints ' "what a program fetches is used"

# A block of a model on a cache, of which each overlap is another module.
cat >block.tsr <<'END'
from tessera import *
from tessera.stdlib import rmsnorm_safe, split_qkv, merge_heads, flash_attention, residual, cast_like

Wqkv = Param["H*D", "3*H*D", bf16]
Wo = Param["H*D", "H*D", bf16]
Wmlp_in = Param["H*D", "F", bf16]
Wmlp_out = Param["F", "H*D", bf16]


@cases(case("small", B=1, S=3, H=2, D=16, F=48, P=40, cache=KVCache(length=constant(5))))
@jit
def block(
    x: Tensor["B", "S", "H*D", bf16], cache: KVCache["B", "H", "P", "D", bf16] @ device(gpu), step: Tensor[i32], *, p: float = 0.1
) -> tuple[Tensor["B", "S", "H*D", bf16], KVCache["B", "H", "P", "D", bf16]]:
    x = rmsnorm_safe(cast(x, f32))
    x = cast(x, bf16)
    with device(gpu), prefetch(cache, into="smem", overlap="OVER"):
        qkv = matmul(x, Wqkv)
        q, k, v = split_qkv(qkv, heads=H)
        cache = cache.append(k, v)
        y = flash_attention(q, cache, dropout=p, causal=True, step=step)
    y = residual(x, matmul(merge_heads(y), Wo), dropout=p, seed=1, step=step)
    y = residual(y, gelu(matmul(cast(rmsnorm_safe(cast(y, f32)), bf16), Wmlp_in)) @ Wmlp_out, dropout=p, seed=2, step=step)
    return cast_like(y, x), cache
END
for overlap in compute none; do
    sed "s/OVER/$overlap/" block.tsr >block-$overlap.tsr
    exits 4 "a block: $overlap" "$tsr" bench block-$overlap.tsr --backend interp,cpu,ptx-emulated,rocm-emulated --quick
    has out '4 results: 3 ok, 1 unsupported' "has the same bits on GPUs"
    for isa in sm_80 sm_90a; do
        exits 0 "$isa" "$tsr" compile block-$overlap.tsr --isa $isa --emit module -o $overlap-$isa.module
    done
done
for isa in sm_80 sm_90a; do
    differ "a block on $isa" "$(sha256sum <compute-$isa.module)" "$(sha256sum <none-$isa.module)"
done

# ---- schedules of calls ----

cat >calls.tsr <<'END'
from tessera import *
from tessera.stdlib import flash_attention_2

W = Param["D", "D", f32]
BASE = schedule(tile=(4, 2))
attend = flash_attention_2.with_schedule(BASE)
lower = flash_attention_2.with_block(32, 64).with_schedule(BASE)


def layer(x, scale=1.0):
    return tanh(x @ W) * scale


def carried(h, x):
    h = tanh(h + x)
    return h, h


@cases(case("a", B=2, S=70, D=64))
@kernel
def model(x: Tensor["B", "S", "D", f32]) -> Tensor["B", "S", "D", f32]:
    y = attend(x, layer(x), x)
    y = lower(y, y, y)
    y = layer.with_schedule(BASE)(layer.with_tile(2, 1)(y), scale=2.0)
    return op.matmul.with_block(12, 16).with_tile(1, 1)(y, W)


@schedule(tile=(1, 1))
@cases(case("a", S=70, D=64))
@kernel
def within(x: Tensor["S", "D", f32]) -> Tensor["S", "D", f32]:
    return layer.with_schedule(BASE)(layer(x))


@cases(case("a", S=70, D=64))
@kernel
def steps(x: Tensor["S", "D", f32], h: Tensor["D", f32]) -> Tensor["S", "D", f32]:
    h, y = scan(carried.with_vector(8), h, x)
    for i in range(S):
        y = layer.with_tile(2, 2)(y)
    return y


@cases(case("a", S=70, D=64))
@kernel
def elsewhere(x: Tensor["S", "D", f32]) -> Tensor["S", "D", f32]:
    return softmax.with_schedule(BASE)(layer(x))


@cases(case("a", S=70, D=64))
@kernel
def in_steps(x: Tensor["S", "D", f32], h: Tensor["D", f32]) -> Tensor["S", "D", f32]:
    h, y = scan(carried.with_tile(4, 1), h, layer(x))
    return y


@cases(case("a", S=70, D=64))
@kernel
def large(x: Tensor["S", "D", f32]) -> Tensor["S", "D", f32]:
    return layer.with_tile(64, 64)(x)
END
# tiles KERNEL: MR of each of its contractions.
tiles() {
    "$tsr" compile calls.tsr --kernel "$1" --isa x86-64-v3 --threads 1 --emit schedule >out 2>err
    sed -nE 's/.*parameters = \{([^}]*)\}.*/\1/p' out | tr ',' '\n' | sed -nE 's/.*MR = ([0-9]+) .*/\1/p' | tr '\n' ' '
}
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: $3, not $2"; fi; }
is "each call has its own" "6 4 4 2 4 1 " "$(tiles model)"
has out 'P3.BM = 32 ' "and what it replaces"
has out 'P7.BM = 12 .* P7.BN = 16 ' "of a function of the language, too"
is "before the kernel's" "1 4 " "$(tiles within)"
for kernel in model within steps; do
    exits 0 "the same bits: $kernel" "$tsr" bench calls.tsr --filter $kernel --backend interp,cpu,ptx-emulated --quick --export json=calls.json
    has calls.json '"schedule": "source"' "by the source's schedule"
done
sed 's/with_tile(2, 2)/with_tile(3, 1)/' calls.tsr >others.tsr
for file in calls others; do "$tsr" compile $file.tsr --kernel steps --isa x86-64-v3 --emit module -o $file.module >out 2>err; done
differ "in a program's loop" "$(sha256sum <calls.module)" "$(sha256sum <others.module)"
while IFS=';' read -r kernel place; do
    exits 3 "$kernel" "$tsr" compile calls.tsr --kernel $kernel --isa x86-64-v3 --emit module -o bad.module
    has err "calls.tsr:$place: error\[E0809\]" "is refused where it is written"
    exits 0 "$kernel on a chip" "$tsr" compile calls.tsr --kernel $kernel --isa sm_80 --emit module -o good.module
done <<'END_OF_ROWS'
elsewhere;5:23
in_steps;53:38
large;60:32
END_OF_ROWS
finish
