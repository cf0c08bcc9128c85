#!/usr/bin/env python3
"""tests.py FOLDER [FILE...] - JAX's own test files on the plugin: how many pass, and is one lost?

FOLDER has the tests of the JAX that is installed (its repository's `tests`, of that version; no package has them). FILE, without .py, is one of
those in FILES, which are all run otherwise. Each runs in a process of its own, with JAX's CPU beside ours; --samples N is how many of the
generated cases are taken (2). tests_known.txt lists the tests that do not pass, a line each; others that fail are lost. 77: JAX, pytest or
FOLDER is missing. 1: a test is lost.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KNOWN = HERE / "tests_known.txt"
FILES = (
    "nn_test lax_test lax_numpy_test lax_numpy_reducers_test lax_numpy_operators_test lax_numpy_indexing_test lax_numpy_einsum_test "
    "lax_control_flow_test lax_autodiff_test lax_vmap_test lax_vmap_op_test lax_scipy_test random_test random_lax_test api_test fft_test pmap_test shard_map_test"
).split()
DEVICES = {"pmap_test": "8", "shard_map_test": "8"}  # others have one
NEEDED = ("jax", "pytest", "hypothesis", "absl", "flatbuffers", "pytest_timeout")


def run(folder, name, given):
    own = {
        "JAX_PLATFORMS": "tessera,cpu",
        "JAX_NUM_GENERATED_CASES": str(given.samples),
        "JAX_SKIP_SLOW_TESTS": "1",
        "TESSERA_DEVICES": DEVICES.get(name, "1"),
        "PYTHONPATH": str(given.build.absolute() / "python"),
    }
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=300", "--tb=line", "-rfE", f"{folder.name}/{name}.py"]
    told = subprocess.run([sys.executable, "-B", *words], env={**os.environ, **own}, cwd=folder.parent, capture_output=True, text=True).stdout
    failed = [one.rsplit("::", 1)[-1] for one in re.findall(r"^(?:FAILED|ERROR) (\S+)", told, re.M)]
    counts = {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|skipped|errors?)", told.strip().rsplit("\n", 1)[-1])}
    return failed, counts


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("files", nargs="*", default=FILES)
    options.add_argument("--build", type=Path, default=ROOT / "build")
    options.add_argument("--samples", type=int, default=2)
    given = options.parse_args()
    missing = [name for name in NEEDED if subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode]
    if missing or not given.folder.is_dir():
        print(f"skipped: {', '.join(missing) or given.folder} is missing")
        return 77
    known = set(KNOWN.read_text().split())
    lost, passed, run_all = [], 0, 0
    for name in given.files:
        failed, counts = run(given.folder, name, given)
        new = [f"{name}::{one}" for one in failed if f"{name}::{one}" not in known]
        if not counts.get("passed"):
            new.append(f"{name}: it does not run")
        lost += new
        passed += counts.get("passed", 0)
        run_all += counts.get("passed", 0) + len(failed)
        print(f"{name:26} {counts.get('passed', 0):5} pass, {len(failed):3} do not, {counts.get('skipped', 0):4} are skipped", *new, sep="\n    ", flush=True)
    print(f"{passed} of {run_all} pass ({100 * passed / max(run_all, 1):.1f} %), {len(lost)} are lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
