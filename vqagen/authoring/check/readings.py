"""The readings of a template's text: optional parts kept or left out, slots with or without a word."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vqagen.language.sentence import Rewrites, finished, squeezed
from vqagen.language.slots import SLOT_PATTERN

MOST_OPTIONAL = 6
"""Optional parts up to which all readings of a text are listed; beyond, the longest and the shortest."""
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
