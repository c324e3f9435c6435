"""Entailment: what the questions of an image tell of each other's answers.

"What color is the cube?" needs no picture for a reader who also sees "What is left of the big red cube?": there is one
cube, so that is the red one. A question that the image's other questions answer in this way is not asked, nor is one
that answers an earlier one.

A reader learns how many objects fit a description: exactly one where a question speaks of "the big cube", and what
follows from an answer. A description is an int, the values that it leaves possible (see `search.vocabulary`); for each
tie, such as being left of object 3, a bit beyond these says that an object without the tie fits. So the objects of
`inner` are among those of `outer` if `not inner & ~outer`. Readers are taken to know which object an anchor is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from vqagen.bits import Objects, indexes, is_single, only
from vqagen.language.catalogue import Value
from vqagen.search.filling import Filling
from vqagen.search.plan import Op, Plan
from vqagen.search.reading import Outline, Tie, outlines_of

ENTAILED = "told by another question"
MANY = 1 << 30
Bounds = tuple[int, int]
"""The least and the most that a number can be; a truth value is 0 or 1."""
Fact = tuple[int, int, int, int, int]
"""Between `least` and `most` objects fit a description: (description, least, most, object, question).

The object is that of a set of one, or -1. The question is the one whose answer says so, or -1: what a question takes
for granted is known before it is answered.
"""
JOINED: Mapping[str, Callable[[Bounds, Bounds], Bounds]] = {
    "union": lambda left, right: (max(left[0], right[0]), left[1] + right[1]),
    "and": lambda left, right: (min(left[0], right[0]), min(left[1], right[1])),
    "or": lambda left, right: (max(left[0], right[0]), max(left[1], right[1])),
    "less_than": lambda left, right: (int(left[1] < right[0]), int(left[0] < right[1])),
    "greater_than": lambda left, right: (int(left[0] > right[1]), int(left[1] > right[0])),
    "equal_integer": lambda left, right: (
        int(left[0] == left[1] == right[0] == right[1]),
        int(left[0] <= right[1] and right[0] <= left[1]),
    ),
}
"""Function of two inputs -> the bounds of its result, from those of the two."""


class Statements:
    """What the fillings of a plan say: its descriptions, and what it asks of which."""

    def __init__(self, plan: Plan) -> None:
        self.ops, self.values = plan.ops, plan.vocabularies.values
        self.fields = [field for fields in self.values.fields.values() for field in fields]
        self.untied = -1 << self.values.everything.bit_length()
        outlines = {op: each for op, each in outlines_of(plan).items() if each.is_exact and each.is_known}
        used = {i for op in plan.ops if op.index not in outlines for i in op.inputs}
        used |= {op.index for op in plan.ops if op.function in ("unique", "not_unique")}
        self.described: dict[int, Outline] = {op: outlines[op] for op in sorted(used) if op in outlines}
        self.presumed = [
            (op.index, 1 if op.function == "unique" else 2, 1 if op.function == "unique" else MANY)
            for op in plan.ops
            if op.function in ("unique", "not_unique") and op.index in outlines
        ]
        """(op, least, most) of each set of which a filling says how many there are."""
        self.asked = [op for op in self._reached(len(plan.ops) - 1, outlines) if op in self.described]
        """The described sets and objects on which the answer depends."""

    def meaning(self, attribute: str, value: str) -> int:
        """Return the description that says one value."""
        return self.values.meaning(attribute, value).possible | self.untied

    def _reached(self, op: int, outlined: Container[int]) -> list[int]:
        if op in outlined:
            return [op]
        return [each for i in self.ops[op].inputs for each in self._reached(i, outlined)]


class _Question:
    """A question that was asked: its descriptions by op, and for each that its answer depends on what to watch.

    `watched` has pairs [description, objects]: what is learnt of these objects may tell how many fit the description.
    """

    __slots__ = ("descriptions", "statements", "values", "watched")

    def __init__(self, statements: Statements, descriptions: list[int], values: Sequence[Value]) -> None:
        self.statements, self.descriptions, self.values = statements, descriptions, values
        self.watched = [[descriptions[op], self._objects(op)] for op in statements.asked]

    def _objects(self, op: int) -> Objects:
        value: int = self.values[op]
        return 1 << value if self.statements.ops[op].function == "unique" else value


class Told:
    """What the questions of one image tell, in the order in which they were asked."""

    __slots__ = (
        "_allows_all", "_facts", "_known_of", "_numbers", "_of_object", "_presumed", "_questions", "_tied_to", "_ties",
    )  # fmt: skip

    def __init__(self, allows_all: bool = False) -> None:
        """`allows_all`: nothing is refused, as in CLEVR and where all instances of a template are wanted."""
        self._allows_all = allows_all
        self._facts: list[Fact] = []
        self._of_object: dict[int, list[Fact]] = {}
        self._known_of: dict[int, dict[int, list[int]]] = {}
        """Object -> question without whose answer -> what `_merged` gives, until there is another fact of the object.

        Of 46,000 calls for 300 scenes with pairs 25,000 have to merge."""
        self._presumed: set[Fact] = set()
        self._questions: list[_Question] = []
        self._numbers: list[int] = []
        """How many facts there were before each question."""
        self._ties: dict[Tie, int] = {}
        self._tied_to: dict[int, int] = {}
        """Object -> the bits of the ties to it."""

    def add(self, statements: Statements, filling: Filling) -> bool:
        """Add a question; False, and nothing is added, if others tell its answer or it tells theirs."""
        if self._allows_all:
            return True
        descriptions = self._described(statements, filling)
        question = _Question(statements, descriptions, filling.values)
        number, before = len(self._questions), len(self._facts)
        self._questions.append(question)
        self._numbers.append(before)
        for op, least, most in statements.presumed:
            value = filling.values[op]
            self._add_fact((descriptions[op], least, most, value if least == 1 else -1, -1))
        self._learn(question, len(statements.ops) - 1, filling.values[-1], number)
        if self._is_told(question, number) or self._tells_another(self._facts[before:]):
            self.forget()
            return False
        self._watch(question, self._facts)
        return True

    def _tells_another(self, new: Sequence[Fact]) -> bool:
        """True if facts of the last question tell the answer of an earlier one."""
        for number in range(len(self._questions) - 1):
            question = self._questions[number]
            if self._watch(question, new) and self._is_told(question, number):
                return True
        return False

    def _add_fact(self, fact: Fact) -> None:
        if fact[4] < 0:
            if fact in self._presumed:
                return
            self._presumed.add(fact)
        self._facts.append(fact)
        if fact[3] >= 0:
            self._known_of.pop(fact[3], None)
            self._of_object.setdefault(fact[3], []).append(fact)

    def forget(self) -> None:
        """Take back the question that was added last."""
        if self._allows_all:
            return
        self._questions.pop()
        before = self._numbers.pop()
        while len(self._facts) > before:
            fact = self._facts.pop()
            self._presumed.discard(fact)
            if fact[3] >= 0:
                self._known_of.pop(fact[3], None)
                self._of_object[fact[3]].pop()

    def _described(self, statements: Statements, filling: Filling) -> list[int]:
        descriptions = [0] * len(statements.ops)
        for op, outline in statements.described.items():
            description = outline.possible(filling.picked) | statements.untied
            for source in outline.ties:
                tie = source.read(filling.picked)
                anchor: int = filling.values[tie.anchor]
                tie = Tie(tie.kind, tie.name, anchor)
                bit = self._ties.get(tie)
                if bit is None:
                    bit = self._ties[tie] = -statements.untied << len(self._ties)
                    self._tied_to[anchor] = self._tied_to.get(anchor, 0) | bit
                description &= ~bit
            descriptions[op] = description
        return descriptions

    def _learn(self, question: _Question, at: int, value: Value, number: int) -> None:
        """Add the facts that follow from the result of an op."""
        op, descriptions = question.statements.ops[at], question.descriptions
        if op.function == "count":
            self._bound(question, op.inputs[0], value, value, number)
        elif op.function == "exist":
            self._bound(question, op.inputs[0], int(value), MANY if value else 0, number)
        elif op.function == "not":
            self._learn(question, op.inputs[0], not value, number)
        elif (op.function, value) in (("and", True), ("or", False)):
            for i in op.inputs:
                self._learn(question, i, value, number)
        elif op.function.startswith("query_") and descriptions[op.inputs[0]] and isinstance(value, str):
            source, meant = op.inputs[0], question.statements.meaning(op.function.removeprefix("query_"), value)
            self._add_fact((descriptions[source] & meant, 1, MANY, question.values[source], number))

    def _bound(self, question: _Question, at: int, least: int, most: int, number: int) -> None:
        """Add the fact that a set has so many members; those of both sets of a union have no more."""
        op, description, members = question.statements.ops[at], question.descriptions[at], question.values[at]
        if description:
            member = only(members) if is_single(members) else -1
            self._add_fact((description, least, most, member, number))
        elif op.function == "union":
            for i in op.inputs:
                self._bound(question, i, 0, most, number)

    # What readers can tell ------------------------------------------------------------------------------------------

    def _watch(self, question: _Question, new: Sequence[Fact]) -> bool:
        """True if new facts may tell something of what a question asks; the objects that matter are kept."""
        is_touched = False
        for watched in question.watched:
            description, objects = watched
            for each, least, most, member, _ in new:
                if most < MANY and not description & ~each:
                    is_touched = True
                    if most == 1 and member >= 0:
                        objects |= 1 << member
                elif (member >= 0 and objects >> member & 1) or (least and not each & ~description):
                    is_touched = True
            watched[1] = objects
        return is_touched

    def _is_told(self, question: _Question, number: int) -> bool:
        """True if the facts without its own answer settle a question."""
        last = question.statements.ops[-1]
        if last.function.startswith("query_"):
            possible = self._possible(question, last, last.inputs[0], number)
            return possible != 0 and possible & (possible - 1) == 0
        least, most = self._bounds(question, len(question.statements.ops) - 1, number)
        return least == most

    def _bounds(self, question: _Question, at: int, number: int) -> Bounds:
        """Return the bounds of a number, a truth value or the size of a set."""
        op = question.statements.ops[at]
        if question.descriptions[at]:
            return self._size(question, at, number)
        if op.function in JOINED:
            left, right = op.inputs
            return JOINED[op.function](self._bounds(question, left, number), self._bounds(question, right, number))
        if op.function == "count":
            return self._bounds(question, op.inputs[0], number)
        if op.function == "exist":
            least, most = self._bounds(question, op.inputs[0], number)
            return min(least, 1), min(most, 1)
        if op.function == "not":
            least, most = self._bounds(question, op.inputs[0], number)
            return 1 - most, 1 - least
        if op.function.startswith("equal_"):
            return self._equality(question, op, number)
        return 0, MANY

    def _size(self, question: _Question, at: int, number: int) -> Bounds:
        """Return how many objects fit a description."""
        description, objects, least, most = question.descriptions[at], question.values[at], 0, MANY
        for each, low, high, _, asked in self._facts:
            if asked != number:
                if low > least and not each & ~description:
                    least = low
                if high < most and not description & ~each:
                    most = high
        if most and not least:
            for member in indexes(objects):
                if any(not each & ~description for each in self._merged(member, number)):
                    return 1, most
            if most == 1:
                least, most = 0, self._most_of_one(question, description, number)
        return least, most

    def _most_of_one(self, question: _Question, description: int, number: int) -> int:
        """Return 0 if the one object of a larger set does not fit a description; otherwise 1."""
        fields = question.statements.fields
        for whole, _, most, member, asked in self._facts:
            if most == 1 and member >= 0 and asked != number and not description & ~whole:
                if ~description & self._tied_to.get(member, 0):
                    return 0  # nothing is left of itself
                for each in self._merged(member, number):
                    if not each & ~whole and not all(each & description & field for field in fields):
                        return 0
        return 1

    def _merged(self, member: int, number: int) -> list[int]:
        """Return the descriptions of an object, each with all that is known of it.

        Two of one object are merged where both fit a set of one: the big cube and the red cube, if there is "the cube".
        """
        of_object = self._of_object.get(member, [])
        facts = [fact for fact in of_object if fact[4] != number]
        known, key = self._known_of.setdefault(member, {}), number if len(facts) < len(of_object) else -1
        merged = known.get(key)
        if merged is None:
            merged = known[key] = _merge(facts)
        return merged

    def _possible(self, question: _Question, query: Op, reference: int, number: int) -> int:
        """Return the values that a reference may have."""
        values, attribute = question.statements.values, query.function.partition("_")[2]
        if attribute in values.lists or not question.descriptions[reference]:
            return 0
        reference_to, member = question.descriptions[reference], question.values[reference]
        possible = reference_to & values.fields[attribute][0] & ~values.none[attribute]
        for each, least, _, _, asked in self._of_object.get(member, []):
            if least and asked != number and not each & ~reference_to:
                possible &= each
        if possible & (possible - 1):
            for each in self._merged(member, number):
                if not each & ~reference_to:
                    possible &= each
        return possible

    def _equality(self, question: _Question, op: Op, number: int) -> Bounds:
        """Return whether two references have the same value."""
        queries = [question.statements.ops[i] for i in op.inputs]
        if not all(query.function.startswith("query_") for query in queries):
            return 0, 1
        left, right = (self._possible(question, query, query.inputs[0], number) for query in queries)
        is_same = left == right and left != 0 and left & (left - 1) == 0
        return int(is_same), int(left & right != 0 or not (left and right))


def _merge(facts: Sequence[Fact]) -> list[int]:
    """Merge the descriptions that facts give of one object, until nothing more is known."""
    ones = [whole for whole, _, most, _, _ in facts if most == 1]
    merged = [each for each, least, _, _, _ in facts if least]
    before = list[int]()
    while merged != before:
        before = list(merged)
        for whole in ones:
            inside = [i for i, each in enumerate(merged) if not each & ~whole]
            if len(inside) > 1:
                known = -1
                for i in inside:
                    known &= merged[i]
                for i in inside:
                    merged[i] = known
    return merged
