"""One template record, read and checked against a domain: its slots, nodes, constraints and texts.

A record is brought into its canonical form first, made several by what it is `for`, and given the types of its slots
(see `template_record`). Every mistake is placed where the author wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import Fault, counted, unknown
from vqagen.language.catalogue import PLUGIN_HINT, Catalogue, is_misspelt, with_drawn_values
from vqagen.language.constraint_check import ConstraintCheck, Slots, parameter_kinds
from vqagen.language.registry import Composite
from vqagen.language.template import SLOT_PATTERN, Constraint, Parameter, Template, TemplateNode, is_slot
from vqagen.language.template_record import (
    Replacement,
    canonical_form,
    choices_of,
    inferred_params,
    key_faults,
    unknown_placeholders,
    with_choice,
)
from vqagen.plugin import Record

OPENED = "can_be_null_attributes"
"""CLEAR's key for the slots that may be left open, in a domain that fills slots (see `Domain.fills_slots`)."""


def read_templates(
    written: Record, path: str, catalogue: Catalogue, file: str, index: int
) -> tuple[list[Template], list[Fault]]:
    """The templates that a record of the right shape makes, numbered from `index`; usually one.

    With every fault of its meaning as (JSON path, message), where `path` is that of the record. A record whose keys or
    placeholders are at fault makes none.
    """
    form, faults = canonical_form(written), list(key_faults(written))
    choices: list[Replacement] = []
    if "for" in written:
        choices, found = choices_of(written["for"], catalogue.domain)
        faults += found
        faults += unknown_placeholders(form.record, choices[0]) if choices else ()
    templates: list[Template] = []
    if not faults:
        made = [with_choice(form.record, each) for each in choices] or [form.record]
        opened = written.get(OPENED)
        checked = [_checked(record, opened, catalogue, file, index + k) for k, record in enumerate(made)]
        templates = [template for template, _ in checked]
        faults += _merged_faults(choices, [found for _, found in checked]) if choices else checked[0][1]
    return templates, [(_inside(path, form.written_path(place)), message) for place, message in faults]


def _inside(path: str, place: str) -> str:
    """The path of what stands at a `place` of the record at `path`."""
    return f"{path}.{place}" if path and place else path or place


def _merged_faults(choices: Sequence[Replacement], faults: Sequence[list[Fault]]) -> Iterator[Fault]:
    """Yield the faults of the choices' templates: at each place, those of the first choice that fails there."""
    failing: dict[str, list[int]] = {}
    for k, found in enumerate(faults):
        for place in dict.fromkeys(place for place, _ in found):
            failing.setdefault(place, []).append(k)
    for place, numbers in failing.items():
        messages_of = [[message for at, message in faults[k] if at == place] for k in numbers]
        is_all_the_same = len(numbers) == len(choices) and all(messages == messages_of[0] for messages in messages_of)
        more = f", and {len(numbers) - 1} more" if len(numbers) > 1 else ""
        remark = "" if is_all_the_same else f" (with {choices[numbers[0]]}{more})"
        yield from ((place, message + remark) for message in messages_of[0])


def _checked(
    record: Record, opened: object, catalogue: Catalogue, file: str, index: int
) -> tuple[Template, list[Fault]]:
    """The template of a canonical record, and all that is wrong with it."""
    record = with_drawn_values(record, catalogue)
    params, faults = record.get("params"), list[Fault]()
    if params is None:
        params, faults = inferred_params(record["nodes"], catalogue)
    slots = Slots(record, params, catalogue)
    constraints = record["constraints"]
    if catalogue.domain.fills_slots:  # all but those of the types of the `opened` ones
        opened_types = [slots.types.get(each) for each in opened] if isinstance(opened, list) else []
        filled = [slot for slot, kind in slots.types.items() if slot in slots.openable and kind not in opened_types]
        constraints = [*constraints, *({"type": "NOT_NULL", "params": [slot]} for slot in filled)]
    template = Template(
        name=record.get("name", ""),
        file=file,
        index=index,
        family=index,
        texts=tuple(record["text"]),
        slots=slots.types,
        nodes=tuple(
            TemplateNode(
                node["type"],
                tuple(node["inputs"]),
                tuple(node["side_inputs"]),
                catalogue.composites.get(node["type"]),
            )
            for node in record["nodes"]
        ),
        constraints=tuple(_constraints(constraints, catalogue)),
        catalogue=catalogue,
    )
    faults += _param_faults(record.get("params", ()), catalogue)
    nodes = _NodeCheck(template.nodes, slots, catalogue)
    faults += nodes.faults
    faults += ConstraintCheck(slots, nodes.outputs, catalogue).faults(constraints)
    faults += _text_faults(template.texts, slots)
    return template, faults


def _constraints(records: Sequence[Record], catalogue: Catalogue) -> Iterator[Constraint]:
    """Yield the constraints of a known kind; `ConstraintCheck` reports the others."""
    for record in records:
        kind = catalogue.constraints.get(record["type"])
        kinds = parameter_kinds(kind, len(record["params"])) if kind else None
        if kind and kinds:
            yield Constraint(kind, tuple(map(Parameter, kinds, record["params"])))


def _param_faults(params: Sequence[Mapping[str, str]], catalogue: Catalogue) -> Iterator[Fault]:
    types, names = catalogue.domain.slot_types, set[str]()
    for i, param in enumerate(params):
        if param["type"] not in types:
            yield f"params[{i}].type", unknown("slot type", param["type"], types)
        if not is_slot(param["name"]):
            yield f"params[{i}].name", f"expected a slot such as <X>, found {param['name']!r}"
        if param["name"] in names:
            yield f"params[{i}].name", f"slot {param['name']} is declared twice"
        names.add(param["name"])


def _text_faults(texts: Sequence[str], slots: Slots) -> Iterator[Fault]:
    for i, text in enumerate(texts):
        path = f"text[{i}]"
        for slot in dict.fromkeys(SLOT_PATTERN.findall(text)):
            if fault := slots.fault(slot):
                yield path, fault
        outside = SLOT_PATTERN.sub("", text)
        if "<" in outside or ">" in outside:
            yield path, "a stray '<' or '>'; a slot is written <X>, without spaces"
        unpaired = re.sub(r"[^\[\]]", "", text)
        while "[]" in unpaired:
            unpaired = unpaired.replace("[]", "")
        if unpaired:
            yield path, "optional brackets [ ] do not pair up"
        if not text.strip():
            yield path, f"expected some text, found {text!r}"


class _NodeCheck:
    """A template's nodes, read in order. `outputs` are the types that they give, None where unknown."""

    def __init__(self, nodes: Sequence[TemplateNode], slots: Slots, catalogue: Catalogue) -> None:
        self.nodes, self.slots, self.catalogue, self.domain = nodes, slots, catalogue, catalogue.domain
        self.outputs: list[str | None] = []
        self.faults: list[Fault] = []
        for i, node in enumerate(nodes):
            self.faults += self.node_faults(node, f"nodes[{i}]")
            known = node.composite or catalogue.get(node.type)
            self.outputs.append(known.output if known else None)
        last = nodes[-1]
        function = catalogue.get(last.composite.reducer or "" if last.composite else last.type)
        if self.outputs[-1] is not None and (function is None or not function.asks):
            message = f"the last node must give an answer, but {last.type} gives {self.outputs[-1]}"
            self.faults.append((f"nodes[{len(nodes) - 1}]", message))

    def node_faults(self, node: TemplateNode, path: str) -> Iterator[Fault]:
        """Yield a fault for all that is wrong with a node itself."""
        if node.composite is not None:
            yield from self.input_faults(node, (node.composite.input,), path)
            yield from self.description_faults(node, node.composite, f"{path}.side_inputs")
        elif function := self.catalogue.get(node.type):
            yield from self.input_faults(node, function.inputs, path)
            yield from self.value_faults(node, function.values, f"{path}.side_inputs")
        elif node.type in [declared.get("name") for declared in self.domain.declared]:
            yield f"{path}.type", f"nothing runs {node.type!r}, which the metadata declares; {PLUGIN_HINT}"
        else:
            known = [*self.catalogue, *self.catalogue.composites]
            hint = "" if is_misspelt(node.type, known) else f" ({PLUGIN_HINT})"
            yield f"{path}.type", unknown("node type", node.type, known) + hint

    # Inputs -----------------------------------------------------------------------------------------------------------

    def input_faults(self, node: TemplateNode, wanted: tuple[str, ...], path: str) -> Iterator[Fault]:
        if len(node.inputs) != len(wanted):
            yield f"{path}.inputs", f"{node.type} takes {counted(len(wanted), 'input')}, found {len(node.inputs)}"
        for k, (i, type_name) in enumerate(zip(node.inputs, wanted, strict=False)):
            if i >= len(self.outputs):
                yield f"{path}.inputs[{k}]", self.misplaced(i)
            elif self.outputs[i] not in (type_name, None):
                yield f"{path}.inputs[{k}]", f"{node.type} takes {type_name}, but node {i} gives {self.outputs[i]}"

    def misplaced(self, i: int) -> str:
        """Return why a number is no input of the node being read."""
        this, last = len(self.outputs), len(self.nodes) - 1
        if i == this:
            return f"node {i} cannot take its own output; inputs are earlier nodes, counted from 0"
        if i <= last:
            return f"node {i} comes later than this node, which is node {this} counted from 0; inputs are earlier nodes"
        return f"there is no node {i}; nodes are 0 to {last}, and inputs are earlier ones (this is {this})"

    # Side inputs ------------------------------------------------------------------------------------------------------

    def value_faults(self, node: TemplateNode, wanted: tuple[str, ...], path: str) -> Iterator[Fault]:
        if len(node.side_inputs) != len(wanted):
            expected = f"{counted(len(wanted), 'side input')} ({', '.join(wanted)})" if wanted else "no side inputs"
            missing = ", ".join(f"a slot of type {each}" for each in wanted[len(node.side_inputs) :])
            remedy = f"; give it {missing}, to be filled and said in the text" if missing else ""
            yield path, f"{node.type} takes {expected}, found {len(node.side_inputs)}{remedy}"
        for k, (side_input, type_name) in enumerate(zip(node.side_inputs, wanted, strict=False)):
            known = self.domain.values_of(type_name)
            if not is_slot(side_input):
                if side_input not in known:
                    yield f"{path}[{k}]", unknown(type_name, side_input, known)
            elif fault := self.slots.fault(side_input):
                yield f"{path}[{k}]", fault
            elif (found := self.slots.types[side_input]) in self.domain.slot_types and found != type_name:
                yield f"{path}[{k}]", f"{node.type} takes a {type_name}, but slot {side_input} is a {found}"

    def description_faults(self, node: TemplateNode, composite: Composite, path: str) -> Iterator[Fault]:
        """Yield a fault unless there is at most one side input of each type, and one relation if the node relates."""
        relation, types = self.domain.relation_type, list[str]()
        for k, side_input in enumerate(node.side_inputs):
            found, fault = self.described(side_input, composite)
            if fault:
                yield f"{path}[{k}]", fault
            if found in self.domain.slot_types and found not in (*composite.filters, relation):
                yield f"{path}[{k}]", f"{node.type} describes objects by attributes; {found} is none"
            if found in types:
                yield f"{path}[{k}]", f"a second {found}; {node.type} takes one of each type"
            types += [found] if found in self.domain.value_types else []
        is_readable = len(types) == len(node.side_inputs)
        if composite.relates and relation not in types and is_readable:
            example = f", or a value such as {self.domain.relations[0]!r}" if self.domain.relations else ""
            yield path, f"{node.type} needs a {relation}: a slot of that type{example}"
        if not composite.relates and relation in types:
            yield path, f"{node.type} takes no {relation} slot"

    def described(self, side_input: str, composite: Composite) -> tuple[str, str | None]:
        """Return the type of a description's side input ("" if it is unknown), and what is wrong with it."""
        if is_slot(side_input):
            return self.slots.types.get(side_input, ""), self.slots.fault(side_input)
        relation, relations = self.domain.relation_type, self.domain.relations
        words = {each: self.domain.values_of(each) for each in composite.filters}
        words |= {relation: relations} if composite.relates else {}
        types = [each for each, values in words.items() if side_input in values]
        if len(types) == 1:
            return types[0], None
        if types:
            shown = " and of ".join(types)
            return "", f"{side_input!r} is a value of {shown}; use a slot with an IN constraint, or a filter of its own"
        if side_input in relations:
            return "", f"{composite.name} takes no {relation}, found the value {side_input!r}"
        return "", unknown("value", side_input, [word for values in words.values() for word in values])
