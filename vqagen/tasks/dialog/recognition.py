"""Recognition of dialogs: a sentence is read back as one of the texts of a label with words in its slots.

Each text, with each choice of its optional and fitting parts, is a regular expression, with a group for each slot. It
finds the words; these are said again, and must give the sentence to the letter:

    text      How many <V>s are [far|earlier] <R> {focus|the <D>}?
    sentence  How many cubes are left of the red thing?
    slots     V: {"shape": "cube"}   R: "left"   D: {"color": "red"}      conditions: those of near objects
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import ANY_EXTREME, NOUN
from vqagen.tasks.dialog.template_check import label_rules
from vqagen.tasks.dialog.wording import NUMBER_WORDS, Phrasing, Sentence, Wordings

_FIELD = re.compile(r"%\((\w+)\)s")
_ARTICLE = re.compile(r"\ban(?= )")
_PHRASES = ("D", "D2", "V", "Vs", "P")
"""Slots of descriptions."""
Filling = tuple[str, Any]
"""The words of a slot as they are said, and what they mean; None for a noun."""


class Parse(NamedTuple):
    """One way to parse a sentence."""

    label: str
    form: str
    slots: Mapping[str, Any]
    """What each slot says, as `DialogWords.say` takes it; V also for the slot P."""
    cases: frozenset[frozenset[str]]
    """The sets of conditions where it can be said."""
    comes_back: bool
    """True if its text has a part that is said on the condition `BACK`."""
    said: Sentence


class _Pattern(NamedTuple):
    """A text whose optional and fitting parts are decided."""

    regex: re.Pattern[str]
    phrasing: Phrasing
    variant: int
    cases: frozenset[frozenset[str]]
    comes_back: bool


class SentenceReader:
    """Reads the sentences of one domain's dialogs."""

    def __init__(self, wordings: Wordings, vocabulary: DialogVocabulary) -> None:
        self._wordings = wordings
        rules = label_rules(vocabulary.relations)
        self.rules = {label: rule for label, rule in rules.items() if label != ANY_EXTREME}
        self._fillers = _Fillers(wordings, vocabulary)
        self._patterns: dict[tuple[str, str], list[_Pattern]] = {}

    def read(self, sentence: str, label: str, is_exact: bool = True) -> list[Parse]:
        """Return the ways to understand a sentence as one of a label.

        Without `is_exact`, capitals and articles may be those of another generator.
        """
        forms = self.rules[label].forms if label in self.rules else ()
        return [reading for form in forms for reading in self._read(sentence, label, form, is_exact)]

    def labels_of(self, sentence: str) -> list[str]:
        """Return the labels of which some text is the sentence."""
        return [label for label in self.rules if self.read(sentence, label)]

    def _read(self, sentence: str, label: str, form: str, is_exact: bool) -> Iterator[Parse]:
        plain = normal(sentence)
        for pattern in self._of(label, form):
            if match := pattern.regex.fullmatch(plain):
                fillings = {slot: self._fillers.filling(slot, words) for slot, words in match.groupdict().items()}
                said = pattern.phrasing.filled(
                    {slot: words for slot, (words, _) in fillings.items()}, pattern.variant, self._wordings.domain
                )
                slots = {_slot(slot): meaning for slot, (_, meaning) in fillings.items() if meaning is not None}
                is_same = said.text == sentence if is_exact else normal(said.text) == plain
                if is_same and {} not in slots.values() and _is_of(label, slots):
                    yield Parse(label, form, slots, pattern.cases, pattern.comes_back, said)

    def _of(self, label: str, form: str) -> list[_Pattern]:
        """Return the patterns of a label, compiled when they are first needed."""
        if (label, form) not in self._patterns:
            found: dict[tuple[int, Phrasing], tuple[list[frozenset[str]], bool]] = {}
            for case in self.rules[label].cases:
                for text in self._wordings.texts(label, form, case, has_extreme=True):
                    for said in text.phrasings():
                        found.setdefault((text.variant, said), ([], text.comes_back))[0].append(case)
            self._patterns[label, form] = [
                _Pattern(self._fillers.regex(said), said, variant, frozenset(cases), comes_back)
                for (variant, said), (cases, comes_back) in found.items()
            ]
        return self._patterns[label, form]


def normal(sentence: str) -> str:
    """Return a sentence in small letters, with "a" for "an"."""
    return _ARTICLE.sub("a", sentence.lower())


def _is_of(label: str, slots: Mapping[str, Any]) -> bool:
    """True unless the label names another direction than the words: "leftmost" is `extreme-left`."""
    directions = {f"extreme-{slots[slot]}" for slot in ("R", "E") if slot in slots}
    return directions <= {label} or not label.startswith("extreme-")


def _slot(name: str) -> str:
    """Return the slot of which `name` is said, maybe in the plural."""
    return "V" if name in ("Vs", "P") else name


class _Fillers:
    """The words that each slot may have, and their meanings."""

    def __init__(self, words: Wordings, vocabulary: DialogVocabulary) -> None:
        self._words = words
        nouns = dict.fromkeys(words.nouns)
        self._tables: Mapping[str, Mapping[str, Filling]] = {
            "A": _table({each.name: [each.name.replace("_", " ")] for each in vocabulary.attributes}),
            "R": _table(words.relations),
            "E": _table(words.extremes),
            "K": {word: (word, number) for number, word in enumerate(NUMBER_WORDS)},
            NOUN: {normal(noun): (noun, None) for noun in nouns},
            f"{NOUN}s": {normal(words.plurals[noun]): (words.plurals[noun], None) for noun in nouns},
        }
        self._adjectives = {name: _table(ways) for name, ways in words.values.items() if name != words.head}

    @cached_property
    def _heads(self) -> tuple[Mapping[str, Filling], Mapping[str, Filling]]:
        """The values that are nouns, in the singular and in the plural."""
        one = _table(self._words.values.get(self._words.head, {}))
        plurals = self._words.plurals
        return one, {normal(plurals[way]): (plurals[way], value) for way, value in one.values()}

    def _parts(self, slot: str) -> list[tuple[str, Mapping[str, Filling]]]:
        """Return the parts of a description in their order: (attribute, words)."""
        is_plural = slot in ("Vs", "P")
        heads = {**self._heads[is_plural], **({} if slot == "P" else self._tables[f"{NOUN}s" if is_plural else NOUN])}
        return [*self._adjectives.items(), (self._words.head, heads)]

    def regex(self, phrasing: Phrasing) -> re.Pattern[str]:
        """Return what finds the slots of a text in a sentence in its `normal` form."""
        pieces = _FIELD.split("".join(phrasing.pieces))
        names = pieces[1::2]
        pieces[1::2] = [
            f"(?P={name})" if name in names[:i] else f"(?P<{name}>{self._pattern(name)})"
            for i, name in enumerate(names)
        ]
        pieces[::2] = [re.escape(normal(piece.replace("%%", "%"))) for piece in pieces[::2]]
        return re.compile("".join(pieces))

    def _pattern(self, slot: str) -> str:
        if slot == "P":
            return _either([words for _, table in self._parts(slot) for words in table])
        if slot in _PHRASES:
            *adjectives, (_, heads) = self._parts(slot)
            return "".join(f"(?:{_either(table)} )?" for _, table in adjectives) + _either(heads)
        return _either(self._tables[slot]) + (r"|\d+" if slot == "K" else "")

    def filling(self, slot: str, words: str) -> Filling:
        """Return the words of a slot, and what they mean."""
        if slot not in _PHRASES:
            return self._tables[slot].get(words) or (words, int(words))
        said, values = list[str](), dict[str, str]()
        for attribute, table in self._parts(slot):
            for way in sorted(table, key=len, reverse=True):
                if words == way or words.startswith(f"{way} "):
                    text, value = table[way]
                    said.append(text)
                    values |= {} if value is None else {attribute: value}
                    words = words[len(way) + 1 :]
                    break
        return " ".join(said), values


def _table(ways: Mapping[str, Sequence[str]]) -> Mapping[str, Filling]:
    """Return normal words -> the words, and the value that they say; of several values the first."""
    found: dict[str, Filling] = {}
    for value, each in ways.items():
        for way in each:
            found.setdefault(normal(way), (way, value))
    return found


def _either(words: Mapping[str, Any] | Sequence[str]) -> str:
    """Return the pattern of any of some words, the longest first; it matches nothing if there are none."""
    return f"(?:{'|'.join(re.escape(each) for each in sorted(words, key=len, reverse=True))})" if words else "(?!)"
