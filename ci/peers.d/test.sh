#!/usr/bin/env bash
# test.sh BUILD - ci/peers runs its quickest cases: whatever library is here answers, has our numbers, and its ratio is in the
# document. Times are not judged.
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for library in onednn openblas blis xsmm none; do
    [ -x "$build/peers/$library" ] && break
done
if [ "$library" = none ]; then
    echo "skipped: none of the libraries of ci/peers is installed (ci/peers.d/packages)"
    exit 77
fi
# Every library that is installed has its program.
while read -r library package; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] && [ ! -x "$build/peers/$library" ]; then
        echo "$package is installed and $build/peers/$library was not built"
        exit 1
    fi
done <<'LIBRARIES'
openblas libopenblas-dev
onednn libdnnl-dev
blis libblis-dev
xsmm libxsmm-dev
LIBRARIES
# The sign test's interval of a median: ranks 4 and 12 of 15 (96.5 %), 1 and 7 of 7 (98.4 %), and the range of too few.
PYTHONPATH=$here python3 -B - <<'CHECK'
import statistics_of

assert statistics_of.interval(range(15, 0, -1)) == (4, 12)
assert statistics_of.interval(range(1, 8)) == (1, 7)
assert statistics_of.interval([3, 1, 2]) == (1, 3)
assert abs(statistics_of.geometric_mean([1, 4, 16]) - 4) < 1e-12
CHECK
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
python3 -B "$here/compare.py" --build "$build" --quick --threads 1 --json >"$folder/all.json"
python3 -B - "$folder/all.json" "$here/cases.txt" <<'CHECK'
import json
import sys

document = json.load(open(sys.argv[1]))
results = document["results"]
quick = [line.split() for line in open(sys.argv[2]) if line.split()[-1:] == ["quick"]]
assert len(results) == len(quick) > 0 and document["refused"] == [], document
assert all("disagrees" not in r["skipped"].values() for r in results), results
compared = [r for r in results if r["ratio_to_best_peer"]]
assert compared, "no library ran anything"
for r in compared:
    ratio = r["ratio_to_best_peer"]
    assert 0 < ratio["low"] <= ratio["median"] <= ratio["high"], r
    assert r["best_peer"] in r["peers"] and r["ours"]["median"] > 0, r
    if r["fraction_of_peak"]:
        assert 0 < r["fraction_of_peak"]["median"] < 1.5, r
CHECK
# Garbage is not timed: a library that computes something else ends the command with 1 and has no time.
mkdir "$folder/build" "$folder/build/peers"
ln -s "$build/tsr" "$folder/build/tsr"
ln -s "$build/peers/ours" "$folder/build/peers/ours"
cat >"$folder/build/peers/openblas" <<'LIAR'
#!/usr/bin/env python3
import sys
print("a liar", flush=True)
for line in sys.stdin:
    print({"prepare": "ok 0", "run": "1 1 1"}.get(line.split()[0], "4096 1 " + "0 " * 64), flush=True)
LIAR
chmod +x "$folder/build/peers/openblas"
code=0
python3 -B "$here/compare.py" --build "$folder/build" --quick --threads 1 --filter 'matmul_f32/*' >"$folder/out" 2>/dev/null || code=$?
if [ "$code" -ne 1 ] || ! grep -q 'OTHER NUMBERS: openblas' "$folder/out"; then
    echo "a library with other numbers was not refused: exit code $code"
    cat "$folder/out"
    exit 1
fi
