"""A domain's vocabulary and the functions its metadata declares, checked against the functions that can be run.

Of a declaration, `name`, `inputs`, `side_inputs` and `output` must be true where they are given; other keys, such as
`terminal`, are ignored. Template-only nodes are checked against their grammar (see `composite`), in which descriptions
take any attributes in any order. A function that is declared template-only is none, whatever else is declared of it
(CLEVR-Math's metadata do so); that is warned of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vqagen.errors import describe, unknown, warn
from vqagen.language.composite import COMPOSITE_NAMES, Composite, find_composite
from vqagen.world.domain import Domain

if TYPE_CHECKING:
    from vqagen.language.registry import Function

Fault = tuple[str, str]
"""A JSON path inside the metadata, and what is wrong there."""
PLUGIN_HINT = "a plug-in (--plugin FILE.py) can add functions"


def name_faults(functions: Sequence[Function]) -> Iterator[Fault]:
    """Functions of an attribute whose names are taken, such as filter_count where a type is called Count."""
    taken = list(COMPOSITE_NAMES)
    for function in functions:
        if function.name in taken:
            yield "types", f"an attribute's {function.name} would have the name of another function; rename its type"
        taken += [function.name, *function.aliases]


def declaration_faults(domain: Domain, functions: Mapping[str, Function], types: Sequence[str]) -> Iterator[Fault]:
    """Everything that the metadata's `functions` say and that is not so; `types` are all there are."""
    for i, declared in enumerate(domain.declared):
        name, path = declared.get("name"), f"functions[{i}]"
        if not isinstance(name, str):
            yield f"{path}.name", f"expected the name of a function, found {describe(name)}"
        elif (composite := find_composite(name)) is not None:
            yield from _composite_faults(declared, composite, domain, path)
        elif name not in functions:
            yield f"{path}.name", _unknown(name, bool(declared.get("template_only")), functions)
        elif declared.get("template_only"):
            said = f"{name} is no template-only node but a function, {functions[name].signature}; this entry is ignored"
            warn(domain.problem(path, said))
        else:
            yield from _function_faults(declared, functions[name], types, path)


def _unknown(name: str, template_only: bool, functions: Mapping[str, Function]) -> str:
    if template_only:
        return f"{unknown('template-only node', name, COMPOSITE_NAMES)} ({PLUGIN_HINT})"
    return f"{unknown('function', name, list(functions))} ({PLUGIN_HINT})"


def _function_faults(
    declared: Mapping[str, Any], function: Function, types: Sequence[str], path: str
) -> Iterator[Fault]:
    for key, wanted in (("inputs", function.inputs), ("side_inputs", function.values)):
        yield from _list_faults(declared, key, wanted, types, path)
    yield from _output_faults(declared, function.output, types, path)


def _composite_faults(declared: Mapping[str, Any], composite: Composite, domain: Domain, path: str) -> Iterator[Fault]:
    yield from _list_faults(declared, "inputs", (composite.input,), domain.types, path)
    yield from _description_faults(declared, composite, domain, f"{path}.side_inputs")
    yield from _output_faults(declared, composite.output, domain.types, path)


def _list_faults(
    declared: Mapping[str, Any], key: str, wanted: Sequence[str], types: Sequence[str], path: str
) -> Iterator[Fault]:
    given, place = declared.get(key, [*wanted]), f"{path}.{key}"
    faults = list(_type_faults(given, types, place))
    yield from faults
    if not faults and given != [*wanted]:
        yield place, f"{declared['name']} takes {json.dumps(wanted)}, found {json.dumps(given)}"


def _description_faults(
    declared: Mapping[str, Any], composite: Composite, domain: Domain, place: str
) -> Iterator[Fault]:
    given = declared.get("side_inputs")
    if given is None:
        return
    faults = list(_type_faults(given, domain.value_types, place))
    yield from faults
    if not faults and (domain.relation_type in given) != composite.relates:
        takes = f"a {domain.relation_type}" if composite.relates else f"no {domain.relation_type}"
        yield place, f"{composite.name} takes {takes}, found {json.dumps(given)}"


def _type_faults(given: object, known: Sequence[str], place: str) -> Iterator[Fault]:
    if not isinstance(given, list):
        yield place, f"expected a list of types, found {describe(given)}"
        return
    for k, each in enumerate(given):
        if each not in known:
            yield f"{place}[{k}]", unknown("type", each, known)


def _output_faults(declared: Mapping[str, Any], wanted: str, types: Sequence[str], path: str) -> Iterator[Fault]:
    given = declared.get("output", wanted)
    if given not in types:
        yield f"{path}.output", unknown("type", given, types)
    elif given != wanted:
        yield f"{path}.output", f"{declared['name']} gives {wanted}, found {given}"
