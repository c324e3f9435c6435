"""What plug-ins compute of a scene. A plug-in that fails is bad input: told without a traceback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from vqagen.bits import Objects
from vqagen.errors import BadInput
from vqagen.world.attribute import Compute

T = TypeVar("T")
Record = Mapping[str, Any]
Holds = Callable[[Record, Record, Record], bool]
"""(thing record, anchor record, scene record) -> whether the thing stands in a relation to the anchor."""


class PlugInFailure(ValueError):
    """A plug-in's function raised an error."""


def computed_value(compute: Compute, thing: Record, scene: Record) -> Any:
    """What a plug-in gives for an object."""
    return _told(compute, lambda: compute(thing, scene))


def computed_truth(holds: Holds, thing: Record, anchor: Record, scene: Record) -> bool:
    """Whether a thing stands in a plug-in's relation to an anchor."""
    return _told(holds, lambda: bool(holds(thing, anchor, scene)))


def computed_table(holds: Holds, objects: Sequence[Record], scene: Record) -> list[Objects]:
    """`table[i]` — the objects that stand in a plug-in's relation to object i; asked of all ordered pairs."""
    table = []
    for i, anchor in enumerate(objects):
        members = 0
        for j, thing in enumerate(objects):
            if j != i and computed_truth(holds, thing, anchor, scene):
                members |= 1 << j
        table.append(members)
    return table


def _told(function: Callable[..., Any], run: Callable[[], T]) -> T:
    try:
        return run()
    except BadInput as error:  # told already, with its place in the plug-in (see `plugin.guard`)
        raise PlugInFailure("; ".join(map(str, error.problems))) from error
    except Exception as error:  # a function may raise anything
        name = getattr(function, "__name__", repr(function))
        raise PlugInFailure(f"plug-in function {name!r} failed: {type(error).__name__}: {error}") from error
