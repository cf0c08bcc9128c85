# test_cli_rows.sh - rows that a workgroup of threads reduces side by side: as many as the schedule says, in subgroups of 32 and of
# 64, in other orders of threads; the bits are the interpreter's. Element-wise work around them, and around attention, is in their phase.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3
rows=$root/harness/test/cli/rows/rows.tsr chain=$root/harness/test/cli/rows/chain.tsr

"$tsr" bench "$rows" --backend ptx-emulated --json >out 2>err </dev/null
if grep -q "threads are emulated on" out err; then
    echo "skipped: no code for emulated threads is made for this machine"
    exit 77
fi

cat >check.py <<"END"
import json, sys
results = json.load(open(sys.argv[1]))["results"]
for r in results:
    assert r["status"] == "ok" and r["check"]["bitwise"], (r["kernel"], r["case"], r["backend"], r["status"])
    moved = [f for f in r["fallbacks"] if f["as"] == "workspace"]
    assert not moved or sys.argv[3] == "asked", (r["kernel"], r["case"], moved)
assert len({(r["kernel"], r["case"]) for r in results}) == int(sys.argv[2]), "cases are missing"
END

has_the_bits() { # WHAT CASES asked|chosen ARGUMENTS...: where it chooses, memory of a workgroup stays there
    local what=$1 cases=$2 by=$3
    shift 3
    exits 0 "$what" "$tsr" bench --profile strict --json "$@"
    cp out results.json
    exits 0 "the same bits, $what" $python check.py results.json "$cases" "$by"
}

both=ptx-emulated,rocm-emulated
has_the_bits "as it chooses" 14 chosen "$rows" "$chain" --backend $both
schedules=(ROWS=1 ROWS=12 ROWS=8,SUB=32) chips=(sm_90a gfx942)
[ -n "${TSR_SHORT-}" ] || schedules+=(ROWS=2 ROWS=4 ROWS=8 ROWS=32 ROWS=4,SUB=16) chips+=(sm_80 gfx1100)
for schedule in "${schedules[@]}"; do
    has_the_bits "$schedule" 12 asked "$rows" --backend $both --schedule $schedule
done
has_the_bits "a subgroup of 32 of AMD's" 14 chosen "$rows" "$chain" --backend rocm-emulated --isa gfx1100
TESSERA_EMULATE_ORDER=shuffled:3 has_the_bits "threads in another order" 14 chosen "$rows" "$chain" --backend $both

# Work before and behind the sums is in the phase of tiles that the sums are; what is not of rows alone has a schedule.
TESSERA_EMULATE_ORDER=shuffled:3 has_the_bits "with work around them" 12 chosen "$root/harness/test/cli/rows/fused.tsr" --backend $both --quick
while read -r file kernel library phases workspace profile; do
    for isa in sm_90a gfx942; do
        exits 0 "$kernel on $isa" "$tsr" compile "$root/harness/test/cli/rows/$file.tsr" --kernel "$kernel" --case large --isa $isa --profile "$profile" --emit metadata
        cp out m.json
        exits 0 "is $phases phases, library: $library, $profile" $python -c '
import json, sys
m = json.load(open("m.json"))
assert [m.get("library", "none"), len(m["phases"]), m["workspace_bytes"]] == [sys.argv[1], int(sys.argv[2]), int(sys.argv[3])], m' "$library" "$phases" "$workspace"
    done
done <<'END'
fused residual rows 1 0 strict
fused activated rows 1 0 strict
fused weighted rows 1 0 strict
fused written_out rows 1 0 strict
fused dropped rows 1 0 strict
fused numbered rows 1 0 strict
fused picked rows 1 0 strict
fused halves rows 1 0 strict
other of_columns none 3 4096 strict
other turned none 2 4096 strict
other of_some_rows none 1 0 strict
other multiplied none 2 1048576 strict
other longer none 1 0 strict
around turned causal_attention 1 0 deterministic
around scaled attention 1 0 deterministic
around of_some_heads attention 1 0 fast
around normed causal_attention 1 0 deterministic
around heads causal_attention 1 0 deterministic
other odd_depth none 4 33587200 deterministic
other beside none 4 33587200 deterministic
END

# Work before and behind attention has the bits that kernels one after the other have, and each chip those within its bound.
around=$root/harness/test/cli/rows/around.tsr
cat >arrays.py <<"END"
import numpy as np
r = np.random.default_rng(1)
B, S, G, E = 2, 37, 2, 24
for name, shape in dict(x=(B, S, 4 * G * E), y=(B, S, 2 * G * E), z=(B, S, 2 * G * E), c=(S, E), s=(S, E), gate=(B, S, 4 * G * E)).items():
    np.save(name + ".npy", r.standard_normal(shape).astype(np.float32))
END
exits 0 "arrays" $python arrays.py
run_on() { # KERNEL OUT ARGUMENTS...
    local kernel=$1 to=$2
    shift 2
    exits 0 "$kernel on $isa" "$tsr" run "$around" --kernel "$kernel" --profile deterministic --backend "$backend" --isa "$isa" "$@" --out "$to"
}
for isa in "${chips[@]}"; do
    case $isa in sm*) backend=ptx-emulated ;; *) backend=rocm-emulated ;; esac
    exits 0 "within the bound on $isa" "$tsr" bench "$around" --profile deterministic --backend $backend --isa $isa --quick
    run_on heads all --in x=x.npy --in y=y.npy --in z=z.npy --in c=c.npy --in s=s.npy --in gate=gate.npy
    run_on heads_before before --in x=x.npy --in y=y.npy --in z=z.npy --in c=c.npy --in s=s.npy
    run_on heads_alone alone --in q=before/out0.npy --in k=before/out1.npy --in v=before/out2.npy
    run_on heads_behind behind --in a=alone/out.npy --in gate=gate.npy
    exits 0 "the bits of one after the other on $isa" cmp all/out.npy behind/out.npy
done

# So are dispatches of a program: groups of rows, and attention with what is around it, in its branches and loops, too.
cat >dispatches.py <<"END"
import json, struct, sys

def sections(module):
    found = {}
    for i in range(struct.unpack_from("<I", module, 12)[0]):
        name, offset, size = struct.unpack_from("<32sQQ", module, 16 + 80 * i)
        found[name.rstrip(b"\0").decode()] = module[offset:offset + size]
    return found

def count(commands):
    inner = [block for c in commands for v in c.values() for block in (v if isinstance(v, list) else [v]) if isinstance(block, dict)]
    return sum("dispatch" in c for c in commands) + (count(inner) if inner else 0)

module = sections(open("module", "rb").read())
kernels = [json.loads(sections(module[name])["metadata"]) for name in module if name.startswith("kernel:")]
libraries = sorted({k["library"] for k in kernels if "library" in k})
found = [count(json.loads(module["metadata"])["program"]["commands"]), ",".join(libraries)]
assert found == [int(sys.argv[1]), sys.argv[2]], found
END
while read -r file kernel case profile dispatches libraries; do
    for isa in sm_90a gfx942; do
        exits 0 "$kernel, a program, on $isa" "$tsr" compile "$root/$file.tsr" --kernel "$kernel" --case "$case" --isa $isa --profile "$profile" --emit module -o module
        exits 0 "has $dispatches dispatches, library: $libraries, $profile" $python dispatches.py "$dispatches" "$libraries"
    done
done <<'END'
harness/test/cli/rows/program refined medium deterministic 8 attention,causal_attention
corpus/models/gpt gpt medium deterministic 51 causal_attention,rows
corpus/models/gpt gpt medium strict 63 rows
END
exits 0 "a program's bits" "$tsr" bench "$root/harness/test/cli/rows/program.tsr" --profile strict,deterministic --backend $both --quick

# AMD's wavefronts of 64 are whole, and where there are threads enough a row is in all of one: no thread needs accumulators for it.
cat >wavefronts.tsr <<'END'
from tessera import *


@cases(case("large", M=8192, N=4096, large=True))
@kernel
def weights(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return softmax(x)


@cases(case("large", M=8192, N=1024, large=True))
@kernel
def activated(x: Tensor["M", "N", bf16], r: Tensor["M", "N", bf16], gain: Tensor["N", f32], bias: Tensor["N", f32]) -> Tensor["M", "N", bf16]:
    s = cast(x, f32) + cast(r, f32)
    return cast(gelu(layernorm(s, gain, bias)), bf16)
END
for kernel in weights activated; do
    exits 0 "$kernel on gfx942" "$tsr" compile wavefronts.tsr --kernel $kernel --isa gfx942 --profile strict --emit asm
    has out "\.agpr_count: +0\$" "has no accumulators"
    exits 0 "its threads" "$tsr" compile wavefronts.tsr --kernel $kernel --isa gfx942 --profile strict --emit metadata
    has out '"library": "rows"' "is a kernel of rows"
    has out '"threads": (64|128|192|256|512)$' "of whole wavefronts"
done
exits 0 "a row in a wavefront" "$tsr" compile wavefronts.tsr --kernel weights --isa gfx942 --profile strict --emit asm
has out "ds_bpermute_b32" "is added across its halves"

# None of a softmax's threads waits, whatever is left over of its rows.
exits 0 "code" "$tsr" compile "$rows" --kernel weights --case kept --isa sm_80 --emit-after insert-barriers
hasnt out "tile.barrier" "threads hand each other values"
finish
