"""What can be said of a scene's objects: every description that fits at least one, and which objects it fits.

A description is one choice of value, or "left open", for each of some attributes. It is held as a code, an int in mixed
radix (digit 0 = left open), so that tables of descriptions are tables of ints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from vqagen.bits import Objects
from vqagen.language.program import Node
from vqagen.world.domain import Attribute, Domain
from vqagen.world.scene import Scene

WORD_BITS = 63
"""Largest scene whose object sets fit a numpy word; larger ones use Python ints in the same expressions."""


class Said(NamedTuple):
    """A description spelled out: `words` in the node's order, `used` the set of attributes that are not left open."""

    words: tuple[str | None, ...]
    used: int


class Vocabulary:
    """Codes of descriptions over some attributes of a domain. One for each set of attributes, made once per run."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = tuple(attributes)
        self._digits: list[dict[str, int]] = []
        base = 1
        for attribute in self.attributes:
            self._digits.append({value: base * digit for digit, value in enumerate(attribute.values, 1)})
            base *= len(attribute.values) + 1
        self._bases = [min(digits.values()) for digits in self._digits]
        self._codes: dict[tuple[str, ...], list[int]] = {}
        self._said: dict[int, Said] = {}
        self._chains: dict[tuple[int, int, str | None, int], tuple[Node, ...]] = {}
        self.used: dict[int, int] = {}
        """The attributes a code does not leave open, as a set, for every code of an object seen so far."""

    def codes_of(self, values: tuple[str, ...]) -> list[int]:
        """The codes of every description of an object with these values: all 2^k ways to leave attributes open."""
        codes = self._codes.get(values)
        if codes is None:
            codes = [0]
            for digits, value in zip(self._digits, values, strict=True):
                codes += [code + digits[value] for code in codes]
            self._codes[values] = codes
            self.used.update(zip(codes, range(len(codes)), strict=True))  # bit k of a code's place: is k said?
        return codes

    def code_of(self, words: Sequence[str | None]) -> int:
        """The code of one description."""
        pairs = zip(self._digits, words, strict=True)
        return sum(digits[word] for digits, word in pairs if word is not None)

    def said(self, code: int) -> Said:
        """The words of a code."""
        known = self._said.get(code)
        if known is None:
            words = tuple(self._word(code, k) for k in range(len(self.attributes)))
            used = sum(1 << k for k, word in enumerate(words) if word is not None)
            known = self._said[code] = Said(words, used)
        return known

    def chain(self, source: int, first: int, relation: str | None, code: int) -> tuple[Node, ...]:
        """The program nodes that say a description: `relate`, if there is a relation, then a filter for each word.

        The chain starts from node `source`; its own nodes are numbered from `first`.
        """
        key = (source, first, relation, code)
        nodes = self._chains.get(key)
        if nodes is None:
            nodes = self._chains[key] = tuple(self._chain(source, first, relation, code))
        return nodes

    def _chain(self, source: int, first: int, relation: str | None, code: int) -> Iterator[Node]:
        steps = [("relate", relation)] if relation is not None else []
        for attribute, word in zip(self.attributes, self.said(code).words, strict=True):
            if word is not None:
                steps.append((f"filter_{attribute.name}", word))
        for number, (function, word) in enumerate(steps):
            yield Node(function, (first + number - 1 if number else source,), (word,))

    def without(self, code: int, k: int) -> int:
        """The code with attribute `k` left open."""
        values = self.attributes[k].values
        return code - code // self._bases[k] % (len(values) + 1) * self._bases[k]

    def _word(self, code: int, k: int) -> str | None:
        values = self.attributes[k].values
        digit = code // self._bases[k] % (len(values) + 1)
        return values[digit - 1] if digit else None


class RelationOptions(NamedTuple):
    """For one object, the (relation, description) pairs a node may pick, as flat indexes `relation * n + description`.

    A pair is idle when the relation adds nothing: the description alone names the same objects.
    """

    telling: list[int]
    idle: list[int]


class DescriptionTable:
    """The descriptions that fit at least one object of a scene, in a fixed order; the first leaves everything open.

    codes[k], fits[k] — a description, and the objects it fits; fits_of[code] is the same by code.
    singles — the k whose description fits exactly one object.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        rows = [scene.values[attribute.name] for attribute in vocabulary.attributes]
        fits_of: dict[int, Objects] = {}
        for i, values in enumerate(zip(*rows, strict=True)):
            bit = 1 << i & scene.everything
            if bit:
                for code in vocabulary.codes_of(values):
                    fits_of[code] = fits_of.get(code, 0) | bit
        if not rows and scene.everything:
            fits_of[0] = scene.everything
        self.vocabulary = vocabulary
        self.scene = scene
        self.fits_of = fits_of
        self.codes = list(fits_of)
        self.fits = list(fits_of.values())
        self.everything = range(len(self.codes))
        self.singles = [k for k, objects in enumerate(self.fits) if not objects & (objects - 1)]
        self.relations = list(scene.related)
        self._options: dict[tuple[str | None, int], RelationOptions] = {}
        self._grid: _Grid | None = None

    def relation_options(self, reducer: str | None, anchor: int) -> RelationOptions:
        """What can be said by way of an anchor: for `unique` pairs that name one object, for None pairs that name any,
        for `count` and `exist` all pairs."""
        key = (reducer, anchor)
        options = self._options.get(key)
        if options is None:
            if self._grid is None:
                self._grid = _Grid(self)
            options = self._options[key] = self._grid.options(reducer, anchor)
        return options


class _Grid:
    """All (relation, description) pairs of all anchors of a scene at once: arrays [anchor, relation * n + k].

    One numpy expression for a scene takes about 30 µs; a Python loop over one anchor's pairs takes as long.
    """

    def __init__(self, table: DescriptionTable) -> None:
        scene = table.scene
        word: Any = np.uint64 if scene.size <= WORD_BITS else object
        tables = [scene.related[name] for name in table.relations]
        related = np.array(tables, dtype=word).reshape(len(tables), scene.size)
        fits = np.array(table.fits, dtype=word)
        reached = related.T[:, :, None] & fits
        flat = (scene.size, len(table.relations) * len(table.fits))
        self.reached = reached.reshape(flat)
        self.telling = (reached != fits).reshape(flat)
        self._allowed: dict[str | None, Any] = {}

    def options(self, reducer: str | None, anchor: int) -> RelationOptions:
        telling = self.telling[anchor]
        allowed = self._allow(reducer)
        if allowed is None:
            return RelationOptions(telling.nonzero()[0].tolist(), (~telling).nonzero()[0].tolist())
        row = allowed[anchor]
        return RelationOptions((row & telling).nonzero()[0].tolist(), (row & ~telling).nonzero()[0].tolist())

    def _allow(self, reducer: str | None) -> Any:
        """Which pairs name enough objects for the node; None for all."""
        if reducer in ("count", "exist"):
            return None
        if reducer not in self._allowed:
            some = self.reached != 0
            single = self.reached & (self.reached - 1) == 0
            self._allowed[reducer] = some & single if reducer == "unique" else some
        return self._allowed[reducer]


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene)
        return table


class Vocabularies:
    """The vocabularies of a domain, shared between the nodes that describe the same attributes."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._by_types: dict[tuple[str, ...], Vocabulary] = {}

    def of(self, types: Sequence[str]) -> Vocabulary:
        """The vocabulary over the attributes of these types, in this order."""
        key = tuple(types)
        if key not in self._by_types:
            attributes = [attribute for name in key if (attribute := self.domain.attribute_of(name)) is not None]
            self._by_types[key] = Vocabulary(attributes)
        return self._by_types[key]
