"""What an option must have at a choice, so that the rest can give an answer that is wanted.

Two shortcuts know the answer before an option is tried. Where only the number of described objects matters, as in "how
many cubes are there" or "are there more cubes than balls", each number is tried instead of each description. Where the
answer is a value of the last object, or whether it equals another value, the objects that have it are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vqagen.bits import Objects, indexes, union, union_of
from vqagen.language.catalogue import Value
from vqagen.plugin import Undefined
from vqagen.search.description import Description
from vqagen.search.plan import Applied, Op, Plan, Stage
from vqagen.search.state import SearchState, Test, Wanted
from vqagen.search.tables import ALL
from vqagen.search.vocabulary import ANY_SET

MOST_KEPT = 5_000
"""Results of numbers that are kept before they start anew."""
SIZED = ("count", "mark")
"""Functions whose answers are balanced by the size of a set."""
COUNTING = (*SIZED, "exist")
NUMBERED = ("Integer", "Bool")
"""Types of results that functions take apart without looking at the scene."""


class WantedFinder:
    """Finds what is wanted of the options of one stage."""

    __slots__ = (
        "_before", "_is_last", "_is_phrase", "_numbers", "_objects", "awaits_phrase", "follows_phrase", "narrows",
        "usual",
    )  # fmt: skip

    def __init__(self, plan: Plan, stage: Stage, is_last: bool, is_telling: bool) -> None:
        """`is_last`: whether the answer follows without a further choice. `is_telling`: see `Wanted`."""
        at = stage.choice.index
        self._is_last = is_last
        self._before = [(op, plan.described_at(op).vocabulary.said) for op in plan.phrases if op < at]
        self._is_phrase = at in plan.phrases
        self.awaits_phrase = self._is_phrase and at != plan.phrases[-1]
        """True if what is said here decides what may be said later."""
        self._numbers = numbers_of(plan, stage, is_last)
        self._objects = objects_of(plan, stage) if is_last else None
        self.narrows = self._is_phrase or self._numbers is not None or self._objects is not None
        """True if what is wanted may be less than everything."""
        self.follows_phrase = bool(self._before)
        self.usual = Wanted(is_telling=is_telling)

    def said(self, state: SearchState) -> list[int]:
        """Return the set of attributes that each phrase before this choice says."""
        picked = state.picked
        return [said[picked[op][1]].used for op, said in self._before]

    def find(self, state: SearchState, said: Sequence[int]) -> Wanted | None:
        """Return what is wanted; None if nothing can be had."""
        balance = state.balance
        asks_words = self._is_phrase and balance.is_worded
        sets = balance.sets(said) if asks_words else ANY_SET
        if not sets:
            return None
        wanted = Wanted(sets, is_telling=self.usual.is_telling)
        if state.takes_all:
            return wanted if asks_words else self.usual
        if self._objects is not None:
            wanted.objects = self._objects.find(state)
        elif self._numbers is not None:
            return wanted if self._narrow(self._numbers, wanted, state, said) else None
        return wanted if asks_words or self._objects is not None else self.usual

    def _narrow(self, counted: Numbers, wanted: Wanted, state: SearchState, said: Sequence[int]) -> bool:
        """Narrow what is wanted to numbers, with what may be said for each; True if any is left."""
        results, balance = counted.find(state), state.balance
        if self._is_last:
            if balance.refused:
                results = [(number, answer) for number, answer in results if answer not in balance.refused]
            sets_by_number = balance.sets_by_number(said if self._is_phrase else said[:-1])
            if sets_by_number is not None:
                known = len(sets_by_number)
                by_number = [
                    (number, sets_by_number[answer] if answer < known else ANY_SET) for number, answer in results
                ]
                if self._is_phrase:
                    wanted.by_number = by_number
                else:  # all words are chosen
                    results = [(number, 0) for number, sets in by_number if sets >> said[-1] & 1]
        wanted.numbers = union_of([number for number, _ in results])
        if counted.goes_on and wanted.numbers & 2:
            wanted.numbers |= -4  # as one object, so two and more
        wanted.beside = counted.beside(state)
        return wanted.numbers != 0


class Numbers:
    """What follows in a stage from the number of objects that its choice describes, whatever its words."""

    __slots__ = ("_applied", "_at", "_earlier", "_kept", "_tests", "_union", "goes_on")

    def __init__(
        self, at: int, is_count: bool, applied: Sequence[Op], tests: Sequence[Test], earlier: Sequence[int], union: int
    ) -> None:
        """`at`: the op that counts. `earlier`: ops whose results matter too. `union`: the set that is joined, or -1."""
        self._at, self._tests, self._earlier, self._union = at, tests, tuple(earlier), union
        self._applied = [Applied(op) for op in applied]
        self.goes_on = not is_count
        """True if it is asked whether there is any: then one object is as good as more."""
        self._kept: dict[Any, list[tuple[int, Value]]] = {}

    def beside(self, state: SearchState) -> Objects:
        """Return the objects that are counted anyway: those of the other set of a union."""
        objects: Objects = state.values[self._union] if self._union >= 0 else 0
        return objects

    def find(self, state: SearchState) -> list[tuple[int, Value]]:
        """Return the numbers that the checks allow, with the answer that follows from each; None where none does yet.

        Of a union, the number of objects that it adds to the other set.
        """
        values, size = state.values, state.scene.size
        base = self.beside(state).bit_count()
        key = (base, size, *[values[i] for i in self._earlier])
        found = self._kept.get(key)
        if found is None:
            found = []
            for number in range((1 if self.goes_on else size) + 1):
                values[self._at] = bool(number) if self.goes_on else base + number
                if self._settles(state):
                    found.append((number, values[-1]))
            if len(self._kept) > MOST_KEPT:
                self._kept.clear()
            self._kept[key] = found
        return found

    def _settles(self, state: SearchState) -> bool:
        values, scene = state.values, state.scene
        try:
            for op in self._applied:
                op.apply(scene, values)
            return all(test(state) for test in self._tests)
        except Undefined:
            return False


def numbers_of(plan: Plan, stage: Stage, is_last: bool) -> Numbers | None:
    """Return how results follow from the number of described objects; None where more than their number matters.

    It does where the description is counted, or asked whether there is any, at once or joined with an earlier set, and
    nothing else reads it; and where what follows takes numbers and truth values, and knows nothing of the scene.
    """
    choice, catalogue = stage.choice, plan.template.catalogue
    if isinstance(choice.does, Description):
        if choice.does.reducer in ("unique", "not_unique"):
            return None
    elif catalogue[choice.function].output != "ObjectSet":
        return None
    reader = _only_reader(plan, stage, choice)
    union = -1
    if reader is not None and reader.function == "union" and len({*reader.inputs}) == 2:
        union = sum(reader.inputs) - choice.index
        reader = _only_reader(plan, stage, reader) if union < choice.index else None
        if reader is not None and reader.function not in SIZED:
            return None
    if reader is None or reader.function not in COUNTING:
        return None
    reached, applied = {reader.index}, list[Op]()
    for op in stage.applied:
        if reached & {*op.inputs}:
            reached.add(op.index)
            applied.append(op)
    hanging = (check for op in (reader, *applied) for check in op.checks if check.reads)
    checks = [check for check in hanging if all(i in reached or i < choice.index for i in check.reads)]
    if (is_last and plan.ops[-1].index not in reached) or not (is_last or checks):
        return None
    read = [i for op in applied for i in op.inputs] + [i for check in checks for i in check.reads]
    earlier = sorted({i for i in read if i not in reached})
    if any(i > choice.index for i in earlier):
        return None
    functions = [catalogue[plan.ops[i].function] for i in earlier if plan.ops[i].function]
    if len(functions) < len(earlier) or any(each.output not in NUMBERED for each in functions):
        return None
    if any(catalogue[op.function].source for op in applied):
        return None
    return Numbers(reader.index, reader.function in SIZED, applied, [each.test for each in checks], earlier, union)


def _only_reader(plan: Plan, stage: Stage, op: Op) -> Op | None:
    """Return the one op that reads another's result, if it is one of the stage."""
    readers = [each for each in plan.ops if op.index in each.inputs]
    return readers[0] if len(readers) == 1 and readers[0] in stage.applied else None


class AnsweringObjects:
    """The objects of which the last reference must be one, so that a wanted answer follows.

    An example: in "Are there as many … as things that are as large as the ball?" functions of the one object come
    first, `same_size` and `count`: each object of the scene gives a number, and the objects are grouped by it once for
    all templates. The rest, `equal_integer`, is then computed for each number and not for each object.
    """

    __slots__ = ("_at", "_functions", "_of_object", "_rest")

    def __init__(self, plan: Plan, stage: Stage) -> None:
        """`stage` is the last one, and its choice a reference."""
        self._at = stage.choice.index + 1
        of_object, left = list[Op](), [*stage.applied[1:]]
        while left:
            readers = [op for op in left if self._at in op.inputs]
            if len(readers) > 1 or readers[0].inputs != (self._at,):
                break
            of_object += readers
            left.remove(readers[0])
            self._at = readers[0].index
        self._functions = tuple([(op.function, *op.literals) for op in of_object])
        self._of_object, self._rest = [Applied(op) for op in of_object], [Applied(op) for op in left]

    def find(self, state: SearchState) -> Objects:
        """Return the objects; `ALL` where every answer is wanted."""
        values, refused, objects = state.values, state.balance.refused, 0
        if not refused:
            return ALL
        groups = self._grouped(state)
        if not self._rest:
            return union([group for value, group in groups if value not in refused])
        for value, group in groups:
            values[self._at] = value
            try:
                for op in self._rest:
                    op.apply(state.scene, values)
            except Undefined:
                continue
            if values[-1] not in refused:
                objects |= group
        return objects

    def _grouped(self, state: SearchState) -> list[tuple[Value, Objects]]:
        """Return what the functions of the one object give, and the objects of which they give it."""
        found = state.tables.grouped.get(self._functions)
        if found is None:
            groups, scene = dict[Value, Objects](), state.scene
            for i in indexes(scene.everything):
                value: Value = i
                try:
                    for op in self._of_object:
                        value = op.run(scene, value, *op.literals)
                except Undefined:
                    continue
                groups[value] = groups.get(value, 0) | 1 << i
            found = state.tables.grouped[self._functions] = [*groups.items()]
        return found


def objects_of(plan: Plan, stage: Stage) -> AnsweringObjects | None:
    """Return what finds the objects that the last reference may mean; None where a plug-in's function would be run."""
    choice, catalogue = stage.choice, plan.template.catalogue
    if not isinstance(choice.does, Description) or choice.does.reducer != "unique":
        return None
    return None if any(catalogue[op.function].source for op in stage.applied) else AnsweringObjects(plan, stage)
