"""Presets: what counts as the same answer. `typed` is ours; the others are the rules of other tools, quirks included.

typed         by kind: "Two." is 2, "metallic" is metal, "True" is yes; answers are looked for inside of replies
exact         equal text
visual7w      equal text in lower case; of equal candidates each takes one of the first k places
vqa-official  soft accuracy over annotators; texts are normalised only where annotators differ
vqa-always    the same, always normalised
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from vqagen.errors import UsageError, unknown
from vqagen.score.answers.kinds import NO_VOCABULARY, Answer, Vocabulary, text_of
from vqagen.score.answers.reading import read_answer
from vqagen.score.answers.vqa_words import vqa_accuracy, vqa_normal, without_space
from vqagen.score.items.table import Gold

TYPED, EXACT, VISUAL7W, VQA_OFFICIAL, VQA_ALWAYS = "typed", "exact", "visual7w", "vqa-official", "vqa-always"

_TEXTS: Mapping[str, Callable[[str], str]] = {
    EXACT: str,
    VISUAL7W: str.lower,
    VQA_OFFICIAL: without_space,
    VQA_ALWAYS: vqa_normal,
}
"""Preset -> the text that it compares."""
PRESETS = (TYPED, *_TEXTS)


def check_preset(name: str) -> None:
    """Raise UsageError for a preset that does not exist."""
    if name not in PRESETS:
        raise UsageError(unknown("preset", name, PRESETS))


def normal(text: str, kind: str, preset: str, vocabulary: Vocabulary) -> Answer | None:
    """Return an answer as a preset compares it; None for what is no answer of this kind."""
    return read_answer(text, kind, vocabulary) if preset == TYPED else _TEXTS[preset](text)


def credit_of(given: Answer | None, gold: Gold, preset: str) -> float:
    """Return the credit for a `normal` answer, from 0 to 1."""
    if given is None:
        return 0.0
    if preset in (VQA_OFFICIAL, VQA_ALWAYS):
        return _soft_credit(text_of(given), gold, preset == VQA_ALWAYS)
    if preset != TYPED:
        return float(any(given == _TEXTS[preset](text_of(answer)) for answer in gold.answers))
    found = _comparable(given, gold.kind)
    return float(found is not None and any(_comparable(answer, gold.kind) == found for answer in gold.answers))


def _soft_credit(text: str, gold: Gold, is_always_normalising: bool) -> float:
    """Return VQA's accuracy: the mean over the annotators, each left out once."""
    answers = [without_space(text_of(answer)) for answer in gold.answers]
    if is_always_normalising or len(set(answers)) > 1:
        answers, text = [vqa_normal(answer) for answer in answers], vqa_normal(text)
    weights = gold.weights or (1,) * len(answers)
    matches = sum(weight for answer, weight in zip(answers, weights, strict=True) if answer == text)
    return vqa_accuracy(matches, sum(weights))


@lru_cache(maxsize=1 << 14, typed=True)
def _comparable(answer: Answer, kind: str) -> Answer | None:
    """Return an answer as it is read: words in lower case, lists in order."""
    return read_answer(text_of(answer), kind, NO_VOCABULARY)
