#!/usr/bin/env bash
# test_cli_report.sh - tsr report: what the page holds, that it asks for nothing, and what it refuses.
. "$(dirname "$0")/lib.sh"
page=$root/harness/test/page

# A page from a database that is always the same.
python3 "$page/fixture.py" fixture.db gate.json || exit 1
exits 0 "a page is made" "$tsr" report --db fixture.db -o page.html
has err "^page.html: 1 runs, 192 results, 2961 samples, 1 gates; " "what is on it is said"
exits 0 "and made again" "$tsr" report --db fixture.db -o again.html
same page.html again.html "equal databases give equal bytes"
has page.html "<!doctype html>" "it is HTML"
has page.html "Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-" \
    "only its own style and script may run"
has page.html "^<meta name=\"viewport\"" "phones are thought of"
hasnt page.html "@(policy|style|script|data|samples)@" "no place of the template is left"

# Nothing from elsewhere. The one address is the name of SVG.
sed 's,http://www.w3.org/2000/svg,,g' page.html >rest.html
hasnt rest.html "(https?:)?//[a-z0-9.-]+\.[a-z]{2,}/|[^a-z]url\(|@import|src=\"|<link|<iframe|fetch\(|XMLHttpRequest|WebSocket|sendBeacon" \
    "nothing is asked of any network"

# Names are hostile: the fixture has a kernel called </script><img ...>.
cat >check.py <<'END'
import json, re
page = open("page.html").read()
data = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.S).group(1)
assert "<" not in data
document = json.loads(data)
assert document["schema"] == "tsr.report/1"
run = document["runs"][0]
names = {row[run["columns"].index("kernel")] for row in run["rows"]}
assert "</script><img src=x onerror=alert(1)>" in names, names
assert len(document["history"]["runs"]) == 28
changed = {s["key"]: [c["at"] for c in s["changes"]] for s in document["history"]["series"] if s["changes"]}
assert changed["matmul_f32/square@cpu,strict,2"] == [17], changed
assert all(changed[f"softmax_rows/{case}@cpu,{profile},2"] == [9] for case in ("prime", "square", "large")
           for profile in ("strict", "deterministic", "fast")), changed
assert [g["gate"] for g in document["gates"]] == ["g-fixture"]
columns = run["columns"]
assert sum(row[columns.index("sample_count")] for row in run["rows"]) == 2961
import base64, struct
raw = base64.b64decode(re.search(r'id="sample-data">(.*?)</script>', page, re.S).group(1))
samples = struct.unpack(f"<{len(raw) // 4}f", raw)
assert len(samples) == 2961
row = next(row for row in run["rows"] if row[columns.index("sample_count")])
mine = sorted(samples[row[columns.index("first_sample")]:][:row[columns.index("sample_count")]])
assert abs(mine[len(mine) // 2] / row[columns.index("median")] - 1) < 1e-6
END
exits 0 "the data can be read" python3 check.py
cat >check.py <<'END'
page = open("page.html").read()
assert page.count("<img") == 0 and page.count("<script") == 3, (page.count("<img"), page.count("<script"))
END
exits 0 "markup in names stays text" python3 check.py

# Several runs, files and gates.
exits 0 "two runs" "$tsr" report --db fixture.db 20260128 20260127 -o two.html
has err "^two.html: 2 runs, 384 results" "both are on it"
exits 0 "a gate of a file" "$tsr" report --db fixture.db --gate gate.json -o gates.html
has err " 2 gates; " "beside that of the database"
sed 's/g-file/g-fixture/' gate.json >same.json
exits 0 "a gate of a file that the database has, too" "$tsr" report --db fixture.db --gate same.json -o same.html
has err " 1 gates; " "is one gate"
exits 0 "a gate alone" "$tsr" report --gate gate.json -o alone.html
has err "^alone.html: 0 runs, 0 results, 0 samples, 1 gates" "needs no database"

# A run of ours: the levels of its kernels are on the page, and a file of it is as good.
small_corpus
exits 0 "a run" "$tsr" bench corpus --quick --profile all --export json=run.json
exits 0 "its page" "$tsr" report
has err "^tsr-report.html: 1 runs" "is written beside where nothing else is said"
cat >check.py <<'END'
import json, re
page = open("tsr-report.html").read()
document = json.loads(re.search(r'id="report-data">(.*?)</script>', page, re.S).group(1))
kernels = {k["kernel"]: k for k in document["lowering"]["kernels"]}
assert sorted(kernels) == ["addition", "product"], kernels.keys()
k = kernels["product"]
assert k["same"] is True and "def product" in k["source"] and k["path"] == "small.tsr"
assert [l["name"] for l in k["levels"]] == ["graph", "schedule", "tile", "asm"]
line = 1 + k["source"].split("\n").index("    return x @ y")
for level in k["levels"][:3]:
    text = level["text"].split("\n")
    lit = [text[i] for i, origin in enumerate(level["lines"]) if origin == line]
    assert len(level["lines"]) <= len(text) and any({"graph": "tessera.matmul", "schedule": "sched.dot", "tile": "tile.fma"}[level["name"]] in t
                                                 or "tile.mul" in t for t in lit), (level["name"], lit)
END
exits 0 "levels with their lines" python3 check.py
exits 0 "chosen kernels" "$tsr" report --inspect 'add*/wider' -o chosen.html
has chosen.html '"kernels":\[\{"case":"wider","kernel":"addition"' "their levels are there"
exits 3 "a choice without a match" "$tsr" report --inspect nothing -o none.html
has err " nothing$" "is named"
exits 0 "a file of results" "$tsr" report run.json -o file.html
sed -i 's/x @ y/x @ y + 0.0/' corpus/small/small.tsr
exits 0 "a source that was changed since" "$tsr" report -o changed.html
has changed.html '"same":false' "is told from what was measured"

# Reports that cannot be made.
exits 3 "an unknown run" "$tsr" report --db fixture.db nosuchrun
has err "'nosuchrun'" "is named"
exits 3 "no such database" "$tsr" report --db missing.db
has err "missing.db" "is named"
sqlite() { python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])' "$@"; }
cp fixture.db empty.db
sqlite empty.db "PRAGMA foreign_keys=ON; DELETE FROM runs; DELETE FROM gates"
exits 3 "an empty database" "$tsr" report --db empty.db
has err "empty.db" "says so"
exits 3 "no database at all" env TSR_DB=nowhere.db "$tsr" report
has err "nowhere.db.*tsr bench" "says what to do"
cp fixture.db broken.db
sqlite broken.db "UPDATE results SET record = '{oops' WHERE number = (SELECT max(number) FROM results)"
exits 3 "a damaged record" "$tsr" report --db broken.db -o broken.html
has err "broken.db: the record of .* is not JSON" "is named"
[ ! -e broken.html ] && pass "and nothing is written" || fail "and nothing is written"
cp fixture.db gates.db
sqlite gates.db "UPDATE gates SET document = '[]'"
exits 3 "a damaged gate" "$tsr" report --db gates.db
has err "g-fixture.*tsr.gate/1" "is named"
head -c 300 gate.json >cut.json
exits 3 "a gate that was cut off" "$tsr" report --gate cut.json
has err "cut.json:[0-9]+: not JSON" "says where"
exits 3 "a gate of another schema" "$tsr" report --gate run.json
has err "run.json: .*tsr.gate/1.*tsr.bench/1" "says which"
exits 3 "a gate that is not there" "$tsr" report --gate nofile.json
exits 3 "results that are not there" "$tsr" report ./nofile.json
exits 3 "a folder that is not there" "$tsr" report --db fixture.db -o no/such/page.html
has err "no/such" "is named"
exits 2 "an option of another command" "$tsr" report --quick

# A program's dispatches, with the time of each and what the arena holds meanwhile; and its graph beside the source.
exits 0 "a program is timed" "$tsr" bench "$root/corpus/models/gpt.tsr" --filter gpt/small --quick --backend cpu --json --db program.db
mv out program.json
exits 0 "and on a page" "$tsr" report --db program.db -o page.html
cat >check.py <<'END'
import json, re
result = json.load(open("program.json"))["results"][0]
memory, launch = result["memory"], result["timeline"]["launch"]
dispatches = [one["what"] for one in memory["phases"] if one["what"].startswith("dispatch")]
assert len(dispatches) > 20 and [one["what"] for one in launch["phases"]] == dispatches, launch
assert 0 < sum(one["ns"] for one in launch["phases"]) <= launch["ns"], launch
live = [one["live_bytes"] for one in memory["phases"]]
assert 0 < max(live) <= memory["workspace_bytes"] <= sum(live) and memory["unplanned_workspace_bytes"] > max(live), memory
document = json.loads(re.search(r'id="report-data">(.*?)</script>', open("page.html").read(), re.S).group(1))
kernel, = document["lowering"]["kernels"]
assert [level["name"] for level in kernel["levels"]] == ["graph"] and kernel["same"] is None, kernel["same"]
END
exits 0 "each dispatch has a time and a memory" python3 check.py
finish
