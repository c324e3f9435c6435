"""Recognition of dialogs: a sentence is read back as one of the texts of a label with words in its slots.

Each text, with each choice of its optional and fitting parts, is a regular expression, with a group for each slot. It
finds the words; these are said again, and must give the sentence to the letter:

    text      How many <V>s are [far|earlier] <R> {focus|the <D>}?
    sentence  How many cubes are left of the red thing?
    slots     V: {"shape": "cube"}   R: "left"   D: {"color": "red"}      conditions: those of near objects

A `Listener` then says what a question asks, by what was said before. It does not judge whether a person would take the
reference so, nor whether the answer is new: `tests/oracles/dialogs` does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import and_
from typing import Any, NamedTuple

from vqagen.bits import indexes, union_of
from vqagen.tasks.dialog.captions import CENTER, Caption, central, farthest, knowledge_after
from vqagen.tasks.dialog.knowledge import Move
from vqagen.tasks.dialog.loading import label_rules
from vqagen.tasks.dialog.rounds import (
    NAMED,
    NOTHING,
    ROUND_KINDS,
    RoundKind,
    attribute_of_focus,
)
from vqagen.tasks.dialog.scene import DialogScene, DialogVocabulary
from vqagen.tasks.dialog.search import Beam, play
from vqagen.tasks.dialog.template import ANY_EXTREME, FOCUS, GROUP, NOUN
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
                slots = {slot: meaning for slot, (_, meaning) in fillings.items() if meaning is not None}
                slots = {"V" if slot in ("Vs", "P") else slot: meaning for slot, meaning in slots.items()}
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


# What a listener understands ------------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """What is wrong with one sentence."""

    kind: str
    why: str


class Listener:
    """Follows one dialog: what each sentence asks, by what was said before, and whether its answer is right."""

    def __init__(self, scene: DialogScene, caption: Caption, is_strict: bool = True) -> None:
        """Without `is_strict`, a name may be that of "it" or of a set, as other generators have it."""
        self.scene, self.caption, self.is_strict = scene, caption, is_strict
        self.start = knowledge_after(caption, scene)
        self.beam, self.rounds = Beam(self.start), 0

    def hear(self, parses: Sequence[Parse], answer: object) -> Iterator[Verdict]:
        """Go on by one round, and yield what is wrong with it; stay where it is if nothing can be meant."""
        kind, before = ROUND_KINDS[parses[0].label], self.beam
        moves = list(dict.fromkeys(move for parse in parses for move in self._moves(kind, parse.slots)))
        if not moves:
            yield Verdict("unlicensed", f"nothing was said that it can refer to ({kind.refers})")
            return
        self.rounds += 1
        played = [(move, *play(self.scene, before.knowledge, move, self.rounds)) for move in moves]
        right = [each for each in played if str(each[2].answer) == str(answer)]
        move, knowledge, outcome = (right or played)[0]
        self.beam = Beam(knowledge, move=move, outcome=outcome, parent=before)
        if not right:
            yield Verdict("wrong", f"the answer is {answer!r}, but the scene gives {outcome.answer!r}")
        if len(moves) > 1:
            yield Verdict("ambiguous", "it can be read in several ways")

    def recall(self, args: Mapping[str, Any]) -> None:
        """Take for known what the program of the next round names: dialogs of looser rules refer to it.

        What is no object or value of the scene names nothing.
        """
        known, numbers = self.beam.knowledge.copy(), range(self.scene.size)
        for key, given in args.items():
            if key in ("group", "mentioned") and isinstance(given, list):
                setattr(known, key, union_of(i for i in numbers if i in given))
            elif key == "focus" and isinstance(given, int) and given in numbers:
                known.topic, known.singles = given, known.singles | 1 << given
        described = args.get("descriptor")
        for item in described.items() if isinstance(described, Mapping) and known.topic >= 0 else ():
            value = self.scene.vocabulary.number.get((item[0], str(item[1])), -1)
            known.told[known.topic] |= 1 << value if value >= 0 else 0
        self.beam = replace(self.beam, knowledge=known)

    def _moves(self, kind: RoundKind, slots: Mapping[str, Any]) -> Iterator[Move]:
        """Yield every question that these words can ask."""
        known, words = self.beam.knowledge, self.scene.vocabulary
        if not kind.has_referent(known) or (kind.after and known.label not in kind.after):
            return
        numbers = {slot: [words.number[each] for each in slots[slot].items()] for slot in ("D", "V") if slot in slots}
        if any(len(each) > 1 for each in numbers.values()):
            return
        (value,), (name,) = numbers.get("V", [-1]), numbers.get("D", [-1])
        attribute = -1
        if "A" in slots:
            attribute = [each.name for each in words.attributes].index(slots["A"])
        elif kind.learn is attribute_of_focus and known.move:
            attribute = known.move.attribute
        relation = words.relations.index(slots["R"]) if "R" in slots else -1
        for focus in self._foci(kind, name):
            yield Move(kind.label, focus, relation, attribute, value, name if kind.refers == NAMED else -1)

    def _foci(self, kind: RoundKind, name: int) -> Sequence[int]:
        """Return the objects that a question can refer to; -1 if it refers to none, or to a group."""
        known = self.beam.knowledge
        if kind.refers in (NOTHING, GROUP):
            return [-1]
        if kind.refers == NAMED:
            named = [i for i in indexes(known.singles) if known.told[i] >> name & 1]
            is_of_set = known.plural >> name & 1
            return [i for i in named if not (self.is_strict and (is_of_set or i == known.topic))]
        return [known.move.focus if kind.refers == FOCUS and known.move else known.topic]


def captions_said(parse: Parse, scene: DialogScene) -> Iterator[Caption]:
    """Yield every caption that the words can be, and that is true of the scene."""
    label, slots, words = parse.label, parse.slots, scene.vocabulary
    told = slots.keys() & {"D", "D2", "V"}
    numbers = {slot: sorted(words.number[each] for each in slots[slot].items()) for slot in told}
    objects = {slot: reduce(and_, (scene.having[value] for value in each)) for slot, each in numbers.items()}
    if label == "obj-relation":
        relation = words.relations.index(slots["R"])
        for anchor in indexes(objects["D2"]):
            for i in indexes(scene.related[relation][anchor] & objects["D"]):
                yield Caption(label, "", 1 << i, tuple(numbers["D"]), relation, anchor, numbers["D2"][0])
    elif "V" in objects:
        count = objects["V"].bit_count()
        if count == slots["K"] if "K" in slots else count > 1:
            yield Caption(label, "", objects["V"], tuple(numbers["V"]))
    else:
        found, relation = indexes(objects["D"]), -1
        if label == CENTER:
            found = [i for i in central(scene) if i in found]
        elif label.startswith("extreme-"):
            relation = words.relations.index(label.removeprefix("extreme-"))
            found = [i for i in farthest(scene, relation) if i in found]
        for i in found if parse.form != "exact" or len(found) == 1 else ():
            yield Caption(label, parse.form, 1 << i, tuple(numbers["D"]), relation)
