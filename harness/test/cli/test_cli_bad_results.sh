# test_cli_bad_results.sh - result files and records that are damaged, foreign or cannot be: each command that reads them
# names what is wrong and where, and none goes on.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
export TSR_DB=$scratch/results.db
small_corpus
exits 0 "a run" "$tsr" bench corpus --quick --backend interp,cpu --profile strict --export json=good.json
exits 0 "and files that are wrong" /usr/bin/python3 "$root/harness/test/cli/make_bad_results.py" good.json
cp out names
[ "$(wc -l <names)" -ge 20 ] && pass "at least twenty" || fail "at least twenty"
while read -r name; do
    exits 3 "$name: diff" "$tsr" diff good.json $name.json
    has err "$name.json" "names the file"
    exits 3 "$name: gate, as the other side" "$tsr" gate --baseline good.json --against $name.json
    exits 3 "$name: gate, as the baseline" "$tsr" gate --baseline $name.json --against good.json
    has err "$name.json" "names the file"
    exits 3 "$name: report" "$tsr" report $name.json -o page.html
    has err "$name.json" "names the file"
done <names
[ ! -e page.html ] && pass "no page was made" || fail "no page was made"

# The same in the database.
/usr/bin/python3 - <<'END'
import shutil, sqlite3
changes = {
    "words": "UPDATE results SET record = 'no JSON'",
    "negative": "UPDATE results SET record = json_set(record, '$.time_ns.median', -5), median_ns = -5 WHERE median_ns > 0",
    "nameless": "UPDATE results SET record = json_remove(record, '$.kernel')",
}
sqlite3.connect("results.db").execute("PRAGMA wal_checkpoint(TRUNCATE)")
for name, words in changes.items():
    shutil.copy("results.db", f"{name}.db")
    database = sqlite3.connect(f"{name}.db")
    database.execute(words)
    database.commit()
END
for name in words negative nameless; do
    exits 3 "$name records: diff" "$tsr" diff last good.json --db $name.db
    exits 3 "$name records: gate" "$tsr" gate --baseline last --against good.json --db $name.db
    exits 3 "$name records: report" "$tsr" report last --db $name.db -o page.html
    exits 3 "$name records: log, exported" "$tsr" log last --db $name.db --export gbench=x.json
done
[ ! -e x.json ] && pass "nothing was exported" || fail "nothing was exported"
finish
