"""served - a library in a process of its own, which says what it knows, and then times what it is asked for: a word in, seconds out."""
import json
import subprocess
import sys


def started(words, pythons=(sys.executable,)):
    """The process of a script that is run with these words, of which the second is the library; with the first Python that it runs with, or None."""
    for python in pythons:
        process = subprocess.Popen([python, "-B", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if known := process.stdout.readline():
            process.known = json.loads(known)
            return process
        why = process.stderr.read().strip().splitlines()[-1:]
    print(f"ci/peers: {words[2]} is left out: {why}", file=sys.stderr)
    return None


def asked(process, word):
    process.stdin.write(word + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def ended(processes):
    for process in processes:
        process.stdin.close()
        process.wait()
