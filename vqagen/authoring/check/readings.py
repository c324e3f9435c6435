"""The readings of a template's text: optional parts kept or left out, slots with or without a word.

Which slots of a description may be left open together follows from the constraints on that description alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from vqagen.bits import indexes
from vqagen.errors import Fault
from vqagen.language.sentence import Rewrites, finished, squeezed
from vqagen.language.template import SLOT_PATTERN, Template, TemplateNode
from vqagen.search.description import local_checks, openness_of

MOST_OPTIONAL = 6
"""Optional parts up to which all readings of a text are listed; beyond, the longest and the shortest."""
ALL_WAYS = 10
"""Slots of a node up to which all ways to leave some open are listed; for more slots, a few ways."""
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


def readings(text: str) -> list[str]:
    """Return the readings of a text, one for each way to keep and drop its optional parts."""
    if text.count("[") > MOST_OPTIONAL:
        return [re.sub(r"[\[\]]", "", text), shortest(text)]
    return list(dict.fromkeys(_readings(text)))


def _readings(text: str) -> Iterator[str]:
    optional = _OPTIONAL.search(text)
    if optional is None:
        yield text
        return
    for kept in (optional[1], ""):
        yield from _readings(text[: optional.start()] + kept + text[optional.end() :])


def shortest(text: str) -> str:
    """Return the text without any optional part."""
    while (shorter := _OPTIONAL.sub("", text)) != text:
        text = shorter
    return text


def slots_in(text: str) -> list[str]:
    """Return the slots of a text in the order of their first places."""
    return list(dict.fromkeys(SLOT_PATTERN.findall(text)))


def without_words(text: str, slots: list[str]) -> str:
    """Return the text with these slots left open, so that they say nothing."""
    for slot in slots:
        text = re.sub(rf"{re.escape(slot)}(?:s(?!\w))?", "", text)
    return text


def as_sentence(text: str, rewrites: Rewrites) -> str:
    """Return a reading with gaps closed and the domain's rewrites applied; slots stay."""
    return finished(squeezed(text), has_article=False, rewrites=rewrites)


def plainly(text: str) -> str:
    """Return a reading for comparison, without capitals, punctuation and extra spaces."""
    words = re.findall(r"<[^<>\s]+>|\w+", text)
    return " ".join(word if word.startswith("<") else word.casefold() for word in words)


P = TypeVar("P")


def repeated(texts: Sequence[Sequence[str]]) -> Iterator[Fault]:
    """Yield the texts of a template, each given by its readings, that can read as one before."""
    first: dict[str, int] = {}
    for i, sayings in enumerate(texts):
        again = min((first[reading] for reading in sayings if reading in first), default=None)
        if again is not None:
            yield f"text[{i}]", f"text {i} can read the same as text {again}"
        for reading in sayings:
            first.setdefault(reading, i)


def shared(texts: Iterable[tuple[P, str, int, Sequence[str], object]]) -> Iterator[tuple[P, str, str]]:
    """Yield the texts that can read as one of an earlier template with another meaning, as (template, path, message).

    A text is given as (template, its id, number, readings, meaning).
    """
    first: dict[str, tuple[str, object]] = {}
    for template, id, i, found, meaning in texts:
        for other, asked in [first.setdefault(reading, (id, meaning)) for reading in found]:
            if other != id and asked != meaning:
                yield template, f"text[{i}]", f"text {i} can read as one of {other} does, but asks something else"
                break


def ways_to_say(template: Template, node: TemplateNode) -> list[frozenset[str]]:
    """Return the sets of slots that a description may say, its relation left aside."""
    slots = [each.slot for each in template.described(node) if each.slot]
    ways: Iterable[int] = range(1 << len(slots))
    if len(slots) > ALL_WAYS:
        ways = (0, (1 << len(slots)) - 1, *(1 << k for k in range(len(slots))))
    allowed = openness_of(ways, local_checks(template, slots).values())
    return [frozenset(slots[k] for k in indexes(said)) for said, is_allowed in allowed.items() if is_allowed]


def never_said(template: Template) -> set[str]:
    """Return the slots that constraints leave open in every question."""
    never: set[str] = set()
    for node in template.nodes:
        if node.composite is not None:
            slots = {side.slot for side in template.described(node) if side.slot}
            ever_said = frozenset[str]().union(*ways_to_say(template, node))
            never |= slots - ever_said
    return never
