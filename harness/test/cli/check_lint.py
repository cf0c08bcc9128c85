"""check_lint.py [--chip] SCHEMAS JSON SARIF SOURCE...: findings stand where the sources say `# lint: CHECK...`, and nowhere else;
both documents say the same, and each place is what the source has there. --chip: the checks of what a chip makes of it, and no
others."""
import collections
import json
import pathlib
import re
import sys

import jsonschema

CHIP = {"bank-conflict", "uncoalesced", "divergence", "register-pressure", "occupancy", "moved-memory"}
chip = sys.argv[1] == "--chip"
if chip:
    del sys.argv[1]
document, sarif = (json.load(open(path)) for path in sys.argv[2:4])
schema = json.load(open(pathlib.Path(sys.argv[1]) / "sarif.json"))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(sarif, schema)

wanted = collections.Counter()
for path in sys.argv[4:]:
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        for check in re.findall(r"# lint: (.*)", line):
            wanted.update((path, number, name) for name in check.split())
found = collections.Counter((f["path"], f["line"], f["id"]) for f in document["findings"]
                            if not chip or f["id"] in CHIP)
assert found == wanted, f"not expected: {found - wanted}\nnot found: {wanted - found}"

rules = {rule["id"]: rule for rule in document["rules"]}
# Caches, code, assemblers and the emulator: tested apart; errors have ids of their own.
elsewhere = {"cache-edge", "stack-traffic", "source", "register-spills", "race"}
if chip:
    assert {name for _, _, name in wanted} == CHIP, "every check has a kernel that it finds"
else:
    assert set(rules) == {name for _, _, name in wanted} | elsewhere | CHIP, "every check has a kernel that it finds"
for finding in document["findings"]:
    line = open(finding["path"], encoding="utf-8").read().split("\n")[finding["line"] - 1]
    assert finding["source"] == line and finding["severity"] == rules[finding["id"]]["severity"]
    assert 1 <= finding["column"] < finding["end_column"] <= len(line) + 1
    word = line[finding["column"] - 1:finding["end_column"] - 1]
    if finding["id"] == "unused-parameter":
        assert word == "other"
    elif finding["id"].startswith("E0"):
        assert word in ("zz", "softmaxx", "6"), word
    elif finding["id"] in ("unused-tile", "part-of-tile", "repeated-load", "edge-value", "small-space"):
        assert word == "tile.load", word
    elif finding["id"] in CHIP:
        assert word == finding["kernel"] if finding["id"] == "moved-memory" else word in ("x", "softmax", "linear", "sort"), word
    elif finding["id"] == "no-turns":
        assert word == "for", word
    elif finding["id"] == "long-tile":
        assert word.isdigit(), word
    elif finding["id"] == "unused-specialization":
        assert word.startswith("specialize("), word
    elif finding["case"]:
        assert word == finding["case"], word
    elif "schedule" not in finding["id"] and finding["id"] != "same-operands":
        assert word == finding["kernel"], word

(run,) = sarif["runs"]
assert [r["id"] for r in run["tool"]["driver"]["rules"]] == [r["id"] for r in document["rules"]]
assert len(run["results"]) == len(document["findings"])
for result, finding in zip(run["results"], document["findings"]):
    place = result["locations"][0]["physicalLocation"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == finding["id"]
    assert result["level"] == finding["severity"] and result["message"]["text"] == finding["message"]
    assert place["artifactLocation"]["uri"].endswith(finding["path"].rsplit("/", 1)[-1])
    region = place["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (
        finding["line"], finding["column"], finding["end_column"])
