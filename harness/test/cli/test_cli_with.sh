# test_cli_with.sh - --with: code of others is one more column, held to what a kernel means, in a process of its own.
source "$(dirname "$0")/lib.sh"
functions=$(dirname "$tsr")/harness/test_functions.so
# A crash is the signal, under a sanitizer too.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0:handle_abort=0:handle_sigbus=0
cat >k.tsr <<'END'
from tessera import *


@cases(case("small", M=5, N=7, T=f32), case("wide", M=3, N=1000, T=f32), case("narrow", M=5, N=7, T=bf16))
@kernel
def twice(x: Tensor["M", "N", "T"]) -> Tensor["M", "N", "T"]:
    """Two times x."""
    return x * 2


@cases(case("small", M=5, N=7))
@kernel
def thrice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Three times x."""
    return x * 3


@cases(case("small", M=5, N=7))
@kernel
def never(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """Nobody else computes this."""
    return -x
END
bench=("$tsr" bench k.tsr --quick --db r.db --failures packs)

# result KERNEL/CASE@COLUMN: its status, and whether it has the interpreter's bits.
cat >pick.py <<'END'
import json, sys
document, name = json.load(open("out")), sys.argv[1]
for r in document["results"]:
    if f"{r['kernel']}/{r['case']}@{r['backend']}" == name:
        print(r["status"], "bitwise" if r["check"]["bitwise"] else "other", r["profile"], "timed" if r["time_ns"] else "untimed")
        sys.exit(0)
print("missing")
END
result() {
    python3 pick.py "$1" >picked
}

# Functions with kernels' names are found in both conventions; what nobody implements does not run, and what an implementation
# does not take is unsupported.
exits 0 "a shared object beside ours" "${bench[@]}" --with "$functions" --json
for one in "twice/small@cpu|ok bitwise strict timed" "twice/small@test_functions.so|ok bitwise fast timed" \
    "twice/wide@test_functions.so|ok bitwise fast timed" "thrice/small@test_functions.so|ok bitwise fast timed" \
    "twice/narrow@test_functions.so|unsupported other fast untimed" "never/small@cpu|missing"; do
    result "${one%|*}"
    has picked "^${one#*|}\$" "${one%|*} is ${one#*|}"
done
exits 0 "held to the strict bits" "${bench[@]}" --with "$functions:twice" --filter twice/small --profile strict --json
result "twice/small@test_functions.so:twice"
has picked "^ok bitwise strict timed" "its bits are the strict ones"
exits 0 "two columns" "${bench[@]}" --with "$functions:twice" --with "$functions:doubled=twice" --filter twice/small --json
result "twice/small@test_functions.so:doubled"
has picked "^ok" "a function of another name, said"
exits 0 "of one kernel alone, not said" "${bench[@]}" --with "$functions:doubled" --filter twice/small --json
result "twice/small@test_functions.so:doubled"
has picked "^ok" "a function of another name, of the only kernel"

# Ours and theirs are timed in turn, and stand side by side.
cat >beside.py <<'END'
import json
results = json.load(open("turns.json"))["results"]
theirs = [r for r in results if "implementation" in r and r["time_ns"]]
cold = [r["time_cold_ns"] for r in results if r["time_ns"]]
assert len(cold) == 2 and all(c["samples"] >= 7 and 0 < c["low"] <= c["median"] <= c["high"] for c in cold), cold
assert theirs and not any("beside" in r for r in results if "implementation" not in r)
for r in theirs:
    b = r["beside"]
    assert (b["backend"], b["profile"]) == ("cpu", "strict") and b["rounds"] >= 7, b
    assert 0 < b["ratio"]["low"] <= b["ratio"]["median"] <= b["ratio"]["high"], b
END
exits 0 "in turn" "${bench[@]}" --with "$functions" --filter 'twice/small' --cold --json
cp out turns.json
exits 0 "both times and their ratio are in the record" python3 -B beside.py
exits 0 "without ours" "${bench[@]}" --with "$functions" --filter 'twice/small' --profile fast --json
hasnt out '"profile": "strict"' "the profile that was named is the one beside it"
exits 0 "a row for a person" env COLUMNS=100 LC_ALL=C "${bench[@]}" --with "$functions" --with "$functions:doubled=twice" --filter 'twice/*,thrice/*'
has out '^ +small +[0-9]+ .* test_functions.so .*[ =][0-9.]+ \([0-9.]+-[0-9.]+\)$' "the case, ours, theirs, and the ratio with its interval"
has out '^beside +test_functions.so: .* by geometric mean of 3' "and their mean at the end"
has out "^tsr fuzz k.tsr --filter 'twice/\*,thrice/\*' --with .*test_functions.so'? --with .*test_functions.so:doubled=twice'?$" "and the command that tries other shapes"
has out '^compared +(no difference shown between )?test_functions.so:doubled (is|and) .*[0-9.]+x \([0-9.]+ to [0-9.]+\).*, geometric mean of 2 cases$' "and how the two compare"

# Each way of being wrong is that column's result; ours goes on. Exit 1: a check did not hold.
while read -r symbol status why; do
    exits 1 "$symbol" "${bench[@]}" --with "$functions:$symbol=twice" --filter twice/small --timeout 3 --json
    result "twice/small@test_functions.so:$symbol"
    has picked "^$status " "$symbol is a $status"
    has out "\"why\": \"[^\"]*$why" "$symbol: the reason names $why"
    result "twice/small@cpu"
    has picked "^ok" "$symbol does not disturb ours"
done <<'END'
half_of_it mismatch out
almost mismatch out
fails error returned 7
returns_anything error returned -1073741824 .is it int f
crashes crash before the fall
ends crash code 3
hangs timeout took longer
writes_input mismatch input 'x'
writes_past crash signal 11
remembers mismatch out
END

# Kernels of another source, each compiled for the case.
cat >other.tsr <<'END'
from tessera import *


@kernel
def twice(a: Tensor["R", "2*C+1", "E"]) -> Tensor["R", "2*C+1", "E"]:
    return a + a


@kernel
def thrice(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return x * 3.0001


@kernel
def flat(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x
END
exits 1 "a source of kernels" "${bench[@]}" --with other.tsr --json
for one in "twice/small@other.tsr|ok bitwise fast timed" "twice/narrow@other.tsr|ok bitwise fast timed" "twice/wide@other.tsr|error" \
    "thrice/small@other.tsr|mismatch other fast"; do
    result "${one%|*}"
    has picked "^${one#*|}" "${one%|*} is ${one#*|}"
done
exits 1 "a kernel of another rank" "${bench[@]}" --with other.tsr:flat=thrice
has out "other.tsr: parameter x has shape .N., but the array is .5, 7." "says whose shape"
exits 3 "a kernel that it lacks" "${bench[@]}" --with other.tsr:twise
has err "no function 'twise'; did you mean twice" "names the nearest"
printf '@kernel\ndef twice(x: Tensor["M", f32]) -> Tensor["M", f32]:\n    return y\n' >broken.tsr
exits 3 "a source that does not check" "${bench[@]}" --with broken.tsr
has err "broken.tsr:3:" "shows where"

# A module of one kernel.
exits 0 "its module" "$tsr" compile k.tsr --kernel thrice --case small --emit module -o small.tsrm
exits 0 "is code of others" "${bench[@]}" --with small.tsrm --filter thrice/small --profile strict --json
result "thrice/small@small.tsrm"
has picked "^ok bitwise strict" "with the same bits"

# Coarse code: what a tolerance lets pass, it says, and wrong is wrong.
coarse=("${bench[@]}" --with "$functions:almost=twice" --filter twice/small)
exits 0 "code that is off by a part in 2000, within one in 1000" "${coarse[@]}" --tolerance 0.001 --json
has out '"tolerance": 0.001' "says by what it passed"
has out '"matched": 0' "and how much is within derived bounds"
has err '^tolerated +1 result .*--tolerance 0.001' "and so does the end"
exits 1 "within one in 10000" "${coarse[@]}" --tolerance 0.0001 --json
exits 2 "under strict" "${coarse[@]}" --tolerance 0.001 --profile strict
exits 2 "of ours" "${bench[@]}" --tolerance 0.001
exits 2 "a tolerance of everything" "${coarse[@]}" --tolerance 2

# A root of what is 0 but for roundings has a bound; where a square may have overflowed there is none, and nothing
# is judged: no verdict, and no time.
cat >n.tsr <<'END'
from tessera import *


@cases(case("flat", N=8, x=constant(3.0)))
@kernel
def deviation(x: Tensor["N", f32]) -> Tensor[f32]:
    """Of a mean."""
    c = x - mean(x)
    return sqrt(mean(c * c))


@cases(case("huge", N=8, x=constant(1e30)))
@kernel
def norm(x: Tensor["N", f32]) -> Tensor["N", f32]:
    """Normalised."""
    c = x - mean(x)
    return c * rsqrt(mean(c * c) + 1e-5)


@cases(case("huge", N=8, x=constant(1e30)))
@kernel
def pair(x: Tensor["N", f32]) -> tuple[Tensor["N", f32], Tensor["N", f32]]:
    """Twice x, and normalised."""
    c = x - mean(x)
    return x * 2, c * rsqrt(mean(c * c) + 1e-5)
END
unjudged=("$tsr" bench n.tsr --quick --db r.db --failures packs --json)
while read -r code kernel case status; do
    exits "$code" "42 in $kernel" "${unjudged[@]}" --with "$functions:forty_two=$kernel" --filter "$kernel/$case"
    result "$kernel/$case@test_functions.so:forty_two"
    has picked "^$status" "is $status"
done <<'END'
1 deviation flat mismatch
5 norm huge unjudged other fast untimed
0 pair huge ok other fast timed
END
has out '"not_judged": 8' "elements that nothing judges are counted"
exits 5 "a gate of it" "$tsr" gate n.tsr --db r.db --with "$functions:forty_two=norm" --against "$functions:forty_two=norm" \
    --always-time --filter norm/huge --json
has out '"reason": "not-judged"' "has no verdict"

# Other kinds: a program that reads and writes .npy, and a module of any build.
cat >program <<'END'
#!/usr/bin/python3
import sys, pathlib, struct
kernel, inputs, outputs = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
data = (inputs / "x.npy").read_bytes()
head = 10 + struct.unpack("<H", data[8:10])[0]
values = struct.unpack(f"<{(len(data) - head) // 4}f", data[head:])
factor = {"twice": 2, "thrice": 3}[kernel]
(outputs / "out.npy").write_bytes(data[:head] + struct.pack(f"<{len(values)}f", *[factor * v for v in values]))
END
chmod +x program
exits 0 "a program" "${bench[@]}" --with program --filter 't*/small' --json
result "thrice/small@program"
has picked "^ok bitwise" "it is asked for the kernel by name"
exits 0 "a module is made" "$tsr" compile k.tsr --kernel twice --case small --emit module -o twice.tsrm
exits 0 "a module" "${bench[@]}" --with twice.tsrm --filter twice/small --json
result "twice/small@twice.tsrm"
has picked "^ok bitwise" "it computes what it was made from"
exits 1 "a module for other sizes" "${bench[@]}" --with twice.tsrm --filter twice/wide --json
result "twice/wide@twice.tsrm"
has picked "^error" "is refused before it runs"
exits 0 "goldens are recorded" "$tsr" golden record k.tsr --golden goldens
exits 0 "verified against goldens" "$tsr" golden verify k.tsr --golden goldens --with "$functions" --filter 't*/small'
has out "test_functions.so" "the column is shown"

# Errors on the command line, or in the file, are said before anything runs.
exits 3 "no such file" "${bench[@]}" --with gone.so
exits 3 "no such function" "${bench[@]}" --with "$functions:twise"
has err "twice" "the nearest name is offered"
printf "just words\n" >words.txt
exits 3 "a text" "${bench[@]}" --with words.txt
exits 3 "no kernel of that name" "${bench[@]}" --with "$functions:ends"
head -c 3000 "$functions" >cut.so
exits 3 "a file cut short" "${bench[@]}" --with cut.so
exits 2 "the table's name is no backend" "${bench[@]}" --backend implementation
finish
