"""Results of programs, derived again; steps that programs of one scene share are run once.

Only programs without any fault are run here, in the form in which question files have them. Every other one is left to
`Program`, whose checks name all faults. (`scripts/bench sampling`: `verify`)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from vqagen.language.catalogue import Catalogue
from vqagen.language.registry import Function, Value
from vqagen.plugin import Undefined
from vqagen.world.scene import Scene


class Derived(NamedTuple):
    """A program that has an answer in a scene."""

    steps: Sequence[tuple[str, tuple[int, ...], tuple[str, ...]]]
    """The function, inputs and values of each step."""
    outputs: Sequence[Value]
    """The result of each step; the last is the answer."""


_Key = tuple[str, tuple[int, ...], tuple[str, ...]]
"""A function, the numbers of the results that it takes, and its values: equal keys give equal results in a scene."""
_Result = tuple[int, Value, Function]
"""The number of a result among those of its scene, the result, and the function that gave it."""


class Derivations:
    """Programs run on one scene after another, with a memo of the results in the last scene."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._fitting: set[tuple[str, tuple[str, ...]]] = set()
        """A function and values that were found to be of its types."""
        self._scene: Scene | None = None
        self._results: dict[_Key, _Result] = {}

    def derive(self, program: object, scene: Scene) -> Derived | None:
        """Return the results of a program, or None if it has a fault, has no answer here, or is of an unusual form."""
        if scene is not self._scene:
            self._scene, self._results = scene, {}
        if type(program) is not list or not program:
            return None
        steps, results = list[tuple[str, tuple[int, ...], tuple[str, ...]]](), list[_Result]()
        try:
            for record in program:
                name = record["type" if "type" in record else "function"]
                inputs, values = record["inputs"], record["value_inputs" if "value_inputs" in record else "side_inputs"]
                if type(inputs) is not list or type(values) is not list or not _are_places(inputs):
                    return None
                said = tuple(values)
                result = self._result(name, [results[i] for i in inputs], said, scene)
                if result is None:
                    return None
                steps.append((name, tuple(inputs), said))
                results.append(result)
        except (KeyError, TypeError, IndexError, Undefined):
            return None  # an unusual form, or a step without result; an error of a step is raised when it runs again
        return Derived(steps, [value for _, value, _ in results]) if results[-1][2].asks else None

    def _result(self, name: str, taken: list[_Result], values: tuple[Any, ...], scene: Scene) -> _Result | None:
        """Return the result of a function; None if it does not take these results and values."""
        key = (name, tuple([number for number, _, _ in taken]), values)
        known = self._results.get(key)
        if known is None:
            function = self._catalogue[name]
            if tuple([giver.output for _, _, giver in taken]) != function.inputs or not self._takes(function, values):
                return None
            value = function.run(scene, *[given for _, given, _ in taken], *values)
            known = self._results[key] = (len(self._results), value, function)
        return known

    def _takes(self, function: Function, values: tuple[Any, ...]) -> bool:
        """True if the values are texts of the function's types. Nothing but a text equals a text that was found so."""
        if (function.name, values) in self._fitting:
            return True
        values_of = self._catalogue.domain.values_of
        fits = len(values) == len(function.values) and all(
            type(value) is str and value in values_of(wanted)
            for value, wanted in zip(values, function.values, strict=True)
        )
        if fits:
            self._fitting.add((function.name, values))
        return fits


def _are_places(inputs: list[Any]) -> bool:
    """True if these are numbers of steps; `true` would otherwise pass for 1, and -1 for the last step."""
    for i in inputs:  # noqa: SIM110 (a third of the time of `all`)
        if type(i) is not int or i < 0:
            return False
    return True
