#!/usr/bin/env bash
# test_cli_view.sh - what tsr bench shows a person: a line for each kernel as wide as the terminal, below it what fails, at the end a
# screen with the verdict and where everything is; -v shows each result.
. "$(dirname "$0")/lib.sh"
export TSR_DB=$scratch/view.db
small_corpus
bench=("$tsr" bench corpus --quick)
plain=(env LC_ALL=C "${bench[@]}") # marks in ASCII, whichever the locale

# No line of $2 is longer than $1, but those that name a file, a database or a command.
fits() {
    if awk -v width="$1" 'length($0) > width && !/^run |^tsr |^ *tsr replay / { bad = 1 } END { exit bad }' "$2"; then
        pass "lines of at most $1"
    else
        fail "lines of at most $1"
        cat "$2"
    fi
}

for columns in 80 100 150; do
    exits 0 "$columns columns" env COLUMNS="$columns" LC_ALL=C "${bench[@]}"
    fits "$columns" out
    has out '^addition +[+] +2/2' "a line for a kernel, its cases folded"
    hasnt out 'addition/tiny +cpu' "and none for a result"
    hasnt out "$(printf '\033')" "no colour in a pipe"
    [ "$(awk '/^share of the ceiling/ { on = 1 } on' out | wc -l)" -le 24 ] && pass "the closing fits a screen" || fail "the closing fits a screen"
done
has out '^4 results: 4 ok' "the verdict"
has out '^checked: ' "what was checked against what"
has out '^slowest +' "the slowest"
has out '^tsr report [^ ]+ --db .* -o report.html' "the line that makes the report"
report=$(grep '^tsr report ' out)
exits 0 "which works" bash -c "PATH='$(dirname "$tsr")':\$PATH; $report"
[ -s report.html ] && pass "and writes a page" || fail "and writes a page"

exits 0 "in UTF-8" env LC_ALL=C.UTF-8 "${bench[@]}"
has out '✓' "marks are signs"
exits 0 "colour on demand" "${bench[@]}" --color always
has out "$(printf '\033')" "is there"
exits 0 "no colour" env NO_COLOR=1 "${bench[@]}" --color auto
hasnt out "$(printf '\033')" "where it is not wanted"

exits 0 "several ways" "${plain[@]}" --backend all --profile strict,deterministic
has out '^columns: 1 interp strict, 2 cpu strict, 3 cpu deterministic' "are columns of marks"
has out '^addition +[+]{3} +6/6' "in each kernel's line"

exits 1 "a failure" "${plain[@]}" --inject flip-bit@product/exact --failures packs
has out '^product +x +1/2' "marks its kernel"
has out '^ +exact@cpu,strict,[0-9]+ +mismatch: ' "stands below its line"
has out '^ +tsr replay packs/' "with the command that replays it"
has out '^mismatch +product/exact@cpu,strict' "and once more at the end"
hasnt out '^ +tiny@' "and what holds does not"

exits 0 "times of cold caches" "${bench[@]}" --cold
has out '^ +tiny@cpu,strict,[0-9]+ .* cold .*x[)]$' "stand below the kernel"
exits 0 "-v" "${bench[@]}" -v --cold
has out '^addition/tiny .*, cold [0-9.]+ .s' "and in the line of a result"
has out '^addition/tiny +cpu +strict' "a line for each result"
finish
