"""A template record as people write it: the forms it may have, the types of its slots, and the templates it is `for`.

**Forms.** Canonical is `{"text": […], "nodes": […], "constraints": […]}`, with `name` and `params` where they are
given, and nodes `{"type": …, "inputs": […], "side_inputs": […]}`. Other generators write `function` for `type` and
`value_inputs` for `side_inputs`. Inputs, side inputs and constraints may be missing, and a single text may stand
without its list. The constants of a constraint may stand under a key that its type names: `{"type": "COLOR_SET",
"params": ["<C>"], "color": ["red", "blue"]}`.

**Types of slots**, where no `params` declare them. A slot has the type that a function takes in its place. In a
description (see `catalogue.Composite`) it has the type whose name it bears, or whose `placeholder` it is in the
metadata: `"Color": {"values": […], "placeholder": "<C>"}`. Case, and digits and underscores at the end, do not count:
`<Color>`, `<color_2>`, `<C2>`.

**Several templates of one record.** The key `for` says what is put in place of the placeholders:

* An object `{placeholder: "*"}`, or a list of attribute types in place of the `"*"`, makes a template for each choice
  of attributes; no two placeholders ever take the same one. `{attribute}` becomes the attribute's name ("color"), and
  `{Attribute}` its type ("Color").
* A list of objects `{placeholder: text}` makes a template for each of them.

Placeholders are replaced in every text of the record, though not in keys, nor deep inside of what vqagen does not know.
A name without placeholders gets what is put in for them at its end, so that "query" becomes "query-color".
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

from vqagen.errors import Fault, nearest, unknown
from vqagen.language.catalogue import Catalogue, Function
from vqagen.language.template import is_slot
from vqagen.plugin import Record
from vqagen.world.domain import Attribute, Domain

MOST = 10_000
"""Templates that one record may make."""
UNKNOWN = ""
"""The type of a slot whose type is unknown."""
_TEMPLATE_KEYS = frozenset(("name", "text", "params", "nodes", "constraints", "for", "comment", "$schema"))
_NODE_KEYS = frozenset(("type", "function", "inputs", "side_inputs", "value_inputs", "comment"))
_CONSTRAINT_KEYS = ("type", "params", "comment")
_ALIASES = {"type": "function", "side_inputs": "value_inputs"}
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")

# Forms ------------------------------------------------------------------------------------------------------------


Renamed = Mapping[str, str]
"""Path in the canonical record -> path in what was written, where they differ: {"nodes[0].type": "nodes[0].function"}.
All paths start from the record itself."""


def canonical_form(written: Mapping[str, Any]) -> tuple[dict[str, Any], Renamed]:
    """Return the canonical form of a record of the right shape, and the paths in it that were written otherwise."""
    renamed: dict[str, str] = {}
    text, constraints = written["text"], written.get("constraints") or []
    if isinstance(text, str):
        renamed["text[0]"] = "text"
    record = {
        **{key: written[key] for key in ("name", "params") if key in written},
        "text": [text] if isinstance(text, str) else text,
        "nodes": [_node(node, f"nodes[{i}]", renamed) for i, node in enumerate(written["nodes"])],
        "constraints": [_constraint(each, f"constraints[{i}]", renamed) for i, each in enumerate(constraints)],
    }
    return record, renamed


def written_path(path: str, renamed: Renamed) -> str:
    """Return the path, as the author wrote it, of a path in the canonical record."""
    for canonical, written in renamed.items():
        if path == canonical or path.startswith((f"{canonical}.", f"{canonical}[")):
            return written + path[len(canonical) :]
    return path


def _node(written: Mapping[str, Any], path: str, renamed: dict[str, str]) -> dict[str, Any]:
    node = {"type": None, "inputs": written.get("inputs", []), "side_inputs": []}
    for key, alias in _ALIASES.items():
        if key in written:
            node[key] = written[key]
        elif alias in written:
            node[key] = written[alias]
            renamed[f"{path}.{key}"] = f"{path}.{alias}"
    return node


def _constraint(written: Mapping[str, Any], path: str, renamed: dict[str, str]) -> dict[str, Any]:
    """Return the constraint with the constants of its own key appended to its params."""
    # {"type": "COLOR_SET", "params": ["<C>"], "color": ["red"]} -> ["<C>", "red"], params[1] written as color[0]
    params, key = [*written["params"]], written["type"].lower().removesuffix("_set")
    if key in written and key not in _CONSTRAINT_KEYS:
        apart = written[key] if isinstance(written[key], list) else [written[key]]
        places = [
            f"{path}.{key}[{k}]" if isinstance(written[key], list) else f"{path}.{key}" for k in range(len(apart))
        ]
        renamed |= {f"{path}.params[{len(params) + k}]": place for k, place in enumerate(places)}
        params += apart
    return {"type": written["type"], "params": params}


def key_faults(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for a key that is given under both its names, and for an unknown key that may be misspelt.

    Other unknown keys are ignored. A misspelt `constraints` would constrain nothing, and nobody would notice.
    """
    yield from _misspelt(written, ("constraints", "params"), _TEMPLATE_KEYS, "")
    for i, node in enumerate(written["nodes"]):
        yield from _misspelt(node, ("inputs", "side_inputs", "value_inputs"), _NODE_KEYS, f"nodes[{i}].")
        for key, alias in _ALIASES.items():
            if key in node and alias in node:
                yield f"nodes[{i}].{alias}", f"{alias!r} is another name for {key!r}; give only one of them"


def _misspelt(written: Mapping[str, Any], optional: Sequence[str], known: Set[str], path: str) -> Iterator[Fault]:
    strange = sorted(written.keys() - known)
    missing = [key for key in optional if key not in written] if strange else []
    for key in strange:
        if close := nearest(key, missing):
            yield f"{path}{key}", f"unknown key {key!r}; did you mean {close!r}?"


# Drawn values -------------------------------------------------------------------------------------------------------


def with_drawn_values(record: Record, catalogue: Catalogue) -> Record:
    """Return the canonical record with a slot for each value that it leaves to be drawn.

    CLEVR-Math writes `{"type": "choose", "inputs": [1]}` and "Subtract X <S>s". In canonical form the number is a slot
    like any other, `"side_inputs": ["<X>"]` and "Subtract <X> <S>s", so that it is drawn, said and recorded as others.

    Nodes that leave a value to be drawn share one slot, as the text has one word for them.
    """
    for node in record["nodes"]:
        function = catalogue.get(node["type"])
        # The first node gives the slot <X> to all that leave their number open; then the record has it.
        if function is not None and _leaves_value(node, function) and not _has_slot(record, f"<{function.drawn}>"):
            record = _with_slot(record, function, catalogue)
    return record


def _leaves_value(node: Record, function: Function) -> bool:
    return bool(function.drawn) and not node["side_inputs"]


def _has_slot(record: Record, slot: str) -> bool:
    declared = [param["name"] for param in record.get("params", ())]
    return slot in declared or any(slot in node["side_inputs"] for node in record["nodes"])


def _with_slot(record: Record, function: Function, catalogue: Catalogue) -> Record:
    slot, word = f"<{function.drawn}>", re.compile(rf"(?<![<\w]){re.escape(function.drawn)}(?![>\w])")

    def filled(node: Record) -> Record:
        is_same = catalogue.get(node["type"]) == function
        return {**node, "side_inputs": [slot]} if is_same and _leaves_value(node, function) else node

    made = {
        **record,
        "text": [word.sub(slot, text) for text in record["text"]],
        "nodes": [filled(node) for node in record["nodes"]],
    }
    if "params" in record:
        made["params"] = [*record["params"], {"type": function.values[0], "name": slot}]
    return made


# Types of slots ---------------------------------------------------------------------------------------------------


def inferred_params(
    nodes: Sequence[Mapping[str, Any]], catalogue: Catalogue
) -> tuple[list[dict[str, str]], list[Fault]]:
    """Return `params` for all slots that nodes use, in the order of first use, and a fault for each unknown type.

    Of `filter_color(0; <C>)` and `filter_count(1; <Shape2>)`: <C> is a Color, <Shape2> a Shape.
    """
    types, places = dict[str, str](), dict[str, str]()
    for i, node in enumerate(nodes):
        function = catalogue.get(node["type"])
        for k, slot in enumerate(node["side_inputs"]):
            if not is_slot(slot):
                continue
            types[slot] = types.get(slot) or (function.values[k] if function and k < len(function.values) else UNKNOWN)
            if node["type"] in catalogue.composites:
                places.setdefault(slot, f"nodes[{i}].side_inputs[{k}]")
            else:
                places[slot] = ""  # an unknown type there is a fault of the node itself
    type_of_name = _types_by_name(catalogue.domain)
    types = {slot: type_name or type_of_name.get(_stem(slot), UNKNOWN) for slot, type_name in types.items()}
    faults = [
        (places[slot], _complaint(slot, catalogue.domain))
        for slot, type_name in types.items()
        if type_name == UNKNOWN and places[slot]
    ]
    return [{"name": slot, "type": type_name} for slot, type_name in types.items()], faults


def _types_by_name(domain: Domain) -> dict[str, str]:
    """Return the types by the stems of their own names and of their placeholders in the metadata."""
    named = {_stem(type_name): type_name for type_name in reversed(domain.value_types)}
    for type_name in domain.value_types:
        entry = domain.types_record.get(type_name)
        placeholder = entry.get("placeholder") if isinstance(entry, Mapping) else None
        if isinstance(placeholder, str):
            named[_stem(placeholder)] = type_name
    return named


def _stem(slot: str) -> str:
    """Return what tells the type of a slot: "color" of <Color_2>."""
    return slot.strip("<>").rstrip("0123456789_").lower()


def _complaint(slot: str, domain: Domain) -> str:
    example = f'{{"type": "{domain.value_types[0]}", "name": "{slot}"}}'
    return f"cannot tell the type of slot {slot}; declare it and all others in params, such as {example}"


# Several templates of one record ----------------------------------------------------------------------------------


class Replacement(NamedTuple):
    """The texts that replace the placeholders of one template."""

    chosen: Mapping[str, str]
    texts: Mapping[str, str]
    """`chosen`, and the types where attributes are chosen."""
    place: str = ""
    """Where it stands in the record, if it stands there by itself."""

    def __str__(self) -> str:
        """Format the first placeholders for errors, such as `attribute = color`."""
        shown = ", ".join(f"{name} = {text}" for name, text in itertools.islice(self.chosen.items(), 2))
        return f"{self.place}: {shown}" if self.place else shown


def choices_of(wanted: Any, domain: Domain) -> tuple[list[Replacement], list[Fault]]:
    """Return the choices of a `for`, in order, and its mistakes; no choices if there is any mistake."""
    if isinstance(wanted, list):
        return _listed_choices(list(map(_placeholders, wanted)))
    return _attribute_choices(_placeholders(wanted), domain.attributes)


def with_choice(record: Mapping[str, Any], choice: Replacement) -> dict[str, Any]:
    """Return the record with its placeholders replaced."""
    made: dict[str, Any] = _replaced(record, choice.texts)
    if "name" in record and not _PLACEHOLDER.search(record["name"]):
        made["name"] = "-".join((record["name"], *choice.chosen.values()))
    return made


def unknown_placeholders(record: Any, choice: Replacement, path: str = "") -> Iterator[Fault]:
    """Yield placeholders that a choice has no text for."""
    if isinstance(record, str):
        for name in dict.fromkeys(_PLACEHOLDER.findall(record)):
            if name not in choice.texts:
                known = ", ".join(f"{{{known_name}}}" for known_name in choice.texts)
                yield path, f"unknown placeholder {{{name}}}; known: {known}"
    elif isinstance(record, Mapping):
        for key, value in record.items():
            yield from unknown_placeholders(value, choice, f"{path}.{key}".removeprefix("."))
    elif isinstance(record, list):
        for i, value in enumerate(record):
            yield from unknown_placeholders(value, choice, f"{path}[{i}]")


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: _replaced(part, texts) for key, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, texts) for part in value]
    return value


def _placeholders(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wanted.items() if key != "comment"}


def _listed_choices(listed: Sequence[Mapping[str, str]]) -> tuple[list[Replacement], list[Fault]]:
    first = listed[0]
    faults = [
        (f"for[{i}]", f"expected the placeholders of for[0], {', '.join(first)}; found {', '.join(texts) or 'none'}")
        for i, texts in enumerate(listed)
        if texts.keys() != first.keys()
    ]
    ordered = [] if faults else [{name: texts[name] for name in first} for texts in listed]
    return [Replacement(texts, texts, f"for[{i}]") for i, texts in enumerate(ordered)], faults


def _attribute_choices(
    wanted: Mapping[str, Any], attributes: Sequence[Attribute]
) -> tuple[list[Replacement], list[Fault]]:
    types, faults = [attribute.type for attribute in attributes], list[Fault]()
    for name, listed in wanted.items():
        for i, choice in enumerate(() if listed == "*" else listed):
            if choice not in types:
                faults.append((f"for.{name}[{i}]", unknown("attribute type", choice, types)))
    options = [
        [choice for choice in attributes if listed == "*" or choice.type in listed] for listed in wanted.values()
    ]
    if not faults and math.prod(map(len, options)) > MOST:
        faults.append(("for", f"makes more than {MOST:,} templates"))
    every = [] if faults else itertools.product(*options)
    # Of {left: *, right: [Size, Color]}: (Color, Size), but not (Size, Size).
    picks = [pick for pick in every if len({choice.type for choice in pick}) == len(pick)]
    if not picks and not faults:
        faults.append(("for", "leaves no choice, as no two placeholders take the same attribute"))
    return [_attribute_choice(list(wanted), pick) for pick in picks], faults


def _attribute_choice(names: Sequence[str], attributes: Sequence[Attribute]) -> Replacement:
    chosen = {name: attribute.name for name, attribute in zip(names, attributes, strict=True)}
    types = {name[:1].upper() + name[1:]: attribute.type for name, attribute in zip(names, attributes, strict=True)}
    return Replacement(chosen, {**types, **chosen})
