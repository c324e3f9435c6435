"""What the texts of each label must say, and the faults of a record of a dialog template file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import Fault, unknown
from vqagen.tasks.dialog import round_kind
from vqagen.tasks.dialog.answers import attribute_of_next
from vqagen.tasks.dialog.round_kind import RoundKind
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.template import (
    ANCHOR,
    ANY_EXTREME,
    BACK,
    CAPTION,
    CONDITIONS,
    FAR,
    FOCUS,
    GROUP,
    NEAR,
    NOUN,
    PLURALS,
    RESULT,
    ROLES,
    SLOT_TYPES,
    SUBJECT,
    SURE,
    UNSURE,
    DialogText,
    Mark,
    Slot,
    form_faults,
    has_words,
    parse_text,
    walk,
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


# Faults of a record --------------------------------------------------------------------------------------------------


def record_faults(record: Mapping[str, Any], rules: Mapping[str, LabelRule]) -> Iterator[Fault]:
    """Yield the faults of a record of the right shape; paths start from the record."""
    label = record["label"]
    rule = rules.get(label)
    if rule is None:
        yield "label", unknown("label", label, tuple(rules))
    else:
        yield from _faults_of_keys(record, rule)
    is_list = isinstance(record["text"], list)
    texts: list[str] = record["text"] if is_list else [record["text"]]
    found = {i: list(_faults_as_written(written, label, rule)) for i, written in enumerate(texts)}
    for i, faults in found.items():
        for message in faults:
            yield f"text[{i}]" if is_list else "text", message
    if rule is not None and not any(found.values()):
        for case in rule.cases:
            if all(parse_text(written).where(case) is None for written in texts):
                yield "text", f"no text can be said where these conditions hold: {', '.join(sorted(case))}"


def _faults_as_written(written: str, label: str, rule: LabelRule | None) -> Iterator[str]:
    """Yield the faults of a text, each once, whatever conditions hold."""
    faults = list(form_faults(written))
    if not faults and rule is not None:
        text = parse_text(written)
        faults += _condition_faults(text, label, rule)
        for case in rule.cases:
            said = text.where(case)
            faults += _text_faults(said, label, rule) if said else ()
    yield from dict.fromkeys(faults)


def _condition_faults(text: DialogText, label: str, rule: LabelRule) -> Iterator[str]:
    known = tuple(each for each in CONDITIONS if any(each in case for case in rule.cases))
    for each in sorted(text.conditions - set(known)):
        if each in CONDITIONS or not known:
            yield f"{label} has no condition {each!r}; it has {', '.join(known) or 'none'}"
        else:
            yield unknown("condition", each, known)


def _faults_of_keys(record: Mapping[str, Any], rule: LabelRule) -> Iterator[Fault]:
    """Yield the faults of the family, the form, and the declared slots, which may be left out as a whole."""
    label, form, slots = record["label"], record.get("form", ""), record.get("slots", {})
    if record["family"] != rule.family:
        yield "family", f"{label} belongs to the family {rule.family!r}, not {record['family']!r}"
    if form not in rule.forms and rule.forms == ("",):
        yield "form", f"{label} has no forms; leave 'form' out"
    elif form not in rule.forms and not form:
        yield "", f"missing key 'form': {label} needs one of {', '.join(rule.forms)}"
    elif form not in rule.forms:
        yield "form", unknown(f"form of {label}", form, rule.forms)
    known = (*rule.known_slots, NOUN)
    for slot, type_name in slots.items():
        if slot in ("comment", NOUN):
            continue
        if slot not in known:
            yield f"slots.{slot}", f"{label} does not fill the slot {slot!r}; {_fills(rule)}"
        elif type_name != SLOT_TYPES[slot]:
            yield f"slots.{slot}", f"the type of the slot {slot!r} is {SLOT_TYPES[slot]}, not {type_name}"
    for each in rule.slots if slots else ():
        if not any(slot in slots for slot in each.split("|")):
            yield "slots", f"the slot {each.replace('|', ' or ')} is missing, which {label} must say"


def _fills(rule: LabelRule) -> str:
    """Return which slots a label fills."""
    known = [f"<{slot}> ({SLOT_TYPES[slot]})" for slot in rule.known_slots]
    return f"it fills {', '.join([*known, f'<{NOUN}> (Noun)'])}"


def _text_faults(text: DialogText, label: str, rule: LabelRule) -> Iterator[str]:
    """Yield the faults of a text that can be parsed."""
    parts = list(walk(text.parts))
    slots = list(dict.fromkeys(part for part, _ in parts if isinstance(part, Slot)))
    for slot in slots:
        if slot.name not in (*rule.known_slots, NOUN):
            yield f"{label} does not fill the slot <{slot.name}>; {_fills(rule)}"
        elif slot.is_plural and slot.name not in PLURALS:
            yield f"<{slot.name}>s: only {' and '.join(f'<{each}>' for each in PLURALS)} have a plural"
    for each in rule.slots:
        if not any(slot in text.slots for slot in each.split("|")):
            yield f"it does not always say <{each.replace('|', '> or <')}>, and so leaves open what {label} is about"
    yield from _mark_faults([(part, is_optional) for part, is_optional in parts if isinstance(part, Mark)], label, rule)


def _mark_faults(marks: list[tuple[Mark, bool]], label: str, rule: LabelRule) -> Iterator[str]:
    known = (*rule.marks, *rule.may_mark)
    seen: set[str] = set()
    for mark, is_optional in marks:
        inside = {part.name for part, _ in walk(mark.parts) if isinstance(part, Slot)}
        if mark.role not in ROLES:
            yield unknown("role", mark.role, known or ROLES)
        elif mark.role not in known:
            yield f"{label} has no {mark.role} to mark; it has {', '.join(known) or 'nothing to mark'}"
        elif mark.role in seen:
            yield f"{mark.role} is marked twice; mark the place that says most"
        elif not any(has_words(part) for part, may_go in walk(mark.parts) if not may_go):
            yield f"the mark {{{mark.role}|…}} holds no words"
        elif is_optional and mark.role in rule.marks:
            yield f"the mark {{{mark.role}|…}} is in an optional part; {label} must always say it"
        elif rule.marks.get(mark.role) and rule.marks[mark.role] not in inside:
            yield f"the mark {{{mark.role}|…}} must hold <{rule.marks[mark.role]}>"
        seen.add(mark.role)
    for role in rule.marks if seen <= set(ROLES) else ():  # an unknown role is probably the missing one, misspelt
        if role not in seen:
            yield f"no mark {{{role}|…}}: put it around the words that name the {_MEANINGS[role]}"


_MEANINGS = {
    "focus": "object that the question refers back to",
    "group": "group that the question is about",
    "result": "objects that the caption is about",
    "subject": "object that stands in the relation",
    "anchor": "object that the relation is to",
}
