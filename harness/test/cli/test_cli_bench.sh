# test_cli_bench.sh - a run from beginning to end: output, exports, database, faults, interruption.
source "$(dirname "$0")/lib.sh"
small_corpus
export TSR_DB=$scratch/results.db

exits 0 "--list" "$tsr" bench corpus --backend all --profile strict,deterministic --list --threads 1
has out "^product/exact@cpu,deterministic,1$" "--list names every job"
has out "^product/exact@interp,strict,1$" "interp takes part once"
exits 0 "a filter by kernel" "$tsr" bench corpus -v --list --filter 'prod*' --backend cpu
hasnt out "addition" "leaves the others out"
exits 0 "a filter by case" "$tsr" bench corpus -v --list --filter '*/exact,addition/tiny' --backend interp
[ "$(wc -l <out)" -eq 2 ] && pass "a filter takes a list" || fail "a filter takes a list"
[ ! -e results.db ] && pass "--list stores nothing" || fail "--list stores nothing"

exits 0 "a run" "$tsr" bench corpus --backend all --profile strict,deterministic --quick --json --threads 1,2 --export csv=a.csv --export jsonl=a.jsonl \
    --export json=a.json
cp out run.json
same run.json a.json "--json and --export json= are the same"
exits 0 "the document fits its schema" /usr/bin/python3 "$root/harness/test/cli/check_document.py" \
    "$root/docs/bench.schema.json" run.json a.csv a.jsonl
exits 0 "a run for a person" "$tsr" bench corpus -v --backend all --quick
has out "addition/tiny +cpu +strict" "has a line for each result"
has out "results: " "and a summary"
hasnt out "$(printf '\033')" "without colour where there is no terminal"
has out "against the interpreter \(no golden\)" "and says what was checked against what"
exits 0 "colour on demand" "$tsr" bench corpus -v --backend interp --color always
has out "$(printf '\033')" "is there"

exits 0 "the log" "$tsr" log
has out "results, 0 failed, exit 0" "lists runs"
has out "^    tsr bench corpus .*; of $PWD/corpus" "with what was typed, and the corpus"
exits 0 "the last run" "$tsr" log last
has out "^    tsr bench .* on .*x86-64|aarch64" "tells its command and machine"
has out "addition/tiny" "shows its results"
exits 0 "a run as JSON" "$tsr" log last --json
cp out logged.json
exits 0 "fits the same schema" /usr/bin/python3 "$root/harness/test/cli/check_document.py" \
    "$root/docs/bench.schema.json" logged.json
exits 0 "the log as JSON" "$tsr" log --json
exits 0 "pruning" "$tsr" log --prune 1
exits 0 "the pruned log" "$tsr" log
[ "$(grep -c "results, " out)" -eq 1 ] && pass "has one run" || fail "has one run"

exits 1 "a crash" env TSR_INJECT=crash@addition/wider "$tsr" bench corpus -v --quick --backend cpu --profile strict
has out "^addition/wider .* crash" "is a result"
has out "killed by SIG" "with its signal"
has out "^product/exact .* ok" "and the cases after it are run"
exits 1 "--fail-fast" env TSR_INJECT=crash@addition/wider "$tsr" bench corpus -v --quick --backend cpu --fail-fast
hasnt out "^product" "stops at the first failure"
exits 1 "a hang" env TSR_INJECT=hang@product/tiny "$tsr" bench corpus -v --quick --backend cpu --timeout 2 \
    --profile strict
has out "^product/tiny .* timeout" "is a result"
has out "^product/exact .* ok" "and the cases after it are run"
exits 0 "only what failed in the last run" "$tsr" bench corpus -v --quick --backend cpu --profile strict --last-failed
has out "^product/tiny .* ok" "runs that"
hasnt out "^addition" "and nothing else"
exits 0 "only what failed, when nothing did" "$tsr" bench corpus -v --quick --backend cpu --profile strict --last-failed
has err "nothing that was asked for failed" "says so"
exits 0 "and stores no run" "$tsr" log last
has out "^product/tiny .* ok" "so the last run stays the last"
if "$tsr" bench corpus -v --quick --backend interp --memory 4096 >/dev/null 2>&1; then
    exits 1 "a lack of memory" env TSR_INJECT=oom@product/tiny "$tsr" bench corpus -v --quick --backend cpu \
        --memory 4096 --profile strict
    has out "out of memory" "is told as such"
    has out "^product/tiny .* error" "as an error of that case"
    has out "^product/exact .* ok" "and the cases after it are run"
    exits 1 "far too little memory" "$tsr" bench corpus -v --quick --backend cpu --memory 8 --filter product/tiny
    has out "a worker cannot even start within --memory 8" "is told as such"
else
    echo "skipped: a lack of memory: a build with sanitizers needs its whole address space"
fi

# Ctrl-C in the middle: the finished results stay, and --resume goes on.
: >out # what an earlier command printed is not waited for
TSR_INJECT=hang@product/tiny "$tsr" bench corpus -v --quick --backend cpu --profile strict >out 2>err &
pid=$!
while ! grep -q "addition/wider" out && kill -0 $pid; do
    sleep 0.1
done
kill -INT $pid
code=0
wait $pid || code=$?
[ "$code" -eq 130 ] && pass "an interrupted run ends with 130" || fail "an interrupted run ends with $code"
has err "--resume" "and says how to go on"
exits 0 "it is in the log" "$tsr" log
has out "2 results, 0 failed, unfinished" "as unfinished"
cat >older.py <<'END'
import json, shutil, sqlite3, sys
for suffix in ("", "-wal"):
    try:
        shutil.copy("results.db" + suffix, sys.argv[1] + suffix)
    except FileNotFoundError:
        pass
database = sqlite3.connect(sys.argv[1])
for number, head in database.execute("SELECT number, head FROM runs").fetchall():
    head = json.loads(head)
    del head["tsr"]["build"]
    head["tsr"]["commit"] = sys.argv[2] if len(sys.argv) > 2 else head["tsr"]["commit"]
    database.execute("UPDATE runs SET head = ? WHERE number = ?", (json.dumps(head), number))
database.commit()
END
begun=$(/usr/bin/python3 -c 'import sqlite3; print(sqlite3.connect("results.db").execute("SELECT id FROM runs ORDER BY number").fetchall()[-1][0])')
resumes() { # DATABASE TSR
    exits 0 "$2 --resume of $1" "$2" bench corpus --quick --backend cpu --profile strict --resume --json --db "$1"
}
exits 0 "the run as tsr without build ids would have begun it" /usr/bin/python3 older.py older.db
resumes older.db "$tsr"
has out "\"run\": \"$begun\"" "goes on with it"
exits 0 "the same, of another commit" /usr/bin/python3 older.py commit.db another
resumes commit.db "$tsr"
hasnt out "\"run\": \"$begun\"" "begins anew"
another_build ./other
exits 0 "a copy of the run" cp results.db build.db
[ ! -f results.db-wal ] || cp results.db-wal build.db-wal
resumes build.db ./other
hasnt out "\"run\": \"$begun\"" "begins anew"
exits 0 "it goes on" "$tsr" bench corpus -v --quick --backend cpu --profile strict --resume --json
has err "$two_there" "with what is there"
/usr/bin/python3 -c 'import json, sys; sys.exit(len(json.load(open("out"))["results"]) != 4)' &&
    pass "and ends with all results" || fail "and ends with all results"
exits 0 "a second --resume begins anew" "$tsr" bench corpus -v --quick --backend cpu --profile strict --resume
has err "$none_unfinished" "and says so"

# Packs beside the usual database go with the runs that refer to them, and no others.
mkdir usual && cd usual || exit 1
bench_usual() {
    env -u TSR_DB TSR_INJECT="flip-bit@$1" "$tsr" bench ../corpus -v --quick --backend cpu --profile strict >out 2>err
}
bench_usual addition/tiny
bench_usual product/tiny
touch .tsr/failures/mine
[ "$(ls .tsr/failures | wc -l)" -eq 3 ] && pass "two packs" || fail "two packs"
exits 0 "pruning another database" "$tsr" log --db "$scratch/results.db" --prune 1
[ "$(ls .tsr/failures | wc -l)" -eq 3 ] && pass "keeps them" || fail "keeps them"
exits 0 "pruning their own" env -u TSR_DB "$tsr" log --prune 1
has err "^1 run deleted, 0 gates deleted, 1 pack deleted$" "says what went"
[ "$(echo $(ls .tsr/failures | sed 's/-[0-9a-f]*\.repro.*//'))" = "mine product-tiny" ] &&
    pass "keeps what the kept run refers to" || fail "keeps what the kept run refers to"
cd ..

# kill -9 cannot be caught: what was stored is there all the same.
: >out # what an earlier command printed is not waited for
TSR_INJECT=hang@product/tiny "$tsr" bench corpus -v --quick --backend cpu --profile strict >out 2>err &
pid=$!
while ! grep -q "addition/wider" out && kill -0 $pid; do
    sleep 0.1
done
kill -KILL $pid
wait $pid 2>/dev/null
exits 0 "a killed run goes on, too" "$tsr" bench corpus -v --quick --backend cpu --profile strict --resume
has err "$two_there" "with what is there"
finish
