# test_cli_shard.sh - a run in three parts, as three machines would run them, and one database of their three: complete, with a part
# missing, killed, run twice, of another list, of another build, or tampered with.
source "$(dirname "$0")/lib.sh"
small_corpus
bench() { # DATABASE ARGUMENTS...
    local database=$1
    shift
    "$tsr" bench corpus --quick --threads 1 --db "$database" "$@"
}
merge() { # INTO FILES...
    local into=$1
    shift
    "$tsr" log --merge "$@" --db "$into"
}
# rows FILE: run, case, backend and digests of each result, in the order of the last run.
rows() {
    "$tsr" log last --db "$1" --json | /usr/bin/python3 -c '
import json, sys
for r in json.load(sys.stdin)["results"]:
    print(r["kernel"], r["case"], r["backend"], r["threads"], r["check"]["sha256"], r["module_hash"])'
}

# ---- the parts ----
exits 0 "the whole list" bench none.db --list
cp out whole
: >parts
for i in 1 2 3; do
    exits 0 "part $i of it" bench none.db --list --shard $i/3
    cat out >>parts
done
sort parts >sorted && sort whole | cmp -s - sorted && pass "the parts are the whole, and each case is in one" || fail "the parts are the whole"
mkdir -p elsewhere/deep && cp -r corpus elsewhere/deep/corpus
exits 0 "on another machine, below another folder" "$tsr" bench elsewhere/deep/corpus --quick --threads 1 --list --shard 2/3
cp out there
exits 0 "and here" bench none.db --list --shard 2/3
same out there "the part is the same"
exits 0 "goldens, too" "$tsr" golden list corpus --shard 1/4
[ "$(wc -l <out)" -eq 1 ] && pass "are listed by parts" || fail "are listed by parts"

exits 2 "counting from 0" bench none.db --shard 0/3
has err "counted from 1.*the first is 1/3" "is told apart"
exits 2 "a part behind the last" bench none.db --shard 4/3
has err "the last is 3/3" "is refused"
exits 2 "no shard" bench none.db --shard 3
has err "I/N or I/N:SET" "says how one is written"
for other in --last-failed "--inputs x.npy" --negative-controls; do
    # shellcheck disable=SC2086
    exits 2 "--shard and $other" bench none.db --shard 1/3 $other
done

# ---- a run in three parts ----
exits 0 "the run in one piece" bench whole.db
for i in 1 2 3; do
    exits 0 "part $i" bench s$i.db --shard $i/3:night
done
has out "to come: shard 3 of 3, set night: [12] of 4 cases" "says what it is"
exits 0 "the log of a part" "$tsr" log --db s2.db
has out "shard 2 of 3, set night: [12] of 4 cases, on " "says which it is"
exits 0 "one of the three" merge all.db s3.db s1.db s2.db
has out "^set night of 3 shards: run [0-9a-f-]*, 4 cases, 4 results" "is made of them"
rows whole.db >of-whole
rows all.db >of-all
same of-whole of-all "it has the results of the whole run, in their order"
exits 0 "the log" "$tsr" log --db all.db
has out "made of 3 shards, set night" "knows the parts"
has out " 2 +[0-9a-f-]+ +[0-9]+ results?, exit 0, on .*, from s2.db" "and where each came from"
exits 0 "the log as JSON" "$tsr" log --db all.db --json
has out '"name": "night"' "names the set"
exits 0 "the document" "$tsr" log last --db all.db --json
cp out all.json
exits 0 "fits its schema" /usr/bin/python3 "$root/harness/test/cli/check_document.py" "$root/docs/bench.schema.json" all.json
exits 0 "merging again" merge all.db s1.db s2.db s3.db
has err "0 runs taken over, 0 made of shards, 0 gates; 3 were there" "adds nothing"
exits 0 "a run that is whole" merge all.db whole.db
has out "^run .* in whole.db: 4 results, taken over" "is taken over as it is"

# ---- what one does with it ----
merged=$(/usr/bin/python3 -c 'import json; print(json.load(open("all.json"))["run"])')
exits 0 "gate" "$tsr" gate --baseline "$merged" --against last --db all.db --json
has out '"same-module"|"EQUIVALENT"' "compares it with the whole run"
exits 0 "diff" "$tsr" diff "$merged" last --db all.db
has out "^4 compared: 0 differ, 4 equal; 0 only in A, 0 only in B" "finds the same bits and cases"
exits 0 "report" "$tsr" report "$merged" --db all.db -o page.html
has page.html "$merged" "shows it"
exits 0 "export" "$tsr" log "$merged" --db all.db --export jsonl=all.jsonl --export csv=all.csv --export gbench=all.gbench
[ "$(wc -l <all.jsonl)" -eq 4 ] && pass "has every result" || fail "has every result"
exits 0 "history" "$tsr" log --history --db all.db
[ "$(grep -Ec '@cpu,strict,1 +2 ' out)" -eq 4 ] && pass "has each result once a run" || fail "has each result once a run"

# ---- a part is missing ----
exits 5 "two of three" merge part.db s1.db s3.db
has err "shard 2 of 3 is in none of the files" "names the one that is missing"
exits 5 "as JSON" "$tsr" log --merge s1.db s3.db --db part.db --json
has out '"missing": \[' "is a list"
exits 3 "nothing was taken over" "$tsr" log last --db part.db
exits 0 "with the third it is complete" merge part.db s1.db s2.db s3.db
rows part.db >of-part
same of-whole of-part "and the same"

# ---- a part is killed, and run anew or gone on with ----
mine=$(bench none.db --list --shard 2/2 | tail -1 | sed 's/@.*//')
exits 0 "part 1 of two" bench k1.db --shard 1/2
TSR_INJECT=hang@$mine "$tsr" bench corpus --quick --threads 1 --db k2.db --shard 2/2 >out 2>err &
victim=$!
for ((i = 0; i < 300; i++)); do
    [ -e k2.db ] && [ "$(/usr/bin/python3 -c 'import sqlite3; print(sqlite3.connect("k2.db").execute("SELECT count(*) FROM results").fetchone()[0])' 2>/dev/null)" = 1 ] && break
    sleep 0.1
done
exits 5 "while a part is being executed" merge killed.db k1.db k2.db
has err "has 1 of 2 results, and is being executed" "it is waited for"
kill -KILL "$victim"
wait 2>/dev/null
exits 5 "a part that was killed" merge killed.db k1.db k2.db
has err "shard 2 of 2: run .* in k2.db has 1 of 2 results: go on with it there" "is not complete, and says what to do"
cp k2.db k2-killed.db && for s in -wal -shm; do [ -e k2.db$s ] && cp k2.db$s k2-killed.db$s; done
exits 0 "--resume" bench k2.db --shard 2/2 --resume
has err "1 results? (is|are) there" "goes on with it"
exits 0 "and all is there" merge killed.db k1.db k2.db
rows killed.db >of-killed
same of-whole of-killed "nothing is lost, nothing is there twice"
exits 0 "or it is run anew elsewhere" bench k3.db --shard 2/2
exits 0 "beside what was killed" merge anew.db k1.db k2-killed.db k3.db
has err "run .* in k2-killed.db: its shard was run again, and this one does not count" "what is whole counts"
rows anew.db >of-anew
same of-whole of-anew "and the result is the same"

# A part that was begun on another list is not gone on with.
cp k2-killed.db list.db && for s in -wal -shm; do [ -e k2-killed.db$s ] && cp k2-killed.db$s list.db$s; done
cp corpus/small/small.tsr kept.tsr && sed -i 's/"tiny", M=3/"tiny", M=4/' corpus/small/small.tsr
exits 0 "--resume of a part whose list has changed" bench list.db --shard 2/2 --resume
has err "was begun on another list of cases; starting a new one" "begins anew"
mv kept.tsr corpus/small/small.tsr

# ---- shards that do not belong together ----
exits 0 "a part of fewer cases" "$tsr" bench corpus --quick --threads 1 --filter 'product' --db f2.db --shard 2/3:night
exits 3 "is of another list" merge wrong.db s1.db f2.db s3.db
has err "run .* in s1.db and run .* in f2.db are of two lists, of 4 and 2 cases" "both are named"
sed -i 's/"tiny", M=3/"tiny", M=4/' elsewhere/deep/corpus/small/small.tsr
exits 0 "a part of other sizes" "$tsr" bench elsewhere/deep/corpus --quick --threads 1 --db o2.db --shard 2/3:night
exits 3 "is of another list" merge wrong.db s1.db o2.db s3.db
has err "two lists of cases: names, sizes or formulas differ" "and says so"
exits 0 "a part with another seed" bench d2.db --shard 2/3:night --seed 7
exits 3 "was asked for differently" merge wrong.db s1.db d2.db s3.db
has err "with other options: seed is 1 and 7" "says which option"
another_build "$scratch/other"
exits 0 "a part of another build" "$scratch/other" bench corpus --quick --threads 1 --db b2.db --shard 2/3:night
exits 3 "is not joined with the others" merge wrong.db s1.db b2.db s3.db
has err "two builds of tsr" "and says so"
exits 0 "a set of another name" bench n2.db --shard 2/3:day
exits 5 "is another set" merge wrong.db s1.db n2.db s3.db
has err "set night of 3 shards is not complete" "of which parts are missing"
has err "set day of 3 shards is not complete" "as of the other"
exits 0 "a part that was ended early" bench e2.db --shard 1/1:early
/usr/bin/python3 -c 'import sqlite3; d = sqlite3.connect("e2.db"); d.execute("DELETE FROM results WHERE number = 2"); d.commit()'
exits 5 "lacks results" merge wrong.db e2.db
has err "has 3 of 4 results: it was ended early" "and is not taken for whole"

# ---- results that contradict each other ----
tamper() { # FROM TO SQL
    cp "$1" "$2"
    /usr/bin/python3 -c 'import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()' "$2" "$3"
}
tamper s2.db t2.db "UPDATE results SET record = replace(record, '\"sha256\":[\"', '\"sha256\":[\"' || 'f') WHERE number = 1"
tamper t2.db t2.db.x "SELECT 1" && rm t2.db.x
exits 1 "one run with two results" merge tampered.db s1.db s2.db t2.db s3.db
has err "run .* in s2.db and run .* in t2.db are one run, and have other results" "is told"
has err "nothing was written" "and nothing is taken over"
[ ! -e tampered.db ] && pass "not even a database is made" || fail "not even a database is made"
tamper k3.db t3.db "UPDATE runs SET id = id || '0'"
tamper t3.db t4.db "UPDATE results SET record = json_set(record, '\$.check.sha256[0]', '0000000000000000000000000000000000000000000000000000000000000000') WHERE number = 1"
exits 1 "one build on one machine with two bits" merge bits.db k3.db t4.db
has err "have other bits, of one build on one machine" "is told"
tamper s2.db misnamed.db "UPDATE results SET key = 'other/tiny@cpu,strict,1' WHERE number = 1"
exits 3 "a result under another name" merge named.db misnamed.db
has err "misnamed.db: the result other/tiny@cpu,strict,1 is stored under another name" "is damaged"
tamper s2.db h2.db "UPDATE runs SET head = '[]'"
exits 3 "a run without a head" merge head.db h2.db
tamper s2.db u2.db "UPDATE runs SET id = CAST(x'ff1b5b' AS TEXT)"
exits 3 "a run whose name is no text" merge head.db u2.db
tamper s2.db v2.db "PRAGMA user_version=99"
exits 3 "a database of a newer tsr" merge newer.db v2.db
has err "$newer_tsr" "is refused"
printf 'no database\n' >plain
exits 3 "a file that is none" merge x.db plain
exits 3 "a file that is not there" merge x.db nosuch.db
exits 3 "the database itself" merge all.db all.db
exits 3 "a file twice" merge x.db s1.db s1.db
exits 2 "no file" "$tsr" log --merge --db x.db
exits 2 "--merge and --prune" "$tsr" log --merge s1.db --prune 3
if [ "$(id -u)" -ne 0 ]; then
    cp all.db closed.db && chmod a-w closed.db
    exits 4 "a database that cannot be written" merge closed.db k1.db k2.db
fi

# ---- the machine that merges ran a part itself ----
cp s1.db own.db
exits 0 "into the database of a part" merge own.db s2.db s3.db
exits 0 "its log" "$tsr" log --db own.db
[ "$(grep -c "exit 0$" out)" -eq 1 ] && pass "has the one run that was made" || fail "has the one run that was made"
rows own.db >of-own
same of-whole of-own "with each result once"

# ---- different machines ----
for i in 1 3; do
    tamper s$i.db x$i.db "UPDATE runs SET machine = 'another; x86-64-v3; 4 cores', head = json_set(head, '\$.host.cpu', 'another', '\$.host.cores', 4)"
done
exits 0 "parts of unlike machines" merge mixed.db x1.db s2.db x3.db
exits 0 "its run" "$tsr" log last --db mixed.db --json
has out '"cpu": "1: another; 2: .*; 3: another; list [0-9a-f]{12}"' "says which part ran where"
cp out mixed.json
exits 0 "and fits the schema" /usr/bin/python3 "$root/harness/test/cli/check_document.py" "$root/docs/bench.schema.json" mixed.json
exits 0 "beside one of one machine" merge mixed.db whole.db
mixed=$(/usr/bin/python3 -c 'import json; print(json.load(open("mixed.json"))["run"])')
exits 5 "times of which say nothing" "$tsr" gate --baseline "$mixed" --against last --db mixed.db --always-time
has out "other-cpu" "and the reason is told"

# ---- more parts than cases; and random kernels ----
exits 0 "a part without a case" bench m6.db --shard 6/6
has err "shard 6 of 6 has none of the 4 cases" "says so"
for i in 1 2 3 4 5; do
    exits 0 "part $i of six" bench m$i.db --shard $i/6
done
exits 0 "are complete with it" merge six.db m?.db
rows six.db >of-six
same of-whole of-six "and the same"
for i in 1 2; do
    exits 0 "random kernels, part $i of 2" "$tsr" fuzz --kernels 7 --minutes 5 --shard $i/2 --tally tally$i.json --json
    has out "\"kernels\": $((5 - i))," "is every second one"
done
exits 0 "relations by parts" "$tsr" check corpus --relation repetition --budget 5 --shard 1/2
has err "^1 relation: 1 hold" "are of whole kernels"
printf 'def addition(x, y):\n    return x + y\n' >code.py
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    for i in 1 2; do
        exits 0 "code of others, part $i of 2" "$tsr" bench corpus --quick --with code.py --shard $i/2 --db w$i.db
        exits 0 "its relations, part $i of 2" "$tsr" check corpus --with code.py --relation repetition --budget 5 --shard $i/2
        cat err >>relations
        exits 0 "its random cases, part $i of 2" "$tsr" fuzz corpus --with code.py --draws 3 --minutes 0.5 --shard $i/2
    done
    has relations "^0 relations" "a part may have none of its functions"
    has relations "^1 relation: 1 hold" "the other has it"
    exits 0 "both parts" merge with.db w1.db w2.db
fi
finish
