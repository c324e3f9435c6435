"""A template: a question with holes. Built only by `load_templates`, so always valid for its domain.

From a record to a question, with the file in which each form is made:

    record    "What color is the <Shape>?"                                  template_record: one form for all
              scene, filter_unique(0; <Shape>), query_color(1)
    functions scene, filter_shape, unique, query_color                      functions; a domain's in its catalogue
    template  nodes: scene, filter_unique, query_color; <Shape> is a Shape  template_check: types, every mistake
    plan      ops: scene, a description by <Shape>, unique, query_color     search/plan: one op for each result
    filling   <Shape> is "cube", as the scene has a single one              search/instantiate
    program   scene, filter_shape(0; cube), unique(1), query_color(2)       program: no slot is left
    answer    query_color.run(scene, 7) is "red"                            program: each step runs its function
    text      "What color is the cube?"                                     wording, sentence

`filter_unique` is a template-only node (see `catalogue.Composite`): the program has a filter for each of its slots that
is not left open, and then `unique`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, NamedTuple

from vqagen.frozen import frozen
from vqagen.language.catalogue import Catalogue, Composite, Function
from vqagen.plugin import CONSTANT, DIFFERENT, EQUAL, EQUALITY, NODE, SLOT, ConstraintKind

PLACE, PLACES = "Place", "Places"
"""Types of answers that are places: of one object, and of a set, which may be empty. Both are tuples of indexes."""
SLOT_PATTERN = re.compile(r"<[^<>()\s]+>")


def is_slot(text: str) -> bool:
    """True if a side input is a slot (`<C>`), and no literal value (`red`)."""
    return SLOT_PATTERN.fullmatch(text) is not None


class Described(NamedTuple):
    """One side input of a description: a slot such as <C>, or a literal value such as red.

    The slot of an attribute may be left open; the slot of a relation, and a literal, are always said.
    """

    slot: str
    """"" for a literal."""
    type: str
    literal: str | None


@frozen
class TemplateNode:
    """A step of a template. Side inputs are slots (`<C>`) or literal values (`red`)."""

    type: str
    inputs: tuple[int, ...] = ()
    side_inputs: tuple[str, ...] = ()
    composite: Composite | None = None
    """The chain that the node stands for, if it is template-only."""


@frozen
class Parameter:
    """A parameter of a constraint: a SLOT (its name), a NODE (its number) or a CONSTANT (any JSON value)."""

    kind: str
    value: Any


@frozen
class Constraint:
    """A condition on slots, nodes and constants."""

    kind: ConstraintKind
    params: tuple[Parameter, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots it is about."""
        return tuple(param.value for param in self.params if param.kind == SLOT)

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it is about."""
        return tuple(param.value for param in self.params if param.kind == NODE)

    def __str__(self) -> str:
        return f"{self.kind.name}({', '.join(str(param.value) for param in self.params)})"

    @property
    def in_words(self) -> str:
        """The constraint with its meaning, such as "NEQ(<C>, <C2>): The two slots differ."."""
        return ": ".join(filter(None, (str(self), self.kind.meaning)))

    def holds(self, *known: Any) -> bool:
        """True if the constraint is met; `known` are words of slots and outputs of nodes, in parameter order."""
        given = iter(known)
        return self.kind.holds(*[param.value if param.kind == CONSTANT else next(given) for param in self.params])


@frozen
class Template:
    """One question family.

    `file` is the template's path inside its folder, `index` its place in the file and `family` its place among all
    loaded templates, counted from 0.
    """

    name: str
    file: str
    index: int
    family: int
    texts: tuple[str, ...]
    slots: Mapping[str, str]
    """Slot name -> type, in the order of `params`."""
    nodes: tuple[TemplateNode, ...]
    constraints: tuple[Constraint, ...]
    catalogue: Catalogue = field(repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle constraints by name: what a plug-in declares cannot be pickled itself."""
        constraints = tuple((constraint.kind.name, constraint.params) for constraint in self.constraints)
        return {**self.__dict__, "slots": dict(self.slots), "constraints": constraints}

    def __setstate__(self, state: dict[str, Any]) -> None:
        kinds = state["catalogue"].constraints
        constraints = tuple(Constraint(kinds[name], params) for name, params in state["constraints"])
        self.__dict__.update(state, constraints=constraints)

    @property
    def id(self) -> str:
        """The file and the name, such as `one_hop.json#color_of`; the index if the template has no name."""
        return f"{self.file}#{self.name or self.index}"

    @property
    def last_function(self) -> Function:
        """The primitive function that gives the answer."""
        last = self.nodes[-1]
        name = last.composite.reducer if last.composite else last.type
        return self.catalogue[name or ""]

    @property
    def answer_type(self) -> str:
        """The type of the answer, such as Bool or Color."""
        return self.last_function.output

    @property
    def balanced_type(self) -> str:
        """The type whose answers are balanced: that of the answer, but of sets of objects it is their number."""
        return "Integer" if self.answer_type == PLACES else self.answer_type

    def described(self, node: TemplateNode) -> tuple[Described, ...]:
        """The attributes that a template-only node describes by, in order; its relation is not among them."""
        relation_type = self.catalogue.domain.relation_type
        return tuple(side for side in self._side_inputs(node) if side.type != relation_type)

    def relation(self, node: TemplateNode) -> Described | None:
        """The relation of a template-only node, a slot or a literal; None where the node does not relate."""
        relation_type = self.catalogue.domain.relation_type
        return next((side for side in self._side_inputs(node) if side.type == relation_type), None)

    def _side_inputs(self, node: TemplateNode) -> Iterator[Described]:
        domain, types = self.catalogue.domain, node.composite.filters if node.composite else ()
        for side in node.side_inputs:
            if side in self.slots:
                yield Described(side, self.slots[side], None)
            else:
                owners = (type_name for type_name in types if side in domain.values_of(type_name))
                yield Described("", next(owners, domain.relation_type), side)


def ruled_out_answers(template: Template) -> dict[int, bool]:
    """Return the answer that each constraint rules out in every scene, by the constraint's number.

    "yes" cannot be reached where the two compared results must differ (issue 37 of the reference), nor "no" where they
    must be equal.
    """
    if template.last_function.role != EQUALITY:
        return {}
    compared, answers = sorted(template.nodes[-1].inputs), {DIFFERENT: True, EQUAL: False}
    return {
        number: answers[each.kind.role]
        for number, each in enumerate(template.constraints)
        if each.kind.role in answers and sorted(each.nodes) == compared
    }
