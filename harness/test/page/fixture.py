"""fixture.py DATABASE GATE.json - a database and a gate that are always the same, for tests of the report.

The database has the format that the third migration left: tsr brings it up to date when it opens it. With a third argument N, the
last run has N timed samples.
"""
import json
import math
import pathlib
import sqlite3
import sys

MIGRATIONS = pathlib.Path(__file__).resolve().parents[2] / "store" / "migrations.def"
FORMAT = 3
KERNELS = [("matmul_f32", 62.0, "f32"), ("matmul_bf16", 80.0, "bf16"), ("attention_causal", 24.0, "f32"), ("softmax_rows", 0.6, "f32"),
           ("layernorm_rows", 0.9, "f32"), ("conv_2d", 9.0, "f32"), ("saxpy", 0.17, "f32"), ("sum_rows", 0.25, "f32"),
           ("matmul_i8", 120.0, "i8"), ("gelu_f64", 1.4, "f64"), ("transpose", 0.0, "f32")]
CASES = [("small", 2e3), ("prime", 5e4), ("square", 1.2e6), ("large", 3e7)]
HOSTILE = "</script><img src=x onerror=alert(1)>"
PEAKS = {"f32": 505.0, "f64": 250.0, "i8": 1950.0, "bf16": 505.0}
BANDWIDTH = [("L1", 48 << 10, 856.0), ("L2", 1 << 20, 483.0), ("L3", 32 << 20, 203.0), ("DRAM", 1 << 62, 70.0)]


class Noise:
    """A generator that gives the same numbers everywhere (Park and Miller's)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = self.state * 48271 % 2147483647
        return self.state / 2147483647


def migrations():
    """The SQL of each released step, as migrations.def has it."""
    words = MIGRATIONS.read_text().split("*/", 1)[1]
    steps = []
    for body in words.split("MIGRATION(")[1:]:
        steps.append("".join(piece for i, piece in enumerate(body.split('"')) if i % 2))
    return steps[:FORMAT]


def ideal_ns(intensity, case_bytes, element):
    level = next(value for _, size, value in BANDWIDTH if case_bytes <= size)
    return max(intensity * case_bytes / PEAKS[element], case_bytes / level)


def digest(*words):
    import hashlib
    return hashlib.sha256("/".join(words).encode()).hexdigest()


def record(kernel, case, side, number, noise, samples):
    name, intensity, element = kernel
    case_name, case_bytes = case
    backend, profile = side
    timed = backend == "cpu" and not (name == "conv_2d" and case_name == "prime")
    flops = round(intensity * case_bytes)
    least = ideal_ns(intensity, case_bytes, element)
    efficiency = 0.25 + 0.6 * (math.log10(case_bytes) - 3) / 5
    slower = {"strict": 1.25 if intensity > 5 else 1.05, "deterministic": 1.04, "fast": 1.0}[profile]
    slower *= 0.72 if name == "softmax_rows" and number >= 9 else 1
    slower *= 1.18 if name == "matmul_f32" and case_name == "square" and number >= 17 else 1
    median = least / efficiency * slower * (1 + 0.01 * (noise.next() - 0.5)) + 60
    values = [median * (1 + 0.004 * (noise.next() - 0.5) + (0.3 * noise.next() if noise.next() > 0.95 else 0)) for _ in range(samples)]
    values.sort()
    median = values[len(values) // 2]
    rate = {"gflops": flops / median, "gbps": case_bytes / median}
    bound = "compute" if intensity * case_bytes / PEAKS[element] >= least else "memory"
    weak = profile == "fast" and name in ("matmul_f32", "attention_causal", "sum_rows")
    failed = name == "conv_2d" and case_name == "prime" and backend == "cpu"
    return {
        "kernel": name, "case": case_name, "backend": backend, "profile": profile, "threads": 2 if backend == "cpu" else 1,
        "schedule_hash": digest("schedule", name) if backend == "cpu" else None, "module_hash": None,
        "status": "mismatch" if failed else "ok",
        "why": f"out[3, 5]: expected 1.5 (0x3fc00000), got {HOSTILE}" if failed else None if timed else "untimed: interp is the oracle",
        "check": {"against": "golden", "bitwise": not weak, "max_ulp": 3 if weak else 0, "sha256": [digest(name, case_name, profile if weak or failed else "")]},
        "time_ns": {"median": median, "low": values[samples // 3], "high": values[-samples // 3], "confidence": 0.97, "samples": samples, "min": values[0],
                    "iqr": values[3 * samples // 4] - values[samples // 4]} if timed else None,
        "flops": flops, "bytes": round(case_bytes), "rate": rate if timed else None,
        "roofline": {"bound": bound, "ceiling": PEAKS[element] if bound == "compute" else case_bytes / least, "fraction": least / median} if timed else None,
        "type": element, "schedule": "default", "schedule_values": None, **({"memory": memory(case_bytes), "timeline": timeline(median)} if backend == "cpu" else {})}, values


def memory(case_bytes):
    """Four phases whose intermediate results share half of the workspace."""
    unit = 1 + round(case_bytes / 64)
    workspace, apart, buffers = 5 * unit, 9 * unit, (3 * unit, 2 * unit, unit)
    return {"workspace_bytes": workspace, "unplanned_workspace_bytes": apart, "inputs_bytes": buffers[0], "outputs_bytes": buffers[1],
            "prepared_bytes": buffers[2], "peak_bytes": sum(buffers) + workspace, "unplanned_peak_bytes": sum(buffers) + apart,
            "phases": [{"what": what, "live_bytes": live * unit} for what, live in (("pack", 2), ("dot", 5), ("rows", 4), ("map", 3))]}


def timeline(median):
    """A launch of the same phases, and a tenth of it between them."""
    shares = (("pack", 0.2), ("dot", 0.5), ("rows", 0.15), ("map", 0.05))
    return {"began_ns": 0, "steps": [],
            "launch": {"start_ns": 0, "ns": round(median), "phases": [{"what": what, "cells": 4, "ns": round(share * median)} for what, share in shares]}}


def ceilings():
    for name, value in PEAKS.items():
        if name != "bf16":
            yield f"compute.{name}.t2", None, value, "GOP/s" if name == "i8" else "GFLOP/s"
    yield "compute.bf16.t2", "deterministic", 927.0, "GFLOP/s"
    for name, _, value in BANDWIDTH:
        for loop, share in (("read", 1.0), ("write", 0.6), ("copy", 0.9)):
            yield f"memory.{name}.{loop}.t2", None, value * share, "GB/s"


def head(number):
    return {"schema": "tsr.bench/1", "run": f"20260{1 + number // 28}{1 + number % 28:02d}-120000-{number:04x}",
            "started": f"2026-0{1 + number // 28}-{1 + number % 28:02d}T12:00:00Z", "tsr": {"version": "0.1.0", "commit": digest("c", str(number))[:12], "llvm": "19.1.7"},
            "host": {"cpu": "Fixture CPU", "isa": "x86-64-v3", "cores": 2, "memory_bytes": 8 << 30, "os": "Debian GNU/Linux 12", "kernel": "6.1.0",
                     "caches": [{"level": "L1", "bytes": 49152}, {"level": "L2", "bytes": 1 << 20}, {"level": "L3", "bytes": 32 << 20}],
                     "virtualised": True, "counters": "none", "counters_why": "this machine offers none"},
            "arguments": {"paths": ["/nowhere/corpus"], "profiles": ["strict", "deterministic", "fast"], "seed": 1}}


def put_run(db, number, noise, samples):
    h = head(number)
    run = db.execute("INSERT INTO runs (id, started, arguments, machine, head, exit_code) VALUES (?, ?, '{}', 'Fixture CPU; x86-64-v3; 2 cores', ?, 0)",
                     (h["run"], h["started"], json.dumps(h))).lastrowid
    for c in ceilings():
        db.execute("INSERT INTO ceilings VALUES (?, ?, ?, ?, ?)", (run, *c))
    kernels = KERNELS + [(HOSTILE, 2.0, "f32")]
    for kernel in kernels:
        for case in CASES:
            for side in (("interp", "strict"), ("cpu", "strict"), ("cpu", "deterministic"), ("cpu", "fast")):
                result, values = record(kernel, case, side, number, noise, samples)
                key = "{kernel}/{case}@{backend},{profile},{threads}".format(**result)
                time = result["time_ns"]
                place = db.execute("INSERT INTO results (run, key, status, median_ns, record) VALUES (?, ?, ?, ?, ?)",
                                   (run, key, result["status"], time and time["median"], json.dumps(result))).lastrowid
                if time:
                    db.executemany("INSERT INTO samples VALUES (?, ?, ?)", ((place, i, v) for i, v in enumerate(values[::2] + values[1::2][::-1])))


def gate():
    verdicts = [("matmul_f32", "square", "REGRESSED", 0.18, 0.01, None), ("softmax_rows", "prime", "IMPROVED", -0.09, 0.008, None),
                ("saxpy", "small", "INCONCLUSIVE", 0.006, 0.011, "noisy"), ("gelu_f64", "large", "EQUIVALENT", 0.0004, 0.003, None),
                ("transpose", "large", "EQUIVALENT", 0.0, 0.0, "same-module"), ("conv_2d", "prime", "FAILED", None, None, "newly-failing"),
                (HOSTILE, "small", "EQUIVALENT", -0.001, 0.002, None)]
    results = []
    for name, case, verdict, estimate, half, reason in verdicts:
        results.append({"kernel": name, "case": case, "backend": "cpu", "profile": "strict", "threads": 2, "verdict": verdict, "reason": reason,
                        "why": f"{HOSTILE} & more" if reason == "noisy" else None, "tier": "deterministic" if half in (None, 0.0) else "timing",
                        "change": None if estimate is None else {"estimate": estimate, "low": estimate - half, "high": estimate + half, "confidence": 0.95},
                        "p_regressed": None, "p_improved": None, "mde": 0.013 if half else None, "pairs": 20 if half else 0, "baseline_ns": 1000.0 if half else None, "against_ns": 1000.0 * (1 + estimate) if half else None,
                        "static": {"flops": [100, 100], "bytes": [40, 40], "code_bytes": [512, 640 if verdict == "REGRESSED" else 512], "spills": [0, 0], "instructions": None}})
    return {"schema": "tsr.gate/1", "gate": "g-fixture", "started": "2026-01-29T09:00:00Z", "baseline": {"name": "main", "kind": "commit"},
            "against": {"name": "topic", "kind": "commit"}, "settings": {"margin": 0.005, "mde": 0.02, "alpha": 0.01, "power": 0.95, "looks": [8, 20], "rounds": 5, "seed": 1},
            "results": results, "summary": {}, "mde": 0.013, "seconds": 61.5, "exit": 1}


def main():
    database, gate_file = sys.argv[1:3]
    many = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    db = sqlite3.connect(database)
    for step in migrations():
        db.executescript(step)
    db.execute(f"PRAGMA user_version={FORMAT}")
    noise = Noise(20260101)
    for number in range(2 if many else 28):
        put_run(db, number, noise, 21)
    if many:
        timed = db.execute("SELECT number FROM results WHERE median_ns IS NOT NULL AND run = (SELECT max(number) FROM runs)").fetchall()
        each = many // len(timed)
        for i, (place,) in enumerate(timed):
            median, = db.execute("SELECT median_ns FROM results WHERE number = ?", (place,)).fetchone()
            db.execute("DELETE FROM samples WHERE result = ?", (place,))
            count = each + (many - each * len(timed) if i == 0 else 0)
            db.executemany("INSERT INTO samples VALUES (?, ?, ?)", ((place, k, median * (1 + 0.1 * (noise.next() - 0.5))) for k in range(count)))
    document = gate()
    db.execute("INSERT INTO gates (id, started, machine, exit_code, document) VALUES ('g-fixture', ?, NULL, 1, ?)", (document["started"], json.dumps(document)))
    db.commit()
    pathlib.Path(gate_file).write_text(json.dumps(dict(document, gate="g-file")))


if __name__ == "__main__":
    main()
