"""Degenerate questions: a relation in them is idle, for without it the answer would be the same.

A lane follows the search for one relation: beside each result it carries the result as it would be had that relation
not been said. Lanes are computed where the search settles a stage, so no program is ever run a second time.

* `clevr`: the reference's test. Each `relate` of a template with a raw `relate` node is replaced by the whole scene;
  the question is degenerate if it keeps its answer. A reference that is no longer unique counts as a change.
* `all`: each function that goes from an object to others (`relate`, `same_*`, `different_*`, a plug-in's own) is
  replaced by all objects but its anchor. Where values are compared, the values must stay, not the yes or no. Questions
  whether there is any, or more, are not tested: refused for an idle relation, they leave a "yes" to short phrases and
  a "no" to long ones, and wording alone tells the answer (held-out accuracy .75 in place of .59, for whether there is
  any by way of two relations).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vqagen.bits import Objects, is_single, only
from vqagen.language.catalogue import Value
from vqagen.language.template import Template
from vqagen.plugin import RELATION, SAMENESS, Undefined
from vqagen.search.description import Description
from vqagen.search.filling import Frame, Test
from vqagen.search.plan import Op, Plan

UNTESTED = ("exist", "compare_integer", "logic")
"""Question types that the policy `all` lets be."""
LaneStep = Callable[[Frame, list[Value]], None]


@dataclass(frozen=True)
class Lane:
    """One relation's shadow: the ops whose results depend on the relation, and how to compute each without it.

    An example: "How many red things are left of the cube?" in a scene of the cube 0, red things 1 and 2 on its left and
    the blue thing 3. The ops of the plan, their results, and the lane of its one relation under the policy `all`:

        0 scene              {0, 1, 2, 3}   not reached by the relation: no shadow
        1 the cube           0              no shadow
        2 left of, red       {1, 2}         shadow: all objects but the anchor 0 that are red: {1, 2}
        3 count              2              shadow: 2

    The answer is what it is without the relation, so the question is refused. Were object 3 red and right of the cube,
    the shadow would be 3, and the relation would matter.
    """

    relation: int
    changed: tuple[int, ...]
    steps: dict[int, LaneStep]


def make_lanes(plan: Plan, policy: str) -> tuple[Lane, ...]:
    """A lane for each relation that the policy tests."""
    return tuple(lane_of(plan.ops, op, policy) for op in plan.ops if _is_tested(op, plan.template, policy))


def _is_tested(op: Op, template: Template, policy: str) -> bool:
    if policy == "all":
        if template.last_function.asks in UNTESTED:
            return False
        return op.role in (RELATION, SAMENESS)
    is_relate = isinstance(op.does, Description) and op.does.relates
    is_relate = is_relate or op.function == "relate"  # the reference knows no other relation
    return policy == "clevr" and is_relate and any(node.type == "relate" for node in template.nodes)


def lane_of(ops: Sequence[Op], relation: Op, policy: str = "all") -> Lane:
    """Return the lane of one relation."""
    changed = [relation.index]
    for op in ops[relation.index + 1 :]:
        if any(i in changed for i in op.inputs):
            changed.append(op.index)
    anchor = None if policy == "clevr" else relation.inputs[0]
    steps = {relation.index: _without_relation(relation, anchor)}
    for i in changed[1:]:
        if _gives_object(ops[i - 1]):
            continue  # the `unique` behind a description, whose step sets this shadow too: two thirds of the time
        steps[i] = _follow(ops[i], tuple(each in changed for each in ops[i].inputs))
    return Lane(relation.index, tuple(changed), steps)


def _gives_object(op: Op) -> bool:
    """True for a description whose next op is the `unique` that ends it."""
    return isinstance(op.does, Description) and op.does.reducer == "unique"


def _without_relation(op: Op, anchor: int | None) -> LaneStep:
    """Replace the relation by all objects but its anchor, or by the whole scene if `anchor` is None."""
    at, is_described, gives_object = op.index, isinstance(op.does, Description), _gives_object(op)

    def step(frame: Frame, shadow: list[Value]) -> None:
        scene = frame.scene
        objects = scene.start if anchor is None else scene.everything & ~(1 << frame.values[anchor])
        if is_described:
            objects &= frame.picked[at][2]
        shadow[at] = objects
        if gives_object:
            shadow[at + 1] = _only(objects)

    return step


def _only(objects: Objects | None) -> int | None:
    """Return the one object of a set, if there is one: without a relation, most references are no longer unique."""
    return only(objects) if objects is not None and is_single(objects) else None


def _follow(op: Op, shadowed: tuple[bool, ...]) -> LaneStep:
    """Compute an op from its shadowed inputs, and from the real ones where the relation does not reach."""
    at, does, gives_object = op.index, op.does, _gives_object(op)
    if isinstance(does, Description):
        source = op.inputs[0]

        def described(frame: Frame, shadow: list[Value]) -> None:
            objects = shadow[source]
            relation, _, fits = frame.picked[at]
            if objects is not None:
                objects = (frame.scene.related[relation][objects] if relation is not None else objects) & fits
            shadow[at] = objects
            if gives_object:
                shadow[at + 1] = _only(objects)

        return described
    run, literals, sources = does.run, op.literals, tuple(zip(op.inputs, shadowed, strict=True))
    is_choice = op.is_choice
    if len(op.inputs) == 1 and not literals and not is_choice:  # most functions: a tenth of a run's time is spent here
        only_input, is_unique = op.inputs[0], op.function == "unique"

        def applied_to_one(frame: Frame, shadow: list[Value]) -> None:
            value = shadow[only_input]
            if is_unique:
                shadow[at] = _only(value)
                return
            try:
                shadow[at] = None if value is None else run(frame.scene, value)
            except Undefined:
                shadow[at] = None

        return applied_to_one

    def applied(frame: Frame, shadow: list[Value]) -> None:
        inputs = [shadow[i] if changed else frame.values[i] for i, changed in sources]
        try:
            words = frame.picked[at] if is_choice else literals
            shadow[at] = None if None in inputs else run(frame.scene, *inputs, *words)
        except Undefined:
            shadow[at] = None

    return applied


def is_shadowed_by_words(choice: Op, lane: Lane) -> bool:
    """True if a choice's shadow depends on the words chosen, so that equal outcomes may have unequal shadows.

    The shadow of a plain relation does not: without it, all objects stand there whatever it was.
    """
    if choice.index == lane.relation:
        return isinstance(choice.does, Description)
    return choice.index in lane.changed


def evidence_of(plan: Plan, policy: str) -> tuple[int, ...]:
    """Return the ops whose results must change without a relation: the answer, or what a yes or no is about."""
    last = plan.ops[-1]
    is_yes_no = plan.template.answer_type == "Bool"
    return last.inputs if policy == "all" and is_yes_no and last.inputs else (last.index,)


def make_idle_test(plan: Plan, lanes: Sequence[Lane], policy: str) -> Test:
    """Return the test that some relation of a finished filling is idle."""
    evidence = evidence_of(plan, policy)
    compared = [(number, [i for i in evidence if i in lane.changed]) for number, lane in enumerate(lanes)]

    def is_idle(frame: Frame) -> bool:
        values = frame.values
        for number, changed in compared:
            shadow = frame.shadows[number]
            for i in changed:
                if shadow[i] != values[i]:
                    break
            else:
                return True
        return False

    return is_idle


def make_telling_test(plan: Plan, choice: Op, lanes: Sequence[Lane]) -> tuple[Test, ...]:
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
        n for n, lane in enumerate(lanes) if source in lane.changed and later & set(lane.changed) == {choice.index}
    ]
    at = choice.index

    def tells(frame: Frame) -> bool:
        outcome, fits = frame.values[at], frame.picked[at][2]
        for number in through:
            among = frame.shadows[number][source]
            if among is not None and among & fits == outcome:
                frame.idle_drops += 1
                return False
        return True

    return (tells,) if through else ()
