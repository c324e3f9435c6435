"""A template's nodes, checked: that each is of a known type, and takes what that type takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vqagen.errors import Fault, counted, unknown
from vqagen.language.catalogue import Catalogue
from vqagen.language.catalogue_check import PLUGIN_HINT, is_misspelt
from vqagen.language.composite import Composite
from vqagen.language.slots import Slots, is_slot
from vqagen.language.template import TemplateNode
from vqagen.world.domain import Domain

Outputs = Sequence[str | None]
"""The type that each node gives; None if it is unknown."""


class NodeCheck:
    """Reads nodes in order; `outputs` and `faults` grow."""

    def __init__(self, nodes: Sequence[TemplateNode], slots: Slots, catalogue: Catalogue) -> None:
        self.nodes, self.slots, self.catalogue = nodes, slots, catalogue
        self.outputs: list[str | None] = []
        self.faults: list[Fault] = []
        for i, node in enumerate(nodes):
            self.faults += self.node_faults(node, f"nodes[{i}]")
            self.outputs.append(self.output_of(node))
        self.faults += self.last_node_faults(nodes[-1])

    def output_of(self, node: TemplateNode) -> str | None:
        if node.composite is not None:
            return node.composite.output
        function = self.catalogue.get(node.type)
        return function.output if function else None

    def last_node_faults(self, node: TemplateNode) -> Iterator[Fault]:
        reducer = node.composite.reducer or "" if node.composite else node.type
        function = self.catalogue.get(reducer)
        if self.outputs[-1] is not None and (function is None or not function.asks):
            message = f"the last node must give an answer, but {node.type} gives {self.outputs[-1]}"
            yield f"nodes[{len(self.nodes) - 1}]", message

    def node_faults(self, node: TemplateNode, path: str) -> Iterator[Fault]:
        composite = node.composite
        if composite is not None:
            yield from self.input_faults(node, (composite.input,), path)
            yield from self.description_faults(node, composite, f"{path}.side_inputs")
            return
        function = self.catalogue.get(node.type)
        if function is None:
            yield f"{path}.type", self.unknown_type(node.type)
            return
        yield from self.input_faults(node, function.inputs, path)
        yield from self.value_faults(node, function.values, f"{path}.side_inputs")

    def unknown_type(self, name: str) -> str:
        """Return the message for a node of no known type."""
        if name in [declared.get("name") for declared in self.catalogue.domain.declared]:
            return f"nothing runs {name!r}, which the metadata declares; {PLUGIN_HINT}"
        known = [*self.catalogue, *self.catalogue.composites]
        return unknown("node type", name, known) + ("" if is_misspelt(name, known) else f" ({PLUGIN_HINT})")

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
        this = len(self.outputs)
        if i == this:
            return f"node {i} cannot take its own output; inputs are earlier nodes, counted from 0"
        if i < len(self.nodes):
            return f"node {i} comes later than this node, which is node {this} counted from 0; inputs are earlier nodes"
        return (
            f"there is no node {i}; nodes are 0 to {len(self.nodes) - 1}, and inputs are earlier ones (this is {this})"
        )

    # Side inputs ------------------------------------------------------------------------------------------------------

    def value_faults(self, node: TemplateNode, wanted: tuple[str, ...], path: str) -> Iterator[Fault]:
        if len(node.side_inputs) != len(wanted):
            expected = f"{counted(len(wanted), 'side input')} ({', '.join(wanted)})" if wanted else "no side inputs"
            missing = ", ".join(f"a slot of type {each}" for each in wanted[len(node.side_inputs) :])
            remedy = f"; give it {missing}, to be filled and said in the text" if missing else ""
            yield path, f"{node.type} takes {expected}, found {len(node.side_inputs)}{remedy}"
        known_types = self.catalogue.domain.slot_types
        for k, (side_input, type_name) in enumerate(zip(node.side_inputs, wanted, strict=False)):
            known = self.catalogue.domain.values_of(type_name)
            if not is_slot(side_input):
                if side_input not in known:
                    yield f"{path}[{k}]", unknown(type_name, side_input, known)
            elif fault := self.slots.fault(side_input):
                yield f"{path}[{k}]", fault
            elif (found := self.slots.types[side_input]) in known_types and found != type_name:
                yield f"{path}[{k}]", f"{node.type} takes a {type_name}, but slot {side_input} is a {found}"

    def description_faults(self, node: TemplateNode, composite: Composite, path: str) -> Iterator[Fault]:
        """Yield a fault unless there is at most one side input of each type, and one relation if the node relates."""
        domain = self.catalogue.domain
        types: list[str] = []
        for k, side_input in enumerate(node.side_inputs):
            found, fault = self.described(side_input, composite)
            if fault:
                yield f"{path}[{k}]", fault
            if found in domain.slot_types and found not in (*composite.filters, domain.relation_type):
                yield f"{path}[{k}]", _no_filter(composite, found)
            if found in types:
                yield f"{path}[{k}]", f"a second {found}; {node.type} takes one of each type"
            types += [found] if found in domain.value_types else []
        is_readable = len(types) == len(node.side_inputs)
        if composite.relates and domain.relation_type not in types and is_readable:
            yield path, f"{node.type} needs {_relation_hint(domain)}"
        if not composite.relates and domain.relation_type in types:
            yield path, f"{node.type} takes no {domain.relation_type} slot"

    def described(self, side_input: str, composite: Composite) -> tuple[str, str | None]:
        """Return the type of a description's side input ("" if it is unknown), and what is wrong with it."""
        if is_slot(side_input):
            return self.slots.types.get(side_input, ""), self.slots.fault(side_input)
        domain = self.catalogue.domain
        types = [each for each in composite.filters if side_input in domain.values_of(each)]
        words = [word for each in composite.filters for word in domain.values_of(each)]
        if composite.relates:
            types += [domain.relation_type] if side_input in domain.relations else []
            words += domain.relations
        if len(types) == 1:
            return types[0], None
        if types:
            shown = " and of ".join(types)
            return "", f"{side_input!r} is a value of {shown}; use a slot with an IN constraint, or a filter of its own"
        if side_input in domain.relations:
            return "", f"{composite.name} takes no {domain.relation_type}, found the value {side_input!r}"
        return "", unknown("value", side_input, words)


def _no_filter(composite: Composite, type_name: str) -> str:
    return f"{composite.name} describes objects by attributes; {type_name} is none"


def _relation_hint(domain: Domain) -> str:
    """Return what is missing, such as "a Relation: a slot of that type, or a value such as 'left'"."""
    example = f", or a value such as {domain.relations[0]!r}" if domain.relations else ""
    return f"a {domain.relation_type}: a slot of that type{example}"
