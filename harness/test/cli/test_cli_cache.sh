# test_cli_cache.sh - the cache of compiled modules: the same modules, sooner; what is damaged is compiled again.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3

small_corpus
exits 0 "goldens" "$tsr" golden record
bench() { "$tsr" bench --backend cpu --profile strict --threads 1 --quick --json "$@"; }
field() { $python -c "
import json, sys
for r in json.load(open('out'))['results']:
    print(r['kernel'], r['case'], *[r[name] for name in sys.argv[1:]])" "$@"; }
exits 0 "cold" bench
field compile_cached >cached
[ "$(grep -c False cached)" -eq 4 ] && pass "everything was compiled" || fail "everything was compiled"
field module_hash schedule_hash check >cold
exits 0 "warm" bench
field compile_cached >cached
[ "$(grep -c True cached)" -eq 4 ] && pass "nothing was compiled" || fail "nothing was compiled"
field module_hash schedule_hash check >warm
same cold warm "modules, schedules and results are the same"
if [ -z "${TSR_SHORT:-}" ]; then
    field compile_ns | awk '$3 > 1e6 { late++ } END { exit late > 1 }' && pass "within a millisecond" || fail "within a millisecond"
fi
files() { find .cache -name '*.tsrm' | wc -l; }
[ "$(files)" -eq 4 ] && pass "a file for each module" || fail "a file for each module"
[ "$(stat -c %a .cache)" = 700 ] && pass "in a folder of the user's own" || fail "in a folder of the user's own"

exits 0 "without the cache" bench --no-cache
field compile_cached >cached
[ "$(grep -c False cached)" -eq 4 ] && pass "everything is compiled" || fail "everything is compiled"
exits 0 "another schedule" bench --filter product --schedule MR=1
field compile_cached >cached
[ "$(grep -c False cached)" -eq 2 ] && pass "is another module" || fail "is another module"
exits 0 "another profile" "$tsr" bench --backend cpu --profile deterministic --threads 1 --quick --filter product --json
field compile_cached >cached
[ "$(grep -c False cached)" -eq 2 ] && pass "is another module, too" || fail "is another module, too"
before=$(files)
exits 1 "a fault on purpose" bench --filter product --inject drop-last-k
[ "$(files)" -eq "$before" ] && pass "is not kept" || fail "is not kept"

# Damage: one byte of the image, a file cut short, another's module, rubbish, an empty file.
rm -r .cache
exits 0 "cold again" bench
damage() { $python - "$1" <<'END_PYTHON'
import glob, sys
paths = sorted(glob.glob(".cache/*.tsrm"))
data = [bytearray(open(p, "rb").read()) for p in paths]
how = sys.argv[1]
if how == "byte":
    for d in data:
        d[len(d) // 2] ^= 1
elif how == "cut":
    data = [d[:-7] for d in data]
elif how == "exchanged":
    data = data[1:] + data[:1]
elif how == "rubbish":
    data = [bytes(range(256)) * 20 for d in data]
elif how == "empty":
    data = [b"" for d in data]
for p, d in zip(paths, data):
    open(p, "wb").write(d)
END_PYTHON
}
for how in byte cut exchanged rubbish empty; do
    damage $how
    exits 0 "damaged: $how" bench
    field compile_cached >cached
    [ "$(grep -c False cached)" -eq 4 ] && pass "is compiled again" || fail "is compiled again"
    field module_hash schedule_hash check >again
    same cold again "with the same result"
    exits 0 "and replaced" bench
    field compile_cached >cached
    [ "$(grep -c True cached)" -eq 4 ] && pass "by what is whole" || fail "by what is whole"
done

# Several processes that find it empty.
rm -r .cache
for i in 1 2 3 4; do
    (mkdir -p "run$i" && cd "run$i" && "$tsr" bench ../corpus --backend cpu --profile strict --threads 1 --quick --db here.db >log 2>&1
        echo $? >code) &
done
wait
[ "$(cat run*/code | sort -u)" = 0 ] && pass "four processes at once" || fail "four processes at once"
[ "$(files)" -eq 4 ] && [ "$(find .cache -name '.new-*' | wc -l)" -eq 0 ] && pass "leave whole files alone" || fail "leave whole files alone"

# A folder that others can write to, and one that cannot be.
chmod 777 .cache
exits 0 "a folder that others can write to" bench
has err "nobody else can write to" "is not used, and that is told"
field compile_cached >cached
[ "$(grep -c False cached)" -eq 4 ] && pass "everything is compiled" || fail "everything is compiled"
touch file
exits 0 "a folder that cannot be" env TSR_CACHE=file/cache "$tsr" bench --backend cpu --profile strict --quick
has err "no modules are cached" "is told"

# compile and run take modules from there, too.
rm -r .cache
exits 0 "compile a module" "$tsr" compile corpus/small/small.tsr --kernel addition --emit module -o one.tsrm --threads 1
exits 0 "again" "$tsr" compile corpus/small/small.tsr --kernel addition --emit module -o two.tsrm --threads 1
exits 0 "and without the cache" "$tsr" compile corpus/small/small.tsr --kernel addition --emit module -o three.tsrm --threads 1 --no-cache
same one.tsrm two.tsrm "the cached module is the module"
same one.tsrm three.tsrm "byte for byte"
[ "$(files)" -eq 1 ] && pass "one file for it" || fail "one file for it"

# A source that was read without a complaint is not read in a child and checked again; a changed one, or a changed import, is.
marks() { find .cache -name '*.read' | wc -l; }
rm -r .cache
mkdir parts && cat >parts/scale.tsr <<'END'
def twice(x):
    return x + x
END
cat >marked.tsr <<'END'
from tessera import *
from .parts.scale import twice


@kernel
@cases(case("one", N=4))
def doubled(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return twice(x)


@kernel
@cases(case("one", N=4))
def halved(x: Tensor["N", f32]) -> Tensor["N", f32]:
    return x * 0.5
END
graph() { "$tsr" compile marked.tsr --kernel "$1" "${@:2}"; }
exits 0 "without the cache" graph doubled --no-cache
cp out fresh.graph
[ "$(marks)" -eq 0 ] && pass "no mark" || fail "no mark"
exits 0 "the first time" graph doubled
[ "$(marks)" -eq 1 ] && pass "a mark" || fail "a mark"
exits 0 "the second time" graph doubled
same fresh.graph out "the same graph"
: >"$(find .cache -name '*.read')"
exits 0 "a mark that was cut" graph doubled
same fresh.graph out "is replaced"
sed -i 's/x + x/x + y/' parts/scale.tsr
exits 3 "an error in an import" graph doubled
has err "scale.tsr:2" "is told at its line"
exits 3 "again" graph doubled
has err "scale.tsr:2" "and again"
sed -i 's/x + y/x + x/' parts/scale.tsr
sed -i 's/x \* 0.5/x[0.5]/' marked.tsr
exits 0 "an error in the other kernel" graph doubled
has err "marked.tsr:14" "is told, though it is not asked for"
exits 0 "again" graph doubled
has err "marked.tsr:14" "and again"
finish
