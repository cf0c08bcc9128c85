#!/usr/bin/env bash
# test.sh BUILD - ci/peers runs its quickest cases: whatever library is here answers, holds, and its ratio is in the document. Times are
# not judged.
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The round with the median ratio of several is kept, with what all of them allow; a failure in any of them is one.
PYTHONPATH=$here python3 -B - <<'CHECK'
import compare


def result(ratio, status="ok", case="64"):
    beside = {"ratio": {"median": ratio, "low": ratio - 1, "high": ratio + 1}} if ratio else {}
    return {"kernel": "k", "case": case, "threads": 1, "backend": "x.so", "status": status, **({"beside": beside} if beside else {})}


rounds = [{"results": [result(ratio), result(ratio, case="128")]} for ratio in (5, 2, 3)]
rounds[1]["results"][1] = result(None, "mismatch", "128")
kept, failed = compare.combined(rounds)["results"]
assert kept["beside"]["ratio"] == {"median": 3, "low": 1, "high": 6}, kept
assert failed["status"] == "mismatch", failed

# A run in which a library takes none of the cases (5) has a document all the same; other ends have none.
import pathlib
import tempfile
import types

with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder, "tsr")
    given = types.SimpleNamespace(build=pathlib.Path(folder), kernels="k.tsr", quick=True)
    for code in (0, 1, 5, 4):
        program.write_text(f"#!/bin/sh\necho '{{}}'\nexit {code}\n")
        program.chmod(0o755)
        try:
            found = compare.bench(given, [], [], [], [1], folder)
        except SystemExit:
            found = None
        assert found == (None if code == 4 else {}), (code, found)
CHECK
for library in onednn openblas blis xsmm none; do
    [ -e "$build/peers/$library.so" ] && break
done
if [ "$library" = none ]; then
    echo "skipped: none of the libraries of ci/peers is installed (ci/peers.d/packages)"
    exit 77
fi
# Every library that is installed has its file.
while read -r library package; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && [ ! -e "$build/peers/$library.so" ]; then
        echo "$package is installed and $build/peers/$library.so was not built"
        exit 1
    fi
done <<'LIBRARIES'
openblas libopenblas-dev
onednn libdnnl-dev
blis libblis-dev
xsmm libxsmm-dev
LIBRARIES
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
python3 -B "$here/compare.py" --build "$build" --frameworks --quick --threads 1 --json >"$folder/all.json"
PYTHONPATH=$here python3 -B - "$folder/all.json" <<'CHECK'
import json
import sys

import compare

document = json.load(open(sys.argv[1]))
rows = compare.rows_of(document["results"])
assert {f"{kernel}/{case}" for kernel, case, _ in rows} <= set(compare.QUICK) and rows, rows.keys()
for row in rows.values():
    assert row["ours"]["status"] == "ok", row["ours"]
    for r in row["peers"].values():
        assert r["status"] in ("ok", "unsupported"), r
        assert ("beside" in r) == (r["status"] == "ok"), r
        if "beside" in r:
            ratio = r["beside"]["ratio"]
            assert 0 < ratio["low"] <= ratio["median"] <= ratio["high"] and r["beside"]["rounds"] >= 7, r
compared = [m for m in document["geometric_means"] if m["cases"]]
assert compared and all(m["least"] <= m["ratio"] * (1 + 1e-9) for m in compared), compared
CHECK
# Garbage is not timed: a library that computes something else ends the command with 1 and has no time.
code=0
python3 -B "$here/compare.py" --build "$build" --with "$build/peers/liar.so" --quick --threads 1 --filter 'matmul_f32/64' \
    >"$folder/out" 2>"$folder/err" || code=$?
if [ "$code" -ne 1 ] || ! grep -q 'mismatch' "$folder/out" || ! grep -q 'matmul_f32/64 by liar.so on 1: mismatch' "$folder/err"; then
    echo "a library with other numbers was not refused: exit code $code"
    cat "$folder/out" "$folder/err"
    exit 1
fi
