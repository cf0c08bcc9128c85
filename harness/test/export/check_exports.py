"""check_exports.py SCHEMAS DOCUMENT FORMAT=FILE...: each export fits its format and says what the document says.

Where a format's own reader is installed it reads the file, too; where it is not, that is told.
"""
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema

COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")
FAILURES = {"mismatch", "error", "crash", "timeout"}
AWAY = {"skipped", "unsupported"}
schemas = pathlib.Path(sys.argv[1])
document = json.load(open(sys.argv[2]))
results = document["results"]
samples = document.get("samples", {})


def name_of(result):
    return f"{result['kernel']}/{result['case']}@{result['backend']},{result['profile']},{result['threads']}"


def loaded(path, schema):
    content = json.load(open(path))
    definition = json.load(open(schemas / f"{schema}.json"))
    jsonschema.Draft202012Validator.check_schema(definition)
    jsonschema.validate(content, definition)
    return content


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-8)


def timed():
    return [r for r in results if r.get("status") == "ok" and r["time_ns"]]


def missing(what, package):
    print(f"skipped: {what}: {package} is not installed")


def check_json(path):
    content = json.load(open(path))
    wanted = dict(document)
    wanted.pop("samples", None)
    assert content == wanted


def check_jsonl(path):
    lines = [json.loads(line) for line in open(path)]
    name = "gate" if "gate" in document else "run"
    assert len(lines) == len(results)
    for line, result in zip(lines, results):
        assert line.pop(name) == document[name]
        assert line == result


def shown(words):
    """Newlines stay; what a terminal would act on is escaped."""
    spelled = {"\r": "\\r", "\t": "\\t", "\ufffe": "\\ufffe"}
    return re.sub("[\x00-\x09\x0b-\x1f\x7f\ufffe]", lambda m: spelled.get(m[0], f"\\x{ord(m[0]):02x}"), words)


def check_csv(path):
    rows = list(csv.DictReader(open(path, newline="")))
    name = "gate" if "gate" in document else "run"
    assert len(rows) == len(results)
    for row, result in zip(rows, results):
        assert row[name] == document[name]
        for key in ("kernel", "case", "backend", "profile", "status", "verdict", "why", "reason"):
            assert row.get(key, "") == shown(result.get(key) or ""), key
        change = result.get("change")
        if change:
            assert [float(row[c]) for c in ("change", "change_low", "change_high")] == [
                change["estimate"], change["low"], change["high"]]


def check_gbench(path):
    content = loaded(path, "gbench")
    entries = content["benchmarks"]
    medians = {e["run_name"]: e for e in entries if e["run_type"] == "aggregate"}
    assert set(medians) == {name_of(r) for r in timed()}
    for result in timed():
        name, median = name_of(result), result["time_ns"]["median"]
        assert near(medians[name]["real_time"], median)
        if result["bytes"]:
            assert near(medians[name]["bytes_per_second"], result["bytes"] / median * 1e9)
        single = [e["real_time"] for e in entries if e["run_name"] == name and e["run_type"] == "iteration"]
        assert single and all(map(near, single, samples.get(name, single)))
        assert len(single) in (1, result["time_ns"]["samples"])
    assert content["context"]["failed"] == {name_of(r): r["why"] for r in results if r["status"] in FAILURES}
    compare_with_itself(path, medians)


def compare_with_itself(path, medians):
    """compare.py of the two equal files finds no difference in any benchmark that has a time."""
    if not COMPARE.exists():
        return missing("compare.py", "libbenchmark-tools")
    try:
        import scipy  # noqa: F401
    except ImportError:
        return missing("compare.py", "python3-scipy")
    run = subprocess.run([sys.executable, COMPARE, "--no-color", "benchmarks", path, path], capture_output=True,
                         text=True, check=False)
    assert run.returncode == 0, run.stderr
    shown = {line.split()[0]: line.split()[1] for line in run.stdout.splitlines() if "+0.0000" in line}
    for name in medians:
        assert shown.get(f"{name}_median") == "+0.0000", run.stdout
    return None


def check_gab(path):
    entries = loaded(path, "gab")
    assert [e["name"] for e in entries] == [name_of(r) for r in timed()]
    assert all(near(e["value"], r["time_ns"]["median"]) for e, r in zip(entries, timed()))


def check_bmf(path):
    content = loaded(path, "bmf")
    assert set(content) == {name_of(r) for r in timed()}
    for result in timed():
        measures, time = content[name_of(result)], result["time_ns"]
        for measure, low, value, high in (("latency", time["low"], time["median"], time["high"]),
                                          ("throughput", 1e9 / time["high"], 1e9 / time["median"], 1e9 / time["low"])):
            metric = measures[measure]
            assert near(metric["lower_value"], low) and near(metric["value"], value)
            assert near(metric["upper_value"], high)
        assert ("compile-time" in measures) == (result.get("compile_cached") is False)


def check_lnt(path):
    content = loaded(path, "lnt")
    assert content["run"]["llvm_project_revision"] == document["tsr"]["commit"]
    tests = {t["name"]: t for t in content["tests"]}
    assert set(tests) == {name_of(r) for r in results if r["status"] not in AWAY}
    for result in results:
        if result["status"] in AWAY:
            continue
        test = tests[name_of(result)]
        assert test["execution_status"] == (result["status"] in FAILURES)
        assert ("execution_time" in test) == (result in timed())
        if result in timed():
            times = test["execution_time"]
            times = times if isinstance(times, list) else [times]
            assert len(times) in (1, result["time_ns"]["samples"])
            assert all(near(a * 1e9, b) for a, b in zip(times, samples.get(name_of(result), [])))


def element_of(result):
    return {"REGRESSED": "failure", "FAILED": "error", "INCONCLUSIVE": "error", "mismatch": "failure", "error": "error",
            "crash": "error", "timeout": "error", "skipped": "skipped",
            "unsupported": "skipped"}.get(result.get("verdict", result.get("status")))


def check_junit(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == "testsuites" and int(root.get("tests")) == len(results)
    cases = {}
    for suite in root:
        assert suite.tag == "testsuite" and suite[0].tag == "properties"
        assert {p.tag for p in suite[0]} == {"property"} and all(p.get("name") and p.get("value") is not None for p in suite[0])
        inside = suite.findall("testcase")
        assert len(inside) == len(suite) - 1 == int(suite.get("tests"))
        for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert len(suite.findall(f"testcase/{tag}")) == int(suite.get(attribute))
        for case in inside:
            assert case.get("classname") == suite.get("name")
            cases[f"{case.get('classname')}/{case.get('name')}"] = case
    assert len(cases) == len(results)
    for result in results:
        case = cases[name_of(result)]
        found = [child for child in case if child.tag != "system-out"]
        assert [child.tag for child in found] == [element_of(result)] * (element_of(result) is not None)
        why = result["why"] or result.get("reason")
        if found and why:
            assert why[:10] in found[0].get("message")
        if found and result.get("change"):
            assert f"{100 * result['change']['estimate']:+.2f} %" in found[0].get("message")
        for name, pair in ((result.get("static") or {}) if found else {}).items():
            if pair and None not in pair and pair[0] != pair[1]:
                assert f"{pair[0]} -> {pair[1]}" in found[0].get("message"), name
        nanoseconds = result.get("against_ns") or (result["time_ns"]["median"] if result in timed() else None)
        assert (case.get("time") is None) == (nanoseconds is None)
        assert nanoseconds is None or near(float(case.get("time")) * 1e9, nanoseconds)
    try:
        import junitparser
    except ImportError:
        return missing("a reader of JUnit XML", "python3-junitparser")
    read = junitparser.JUnitXml.fromfile(path)
    assert sum(suite.tests for suite in read) == len(results)
    assert sum(1 for suite in read for case in suite for r in case.result) == sum(
        element_of(r) is not None for r in results)
    return None


def check_openmetrics(path):
    text = open(path).read()
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
    try:
        from prometheus_client.openmetrics.parser import text_string_to_metric_families
    except ImportError:
        return missing("the parser of OpenMetrics", "python3-prometheus-client")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    gate = "gate" in document
    facts = families["tsr_gate" if gate else "tsr_run"].samples[0].labels
    assert facts["cpu"] == document["host"]["cpu"] and facts["commit"] == document["tsr"]["commit"]
    assert facts["build"] == document["tsr"].get("build", "")
    state, key = ("tsr_gate_verdict", "verdict") if gate else ("tsr_result", "status")
    held = [s.labels for s in families[state].samples if s.value == 1]
    assert [(s["kernel"], s["case"], s[state]) for s in held] == [(r["kernel"], r["case"], r[key]) for r in results]
    if gate:
        wanted = [r["change"]["estimate"] for r in results if r["change"]]
        found = [s.value for s in families["tsr_gate_change_ratio"].samples if s.labels["stat"] == "estimate"]
    else:
        wanted = [r["time_ns"]["median"] for r in timed()]
        found = [s.value * 1e9 for s in families["tsr_time_seconds"].samples if s.labels["stat"] == "median"]
    assert len(wanted) == len(found) and all(map(near, wanted, found))
    for family in families.values():
        assert family.documentation and (not family.unit or family.name.endswith("_" + family.unit))
    return None


def check_trace(path):
    """Events of a track nest: each lies within the one that was open, or begins after it."""
    spans = [e for e in loaded(path, "trace")["traceEvents"] if e["ph"] == "X"]
    wanted = {name_of(r): r["timeline"] for r in results if r.get("timeline")}
    assert {e["args"]["result"] for e in spans} == set(wanted)
    for name, timeline in wanted.items():
        mine = [e for e in spans if e["args"]["result"] == name]
        steps = [e for e in mine if e["cat"] == "host"]
        assert [e["name"] for e in steps] == [s["name"] for s in timeline["steps"]]
        assert all(near(e["dur"] * 1000, s["ns"]) or s["ns"] == 0 for e, s in zip(steps, timeline["steps"]))
        phases = [e for e in mine if e["cat"] not in ("host", "kernel")]
        launch = timeline["launch"]
        assert [e["name"] for e in phases] == [p["what"] for p in (launch or {"phases": []})["phases"]]
        if launch:
            assert sum(e["dur"] for e in phases) <= launch["ns"] / 1000 * (1 + 1e-9)
    for track in {e["tid"] for e in spans}:
        open_until = []
        for event in sorted((e for e in spans if e["tid"] == track), key=lambda e: (e["ts"], -e["dur"])):
            while open_until and open_until[-1] <= event["ts"] + 1e-3:
                open_until.pop()
            end = event["ts"] + event["dur"]
            assert not open_until or end <= open_until[-1] + 1e-3, event
            open_until.append(end)


for spec in sys.argv[3:]:
    form, _, place = spec.partition("=")
    globals()[f"check_{form}"](place)
    print(f"ok - {form}: {place}")
