# test_cli_with_gate.sh - the gate between two files of others: paired as our modules are, each call in a process of its own.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_functions.so
cat >k.tsr <<'K'
from tessera import *


@cases(case("rows", M=24, N=1024))
@kernel
def twice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Two times x."""
    return x * 2


@cases(case("small", M=5, N=7))
@kernel
def thrice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Three times x."""
    return x * 3
K
cp "$functions" old.so
cp "$functions" new.so
gate=("$tsr" gate k.tsr --db r.db --mde 50 --margin 10 --alpha 5)

# row KERNEL/CASE: its verdict, reason and why, from the document.
row() {
    /usr/bin/python3 - "$1" <<'END_PYTHON' >row
import json, sys
document = json.load(open("out"))
for r in document["results"]:
    if f"{r['kernel']}/{r['case']}" == sys.argv[1]:
        print(r["verdict"], r["reason"], r["backend"], r["profile"], r["why"])
for side in ("baseline", "against"):
    print(side, document[side]["kind"], document[side]["name"], document[side]["detail"])
END_PYTHON
}

# The same file is the same module, and the same bytes elsewhere take the same time.
exits 0 "a file against itself" "${gate[@]}" --with old.so --against old.so --json
row twice/rows
has row "^EQUIVALENT same-module implementation fast" "is not timed"
row thrice/small
has row "^EQUIVALENT same-module" "in no kernel that it has"
has row "^against implementation implementation:old.so $PWD/old.so$" "and the document says what it was"
"${gate[@]}" --with old.so --against new.so --filter twice --json >out 2>err </dev/null
row twice/rows
has row "^(EQUIVALENT|INCONCLUSIVE) " "equal bytes are no change"
exits 1 "twenty times the work" "${gate[@]}" --with old.so --against new.so:laborious=twice --filter twice --json
row twice/rows
has row "^REGRESSED None implementation fast" "is slower"

# A wrong function fails, whichever way; what the baseline does is the baseline's.
while read -r symbol reason why; do
    exits 1 "$symbol" "${gate[@]}" --with old.so --against "new.so:$symbol=twice" --timeout 5 --filter twice --json
    row twice/rows
    has row "^FAILED $reason .*$why" "$symbol: $reason"
done <<'LIST'
almost mismatch error bound
half_of_it mismatch error bound
fails newly-failing returned 7
crashes newly-failing signal 11
hangs newly-failing longer than 5 s
LIST
exits 5 "a baseline that is wrong" "${gate[@]}" --with old.so:almost=twice --against new.so:twice --filter twice --json
row twice/rows
has row "^INCONCLUSIVE baseline-fails" "is no measure"
exits 1 "held to the strict bits" "${gate[@]}" --with old.so --against new.so:almost=twice --profile strict --filter twice --json
row twice/rows
has row "^FAILED mismatch implementation strict" "it has others"
cat >program <<'PYTHON'
#!/usr/bin/python3
import sys, pathlib
inputs, outputs = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
(outputs / "out.npy").write_bytes((inputs / "x.npy").read_bytes())
PYTHON
chmod +x program
exits 1 "a program" "${gate[@]}" --with old.so --against ./program --filter twice --json
row twice/rows
has row "^FAILED mismatch .*error bound" "is given files of its own"
exits 5 "a kernel that only one of them has" "${gate[@]}" --with old.so --against new.so:twice=twice --no-timing --json
cp out gate.json
row thrice/small
has row "^INCONCLUSIVE missing" "is missing"

if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    exits 0 "the document follows its schema" /usr/bin/python3 -c "
import json, jsonschema
jsonschema.validate(json.load(open('gate.json')), json.load(open('$root/docs/gate.schema.json')))"
fi

# Sides that cannot be compared are told before anything runs.
exits 2 "one side" "${gate[@]}" --with old.so
has err "against FILE is missing" "needs another"
exits 2 "two baselines" "${gate[@]}" --with old.so --baseline "$tsr" --against new.so
exits 2 "counting" "${gate[@]}" --with old.so --against new.so --counters instructions
exits 2 "a level" "${gate[@]}" --with old.so --against new.so --isa x86-64-v3
exits 2 "a self-test" "${gate[@]}" --with old.so --self-test
exits 3 "theirs against ours" "${gate[@]}" --baseline implementation:old.so
has err "old.so is code of others" "is refused"
exits 3 "theirs against a record" "${gate[@]}" --baseline run:last --against implementation:new.so
exits 3 "no such file" "${gate[@]}" --with old.so --against gone.so
exits 3 "no such function" "${gate[@]}" --with old.so --against new.so:nosuch
finish
