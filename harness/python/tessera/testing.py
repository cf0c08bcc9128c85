"""For tests: is a function what a kernel says it should be?"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from tessera._commands import Implementation, bench, with_of
from tessera._errors import Error


class Mismatch(AssertionError):
    """A function that is not what the kernel says. `results` are those that do not hold, the smallest first."""

    def __init__(self, text: str, results: list[dict[str, Any]]) -> None:
        super().__init__(text)
        self.results = results


def _size(result: dict[str, Any]) -> int:
    return int(result.get("bytes") or 0)


def _describe(result: dict[str, Any]) -> str:
    return f"{result['kernel']}/{result['case']}: {result['status']}: {result.get('why') or 'it does not hold'}"


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
    path, _, name = kernel.rpartition(":")
    if not path:
        raise Error(f"'{kernel}' names no kernel: FILE.tsr:KERNEL")
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
