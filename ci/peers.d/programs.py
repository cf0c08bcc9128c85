"""The processes that ci/peers times: one for each library, of which only one is awake at a time."""
import os
import pathlib
import signal
import subprocess

import table


class Refused(Exception):
    """A library that has no such kernel, with its words."""


class Program:
    """A running peer (serve.c). It is stopped whenever it is not asked something, so that none of its threads spins."""

    def __init__(self, name, path, threads, settings, folder):
        environment = dict(os.environ, PEER_THREADS=str(threads), OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false",
                           OMP_WAIT_POLICY="active", OPENBLAS_NUM_THREADS=str(threads), BLIS_NUM_THREADS=str(threads),
                           **settings)
        self.name = name
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
                                        cwd=folder, text=True)
        self.version = self.process.stdout.readline().strip()
        self.pause()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, line):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} ended with {self.process.wait()} at: {line}")
        self.pause()
        return answer.strip()

    def prepare(self, words):
        """The work of one call that a ceiling names; raises Refused."""
        answer, _, rest = self.ask(f"prepare {words}").partition(" ")
        if answer != "ok":
            raise Refused(rest)
        return float(rest)

    def times(self, samples, batch, warm):
        return [float(t) for t in self.ask(f"run {samples} {batch} {warm}").split()]

    def sample(self):
        count, total, *values = self.ask("sample").split()
        return int(count), float(total), [float(v) for v in values]

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def has_avx512():
    try:
        return " avx512f " in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def start(folder, threads, work):
    """Ours, the ceilings and the libraries that were built, by name; and why each of the others was not."""
    running, absent = {}, {}
    for name in ("ours", "ceilings"):
        if (folder / name).exists():
            running[name] = Program(name, folder / name, threads, {}, work)
        else:
            absent[name] = "the compiler has no OpenMP" if name == "ceilings" else "not built"
    for name, (package, settings) in table.PEERS.items():
        if not (folder / name).exists():
            absent[name] = f"{package} is not installed"
            continue
        suited = {k: v for k, v in settings.items() if has_avx512() or k not in table.NEEDS_AVX512}
        running[name] = Program(name, folder / name, threads, suited, work)
    return running, absent
