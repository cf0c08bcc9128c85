#!/usr/bin/env python3
"""compare - times ours and the libraries in turn and says who is faster. Started by ci/peers; `ci/peers --help`.

A round asks each process in turn for the time of the same case, the next round in the opposite order. A process's time in a round is
the least of its samples; ratios are taken within a round, and what is reported is their median over the rounds with a
distribution-free interval.
"""
import argparse
import datetime
import fnmatch
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import programs
import statistics_of
import table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SAMPLE_NS, WARM_NS, LONG_NS, SAMPLES_MOST, ROUNDS_LONG, REALTIME_PRIORITY = 50e3, 2e6, 50e6, 5, 7, 5


def say(words):
    print(f"ci/peers: {words}", file=sys.stderr, flush=True)


def arguments_of():
    parser = argparse.ArgumentParser(prog="ci/peers", description="Ours against OpenBLAS, oneDNN, BLIS and libxsmm on the same "
                                     "shapes. Installs what is missing of ci/peers.d/packages, unless told --no-install.")
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="cases such as 'matmul_f32/*'; repeatable")
    parser.add_argument("--threads", default="1,2", metavar="LIST", help="thread counts (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=15, help="rounds of each case (default: 15)")
    parser.add_argument("--realtime", action="store_true", help="before everything else that runs here (SCHED_FIFO, which needs the "
                        "right to it): on a machine that others use too")
    parser.add_argument("--quick", action="store_true", help="the smallest cases, 3 rounds: to see that it works")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, and nothing else there")
    parser.add_argument("--markdown", action="store_true", help="the results as the tables of docs/performance.md")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.threads = [int(t) for t in given.threads.split(",")]
    given.rounds = 3 if given.quick else given.rounds
    given.table = sys.stderr if given.json or given.markdown else sys.stdout
    if given.rounds < 1 or min(given.threads) < 1:
        parser.error("rounds and threads are at least 1")
    return given


def chosen_cases(given):
    for kernel, case, dims, quick in table.cases(HERE / "cases.txt"):
        name = f"{kernel}/{case}"
        if (not given.filter or any(fnmatch.fnmatch(name, g) for g in given.filter)) and (quick or not given.quick):
            yield kernel, case, dims


def compile_module(given, folder, kernel, dims, threads):
    """The module of one case: kernels.tsr with that case written above the kernel."""
    source, module = pathlib.Path(folder, "case.tsr"), pathlib.Path(folder, "case.tsrm")
    bound = ", ".join(f"{name}={value}" for name, value in dims.items())
    text = (HERE / "kernels.tsr").read_text()
    source.write_text(re.sub(rf"@kernel\ndef {kernel}\(", f'@cases(case("it", {bound}))\n\\g<0>', text))
    command = [given.build / "tsr", "compile", source, "--kernel", kernel, "--case", "it", "--profile", table.KERNELS[kernel][0],
               "--threads", str(threads), "--emit", "module", "-o", module]
    if kernel in table.CONSTANTS:
        command += ["--constant", table.CONSTANTS[kernel]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise programs.Refused(f"tsr compile: {done.stderr.strip().splitlines()[0]}")
    return module


def agrees(mine, theirs, tolerance):
    """Whether two samples (programs.Program.sample) are the same numbers, loosely."""
    if mine[0] != theirs[0] or not math.isclose(mine[1], theirs[1], rel_tol=max(tolerance, 1e-9)):
        return False
    greatest = max(map(abs, theirs[2]), default=0)
    return all(abs(a - b) <= tolerance * greatest for a, b in zip(mine[2], theirs[2]))


def plan_of(program):
    """(samples, batch, warm) such that a sample is long enough for the clock and a round is warm; and the time of a call."""
    program.times(1, 1, 1)
    once = min(program.times(3, 1, 0)) if program.times(1, 1, 0)[0] < 1e8 else program.times(1, 1, 0)[0]
    batch = max(1, math.ceil(SAMPLE_NS / max(once, 1)))
    samples = max(1, min(SAMPLES_MOST, int(40e6 / (once * batch))))
    warm = 0 if once > LONG_NS else max(1, min(1000, int(WARM_NS / max(once, 1))))
    return samples, batch, warm, once


def measure(racing, rounds):
    """The least time of each program in each round."""
    plans = {name: plan_of(program) for name, program in racing.items()}
    times = {name: [] for name in racing}
    if max(once for *_, once in plans.values()) > 4 * LONG_NS:
        rounds = min(rounds, ROUNDS_LONG)
    for number in range(rounds):
        order = list(racing)[:: 1 if number % 2 == 0 else -1]
        for name in order:
            times[name].append(min(racing[name].times(*plans[name][:3])))
    return times


def prepare_peers(running, kernel, dims):
    """The libraries that have the kernel and agree with ours; and the others' reasons."""
    racing, skipped = {"ours": running["ours"]}, {}
    words, tolerance = table.KERNELS[kernel][1], table.KERNELS[kernel][4]
    mine = running["ours"].sample()
    for name in table.PEERS:
        if name not in running or words is None:
            continue
        try:
            running[name].prepare(words.format(**dims))
        except programs.Refused as refusal:
            skipped[name] = str(refusal)
            continue
        if not agrees(mine, running[name].sample(), tolerance):
            skipped[name] = "disagrees"
            continue
        racing[name] = running[name]
    return racing, skipped


def prepare_ceiling(running, kernel, dims):
    """Work of one call of the ceiling; None where there is none."""
    if "ceilings" not in running:
        return None
    words = table.KERNELS[kernel][3]
    if words in ("copy", "read"):
        words += f" {table.work_of(kernel, dims)}"
    try:
        return running["ceilings"].prepare(words)
    except programs.Refused as refusal:
        say(f"no ceiling: {refusal}")
        return None


def fractions(kernel, dims, times, ceiling_work):
    """What ours reaches of the ceiling: its median rate, and the share in each round."""
    work = table.work_of(kernel, dims)
    rates = [ceiling_work / t for t in times["ceilings"]]
    return {"peak": {"resource": table.KERNELS[kernel][3], "unit": "GFLOP/s" if table.KERNELS[kernel][3].startswith("peak") else "GB/s",
                     "value": statistics.median(rates)},
            "fraction_of_peak": statistics_of.summary([work / t / r for t, r in zip(times["ours"], rates)])}


def result_of(kernel, case, dims, threads, times, skipped, ceiling_work):
    found = {"kernel": kernel, "case": case, "threads": threads, "profile": table.KERNELS[kernel][0], "dims": dims,
             "ours": statistics_of.summary(times["ours"]), "skipped": skipped,
             "peers": {n: statistics_of.summary(t) for n, t in times.items() if n in table.PEERS},
             "best_peer": None, "ratio_to_best_peer": None, "peak": None, "fraction_of_peak": None}
    if found["peers"]:
        best = min(found["peers"], key=lambda n: found["peers"][n]["median"])
        ratios = [theirs / mine for theirs, mine in zip(times[best], times["ours"])]
        found.update(best_peer=best, ratio_to_best_peer=statistics_of.summary(ratios))
    if ceiling_work:
        found.update(fractions(kernel, dims, times, ceiling_work))
    return found


def run_case(given, running, folder, kernel, case, dims, threads):
    module = compile_module(given, folder, kernel, dims, threads)
    constant = f" constant {table.CONSTANTS[kernel]}" if kernel in table.CONSTANTS else ""
    running["ours"].prepare(f"module {module.name} {kernel}{constant}" + (" positive" if kernel in table.POSITIVE else ""))
    racing, skipped = prepare_peers(running, kernel, dims)
    ceiling_work = prepare_ceiling(running, kernel, dims)
    if ceiling_work:
        racing["ceilings"] = running["ceilings"]
    return result_of(kernel, case, dims, threads, measure(racing, given.rounds), skipped, ceiling_work)


def scaled_time(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.4g} {unit}"
    return f"{ns:.4g} ns"


def heading():
    return (f"{'case':30} t  {'ours':>9} {'of peak':>8} " + "".join(f"{name:>10}" for name in table.PEERS) +
            "   best peer / ours")


def row_of(r):
    share = f"{100 * r['fraction_of_peak']['median']:.1f} %" if r["fraction_of_peak"] else "-"
    theirs = "".join(f"{scaled_time(r['peers'][n]['median']) if n in r['peers'] else '-':>10}" for n in table.PEERS)
    ratio = r["ratio_to_best_peer"]
    ending = f"   {ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}] {r['best_peer']}" if ratio else ""
    wrong = [n for n, why in r["skipped"].items() if why == "disagrees"]
    return (f"{r['kernel'] + '/' + r['case']:30} {r['threads']}  {scaled_time(r['ours']['median']):>9} {share:>8} {theirs}{ending}" +
            (f"   OTHER NUMBERS: {', '.join(wrong)}" if wrong else ""))


def markdown_row(r):
    share = f"{100 * r['fraction_of_peak']['median']:.0f} %" if r["fraction_of_peak"] else "-"
    ratio = r["ratio_to_best_peer"]
    theirs = f"{scaled_time(r['peers'][r['best_peer']]['median'])} {r['best_peer']}" if ratio else "-"
    shown = f"**{ratio['median']:.2f}** ({ratio['low']:.2f} to {ratio['high']:.2f})" if ratio else "-"
    ceiling = f"{share} of {r['peak']['resource']}" if r["peak"] else "-"
    return f"| `{r['kernel']}/{r['case']}` | {r['threads']} | {scaled_time(r['ours']['median'])} | {ceiling} | {theirs} | {shown} |"


def print_markdown(document):
    m = document["machine"]
    print(f"{m['processor']}, {m['cores']} cores, {m['date'][:10]}, load {m['load']:.1f} at the start, {document['rounds']} rounds.\n")
    print("| case | threads | ours | share of the ceiling | best library | its time / ours |\n|---|---|---|---|---|---|")
    print("\n".join(map(markdown_row, document["results"])))
    print("\n| kernel | threads | cases | geometric mean | least |\n|---|---|---|---|---|")
    for g in document["geometric_means"]:
        print(f"| `{g['kernel']}` | {g['threads']} | {g['cases']} | {g['ratio']:.2f} | {g['least']:.2f} |")


def means(results):
    """Geometric means of the ratios, by kernel and number of threads."""
    groups = {}
    for r in results:
        if r["ratio_to_best_peer"]:
            groups.setdefault((r["kernel"], r["threads"]), []).append(r["ratio_to_best_peer"]["median"])
    return [{"kernel": k, "threads": t, "cases": len(v), "ratio": statistics_of.geometric_mean(v), "least": min(v)}
            for (k, t), v in groups.items()]


def machine():
    model = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"processor": model.group(1) if model else "unknown", "cores": os.cpu_count(), "load": os.getloadavg()[0],
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}


def run_threads(given, threads, document):
    with tempfile.TemporaryDirectory() as folder:
        running, absent = programs.start(given.build.resolve() / "peers", threads, folder)
        document["peers"] = {name: program.version for name, program in running.items()}
        document["skipped"] = absent
        for name, why in absent.items():
            say(f"skipped: {name}: {why}")
        try:
            run_cases(given, running, folder, threads, document)
        finally:
            for program in running.values():
                program.close()


def run_cases(given, running, folder, threads, document):
    for kernel, case, dims in chosen_cases(given):
        try:
            found = run_case(given, running, folder, kernel, case, dims, threads)
        except programs.Refused as refusal:
            document["refused"].append({"kernel": kernel, "case": case, "threads": threads, "why": str(refusal)})
            say(f"{kernel}/{case}: {refusal}")
            continue
        document["results"].append(found)
        print(row_of(found), file=given.table, flush=True)


def main():
    given = arguments_of()
    if given.list:
        print("\n".join(f"{kernel}/{case}" for kernel, case, _ in chosen_cases(given)))
        return 0
    if given.realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME_PRIORITY))  # what is started from here too
        except PermissionError:
            sys.exit("ci/peers: --realtime needs the right to SCHED_FIFO: be root, or raise `ulimit -r`")
    document = {"machine": machine(), "rounds": given.rounds, "refused": [], "results": []}
    print(heading(), file=given.table, flush=True)
    for threads in given.threads:
        run_threads(given, threads, document)
    document["geometric_means"] = means(document["results"])
    if given.json:
        print(json.dumps(document, indent=1))
    elif given.markdown:
        print_markdown(document)
    else:
        for m in document["geometric_means"]:
            print(f"{m['kernel']} on {m['threads']}: geometric mean {m['ratio']:.3f} of {m['cases']} cases, least {m['least']:.3f}")
    wrong = any("disagrees" in r["skipped"].values() for r in document["results"])
    return 1 if wrong or document["refused"] or not document["results"] else 0


if __name__ == "__main__":
    sys.exit(main())
