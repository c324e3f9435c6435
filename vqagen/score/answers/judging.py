"""Judging: the credit for the answers to one item, and what was made of the reply.

    judge(["metallic"], Gold(WORD, ("metal",)))                                    credits (1.0,), given "metal", parsed
    judge(["blue", "red"], Gold(WORD, ("red",)), top_k=(1, 2))                     credits (0.0, 1.0), given "blue"
    judge(["red or blue"], Gold(WORD, ("red",)))                                   credits (0.0,), ambiguous

A preset says what counts as the same answer. `typed` is ours; the others are the rules of other tools, quirks included.

    typed         by kind: "Two." is 2, "metallic" is metal, "True" is yes; answers are looked for inside of replies
    exact         equal text
    visual7w      equal text in lower case; of equal candidates each takes one of the first k places
    vqa-official  soft accuracy over annotators; texts are normalised only where annotators differ
    vqa-always    the same, always normalised

A vocabulary that lacks the right answer is that of another domain: the item is then judged as free text. An option
that the vocabulary lacks is an answer all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from vqagen.score.answers.kinds import LIST, NO_VOCABULARY, WORD, Answer, Vocabulary, text_of
from vqagen.score.answers.reading import read_answer
from vqagen.score.answers.replies import answers_in
from vqagen.score.answers.vqa_words import vqa_accuracy, vqa_normal, without_space
from vqagen.score.items.table import Gold, Options

TYPED, EXACT, VISUAL7W, VQA_OFFICIAL, VQA_ALWAYS = "typed", "exact", "visual7w", "vqa-official", "vqa-always"

_TEXTS: Mapping[str, Callable[[str], str]] = {
    EXACT: str,
    VISUAL7W: str.lower,
    VQA_OFFICIAL: without_space,
    VQA_ALWAYS: vqa_normal,
}
"""Preset -> the text that it compares."""
PRESETS = (TYPED, *_TEXTS)
PARSED, AMBIGUOUS, REFUSED, NOT_AN_OPTION = "parsed", "ambiguous", "refused", "not_an_option"


class Judged(NamedTuple):
    """The result for one item."""

    credits: tuple[float, ...]
    """0 to 1: the best credit among the first k candidates, for each k that was asked for."""
    given: str
    """The first candidate as it is compared; as it was given if it names no answer."""
    status: str
    """Of the first candidate: parsed, ambiguous, refused or not_an_option."""


def judge(
    candidates: Sequence[str],
    gold: Gold,
    options: Options | None = None,
    *,
    preset: str = TYPED,
    vocabulary: Vocabulary = NO_VOCABULARY,
    top_k: Sequence[int] = (1,),
) -> Judged:
    """Judge the answers to an item, best first. Give the `options` if the model saw them: it may name their letters.

    Of candidates that are equal as they are compared, one counts (except by Visual7W's rule).
    """
    vocabulary = _vocabulary_for(gold, vocabulary)
    best, seen = [0.0], list[Answer | None]()  # best: the credit of the first 0, 1, 2, … candidates
    given, status = "", REFUSED
    for place, candidate in enumerate(candidates):
        if len(best) > max(top_k):
            break
        found = answers_in(candidate, gold, options, vocabulary) if preset == TYPED else [candidate]
        answer = _normal(found[0], gold, options, preset, vocabulary) if len(found) == 1 else None
        if place == 0 and answer is None:
            given, status = candidate, AMBIGUOUS if len(found) > 1 else REFUSED
        elif place == 0 and answer is not None:
            given, status = text_of(answer), _status(answer, gold, options, preset, vocabulary)
        if answer not in seen or preset == VISUAL7W:
            seen.append(answer)
            best.append(max(best[-1], credit_of(answer, gold, preset)))
    return Judged(tuple(best[min(k, len(best) - 1)] for k in top_k), given, status)


def right_answer(gold: Gold, preset: str, vocabulary: Vocabulary) -> str:
    """Return the canonical answer as `given` shows an equal one."""
    found = normal(gold.text, gold.kind, preset, _vocabulary_for(gold, vocabulary))
    return gold.text if found is None else text_of(found)


def _vocabulary_for(gold: Gold, vocabulary: Vocabulary) -> Vocabulary:
    """Return the words that answer an item; none if the right answer is not among them."""
    if gold.kind not in (WORD, LIST):
        return vocabulary
    right = (read_answer(text_of(answer), gold.kind, vocabulary) for answer in gold.answers)
    return NO_VOCABULARY if None in right else vocabulary


def _normal(text: str, gold: Gold, options: Options | None, preset: str, vocabulary: Vocabulary) -> Answer | None:
    answer = normal(text, gold.kind, preset, vocabulary) if text else None
    return text if answer is None and options and text in options.texts else answer


def _status(answer: Answer, gold: Gold, options: Options | None, preset: str, vocabulary: Vocabulary) -> str:
    texts = options.texts if options else ()
    is_option = not texts or answer in [_normal(each, gold, options, preset, vocabulary) for each in texts]
    return PARSED if is_option else NOT_AN_OPTION


# Presets --------------------------------------------------------------------------------------------------------------


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
