# test_exports.sh - TSR ROOT WRITE_EXPORTS: every format of formats.def, against its schema and
# its own reader; of documents full of characters that formats trip over, and of a run.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
write_exports=$3
bench_formats=(json jsonl csv gbench gab bmf lnt junit openmetrics trace)
gate_formats=(json jsonl csv junit openmetrics)

# FORMAT=PREFIX.FORMAT for each format
specs() {
    local prefix=$1 form
    shift
    for form in "$@"; do
        echo "$form=$prefix.$form"
    done
}

checked() {
    local what=$1 prefix=$2 document=$3
    shift 3
    # shellcheck disable=SC2046
    exits 0 "$what" /usr/bin/python3 "$root/harness/test/export/check_exports.py" "$root/harness/test/schemas" \
        "$document" $(specs "$prefix" "$@")
    grep '^skipped' out
    [ "$(grep -c '^ok - ' out)" -eq $# ] && pass "all $# formats" || fail "all $# formats"
}

listed=$(sed -n 's/^FORMAT(\([a-z]*\),.*EXPORT_BENCH.*/\1/p' "$root/harness/report/export/formats.def" | sort | xargs)
[ "$listed" = "$(printf '%s\n' "${bench_formats[@]}" | sort | xargs)" ] && pass "every format of a run is tested" ||
    fail "every format of a run is tested: $listed"
listed=$(sed -n 's/^FORMAT(\([a-z]*\),.*EXPORT_GATE.*/\1/p' "$root/harness/report/export/formats.def" | sort | xargs)
[ "$listed" = "$(printf '%s\n' "${gate_formats[@]}" | sort | xargs)" ] && pass "every format of a gate is tested" ||
    fail "every format of a gate is tested: $listed"

for kind in bench gate; do
    declare -n formats=${kind}_formats
    # shellcheck disable=SC2046
    exits 0 "exports of a $kind with hard characters" "$write_exports" "$root/harness/test/export/$kind.json" \
        $(specs "$kind" "${formats[@]}")
    checked "the $kind's exports" "$kind" "$root/harness/test/export/$kind.json" "${formats[@]}"
done
exits 2 "a format that takes no gates" "$write_exports" "$root/harness/test/export/gate.json" gbench=no
has err "formats here: json, jsonl, csv, junit, openmetrics" "names those that do"
[ ! -e no ] && pass "and writes nothing" || fail "and writes nothing"

export TSR_DB=$scratch/results.db
small_corpus
mapfile -t run_specs < <(specs run "${bench_formats[@]}")
exits 1 "a run with a failure" env TSR_INJECT=flip-bit@product/exact "$tsr" bench corpus --quick \
    --backend interp,cpu --profile strict,deterministic "${run_specs[@]/#/--export=}"
checked "its exports" run run.json "${bench_formats[@]}"
/usr/bin/python3 -c '
import json
entries = json.load(open("run.gbench"))["benchmarks"]
assert sum(e["run_type"] == "iteration" for e in entries) >= 5
assert isinstance(json.load(open("run.lnt"))["tests"][2]["execution_time"], list)' &&
    pass "samples are repetitions" || fail "samples are repetitions"
/usr/bin/python3 -c '
import json
spans = [e for e in json.load(open("run.trace"))["traceEvents"] if e["ph"] == "X"]
assert {("map", "map"), ("dot", "mma"), ("launch", "kernel"), ("time", "host")} <= {(e["name"], e["cat"]) for e in spans}
' && pass "phases have their categories" || fail "phases have their categories"
mapfile -t log_specs < <(specs log "${bench_formats[@]}")
exits 0 "the same run from the log" "$tsr" log last "${log_specs[@]/#/--export=}"
for form in "${bench_formats[@]:1}"; do # of the json the ceilings stand in another order
    same "run.$form" "log.$form" "has the same $form"
done
# Whatever phases the compiler makes have a category: "other" is not in the schema.
exits 0 "a trace of the corpus" "$tsr" bench "$root"/corpus/{elementwise/saxpy,matmul/linear,normalisation/softmax,movement/*,reduction/*,attention/attention}.tsr --quick --backend cpu --profile strict \
    --export json=corpus.json --export trace=corpus.trace
checked "fits its format" corpus corpus.json trace
for word in mma reduce copy map; do
    has corpus.trace "\"cat\": \"$word\"" "and has $word"
done
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$scratch/summary.md TSR_INJECT=flip-bit@product/exact \
    "$tsr" bench corpus --quick --backend cpu --profile strict --json >out 2>err
[ $? -eq 1 ] && pass "a failure under GitHub Actions" || fail "a failure under GitHub Actions"
has err "^::error file=corpus/small/small.tsr,line=[0-9]+,title=product/exact@cpu%2Cstrict%2C[0-9]+%3A mismatch::" \
    "is annotated where it stands"
/usr/bin/python3 -m json.tool out /dev/null && pass "and the document stays one" || fail "and the document stays one"
has summary.md "tsr bench: 4 results, 1 need attention" "and summed up"
exits 0 "a run that is not on GitHub" "$tsr" bench corpus --quick --backend cpu --profile strict
hasnt err "^::" "has no annotations"

exits 2 "an export of no run" "$tsr" log --export csv=x
has err "wants a run" "says so"
exits 2 "an unknown format" "$tsr" log last --export gcov=x
has err "formats here: json" "names those that there are"
exits 3 "a file that cannot be" "$tsr" log last --export csv=nowhere/x
finish
