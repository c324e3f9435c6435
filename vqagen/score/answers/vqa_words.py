"""The normalisation and the accuracy of VQA's official script (github.com/GT-Vision-Lab/VQA, vqaEval.py).

Its quirks are kept, or published numbers could not be reproduced: a text with "1,000" loses all punctuation; a period
stays only before a digit; "a" becomes nothing; and a single annotator agrees with nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_PUNCTUATION = ';/[]"{}()=+\\_-><@`,?!'
_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32
"""The script passes a flag in the place of the number of replacements."""
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_ARTICLES = frozenset(("a", "an", "the"))
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS: Mapping[str, str] = {"none": "0", **{word: str(number) for number, word in enumerate(_NUMBER_WORDS)}}
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


def _without_one_apostrophe(word: str) -> Iterator[str]:
    for place, character in enumerate(word):
        if character == "'":
            yield word[:place] + word[place + 1 :]


_WRITTEN_OUT: Mapping[str, str] = {
    "somebody'd": "somebodyd",  # the script's own slip
    **{wrong: word for word in _CONTRACTIONS.split() for wrong in _without_one_apostrophe(word)},
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
    with_one_left_out = matches * _share(matches - 1) + (annotators - matches) * _share(matches)
    return with_one_left_out / annotators


def _share(matches: int) -> float:
    return min(1.0, max(matches, 0) / ENOUGH_ANNOTATORS)
