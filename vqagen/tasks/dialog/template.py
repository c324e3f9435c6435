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
fitting parts may stand inside each other and inside optional parts. So

    How many <V>s are {focus|[far|earlier] <D>}?

is parsed as the parts

    TextPart("text", "How many "), TextPart("plural", "V"), TextPart("text", " are "),
    TextPart("mark", "focus", (TextPart("fitting", "far", (TextPart("text", "earlier"),)), …, TextPart("slot", "D"))), …
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from vqagen.errors import Problem
from vqagen.files.schema import problem_in

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


class TextPart(NamedTuple):
    """A part of a text."""

    kind: str
    name: str
    """The words; or the name of the slot, the condition or the role."""
    parts: Parts = ()
    """The parts inside."""


Parts = tuple[TextPart, ...]
WORDS, SLOT, PLURAL, OPTIONAL, FITTING, MARK = "text", "slot", "plural", "optional", "fitting", "mark"
"""Kinds of parts."""
SLOTS = (SLOT, PLURAL)


@dataclass(frozen=True)
class DialogTemplate:
    """The texts of one label or, where its facts come in several forms, of one form of it; and where they stand."""

    name: str
    label: str
    form: str
    texts: tuple[str, ...]
    file: str = ""
    """The file's path inside the folder of templates."""
    source: str = ""
    """The file's path."""
    document: str = field(default="", repr=False)
    """All of the file."""
    path: str = ""
    """JSON path of the record in the file."""
    is_list: bool = True
    """True if the record has a list of texts, and not one text."""

    @property
    def id(self) -> str:
        """The file and the name."""
        return f"{self.file}#{self.name}"

    def problem(self, place: str, message: str) -> Problem:
        """Return a problem at a path inside the record."""
        place = place if self.is_list else place.removesuffix("[0]")
        return problem_in(self.source, f"{self.path}.{place}" if place else self.path, message, self.document)


DialogTemplates = Mapping[tuple[str, str], DialogTemplate]
"""(label, form) -> template."""


def find_template(templates: DialogTemplates, label: str, form: str = "") -> DialogTemplate | None:
    """Return the template of a label and form, if there is one; one of its own goes before ANY_EXTREME."""
    is_extreme = label.startswith("extreme-") and label != "extreme-center"
    return templates.get((label, form)) or (templates.get((ANY_EXTREME, form)) if is_extreme else None)


# The grammar ----------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"(?P<plural><[^<>\s()]+>s(?!\w))|(?P<slot><[^<>\s()]+>)|(?P<open>\[(?:\w+\|)?|\{\w*\|)|(?P<close>[\]}])"
    r"|(?P<text>[^<\[\]{}]+|[<{])"
)
_PAIRS = {"[": "]", "{": "}"}


def parse_text(written: str) -> Parts:
    """Return the parts of a text without faults of form."""
    return parsed(written)[0]


@lru_cache(maxsize=4096)  # a text is parsed to be checked, and again to be read
def parsed(written: str) -> tuple[Parts, tuple[str, ...]]:
    """Return the parts of a text, and why it cannot be parsed; the parts mean nothing if it cannot."""
    faults = [] if written.strip() else [f"expected some text, found {written!r}"]
    if private := re.search("[\ue000-\ue1ff]", written):
        faults.append(f"the character {private[0]!r} has no meaning: it is of a private area")
    unpaired = "brackets [ ] and marks { } do not pair up:"
    stack: list[tuple[str, list[TextPart]]] = [("", [])]
    """What opened each part that is not closed yet, and the parts inside it so far."""
    for token in _TOKEN.finditer(written):
        kind, said = token.lastgroup, token[0]
        if kind == "open":
            if said == "[" and any(opened == "[" for opened, _ in stack):
                faults.append("optional parts [ ] cannot stand inside each other")
            stack.append((said, []))
        elif kind == "close":
            opened, parts = stack.pop()
            if _PAIRS.get(opened[:1]) != said:
                return (), (*faults, f"{unpaired} {said!r} closes nothing that is open")
            inside = MARK if opened[0] == "{" else OPTIONAL if opened == "[" else FITTING
            stack[-1][1].append(TextPart(inside, opened[1:-1], tuple(parts)))
        elif kind == "text":
            faults += _stray_faults(said)
            if said == "{":
                stack.append((said, []))
            stack[-1][1].append(TextPart(WORDS, said))
        else:
            stack[-1][1].append(TextPart(str(kind), said.rstrip("s")[1:-1]))
    if len(stack) > 1:
        faults.append(f"{unpaired} {stack[-1][0][0]!r} is never closed")
    return tuple(stack[0][1]), tuple(faults)


def _stray_faults(words: str) -> Iterator[str]:
    if words in ("<", "{"):
        yield f"a stray {words!r}; " + ("a slot is written <X>" if words == "<" else "a mark is written {role|words}")
    elif ">" in words:
        yield "a stray '>'; a slot is written <X>"


def walk(parts: Parts, may_go: bool = False) -> Iterator[tuple[TextPart, bool]]:
    """Yield every part, and whether it may be left out."""
    for part in parts:
        yield part, may_go
        yield from walk(part.parts, may_go or part.kind != MARK)


def names_in(parts: Parts, *kinds: str, always: bool = False) -> list[str]:
    """Return the names of the parts of some kinds, each once; with `always` of those that are never left out."""
    names = (part.name for part, may_go in walk(parts) if part.kind in kinds and not (always and may_go))
    return list(dict.fromkeys(names))


def has_words(part: TextPart) -> bool:
    """True if a part is a slot or words, and not only holds such parts."""
    return part.kind in SLOTS or (part.kind == WORDS and bool(part.name.strip()))


def parts_where(parts: Parts, conditions: Container[str]) -> Parts:
    """Return the parts where just these conditions hold, without fitting parts; () if no words are left."""
    decided = tuple(_decided(parts, conditions))
    return decided if any(has_words(part) for part, _ in walk(decided)) else ()


def _decided(parts: Parts, conditions: Container[str]) -> Iterator[TextPart]:
    for part in parts:
        inside = _decided(part.parts, conditions)
        if part.kind != FITTING:
            yield part._replace(parts=tuple(inside))
        elif part.name in conditions:
            yield from inside
