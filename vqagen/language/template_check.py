"""One template record, read and checked against a domain: its slots, nodes, constraints and texts.

First a record is brought into its canonical form, its `for` makes one template for each choice, and its slots get their
types (see `template_record`). Then the checks in ERRORS find every mistake, each at its place as the author wrote it.
`vqagen check` also warns of what is accepted but probably unintended (see `authoring/check/template_rules.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from vqagen.errors import Fault, counted, describe, unknown
from vqagen.language.catalogue import PLUGIN_HINT, Catalogue, Composite, is_misspelt
from vqagen.language.program import input_faults
from vqagen.language.template import SLOT_PATTERN, Constraint, Parameter, Template, TemplateNode, is_slot
from vqagen.language.template_record import (
    Replacement,
    canonical_form,
    choices_of,
    inferred_params,
    key_faults,
    unknown_placeholders,
    with_choice,
    with_drawn_values,
    written_path,
)
from vqagen.plugin import CONSTANT, CONSTANTS, NODE, NODES, NUMBERS, SLOT, SLOTS, TYPES, VALUES, ConstraintKind, Record

OPENED = "can_be_null_attributes"
"""CLEAR's key for the slots that may be left open, in a domain that fills slots (see `Domain.fills_slots`)."""
_ONE_OF_MANY = {SLOTS: SLOT, NODES: NODE, CONSTANTS: CONSTANT}
_NO_NUMBERS = ("Object", "ObjectSet", "Bool")
"""Types that every domain has, and that are no numbers. Of types from plug-ins that is not known."""


def read_templates(
    written: Record, path: str, catalogue: Catalogue, file: str, index: int
) -> tuple[list[Template], list[Fault]]:
    """Return the templates of a record of the right shape, numbered from `index` (usually one), and all its faults.

    A fault is (JSON path, message); `path` is that of the record in its file. A record with a fault in its keys or
    placeholders makes no template.
    """
    canonical, renamed = canonical_form(written)
    faults = list(key_faults(written))
    choices: list[Replacement] = []
    if "for" in written:
        choices, found = choices_of(written["for"], catalogue.domain)
        faults += found
        faults += unknown_placeholders(canonical, choices[0]) if choices else ()
    templates: list[Template] = []
    if not faults:
        made = [with_choice(canonical, choice) for choice in choices] or [canonical]
        opened = written.get(OPENED)
        checked = [_checked(record, opened, catalogue, file, index + k) for k, record in enumerate(made)]
        templates = [template for template, _ in checked]
        faults += _merged_faults(choices, [found for _, found in checked]) if choices else checked[0][1]
    return templates, [(_inside(path, written_path(place, renamed)), message) for place, message in faults]


def _inside(path: str, place: str) -> str:
    """Return the path in the file of a `place` in the record at `path`."""
    return f"{path}.{place}" if path and place else path or place


def _merged_faults(choices: Sequence[Replacement], faults: Sequence[list[Fault]]) -> Iterator[Fault]:
    """Yield the faults of the choices' templates: at each place, those of the first choice that fails there.

    If the templates of sizes and colors fail at text[0], and no other: "slot <size> … (with asked = size, and 1 more)".
    """
    failing: dict[str, list[int]] = {}
    for k, found in enumerate(faults):
        for path in dict.fromkeys(path for path, _ in found):
            failing.setdefault(path, []).append(k)
    for path, numbers in failing.items():
        messages_of = [[message for at, message in faults[k] if at == path] for k in numbers]
        is_all_the_same = len(numbers) == len(choices) and all(messages == messages_of[0] for messages in messages_of)
        more = f", and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        remark = "" if is_all_the_same else f" (with {choices[numbers[0]]}{more})"
        yield from ((path, message + remark) for message in messages_of[0])


def _checked(
    record: Record, opened: object, catalogue: Catalogue, file: str, index: int
) -> tuple[Template, list[Fault]]:
    """Return the template of a canonical record, and all its faults."""
    record = with_drawn_values(record, catalogue)
    params, faults = record.get("params"), list[Fault]()
    if params is None:
        params, faults = inferred_params(record["nodes"], catalogue)
    nodes = tuple(
        TemplateNode(
            node["type"],
            tuple(node["inputs"]),
            tuple(node["side_inputs"]),
            catalogue.composites.get(node["type"]),
        )
        for node in record["nodes"]
    )
    draft = _TemplateDraft(record, params, nodes, catalogue)
    if catalogue.domain.fills_slots:  # with "can_be_null_attributes": ["<C>"], all slots but those of the type of <C>
        opened_types = [draft.types.get(each) for each in opened] if isinstance(opened, list) else []
        filled = [slot for slot, kind in draft.types.items() if slot in draft.openable and kind not in opened_types]
        draft.constraints += ({"type": "NOT_NULL", "params": [slot]} for slot in filled)
    template = Template(
        name=record.get("name", ""),
        file=file,
        index=index,
        family=index,
        texts=tuple(record["text"]),
        slots=draft.types,
        nodes=nodes,
        constraints=tuple(_constraints(draft.constraints, catalogue)),
        catalogue=catalogue,
    )
    return template, [*faults, *(fault for check in ERRORS for fault in check(draft))]


def _constraints(records: Sequence[Record], catalogue: Catalogue) -> Iterator[Constraint]:
    """Yield the constraints of a known kind; `constraint_faults` reports the others."""
    for record in records:
        kind = catalogue.constraints.get(record["type"])
        kinds = parameter_kinds(kind, len(record["params"])) if kind else None
        if kind and kinds:
            yield Constraint(kind, tuple(map(Parameter, kinds, record["params"])))


def parameter_kinds(kind: ConstraintKind, count: int) -> tuple[str, ...] | None:
    """Return SLOT, NODE or CONSTANT for each of `count` parameters; None if the constraint does not take that many."""
    last = kind.params[-1] if kind.params else ""
    if last not in _ONE_OF_MANY:
        return kind.params if count == len(kind.params) else None
    more = count - len(kind.params)
    return (*kind.params[:-1], *[_ONE_OF_MANY[last]] * (more + 1)) if more >= 0 else None


class _TemplateDraft:
    """A template in canonical form that is not known to be right: types may be ones that the domain does not have.

    Of "How many <C> <S>s are there?" with params <C> (Color) and <S> (Shap), and `scene, filter_count(0; <C>)`:
    `types` {"<C>": "Color", "<S>": "Shap"}, `filled` {"<C>"}, `unfilled` ["<S>"], `outputs` ["ObjectSet", "Integer"].
    """

    def __init__(
        self, record: Record, params: list[dict[str, str]], nodes: Sequence[TemplateNode], catalogue: Catalogue
    ) -> None:
        self.nodes, self.catalogue, self.domain = nodes, catalogue, catalogue.domain
        self.texts: Sequence[str] = record["text"]
        self.params: Sequence[Mapping[str, str]] | None = record.get("params")
        """The slots that the template itself declares; None if it does not."""
        self.constraints: list[Record] = [*record["constraints"]]
        self.types: dict[str, str] = {param["name"]: param["type"] for param in params}
        self.filled = {side for node in nodes for side in node.side_inputs}
        self.openable = {
            side
            for node in nodes
            if node.type not in catalogue  # a description, or a misspelt node, which has a fault already
            for side in node.side_inputs
            if self.types.get(side) != self.domain.relation_type
        }
        """Slots that may be left open: those of attributes in a description."""
        known = [node.composite or catalogue.get(node.type) for node in nodes]
        self.outputs = [function.output if function else None for function in known]
        """The types that the nodes give, None where unknown."""
        self.said = [SLOT_PATTERN.findall(text) for text in self.texts]
        """The slots of each text, in reading order."""
        said = chain(self.types, *self.said)
        self.unfilled = [slot for slot in dict.fromkeys(said) if slot not in self.filled]
        """Slots that no node fills."""
        empty = [i for i, node in enumerate(nodes) if self.unfilled and not node.side_inputs]
        self.emptied = [i for i in empty if (taker := known[i]) and (isinstance(taker, Composite) or taker.values)]
        """Nodes that lack side inputs, probably the unfilled slots: then the node has the fault, and the slots none."""

    def slot_fault(self, slot: str) -> str | None:
        """Return why a slot cannot be used; None if it can. All slots are named: they are few."""
        if self.emptied and slot in self.unfilled:
            return None
        if slot in self.types:
            return None if slot in self.filled else f"no node fills slot {slot}"
        known = ", ".join(self.types) or "none"
        if self.params is not None:
            return f"slot {slot} is not declared; params declare {known}"
        return f"no node fills slot {slot}; nodes fill {known}"


# Slots and texts ------------------------------------------------------------------------------------------------------


def param_faults(draft: _TemplateDraft) -> Iterator[Fault]:
    """Yield slots that are declared wrongly or twice."""
    types, names = draft.domain.slot_types, set[str]()
    for i, param in enumerate(draft.params or ()):
        if param["type"] not in types:
            yield f"params[{i}].type", unknown("slot type", param["type"], types)
        if param["name"] in names:
            yield f"params[{i}].name", f"slot {param['name']} is declared twice"
        names.add(param["name"])


def text_faults(draft: _TemplateDraft) -> Iterator[Fault]:
    """Yield faults of texts: slots that cannot be used, each once, stray < and >, and brackets that do not pair up."""
    checked = set[str]()
    for i, text in enumerate(draft.texts):
        path = f"text[{i}]"
        slots = draft.said[i]
        for slot in slots:
            if slot not in checked and (fault := draft.slot_fault(slot)):
                yield path, fault
            checked.add(slot)
        if not text.count("<") == text.count(">") == len(slots):
            yield path, "a stray '<' or '>'; a slot is written <X>, without spaces"
        unpaired = re.sub(r"[^\[\]]+", "", text) if "[" in text or "]" in text else ""
        while "[]" in unpaired:  # "[[]]" -> "[]" -> ""
            unpaired = unpaired.replace("[]", "")
        if unpaired:
            yield path, "optional brackets [ ] do not pair up"


# Nodes ----------------------------------------------------------------------------------------------------------------


def node_faults(draft: _TemplateDraft) -> Iterator[Fault]:
    """Yield faults of nodes: of their types, inputs and side inputs, and a last node that gives no answer."""
    catalogue = draft.catalogue
    for i, node in enumerate(draft.nodes):
        path, function = f"nodes[{i}]", catalogue.get(node.type)
        if node.composite is not None:
            yield from input_faults(node.type, node.inputs, (node.composite.input,), draft.outputs[:i], path)
            if i in draft.emptied:
                slots = ", ".join(draft.unfilled)
                yield (
                    f"{path}.side_inputs",
                    f"{node.type} has no side inputs, and no node fills {slots}; list them here",
                )
            else:
                yield from _description_faults(draft, node, node.composite, f"{path}.side_inputs")
        elif function is not None:
            yield from input_faults(node.type, node.inputs, function.inputs, draft.outputs[:i], path)
            yield from _value_faults(draft, node, function.values, f"{path}.side_inputs")
        elif node.type in [declared.get("name") for declared in draft.domain.declared]:
            yield f"{path}.type", f"nothing runs {node.type!r}, which the metadata declares; {PLUGIN_HINT}"
        else:
            known = [*catalogue, *catalogue.composites]
            hint = "" if is_misspelt(node.type, known) else f" ({PLUGIN_HINT})"
            yield f"{path}.type", unknown("node type", node.type, known) + hint
    last = draft.nodes[-1]
    # `filter_count` answers as `count` does; `filter` ends in a set, which is no answer.
    answer = catalogue.get(last.composite.reducer or "" if last.composite else last.type)
    if draft.outputs[-1] is not None and (answer is None or not answer.asks):
        message = f"the last node must give an answer, but {last.type} gives {draft.outputs[-1]}"
        asks_place = {"Object": "point", "ObjectSet": "mark"}.get(draft.outputs[-1])
        message += f"; to ask where that is, add a node {asks_place}" if asks_place else ""
        yield f"nodes[{len(draft.nodes) - 1}]", message


def _value_faults(draft: _TemplateDraft, node: TemplateNode, wanted: tuple[str, ...], path: str) -> Iterator[Fault]:
    if len(node.side_inputs) != len(wanted):
        expected = f"{counted(len(wanted), 'side input')} ({', '.join(wanted)})" if wanted else "no side inputs"
        yield path, f"{node.type} takes {expected}, found {len(node.side_inputs)}"
    for k, (side_input, type_name) in enumerate(zip(node.side_inputs, wanted, strict=False)):
        known = draft.domain.values_of(type_name)
        if not is_slot(side_input):
            if side_input not in known:
                yield f"{path}[{k}]", unknown(type_name, side_input, known)
        elif fault := draft.slot_fault(side_input):
            yield f"{path}[{k}]", fault
        elif (found := draft.types[side_input]) in draft.domain.slot_types and found != type_name:
            yield f"{path}[{k}]", f"{node.type} takes a {type_name}, but slot {side_input} is a {found}"


def _description_faults(draft: _TemplateDraft, node: TemplateNode, composite: Composite, path: str) -> Iterator[Fault]:
    """Yield a fault unless there is at most one side input of each type, and one relation if the node relates."""
    domain, types = draft.domain, list[str]()
    relation = domain.relation_type
    for k, side_input in enumerate(node.side_inputs):
        type_name, fault = _described(draft, side_input, composite)
        if fault:
            yield f"{path}[{k}]", fault
        if type_name in domain.slot_types and type_name not in (*composite.filters, relation):
            yield f"{path}[{k}]", f"{node.type} describes objects by attributes; {type_name} is none"
        if type_name in types:
            yield f"{path}[{k}]", f"a second {type_name}; {node.type} takes one of each type"
        types += [type_name] if type_name in domain.value_types else []
    is_readable = len(types) == len(node.side_inputs)
    if composite.relates and relation not in types and is_readable:
        example = f", or a value such as {domain.relations[0]!r}" if domain.relations else ""
        yield path, f"{node.type} needs a {relation}: a slot of that type{example}"
    if not composite.relates and relation in types:
        yield path, f"{node.type} takes no {relation} slot"


def _described(draft: _TemplateDraft, side_input: str, composite: Composite) -> tuple[str, str | None]:
    """Return the type of a description's side input ("" if it is unknown), and what is wrong with it."""
    if is_slot(side_input):
        return draft.types.get(side_input, ""), draft.slot_fault(side_input)
    relation, relations = draft.domain.relation_type, draft.domain.relations
    words = {type_name: draft.domain.values_of(type_name) for type_name in composite.filters}
    words |= {relation: relations} if composite.relates else {}
    types = [each for each, values in words.items() if side_input in values]
    if len(types) == 1:
        return types[0], None
    if types:  # "glass" may be a material and the name of a vessel
        shown = " and of ".join(types)
        return "", f"{side_input!r} is a value of {shown}; use a slot with an IN constraint, or a filter of its own"
    if side_input in relations:
        return "", f"{composite.name} takes no {relation}, found the value {side_input!r}"
    return "", unknown("value", side_input, [word for values in words.values() for word in values])


# Constraints ----------------------------------------------------------------------------------------------------------


def constraint_faults(draft: _TemplateDraft) -> Iterator[Fault]:
    """Yield faults of constraints: an unknown kind, parameters of another kind, and values that do not compare."""
    for i, record in enumerate(draft.constraints):
        path, name, params = f"constraints[{i}]", record["type"], record["params"]
        kind = draft.catalogue.constraints.get(name)
        kinds = parameter_kinds(kind, len(params)) if kind else None
        if kind is None:
            yield f"{path}.type", unknown("constraint", name, list(draft.catalogue.constraints))
        elif kinds is None:
            found = counted(len(params), "parameter") if params else "no parameters"
            yield f"{path}.params", f"{name} takes {_in_words(kind.params)}, found {found}"
        else:
            faults = [
                (f"{path}.params[{k}]", fault)
                for k, (expected, param) in enumerate(zip(kinds, params, strict=True))
                if (fault := _parameter_fault(draft, kind, name, expected, param))
            ]
            yield from faults or _comparison_faults(draft, kind, name, kinds, params, f"{path}.params")


def _parameter_fault(draft: _TemplateDraft, kind: ConstraintKind, name: str, expected: str, param: Any) -> str | None:
    """Return why a parameter is not what is `expected`: a SLOT, a NODE or a CONSTANT; None if it is."""
    if expected == NODE:
        if type(param) is not int:
            return f"{name} takes node numbers, found {describe(param)}"
        last = len(draft.nodes) - 1
        return None if 0 <= param <= last else f"there is no node {param}; nodes are 0 to {last}"
    if expected != SLOT:
        return None
    if not isinstance(param, str) or not is_slot(param):
        hint = f"; did you mean <{param}>?" if f"<{param}>" in draft.types else ""
        found = f"the node number {param}" if type(param) is int else describe(param)
        return f"{name} takes slots, found {found}{hint}"
    # NOT_NULL on a slot that is never left open is needless, but no mistake.
    is_never_open = kind.of_openness and kind.name != "NOT_NULL" and param not in draft.openable
    never = f"slot {param} is never left open; only a description's attributes are"
    return draft.slot_fault(param) or (never if is_never_open else None)


def _comparison_faults(
    draft: _TemplateDraft, kind: ConstraintKind, name: str, kinds: Sequence[str], params: Sequence[Any], path: str
) -> Iterator[Fault]:
    """Yield what a constraint cannot compare. Types that the domain does not have are not checked."""
    given = list(zip(kinds, params, strict=True))
    types = [draft.types[param] if sort == SLOT else draft.outputs[param] for sort, param in given if sort != CONSTANT]
    known = list(dict.fromkeys(type_name for type_name in types if type_name))
    if kind.compares == TYPES and len(known) > 1:
        yield path, f"{name} compares like with like, found {' and '.join(known)}"
    for k, (sort, param) in enumerate(given):
        if (
            kind.compares == NUMBERS
            and sort == NODE
            and draft.outputs[param] in (*_NO_NUMBERS, *draft.domain.value_types)
        ):
            yield f"{path}[{k}]", f"{name} compares numbers, but node {param} gives {draft.outputs[param]}"
        if kind.compares == NUMBERS and sort == CONSTANT and type(param) not in (int, float):
            yield f"{path}[{k}]", f"{name} compares with a number, found {describe(param)}"
        if kind.compares == VALUES and sort == CONSTANT and known and known[0] in draft.domain.value_types:
            values = draft.domain.values_of(known[0])
            for value in param if isinstance(param, list) else [param]:
                if isinstance(value, str) and is_slot(value):
                    message = f"{name} takes values of {known[0]}, found slot {value}; EQ and NEQ compare slots"
                    yield f"{path}[{k}]", message
                elif value not in values:
                    yield f"{path}[{k}]", unknown(known[0], value, values)


def _in_words(params: Sequence[str]) -> str:
    """Return the parameters in words, such as "a slot and one or more constants"."""
    counts = Counter(params)
    parts = [
        f"one or more {of}" if of in _ONE_OF_MANY else f"a {of}" if count == 1 else f"{count} {of}s"
        for of, count in counts.items()
    ]
    return " and ".join(parts) or "no parameters"


ERRORS: Sequence[Callable[[_TemplateDraft], Iterator[Fault]]] = (
    param_faults,
    node_faults,
    constraint_faults,
    text_faults,
)
"""The checks of a single template."""
