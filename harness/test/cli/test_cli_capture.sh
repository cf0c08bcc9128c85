# test_cli_capture.sh - programs recorded: what a stream holds, two of them aligned, the first call that differs, and that call as
# a pack. The program and its BLAS are the test's own (harness/test/cli/capture), and NumPy where it is there.
source "$(dirname "$0")/lib.sh"
programs=$(dirname "$tsr")/harness/capture
program=$programs/program
unset LD_PRELOAD TESSERA_CAPTURE TESSERA_CAPTURE_TENSORS TESSERA_LIBRARY
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
for python in /usr/bin/python3 python3; do
    "$python" -c "import numpy" 2>/dev/null && break
done

# record OUT LIBRARY ARGUMENT...: the program with that library, in front of nothing else.
record() {
    local folder=$1 library=$2
    shift 2
    LD_LIBRARY_PATH=$programs/$library "$tsr" capture --out "$folder" "${how[@]}" -- "$program" "$@"
}

# said WHAT CONDITION: of out, the document of diff --json.
said() {
    if "$python" -c "import json, sys; d = json.load(open('out')); sys.exit(not ($2))"; then
        pass "$1"
    else
        fail "$1: not $2"
    fi
}

how=()
exits 0 "the program alone" env LD_LIBRARY_PATH="$programs/honest" "$program" 10
cp out alone
exits 0 "recorded" record a honest 10
same out alone "its output is its own"
exits 7 "its exit code is kept" record failing honest 2 fails
exits 0 "again" record again honest 10
exits 0 "two recordings of one program are the same" "$tsr" diff a again --json
said "every call agrees" "d['equal'] and d['agree'] == 10 and d['schema'] == 'tsr.streams/1'"
"$python" - <<'END' >out 2>err && pass "what a line holds" || fail "what a line holds"
import glob, json
lines = [json.loads(line) for line in open(glob.glob("a/calls-*.jsonl")[0])]
assert json.load(open("a/stream.json"))["schema"] == "tsr.capture/1"
assert lines[0]["program"][1:] == ["10"] and lines[0]["environment"]["OMP_NUM_THREADS"] == "1" and lines[-1] == {"end": 10}
calls = lines[1:-1]
assert [call["call"] for call in calls] == list(range(1, 11))
assert {call["function"] for call in calls} == {"cblas_sgemm"}, "sgemm_ inside of it is no call of its own"
first, second = calls[:2]
assert dict(one for one in first["arguments"] if len(one) == 2)["alpha"] == 1.5
assert first["library"].endswith("honest/libtestblas.so")
a, b, c = first["tensors"]
assert (a["shape"], a["strides"], a["role"], a["dtype"]) == ([6, 27], [30, 1], "input", "f32")
assert c["role"] == "output" and "before" not in c, "beta is 0: it is not read"
assert second["tensors"][2]["role"] == "both" and second["tensors"][2]["before"] == c["after"]
END
exits 3 "a folder that has something" record a honest 10
exits 2 "no command" "$tsr" capture
exits 4 "no such program" "$tsr" capture -- ./nothing
mkdir -p "of a person" && cp "$tsr" "$(dirname "$tsr")/libtessera-capture.so" "of a person"
exits 0 "a folder with blanks, where the loader reads none" env LD_LIBRARY_PATH="$programs/honest" "of a person/tsr" capture \
    --out blanks -- "$program" 2
[ -s blanks/stream.json ] && pass "its calls are recorded" || fail "its calls are recorded"
exits 0 "a program without BLAS" "$tsr" capture -- true
has err "no call was recorded" "says so"
[ ! -e capture-1 ] && pass "and leaves no folder" || fail "and leaves no folder"

# A changed library: the seventh call differs, and what follows is fed with it.
exits 0 "another library" record b liar 10
exits 1 "differs" "$tsr" diff a b --json
said "in the seventh call" "d['first_difference']['a']['call'] == 7 and d['first_difference']['b']['call'] == 7"
said "not before" "d['agree'] >= 6 and d['differ'] == 1 and d['other_inputs'] >= 1 and d['first_other_inputs'] is None"
said "without elements, which were not kept" "d['first_difference']['tensors'][0]['tensor'] is None"
exits 3 "no pack of it" "$tsr" pack-repro b:7
has err "tsr capture --tensors 7 -- .*program 10" "it says how to keep them"
how=(--tensors 7)
exits 0 "A, with its tensors" record kept_a honest 10
exits 0 "B, with its tensors" record kept_b liar 10
exits 1 "now with elements" "$tsr" diff kept_a kept_b --json
if "$python" -c "import jsonschema" 2>/dev/null; then
    "$python" -c "import json, jsonschema; jsonschema.validate(json.load(open('out')), json.load(open('$root/docs/streams.schema.json')))" 2>err &&
        pass "the document fits its schema" || fail "the document fits its schema"
fi
said "one ULP, in one element" "d['first_difference']['tensors'][0]['tensor']['differing'] == 1"
said "with its place" "d['first_difference']['tensors'][0]['tensor']['first']['index'] == [0, 1]"
cp -r kept_b hostile && sed -i 's/"name":"a"/"name":"a=print(1)"/' hostile/calls-*.jsonl
exits 4 "no name of a stream becomes code" "$tsr" pack-repro hostile:7
exits 1 "for a person" "$tsr" diff kept_a kept_b
has out "call 7 of A, call 7 of B: cblas_sgemm" "the call"
has out "first difference at \[0, 1\]" "the element"
has out "tsr pack-repro kept_b:7" "what to do next"

# That call as one file.
package=$(dirname "$tsr")/python/tessera
if [ -f "$package/_tessera.abi3.so" ]; then
    export TESSERA_PYTHON=$python
    exits 0 "the call is packed" "$tsr" pack-repro kept_b:7 -o seven.tar.lz4
    exits 4 "code of others is not run unasked" "$tsr" replay seven.tar.lz4
    exits 0 "replayed" "$tsr" replay seven.tar.lz4 --trust --json
    said "the same bits" "d['verdict'] == 'REPRODUCED_EXACT' and d['case']['recorded_inputs']"
    exits 1 "by the library that is right" env TESSERA_LIBRARY="$programs/honest/libtestblas.so" "$tsr" replay seven.tar.lz4 --trust --json
    said "other bits" "d['verdict'] != 'REPRODUCED_EXACT'"
    exits 0 "a colleague's copy of the code" bash -c "bsdtar -xf seven.tar.lz4 implementation/call.py && '$tsr' replay seven.tar.lz4 --with implementation/call.py"
    how=(--tensors all)
    exits 0 "every kind of call" record kinds honest 2 columns
    exits 0 "threads, too" record threaded honest 1 threads
    exits 0 "corners, too" record corners honest 0 corners
    for place in kinds:2 kinds:3 threaded:4 corners:1 corners:12; do
        exits 0 "$place is packed" "$tsr" pack-repro $place -o one.tar.lz4
        exits 0 "$place is replayed" "$tsr" replay one.tar.lz4 --trust --json
        said "$place: the same bits" "d['verdict'] == 'REPRODUCED_EXACT' and d['recorded']['status'] == 'ok'"
    done
    exits 3 "no such call" "$tsr" pack-repro kinds:9
    exits 2 "no option that a call cannot have" "$tsr" pack-repro kinds:2 --seed 3
else
    echo "skipped: packs of calls: the Python package was not built"
fi
# A call for each of the reference's own rules (docs/capture.md): by them it is right, and by the formula wrong.
how=(--tensors all)
for library in honest:ok liar:mismatch; do
    record corners_${library%:*} "${library%:*}" 0 corners >out 2>err || fail "the corners of BLAS"
    for ((i = 1; i <= 12; i++)); do
        exits 0 "corner $i of ${library%:*}" "$tsr" pack-repro corners_${library%:*}:$i -o corner.tar.lz4
        exits 0 "is shown" "$tsr" replay --show --json corner.tar.lz4
        said "is ${library#*:}" "d['manifest']['outcome']['status'] == '${library#*:}'"
    done
done
# Triangular solves, forward and backward, from both sides.
exits 0 "triangular solves" record solves honest 0 solves
exits 0 "by a library that forgets an unknown" record solves_lied liar 0 solves
for ((i = 1; i <= 5; i++)); do
    for place in solves:$i=ok solves_lied:$i=mismatch; do
        exits 0 "${place%=*} is packed" "$tsr" pack-repro "${place%=*}" -o solve.tar.lz4
        exits 0 "is shown" "$tsr" replay --show --json solve.tar.lz4
        said "is ${place#*=}" "d['manifest']['outcome']['status'] == '${place#*=}'"
    done
done
how=()

# Other inputs, another length.
exits 0 "a program that computes something else in between" record noisy honest 10 noise
exits 1 "its inputs differ" "$tsr" diff a noisy --json
said "from the fourth call on" "d['first_difference'] is None and d['first_other_inputs']['a']['call'] == 4"
exits 0 "a longer run" record longer honest 13
exits 5 "has calls that the other has not" "$tsr" diff a longer --json
said "and no others" "(d['agree'], d['only_a'], d['only_b']) == (10, 0, 3)"
exits 0 "a longer run with the other library" record longer_b liar 13
exits 1 "the difference is found all the same" "$tsr" diff longer_b a --json
said "in the seventh call" "d['first_difference']['a']['call'] == 7 and d['only_a'] == 3"

# Killed, cut, forked, in threads, without room.
exits 137 "a program that is killed" record killed honest 3 kill
exits 5 "its stream is read" "$tsr" diff killed a --json
said "to its end" "d['agree'] == 3 and not d['a']['whole']"
cp -r a cut && truncate -s -30 cut/calls-*.jsonl
exits 5 "a last line that is cut" "$tsr" diff a cut --json
said "is left out" "d['agree'] == 9 and not d['b']['whole']"
cp -r a damaged && sed -i '4s/"shape"/"shapes"/' damaged/calls-*.jsonl
exits 3 "a line in the middle that is damaged" "$tsr" diff a damaged
has err "line 4" "is named"
exits 0 "a program that forks" record forked_a honest 3 fork
exits 0 "and again" record forked_b honest 3 fork
exits 0 "processes are paired" "$tsr" diff forked_a forked_b --json
said "both" "d['agree'] == 4 and d['a']['processes'] == 2"
exits 0 "three threads" record threads_a honest 1 threads
exits 0 "and again" record threads_b honest 1 threads
exits 0 "threads are paired, whoever was first" "$tsr" diff threads_a threads_b --json
said "all" "d['agree'] == 13"
exits 0 "no room" bash -c "ulimit -f 2; LD_LIBRARY_PATH='$programs/honest' '$tsr' capture --out small --tensors all -- '$program' 10"
same out alone "the program goes on"
[ "$(grep -c "recording ends here" err)" = 1 ] && pass "with one message" || fail "with one message"
exits 5 "what is there is read" "$tsr" diff small a
exits 3 "a recorded program and a run" "$tsr" diff a seven.npy
exits 3 "a folder of something else" "$tsr" diff . a

# NumPy, whose BLAS the loader sees from its extension alone.
if "$python" -c "import numpy" 2>/dev/null; then
    cat >product.py <<'END'
import numpy
x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
print((x @ x.T @ numpy.ones((3, 2), numpy.float32)).sum())
END
    exits 0 "NumPy" "$tsr" capture --out numpy_a -- "$python" product.py
    if [ -e numpy_a ]; then
        exits 0 "and again" "$tsr" capture --out numpy_b -- "$python" product.py
        exits 0 "are the same" "$tsr" diff numpy_a numpy_b --json
        said "calls were recorded" "d['agree'] >= 2"
    else
        echo "skipped: this NumPy calls no BLAS of a shared library"
    fi
else
    echo "skipped: NumPy is missing"
fi

# Functions of Python.
if [ -f "$package/_tessera.abi3.so" ]; then
    cat >functions.py <<'END'
import array, sys
import tessera
from tessera import f32

@tessera.kernel(threads=1)
def doubled(x: tessera.Tensor["N", f32]) -> tessera.Tensor["N", f32]:
    return x + x

@tessera.capture(outputs=["y"])
def changed(x, y, by=1.0, *, word="a"):
    for i, value in enumerate(memoryview(x)):
        y[i] = value + by

y = array.array("f", [0, 0, 0])
for i in range(3):
    changed(doubled(array.array("f", [i, 2, 3])), y, by=float(sys.argv[1]) if i == 1 else 1.0)
END
    export PYTHONPATH=$(dirname "$package") PYTHONDONTWRITEBYTECODE=1 TSR=$tsr
    exits 0 "functions of Python" env TESSERA_CAPTURE=python_a "$python" functions.py 1
    exits 0 "with another number" env TESSERA_CAPTURE=python_b "$python" functions.py 2
    exits 0 "without a folder nothing is recorded" "$python" functions.py 1
    exits 1 "one call is another" "$tsr" diff python_a python_b --json
    said "the rest is aligned" "d['agree'] == 4 and d['only_a'] == 1 and d['only_b'] == 1 and d['other_inputs'] == 1"
    exits 0 "a file of lines" grep -h '"function":"changed"' python_a/calls-*.jsonl
    has out '"by",1.0\].*"word"|"role":"both"' "scalars, and what is written"
else
    echo "skipped: functions of Python: the Python package was not built"
fi
finish
