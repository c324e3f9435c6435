"""The vocabulary of trials: the items of a catalogue, what is true of each, and how nouns and adjectives are spoken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vqagen.errors import BadInput, Problem

ITEM = "item"
"""The noun of every item."""
COLOR = "color"
"""The class of adjectives that drawn items are painted in."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item that can stand in a cell."""

    name: str
    kind: str
    """Items of one kind can be compared in size; "" if the kind is unknown."""
    size: float
    """The size level."""
    true: frozenset[str]
    """Nouns and adjectives that are true of it."""
    unclear: frozenset[str] = frozenset()
    """Nouns and adjectives of which people may not agree."""

    def is_clear(self, criteria: frozenset[str]) -> bool:
        """True if the criteria clearly fit, or one of them clearly does not."""
        doubtful = self.unclear & criteria
        return not doubtful or not criteria - doubtful <= self.true or criteria <= self.true


@dataclass(frozen=True)
class Vocabulary:
    """Items and words. Without items, each trial describes its own."""

    items: Mapping[str, Item] = field(repr=False)
    adjectives: Sequence[str]
    """In the order they are spoken."""
    physics: frozenset[str]
    """Adjectives that say how a thing behaves."""
    nouns: Mapping[str, str]
    """Noun -> as it is spoken."""
    sizes: Sequence[float] = ()
    """The share of a cell that each size level fills."""
    spoken: Mapping[str, str] = field(default_factory=dict)
    """Adjective -> as it is spoken, if that is not its name with blanks."""

    @cached_property
    def rank(self) -> Mapping[str, int]:
        """Adjective -> its place in the spoken order."""
        return {each: place for place, each in enumerate(self.adjectives)}

    @cached_property
    def spoken_nouns(self) -> Mapping[str, Sequence[str]]:
        """Spoken form -> the nouns that are spoken so."""
        found: dict[str, list[str]] = {}
        for noun, spoken in self.nouns.items():
            found.setdefault(spoken, []).append(noun)
        return found

    @cached_property
    def spoken_adjectives(self) -> Mapping[str, str]:
        """Spoken form -> adjective."""
        return {self.spoken.get(each, each.replace("_", " ")): each for each in self.adjectives}

    def has_item(self, criteria: frozenset[str]) -> bool:
        """Return whether all these words are true of some item."""
        found = self._descriptions.get(criteria)
        if found is None:
            found = self._descriptions[criteria] = any(criteria <= item.true for item in self.items.values())
        return found

    @cached_property
    def _descriptions(self) -> dict[frozenset[str], bool]:
        return {}

    def phrases(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each (noun, adjectives) that a phrase such as "red pair of scissors" can be."""
        words = text.split(" ")
        for first in range(len(words)):
            for noun in self.spoken_nouns.get(" ".join(words[first:]), ()):
                yield from ((noun, adjectives) for adjectives in self._readings(words[:first]))

    def _readings(self, words: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Yield each row of adjectives that words can be."""
        if not words:
            yield ()
        for count in range(1, len(words) + 1):
            adjective = self.spoken_adjectives.get(" ".join(words[:count]))
            if adjective is not None:
                yield from ((adjective, *rest) for rest in self._readings(words[count:]))


def read_vocabulary(catalogue: object, source: str) -> Vocabulary:
    """Return the vocabulary of a catalogue document; BadInput if it is none. `source` names its file."""
    try:
        return _vocabulary(catalogue)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        message = f"the catalogue of items cannot be read ({what}); generate the trials again"
        raise BadInput([Problem(message, source, "info.catalogue")]) from None


def _vocabulary(catalogue: Any) -> Vocabulary:
    classes = {each["class"]: _named(each["values"]) for each in catalogue["adjectives"]}
    adjectives = [name for values in classes.values() for name in values]
    physics = (name for values in classes.values() for name, entry in values.items() if entry.get("is_physics"))
    items = {item.name: item for item in (*_drawn(catalogue, classes), *_pictured(catalogue))}
    of_items = sorted({word for item in items.values() for word in item.true | item.unclear} - set(adjectives))
    given = _named(catalogue.get("nouns", {}))
    nouns = {noun: str(given.get(noun, {}).get("singular", noun.replace("_", " "))) for noun in of_items}
    return Vocabulary(items, adjectives, frozenset(physics), nouns, [float(each) for each in catalogue["sizes"]])


def _drawn(catalogue: Any, classes: Mapping[str, Mapping[str, Any]]) -> Iterator[Item]:
    """Yield an item of each kind, color and size level."""
    for kind, entry in _named(catalogue["kinds"]).items():
        true = {kind, ITEM, *entry.get("nouns", ()), *entry.get("properties", ())}
        unclear = frozenset(entry.get("unclear", ()))
        for color in classes.get(COLOR, {}):
            properties = frozenset({*true, color})
            for level in range(1, len(catalogue["sizes"]) + 1):
                yield Item(f"{color}_{kind}_{level}", kind, level, properties, unclear)


def _pictured(catalogue: Any) -> Iterator[Item]:
    """Yield the items with pictures of their own."""
    for name, entry in _named(catalogue.get("items", {})).items():
        kind = entry.get("kind", name)
        true = frozenset({kind, ITEM, *entry.get("nouns", ()), *entry.get("properties", ())})
        yield Item(name, kind, int(entry.get("size", 1)), true, frozenset(entry.get("unclear", ())))


def _named(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return named entries without a comment among them."""
    return {name: entry for name, entry in entries.items() if name != "comment"}
