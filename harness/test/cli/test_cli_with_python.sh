# test_cli_with_python.sh - --with FILE.py: a Python callable is one more column, in a Python of its own.
source "$(dirname "$0")/lib.sh"
if [ ! -f "$(dirname "$tsr")/python/tessera/_tessera.abi3.so" ]; then
    echo "skipped: the Python package was not built: headers of Python 3.11 or later are missing"
    exit 77
fi
# A Python with numpy, where there is one.
for TESSERA_PYTHON in python3 /usr/bin/python3; do
    numpy=yes
    command "$TESSERA_PYTHON" -c "import numpy" 2>/dev/null && break
    numpy=no
done
export TESSERA_PYTHON
unset PYTHONPATH
cat >k.tsr <<'END_OF_KERNELS'
from tessera import *


@cases(case("small", M=5, N=7, T=f32), case("narrow", M=5, N=7, T=bf16), case("none", M=0, N=7, T=f32))
@kernel
def twice(x: Tensor["M", "N", "T"]) -> Tensor["M", "N", "T"]:
    """Two times x."""
    return x * 2


@cases(case("small", N=9))
@kernel
def both(x: Tensor["N", f32], s: Tensor[f32]) -> (Tensor["N", f32], Tensor["N", i32]):
    """A product, and positions."""
    return x * s, arange(N)
END_OF_KERNELS

# Without numpy: tensors of Tessera, which are seen as memory.
cat >plain.py <<'END_OF_FUNCTIONS'
import array
import ctypes
import os
import sys

print("the file is run")


def twice(x, out):
    if x.dtype != "f32":
        raise NotImplementedError("only of f32")
    given, to = memoryview(x), memoryview(out)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            to[i, j] = 2 * given[i, j]


def returned(x):
    given = memoryview(x)
    values = array.array("f", [2 * given[i, j] for i in range(x.shape[0]) for j in range(x.shape[1])])
    return memoryview(values).cast("B").cast("f", x.shape)


def both(x, s):
    values = array.array("f", [v * memoryview(s)[()] for v in memoryview(x)])
    return values, array.array("i", range(len(values)))


def flat(x):
    return array.array("f", range(35))


def doubles(x):
    return memoryview(array.array("d", range(35))).cast("B").cast("d", (5, 7))


def no_array(x):
    return 5


def pair(x):
    return x, x


def value_too(x, out):
    return out


def three(x, y, z):
    pass


def raises(x):
    raise ValueError("no such luck")


def unsupported(x):
    raise NotImplementedError("not this one")


def writes_input(x, out):
    memoryview(x)[0, 0] = 5


def exits(x):
    print("about to leave")
    sys.exit("with a word")


def ends(x):
    os._exit(3)


def crashes(x):
    print("before the fall", flush=True)
    ctypes.string_at(0)


def hangs(x):
    while True:
        pass


def half(x, out):
    memoryview(out)[0, 0] = 0


class Holder:
    @staticmethod
    def method(x):
        return returned(x)


def strange(x):
    return x


for value in list(globals().values()):
    if callable(value):
        try:
            value.tessera_arrays = "dlpack"
        except TypeError:
            pass
Holder.method.tessera_arrays = "dlpack"
strange.tessera_arrays = "lists"
number = 5
END_OF_FUNCTIONS
bench=("$tsr" bench k.tsr --quick --db r.db --failures packs --timeout 20)
cat >pick.py <<'END_OF_PICK'
import json
for r in json.load(open("out"))["results"]:
    if r["backend"] != "cpu":
        print(f"{r['kernel']}/{r['case']}@{r['backend']}", r["status"], "bitwise" if r["check"]["bitwise"] else "other",
              "timed" if r["time_ns"] else "untimed", r.get("why"))
END_OF_PICK

# run CODE WHAT OPTION...: the results are in ./picked, a line each.
run() {
    local code=$1 what=$2
    shift 2
    exits "$code" "$what" "${bench[@]}" "$@" --json
    /usr/bin/env python3 pick.py >picked
}

# One case of one function: KERNEL/CASE, what is given to --with, the exit code, the result and words of the reason.
judged() {
    run "$3" "$2 ends" --filter "$1" --with "$2"
    has picked "^$1@[^ ]* $4" "$2 is $4"
}

# Several functions of a file beside each other, as columns of one run: lines CASE SYMBOL RESULT.
judged_together() {
    local file=$1 code=$2 symbols case symbol result columns=()
    cat >ways
    for symbols in $(cut -d' ' -f2 ways | sort -u); do
        columns+=(--with "$file:$symbols=twice")
    done
    run "$code" "functions of $file" --filter 'twice/*' "${columns[@]}"
    while read -r case symbol result; do
        has picked "^twice/$case@$file:$symbol $result" "$symbol of $case is $result"
    done <ways
}

run 0 "all functions of a file" --with plain.py
for one in "twice/small@plain.py ok bitwise timed" "twice/none@plain.py ok bitwise" "both/small@plain.py ok" \
    "twice/narrow@plain.py unsupported .*only of f32"; do
    has picked "^$one" "$one"
done

# Every way of being wrong is that column's result, with a reason that helps.
sed -i 's/, case("narrow", M=5, N=7, T=bf16), case("none", M=0, N=7, T=f32)//' k.tsr
judged_together plain.py 1 <<'END_OF_WAYS'
small returned ok bitwise timed
small Holder.method ok bitwise timed
small flat error .*'out' is float32 .35,. here, the kernel's is float32 .5, 7.
small doubles error .*'out' is float64 .5, 7. here, the kernel's is float32
small no_array error .*neither the buffer protocol nor __dlpack__
small pair error .*with 2 elements where the kernel has 1 output
small value_too error .*it returns None
small three error .*takes 3 arguments; the kernel has 1 inputs
small raises error .*ValueError: no such luck .*plain.py:[0-9]+ in raises
small unsupported unsupported .*not this one
small writes_input error .*read-only
small exits crash .*code 1; it printed: the file is run about to leave with a word
small ends crash .*code 3
small crashes crash .*signal 11 .*before the fall
small half mismatch .*out
small strange error .*tessera_arrays is 'lists'
small number error .*no function
small gone unsupported .*has no 'gone'; its functions: 
END_OF_WAYS
bench[${#bench[@]} - 1]=3
judged twice/small plain.py:hangs=twice 1 "timeout .*took longer"
bench[${#bench[@]} - 1]=20

# Missing things are named, with what to do; nothing waits for them.
echo 'import no_such_library' >lacks.py
echo 'def twice(x) return x' >typo.py
judged twice/small lacks.py:twice 5 "unsupported .*No module named 'no_such_library' .*lacks.py:1 .*TESSERA_PYTHON=FILE"
tail -n 1 err >last
has last "^lacks.py:twice computed nothing: .*TESSERA_PYTHON" "the last line says so"
exits 5 "relations of what cannot be imported" "$tsr" check k.tsr --with lacks.py:twice --filter twice --relation repetition,poison
grep -c lacks.py:1 out >times
has times "^1$" "a reason that all relations have is given once"
judged twice/small typo.py:twice 1 "error .*SyntaxError: .*typo.py, line 1"
TESSERA_PYTHON=/none judged twice/small plain.py:twice 5 "unsupported .*cannot start /none: .*TESSERA_PYTHON=FILE"
mkdir without
cp "$tsr" without/tsr
tsr=$PWD/without/tsr
bench[0]=$tsr
judged twice/small plain.py:twice 5 "unsupported .*install Python 3.11 or later with the package tessera"
tsr=$1
bench[0]=$tsr

# A module by name, from the folder where one stands; what is called tessera.py there is not the package.
mkdir -p parts
cp plain.py parts/inner.py
echo 'raise SystemExit(9)' >tessera.py
judged twice/small parts.inner:twice 0 "ok bitwise"
PYTHONPATH=$PWD/parts judged twice/small inner:twice 0 "ok bitwise"

if [ "$numpy" = no ]; then
    echo "skipped: functions over numpy arrays: no Python here has numpy"
    finish
fi
cat >arrays.py <<'END_OF_ARRAYS'
import numpy as np


def twice(x):
    return x * 2 if x.dtype == np.float32 else ((x.astype(np.uint32) << 16).view("f4") * 2).view("u4").astype("u8") >> 16


def narrow(x):
    assert x.dtype == np.uint16
    return twice(x).astype(np.uint16)


def writes(x, out):
    np.multiply(x, 2, out=out)


def strided(x):
    return np.ascontiguousarray((x * 2).T).T


def backwards(x):
    return (x * 2)[:, ::-1].copy()[:, ::-1]


def mutates(x):
    x[0] = 3
    return x


def shared(x):
    return np.from_dlpack(x) * 2


def raises_inside(x):
    return np.linalg.inv(x)


shared.tessera_arrays = "dlpack"
END_OF_ARRAYS
sed -i 's/case("small", M=5, N=7, T=f32)/&, case("narrow", M=5, N=7, T=bf16)/' k.tsr
judged_together arrays.py 1 <<'END_OF_WAYS'
small twice ok bitwise timed
narrow twice error .*'out' is uint64 .5, 7. here, the kernel's is bfloat16
narrow narrow ok bitwise timed
small writes ok bitwise
small strided ok bitwise
small backwards ok bitwise
small shared ok bitwise
small mutates error .*read-only .*arrays.py:[0-9]+ in mutates
small raises_inside error .*LinAlgError: .*arrays.py:[0-9]+ in raises_inside
END_OF_WAYS
finish
