"""Items: what a rater is shown at once and asked about. An item is also a line of JSON (`vqagen.human.item/2`)."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

ITEM_SCHEMA: Final = "vqagen.human.item/2"

Kind = Literal["compare", "rate", "answer"]
"""Two texts on one scale from left to right; one text on a scale; a question, whose answer is asked for."""
COMPARE: Final = "compare"
RATE: Final = "rate"
ANSWER: Final = "answer"
Role = Literal["reference", "system"]
"""A text that people wrote, and one that is measured. A score is positive where the system is better."""
REFERENCE: Final = "reference"
SYSTEM: Final = "system"
Use = Literal["real", "check", "instructed", "practice", "before", "after"]
"""A trial that is scored; an attention check with a wrong text; a trial that names the value to choose; a trial with
feedback before the others, which is never scored; a question to the rater before the first trial, or after the last."""
REAL: Final = "real"
CHECK: Final = "check"
INSTRUCTED: Final = "instructed"
PRACTICE: Final = "practice"
BEFORE: Final = "before"
AFTER: Final = "after"

FIT = "fit"
"""The usual dimension: how well a text fits an image."""
LENGTH_DIFFERENCE = "length_difference"
"""The stratum that says how many words the second text is longer. People may prefer long texts, whatever they say."""

StudyText = Annotated[str, Meta(pattern=r"\S")]
"""Text that is not only space."""
Positive = Annotated[int, Meta(ge=1, le=99)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Candidate(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A text that is judged."""

    text: StudyText
    source: StudyText
    """Any name, such as that of a model. No name has a meaning of its own: the role says it."""
    role: Role
    id: str = ""
    meta: dict[str, Any] = {}
    """Facts about the text: template, program, seed, model."""


class GoldValue(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A known answer: the id of the better text, the value that the trial asks for, or the answer to the question."""

    better: str | None = None
    value: int | None = None
    answer: str | None = None
    reason: str = ""
    """Why it is known, such as `program: exist is false`."""


class Scale(Struct, frozen=True, forbid_unknown_fields=True):
    """The values that a rater may choose, with words at both ends and in the middle; "" for those of the study."""

    least: Annotated[int, Meta(ge=0, le=99)] = 1
    largest: Positive = 9
    left: str = ""
    middle: str = ""
    right: str = ""

    @property
    def center(self) -> float:
        """The value that favours neither side."""
        return (self.least + self.largest) / 2


class ChoiceForm(Struct, frozen=True, forbid_unknown_fields=True, tag="options", tag_field="type"):
    """An answer that is one of several texts."""

    options: Annotated[tuple[StudyText, ...], Meta(min_length=2, max_length=60)]


class NumberForm(Struct, frozen=True, forbid_unknown_fields=True, tag="number", tag_field="type"):
    """An answer that is a whole number."""

    least: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    largest: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 20


class TextForm(Struct, frozen=True, forbid_unknown_fields=True, tag="text", tag_field="type"):
    """An answer in the rater's own words."""

    longest: Annotated[int, Meta(ge=1, le=2000)] = 200
    """Characters."""


class CellForm(Struct, frozen=True, forbid_unknown_fields=True, tag="cell", tag_field="type"):
    """An answer that is a cell of the grid in the picture."""

    rows: Positive
    columns: Positive
    area: tuple[Share, Share, Share, Share]
    """Left, top, width and height of the grid, as shares of the picture."""
    cells: tuple[str, ...]
    """The answer that each cell stands for, row by row from the top left; "" for a cell that cannot be chosen."""


AnswerForm = ChoiceForm | NumberForm | TextForm | CellForm


class Exchange(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was said before a question: a caption, or a round of the dialog with its answer."""

    text: StudyText
    answer: str = ""


class StudyItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing to judge or to answer. `id` is the hash of its content, so that equal items have one id everywhere."""

    schema: Literal["vqagen.human.item/2"] = ITEM_SCHEMA
    id: str = ""
    kind: Kind = COMPARE
    use: Use = REAL
    dimension: StudyText = FIT
    """fit, naturalness, clarity, …: one table of scores each."""
    prompt: str = ""
    """What the rater is asked; of kind answer the question itself. "" for the study's own words."""
    image: str = ""
    """The id of an image of the study; "" for none (instructed trials, questions to the rater)."""
    candidates: tuple[Candidate, ...] = ()
    """Two to compare, the reference first where there is one; one to rate; none to answer."""
    scale: Scale | None = None
    """Of kinds compare and rate; None for the usual one."""
    form: AnswerForm | None = None
    """Of kind answer."""
    history: tuple[Exchange, ...] = ()
    """What stands before the question: the rounds of a dialog."""
    gold: GoldValue | None = None
    series: str = ""
    """Items of one series, such as the rounds of a dialog, stand in one task, one after the other, by `place`."""
    place: int = 0
    record: dict[str, int | str] = {}
    """What a file of predictions says about the question beside the answer, such as its `question_index`."""
    strata: dict[str, str | int | float] = {}
    """Fields to group scores by: template, program length, scene size, difference of length."""
    weight: Annotated[float, Meta(gt=0, lt=1e6)] = 1.0

    @property
    def unit(self) -> str:
        """The name of what stands in one task, one after the other: its series, or the item alone."""
        return f"series {self.series}" if self.series else self.id

    def toward_second(self, value: int, *, second_on_right: bool) -> int:
        """Return a value of the scale so that larger is better for the second text.

        A rater who chose 2 of 1 to 9 leaned to the left: if the second text stood there, it is 8 toward the second.
        """
        assert self.scale is not None
        return value if second_on_right else self.scale.least + self.scale.largest - value


def identified(item: StudyItem, image_hash: str) -> StudyItem:
    """Return the item with its id: the hash of what a rater sees, of its sources and of its gold answer.

    `image_hash` is that of the image's content. Strata, weight and meta do not count: they may differ between versions
    of the program that made the same item.
    """
    gold = item.gold
    content = [
        *(item.kind, item.use, item.dimension, item.prompt, image_hash, item.scale, item.form, item.history),
        *(
            [[candidate.text, candidate.source, candidate.role] for candidate in item.candidates],
            item.series,
            item.place,
            item.record,
        ),
        gold and [[candidate.id == gold.better for candidate in item.candidates], gold.value, gold.answer],
    ]
    digest = hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
    return msgspec.structs.replace(item, id=digest[:16])


def answer_fault(item: StudyItem, value: object) -> str:
    """Return what is wrong with an answer to an item, "" if nothing is. True and 1.0 are no numbers."""
    form = item.form
    match form:
        case ChoiceForm() | CellForm():
            allowed = form.options if isinstance(form, ChoiceForm) else form.cells
            return "" if isinstance(value, str) and value and value in allowed else "must be one of the answers offered"
        case TextForm():
            is_text = isinstance(value, str) and len(value.strip()) > 0 and len(value) <= form.longest
            return "" if is_text else f"must be text of 1 to {form.longest} characters"
    limits = form if isinstance(form, NumberForm) else item.scale
    assert limits is not None, "an item has a form or a scale"
    if type(value) is int and limits.least <= value <= limits.largest:
        return ""
    return f"must be a whole number from {limits.least} to {limits.largest}"


def plain_text(text: str) -> str:
    """Return a text without what makes no other text of it: capitals, spaces and the stop at its end.

    >>> plain_text(" A  red cube. ")
    'a red cube'
    """
    return " ".join(text.casefold().split()).rstrip(" .")


def length_difference(first: str, second: str) -> int:
    """Return how many words the second text is longer.

    >>> length_difference("a red cube", "a big red cube")
    1
    """
    return len(second.split()) - len(first.split())
