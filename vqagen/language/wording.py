"""Wording: from a template's text and the words of its slots to a sentence.

The grammar of a text:

    text     = part*
    part     = literal | slot | slot "s" | "[" part* "]"
    slot     = "<" name ">"

* A slot yields one of its value's synonyms; left open, it yields its attribute's null word ("thing") or nothing.
* In one sentence a value is said in one way: in the way that the text itself has ("How many other things …"), else in
  one drawn at random.
* A slot followed by a lone `s` yields the plural: the domain's `plurals`, or the English rule.
* A bracketed part is kept half of the time, each by its own draw; brackets nest.
* A sentence that is too long is drawn again, up to MOST_DRAWS times in all, the last half of them with each value said
  in its shortest way; if each is too long, the shortest stays.
* Then the text is tidied, rewritten as the domain wants it, and given its articles and capital (see `sentence`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Union

from vqagen.language.mentions import Marked, filled
from vqagen.language.sentence import edits, finished, squeezed, without_other
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template

Random = Callable[[], float]
"""Draws from [0, 1)."""
Words = Mapping[str, str | None]
"""Slot -> value, None where the slot is left open."""
Ways = tuple[str, ...]
"""The ways to say one value."""
Phrases = Mapping[str, Sequence[tuple[list[str], Ways, str]]]
"""First word -> phrases that begin with it, each with the ways to say its value and the one that it stands for."""
Part = Union[str, tuple["Part", ...]]  # noqa: UP007 (a string cannot be joined by `|` when this runs)
"""A piece of a `%`-format, or an optional part."""

MOST_DRAWS = 12
"""Enough for each of 150,000 questions of the CLEVR domain to have at most 35 words; 1.3 % are drawn again."""
_TOKEN = re.compile(
    r"(?P<plural><[^<>\s()]+>s(?!\w))|(?P<slot><[^<>\s()]+>)|(?P<open>\[)|(?P<close>\])|(?P<text>[^<\[\]]+|<)"
)
_WORD = re.compile(r"<[^<>\s()]+>|[\w-]+")
_HAS_ARTICLE = re.compile(r"\b(?:an?|another)\b", re.IGNORECASE)
_HAS_OTHER = re.compile(r"\b(?:other|another)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Style:
    """How sentences are made in matters that the grammar leaves open."""

    mixed_words: bool = False
    """True if each slot has a draw of its own, so that one value may be said in several ways."""
    most_words: int = 35
    joins_anything: bool = True
    """True if "any thing" becomes "anything"."""


@dataclass(frozen=True)
class _Text:
    """A compiled text: `%`-format pieces and optional parts, which hold pieces and parts again."""

    parts: tuple[Part, ...]
    own_ways: Mapping[Ways, str]
    """Ways to say a value -> the one of them that is in the text's own words."""
    plurals: tuple[str, ...]
    """Slots that are said in the plural somewhere."""
    has_article: bool
    has_other: bool


DEFAULT_STYLE = Style()


class Wording:
    """A template's texts, compiled; `say` makes one sentence."""

    def __init__(self, template: Template, synonyms: Synonyms, style: Style = DEFAULT_STYLE) -> None:
        self._style = style
        self._ways = {
            slot: {value: synonyms.of(kind, value) for value in (*synonyms.domain.values_of(kind), None)}
            for slot, kind in template.slots.items()
        }
        every = sorted({ways for of_slot in self._ways.values() for ways in of_slot.values()})
        self._plural = {way: synonyms.plural(way) if way else "" for ways in every for way in ways}
        self._rewrites = synonyms.domain.rewrites
        may_bring_article = bool(self._rewrites) or any(_HAS_ARTICLE.search(way) for way in self._plural)
        phrases = self._phrases(every)
        self._texts = [_compile(text, may_bring_article, _own_ways(text, phrases)) for text in template.texts]

    def say(self, words: Words, random: Random, keep_other: bool = True) -> str:
        """One sentence: a text and synonyms drawn at random. `keep_other` is False to drop "other"."""
        text, _, _, sentence = self._drawn(words, random)
        if text.has_other and not keep_other:
            sentence = without_other(sentence)
        return finished(sentence, text.has_article, self._rewrites, self._style.joins_anything)

    def say_marked(self, words: Words, random: Random, keep_other: bool = True) -> Marked:
        """The sentence that `say` makes of the same draws, with where each slot is said in it."""
        text, form, said, _ = self._drawn(words, random)
        drops_other = text.has_other and not keep_other
        changes = edits(text.has_article, drops_other, self._rewrites, self._style.joins_anything)
        return filled(form, said).edited(changes)

    def _drawn(self, words: Words, random: Random) -> _Draw:
        """A draw of at most `most_words`, or the shortest of MOST_DRAWS."""
        draw, most_words = self._draw(words, random), self._style.most_words
        if _length(draw) <= most_words:
            return draw
        draws = [draw]
        while len(draws) < MOST_DRAWS and _length(draws[-1]) > most_words:
            draws.append(self._draw(words, random, is_terse=len(draws) >= MOST_DRAWS // 2))
        return min(draws, key=_length)

    def _draw(self, words: Words, random: Random, is_terse: bool = False) -> _Draw:
        """Draw a text, its optional parts and how each slot is said."""
        texts, ways_of = self._texts, self._ways
        said: dict[str, str] = {}
        if self._style.mixed_words:
            for slot, value in words.items():
                said[slot] = _drawn_way(ways_of[slot][value], random)
            text = texts[int(random() * len(texts))]
        else:
            text = texts[int(random() * len(texts))]
            drawn = dict(text.own_ways)
            for slot, value in words.items():
                ways = ways_of[slot][value]
                if len(ways) == 1:
                    said[slot] = ways[0]
                    continue
                way = drawn.get(ways)
                if way is None:
                    way = drawn[ways] = min(ways, key=len) if is_terse else ways[int(random() * len(ways))]
                said[slot] = way
        for slot in text.plurals:
            said[slot + "s"] = self._plural[said[slot]]
        form = _kept(text.parts, random)
        return text, form, said, squeezed(form % said)

    def _phrases(self, every: Iterable[Ways]) -> Phrases:
        """Return the phrases that can stand for a value, in the singular and the plural, by their first word."""
        found: defaultdict[str, list[tuple[list[str], Ways, str]]] = defaultdict(list)
        for ways in every:
            for way in ways if len(ways) > 1 else ():
                for form in (way, self._plural[way]):
                    words = _WORD.findall(form.lower())
                    found[words[0] if words else ""].append((words, ways, way))
        return found

    @property
    def mentions_other(self) -> bool:
        """True if any text says "other" or "another"."""
        return any(text.has_other for text in self._texts)


_Draw = tuple[_Text, str, dict[str, str], str]
"""A text, the `%`-format of those of its parts that stay, how each slot is said, and the text with its slots filled."""


def _length(draw: _Draw) -> int:
    """Return the number of words."""
    return draw[-1].count(" ") + 1


def _drawn_way(ways: Ways, random: Random) -> str:
    return ways[0] if len(ways) == 1 else ways[int(random() * len(ways))]


def _own_ways(text: str, phrases: Phrases) -> dict[Ways, str]:
    """Return the way to say each value that comes first in the text's own words."""
    words, found = _WORD.findall(text.lower()), dict[Ways, str]()
    for at, word in enumerate(words):
        for phrase, ways, way in phrases.get(word, ()):
            if words[at : at + len(phrase)] == phrase:
                found.setdefault(ways, way)
    return found


def _compile(text: str, may_bring_article: bool, own_ways: Mapping[Ways, str]) -> _Text:
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
    return _Text(tuple(_joined(stack[0])), own_ways, tuple(plurals), has_article, _HAS_OTHER.search(text) is not None)


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
