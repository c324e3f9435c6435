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

from vqagen.language.sentence import Marked, SlotSpan, edits, finished, squeezed
from vqagen.language.synonyms import Synonyms
from vqagen.rng import pick
from vqagen.tasks.dialog.template import (
    BACK,
    NOUN,
    DialogTemplate,
    DialogTemplates,
    DialogText,
    Mark,
    Optional,
    Part,
    Slot,
)
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
from vqagen.world.domain import HEAD_NOUN, Domain

Span = tuple[int, int]
"""Where words stand in a sentence that is split at white space: [start, end)."""
NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


class Said(NamedTuple):
    """A sentence."""

    text: str
    variant: int
    """The number of its text in the template."""
    spans: Mapping[str, Span]
    """Role -> the words that have it."""


class Wordings:
    """The texts of a domain's dialogs, compiled."""

    def __init__(self, templates: DialogTemplates, synonyms: Synonyms, vocabulary: DialogVocabulary) -> None:
        self.words = WaysToSay(synonyms, vocabulary)
        self.domain = synonyms.domain
        self._templates = templates
        self._compiled: dict[tuple[str, str], CompiledTemplate] = {}

    def dialog(self, rng: Random) -> DialogWords:
        """Return the words of one dialog: a way to say each thing, drawn from its synonyms."""
        return DialogWords(self, self.words.drawn(rng))

    def compiled(self, label: str, form: str) -> CompiledTemplate:
        """Return the template of a label. KeyError if there is none."""
        found = self._compiled.get((label, form))
        if found is None:
            template = self._templates.of(label, form)
            if template is None:
                raise KeyError(f"no dialog template for {label} {form}")
            found = self._compiled[label, form] = CompiledTemplate(template)
        return found


class DialogWords:
    """The words of one dialog."""

    def __init__(self, wordings: Wordings, drawn: _DrawnWords) -> None:
        self._wordings, self._drawn = wordings, drawn
        self._has_come_back = False

    def say(
        self, label: str, form: str, slots: Mapping[str, Any], rng: Random, conditions: frozenset[str] = frozenset()
    ) -> Said:
        """Return one sentence: a text of the label's that fits the conditions, drawn at random, with its slots filled.

        `slots` are as templates name them: {"A": "color", "R": "left", "D": {"color": "red"}, "K": 3, …}; others than
        those of the text are ignored. Only one sentence of a dialog is said on the condition `BACK`.
        """
        template = self._wordings.compiled(label, form)
        if self._has_come_back:
            conditions -= {BACK}
        text = pick(rng, template.texts(conditions, slots.get("E") in self._drawn.extremes))
        self._has_come_back |= BACK in conditions and text.comes_back
        form_of_text = text.form(rng)
        said = {name: _FILLINGS[name](self._drawn, slots) for name in form_of_text.slots}
        return form_of_text.said(said, text.variant, self._wordings.domain)

    def hear(self, attribute: str, value: str) -> None:
        """Say a value as an answer says it from now on, if it can be said so: "rubber", and no longer "matte"."""
        if value in self._wordings.words.ways(attribute, value):
            self._drawn.values[attribute][value] = value


# The words ------------------------------------------------------------------------------------------------------------


class _DrawnWords(NamedTuple):
    """One way to say each thing."""

    values: Mapping[str, dict[str, str]]
    """Attribute -> value -> words."""
    relations: Mapping[str, str]
    extremes: Mapping[str, str]
    noun: str
    head: str
    """The attribute whose value is the noun of a description."""
    plural: Callable[[str], str]

    def described(self, values: Mapping[str, str], is_plural: bool = False) -> str:
        """Return a description by values: "large red cube", "red things"."""
        said = self.values
        noun = said[self.head][values[self.head]] if self.head in values else self.noun
        adjectives = [ways[values[name]] for name, ways in said.items() if name in values and name != self.head]
        return " ".join([*adjectives, self.plural(noun) if is_plural else noun])

    def predicated(self, values: Mapping[str, str]) -> str:
        """Return what several objects are: "red", "cubes"."""
        return self.described(values, is_plural=True).removesuffix(f" {self.plural(self.noun)}")


class WaysToSay:
    """All ways to say what dialogs talk about.

    values[attribute][value], relations[relation], extremes[relation], nouns — the words
    head — the attribute whose values are nouns; plurals — the plurals of these and of `nouns`
    """

    def __init__(self, synonyms: Synonyms, vocabulary: DialogVocabulary) -> None:
        domain = synonyms.domain
        self.values = {
            each.name: {value: _squeezed(synonyms.of(each.type, value)) for value in each.leaves}
            for each in vocabulary.attributes
        }
        self.relations = {name: _squeezed(synonyms.of(domain.relation_type, name)) for name in vocabulary.relations}
        self.extremes = {name: _squeezed(synonyms.extreme(name)) for name in vocabulary.relations}
        nouns = [each for each in domain.attributes if each.null]
        self.nouns = _squeezed(synonyms.of(nouns[-1].type, None)) if nouns else (HEAD_NOUN,)
        self.head = nouns[-1].name if nouns else ""
        self.plurals = {
            way: synonyms.plural(way) for ways in (*self.values.get(self.head, {}).values(), self.nouns) for way in ways
        }

    def ways(self, attribute: str, value: str) -> Sequence[str]:
        """Return all ways to say a value."""
        return self.values[attribute][value]

    def drawn(self, rng: Random) -> _DrawnWords:
        """Draw one way to say each thing, in the order of the vocabulary."""
        return _DrawnWords(
            {name: {value: pick(rng, ways) for value, ways in of.items()} for name, of in self.values.items()},
            {name: pick(rng, ways) for name, ways in self.relations.items()},
            {name: pick(rng, ways) for name, ways in self.extremes.items() if ways},
            pick(rng, self.nouns),
            self.head,
            self.plurals.__getitem__,
        )


def _squeezed(ways: Sequence[str]) -> tuple[str, ...]:
    return tuple(squeezed(way) for way in ways)


def number_word(number: int) -> str:
    """Return a number up to twelve in letters, a larger one in digits."""
    return NUMBER_WORDS[number] if number < len(NUMBER_WORDS) else str(number)


_FILLINGS: Mapping[str, Callable[[_DrawnWords, Mapping[str, Any]], str]] = {
    "A": lambda drawn, slots: slots["A"].replace("_", " "),
    "R": lambda drawn, slots: drawn.relations[slots["R"]],
    "D": lambda drawn, slots: drawn.described(slots["D"]),
    "D2": lambda drawn, slots: drawn.described(slots["D2"]),
    "V": lambda drawn, slots: drawn.described(slots["V"]),
    "Vs": lambda drawn, slots: drawn.described(slots["V"], is_plural=True),
    "P": lambda drawn, slots: drawn.predicated(slots["V"]),
    "K": lambda drawn, slots: number_word(slots["K"]),
    "E": lambda drawn, slots: drawn.extremes[slots["E"]],
    NOUN: lambda drawn, slots: drawn.noun,
    f"{NOUN}s": lambda drawn, slots: drawn.plural(drawn.noun),
}
"""Slot, or the plural of a slot -> its words."""


# The texts ------------------------------------------------------------------------------------------------------------

_OPENS, _CLOSES = 0xE000, 0xE100
"""While a text is compiled, the private characters from here on stand for the ends of its marks."""
_MARK = re.compile("[\ue000-\ue1ff]")
_INNER_SPACE = re.compile("([\ue000-\ue0ff]) +| +([\ue100-\ue1ff])")
_GAP = re.compile(r" +(?=[\ue100-\ue1ff]*[?!,;:.])")


class CompiledTemplate:
    """The texts of a template."""

    def __init__(self, template: DialogTemplate) -> None:
        self._texts = template.texts
        self._fitting: dict[tuple[frozenset[str], bool], tuple[CompiledText, ...]] = {}

    def texts(self, conditions: frozenset[str], has_extreme: bool) -> tuple[CompiledText, ...]:
        """Return the texts that can be said where just these conditions hold, with or without a word for <E>."""
        found = self._fitting.get((conditions, has_extreme))
        if found is None:
            fitting = ((variant, text.where(conditions)) for variant, text in enumerate(self._texts))
            found = self._fitting[conditions, has_extreme] = tuple(
                CompiledText(text, variant, BACK in self._texts[variant].conditions)
                for variant, text in fitting
                if text is not None and (has_extreme or "E" not in text.every_slot)
            )
        return found


class CompiledText:
    """A text; each choice of its optional parts is compiled when it is first drawn."""

    def __init__(self, text: DialogText, variant: int, comes_back: bool) -> None:
        self.variant, self.comes_back = variant, comes_back
        self._parts = text.parts
        self._options = text.options
        self._forms: dict[int, Form] = {}

    def form(self, rng: Random) -> Form:
        """Draw which optional parts are said."""
        return self._form(int(rng.random() * (1 << self._options)) if self._options else 0)

    def forms(self) -> Iterator[Form]:
        """Yield the text with each choice of its optional parts."""
        yield from map(self._form, range(1 << self._options))

    def _form(self, kept: int) -> Form:
        found = self._forms.get(kept)
        if found is None:
            found = self._forms[kept] = _compiled(self._parts, kept)
        return found


@dataclass(frozen=True)
class Form:
    """A text whose optional parts are decided."""

    pieces: tuple[str, ...]
    """`%`-formats, cut where marks begin and end; there are no needless spaces."""
    marks: tuple[tuple[str, int, int], ...]
    """Role, and the pieces that it marks: [start, end)."""
    slots: tuple[str, ...]

    def said(self, said: Mapping[str, str], variant: int, domain: Domain) -> Said:
        """Fill the slots."""
        pieces = [piece % said for piece in self.pieces]
        text = "".join(pieces)
        if any(pattern.search(text) for pattern, _ in domain.rewrites):
            return self._rewritten(pieces, variant, domain)
        spans: dict[str, Span] = {}
        for role, start, end in self.marks:
            before = sum(piece.count(" ") for piece in pieces[:start])
            spans[role] = before, before + sum(piece.count(" ") for piece in pieces[start:end]) + 1
        return Said(finished(text, joins_anything=False), variant, spans)

    def _rewritten(self, pieces: Sequence[str], variant: int, domain: Domain) -> Said:
        """Fill the slots of a sentence that the domain's rewrites change; the spans follow its changes."""
        ends = [0]
        for piece in pieces:
            ends.append(ends[-1] + len(piece))
        marked = Marked(
            "".join(pieces), tuple(SlotSpan(role, ends[start], ends[end]) for role, start, end in self.marks)
        )
        marked = marked.edited(edits(True, False, domain.rewrites, joins_anything=False))
        text = marked.text
        return Said(text, variant, {each.slot: _word_span(text, each.start, each.end) for each in marked.spans})


def _word_span(text: str, start: int, end: int) -> Span:
    return text.count(" ", 0, start), text.count(" ", 0, end) + 1


def _compiled(parts: Sequence[Part], kept: int) -> Form:
    """Compile a text without fitting parts; bit i of `kept` tells if its optional part i is said."""
    roles: list[str] = []
    slots: dict[str, None] = {}
    options = count()

    def flat(parts: Sequence[Part]) -> Iterator[str]:
        for part in parts:
            if isinstance(part, str):
                yield part.replace("%", "%%")
            elif isinstance(part, Slot):
                name = part.name + "s" * part.is_plural
                slots[name] = None
                yield f"%({name})s"
            elif isinstance(part, Mark):
                number = len(roles)
                roles.append(part.role)
                yield chr(_OPENS + number)
                yield from flat(part.parts)
                yield chr(_CLOSES + number)
            elif isinstance(part, Optional):
                is_said = kept >> next(options) & 1
                yield from flat(part.parts) if is_said else ()

    text = _tidied("".join(flat(parts)))
    pieces = _MARK.split(text)
    ends = _MARK.findall(text)
    places = {end: i + 1 for i, end in enumerate(ends)}
    marks = tuple((role, places[chr(_OPENS + i)], places[chr(_CLOSES + i)]) for i, role in enumerate(roles))
    return Form(tuple(pieces), marks, tuple(slots))


def _tidied(text: str) -> str:
    """Return a text without needless spaces; those at the ends of marks stand outside of them."""
    text, before = squeezed(text), ""
    while before != text:
        before = text
        text = _INNER_SPACE.sub(lambda ends: f" {ends[1]}" if ends[1] else f"{ends[2]} ", text)
    return _GAP.sub("", squeezed(text))
