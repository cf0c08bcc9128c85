#!/usr/bin/env python3
"""judge.py TSR FILE PREFIX KIND... - in a folder with k.tsr: each line of cheats.def of these kinds, as the function PREFIX + symbol of
a file, runs as an implementation, and its result is what the table says. Prints what is not."""
import json
import pathlib
import re
import subprocess
import sys

tsr, file, prefix, *kinds = sys.argv[1:]
# Where it can show, as (status, what is said of it).
PLACES = {
    "outputs": ("mismatch|crash", r"output|died of signal"),
    "surroundings": ("mismatch|crash", r"past its end|before its beginning|died of signal"),
    "inputs": ("mismatch", r"wrote to its input|was written to"),
    "contents": ("mismatch", r"kept by the contents of inputs"),
    "cores": ("mismatch", r"more threads computed than --threads gives it"),
    "processes": ("mismatch", r"a process that it started went on computing"),
    "scheduling": ("mismatch", r"is scheduled was changed"),
    "ring": ("error", r"counts calls that it was not given"),
    "refused": ("error", r"Operation not permitted|Permission denied"),
    "raises": ("error", r"read-only memory"),
    "ends": ("crash", r"ended its process with code 0"),
    "killed": ("crash", r"killed by SIGKILL"),
}
table = {}
for line in (pathlib.Path(__file__).parent / "cheats.def").read_text().splitlines():
    row = re.match(r'(\w+)\((\w+), (?:\d+, "[^"]*", )?"([^"]*)", "[^"]*"\)$', line)
    if row and row[1] in kinds:
        table[row[2]] = row[3]
assert table, kinds
command = [tsr, "bench", "k.tsr", "--quick", "--threads", "1", "--timeout", "30", "--db", "r.db", "--failures", "packs", "--json"]
for symbol in table:
    command += ["--with", f"{file}:{prefix}{symbol}=product"]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
assert done.returncode == any(shows not in ("", "own") for shows in table.values()), (done.returncode, done.stderr)
wrong = []
for r in json.loads(done.stdout)["results"]:
    symbol = r["backend"].split(":")[-1].removeprefix(prefix)
    shows, why = table.pop(symbol, ""), r["why"] or ""
    if shows in ("", "own"):
        good = r["status"] == "ok"
    else:
        good = any(re.fullmatch(PLACES[p][0], r["status"]) and re.search(PLACES[p][1], why) for p in shows.split() if p in PLACES)
        good |= "short" in shows.split() and r["status"] in ("ok", "mismatch")
    if not good:
        wrong.append(f"{symbol} ({shows or 'honest'}): {r['status']}: {why}")
assert not table, f"no result: {table}"
print("\n".join(wrong))
sys.exit(bool(wrong))
