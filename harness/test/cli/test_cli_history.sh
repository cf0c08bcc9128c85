# test_cli_history.sh - tsr log --history: steps, creep, outliers and stillness are told apart, the anchors stand where
# they must, and what is wrong with the data is named.
# shellcheck source=harness/test/cli/lib.sh
source "$2/harness/test/cli/lib.sh"
export TSR_DB=$scratch/results.db
exits 0 "a history of nothing" "$tsr" log --history
exits 5 "whose check has no verdict" "$tsr" log --history --check
small_corpus
exits 0 "a database" "$tsr" bench corpus --quick --backend interp
exits 0 "with 41 runs of known times" /usr/bin/python3 "$root/harness/test/cli/make_history.py" results.db

exits 0 "their history" "$tsr" log --history
has out '^still/c@cpu,strict,2 +40 .* creep \+0\.00 %' "a still kernel has no change"
hasnt out 'still.*run-' "at all"
has out '^step/c@cpu,strict,2 +40 .* creep \+[56]\.' "a step is a creep"
has out '^    \+[56]\.[0-9]+ % from run run-2[1-4] \(2026-01-0[12]T[0-9:]+Z, tsr c2[1-4]\), p 0\.0' "found at its run"
has out '^better/c.* creep \+0\.00 %' "an improvement is none"
has out '^    -[0-9.]+ % from run run-[12]' "and a change all the same"
has out '^spiky/c@cpu,strict,2 +40 .* creep \+0\.00 %' "outliers are no change"
has out '^creep/c.* creep \+1[0-9]\.' "small steps add up"
has out '^grown/c@cpu,strict,2 +30 ' "other work begins another series"
has out '^wrong/c@cpu,strict,2 +38 ' "what is no time is left out"
has err 'no-time: wrong/c@cpu,strict,2 of run run-07 took -5 ns' "and named"
has err 'no-time: wrong/c@cpu,strict,2 of run run-09 took inf ns' "whatever it is"
has err 'clock-jump: run run-30 was stored after run-29' "a clock that went back is named"
has err 'other-machine: 2 runs on other machines' "and so are runs elsewhere"
[ "$(grep -c clock-jump err)" -eq 1 ] && pass "once" || fail "once"

exits 1 "a check with the usual margin" "$tsr" log --history --check
has err 'step/c@cpu,strict,2 is [56]\.[0-9]+ % slower than it was for long' "names the step"
has err 'creep/c@cpu,strict,2 is 1[0-9]\.' "and the creep"
has err '7 of 7 series judged, 2 slower' "and nothing else"
exits 0 "a margin above both" "$tsr" log --history --check --margin 30%
exits 1 "one kernel, a margin below its step" "$tsr" log --history step --check --margin 4
exits 0 "and above it" "$tsr" log --history step/c --check --margin 8
exits 0 "a change that was accepted" "$tsr" log --history step --check --since run-24
exits 5 "too few runs to judge" "$tsr" log --history step --check --since run-35
has out 'too short to judge' "which the line says"
exits 1 "a level that held for a while" "$tsr" log --history step --check --sustained 15
exits 0 "but not for as long as is asked" "$tsr" log --history step --check --sustained 30

exits 0 "as JSON" "$tsr" log --history --json
/usr/bin/python3 - <<'END' && pass "the document has what the lines have" || fail "the document has what the lines have"
import json
document = json.load(open("out"))
assert document["schema"] == "tsr.history/1" and document["runs"] == 40 and len(document["warnings"]) == 4
series = {s["key"].split("/")[0]: s for s in document["series"]}
assert len(series) == 7
step = series["step"]
assert [p["run"] for p in step["points"]] == [f"run-{i:02d}" for i in range(41) if i != 20]
assert len(step["segments"]) == 2 and step["segments"][0]["p"] is None and step["segments"][1]["p"] <= 0.01
assert abs(step["segments"][1]["change"] - 0.06) < 0.01 and abs(step["creep"] - 0.06) < 0.01
assert abs(step["sustained_ns"] - 1000) < 10 and abs(step["rolling_ns"] - 1060) < 10
assert len(series["creep"]["segments"]) >= 3 and series["creep"]["creep"] > 0.1
assert all(len(series[name]["segments"]) == 1 for name in ("still", "spiky", "wrong", "grown"))
assert series["wrong"]["left_out"] == 2 and series["grown"]["left_out"] == 10
END
cp out first
exits 0 "again" "$tsr" log --history --json
same first out "the same document"
exits 0 "in UTF-8" env LC_ALL=C.UTF-8 "$tsr" log --history step
has out '▁' "the line is made of blocks"
exits 3 "a kernel that is not there" "$tsr" log --history nothing
has err 'no timed result of nothing' "is named"
exits 3 "a run that is not there" "$tsr" log --history --since nothing
exits 2 "a margin that is none" "$tsr" log --history --check --margin much
exits 2 "a check of no history" "$tsr" log --check
exits 2 "an export of a history" "$tsr" log --history --export csv=x
/usr/bin/python3 -c 'import sqlite3; d = sqlite3.connect("results.db"); d.execute("UPDATE results SET record = ?", ("{",)); d.commit()'
exits 3 "records that are no JSON" "$tsr" log --history
has err 'reading past results' "are named"
printf 'no database at all, but long enough to be one' >rubbish.db
exits 3 "what is no database" "$tsr" log --history --db rubbish.db
finish
