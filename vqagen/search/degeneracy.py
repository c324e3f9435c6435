"""Degenerate questions: a relation in them is idle, for without it the answer would be the same.

The search carries, beside each result, what it would be had one relation not been said, for each relation that is
tested. This is computed where the search settles a stage, so no program is ever run a second time.

* `clevr`: the reference's test. Each `relate` of a template with a raw `relate` node is replaced by the whole scene;
  the question is degenerate if it keeps its answer. A reference that is no longer unique counts as a change.
* `all`: each function that goes from an object to others (`relate`, `same_*`, `different_*`, a plug-in's own) is
  replaced by all objects but its anchor. Where values are compared, the values must stay, not the yes or no. Questions
  whether there is any, or more, are not tested: refused for an idle relation, they leave a "yes" to short phrases and
  a "no" to long ones, and wording alone tells the answer (held-out accuracy .75 in place of .59, for whether there is
  any by way of two relations). A comparison of distances (OPPOSITES) is replaced by its opposite: of two red cubes it
  does not matter which is nearer, if their color is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from vqagen.bits import Objects, is_single, only
from vqagen.language.catalogue import Value
from vqagen.language.template import Template
from vqagen.plugin import RELATION, SAMENESS, Undefined
from vqagen.search.description import Description
from vqagen.search.plan import Op, Plan
from vqagen.search.state import SearchState, Test

UNTESTED = ("exist", "compare_integer", "logic")
"""Question types that the policy `all` lets be."""
OPPOSITES = {"nearest": "farthest", "farthest": "nearest", "nearer": "farther", "farther": "nearer"}
"""A function that picks an object by its distance -> the one that picks the other object, or the other end."""
WithoutStep = Callable[[SearchState, list[Value]], None]


class WithoutRelation(NamedTuple):
    """The ops whose results depend on one relation, and how to compute each without it.

    An example: "How many red things are left of the cube?" in a scene of the cube 0, red things 1 and 2 on its left and
    the blue thing 3. The ops of the plan, their results, and those without the relation under the policy `all`:

        0 scene              {0, 1, 2, 3}   not reached by the relation
        1 the cube           0              not reached
        2 left of, red       {1, 2}         without: all objects but the anchor 0 that are red: {1, 2}
        3 count              2              without: 2

    The answer is what it is without the relation, so the question is refused. Were object 3 red and right of the cube,
    it would be 3 without the relation, which therefore would matter.
    """

    at: int
    """The op of the relation."""
    changed: tuple[int, ...]
    steps: dict[int, WithoutStep]
    leaves_out_anchor: bool
    """True if all objects but the anchor stand for the relation, as under `all`; False for the whole scene."""


def tested_relations(plan: Plan, policy: str) -> tuple[WithoutRelation, ...]:
    """What is computed without each relation that the policy tests."""
    tested = [without_relation(plan.ops, op, policy) for op in plan.ops if _is_tested(op, plan.template, policy)]
    catalogue = plan.template.catalogue
    for without in tested:
        op = plan.ops[without.at]
        if op.function in OPPOSITES:
            without.steps[op.index] = _follow(op, (), catalogue[OPPOSITES[op.function]].run)
    return tuple(tested)


def _is_tested(op: Op, template: Template, policy: str) -> bool:
    if policy == "all":
        if template.last_function.asks in UNTESTED:
            return False
        return op.role in (RELATION, SAMENESS) or op.function in OPPOSITES
    is_relate = isinstance(op.does, Description) and op.does.relates
    is_relate = is_relate or op.function == "relate"  # the reference knows no other relation
    return policy == "clevr" and is_relate and any(node.type == "relate" for node in template.nodes)


def without_relation(ops: Sequence[Op], relation: Op, policy: str = "all") -> WithoutRelation:
    """Return what is computed without one relation."""
    changed = [relation.index]
    for op in ops[relation.index + 1 :]:
        if any(i in changed for i in op.inputs):
            changed.append(op.index)
    leaves_out_anchor = policy != "clevr"
    steps = {relation.index: _described(relation, _all_objects(relation.inputs[0] if leaves_out_anchor else None))}
    for i in changed[1:]:
        if not _gives_object(ops[i - 1]):  # else it is the `unique` behind a description, whose step sets this too
            steps[i] = _follow(ops[i], changed)
    return WithoutRelation(relation.index, tuple(changed), steps, leaves_out_anchor)


def _gives_object(op: Op) -> bool:
    """True for a description whose next op is the `unique` that ends it."""
    return isinstance(op.does, Description) and op.does.reducer == "unique"


def _described(op: Op, among: Callable[[SearchState, list[Value]], Objects | None]) -> WithoutStep:
    """Compute a relation, or a description, from the objects among which it describes without the relation."""
    at, is_description, gives_object = op.index, isinstance(op.does, Description), _gives_object(op)

    def step(state: SearchState, values: list[Value]) -> None:
        objects = among(state, values)
        if is_description and objects is not None:
            objects &= state.picked[at][2]
        values[at] = objects
        if gives_object:
            values[at + 1] = _only(objects)

    return step


def _all_objects(anchor: int | None) -> Callable[[SearchState, list[Value]], Objects]:
    """All objects but the anchor, or the whole scene if `anchor` is None: they stand in place of the relation."""
    if anchor is None:
        return lambda state, values: state.scene.start
    return lambda state, values: state.scene.everything & ~(1 << state.values[anchor])


def _only(objects: Objects | None) -> int | None:
    """Return the one object of a set, if there is one: without a relation, most references are no longer unique."""
    return only(objects) if objects is not None and is_single(objects) else None


def _follow(op: Op, changed: Sequence[int], opposite: Callable[..., Value] | None = None) -> WithoutStep:
    """Compute an op from its inputs without the relation, or the real ones where it does not reach.

    With `opposite`, that is run in place of the op's function.
    """
    at, does, source = op.index, op.does, op.inputs[0]
    if isinstance(does, Description):

        def among(state: SearchState, values: list[Value]) -> Objects | None:
            objects, relation = values[source], state.picked[at][0]
            return objects if relation is None or objects is None else state.scene.related[relation][objects]

        return _described(op, among)
    run: Callable[..., Value] = (lambda scene, objects: _only(objects)) if op.function == "unique" else does.run
    run = opposite or run
    is_choice, literals, sources = op.is_choice, op.literals, [(i, i in changed) for i in op.inputs]

    def applied(state: SearchState, values: list[Value]) -> None:
        inputs = [values[i] if is_changed else state.values[i] for i, is_changed in sources]
        try:
            words = state.picked[at] if is_choice else literals
            values[at] = None if None in inputs else run(state.scene, *inputs, *words)
        except Undefined:
            values[at] = None

    return applied


def depends_on_words(choice: Op, without: WithoutRelation) -> bool:
    """True if what a choice gives without the relation depends on its words: equal outcomes may differ there.

    That of a plain relation does not: without it, all objects stand there whatever it was.
    """
    if choice.index == without.at:
        return isinstance(choice.does, Description)
    return choice.index in without.changed


def make_idle_test(plan: Plan, relations: Sequence[WithoutRelation], policy: str) -> Test:
    """Return the test that some relation of a finished filling is idle: without it, nothing changes that must.

    The answer must; of values that are compared each, not the yes or no.
    """
    last, is_yes_no = plan.ops[-1], plan.template.answer_type == "Bool"
    evidence = last.inputs if policy == "all" and is_yes_no and last.inputs else (last.index,)
    compared = [(number, [i for i in evidence if i in without.changed]) for number, without in enumerate(relations)]

    def is_idle(state: SearchState) -> bool:
        values = state.values
        for number, changed in compared:
            others = state.values_without[number]
            for i in changed:
                if others[i] != values[i]:
                    break
            else:
                return True
        return False

    return is_idle


def make_telling_test(plan: Plan, choice: Op, relations: Sequence[WithoutRelation]) -> tuple[Test, ...]:
    """Return the test, if there is one, that a reference needs the relations which reach the rest only through it.

    It does not if the same words fit the same one object without a relation. The test runs before anything is computed
    from the reference.
    """
    does = choice.does
    if not isinstance(does, Description) or does.relates or does.reducer != "unique":
        return ()
    later = {i for op in plan.ops[choice.index + 1 :] for i in op.inputs if i <= choice.index}
    source = choice.inputs[0]
    through = [
        n
        for n, without in enumerate(relations)
        if source in without.changed and later & set(without.changed) == {choice.index}
    ]
    at = choice.index

    def tells(state: SearchState) -> bool:
        outcome, fits = state.values[at], state.picked[at][2]
        for number in through:
            among = state.values_without[number][source]
            if among is not None and among & fits == outcome:
                state.idle_drops += 1
                return False
        return True

    return (tells,) if through else ()
