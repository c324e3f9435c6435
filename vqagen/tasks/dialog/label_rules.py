"""The labels of captions and rounds, and what the texts of each must say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vqagen.tasks.dialog.template import (
    ANCHOR,
    ANY_EXTREME,
    CAPTION,
    COUNT,
    EXIST,
    FOCUS,
    GROUP,
    RESULT,
    SEEK,
    SUBJECT,
)

NEAREST, LITERAL = "nearest", "literal"
EXACT, BARE = "exact", "bare"


class LabelRule(NamedTuple):
    """What the texts of a label must say."""

    family: str
    slots: tuple[str, ...] = ()
    """The slots that each text has; of "E|R" at least one."""
    marks: Mapping[str, str] = {}
    """Role that each text marks -> a slot that the mark must hold, "" for none."""
    may_mark: tuple[str, ...] = (RESULT,)
    """Further roles."""
    forms: tuple[str, ...] = ("",)

    @property
    def known_slots(self) -> tuple[str, ...]:
        """Every slot that has a filling."""
        return tuple(slot for each in self.slots for slot in each.split("|"))


_EXTREME = LabelRule(CAPTION, ("D", "E|R"), {RESULT: ""}, ())
_CAPTIONS = {
    ANY_EXTREME: _EXTREME,
    "extreme-center": LabelRule(CAPTION, ("D",), {RESULT: ""}, ()),
    "unique-obj": LabelRule(CAPTION, ("D",), {RESULT: "D"}, (), (EXACT, BARE)),
    "count-att": LabelRule(CAPTION, ("K", "V"), {RESULT: "V"}, ()),
    "count-att-no": LabelRule(CAPTION, ("V",), {RESULT: "V"}, ()),
    "obj-relation": LabelRule(CAPTION, ("D", "R", "D2"), {SUBJECT: "D", ANCHOR: "D2"}, ()),
}
_ROUNDS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "count-all": (COUNT, ()),
    "count-other": (COUNT, ()),
    "exist-other": (EXIST, ()),
    "count-all-group": (COUNT, ()),
    "count-attribute": (COUNT, ("V",)),
    "exist-attribute": (EXIST, ("V",)),
    "count-attribute-group": (COUNT, ("V",)),
    "exist-attribute-group": (EXIST, ("V",)),
    "count-obj-rel-imm": (COUNT, ("R",)),
    "exist-obj-rel-imm": (EXIST, ("R",)),
    "count-obj-rel-imm2": (COUNT, ("R",)),
    "exist-obj-rel-imm2": (EXIST, ("R",)),
    "count-obj-rel-early": (COUNT, ("R", "D")),
    "exist-obj-rel-early": (EXIST, ("R", "D")),
    "count-obj-exclude-imm": (COUNT, ("A",)),
    "exist-obj-exclude-imm": (EXIST, ("A",)),
    "count-obj-exclude-early": (COUNT, ("A", "D")),
    "exist-obj-exclude-early": (EXIST, ("A", "D")),
    "seek-attr-imm": (SEEK, ("A",)),
    "seek-attr-imm2": (SEEK, ("A",)),
    "seek-attr-early": (SEEK, ("A", "D")),
    "seek-attr-sim-early": (SEEK, ("D",)),
    "seek-attr-rel-imm": (SEEK, ("R", "A")),
    "seek-attr-rel-early": (SEEK, ("R", "A", "D")),
}


def label_rules(relations: Iterable[str]) -> Mapping[str, LabelRule]:
    """Return label -> what its texts must say, for a domain with these directions."""
    extremes = {f"extreme-{relation}": _EXTREME for relation in relations}
    return {**_CAPTIONS, **extremes, **{label: _round_rule(label, *rule) for label, rule in _ROUNDS.items()}}


def _round_rule(label: str, family: str, slots: tuple[str, ...]) -> LabelRule:
    """Return the rule of a kind of round. An ellipsis ("imm2") need not name the object that it is about."""
    marks: dict[str, str] = {}
    may_mark: tuple[str, ...] = (RESULT,)
    if label.endswith("-group"):
        marks[GROUP] = ""
    elif label.endswith("-early"):
        marks[FOCUS] = "D"
    elif label.endswith("-imm"):
        marks[FOCUS] = ""
    elif label.endswith("-imm2"):
        may_mark = (RESULT, FOCUS)
    forms = (NEAREST, LITERAL) if label.startswith("seek-attr-rel") else ("",)
    return LabelRule(family, slots, marks, may_mark, forms)
