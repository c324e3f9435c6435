"""A template's slots and constraints, checked: that each constraint is of a known kind and speaks of what it can."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.errors import Fault, describe, unknown
from vqagen.language.catalogue import Catalogue
from vqagen.language.template import is_slot
from vqagen.plugin import CONSTANT, CONSTANTS, NODE, NODES, NUMBERS, SLOT, SLOTS, TYPES, VALUES, ConstraintKind, Record

_ONE_OF_MANY = {SLOTS: SLOT, NODES: NODE, CONSTANTS: CONSTANT}
_NO_NUMBERS = ("Object", "ObjectSet", "Bool")
"""Types that every domain has, and that are no numbers. Of types from plug-ins that is not known."""

Given = Sequence[tuple[str, Any]]
"""(SLOT, NODE or CONSTANT; what stands there) for each parameter."""


def parameter_kinds(kind: ConstraintKind, count: int) -> tuple[str, ...] | None:
    """Return SLOT, NODE or CONSTANT for each of `count` parameters; None if the constraint does not take that many."""
    last = kind.params[-1] if kind.params else ""
    if last not in _ONE_OF_MANY:
        return kind.params if count == len(kind.params) else None
    more = count - len(kind.params)
    return (*kind.params[:-1], *[_ONE_OF_MANY[last]] * (more + 1)) if more >= 0 else None


class Slots:
    """The slots of one template in canonical form; types may be ones that the domain does not have."""

    def __init__(self, record: Mapping[str, Any], params: list[dict[str, str]], catalogue: Catalogue) -> None:
        self.is_declared = "params" in record
        """True if the template says itself what slots it has."""
        self.types: dict[str, str] = {param["name"]: param["type"] for param in params}
        self.filled: set[str] = set()
        self.openable: set[str] = set()
        """Slots that may be left open: those of attributes in a description."""
        for node in record["nodes"]:
            self.filled.update(node["side_inputs"])
            if node["type"] not in catalogue:  # a description, or a misspelt node, of which enough is told
                relation_type = catalogue.domain.relation_type
                self.openable.update(each for each in node["side_inputs"] if self.types.get(each) != relation_type)

    def fault(self, slot: str) -> str | None:
        """Return why a slot cannot be used; None if it can. All slots are named: they are few."""
        if slot in self.types:
            return None if slot in self.filled else f"no node fills slot {slot}"
        known = ", ".join(self.types) or "none"
        if self.is_declared:
            return f"slot {slot} is not declared; params declare {known}"
        return f"no node fills slot {slot}; nodes fill {known}"


class ConstraintCheck:
    """Checks the constraints of one template; `outputs` are the types that its nodes give, None where unknown."""

    def __init__(self, slots: Slots, outputs: Sequence[str | None], catalogue: Catalogue) -> None:
        self.slots, self.outputs, self.catalogue = slots, outputs, catalogue

    def faults(self, records: Sequence[Record]) -> Iterator[Fault]:
        """Yield every mistake in a template's constraints."""
        for i, record in enumerate(records):
            yield from self.constraint_faults(record, f"constraints[{i}]")

    def constraint_faults(self, record: Record, path: str) -> Iterator[Fault]:
        name, params = record["type"], record["params"]
        kind = self.catalogue.constraints.get(name)
        if kind is None:
            yield f"{path}.type", unknown("constraint", name, list(self.catalogue.constraints))
            return
        kinds = parameter_kinds(kind, len(params))
        if kinds is None:
            found = f"{len(params) or 'no'} parameter{'' if len(params) == 1 else 's'}"
            yield f"{path}.params", f"{name} takes {_in_words(kind.params)}, found {found}"
            return
        given = list(zip(kinds, params, strict=True))
        checked = [(k, self.parameter_fault(kind, name, *each)) for k, each in enumerate(given)]
        faults: list[tuple[int | None, str]] = [(k, message) for k, message in checked if message]
        if not faults:
            faults += _COMPARISONS[kind.compares](self, name, given)
        yield from ((f"{path}.params" if k is None else f"{path}.params[{k}]", message) for k, message in faults)

    # One parameter ----------------------------------------------------------------------------------------------------

    def parameter_fault(self, kind: ConstraintKind, name: str, of: str, param: Any) -> str | None:
        if of == NODE:
            if type(param) is not int:
                return f"{name} takes node numbers, found {describe(param)}"
            last = len(self.outputs) - 1
            return None if 0 <= param <= last else f"there is no node {param}; nodes are 0 to {last}"
        if of != SLOT:
            return None
        if not isinstance(param, str) or not is_slot(param):
            hint = f"; did you mean <{param}>?" if f"<{param}>" in self.slots.types else ""
            found = f"the node number {param}" if type(param) is int else describe(param)
            return f"{name} takes slots, found {found}{hint}"
        # That a slot is filled which cannot be left open is needless to say, but no mistake.
        is_never_open = kind.of_openness and kind.name != "NOT_NULL" and param not in self.slots.openable
        never = f"slot {param} is never left open; only a description's attributes are"
        return self.slots.fault(param) or (never if is_never_open else None)

    # What can be compared ---------------------------------------------------------------------------------------------

    def unlike(self, name: str, given: Given) -> Iterator[tuple[int | None, str]]:
        """Yield a fault unless slots and nodes are all of one type."""
        types = [self.slots.types[each] if of == SLOT else self.outputs[each] for of, each in given if of != CONSTANT]
        known = Counter(found for found in types if found)
        if len(known) > 1:
            yield None, f"{name} compares like with like, found {' and '.join(known)}"

    def no_numbers(self, name: str, given: Given) -> Iterator[tuple[int | None, str]]:
        """Yield a fault for each node that does not give a number and each constant that is none."""
        types = (*_NO_NUMBERS, *self.catalogue.domain.value_types)
        for k, (of, each) in enumerate(given):
            if of == NODE and self.outputs[each] in types:
                yield k, f"{name} compares numbers, but node {each} gives {self.outputs[each]}"
            if of == CONSTANT and (isinstance(each, bool) or not isinstance(each, int | float)):
                yield k, f"{name} compares with a number, found {describe(each)}"

    def no_values(self, name: str, given: Given) -> Iterator[tuple[int | None, str]]:
        """Yield a fault for each constant that is neither a value of the slot's type nor a list of them."""
        kind = next((self.slots.types[each] for of, each in given if of == SLOT), "")
        if kind not in self.catalogue.domain.value_types:
            return
        values = self.catalogue.domain.values_of(kind)
        for k, (of, each) in enumerate(given):
            for value in each if isinstance(each, list) else [each]:
                if of == CONSTANT and isinstance(value, str) and is_slot(value):
                    yield k, f"{name} takes values of {kind}, found slot {value}; EQ and NEQ compare slots"
                elif of == CONSTANT and value not in values:
                    yield k, unknown(kind, value, values)


_COMPARISONS: Mapping[str, Callable[[ConstraintCheck, str, Given], Iterator[tuple[int | None, str]]]] = {
    "": lambda check, name, given: iter(()),
    TYPES: ConstraintCheck.unlike,
    NUMBERS: ConstraintCheck.no_numbers,
    VALUES: ConstraintCheck.no_values,
}
"""What is wrong for each `ConstraintKind.compares`: (number of the parameter or None for all of them, message)."""


def _in_words(params: Sequence[str]) -> str:
    """Return the parameters in words, such as "a slot and one or more constants"."""
    counts = Counter(params)
    said = [
        f"one or more {of}" if of in _ONE_OF_MANY else f"a {of}" if count == 1 else f"{count} {of}s"
        for of, count in counts.items()
    ]
    return " and ".join(said) or "no parameters"
