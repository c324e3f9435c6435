"""Constraints in words: the meaning of a constraint, with the template's own slots and nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from vqagen.authoring.naming import listed
from vqagen.language.template import Constraint
from vqagen.plugin import CONSTANT, NODE, SLOT

_REMARK = re.compile(r"\s*\([^()]*\.\)\s*")
"""A sentence in brackets, about the constraint's history."""
_SLOTS = re.compile(r"\b(?:the|both) slots\b|\bthe slot\b", re.IGNORECASE)
_NODES_OWN = re.compile(r"\bthe node(?:s'|'s) (\w+)", re.IGNORECASE)
_NODES = re.compile(r"\b(?:the|both) nodes\b|\bthe node\b", re.IGNORECASE)
_CONSTANTS = re.compile(r"\bthe (?:constants?|values)\b", re.IGNORECASE)


def in_words(constraint: Constraint, slots: Mapping[str, str]) -> str:
    """Return "The color <C> is left open.", "The outputs of nodes 1 and 3 differ." or the like.

    The sentence is that of the kind, with names in place of "the slot", "both nodes" or "the constant". Parameters that
    it does not mention follow it. `slots` maps slots to types.
    """
    meaning = _REMARK.sub(" ", constraint.kind.meaning).strip() or constraint.kind.name
    ending = "." if meaning.endswith(".") else ""
    meaning = meaning.removesuffix(".")
    behind = []
    for name, patterns in (
        (_slots(constraint, slots), (_SLOTS,)),
        (_nodes(constraint), (_NODES_OWN, _NODES)),
        (_constants(constraint), (_CONSTANTS,)),
    ):
        found = _named(meaning, name, patterns) if name else meaning
        behind += [name] if name and found == meaning else []
        meaning = found
    sentence = ": ".join(filter(None, (meaning, "; ".join(behind)))) + ending
    return sentence[:1].upper() + sentence[1:]


def _named(meaning: str, name: str, patterns: Sequence[re.Pattern[str]]) -> str:
    for pattern in patterns:
        meaning = pattern.sub(lambda match: f"the {match[1]} of {name}" if match.lastindex else name, meaning)
    return meaning


def _slots(constraint: Constraint, types: Mapping[str, str]) -> str:
    slots = constraint.slots
    return f"the {types[slots[0]].lower()} {slots[0]}" if len(slots) == 1 else listed(slots)


def _nodes(constraint: Constraint) -> str:
    numbers = [str(number) for number in constraint.nodes]
    return ("node " if len(numbers) == 1 else "nodes ") + listed(numbers) if numbers else ""


def _constants(constraint: Constraint) -> str:
    return listed([word for each in constraint.params if each.kind == CONSTANT for word in _words(each.value)])


def _words(constant: Any) -> list[str]:
    return [str(each) for each in constant] if isinstance(constant, list) else [str(constant)]


def parameter_words(kind: str) -> str:
    """Return a parameter kind as the catalogue shows it: `<slot> …` takes one or more."""
    singular = {SLOT: "<slot>", NODE: "node"}
    if kind.endswith("s"):
        return f"{singular.get(kind.removesuffix('s'), kind.removesuffix('s'))} …"
    return singular.get(kind, kind)
