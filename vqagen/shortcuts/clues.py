"""Clues of programs: what a reader of a question sees of its program.

A phrase is what a question says of one set of objects: the filters between two steps that are no filters. Known of it
are how many words it says, and how they overlap with those of other phrases: "more large cubes than cubes?" is answered
by the words alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import orjson

from vqagen.items.table import Column
from vqagen.language.program import Node

PHRASES = 6
"""Phrases of a program that count; few programs have more."""
RELATIONS = 3
_ABSENT = -9
_NUMBERS = 1 << 16
_FILTER = "filter"
"""How the names of functions begin that say one word of a set, in CLEVR's files and in those of its kin."""
_GIVES_ONE = ("unique", "query", "count")
"""Beginnings of the names of functions whose result is no set, so that nothing said of it is no phrase."""

Phrase = frozenset[tuple[str, ...]]


def clues_of(programs: Column) -> Column:
    """Return the `features` of each item's program, which is JSON as files hold it, in either dialect."""
    return programs.map(lambda program: features(_steps(program)))


def phrases(steps: Sequence[Node]) -> Iterator[Phrase]:
    """Yield the (filter function, values) said of each set that a step other than a filter takes, in order."""
    for step in steps:
        if step.function.startswith(_FILTER):
            continue
        for place in step.inputs:
            said = []
            at = steps[place]
            while at.function.startswith(_FILTER) and len(at.inputs) == 1:
                said.append((at.function, *at.values))
                at = steps[at.inputs[0]]
            if said or not at.function.startswith(_GIVES_ONE):
                yield frozenset(said)


def words_of(program: bytes) -> Iterator[str]:
    """Yield the words that a program says, and which attributes each phrase says: "says red" and "0 filter_color"."""
    steps = _steps(program)
    yield from (f"says {value}" for step in steps for value in step.values)
    yield from (f"{place} {said[0]}" for place, phrase in enumerate(phrases(steps)) for said in sorted(phrase))


def _steps(program: bytes) -> list[Node]:
    return [_step(node) for node in orjson.loads(program)]


def _step(node: Mapping[str, Any]) -> Node:
    values = node.get("value_inputs") or node.get("side_inputs") or []
    listed = values if isinstance(values, list) else [values]  # what no generator writes, and verify reports
    return Node(str(node.get("type") or node.get("function")), tuple(node["inputs"]), tuple(map(str, listed)))


def features(steps: Sequence[Node]) -> tuple[int, ...]:
    """Return the features of a program, the same number of them for all programs.

    Relation words are numbered by their checksums, so that files need not be read together to be compared.
    """
    said = list(phrases(steps))[:PHRASES]
    sizes = [len(phrase) for phrase in said]
    row = [len(steps), sum(sizes), *sizes, *[_ABSENT] * (PHRASES - len(said))]
    for first, second in combinations(range(PHRASES), 2):
        row += _overlap(said[first], said[second]) if second < len(said) else [_ABSENT] * 5
    related = [step.values[0] for step in steps if step.values and not step.function.startswith(_FILTER)]
    numbers = [crc32(word.encode()) % _NUMBERS for word in related[:RELATIONS]]
    return (*row, len(set(related)), *numbers, *[_ABSENT] * (RELATIONS - len(numbers)))


def _overlap(first: Phrase, second: Phrase) -> list[int]:
    """Return how much two phrases share, what each has alone, the difference of sizes, and what they contradict in."""
    shared = len(first & second)
    asked = {said[0] for said in first} & {said[0] for said in second}
    contradicted = len(asked) - len({said[0] for said in first & second})
    return [shared, len(first) - shared, len(second) - shared, len(first) - len(second), contradicted]
