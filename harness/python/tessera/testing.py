"""For tests: is a function what a kernel says it should be, and does anything but the inputs decide its bits?

`tessera.verify` and `tessera.check` are these functions. What fails leaves a pack for `tsr replay`: in .tsr/failures, or, under
pytest, in the folder of --tessera-packs (pytest_plugin.py).
"""

from __future__ import annotations

import ast
import difflib
import fnmatch
import os
import pathlib
import shlex
import tempfile
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from tessera._commands import Implementation, bench, with_of
from tessera._errors import Error, Plain
from tessera._program import called, document, python_setting

__all__ = ["Mismatch", "Violation", "check", "verify"]

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

# The folder for packs; None: the program's own, .tsr/failures. The plugin sets it.
packs: str | None = None


class Mismatch(AssertionError):
    """A function that is not what the kernel says. `results` are those that do not hold, the smallest first; `packs` the
    files that make them happen again."""

    def __init__(self, text: str, results: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.results = results
        self.packs = [str(one["pack"]) for one in results if one.get("pack")]


class Violation(Mismatch):
    """A function whose bits are decided by something else than its inputs. `results` are the relations that are violated."""


def _split(kernel: str) -> tuple[str, str]:
    path, _, name = kernel.rpartition(":")
    if not path:
        raise Error(f"'{kernel}' names no kernel: FILE.tsr:KERNEL")
    return path, name


def _cases_of(decorator: ast.expr) -> list[str]:
    """Names in @cases(case("small", N=4), ...)."""
    if not isinstance(decorator, ast.Call) or getattr(decorator.func, "id", "") != "cases":
        return []
    firsts = [one.args[0] for one in decorator.args if isinstance(one, ast.Call) and one.args]
    return [str(one.value) for one in firsts if isinstance(one, ast.Constant)]


def _kernels_of(path: str) -> dict[str, list[str]]:
    """The kernels of a source with the names of their cases; empty where it is none, which the program says better."""
    try:
        tree = ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return {}
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.decorator_list]
    return {one.name: [case for decorator in one.decorator_list for case in _cases_of(decorator)] for one in functions}


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{near[0]}'?" if near else f"; there are {', '.join(names)}"


def _find(path: str, kernel: str, cases: str = "*") -> None:
    """Error where a source has no such kernel, or the kernel no such case."""
    kernels = _kernels_of(path)
    if kernels and not fnmatch.filter(kernels, kernel):
        raise Error(f"{path} has no kernel '{kernel}'{_nearest(kernel, kernels)}")
    named = kernels.get(kernel)
    if named and not fnmatch.filter(named, cases):
        raise Error(f"{kernel} has no case '{cases}'{_nearest(cases, named)}")


def _again(result: dict[str, Any]) -> list[str]:
    """The command that replays its pack. Code of others runs where it is trusted, and in this Python."""
    pack = result.get("pack")
    if not pack:
        return []
    words = f"{called()} replay {shlex.quote(pack)}"
    if result.get("column", result.get("backend")) == "cpu":
        return [words]
    return [f"{python_setting()}{words} --trust"]


# ---- verify ----


def _describe(result: dict[str, Any]) -> str:
    return f"{result['kernel']}/{result['case']}: {result['status']}: {result.get('why') or 'it does not hold'}"


def _size(result: dict[str, Any]) -> int:
    return int(result.get("bytes") or 0)


class _Verify(Plain[P, R]):
    """verify(...), and the decorator of kernels verify.numerics(stable=True, bounded=[-1, 1])."""

    def numerics(self, *, stable: bool = False, bounded: list[float] | None = None) -> Callable[[F], F]:
        """Promises what every element that a kernel gives will be: its text is read, docs/language.md."""
        return lambda function: function

    def steps(self, dimension: str) -> Callable[[F], F]:
        """Promises that positions at once are as one after the other, with the states handed on: tsr check holds it."""
        return lambda function: function


@_Verify
def verify(
    function: Implementation,
    kernel: str,
    *,
    dims: str | None = None,
    profile: str = "fast",
    cases: str = "*",
    threads: int | None = None,
    seed: int = 1,
    timeout: int = 60,
) -> list[dict[str, Any]]:
    """Runs a function on the cases of a kernel, "FILE.tsr:KERNEL", and compares it with what the kernel means.

    `function` is a function of a module, or what --with takes. Raises Mismatch with the smallest case that does not hold, and
    Error where none could be judged. `profile` says how near: within the error bound ("fast"), or to the bit ("strict").
    `dims`, "M=3,N=5", is one case of your own. Returns the results.
    """
    path, name = _split(kernel)
    _find(path, name, "*" if dims else cases)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        results = bench(
            path,
            implementations=[with_of(function, name)],
            filter=name if dims else f"{name}/{cases}",
            dims=dims,
            profile=profile,
            threads=threads,
            seed=seed,
            timeout=timeout,
            quick=True,
            db=os.path.join(folder, "results.db"),
            failures=packs,
        )["results"]
    judged = [one for one in results if one["backend"] != "cpu"]
    bad = sorted((one for one in judged if one["status"] not in ("ok", "unsupported", "unjudged")), key=_size)
    if bad:
        more = f" ({len(bad)} of {len(judged)} cases do not hold)" if len(bad) > 1 else ""
        raise Mismatch("\n".join([_describe(bad[0]) + more, *_again(bad[0])]), bad)
    if not any(one["status"] == "ok" for one in judged):
        reasons = "; ".join(_describe(one) for one in judged[:1])
        raise Error(f"no case of {kernel} could be judged: {reasons or 'none is named so'}")
    return judged


# ---- check ----


def _violation(result: dict[str, Any]) -> list[str]:
    example = result["example"]
    lines = [f"{result['relation']}{' of ' + result['dim'] if result['dim'] else ''} is violated"]
    shown = [f"{bits} ({value})" for bits, value in zip(example["bits"], example["values"])]
    lines.append(f"    {example['output']}[{example['index']}] is {' and '.join(shown)}")
    judged = example.get("judged")
    if judged:
        outside = ["neither is", "one is", "both are"][2 - sum(judged["outside"])]
        lines.append(f"    {outside} within the bound: the formula gives {judged['reference']} within {judged['bound']}")
    lines.append(f"    between {example['between']}")
    lines += [f"    with {example['dims']}"] if example["dims"] else []
    boundary = example["boundary"]
    if boundary:
        dim = boundary["dim"]
        lines.append(f"    bits change between {dim}={boundary['from']} and {dim}={boundary['to']}")
    return lines + [f"    {line}" for line in _again(result)]


def _failure(result: dict[str, Any]) -> list[str]:
    dims = result["place"]["dims"]
    lines = [f"{result['relation']} could not be tried: {result['place']['status']}: {result['why']}"]
    lines += [f"    with {dims}"] if dims else []
    return lines + [f"    {line}" for line in _again(result)]


@Plain
def check(
    function: Implementation | None,
    kernel: str,
    *,
    relations: str | Iterable[str] | None = None,
    vary: str | Iterable[str] | None = None,
    shapes: int | None = None,
    threads: int | None = None,
    budget: int = 60,
    seed: int = 1,
    timeout: int = 60,
) -> list[dict[str, Any]]:
    """Runs a function of a kernel's shapes, "FILE.tsr:KERNEL", again and again, and changes what must not matter.

    `function` is a function of a module, what --with takes, or None: the kernel as we compile it. `relations`, "batch,threads"
    or a list, are those to try (docs/check.md); None: all. Raises Violation with the smallest example where one is violated,
    Mismatch where the function fails, and Error where nothing could be verified. Returns the verdicts.
    """
    path, name = _split(kernel)
    _find(path, name)
    options = {
        "filter": name,
        "with": with_of(function, name) if function is not None else None,
        "relation": relations if relations is None or isinstance(relations, str) else ",".join(relations),
        "vary": vary if vary is None or isinstance(vary, str) else list(vary),
        "shapes": shapes,
        "threads": threads,
        "budget": budget,
        "seed": seed,
        "timeout": timeout,
        "failures": packs,
    }
    found: list[dict[str, Any]] = document("check", path, **options)["results"]
    violated = [one for one in found if one["verdict"] == "violated"]
    failed = [one for one in found if one["verdict"] == "not verified" and one["place"]]
    if violated:
        raise Violation("\n".join(line for one in violated for line in _violation(one)), violated)
    if failed:
        raise Mismatch("\n".join(_failure(failed[0])), failed)
    if not any(one["verdict"] == "holds" for one in found):
        raise Error(f"no relation of {kernel} could be verified: {found[0]['why'] if found else 'none was tried'}")
    return found
