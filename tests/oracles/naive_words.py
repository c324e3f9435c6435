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
OPPOSITES = ({"left", "right"}, {"behind", "front"}, {"above", "below"})
NO_LIMIT = 10**9


class Tie(NamedTuple):
    """Connects an object to that of a step: `kind` is relate, same or different, `name` the relation or attribute."""

    kind: str
    name: str
    step: int


class Description(NamedTuple):
    """How a set is described; `words` is None where functions other than filters and ties make it."""

    possible: Possible
    ties: frozenset[Tie]
    is_exact: bool
    words: frozenset[tuple[str, str]] | None


class Facts(NamedTuple):
    """The vocabulary: all fields, what each word leaves possible, and the logic of relations."""

    fields: Possible
    words: Mapping[tuple[str, str], Possible]
    lists: frozenset[str]
    transitive: frozenset[str]
    inverse: Mapping[str, str]


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
    return Facts(fields, words, frozenset(lists), *_relation_logic(metadata))


def _outwards(value: str, group_of: Mapping[str, str]) -> list[str]:
    return [value, *(_outwards(group_of[value], group_of) if value in group_of else [])]


def _relation_logic(metadata: Record) -> tuple[frozenset[str], dict[str, str]]:
    """Relations with a direction are orders, and opposite directions inverses; symmetric ones their own."""
    if "sampling" not in metadata:
        return frozenset(), {}
    drawn, directions = metadata["sampling"].get("relations", {}), metadata["sampling"].get("directions")
    if directions is None:
        spatial = {name for pair in OPPOSITES for name in pair}
        inverse = {one: other for pair in OPPOSITES for one, other in permutations(pair)}
    else:
        spatial = set(directions)
        zero = [0.0, 0.0, 0.0]
        inverse = {
            one: other
            for one, other in permutations(directions, 2)
            if [a + b for a, b in zip(directions[one], directions[other], strict=True)] == zero
        }
    symmetric = {name: name for name, rule in drawn.items() if rule.get("symmetric")}
    inverse = {one: other for one, other in inverse.items() if not {one, other} & set(drawn)}
    return frozenset(spatial - set(drawn)), {**inverse, **symmetric}


# Descriptions -----------------------------------------------------------------------------------------------------


def describe(facts: Facts, program: Sequence[Record], index: int) -> Description:
    """How the set or the object that a step gives is described."""
    step = program[index]
    name, inputs, values = step_type(step), step["inputs"], step_values(step)
    if name == "scene":
        return Description(facts.fields, frozenset(), True, frozenset())
    if name in ("unique", "not_unique"):
        return describe(facts, program, inputs[0])
    if is_filter(step):
        source, word = describe(facts, program, inputs[0]), (name.removeprefix("filter_"), values[0])
        words = None if source.words is None else source.words | {word}
        return source._replace(possible=_both(source.possible, facts.words[word]), words=words)
    if name == "relate" or name.startswith(("same_", "different_")):
        kind, _, attribute = name.partition("_")
        tie = Tie(kind, attribute or values[0], inputs[0])
        return Description(facts.fields, frozenset([tie]), True, frozenset())
    if name == "intersect":
        left, right = (describe(facts, program, i) for i in inputs)
        words = None if left.words is None or right.words is None else left.words | right.words
        exact = left.is_exact and right.is_exact
        return Description(_both(left.possible, right.possible), left.ties | right.ties, exact, words)
    if name == "difference":
        return describe(facts, program, inputs[0])._replace(is_exact=False)
    return Description(facts.fields, frozenset(), False, None)


def _both(left: Possible, right: Possible) -> dict[Any, frozenset[Any]]:
    return {field: values & right.get(field, values) for field, values in left.items()}


def _is_within(inner: Possible, outer: Possible) -> bool:
    return all(inner[field] <= outer[field] for field in inner)


def _excluded(possible: Possible, description: Possible) -> Possible:
    """What is left of an object that does not fit the description: less where all fits but one field."""
    unfit = [field for field in possible if not possible[field] <= description[field]]
    if len(unfit) != 1:
        return possible
    return {**possible, unfit[0]: possible[unfit[0]] - description[unfit[0]]}


# Knowledge --------------------------------------------------------------------------------------------------------


class Words:
    """What the words of a program tell, given which objects its references are."""

    def __init__(self, facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> None:
        self.facts, self.program, self.results = facts, program, results
        self.steps = [i for i, step in enumerate(program) if step_type(step) == "unique"]
        self.described = {i: describe(facts, program, i) for i in self.steps}
        self.ties = self._closed({(i, tie) for i in self.steps for tie in self.described[i].ties})
        self.possible = {i: self.described[i].possible for i in self.steps}
        while self._learn():
            pass

    def _closed(self, ties: set[tuple[Any, Tie]]) -> set[tuple[Any, Tie]]:
        """All ties that follow, by inverses and orders. The member of a set is no step, and nothing is tied to it."""
        known = ties
        while True:
            new = set(known)
            for at, tie in known:
                inverse = tie.name if tie.kind != "relate" else self.facts.inverse.get(tie.name)
                if inverse is not None and at in self.steps:
                    new.add((tie.step, Tie(tie.kind, inverse, at)))
                if tie.kind == "relate" and tie.name in self.facts.transitive:
                    new |= {(at, further) for i, further in known if i == tie.step and further[:2] == tie[:2]}
            if new == known:
                return known
            known = new

    def _has_ties(self, ties: set[Tie], wanted: Description) -> bool:
        return wanted.is_exact and wanted.ties <= ties

    def _ties_at(self, at: Any, ties: set[tuple[Any, Tie]]) -> set[Tie]:
        return {tie for i, tie in ties if i == at}

    def _learn(self) -> bool:
        before = dict(self.possible)
        for i, other in permutations(self.steps, 2):
            fits = self._has_ties(self._ties_at(i, self.ties), self.described[other])
            if fits and self.results[i] != self.results[other]:
                self.possible[i] = _excluded(self.possible[i], self.described[other].possible)
        return before != self.possible

    def members(self, index: int) -> tuple[int, int, Possible, set[Tie]]:
        """Of the set that a step gives: the least and the most members, what is possible of each, and its ties."""
        description = describe(self.facts, self.program, index)
        ties = self._ties_at("member", self._closed(self.ties | {("member", tie) for tie in description.ties}))
        near = {tie.step for tie in ties}
        possible, before = description.possible, None
        rivals = [i for i in self.steps if self._has_ties(ties, self.described[i])]
        while possible != before:
            before = possible
            for i in rivals:
                if i in near and _is_within(possible, self.described[i].possible):
                    return self.least(index), 0, possible, ties
                if i in near:
                    possible = _excluded(possible, self.described[i].possible)
        is_one = any(_is_within(possible, self.described[i].possible) for i in rivals)
        return self.least(index), 1 if is_one else NO_LIMIT, possible, ties

    def least(self, index: int) -> int:
        """How many references must be in the set that a step gives; the whole scene has something."""
        description = describe(self.facts, self.program, index)
        if not description.is_exact:
            return 0
        inside = {
            self.results[i]
            for i in self.steps
            if _is_within(self.possible[i], description.possible)
            and self._has_ties(self._ties_at(i, self.ties), description)
        }
        is_whole = not description.ties and description.possible == self.facts.fields
        return max(len(inside), int(is_whole))

    def is_part(self, inner: int, outer: int) -> bool:
        """All members of one set must be in the other, or it has none."""
        _, most, possible, ties = self.members(inner)
        description = describe(self.facts, self.program, outer)
        return most == 0 or (_is_within(possible, description.possible) and self._has_ties(ties, description))


# What is trivial --------------------------------------------------------------------------------------------------


def is_trivial(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> bool:
    """Whether words decide something that the program computes, compare a set with a part, or name alike."""
    return next(trivial_steps(facts, program, results), None) is not None


def trivial_steps(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> Iterator[str]:
    """What is wrong by the words alone: "alike", "one", "part" or "forced", each with its steps."""
    words = Words(facts, program, results)
    for one, other in combinations(words.steps, 2):
        said = words.described[one].words
        if said is not None and said == words.described[other].words and results[one] != results[other]:
            yield f"alike {one} {other}"
    for index, step in enumerate(program):
        for each in step["inputs"] if step_type(step) in ("count", "exist", "union") else ():
            members = describe(facts, program, each).possible
            for one, reference in words.described.items():
                if reference.is_exact and not reference.ties and _is_within(members, reference.possible):
                    yield f"one {one} {each}"
        sources = [program[i] for i in step["inputs"]]
        for inner, outer in permutations(_compared(step, sources), 2):
            if words.is_part(inner, outer):
                yield f"part {inner} {outer}"
        is_query = step_type(step).startswith("query_")
        users = [step_type(each) for each in program if is_query and index in each["inputs"]]
        if not any(user.startswith("equal_") for user in users) and _is_decided(words, step, sources):
            yield f"forced {index}"


def _compared(step: Record, sources: Sequence[Record]) -> list[int]:
    """The steps of the two sets that a step joins, or whose numbers or existence it compares."""
    names = [step_type(source) for source in sources]
    if step_type(step) in ("union", "intersect"):
        return list(step["inputs"])
    by_number = step_type(step) in ("less_than", "greater_than", "equal_integer") and names == ["count", "count"]
    by_existence = step_type(step) in ("and", "or") and names == ["exist", "exist"]
    return [source["inputs"][0] for source in sources] if by_number or by_existence else []


def _is_decided(words: Words, step: Record, sources: Sequence[Record]) -> bool:
    name, inputs = step_type(step), step["inputs"]
    if name in ("count", "exist"):
        least, most, *_ = words.members(inputs[0])
        return most in (0, least) if name == "count" else most == 0 or least > 0
    family, _, attribute = name.partition("_")
    if attribute in words.facts.lists:
        return False
    asked = inputs if family == "query" else []
    if family == "equal" and all(step_type(each) == f"query_{attribute}" for each in sources):
        asked = [source["inputs"][0] for source in sources]
    return bool(asked) and all(len(words.possible[i][attribute] - {None}) == 1 for i in asked)
