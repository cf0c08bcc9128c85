#!/usr/bin/env python3
"""plugin.py TSR corpus FILE | ahead FILE TOPOLOGY... - kernels of corpus/ through a plugin of PJRT.

corpus: the quick cases under the profile fast, each within its derived bound, of a sample of the files, which a hash of their names chooses; --all: of
all of them. known.txt names those that are not, of XLA for CPUs on x86-64-v4, and
why; --all --write makes it anew. ahead: some kernels compiled for topologies of libtpu: code, memory and cycles of each must be told.

1: a case fails that is not known, or nothing is told.
"""
import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
KNOWN = ROOT / "ci/pjrt.d/known.txt"
SAMPLE = 4  # one file in so many
AHEAD = ["corpus/matmul/matmul_bf16.tsr", "corpus/normalisation/softmax.tsr", "corpus/attention/attention.tsr"]
# Words of a failure, and the reason that they are of.
REASONS = [
    ("does not support custom element sizes", "no products of i4"),
    ("different precisions", "a scatter of tensors of two types"),
    ("debug.check", "a check in the kernel wants two results to be equal"),
    ("nan", "NaN: dropped by maxima and clamps, or made of infinities and factors of zero, or with other bits"),
    ("got inf", "NaN or overflow: an infinity"),
    ("got -inf", "NaN or overflow: an infinity"),
    ("e-3", "subnormal numbers are zero"),
    ("e-4", "subnormal numbers are zero"),
    ("ULP apart", "exact results: places of NaN, signs of zeros, bits of a NaN"),
]


def tsr(program, *words):
    with tempfile.TemporaryDirectory() as folder:
        command = [program, *words, "--json"]
        return subprocess.run(command, cwd=ROOT, env={**os.environ, "TSR_DB": f"{folder}/results.db"}, capture_output=True, text=True, check=False)


def reason_of(why):
    return next((reason for words, reason in REASONS if words in why), "a function or a quotient is farther than its bound")


def known():
    return {line.split(" ", 1)[0] for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")}


def sample():
    """Files by the hash of their names: the same ones every day, and on every machine."""
    files = sorted(str(one.relative_to(ROOT)) for one in (ROOT / "corpus").rglob("*") if one.suffix in (".tsr", ".mlir", ".mlirbc"))
    return [name for name in files if int(hashlib.sha256(name.encode()).hexdigest(), 16) % SAMPLE == 0]


def corpus(program, plugin, whole, write):
    run = tsr(program, "golden", "verify", *(["corpus"] if whole else sample()), "--quick", "--backend", f"pjrt:{plugin}", "--profile", "fast", "--timeout", "120")
    results = json.loads(run.stdout)["results"]
    failed = {f"{r['kernel']}/{r['case']}": (r["status"], r["why"] or "") for r in results if r["status"] not in ("ok", "timeout", "unjudged")}
    counts = collections.Counter(r["status"] for r in results)
    print(", ".join(f"{count} {status}" for status, count in counts.most_common()), f"of {len(results)} cases")
    for reason, count in collections.Counter(reason_of(why) for _, why in failed.values()).most_common():
        print(f"{count:4}  {reason}")
    if write:
        head = "# Cases of corpus/ that XLA for CPUs (lammps-jax-pjrt-cpu 0.11.2, x86-64-v4) refuses, or computes outside of their derived bound, and why.\n"
        KNOWN.write_text(head + "".join(f"{name} {reason_of(why)}\n" for name, (_, why) in sorted(failed.items())))
        return 0
    new = sorted(set(failed) - known())
    for name in new:
        print(f"not known: {name}: {failed[name][0]}: {failed[name][1][:300]}")
    return 1 if new or counts["ok"] < (1000 if whole else 1000 // (2 * SAMPLE)) else 0


def ahead(program, plugin, topologies):
    backends = ",".join(f"pjrt:{plugin}@{topology}" for topology in topologies)
    run = tsr(program, "bench", *AHEAD, "--quick", "--threads", "1", "--backend", backends)
    results = json.loads(run.stdout)["results"]
    untold = [r for r in results if "memory" not in r.get("ahead", {}) or "cost" not in r["ahead"]]
    for topology in topologies:
        own = [r["ahead"] for r in results if r.get("ahead", {}).get("topology") == topology]
        cycles = [a["estimated_cycles"] for a in own if "estimated_cycles" in a]
        kind = own[0]["device"] if own else "not compiled for"
        print(f"{topology:10} {kind:12} {len(own)} cases, {len(cycles)} with cycles, {min(cycles, default=0):.0f} to {max(cycles, default=0):.0f}")
    for r in untold:
        print(f"nothing is told: {r['kernel']}/{r['case']}@{r['backend']}: {r['why']}")
    return 1 if untold or len(results) < 10 * len(topologies) else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tsr")
    parser.add_argument("what", choices=["corpus", "ahead"])
    parser.add_argument("plugin")
    parser.add_argument("topologies", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    o = parser.parse_args()
    if o.write and not o.all:
        parser.error("--write needs --all: a sample says nothing about the other cases")
    return corpus(o.tsr, o.plugin, o.all, o.write) if o.what == "corpus" else ahead(o.tsr, o.plugin, o.topologies)


if __name__ == "__main__":
    sys.exit(main())
