"""Fillings: one way to fill a template, and what a program and a text need to know of it."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from vqagen.bits import Objects
from vqagen.language.catalogue import Value
from vqagen.language.program import Program
from vqagen.plugin import SAMENESS
from vqagen.search.description import Description, Pick
from vqagen.search.plan import Plan


class Filling:
    """One way to fill a template for a scene: what was picked at each op, and its result."""

    __slots__ = ("picked", "plan", "values")

    def __init__(self, plan: Plan, picked: tuple[Pick, ...], values: tuple[Value, ...]) -> None:
        self.plan, self.picked, self.values = plan, picked, values

    @property
    def answer(self) -> Value:
        """The program's answer."""
        return self.values[-1]

    def said(self) -> tuple[int, ...]:
        """Return the set of attributes that each phrase next to the answer says."""
        return self.plan.said(self.picked)

    def words(self) -> dict[str, str | None]:
        """The word of each slot, in the template's order; None if the slot is left open."""
        words = self.plan.open_slots.copy()
        for stage in self.plan.stages:
            op = stage.choice
            does, pick = op.does, self.picked[op.index]
            if isinstance(does, Description):
                words.update(does.vocabulary.worded[op.slots, pick[1]])
                if op.relation_slot:
                    words[op.relation_slot] = pick[0]
            else:
                for slot, word in zip(op.slots, pick, strict=True):
                    if slot:
                        words[slot] = word
        return words

    def program(self) -> Program:
        """The primitive program: composite nodes written out as relate, filters and reducer."""
        plan = self.plan
        layout = plan.layout
        runs = [layout.run]
        while layout.choice is not None:
            run = plan.chosen(layout, self.picked[layout.choice.index])
            layout = layout.after(len(run.nodes))
            runs.append(run)
            runs.append(layout.run)
        return Program.joined(runs, plan.template.catalogue)

    def described(self) -> list[tuple[tuple[str, ...], Objects]]:
        """The slots of each description, and the objects it describes."""
        return [
            (op.slots, objects)
            for op, objects in zip(self.plan.ops, self.values, strict=True)
            if isinstance(op.does, Description)
        ]

    def coinciding(self) -> set[tuple[int, int]]:
        """Return the pairs of references, by their ops, that mean the same object.

        The two of which a question asks whether they are the same object are no such pair.
        """
        ops = self.plan.ops
        references = [op.index for op in ops if op.function == "unique"]
        asked = ops[-1].inputs if ops[-1].function == "equal_object" else ()
        return {
            (one, two)
            for one, two in combinations(references, 2)
            if self.values[one] == self.values[two] and not {one, two} <= {*asked}
        }

    def needs_other(self) -> bool | None:
        """True if "other" is needed: the anchor of a sameness itself fits the description of what is the same.

        None where no description follows a sameness.
        """
        answer: bool | None = None
        for op in self.plan.ops:
            source = self.plan.ops[op.inputs[0]] if op.inputs else op
            if isinstance(op.does, Description) and source.role == SAMENESS:
                anchor = self.values[source.inputs[0]]
                answer = bool(answer) or bool(self.picked[op.index][2] >> anchor & 1)
        return answer


class SearchResult(NamedTuple):
    """The result of a search: a filling, or why there is none."""

    filling: Filling | None
    reason: str
