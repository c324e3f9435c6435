"""Binding: from a program back to the words of a template's slots.

A template is a row of moves, each of which takes a step of the program. A template-only node has an optional move for
each attribute that it may describe by: where there is no step for it, the attribute was left open.

    moves     scene  filter_size <Z>  filter_color <C>  filter_shape <S>   unique  query_size
    program   scene                   filter_color red  filter_shape cube  unique  query_size
    words            <Z> is open      <C> is red        <S> is cube
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vqagen.bits import Objects
from vqagen.language.catalogue import Catalogue, Value
from vqagen.language.template import Described, Template, TemplateNode
from vqagen.plugin import CONSTANT, FILTER, SAMENESS, SLOT, Run
from vqagen.world.scene import Scene

Words = dict[str, str | None]
"""Slot -> value, None where the slot is left open."""
Step = tuple[str, tuple[int, ...], tuple[str, ...]]
"""A node of a program: its function, inputs and values. A `Node` is one."""
Outline = tuple[Run, ...]
_NO_STEP: Step = ("", (), ())


class _StepPattern(NamedTuple):
    """What a template does in one step of a program."""

    functions: frozenset[str]
    """The function by all its names; none for a node that takes no step, such as a description without attributes."""
    sides: tuple[str, ...]
    """Slots and literal values."""
    sources: tuple[int, ...] | None
    """The template nodes that it starts from; None if it starts from the move before, in the same node."""
    is_optional: bool
    ends_node: bool
    is_ambiguous: bool = False
    """True if a step that it may take may also be that of the next move."""


class Bound(NamedTuple):
    """A program seen as a filling of a template."""

    words: Words
    places: tuple[int, ...]
    """Template node -> the step with its result."""
    steps: dict[str, tuple[int, ...]]
    """Slot -> the steps that have its word."""


def outline(names: Iterable[str], catalogue: Catalogue) -> Outline:
    """Return what the fillings of a template have in common: all functions but filters, which descriptions vary in."""
    functions = (catalogue[name] for name in names)
    return tuple([function.run for function in functions if function.role != FILTER])


class Binder:
    """A template that finds its slots in programs."""

    def __init__(self, template: Template) -> None:
        catalogue = template.catalogue
        self._moves = tuple(_with_ambiguity([move for node in template.nodes for move in _moves(template, node)]))
        self._slots: Words = dict.fromkeys(template.slots)
        self._on_words = [
            constraint
            for constraint in template.constraints
            if constraint.slots and all(param.kind in (SLOT, CONSTANT) for param in constraint.params)
        ]
        self._likenesses = tuple(_likenesses(template))
        self._described = [
            (number, tuple([each.slot for each in template.described(node) if each.slot]), bool(node.composite.reducer))
            for number, node in enumerate(template.nodes)
            if node.composite
        ]
        self.outline = outline((min(move.functions) for move in self._moves if move.functions), catalogue)
        self._attributes = {attribute.type: attribute.name for attribute in catalogue.domain.attributes}

    def bind(self, program: Sequence[Step]) -> list[Bound]:
        """Return all ways to fill the template that give a sound program: one, or none if it is another template's.

        There are several only where a step may say either of two slots.
        """
        bindings: list[Bound] = []
        self._walk(program, 0, 0, -1, Bound(self._slots.copy(), (), {}), bindings)
        return [binding for binding in bindings if self._is_allowed(binding.words)]

    def _walk(
        self, program: Sequence[Step], first: int, at: int, before: int, bound: Bound, bindings: list[Bound]
    ) -> None:
        """Go on with the move `first` and the step `at`; add to `found` what reaches the end of both.

        `before`: the step that the next move starts from, if it does not begin a node.
        """
        words, places, steps = bound.words, [*bound.places], bound.steps
        for number in range(first, len(self._moves)):
            functions, sides, sources, is_optional, ends_node, is_ambiguous = self._moves[number]
            if sources:
                before = places[sources[0]]
            function, inputs, values = program[at] if at < len(program) else _NO_STEP
            if function in functions:
                if is_ambiguous:
                    # The step filter_toppings(0, salt) may say <T> or, with <T> left open, <T2>: try that first.
                    left_open = Bound(words.copy(), (*places, before) if ends_node else tuple(places), steps.copy())
                    self._walk(program, number + 1, at, before, left_open, bindings)
                starts = (before,) if sources is None or len(sources) == 1 else tuple([places[i] for i in sources])
                if inputs != starts:
                    return
                for side, value in zip(sides, values, strict=True):
                    # A literal that is not the step's, or a slot that another step gave another word.
                    if words.get(side, side) not in (None, value):
                        return
                    if side in words:
                        words[side], steps[side] = value, (*steps.get(side, ()), at)
                before, at = at, at + 1
            elif not is_optional:
                return
            if ends_node:
                places.append(before)
        if at == len(program):
            bindings.append(Bound(words, tuple(places), steps))

    def _is_allowed(self, words: Words) -> bool:
        """True if the words meet the template's constraints on words."""
        return all(constraint.holds(*[words[slot] for slot in constraint.slots]) for constraint in self._on_words)

    def anchor_fits(self, bound: Bound, scene: Scene, outputs: Sequence[Value]) -> bool | None:
        """True if "other" is needed: the anchor of a sameness itself fits the description of what is the same.

        None where no description follows a sameness. `outputs` are the results of the program's steps.
        """
        answer: bool | None = None
        for anchor, described in self._likenesses:
            words = [(self._attributes[side.type], side.literal or bound.words[side.slot]) for side in described]
            thing = outputs[bound.places[anchor]]
            fits = all(scene.having[name][value] >> thing & 1 for name, value in words if value is not None)
            answer = bool(answer) or fits
        return answer

    def described(
        self, bound: Bound, program: Sequence[Step], outputs: Sequence[Value]
    ) -> list[tuple[tuple[str, ...], Objects]]:
        """Return the slots of each description, and the objects it describes, by the results of the program's steps."""
        found = []
        for node, slots, is_reduced in self._described:
            step = bound.places[node]
            found.append((slots, outputs[program[step][1][0] if is_reduced else step]))
        return found


def _moves(template: Template, node: TemplateNode) -> Iterator[_StepPattern]:
    """Yield the moves of a template node."""
    catalogue, composite = template.catalogue, node.composite
    if composite is None:
        yield _StepPattern(
            _names(catalogue, node.type), node.side_inputs, node.inputs, is_optional=False, ends_node=True
        )
        return
    moves: list[tuple[str, tuple[str, ...], bool]] = []
    relation = template.relation(node)
    if composite.relates and relation is not None:
        moves.append(("relate", (relation.slot or relation.literal or "",), False))
    for slot, kind, literal in template.described(node):
        moves.append((composite.filters[kind], (slot or literal or "",), bool(slot)))
    # A description without side inputs and reducer takes no step, but it ends a node all the same.
    if composite.reducer or not moves:
        moves.append((composite.reducer or "", (), not composite.reducer))
    for number, (function, sides, is_optional) in enumerate(moves):
        names = _names(catalogue, function) if function else frozenset[str]()
        yield _StepPattern(names, sides, None if number else node.inputs, is_optional, number == len(moves) - 1)


def _names(catalogue: Catalogue, name: str) -> frozenset[str]:
    """Return all names of a function, under any of which a program may have it."""
    function = catalogue[name]
    if not function.aliases:
        return frozenset((name,))
    # "add" for "addition": a file of another generator may say either.
    proper = next(other.name for other in catalogue.values() if other.run is function.run)
    return frozenset((proper, *function.aliases))


def _with_ambiguity(moves: Sequence[_StepPattern]) -> Iterator[_StepPattern]:
    """Yield the moves; mark those whose step may be that of a later move, as of two slots for one list of toppings."""
    for number, move in enumerate(moves):
        later: set[str] = set()
        for other in moves[number + 1 :]:
            later |= other.functions
            if not other.is_optional:
                break
        yield move._replace(is_ambiguous=move.is_optional and not later.isdisjoint(move.functions))


def _likenesses(template: Template) -> Iterator[tuple[int, tuple[Described, ...]]]:
    """Yield (node of the anchor, description) for each description of what is the same as an anchor."""
    for node in template.nodes:
        source = template.nodes[node.inputs[0]] if node.composite and node.inputs else None
        if source and not source.composite and template.catalogue[source.type].role == SAMENESS:
            yield source.inputs[0], template.described(node)
