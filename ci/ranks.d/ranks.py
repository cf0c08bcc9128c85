"""ranks - a training step on several ranks, for ci/ranks-killed and ci/soak: started, watched, and nothing of it left behind."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import time
import uuid

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEP = ROOT / "corpus/models/sharded.tsr"
# Layouts of its mesh of 4 by 2: ranks, and how they lie.
LAYOUTS = [(1, None), (2, "dp=2,tp=1"), (2, "dp=1,tp=2"), (3, "dp=3,tp=1"), (4, "dp=4,tp=1"), (4, "dp=2,tp=2"), (6, "dp=3,tp=2"), (8, "dp=4,tp=2")]
MARK = "TSR_RANKS_TEST"


def transports(tsr):
    """Those that can be had here; mpirun as root, and with more ranks than cores, is told so."""
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    ucx = (tsr.parent / "libtessera-ucx.so").exists()
    mpi = (tsr.parent / "libtessera-mpi.so").exists() and shutil.which("mpirun")
    return ["shm", *(["ucx"] if ucx else []), *(["mpi"] if mpi else [])]


def command(tsr, folder, steps, ranks=1, layout=None, transport="shm", retries=0):
    words = [tsr, "run", f"{STEP}:gpt_step_sharded", "--case", "small", "--steps", str(steps), "--threads", "1", "--state", folder / "state",
             "--out", folder / "out"]
    if ranks > 1:
        words += ["--ranks", str(ranks), "--transport", transport]
        words += ["--layout", layout] if layout else []
        words += ["--retries", str(retries)] if retries else []
    return [str(word) for word in words]


def digest(folder):
    """The hash of the state behind the last step, whatever ranks made it."""
    whole = hashlib.sha256()
    for file in sorted((folder / "out").glob("*.npy")):
        whole.update(file.name.encode() + file.read_bytes())
    return whole.hexdigest()


class Started:
    """A command whose processes, and all that they start, can be told from others by their environment."""

    def __init__(self, words, folder):
        self.mark = uuid.uuid4().hex
        self.shared = set(os.listdir("/dev/shm"))
        self.errors = folder / "errors"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, cwd=folder,
                                            env=os.environ | {MARK: self.mark})

    def alive(self):
        """Process ids with their command lines; a process that has ended and waits to be noticed has none."""
        found = {}
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and f"{MARK}={self.mark}".encode() in pathlib.Path(f"/proc/{entry}/environ").read_bytes():
                    found[int(entry)] = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
        return found

    def ranks(self):
        """Those that are ranks, not the starter of some."""
        return sorted(pid for pid, words in self.alive().items() if b"--rank" in words and not words[0].endswith(b"mpirun"))

    def end(self, limit):
        """Its exit code and what it said; None where it went on behind the limit, and was ended."""
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            self.process.kill()
            self.process.wait()
        return code, self.errors.read_text(errors="replace").strip()

    def left(self, patience=10):
        """Processes and shared memory that are there some time after the end; ended here."""
        until = time.monotonic() + patience
        while self.alive() and time.monotonic() < until:
            time.sleep(0.05)
        orphans = self.alive()
        for pid in orphans:
            os.kill(pid, 9)
        memory = [name for name in set(os.listdir("/dev/shm")) - self.shared if name.startswith(f"tessera-{os.getuid()}-run-{self.process.pid}-")]
        return [b" ".join(words).decode(errors="replace") for words in orphans.values()] + memory
