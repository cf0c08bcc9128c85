# test_cli_cheats_with.sh - every way to cheat (cheats/cheats.def) as a function of a shared object: none passes, each is refused for what it
# does, honest ones hold, and what harms its own process alone gains nothing.
source "$(dirname "$0")/lib.sh"
cheats=$(dirname "$tsr")/harness/test_cheats.so
if [ ! -e "$cheats" ]; then
    echo "skipped: the kernels that cheat are written for x86-64"
    exit 77
fi
cat >k.tsr <<'END'
from tessera import *


@cases(case("square", M=16, N=16, K=16))
@kernel
def product(a: Tensor["M", "K", f32], b: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:
    return a @ b
END
cat >cheats.py <<'END'
import json, re, subprocess, sys

tsr, library, table_file = sys.argv[1:]
# Where it can show, as (status, what is said of it).
PLACES = {
    "outputs": ("mismatch|crash", r"output|died of signal"),
    "surroundings": ("mismatch|crash", r"past its end|before its beginning|died of signal"),
    "inputs": ("mismatch", r"wrote to its input|was written to"),
    "contents": ("mismatch", r"kept by the contents of inputs"),
    "cores": ("mismatch", r"more threads computed than --threads gives it"),
    "processes": ("mismatch", r"a process that it started went on computing"),
    "ring": ("error", r"counts calls that it was not given"),
}
table = {}
for line in open(table_file):
    row = re.match(r'(?:KERNEL\((\w+), \d+, "[^"]*"|FUNCTION\((\w+)), "([^"]*)", "([^"]*)"\)$', line)
    if row:
        table[row[1] or row[2]] = row[3]
assert len(table) > 50, table
command = [tsr, "bench", "k.tsr", "--quick", "--threads", "1", "--db", "r.db", "--failures", "packs", "--json"]
for symbol in table:
    command += ["--with", f"{library}:shared_{symbol}=product"]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
assert done.returncode == 1, (done.returncode, done.stderr)
wrong = []
for r in json.loads(done.stdout)["results"]:
    symbol = r["backend"].split(":shared_")[-1]
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
END
exits 0 "none passes, and honest ones do" python3 -B cheats.py "$tsr" "$cheats" "$root/harness/test/cheats/cheats.def"
finish
