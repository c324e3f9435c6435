"""Checks of a plug-in by itself: names, kinds and types are text, roles fit signatures, and so on.

`language.plugin_check` does the checks that need a domain.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator

from vqagen.errors import Problem, unknown
from vqagen.plugin import (
    CONSTANT,
    CONSTANTS,
    DIFFERENT,
    EQUAL,
    EQUALITY,
    FILTER,
    MEMBER,
    NODE,
    NODES,
    NUMBERS,
    RELATION,
    SAMENESS,
    SLOT,
    SLOTS,
    TYPES,
    VALUES,
    CompositeDeclaration,
    ComputedAttribute,
    ConstraintKind,
    Declarations,
    FunctionDeclaration,
    Origin,
    Run,
)

KINDS = (SLOT, SLOTS, NODE, NODES, CONSTANT, CONSTANTS)
PLURAL_KINDS = (SLOTS, NODES, CONSTANTS)
_ROLES = ("", RELATION, SAMENESS, EQUALITY, FILTER)
_COMPARES = ("", TYPES, NUMBERS, VALUES)
_CONSTRAINT_ROLES = ("", EQUAL, DIFFERENT, MEMBER)


def shape_problems(declared: Declarations, source: str, module: str) -> Iterator[Problem]:
    """Yield every mistake in the declarations of the file `source`; `module` is the name it was run under."""
    if not declared:
        yield Problem("declares nothing; a plug-in has functions under the decorators of vqagen.plugin", source)
    for function in declared.functions.values():
        taken = 1 if function.per_attribute else 1 + len(function.inputs) + len(function.values)
        faults = list(_function_faults(function)) or _call_faults(function.run, taken)
        yield from _placed(function, f"function {function.name}", function.run, module, faults)
    for constraint in declared.constraints.values():
        faults = list(_constraint_faults(constraint)) or _call_faults(constraint.holds, len(constraint.params))
        yield from _placed(constraint, f"constraint {constraint.name}", constraint.holds, module, faults)
    for attribute in declared.attributes.values():
        faults = list(_attribute_faults(attribute)) or _call_faults(attribute.compute, 2)
        yield from _placed(attribute, f"attribute {attribute.type}", attribute.compute, module, faults)
    for relation in declared.relations.values():
        calls = _call_faults(relation.holds, 3)
        yield from _placed(relation, f"relation {relation.name}", relation.holds, module, calls)
    for composite in declared.composites.values():
        yield from _at_line(composite, f"composite {composite.name}", _composite_faults(composite))


def _placed(declared: Origin, what: str, run: Run, module: str, faults: Iterable[str]) -> Iterator[Problem]:
    if run.__module__ != module:
        faults = (f"define it in the plug-in itself; it is of the module {run.__module__}",)
    yield from _at_line(declared, what, faults)


def _at_line(declared: Origin, what: str, faults: Iterable[str]) -> Iterator[Problem]:
    for fault in faults:
        yield Problem(
            f"{what}: {fault}", declared.source, line=declared.line or None, column=1 if declared.line else None
        )


def _call_faults(run: Run, taken: int) -> Iterator[str]:
    """True if what was decorated can be called with so many arguments, scene or records included."""
    try:
        inspect.signature(run).bind(*range(taken))
    except TypeError:
        shown = inspect.signature(run)
        yield f"it will be called with {taken} argument{'s' * (taken != 1)}, but takes {shown}"
    except ValueError:
        return  # it does not say what it takes


def _function_faults(declared: FunctionDeclaration) -> Iterator[str]:
    texts = (
        declared.name,
        *declared.inputs,
        *declared.values,
        declared.output,
        *declared.aliases,
        *([declared.drawn] if declared.drawn else ()),
    )
    wrong = [text for text in texts if not isinstance(text, str) or not text]
    if wrong:
        yield f"names and types are text, found {wrong[0]!r}"
        return
    holes = ("name", "type") if declared.per_attribute else ("relation",)
    for text in texts:
        try:
            text.format(**dict.fromkeys(holes, "x"))
        except (KeyError, ValueError, IndexError, AttributeError):
            yield f"{text!r} has another hole than {' or '.join(f'{{{hole}}}' for hole in holes)}"
    if declared.per_attribute and declared.name.format(name="a", type="T") == declared.name.format(name="b", type="T"):
        yield "a family needs {name} in its name"
    if declared.role not in _ROLES:
        yield unknown("role", declared.role, _ROLES[1:])
    if declared.drawn and len(declared.values) != 1:
        yield f"a function with drawn={declared.drawn!r} has one value, found {len(declared.values)}"
    yield from _role_faults(declared)


def _role_faults(declared: FunctionDeclaration) -> Iterator[str]:
    """Yield a fault unless the signature fits the role: the search depends on it."""
    if declared.role in (RELATION, SAMENESS) and (declared.inputs[:1], declared.output) != (("Object",), "ObjectSet"):
        yield f"the role {declared.role!r} is for functions from an Object, their first input, to an ObjectSet"
    if declared.role == EQUALITY and (len(set(declared.inputs)), len(declared.inputs), declared.output) != (
        1,
        2,
        "Bool",
    ):
        yield f"the role {EQUALITY!r} is for functions from two inputs of one type to a Bool"
    if declared.role == FILTER and (declared.inputs, len(declared.values)) != ((declared.output,), 1):
        yield f"the role {FILTER!r} is for functions from a set and one value to a set of the same type"


def _constraint_faults(declared: ConstraintKind) -> Iterator[str]:
    if not declared.params:
        yield f"takes no parameters; give their kinds: {', '.join(KINDS)}"
    for place, kind in enumerate(declared.params):
        if kind not in KINDS:
            yield unknown("kind of parameter", kind, KINDS)
        elif kind in PLURAL_KINDS and place < len(declared.params) - 1:
            yield f"{kind} take one or more, so they come last"
    if declared.compares not in _COMPARES:
        yield unknown("comparison", declared.compares, _COMPARES[1:])
    if declared.role not in _CONSTRAINT_ROLES:
        yield unknown("role", declared.role, _CONSTRAINT_ROLES[1:])
    if declared.role in (EQUAL, DIFFERENT) and declared.params not in ((SLOT, SLOT), (NODE, NODE)):
        yield f"the role {declared.role!r} is for constraints on two slots or on two nodes"
    if declared.role == MEMBER and declared.params != (SLOT, CONSTANTS):
        yield f"the role {MEMBER!r} is for constraints on a slot and constants"


def _composite_faults(declared: CompositeDeclaration) -> Iterator[str]:
    for text in (declared.name, declared.input):
        if not isinstance(text, str) or not text:
            yield f"names and types are text, found {text!r}"
    if not isinstance(declared.reducer, str):
        yield f"the reducer is the name of a function, found {declared.reducer!r}"


def _attribute_faults(declared: ComputedAttribute) -> Iterator[str]:
    for value in declared.values:
        if not isinstance(value, str) or not value:
            yield f"values are text, found {value!r}"
