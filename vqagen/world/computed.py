"""Run the functions of plug-ins on a scene. A function that fails is bad input, reported without a traceback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from vqagen.bits import Objects
from vqagen.errors import BadInput
from vqagen.plugin import Record
from vqagen.world.attribute import Compute

T = TypeVar("T")
Holds = Callable[[Record, Record, Record], bool]
"""(thing record, anchor record, scene record) -> True if the thing stands in a relation to the anchor."""


class PlugInFailure(ValueError):
    """A plug-in's function raised an error."""


def computed_value(compute: Compute, thing: Record, scene: Record) -> Any:
    """Return a plug-in's value for an object."""
    return _run_guarded(compute, lambda: compute(thing, scene))


def computed_truth(holds: Holds, thing: Record, anchor: Record, scene: Record) -> bool:
    """Return whether a thing stands in a plug-in's relation to an anchor."""
    return _run_guarded(holds, lambda: bool(holds(thing, anchor, scene)))


def computed_table(holds: Holds, objects: Sequence[Record], scene: Record) -> list[Objects]:
    """Return `table[i]`: the objects that stand in a plug-in's relation to object i. All ordered pairs are tested."""
    table = []
    for i, anchor in enumerate(objects):
        members = 0
        for j, thing in enumerate(objects):
            if j != i and computed_truth(holds, thing, anchor, scene):
                members |= 1 << j
        table.append(members)
    return table


def _run_guarded(function: Callable[..., Any], run: Callable[[], T]) -> T:
    """Return the result of `run`. Raises PlugInFailure, which names the `function`."""
    try:
        return run()
    except BadInput as error:  # has its place in the plug-in already (see `plugin.guard`)
        raise PlugInFailure("; ".join(map(str, error.problems))) from error
    except Exception as error:  # a function may raise anything
        name = getattr(function, "__name__", repr(function))
        raise PlugInFailure(f"plug-in function {name!r} failed: {type(error).__name__}: {error}") from error
