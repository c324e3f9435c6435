"""Wording of dialogs: from a label and its facts to a sentence, with the place of each marked part.

A dialog says each value, relation and noun in one way from its caption to its last round; a value that was an answer
is said as there from then on. Its texts and their optional parts are drawn anew for each sentence, among those that fit
what the listener knows. Articles, the capital and the domain's rewrites are those of all sentences (see
`language.sentence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import Any, NamedTuple

from vqagen.language.sentence import Marked, SlotSpan, edits, finished, is_english, looks_like_english, squeezed
from vqagen.language.synonyms import Synonyms
from vqagen.rng import pick
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import (
    BACK,
    FITTING,
    MARK,
    NOUN,
    OPTIONAL,
    PLURAL,
    SLOTS,
    WORDS,
    DialogTemplates,
    Parts,
    find_template,
    names_in,
    parse_text,
    parts_where,
    walk,
)
from vqagen.world.domain import HEAD_NOUN, Domain

Span = tuple[int, int]
"""Where words stand in a sentence that is split at white space: [start, end)."""
NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
"""Larger numbers are said in digits."""


class Sentence(NamedTuple):
    """A sentence of a dialog."""

    text: str
    variant: int
    """The number of its text in the template."""
    spans: Mapping[str, Span]
    """Role -> the words that have it."""


class Wordings:
    """The texts of a domain's dialogs, and all ways to say what they talk about.

    values[attribute][value], relations[relation], extremes[relation], nouns — the words
    head — the attribute whose values are nouns; plurals — the plurals of these and of `nouns`
    """

    def __init__(self, templates: DialogTemplates, synonyms: Synonyms, vocabulary: DialogVocabulary) -> None:
        self.domain = domain = synonyms.domain
        self.values = {
            attribute.name: {value: _squeezed(synonyms.of(attribute.type, value)) for value in attribute.leaves}
            for attribute in vocabulary.attributes
        }
        self.relations = {name: _squeezed(synonyms.of(domain.relation_type, name)) for name in vocabulary.relations}
        self.extremes = {name: _squeezed(synonyms.extreme(name)) for name in vocabulary.relations}
        nouns = [attribute for attribute in domain.attributes if attribute.null]
        self.nouns = _squeezed(synonyms.of(nouns[-1].type, None)) if nouns else (HEAD_NOUN,)
        self.head = nouns[-1].name if nouns else ""
        self.plurals = {
            way: synonyms.plural(way) for ways in (*self.values.get(self.head, {}).values(), self.nouns) for way in ways
        }
        self._templates = templates
        self._texts: dict[tuple[str, str, frozenset[str], bool], list[list[Phrasing]]] = {}

    def texts(self, label: str, form: str, conditions: frozenset[str], has_extreme: bool) -> list[list[Phrasing]]:
        """Return the texts that can be said where just these conditions hold, with or without a word for <E>.

        Each is given as its phrasings, one for each choice of its optional parts.
        """
        key = label, form, conditions, has_extreme
        if key not in self._texts:
            template = find_template(self._templates, label, form)
            assert template, f"no dialog template for {label} {form}"
            self._texts[key] = texts = []
            for variant, written in enumerate(template.texts):
                whole = parse_text(written)
                parts = parts_where(whole, conditions)
                if parts and (has_extreme or "E" not in names_in(parts, *SLOTS)):
                    texts.append(_phrasings(parts, variant, BACK in names_in(whole, FITTING)))
        return self._texts[key]


class DialogWords:
    """The words of one dialog: one way to say each thing, drawn in the order of the vocabulary."""

    def __init__(self, wordings: Wordings, rng: Random) -> None:
        self.wordings = wordings
        self.values = {
            name: {value: pick(rng, ways) for value, ways in of.items()} for name, of in wordings.values.items()
        }
        self.relations = {name: pick(rng, ways) for name, ways in wordings.relations.items()}
        self.extremes = {name: pick(rng, ways) for name, ways in wordings.extremes.items() if ways}
        self.noun = pick(rng, wordings.nouns)
        self._has_come_back = False

    def say(
        self, label: str, form: str, slots: Mapping[str, Any], rng: Random, conditions: frozenset[str] = frozenset()
    ) -> Sentence:
        """Return one sentence: a text of the label's that fits the conditions, drawn at random, with its slots filled.

        `slots` are as templates name them: {"A": "color", "R": "left", "D": {"color": "red"}, "K": 3, …}; others than
        those of the text are ignored. Only one sentence of a dialog is said on the condition `BACK`.
        """
        if self._has_come_back:
            conditions -= {BACK}
        drawn = pick(rng, self.wordings.texts(label, form, conditions, slots.get("E") in self.extremes))
        phrasing = pick(rng, drawn) if len(drawn) > 1 else drawn[0]
        self._has_come_back |= BACK in conditions and phrasing.comes_back
        return phrasing.filled({name: _FILLINGS[name](self, slots) for name in phrasing.slots}, self.wordings.domain)

    def hear(self, attribute: str, value: str) -> None:
        """Say a value as an answer says it from now on, if it can be said so: "rubber", and no longer "matte"."""
        if value in self.wordings.values[attribute][value]:
            self.values[attribute][value] = value

    def described(self, values: Mapping[str, str], is_plural: bool = False) -> str:
        """Return a description by values: "large red cube", "red things"."""
        head = self.wordings.head
        noun = self.values[head][values[head]] if head in values else self.noun
        adjectives = [ways[values[name]] for name, ways in self.values.items() if name in values and name != head]
        return " ".join([*adjectives, self.wordings.plurals[noun] if is_plural else noun])

    def predicated(self, values: Mapping[str, str]) -> str:
        """Return what several objects are: "red", "cubes"."""
        return self.described(values, is_plural=True).removesuffix(f" {self.wordings.plurals[self.noun]}")


def _squeezed(ways: Sequence[str]) -> tuple[str, ...]:
    return tuple(squeezed(way) for way in ways)


_FILLINGS: Mapping[str, Callable[[DialogWords, Mapping[str, Any]], str]] = {
    "A": lambda words, slots: slots["A"].replace("_", " "),
    "R": lambda words, slots: words.relations[slots["R"]],
    "D": lambda words, slots: words.described(slots["D"]),
    "D2": lambda words, slots: words.described(slots["D2"]),
    "V": lambda words, slots: words.described(slots["V"]),
    "Vs": lambda words, slots: words.described(slots["V"], is_plural=True),
    "P": lambda words, slots: words.predicated(slots["V"]),
    "K": lambda words, slots: NUMBER_WORDS[slots["K"]] if slots["K"] < len(NUMBER_WORDS) else str(slots["K"]),
    "E": lambda words, slots: words.extremes[slots["E"]],
    NOUN: lambda words, slots: words.noun,
    f"{NOUN}s": lambda words, slots: words.wordings.plurals[words.noun],
}
"""Slot, or the plural of a slot -> its words."""


# The texts ------------------------------------------------------------------------------------------------------------

_OPENS, _CLOSES = 0xE000, 0xE100
"""While a text is compiled, the private characters from here on stand for the ends of its marks."""
_MARK = re.compile("[\ue000-\ue1ff]")
_FIELD = re.compile(r"%\((\w+)\)s")
_INNER_SPACE = re.compile("([\ue000-\ue0ff]) +| +([\ue100-\ue1ff])")
_GAP = re.compile(r" +(?=[\ue100-\ue1ff]*[?!,;:.])")


@dataclass(frozen=True)
class Phrasing:
    """A text whose optional parts are decided."""

    pieces: tuple[str, ...]
    """`%`-formats, cut where marks begin and end; there are no needless spaces."""
    marks: tuple[tuple[str, int, int], ...]
    """Role, and the pieces that it marks: [start, end)."""
    slots: tuple[str, ...]
    variant: int
    """The number of its text in the template."""
    comes_back: bool
    """True if the text has a part that is said on the condition `BACK`."""

    def filled(self, said: Mapping[str, str], domain: Domain) -> Sentence:
        """Fill the slots."""
        pieces = [piece % said for piece in self.pieces]
        text = "".join(pieces)
        in_english = is_english((), domain.language or "en")
        is_delicate = not in_english or any(map(looks_like_english, said.values()))
        if is_delicate or any(pattern.search(text) for pattern, _ in domain.rewrites):
            return self._rewritten(said, domain, in_english)
        spans: dict[str, Span] = {}
        for role, start, end in self.marks:
            before = sum(piece.count(" ") for piece in pieces[:start])
            spans[role] = before, before + sum(piece.count(" ") for piece in pieces[start:end]) + 1
        return Sentence(finished(text, joins_anything=False), self.variant, spans)

    def _rewritten(self, said: Mapping[str, str], domain: Domain, in_english: bool) -> Sentence:
        """Fill the slots of a sentence that more than the rules of English articles change; the spans follow."""
        slots, ends, text = list[SlotSpan](), [0], ""
        for piece in self.pieces:
            for at, part in enumerate(_FIELD.split(piece)):
                if at % 2:
                    slots.append(SlotSpan(f"<{part}>", len(text), len(text) + len(said[part])))
                text += said[part] if at % 2 else part % ()
            ends.append(len(text))
        roles = [SlotSpan(role, ends[start], ends[end]) for role, start, end in self.marks]
        changes = edits(in_english, False, domain.rewrites, False, in_english, domain.language)
        marked = Marked(text, (*slots, *roles)).edited(changes)
        spans = {
            role: (marked.text.count(" ", 0, start), marked.text.count(" ", 0, end) + 1)
            for role, start, end in marked.spans
            if role[0] != "<"
        }
        return Sentence(marked.text, self.variant, spans)


def _phrasings(parts: Parts, variant: int, comes_back: bool) -> list[Phrasing]:
    """Return a text without fitting parts with each choice of its optional parts."""
    options = sum(part.kind == OPTIONAL for part, _ in walk(parts))
    return [_phrasing(parts, kept, variant, comes_back) for kept in range(1 << options)]


def _phrasing(parts: Parts, kept: int, variant: int, comes_back: bool) -> Phrasing:
    """Compile a text; bit i of `kept` tells if its optional part i is said.

    "{focus|the <D>}'s <A>[ here]?" without its option: pieces "", "the %(D)s", "'s %(A)s?"; marks ("focus", 1, 2).
    """
    roles: list[str] = []
    slots: dict[str, None] = {}
    options = count()

    def flat(parts: Parts) -> Iterator[str]:
        for kind, name, inside in parts:
            if kind == WORDS:
                yield name.replace("%", "%%")
            elif kind == OPTIONAL:
                yield from flat(inside) if kept >> next(options) & 1 else ()
            elif kind == MARK:
                number = len(roles)
                roles.append(name)
                yield from (chr(_OPENS + number), *flat(inside), chr(_CLOSES + number))
            else:
                slot = name + "s" * (kind == PLURAL)
                slots[slot] = None
                yield f"%({slot})s"

    text = _tidied("".join(flat(parts)))
    places = {end: i + 1 for i, end in enumerate(_MARK.findall(text))}
    marks = tuple((role, places[chr(_OPENS + i)], places[chr(_CLOSES + i)]) for i, role in enumerate(roles))
    return Phrasing(tuple(_MARK.split(text)), marks, tuple(slots), variant, comes_back)


def _tidied(text: str) -> str:
    """Return a text without needless spaces; those at the ends of marks stand outside of them."""
    text, before = squeezed(text), ""
    while before != text:
        before = text
        text = _INNER_SPACE.sub(lambda ends: f" {ends[1]}" if ends[1] else f"{ends[2]} ", text)
    return _GAP.sub("", squeezed(text))
