"""Wording: from a template's text and the words of its slots to a sentence.

The grammar of a text:

    text     = part*
    part     = literal | slot | slot "s" | "[" part* "]"
    slot     = "<" name ">"

* A slot yields one of its value's synonyms; left open, it yields its attribute's null word ("thing") or nothing.
  Everywhere in one sentence a slot is said the same way.
* A slot followed by a lone `s` yields the plural: the domain's `plurals`, or the English rule.
* A bracketed part is kept half of the time, each by its own draw; brackets nest.
* Then: white space is squeezed, "a" becomes "an" before a vowel sound (and back), the first letter is a capital.
* "other": see `without_other`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

from vqagen.errors import BadInput, Problem, describe
from vqagen.files import parse_json, read_text
from vqagen.jsontext import locate
from vqagen.language.template import Template
from vqagen.world.domain import Domain

Random = Callable[[], float]
"""Draws from [0, 1)."""
Words = Mapping[str, str | None]
"""Slot -> value, None where the slot is left open."""
Part = Union[str, tuple["Part", ...]]  # noqa: UP007 (a string cannot be joined by `|` when this runs)
"""A piece of a `%`-format, or an optional part."""

_TOKEN = re.compile(
    r"(?P<plural><[^<>\s()]+>s(?!\w))|(?P<slot><[^<>\s()]+>)|(?P<open>\[)|(?P<close>\])|(?P<text>[^<\[\]]+|<)"
)
_ARTICLE = re.compile(r"\b([Aa])n?(?= (\w+))")
_VOWEL_SOUND = re.compile(
    r"(?!one\b|once\b|eu|ewe|u\b|ufo|uk|uni(?!n|m|dent)|us[beu]|ut[eio])[aeiou]"
    r"|hour|honest|heir|honou?r|[fhlmnrsx]\b|8|1[18]\b",
    re.IGNORECASE,
)
_SAYABLE = re.compile(r"[^<>\[\]]*[^<>\[\]\s][^<>\[\]]*")
_OTHER = re.compile(r"\b(?:other|another)\b", re.IGNORECASE)


class Synonyms:
    """Ways to say a value: by type and value where the file groups them by type, otherwise by value."""

    def __init__(self, table: Mapping[str, Any], domain: Domain) -> None:
        self.domain = domain
        self._table = table

    def of(self, type_name: str, value: str | None) -> tuple[str, ...]:
        """The ways to say a slot's value, or its open form; a single "" where an open slot says nothing."""
        if value is None:
            attribute = self.domain.attribute_of(type_name)
            value = attribute.null if attribute else ""
            if not value:
                return ("",)
        of_type = self._table.get(type_name)
        ways = of_type.get(value) if isinstance(of_type, Mapping) else None
        ways = ways or self._table.get(value)
        return tuple(ways) if isinstance(ways, list) else (value,)

    def plural(self, word: str) -> str:
        """The plural of a way to say a value."""
        return self.domain.plurals.get(word) or english_plural(word)


def load_synonyms(path: Path | str, domain: Domain) -> Synonyms:
    """Read a synonyms file: `{value: [ways]}`, or `{type: {value: [ways]}}`, or both in one."""
    path = Path(path)
    text = read_text(path)
    table = parse_json(text, str(path))
    problems = [Problem(fault, str(path), place, *locate(text, place)) for place, fault in _synonym_faults(table)]
    if problems:
        raise BadInput(problems)
    return Synonyms({key: entry for key, entry in table.items() if key not in ("comment", "$schema")}, domain)


def _synonym_faults(table: object, place: str = "") -> Iterator[tuple[str, str]]:
    if not isinstance(table, Mapping):
        yield place, f"expected an object of value: [ways to say it], found {describe(table)}"
        return
    for key, entry in table.items():
        here = f"{place}.{key}" if place else key
        if isinstance(entry, Mapping) and not place:
            yield from _synonym_faults(entry, here)
        elif key not in ("comment", "$schema") and not _is_word_list(entry):
            yield here, f"expected a list of ways to say it, each text without < > [ ], found {describe(entry)}"


def _is_word_list(entry: object) -> bool:
    words = entry if isinstance(entry, list) else []
    return bool(words) and all(isinstance(word, str) and _SAYABLE.fullmatch(word) for word in words)


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
        self._texts = [_compile(text) for text in template.texts]

    def say(self, words: Words, random: Random, keep_other: bool = True) -> str:
        """One sentence: a text and synonyms drawn at random. `keep_other` is False to drop "other"."""
        ways_of = self._ways
        said = {}
        for slot, value in words.items():
            ways = ways_of[slot][value]
            said[slot] = ways[0] if len(ways) == 1 else ways[int(random() * len(ways))]
        texts = self._texts
        text = texts[int(random() * len(texts))]
        for slot in text.plurals:
            said[slot + "s"] = self._plural[said[slot]]
        sentence = " ".join((_kept(text.parts, random) % said).split())
        if text.has_other and not keep_other:
            sentence = without_other(sentence)
        return finished(sentence, text.has_article)

    @property
    def mentions_other(self) -> bool:
        """Whether any text says "other" or "another"."""
        return any(text.has_other for text in self._texts)


def without_other(sentence: str) -> str:
    """Drop "other", and turn "another" into "a".

    Asked of "other red cubes of the same size as the ball": the ball is no red cube, so "other" would mislead.
    """
    sentence = re.sub(r"\banother\b", "a", sentence, flags=re.IGNORECASE)
    return " ".join(re.sub(r"\bother\b", "", sentence, flags=re.IGNORECASE).split())


def finished(sentence: str, has_article: bool = True) -> str:
    """Close gaps before punctuation, agree "a" and "an" with the next word, and start with a capital."""
    for gap in (" ?", " ,", " ;", " ."):
        if gap in sentence:
            sentence = sentence.replace(gap, gap[1])
    if has_article:
        sentence = _ARTICLE.sub(_agreeing, sentence)
    return sentence[:1].upper() + sentence[1:]


def _agreeing(match: re.Match[str]) -> str:
    return match[1] + ("n" if starts_with_vowel_sound(match[2]) else "")


def starts_with_vowel_sound(word: str) -> bool:
    """Whether "an" stands before the word: vowel letters, less "one", "unicorn", "use", …; and "hour", "L", "8", …."""
    return _VOWEL_SOUND.match(word) is not None


def english_plural(word: str) -> str:
    """The regular plural: boxes, berries, cubes.

    >>> english_plural("box"), english_plural("berry"), english_plural("toy")
    ('boxes', 'berries', 'toys')
    """
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _compile(text: str) -> _Text:
    stack: list[list[Part]] = [[]]
    plurals: dict[str, None] = {}
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "open":
            stack.append([])
        elif kind == "close":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        elif kind == "text":
            stack[-1].append(token.replace("%", "%%"))
        else:
            stack[-1].append(f"%({token})s")
            if kind == "plural":
                plurals[token[:-1]] = None
    has_article = re.search(r"\b(?:an?|another)\b", text, re.IGNORECASE) is not None
    return _Text(tuple(stack[0]), tuple(plurals), has_article, _OTHER.search(text) is not None)


def _kept(parts: Sequence[Part], random: Random) -> str:
    """The format of the parts that stay: every piece, and each optional part with probability one half."""
    kept = [part if isinstance(part, str) else _kept(part, random) if random() < 0.5 else "" for part in parts]
    return "".join(kept)
