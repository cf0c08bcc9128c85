"""nets - the checks that may catch a fault, from the cheapest to the dearest, and which of their runs reach its place.

A net is a command of tsr, run by kernel or as a whole. Its first run, of the planted build with no fault chosen, must pass, and tells for each
kernel how long it takes and which places it reaches (TSR_FAULT_SEEN). A fault is then looked for with the kernels alone that reach its place,
the quickest first, each time twice as many together, up to the first that fails.
"""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from planting import ROOT, TESTS, Fault, Mend

CORPUS = ROOT / "corpus"
ROOM_BYTES = 12 << 30
LONGEST_S, SLOWEST_S = 300, 10  # of a command; of a kernel, as others take as long on a busy machine as a fault that never ends
WITHOUT = Fault(0, 0, {})
UNCOVERED = 5  # the exit code of `tsr golden verify` where a case has no golden of its key
STALE = "stale golden"  # the graph is another one: what bench then compares with is as wrong, so that a check of numbers is looked for
JOBS, TRIES = 2, 3


@dataclass(frozen=True)
class Net:
    name: str
    words: tuple  # of tsr
    by_kernel: bool = True
    backend: str = ""  # of its packs; "": it has none
    counts: str = ""  # a regular expression of what it prints last, which is compared with that of the first run, in place of its exit code
    under: str = ""  # the folder of the corpus that has its kernels; "": all

    def command(self, tsr, kernels, files, room):
        if self.words[0] == "test":
            return [*self.words[1:-1], str(tsr.parent / self.words[-1])]
        words = [str(tsr), *self.words]
        if self.words[0] == "bench":
            words += ["--no-tuned", "--no-cache", "--fail-fast", "--timeout", "20", "--db", str(room / "results.db"), "--json",
                      "--failures", str(room / "failures")]
        elif self.words[0] == "golden":
            words += ["--timeout", "20", "--json"] + (["--no-cache"] if self.backend != "interp" else [])
        elif self.words[0] == "check":
            words += ["--timeout", "20", "--failures", str(room / "failures")]
        else:
            words += ["--failures", str(room / "failures"), "--tally", str(room / "tally.json")]
        return words + (["--filter", ",".join(kernels), *files] if self.by_kernel else [])


    def folder(self):
        """Tests run where they do under ctest."""
        return ROOT if self.words[0] == "test" else None


def bench(backend, *more, name="", under=""):
    return Net(name or backend, ("bench", "--quick", "--backend", backend, *more), backend=backend, under=under)


def goldens(backend, *more, name=""):
    return Net(name or backend, ("golden", "verify", "--quick", "--backend", backend, *more), backend=backend)


def fuzz(*more, name):
    return Net(name, ("fuzz", *more, "--seed", "1", "--minutes", "4"), False)


BENCH = bench("cpu")
NETS = (
    goldens("cpu", name="goldens"),
    goldens("interp"),
    bench("ptx-emulated"),
    bench("rocm-emulated"),
    goldens("cpu", "--isa", "x86-64-v3", name="x86-64-v3"),
    goldens("cpu", "--unoptimised", name="unoptimised"),
    *(Net(Path(test).name, ("test", Path(test).name), False) for test in TESTS if test != "tsr-opt"),
    bench("cpu", "--generic", name="generic"),
    bench("cpu", "--device", "simulated", name="simulated"),
    bench("cpu", "--profile", "fast,deterministic", name="profiles"),
    bench("cpu", "--ranks", "3", "--threads", "1", name="ranks", under="collectives"),
    bench("cpu", "--ranks", "8", "--threads", "1", name="ranks of two axes", under="collectives"),
    BENCH,
    fuzz("--kernels", "400", name="fuzz"),
    fuzz("--programs", "--kernels", "200", name="fuzz programs"),
    fuzz("--tiles", "--kernels", "200", name="fuzz tiles"),
    fuzz("--batches", "--kernels", "200", name="fuzz batches"),
    fuzz("--derivatives", "--kernels", "200", name="fuzz derivatives"),
    fuzz("--schedules", "6", *(str(CORPUS / name) for name in ("reduction", "matmul")), name="fuzz schedules"),
    Net("compiler_levels", ("test", "/usr/bin/python3", "-B", str(ROOT / "compiler/test/levels.py"), "tsr-opt"), False),
    Net("stablehlo suite", ("test", "/usr/bin/python3", "-B", str(ROOT / "ci/stablehlo.d/suite.py"), "--interpret", "--jobs", "2", "--build", "."),
        False, counts=r"\d+ of \d+ files pass"),
    goldens("vulkan"),
    Net("check", ("check", "--shapes", "1", "--budget", "3")),
)


def environment(room, fault=0, seen=None):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TSR_", "TESSERA_"))}
    kept.update(HOME=str(room), TMPDIR=str(room), TSR_CACHE=str(room / "cache"))
    if fault:
        kept["TSR_FAULT"] = str(fault)
    if seen:
        kept["TSR_FAULT_SEEN"] = str(seen)
    return kept


@dataclass
class Ended:
    code: int  # of the exit; below 0: the signal that ended it
    out: str
    err: str
    seconds: float


def limit_room():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_BYTES, ROOM_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(words, room, fault=0, seen=None, folder=None, longest=LONGEST_S):
    """Runs a command in a session of its own, so that all that it started can be ended; in the room, or in a folder."""
    began = time.monotonic()
    process = subprocess.Popen(words, cwd=folder or room, env=environment(room, fault, seen), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit_room, errors="replace")
    try:
        out, err = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Ended(-signal.SIGALRM, out, err, time.monotonic() - began)
    return Ended(process.returncode, out, err, time.monotonic() - began)


def kernels_of_corpus(tsr, room):
    """{kernel: its file}: those with quick cases."""
    found = {}
    for file in sorted([*CORPUS.rglob("*.tsr"), *CORPUS.rglob("*.mlir"), *CORPUS.rglob("*.mlirbc")]):
        ended = run([str(tsr), "bench", "--list", "--quick", "--backend", "cpu", str(file)], room)
        for line in ended.out.splitlines():
            if "/" in line:
                found.setdefault(line.split("/")[0], str(file))
    if not found:
        raise Mend(f"{tsr} bench --list names no kernel of {CORPUS}")
    return found


# ---- which runs reach which places

class Coverage:
    """Seconds by net and kernel, and the numbers of the faults whose places are reached. Kept in a file, as long as the planted build."""

    def __init__(self, planted, path, stamp):
        self.planted, self.path, self.stamp, self.lock = planted, Path(path), stamp, Lock()
        try:
            kept = json.loads(self.path.read_text())
        except (OSError, ValueError):
            kept = {}
        self.nets = kept.get("nets", {}) if kept.get("stamp") == stamp else {}
        self.files = kept.get("files", {}) if kept.get("stamp") == stamp else {}
        self.broken = kept.get("broken", []) if kept.get("stamp") == stamp else []
        self.counted = kept.get("counted", {}) if kept.get("stamp") == stamp else {}

    def keep(self):
        self.path.write_text(json.dumps({"stamp": self.stamp, "files": self.files, "nets": self.nets, "broken": self.broken, "counted": self.counted}))

    def kernels(self):
        if not self.files:
            with tempfile.TemporaryDirectory() as room:
                self.files = kernels_of_corpus(self.planted.tsr, Path(room))
        return self.files

    def look(self, net, kernel):
        with tempfile.TemporaryDirectory() as room:
            room = Path(room)
            seen = room / "seen"
            files = [self.files[kernel]] if kernel else []
            ended = run(net.command(self.planted.tsr, [kernel], files, room), room, seen=seen, folder=net.folder())
            reached = [number for number, byte in enumerate(seen.read_bytes()) if byte] if seen.is_file() else []
            return kernel, ended, reached

    def of(self, net):
        """{kernel ("" for a net that has none): [seconds, numbers]}."""
        with self.lock:
            return self.nets[net.name] if net.name in self.nets else self.cover(net)

    def cover(self, net):
        names = [name for name, file in self.kernels().items() if not net.under or net.under in Path(file).parts] if net.by_kernel else [""]
        found = {}
        with ThreadPoolExecutor(JOBS) as pool:
            for kernel, ended, reached in pool.map(lambda kernel: self.look(net, kernel), names):
                if net.counts and re.search(net.counts, ended.out):
                    self.counted[net.name] = re.search(net.counts, ended.out)[0]
                    ended.code = 0
                if ended.code == 0:
                    found[kernel] = [round(ended.seconds, 3), reached]
                elif not cannot(ended):
                    self.broken.append(f"{net.name}: {kernel or 'all'} ends with {ended.code} where no fault is chosen: {last_line(ended)}")
        self.nets[net.name] = found
        self.keep()
        return found


def cannot(ended):
    """Nothing of the kernel can be run that way, there is no such device here, or a test is skipped."""
    return ended.code in (2, 4, 77)


def last_line(ended):
    lines = [line for line in (ended.err + "\n" + ended.out).splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


# ---- one fault

def groups(names):
    size = 1
    while names:
        yield names[:size]
        names, size = names[size:], size * 2


def first_failure(net, ended):
    """The first result that is not as it should be, in the command's words: a kernel and case, and how it ended."""
    if net.words[0] in ("bench", "golden"):
        try:
            results = json.loads(ended.out).get("results", [])
        except ValueError:
            results = []
        stale = [each for each in results if each["why"] == STALE]
        for each in [each for each in results if each["status"] not in ("ok", "skipped", "unsupported")] + stale:
            return {"kernel": each["kernel"], "case": each["case"], "status": STALE if each["why"] == STALE else each["status"],
                    "said": (each["why"] or "")[:300], "profile": each["profile"], "pack": each["pack"]}
    if net.words[0] == "golden" and ended.code == UNCOVERED:
        return {"kernel": "", "case": "", "status": STALE, "said": last_line(ended), "pack": None}
    if ended.code < 0:
        word = "hangs" if ended.code == -signal.SIGALRM else "crash of tsr"
        return {"kernel": "", "case": "", "status": word, "said": signal.Signals(-ended.code).name, "pack": None}
    found = re.search(r"([a-z][\w ]{3,30}?) +(?:kernel|program) (\d+)", ended.out)
    return {"kernel": "", "case": "", "status": "refused" if ended.code in (2, 3, 4) and net.words[0] != "test" else "fails",
            "said": (found[0] if found else last_line(ended))[:300], "pack": None}


def attempt(coverage, net, fault, names, room):
    """Runs a net of kernels, or of cases; how it fails, or None."""
    files = sorted({coverage.files[name.split("/")[0]] for name in names if name})
    ended = run(net.command(coverage.planted.tsr, names, files, room), room, fault.number, folder=net.folder())
    if net.counts and coverage.counted.get(net.name):
        found = re.search(net.counts, ended.out)
        ended.code = 0 if found and found[0] == coverage.counted[net.name] else ended.code or 1
    if ended.code == 0:
        return None
    caught = {**first_failure(net, ended), "net": net.name, "seconds": round(ended.seconds, 2), "exit": ended.code}
    if not caught["kernel"] and len(names) == 1:
        caught["kernel"] = names[0].split("/")[0]
    return caught


def confirmed(coverage, net, fault, caught, names, room):
    """The failure of a case by itself, by bench where goldens found it, or of a kernel where no case failed; None: it does not fail again, or
    fails without the fault, too."""
    if caught["status"] == STALE:
        return caught
    if not caught["case"]:
        alone = next((found for found in (attempt(coverage, net, fault, [name], room) for name in names) if found), None) if len(names) > 1 else caught
        return alone if alone and not attempt(coverage, net, WITHOUT, names, room) else None
    case = [f"{caught['kernel']}/{caught['case']}"]
    for again in (BENCH,) * (net is NETS[0]) + (net,) * TRIES:
        found = attempt(coverage, again, fault, case, room)
        if found:
            late = found["status"] == "timeout" and attempt(coverage, again, WITHOUT, case, room)
            return None if late else found
    return None


def catch(coverage, fault, room, only=None):
    """The first net that catches the fault, and how; or how far it was reached. What goldens alone catch is tried by bench, whose pack it gets."""
    began, reached, runs, stale = time.monotonic(), 0, 0, None
    for net in NETS:
        if only and net.name not in only:
            continue
        found = coverage.of(net)
        names = sorted((name for name, (seconds, seen) in found.items() if fault.number in seen and seconds < SLOWEST_S), key=lambda name: found[name][0])
        reached += len(names)
        for group in groups(names):
            runs += 1
            caught = attempt(coverage, net, fault, group, room)
            caught = confirmed(coverage, net, fault, caught, group, room) if caught else None
            if caught and caught["status"] == STALE:
                stale = stale or {**caught, "runs": runs}
            elif caught:
                return {**caught, "runs": runs}
    return stale or {"net": None, "reached": reached, "seconds": round(time.monotonic() - began, 1), "runs": runs}
