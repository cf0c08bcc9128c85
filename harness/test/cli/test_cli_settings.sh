# test_cli_settings.sh - `with device(...)`, `with prefetch(...)`: code for other devices is refused at the line, on each kind of target two
# values of a prefetch are two codes of the same bits, and where one means nothing that is said.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db

# of FILE: a kernel whose product reads a fetched side, with ITEMS behind `with`; of nothing where there are none.
of() {
    cat >"$1" <<END
from tessera import *


@kernel
@cases(case("a", M=37, K=300, N=129), case("few", M=2, K=2048, N=200))
def product(x: Tensor["M", "K", f32], w: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
${2:+    with $2:
    }    y = x @ w
    return tanh(y)
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
finish
