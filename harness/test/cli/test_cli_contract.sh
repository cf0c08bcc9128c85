# test_cli_contract.sh - a kernel without a formula: its shapes, types and cases are enough to time code of others, to ask what
# decides its bits, and to compare two of them; nothing says that either is right.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_relations.so
simple=$(dirname "$tsr")/harness/test_functions.so
cat >k.tsr <<'END'
from tessera import *


@cases(case("usual", M=40, N=60), case("other", M=7, N=5))
@independent("M")
@kernel
def row_sums(x: Tensor["M", "N", f32]) -> Tensor["M", f32]:
    """Some library's sum of each row."""
    ...
END
sed '/^@independent/d' k.tsr >undeclared.tsr
cat >twice.tsr <<'END'
@cases(case("usual", M=9, N=7))
@kernel
def twice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]: ...
END
bench=("$tsr" bench k.tsr --quick --db r.db --failures packs --json)
field() {
    python3 - "$1" "$2" <<'END'
import json, sys
name, path = sys.argv[1:]
for r in json.load(open("out"))["results"]:
    if f"{r['kernel']}/{r['case']}@{r['backend']}" == name:
        for key in path.split("."):
            r = r.get(key) if r is not None else None
        print(json.dumps(r))
END
}

# It is a kernel like any other until its formula is asked for.
exits 0 "its graph" "$tsr" compile k.tsr --case usual
has out "tessera.unspecified" "says that it is not said"
exits 0 "it is linted" "$tsr" lint k.tsr
for level in asm mlir module; do
    exits 3 "no $level of it" "$tsr" compile k.tsr --case usual --emit $level -o nothing
    has err "E0330" "with the diagnostic for it"
done
exits 3 "nothing of ours to time" "${bench[@]}"
has err "row_sums.*--with FILE" "and what to type"
exits 3 "nothing to tune" "$tsr" tune k.tsr --tuned t.jsonl
exits 3 "nothing to record" "$tsr" golden record k.tsr
exits 3 "nothing of ours to pack" "$tsr" pack-repro row_sums --case usual k.tsr
exits 3 "nothing of ours to check" "$tsr" check k.tsr
exits 3 "nothing of ours to compare" "$tsr" golden verify k.tsr
python3 - <<'END'
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
header += " " * (117 - len(header)) + "\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(24))
END
exits 3 "it cannot be run" "$tsr" run k.tsr --in x=x.npy
has err "E0330" "with the same diagnostic"

# Two implementations: timed, compared with each other, and neither called right.
exits 1 "three columns" "${bench[@]}" --with "$functions:by_nothing=row_sums" --with "$functions:by_batch=row_sums" \
    --with "$functions:by_chance=row_sums"
one="row_sums/other@test_relations.so"
for want in "$one:by_nothing|status|\"ok\"" "$one:by_nothing|check.against|\"none\"" "$one:by_nothing|check.bitwise|false" \
    "$one:by_nothing|check.agrees|null" "$one:by_batch|check.agrees.bitwise|true" \
    "row_sums/usual@test_relations.so:by_batch|check.agrees.bitwise|false" "$one:by_nothing|flops|0" "$one:by_nothing|bytes|168"; do
    IFS='|' read -r name path value <<<"$want"
    field "$name" "$path" >field
    has field "^$value\$" "$path of $name is $value"
done
field "$one:by_nothing" time_ns.median >field
hasnt field "null" "it is timed"
field "row_sums/usual@test_relations.so:by_chance" status >field
has field '"mismatch"' "what has other bits the second time does not hold"
field "row_sums/usual@test_relations.so:by_chance" pack >field
has field 'packs/' "and is packed"
exits 0 "the pack" "$tsr" replay "$(ls packs/*.repro.tar.lz4 | head -1)" --trust
has out "REPRODUCED" "happens again"

# A check can ask what decides its bits; it declares which dimensions are batches, and what is declared wrongly is found.
exits 1 "a declared batch" "$tsr" check k.tsr --with "$functions:by_batch=row_sums" --relation batch
has out "$batch_violated" "is tried"
exits 0 "of a sound function" "$tsr" check k.tsr --with "$functions:by_nothing=row_sums" --relation batch,position,isolation,threads
hasnt out "not verified" "all is verified"
exits 5 "no batch declared" "$tsr" check undeclared.tsr --with "$functions:by_batch=row_sums" --relation batch
has out "not verified.*@independent" "and what to write is said"
exits 5 "no tree" "$tsr" check k.tsr --trees --with "$functions:by_nothing=row_sums"
cat >swapped.tsr <<'END'
@cases(case("usual", M=9, N=7))
@independent("N")
@kernel
def running(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]: ...
END
cat >running.py <<'END'
def running(x, out):
    for m in range(x.shape[0]):
        last = 0.0
        for n in range(x.shape[1]):
            last = out[m, n] = last + x[m, n]
END
exits 1 "a batch that is none" "$tsr" check swapped.tsr --with running.py --relation position,isolation
has out "position of N +violated" "positions tell"
has out "isolation of N +violated" "and what the others hold"

# Old and new of it: times, where each keeps to its own bits.
"$tsr" gate twice.tsr --with "$simple:twice" --against "$simple:twice" --json >out 2>err </dev/null
has out '"verdict": "(EQUIVALENT|INCONCLUSIVE)"' "the same on both sides is no change"
hasnt out "E0330" "and no formula is asked for"
finish
