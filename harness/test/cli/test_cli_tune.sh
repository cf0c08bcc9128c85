# test_cli_tune.sh - the tuner and its cache: what is found is kept and used, what is damaged is refused and the rest kept.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3
unset TSR_TUNED

small_corpus
exits 0 "goldens" "$tsr" golden record
# The search ends by itself, long before the budget does; a busy machine only takes longer.
exits 0 "tuning" "$tsr" tune --budget 60 --threads 1
has out "^[0-9]+ faster, [0-9]+ as good as they were, 0 known, 0 left out.*, 0 failed; .tsr/tuned.jsonl$" "ends with counts"
cp .tsr/tuned.jsonl first.jsonl
[ "$(wc -l <first.jsonl)" -eq 5 ] && pass "a header and an entry for each case" || fail "a header and an entry for each case"
exits 0 "tuning again" "$tsr" tune --budget 60 --threads 1
has out " 4 known, " "has nothing to do"
exits 0 "as JSON" "$tsr" tune --budget 60 --threads 1 --json
exits 0 "what was tried" "$tsr" tune --show product
has out "^product/tiny  x86-64-v" "by kernel"
has out "^ +[0-9]+ +[0-9.]+  P[0-9]\." "with costs, times and schedules"
exits 0 "what was tried, as JSON" "$tsr" tune --show 'addition/w*' --json
cp out shown.json
exits 0 "has all of it" $python -c "
import json
(entry,) = json.load(open('shown.json'))
assert entry['case'] == 'wider' and entry['tried'] and entry['tuned_ns'] > 0 and entry['isa'], entry
"
exits 3 "nothing of that name" "$tsr" tune --show nosuch
exits 0 "programs have no schedule" "$tsr" tune --budget 10 --threads 1 --tuned none.jsonl "$root/corpus/programs/branch.tsr" --no-cache
has out "^0 faster, 0 as good as they were, 0 known, [1-9][0-9]* left out.*, 0 failed;" "and are left out"
exits 2 "one thing at a time" "$tsr" tune --show product --export x
exits 2 "export takes no kernels" "$tsr" tune --export x corpus

# Export and import.
exits 0 "export" "$tsr" tune --export there.jsonl
same there.jsonl .tsr/tuned.jsonl "an export is the same file"
rm -r .tsr
exits 0 "import" "$tsr" tune --import there.jsonl
has out "^4 schedules from there.jsonl, 0 refused$" "takes them all"
same there.jsonl .tsr/tuned.jsonl "and gives the same cache"
: >plain
exits 4 "a cache that cannot be kept" "$tsr" tune --again --budget 60 --tuned plain/tuned.jsonl
has err "--tuned" "says what to do"
hasnt out . "before anything is measured"
exits 3 "an import from nowhere" "$tsr" tune --import nosuch.jsonl

# forge FILE EXPRESSION: entries changed by Python, sealed again.
forge() {
    $python - "$@" <<'END_PYTHON'
import hashlib, json, sys
lines = open("there.jsonl").read().splitlines()
out = [lines[0]]
for number, line in enumerate(lines[1:]):
    e = json.loads(line)
    e["tried"] = []
    exec(sys.argv[2])
    del e["sha256"]
    e["sha256"] = hashlib.sha256(json.dumps(e, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    out.append(json.dumps(e, sort_keys=True, separators=(",", ":")))
open(sys.argv[1], "w").write("\n".join(out) + "\n")
END_PYTHON
}

# bench uses what is there.
forge used.jsonl "e['schedule'] = 'P0.MR=1' if e['kernel'] == 'product' else ''"
bench() { "$tsr" bench --backend cpu --profile strict --threads 1 --quick --json --tuned used.jsonl "$@"; }
field() { $python -c "
import json, sys
for r in json.load(open('out'))['results']:
    print(r['kernel'], r['case'], *[r[name] for name in sys.argv[1:]])" "$@"; }
exits 0 "bench with a cache" bench
field status schedule schedule_values >whose
has whose "^product tiny ok tuned P0.MR=1$" "uses the tuned schedule"
has whose "^addition tiny ok default None$" "and the default where that was best"
exits 0 "bench without" env TSR_TUNED=used.jsonl "$tsr" bench --backend cpu --profile strict --threads 1 --quick --json --no-tuned
field schedule >whose
hasnt whose "tuned" "--no-tuned uses none"
exits 0 "another number of threads" "$tsr" bench --backend cpu --profile strict --threads 2 --quick --json --tuned used.jsonl
field schedule >whose
hasnt whose "tuned" "is another key"
forge used.jsonl "e['schedule'] = 'P0.MR=30,P0.NR=64' if e['kernel'] == 'product' else ''"
exits 0 "a tuned schedule that does not fit" bench
field schedule why >whose
has whose "^product tiny default the tuned schedule is not used: .*vector registers" "is not used, and that is told"
exits 0 "pack what ran with a tuned schedule" "$tsr" pack-repro last:product/tiny --db .tsr/results.db
exits 0 "and replay it" "$tsr" replay "$(cat out)"

# A chip that nothing times: the model decides, what it prefers has the bits, and only what is emulated uses it.
square=("$root/corpus/matmul/matmul_f32.tsr" --filter matmul_f32/square_128 --tuned chips.jsonl)
TESSERA_SOFTWARE_DEVICES=1
export TESSERA_SOFTWARE_DEVICES
exits 0 "tuning for a chip" "$tsr" tune "${square[@]}" --backend ptx-emulated --isa sm_80 --json
cp out chosen.json
exits 0 "names what decided" $python -c "
import json
(r,) = json.load(open('chosen.json'))['results']
assert r['by'] == 'model' and r['isa'] == 'sm_80-emulated' and r['schedule'] and r['tuned_ns'] == 0, r
assert 0 < r['tuned_cycles'] < 0.9 * r['default_cycles'], r
"
exits 0 "bench with it" "$tsr" bench "${square[@]}" --backend cpu,ptx-emulated --profile strict --threads 1 --quick --json
$python -c "
import json
for r in json.load(open('out'))['results']: print(r['backend'], r['status'], r['schedule'])" >whose
has whose "^ptx-emulated ok tuned$" "the chip's code is tuned"
has whose "^cpu ok default$" "this CPU's is not"
exits 0 "tuning with wrong bits" env TSR_INJECT=flip-bit "$tsr" tune "${square[@]}" --backend ptx-emulated --again --json
cp out chosen.json
exits 0 "takes none" $python -c "
import json
(r,) = json.load(open('chosen.json'))['results']
assert r['schedule'] == '', r
"
exits 4 "code without a schedule" "$tsr" tune "${square[@]}" --backend cpu,interp
for option in STREAM=1 AHEAD=4; do
    exits 3 "a chip has no $option" "$tsr" compile "$root/corpus/normalisation/softmax.tsr" --kernel softmax_rows --isa sm_80 --emit schedule --schedule $option
done

# Damage is refused entry by entry.
sed '3s/"threads":1/"threads":2/' there.jsonl >damaged.jsonl
exits 3 "an import with a damaged entry" "$tsr" tune --import damaged.jsonl --tuned fresh.jsonl
has err "damaged.jsonl:3: .*[a-z]+/[a-z]+: .*checksum" "names it"
has out "^3 schedules from damaged.jsonl, 1 refused$" "and keeps the rest"
[ "$(wc -l <fresh.jsonl)" -eq 4 ] && pass "three entries are in" || fail "three entries are in"
forge unknown.jsonl "e.update(colour='red') if number == 1 else None"
exits 3 "an import with an unknown field" "$tsr" tune --import unknown.jsonl --tuned fresh2.jsonl
has err "unknown.jsonl:3: entry refused, .*: unknown field 'colour'" "names it"
forge wrong.jsonl "e.update(threads='one') if number == 0 else None; e.update(schedule='rm -rf') if number == 1 else None; e.pop('cpu') if number == 2 else None"
exits 3 "an import with wrong fields" "$tsr" tune --import wrong.jsonl --tuned fresh3.jsonl
has err "wrong.jsonl:2: .*'threads'" "a wrong type"
has err "wrong.jsonl:3: .*no list of NAME=NUMBER" "a wrong schedule"
has err "wrong.jsonl:4: .*'cpu' is missing" "a missing field"
has out "^1 schedules from wrong.jsonl, 3 refused$" "and keeps the rest"
(head -n 2 there.jsonl; echo '{"kernel": '; head -c 300 /dev/urandom | tr -d '\n'; echo; tail -n 1 there.jsonl) >rubbish.jsonl
exits 3 "an import with rubbish" "$tsr" tune --import rubbish.jsonl --tuned fresh4.jsonl
has out "^2 schedules from rubbish.jsonl, 2 refused$" "keeps the rest"
sed '1s/tune.1/tune.9/' there.jsonl >newer.jsonl
exits 3 "a cache of another version" "$tsr" tune --import newer.jsonl
exits 3 "tuning into it" "$tsr" tune --budget 1 --tuned newer.jsonl
exits 0 "bench goes on without it" "$tsr" bench --backend cpu --profile strict --quick --tuned newer.jsonl
has err "newer.jsonl" "and says so"
cp damaged.jsonl mine.jsonl
exits 0 "tuning with a damaged entry in the cache" "$tsr" tune --budget 60 --threads 1 --tuned mine.jsonl
has err "mine.jsonl:3: entry refused" "names it"
[ "$(wc -l <mine.jsonl)" -eq 5 ] && pass "and tunes it again" || fail "and tunes it again"

# Several writers at once: none loses what another wrote.
for i in 1 2 3 4 5 6 7 8; do
    forge "part$i.jsonl" "e['shapes'] += ',PART=$i'"
done
for i in 1 2 3 4 5 6 7 8; do
    "$tsr" tune --import "part$i.jsonl" --tuned shared.jsonl >/dev/null 2>"err$i" &
done
wait
[ "$(wc -l <shared.jsonl)" -eq 33 ] && pass "eight writers at once" || fail "eight writers at once"

# Caches of several machines: parts of the corpus, tuned by each, and one case that two of them have tuned.
for i in 1 2; do
    exits 0 "part $i of the corpus" "$tsr" tune --budget 60 --threads 1 --profile strict --tuned machine$i.jsonl --shard $i/2
done
exits 0 "their caches" "$tsr" tune --import machine1.jsonl --import machine2.jsonl --tuned both.jsonl
[ "$(wc -l <both.jsonl)" -eq 5 ] && pass "are one" || fail "are one"
hasnt err "two schedules" "without a conflict"
forge faster.jsonl "e.update(schedule='P0.MR=2', default_ns=100, tuned_ns=50, cpu='A')"
forge slower.jsonl "e.update(schedule='P0.MR=3', default_ns=100, tuned_ns=90, cpu='B')"
exits 0 "two schedules of one key" "$tsr" tune --import slower.jsonl --import faster.jsonl --tuned one.jsonl
has err "product/tiny: two schedules: P0.MR=2, 0.500 of the default on A; instead of P0.MR=3, 0.900 of the default on B" "are told"
exits 0 "the other way round" "$tsr" tune --import faster.jsonl --import slower.jsonl --tuned other.jsonl
sort one.jsonl >one.sorted && sort other.jsonl >other.sorted
same one.sorted other.sorted "the same stays"
has one.jsonl '"schedule":"P0.MR=2"' "the one that gained more"
hasnt one.jsonl '"schedule":"P0.MR=3"' "alone"

# Killed in the middle: what was there stays, and the file is whole.
cp there.jsonl killed.jsonl
for delay in 0.1 0.4 0.8; do
    "$tsr" tune --budget 20 --again --threads 1 --tuned killed.jsonl >/dev/null 2>&1 &
    victim=$!
    sleep $delay
    kill -9 $victim
    wait $victim 2>/dev/null
done
exits 0 "after kill -9" "$tsr" tune --tuned killed.jsonl --export rescued.jsonl
has out "^4 schedules to rescued.jsonl$" "all entries are there"

# Wrong bits never win.
export TSR_INJECT=flip-bit
exits 1 "schedules that give other bits" "$tsr" tune --budget 60 --threads 1 --tuned wrong_bits.jsonl --filter addition/wider
has err "addition/wider: .*output out" "are refused"
[ ! -e wrong_bits.jsonl ] && pass "and not kept" || fail "and not kept"
unset TSR_INJECT
finish
