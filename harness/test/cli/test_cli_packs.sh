# test_cli_packs.sh - faults on purpose: each is caught, packed, and happens again when it is replayed.
source "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/results.db
python=/usr/bin/python3

# Sources by kernel: to read the whole corpus takes longer than a case.
declare -A source_of=([matmul_f32]=matmul/matmul_f32.tsr [softmax_rows]=normalisation/softmax.tsr [attention_causal]=attention/attention.tsr)

# bench_with FAULT CASE [OPTION...]: the pack's path goes to $pack
bench_with() {
    local fault=$1 case=$2
    shift 2
    exits 1 "$fault in $case" "$tsr" bench "$root/corpus/${source_of[${case%/*}]}" -v --quick --backend cpu --profile strict --filter "$case" \
        --inject "$fault@$case" "$@"
    pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
    [ -f "$pack" ] && pass "is packed" || fail "is packed"
}

# Each fault in one case, and in others those that look for their place in the code. The full form has each in each.
for case in matmul_f32/prime softmax_rows/ragged attention_causal/ragged; do
    wrong="zero stale nan flip-bit drop-last-k edge-off-by-one" ends="crash oom"
    [ -z "${TSR_SHORT:-}" ] || [ $case = matmul_f32/prime ] || wrong="drop-last-k edge-off-by-one" ends=""
    for fault in $wrong; do
        bench_with $fault $case
        has out "^$case .* mismatch" "as a mismatch"
        exits 0 "replay" "$tsr" replay "$pack"
        has out "^REPRODUCED_EXACT" "gives the same bits"
    done
    for fault in $ends; do
        bench_with $fault $case
        exits 0 "replay" "$tsr" replay "$pack"
        has out "^REPRODUCED_CLASS" "ends the same way"
    done
done
bench_with hang softmax_rows/ragged --timeout 2
has out "^softmax_rows/ragged .* timeout" "as a timeout"
exits 0 "replay" "$tsr" replay "$pack"
has out "^REPRODUCED_CLASS" "hangs again"

# A replay's limits are its own: a pack can only lower them.
exits 0 "less time than the pack asks for" "$tsr" replay "$pack" --timeout 1
has out "^now .* longer than 1 s" "is what it gets"
exits 0 "more time than the pack asks for" "$tsr" replay "$pack" --timeout 1000
has out "^now .* longer than 2 s" "is not what it gets"
exits 0 "a case on two threads" "$tsr" pack-repro softmax_rows --case ragged --backend cpu --threads 2 "$root/corpus"
exits 4 "one thread for it" "$tsr" replay "$(cat out)" --threads 1 --json
$python -c 'import json; d = json.load(open("out")); assert d["verdict"] == "INCOMPATIBLE" and len(d["missing"]) == 1, d' &&
    pass "is too few" || fail "is too few"
pack=$(ls -t .tsr/failures/*.lz4 | head -1)
if "$tsr" replay "$pack" --memory 4096 >/dev/null 2>&1; then # a build with sanitizers needs its whole address space
    exits 1 "too little memory" "$tsr" replay "$pack" --memory 64
    has out "^DIFFERENT_FAILURE .*limited" "is told, and that the pack asks for more"

    # A case that ends before there is a graph of it, here as there is no room for its input, has its source in the pack.
    cat >vast.tsr <<'END'
from tessera import *


@cases(case("some", M=2000000000))
@kernel
def vast(x: Tensor["M", f32]) -> Tensor["M", f32]:
    return x + x
END
    exits 0 "a case without room" "$tsr" pack-repro vast --case some --backend cpu --memory 4096 -o vast.lz4 vast.tsr
    exits 0 "its pack" "$tsr" replay vast.lz4
    has out "^REPRODUCED_CLASS" "is whole, and ends the same way"
fi
for wrong in "--timeout 0" "--memory 0" "--threads 257" "--timeout -1" "--memory 1.5"; do
    exits 2 "replay $wrong" "$tsr" replay $wrong "$pack"
done

# A compiler that dies or errs leaves the IR before the pass in which it did.
bench_with compiler-crash matmul_f32/prime
has out "killed by SIGABRT in step compile" "with its step"
exits 0 "its pack" bsdtar -tf "$pack"
has out "^ir/[0-9]+-schedule.mlir$" "has the IR before that pass"
hasnt out "^ir/[0-9]+-tile.mlir$" "and none after it"
exits 0 "its log" bsdtar -xOf "$pack" log.txt
has out "packing ended in step tile" "names the pass"
exits 0 "replay" "$tsr" replay "$pack"
has out "^REPRODUCED_CLASS" "dies the same way"
exits 70 "an error that the verifier finds" "$tsr" bench "$root/corpus/normalisation" -v --quick --backend cpu --profile strict \
    --filter softmax_rows/ragged --inject broken-ir
has out "after pass schedule: " "names the pass"
pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
exits 0 "its pack" bsdtar -tf "$pack"
has out "^ir/[0-9]+-contract.mlir$" "has the IR before that pass"
exits 0 "replay" "$tsr" replay "$pack"
has out "^REPRODUCED_CLASS" "errs the same way"

# Launches that do not agree are nondeterministic under every profile.
for profile in strict deterministic; do
    exits 1 "unsteady launches, $profile" "$tsr" bench "$root/corpus/normalisation" -v --quick --backend cpu --profile $profile \
        --filter softmax_rows/ragged --inject unsteady
    has out "^softmax_rows/ragged .* mismatch" "are a mismatch"
    has out "^    nondeterministic: " "with that reason"
done

# The same failure packs to the same bytes, and nothing but packs is left.
bench_with flip-bit matmul_f32/prime --failures first
bench_with flip-bit matmul_f32/prime --failures second
same first/* second/* "the same failure twice"
[ "$(ls -A first | wc -l)" -eq 1 ] && pass "no staging folder is left" || fail "no staging folder is left"
exits 0 "a pack lists with bsdtar" bsdtar -tf "$pack"
for member in manifest.json README log.txt source/matmul_f32.tsr ir/00-graph.mlir "ir/[0-9]+-schedule.mlir" "ir/[0-9]+-tile.mlir" \
    ir/llvm.ll ir/asm.s module.tsrm inputs/x.npy expected/out.npy actual/out.npy; do
    has out "^$member$" "with $member"
done
exits 0 "replay as JSON" "$tsr" replay "$pack" --json
$python -c 'import json; assert json.load(open("out"))["verdict"] == "REPRODUCED_EXACT"' && pass "is JSON" || fail "is JSON"

# Another ISA level: strict bits do not depend on it.
if "$tsr" devices | grep -q "x86-64-v4 *yes"; then
    exits 0 "a pack of x86-64-v4 on x86-64-v3" "$tsr" replay "$pack" --isa x86-64-v3
    has out "^REPRODUCED_EXACT .other-isa" "is the same, bit for bit"
fi

# Packs of cases that hold, and of stored runs.
exits 0 "any case" "$tsr" pack-repro matmul_f32 --case exact --backend cpu "$root/corpus/matmul"
cp out path
exits 0 "its replay" "$tsr" replay "$(cat path)"
has out "^REPRODUCED_EXACT" "holds again"
# A kernel whose functions are imported: the pack holds those files, too, and needs no other.
mkdir -p imported/parts && cp "$root/corpus/programs/decoder.tsr" imported && cp "$root/corpus/programs/parts/norms.tsr" imported/parts
exits 0 "with what it imports" "$tsr" pack-repro decoder --case small --backend cpu -o imported.lz4 imported
rm -r imported
exits 0 "is replayed without it" "$tsr" replay imported.lz4
has out "^REPRODUCED_EXACT" "with the same bits"
exits 0 "a case of a run" "$tsr" pack-repro last:matmul_f32/prime
exits 0 "its replay" "$tsr" replay "$(cat out)"
exits 0 "the last failure" "$tsr" pack-repro --last-failure
has err "matmul_f32/prime on cpu: mismatch" "is the one of the last run"
cp out path
exits 0 "nothing said" "$tsr" pack-repro
same out path "is the last failure, too"
exits 0 "a file of one's own" "$tsr" pack-repro -o "own pack.lz4"
same "own pack.lz4" "$(cat path)" "has the same bytes"
has out "^own pack.lz4$" "and its name is printed"
exits 0 "the same over it" "$tsr" pack-repro matmul_f32 --case exact --backend cpu "$root/corpus/matmul" -o "own pack.lz4"
exits 0 "its replay" "$tsr" replay "own pack.lz4"
has out "^REPRODUCED_EXACT" "is of the new case"
[ -z "$(find . -name '.staging-*')" ] && pass "no staging folder is left" || fail "no staging folder is left"
exits 3 "a file in no folder" "$tsr" pack-repro -o nosuch/pack.lz4
exits 3 "a file over a folder" "$tsr" pack-repro -o first
exits 2 "a file and a folder" "$tsr" pack-repro -o pack.lz4 --failures first
exits 2 "no case" "$tsr" pack-repro matmul_f32
exits 3 "nothing of no run" "$tsr" pack-repro --db nosuch.db
exits 3 "an unknown run" "$tsr" pack-repro nosuch:matmul_f32/prime
exits 3 "an unknown case" "$tsr" pack-repro matmul_f32 --case nosuch "$root/corpus"
exits 3 "an unknown case to inject into" "$tsr" bench "$root/corpus" -v --quick --backend cpu --inject zero@nosuch
exits 2 "an unknown fault" "$tsr" bench "$root/corpus" -v --inject zeros
has err "did you mean zero" "is told with the nearest"

# A fault that a kernel has no place for.
exits 4 "a dropped k where nothing is summed" "$tsr" bench "$root/corpus" -v --quick --backend cpu --profile strict \
    --filter saxpy/prime --inject drop-last-k
has out "does not apply" "is told"

# Damage. A replay never runs what it cannot trust.
$python - "$pack" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
open("cut.lz4", "wb").write(data[:-1])
open("long.lz4", "wb").write(data + b"\0")
data[len(data) // 2] ^= 4
open("flipped.lz4", "wb").write(data)
END
for damage in cut long flipped; do
    exits 3 "a pack that was $damage" "$tsr" replay $damage.lz4
    has out "^INVALID_PACK" "is invalid"
done
exits 3 "no pack" "$tsr" replay nosuch.lz4
exits 2 "no argument" "$tsr" replay

# A result that is not the golden's fails again by the pack's copy of its digests, where the interpreter has the same bits as well.
cp -r "$root/golden" golden
$python - <<'END'
import json
path = "golden/matmul/matmul_f32/prime.json"
golden = json.load(open(path))
for output in golden["outputs"]:
    output["sha256"] = output["sha256"][::-1]
    output.pop("file", None)
json.dump(golden, open(path, "w"))
END
exits 1 "another golden" "$tsr" bench "$root/corpus" -v --quick --backend cpu --profile strict --filter matmul_f32/prime \
    --golden golden
pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
exits 0 "its replay" "$tsr" replay "$pack"
has out "^REPRODUCED_EXACT" "differs from that golden again"
has out "^now .*not what the golden records" "which it says"

# A failure that no longer happens: the golden was damaged, and the pack does not need it.
cp "$root/golden/matmul/matmul_f32/prime.json" golden/matmul/matmul_f32/prime.json
sed -i 's/"sha256": *"[0-9a-f]\{4\}/"sha256": "0123/' golden/matmul/matmul_f32/prime.json
exits 3 "a damaged golden" "$tsr" bench "$root/corpus" -v --quick --backend cpu --profile strict --filter matmul_f32/prime \
    --golden golden
pack=$(sed -n 's/^ *tsr replay //p' out | head -1)
exits 1 "its replay" "$tsr" replay "$pack"
has out "^NOT_REPRODUCED" "holds against the interpreter"
finish
