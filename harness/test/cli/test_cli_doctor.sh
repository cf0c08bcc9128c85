# test_cli_doctor.sh - tsr doctor: what it makes of machines that are made of files (doctor/machines.txt), and that it measures.
source "$(dirname "$0")/lib.sh"
python=/usr/bin/python3

# Each machine of the file: a tree, and what must be found there.
cat >check.py <<"END_OF_CHECK"
import json, os, pathlib, shutil, subprocess, sys
tsr, description = sys.argv[1:]
failures = checks = 0

def write(root, path, content):
    place = pathlib.Path(root + path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content.encode().decode("unicode_escape") + "\n")

def look(name, files, later, wanted):
    global failures, checks
    roots = ["machine", "later"]
    for root in roots:
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        for path, content in files:
            write(root, path, content)
    for path, content in later:
        write("later", path, content)
    run = subprocess.run([tsr, "doctor", "--facts", "--json", "--root", "machine,later"], capture_output=True, text=True)
    assert run.returncode == 0, run
    document = json.loads(run.stdout)
    assert document["schema"] == "tsr.doctor/1" and document["noise"] is None
    facts = {f["check"]: f for f in document["facts"]}
    for check, state, words in wanted:
        checks += 1
        fact = facts[check]
        text = fact["found"] + " " + (fact["mend"] or "")
        if fact["state"] != state or words not in text:
            failures += 1
            print(f"{name}: {check}: {fact['state']}: {text} (expected {state}: {words})")
        if state == "harm" and not (fact["mend"] or check in ("virtual-machine", "stolen-time", "cpu-pressure")):
            failures += 1
            print(f"{name}: {check}: nothing mends it")

machine = None
for line in open(description):
    line = line.rstrip("\n")
    kind, _, rest = line.partition(" ")
    if kind == "machine":
        if machine:
            look(*machine)
        machine = [rest, [], [], []]
    elif kind in ("file", "later"):
        path, _, content = rest.partition(" ")
        machine[1 if kind == "file" else 2].append((path, content))
    elif kind == "expect":
        machine[3].append(tuple(rest.split(" ", 2)))
look(*machine)
print(f"{checks} facts, {failures} wrong")
sys.exit(failures > 0)
END_OF_CHECK
exits 0 "machines made of files" $python check.py "$tsr" "$root/harness/test/cli/doctor/machines.txt"
has out "0 wrong" "what is found there"

"$tsr" doctor --json >measured.json 2>err
code=$?
cat >measured.py <<"END_OF_CHECK"
import json, sys
document, code = json.load(open("measured.json")), int(sys.argv[1])
noise = document["noise"]
assert document["exit"] == code and code in (0, 5), (document["exit"], code)
assert [l["loop"] for l in noise["loops"]] == ["compute", "memory"]
assert all(l["in_process"] >= 0 and l["between_processes"] >= 0 for l in noise["loops"])
assert noise["enough"] == (code == 0)
assert noise["detectable"] is None or (noise["detectable"] >= 0.005) and noise["enough"] == (max(noise["detectable"], noise["pair_error"]) <= noise["mde"])
try:
    import jsonschema
    jsonschema.validate(document, json.load(open(sys.argv[2])))
except ImportError:
    print("skipped: no jsonschema here, so the schema is not looked at")
assert len(document["facts"]) >= 18 and all(f["state"] in ("ok", "note", "harm", "unknown") for f in document["facts"])
END_OF_CHECK
exits 0 "this machine is measured, and the exit code says what came of it" $python measured.py $code "$root/docs/doctor.schema.json"
exits 2 "no arguments" "$tsr" doctor now
exits 0 "as a table" "$tsr" doctor --facts
has out "clock-source" "the table has the facts"
finish
