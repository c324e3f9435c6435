"""Judging: the credit for the answers to one item, and what was made of the reply.

    judge(["metallic"], Gold(WORD, ("metal",)))                                    credits (1.0,), given "metal", read
    judge(["blue", "red"], Gold(WORD, ("red",)), top_k=(1, 2))                     credits (0.0, 1.0), given "blue"
    judge(["red or blue"], Gold(WORD, ("red",)))                                   credits (0.0,), ambiguous

A preset says what counts as the same answer. `typed` is ours; the others compare texts, as other tools do.

    typed         by kind: "Two." is 2, "metallic" is metal, "True" is yes; answers are looked for inside of replies
    exact         equal text
    visual7w      equal text in lower case; of equal candidates each takes one of the first k places

A vocabulary that lacks the right answer is that of another domain: the item is then judged as free text. An option
that the vocabulary lacks is an answer all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.items.answers import (
    BOOL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    NONE_THERE,
    PLACES,
    TEXT,
    WORD,
    Answer,
    Vocabulary,
    plain,
    read_answer,
    text_of,
)
from vqagen.items.table import Gold, Options
from vqagen.score.answers.places import (
    COORDINATES,
    NO_SIZE,
    NO_SPOTS,
    THOUSAND,
    UNCLEAR,
    PlaceScore,
    in_pixels,
    read_marks,
    said_objects,
    score_marks,
    without_tags,
)
from vqagen.score.answers.replies import NO_VALID_ANSWER, NOT_READ, READ, marked_answer, read_reply

# Judging --------------------------------------------------------------------------------------------------------------

TYPED, EXACT, VISUAL7W = "typed", "exact", "visual7w"

_TEXTS: Mapping[str, Callable[[str], str]] = {EXACT: str, VISUAL7W: str.lower}
"""Preset -> the text that it compares."""
PRESETS = (TYPED, *_TEXTS)
RETIRED = dict.fromkeys(("vqa-official", "vqa-always"), "VQA's own script scores its annotations")
"""Preset that version 2.0 removed -> what to use instead."""
NOT_AN_OPTION = "not an option"


class Judged(NamedTuple):
    """The result for one item."""

    credits: tuple[float, ...]
    """0 to 1: the best credit among the first k candidates, for each k that was asked for."""
    given: str
    """The first candidate as it is compared; as it was given if it names no answer."""
    status: str
    """Of the first candidate: one of `replies`, or NOT_AN_OPTION."""
    place: PlaceScore | None = None
    """How well the first candidate says where objects are, if that is asked."""


def judge(
    candidates: Sequence[str],
    gold: Gold,
    options: Options | None = None,
    *,
    preset: str = TYPED,
    vocabulary: Vocabulary = NO_VOCABULARY,
    top_k: Sequence[int] = (1,),
    coordinates: str = "",
) -> Judged:
    """Judge the answers to an item, best first. Give the `options` if the model saw them: it may name their letters.

    Of candidates that are equal as they are compared, one counts (except by Visual7W's rule). `coordinates` says what
    those of places count: a key of `places.COORDINATES`.
    """
    if gold.kind == PLACES and preset == TYPED:
        return _judge_places(candidates, gold, top_k, coordinates)
    gold, vocabulary = typed(gold) if preset == TYPED else gold, _vocabulary_for(gold, vocabulary)
    readings = [_reading(candidate, gold, options, preset, vocabulary) for candidate in candidates]
    best, seen = [0.0], list[Answer | None]()  # best: the credit of the first 0, 1, 2, … candidates
    for answer, *_ in readings:
        if answer not in seen or preset == VISUAL7W:
            seen.append(answer)
            best.append(max(best[-1], credit_of(answer, gold, preset)))
    _, given, status = next(iter(readings), (None, "", NO_VALID_ANSWER))
    return Judged(tuple(best[min(k, len(best) - 1)] for k in top_k), given, status)


def _judge_places(candidates: Sequence[str], gold: Gold, top_k: Sequence[int], coordinates: str) -> Judged:
    """Judge answers that are places, as objects by their indexes, or as points or boxes; the credit is the F1."""
    readings = [_place_score(candidate, gold, coordinates) for candidate in candidates]
    best = [0.0]
    for score in readings:
        best.append(max(best[-1], score.f1 if score else 0.0))
    first = next(iter(readings), None)
    said = without_tags(candidates[0]) if candidates else ""
    status = READ if first else NOT_READ if said.strip() else NO_VALID_ANSWER
    return Judged(tuple(best[min(k, len(best) - 1)] for k in top_k), said, status, first)


def _place_score(reply: str, gold: Gold, coordinates: str) -> PlaceScore | None:
    """Return how well a reply says where the objects are; None if it says no place. UsageError if that is unclear."""
    answer = marked_answer(without_tags(reply))
    marks, right = read_marks(answer), gold.objects
    named = said_objects(answer) if marks is None else None
    if named is not None or (marks == [] and not right):
        shared = {*(named or ())} & {*right}
        f1 = 2 * len(shared) / (len(named) + len(right)) if named else 1.0
        return PlaceScore(f1, f1, 0)
    if marks is None:
        return None
    if gold.spots is None:
        raise UsageError(NO_SPOTS)
    if not marks:
        return score_marks([], gold.spots)
    if coordinates not in COORDINATES:
        raise UsageError(UNCLEAR)
    if coordinates == THOUSAND and gold.spots.size is None:
        raise UsageError(NO_SIZE)
    return score_marks(in_pixels(marks, coordinates, gold.spots.size), gold.spots)


def right_answer(gold: Gold, preset: str, vocabulary: Vocabulary) -> str:
    """Return the canonical answer as `given` shows an equal one."""
    found = normal(gold.text, typed(gold).kind, preset, _vocabulary_for(gold, vocabulary))
    return gold.text if found is None else text_of(found)


@lru_cache(maxsize=1 << 14, typed=True)
def typed(gold: Gold) -> Gold:
    """Return a right answer of any words as one of yes or no, or as a number, if all accepted answers are such.

    >>> typed(Gold(TEXT, ("2", "three")))[:2]
    ('integer', ('2', 'three'))
    """
    for kind in (BOOL, INTEGER) if gold.kind == TEXT else ():
        read = [read_answer(text_of(answer), kind, NO_VOCABULARY) for answer in gold.answers]
        if None not in read and NONE_THERE not in map(plain, map(text_of, gold.answers)):
            return gold._replace(kind=kind)
    return gold


def _vocabulary_for(gold: Gold, vocabulary: Vocabulary) -> Vocabulary:
    """Return the words that answer an item; none if the right answer is not among them."""
    if gold.kind not in (WORD, LIST):
        return vocabulary
    right = (read_answer(text_of(answer), gold.kind, vocabulary) for answer in gold.answers)
    return NO_VOCABULARY if None in right else vocabulary


def _normal(text: str, gold: Gold, options: Options | None, preset: str, vocabulary: Vocabulary) -> Answer | None:
    answer = normal(text, gold.kind, preset, vocabulary) if text else None
    return text if answer is None and options and text in options.texts else answer


def _reading(
    candidate: str, gold: Gold, options: Options | None, preset: str, vocabulary: Vocabulary
) -> tuple[Answer | None, str, str]:
    """Return the answer that a candidate gives, if it gives one, the answer as it is shown, and its status."""
    found, status = read_reply(candidate, gold, options, vocabulary) if preset == TYPED else ([candidate], READ)
    answer = _normal(found[0], gold, options, preset, vocabulary) if len(found) == 1 else None
    if answer is None:
        return None, candidate, NO_VALID_ANSWER if status == READ else status
    texts = options.texts if options else ()
    is_option = not texts or answer in [_normal(text, gold, options, preset, vocabulary) for text in texts]
    return answer, text_of(answer), READ if is_option else NOT_AN_OPTION


# Presets --------------------------------------------------------------------------------------------------------------


def normal(text: str, kind: str, preset: str, vocabulary: Vocabulary) -> Answer | None:
    """Return an answer as a preset compares it; None for what is no answer of this kind."""
    return read_answer(text, kind, vocabulary) if preset == TYPED else _TEXTS[preset](text)


def credit_of(given: Answer | None, gold: Gold, preset: str) -> float:
    """Return the credit for a `normal` answer, from 0 to 1."""
    if given is None:
        return 0.0
    if preset != TYPED:
        return float(any(given == _TEXTS[preset](text_of(answer)) for answer in gold.answers))
    found = _comparable(given, gold.kind)
    return float(found is not None and any(_comparable(answer, gold.kind) == found for answer in gold.answers))


@lru_cache(maxsize=1 << 14, typed=True)
def _comparable(answer: Answer, kind: str) -> Answer | None:
    """Return an answer as it is read: words in lower case, lists in order."""
    return read_answer(text_of(answer), kind, NO_VOCABULARY)
