"""Plausible wrong answers of a question: values that the scene makes likely, or answers that follow from a mistake.

A mistake changes one step of the program: a filter is ignored or takes another value, a relation is turned round, "or"
is taken for "and". The steps behind it go on with what it gives. Where something is ignored, so that more objects than
one are left of which one is meant, any but the right one is taken. Words say which mistake it is, and never which
answer it gives.

    filter_shape[cylinder]   ignores the shape; mistakes the shape
    relate[left]             ignores the relation; right for left
    less_than                more for fewer; as many for fewer
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from vqagen.bits import indexes
from vqagen.dataset.blocks import NO_SCENE, Posed
from vqagen.items.answers import text_of
from vqagen.language.catalogue import Catalogue, Function, Value
from vqagen.language.program import Node, Program
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import PLACE, PLACES
from vqagen.pictures.marks import markable
from vqagen.plugin import FILTER, RELATION, SAMENESS, Undefined
from vqagen.world.scene import Scene

NO_OTHER_ANSWER = "no other answer is plausible in the scene"
NO_MISTAKE = "no mistake gives another answer"
NOT_ONE = "the answer is no object or several, and a letter marks one"
TOO_SMALL = "too little of the object can be seen to mark it"
MOST_WRONG = 8
"""Plausible wrong answers of a question that are taken into account: more make sets of options too many to try."""


class Plausible:
    """Finds the wrong answers that can be options of a question."""

    def __init__(self, catalogue: Catalogue, synonyms: Synonyms, is_hard: bool) -> None:
        self._catalogue, self._synonyms = catalogue, synonyms
        self._mistakes = Mistakes(catalogue) if is_hard else None
        self._alike = lru_cache(maxsize=None)(self._says_the_same)
        self._kept: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each tuple once: many questions have the same."""

    def posed(self, program: Program, scene: Scene, outputs: Sequence[Value], family: str) -> Posed:
        """Return a question whose steps give `outputs`."""
        last = self._catalogue[program.nodes[-1].function]
        right, kind = outputs[-1], last.output
        mistakes = self._mistakes.answers(program.nodes, outputs, scene) if self._mistakes else {}
        seen = [str(i) for i in markable(scene.record)] if kind in (PLACE, PLACES) else None
        answers: Iterable[str] = mistakes if self._mistakes else seen or map(text_of, self._values(kind, scene))
        text = text_of(right)
        wrong = [each for each in dict.fromkeys(answers) if each != text and not self._alike(kind, text, each)]
        lacks = NO_MISTAKE if self._mistakes else NO_OTHER_ANSWER
        if seen is None:
            wrong = _nearest(text, wrong, self._order(kind))
        else:
            wrong = [each for each in wrong if {text, each} <= {*seen}]
            lacks = NOT_ONE if not text.isdecimal() else lacks if text in seen else TOO_SMALL
        made = tuple(mistakes[each] for each in wrong) if self._mistakes else ()
        said = self._once(tuple(self._named(program, kind)))
        key, name, index = (kind, last.name, NO_SCENE) if seen is None else (PLACE, PLACE, scene.index)
        return Posed(
            key,
            name,
            family,
            text,
            wrong=self._once(tuple(wrong)),
            mistakes=self._once(made),
            said=said,
            steps=len(program.nodes),
            scene=index,
            lacks=lacks,
        )

    def _named(self, program: Program, kind: str) -> Iterator[str]:
        """Yield the values of a type that a program names."""
        for name, _, values in program.nodes:
            yield from (value for value, of in zip(values, self._catalogue[name].values, strict=True) if of == kind)

    def _once(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return self._kept.setdefault(texts, texts)

    def _values(self, kind: str, scene: Scene) -> Iterable[Value]:
        """Return the answers of a type that are plausible in a scene."""
        attribute = self._catalogue.domain.attribute_of(kind)
        if kind == "Bool":
            return (True, False)
        if kind == "Integer":
            return range(scene.size + 1)
        return filter(None, scene.values[attribute.name]) if attribute else self._catalogue.domain.values_of(kind)

    def _order(self, kind: str) -> Mapping[str, int]:
        return {value: place for place, value in enumerate(self._catalogue.domain.values_of(kind))}

    def _says_the_same(self, kind: str, right: str, other: str) -> bool:
        """True if a wrong answer could pass for the right one: a synonym, or of a list all of it and more."""
        attribute = self._catalogue.domain.attribute_of(kind)
        if attribute is None:
            return False
        if attribute.multi:
            one, two = (set(text.split(", ")) for text in (right, other))
            return one <= two or two <= one
        return not set(self._synonyms.of(kind, right)).isdisjoint(self._synonyms.of(kind, other))


def _nearest(right: str, wrong: Sequence[str], order: Mapping[str, int]) -> list[str]:
    """Return the wrong answers nearest to the right one, if they are many: by size, or in the domain's order."""
    if len(wrong) <= MOST_WRONG:
        return list(wrong)

    def distance(text: str) -> int:
        if text.isdecimal() and right.isdecimal():
            return abs(int(text) - int(right))
        apart = abs(order.get(text, 0) - order.get(right, 0))
        return min(apart, len(order) - apart)

    return sorted(wrong, key=distance)[:MOST_WRONG]


# Mistakes -------------------------------------------------------------------------------------------------------------


class Change(NamedTuple):
    """A mistake at a step."""

    words: str
    run: Callable[..., Value]
    """Takes the scene and the inputs of the step, and returns what the step gives by mistake."""
    is_wide: bool = False
    """True if something is ignored, so that several objects may be left where one is meant."""


SWAPPED: Mapping[str, Sequence[tuple[str, str]]] = {
    "union": [("intersect", "both for either")],
    "intersect": [("union", "either for both")],
    "and": [("or", "either for both")],
    "or": [("and", "both for either")],
    "add": [("subtract", "less for more")],
    "addition": [("subtraction", "less for more")],
    "subtract": [("add", "more for less")],
    "subtraction": [("addition", "more for less")],
    "less_than": [("greater_than", "more for fewer"), ("equal_integer", "as many for fewer")],
    "greater_than": [("less_than", "fewer for more"), ("equal_integer", "as many for more")],
    "equal_integer": [("less_than", "fewer for as many"), ("greater_than", "more for as many")],
}
"""Function -> functions that it is mistaken for, and the words for it."""
IGNORED = {"not": "ignores the negation", "difference": "ignores the exception"}
"""Functions that are ignored by mistake: the first input is their result."""
ANOTHER_OBJECT = "answers for another object of the question"
"""The answer is that of an object which the program has on its way to the one that is meant."""


class Mistakes:
    """The mistakes that programs of a domain invite."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._changes_of = cache(lambda name, values: list(self._changes(catalogue[name], values)))

    def answers(self, nodes: Sequence[Node], outputs: Sequence[Value], scene: Scene) -> dict[str, str]:
        """Return each wrong answer that a mistake gives, as text, and the words for the first such mistake.

        `outputs` are what the steps give without a mistake.
        """
        found: dict[str, str] = {}
        for at, node in enumerate(nodes):
            inputs = [outputs[i] for i in node.inputs]
            for change in self._changes_of(node.function, node.values):
                with suppress(Undefined):
                    result = change.run(scene, *inputs)
                    if result != outputs[at]:
                        for answer in self._finished(nodes, outputs, scene, [*outputs[:at], result], change.is_wide):
                            found.setdefault(text_of(answer), change.words)
        for answer in self._of_other_objects(nodes, outputs, scene):
            found.setdefault(text_of(answer), ANOTHER_OBJECT)
        found.pop(text_of(outputs[-1]), None)
        return found

    def _finished(
        self, nodes: Sequence[Node], outputs: Sequence[Value], scene: Scene, values: list[Value], is_wide: bool
    ) -> Iterator[Value]:
        """Yield the answers of a program whose first steps give `values`. Raises Undefined if there is none."""
        changed = {number for number, value in enumerate(values) if value != outputs[number]}
        for number in range(len(values), len(nodes)):
            name, inputs, words = nodes[number]
            if changed.isdisjoint(inputs):
                values.append(outputs[number])
                continue
            taken = [values[i] for i in inputs]
            if is_wide and name == "unique" and taken[0].bit_count() > 1:
                for other in indexes(taken[0] & ~(1 << outputs[number])):
                    with suppress(Undefined):
                        yield from self._finished(nodes, outputs, scene, [*values, other], False)
                return
            values.append(self._catalogue[name].run(scene, *taken, *words))
            if values[-1] != outputs[number]:
                changed.add(number)
        yield values[-1]

    def _of_other_objects(self, nodes: Sequence[Node], outputs: Sequence[Value], scene: Scene) -> Iterator[Value]:
        """Yield the answers for other objects of the question, if it asks for a property of one."""
        last = self._catalogue[nodes[-1].function]
        if last.asks != "query" or last.inputs != ("Object",):
            return
        for node, output in zip(nodes, outputs, strict=True):
            if self._catalogue[node.function].output == "Object":
                with suppress(Undefined):
                    yield last.run(scene, output, *nodes[-1].values)

    # Steps --------------------------------------------------------------------------------------------------------

    def _changes(self, function: Function, values: Sequence[str]) -> Iterator[Change]:
        """Yield the mistakes at a step, the likeliest first."""
        name, catalogue = function.name, self._catalogue
        if name == "relate":
            (said,) = values
            others = [other for other in catalogue.domain.relations if other != said]
            yield from (Change(f"{other} for {said}", partial(_with, function, (other,))) for other in others)
            yield Change("ignores the relation", _all_others, True)
        elif function.role == FILTER and function.inputs == ("ObjectSet",) and len(values) == 1:
            yield from self._of_filter(function, values[0])
        elif function.role in (SAMENESS, RELATION) and not values:
            yield from self._of_likeness(function)
        for other, words in SWAPPED.get(name, ()):
            yield Change(words, partial(_with, catalogue[other], ()))
        if name in IGNORED:
            yield Change(IGNORED[name], _first_input)

    def _of_filter(self, function: Function, said: str) -> Iterator[Change]:
        attribute = self._catalogue.domain.attribute_of(function.values[0])
        words = (attribute.name if attribute else function.name.removeprefix("filter_")).replace("_", " ")
        yield Change(f"ignores the {words}", _first_input, True)
        meant = attribute.leaves_of(said) if attribute else (said,)
        leaves = attribute.leaves if attribute else self._catalogue.domain.values_of(function.values[0])
        for other in leaves:
            if other not in meant:
                yield Change(f"mistakes the {words}", partial(_with, function, (other,)))

    def _of_likeness(self, function: Function) -> Iterator[Change]:
        """Yield the mistakes at `same_x` and `different_x`: another attribute, the opposite, or all objects."""
        kind, _, name = function.name.partition("_")
        if kind not in ("same", "different"):
            return
        words = name.replace("_", " ")
        for attribute in self._catalogue.domain.attributes:
            if attribute.name != name:
                other = self._catalogue[f"{kind}_{attribute.name}"]
                yield Change(f"{attribute.name.replace('_', ' ')} for {words}", partial(_with, other, ()))
        opposite = "different" if kind == "same" else "same"
        yield Change(f"{opposite} for {kind}", partial(_with, self._catalogue[f"{opposite}_{name}"], ()))
        if kind == "same":
            yield Change("takes in the object itself", partial(_with_itself, function))


def _with(function: Function, values: tuple[str, ...], scene: Scene, *inputs: Any) -> Value:
    return function.run(scene, *inputs, *values)


def _with_itself(function: Function, scene: Scene, anchor: int) -> Value:
    return function.run(scene, anchor) | 1 << anchor


def _first_input(scene: Scene, first: Value, *others: Any) -> Value:
    return first


def _all_others(scene: Scene, anchor: int) -> Value:
    return scene.everything & ~(1 << anchor)
