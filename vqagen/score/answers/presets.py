"""Presets: what counts as the same answer. `typed` is ours; the others are the rules of other tools, quirks included.

typed         by kind: "Two." is 2, "metallic" is metal, "True" is yes; replies are parsed first
exact         equal text, as GQA's script compares answers too
visual7w      equal text in lower case; candidates are not de-duplicated
vqa-official  soft accuracy over annotators; texts are normalised only where annotators differ
vqa-always    the same, always normalised
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from vqagen.errors import UsageError, unknown
from vqagen.score.answers.kinds import LIST, NO_VOCABULARY, TEXT, WORD, Answer, Vocabulary, text_of
from vqagen.score.answers.reading import plain, read_answer
from vqagen.score.answers.vqa_words import expanded, vqa_accuracy, vqa_normal, without_space
from vqagen.score.gold.item import GoldItem

TYPED, EXACT, VISUAL7W, VQA_OFFICIAL, VQA_ALWAYS = "typed", "exact", "visual7w", "vqa-official", "vqa-always"


class Preset(Protocol):
    """A rule of comparison."""

    @property
    def name(self) -> str:
        """As `--normalise` takes it."""

    @property
    def parses(self) -> bool:
        """True if answers are looked for inside of replies; False if a reply is the answer."""

    @property
    def keeps_duplicates(self) -> bool:
        """True if a candidate that is normalised to an earlier one takes one of the first k places."""

    def normalise(self, text: str, kind: str, vocabulary: Vocabulary) -> Answer | None:
        """Return an answer as it is compared; None for what is no answer of this kind."""

    def is_right(self, given: Answer | None, item: GoldItem) -> float:
        """Return the credit for a normalised answer, from 0 to 1."""


@dataclass(frozen=True)
class Typed:
    """Compares by the kind of the answer."""

    name: str = TYPED
    parses: bool = True
    keeps_duplicates: bool = False

    def normalise(self, text: str, kind: str, vocabulary: Vocabulary) -> Answer | None:
        """Return the value that a text is."""
        return read_answer(text, kind, vocabulary)

    def is_right(self, given: Answer | None, item: GoldItem) -> float:
        """Return 1.0 for one of the accepted answers."""
        found = None if given is None else _comparable(given, item.kind)
        return float(found is not None and any(_comparable(answer, item.kind) == found for answer in item.answers))


@lru_cache(maxsize=1 << 14, typed=True)
def _comparable(answer: Answer, kind: str) -> Answer | None:
    """Return an answer so that equal answers are equal: words in lower case, lists in order, texts read."""
    if kind in (WORD, TEXT):
        return plain(text_of(answer))
    if kind == LIST and isinstance(answer, tuple):
        return tuple(sorted(plain(text_of(each)) for each in answer))
    return read_answer(answer, kind, NO_VOCABULARY) if isinstance(answer, str) else answer


@dataclass(frozen=True)
class Exact:
    """Compares texts."""

    name: str = EXACT
    ignores_case: bool = False
    keeps_duplicates: bool = False
    parses: bool = False

    def normalise(self, text: str, kind: str, vocabulary: Vocabulary) -> str:
        """Return a text, in lower case if that is ignored."""
        return text.lower() if self.ignores_case else text

    def is_right(self, given: Answer | None, item: GoldItem) -> float:
        """Return 1.0 for the text of one of the accepted answers."""
        right = (self.normalise(text_of(answer), item.kind, NO_VOCABULARY) for answer in item.answers)
        return float(any(given == each for each in right))


@dataclass(frozen=True)
class VqaSoft:
    """VQA's accuracy: an answer that three other annotators gave is right."""

    name: str = VQA_OFFICIAL
    is_always_normalising: bool = False
    parses: bool = False
    keeps_duplicates: bool = False

    def normalise(self, text: str, kind: str, vocabulary: Vocabulary) -> str:
        """Return a text as it is compared if all annotators agree."""
        return vqa_normal(text) if self.is_always_normalising else without_space(text)

    def is_right(self, given: Answer | None, item: GoldItem) -> float:
        """Return the mean accuracy over the annotators, each left out once."""
        answers = expanded([without_space(text_of(answer)) for answer in item.answers], item.weights)
        text = text_of(given) if given is not None else ""
        if self.is_always_normalising or len(set(answers)) > 1:
            answers, text = [vqa_normal(answer) for answer in answers], vqa_normal(text)
        return vqa_accuracy(answers.count(text), len(answers))


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Typed(),
        Exact(),
        Exact(VISUAL7W, ignores_case=True, keeps_duplicates=True),
        VqaSoft(),
        VqaSoft(VQA_ALWAYS, is_always_normalising=True),
    )
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name; UsageError for a name that does not exist."""
    if name in PRESETS:
        return PRESETS[name]
    raise UsageError(unknown("preset", name, list(PRESETS)))
