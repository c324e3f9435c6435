"""Numbers about a catalogue: what each word is true of, and how many items have each color and size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from vqagen.authoring.items.entries import adjectives, nouns
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.catalogue_words import ITEM, named
from vqagen.tasks.director.question_table import KIND, WIDER, QuestionTable

LEAST_SIZES = 3
"""Sizes of a kind with which a trial can have an item between the smallest and the largest."""


@dataclass(frozen=True)
class WordCount:
    """One noun or adjective."""

    word: str
    adjective_class: str
    """"" for a noun."""
    is_physics: bool
    is_kind: bool
    true: int
    """Kinds and own items for which it is true."""
    unclear: int
    items: int
    """Items, of all colors and sizes, for which it is true."""


@dataclass(frozen=True)
class QuestionCount:
    """Questions (a noun and up to two adjectives, each of which can be needed) of one class of nouns."""

    nouns: str
    """`kind`, `wider` (nouns of several kinds) or `item`."""
    plain: int
    """Questions without an adjective about how a thing behaves."""
    physics: int
    sizes: int
    """Questions of both sorts that a size rule can be about: items of one kind in three sizes or more."""


@dataclass(frozen=True)
class Census:
    """The numbers of a catalogue."""

    kinds: int
    own_items: int
    items: int
    nouns: tuple[WordCount, ...]
    adjectives: tuple[WordCount, ...]
    sizes: dict[int, int]
    """Size level -> items."""
    questions: tuple[QuestionCount, ...]

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)


def count_catalogue(catalogue: ItemCatalogue) -> Census:
    """Return the numbers of a catalogue."""
    document = catalogue.record
    items_with = Counter(word for item in catalogue.items for word in item.true)
    things_with = Counter(dict.fromkeys(items_with, 0))
    unclear_for: Counter[str] = Counter()
    by_thing = {item.name if item.picture else item.kind: item for item in catalogue.items}
    for item in by_thing.values():
        things_with.update(word for word in item.true if item.picture or word not in catalogue.paints)
        unclear_for.update(item.unclear)
    kinds = {item.kind for item in catalogue.items}
    drawn = len(named(document["kinds"]))
    for color in catalogue.paints:
        things_with[color] += drawn
    sizes = Counter(item.size for item in catalogue.items)

    def counted(word: str) -> WordCount:
        of_class, is_physics = catalogue.classes.get(word, ""), word in catalogue.physics
        is_kind = word in kinds
        return WordCount(word, of_class, is_physics, is_kind, things_with[word], unclear_for[word], items_with[word])

    return Census(
        kinds=drawn,
        own_items=len(by_thing) - drawn,
        items=len(catalogue.items),
        nouns=tuple(sorted(map(counted, nouns(document)), key=lambda each: (-each.true, each.word))),
        adjectives=tuple(counted(name) for name in adjectives(document)),
        sizes={size: sizes[size] for size in sorted(sizes)},
        questions=tuple(_count_questions(QuestionTable(catalogue))),
    )


def _count_questions(table: QuestionTable) -> Iterator[QuestionCount]:
    for nouns_of in (KIND, WIDER, ITEM):
        found = [question for question in table.questions if question.width == nouns_of]
        physics = sum(question.is_physics for question in found)
        sizes = sum(any(len(kind.levels) >= LEAST_SIZES for kind in question.kind_sizes) for question in found)
        yield QuestionCount(nouns_of, len(found) - physics, physics, sizes)
