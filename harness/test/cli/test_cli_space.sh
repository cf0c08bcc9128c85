# test_cli_space.sh - spaces of kernels of tiles: choosing of one, what results and modules say of it, and what the tuner does with
# it; tuned schedules in compile and run.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
unset TSR_TUNED_FOLDERS
mkdir corpus
cat >corpus/space.tsr <<'END'
from tessera import *


@kernel.autotune(space=dict(BM=[16, 64], BN=[16], BK=[64, 512], warps=[4, 8], stages=[2, 3]), metric="latency_ms")
@cases(case("a", M=40, K=600, N=24))
def product(x: KTile["M", "K", f32], y: KTile["K", "N", f32]) -> Tensor["M", "N", f32]:
    """Joined: rows and columns change nothing, and steps are the order of the sum."""
    T = tile.context()
    acc = tile.zeros((T.m, T.n), f32)
    for k in tile.range_k(x.shape, T.k):
        acc = tile.mma(tile.load(x, T.rows, k), tile.load(y, k, T.cols, prefetch=2), acc)
    return acc


@constants(first=True)
@kernel.autotune(space=dict(BM=[4, 32], vector=[4, 8]))
@cases(case("a", M=53, N=300), case("all", M=53, N=300, first=False))
def marked(x: KTile["M", "N", f32], *, first: bool) -> tuple[Tensor["M", "N", f32], Tensor["M", "N", f32]]:
    """What says which row it is is not joined: the code is made of the tiles, with the same bits."""
    T = tile.context()
    a = tile.load(x, T.rows)
    m = mean(a, axis=1, keepdims=True)
    r = tile.row_index()
    if first:
        a = where((r > 5)[:, None], a, m)
    return a - m, a + float(N)


@kernel.autotune(space=dict(BD=[8, 16]))
@cases(case("a", M=20, N=30))
def scaled(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:
    """A size that is part of what is computed."""
    T = tile.context()
    return tile.load(x, T.rows) * float(T.d)


@kernel
@cases(case("a", M=33, N=47))
def of_tensors(x: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    return exp(x) - max(x, axis=1, keepdims=True)
END
exits 0 "goldens" "$tsr" golden record

# results EXPRESSION WHAT: it holds of the results of ./out, by case.
results() {
    if $python - "$1" <<'END' 2>err; then
import json, sys
of = {f"{r['kernel']}/{r['case']}@{r['backend']}": r for r in json.load(open("out"))["results"]}
assert eval(sys.argv[1]), json.dumps(of)[:3000]
END
        pass "$2"
    else
        fail "$2"
    fi
}
bench() { "$tsr" bench corpus --quick --threads 1 --profile strict --db r.db --failures packs --json "$@"; }

# ---- choosing ----
while read -r code word line; do
    # shellcheck disable=SC2086
    exits "$code" "$line" "$tsr" $line
    has err "$word" "is told why"
done <<'END'
2 BM.16.64,.BN.16 bench corpus --filter product --space BM=17
2 BM.16.64 bench corpus --filter product --space BX=16
2 BM.16.64 bench corpus --filter product --space BM
2 chosen.twice bench corpus --filter product --space BM=16,BM=64
2 it.has.none bench corpus --filter of_tensors --space BM=16
2 BM.16.64 golden verify corpus --filter product --space BM=17
2 --space golden record corpus --filter product --space BM=64
2 BM.16.64 compile corpus/space.tsr --kernel product --space BM=17
2 it.has.none compile corpus/space.tsr --kernel of_tensors --space BM=16
2 BM.16.64 run corpus/space.tsr --kernel product --space BM=17
2 BM.16.64 tune corpus --filter product --space BM=17
2 BM.16.64 pack-repro product --case a corpus --space BM=17
2 --tuned compile corpus/space.tsr --kernel product --emit graph --tuned t.jsonl
2 --tuned compile corpus/space.tsr --kernel product --emit tile --tuned t.jsonl --no-tuned
2 --tuned run corpus/space.tsr --kernel product --schedule MR=1 --tuned t.jsonl
END

exits 0 "a graph of other tiles" "$tsr" compile corpus/space.tsr --kernel product --space BM=64 --emit graph
has out "size = \[64, 64\]" "has them"
exits 0 "... of the case of --dims" "$tsr" compile corpus/space.tsr --kernel product --dims M=9,K=9,N=9 --space BM=64 --emit graph
has out "size = \[64, 64\]" "has them, too"
$python -c "
import numpy as np
np.save('x_scaled.npy', np.ones((20, 30), 'f4'))"
for size in 8 16; do
    for backend in cpu interp; do
        exits 0 "run with BD=$size on $backend" "$tsr" run corpus/space.tsr --kernel scaled --space BD=$size --backend $backend --in x_scaled.npy --out .
        $python -c "
import numpy as np
assert (np.load('out.npy') == $size).all()" 2>err && pass "computes with it" || fail "computes with it"
    done
done

exits 0 "the kernels' own tiles" bench --backend interp,cpu --no-tuned
results 'all(r["status"] == "ok" for r in of.values())' "hold"
results 'of["product/a@cpu"]["space"] == "BM=16,BN=16,BK=64,stages=2,warps=4"' "are in the record"
results 'of["product/a@cpu"]["unused_hints"] == ["BM=16", "BN=16", "stages=2", "warps=4", "prefetch=2"]' "with what no code depends on"
results 'of["marked/a@cpu"]["unused_hints"] == ["vector=4"]' "which is not the tiles that code is made of"
results 'of["scaled/a@cpu"]["unused_hints"] == []' "and not a size that is computed with"
results '"unused_hints" not in of["product/a@interp"] and not {"space", "unused_hints"} & of["of_tensors/a@cpu"].keys()' "and not said where there is nothing to say"
results 'of["marked/a@cpu"]["case_key"] != of["marked/all@cpu"]["case_key"]' "constants of a case make it another"
own_key=$($python -c "
import json
print(next(r['case_key'] for r in json.load(open('out'))['results'] if r['kernel'] == 'product'))")
exits 0 "as a screen" "$tsr" bench corpus --quick --threads 1 --db r.db --no-tuned
has out "^hints     BM, BN, stages, warps, prefetch, vector: no code here depends on them \(3 results\)$" "ends with a line on them"

exits 0 "other tiles" bench --backend cpu --filter product --space BM=64 --no-tuned
results '(r := of["product/a@cpu"])["case_key"] == "'"$own_key"'" and r["space"].startswith("BM=64,BN=16,BK=64") and r["check"]["against"] == "golden"' "of the same code are held to the golden"
exits 0 "another order" bench --backend cpu --filter product --space BK=512 --no-tuned
results '(r := of["product/a@cpu"])["case_key"] != "'"$own_key"'" and r["check"]["against"] == "reference" and "another order" in r["why"]' "is held to the interpreter"
exits 0 "golden verify of the same code" "$tsr" golden verify corpus --filter product --backend cpu --space BM=64 --json
results 'of["product/a@cpu"]["status"] == "ok"' "holds"
exits 5 "golden verify of another order" "$tsr" golden verify corpus --filter product --backend cpu --space BK=512 --json
results '(r := of["product/a@cpu"])["status"] == "skipped" and "another order" in r["why"]' "has no golden"

# ---- the tuner ----
exits 0 "tuning" "$tsr" tune corpus --budget 12 --threads 1
exits 0 "what was tried" "$tsr" tune --show '*' --json
cp out shown.json
tried() {
    if $python - "$1" <<'END' 2>err; then
import json, sys
of = {f"{e['kernel']}/{e['case']}": e for e in json.load(open("shown.json"))}
why = {k: {t["space"]: t["why"] for t in e["tried"] if "space" in t and t["why"]} for k, e in of.items()}
measured = {k: {t["space"] for t in e["tried"] if "space" in t and t.get("ratio")} for k, e in of.items()}
assert eval(sys.argv[1]), json.dumps(of)[:3000]
END
        pass "$2"
    else
        fail "$2"
    fi
}
tried 'why["product/a"]["BM=16,BN=16,BK=512"] == why["product/a"]["BM=64,BN=16,BK=512"] == "another order"' "names choices of another order"
tried 'why["product/a"]["BM=64,BN=16,BK=64"].startswith("the same code")' "and of the same code"
tried '{"warps=8", "stages=3"} <= why["product/a"].keys()' "and hints"
tried 'measured["product/a"] == set() and "space" not in of["product/a"]' "and measures none of them"
tried 'measured["marked/a"] == {"BM=32"}' "but other tiles of the same order"
tried 'measured["scaled/a"] == set() and "BD=16" in why["scaled/a"] and "space" not in of["scaled/a"]' "and drops those with other bits"
exits 0 "tuning under another profile" "$tsr" tune corpus --filter marked/a --budget 5 --threads 1 --profile fast --tuned fast.jsonl --json
$python -c "
import json
(e,) = json.load(open('out'))['results']
assert 'space' not in e and any(t.get('space') == 'BM=32' and 'strict' in t['why'] for t in e['tried']), e" 2>err &&
    pass "leaves tiles alone whose bits nobody holds" || fail "leaves tiles alone whose bits nobody holds"
exits 0 "tuning one choice" "$tsr" tune corpus --filter marked/a --budget 3 --threads 1 --space BM=32 --tuned one.jsonl --json
$python -c "
import json
(e,) = json.load(open('out'))['results']
assert not any('space' in t for t in e['tried']), e" 2>err && pass "is about that one" || fail "is about that one"

exits 0 "tuning a choice with other bits" "$tsr" tune corpus --filter scaled --budget 3 --threads 1 --space BD=16 --tuned other.jsonl
$python - <<'END'
import hashlib, json
lines = open("other.jsonl").read().splitlines()
e = json.loads(lines[1])
e.update(schedule="P0.VECTOR=16", tried=[])
del e["sha256"]
e["sha256"] = hashlib.sha256(json.dumps(e, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
open("other.jsonl", "w").write(lines[0] + "\n" + json.dumps(e, sort_keys=True, separators=(",", ":")) + "\n")
END
exits 0 "bench of that choice" bench --backend cpu --filter scaled --space BD=16 --tuned other.jsonl
results '(r := of["scaled/a@cpu"])["schedule"] == "tuned" and r["space"] == "BD=16" and r["check"]["against"] == "reference"' "has its schedule, and is held to the interpreter"
exits 0 "a pack of it" "$tsr" pack-repro last:scaled/a --db r.db
exits 0 "again" "$tsr" replay "$(cat out)" --json
has out "code-hash-same" "is the same code"

# ---- what was tuned, everywhere ----
mv .tsr/tuned.jsonl found_by_tuner.jsonl
# forge FILE KERNEL/CASE SCHEDULE SPACE: the cache with other findings for that case.
forge() {
    $python - "$@" <<'END'
import hashlib, json, sys
lines = open("found_by_tuner.jsonl").read().splitlines()
out = [lines[0]]
for line in lines[1:]:
    e = json.loads(line)
    e.pop("space", None)
    e["schedule"] = ""
    e["tried"] = []
    if f"{e['kernel']}/{e['case']}" == sys.argv[2]:
        e["schedule"] = sys.argv[3]
        if sys.argv[4]:
            e["space"] = sys.argv[4]
    del e["sha256"]
    e["sha256"] = hashlib.sha256(json.dumps(e, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    out.append(json.dumps(e, sort_keys=True, separators=(",", ":")))
open(sys.argv[1], "w").write("\n".join(out) + "\n")
END
}
$python -c "
import numpy as np
x = np.random.default_rng(1).standard_normal
np.save('x_of_tensors.npy', x((33, 47)).astype('f4')); np.save('x_marked.npy', x((53, 300)).astype('f4'))"
while read -r kernel schedule space; do
    [ "$space" = - ] && space=
    [ "$schedule" = - ] && schedule=
    forge found.jsonl "$kernel/a" "$schedule" "$space"
    build=("$tsr" compile corpus/space.tsr --kernel "$kernel" --case a --threads 1)
    exits 0 "$kernel: a module without a cache" "${build[@]}" --emit module -o own.tsrm
    [ -s err ] && fail "... says nothing" || pass "... says nothing"
    exits 0 "... with one" "${build[@]}" --emit module -o tuned.tsrm --tuned found.jsonl
    has err "^tsr: $kernel/a: tuned, " "... says so"
    cmp -s own.tsrm tuned.tsrm && fail "... is another module" || pass "... is another module"
    exits 0 "... with the cache, and without" env TSR_TUNED=found.jsonl "${build[@]}" --emit module -o again.tsrm --no-tuned
    same own.tsrm again.tsrm "... is the module that it was"
    exits 0 "... its metadata" "${build[@]}" --emit metadata --tuned found.jsonl
    has out '"from": "tuned"' "... says whose the schedule is"
    has out "\"values\": \"$schedule\"" "... and its values"
    [ -z "$space" ] || has out "\"space\": \"$space," "... and its tiles"
    exits 0 "... metadata without" "${build[@]}" --emit metadata --no-tuned
    hasnt out '"from"' "... says nothing of a tuner"
    exits 0 "... bench with it" bench --backend cpu --filter "$kernel/a" --tuned found.jsonl
    results "(r := of['$kernel/a@cpu'])['schedule'] == 'tuned' and r['status'] == 'ok' and r['check']['against'] == 'golden'" "... holds"
    results "of['$kernel/a@cpu']['module_hash'] == '$(sha256sum tuned.tsrm | cut -c1-64)'" "... is the module of compile"
    exits 0 "... a pack of it" "$tsr" pack-repro "last:$kernel/a" --db r.db
    exits 0 "... again" "$tsr" replay "$(cat out)" --json
    has out "code-hash-same" "... is the same code"
    for how in own tuned; do
        tune=(--tuned found.jsonl)
        [ "$how" = own ] && tune=(--no-tuned)
        exits 0 "... run, $how" "$tsr" run corpus/space.tsr --kernel "$kernel" --threads 1 --in "x_$kernel.npy" --out "$how" "${tune[@]}"
    done
    has err "^tsr: $kernel/a: tuned, " "... says so"
    for file in own/*; do
        same "$file" "tuned/${file#own/}" "... gives the same bits"
    done
    rm -r own tuned
done <<'END'
of_tensors P0.ROWS=2 -
marked - BM=32
marked P0.ROWS=2 BM=32
END
forge found.jsonl of_tensors/a P0.VECTOR=1024,P0.SUB=63 ""
exits 0 "a schedule that does not fit" "$tsr" compile corpus/space.tsr --kernel of_tensors --case a --threads 1 --emit module -o misfit.tsrm --tuned found.jsonl
has err "not used" "is not used"
exits 0 "" "$tsr" compile corpus/space.tsr --kernel of_tensors --case a --threads 1 --emit module -o own.tsrm
same own.tsrm misfit.tsrm "and the module is the kernel's own"
forge found.jsonl product/a "" BK=512
exits 0 "a cache that tells of another order" "$tsr" compile corpus/space.tsr --kernel product --case a --threads 1 --emit schedule --tuned found.jsonl
has err "$other_order" "is not believed"
exits 0 "bench" bench --backend cpu --filter product --tuned found.jsonl
has err "$other_order" "does not believe it"
results '(r := of["product/a@cpu"])["schedule"] != "tuned" and r["space"].startswith("BM=16,BN=16,BK=64")' "and has the kernel's own tiles"
forge found.jsonl marked/a "" BM=5
exits 0 "a cache that tells of other tiles" bench --backend cpu --filter marked/a --tuned found.jsonl
has err "marked/a: what was tuned is not used, BM=5: .*BM 4 32" "does not, either"

# ---- constants of a case ----
exits 0 "a case's constants" "$tsr" compile corpus/space.tsr --kernel marked --case all --emit graph
hasnt out "tessera.select" "are those of its graph"
exits 0 "the kernel's" "$tsr" compile corpus/space.tsr --kernel marked --case a --emit graph
has out "tessera.select" "stay in the others"
for case in a all; do
    exits 0 "run as case $case" "$tsr" run corpus/space.tsr --kernel marked --case $case --in x_marked.npy --out "$case"
done
cmp -s a/out0.npy all/out0.npy && fail "gives other bits" || pass "gives other bits"

# ---- where a source has its schedules kept ----
# kept WHERE WHAT: a kernel whose source says so is tuned; ./kept is empty where the place is not used.
mkdir permitted outside
ln -s "$scratch/outside" permitted/link
kept() {
    printf '%s\n' 'from tessera import *' "@kernel.autotune(space=dict(BM=[4]), budget_ms=${2:-4000}, cache=\"$1\")" \
        '@cases(case("a", M=9, N=40))' 'def own(x: KTile["M", "N", f32]) -> Tensor["M", "N", f32]:' '    T = tile.context()' \
        '    a = tile.load(x, T.rows)' '    return a - max(a, axis=1, keepdims=True)' >own.tsr
    rm -rf .tsr/own.jsonl
    "$tsr" golden record own.tsr --golden own_golden >/dev/null 2>&1
    exits 0 "tuning with cache=$1" "$tsr" tune own.tsr --golden own_golden --threads 1 --again "${@:3}"
}
kept "$TSR_CACHE/mine.jsonl"
[ -s "$TSR_CACHE/mine.jsonl" ] && pass "a file among the user's caches is used" || fail "a file among the user's caches is used"
has out ", 0 failed; $TSR_CACHE/mine.jsonl$" "and named at the end"
hasnt err "schedules are kept in" "and nothing is said"
exits 0 "bench reads it" "$tsr" bench own.tsr --golden own_golden --quick --threads 1 --backend cpu --db r.db --json
for place in "$scratch/outside/a.jsonl" "$scratch/permitted/../outside/b.jsonl" "$scratch/permitted/link/c.jsonl" "relative.jsonl"; do
    TSR_TUNED_FOLDERS=$scratch/permitted kept "$place"
    has err "own: schedules are kept in .tsr/tuned.jsonl: " "is told where they are instead"
done
[ -z "$(ls outside)" ] && [ ! -e relative.jsonl ] && pass "nothing is written elsewhere" || fail "nothing is written elsewhere"
TSR_TUNED_FOLDERS=/nowhere:$scratch/permitted kept "$scratch/permitted/deep/d.jsonl"
[ -s permitted/deep/d.jsonl ] && pass "a folder that the user names may be written to" || fail "a folder that the user names may be written to"
TSR_TUNED_FOLDERS=$scratch/permitted kept "$scratch/permitted/e.jsonl" 4000 --tuned named.jsonl
[ -s named.jsonl ] && [ ! -e permitted/e.jsonl ] && pass "a file that is named goes first" || fail "a file that is named goes first"
echo "not a cache" >permitted/f
cp permitted/f f.before
TSR_TUNED_FOLDERS=$scratch/permitted exits 3 "a file that is something else" "$tsr" tune own.tsr --golden own_golden --threads 1 --again --tuned permitted/f
same permitted/f f.before "is left alone"
kept "$TSR_CACHE/brief.jsonl" 1
has out ", [0-2] tried|1 left out for lack of time" "the source's budget is the kernel's"
kept "$TSR_CACHE/brief.jsonl" 1 --budget 10
has out ", ([3-9]|[0-9]{2,}) tried" "and --budget wins over it"
# Constants of a kernel: one without a value, one of its own, one that is none.
cat >constants.tsr <<'END'
from tessera import *
@cases(case("bare", M=4, N=5), case("said", M=4, N=5, turns=3))
@kernel
def turned(x: Tensor["M", "N", f32], *, doubled=False, turns: int) -> Tensor["M", "N", f32]:
    for i in range(turns):
        x = x + 1.0
    if doubled:
        x = x * 2.0
    return x
END
exits 3 "a case without a constant" "$tsr" bench constants.tsr --backend cpu --quick
has out "E0315" "is told which"
exits 0 "with it" "$tsr" bench constants.tsr --backend cpu,interp --quick --constants turns=2,doubled=True
has out "4 results: 4 ok" "both cases run"
exits 0 "in dimensions of one's own" "$tsr" bench constants.tsr --backend cpu,interp --dims M=2,N=3 --constants turns=2
has out "2 results: 2 ok" "it has them, too"
exits 3 "and without the constant" "$tsr" bench constants.tsr --backend cpu --dims M=2,N=3
has out "E0315" "is told which"
exits 0 "one value" "$tsr" compile constants.tsr --case said --constants doubled=True --emit graph
cp out first
exits 0 "another" "$tsr" compile constants.tsr --case said --constants doubled=False --emit graph
cmp -s out first && fail "is another graph" || pass "is another graph"
exits 2 "no such constant" "$tsr" bench constants.tsr --constants halved=True
has err "doubled=..., turns=..." "is told those that are there"
exits 2 "a number for a bool" "$tsr" bench constants.tsr --constants doubled=2
finish
