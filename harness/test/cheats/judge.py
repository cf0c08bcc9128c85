#!/usr/bin/env python3
"""judge.py TSR FILE PREFIX HONEST KIND... - each line of cheats.def of these kinds, as the function PREFIX + symbol of a file, before
tsr bench, tsr gate (beside the honest function of that name in HONEST) and tsr check: the result of each is what the table says.
Works in the folder where it stands. Where others keep the machine busy a call can take so long that a group has few launches, in which some lines do all of
their work, or longer than --timeout: a line that is not so is judged again, by itself, and counts where it is not so three times. Prints each time, and ends
with 1 where a line counts. In the short form tsr bench has every line, and the others one of each kind of what shows."""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys

tsr, file, prefix, honest, *kinds = sys.argv[1:]
# Places where a cheat can show, as (status, what is said of it).
PLACES = {
    "outputs": ("mismatch|crash", r"output|died of signal"),
    "surroundings": ("mismatch|crash", r"past its end|before its beginning|died of signal"),
    "inputs": ("mismatch", r"wrote to its input|was written to"),
    "contents": ("mismatch", r"kept by the contents of inputs"),
    "cores": ("mismatch", r"more threads computed than --threads gives it"),
    "processes": ("mismatch", r"a process that it started went on computing"),
    "scheduling": ("mismatch", r"is scheduled was changed"),
    "ring": ("error", r"counts calls that it was not given"),
    "refused": ("error", r"Operation not permitted|Permission denied|No such process|No such file or directory"),
    "raises": ("error", r"read-only memory"),
    "ends": ("crash", r"ended its process with code 0"),
    "killed": ("crash", r"killed by SIGKILL|died of signal 9"),
}
# Places that tsr check sees: it asks for no outputs but for the same ones again.
BESIDE = {"surroundings", "inputs", "cores", "processes"}
TRIES = 3
# Reasons of the gate, where a side does not hold.
FAILURES = {"mismatch", "newly-failing", "baseline-fails"}
ONE = '''

@cases(case("square"{}))
@kernel
def {}(a: Tensor[{}, f32], b: Tensor[{}, f32]) -> Tensor[{}, f32]:
    return a @ b
'''


def guests_are_apart():
    told = subprocess.run([tsr, "doctor", "--facts", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return any(f["check"] == "guest-namespaces" and f["state"] == "ok" for f in json.loads(told)["facts"])


def rows():
    """Reads what each line of cheats.def shows here."""
    apart = guests_are_apart()
    table = {}
    for line in (pathlib.Path(__file__).parent / "cheats.def").read_text().splitlines():
        row = re.match(r'(\w+)\((\w+), (?:\d+, "[^"]*", )?"([^"]*)", "[^"]*"\)$', line)
        if not row or row[1] not in kinds or (row[3] == "apart" and not apart):
            continue
        table[row[2]] = "" if apart and "apart" in row[3].split() else row[3].removesuffix(" apart")
    assert table, kinds
    return table


def run(*words, environment=None):
    done = subprocess.run([tsr, *words, "--threads", "1", "--json"], env=dict(os.environ, **(environment or {})), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    try:
        return done.returncode, json.loads(done.stdout)["results"]
    except ValueError:
        sys.exit(f"{words[0]}: exit {done.returncode}: {done.stderr}")


def is_refused(shows, status, why):
    """For what it does, by one of the places of the table."""
    return any(re.fullmatch(PLACES[p][0], status) and re.search(PLACES[p][1], why) for p in shows.split() if p in PLACES)


def bench(table):
    one = pathlib.Path("one.tsr")
    one.write_text("from tessera import *" + ONE.format(", M=16, N=16, K=16", "product", '"M", "K"', '"K", "N"', '"M", "N"'))
    columns = [w for symbol in table for w in ("--with", f"{file}:{prefix}{symbol}=product")]
    code, results = run("bench", "one.tsr", "--quick", "--timeout", "30", "--db", "r.db", "--failures", "packs", *columns)
    assert code == any(r["status"] != "ok" for r in results), code
    for r in results:
        symbol = r["backend"].split(":")[-1].removeprefix(prefix)
        shows, why = table.get(symbol, ""), r["why"] or ""
        good = r["status"] == "ok" if shows in ("", "own") else is_refused(shows, r["status"], why)
        yield symbol, good or "short" in shows.split() and r["status"] in ("ok", "mismatch"), f"{r['status']}: {why}"


def only(table):
    return "--filter", ",".join(prefix + symbol for symbol in table)


def gate(table, pairs=1):
    """Judges by the gate: a failure's words are its side's, without a status of its own. After several pairs a machine too busy to tell will do."""
    _, results = run("gate", "many.tsr", "--with", honest, "--against", file, "--pairs", str(pairs), "--timeout", "30", *only(table))
    for r in results:
        symbol, why = r["kernel"].removeprefix(prefix), r["why"] or ""
        found = r["reason"] in FAILURES
        shows = table.get(symbol, "")
        good = not found if shows in ("", "own") else found and any(re.search(PLACES[p][1], why) for p in shows.split() if p in PLACES)
        busy = pairs > 1 and r["verdict"] == "INCONCLUSIVE"
        yield symbol, good or busy or "short" in shows.split(), f"{r['verdict']}, {r['reason']}: {why}"


def check(table):
    _, results = run("check", "many.tsr", "--with", file, "--relation", "repetition,memory", "--timeout", "30", "--failures", "packs", *only(table))
    for r in results:
        symbol = r["kernel"].removeprefix(prefix)
        shows = set(table.get(symbol, "").split())
        violated, failed = r["verdict"] == "violated", r["verdict"] == "not verified" and r["place"] is not None
        good = not (violated or failed) if shows <= {"own"} else True
        if r["relation"] == "memory" and shows & BESIDE and not shows & {"short", "outputs"}:
            good = violated or failed
        yield symbol, good, f"{r['relation']} {r['verdict']}: {r['why'] or (r['example'] or {}).get('between')}"


def end_others_together():
    """Without namespaces it ends the other side, which is said, and no time is."""
    _, results = run("gate", "many.tsr", "--with", honest, "--against", file, "--pairs", "1", "--timeout", "30", "--filter", prefix + "ends_others",
                     environment={"TESSERA_GUESTS": "together"})
    return [r for r in results if r["reason"] not in FAILURES]


def one_of_each(table):
    """The first line of each kind of what shows."""
    return dict({shows: (symbol, shows) for symbol, shows in reversed(table.items())}.values())


def wrong_lines(judge, table):
    """Returns, by symbol, what is not as the table says."""
    wrong = {symbol: f"{symbol}: no result" for symbol in table}
    for symbol, good, told in judge(table):
        if symbol not in table or (good and wrong.get(symbol, "").endswith(": no result")):
            wrong.pop(symbol, None)
        if symbol in table and not good:
            wrong[symbol] = f"{symbol} ({table[symbol] or 'honest'}): {told}"
    return wrong


def main():
    table = rows()
    pathlib.Path("many.tsr").write_text("from tessera import *" + "".join(
        ONE.format("", prefix + symbol, "16, 16", "16, 16", "16, 16") for symbol in table))
    counted = []
    for judge in (bench, gate, check):
        # The full form takes gate and check through every line: they start two processes and more for each, and find it by the same means.
        left = one_of_each(table) if os.environ.get("TSR_SHORT") and judge is not bench else dict(table)
        for attempt in range(TRIES):
            wrong = wrong_lines(judge if attempt == 0 or judge is not gate else functools.partial(gate, pairs=6), left)
            for told in wrong.values():
                print(f"{judge.__name__}, time {attempt + 1}: {told}")
            left = {symbol: table[symbol] for symbol in wrong}
            if not left:
                break
        counted.extend(left)
    if "ends_others" in table and end_others_together():
        print("ends_others: a verdict where the other side was ended")
        counted.append("ends_others")
    sys.exit(bool(counted))


main()
