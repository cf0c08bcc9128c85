"""The program `tsr`: where it is, and running it."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import subprocess
from typing import Any

from tessera._errors import Error

HERE = pathlib.Path(__file__).resolve().parent


@functools.lru_cache(maxsize=None)
def _find(named: str | None) -> str:
    if named:
        return named
    for beside in (HERE.parent.parent / "tsr", HERE.parents[3] / "bin" / "tsr"):
        if os.access(beside, os.X_OK) and beside.is_file():
            return str(beside)
    found = shutil.which("tsr")
    if not found:
        raise Error("the program tsr is neither beside the package nor on PATH; TSR=FILE in the environment names it")
    return found


def program() -> str:
    """The path of tsr: $TSR, else the one of this build or installation, else the one on PATH."""
    return _find(os.environ.get("TSR"))


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([program(), *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise Error(f"cannot run {program()}: {error.strerror}") from error


def options_of(options: dict[str, Any]) -> list[str]:
    """Keywords as options of the command line.

    >>> options_of({"quick": True, "order_probe": False, "threads": 2, "filter": ["a", "b"]})
    ['--quick', '--threads=2', '--filter=a', '--filter=b']
    """
    words = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            words += [option] if value else []
        else:
            several = value if isinstance(value, (list, tuple)) else [value]
            words += [f"{option}={one}" for one in several if one is not None]
    return words


def document(arguments: list[str]) -> dict[str, Any]:
    """The JSON document that a command prints; Error with its words where it prints none."""
    done = run([*arguments, "--json"])
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise Error(done.stderr.strip() or f"tsr {arguments[0]} ended with {done.returncode}") from error
    return found
