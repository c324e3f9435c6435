"""Everything that can surely be said wrong about the pairs of a run, from its records, scenes and raw templates.

Part of the slow twin (see `naive`): the rules are those of `--balance pairs` as its issue states them, and nothing is
shared with the package. A pair is two records with one number in `pair`: one question about two scenes, with different
answers, such that whoever ignores a relation gets one of the two wrong. Where the answer goes with how many objects
there are, it is no guess that the fuller picture has the greater one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from oracles import oracle
from oracles.naive_constraints import is_allowed
from oracles.naive_descriptions import COMPOSITE, is_composite, is_slot
from oracles.naive_programs import Undefined, Value, run, step_type, step_values
from oracles.naive_relevance import RELATIONS, needs_other
from oracles.naive_vocabulary import Record, World, make_world, relation_type, values_of

OTHER = {"other", "another"}


class Side(NamedTuple):
    """One record of a pair with its scene, run once."""

    record: Record
    scene: Record
    world: World
    outputs: Sequence[Value]


class Placed(NamedTuple):
    """A template laid over a program: the words of its slots, and the step that holds the output of each node."""

    words: Mapping[str, str | None]
    places: tuple[int, ...]
    end: int
    """How many steps there are so far."""


def check_pairs(
    records: Sequence[Record],
    scenes: Mapping[str, Record],
    metadata: Record,
    template_of: Callable[[Record], Record],
) -> list[str]:
    """What is wrong with a whole run's records, one line each; `scenes` by image file name."""
    pairs: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        pairs[record.get("pair")].append(record)
    wrong = [f"a record without a pair: {record['question']}" for record in pairs.pop(None, [])]
    for number, made in pairs.items():
        is_pair = len(made) == 2
        found = check_pair(made, scenes, metadata, template_of(made[0])) if is_pair else [f"{len(made)} records"]
        wrong += [f"pair {number}: {problem} ({made[0]['question']})" for problem in found]
    return wrong


def check_pair(
    records: Sequence[Record], scenes: Mapping[str, Record], metadata: Record, template: Record
) -> list[str]:
    """What is wrong with the two records of one pair."""
    about = [scenes[record["image_filename"]] for record in records]
    wrong = [fault for each in zip(records, about, strict=True) for fault in _check_record(*each, metadata)]
    wrong = wrong or _check_sameness(*records)
    if wrong:
        return wrong
    worlds = [make_world(scene, metadata) for scene in about]
    sides = [
        Side(record, scene, world, run(world, record["program"]))
        for record, scene, world in zip(records, about, worlds, strict=True)
    ]
    wrong = [problem for side in sides for problem in _check_template(side, template, metadata)]
    return wrong + _check_references(*sides) + _check_other(*sides, metadata) + _check_relations(*sides)


def _check_record(record: Record, scene: Record, metadata: Record) -> list[str]:
    """The answer is right. The text is left to others: that of the reference's templates has faults of its own."""
    wrong = oracle.check_image(record, scene) + oracle.check_program(record.get("program"), metadata)
    return wrong or oracle.check_answer(record, scene, metadata)


def _check_sameness(first: Record, second: Record) -> list[str]:
    """The two ask the same about different scenes, whose answers differ."""
    wrong = [
        f"{key} is {first.get(key)!r} and {second.get(key)!r}"
        for key in ("question_family_index", "template_filename", "question_type", "program")
        if first.get(key) != second.get(key)
    ]
    wrong += [
        f"{key} is {first[key]!r} twice" for key in ("image_filename", "answer") if first.get(key) == second.get(key)
    ]
    return wrong


def check_fullness(records: Sequence[Record], scenes: Mapping[str, Record], least: int = 20) -> list[str]:
    """Pairs of one window that ask how many, or whether there is any, about scenes of unequally many objects.

    The scenes of a number that fewer than `least` have may be joined by those of the next.
    """
    sizes = {name: len(scene["objects"]) for name, scene in scenes.items()}
    group, groups, there = 0, {}, 0
    for size, count in sorted(Counter(sizes.values()).items()):
        groups[size], there = group, there + count
        if there >= least:
            group, there = group + 1, 0
    groups = {size: min(number, max(group - 1, 0)) for size, number in groups.items()}
    found: dict[int, set[int]] = defaultdict(set)
    for record in records:
        if record["question_type"] not in ("query", "compare_attribute", "compare_object"):
            found[record["pair"]].add(groups[sizes[record["image_filename"]]])
    return [f"pair {number} is about scenes of unequally many objects" for number, g in found.items() if len(g) > 1]


# In each scene ----------------------------------------------------------------------------------------------------


def _check_template(side: Side, template: Record, metadata: Record) -> list[str]:
    """The program is the template's, and what the template asks for is so in the scene."""
    placed = next(placements(side.record["program"], template, metadata), None)
    if placed is None:
        return [f"the program is none of template {template.get('name')!r}"]
    named = {index: side.outputs[place] for index, place in enumerate(placed.places)}
    wrong = [] if is_allowed(template, {**placed.words, **named}) else [f"a constraint is broken: {placed.words}"]
    wrong += [
        f"node {index} ({step_type(node)}) describes nothing"
        for index, node in enumerate(template["nodes"])
        if step_type(node) == "relate_filter" and not named[index]
    ]
    return wrong


# Between the scenes -----------------------------------------------------------------------------------------------


def _check_references(first: Side, second: Side) -> list[str]:
    """Two references mean the same object in both scenes or in none, unless just that is asked."""
    program = first.record["program"]
    asked = program[-1]["inputs"] if step_type(program[-1]) == "equal_object" else []
    uniques = [index for index, step in enumerate(program) if step_type(step) == "unique"]
    return [
        f"steps {one} and {two} mean one object in one scene, and two in the other"
        for one, two in combinations(uniques, 2)
        if {one, two} != set(asked)
        and (first.outputs[one] == first.outputs[two]) != (second.outputs[one] == second.outputs[two])
    ]


def _check_other(first: Side, second: Side, metadata: Record) -> list[str]:
    """The word "other" is needed in both scenes or in none, and said where it is needed."""
    needed = [needs_other(side.record["program"], side.scene, metadata) for side in (first, second)]
    said = [says_other(side.record["question"]) for side in (first, second)]
    wrong = [] if needed[0] == needed[1] else ['"other" is true in one scene alone']
    if needed[0] is not None and said[0] != said[1]:
        wrong.append('"other" is said in one text alone')
    return wrong


def says_other(text: str) -> bool:
    """Whether a text has the word."""
    return not OTHER.isdisjoint(text.lower().replace(",", " ").replace("?", " ").replace(";", " ").split())


def _check_relations(first: Side, second: Side) -> list[str]:
    """For each relation, both scenes have no answer or another one if the relation holds of everything.

    Where a question asks whether there is any, or more, or joins such answers, one of the two scenes has.
    """
    most = 1 if first.record["question_type"] in ("exist", "compare_integer", "logic") else 0
    return [
        f"step {index} ({step_type(step)}) does not matter"
        for index, step in enumerate(first.record["program"])
        if step_type(step).startswith(RELATIONS) and is_idle(first, index) + is_idle(second, index) > most
    ]


def is_idle(side: Side, index: int) -> bool:
    """Whether the answer stays if a relation gives all objects but its anchor."""
    program = side.record["program"]
    anchor = side.outputs[program[index]["inputs"][0]]
    try:
        return run(side.world, program, {index: side.world.everything - {anchor}})[-1] == side.outputs[-1]
    except Undefined:
        return False


# A template laid over a program -----------------------------------------------------------------------------------


def placements(program: Sequence[Record], template: Record, metadata: Record) -> Iterator[Placed]:
    """Yield the ways in which a program can have come of a template."""
    for placed in _placements(program, template, metadata, Placed({}, (), 0)):
        if placed.end == len(program):
            yield placed


def _placements(program: Sequence[Record], template: Record, metadata: Record, placed: Placed) -> Iterator[Placed]:
    if len(placed.places) == len(template["nodes"]):
        yield placed
        return
    node = template["nodes"][len(placed.places)]
    inputs = [placed.places[number] for number in node["inputs"]]
    for steps, left_open in _expansions(node, template, metadata):
        end = placed.end + len(steps)
        words = _words(steps, program[placed.end : end], left_open, inputs, placed.end)
        if words is not None and all(placed.words.get(slot, word) == word for slot, word in words.items()):
            place = end - 1 if steps else inputs[0]
            following = Placed({**placed.words, **words}, (*placed.places, place), end)
            yield from _placements(program, template, metadata, following)


Step = tuple[str, tuple[str, ...]]
"""A step's type with its side inputs, slots among them."""


def _expansions(node: Record, template: Record, metadata: Record) -> Iterator[tuple[list[Step], list[str]]]:
    """Yield the chains of steps that a node may turn into, each with the slots that it leaves open."""
    name, sides = step_type(node), [*step_values(node)]
    if not is_composite(node):
        yield [(name, tuple(sides))], []
        return
    parts = COMPOSITE.fullmatch(name)
    assert parts is not None
    types = {side: _type_of(side, template, metadata) for side in sides}
    related = [side for side in sides if types[side] == relation_type(metadata)]
    described = [side for side in sides if side not in related]
    head: list[Step] = [("relate", (side,)) for side in related]
    tail: list[Step] = [(parts["ending"], ())] if parts["ending"] else []
    for size in range(len(described), -1, -1):
        for said in combinations(described, size):
            left_open = [side for side in described if side not in said]
            if all(map(is_slot, left_open)):
                yield [*head, *((f"filter_{types[side].lower()}", (side,)) for side in said), *tail], left_open


def _words(
    steps: Sequence[Step], program: Sequence[Record], left_open: Sequence[str], inputs: Sequence[int], first: int
) -> dict[str, str | None] | None:
    """The words of the slots if the steps are these; None if they are not."""
    words: dict[str, str | None] = dict.fromkeys(left_open)
    if len(steps) != len(program):
        return None
    for number, ((name, sides), step) in enumerate(zip(steps, program, strict=True)):
        wanted = [first + number - 1] if number else inputs
        values = step_values(step)
        if step_type(step) != name or list(step["inputs"]) != list(wanted) or len(values) != len(sides):
            return None
        for side, value in zip(sides, values, strict=True):
            if words.setdefault(side, value) != value or (not is_slot(side) and side != value):
                return None
    return {side: word for side, word in words.items() if is_slot(side)}


def _type_of(side: str, template: Record, metadata: Record) -> str:
    if is_slot(side):
        return next(param["type"] for param in template["params"] if param["name"] == side)
    return next(name for name in metadata["types"] if side in values_of(metadata, name))
