# test_cli_with_packs.sh - packs of code of others: what failed is held, and runs again where the user says so.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_functions.so
write_pack=$(dirname "$tsr")/harness/write_pack
cat >k.tsr <<'K'
from tessera import *


@cases(case("small", M=5, N=7))
@kernel
def twice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Two times x."""
    return x * 2
K
export TSR_DB=$scratch/results.db
mkdir theirs
cp "$functions" theirs/lib.so

# bench_with SYMBOL: the pack's path goes to $pack
bench_with() {
    exits 1 "$1 fails" "$tsr" bench k.tsr -v --quick --failures packs --timeout 2 --with "theirs/lib.so:$1=twice"
    pack=$(sed -n 's/^ *tsr replay \(.*lz4\).*/\1/p' out | head -1)
    [ -f "$pack" ] && pass "$1 is packed" || fail "$1 is packed"
}

# said KEY...: values of the last replay's document.
said() {
    /usr/bin/python3 - "$@" <<'END_PYTHON'
import json, sys
document = json.load(open("out"))
for key in sys.argv[1:]:
    value = document
    for part in key.split("."):
        value = value[part] if value else None
    print(value if not isinstance(value, list) else " ".join(value))
END_PYTHON
}

# Each way of failing happens again, by the pack's own copy; and not unless it is trusted.
while read -r symbol verdict status; do
    bench_with "$symbol"
    exits 4 "$symbol, which nobody trusts" "$tsr" replay "$pack" --json
    said verdict replayed why >words
    has words "^NEEDS_TRUST$" "is not run"
    has words "^None$" "not even once"
    has words "lib.so:$symbol .shared-object, [0-9]+ bytes, SHA-256 [0-9a-f]{64}" "and the file is named"
    exits 0 "$symbol, trusted" "$tsr" replay "$pack" --trust --json
    said verdict replayed.status qualifiers replayed.implementation.path >words
    has words "^$verdict$" "is $verdict"
    has words "^$status$" "in the same way"
    has words "same-implementation" "by the file that was recorded"
    hasnt words "theirs/lib.so$" "which is the pack's own copy"
done <<'LIST'
almost REPRODUCED_EXACT mismatch
crashes REPRODUCED_CLASS crash
hangs REPRODUCED_CLASS timeout
at_times_almost REPRODUCED_EXACT mismatch
at_times_fails REPRODUCED_CLASS error
at_times_crashes REPRODUCED_CLASS crash
at_times_hangs REPRODUCED_CLASS timeout
LIST

# A source of kernels is packed as it is, and compiled again.
printf 'from tessera import *\n\n\n@kernel\ndef twice(a: Tensor["N", "P", f32]) -> Tensor["N", "P", f32]:\n    return a * 2.001\n' >theirs/wrong.tsr
exits 1 "a source fails" "$tsr" bench k.tsr -v --quick --failures packs --with theirs/wrong.tsr
pack=$(sed -n 's/^ *tsr replay \(.*lz4\).*/\1/p' out | head -1)
rm theirs/wrong.tsr
exits 4 "which nobody trusts" "$tsr" replay "$pack" --json
exits 0 "trusted" "$tsr" replay "$pack" --trust --json
said verdict replayed.status >words
has words "^REPRODUCED_EXACT$" "fails again"
has words "^mismatch$" "in the same way"

# A failure on other inputs than the case's own is packed with those, by whatever way it failed.
bench_with at_times_almost
exits 0 "its inputs" bsdtar -xf "$pack" manifest.json inputs/x.npy expected/out.npy actual/out.npy
/usr/bin/python3 - <<'END_PYTHON' >out && pass "are those that failed" || fail "are those that failed"
import json, struct
def first(path):
    data = open(path, "rb").read()
    return struct.unpack_from("<f", data, 10 + struct.unpack("<H", data[8:10])[0])[0]
assert first("inputs/x.npy") > 0 and json.load(open("manifest.json"))["case"]["set"] > 0
assert first("expected/out.npy") != first("actual/out.npy")
END_PYTHON
exits 0 "the last failure" "$tsr" pack-repro --last-failure --timeout 2 -o last.lz4
same last.lz4 "$pack" "is the same pack"
exits 0 "by its name" "$tsr" pack-repro "last:twice/small@lib.so:at_times_almost" --timeout 2 -o named.lz4
same named.lz4 "$pack" "too"
exits 1 "as a document" "$tsr" bench k.tsr --quick --json --failures packs --with "theirs/lib.so:at_times_crashes=twice"
/usr/bin/python3 -c 'import json
r = json.load(open("out"))["results"][-1]
assert r["status"] == "crash" and r["failed_on"]["set"] > 0, r' && pass "the record names the set" || fail "the record names the set"
bench_with almost
cp "$pack" almost.lz4
bench_with crashes
cp "$pack" crashes.lz4
exits 0 "what it holds" bsdtar -tf almost.lz4
for member in implementation/lib.so source/k.tsr inputs/x.npy expected/out.npy actual/out.npy; do
    has out "^$member$" "has $member"
done
hasnt out "^ir/|module" "and nothing that our compiler made"
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'tsr-scratch-*' -newer k.tsr -user "$(id -un)" -exec ls {} \; | grep '^lib.so$')" ] &&
    pass "no copy is left behind" || fail "no copy is left behind"

exits 0 "it is shown" "$tsr" replay almost.lz4 --show
has out "^recorded  mismatch: " "how it ended"
has out "^    def twice" "its source"
exits 0 "for a program" "$tsr" replay almost.lz4 --show --json
said schema manifest.case.kernel manifest.outcome.status texts.README >words
has words "^tsr.pack/1$" "as a document"
has words "^twice$" "with its case"
has words "implementation/" "and what is to be read"
exits 2 "and not run" "$tsr" replay almost.lz4 --show --trust
head -c 700 almost.lz4 >cut.lz4
exits 3 "one that is damaged" "$tsr" replay cut.lz4 --show

# A file of one's own in its place: the same bytes, a fix, another failure.
rm theirs/lib.so
exits 0 "the same file from elsewhere" "$tsr" replay almost.lz4 --with "$functions"
has out "^REPRODUCED_EXACT .same-implementation" "is told by its bytes"
cat >program <<'PYTHON'
#!/usr/bin/python3
import sys, pathlib, struct
inputs, outputs = pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
data = (inputs / "x.npy").read_bytes()
head = 10 + struct.unpack("<H", data[8:10])[0]
values = struct.unpack(f"<{(len(data) - head) // 4}f", data[head:])
(outputs / "out.npy").write_bytes(data[:head] + struct.pack(f"<{len(values)}f", *[2 * v for v in values]))
PYTHON
chmod +x program
exits 1 "a fix" "$tsr" replay almost.lz4 --with ./program
has out "^NOT_REPRODUCED .*other-implementation" "holds, and is another file"
has out "^instead .*/program:twice" "which is named"
exits 0 "a fix that is expected" "$tsr" replay almost.lz4 --with ./program --expect fixed
exits 1 "no fix" "$tsr" replay almost.lz4 --trust --expect fixed
exits 4 "nothing is run" "$tsr" replay almost.lz4 --expect fixed
exits 1 "a fix of the crash" "$tsr" replay crashes.lz4 --with "$functions:twice"
has out "^NOT_REPRODUCED" "holds"
exits 1 "another failure" "$tsr" replay crashes.lz4 --with "$functions:fails"
has out "^DIFFERENT_FAILURE" "is told apart"

# Packs of any case, and of results that are stored.
exits 0 "any case" "$tsr" pack-repro twice --case small --with "$functions" k.tsr -o held.lz4
exits 0 "holds again" "$tsr" replay held.lz4 --trust
has out "^REPRODUCED_EXACT" "with the same bits"
exits 3 "where there is nothing to fix" "$tsr" replay held.lz4 --trust --expect fixed
exits 2 "what else is expected" "$tsr" replay held.lz4 --trust --expect broken
exits 0 "a program" "$tsr" pack-repro twice --case small --with program k.tsr -o program.lz4
exits 0 "the pack's copy" "$tsr" replay program.lz4 --trust
has out "^REPRODUCED_EXACT" "can be run"
exits 4 "a stored result whose file is gone" "$tsr" pack-repro last:twice/small@lib.so:crashes
has err "lib.so" "names it"
cp "$functions" theirs/lib.so
exits 0 "one whose file is there" "$tsr" pack-repro last:twice/small@lib.so:crashes --timeout 2 -o again.lz4
same again.lz4 crashes.lz4 "is the same pack"
exits 2 "what is for our code" "$tsr" pack-repro twice --case small --with "$functions" --backend cpu k.tsr
exits 2 "two of them" "$tsr" pack-repro twice --case small --with "$functions" --with program k.tsr
exits 3 "a kernel that the file lacks" "$tsr" pack-repro twice --case small --with "$functions:thrice=three" k.tsr

# Forged: the case names another file than the pack holds, another kind, none, or one where our code runs.
exits 0 "a pack" bsdtar -xf almost.lz4
forge() { # WHAT PYTHON-STATEMENT: changes the manifest; $members are packed
    /usr/bin/python3 - "$1" <<'END_PYTHON'
import json, sys
manifest = json.load(open("manifest.json"))
del manifest["members"], manifest["schema"]
case = manifest["case"]
exec(sys.argv[1])
json.dump(manifest, open("forged.json", "w"))
END_PYTHON
    "$write_pack" forged.lz4 forged.json source/k.tsr=source/k.tsr "${@:2}"
}
forge "pass" implementation/lib.so=implementation/lib.so
exits 0 "made anew" "$tsr" replay forged.lz4 --trust
has out "^REPRODUCED_EXACT" "it is the same"
forge "pass" implementation/lib.so=program
exits 3 "another file" "$tsr" replay forged.lz4 --trust
has out "^implementation/lib.so is not the file" "is seen"
forge "case['implementation']['kind'] = 'python'" implementation/lib.so=implementation/lib.so
exits 3 "another kind" "$tsr" replay forged.lz4 --trust
has out "^INVALID_PACK" "is seen"
forge "case['implementation']['symbol'] = 'nosuch'" implementation/lib.so=implementation/lib.so
exits 3 "a function that is not there" "$tsr" replay forged.lz4 --trust
forge "case['backend'] = 'cpu'" implementation/lib.so=implementation/lib.so
exits 3 "ours and theirs" "$tsr" replay forged.lz4 --trust
forge "del case['implementation']" implementation/lib.so=implementation/lib.so
exits 3 "theirs without a file" "$tsr" replay forged.lz4 --trust
forge "case['generic'] = True" implementation/lib.so=implementation/lib.so
exits 3 "theirs with our options" "$tsr" replay forged.lz4 --trust
forge "case['implementation']['name'] = '..'" implementation/lib.so=implementation/lib.so
exits 4 "a name that leads out" "$tsr" replay forged.lz4 --trust
forge "pass"
exits 4 "a file that is not held" "$tsr" replay forged.lz4 --trust
has out "^missing .*--with" "has to be given"
exits 0 "and given" "$tsr" replay forged.lz4 --with "$functions"
has out "^REPRODUCED_EXACT" "it runs"

# Arguments that do not go together.
exits 0 "a pack of our code" "$tsr" pack-repro twice --case small --backend cpu k.tsr -o ours.lz4
exits 3 "trust where there is no need" "$tsr" replay ours.lz4 --trust
exits 3 "a file where there is no place" "$tsr" replay ours.lz4 --with "$functions"
exits 3 "a level" "$tsr" replay almost.lz4 --trust --isa x86-64-v3
exits 2 "both" "$tsr" replay almost.lz4 --trust --with "$functions"
exits 3 "no such file" "$tsr" replay almost.lz4 --with nosuch.so
exits 3 "no such function" "$tsr" replay almost.lz4 --with "$functions:nosuch"

# Things that such code opens beside its file are found when it is packed: neighbours that it imports are held, the rest is named.
mkdir -p beside/more elsewhere
echo 'FACTOR = 2.5' >beside/helper.py
echo 'HALF = 0.5' >beside/more/__init__.py
echo 1 >beside/factor.txt
cat >beside/opens.py <<'END'
import os, pathlib


def twice(x, out):
    import helper
    from more import HALF

    factor = float((pathlib.Path(__file__).parent / "factor.txt").read_text()) * float(os.environ.get("FACTOR", "3"))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * (helper.FACTOR + factor * HALF)


def neighbours(x, out):
    import helper

    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] * helper.FACTOR


def raises(x):
    open("/dev/null").close()
    import helper

    raise ValueError(helper.FACTOR)
END
exits 0 "a file that opens others" env FACTOR=1 "$tsr" pack-repro twice --case small --with beside/opens.py:twice k.tsr -o opens.lz4
has err "this pack lacks: factor.txt .read., variable FACTOR$" "what is not held is told"
exits 0 "its document" "$tsr" replay opens.lz4 --show --json
/usr/bin/python3 -c 'import json
d = json.load(open("out"))
needs = sorted((n["how"], n["name"], n["held"]) for n in d["manifest"]["needs"])
assert needs == [("imported", "helper.py", True), ("imported", "more/__init__.py", True), ("read", "factor.txt", False),
                 ("variable", "FACTOR", False)], needs
assert "implementation/more/__init__.py" in d["texts"] and "factor.txt" in d["texts"]["README"]' &&
    pass "has all of it" || fail "has all of it"
for symbol in neighbours:REPRODUCED_EXACT raises:REPRODUCED_CLASS; do
    exits 0 "${symbol%:*} is packed" "$tsr" pack-repro twice --case small --with "beside/opens.py:${symbol%:*}=twice" k.tsr -o held.lz4
    hasnt err "lacks" "nothing is lacking"
    mv beside gone
    exits 0 "elsewhere" "$tsr" replay held.lz4 --trust
    mv gone beside
    has out "^${symbol#*:} .same-implementation.$" "happens again by what the pack holds"
done
mv beside gone
exits 1 "without the file that is read" "$tsr" replay opens.lz4 --trust
has out "^lacks     factor.txt .read., variable FACTOR$" "what is lacking is told"
hasnt out "limited" "and nothing was limited"
exits 4 "untrusted" "$tsr" replay opens.lz4
has out "with helper.py .imported., more/__init__.py" "all that would run is named"
mv gone beside

# Columns, files and modules with long names, and a file with a colon in its own: each is packed, and happens again.
long=a_name_of_more_than_thirty_two_letters_as_libraries_have_them
mkdir -p "in_$long/$long"
cat >"in_$long/$long/$long.py" <<'END'
def nothing_is_written_by_this_function_of_a_long_name(x, out):
    pass
END
cp "in_$long/$long/$long.py" "$long.py"
cp "in_$long/$long/$long.py" a:b.py
for file in "$long.py" a:b.py "in_$long.$long.$long"; do
    exits 1 "$file fails" "$tsr" bench k.tsr -v --quick --failures long \
        --with "$file:nothing_is_written_by_this_function_of_a_long_name=twice"
    pack=$(sed -n 's/^ *tsr replay \(.*lz4\).*/\1/p' out | head -1)
    [ -f "$pack" ] && pass "$file is packed" || fail "$file is packed"
    trusted=(--trust)
    [ "${file%.py}" = "$file" ] && trusted=(--with "$file:nothing_is_written_by_this_function_of_a_long_name")
    exits 0 "$file happens again" "$tsr" replay "$pack" "${trusted[@]}"
done
finish
