"""One template record, checked against a domain: slots, node types and inputs, constraints, texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from vqagen.errors import unknown
from vqagen.language.catalogue import Catalogue
from vqagen.language.composite import COMPOSITE_NAMES, Composite
from vqagen.language.template import Constraint, Parameter, Template, TemplateNode
from vqagen.plugin import NODE, SLOT, ConstraintKind

Fault = tuple[str, str]
_SLOT = re.compile(r"<[^<>()\s]+>")


def read_template(
    record: Mapping[str, Any], path: str, catalogue: Catalogue, file: str, index: int
) -> tuple[Template, list[Fault]]:
    """A template from a record of the right shape, and every fault of its meaning as (JSON path, message)."""
    reader = _TemplateReader(record, path, catalogue)
    template = Template(
        name=record.get("name", ""),
        file=file,
        index=index,
        family=index,
        texts=tuple(record["text"]),
        slots=reader.slots,
        nodes=tuple(
            TemplateNode(node["type"], tuple(node["inputs"]), tuple(node.get("side_inputs", ())))
            for node in record["nodes"]
        ),
        constraints=tuple(
            _read_constraint(catalogue.constraints[item["type"]], item)
            for item in record.get("constraints") or ()
            if item["type"] in catalogue.constraints
        ),
        catalogue=catalogue,
    )
    return template, list(reader.faults(template))


def _read_constraint(kind: ConstraintKind, record: Mapping[str, Any]) -> Constraint:
    return Constraint(
        kind, tuple(Parameter(of, param) for of, param in zip(kind.params, record["params"], strict=False))
    )


class _TemplateReader:
    """Checks one template; every method yields the faults of one part."""

    def __init__(self, record: Mapping[str, Any], path: str, catalogue: Catalogue) -> None:
        self.record, self.path, self.catalogue = record, path, catalogue
        self.slots: dict[str, str] = {param["name"]: param["type"] for param in record["params"]}
        self.slot_types = catalogue.domain.value_types
        self.filled: set[str] = set()
        self.openable: set[str] = set()
        """Slots that may be left open: those of attributes in a description."""

    def faults(self, template: Template) -> Iterator[Fault]:
        self.note_fillings(template.nodes)
        yield from self.key_faults()
        yield from self.param_faults()
        outputs: list[str | None] = []
        for i, node in enumerate(template.nodes):
            output, faults = self.node_faults(node, outputs, f"{self.path}.nodes[{i}]")
            outputs.append(output)
            yield from faults
        if outputs[-1] in ("Object", "ObjectSet"):
            place = f"{self.path}.nodes[{len(outputs) - 1}]"
            yield place, f"the last node must give an answer, but {template.nodes[-1].type} gives {outputs[-1]}"
        yield from self.constraint_faults(outputs)
        yield from self.text_faults(template)

    def note_fillings(self, nodes: Sequence[TemplateNode]) -> None:
        for node in nodes:
            self.filled.update(node.side_inputs)
            if node.composite is not None:
                relation_type = self.catalogue.domain.relation_type
                self.openable.update(each for each in node.side_inputs if self.slots.get(each) != relation_type)

    def key_faults(self) -> Iterator[Fault]:
        """Unknown keys are ignored, but a misspelt `constraints` would constrain nothing, and nobody would notice."""
        for key in self.record:
            if "constraints" not in self.record and get_close_matches(key.lower(), ["constraints"], cutoff=0.8):
                yield self.path, f"unknown key {key!r}; did you mean 'constraints'?"

    def param_faults(self) -> Iterator[Fault]:
        for i, param in enumerate(self.record["params"]):
            if param["type"] not in self.slot_types:
                yield f"{self.path}.params[{i}].type", unknown("slot type", param["type"], self.slot_types)
            if any(earlier["name"] == param["name"] for earlier in self.record["params"][:i]):
                yield f"{self.path}.params[{i}].name", f"slot {param['name']} is declared twice"

    def node_faults(
        self, node: TemplateNode, outputs: Sequence[str | None], path: str
    ) -> tuple[str | None, list[Fault]]:
        composite = node.composite
        if composite is not None:
            found = [*self.input_faults(node, (composite.input,), outputs, path)]
            return composite.output, [*found, *self.description_faults(node, composite, f"{path}.side_inputs")]
        function = self.catalogue.get(node.type)
        if function is None:
            names = [*self.catalogue, *COMPOSITE_NAMES]
            return None, [(f"{path}.type", unknown("node type", node.type, names))]
        found = [*self.input_faults(node, function.inputs, outputs, path)]
        return function.output, [*found, *self.value_faults(node, function.values, f"{path}.side_inputs")]

    def input_faults(
        self, node: TemplateNode, wanted: tuple[str, ...], outputs: Sequence[str | None], path: str
    ) -> Iterator[Fault]:
        if len(node.inputs) != len(wanted):
            yield f"{path}.inputs", f"{node.type} takes {len(wanted)} inputs, found {len(node.inputs)}"
        for k, (i, type_name) in enumerate(zip(node.inputs, wanted, strict=False)):
            if i >= len(outputs):
                yield f"{path}.inputs[{k}]", f"input {i} is not an earlier node (this is node {len(outputs)})"
            elif outputs[i] not in (type_name, None):
                yield f"{path}.inputs[{k}]", f"{node.type} takes {type_name}, but node {i} gives {outputs[i]}"

    def undeclared(self, slot: str) -> str:
        """Names all slots: they are few, and too short for one to be nearest."""
        return f"slot {slot} is not declared; params declare {', '.join(self.slots) or 'none'}"

    def type_of(self, side_input: str, path: str) -> tuple[str | None, list[Fault]]:
        """The type of a slot, or None for a literal value or an undeclared slot (which is a fault)."""
        if not _SLOT.fullmatch(side_input):
            return None, []
        if side_input in self.slots:
            return self.slots[side_input], []
        return None, [(path, self.undeclared(side_input))]

    def value_faults(self, node: TemplateNode, wanted: tuple[str, ...], path: str) -> Iterator[Fault]:
        if len(node.side_inputs) != len(wanted):
            expected = f"{len(wanted)} side inputs ({', '.join(wanted)})" if wanted else "no side inputs"
            yield path, f"{node.type} takes {expected}, found {len(node.side_inputs)}"
        for k, (side_input, type_name) in enumerate(zip(node.side_inputs, wanted, strict=False)):
            place = f"{path}[{k}]"
            found, faults = self.type_of(side_input, place)
            yield from faults
            if found in self.slot_types and found != type_name:
                yield place, f"{node.type} takes a {type_name}, but slot {side_input} is a {found}"
            known = self.catalogue.domain.values_of(type_name)
            if found is None and not faults and side_input not in known:
                yield place, unknown(type_name, side_input, known)

    def description_faults(self, node: TemplateNode, composite: Composite, path: str) -> Iterator[Fault]:
        """A composite's side inputs: slots of attribute types, each type once; and one relation, if it relates."""
        relation_type = self.catalogue.domain.relation_type
        types: list[str] = []
        for k, side_input in enumerate(node.side_inputs):
            found, faults = self.type_of(side_input, f"{path}[{k}]")
            yield from faults
            if found is None and not faults:
                yield f"{path}[{k}]", f"{node.type} takes slots such as <X>, found the value {side_input!r}"
            if found in types:
                yield f"{path}[{k}]", f"a second {found} slot; {node.type} describes each attribute once"
            types += [found] if found else []
        readable = [found for found in types if found in self.slot_types]
        if composite.relates and relation_type not in types and len(readable) == len(node.side_inputs):
            yield path, f"{node.type} needs a slot of type {relation_type}"
        if not composite.relates and relation_type in types:
            yield path, f"{node.type} takes no {relation_type} slot"

    def constraint_faults(self, outputs: Sequence[str | None]) -> Iterator[Fault]:
        for i, record in enumerate(self.record.get("constraints") or ()):
            path = f"{self.path}.constraints[{i}]"
            kind = self.catalogue.constraints.get(record["type"])
            if kind is None:
                yield f"{path}.type", unknown("constraint", record["type"], list(self.catalogue.constraints))
                continue
            if len(record["params"]) != len(kind.params):
                yield (
                    f"{path}.params",
                    f"{kind.name} takes {len(kind.params)} {kind.params[0]}s, found {len(record['params'])}",
                )
                continue
            messages = [self.parameter_fault(kind, param, len(outputs)) for param in record["params"]]
            yield from ((f"{path}.params[{k}]", message) for k, message in enumerate(messages) if message)
            types = {} if any(messages) else self.compared_types(kind, record["params"], outputs)
            if len(types) > 1:
                yield f"{path}.params", f"{kind.name} compares like with like, found {' and '.join(types)}"

    def compared_types(
        self, kind: ConstraintKind, params: Sequence[Any], outputs: Sequence[str | None]
    ) -> dict[str, None]:
        """The types of a constraint's parameters, each once."""
        types = [self.slots[param] if kind.params[0] == SLOT else outputs[param] for param in params]
        return dict.fromkeys(found for found in types if found is not None)

    def parameter_fault(self, kind: ConstraintKind, param: str | int, nodes: int) -> str | None:
        if kind.params[0] == SLOT and not isinstance(param, str):
            return f"{kind.name} takes slots, found the node number {param}"
        if kind.params[0] == NODE and isinstance(param, str):
            return f"{kind.name} takes node numbers, found {param!r}"
        if isinstance(param, str):
            return self.slot_fault(kind, param)
        return None if 0 <= param < nodes else f"there is no node {param}; nodes are 0 to {nodes - 1}"

    def slot_fault(self, kind: ConstraintKind, slot: str) -> str | None:
        if slot not in self.slots:
            return self.undeclared(slot)
        if slot not in self.filled:
            return f"no node fills slot {slot}"
        if kind.name == "NULL" and slot not in self.openable:
            return f"slot {slot} is never left open; only a description's attributes are"
        return None

    def text_faults(self, template: Template) -> Iterator[Fault]:
        for i, text in enumerate(template.texts):
            path = f"{self.path}.text[{i}]"
            for slot in dict.fromkeys(_SLOT.findall(text)):
                if slot not in self.slots:
                    yield path, self.undeclared(slot)
                elif slot not in self.filled:
                    yield path, f"slot {slot} is in the text, but no node fills it"
            if re.search("[<>]", _SLOT.sub("", text)):
                yield path, "a stray '<' or '>'; a slot is written <X>, without spaces"
            if _unbalanced(text):
                yield path, "optional brackets [ ] do not pair up"


def _unbalanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if depth < 0:
            return True
    return depth != 0
