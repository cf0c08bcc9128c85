"""For tests: is a function what a kernel says it should be, and does anything but the inputs decide its bits?"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from tessera import _commands
from tessera._commands import Implementation, bench, with_of
from tessera._errors import Error


class Mismatch(AssertionError):
    """A function that is not what the kernel says. `results` are those that do not hold, of verify the smallest first."""

    def __init__(self, text: str, results: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.results = results


def _size(result: dict[str, Any]) -> int:
    return int(result.get("bytes") or 0)


def _describe(result: dict[str, Any]) -> str:
    return f"{result['kernel']}/{result['case']}: {result['status']}: {result.get('why') or 'it does not hold'}"


def _split(kernel: str) -> tuple[str, str]:
    path, _, name = kernel.rpartition(":")
    if not path:
        raise Error(f"'{kernel}' names no kernel: FILE.tsr:KERNEL")
    return path, name


def verify(
    function: Implementation,
    kernel: str,
    *,
    dims: str | None = None,
    profile: str = "fast",
    cases: str = "*",
    timeout: int = 60,
) -> list[dict[str, Any]]:
    """Runs a function on the cases of a kernel, "FILE.tsr:KERNEL", and compares it with what the kernel means.

    Raises Mismatch with the smallest case that does not hold, and Error where none could be judged. `profile` says how
    near: within the error bound ("fast"), or to the bit ("strict"). Returns the results.
    """
    path, name = _split(kernel)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        document = bench(
            path,
            implementations=[with_of(function, name)],
            filter=name if dims else f"{name}/{cases}",
            dims=dims,
            profile=profile,
            timeout=timeout,
            quick=True,
            db=os.path.join(folder, "results.db"),
            failures=os.path.join(folder, "packs"),
        )
    judged = [one for one in document["results"] if one["backend"] != "cpu"]
    bad = sorted((one for one in judged if one["status"] not in ("ok", "unsupported")), key=_size)
    if bad:
        more = f" ({len(bad)} of {len(judged)} cases do not hold)" if len(bad) > 1 else ""
        raise Mismatch(_describe(bad[0]) + more, bad)
    if not any(one["status"] == "ok" for one in judged):
        reasons = "; ".join(_describe(one) for one in judged[:1])
        raise Error(f"no case of {kernel} could be judged: {reasons or 'none is named so'}")
    return judged


def _violation(result: dict[str, Any]) -> str:
    example = result["example"] or {}
    of = f" of {result['dim']}" if result["dim"] else ""
    bits = " and ".join(example.get("bits", ()))
    place = f"{example.get('output')}[{example.get('index')}] is {bits} with {example.get('dims')}, {example.get('between')}"
    return f"{result['relation']}{of} is violated: {place}"


def check(
    function: Implementation,
    kernel: str,
    *,
    relations: list[str] | None = None,
    budget: int = 60,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """Runs a function of a kernel's shapes, "FILE.tsr:KERNEL", again and again, and changes what must not matter.

    Raises Mismatch where a relation (docs/check.md) is violated, with the smallest example, and Error where none could be
    verified. Returns the verdicts.
    """
    path, name = _split(kernel)
    relation = ",".join(relations) if relations else None
    found = _commands.check(
        path, implementations=[with_of(function, name)], filter=name, relation=relation, budget=budget, seed=seed
    )["results"]
    bad = [one for one in found if one["verdict"] == "violated"]
    if bad:
        raise Mismatch("; ".join(map(_violation, bad)), bad)
    if not any(one["verdict"] == "holds" for one in found):
        raise Error(f"no relation of {kernel} could be verified: {found[0]['why'] if found else 'none was tried'}")
    return found
