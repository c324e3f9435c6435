"""Witnesses against forced answers: worlds in which all that a question takes for granted holds, but not its answer.

A question's own world is changed at random: values, places, objects that come or go. The first changed world in which
the program still has a result, the objects that it refers to differ as before, and the answer is another, proves that
words alone do not tell the answer. Nothing here knows any rule about words; not finding a witness proves nothing, but
of questions that other worlds can answer otherwise hardly any are left without one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

from oracles.naive_programs import Undefined, Value, run, step_type
from oracles.naive_vocabulary import Record, Recorded, World, attribute_types, groups_of, make_world, values_of

THRESHOLD = 0.2
ROUNDS = 60
STEPS = 60


class Changes:
    """Ways to change worlds of a domain."""

    def __init__(self, metadata: Record) -> None:
        self.sampling = metadata.get("sampling", {})
        self.attributes = {name.lower(): self._attribute(metadata, name) for name in attribute_types(metadata)}
        self.drawn: Mapping[str, Any] = self.sampling.get("relations", {})
        directions = self.sampling.get("directions", {})
        self.directions = {name: vector for name, vector in directions.items() if name not in self.drawn}

    def _attribute(self, metadata: Record, name: str) -> tuple[list[str], Mapping[str, str], bool, bool]:
        entry, groups = metadata["types"][name], groups_of(metadata, name)
        details = entry if isinstance(entry, Mapping) and "values" in entry else {}
        leaves = [value for value in values_of(metadata, name) if value not in groups.values()]
        return leaves, groups, bool(details.get("multi")), bool(details.get("optional"))

    def start(self, world: World, scene: Record) -> dict[str, Any]:
        """The state of a world that can be changed."""
        relations = {name: [set(row) for row in scene["relationships"][name]] for name in self.drawn}
        return {
            "values": {name: list(row) for name, row in world.values.items()},
            "places": [list(each["3d_coords"]) for each in scene["objects"]],
            "drawn": relations,
        }

    def change(self, state: dict[str, Any], random: Random) -> dict[str, Any]:
        """The state with one thing changed."""
        values = {name: list(row) for name, row in state["values"].items()}
        places, drawn = [list(place) for place in state["places"]], state["drawn"]
        drawn = {name: [set(row) for row in table] for name, table in drawn.items()}
        what, size = random.random(), len(places)
        if what < 0.1 and size > 2:
            for left in range(size, size - random.randint(1, size - 2), -1):
                self._drop(values, places, drawn, random.randrange(left))
        elif what < 0.25 and size < 12:
            for name, row in values.items():
                row.append(self._value(name, random))
            places.append([random.uniform(-3, 3), random.uniform(-3, 3), 0.5])
            for table in drawn.values():
                table.append(set())
        elif what < 0.6:
            name = random.choice(list(values))
            value = random.choice(values[name]) if random.random() < 0.3 else self._value(name, random)
            values[name][random.randrange(size)] = value
        elif what < 0.7 or not drawn:
            places[random.randrange(size)] = [random.uniform(-3, 3), random.uniform(-3, 3), 0.5]
        else:
            self._relate(drawn, size, random)
        return {"values": values, "places": places, "drawn": drawn}

    def _drop(self, values: Any, places: Any, drawn: Any, gone: int) -> None:
        for row in [*values.values(), places]:
            del row[gone]
        for table in drawn.values():
            del table[gone]
            table[:] = [{i - (i > gone) for i in row if i != gone} for row in table]

    def _relate(self, drawn: Any, size: int, random: Random) -> None:
        name = random.choice(list(drawn))
        one, other = random.sample(range(size), 2)
        pairs = [(one, other), (other, one)] if self.drawn[name].get("symmetric") else [(one, other)]
        for first, second in pairs:
            drawn[name][first] ^= {second}

    def _value(self, name: str, random: Random) -> Recorded:
        leaves, _, is_list, is_optional = self.attributes[name]
        if is_optional and random.random() < 0.3:
            return None
        if not is_list:
            return random.choice(leaves)
        return tuple(value for value in leaves if random.random() < 0.4) or None

    def world(self, state: dict[str, Any]) -> World:
        """The world of a state."""
        everything = frozenset(range(len(state["places"])))
        sayable = {
            name: [[word for each in _listed(value) for word in self._outwards(name, each)] for value in row]
            for name, row in state["values"].items()
        }
        related = {
            name: [self._beyond(state["places"], i, direction) for i in everything]
            for name, direction in self.directions.items()
        }
        related |= {name: [sorted(row) for row in table] for name, table in state["drawn"].items()}
        return World({"relationships": related}, everything, everything, state["values"], sayable)

    def _outwards(self, name: str, value: str) -> list[str]:
        groups = self.attributes[name][1]
        return [value, *(self._outwards(name, groups[value]) if value in groups else [])]

    def _beyond(self, places: Sequence[Sequence[float]], i: int, direction: Sequence[float]) -> list[int]:
        def offset(j: int) -> float:
            return sum((b - a) * d for a, b, d in zip(places[i], places[j], direction, strict=True))

        return [j for j in range(len(places)) if j != i and offset(j) > THRESHOLD]


def _listed(value: Recorded) -> Sequence[str]:
    return [value] if isinstance(value, str) else value or []


def distinctness(program: Sequence[Record], results: Sequence[Value]) -> list[tuple[int, int]]:
    """The pairs of references that differ, but for two of which it is asked."""
    asked = [set(step["inputs"]) for step in program if step_type(step) == "equal_object"]
    objects = [i for i, step in enumerate(program) if step_type(step) == "unique"]
    return [
        (i, j) for i, j in combinations(objects, 2) if results[i] != results[j] and not any({i, j} == s for s in asked)
    ]


def find_witness(changes: Changes, program: Sequence[Record], scene: Record, metadata: Record, seed: int) -> bool:
    """Whether a world was found in which the program's answer is another."""
    world, random = make_world(scene, metadata), Random(seed)
    results = run(world, program)
    different = distinctness(program, results)
    start = changes.start(world, scene)
    for _ in range(ROUNDS):
        state = start
        for _ in range(STEPS):
            changed = state
            for _ in range(random.choice((1, 1, 2, 3, 4))):
                changed = changes.change(changed, random)
            try:
                found = run(changes.world(changed), program)
            except Undefined:
                continue
            if any(found[i] == found[j] for i, j in different):
                continue
            if found[-1] != results[-1]:
                return True
            state = changed
    return False
