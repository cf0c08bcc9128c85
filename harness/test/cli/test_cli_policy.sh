# test_cli_policy.sh - one policy file for tsr, Python and the C ABI (runtime_policy_test has each key): spans of each, and what is wrong told once.
source "$(dirname "$0")/lib.sh"
small_corpus
policy() { # JSON of the groups
    printf '{"schema": "tsr.policy/1", %s}\n' "$1" >policy.json
}
export TESSERA_POLICY=$PWD/policy.json
cat >kinds.py <<'END_PYTHON'
"""FILE...: the kinds of all spans, each with its number, in order; each file is OTLP in JSON, a line for each batch."""
import collections, glob, json, sys
kinds = collections.Counter()
for path in sys.argv[1:]:
    for line in open(path):
        for resource in json.loads(line)["resourceSpans"]:
            attributes = {one["key"] for one in resource["resource"]["attributes"]}
            assert attributes == {"service.name", "process.pid"}, attributes
            for scope in resource["scopeSpans"]:
                assert scope["scope"]["name"] == "tessera"
                for span in scope["spans"]:
                    assert len(span["traceId"]) == 32 and len(span["spanId"]) == 16 and len(span["parentSpanId"]) in (0, 16)
                    assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
                    kinds[next(a["value"]["stringValue"] for a in span["attributes"] if a["key"] == "tessera.kind")] += 1
print(" ".join(f"{kind}={kinds[kind]}" for kind in sorted(kinds)))
END_PYTHON
exits 0 "a module" env -u TESSERA_POLICY "$tsr" compile corpus/small/small.tsr --kernel product --case exact --emit module -o product.tsrm
/usr/bin/python3 -c "
import numpy as np
np.save('x.npy', np.ones((5, 9), np.float32)); np.save('y.npy', np.ones((9, 7), np.float32))"
run() {
    "$tsr" run product.tsrm --in x.npy --in y.npy --out "$1"
}

# ---- tsr ----
policy "\"profiling\": {\"level\": \"phases\", \"spans\": \"$PWD/run-%p.jsonl\"}"
exits 0 "tsr run" run one
exits 0 "its spans" /usr/bin/python3 kinds.py run-*.jsonl
has out "host=2 launch=1 mma=1" "are a call, its launch and the launch's phase"
policy "\"profiling\": {\"level\": \"launches\", \"spans\": \"$PWD/launches.jsonl\"}"
exits 0 "with the level launches" run two
exits 0 "its spans" /usr/bin/python3 kinds.py launches.jsonl
hasnt out "mma" "have no phases"
has out "host=2 launch=1" "but the launch"
same one/out.npy two/out.npy "the result is the same"
policy "\"profiling\": {\"level\": \"launches\", \"spans\": \"$PWD/bench-%p.jsonl\"}"
exits 0 "tsr bench" "$tsr" bench corpus --quick
exits 0 "its workers' spans" /usr/bin/python3 kinds.py bench-*.jsonl
has out "launch=[1-9]" "are there"

policy "\"profiling\": {\"level\": \"launches\", \"spans\": \"$PWD/ranks-%p.jsonl\"}"
exits 0 "programs on two ranks" "$tsr" bench "$root/corpus/collectives/collectives.tsr" --quick --threads 1 --ranks 2
exits 0 "their spans" /usr/bin/python3 kinds.py ranks-*.jsonl
has out "comm=[1-9]" "have the exchanges"

# ---- YAML, and --policy in the place of the environment's ----
yaml() { # the level of spans, and their file
    printf 'schema: tsr.policy/1\nprofiling:\n  level: %s\n  spans: %s # relative\n' "$1" "$2" >policy.yaml
}
yaml phases yaml.jsonl
exits 0 "--policy with YAML" "$tsr" run product.tsrm --in x.npy --in y.npy --out five --policy policy.yaml
exits 0 "its spans" /usr/bin/python3 kinds.py yaml.jsonl
has out "host=2 launch=1 mma=1" "are those of the level phases"
yaml launches yaml-2.jsonl
exits 0 "another level" "$tsr" run product.tsrm --in x.npy --in y.npy --out six --policy=policy.yaml
exits 0 "its spans" /usr/bin/python3 kinds.py yaml-2.jsonl
has out "host=2 launch=1$" "have no phases"
same five/out.npy six/out.npy "the result is the same"
yaml launches "$PWD/yaml-%p.jsonl"
exits 0 "--policy of bench" "$tsr" bench corpus --quick --policy policy.yaml
exits 0 "its workers' spans" /usr/bin/python3 kinds.py yaml-*[0-9][0-9].jsonl
has out "launch=[1-9]" "are there"
exits 0 "--policy of golden verify" "$tsr" golden record corpus --quick
rm -f yaml-*
exits 0 "--policy of golden verify" "$tsr" golden verify corpus --quick --policy policy.yaml
exits 0 "its workers' spans" /usr/bin/python3 kinds.py yaml-*[0-9][0-9].jsonl
exits 0 "a pack" "$tsr" pack-repro product --case exact --backend cpu -o pack.repro.tar.lz4
exits 0 "a replay, whose sandbox opens no policy" env TESSERA_POLICY="$PWD/policy.yaml" "$tsr" replay pack.repro.tar.lz4
has out "^REPRODUCED_EXACT" "goes on without one"
yaml everything x
exits 3 "a wrong one" "$tsr" run product.tsrm --in x.npy --in y.npy --out six --policy policy.yaml
has err '^tsr: policy.yaml:3:3: profiling.level wants "off", "launches" or "phases", not "everything"$' "is told at its place"
exits 3 "one that is not there" "$tsr" bench corpus --policy nowhere.yaml
has err "nowhere.yaml" "is told"
exits 2 "of a command that launches nothing" "$tsr" explain --policy policy.yaml

# ---- Python ----
package=$(dirname "$tsr")/python
python=/usr/bin/python3
if [ -f "$package/tessera/_tessera.abi3.so" ] && $python -c "import numpy" 2>/dev/null; then
    policy "\"profiling\": {\"level\": \"launches\", \"spans\": \"$PWD/python.jsonl\"}"
    cat >product.py <<'END_PYTHON'
import numpy as np
import tessera
product = tessera.load("product.tsrm")
print(product(np.ones((5, 9), np.float32), np.ones((9, 7), np.float32)).sum())
END_PYTHON
    exits 0 "a launch from Python" env PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 TSR="$tsr" $python product.py
    exits 0 "its spans" /usr/bin/python3 kinds.py python.jsonl
    has out "launch=1" "are there when the interpreter has ended"
    yaml phases set.jsonl
    printf 'import tessera\ntessera.runtime.set_policy("policy.yaml")\n' | cat - product.py >set.py
    exits 0 "set_policy" env -u TESSERA_POLICY PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 TSR="$tsr" $python set.py
    exits 0 "its spans" /usr/bin/python3 kinds.py set.jsonl
    has out "launch=1 mma=1" "are there"
    printf 'tessera.runtime.set_policy("policy.yaml")\n' | cat product.py - >late.py
    exits 1 "set_policy behind a launch" env -u TESSERA_POLICY PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 TSR="$tsr" $python late.py
    has err "set it before the first one" "is refused"
    policy '"memory": {"keep": "1 MiB"}'
    exits 1 "a wrong policy from Python" env PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 TSR="$tsr" $python product.py
    has err "policy.json:1:39: memory.keep is no key" "is an exception with the place"
fi

# ---- what is wrong ----
policy '"memory": {"keep": "1 MiB"}'
exits 3 "an unknown key" "$tsr" bench corpus --quick
has err "^tsr: .*policy.json:1:39: memory.keep is no key; memory has kept, filled" "is told"
[ "$(wc -l <err)" -eq 1 ] && pass "once" || fail "once"
policy '"launch": {"watchdog": "2 minutes"}'
exits 3 "another unit" run three
has err "launch.watchdog wants .*\"2 s\", not \"2 minutes\"" "says what to write"
rm policy.json
exits 3 "a file that is not there" run three
has err "TESSERA_POLICY: " "says where it was named"
exits 0 "help without it" env -u TESSERA_POLICY "$tsr" help policy
has out "memory.filled" "shows the page"
cat >keys.py <<'END_PYTHON'
import json, re, sys
root = sys.argv[1]
table = {f"{group}.{name}" for group, name in re.findall(r"^KEY\((\w+), (\w+)", open(root + "/runtime/policy.def").read(), re.M)}
groups = json.load(open(root + "/docs/policy.schema.json"))["properties"]
schema = {f"{group}.{name}" for group in groups for name in groups[group].get("properties", {})}
page = set(re.findall(r"^\| `(\w+\.\w+)` \|", open(root + "/docs/policy.md").read(), re.M))
assert len(table) == 8 and table == schema == page, (table ^ schema, table ^ page)
END_PYTHON
exits 0 "schema and page have the keys of the table" /usr/bin/python3 keys.py "$root"
/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || finish
cat >example.py <<'END_PYTHON'
import json, re, sys, jsonschema
schema = json.load(open(sys.argv[1] + "/docs/policy.schema.json"))
example = re.search(r"```json\n(.*?)```", open(sys.argv[1] + "/docs/policy.md").read(), re.S)[1]
jsonschema.validate(json.loads(example), schema)
open("policy.json", "w").write(example.replace('"nvtx": true', '"nvtx": false'))
END_PYTHON
exits 0 "the example of the page" /usr/bin/python3 example.py "$root"
exits 0 "is a policy" run four
finish
