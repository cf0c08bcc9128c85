"""make_bad_results.py GOOD: writes files that look like GOOD and are wrong, each named after what is wrong, one a line."""
import copy
import json
import sys

good = json.load(open(sys.argv[1]))
whole = open(sys.argv[1]).read()


def changed(change):
    document = copy.deepcopy(good)
    change(document)
    return json.dumps(document)


def timed(document):
    return [r for r in document["results"] if r["time_ns"]]


def with_time(key, value):
    return changed(lambda d: timed(d)[-1]["time_ns"].update({key: value}))


def without(key):
    return changed(lambda d: d["results"][-1].pop(key))


BAD = {
    "nothing": "",
    "cut-short": whole[: len(whole) // 2],
    "one-brace-less": whole.rstrip()[:-1],
    "foreign": '{"benchmarks": []}',
    "a-list": "[1, 2, 3]",
    "newer-schema": changed(lambda d: d.update(schema="tsr.bench/2")),
    "other-schema": changed(lambda d: d.update(schema="tsr.gate/9")),
    "no-schema": changed(lambda d: d.pop("schema")),
    "results-no-list": changed(lambda d: d.update(results="many")),
    "results-of-numbers": changed(lambda d: d.update(results=[1, None])),
    "nan-time": whole.replace('"median": ', '"median": NaN, "was": ', 1),
    "infinite-time": whole.replace('"median": ', '"median": 1e999, "was": ', 1),
    "negative-time": with_time("median", -5),
    "zero-time": with_time("median", 0),
    "time-in-words": with_time("median", "fast"),
    "negative-bound": with_time("low", -1),
    "no-bound": with_time("high", None),
    "no-kernel": without("kernel"),
    "no-status": without("status"),
    "no-threads": without("threads"),
    "no-such-threads": changed(lambda d: d["results"][-1].update(threads=0)),
}
for name, content in BAD.items():
    with open(f"{name}.json", "w") as file:
        file.write(content)
    print(name)
with open("binary.json", "wb") as file:
    file.write(bytes(range(256)) * 16)
print("binary")
