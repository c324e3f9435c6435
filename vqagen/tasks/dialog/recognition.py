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
from functools import reduce
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
    referents,
)
from vqagen.tasks.dialog.scene import DialogScene, DialogVocabulary, Values
from vqagen.tasks.dialog.search import Beam, play
from vqagen.tasks.dialog.template import ANY_EXTREME, FOCUS, GROUP, NOUN
from vqagen.tasks.dialog.wording import NUMBER_WORDS, Phrasing, Sentence, Wordings

_FIELD = re.compile(r"%\((\w+)\)s")
_ARTICLE = re.compile(r"\ban(?= )")
_PHRASES = ("D", "D2", "V", "Vs", "P")
"""Slots of descriptions."""
Meanings = Mapping[str, tuple[str, Any]]
"""Words as `normal` has them -> the words as they are said, and what they mean; None for a noun."""


class Parse(NamedTuple):
    """One way to parse a sentence."""

    label: str
    form: str
    slots: Mapping[str, Any]
    """What each slot says, as `DialogWords.say` takes it; V also for the slot P."""
    said: Sentence
    phrasing: Phrasing
    """The text, with its optional and fitting parts decided."""


class SentenceReader:
    """Reads the sentences of one domain's dialogs."""

    def __init__(self, wordings: Wordings, vocabulary: DialogVocabulary) -> None:
        self.wordings = wordings
        rules = label_rules(vocabulary.relations)
        self.rules = {label: rule for label, rule in rules.items() if label != ANY_EXTREME}
        self._patterns: dict[tuple[str, str], list[tuple[re.Pattern[str], Phrasing]]] = {}
        nouns, plurals = wordings.nouns, wordings.plurals
        self._words: Mapping[str, Meanings] = {
            "A": _meanings({name: [name.replace("_", " ")] for name in wordings.values}),
            "R": _meanings(wordings.relations),
            "E": _meanings(wordings.extremes),
            "K": {word: (word, number) for number, word in enumerate(NUMBER_WORDS)},
            NOUN: {normal(noun): (noun, None) for noun in nouns},
            f"{NOUN}s": {normal(plurals[noun]): (plurals[noun], None) for noun in nouns},
        }
        heads = _meanings(wordings.values.get(wordings.head, {}))
        many = {normal(plurals[way]): (plurals[way], value) for way, value in heads.values()}
        self._adjectives = {name: _meanings(ways) for name, ways in wordings.values.items() if name != wordings.head}
        one = {**heads, **self._words[NOUN]}
        several = {**many, **self._words[f"{NOUN}s"]}
        self._heads: Mapping[str, Meanings] = {"D": one, "D2": one, "V": one, "Vs": several, "P": many}

    def read(self, sentence: str, label: str, is_exact: bool = True) -> list[Parse]:
        """Return the ways to understand a sentence as one of a label.

        Without `is_exact`, capitals and articles may be those of another generator.
        """
        forms = self.rules[label].forms if label in self.rules else ()
        return [parse for form in forms for parse in self._read(sentence, label, form, is_exact)]

    def labels_of(self, sentence: str) -> list[str]:
        """Return the labels of which some text is the sentence."""
        return [label for label in self.rules if self.read(sentence, label)]

    def _read(self, sentence: str, label: str, form: str, is_exact: bool) -> Iterator[Parse]:
        plain = normal(sentence)
        for regex, phrasing in self._of(label, form):
            if match := regex.fullmatch(plain):
                fillings = {slot: self._filling(slot, match) for slot in phrasing.slots}
                said = phrasing.filled({slot: words for slot, (words, _) in fillings.items()}, self.wordings.domain)
                slots = {slot: meaning for slot, (_, meaning) in fillings.items() if meaning is not None}
                slots = {"V" if slot in ("Vs", "P") else slot: meaning for slot, meaning in slots.items()}
                is_same = said.text == sentence if is_exact else normal(said.text) == plain
                if is_same and {} not in slots.values() and _is_of(label, slots):
                    yield Parse(label, form, slots, said, phrasing)

    def _of(self, label: str, form: str) -> list[tuple[re.Pattern[str], Phrasing]]:
        """Return the phrasings of a label with their patterns, compiled when they are first needed."""
        if (label, form) not in self._patterns:
            texts = [
                text
                for case in self.rules[label].cases
                for text in self.wordings.texts(label, form, case, has_extreme=True)
            ]
            phrasings = dict.fromkeys(phrasing for text in texts for phrasing in text)
            self._patterns[label, form] = [(self._regex(phrasing), phrasing) for phrasing in phrasings]
        return self._patterns[label, form]

    def _regex(self, phrasing: Phrasing) -> re.Pattern[str]:
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
        if slot not in _PHRASES:
            return _either(self._words[slot]) + (r"|\d+" if slot == "K" else "")
        *adjectives, head = (f"(?P<{slot}_{i}>{_either(words)})" for i, (_, words) in enumerate(self._parts(slot)))
        if slot == "P":
            return "|".join((*adjectives, head))
        return "".join(f"(?:{adjective} )?" for adjective in adjectives) + head

    def _parts(self, slot: str) -> list[tuple[str, Meanings]]:
        """Return the parts of a description in their order: (attribute, its words)."""
        return [*self._adjectives.items(), (self.wordings.head, self._heads[slot])]

    def _filling(self, slot: str, match: re.Match[str]) -> tuple[str, Any]:
        """Return the words of a slot as they are said, and what they mean."""
        if slot not in _PHRASES:
            words = match[slot]
            return self._words[slot].get(words) or (words, int(words))
        parts = [
            (attribute, *meanings[words])
            for i, (attribute, meanings) in enumerate(self._parts(slot))
            if (words := match[f"{slot}_{i}"])
        ]
        values = {attribute: value for attribute, _, value in parts if value is not None}
        return " ".join(words for _, words, _ in parts), values


def normal(sentence: str) -> str:
    """Return a sentence in small letters, with "a" for "an"."""
    return _ARTICLE.sub("a", sentence.lower())


def _is_of(label: str, slots: Mapping[str, Any]) -> bool:
    """True unless the label names another direction than the words: "leftmost" is `extreme-left`."""
    directions = {f"extreme-{slots[slot]}" for slot in ("R", "E") if slot in slots}
    return directions <= {label} or not label.startswith("extreme-")


def _meanings(ways: Mapping[str, Sequence[str]]) -> Meanings:
    """Return the meanings of the ways to say some values; words of several values mean the first."""
    pairs = [(way, value) for value, of_value in ways.items() for way in of_value]
    return {normal(way): (way, value) for way, value in reversed(pairs)}


def _either(words: Mapping[str, Any]) -> str:
    """Return the pattern of any of some words, the longest first; it matches nothing if there are none."""
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})" if words else "(?!)"


# What a listener understands ------------------------------------------------------------------------------------------

SentenceFault = tuple[int | None, str, str]
"""The number of a sentence, 0 for the caption and None for the whole dialog; the kind of the fault, and why."""


class Listener:
    """Follows one dialog: what each sentence asks, by what was said before, and whether its answer is right."""

    def __init__(self, scene: DialogScene, caption: Caption, parses: Sequence[Parse], is_strict: bool = True) -> None:
        """Without `is_strict`, a name may be that of "it" or of a set, as other generators have it."""
        self.scene, self.caption, self.is_strict = scene, caption, is_strict
        self.beam = Beam(knowledge_after(caption, scene))
        self.parses = [parses]
        """Sentence -> the ways to read it."""
        self.faults: list[SentenceFault] = []

    @property
    def is_in_doubt(self) -> bool:
        """True if a sentence is ambiguous: what was understood may not be meant."""
        return any(kind == "ambiguous" for _, kind, _ in self.faults)

    def hear(self, parses: Sequence[Parse], text: str, answer: object) -> bool:
        """Go on by one round, and note what is wrong with it. False if nothing can be meant."""
        kind, before, number = ROUND_KINDS[parses[0].label], self.beam, len(self.parses)
        moves = list(dict.fromkeys(move for parse in parses for move in self._moves(kind, parse.slots)))
        played = [(move, *play(self.scene, before.knowledge, move, number)) for move in moves]
        right = [outcome for outcome in played if str(outcome[2]) == str(answer)]
        for move, knowledge, expected in (right or played)[:1]:
            self.beam = Beam(knowledge, move=move, answer=expected, parent=before)
            self.parses.append(parses)
            if not right:
                why = f"{text!r}: the answer is {answer!r}, but the scene gives {expected!r}"
                self.faults.append((number, "wrong", why))
        if len(moves) > 1 and self.is_strict:
            self.faults.append((number, "ambiguous", f"{text!r}: it can be read in several ways"))
        elif not moves and self.is_strict:
            why = f"{text!r}: nothing was said that it can refer to ({kind.refers})"
            self.faults.append((number, "unlicensed", why))
        return bool(moves)

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
        if kind.refers not in referents(known) or (kind.after and known.label not in kind.after):
            return
        numbers = {slot: [words.number[value] for value in slots[slot].items()] for slot in ("D", "V") if slot in slots}
        if len(numbers.get("V", ())) > 1:
            return
        (value,), name = numbers.get("V", [-1]), sum(1 << value for value in numbers.get("D", ()))
        attribute = -1
        if "A" in slots:
            attribute = [described.name for described in words.attributes].index(slots["A"])
        elif kind.learn is attribute_of_focus and known.move:
            attribute = known.move.attribute
        relation = words.relations.index(slots["R"]) if "R" in slots else -1
        for focus in self._foci(kind, name):
            yield Move(kind.label, focus, relation, attribute, value, name)

    def _foci(self, kind: RoundKind, name: Values) -> Sequence[int]:
        """Return the objects that a question can refer to; -1 if it refers to none, or to a group."""
        known = self.beam.knowledge
        if kind.refers in (NOTHING, GROUP):
            return [-1]
        if kind.refers == NAMED:
            named = [i for i in indexes(known.singles) if not name & ~known.told[i]]
            is_of_set = not name & ~known.plural
            return [i for i in named if not (self.is_strict and (is_of_set or i == known.topic))]
        return [known.move.focus if kind.refers == FOCUS and known.move else known.topic]


def captions_said(parse: Parse, scene: DialogScene) -> Iterator[Caption]:
    """Yield every caption that the words can be, and that is true of the scene."""
    label, slots, words = parse.label, parse.slots, scene.vocabulary
    told = slots.keys() & {"D", "D2", "V"}
    numbers = {slot: sorted(words.number[value] for value in slots[slot].items()) for slot in told}
    objects = {slot: reduce(and_, (scene.having[value] for value in values)) for slot, values in numbers.items()}
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
        described, relation = indexes(objects["D"]), -1
        if label == CENTER:
            described = [i for i in central(scene) if i in described]
        elif label.startswith("extreme-"):
            relation = words.relations.index(label.removeprefix("extreme-"))
            described = [i for i in farthest(scene, relation) if i in described]
        for i in described if parse.form != "exact" or len(described) == 1 else ():
            yield Caption(label, parse.form, 1 << i, tuple(numbers["D"]), relation)
