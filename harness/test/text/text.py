"""text.py TSR ROOT WRITE_PACK [WORDS]: hostile text wherever text comes from elsewhere: packs, result files, databases, names
of files, sources, the environment, the command line. Whatever the program says about it, on stdout, stderr and in exports, is
UTF-8, moves no cursor, begins no line that it does not own, gives a CI system no order, and is not too long; and the program
ends by itself with one of its codes.

A row of CASES: what, a function that gets the folder and a hostile text and returns command lines, each a list of words, or a
pair of such a list and its environment. Rows are tried with a text that has everything, some with a long one or one of
ordinary letters, too; with WORDS only rows that have these words are, and with all texts.
"""
import copy
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile

TSR, ROOT, WRITE_PACK = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3])
ONLY = sys.argv[4] if len(sys.argv) > 4 else ""
SHORT = bool(os.environ.get("TSR_SHORT"))
SECONDS, LINE_BYTES = 120, 40000

# "0wned" stands where a line, or an order, would begin if it were not escaped.
HOSTILE = {
    "escapes": "a\x1b[2J\x1b]0;0wned\x07\x1b[31mb\x9b2Jc\x7f",
    "lines": "a\n0wned\r\n::error file=x,line=1::0wned\n##[error]0wned\r0wned",
    "orders": "::error::0wned ##[error]x ##vso[task.setvariable]x",
    "directions": "a\u202egnp.exe\u2066b\u200b\u2028c\ufeff",
    "formats": "%s%n%99999d\\x1b{}$(id)`id`';--<script>|&",
    "umlaut": "Gr\u00f6\u00dfe \u65e5\u672c \U0001f600",
    "bytes": "a\udcff\udc9b2J\udcc3",  # no UTF-8: os.fsencode makes \xff of \udcff
    "long": "L" * (3 << 20),
}
ROOM_FOR_LONG = 1 << 30  # bytes of a file of texts of 3 MiB
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
HOSTILE = {"everything": HOSTILE["escapes"] + HOSTILE["lines"] + HOSTILE["orders"] + HOSTILE["directions"], **HOSTILE}
ORDER = re.compile(r"##(\[|vso|[a-z]+\[)")
OUR_ORDER = re.compile(r"::(error|warning|notice)( [^:\n]*)?::")
CODES = {0, 1, 2, 3, 4, 5}

KERNEL = '''from tessera import *


@cases(case("tiny", M=3))
@kernel
def addition(x: Tensor["M", f32]) -> Tensor["M", f32]:
    """x + x."""
    return x + x
'''


def complaints(out, err, where):
    for name, data in (("stdout", out), ("stderr", err)):
        try:
            words = data.decode("utf-8")
        except UnicodeDecodeError as error:
            yield f"{name} is not UTF-8: {error}"
            continue
        for line in words.split("\n"):
            if HIDDEN.search(line):
                yield f"{name}: {HIDDEN.search(line)[0]!r} in {line[:200]!r}"
            if line.startswith("0wned") and where != "export":
                yield f"{name}: a line that is not ours: {line[:200]!r}"
            if line.lstrip().startswith("::") and not (where == "actions" and OUR_ORDER.match(line)):
                yield f"{name}: an order: {line[:200]!r}"
            if ORDER.search(line):
                yield f"{name}: an order: {line[:200]!r}"
            if len(line) > LINE_BYTES and not line.lstrip().startswith(('"', "{")):
                yield f"{name}: a line of {len(line)} characters: {line[:80]!r}"


# ---- where text comes from ----

def in_results(change):
    """A result file, and a database with the same run, whose texts are `change`d."""
    def make(folder, hostile):
        document = json.loads((folder / "run.json").read_text())
        change(document, hostile)
        (folder / "bad.json").write_text(json.dumps(document))
        database = sqlite3.connect(folder / "results.db")
        head = copy.deepcopy(document)
        results, run = head.pop("results"), head["run"]
        head.pop("ceilings")
        database.execute("UPDATE runs SET id = ?, started = ?, machine = ?, head = ?",
                         (run, head["started"], head["host"]["cpu"], json.dumps(head)))
        rows = [row[0] for row in database.execute("SELECT number FROM results ORDER BY number")]
        for number, result in zip(rows, results):
            key = f"{result['kernel']}/{result['case']}@{result['backend']},{result['profile']},{result['threads']}"
            database.execute("UPDATE OR REPLACE results SET key = ?, status = ?, record = ? WHERE number = ?",
                             (key, result["status"], json.dumps(result), number))
        database.execute("UPDATE ceilings SET resource = ? || resource WHERE resource LIKE 'compute%'", (hostile,))
        database.commit()
        database.close()
        exports = [f"--export={form}=out.{form}" for form in ("csv", "junit", "openmetrics", "jsonl", "gbench", "lnt", "trace")]
        return [["log"], ["log", "last"], ["log", "last", "--json"], ["log", "last", *exports], ["log", "--history"],
                ["roofline", "last"], ["diff", "run.json", "bad.json"], ["diff", "bad.json", "bad.json", "--json"],
                ["diff", "last", "run.json"], ["report", "bad.json", "-o", "page.html"], ["report", "last", "-o", "page.html"],
                ["gate", "--baseline", "file:run.json", "--against", "file:bad.json"],
                (["gate", "--baseline", "file:run.json", "--against", "file:bad.json", "--allow", "missing,new"],
                 {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": "summary.md"}),
                ["pack-repro"], ["pack-repro", "last:addition/tiny"], ["bench", "corpus", "--quick", "--last-failed"]]
    return make


def results_named(*names):
    def change(document, hostile):
        for result in document["results"]:
            result.update({name: hostile for name in names})
    return change


def failing(document, hostile):
    for result in document["results"]:
        result.update(status="mismatch", why=hostile, pack=hostile)


def head_of(document, hostile):
    document["run"] = document["started"] = hostile
    document["host"].update(cpu=hostile, os=hostile, isa=hostile)
    document["tsr"].update(version=hostile, commit=hostile)


def json_error(folder, hostile):
    for name in ("bad.json", ".tsr/bisect.json", "tally.json", "tuned.jsonl"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b'{"schema": ' + hostile.encode() + b"}")
    return [["diff", "bad.json", "run.json"], ["report", "bad.json"], ["report", "--gate", "bad.json"],
            ["gate", "--baseline", "file:bad.json", "--against", "file:run.json"], ["fuzz", "--kernels", "1", "--tally", "tally.json"],
            ["tune", "--show", "*", "--tuned", "tuned.jsonl"], ["bisect-perf", "--resume"]]


def in_manifest(change, *members):
    def make(folder, hostile):
        manifest = json.loads((folder / "about.json").read_text())
        change(manifest, hostile)
        words = [*members] or [f"source/small.tsr={folder}/corpus/small.tsr"]
        (folder / "bad.json").write_text(json.dumps(manifest))
        made = subprocess.run([WRITE_PACK, "bad.pack", "bad.json", *words], cwd=folder, capture_output=True)
        return [["replay", "bad.pack"], ["replay", "bad.pack", "--json"]] if made.returncode == 0 else []
    return make


def put(*path):
    def change(manifest, hostile):
        for part in path[:-1]:
            manifest = manifest[part]
        manifest[path[-1]] = hostile
    return change


def add_key(manifest, hostile):
    manifest["case"][hostile[:100]] = 1


def raw_manifest(words):
    """The manifest is no JSON, or not that of a pack."""
    def make(folder, hostile):
        (folder / "bad.json").write_text(words.replace("HERE", hostile)[:3 << 20])
        subprocess.run([WRITE_PACK, "bad.pack", "bad.json"], cwd=folder, check=True)
        return [["replay", "bad.pack"], ["replay", "bad.pack", "--json"]]
    return make


def file_name(hostile, suffix=""):
    return os.fsdecode(os.fsencode(hostile.replace("/", "-"))[:150]) + suffix


def named_corpus(folder, hostile):
    place = folder / file_name(hostile)
    place.mkdir()
    source = str(place / file_name(hostile, ".tsr"))
    shutil.copy(folder / "corpus" / "small.tsr", source)
    broken = str(folder / file_name(hostile, ".broken.tsr"))
    pathlib.Path(broken).write_text(KERNEL.replace("x + x", "x + z"))
    quick = ["--quick", "--backend", "cpu,interp", "--profile", "strict"]
    return [["bench", broken], ["lint", broken], ["compile", broken], ["golden", "list", broken],
            ["bench", str(place), *quick], ["bench", str(place), *quick, "--inject", "zero", "--failures", str(place / "packs")],
            (["bench", str(place), *quick, "--inject", "zero", "--failures", str(place / "packs")], {"GITHUB_ACTIONS": "true"}),
            ["golden", "record", str(place), "--json"], ["golden", "list", str(place)], ["golden", "verify", str(place)],
            ["lint", str(place)], (["lint", str(place), "--strict"], {"GITHUB_ACTIONS": "true"}),
            ["compile", source, "--emit", "tile"], ["compile", source, "--emit", "module", "-o", source + ".tsrm"],
            ["run", source, "--in", "x.npy", "--out", str(place)], ["run", source + ".tsrm", "--in", "x.npy", "--out", str(place)],
            ["pack-repro", "addition", "--case", "tiny", str(place)], ["diff", "last:cpu", "last:interp"],
            ["pack-repro", "addition", "--case", "tiny", "-o", str(place / file_name(hostile, ".pack")), "corpus"],
            ["replay", str(place / file_name(hostile, ".pack"))], ["report", "-o", str(place / "page.html")],
            ["tune", str(place), "--budget", "1"], ["fuzz", "--schedules", "1", str(place)]]


def missing_files(folder, hostile):
    name = file_name(hostile)
    (folder / (name + ".pack")).write_bytes(b"no pack")
    return [["replay", name + ".pack"], ["replay", name + ".pack", "--json"],
            ["bench", name], ["compile", name], ["run", name], ["replay", name], ["diff", name, name], ["lint", name],
            ["diff", name + ".npy", "x.npy"], ["run", "corpus/small.tsr", "--in", name], ["report", name], ["log", "--db", name],
            ["run", "corpus/small.tsr", "--in", "x.npy", "--out", "x.npy/" + name], ["tune", "--import", name],
            ["gate", "--baseline", name], ["gate", "--baseline", "file:" + name, "--against", "file:run.json"],
            ["bench", "corpus", "--export", "csv=" + name + "/x"], ["bench", "corpus", "--golden", name, "--quick"]]


def hostile_source(folder, hostile):
    lines = hostile.replace('"', "'")[:20000]
    (folder / "bad.tsr").write_text(KERNEL + f"\n# {lines}\nX = \"{lines}\"\n@kernel\ndef {lines}(:\n", newline="", errors="surrogateescape")
    (folder / "worse.tsr").write_text(KERNEL.replace('"tiny"', f'"{lines}"').replace("return x + x", f"return {lines}"), newline="",
                                      errors="surrogateescape")
    return [["bench", "bad.tsr"], ["compile", "bad.tsr"], ["lint", "bad.tsr"], ["lint", "worse.tsr", "--json"],
            ["compile", "worse.tsr"], ["run", "worse.tsr", "--in", "x.npy"]]


def words_of_a_line(folder, hostile):
    word = hostile[:30000]
    return [[word], ["bench", word], ["bench", "--" + word], ["bench", "--backend", word], ["bench", "--profile", word],
            ["bench", "--isa", word], ["bench", "--threads", word], ["bench", "--export", word], ["bench", "--inject", word],
            ["bench", "--filter", word, "corpus", "--quick"], ["bench", "--schedule", word, "corpus", "--quick"],
            ["bench", "--color", word], ["bench", "--seed", word], ["compile", "corpus/small.tsr", "--emit", word],
            ["compile", "corpus/small.tsr", "--emit-after", word], ["compile", "corpus/small.tsr", "--kernel", word],
            ["compile", "corpus/small.tsr", "--case", word], ["compile", "corpus/small.tsr", "--schedule", word],
            ["compile", "corpus/small.tsr", "--generic", "--specialize", word, "--emit", "module", "-o", "o"],
            ["run", "corpus/small.tsr", "--in", word + "=x.npy"], ["log", word], ["log", "--since", word, "--history"],
            ["log", "--history", word], ["diff", word, word], ["diff", "--type", word, "x.npy", "x.npy"], ["golden", word],
            ["gate", "--baseline", word], ["gate", "--baseline", "last", "--allow", word], ["gate", "--baseline", "last", "--counters", word],
            ["roofline", word], ["report", word], ["help", word], ["completion", word], ["pack-repro", word],
            ["pack-repro", word, "--case", word, "corpus"], ["pack-repro", word + ":" + word], ["tune", "--show", word],
            ["fuzz", word], ["fuzz", "--seed", word], ["bisect-perf", word, word], ["lint", "--export", word], ["devices", word],
            ["explain", word]]


def environment(folder, hostile):
    value = file_name(hostile)
    names = ("TSR_DB", "TSR_TUNED", "TESSERA_BACKEND", "TESSERA_ISA", "COLUMNS", "LC_ALL", "TSR_LOG", "GITHUB_WORKSPACE", "TSR_CACHE")
    return [(["bench", "corpus", "--quick", "--inject", "zero"], {name: value, "GITHUB_ACTIONS": "true"}) for name in names] + [
        (["log"], {"TSR_DB": value}), (["run", "corpus/small.tsr", "--in", "x.npy"], {"TESSERA_BACKEND": value}),
        (["bench", "corpus", "--quick"], {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": value + "/x"})]


CASES = [
    *((" and ".join(names) + " of every result", in_results(results_named(*names))) for names in (
        ("kernel", "case", "schedule"), ("backend", "profile"), ("status", "fault", "type", "module_hash", "schedule_values"))),
    ("why of failures", in_results(failing)),
    ("the head of a run", in_results(head_of)),
    ("what is no JSON", json_error),
    *((".".join(path) + " of a manifest", in_manifest(put(*path))) for path in (
        ("outcome", "why"), ("outcome", "stage"), ("outcome", "status"), ("case", "kernel"), ("case", "case"), ("case", "backend"),
        ("case", "profile"), ("case", "isa"), ("case", "fault"), ("case", "schedule"), ("host", "cpu"), ("tsr", "version"), ("key",))),
    ("a key of a manifest", in_manifest(add_key)),
    ("a manifest that is no JSON", raw_manifest("{\"members\": [], HERE")),
    ("the schema of a manifest", raw_manifest("{\n \"members\": [],\n \"schema\": \"tsr.repro/HERE\"\n}\n")),
    ("the name of a member", raw_manifest("{\n \"members\": [\n  {\n   \"name\": \"HERE\",\n   \"sha256\": \"" + "0" * 64 +
                                          "\",\n   \"size\": 0\n  }\n ],\n \"schema\": \"tsr.repro/1\"\n}\n")),
    ("names of files and folders", named_corpus),
    ("names of files that are not there", missing_files),
    ("a source", hostile_source),
    ("the command line", words_of_a_line),
    ("the environment", environment),
]


def fits(what, name):
    """Some places cannot hold some texts: JSON is UTF-8, and a variable of the environment is not that long."""
    if name == "bytes":
        return what in BYTES_FIT
    return not (what.startswith("the environment") and name == "long")


BYTES_FIT = ("names of files that are not there", "a source", "the command line")


def run(command, folder, extra):
    done = subprocess.run([TSR, *command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                          env={**os.environ, **extra})
    return done.returncode, done.stdout, done.stderr


def is_json(out):
    try:
        json.loads(out)
    except ValueError:
        return False
    return True


def check(row, name, sound):
    what, make = row
    failures = commands = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "place"
        shutil.copytree(sound, folder)
        for command in make(folder, HOSTILE[name]):
            command, extra = command if isinstance(command, tuple) else (command, {})
            code, out, err = run(command, folder, extra)
            found = list(complaints(out, err, "actions" if "GITHUB_ACTIONS" in extra else ""))
            for path in sorted(folder.glob("out.*")):
                found += [f"{path.name}: {c}" for c in complaints(b"", path.read_bytes().replace(b"\r\n", b"\n"), "export")]
                path.unlink()
            if "--json" in command and code != 2 and out and not is_json(out):
                found.append(f"stdout is not one JSON document: {out[:200]!r}")
            if code not in CODES:
                found.append(f"exit {code}: {err[-300:]!r}")
            commands += 1
            for complaint in found[:3]:
                failures += 1
                print(f"NOT OK - {what}, {name}: {[word[:60] for word in command]}: {complaint}")
    print(f"{'NOT OK' if failures else 'ok'} - {what}, {name}: {commands} commands")
    return failures


def prepare(folder):
    (folder / "corpus").mkdir()
    (folder / "corpus" / "small.tsr").write_text(KERNEL)

    def tsr(*command):
        return subprocess.run([TSR, *command], cwd=folder, check=True, capture_output=True, text=True, timeout=SECONDS).stdout
    tsr("bench", "corpus", "--quick", "--backend", "cpu,interp", "--profile", "strict", "--export", "json=run.json")
    pack = tsr("pack-repro", "addition", "--case", "tiny", "-o", "sound.pack", "corpus").strip()
    manifest = json.loads(subprocess.run(["bsdtar", "-xOf", folder / pack, "manifest.json"], check=True, capture_output=True).stdout)
    del manifest["members"], manifest["schema"]
    (folder / "about.json").write_text(json.dumps(manifest))
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
    (folder / "x.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.ljust(117).encode() + b"\n" + bytes(12))


def main():
    for name in ("TSR_TUNED", "TESSERA_BACKEND", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ.update(TSR_CACHE=scratch + "/cache", TSR_DB="results.db", LC_ALL="C.UTF-8")
        sound = pathlib.Path(scratch) / "sound"
        sound.mkdir()
        prepare(sound)
        failures = 0
        chosen = [row for row in CASES if ONLY in row[0]]
        for number, row in enumerate(chosen):
            names = list(HOSTILE) if ONLY else ["everything"]
            if not ONLY and not SHORT:
                names += ["bytes"] if row[0] in BYTES_FIT else [["long"], [], ["umlaut"], []][number % 4]
            for name in names:
                if name == "long" and 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] < ROOM_FOR_LONG:
                    print(f"skipped - {row[0]}, long: a file may not have {ROOM_FOR_LONG} bytes here")
                elif fits(row[0], name):
                    failures += check(row, name, sound)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
