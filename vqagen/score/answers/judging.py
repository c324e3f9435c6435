"""Judging: the credit for the answers to one item, and what was made of the reply.

    judge(["metallic"], Gold(WORD, ("metal",)))                                    credits (1.0,), given "metal", parsed
    judge(["blue", "red"], Gold(WORD, ("red",)), top_k=(1, 2))                     credits (0.0, 1.0), given "blue"
    judge(["red or blue"], Gold(WORD, ("red",)))                                   credits (0.0,), ambiguous

A vocabulary that lacks the right answer is that of another domain: the item is then judged as free text. An option
that the vocabulary lacks is an answer all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vqagen.score.answers.kinds import LIST, NO_VOCABULARY, WORD, Answer, Vocabulary, text_of
from vqagen.score.answers.presets import TYPED, VISUAL7W, credit_of, normal
from vqagen.score.answers.reading import read_answer
from vqagen.score.answers.replies import answers_in
from vqagen.score.items.table import Gold, Options

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
