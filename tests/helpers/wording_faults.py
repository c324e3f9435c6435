"""Faults of wording in written questions: found from text, program and scene alone, with the words of the domain.

Nothing is imported from the package. A phrase is a run of known words that ends in a noun, such as "large matte
cubes"; program and scene tell which objects it means.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from oracles.naive_programs import is_filter, run, step_type, step_values
from oracles.naive_vocabulary import Record, World, attribute_types, make_world, relation_type, values_of
from oracles.naive_words import facts_of, trivial_steps

CLAIMS_SEVERAL = re.compile(r"\b(?:the|all|all the|both|both the|these|those)$")
"""Words before a plural that say that there are several."""
OPENERS = r"(?:,? (?:that|which) (?:are|lie)| lying| standing| located| that are located)?"
SPLIT_WORD = re.compile(r"\b(?:any|every|each) thing\b", re.IGNORECASE)
MANY = 2


class Phrase(NamedTuple):
    """Words of a text that describe objects: their values by attribute, and whether the noun is a plural."""

    start: int
    end: int
    words: frozenset[tuple[str, str]]
    is_plural: bool


class Lexicon:
    """The ways to say each value of a domain."""

    def __init__(self, metadata: Record, synonyms: Record) -> None:
        self.metadata = metadata
        self.meaning: dict[str, set[tuple[str, str | None]]] = defaultdict(set)
        """A way to say something -> (attribute, value); the value is None where the attribute is left open."""
        self.nouns: set[str] = set()
        self.plurals: dict[str, str] = {}
        types = attribute_types(metadata)
        for name in types:
            for value in values_of(metadata, name):
                self._add(name, value, self._ways(name, value, synonyms))
        head = _null(metadata, types[-1]) or "thing"
        self._add(types[-1], None, self._ways(types[-1], head, synonyms))
        self.nouns = {way for way, means in self.meaning.items() if any(m[0] == types[-1].lower() for m in means)}
        self.plurals = {_plural(noun, metadata.get("plurals", {})): noun for noun in self.nouns}
        self.ambiguous = {way for way, means in self.meaning.items() if len(means) > 1}
        self.relations = {
            way: value
            for value in values_of(metadata, relation_type(metadata))
            for way in self._ways(relation_type(metadata), value, synonyms)
        }
        said = sorted({*self.meaning, *self.plurals}, key=len, reverse=True)
        self.pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, said)) + r")\b", re.IGNORECASE)
        related = "|".join(map(re.escape, sorted(self.relations, key=len, reverse=True)))
        self.related = re.compile(rf"{OPENERS} (?:{related})\b")

    def _ways(self, type_name: str, value: str, synonyms: Record) -> list[str]:
        own = self.metadata.get("synonyms", {})
        found = own.get(type_name, {}).get(value) or synonyms.get(value)
        entry = self.metadata["types"][type_name]
        display = entry.get("display", {}) if isinstance(entry, Mapping) else {}
        return list(found or [display.get(value, value)])

    def _add(self, type_name: str, value: str | None, ways: Sequence[str]) -> None:
        for way in ways:
            self.meaning[way].add((type_name.lower(), value))

    def said(self, text: str) -> Iterator[tuple[re.Match[str], str, bool]]:
        """Each known word of a text, in its singular, and whether it is a plural."""
        for match in self.pattern.finditer(text):
            way = match[0] if match[0] in self.meaning or match[0] in self.plurals else match[0].lower()
            yield match, self.plurals.get(way, way), way in self.plurals

    def phrases(self, text: str) -> Iterator[Phrase]:
        """The runs of known words that end in a noun."""
        words, start, last = set[tuple[str, str]](), 0, -1
        for match, way, is_plural in self.said(text):
            if not words or text[last : match.start()] != " ":
                words, start = set(), match.start()
            last = match.end()
            words |= {(name, value) for name, value in self.meaning[way] if value is not None}
            if way in self.nouns:
                yield Phrase(start if words else match.start(), last, frozenset(words), is_plural)
                words = set()


def _null(metadata: Record, type_name: str) -> str:
    entry = metadata["types"][type_name]
    return entry.get("null", "") if isinstance(entry, Mapping) else ""


def _plural(noun: str, irregular: Record) -> str:
    first, _, last = noun.rpartition(" ")
    ending = "es" if last.endswith(("s", "x", "sh", "ch")) else "s"
    plural = irregular.get(noun) or irregular.get(last) or last + ending
    return f"{first} {plural}".strip()


class Faults:
    """Finds the faults of questions over one domain."""

    def __init__(self, metadata: Record, synonyms: Record) -> None:
        self.metadata, self.lexicon, self.facts = metadata, Lexicon(metadata, synonyms), facts_of(metadata)

    def of(self, question: Record, scene: Record) -> set[str]:
        """The kinds of faults of a question, by the numbers of the rules (B.1 to B.5, B.7)."""
        text, program = question["question"], question["program"]
        world = make_world(scene, self.metadata)
        results = run(world, program)
        found = {self._kind(each) for each in trivial_steps(self.facts, program, results)}
        found |= {"two words"} if self.mixed_words(text) else set()
        found |= {"split word"} if SPLIT_WORD.search(text) else set()
        found |= {"false plural"} if any(self.false_plurals(text, world, program, results)) else set()
        return found

    def _kind(self, reason: str) -> str:
        names = {"alike": "alike", "one": "many of one", "part": "contained", "forced": "forced"}
        return names[reason.partition(" ")[0]]

    def mixed_words(self, text: str) -> dict[tuple[str, str | None], set[str]]:
        """The values that the text says by two different words."""
        ways = defaultdict(set)
        for _, way, _ in self.lexicon.said(text):
            if way not in self.lexicon.ambiguous:
                ways[next(iter(self.lexicon.meaning[way]))].add(way)
        return {meaning: found for meaning, found in ways.items() if len(found) > 1}

    def false_plurals(
        self, text: str, world: World, program: Sequence[Record], results: Sequence[Any]
    ) -> Iterator[Phrase]:
        """The plurals that claim several objects where there are none or one."""
        for phrase in self.lexicon.phrases(text):
            before = text[: phrase.start].rstrip().lower()
            if phrase.is_plural and CLAIMS_SEVERAL.search(before):
                related = self.lexicon.related.match(text, phrase.end)
                if self._most(phrase, world, program, results, is_related=related is not None) < MANY:
                    yield phrase

    def _most(
        self, phrase: Phrase, world: World, program: Sequence[Record], results: Sequence[Any], is_related: bool
    ) -> int:
        """How many objects the phrase means: of the scene, or of what stands in a relation to something."""
        if not is_related:
            return len(_fitting(world, phrase.words))
        sizes = [
            len(results[i])
            for i in range(len(program))
            if isinstance(results[i], frozenset) and _described(program, i) == (phrase.words, "relate")
        ]
        return max(sizes, default=MANY)


def _fitting(world: World, words: frozenset[tuple[str, str]]) -> list[int]:
    return [i for i in world.everything if all(word in world.sayable[name][i] for name, word in words)]


def _described(program: Sequence[Record], index: int) -> tuple[frozenset[tuple[str, str]], str]:
    """The words of the filters that end at a step, and the function before them."""
    words = set()
    while is_filter(program[index]):
        words.add((step_type(program[index]).removeprefix("filter_"), step_values(program[index])[0]))
        index = program[index]["inputs"][0]
    return frozenset(words), step_type(program[index])
