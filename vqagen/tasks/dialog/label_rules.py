"""The labels of captions and rounds, and what the texts of each must say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vqagen.tasks.dialog import round_kind
from vqagen.tasks.dialog.answers import attribute_of_next
from vqagen.tasks.dialog.round_kind import RoundKind
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.template import (
    ANCHOR,
    ANY_EXTREME,
    BACK,
    CAPTION,
    FAR,
    FOCUS,
    GROUP,
    NEAR,
    RESULT,
    SUBJECT,
    SURE,
    UNSURE,
)

_NO_CONDITIONS: tuple[frozenset[str], ...] = (frozenset(),)
_CASES_OF_NAMES = (frozenset({NEAR}), frozenset({FAR}), frozenset({FAR, BACK}))


class LabelRule(NamedTuple):
    """The family of a label, and the slots and marks that its texts must have."""

    family: str
    slots: tuple[str, ...] = ()
    """The slots that each text has; of "E|R" at least one."""
    marks: Mapping[str, str] = {}
    """Role that each text marks -> a slot that the mark must hold, "" for none."""
    may_mark: tuple[str, ...] = (RESULT,)
    """Further roles."""
    forms: tuple[str, ...] = ("",)
    cases: tuple[frozenset[str], ...] = _NO_CONDITIONS
    """The sets of conditions that may hold together; some text can be said in each."""

    @property
    def known_slots(self) -> tuple[str, ...]:
        """Every slot that has a filling."""
        return tuple(slot for each in self.slots for slot in each.split("|"))


_EXTREME = LabelRule(CAPTION, ("D", "E|R"), {RESULT: ""}, ())
_CAPTIONS = {
    ANY_EXTREME: _EXTREME,
    "extreme-center": LabelRule(CAPTION, ("D",), {RESULT: ""}, ()),
    "unique-obj": LabelRule(CAPTION, ("D",), {RESULT: "D"}, (), ("exact", "bare")),
    "count-att": LabelRule(CAPTION, ("K", "V"), {RESULT: "V"}, ()),
    "count-att-no": LabelRule(CAPTION, ("V",), {RESULT: "V"}, ()),
    "obj-relation": LabelRule(CAPTION, ("D", "R", "D2"), {SUBJECT: "D", ANCHOR: "D2"}, ()),
}


def label_rules(relations: Iterable[str]) -> Mapping[str, LabelRule]:
    """Return label -> what its texts must say, for a domain with these directions."""
    extremes = {f"extreme-{relation}": _EXTREME for relation in relations}
    return {**_CAPTIONS, **extremes, **{label: _round_rule(kind) for label, kind in ROUND_KINDS.items()}}


def _round_rule(kind: RoundKind) -> LabelRule:
    """Return the rule of a kind of round. An ellipsis, which only follows certain rounds, need not name its object."""
    marks: dict[str, str] = {}
    may_mark: tuple[str, ...] = (RESULT,)
    if kind.refers == round_kind.GROUP:
        marks[GROUP] = ""
    elif kind.refers == round_kind.NAMED:
        marks[FOCUS] = "D"
    elif kind.after:
        may_mark = (RESULT, FOCUS)
    elif kind.refers != round_kind.NOTHING:
        marks[FOCUS] = ""
    slots, cases = kind.slots, _NO_CONDITIONS
    if kind.refers == round_kind.NAMED:
        slots, cases = (*slots, "D"), _CASES_OF_NAMES
    if kind.learn is attribute_of_next:
        cases = tuple(each | {existence} for existence in (SURE, UNSURE) for each in cases)
    return LabelRule(kind.family, slots, marks, may_mark, cases=cases)
