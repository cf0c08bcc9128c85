"""interrupt.py TSR ROOT SHIM [WORDS]: every command that takes time is interrupted at several points. Each time it ends with
130 and says no verdict, on stdout and in its JSON, and leaves neither processes nor half-made files.

A row of COMMANDS: the command line, what its output would say if it had a verdict, and patterns of files that it must not have
made. A point is a call at which the program waits or touches a file before it settles what it will say (interrupt_at.c); how many
there are is counted first. How often a program waits depends on the machine: a point that a second run does not reach is passed
over, except the first.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TSR, ROOT, SHIM = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]), os.path.abspath(sys.argv[3])
# The shim by name and folder: a blank ends an entry of LD_PRELOAD, but none of LD_LIBRARY_PATH.
PRELOAD = {"LD_PRELOAD": os.path.basename(SHIM), "LD_LIBRARY_PATH": os.path.dirname(SHIM)}
ONLY = sys.argv[4] if len(sys.argv) > 4 else ""
SHORT = bool(os.environ.get("TSR_SHORT"))
SECONDS = 120

SMALL = '''from tessera import *


@cases(case("tiny", M=3, N=5), case("wider", M=7, N=33))
@kernel
def addition(x: Tensor["M", "N", f32], y: Tensor["M", "N", f32]) -> Tensor["M", "N", f32]:
    """x + y."""
    return x + y
'''
RUN = ["--backend", "cpu", "--profile", "strict", "--quick"]
REPLAYED = r"REPRODUCED|NONDETERMINISTIC|DIFFERENT_FAILURE|INVALID_PACK|NEEDS_TRUST|INCOMPATIBLE"
COMMANDS = [
    (["replay", "case.pack"], REPLAYED, []),
    (["replay", "case.pack", "--json"], REPLAYED, []),
    (["replay", "unsteady.pack", "--json"], REPLAYED, []),
    (["pack-repro", "addition", "--case", "tiny", "--backend", "cpu", "--failures", "packs", "corpus"], r"repro\.tar\.lz4",
     ["packs/*", "packs/.*"]),
    (["pack-repro", "addition", "--case", "tiny", "--backend", "cpu", "-o", "one.pack", "corpus"], r"one\.pack",
     ["one.pack", ".staging-*", ".tsr/failures/.*"]),
    (["bench", "corpus", *RUN, "--db", "new.db", "--failures", "packs", "--export", "junit=out.xml"], "", ["out.xml"]),
    (["bench", "corpus", *RUN, "--db", "new.db", "--failures", "packs", "--inject", "zero", "--json", "--export", "csv=out.csv"],
     "", ["out.csv", "packs/.*"]),
    (["bench", "corpus", *RUN, "--negative-controls"], "controls of kernels", []),
    (["golden", "record", "corpus", "--golden", "golden2", "--json"], "", []),
    (["golden", "verify", "corpus", *RUN, "--json"], "", []),
    (["diff", "last:cpu", "last:interp", "--db", "results.db"], r"\d+ compared", []),
    (["diff", "last:cpu", "last:interp", "--db", "results.db", "--json"], '"equal"', []),
    (["tune", "corpus", "--budget", "1", "--tuned", "tuned.jsonl", "--filter", "addition/tiny", "--json"], "", []),
    (["fuzz", "--kernels", "3", "--json"], "", []),
    (["fuzz", "--schedules", "2", "corpus", "--filter", "addition/tiny", "--json"], "", []),
    (["gate", "--baseline", TSR, "corpus", "--quick", "--json", "--no-timing", "--db", "gates.db", "--export", "junit=gate.xml"],
     "EQUIVALENT|REGRESSED", ["gate.xml"]),
    (["gate", "--baseline", "run:last", "--against", "run:last", "--allow", "missing", "--db", "results.db"], "cases:", []),
    (["lint", "corpus", "--code", "--json"], '"findings"', []),
    (["compile", "corpus/small.tsr", "--case", "tiny", "--emit", "module", "-o", "out.tsrm"], "", ["out.tsrm"]),
    (["report", "last", "--db", "results.db", "-o", "page.html"], "", []),
    (["roofline", "--quick", "--json"], '"ceilings"', []),
]


def run(command, folder, **environment):
    """Exit code, stdout, stderr. Everything that it starts is of one session, which is empty afterwards."""
    sanitizers = {"ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}
    child = subprocess.Popen([TSR, *command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True,
                             env={**os.environ, **PRELOAD, **sanitizers, **environment})
    out, err = child.communicate(timeout=SECONDS)
    return child.returncode, out.decode(errors="replace"), err.decode(errors="replace"), child.pid


def in_session(session):
    """Processes that are alive in it."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def is_left_alone(session):
    """Workers are told of their parent's end by the kernel, which takes a moment."""
    deadline = time.monotonic() + SECONDS
    while in_session(session):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def complaints(result, verdict, forbidden, folder):
    code, out, err, session = result
    if code != 130:
        yield f"exit {code}, not 130: {err.strip()[-300:]}"
    if verdict and re.search(verdict, out):
        yield f"it says a verdict: {out[:300]}"
    if out.startswith("{"):
        document = json.loads(out)
        if document.get("interrupted") is not True:
            yield "its JSON does not say that it was interrupted"
        if document.get("verdict") is not None:
            yield f"its JSON has the verdict {document['verdict']}"
    for pattern in [*forbidden, "**/*.tmp-*", "**/.staging-*"]:
        left = [str(path.relative_to(folder)) for path in folder.glob(pattern)]
        if left:
            yield f"it leaves {left}"
    if not is_left_alone(session):
        yield f"it leaves processes {in_session(session)}"


def points(count):
    """The first and the last that are sure to come, and some between."""
    shares = (0.0, 0.5) if SHORT else (0.0, 0.25, 0.5, 0.75)
    return sorted({max(1, round(count * share)) for share in shares})


def check(row, sound):
    command, verdict, forbidden = row
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        whole = pathlib.Path(scratch) / "whole"
        shutil.copytree(sound, whole)
        normal = run(command, whole, INTERRUPT_COUNT=str(pathlib.Path(scratch) / "count"))
        assert normal[0] in (0, 1, 5), (command, normal)
        count = int((pathlib.Path(scratch) / "count").read_text())
        assert count, command
        for number, at in enumerate(points(count)):
            folder = pathlib.Path(scratch) / str(at)
            shutil.copytree(sound, folder)
            which = signal.SIGTERM if number % 2 else signal.SIGINT
            said = pathlib.Path(scratch) / f"said-{at}"
            result = run(command, folder, INTERRUPT_AT=str(at), INTERRUPT_SIGNAL=str(int(which)), INTERRUPT_COUNT=str(said))
            if number and result[0] == normal[0] and said.read_text() != "sent\n":
                continue
            for complaint in complaints(result, verdict, forbidden, folder):
                failures += 1
                print(f"NOT OK - {' '.join(command)}, {which.name} at {at} of {count}: {complaint}")
    print(f"{'NOT OK' if failures else 'ok'} - {' '.join(command)}: {count} points")
    return failures


def prepare(folder):
    (folder / "corpus").mkdir()
    (folder / "corpus" / "small.tsr").write_text(SMALL)

    def tsr(*command, code=0):
        done = subprocess.run([TSR, *command], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == code, (command, done)
        return done.stdout
    tsr("bench", "corpus", "--backend", "cpu,interp", "--profile", "strict", "--quick", "--db", "results.db")
    packed = tsr("pack-repro", "addition", "--case", "tiny", "--backend", "cpu", "--failures", "p", "corpus")
    (folder / packed.strip()).rename(folder / "case.pack")
    packed = tsr("pack-repro", "addition", "--case", "tiny", "--backend", "cpu", "--failures", "p", "corpus", "--inject",
                 "unsteady")
    (folder / packed.strip()).rename(folder / "unsteady.pack")
    (folder / "p").rmdir()
    tsr("golden", "record", "corpus")


def main():
    for name in ("TSR_DB", "TSR_TUNED", "TESSERA_BACKEND", "GITHUB_ACTIONS"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TSR_CACHE"] = scratch + "/cache"
        sound = pathlib.Path(scratch) / "sound"
        sound.mkdir()
        prepare(sound)
        failures = sum(check(row, sound) for row in COMMANDS if ONLY in " ".join(row[0]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
