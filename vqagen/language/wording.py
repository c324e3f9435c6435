"""Wording: from a template's text and the words of its slots to a sentence.

The grammar of a text:

    text     = part*
    part     = literal | slot | slot "s" | "[" part* "]"
    slot     = "<" name ">"

* A slot yields one of its value's synonyms; left open, it yields its attribute's null word ("thing") or nothing.
  Everywhere in one sentence a slot is said the same way (see `synonyms`).
* A slot followed by a lone `s` yields the plural: the domain's `plurals`, or the English rule.
* A bracketed part is kept half of the time, each by its own draw; brackets nest.
* Then the text is tidied, rewritten as the domain wants it, and given its articles and capital (see `sentence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Union

from vqagen.language.mentions import Marked, filled
from vqagen.language.sentence import edits, finished, without_other
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template

Random = Callable[[], float]
"""Draws from [0, 1)."""
Words = Mapping[str, str | None]
"""Slot -> value, None where the slot is left open."""
Part = Union[str, tuple["Part", ...]]  # noqa: UP007 (a string cannot be joined by `|` when this runs)
"""A piece of a `%`-format, or an optional part."""

_TOKEN = re.compile(
    r"(?P<plural><[^<>\s()]+>s(?!\w))|(?P<slot><[^<>\s()]+>)|(?P<open>\[)|(?P<close>\])|(?P<text>[^<\[\]]+|<)"
)
_HAS_ARTICLE = re.compile(r"\b(?:an?|another)\b", re.IGNORECASE)
_HAS_OTHER = re.compile(r"\b(?:other|another)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Text:
    """A compiled text: `%`-format pieces and optional parts, which hold pieces and parts again."""

    parts: tuple[Part, ...]
    plurals: tuple[str, ...]
    """Slots that are said in the plural somewhere."""
    has_article: bool
    has_other: bool


class Wording:
    """A template's texts, compiled; `say` makes one sentence."""

    def __init__(self, template: Template, synonyms: Synonyms) -> None:
        values = {slot: (*synonyms.domain.values_of(kind), None) for slot, kind in template.slots.items()}
        self._ways = {
            slot: {value: synonyms.of(template.slots[slot], value) for value in of_slot}
            for slot, of_slot in values.items()
        }
        every_way = {way for of_slot in self._ways.values() for ways in of_slot.values() for way in ways}
        self._plural = {way: synonyms.plural(way) if way else "" for way in sorted(every_way)}
        self._rewrites = synonyms.domain.rewrites
        may_bring_article = bool(self._rewrites) or any(map(_HAS_ARTICLE.search, every_way))
        self._texts = [_compile(text, may_bring_article) for text in template.texts]

    def say(self, words: Words, random: Random, keep_other: bool = True) -> str:
        """One sentence: a text and synonyms drawn at random. `keep_other` is False to drop "other"."""
        text, form, said = self._drawn(words, random)
        sentence = " ".join((form % said).split())
        if text.has_other and not keep_other:
            sentence = without_other(sentence)
        return finished(sentence, text.has_article, self._rewrites)

    def say_marked(self, words: Words, random: Random, keep_other: bool = True) -> Marked:
        """The sentence that `say` makes of the same draws, with where each slot is said in it."""
        text, form, said = self._drawn(words, random)
        drops_other = text.has_other and not keep_other
        return filled(form, said).edited(edits(text.has_article, drops_other, self._rewrites))

    def _drawn(self, words: Words, random: Random) -> tuple[_Text, str, dict[str, str]]:
        """A text, the `%`-format of those of its parts that stay, and how each slot is said."""
        ways_of = self._ways
        said = {}
        for slot, value in words.items():
            ways = ways_of[slot][value]
            said[slot] = ways[0] if len(ways) == 1 else ways[int(random() * len(ways))]
        texts = self._texts
        text = texts[int(random() * len(texts))]
        for slot in text.plurals:
            said[slot + "s"] = self._plural[said[slot]]
        return text, _kept(text.parts, random), said

    @property
    def mentions_other(self) -> bool:
        """True if any text says "other" or "another"."""
        return any(text.has_other for text in self._texts)


def _compile(text: str, may_bring_article: bool) -> _Text:
    """Compile a text. `may_bring_article`: the sentence may have an "a" that is not in the text."""
    stack: list[list[Part]] = [[]]
    plurals: dict[str, None] = {}
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "open":
            stack.append([])
        elif kind == "close":
            inner = tuple(_joined(stack.pop()))
            stack[-1].append(inner)
        elif kind == "text":
            stack[-1].append(token.replace("%", "%%"))
        else:
            stack[-1].append(f"%({token})s")
            if kind == "plural":
                plurals[token[:-1]] = None
    has_article = may_bring_article or _HAS_ARTICLE.search(text) is not None
    return _Text(tuple(_joined(stack[0])), tuple(plurals), has_article, _HAS_OTHER.search(text) is not None)


def _joined(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts with neighbouring pieces joined."""
    for is_piece, run in groupby(parts, key=lambda part: isinstance(part, str)):
        if is_piece:
            yield "".join(piece for piece in run if isinstance(piece, str))
        else:
            yield from run


def _kept(parts: Sequence[Part], random: Random) -> str:
    """The format of the parts that stay: every piece, and each optional part with probability one half."""
    kept = [part if isinstance(part, str) else _kept(part, random) if random() < 0.5 else "" for part in parts]
    return "".join(kept)
