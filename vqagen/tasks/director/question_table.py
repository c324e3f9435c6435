"""The questions that a catalogue allows: a noun with up to two adjectives, each of which can be needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import combinations, product

from vqagen.bits import Objects, first_n, union_of
from vqagen.tasks.director.catalogue import ITEM, ItemCatalogue

Ids = tuple[int, ...]
"""Places of items in the catalogue."""
MOST_ADJECTIVES = 2
KIND, WIDER = "kind", "wider"
"""How wide a noun is; the widest, `item`, is its own width."""


KindSizes = tuple[tuple[int, Ids], ...]
"""The related items of one kind by size: each level with any, from the smallest one on, and its items."""


@dataclass(frozen=True, eq=False)
class Question:
    """A noun and adjectives, and the items that fit. Frozen but for what it works out once."""

    table: QuestionTable
    noun: str
    adjectives: tuple[str, ...]
    """In their spoken order."""
    is_physics: bool

    @property
    def width(self) -> str:
        """How many items the noun alone fits: those of a kind, of several, or all."""
        return ITEM if self.noun == ITEM else KIND if self.noun in self.table.kinds else WIDER

    @cached_property
    def related(self) -> Ids:
        """Items for which the noun and all adjectives are true."""
        return _ids(self.is_related)

    @cached_property
    def unrelated(self) -> Ids:
        """Items for which the noun or an adjective is clearly false."""
        return _ids(self.is_unrelated)

    @cached_property
    def is_related(self) -> bytes:
        """For each item 1 if it is related, else 0."""
        return self.table.flags(self.table.all_true((self.noun, *self.adjectives)))

    @cached_property
    def is_unrelated(self) -> bytes:
        """For each item 1 if it is unrelated, else 0. This takes a tenth of the memory of a set, and so of the time."""
        return self.table.flags(self.table.one_false((self.noun, *self.adjectives)))

    @cached_property
    def foils(self) -> tuple[Ids, ...]:
        """For each adjective the items that it alone keeps from being related."""
        return tuple(_ids(self.table.flags(foils)) for foils in self._foils)

    @cached_property
    def _foils(self) -> tuple[Objects, ...]:
        return tuple(self.table.foils(self.noun, self.adjectives, each) for each in self.adjectives)

    @cached_property
    def near_misses(self) -> Ids:
        """All foils; unrelated items for a question without adjectives."""
        return tuple(dict.fromkeys(each for foils in self.foils for each in foils)) or self.unrelated

    @cached_property
    def kind_sizes(self) -> tuple[KindSizes, ...]:
        """The related items of each kind by size, for kinds of several sizes."""
        by_kind: dict[str, dict[int, list[int]]] = {}
        for each in self.related:
            item = self.table.catalogue.items[each]
            by_kind.setdefault(item.kind, {}).setdefault(item.size, []).append(each)
        by_size = (sorted(levels.items()) for levels in by_kind.values() if len(levels) > 1)
        return tuple(tuple((size, tuple(items)) for size, items in levels) for levels in by_size)

    def foils_of_size(self, least: int, most: int) -> tuple[Ids, ...]:
        """Return for each adjective its foils of the size levels from `least` to `most`."""
        found = self._foils_of_size.get((least, most))
        if found is None:
            sizes = self.table.sizes
            found = tuple(tuple(each for each in foils if least <= sizes[each] <= most) for foils in self.foils)
            self._foils_of_size[least, most] = found
        return found

    @cached_property
    def _foils_of_size(self) -> dict[tuple[int, int], tuple[Ids, ...]]:
        return {}

    def has_foils_of_size(self, least: int, most: int) -> bool:
        """True if every adjective has foils of these levels."""
        sized = self.table.of_sizes(least, most)
        return all(foils & sized for foils in self._foils)


class QuestionTable:
    """The questions of a catalogue: something is related, something unrelated, and each adjective has foils.

    Items are sets of bits: with arrays a run began 0.1 s later.
    """

    def __init__(self, catalogue: ItemCatalogue) -> None:
        self.catalogue = catalogue
        items = catalogue.items
        self.kinds = frozenset(item.kind for item in items)
        self.sizes = tuple(item.size for item in items)
        self.nouns = tuple(dict.fromkeys(noun for item in items for noun in item.nouns))
        words = (*self.nouns, *catalogue.classes)
        self._made: dict[tuple[str, tuple[str, ...]], Question] = {}
        self._every = first_n(len(items))
        self.of_sizes = cache(self._of_sizes)
        """Return the items of the size levels from one to another."""
        colors = [next((each for each in item.properties if each in catalogue.paints), "") for item in items]
        self.looks = tuple((item.kind, color) for item, color in zip(items, colors, strict=True))
        """The kind and color of each item."""
        self.of_look: dict[tuple[str, str], list[int]] = {}
        """(kind, color) -> its items, of all sizes."""
        for place, look in enumerate(self.looks):
            self.of_look.setdefault(look, []).append(place)
        self._true = _items_by_word(words, [item.true for item in items])
        unclear = _items_by_word(words, [item.unclear for item in items])
        self._possible = {word: self._true[word] | unclear[word] for word in words}

    def _of_sizes(self, least: int, most: int) -> Objects:
        return union_of(each for each, size in enumerate(self.sizes) if least <= size <= most)

    def all_true(self, words: Sequence[str]) -> Objects:
        """Return the items for which all words are true."""
        found = self._every
        for word in words:
            found &= self._true[word]
        return found

    def one_false(self, words: Sequence[str]) -> Objects:
        """Return the items for which one word is clearly false."""
        possible = self._every
        for word in words:
            possible &= self._possible[word]
        return self._every & ~possible

    def foils(self, noun: str, adjectives: Sequence[str], without: str) -> Objects:
        """Return the items for which all words but one are true, and that one is clearly false."""
        return self.all_true((noun, *(each for each in adjectives if each != without))) & ~self._possible[without]

    def flags(self, items: Objects) -> bytes:
        """Return for each item of the catalogue 1 if it is one of `items`, else 0."""
        import numpy as np  # those who only read trials need none of it, and it takes 70 ms

        packed = np.frombuffer(items.to_bytes(len(self.sizes) // 8 + 1, "little"), np.uint8)
        return np.unpackbits(packed, bitorder="little")[: len(self.sizes)].tobytes()

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """All questions, by noun and number of adjectives."""
        return tuple(self._questions())

    @cached_property
    def plain_questions(self) -> tuple[Question, ...]:
        """A kind with its color, alone or with one more property of it: those of the first director task."""
        colors, found = self.catalogue.paints, []
        others = [each for each in self.catalogue.classes if each not in colors]
        for noun, color in product((noun for noun in self.nouns if noun in self.kinds), colors):
            if self.all_true((noun, color)) and self.one_false((noun, color)):
                more = [(each, color) for each in others if self.all_true((noun, color, each))]
                found += [self.question(noun, adjectives) for adjectives in ((color,), *more)]
        return tuple(found)

    def _questions(self) -> Iterator[Question]:
        for noun in self.nouns:
            for number in range(MOST_ADJECTIVES + 1):
                for adjectives in combinations(self.catalogue.classes, number):
                    if self._is_allowed(noun, adjectives):
                        yield self.question(noun, adjectives)

    def _is_allowed(self, noun: str, adjectives: tuple[str, ...]) -> bool:
        words = (noun, *adjectives)
        return bool(
            self.all_true(words)
            and self._is_of_several_kinds(noun, adjectives)
            and self.one_false(words)
            and all(self.foils(noun, adjectives, each) for each in adjectives)
        )

    def _is_of_several_kinds(self, noun: str, adjectives: tuple[str, ...]) -> bool:
        """False for a wider noun that, with its adjectives, is one kind, such as "sharp plant": nobody says that."""
        uncolored = [each for each in adjectives if each not in self.catalogue.paints]
        if noun in self.kinds or noun == ITEM:
            return True
        fitting = self.all_true((noun, *uncolored))
        return len({item.kind for at, item in enumerate(self.catalogue.items) if fitting >> at & 1}) > 1

    def question(self, noun: str, adjectives: Sequence[str]) -> Question:
        """Return the question of these words, always the same object for the same."""
        in_order = tuple(each for each in self.catalogue.classes if each in adjectives)
        key = noun, in_order
        if key not in self._made:
            self._made[key] = Question(self, noun, in_order, not self.catalogue.physics.isdisjoint(adjectives))
        return self._made[key]


@lru_cache(maxsize=4)
def question_table(catalogue: ItemCatalogue) -> QuestionTable:
    """Return the questions of a catalogue, the same table each time: what it works out serves all designs."""
    return QuestionTable(catalogue)


def _items_by_word(words: Iterable[str], words_of: Iterable[Iterable[str]]) -> dict[str, Objects]:
    """Return word -> the items that have it, from the words of each item."""
    found = dict.fromkeys(words, 0)
    for place, having in enumerate(words_of):
        for word in having:
            if word in found:
                found[word] |= 1 << place
    return found


def _ids(flags: bytes) -> Ids:
    import numpy as np

    return tuple(np.flatnonzero(np.frombuffer(flags, np.uint8)).tolist())
