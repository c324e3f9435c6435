"""The answers that a plan can have in a scene of few objects, whatever the scene.

Nobody can ask for the fourth object of a chain where there are three. The search would find that out anew in each
scene, after hundreds of options; here it is worked out once for a number of objects. The plan is run on what stands for
all scenes of that size: a description may fit any objects, and a relation may lead from an object to any others. More
is found so than any one scene has, and an answer that is not found is had in no scene.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from vqagen.bits import Objects, first_n, indexes, only
from vqagen.language.registry import Value
from vqagen.plugin import FILTER, RELATION, SAMENESS, Undefined
from vqagen.search.degeneracy import evidence_of, make_lanes
from vqagen.search.description import Description
from vqagen.search.filling import TOO_FEW, UNBALANCED
from vqagen.search.frame import OutOfBudget
from vqagen.search.plan import Apply, Op, Plan
from vqagen.world.scene import Scene

MOST_OBJECTS = 4
"""The most objects that are few. Of the 90 shipped families 64 have no question in any scene of one object, 47 of two,
9 of three and 4 of four; all have some in scenes of five."""
MOST_STEPS = 20_000
"""Steps after which nothing more is said of a plan. Shipped families take up to 3,000 (single_or of four objects)."""
SCENE, DESCRIBED, RELATED, TIED, VALUE = "scene", "described", "related", "tied", "value"
"""Kinds of ops beside `COMPUTED`. RELATED: to other objects; TIED: by a plug-in's relation, maybe to itself."""
COMPUTED = (
    "unique", "not_unique", "union", "intersect", "difference", "count", "exist", "add", "subtract", "equal_integer",
    "less_than", "greater_than", "equal_object", "and", "or", "not",
)  # fmt: skip
"""Functions whose result follows from their inputs alone, whatever the scene."""

State = tuple[Value, ...]
"""Registers: the result of each op, then, lane by lane, the results without one relation (see `degeneracy`), with None
for no result. All that no later op reads is None too, so that states with the same future are one."""


class Unknown(NamedTuple):
    """A result that is not known; `of` is the object of which it is a value, or -1 if that is not known either."""

    of: int = -1


ANY = Unknown()


class FewObjects:
    """The possible answers of a plan, by number of objects."""

    def __init__(self, plan: Plan, policy: str) -> None:
        """`policy`: that of degeneracy."""
        self._plan, self._policy = plan, policy
        self._answers: dict[int, _Answers] | None = None

    def refusal(self, scene: Scene, refused: Container[Value]) -> str:
        """Return why no scene of so few objects has a filling whose answer is not `refused`; "" if one may have it."""
        if scene.size > MOST_OBJECTS or scene.start != first_n(scene.size):
            return ""
        answers = self._of(scene.size)
        if answers.may_leave(refused):
            return ""
        return UNBALANCED if answers.known else TOO_FEW

    def answers(self, count: int) -> frozenset[Value]:
        """Return all answers in scenes of so many objects, and maybe more; an `Unknown` stands for any."""
        answers = self._of(count)
        answers.known.extend(answers.further)
        return frozenset(answers.known)

    def _of(self, count: int) -> _Answers:
        if self._answers is None:
            self._answers = self._plan.vocabularies.few_objects.setdefault(_shape(self._plan, self._policy), {})
        answers = self._answers.get(count)
        if answers is None:
            answers = self._answers[count] = _Answers([], _States(self._plan, self._policy, count).answers())
        return answers


class _Answers(NamedTuple):
    """The answers found so far, and those still to be found: most often the first one is enough."""

    known: list[Value]
    further: Iterator[Value]

    def may_leave(self, refused: Container[Value]) -> bool:
        """True if some answer is not refused."""
        if any(answer not in refused for answer in self.known):
            return True
        for answer in self.further:
            self.known.append(answer)
            if answer not in refused:
                return True
        return False


def _shape(plan: Plan, policy: str) -> tuple[Any, ...]:
    """Return all on which the answers depend: the same for families that ask for size and for color."""
    lanes = tuple(lane.relation for lane in make_lanes(plan, policy))
    return policy, lanes, evidence_of(plan, policy), tuple(_shape_of(op, plan) for op in plan.ops)


def _shape_of(op: Op, plan: Plan) -> tuple[Any, ...]:
    reducer = op.does.reducer if isinstance(op.does, Description) else ""
    checks = tuple((check.meaning, check.reads) for check in op.checks if check.reads)
    return _kind(op, plan), op.inputs, reducer, checks


def _kind(op: Op, plan: Plan) -> str:
    """Return the kind of an op; "" if nothing is known of its result."""
    if isinstance(op.does, Description):
        return RELATED if op.does.relates else DESCRIBED
    function = plan.template.catalogue[op.function] if op.function else None
    if function is None:
        return ""
    if function.role in (RELATION, SAMENESS):
        return TIED if function.source else RELATED
    if function.source:
        return ""
    if function.role == FILTER:
        return DESCRIBED
    if function.asks == "query":
        return VALUE
    return function.name if function.name == SCENE or function.name in COMPUTED else ""


class _States:
    """All states of a plan, op after op, in scenes of so many objects."""

    def __init__(self, plan: Plan, policy: str, count: int) -> None:
        self._ops, self._count = plan.ops, count
        self._lanes = lanes = make_lanes(plan, policy)
        self._numbers = list(range(count))
        self._everything, self._is_compat = first_n(count), policy == "clevr"
        self._kinds = [_kind(op, plan) for op in plan.ops]
        self._evidence = evidence_of(plan, policy)
        self._lanes_of = [[number for number, lane in enumerate(lanes) if op.index in lane.changed] for op in plan.ops]
        self._ways: dict[str, Callable[[Op, State], Iterator[State]]] = {
            SCENE: self._whole,
            **dict.fromkeys((DESCRIBED, RELATED, TIED), self._described),
            **dict.fromkeys((VALUE, *COMPUTED), self._computed),
        }
        outputs = [plan.template.catalogue[op.function].output if op.function else "ObjectSet" for op in plan.ops]
        self._outputs = outputs * (1 + len(lanes))
        self._written = [[i, *(self._shadow(number, i) for number in self._lanes_of[i])] for i in range(len(outputs))]
        self._kept = self._read_later()
        self._met: list[set[State]] = [set() for _ in outputs]
        """Op -> the states after it that were met."""
        self._suits: dict[tuple[bool, str | None], list[bool]] = {}
        self._budget = MOST_STEPS

    def answers(self) -> Iterator[Value]:
        """Yield the answers of finished states in which no relation is idle, each once; ANY after too many steps."""
        found: set[Value] = set()
        try:
            for state in self._finished(0, (None,) * len(self._outputs)):
                answer = state[len(self._ops) - 1]
                if answer not in found and not self._is_idle(state):
                    found.add(answer)
                    yield answer
        except OutOfBudget:
            yield ANY

    def _finished(self, at: int, state: State) -> Iterator[State]:
        """Yield the finished states that come of a state before op `at`, save those met before."""
        if at == len(self._ops):
            yield state
            return
        for following in self._after(self._ops[at], state):
            if following not in self._met[at]:
                self._met[at].add(following)
                yield from self._finished(at + 1, following)

    def _after(self, op: Op, state: State) -> Iterator[State]:
        """Yield the states after an op that meet its checks."""
        written, kept = self._written[op.index], self._kept[op.index]
        results_of = self._ways.get(self._kinds[op.index], self._unknown)
        for results in results_of(op, state):
            self._budget -= 1
            if self._budget < 0:
                raise OutOfBudget
            registers = list(state)
            for number, register in enumerate(written):
                registers[register] = results[number]
            if self._holds(op, registers):
                yield self._renumbered(registers, kept)

    def _shadow(self, lane: int, op: int) -> int:
        """Return the register of an op's result in a lane."""
        return (lane + 1) * len(self._ops) + op

    def _read_later(self) -> list[list[int]]:
        """Return for each op the registers that a later op reads, or the end."""
        lanes, read = range(len(self._lanes)), {len(self._ops) - 1, *self._evidence}
        read |= {self._shadow(number, i) for number in lanes for i in self._evidence}
        found: list[list[int]] = []
        for op in reversed(self._ops):
            found.append(sorted(read))
            read |= {*op.inputs, *(i for check in op.checks for i in check.reads)}
            read |= {self._shadow(number, i) for number in self._lanes_of[op.index] for i in op.inputs}
        return found[::-1]

    def _holds(self, op: Op, results: Sequence[Value]) -> bool:
        """True if the checks of an op may hold; those of words and of unknown results may."""
        for check in op.checks:
            if check.holds is not None:
                read = [results[i] for i in check.reads]
                if not _is_unknown(read) and not check.holds(*read):
                    return False
        return True

    def _is_idle(self, state: State) -> bool:
        """True if some relation is surely idle in a finished state."""
        for number, lane in enumerate(self._lanes):
            changed = [i for i in self._evidence if i in lane.changed]
            if all(state[self._shadow(number, i)] == state[i] != ANY for i in changed):
                return True
        return False

    def _renumbered(self, results: Sequence[Value], kept: Sequence[int]) -> State:
        """Return the kept results with the objects in an order that says only which results each of them is in.

        So one state stands for all that differ in the numbers of their objects, of up to 24 for four objects.
        """
        found: list[Value] = [None] * len(results)
        places = [0] * self._count  # object -> the sets that it is in, as bits
        for register in kept:
            result = found[register] = results[register]
            objects = self._members(register, result)
            if objects >= 0:
                places = [place << 1 | objects >> i & 1 for i, place in enumerate(places)]
        order = sorted(self._numbers, key=places.__getitem__)
        if order == self._numbers:
            return tuple(found)
        for register in kept:
            objects = self._members(register, found[register])
            if objects >= 0:
                moved = 0
                for new, old in enumerate(order):
                    moved |= (objects >> old & 1) << new
                found[register] = self._with_members(register, found[register], moved)
        return tuple(found)

    def _members(self, register: int, result: Value) -> Objects:
        """Return the objects of a result; -1 if it is not about objects."""
        if isinstance(result, Unknown):
            return -1 if result == ANY else 1 << result.of
        if result is None or self._outputs[register] not in ("Object", "ObjectSet"):
            return -1
        objects: Objects = result if self._outputs[register] == "ObjectSet" else 1 << result
        return objects

    def _with_members(self, register: int, result: Value, objects: Objects) -> Value:
        """Return a result with other objects."""
        if isinstance(result, Unknown):
            return Unknown(only(objects))
        return objects if self._outputs[register] == "ObjectSet" else only(objects)

    # All results of an op: the real one, then one for each of its lanes ---------------------------------------------

    def _whole(self, op: Op, state: State) -> Iterator[State]:
        yield (self._everything,)

    def _unknown(self, op: Op, state: State) -> Iterator[State]:
        yield (ANY,) * (1 + len(self._lanes_of[op.index]))

    def _computed(self, op: Op, state: State) -> Iterator[State]:
        """Yield the one result of a function whose inputs are known."""
        result = self._result(op, [state[i] for i in op.inputs])
        if result is not None:
            shadows = [self._result(op, self._shadowed(op, state, number)) for number in self._lanes_of[op.index]]
            yield (result, *shadows)

    def _shadowed(self, op: Op, state: State, number: int) -> list[Value]:
        """Return the inputs of an op in a lane."""
        changed = self._lanes[number].changed
        return [state[self._shadow(number, i) if i in changed else i] for i in op.inputs]

    def _result(self, op: Op, inputs: Sequence[Value]) -> Value:
        """Return the result for these inputs; None if there is none."""
        if None in inputs:
            return None
        if _is_unknown(inputs):
            return ANY
        if self._kinds[op.index] == VALUE:
            return Unknown(*inputs)
        assert isinstance(op.does, Apply)
        try:
            return op.does.run(None, *inputs)
        except Undefined:
            return None

    def _described(self, op: Op, state: State) -> Iterator[State]:
        """Yield every set of objects that words and a relation may single out."""
        source, does, kind = state[op.inputs[0]], op.does, self._kinds[op.index]
        if isinstance(source, Unknown):
            yield from self._unknown(op, state)
            return
        others = self._everything if kind == DESCRIBED else self._everything & ~(1 << source)
        reached = [source] if kind == DESCRIBED else subsets_of(self._everything if kind == TIED else others)
        says_words = kind == DESCRIBED or isinstance(does, Description)
        found: set[State] = set()
        described = subsets_of(self._everything)[::-1] if says_words else [self._everything]
        suited = self._suited(does) if isinstance(does, Description) else None
        for near, fits in product(reached, described):
            outcome = near & fits
            if suited is not None and not suited[outcome]:
                continue
            results = (
                outcome,
                *[self._without(op, state, number, others, near, fits) for number in self._lanes_of[op.index]],
            )
            if results not in found:
                found.add(results)
                yield results

    def _suited(self, does: Description) -> list[bool]:
        """Return for each set whether a node with such a function may single it out."""
        key = (does.relates, does.reducer)
        suited = self._suits.get(key)
        if suited is None:
            suited = self._suits[key] = [does.suits(1, outcome) for outcome in range(self._everything + 1)]
        return suited

    def _without(self, op: Op, state: State, number: int, others: Objects, near: Objects, fits: Objects) -> Value:
        """Return the set that is singled out in a lane."""
        if self._lanes[number].relation == op.index:
            return (self._everything if self._is_compat else others) & fits
        source = state[self._shadow(number, op.inputs[0])]
        if source is None or isinstance(source, Unknown):
            return source
        if self._kinds[op.index] == DESCRIBED:
            return source & fits
        return near & fits if source == state[op.inputs[0]] else ANY


def _is_unknown(results: Sequence[Value]) -> bool:
    """True if some result is not known."""
    return any(isinstance(each, Unknown) for each in results)


def subsets_of(objects: Objects) -> list[Objects]:
    """Return all subsets of a set."""
    found = [0]
    for i in indexes(objects):
        found += [each | 1 << i for each in found]
    return found
