"""The program `tsr`: where it is, and running it."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
from typing import Any

from tessera._errors import Error

HERE = pathlib.Path(__file__).resolve().parent


@functools.lru_cache(maxsize=None)
def _find(named: str | None) -> str:
    if named:
        return named
    for beside in (HERE / "program/bin/tsr", HERE.parent.parent / "tsr", HERE.parents[3] / "bin/tsr"):
        if os.access(beside, os.X_OK) and beside.is_file():
            return str(beside)
    found = shutil.which("tsr")
    if not found:
        raise Error(
            "the program tsr is neither beside the package nor on PATH; install the package again from a checkout that is built "
            "(cmake --preset default && cmake --build --preset default), or name the program: TSR=FILE in the environment"
        )
    return found


def program() -> str:
    """The path of tsr: $TSR, else the one of this package, build or installation, else the one on PATH."""
    return _find(os.environ.get("TSR"))


def called() -> str:
    """The word to type for the program."""
    return "tsr" if shutil.which("tsr") else shlex.quote(program())


def python_setting() -> str:
    """The setting to type before it, for functions to run in this Python; nothing where they do anyway."""
    usual = os.environ.get("TESSERA_PYTHON") or shutil.which("python3") or ""
    return "" if usual == sys.executable else f"TESSERA_PYTHON={shlex.quote(sys.executable)} "


def _environment() -> dict[str, str]:
    """Functions run in this Python, with what it can import, unless TESSERA_PYTHON names another."""
    found = dict(os.environ)
    if not found.get("TESSERA_PYTHON"):
        found["TESSERA_PYTHON"] = sys.executable
        found["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in sys.path if isinstance(folder, str))
    return found


def main() -> None:
    """The command `tsr` of an installed package: the program, whose functions of Python run in this one."""
    try:
        os.execve(program(), ["tsr", *sys.argv[1:]], _environment())
    except (Error, OSError) as error:
        sys.exit(f"tsr: {error}")


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    words = [program(), *arguments]
    try:
        return subprocess.run(
            words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=_environment()
        )
    except OSError as error:
        raise Error(f"cannot run {program()}: {error.strerror}") from None


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


def document(command: str, *paths: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """The JSON document that a command prints; Error with its words where it prints none."""
    if os.environ.get("TESSERA_IN_GUEST"):
        raise Error(
            f"tsr {command} was called while tsr itself imports this file for a function of it; what is to run only "
            "when the file is started belongs behind: if __name__ == '__main__':"
        )
    done = run([command, *(os.fspath(path) for path in paths), *options_of(options), "--json"])
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.partition("\nusage: ")[0].strip().removeprefix("tsr: ")
        raise Error(said or f"tsr {command} ended with {done.returncode}") from None
    return found
