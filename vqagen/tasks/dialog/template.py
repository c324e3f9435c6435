"""Dialog templates: the texts of captions and rounds, by their labels.

The grammar of a text:

    text     = part*
    part     = literal | slot | slot "s" | optional | fitting | mark
    slot     = "<" name ">"
    optional = "[" part* "]"
    fitting  = "[" condition "|" part* "]"
    mark     = "{" role "|" part* "}"

A slot followed by a lone `s` is said in the plural. An optional part is said half of the time; it holds no other one.
A fitting part is said exactly where its condition holds: "the [far|earlier] <D>" is "the cube" or "the earlier cube". A
text of which nothing is left is not said. A mark gives words a role: "What is the <A> of {focus|the <D>}?". Marks and
fitting parts may stand inside each other and inside optional parts.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

from vqagen.errors import unknown

CAPTION = "caption"
"""The family of captions; those of rounds are in `rounds.FAMILIES`."""
FOCUS, GROUP, RESULT, SUBJECT, ANCHOR = ROLES = ("focus", "group", "result", "subject", "anchor")
"""The object that a question refers back to, and the group ("them"); the objects that a sentence is about; in captions
of two objects, each of them."""
NEAR, FAR, BACK, SURE, UNSURE = CONDITIONS = ("near", "far", "back", "sure", "unsure")
"""The object that a question names was talked of in one of the last two rounds; it was not; it was not, and no
question so far is said on the condition `BACK`; the listener knows that an object is there; or does not know it."""
SLOT_TYPES: Mapping[str, str] = {
    "A": "Attribute",
    "R": "Relation",
    "D": "Description",
    "D2": "Description",
    "V": "Value",
    "P": "Value",
    "K": "Number",
    "E": "Extreme",
}
"""Slot -> what fills it. <N>, the noun for any object, needs no declaration."""
NOUN = "N"
PLURALS = (NOUN, "V")
"""Slots that have a plural."""
ANY_EXTREME = "extreme-*"
"""The label of a template for captions of every direction."""


class Slot(NamedTuple):
    """A slot, in the singular or the plural."""

    name: str
    is_plural: bool


class Optional(NamedTuple):
    """A part that is said half of the time."""

    parts: tuple[Part, ...]


class Fitting(NamedTuple):
    """A part that is said exactly where a condition holds."""

    condition: str
    parts: tuple[Part, ...]


class Mark(NamedTuple):
    """Words with a role."""

    role: str
    parts: tuple[Part, ...]


Part = str | Slot | Optional | Fitting | Mark


@dataclass(frozen=True)
class DialogText:
    """A text as written, and parsed."""

    written: str
    parts: tuple[Part, ...] = field(repr=False)

    @cached_property
    def slots(self) -> frozenset[str]:
        """The slots that are always said."""
        return frozenset(part.name for part, may_go in walk(self.parts) if isinstance(part, Slot) and not may_go)

    @cached_property
    def every_slot(self) -> frozenset[str]:
        """The slots that are said always or sometimes."""
        return frozenset(part.name for part, _ in walk(self.parts) if isinstance(part, Slot))

    @property
    def options(self) -> int:
        """The number of optional parts."""
        return sum(isinstance(part, Optional) for part, _ in walk(self.parts))

    @cached_property
    def conditions(self) -> frozenset[str]:
        """The conditions of its fitting parts."""
        return frozenset(part.condition for part, _ in walk(self.parts) if isinstance(part, Fitting))

    def where(self, conditions: Container[str]) -> DialogText | None:
        """Return the text where just these conditions hold, without fitting parts; None if nothing is left of it."""
        text = DialogText(self.written, tuple(_decided(self.parts, conditions)))
        return text if any(has_words(part) for part, _ in walk(text.parts)) else None


@dataclass(frozen=True)
class DialogTemplate:
    """The texts of one label or, where its facts come in several forms, of one form of it."""

    name: str
    label: str
    family: str
    form: str
    slots: Mapping[str, str]
    texts: tuple[DialogText, ...]
    file: str = ""

    @property
    def id(self) -> str:
        """The name with the file's."""
        return f"{self.file}#{self.name}"


@dataclass(frozen=True)
class DialogTemplates:
    """The templates of all labels."""

    templates: tuple[DialogTemplate, ...]

    @cached_property
    def _by_label(self) -> Mapping[tuple[str, str], DialogTemplate]:
        return {(each.label, each.form): each for each in self.templates}

    def of(self, label: str, form: str = "") -> DialogTemplate | None:
        """Return the template of a label and form, if there is one; one of its own goes before ANY_EXTREME."""
        found = self._by_label.get((label, form))
        if found is None and label.startswith("extreme-") and label != "extreme-center":
            found = self._by_label.get((ANY_EXTREME, form))
        return found


# The grammar ----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<plural><[^<>\s()]+>s(?!\w))|(?P<slot><[^<>\s()]+>)|(?P<open>\[(?:\w+\|)?|\{\w*\|)|(?P<close>[\]}])"
    r"|(?P<text>[^<\[\]{}]+|[<{])"
)


@lru_cache(maxsize=4096)  # a text is parsed to be checked, and again to be read
def parse_text(written: str) -> DialogText:
    """Parse a text without faults of form."""
    stack: list[tuple[str, list[Part]]] = [("", [])]
    for token in _TOKEN.finditer(written):
        kind, said = token.lastgroup, token[0]
        if kind == "open":
            stack.append((said, []))
        elif kind == "close":
            opened, parts = stack.pop()
            stack[-1][1].append(_closed(opened, tuple(parts)))
        elif kind == "text":
            stack[-1][1].append(said)
        else:
            stack[-1][1].append(Slot(said.rstrip("s")[1:-1], kind == "plural"))
    return DialogText(written, tuple(stack[0][1]))


def _closed(opened: str, parts: tuple[Part, ...]) -> Part:
    """Return the part that begins with "[", "[condition|" or "{role|"."""
    if opened == "[":
        return Optional(parts)
    return Fitting(opened[1:-1], parts) if opened[0] == "[" else Mark(opened[1:-1], parts)


def form_faults(written: str) -> Iterator[str]:
    """Yield why a text cannot be parsed; nothing if it can."""
    if not written.strip():
        yield f"expected some text, found {written!r}"
    if private := re.search("[\ue000-\ue1ff]", written):
        yield f"the character {private[0]!r} has no meaning: it is of a private area"
    stack: list[str] = []
    for token in _TOKEN.finditer(written):
        kind, said = token.lastgroup, token[0]
        if kind == "open":
            if said == "[" and "[" in stack:
                yield "optional parts [ ] cannot stand inside each other"
            stack.append(said)
        elif kind == "close":
            if not stack or {"[": "]", "{": "}"}[stack.pop()[0]] != said:
                yield f"brackets [ ] and marks {{ }} do not pair up: {said!r} closes nothing that is open"
                return
        elif kind == "text" and said in ("<", "{"):
            hint = "a slot is written <X>" if said == "<" else "a mark is written {role|words}"
            yield f"a stray {said!r}; {hint}"
            if said == "{":
                stack.append(said)
        elif kind == "text" and ">" in said:
            yield "a stray '>'; a slot is written <X>"
    if stack:
        yield f"brackets [ ] and marks {{ }} do not pair up: {stack[-1][0]!r} is never closed"


def walk(parts: Sequence[Part], may_go: bool = False) -> Iterator[tuple[Part, bool]]:
    """Yield every part, and whether it may be left out."""
    for part in parts:
        yield part, may_go
        if isinstance(part, Optional | Fitting | Mark):
            yield from walk(part.parts, may_go or not isinstance(part, Mark))


def has_words(part: Part) -> bool:
    """True if a part is a slot or words, and not only holds such parts."""
    return isinstance(part, Slot) or (isinstance(part, str) and bool(part.strip()))


def _decided(parts: Sequence[Part], conditions: Container[str]) -> Iterator[Part]:
    """Yield the parts where just these conditions hold."""
    for part in parts:
        if isinstance(part, Fitting):
            yield from _decided(part.parts, conditions) if part.condition in conditions else ()
        elif isinstance(part, Optional | Mark):
            yield part._replace(parts=tuple(_decided(part.parts, conditions)))
        else:
            yield part


def mark_faults(
    marks: list[tuple[Mark, bool]], label: str, required: Mapping[str, str], allowed: Sequence[str]
) -> Iterator[str]:
    """Yield the faults of a text's marks, each with whether it is optional. `required` are roles -> the slot inside."""
    known = (*required, *allowed)
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
        elif is_optional and mark.role in required:
            yield f"the mark {{{mark.role}|…}} is in an optional part; {label} must always say it"
        elif required.get(mark.role) and required[mark.role] not in inside:
            yield f"the mark {{{mark.role}|…}} must hold <{required[mark.role]}>"
        seen.add(mark.role)
    for role in required if seen <= set(ROLES) else ():  # an unknown role is probably the missing one, misspelt
        if role not in seen:
            yield f"no mark {{{role}|…}}: put it around the words that name the {_MEANINGS[role]}"


_MEANINGS = {
    "focus": "object that the question refers back to",
    "group": "group that the question is about",
    "result": "objects that the caption is about",
    "subject": "object that stands in the relation",
    "anchor": "object that the relation is to",
}
