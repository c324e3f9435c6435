"""The types of slots, for templates that do not declare their `params`.

A slot has the type that a function takes in its place. In a description (see `composite`) that is not
enough; there it is, in this order:

1. the type whose `placeholder` it is in the metadata: `"Color": {"values": […], "placeholder": "<C>"}`;
2. the type of its name: `<Color>`;
3. the type that the metadata declares for its place in the node's side inputs, if it declares as many as there are,
   and the one type that its name begins: `<Col>`. The two must agree.

Digits and underscores at the end of a slot's name do not count (`<C2>`, `<Color_2>`), nor does case in 2 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vqagen.errors import Fault
from vqagen.language.catalogue import Catalogue
from vqagen.language.slots import is_slot
from vqagen.world.domain import Domain

UNKNOWN = ""
"""The type of a slot whose type is unknown."""


class _Use(NamedTuple):
    """Side input `place` of a node."""

    node: Mapping[str, Any]
    place: int
    path: str


def inferred_params(
    nodes: Sequence[Mapping[str, Any]], catalogue: Catalogue
) -> tuple[list[dict[str, str]], list[Fault]]:
    """Return `params` for all slots that nodes use, in the order of first use, and a fault for each unknown type."""
    faults: list[Fault] = []
    params = []
    for slot, uses in _uses(nodes).items():
        found = _type_of(slot, uses, catalogue)
        if isinstance(found, str):
            params.append({"name": slot, "type": found})
        else:
            params.append({"name": slot, "type": UNKNOWN})
            faults.append((uses[0].path, _complaint(slot, found, catalogue.domain)))
    return params, faults


def _uses(nodes: Sequence[Mapping[str, Any]]) -> dict[str, list[_Use]]:
    uses: dict[str, list[_Use]] = {}
    for i, node in enumerate(nodes):
        for k, side_input in enumerate(node["side_inputs"]):
            if is_slot(side_input):
                uses.setdefault(side_input, []).append(_Use(node, k, f"nodes[{i}].side_inputs[{k}]"))
    return uses


def _type_of(slot: str, uses: Sequence[_Use], catalogue: Catalogue) -> str | tuple[str, ...]:
    """Return the type, or all types that it may be; UNKNOWN if the node itself is at fault."""
    domain, stem = catalogue.domain, slot.strip("<>").rstrip("0123456789_")
    taken = [_taken(use, catalogue) for use in uses if use.node["type"] not in catalogue.composites]
    known = next((found for found in taken if found), None) or _placed(stem, domain) or _named(stem, domain)
    if known or taken:
        return known or UNKNOWN
    places = tuple(dict.fromkeys(_declared(uses, domain)))
    begun = tuple(each for each in domain.value_types if stem and each.lower().startswith(stem.lower()))
    if len(places) == 1 and (not begun or places[0] in begun):
        return places[0]
    return begun[0] if len(begun) == 1 and not places else tuple(dict.fromkeys((*places, *begun)))


def _taken(use: _Use, catalogue: Catalogue) -> str:
    """Return the type that a function takes there; "" if there is no such function or it takes fewer values."""
    function = catalogue.get(use.node["type"])
    return function.values[use.place] if function and use.place < len(function.values) else ""


def _placed(stem: str, domain: Domain) -> str:
    types = domain.types_record
    for each in domain.value_types:
        entry = types.get(each)
        placeholder = entry.get("placeholder") if isinstance(entry, Mapping) and "values" in entry else None
        if isinstance(placeholder, str) and placeholder.strip("<>").rstrip("0123456789_") == stem:
            return each
    return ""


def _named(stem: str, domain: Domain) -> str:
    return next((each for each in domain.value_types if each.lower() == stem.lower()), "")


def _declared(uses: Sequence[_Use], domain: Domain) -> Iterator[str]:
    """Yield the types that the metadata declares for these places, if it declares as many."""
    declared = {record.get("name"): record.get("side_inputs") for record in domain.declared}
    for use in uses:
        types = declared.get(use.node["type"])
        if isinstance(types, list) and len(types) == len(use.node["side_inputs"]):
            yield types[use.place]


def _complaint(slot: str, candidates: Sequence[str], domain: Domain) -> str:
    may_be = f" (it may be {' or '.join(candidates)})" if candidates else ""
    example = f'{{"type": "{(*candidates, *domain.value_types)[0]}", "name": "{slot}"}}'
    return f"cannot tell the type of slot {slot}{may_be}; declare it and all others in params, such as {example}"
