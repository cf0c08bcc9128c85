"""fake_gate.py gate --json --baseline commit:A --against commit:B [--build COMMAND] [...]: a gate whose truth is a file.

`speed` in the checkout of B has its time in percent of the good one's: above 101 it regressed, "gone" has no case, "wrong"
fails, "noise" is never told, "later" needs more pairs. What was asked is appended to $FAKE_GATE_LOG.
"""
import json
import os
import sys

arguments = sys.argv[1:]
named = {a: b for a, b in zip(arguments, arguments[1:]) if a.startswith("--")}
kind, _, commit = named["--against"].partition(":")
assert arguments[0] == "gate" and "--json" in arguments and kind == "commit" and named["--baseline"].startswith("commit:")
speed = open(f".tsr/checkouts/{commit}/speed").read().strip()
with open(os.environ["FAKE_GATE_LOG"], "a") as log:
    print(commit, speed, *arguments, file=log)
if speed == "crash":
    sys.exit(70)
if speed == "later" and "--pairs" not in arguments:
    speed = "noise"
row = {"kernel": "k", "case": "c", "verdict": "EQUIVALENT", "reason": None, "why": None, "change": None}
if speed == "wrong":
    row.update(verdict="FAILED", reason="mismatch", why="the outputs are wrong")
elif speed == "noise":
    row.update(verdict="INCONCLUSIVE", reason="noisy")
elif speed != "later":
    change = float(speed if speed != "gone" else 0) / 100 - 1
    row["change"] = {"estimate": change, "low": change - 0.001, "high": change + 0.001, "confidence": 0.95}
    row["verdict"] = "REGRESSED" if change > 0.01 else "EQUIVALENT"
print(json.dumps({"schema": "tsr.gate/1", "results": [] if speed == "gone" else [row]}))
sys.exit({"REGRESSED": 1, "FAILED": 1, "INCONCLUSIVE": 5}.get(row["verdict"], 0))
