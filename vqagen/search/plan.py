"""A plan: a template compiled for one domain, made once per run.

Template nodes become ops, one for each thing that is computed: a composite node is a description op and, where its name
ends in one, a reducer op. Ops fall into stages, each starting with a choice; every check hangs at the first op that can
decide it. Nothing here depends on a scene.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import eq, itemgetter
from typing import Any, NamedTuple

from vqagen.language.catalogue import Composite, Value
from vqagen.language.constraints import other_output
from vqagen.language.program import Step
from vqagen.language.template import PLACE, PLACES, Constraint, Template, TemplateNode, ruled_out_answers
from vqagen.plugin import NODE, RELATION, SLOT
from vqagen.search.description import Description, LocalCheck, Pick, PlainChoice, Sampling, local_checks
from vqagen.search.draws import PlainDraw, ReferenceDraw, SetDraw
from vqagen.search.state import Draw, SearchState, Test
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.scene import Scene

WordOf = Callable[[Sequence[Pick]], str | None]
"""Reads a word from what is picked."""


class Check(NamedTuple):
    """A condition at an op; `meaning` is the reason to give if it does not hold."""

    test: Test
    meaning: str
    reads: tuple[int, ...] = ()
    """The ops whose results it reads; () if it reads words."""


class Apply(NamedTuple):
    """A primitive function of earlier results, with literal values."""

    run: Callable[..., Value]
    values: tuple[str, ...] = ()


class Op:
    """One thing that is computed; its result is `SearchState.values[index]`.

    function: the primitive function; "" for a description or a chain of filters.
    slots: those it fills: a description's attributes in order, or a plain choice's values ("" for a literal).
    role: that of what it computes: RELATION also for a description by way of an anchor.
    """

    __slots__ = ("checks", "does", "function", "index", "inputs", "relation_slot", "role", "slots")

    def __init__(
        self,
        index: int,
        function: str,
        inputs: tuple[int, ...],
        does: Apply | PlainChoice | Description,
        slots: tuple[str, ...] = (),
        relation_slot: str = "",
        role: str = "",
    ) -> None:
        self.index, self.function, self.inputs, self.does = index, function, inputs, does
        self.slots, self.relation_slot, self.role = slots, relation_slot, role
        self.checks: list[Check] = []

    @property
    def literals(self) -> tuple[str, ...]:
        """The values that the template says, if nothing is chosen here."""
        return self.does.values if isinstance(self.does, Apply) else ()

    @property
    def is_choice(self) -> bool:
        """True if the search picks among options here."""
        return not isinstance(self.does, Apply)


class Applied:
    """An op that is computed from earlier results, taken apart for speed."""

    __slots__ = ("at", "inputs", "literals", "one", "other", "run")

    def __init__(self, op: Op) -> None:
        does = op.does
        assert isinstance(does, Apply)
        self.at, self.run, self.inputs, self.literals = op.index, does.run, op.inputs, does.values
        self.one, self.other = -1, -1
        """The inputs, if there are one or two and nothing else is given, as for most functions; -1 for no input."""
        if not does.values and len(op.inputs) in (1, 2):
            self.one, self.other = (*op.inputs, -1)[:2]

    def apply(self, scene: Scene, values: list[Value]) -> None:
        """Write the result to its place in `values`. Raises Undefined if there is none."""
        if self.other >= 0:
            values[self.at] = self.run(scene, values[self.one], values[self.other])
        elif self.one >= 0:
            values[self.at] = self.run(scene, values[self.one])
        else:
            values[self.at] = self.run(scene, *[values[i] for i in self.inputs], *self.literals)


class Stage:
    """A choice and all that follows from it until the next one.

    live: earlier ops whose results this stage or a later one reads: what its success can depend on.
    """

    __slots__ = ("applied", "choice", "draw", "live")

    def __init__(self, draw: Draw, choice: Op, applied: Sequence[Op], live: tuple[int, ...]) -> None:
        self.draw, self.choice, self.applied, self.live = draw, choice, applied, live

    @property
    def ops(self) -> list[Op]:
        """All ops of the stage."""
        return [self.choice, *self.applied]


class Plan:
    """A compiled template."""

    def __init__(
        self, template: Template, ops: Sequence[Op], stages: Sequence[Stage], grouped: bool, vocabularies: Vocabularies
    ) -> None:
        """`grouped`: options with equal outcomes succeed or fail together: true unless a check compares words."""
        self.template, self.ops, self.stages, self.grouped = template, ops, stages, grouped
        self.prelude = ops[: stages[0].choice.index] if stages else ops
        self.vocabularies = vocabularies
        self.open_slots: dict[str, str | None] = dict.fromkeys(template.slots)
        """The template's slots, in order, each left open."""
        self.impossible = frozenset(ruled_out_answers(template).values())
        """Answers that the constraints rule out in every scene."""
        self.phrases = _phrases(ops)
        """The descriptions next to the answer, two at most, by their ops: it follows without a further one."""
        self.turns = [op.index for op in ops if op.is_choice and op.role == RELATION]
        """The ops that choose a relation."""

    def described_at(self, op: int) -> Description:
        """Return the description at an op, which must be one."""
        does = self.ops[op].does
        assert isinstance(does, Description)
        return does

    def said(self, picked: Sequence[Pick]) -> tuple[int, ...]:
        """Return the set of attributes that each phrase says; where a place is asked for, what tells of it.

        For the places of a set, all relations follow as one number: between two things is less than left of both. For
        one place, there are only the relations, by number, all of them as one number, the last one and the last two
        with how many words phrases say, and that number alone. "The thing behind it" is the last one, as no other
        is behind; of blue rubber things, several may be.
        """
        said = self._said(picked)
        if self.template.answer_type not in (PLACE, PLACES):
            return said
        relations, words = self.template.catalogue.domain.relations, sum([each.bit_count() for each in said])
        turns = [relations.index(word) for op in self.turns if (word := picked[op][0]) in relations]
        if self.template.answer_type == PLACES:
            return (*said, _as_one(turns)) if turns else said
        lasts = [_as_one([*turns[-number:], words]) for number in range(1, min(2, len(turns)) + 1)]
        return (*turns, _as_one(turns), *lasts, words)

    def _said(self, picked: Sequence[Pick]) -> tuple[int, ...]:
        return tuple([self.described_at(op).vocabulary.said[picked[op][1]].used for op in self.phrases])


def _as_one(numbers: Sequence[int]) -> int:
    """Return small numbers as one."""
    return sum([number << 8 * place for place, number in enumerate(numbers)])


class ProgramWriter:
    """Writes the ops of a filling as primitive nodes: what a description says is written out as relate and filters.

    steps: the nodes so far; places: op -> the node that holds its result.
    """

    __slots__ = ("places", "steps")

    def __init__(self, steps: Sequence[Step] = (), places: Sequence[int] = ()) -> None:
        self.steps, self.places = [*steps], [*places]

    def write(self, ops: Sequence[Op], picked: Sequence[Pick]) -> None:
        """Write ops, the first of which follows those written before."""
        steps, places = self.steps, self.places
        for op in ops:
            if not isinstance(op.does, Description):
                values = op.does.values if isinstance(op.does, Apply) else picked[op.index]
                steps.append((op.function, tuple([places[i] for i in op.inputs]), values))
                places.append(len(steps) - 1)
                continue
            place, (relation, code, _) = places[op.inputs[0]], picked[op.index]
            if relation is not None:
                steps.append(("relate", (place,), (relation,)))
                place = len(steps) - 1
            for _, attribute, word in op.does.vocabulary.parts[code]:
                steps.append((f"filter_{attribute}", (place,), (word,)))
                place = len(steps) - 1
            places.append(place)


def make_plan(template: Template, vocabularies: Vocabularies, sampling: Sampling) -> Plan:
    """Compile a template. Options are offered as `sampling` says."""
    builder = _Builder(template, vocabularies)
    ops = builder.build()
    starts = [op.index for op in ops if op.is_choice]
    stages = [
        Stage(_draw(ops[start], sampling), ops[start], ops[start + 1 : end], _live(ops, builder.reads, start))
        for start, end in itertools.pairwise([*starts, len(ops)])
    ]
    return Plan(template, ops, stages, not builder.compares_words, vocabularies)


def _phrases(ops: Sequence[Op]) -> list[int]:
    """Return the descriptions from which the answer follows without a further one; of more than two, the last two.

    An example of three: "From the cube, facing the ball, is the cylinder to your left?"
    """
    found, needed = list[int](), [len(ops) - 1]
    for op in reversed(ops):
        if op.index in needed:
            if isinstance(op.does, Description):
                found.append(op.index)
            else:
                needed += op.inputs
    return found[1::-1]


def _draw(op: Op, sampling: Sampling) -> Draw:
    does = op.does
    if isinstance(does, PlainChoice):
        return PlainDraw(does)
    assert isinstance(does, Description)
    return ReferenceDraw(does, sampling) if does.reducer == "unique" else SetDraw(does, sampling)


def _live(ops: Sequence[Op], reads: Sequence[tuple[int, ...]], start: int) -> tuple[int, ...]:
    later = {i for op in ops[start:] for i in (*op.inputs, *reads[op.index])}
    return tuple(i for i in sorted(later) if i < start and ops[i].inputs)  # an op without inputs is constant


class _Builder:
    """Turns template nodes into ops, in order."""

    def __init__(self, template: Template, vocabularies: Vocabularies) -> None:
        self.template, self.vocabularies = template, vocabularies
        self.catalogue = template.catalogue
        self.ops: list[Op] = []
        self.out: list[int] = []
        """Template node -> the op that holds its output."""
        self.words: dict[str, tuple[int, WordOf]] = {}
        """Slot -> the op that fills it, and how to read its word."""
        self.reads: list[tuple[int, ...]] = []
        """Op -> earlier ops that its checks read."""
        self.compares_words = False
        self.met: set[int] = set()
        """Constraints, by number, that the options of one node are made to meet."""

    def build(self) -> list[Op]:
        for node in self.template.nodes:
            inputs = tuple(self.out[i] for i in node.inputs)
            if node.composite is not None:
                self.add_description(node, node.composite, inputs)
            elif any(side_input in self.template.slots for side_input in node.side_inputs):
                self.add_choice(node, inputs)
            else:
                self.add_apply(node.type, inputs, node.side_inputs)
            self.out.append(len(self.ops) - 1)
        self.reads = [() for _ in self.ops]
        for number, constraint in enumerate(self.template.constraints):
            if number not in self.met:
                self.add_check(constraint)
        return self.ops

    def add_apply(self, name: str, inputs: tuple[int, ...], values: tuple[str, ...] = ()) -> None:
        function = self.catalogue[name]
        self.ops.append(Op(len(self.ops), name, inputs, Apply(function.run, values), role=function.role))

    def add_choice(self, node: TemplateNode, inputs: tuple[int, ...]) -> None:
        at, function = len(self.ops), self.catalogue[node.type]
        slots = self.template.slots
        bound = tuple(self.words[each][1] if each in self.words else None for each in node.side_inputs)
        self.compares_words |= any(bound)
        filled = tuple(each if each in slots else "" for each in node.side_inputs)
        options = tuple(
            self.catalogue.domain.values_of(slots[each]) if each in slots else (each,) for each in node.side_inputs
        )
        choice = PlainChoice(function.run, inputs, options, bound, self.local_checks(filled))
        for k, side_input in enumerate(node.side_inputs):
            if side_input in slots:
                self.words.setdefault(side_input, (at, _plain_word(at, k)))
        self.ops.append(Op(at, node.type, inputs, choice, filled, role=function.role))

    def add_description(self, node: TemplateNode, composite: Composite, inputs: tuple[int, ...]) -> None:
        at, relation = len(self.ops), self.template.relation(node)
        relation_slot, literal = (relation.slot, relation.literal) if relation else ("", None)
        sides = self.template.described(node)
        slots = tuple(side.slot for side in sides)
        vocabulary = self.vocabularies.of([side.type for side in sides])
        checks = (*self.local_checks(slots), *_said_checks([side.literal for side in sides]))
        does = Description(inputs[0], composite.relates, composite.reducer, vocabulary, checks, literal)
        op = Op(at, "", inputs, does, slots, relation_slot, RELATION if composite.relates else "")
        self.ops.append(op)
        for k, slot in enumerate(slots):
            if slot:
                self.fill(slot, op, _described_word(at, k, does))
        if relation_slot:
            self.fill(relation_slot, op, _plain_word(at, 0))
        if composite.reducer:
            self.add_apply(composite.reducer, (at,))

    def local_checks(self, slots: Sequence[str]) -> tuple[LocalCheck, ...]:
        """The constraints that the options of one node are made to meet."""
        found = local_checks(self.template, slots)
        self.met |= found.keys()
        return tuple(found.values())

    def fill(self, slot: str, op: Op, word_of: WordOf) -> None:
        """Note who fills a slot. A slot filled before must get the same word again."""
        if slot in self.words:
            earlier = self.words[slot][1]
            check = Check(
                lambda state: earlier(state.picked) == word_of(state.picked), f"{slot} must be what it was before"
            )
            op.checks.append(check)
            self.compares_words = True
        else:
            self.words[slot] = (op.index, word_of)

    def add_check(self, constraint: Constraint) -> None:
        """Hang a constraint at the first op that can decide it."""
        readers: list[Callable[[SearchState], Any]] = []
        ops: list[int] = []
        for param in constraint.params:
            if param.kind == NODE:
                ops.append(self.out[param.value])
                readers.append(_output(self.out[param.value]))
            elif param.kind == SLOT:
                at, word_of = self.words[param.value]
                ops.append(at)
                readers.append(_word(word_of))
        test = _compared(constraint, ops) or (lambda state: constraint.holds(*[read(state) for read in readers]))
        reads = () if constraint.slots else tuple(ops)
        self.ops[max(ops)].checks.append(Check(test, str(constraint), reads))
        self.reads[max(ops)] += tuple(self.out[i] for i in constraint.nodes)
        self.compares_words |= bool(constraint.slots)


def _compared(constraint: Constraint, ops: Sequence[int]) -> Test | None:
    """Return the test of a constraint on nodes alone, such as OUT_NEQ: it takes half the time of the general one."""
    if len(constraint.nodes) < max(2, len(constraint.params)):
        return None
    if constraint.kind.holds is other_output:
        one, other = ops
        return lambda state: state.values[one] != state.values[other]
    holds, read = constraint.kind.holds, itemgetter(*ops)
    return lambda state: holds(*read(state.values))


def _output(at: int) -> Callable[[SearchState], Value]:
    return lambda state: state.values[at]


def _word(word_of: WordOf) -> Callable[[SearchState], str | None]:
    return lambda state: word_of(state.picked)


def _said_checks(literals: Sequence[str | None]) -> Iterator[LocalCheck]:
    """Yield the checks that a description says its literals: neither open nor with another value."""
    for k, literal in enumerate(literals):
        if literal is not None:
            yield LocalCheck((k,), lambda word: word is not None, of_openness=True)
            yield LocalCheck((k,), partial(eq, literal))


def _described_word(at: int, k: int, does: Description) -> WordOf:
    return lambda picked: does.vocabulary.said[picked[at][1]].words[k]


def _plain_word(at: int, k: int) -> WordOf:
    return lambda picked: picked[at][k]
