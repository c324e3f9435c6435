"""Judging: the credit for the answers to one item, and what was made of the reply.

    judge(["metallic"], Gold(WORD, ("metal",)))                                    credits (1.0,), given "metal", read
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

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from vqagen.items.answers import (
    BOOL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    NONE_THERE,
    NUMBER_WORDS,
    TEXT,
    WORD,
    Answer,
    Vocabulary,
    plain,
    read_answer,
    text_of,
)
from vqagen.items.table import Gold, Options
from vqagen.score.answers.replies import NO_VALID_ANSWER, READ, read_reply

# VQA ------------------------------------------------------------------------------------------------------------------
#
# The normalisation and the accuracy of VQA's official script (github.com/GT-Vision-Lab/VQA, vqaEval.py). Its quirks are
# kept, or published numbers could not be reproduced: a text with "1,000" loses all punctuation; a period stays only
# before a digit; "a" becomes nothing; and a single annotator agrees with nobody.

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32
"""The script passes a flag in the place of the number of replacements."""
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_ARTICLES = frozenset(("a", "an", "the"))
_DIGITS: Mapping[str, str] = {word: str(number) for word, number in NUMBER_WORDS.items() if number <= 10}
_CONTRACTIONS = """
    ain't aren't can't could've couldn't couldn't've didn't doesn't don't hadn't hadn't've hasn't haven't he'd he'd've
    he's how'd how'll how's isn't it'd it'd've it'll ma'am mightn't mightn't've might've mustn't must've needn't not've
    o'clock oughtn't 'ow's'at shan't she'd've should've shouldn't shouldn't've somebody'd've somebody'll somebody's
    someone'd someone'd've someone'll someone's something'd something'd've something'll that's there'd there'd've
    there're there's they'd they'd've they'll they're they've 'twas wasn't we'd've we've weren't what'll what're what's
    what've when's where'd where's where've who'd who'd've who'll who's who've why'll why're why's won't would've
    wouldn't wouldn't've y'all y'all'll y'all'd've you'd you'd've you'll you're you've
"""
ENOUGH_ANNOTATORS = 3
"""An answer that so many other annotators gave is right."""


_WRITTEN_OUT: Mapping[str, str] = {
    "somebody'd": "somebodyd",  # the script's own slip
    **{word[: at.start()] + word[at.end() :]: word for word in _CONTRACTIONS.split() for at in re.finditer("'", word)},
}
"""A contraction that lacks an apostrophe -> the contraction."""


def without_space(text: str) -> str:
    """Return a text as the script compares texts that it does not normalise."""
    return text.replace("\n", " ").replace("\t", " ").strip()


def without_punctuation(text: str) -> str:
    """Return a text without the script's punctuation marks, which leave a space if they stand inside a word.

    >>> without_punctuation("rock-n-roll"), without_punctuation("a.b.")
    ('rock n roll', 'ab')
    """
    done, has_comma = text, _COMMA_IN_NUMBER.search(text) is not None
    for mark in _PUNCTUATION:
        is_at_edge = f"{mark} " in text or f" {mark}" in text
        done = done.replace(mark, "" if has_comma or is_at_edge else " ")
    return _PERIOD.sub("", done, count=_MOST_PERIODS)


def with_plain_words(text: str) -> str:
    """Return a text in lower case, with digits for number words, apostrophes in contractions, and without articles."""
    words = (_DIGITS.get(word, word) for word in text.lower().split())
    return " ".join(_WRITTEN_OUT.get(word, word) for word in words if word not in _ARTICLES)


def vqa_normal(text: str) -> str:
    """Return a text as the script compares the answers of annotators who differ.

    >>> vqa_normal("The two  cats, isnt it?")
    "2 cats isn't it"
    """
    return with_plain_words(without_punctuation(without_space(text)))


def vqa_accuracy(matches: int, annotators: int) -> float:
    """Return the accuracy of an answer that so many of the annotators gave.

    Each annotator is left out once: the mean over them of min(1, matches among the others / 3).
    """
    with_it, without_it = (min(1.0, max(others, 0) / ENOUGH_ANNOTATORS) for others in (matches - 1, matches))
    return (matches * with_it + (annotators - matches) * without_it) / annotators


# Judging --------------------------------------------------------------------------------------------------------------

TYPED, EXACT, VISUAL7W, VQA_OFFICIAL, VQA_ALWAYS = "typed", "exact", "visual7w", "vqa-official", "vqa-always"

_TEXTS: Mapping[str, Callable[[str], str]] = {
    EXACT: str,
    VISUAL7W: str.lower,
    VQA_OFFICIAL: without_space,
    VQA_ALWAYS: vqa_normal,
}
"""Preset -> the text that it compares."""
PRESETS = (TYPED, *_TEXTS)
NOT_AN_OPTION = "not an option"


class Judged(NamedTuple):
    """The result for one item."""

    credits: tuple[float, ...]
    """0 to 1: the best credit among the first k candidates, for each k that was asked for."""
    given: str
    """The first candidate as it is compared; as it was given if it names no answer."""
    status: str
    """Of the first candidate: one of `replies`, or NOT_AN_OPTION."""


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
    gold, vocabulary = typed(gold) if preset == TYPED else gold, _vocabulary_for(gold, vocabulary)
    readings = [_reading(candidate, gold, options, preset, vocabulary) for candidate in candidates]
    best, seen = [0.0], list[Answer | None]()  # best: the credit of the first 0, 1, 2, … candidates
    for answer, *_ in readings:
        if answer not in seen or preset == VISUAL7W:
            seen.append(answer)
            best.append(max(best[-1], credit_of(answer, gold, preset)))
    _, given, status = next(iter(readings), (None, "", NO_VALID_ANSWER))
    return Judged(tuple(best[min(k, len(best) - 1)] for k in top_k), given, status)


def right_answer(gold: Gold, preset: str, vocabulary: Vocabulary) -> str:
    """Return the canonical answer as `given` shows an equal one."""
    found = normal(gold.text, typed(gold).kind, preset, _vocabulary_for(gold, vocabulary))
    return gold.text if found is None else text_of(found)


@lru_cache(maxsize=1 << 14, typed=True)
def typed(gold: Gold) -> Gold:
    """Return a right answer of any words as one of yes or no, or as a number, if all accepted answers are such.

    >>> typed(Gold(TEXT, ("2", "three")))
    Gold(kind='integer', answers=('2', 'three'), weights=())
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
    is_option = not texts or answer in [_normal(each, gold, options, preset, vocabulary) for each in texts]
    return answer, text_of(answer), READ if is_option else NOT_AN_OPTION


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
