"""What the words of a program tell whatever the picture: the part of the slow twin (see `naive`) that reads words.

A description is known as what it leaves possible: field -> the values that an object may still have. An attribute is a
field; of a list-valued attribute each value and group is one, of which an object has it or not. Descriptions also have
ties: (relation or attribute, step of the other object). A set that is described by nothing else is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

from naive_programs import Value, is_filter, step_type, step_values
from naive_vocabulary import Record, attribute_types, groups_of, values_of

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
    none: object
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
    return Facts(fields, words, None, frozenset(lists), *_relation_logic(metadata))


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
    """What the words of a program tell, given which of its references are the same object."""

    def __init__(self, facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> None:
        self.facts, self.program, self.results = facts, program, results
        self.steps = [i for i, step in enumerate(program) if step_type(step) == "unique"]
        self.described = {i: describe(facts, program, i) for i in self.steps}
        self.asked = [set(step["inputs"]) for step in program if step_type(step) == "equal_object"]
        self.group = self._groups()
        self.ties = self._closed({(i, tie) for i in self.steps for tie in self.described[i].ties})
        self.possible = {i: self.described[i].possible for i in self.steps}
        while self._learn():
            pass

    def _groups(self) -> dict[int, frozenset[int]]:
        """Step -> the steps that must give the same object: one says all that fixes the other."""
        group = {i: frozenset([i]) for i in self.steps}
        for fixed, other in permutations(self.steps, 2):
            description, said = self.described[fixed], self.described[other].possible
            is_fixed = description.is_exact and not description.ties and self.results[fixed] == self.results[other]
            if is_fixed and _is_within(said, description.possible):
                joined = group[fixed] | group[other]
                group.update(dict.fromkeys(joined, joined))
        return group

    def _spread(self, ties: set[tuple[Any, Tie]]) -> set[tuple[Any, Tie]]:
        """The same ties of and to all steps that give the same objects."""
        return {
            (one, tie._replace(step=other))
            for at, tie in ties
            for one in self.group.get(at, [at])
            for other in self.group[tie.step]
        }

    def _closed(self, ties: set[tuple[Any, Tie]]) -> set[tuple[Any, Tie]]:
        """All ties that follow, by inverses and orders. The member of a set is no step, and nothing is tied to it."""
        known = self._spread(ties)
        while True:
            new = set(known)
            for at, tie in known:
                inverse = tie.name if tie.kind != "relate" else self.facts.inverse.get(tie.name)
                if inverse is not None and at in self.group:
                    new.add((tie.step, Tie(tie.kind, inverse, at)))
                if tie.kind == "relate" and tie.name in self.facts.transitive:
                    new |= {(at, further) for i, further in known if i == tie.step and further[:2] == tie[:2]}
            new = self._spread(new)
            if new == known:
                return known
            known = new

    def _are_other(self, one: int, other: int) -> bool:
        """The references differ, and that is not the question."""
        asked = any({i, j} in self.asked for i in self.group[one] for j in self.group[other])
        return self.results[one] != self.results[other] and not asked

    def _has_ties(self, ties: set[Tie], wanted: Description) -> bool:
        return wanted.is_exact and wanted.ties <= ties

    def _ties_at(self, at: Any, ties: set[tuple[Any, Tie]]) -> set[Tie]:
        return {tie for i, tie in ties if i == at}

    def _learn(self) -> bool:
        before = dict(self.possible)
        for i in self.steps:
            for same in self.group[i]:
                self.possible[i] = _both(self.possible[i], self.possible[same])
            ties = self._ties_at(i, self.ties)
            self.possible[i] = self._bound(self.possible[i], ties)
            for other in self.steps:
                if self._are_other(i, other) and self._has_ties(ties, self.described[other]):
                    self.possible[i] = _excluded(self.possible[i], self.described[other].possible)
        return before != self.possible

    def _bound(self, possible: Possible, ties: set[Tie]) -> Possible:
        """What ties by an attribute leave: the anchor's values, or, where its value is known, all but that."""
        for kind, attribute, step in ties:
            if kind == "relate":
                continue
            for field in self._fields(attribute):
                known = self.possible[step][field]
                if kind == "same":
                    possible = {**possible, field: possible[field] & known}
                elif attribute not in self.facts.lists and len(known - {None}) == 1:
                    possible = {**possible, field: possible[field] - (known - {None}) - (known & {None})}
        return possible

    def _fields(self, attribute: str) -> list[Any]:
        return [field for field in self.facts.fields if field == attribute or field[0] == attribute]

    def members(self, index: int) -> tuple[int, int, Possible, set[Tie]]:
        """Of the set that a step gives: the least and the most members, what is possible of each, and its ties."""
        description = describe(self.facts, self.program, index)
        ties = self._ties_at("member", self._closed(self.ties | {("member", tie) for tie in description.ties}))
        near = {tie.step for tie in ties}
        possible, before = self._bound(description.possible, ties), None
        rivals = [i for i in self.steps if self._has_ties(ties, self.described[i])]
        while possible != before:
            before = possible
            for i in rivals:
                if i in near and _is_within(possible, self.described[i].possible):
                    return self.least(index), 0, possible, ties
                if i in near:
                    possible = _excluded(possible, self.described[i].possible)
        forced = [i for i in rivals if _is_within(possible, self.described[i].possible)]
        together = possible
        for i in forced:
            together = _both(together, self.possible[i])
        is_none = not all(together.values()) or len({self.results[i] for i in forced}) > 1
        return self.least(index), 0 if is_none else 1 if forced else NO_LIMIT, possible, ties

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

    def must_be_same(self, one: int, other: int) -> bool:
        """Two references must be one object: either has all that the other's description says."""
        fits = (
            _is_within(self.possible[i], self.described[j].possible)
            and self._has_ties(self._ties_at(i, self.ties), self.described[j])
            for i, j in ((one, other), (other, one))
        )
        return other in self.group[one] or any(fits)

    def must_differ(self, one: int, other: int, attribute: str) -> bool:
        """Two references cannot have the same value."""
        return any(not self.possible[one][field] & self.possible[other][field] for field in self._fields(attribute))


# What is foregone -------------------------------------------------------------------------------------------------


def is_foregone(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> bool:
    """Whether words alone decide something that the program computes, or compare a set with a part, or name alike."""
    return next(foregone(facts, program, results), None) is not None


def foregone(facts: Facts, program: Sequence[Record], results: Sequence[Value]) -> Iterator[str]:
    """What is wrong by the words alone: "alike", "part" or "forced", each with its steps."""
    words = Words(facts, program, results)
    for one, other in combinations(words.steps, 2):
        said = words.described[one].words
        if said is not None and said == words.described[other].words and results[one] != results[other]:
            yield f"alike {one} {other}"
    for index, step in enumerate(program):
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
    if name == "count":
        least, most, *_ = words.members(inputs[0])
        return most in (0, least)
    if name == "exist":
        least, most, *_ = words.members(inputs[0])
        return most == 0 or least > 0
    if name in ("less_than", "greater_than", "equal_integer"):
        return [step_type(each) for each in sources] == ["count", "count"] and _is_order_decided(words, name, sources)
    if name == "equal_object":
        return _is_identity_decided(words, *inputs)
    family = next((each for each in ("query_", "count_different_", "equal_") if name.startswith(each)), "")
    attribute = name.removeprefix(family)
    if family == "query_":
        return attribute not in words.facts.lists and len(words.possible[inputs[0]][attribute] - {None}) == 1
    if family == "count_different_":
        possible = words.members(inputs[0])[2]
        return attribute not in words.facts.lists and len(possible[attribute] - {None}) == 1
    if family == "equal_" and all(step_type(each) == f"query_{attribute}" for each in sources):
        one, other = both = [each["inputs"][0] for each in sources]
        if _are_values_told(words, both, attribute):
            return True
        alike = any(tie.kind != "relate" and tie[1:] == (attribute, other) for tie in words._ties_at(one, words.ties))
        return alike or words.must_be_same(one, other) or words.must_differ(one, other, attribute)
    return False


def _are_values_told(words: Words, both: Sequence[int], attribute: str) -> bool:
    """The words about one of two objects say its value, or both values are known."""
    if attribute in words.facts.lists:
        return False
    said = [len(words.described[i].possible[attribute] - {None}) == 1 for i in both]
    return any(said) or all(len(words.possible[i][attribute] - {None}) == 1 for i in both)


def _is_order_decided(words: Words, name: str, sources: Sequence[Record]) -> bool:
    (low, high, *_), (low2, high2, *_) = (words.members(source["inputs"][0]) for source in sources)
    if name == "equal_integer":
        return high < low2 or high2 < low
    if name == "less_than":
        return high < low2 or low >= high2
    return high2 < low or low2 >= high


def _is_identity_decided(words: Words, one: int, other: int) -> bool:
    if words.must_be_same(one, other) or any(tie.step == other for tie in words._ties_at(one, words.ties)):
        return True
    return any(not words.possible[one][field] & words.possible[other][field] for field in words.facts.fields)
