#!/usr/bin/env bash
# test_cli_roofline.sh - tsr roofline RUN: the roofs of a stored run with its results, as wide as asked for.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C # its letters and marks follow the locale; another one is asked for below
python3 -B "$root/harness/test/page/fixture.py" fixture.db gate.json || exit 1
widest() { python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in open(sys.argv[1], encoding="utf-8") if "run " not in line))' out; }

exits 0 "a stored run" "$tsr" roofline --db fixture.db last
has out "^run 20260128-120000-001b, Fixture CPU, x86-64-v3$" "whose it is"
has out "^roofs: 1 = L1, 2 = L2, 3 = L3, d = DRAM" "roofs have letters in ASCII"
has out "^ *2e\+03 \|.* i8$|^ *1.95e\+03 \|.* i8$" "the highest peak is the highest line"
has out "^o strict \(43\)   \+ deterministic \(43\)   x fast \(43\)   \* several profiles$" "points have a legend"
has out "^12 results have no arithmetic" "what has no place is counted"
has out "1024 FLOP/byte$" "there is an axis"
if LC_ALL=C grep -q '[^ -~]' out; then fail "ASCII in a locale that has no more"; else pass "ASCII in a locale that has no more"; fi
for width in 60 100 200; do
    exits 0 "$width columns" env COLUMNS=$width "$tsr" roofline --db fixture.db last
    [ "$(widest)" -le "$width" ] && pass "are not exceeded" || fail "are not exceeded: $(widest) of $width"
done
[ "$(widest)" -gt 120 ] && pass "and are used" || fail "and are used"

exits 0 "in UTF-8" env LC_ALL=C.UTF-8 "$tsr" roofline --db fixture.db last
has out "● strict \(43\)   ▲ deterministic" "marks are shapes"
has out "DRAM" "levels have names"
hasnt out "$(printf '\033')" "and no colour where no terminal is"
exits 0 "colour" "$tsr" roofline --db fixture.db last --color always
has out "$(printf '\033')\[34mo$(printf '\033')\[0m strict" "where it is asked for"

exits 0 "a choice" "$tsr" roofline --db fixture.db 20260128 --filter 'sum_rows,saxpy/large'
has out "^o strict \(5\)   \+ deterministic \(5\)   x fast \(5\)" "of kernels and cases"
exits 0 "no such kernel" "$tsr" roofline --db fixture.db last --filter nothing
has out "$none_placed" "is said"
exits 0 "other threads" "$tsr" roofline --db fixture.db last --threads 1
has out "$none_placed" "have other results"
exits 0 "as JSON" "$tsr" roofline --db fixture.db last --json
"$tsr" roofline --db fixture.db last --json >run.json 2>err
exits 0 "has ceilings and results" python3 -c 'import json; d = json.load(open("run.json")); assert len(d["results"]) == 192 and len(d["ceilings"]) == 16'

exits 3 "an unknown run" "$tsr" roofline --db fixture.db nosuchrun
has err "holds no run 'nosuchrun'" "is named"
exits 3 "no database" "$tsr" roofline --db nowhere.db last
has err "there is no database nowhere.db" "is named"
exits 2 "two runs" "$tsr" roofline --db fixture.db last last
exits 2 "a choice of what is measured now" "$tsr" roofline --filter 'x*'
has err "go with a run" "says so"
finish
