"""One template record, read and checked against a domain: its forms, slots, nodes, constraints and texts.

A record is brought into its canonical form first (see `template_forms`), made several by what it is `for` (see
`meta_templates`), and given the types of its slots (see `template_params`). Every mistake is placed where the author
wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import Fault, unknown
from vqagen.language.catalogue import Catalogue
from vqagen.language.constraint_check import ConstraintCheck, parameter_kinds
from vqagen.language.drawn_values import with_drawn_values
from vqagen.language.meta_templates import Replacement, choices_of, unknown_placeholders, with_choice
from vqagen.language.node_check import NodeCheck
from vqagen.language.slots import SLOT_PATTERN, Slots, is_slot
from vqagen.language.template import Constraint, Parameter, Template, TemplateNode
from vqagen.language.template_forms import canonical_form, key_faults
from vqagen.language.template_params import inferred_params
from vqagen.plugin import Record

OPENED = "can_be_null_attributes"
"""CLEAR's key for the slots that may be left open, in a domain that fills slots (see `Domain.fills_slots`)."""
_BRACKET = re.compile(r"[\[\]]")
Checked = tuple[Template, list[Fault]]


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


def _checked(record: Record, opened: object, catalogue: Catalogue, file: str, index: int) -> Checked:
    """The template of a canonical record."""
    record = with_drawn_values(record, catalogue)
    params, faults = (
        (record["params"], list[Fault]()) if "params" in record else inferred_params(record["nodes"], catalogue)
    )
    slots = Slots(record, params, catalogue)
    if catalogue.domain.fills_slots:
        record = {**record, "constraints": [*record["constraints"], *_filling(slots, opened)]}
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
        constraints=tuple(_constraints(record["constraints"], catalogue)),
        catalogue=catalogue,
    )
    faults += _param_faults(record.get("params", ()), catalogue)
    nodes = NodeCheck(template.nodes, slots, catalogue)
    faults += nodes.faults
    faults += ConstraintCheck(slots, nodes.outputs, catalogue).faults(record["constraints"])
    faults += _text_faults(template.texts, slots)
    return template, faults


def _filling(slots: Slots, opened: object) -> Iterator[Record]:
    """Yield constraints that fill the slots of descriptions, except slots of the types of the `opened` ones."""
    open_types = [slots.types.get(each) for each in opened] if isinstance(opened, list) else []
    for slot, type_name in slots.types.items():
        if slot in slots.openable and type_name not in open_types:
            yield {"type": "NOT_NULL", "params": [slot]}


def _constraints(records: Sequence[Record], catalogue: Catalogue) -> Iterator[Constraint]:
    """Yield the constraints of a known kind; `ConstraintCheck` reports the others."""
    for record in records:
        kind = catalogue.constraints.get(record["type"])
        kinds = parameter_kinds(kind, len(record["params"])) if kind else None
        if kind and kinds:
            yield Constraint(kind, tuple(map(Parameter, kinds, record["params"])))


def _param_faults(params: Sequence[Mapping[str, str]], catalogue: Catalogue) -> Iterator[Fault]:
    types = catalogue.domain.slot_types
    for i, param in enumerate(params):
        if param["type"] not in types:
            yield f"params[{i}].type", unknown("slot type", param["type"], types)
        if not is_slot(param["name"]):
            yield f"params[{i}].name", f"expected a slot such as <X>, found {param['name']!r}"
        if any(earlier["name"] == param["name"] for earlier in params[:i]):
            yield f"params[{i}].name", f"slot {param['name']} is declared twice"


def _text_faults(texts: Sequence[str], slots: Slots) -> Iterator[Fault]:
    for i, text in enumerate(texts):
        path = f"text[{i}]"
        for slot in dict.fromkeys(SLOT_PATTERN.findall(text)):
            if fault := slots.fault(slot):
                yield path, fault
        outside = SLOT_PATTERN.sub("", text)
        if "<" in outside or ">" in outside:
            yield path, "a stray '<' or '>'; a slot is written <X>, without spaces"
        if _is_unbalanced(text):
            yield path, "optional brackets [ ] do not pair up"
        if not text.strip():
            yield path, f"expected some text, found {text!r}"


def _is_unbalanced(text: str) -> bool:
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth += 1 if bracket == "[" else -1
        if depth < 0:
            return True
    return depth != 0
