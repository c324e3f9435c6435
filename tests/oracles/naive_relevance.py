"""What a question could do without: relations without effect, needless words; and where it needs "other".

Part of the slow twin (see `naive`): each is found by running the program again without the thing in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oracles.naive_programs import Undefined, Value, is_filter, outputs, run, run_step, step_type, step_values
from oracles.naive_vocabulary import Record, World, make_world

POLICIES = {"none", "clevr", "all"}
RELATIONS = ("relate", "same_", "different_")
"""How the names of functions begin that lead from an object, the anchor, to others."""


def is_degenerate(
    program: Sequence[Record], scene: Record, metadata: Record, policy: str, template_has_raw_relate: bool
) -> bool:
    """Whether some relation could be left out without effect.

    none: never. clevr: only for templates with a raw `relate` node; a `relate` is replaced by the whole scene and the
    answer stays. all: a `relate`, `same_x` or `different_x` is replaced by all objects but its anchor, and what
    decides stays: for compared values or objects the inputs of the last step, else the answer; other programs that
    answer yes or no (exist, comparisons of numbers, and, or, not) are never degenerate. A program that becomes
    undefined is not degenerate.
    """
    return has_idle_relation(make_world(scene, metadata), program, policy, template_has_raw_relate)


def has_idle_relation(world: World, program: Sequence[Record], policy: str, template_has_raw_relate: bool) -> bool:
    """`is_degenerate` in a world that is made already."""
    if policy not in POLICIES:
        raise ValueError(f"no degeneracy policy {policy!r}")
    if policy == "none" or (policy == "clevr" and not template_has_raw_relate):
        return False
    unchanged = run(world, program)
    test = _is_idle_everywhere if policy == "all" else _is_idle_as_scene
    return any(test(world, program, unchanged, index) for index in range(len(program)))


def _is_idle_as_scene(world: World, program: Sequence[Record], unchanged: list[Value], index: int) -> bool:
    if step_type(program[index]) != "relate":
        return False
    changed = _run_or_none(world, program, index, world.start)
    return changed is not None and changed[-1] == unchanged[-1]


def _is_idle_everywhere(world: World, program: Sequence[Record], unchanged: list[Any], index: int) -> bool:
    if not step_type(program[index]).startswith(RELATIONS):
        return False
    anchor = unchanged[program[index]["inputs"][0]]
    changed = _run_or_none(world, program, index, world.start - {anchor})
    deciding = _deciding(program, unchanged)
    return changed is not None and deciding != [] and all(changed[i] == unchanged[i] for i in deciding)


def _deciding(program: Sequence[Record], unchanged: list[Value]) -> list[int]:
    """The steps whose outputs must not all stay as they are; none where the question is never degenerate."""
    last = len(program) - 1
    if not isinstance(unchanged[last], bool):
        return [last]
    compares_values = step_type(program[last]).startswith("equal_") and step_type(program[last]) != "equal_integer"
    return list(program[last]["inputs"]) if compares_values else []


def _run_or_none(world: World, program: Sequence[Record], index: int, output: Value) -> list[Value] | None:
    try:
        return run(world, program, {index: output})
    except Undefined:
        return None


def spare_filters(program: Sequence[Record], scene: Record, metadata: Record) -> list[int]:
    """The filters of references to one object without which the reference still means the same object."""
    world = make_world(scene, metadata)
    unchanged = run(world, program)
    spare = []
    for end, step in enumerate(program):
        at = step["inputs"][0] if step_type(step) == "unique" else end
        while at != end and is_filter(program[at]):
            source = program[at]["inputs"][0]
            changed = _run_or_none(world, program[: end + 1], at, unchanged[source])
            spare += [at] if changed is not None and changed[end] == unchanged[end] else []
            at = source
    return spare


def needs_other(program: Sequence[Record], scene: Record, metadata: Record) -> bool | None:
    """Whether an anchor of a `same_x` itself fits the filters that directly follow, so that the text must say "other".

    None when no `same_x` is followed by a filter. With several such chains: whether any of them needs it.
    """
    world, results = make_world(scene, metadata), outputs(program, scene, metadata)
    fits = []
    for index, step in enumerate(program):
        chain = _filters_after(program, index) if step_type(step).startswith("same_") else []
        if chain:
            anchor = frozenset([results[step["inputs"][0]]])
            fits.append(_filtered(world, anchor, chain) == anchor)
    return any(fits) if fits else None


def _filters_after(program: Sequence[Record], index: int) -> list[Record]:
    """The chain of filters that starts at the step's output; of two chains that start there, the first."""
    chain = []
    for later, step in enumerate(program):
        if is_filter(step) and step["inputs"] == [index]:
            chain.append(step)
            index = later
    return chain


def _filtered(world: World, things: Any, chain: Sequence[Record]) -> Value:
    for step in chain:
        things = run_step(world, step_type(step), [things], step_values(step))
    return things
