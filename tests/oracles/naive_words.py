"""What the words of a program tell whatever the picture: the part of the slow twin (see `naive`) that reads words.

A description is known as what it leaves possible: field -> the values that an object may still have. An attribute is a
field; of a list-valued attribute each value and group is one, of which an object has it or not. Descriptions also have
ties: (relation or attribute, step of the other object). A set that is described by nothing else is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

from oracles.naive_programs import Value, is_filter, step_type, step_values
from oracles.naive_vocabulary import Record, attribute_types, groups_of, values_of

Possible = Mapping[Any, frozenset[Any]]
SPATIAL = frozenset(["left", "right", "behind", "front", "above", "below"])


class Tie(NamedTuple):
    """Connects an object to that of a step: `kind` is relate, same or different, `name` the relation or attribute."""

    kind: str
    name: str
    step: int


class Description(NamedTuple):
    """How a set is described; nothing is known of it where functions other than filters and ties make it."""

    possible: Possible
    ties: frozenset[Tie] = frozenset()
    is_exact: bool = True
    is_known: bool = True


class Facts(NamedTuple):
    """The vocabulary: all fields, what each word leaves possible, and the relations that are orders."""

    fields: Possible
    words: Mapping[tuple[str, str], Possible]
    lists: frozenset[str]
    transitive: frozenset[str]


def facts_of(metadata: Record) -> Facts:
    """What metadata tells of values and relations."""
    fields: dict[Any, frozenset[Any]] = {}
    words: dict[tuple[str, str], Possible] = {}
    lists = set()
    for name in attribute_types(metadata):
        entry, attribute, groups = metadata["types"][name], name.lower(), groups_of(metadata, name)
        details = entry if isinstance(entry, Mapping) and "values" in entry else {}
        around = {value: _outwards(value, groups) for value in values_of(metadata, name)}
        if details.get("multi"):
            lists.add(attribute)
            fields.update({(attribute, value): frozenset([True, False]) for value in around})
            words.update({(attribute, v): {(attribute, w): frozenset([True]) for w in ws} for v, ws in around.items()})
            continue
        leaves = frozenset(value for value in around if value not in groups.values())
        fields[attribute] = leaves | ({None} if details.get("optional") else set())
        words.update({(attribute, v): {attribute: frozenset(x for x in leaves if v in around[x])} for v in around})
    return Facts(fields, words, frozenset(lists), _orders(metadata))


def _outwards(value: str, group_of: Mapping[str, str]) -> list[str]:
    return [value, *(_outwards(group_of[value], group_of) if value in group_of else [])]


def _orders(metadata: Record) -> frozenset[str]:
    """Relations with a direction are orders."""
    sampling = metadata.get("sampling")
    if sampling is None:
        return frozenset()
    directions = sampling.get("directions")
    return frozenset(SPATIAL if directions is None else directions) - set(sampling.get("relations", {}))


# Descriptions -----------------------------------------------------------------------------------------------------


def describe(facts: Facts, program: Sequence[Record], index: int) -> Description:
    """How the set or the object that a step gives is described."""
    step = program[index]
    name, inputs, values = step_type(step), step["inputs"], step_values(step)
    if name == "scene":
        return Description(facts.fields)
    if name in ("unique", "not_unique"):
        return describe(facts, program, inputs[0])
    if is_filter(step):
        source, word = describe(facts, program, inputs[0]), (name.removeprefix("filter_"), values[0])
        return source._replace(possible=_both(source.possible, facts.words[word]))
    if name == "relate" or name.startswith(("same_", "different_")):
        kind, _, attribute = name.partition("_")
        return Description(facts.fields, frozenset([Tie(kind, attribute or values[0], inputs[0])]))
    if name == "intersect":
        left, right = (describe(facts, program, i) for i in inputs)
        exact, known = left.is_exact and right.is_exact, left.is_known and right.is_known
        return Description(_both(left.possible, right.possible), left.ties | right.ties, exact, known)
    if name == "difference":
        return describe(facts, program, inputs[0])._replace(is_exact=False)
    return Description(facts.fields, is_exact=False, is_known=False)


def _both(left: Possible, right: Possible) -> dict[Any, frozenset[Any]]:
    return {field: values & right.get(field, values) for field, values in left.items()}


def _is_within(inner: Possible, outer: Possible) -> bool:
    return all(inner[field] <= outer[field] for field in inner)


# Knowledge --------------------------------------------------------------------------------------------------------


class Words:
    """What the words of a program tell, given which objects its references are."""

    def __init__(self, facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> None:
        self.facts, self.program, self.results = facts, program, results
        self.described = [describe(facts, program, i) for i in range(len(program))]
        self.steps = [i for i, step in enumerate(program) if step_type(step) == "unique"]

    def ties(self, index: int) -> set[Tie]:
        """All ties of what a step gives: what is left of b, and b of a, is left of a."""
        found = set(self.described[index].ties)
        for tie in self.described[index].ties:
            if tie.kind == "relate" and tie.name in self.facts.transitive:
                found |= {further for further in self.ties(tie.step) if further[:2] == tie[:2]}
        return found

    def has_ties(self, index: int, wanted: int) -> bool:
        """All members have the ties that the exact description of another step wants."""
        return self.described[wanted].is_exact and self.described[wanted].ties <= self.ties(index)

    def is_part(self, inner: int, outer: int) -> bool:
        """All members of one set must be in the other."""
        fits = _is_within(self.described[inner].possible, self.described[outer].possible)
        return fits and self.has_ties(inner, outer)

    def is_empty(self, index: int) -> bool:
        """Members would be references to which they are tied."""
        return any(tie.step in self.steps and self.is_part(index, tie.step) for tie in self.ties(index))

    def is_whole(self, index: int) -> bool:
        """The set is the scene, which is never empty."""
        return self.described[index] == Description(self.facts.fields)

    def is_known(self, reference: int, attribute: str, end: int) -> bool:
        """The value follows, since the object does not fit what other references before a step say."""
        possible = said = self.described[reference].possible
        for other in self.steps:
            is_other = other < end and self.results[reference] != self.results[other]
            if is_other and self.has_ties(reference, other):
                fitting = self.described[other].possible
                unfit = [field for field in said if not said[field] <= fitting[field]]
                if len(unfit) == 1:
                    possible = {**possible, unfit[0]: possible[unfit[0]] - fitting[unfit[0]]}
        return len(possible[attribute] - {None}) == 1


# What is trivial --------------------------------------------------------------------------------------------------


def is_trivial(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> bool:
    """Whether words decide something that the program computes, compare a set with a part, or name alike."""
    return next(trivial_steps(facts, program, results), None) is not None


def trivial_steps(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> Iterator[str]:
    """What is wrong by the words alone: "alike", "one", "part" or "forced", each with its steps."""
    words = Words(facts, program, results)
    for one, other in combinations(words.steps, 2):
        this, that = words.described[one], words.described[other]
        if this.is_known and that.is_known and this.possible == that.possible and results[one] != results[other]:
            yield f"alike {one} {other}"
    for index, step in enumerate(program):
        name, sources = step_type(step), [program[i] for i in step["inputs"]]
        for each in step["inputs"] if name in ("count", "exist", "union") else ():
            members = words.described[each].possible
            for one in words.steps:
                reference = words.described[one]
                if reference.is_exact and not reference.ties and _is_within(members, reference.possible):
                    yield f"one {one} {each}"
            if words.is_empty(each) or (name == "exist" and words.is_whole(each)):
                yield f"forced {index}"
        for inner, outer in permutations(_compared(step, sources), 2):
            if words.is_part(inner, outer):
                yield f"part {inner} {outer}"
        asked, attribute = _asked(program, index), name.partition("_")[2]
        if asked and attribute not in facts.lists and all(words.is_known(each, attribute, index) for each in asked):
            yield f"forced {index}"


def _compared(step: Record, sources: Sequence[Record]) -> list[int]:
    """The steps of the two sets that a step joins, or whose numbers or existence it compares."""
    names = [step_type(source) for source in sources]
    if step_type(step) in ("union", "intersect"):
        return list(step["inputs"])
    by_number = step_type(step) in ("less_than", "greater_than", "equal_integer") and names == ["count", "count"]
    by_existence = step_type(step) in ("and", "or") and names == ["exist", "exist"]
    return [source["inputs"][0] for source in sources] if by_number or by_existence else []


def _asked(program: Sequence[Record], index: int) -> list[int]:
    """The objects of which a step asks for a value, or compares the values."""
    name, inputs = step_type(program[index]), program[index]["inputs"]
    sources, users = [program[i] for i in inputs], [step for step in program if index in step["inputs"]]
    family, _, attribute = name.partition("_")
    if family == "equal" and all(step_type(source) == f"query_{attribute}" for source in sources):
        return [source["inputs"][0] for source in sources]
    is_compared = any(step_type(user).startswith("equal_") for user in users)
    return list(inputs) if family == "query" and not is_compared else []
