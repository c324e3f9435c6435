"""What can be said of objects: descriptions, and their codes.

A description is one choice of value, or "left open", for each of some attributes. It is held as a code, an int in mixed
radix (digit 0 = left open), so that tables of descriptions are tables of ints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from vqagen.language.program import Node, NodeRun
from vqagen.search.possible import Meaning, PossibleValues
from vqagen.world.domain import Attribute, Domain, Recorded
from vqagen.world.relation_order import relation_order

WIDE = 128
"""Descriptions of one object above which a scene's are drawn one by one (`wide`) and not listed (`tables`)."""
REMEMBERED = 50_000
"""Entries after which a memo starts anew, so that memory does not grow with the number of scenes. One of descriptions
holds fewer, by the number of attributes that each may say: a chain of CLEVR's takes 0.5 KB, one of 11 attributes 1 KB,
and few of those are met again."""


class Said(NamedTuple):
    """A description spelled out: `words` in the node's order, `used` the set of attributes that are not left open."""

    words: tuple[str | None, ...]
    used: int


class Codes(NamedTuple):
    """Codes of descriptions, and for each the set of attributes that it says."""

    codes: list[int]
    used: list[int]


class Vocabulary:
    """Codes of descriptions over some attributes of a domain. One for each list of attributes, made once per run."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = tuple(attributes)
        self.digits: list[dict[str, int]] = []
        """digits[k][value]: what attribute k, said so, adds to a code."""
        base = 1
        for attribute in self.attributes:
            self.digits.append({value: base * digit for digit, value in enumerate(attribute.values, 1)})
            base *= len(attribute.values) + 1
        self._filters = [f"filter_{attribute.name}" for attribute in self.attributes]
        self.steps = [((*digits.values(), 0), len(digits) + 1) for digits in self.digits]
        """steps[k]: what attribute k may add to a code, nothing where it is left open; and how many ways that are."""
        self._choices = [(None, *attribute.values) for attribute in self.attributes]
        self.remembered = REMEMBERED // max(len(self.attributes), 1)
        """Descriptions after which a memo of them starts anew."""
        self._bases = [min(digits.values()) for digits in self.digits]
        self._codes: dict[tuple[Recorded, ...], Codes] = {}
        self._used: dict[tuple[int, ...], list[int]] = {}
        self._said: dict[int, Said] = {}
        self._worded: dict[tuple[tuple[str, ...], int], dict[str, str | None]] = {}
        self._chains: dict[tuple[int, int, str | None, int], NodeRun] = {}
        self._nodes: dict[tuple[str, int, str], Node] = {}
        self.is_wide = prod(1 + _ways_to_say(attribute) for attribute in self.attributes) > WIDE
        """True if one object has too many descriptions to list them all."""

    def codes_of(self, recorded: tuple[Recorded, ...]) -> Codes:
        """Every description of an object for which this is recorded, the one that says nothing first.

        Two plain attributes give four codes; a value that belongs to a group can be said in two ways, and so on.
        """
        known = self._codes.get(recorded)
        if known is None:
            if len(self._codes) > self.remembered:
                self._codes.clear()
            sayable = [attribute.sayable(value) for attribute, value in zip(self.attributes, recorded, strict=True)]
            codes = [0]
            for digits, words in zip(self.digits, sayable, strict=True):
                codes += [code + digits[word] for word in words for code in codes]
            known = self._codes[recorded] = Codes(codes, self._used_of(tuple([len(words) for words in sayable])))
        return known

    def _used_of(self, ways: tuple[int, ...]) -> list[int]:
        """The sets of attributes that descriptions say of an object with so many ways to say each attribute."""
        used = self._used.get(ways)
        if used is None:
            if len(self._used) > REMEMBERED:
                self._used.clear()
            used = [0]
            for k, number in enumerate(ways):
                used += [before | 1 << k for _ in range(number) for before in used]
            self._used[ways] = used
        return used

    def said(self, code: int) -> Said:
        """The words of a code."""
        known = self._said.get(code)
        if known is None:
            if len(self._said) > self.remembered:
                self._said.clear()
            words, used, rest = list[str | None](), 0, code
            for k, choices in enumerate(self._choices):
                rest, digit = divmod(rest, len(choices))
                words.append(choices[digit])
                used |= (digit > 0) << k
            known = self._said[code] = Said(tuple(words), used)
        return known

    def words_of(self, slots: tuple[str, ...], code: int) -> Mapping[str, str | None]:
        """The words of a code by the slot of each attribute; "" stands for an attribute that has no slot."""
        key = (slots, code)
        words = self._worded.get(key)
        if words is None:
            if len(self._worded) > self.remembered:
                self._worded.clear()
            pairs = zip(slots, self.said(code).words, strict=True)
            words = self._worded[key] = {slot: word for slot, word in pairs if slot}
        return words

    def chain(self, source: int, first: int, relation: str | None, code: int) -> NodeRun:
        """The program nodes that say a description: `relate`, if there is a relation, then a filter for each word.

        The chain starts from node `source`; its own nodes are numbered from `first`.
        """
        key = (source, first, relation, code)
        nodes = self._chains.get(key)
        if nodes is None:
            if len(self._chains) > self.remembered:
                self._chains.clear()
            nodes = self._chains[key] = NodeRun(tuple(self._chain(source, first, relation, code)))
        return nodes

    def _chain(self, source: int, first: int, relation: str | None, code: int) -> list[Node]:
        nodes = [self._node("relate", source, relation)] if relation is not None else []
        for k, word in enumerate(self.said(code).words):
            if word is not None:
                nodes.append(self._node(self._filters[k], first + len(nodes) - 1 if nodes else source, word))
        return nodes

    def _node(self, function: str, source: int, word: str) -> Node:
        """Return the node of a function with one word: chains have few different ones."""
        key = (function, source, word)
        node = self._nodes.get(key)
        if node is None:
            if len(self._nodes) > REMEMBERED:
                self._nodes.clear()
            node = self._nodes[key] = Node(function, (source,), (word,))
        return node

    def without(self, code: int, k: int) -> int:
        """The code with attribute `k` left open."""
        values = self.attributes[k].values
        return code - code // self._bases[k] % (len(values) + 1) * self._bases[k]


def _ways_to_say(attribute: Attribute) -> int:
    """Return the most ways to say one object's value: it and its groups; for a list-valued attribute, three times."""
    deepest = max(len(lineage) for lineage in attribute.lineage.values())
    return deepest * min(3, len(attribute.leaves)) if attribute.multi else deepest


class Meanings(dict[int, Meaning]):
    """Code -> its meaning; found when first asked for."""

    def __init__(self, vocabulary: Vocabulary, values: PossibleValues) -> None:
        super().__init__()
        self._vocabulary, self._values = vocabulary, values

    def __missing__(self, code: int) -> Meaning:
        if len(self) > self._vocabulary.remembered:
            self.clear()
        possible, words = self._values.everything, 0
        for attribute, word in zip(self._vocabulary.attributes, self._vocabulary.said(code).words, strict=True):
            if word is not None:
                meant = self._values.meaning(attribute.name, word)
                possible &= meant.possible
                words |= meant.words
        meaning = self[code] = Meaning(possible, words)
        return meaning


class Vocabularies:
    """The vocabularies of a domain, shared between the nodes that describe the same attributes."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.values = PossibleValues(domain)
        self.order = relation_order(domain)
        self._by_types: dict[tuple[str, ...], Vocabulary] = {}
        self._meanings: dict[Vocabulary, Meanings] = {}
        self._nodes: dict[tuple[str, tuple[int, ...], tuple[str, ...]], NodeRun] = {}
        self.logics: dict[Any, dict[Any, Any]] = {}
        """What was found out about ties between objects (see `reading`)."""
        self.few_objects: dict[Any, dict[int, Any]] = {}
        """The shape of a plan -> its answers by number of objects (see `few_objects`)."""

    def of(self, types: Sequence[str]) -> Vocabulary:
        """The vocabulary over the attributes of these types, in this order."""
        key = tuple(types)
        if key not in self._by_types:
            attributes = [attribute for name in key if (attribute := self.domain.attribute_of(name)) is not None]
            self._by_types[key] = Vocabulary(attributes)
        return self._by_types[key]

    def meanings(self, vocabulary: Vocabulary) -> Meanings:
        """The meanings of a vocabulary's codes."""
        if vocabulary not in self._meanings:
            self._meanings[vocabulary] = Meanings(vocabulary, self.values)
        return self._meanings[vocabulary]

    def node(self, function: str, inputs: tuple[int, ...], values: tuple[str, ...]) -> NodeRun:
        """The program node of a primitive function, by itself."""
        key = (function, inputs, values)
        run = self._nodes.get(key)
        if run is None:
            if len(self._nodes) > REMEMBERED:
                self._nodes.clear()
            run = self._nodes[key] = NodeRun((Node(function, inputs, values),))
        return run
