"""make_history.py DATABASE: fills a database that tsr has made with runs whose times are known.

Each kernel of `SHAPES` has a time for each run: level, drift, a step, and noise from a fixed sequence.
"""
import json
import math
import sqlite3
import sys

RUNS = 40
SHAPES = {
    "still": lambda i: 1000,
    "step": lambda i: 1000 if i < 22 else 1060,
    "better": lambda i: 1000 if i < 20 else 900,
    "creep": lambda i: 1000 * math.exp(0.004 * i),
    "spiky": lambda i: 3000 if i % 13 == 6 else 1000,
    "wrong": lambda i: -5 if i == 7 else math.inf if i == 9 else 1000,
    "grown": lambda i: 1000 if i < 10 else 5000,
}


def noise(seed, i):
    """Twelve uniform numbers of a linear congruence, added up: near enough to normal."""
    state, total = (seed * 7919 + i * 104729 + 12345) % 2**31, 0.0
    for _ in range(12):
        state = (state * 1103515245 + 12345) % 2**31
        total += state / 2**31
    return total - 6


database = sqlite3.connect(sys.argv[1])
machine = "a CPU; x86-64-v3; 2 cores"
for i in range(RUNS + 1):
    elsewhere = i == RUNS // 2  # one run of another machine in the middle
    hour = 1 if i == 30 else i % 24  # the clock goes back before run 30
    started = f"2026-01-{1 + i // 24:02d}T{hour:02d}:00:00Z"
    head = {"schema": "tsr.bench/1", "run": f"run-{i:02d}", "started": started, "tsr": {"commit": f"c{i:02d}"}}
    cursor = database.execute(
        "INSERT INTO runs (id, started, arguments, machine, head, exit_code) VALUES (?, ?, ?, ?, ?, 0)",
        (f"run-{i:02d}", started, "{}", "another" if elsewhere else machine, json.dumps(head)))
    for seed, (name, shape) in enumerate(SHAPES.items()):
        median = shape(i) * math.exp(0.005 * noise(seed, i)) if 0 < shape(i) < math.inf else shape(i)
        flops = 100 if name != "grown" or i < 10 else 500
        bound = median if math.isfinite(median) else 1
        record = {"flops": flops, "bytes": 8, "time_ns": {"low": bound, "high": bound}}
        database.execute(
            "INSERT INTO results (run, key, status, median_ns, record) VALUES (?, ?, 'ok', ?, ?)",
            (cursor.lastrowid, f"{name}/c@cpu,strict,2", median, json.dumps(record)))
database.commit()
