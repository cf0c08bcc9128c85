"""faults.py TSR ROOT: damage of every kind, one at a time. No command may end with 0 because of it, each says what is wrong
and ends with the code of its kind, and what was stored before is still there.

A row of FAULTS: what is wrong; how (a function that gets the folder); the command; its exit code; words of the message.
Folders are copies of one that is sound: r1.json, r2.json (two runs of a small corpus), results.db (both runs), corpus/, and
modules/ with compiled kernels. `python3 faults.py TSR ROOT WORDS` runs only rows with these words.
"""
import copy
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

TSR, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
SECONDS = 120

GATE = ["gate", "--baseline", "file:r1.json", "--against", "file:r2.json", "--always-time"]
GATE_RUNS = ["gate", "--baseline", "run:last", "--against", "run:last", "--always-time"]
GATE_MODULES = ["gate", "--baseline", "modules:modules", "--against", "modules:other"]
DIFF = ["diff", "r1.json", "r2.json"]
REPORT = ["report", "r2.json", "-o", "page.html"]
BENCH = ["bench", "corpus", "--quick", "--backend", "interp", "--profile", "strict"]


# ---- ways to damage ----

def rewritten(change, name="r2.json"):
    """The document, changed."""
    def damage(folder):
        path = folder / name
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
    return damage


def every_time(**values):
    def change(document):
        for result in document["results"]:
            if result["time_ns"]:
                result["time_ns"].update(values)
    return rewritten(change)


def every_result(**values):
    return rewritten(lambda d: [r.update(values) for r in d["results"]])


def without(key):
    return rewritten(lambda d: [r.pop(key, None) for r in d["results"]])


def text(content, name="r2.json"):
    def damage(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return damage


def replaced(old, new, name="r2.json"):
    def damage(folder):
        content = (folder / name).read_text()
        assert old in content, old
        (folder / name).write_text(content.replace(old, new))
    return damage


def cut(name, share):
    def damage(folder):
        path = folder / name
        content = path.read_bytes()
        path.write_bytes(content[:int(len(content) * share)])
    return damage


def flipped(name, share):
    def damage(folder):
        path = folder / name
        content = bytearray(path.read_bytes())
        content[int(len(content) * share)] ^= 0x40
        path.write_bytes(bytes(content))
    return damage


def sql(*statements):
    def damage(folder):
        with sqlite3.connect(folder / "results.db") as db:
            for statement in statements:
                db.execute(statement)
        db.close()
    return damage


def gone(name):
    def damage(folder):
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return damage


def folder_instead(name):
    def damage(folder):
        (folder / name).unlink()
        (folder / name).mkdir()
    return damage


def twice(document):
    document["results"] += copy.deepcopy(document["results"])


def renamed(document):
    for result in document["results"]:
        result["kernel"] = "other_" + result["kernel"]


def both(*ways):
    return lambda folder: [way(folder) for way in ways]


def other_modules(damage):
    """modules/ and, damaged, other/."""
    def way(folder):
        shutil.copytree(folder / "modules", folder / "other")
        damage(folder)
    return way


MODULE = "other/addition-tiny.tsrm"

# Damage to result files, with what their readers say of each kind.
FILES = [
    ("cut short", cut("r2.json", 0.5), 3, "r2.json"),
    ("empty", text(""), 3, "r2.json"),
    ("no JSON", text(b"\x7fELF\x02\x01\x01" + bytes(200)), 3, "r2.json"),
    ("not UTF-8", text(b'{"schema": "tsr.bench/1", "run": "\xff"}'), 3, "r2.json"),
    ("of another kind", rewritten(lambda d: d.update(schema="tsr.gate/1")), 3, "tsr.gate/1"),
    ("of no kind", rewritten(lambda d: d.pop("schema")), 3, "r2.json"),
    ("of a newer tsr", rewritten(lambda d: d.update(schema="tsr.bench/2")), 3, "tsr.bench/2"),
    ("a list", text("[1, 2]"), 3, "r2.json"),
    ("nested without end", text("[" * 100000), 3, "r2.json"),
    ("without results", rewritten(lambda d: d.pop("results")), 3, "results"),
    ("whose results are text", rewritten(lambda d: d.update(results="many")), 3, "results"),
    ("whose results are numbers", rewritten(lambda d: d.update(results=[1, 2])), 3, "result"),
    ("without kernels' names", without("kernel"), 3, "kernel"),
    ("whose status is a number", every_result(status=7), 3, "status"),
    ("with threads in words", every_result(threads="two"), 3, "threads"),
    ("a time that is NaN", every_time(median=float("nan")), 3, "r2.json"),
    ("a time that is infinite", replaced('"median": ', '"median": 1e999, "was": '), 3, "r2.json"),
    ("a time that is negative", every_time(median=-5.0), 3, "time_ns"),
    ("a time of zero", every_time(median=0.0), 3, "time_ns"),
    ("a time in words", every_time(median="fast"), 3, "time_ns"),
    ("an interval that is negative", every_time(low=-1.0), 3, "time_ns"),
    ("results that come twice", rewritten(twice), 3, "twice"),
    ("begun in the future", rewritten(lambda d: d.update(started="2999-01-01T00:00:00Z")), 3, "has not come yet"),
    ("begun at no time", rewritten(lambda d: d.update(started="yesterday")), 3, "started"),
    ("a folder", folder_instead("r2.json"), 3, "r2.json"),
    ("gone", gone("r2.json"), 3, "r2.json"),
    ("of other cases", rewritten(renamed), 5, ""),
    ("without any case", rewritten(lambda d: d.update(results=[])), (3, 5), ""),
]

FAULTS = [(f"gate: a file {what}", how, GATE, code, words) for what, how, code, words in FILES]
FAULTS += [(f"diff: a file {what}", how, DIFF, code, words) for what, how, code, words in FILES]
FAULTS += [(f"report: a file {what}", how, REPORT, code, words) for what, how, code, words in FILES
           if what not in ("of other cases", "without any case")]

# Damage to the database, and the commands that read it.
DATABASES = [
    ("foreign", text("a letter to a friend, which is no database " * 200, "results.db"), 3, "not a readable database"),
    ("of a newer tsr", sql("PRAGMA user_version = 99"), 3, "newer tsr"),
    ("without the column of records", sql("ALTER TABLE results DROP COLUMN record"), 3, "results.db"),
    ("without its table of results", sql("PRAGMA foreign_keys = OFF", "DROP TABLE results"), 3, "results.db"),
    ("a folder", folder_instead("results.db"), 3, "results.db"),
    ("cut short", cut("results.db", 0.4), 3, "results.db"),
]
READERS = [("log", ["log", "last"]), ("diff", ["diff", "last", "r1.json"]), ("gate", GATE_RUNS),
           ("report", ["report", "last", "-o", "page.html"]), ("bench", BENCH)]
FAULTS += [(f"{name}: a database {what}", how, command, code, words)
           for what, how, code, words in DATABASES for name, command in READERS]
FAULTS += [(f"{name}: a database whose records are no JSON", sql("UPDATE results SET record = '{'"), command, 3, "results.db")
           for name, command in READERS[:4]]
FAULTS += [(f"{name}: a database whose records are numbers", sql("UPDATE results SET record = '12'"), command, 3, "results.db")
           for name, command in READERS[:4]]
FAULTS += [(f"{name}: a database whose run has no head", sql("UPDATE runs SET head = 'x'"), command, 3, "")
           for name, command in READERS[1:4]]
FAULTS += [
    ("log: no such run", lambda folder: None, ["log", "nosuch"], 3, "nosuch"),
    ("diff: no such run", lambda folder: None, ["diff", "nosuch", "last"], 3, "nosuch"),
    ("log: the start of two runs", lambda folder: None, ["log", "2"], 3, "is the start of 2 runs"),
    ("log --history: a clock that went back, and no time", sql(
        "UPDATE runs SET started = '1999-01-01T00:00:00Z' WHERE number = 2", "UPDATE results SET median_ns = -1"),
     ["log", "--history", "--check"], 5, "clock-jump"),
    ("bench: a locked database", "locked", BENCH, 4, "another tsr holds the database"),
    ("gate: no such baseline", lambda folder: None, ["gate", "--baseline", "nosuch", "corpus"], 3, "'nosuch' is no file"),
    ("gate: a module with one wrong bit", other_modules(flipped(MODULE, 0.5)), GATE_MODULES, 3, MODULE),
    ("gate: a module cut short", other_modules(cut(MODULE, 0.7)), GATE_MODULES, 3, MODULE),
    ("gate: an empty module", other_modules(text("", MODULE)), GATE_MODULES, 3, MODULE),
    ("gate: a text as a module", other_modules(text("hello\n", MODULE)), GATE_MODULES, 3, MODULE),
    ("gate: no modules", other_modules(both(gone("other"), lambda f: (f / "other").mkdir())), GATE_MODULES, 3, "other"),
    ("gate: a module of another case", other_modules(
        lambda f: (f / MODULE).write_bytes((f / "modules/product-tiny.tsrm").read_bytes())), GATE_MODULES, (1, 3, 5), ""),
    ("bench: sources that do not compile", replaced("return x + y", "return x +", "corpus/small/small.tsr"), BENCH, 3, "small.tsr"),
    ("bench: no sources", gone("corpus"), BENCH, 3, "corpus"),
    ("bench: a golden cut short", cut("golden/small/addition/tiny.json", 0.5), BENCH, 3, "tiny.json"),
    ("bench: a golden of wrong bits", replaced('"sha256": "', '"sha256": "0', "golden/small/addition/tiny.json"), BENCH, (1, 3), "tiny"),
    ("bench: an export nowhere", lambda folder: None, BENCH + ["--export", "csv=no/such/folder/x.csv"], 3, "no/such/folder"),
    ("bench: an export of a full disk", lambda folder: None, BENCH + ["--export", "csv=/dev/full"], 4, "/dev/full"),
    ("report: a page of a full disk", lambda folder: None, ["report", "r1.json", "-o", "/dev/full"], 4, "/dev/full"),
    ("doctor: a full disk", lambda folder: None, ["doctor", "--facts", "--json", ">/dev/full"], 4, ""),
]


# ---- running them ----

def run(folder, command, **more):
    env = {**os.environ, "TSR_DB": str(folder / "results.db"), "TSR_CACHE": str(folder.parent / "cache")}
    if command[-1].startswith(">"):
        more["stdout"] = open(command[-1][1:], "w")
        command = command[:-1]
    else:
        more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([TSR, *command], cwd=folder, stderr=subprocess.PIPE, env=env, text=True, errors="replace",
                          timeout=SECONDS, stdin=subprocess.DEVNULL, check=False, **more)


def make_sound(folder):
    folder.mkdir()
    shutil.copytree("corpus", folder / "corpus")
    for number in (1, 2):
        made = run(folder, ["bench", "corpus", "--quick", "--backend", "interp,cpu", "--profile", "strict", "--threads", "1",
                            "--export", f"json=r{number}.json"])
        assert made.returncode == 0, made.stderr
        time.sleep(1.1)  # runs are named by the second
    assert run(folder, ["golden", "record", "corpus"]).returncode == 0
    (folder / "modules").mkdir()
    for kernel in ("addition", "product"):
        made = run(folder, ["compile", "corpus/small/small.tsr", "--kernel", kernel, "--case", "tiny", "--threads", "1", "--emit",
                            "module", "-o", f"modules/{kernel}-tiny.tsrm"])
        assert made.returncode == 0, made.stderr
    with sqlite3.connect(folder / "results.db") as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")
    db.close()


def state_of(folder):
    """All files but the database, by their digests."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*"))
            if p.is_file() and not p.name.startswith("results.db")}


def rows_of(folder):
    """Returns what the database holds, or its bytes where it is none."""
    path = folder / "results.db"
    if not path.is_file():
        return None
    rows = []
    for table, key in (("runs", "number"), ("results", "run")):
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
                rows.append(list(db.execute(f"SELECT * FROM {table} WHERE {key} <= 2")))
            db.close()
        except sqlite3.Error as error:
            if "no such table" not in str(error):
                return path.read_bytes()
    return rows


def lock(folder):
    db = sqlite3.connect(folder / "results.db", isolation_level=None)
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("BEGIN EXCLUSIVE")
    return db


def complaint(folder, fault):
    _, how, command, codes, words = fault
    holder = None
    if how == "locked":
        holder = lock(folder)
    else:
        how(folder)
    files, rows = state_of(folder), rows_of(folder) if not holder else None
    try:
        done = run(folder, command)
    except subprocess.TimeoutExpired:
        return f"hangs for {SECONDS} s"
    if holder:
        holder.close()
    said = done.stderr + (done.stdout or "")
    codes = codes if isinstance(codes, tuple) else (codes,)
    if done.returncode not in codes:
        return f"exit {done.returncode}, not {' or '.join(map(str, codes))}: {said.strip()[-300:]}"
    if words not in said:
        return f"does not say '{words}': {said.strip()[-300:]}"
    if not done.stderr.strip() and done.returncode != 5 and not said.strip():
        return "says nothing"
    after = state_of(folder)
    lost = [name for name in files if after.get(name) != files[name]]
    if lost:
        return f"changed {', '.join(lost)}"
    if rows is not None and rows_of(folder) != rows:
        return "what the database held is not what it holds"
    return None


def main():
    wrong = 0
    here = pathlib.Path.cwd()
    make_sound(here / "sound")
    chosen = [f for f in FAULTS if ONLY in f[0]]
    if os.environ.get("TSR_SHORT"):  # under a sanitizer, where each takes seconds
        chosen = chosen[::3]
    for number, fault in enumerate(chosen):
        folder = here / f"fault{number}"
        shutil.copytree(here / "sound", folder)
        why = complaint(folder, fault)
        print(f"{'NOT OK' if why else 'ok'} - {fault[0]}{': ' + why if why else ''}", flush=True)
        wrong += why is not None
        shutil.rmtree(folder)
    print(f"{len(chosen)} faults, {wrong} not caught")
    return wrong > 0 or (not ONLY and len(chosen) < 40)


sys.exit(main())
