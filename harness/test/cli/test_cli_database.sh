# test_cli_database.sh - a database is the file of that name, whatever the name; a run has one process that executes it.
source "$(dirname "$0")/lib.sh"
small_corpus
bench=("$tsr" bench corpus -v --quick --backend cpu --profile strict)

# Names that SQLite would give a meaning.
mkdir -p sub
for name in :memory: "file:x?mode=memory" "file::memory:?cache=shared" "file:sub/y.db" "sub/:memory:" "a b'\"%;.db" -db; do
    exits 0 "--db=$name" "${bench[@]}" --db="$name"
    [ -f "$name" ] && pass "is a file" || fail "is a file"
    exits 0 "its log" "$tsr" log --db="$name"
    has out " 4 results, 0 failed, exit 0" "has the run"
done
exits 0 "the same from the environment" env TSR_DB=:memory: "$tsr" log
has out " 4 results, 0 failed, exit 0" "has the run"
mkfifo pipe
ln -s /dev/null link
for name in /dev/null pipe link sub ""; do
    exits 3 "a database in $name" env TSR_DB= "${bench[@]}" --db "${name:-corpus/small}"
done
: >plain
for place in plain/x.db /proc/x.db; do
    exits 3 "a database in a folder that cannot be: $place" env TSR_DB= "${bench[@]}" --db $place
    has err "choose another file with --db" "says what to do"
done

# One process executes a run; another that would join it is refused, until the first is gone.
export TSR_DB=$scratch/results.db
TSR_INJECT=hang@product/tiny "${bench[@]}" --timeout 100000 >first.out 2>first.err &
pid=$!
while ! grep -q "addition/wider" first.out && kill -0 $pid; do
    sleep 0.05
done
exits 4 "a run that is being executed" "${bench[@]}" --resume
hasnt out "ok" "is not joined"
ln -s results.db alias.db
exits 4 "nor by another name of its database" env TSR_DB= "${bench[@]}" --resume --db alias.db
ln results.db hard.db
exits 3 "a database with two names" env TSR_DB= "${bench[@]}" --resume --db hard.db
rm hard.db
exits 0 "pruning by another name" env TSR_DB= "$tsr" log --prune 0 --db alias.db
has err "$none_deleted" "leaves it, too"
exits 0 "it is listed" "$tsr" log
has out " 2 results, 0 failed, unfinished" "with what it has"
exits 0 "pruning" "$tsr" log --prune 0
has err "$none_deleted" "leaves it"
exits 0 "another run beside it" "${bench[@]}" --filter 'product/*'
exits 0 "and one of the same arguments" "${bench[@]}"
kill -KILL $pid
wait $pid 2>/dev/null
exits 0 "when its process is gone" "${bench[@]}" --resume
has err "going on with run .* $two_there" "it goes on"
exits 0 "the log" "$tsr" log
hasnt out "unfinished" "has no unfinished run"
exits 0 "nothing left to resume" "${bench[@]}" --resume
has err "$none_unfinished" "is told"
finish
