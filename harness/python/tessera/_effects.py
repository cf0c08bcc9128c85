"""Outputs that are no results: what a launch prints and checks, as `effect` of a module's output says it (docs/modules.md)."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import Any

from tessera._errors import CheckError


@dataclasses.dataclass(frozen=True)
class Effect:
    """One such output: the blocks of loops and branches that it stands in, the outermost first, and the words around its value."""

    kind: str
    line: str
    blocks: tuple[str, ...]
    words: str


def effect_of(text: str) -> Effect:
    """
    >>> effect_of("print:12.1.4:x {}")
    Effect(kind='print', line='12', blocks=('1', '4'), words='x {}')
    """
    kind, place, words = text.split(":", 2)
    line, *blocks = place.split(".")
    return Effect(kind, line, tuple(blocks), words)


Seen = tuple[Effect, Any]


def _at(value: Any, turns: tuple[int, ...]) -> Any:
    return functools.reduce(lambda part, turn: part[turn], turns, value)


def _shown(prints: list[Seen], times: dict[str, Any], turns: tuple[int, ...] = (), depth: int = 0) -> Iterator[tuple[str, str]]:
    """Kinds and texts of what is printed, turn by turn of each loop."""
    for block, together in itertools.groupby(prints, key=lambda one: one[0].blocks[depth] if depth < len(one[0].blocks) else ""):
        inside = list(together)
        if not block:
            for effect, value in inside:
                yield effect.kind, effect.words.replace("{}", str(_at(value, turns)), 1)
            continue
        happens = _at(times[block], turns) if block in times else len(_at(inside[0][1], turns))
        for turn in range(happens):
            yield from _shown(inside, times, turns if isinstance(happens, bool) else (*turns, turn), depth + 1)


def lines_of(effects: list[Effect], values: list[Any]) -> Iterator[str]:
    """The lines that are printed, of values as lists in lists.

    >>> effects = [effect_of(one) for one in ("print:2.1:i {}", "more:2.1:of {}", "print:3.1.2:odd", "turns:3.1.2:", "print:5:end {}")]
    >>> list(lines_of(effects, [[0, 1], [2, 2], [7, 7], [False, True], 9]))
    ['i 0 of 2', 'i 1 of 2', 'odd', 'end 9']
    """
    seen = list(zip(effects, values))
    times = {effect.blocks[-1]: value for effect, value in seen if effect.kind == "turns"}
    line: list[str] = []
    for kind, words in _shown([one for one in seen if one[0].kind in ("print", "more")], times):
        if kind == "print" and line:
            yield " ".join(line)
            line = []
        line.append(words)
    if line:
        yield " ".join(line)


def happen(name: str, effects: list[Effect], values: list[Any], counts: list[tuple[str, Any]]) -> None:
    """Prints what print() shows, and raises for the first check that does not hold, with the counts of states behind it."""
    for line in lines_of(effects, values):
        print(line)
    for effect, value in zip(effects, values):
        if effect.kind == "check" and not _holds(value):
            told = ", ".join(f"{state}: {count}" for state, count in counts)
            raise CheckError(f"line {effect.line} of {name}: {effect.words}{f' ({told})' if told else ''}")


def _holds(value: Any) -> bool:
    return all(map(_holds, value)) if isinstance(value, list) else bool(value)
