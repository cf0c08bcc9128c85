# test_cli_limits.sh - what the system forbids or cuts short: file sizes, folders that cannot be written, processes killed.
source "$(dirname "$0")/lib.sh"
small_corpus
export TMPDIR=$scratch/tmp
mkdir tmp

# ---- a limit on file sizes: a message and exit code 4, or enough room; never a signal ----

# limited KIB COMMAND...
limited() {
    (
        ulimit -f "$1"
        shift
        exec "$@"
    )
}

"$tsr" golden record corpus --quiet >/dev/null 2>&1
"$tsr" bench corpus --quick --backend cpu --profile strict >/dev/null 2>&1
"$tsr" compile corpus/small/small.tsr --kernel product --case tiny --emit module -o product.tsrm >/dev/null 2>&1
while read -r what arguments; do
    for size in 0 1 8 64; do
        got=0
        # shellcheck disable=SC2086
        limited $size "$tsr" $arguments >out 2>err </dev/null || got=$?
        case $size:$got in
        *:4 | [1-9]*:0) pass "$what within $size KiB: exit $got" ;;
        *) fail "$what within $size KiB: exit $got" ;;
        esac
    done
done <<'COMMANDS'
bench bench corpus --quick --backend cpu --profile strict --db full.db
golden golden record corpus --golden full/golden
compile compile corpus/small/small.tsr --kernel product --case tiny --emit module -o full.tsrm
report report last -o full.html
pack pack-repro product --case tiny --failures full/failures
export bench corpus --quick --backend cpu --profile strict --export json=full.json --db full.db
COMMANDS

# ---- a folder that can be read alone ----

mkdir locked
cp .tsr/results.db* locked/
chmod 555 locked
chmod 444 locked/*
chmod 755 "$scratch"
chmod 1777 tmp
if [ "$(id -u)" -ne 0 ]; then
    as_other=()
else
    as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    if ! "${as_other[@]}" "$tsr" --version >/dev/null 2>&1 || ! "${as_other[@]}" test -r "$scratch/locked/results.db"; then
        as_other=(skip)
        echo "skipped: read-only folders: another user cannot run $tsr, or not in $scratch"
    fi
fi
if [ "${as_other[*]}" != skip ]; then
    exits 0 "the log of a folder that cannot be written" "${as_other[@]}" "$tsr" log --db locked/results.db
    has out "exit 0" "lists its runs"
    exits 0 "a run of it" "${as_other[@]}" "$tsr" log last --json --db locked/results.db
    exits 0 "its page" "${as_other[@]}" "$tsr" report last --db locked/results.db -o tmp/page.html
    exits 4 "pruning it" "${as_other[@]}" "$tsr" log --prune 0 --db locked/results.db
    exits 4 "a run into it" "${as_other[@]}" "$tsr" bench corpus --quick --backend interp --db locked/results.db
    [ -z "$(find tmp -name 'tsr-scratch-*')" ] && pass "no copy is left" || fail "a copy is left"
fi

# ---- folders of processes that were killed ----

mkdir -p failures/.staging-abcdef/inputs failures/.staging-locked tmp/tsr-scratch-abcdef elsewhere
touch failures/.staging-abcdef/inputs/x.npy tmp/tsr-scratch-abcdef/kernel.mlir elsewhere/mine tmp/tsr-scratch-plain
ln -s ../elsewhere tmp/tsr-scratch-linked
mkdir tmp/tsr-scratch-not-one
flock failures/.staging-locked sleep 600 &
holder=$!
until ! flock -n failures/.staging-locked true; do sleep 0.01; done
exits 0 "a pack" "$tsr" pack-repro product --case tiny --failures failures
[ ! -e failures/.staging-abcdef ] && pass "removes what a killed one left" || fail "leaves .staging-abcdef"
[ -d failures/.staging-locked ] && pass "and nothing that a process holds" || fail "removed .staging-locked"
pkill -P "$holder" 2>/dev/null
kill "$holder" 2>/dev/null
wait "$holder" 2>/dev/null
[ ! -e tmp/tsr-scratch-abcdef ] && pass "temporary folders, too" || fail "leaves tsr-scratch-abcdef"
[ -f elsewhere/mine ] && [ -d tmp/tsr-scratch-not-one ] && [ -f tmp/tsr-scratch-plain ] &&
    pass "but nothing that only looks like one" || fail "removed what was not its own"
[ "$(ls -A failures | grep -vc locked)" -eq 1 ] && pass "and leaves its pack alone behind" || fail "left more behind"

if command -v mlir-opt-19 >/dev/null; then
    setsid "$tsr" bench corpus --backend mlir --profile strict --db mlir.db >/dev/null 2>&1 &
    victim=$!
    until [ -n "$(find tmp -path 'tmp/tsr-scratch-??????/kernel.mlir')" ] || ! kill -0 "$victim" 2>/dev/null; do
        sleep 0.01
    done
    kill -KILL -- "-$victim"
    wait "$victim" 2>/dev/null
    exits 0 "a run after one that was killed" "$tsr" bench corpus --quick --backend cpu --profile strict
    [ -z "$(find tmp -path 'tmp/tsr-scratch-??????' -type d)" ] && pass "finds its folders" || fail "leaves $(ls tmp)"
else
    echo "skipped: a killed run of backend mlir: no mlir-opt-19 here"
fi
# The derivative of a reduction that carries more values than an operation usually takes.
python3 - >many.tsr <<'END'
each = lambda words: ", ".join(words % {"i": i} for i in range(100))
print(f"""from tessera import *

def f(a, b):
    return ({each("a[%(i)d] * 0.5 + sin(b[%(i)d])")})

def loss(x):
    r = reduce(f, ({each("x * %(i)d.0")}), ({each("0.5")}), axis=0)
    return {each("r[%(i)d]").replace(",", " +")}

@cases(case("a", N=5))
@kernel
def slope(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return grad(loss)(x)""")
END
exits 0 "a hundred carried values" "$tsr" bench many.tsr --quick --backend interp --profile strict
finish
