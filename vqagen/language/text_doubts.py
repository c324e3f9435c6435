"""Texts that cannot ask what their program computes: doubts of the loader, which `check` lists and `generate` counts.

A doubt is a (JSON path in the canonical record, message). What names an attribute is known of English texts alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from vqagen.errors import Fault
from vqagen.language.sentence import is_english
from vqagen.language.template import SLOT_PATTERN, Template
from vqagen.plugin import CONSTANT, EQUAL, MEMBER

_SLOT = SLOT_PATTERN.pattern
_WITHOUT_SPACES = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
"""Letters of Thai, Lao, Burmese, Khmer, Japanese and Chinese, which put no spaces between words."""
_TWO_MARKS = re.compile(r"[?!,;:.]\s*[?!,;:.]")
"""Found in a tenth of the time: few texts have two marks in a row, odd or not."""
_ODD_MARKS = r"\?\s*[?.]|!\s*!|[?!]{3}|[,;:]\s*[?.!,;:]|(?<!\.)\.\.(?!\.)|\.\s*\?"
_TOUCHING = re.compile(r"<(?<=[\w>]<)|>\w\w")
"""A slot without a space at one side, as few texts have one; not "<S>s", which is its plural."""
_GLUED = rf"(?i)\b(?:the|an?|of|is|are|any|many|and)({_SLOT})|({_SLOT})(?:of|is|are|in|on|and|or|that|to|the|with)\b"
"""A word of English and a slot without a space between them."""
_COUNTED = re.compile(
    rf"\b(?:how many|(?:number|count) of|count) (?:the |all )*(?:other )?(?:{_SLOT} ?)*({_SLOT})"
    r"(?= ?(?:[?.,;!]|$)| (?:are|is|were|was|do|does|did|have|has|can|could|of|in|on|to|at|that|which|with|there)\b)",
    re.IGNORECASE,
)
_ASKED = r"\b(?:what|which) (?:is |are )?(?:the |its |their )?{0}\b(?!(?:(?<=kind)|(?<=type)) of\b)|\bof what {0}\b"
_ASKED += r"|['’]s {0}\s*[?.]|\b(?:tell me|name|say|state|give me) (?:the |its ){0}\b"
_AGREED = (
    r"\b(?:same|equal) {0}\b|\bthe {0} of\b[^?;]* the same\s*\?|\b(?:share|match in) (?:(?:the|their|its|a) )?{0}\b"
)
_OTHER_KINDS = {
    "query": re.compile(r"^(?:is|are) there\b[^;,.]*\?$", re.IGNORECASE),
    "exist": re.compile(r"(?:^|[.,;:] )(?:how many|what (?:is|are) the number of)\b", re.IGNORECASE),
    "count": re.compile(r"^(?:is|are) there (?:an?|any)\b[^;,.]*\?$", re.IGNORECASE),
}
"""What a program asks for -> how English asks for another kind of answer."""
_IDIOMS = {
    "size": r"\bhow (?:big|large|small)\b",
    "color": r"\b(?:what|which|same) colou?r\b",
    "material": r"\b(?:what|which)\b[^?]*\bmade (?:out )?of\s*\?|\bmade (?:out )?of what\b",
    "height": r"\bhow tall\b",
    "weight": r"\bhow heavy\b",
}
"""Attribute -> how English asks for it without its name."""


def is_determined(template: Template, slot: str, said: Collection[str]) -> bool:
    """True if a text that says these slots also determines `slot`: by an equal slot, or because it has one value."""
    equal = {slot}
    for constraint in template.constraints:
        # EQ(<C>, <C2>): a text that says <C2> says <C> as well.
        if constraint.kind.role == EQUAL and equal & set(constraint.slots):
            equal |= set(constraint.slots)
        if slot in constraint.slots and constraint.kind.name == "NULL":
            return True
        if constraint.kind.role == MEMBER and slot in constraint.slots:
            values = [param.value for param in constraint.params if param.kind == CONSTANT]
            if len(values) == 1 and not (isinstance(values[0], list) and len(values[0]) > 1):
                return True
    return not equal.isdisjoint(said)


def left_out_slots(template: Template) -> Iterator[Fault]:
    """Yield texts that leave out a slot which another text has."""
    said = [set(SLOT_PATTERN.findall(text)) for text in template.texts]
    every = set[str]().union(*said)
    for i, slots in enumerate(said):
        for slot in template.slots if slots < every else ():
            if slot in every - slots and not is_determined(template, slot, slots):
                yield f"text[{i}]", f"text {i} says {slot} not at all, so it does not ask what the program answers"


def other_attributes(template: Template) -> Iterator[Fault]:
    """Yield texts that ask for another attribute than the program: "How big is …" with `query_color`."""
    domain, function = template.catalogue.domain, template.last_function
    names = [attribute.name for attribute in domain.attributes]
    meant = [name for name in names if function.name in (f"query_{name}", f"equal_{name}")]
    if not meant or not is_english(template.texts, domain.language):
        return
    used = [name for name in names if any(node.type.endswith(f"_{name}") for node in template.nodes)]
    word = re.escape(_words(meant[0]))
    named = re.compile(rf"{word}(?<=\b{word})")  # begins with a letter and not with `\b`, so that `re` looks for it
    for i, text in enumerate(template.texts):
        # "What is left of the <Color> cube?" does not ask for the color: that is the name of a slot.
        plain = SLOT_PATTERN.sub("", text).lower().replace("colour", "color")
        if named.search(plain) or any(_asks(plain, name, function.asks) for name in used):
            continue
        asked = next((name for name in names if _asks(plain, name, function.asks)), None)
        if asked:
            yield f"text[{i}]", f"text {i} asks for the {_words(asked)}, the program for the {_words(meant[0])}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _asks(text: str, name: str, asks: str) -> bool:
    if name in _IDIOMS and re.search(_IDIOMS[name], text):
        return True
    word = _words(name)
    form = _ASKED if asks == "query" else f"{_ASKED}|{_AGREED}"
    return word in text and re.search(form.format(re.escape(word)), text) is not None


def other_kinds(template: Template) -> Iterator[Fault]:
    """Yield texts that ask for another kind of answer than the program: "How many …?" of a yes or no."""
    asks = template.last_function.asks
    wrong = _OTHER_KINDS.get(asks)
    if wrong and is_english(template.texts, template.catalogue.domain.language):
        for i, text in enumerate(template.texts):
            if wrong.search(re.sub(r"\[[^\[\]]*\]", "", text).strip()):
                yield f"text[{i}]", f"text {i} asks for another kind of answer than the program, whose kind is {asks}"


def singular_counts(template: Template) -> Iterator[Fault]:
    """Yield texts that count a slot in the singular: "How many <S> are there?"."""
    domain = template.catalogue.domain
    counts = any("count" in node.type for node in template.nodes)
    for i, text in enumerate(template.texts if counts else ()):
        found = _COUNTED.search(re.sub(r"\[[^\[\]]*\]", "", text))
        values = domain.values_of(template.slots.get(found[1], "")) if found else ()
        attribute = domain.attribute_of(template.slots.get(found[1], "")) if found else None
        said = [attribute.display.get(value, value) if attribute else value for value in values]
        if found and any(not word.endswith("s") for word in said):
            yield f"text[{i}]", f'text {i} counts {found[1]} in the singular; its plural is written "{found[1]}s"'


def missing_spaces(template: Template) -> Iterator[Fault]:
    """Yield texts with two slots and no space between them."""
    for i, text in enumerate(template.texts):
        joined = text.replace("[", "").replace("]", "")
        if not _TOUCHING.search(joined):
            continue
        glued_slots = re.search(rf"({_SLOT})s?({_SLOT})", joined)
        if glued_slots and not re.search(_WITHOUT_SPACES, text):
            yield f"text[{i}]", f"text {i} has no space between {glued_slots[1]} and {glued_slots[2]}"
        elif is_english(template.texts, template.catalogue.domain.language) and (glued := re.search(_GLUED, text)):
            yield f"text[{i}]", f"text {i} has no space in {glued[0]!r}"


def odd_marks(template: Template) -> Iterator[Fault]:
    """Yield texts with marks that do not stand together, such as "??"."""
    for i, text in enumerate(template.texts):
        if _TWO_MARKS.search(text) and (marks := re.search(_ODD_MARKS, text)):
            yield f"text[{i}]", f"text {i} has {marks[0]!r}, marks that do not stand together"


DOUBTS: dict[str, Callable[[Template], Iterator[Fault]]] = {
    "unsaid-slot": left_out_slots,
    "other-attribute": other_attributes,
    "other-kind": other_kinds,
    "singular-count": singular_counts,
    "missing-space": missing_spaces,
    "odd-marks": odd_marks,
}
"""Doubts about the texts of a template, by code."""


def text_doubts(template: Template) -> Iterator[tuple[str, str, str]]:
    """Yield (code, JSON path in the canonical record, message) for each doubt about the texts."""
    return ((code, *fault) for code, doubts in DOUBTS.items() for fault in doubts(template))
