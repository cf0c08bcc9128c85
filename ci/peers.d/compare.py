#!/usr/bin/env python3
"""compare - ours beside the libraries: runs `tsr bench --with` of each that was built, and prints what it found as a table. Started
by ci/peers; `ci/peers --help`. Nothing is timed or judged here.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
REALTIME_PRIORITY = 5

# Each library with its Debian package and what makes it run its best kernels on processors that it does not know.
PEERS = {
    "openblas": ("libopenblas-dev", {"OPENBLAS_CORETYPE": "SkylakeX"}),
    "onednn": ("libdnnl-dev", {}),
    "blis": ("libblis-dev", {"BLIS_ARCH_TYPE": "skx"}),
    "xsmm": ("libxsmm-dev", {}),
}

# Frameworks, with what installs the module of each.
FRAMEWORKS = {
    "numpy": "apt-get install python3-numpy",
    "torch": "apt-get install python3-torch",
    "jax": "pip install jax",
    "onnxruntime": "pip install onnx onnxruntime",
}

# The settings hold for processors with AVX-512; on others the libraries choose for themselves.
NEEDS_AVX512 = {"OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE"}

# Ours is compiled for strict, and the libraries are held to fast; of these both are fast.
FAST = "matmul_bf16"

# Cases whose results of one thread take as long as all others together.
LONG = ("/4096", "/h1_16384_64", "/h1_16384_128")

QUICK = ["matmul_f32/64", "matmul_bf16/128", "matmul_bf16_pairs/128", "matmul_i8/128", "softmax_f32/64"]


def say(words):
    print(f"ci/peers: {words}", file=sys.stderr, flush=True)


def arguments_of():
    parser = argparse.ArgumentParser(prog="ci/peers", description="Ours against OpenBLAS, oneDNN, BLIS and libxsmm on the same "
                                     "shapes, and with --frameworks NumPy, PyTorch, JAX and ONNX Runtime. Installs what is missing of ci/peers.d/packages, unless told --no-install.")
    parser.add_argument("--filter", action="append", default=[], metavar="GLOB", help="cases such as 'matmul_f32/*'; repeatable")
    parser.add_argument("--threads", default="1,2", metavar="LIST", help="thread counts (default: 1,2)")
    parser.add_argument("--with", action="append", default=[], metavar="FILE", dest="others",
                        help="another implementation beside the libraries, as tsr bench takes them; repeatable")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="everything N times, in new processes each time: a ratio is the "
                        "median of the N, between the least and the greatest that any of them allows (default: 1)")
    parser.add_argument("--frameworks", action="store_true", help="beside NumPy, PyTorch, JAX and ONNX Runtime, too: of the Python in "
                        "build/peers-python, which is made with what is missing, or the one that TESSERA_PYTHON names")
    parser.add_argument("--realtime", action="store_true", help="before everything else that runs here (SCHED_FIFO, which needs the "
                        "right to it): on a machine that others use too")
    parser.add_argument("--long", action="store_true", help="the longest cases (4096, h1_16384) with every number of threads; without it, "
                        "and without --filter, with the greatest alone: one result of one thread takes a minute")
    parser.add_argument("--quick", action="store_true", help="the smallest cases, few rounds: to see that it works")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, and nothing else there")
    parser.add_argument("--markdown", action="store_true", help="the results as the tables of docs/performance.md")
    parser.add_argument("--list", action="store_true", help="the names of the cases")
    parser.add_argument("--kernels", default=HERE / "kernels.tsr", type=pathlib.Path, metavar="PATH",
                        help="other kernels than ci/peers.d/kernels.tsr: the libraries know those of corpus/ by name, too")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.threads = [int(t) for t in given.threads.split(",")]
    if min(given.threads) < 1:
        parser.error("threads are at least 1")
    if given.rounds < 1:
        parser.error("rounds are at least 1")
    given.filter = given.filter or (QUICK if given.quick else [])
    return given


def has_avx512():
    try:
        return " avx512f " in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def environment(given, threads):
    """Teams wait awake, since the harness stops who is not measured, and each thread of a team has a core of its own."""
    found = dict(os.environ, OMP_WAIT_POLICY="active", OMP_DYNAMIC="false", TESSERA_PYTHON=python_of(given))
    if threads > 1:
        found.update(OMP_PROC_BIND="spread", OMP_PLACES="cores")
    for _, settings in PEERS.values():
        found.update({k: v for k, v in settings.items() if has_avx512() or k not in NEEDS_AVX512})
    return found


def python_of(given):
    """The Python that runs the frameworks."""
    own = given.build / "peers-python" / "bin" / "python3"
    return os.environ.get("TESSERA_PYTHON") or (str(own) if own.exists() else "/usr/bin/python3")


def versions_of(given):
    """The version of each framework that this Python has."""
    words = "import importlib, sys; print(importlib.import_module(sys.argv[1]).__version__)"
    found = {}
    for name in FRAMEWORKS if given.frameworks else ():
        done = subprocess.run([python_of(given), "-c", words, name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False)
        if done.returncode == 0:
            found[name] = done.stdout.strip()
        else:
            say(f"skipped: {name}: {python_of(given)} has no such module; {FRAMEWORKS[name]}")
    return found


def debian_version(package):
    """The version of a package, or None."""
    if not shutil.which("dpkg-query"):
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    return done.stdout or None


def find_implementations(given):
    """The libraries that were built, the frameworks that are there, and what else was given; and the versions of the first two."""
    libraries = {name: given.build / "peers" / f"{name}.so" for name in PEERS}
    for name, path in libraries.items():
        if not path.exists():
            say(f"skipped: {name}: {PEERS[name][0]} is not installed")
    libraries = {name: path for name, path in libraries.items() if path.exists()}
    frameworks = versions_of(given)
    versions = {name: debian_version(PEERS[name][0]) for name in libraries} | frameworks
    files = list(libraries.values()) + [HERE / "frameworks" / f"peer_{name}.py" for name in frameworks]
    return [str(file) for file in files] + given.others, versions


def cases_of(given):
    """KERNEL/CASE of all that was asked for."""
    listed = subprocess.run([given.build / "tsr", "bench", given.kernels, "--list", "--threads", "1"] + filters(given.filter),
                            stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line.split("@")[0] for line in listed.splitlines()]


def filters(names):
    return [word for name in names for word in ("--filter", name)]


def has_kernel(given, file, names):
    """Tells whether the file implements one of these."""
    asked = [given.build / "tsr", "bench", given.kernels, "--list", "--with", file] + filters(names)
    return subprocess.run(asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def bench(given, implementations, names, profile, threads, folder):
    """The document of one run; without any implementation, ours alone."""
    command = [given.build / "tsr", "bench", given.kernels, "--json", "--db", f"{folder}/db", "--failures", f"{folder}/packs",
               "--threads", ",".join(map(str, threads)), "--timeout", "300"] + profile + filters(names) + (["--quick"] if given.quick else [])
    for file in implementations:
        command += ["--with", file] if has_kernel(given, file, names) else []
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment(given, max(threads)), text=True, check=False)
    # 5: a library takes none of these.
    if done.returncode not in (0, 1, 5) or not done.stdout:
        sys.exit(f"ci/peers: tsr bench ended with {done.returncode}")
    return json.loads(done.stdout)


def run_all(given, folder):
    """One document of all runs."""
    implementations, versions = find_implementations(given)
    names = cases_of(given)
    if not implementations:
        sys.exit("ci/peers: none of the libraries is installed (ci/peers.d/packages)")
    fast = [name for name in names if name.split("/")[0] == FAST]
    all_of_it = None
    # One process runs all numbers of threads, so that what a case must give is computed once.
    most = [max(given.threads)]
    last = [] if given.long or given.filter else [name for name in names if name.endswith(LONG)]
    for chosen, threads in ([n for n in names if n not in last], given.threads), (last, most):
        for part, profile in ([n for n in chosen if n not in fast], []), ([n for n in chosen if n in fast], ["--profile", "fast"]):
            if not part:
                continue
            found = bench(given, implementations, part, profile, threads, folder)
            if all_of_it:
                all_of_it["results"] += found["results"]
                all_of_it["ceilings"] += found["ceilings"]
            else:
                all_of_it = dict(found, versions=versions)
    return all_of_it


def key_of(r):
    return r["kernel"], r["case"], r["threads"], r["backend"]


def combined(documents):
    """One document of several rounds: of each result the one with the median ratio, or time where it has none; one that fails in any
    round is a failure."""
    document, groups = documents[0], {}
    for r in (r for each in documents for r in each["results"]):
        groups.setdefault(key_of(r), []).append(r)
    document["results"] = [middle_of(group, len(documents)) for group in groups.values()]
    return document


def middle_of(group, rounds):
    failed = [r for r in group if r["status"] != "ok"]
    if failed or rounds == 1:
        return (failed or group)[0]
    compared = [r for r in group if "beside" in r]
    if len(compared) < len(group):
        return sorted(group, key=lambda r: r["time_ns"]["median"])[len(group) // 2] if not compared else compared[0]
    ordered = sorted(compared, key=lambda r: r["beside"]["ratio"]["median"])
    found = ordered[len(ordered) // 2]
    ratios = [r["beside"]["ratio"] for r in ordered]
    found["beside"]["ratio"] = {"median": found["beside"]["ratio"]["median"], "low": min(r["low"] for r in ratios),
                                "high": max(r["high"] for r in ratios)}
    return found


def rows_of(results):
    """For each case and number of threads: our result, and those of the libraries by name."""
    rows = {}
    for r in results:
        row = rows.setdefault((r["kernel"], r["case"], r["threads"]), {"ours": None, "peers": {}})
        if "implementation" in r:
            row["peers"][pathlib.Path(r["backend"]).stem.removeprefix("peer_")] = r
        else:
            row["ours"] = r
    return rows


def best_of(row):
    """The library with the least time."""
    timed = {name: r for name, r in row["peers"].items() if "beside" in r}
    return min(timed, key=lambda name: timed[name]["beside"]["time_ns"]["median"]) if timed else None


def means(rows):
    """Geometric means of the ratios to the best library, by kernel and number of threads."""
    groups = {}
    for (kernel, _, threads), row in rows.items():
        if best_of(row):
            groups.setdefault((kernel, threads), []).append(row["peers"][best_of(row)]["beside"]["ratio"]["median"])
    return [{"kernel": k, "threads": t, "cases": len(v), "ratio": math.exp(sum(map(math.log, v)) / len(v)), "least": min(v)}
            for (k, t), v in groups.items()]


def scaled_time(ns):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.4g} {unit}"
    return f"{ns:.4g} ns"


def ours_of(row):
    """Our time, beside the best library where there is one, and the share of the ceiling with its name."""
    best, ours = best_of(row), row["ours"]
    time = row["peers"][best]["beside"]["ours_ns"]["median"] if best else ours["time_ns"]["median"] if ours["time_ns"] else None
    roofline = ours["roofline"]
    share = f"{100 * roofline['fraction']:.0f} % of {roofline['resource'].split(':')[0].split('.t')[0]}" if roofline else "-"
    return scaled_time(time) if time else ours["status"], share


def print_table(rows):
    names = list(dict.fromkeys(name for row in rows.values() for name in row["peers"]))
    print(f"{'case':30} t {'ours':>10}  {'of the ceiling':24}" + "".join(f"{name:>11}" for name in names) + "   best library / ours")
    for (kernel, case, threads), row in rows.items():
        time, share = ours_of(row)
        best = best_of(row)
        line = f"{kernel + '/' + case:30} {threads} {time:>10}  {share:24}"
        for name in names:
            r = row["peers"].get(name)
            line += f"{'-' if not r else scaled_time(r['beside']['time_ns']['median']) if 'beside' in r else r['status']:>11}"
        if best:
            ratio = row["peers"][best]["beside"]["ratio"]
            line += f"   {ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}] {best}"
        print(line)
    for m in means(rows):
        print(f"{m['kernel']} on {m['threads']}: geometric mean {m['ratio']:.3f} of {m['cases']} cases, least {m['least']:.3f}")


def print_markdown(rows, versions):
    told = ", ".join(f"{name} {version}" for name, version in versions.items())
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {told}.\n")
    print("| case | threads | ours | share of the ceiling | best library | its time / ours |\n|---|---|---|---|---|---|")
    for (kernel, case, threads), row in rows.items():
        time, share = ours_of(row)
        best = best_of(row)
        theirs, shown = "-", "-"
        if best:
            beside = row["peers"][best]["beside"]
            theirs = f"{scaled_time(beside['time_ns']['median'])} {best}"
            shown = f"**{beside['ratio']['median']:.2f}** ({beside['ratio']['low']:.2f} to {beside['ratio']['high']:.2f})"
        print(f"| `{kernel}/{case}` | {threads} | {time} | {share} | {theirs} | {shown} |")
    print("\n| kernel | threads | cases | geometric mean | least |\n|---|---|---|---|---|")
    for m in means(rows):
        print(f"| `{m['kernel']}` | {m['threads']} | {m['cases']} | {m['ratio']:.2f} | {m['least']:.2f} |")


def wrong_of(results):
    """Results that did not hold. A library that has no such kernel is none of them."""
    return [r for r in results if r["status"] not in ("ok", "unsupported")]


def main():
    given = arguments_of()
    if given.list:
        print("\n".join(cases_of(given)))
        return 0
    if given.realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME_PRIORITY))  # what is started from here too
        except PermissionError:
            sys.exit("ci/peers: --realtime needs the right to SCHED_FIFO: be root, or raise `ulimit -r`")
    with tempfile.TemporaryDirectory() as folder:
        document = combined([run_all(given, folder) for _ in range(given.rounds)])
    rows = rows_of(document["results"])
    document["geometric_means"] = means(rows)
    if given.json:
        print(json.dumps(document, indent=1))
    elif given.markdown:
        print_markdown(rows, document["versions"])
    else:
        print_table(rows)
    for r in wrong_of(document["results"]):
        say(f"{r['kernel']}/{r['case']} by {r['backend']} on {r['threads']}: {r['status']}: {r['why']}")
    return 1 if wrong_of(document["results"]) or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
