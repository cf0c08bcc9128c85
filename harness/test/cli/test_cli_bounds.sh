# test_cli_bounds.sh - --check-bounds: an index past the end is caught before memory is touched, on this CPU and on emulated chips, with
# its element, its buffer and its line; right code keeps its bits.
source "$(dirname "$0")/lib.sh"
export TESSERA_SOFTWARE_DEVICES=1

cat >kernels.tsr <<'END'
from tessera import *


@cases(case("a", M=13, N=70))
@kernel
def rows(x: Tensor["M", "N", f32]) -> Tensor["M", f32]:
    e = exp(x - max(x, axis=1, keepdims=True))
    return sum(e, axis=1)


@cases(case("a", M=33, K=40, N=20))
@kernel
def product(x: Tensor["M", "K", f32], w: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return relu(x @ w)


@cases(case("a", M=9, N=50, x=integers(0, 50)))
@kernel
def taken(x: Tensor["M", i32], t: Tensor["N", f32]) -> Tensor["M", f32]:
    return take(t, x)


@cases(case("a", T=5, D=7))
@kernel
def state(x: Tensor["T", "D", f32]) -> Tensor["D", f32]:
    h = zeros((D,), f32)
    for t in range(T):
        h = tanh(h + take(x, t))
    return h
END
exits 0 "right code" "$tsr" bench kernels.tsr --backend cpu,ptx-emulated,rocm-emulated --quick --db r.db --check-bounds
has out "12 results: 12 ok" "keeps its bits"
exits 0 "code for any dimensions" "$tsr" bench kernels.tsr --backend cpu --quick --db r.db --check-bounds --generic --filter rows,product,taken
exits 0 "plain code" "$tsr" bench kernels.tsr --backend cpu --quick --db r.db --check-bounds --unoptimised

exits 70 "an index past the end" "$tsr" bench kernels.tsr --backend cpu,ptx-emulated,rocm-emulated --filter rows,product,taken --quick --db r.db \
    --check-bounds --inject wrong-index --failures packs --json
python3 - >found <<'END'
import json
for r in json.load(open("out"))["results"]:
    print(r["kernel"], r["backend"], r["status"], r["why"])
END
while read -r pattern; do
    has found "^$pattern" "$pattern"
done <<'END'
rows cpu error .* out-of-bounds: line [0-9]+ writes element [0-9]+ of 'out', which has 13
product cpu error .* out-of-bounds: line 14 writes element [0-9]+ of 'out', which has 660
taken cpu error .* out-of-bounds: line [0-9]+ writes element [0-9]+ of 'out', which has 9
rows ptx-emulated error .* out-of-bounds: .* of buffer 1, which has 52 bytes, at [0-9]+:
product rocm-emulated error .* out-of-bounds: .* of buffer 2, which has 2640 bytes, at [0-9]+:
END
exits 0 "a pack of it" "$tsr" replay "$(ls packs/rows-a-* | head -1)"
has out "^REPRODUCED" "checks again"

exits 3 "such an index in code that is not checked" "$tsr" bench kernels.tsr --backend cpu --filter rows --quick --db r.db --inject wrong-index
has out "fault wrong-index .*--check-bounds" "is not made"
exits 2 "a backend whose accesses nobody checks" "$tsr" bench kernels.tsr --backend vulkan --quick --db r.db --check-bounds
has err "--check-bounds is for CPUs and emulated chips" "is refused"
exits 3 "a chip" "$tsr" compile kernels.tsr --kernel rows --emit ptx --isa sm_80 --check-bounds
has err "sm_80 is neither" "too"

exits 0 "a module" "$tsr" compile kernels.tsr --kernel product --case a --emit module --check-bounds -o checked.tsrm
exits 0 "is another one" "$tsr" compile kernels.tsr --kernel product --case a --emit module -o plain.tsrm
cmp -s checked.tsrm plain.tsrm && fail "with checks" || pass "with checks"
finish
