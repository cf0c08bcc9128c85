# lib.sh - sourced by test_cli_*.sh: SCRIPT TSR ROOT. Each check says what it checks; the script ends with `finish`.
set -u
export LC_ALL=${TSR_TEST_LOCALE:-C}
# Text that the tests themselves look for does not depend on the language: only tsr gets it.
grep() { LC_ALL=C command grep "$@"; }
sed() { LC_ALL=C command sed "$@"; }
sort() { LC_ALL=C command sort "$@"; }
# Debian's Python, which has the packages; a version manager's takes ten times as long to start. tsr starts one for each function in Python.
if [ -x /usr/bin/python3 ]; then
    python3() { /usr/bin/python3 "$@"; }
    export TESSERA_PYTHON=${TESSERA_PYTHON:-/usr/bin/python3}
fi
unset TSR_DB TSR_TUNED TESSERA_BACKEND TESSERA_COMM_MODEL TESSERA_ISA TESSERA_POLICY TSR_INJECT NO_COLOR GITHUB_ACTIONS GITHUB_STEP_SUMMARY

tsr=$1
root=$2
# Goldens of a source lie beside its corpus, "../golden" seen from there, and are looked for further up: a folder so deep that
# neither what another test records nor what lies in /tmp is found.
room=$(mktemp -d)
scratch=$room/far/below/what/others/leave/test
export TSR_CACHE=$scratch/.cache
trap 'chmod -R u+rwx "$room"; rm -rf "$room"' EXIT
mkdir -p "$scratch" && chmod -R a+x "$room" && cd "$scratch" || exit 1
failures=0
checks=0

# Messages that several tests look for: each stands in one place, here or in the test (ci/check-style).
all_hold="^[0-9]+ hold, 0 do not"
batch_violated="batch of M +violated"
differs_first="first differing operation: "
newer_tsr="newer tsr"
no_room="no room"
none_deleted="^0 runs deleted"
none_placed="^no timed result of this run has a place here\$"
none_unfinished="no unfinished run"
other_order="not used.*another order"
two_there="2 results are there"

pass() {
    checks=$((checks + 1))
    echo "ok - $1"
}

fail() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "NOT OK - $1"
    sed 's/^/    out: /' out | tail -n 20
    sed 's/^/    err: /' err | tail -n 20
}

# exits CODE WHAT COMMAND...: the command ends with that code; its output is in ./out and ./err.
exits() {
    local wanted=$1 what=$2 got=0
    shift 2
    "$@" >out 2>err </dev/null || got=$?
    if [ "$got" -eq "$wanted" ]; then
        pass "$what"
    else
        fail "$what: exit $got, not $wanted: $*"
    fi
}

# has FILE PATTERN WHAT: a line of the file matches.
has() {
    if grep -Eq -- "$2" "$1"; then
        pass "$3"
    else
        fail "$3: no line of $1 matches: $2"
    fi
}

hasnt() {
    if grep -Eq -- "$2" "$1"; then
        fail "$3: a line of $1 matches: $2"
    else
        pass "$3"
    fi
}

# same FILE FILE WHAT
same() {
    if cmp -s "$1" "$2"; then
        pass "$3"
    else
        diff "$1" "$2" | head -20
        fail "$3: $1 and $2 differ"
    fi
}

# another_build FILE: this program with another build id, as a build of other sources would have.
another_build() {
    /usr/bin/python3 - "$tsr" "$1" "$("$tsr" --version | sed -n 's/^build //p')" <<'END'
import pathlib, sys
program = pathlib.Path(sys.argv[1]).read_bytes()
build = bytes.fromhex(sys.argv[3])
assert program.count(build) == 1
copy = pathlib.Path(sys.argv[2])
copy.write_bytes(program.replace(build, build[::-1]))
copy.chmod(0o755)
llvm = pathlib.Path(sys.argv[1]).with_name("libtessera-llvm.so")
if llvm.exists():
    copy.with_name(llvm.name).write_bytes(llvm.read_bytes())
END
}

# The corpus; in the short form a part of it that has something of everything.
if [ -n "${TSR_SHORT:-}" ]; then
    most_of_corpus=("$root/corpus/matmul/matmul_f32.tsr" "$root/corpus/matmul/matmul_i8.tsr" "$root/corpus/attention"
        "$root/corpus/normalisation/softmax.tsr" "$root/corpus/movement" "$root/corpus/elementwise/clamp.tsr"
        "$root/corpus/reduction/sum.tsr" "$root/corpus/reduction/extrema.tsr")
else
    most_of_corpus=("$root/corpus")
fi

finish() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ]
    exit
}

# A corpus of its own: corpus/small/small.tsr with two kernels, beside it golden/ once it is recorded.
small_corpus() {
    mkdir -p corpus/small
    cat >corpus/small/small.tsr <<'END'
"""Two small kernels for tests."""
from tessera import *


@cases(
    case("tiny", M=3, N=5),
    case("wider", M=7, N=33),
)
@kernel
def addition(x: Tensor["M", "N", f32], y: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """x + y."""
    return x + y


@cases(
    case("tiny", M=4, N=6, K=8),
    case("exact", M=5, N=7, K=9, x=integers(-4, 5), y=integers(-4, 5)),
)
@kernel
def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    """x @ y."""
    return x @ y
END
}
