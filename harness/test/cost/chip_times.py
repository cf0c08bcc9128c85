#!/usr/bin/env python3
"""chip_times.py - TSR CORPUS [--show]: the cost model of chips against times that were measured on one (chip_times.tsv).

Cycles are no time, so estimates are divided by their median ratio to the times. Then most of them must be within a factor of two, and of
schedules of one kernel whose times differ by a fifth most must be in that order. --show prints all."""

import itertools
import pathlib
import re
import statistics
import subprocess
import sys

CHIP = "sm_90a"
FAR, APART = 2, 1.2
WITHIN, IN_ORDER = 0.85, 0.65  # parts of all that must hold


def cycles_of(tsr, corpus, row):
    """Returns the estimate of `tsr compile --emit space`."""
    source, kernel, profile, dims, schedule, _ = row
    words = [tsr, "compile", f"{corpus}/{source}", "--kernel", kernel, "--profile", profile, "--isa", CHIP, "--emit", "space", "--dims", dims]
    if schedule != "-":
        words += ["--schedule", schedule]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^estimated cycles = (\d+)$", said, re.MULTILINE)[1])


def main():
    tsr, corpus, *show = sys.argv[1:]
    lines = (pathlib.Path(__file__).parent / "chip_times.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    cycles = [cycles_of(tsr, corpus, row) for row in rows]
    times = [float(row[-1]) for row in rows]
    usual = statistics.median(c / t for c, t in zip(cycles, times))
    ratios = [c / t / usual for c, t in zip(cycles, times)]
    pairs = [(i, k) for i, k in itertools.combinations(range(len(rows)), 2) if rows[i][:4] == rows[k][:4]]
    apart = [(i, k) for i, k in pairs if max(times[i], times[k]) >= APART * min(times[i], times[k])]
    ordered = sum((times[i] < times[k]) == (cycles[i] < cycles[k]) for i, k in apart) / len(apart)
    within = sum(1 / FAR <= ratio <= FAR for ratio in ratios) / len(ratios)
    if show:
        for row, c, ratio in zip(rows, cycles, ratios):
            print(f"{row[1]:20} {row[3]:36} {row[4]:18} {row[5]:>8} ms {c:12} {ratio:6.2f}")
    print(f"{within:.0%} of {len(rows)} estimates within {FAR} times, {ordered:.0%} of {len(apart)} pairs in the order of their times")
    return 0 if within >= WITHIN and ordered >= IN_ORDER else 1


if __name__ == "__main__":
    sys.exit(main())
