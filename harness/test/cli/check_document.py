"""check_document.py SCHEMA DOCUMENT [CSV JSONL]: the document fits its schema, and the exports say the same."""
import csv
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
document = json.load(open(sys.argv[2]))
jsonschema.Draft202012Validator.check_schema(schema)
jsonschema.validate(document, schema)
results = document["results"]
assert results, "no results"
for result in results:
    timed = result["time_ns"]
    if timed:
        assert timed["low"] <= timed["median"] <= timed["high"], result
        assert timed["min"] <= timed["low"], result
        assert timed["median"] <= timed["p95"], result
    if result["status"] == "ok" and result["backend"] != "interp":
        assert timed and result["rate"] and result["check"]["sha256"], result
        assert result["check"]["against"] in ("golden", "reference"), result

if len(sys.argv) > 3:
    rows = list(csv.DictReader(open(sys.argv[3], newline="")))
    lines = [json.loads(line) for line in open(sys.argv[4])]
    assert len(rows) == len(lines) == len(results)
    for row, line, result in zip(rows, lines, results):
        assert line.pop("run") == document["run"] == row["run"]
        assert line == result
        for key in ("kernel", "case", "backend", "profile", "status"):
            assert row[key] == result[key]
