"""Items: what a rater is shown at once and asked about, as a line of JSON (`vqagen.human.item/1`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ITEM_SCHEMA = "vqagen.human.item/1"

COMPARE, RATE = KINDS = "compare", "rate"
"""Two texts on one scale from left to right; one text on a scale."""
REFERENCE, SYSTEM = ROLES = "reference", "system"
"""A text that people wrote, and one that is measured. A score is positive where the system is better."""
REAL, CHECK, INSTRUCTED, PRACTICE = USES = "real", "check", "instructed", "practice"
"""A trial that is scored; an attention check with a wrong text; a trial that names the value to choose; a trial with
feedback before the others, which is never scored."""

FIT = "fit"
"""The usual dimension: how well a text fits an image."""
LENGTH_DIFFERENCE = "length_difference"
"""The stratum that says how many words the second text is longer. People may prefer long texts, whatever they say."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that is judged."""

    id: str
    text: str
    source: str
    """Any name, such as that of a model. No name has a meaning of its own: the role says it."""
    role: str
    meta: Mapping[str, object] = field(default_factory=dict)
    """Facts about the text: template, program hash, seed, model."""


@dataclass(frozen=True, slots=True)
class Gold:
    """A known answer: the id of the better text, or the value that the trial asks for."""

    better: str | None = None
    value: int | None = None
    reason: str = ""
    """Why it is known, such as `program: exist is false`."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The values that a rater may choose, with words at both ends and in the middle."""

    least: int = 1
    largest: int = 9
    left: str = "only the left text fits"
    middle: str = "both fit equally well"
    right: str = "only the right text fits"

    @property
    def center(self) -> float:
        """The value that favours neither side."""
        return (self.least + self.largest) / 2


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to judge. `id` is the hash of its content, so that equal items have one id in every study."""

    id: str
    kind: str
    use: str
    dimension: str
    """fit, naturalness, clarity, …: one table of scores each."""
    prompt: str
    scale: Scale
    image: str
    """The id of an image of the study; "" for none (instructed trials)."""
    candidates: tuple[Candidate, ...]
    """Two to compare, the reference first where there is one; one to rate."""
    gold: Gold | None = None
    strata: Mapping[str, str | int | float] = field(default_factory=dict)
    """Fields to group scores by: template, program length, scene size, difference of length."""
    weight: float = 1.0

    def toward_second(self, value: int, *, second_on_right: bool) -> float:
        """Return a value of the scale so that larger is better for the second text."""
        return value if second_on_right else self.scale.least + self.scale.largest - value


def length_difference(first: str, second: str) -> int:
    """Return how many words the second text is longer.

    >>> length_difference("a red cube", "a big red cube")
    1
    """
    return len(second.split()) - len(first.split())
