"""Reading a text that is nothing but an answer: `Yes.`, `two`, `a metallic`, `red and blue`, `B-2`.

A text inside which an answer stands among other words is read by `replies`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping

from vqagen.score.answers.kinds import BOOL, CELL, INTEGER, LIST, TEXT, WORD, Answer, Vocabulary

_UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS: Mapping[str, int] = {
    "none": 0,
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    **{
        f"{tens}{between}{unit}": 10 * ten + one
        for ten, tens in enumerate(_TENS, 2)
        for one, unit in enumerate(_UNITS[1:10], 1)
        for between in "- "
    },
}
"""Word -> the number, to 99."""
TRUTH_WORDS: Mapping[str, bool] = {
    **dict.fromkeys(("yes", "y", "true", "yeah", "yep", "yup"), True),
    **dict.fromkeys(("no", "n", "false", "nope", "nah"), False),
}
_QUOTES = str.maketrans("\u2018\u2019\u02bc\u201c\u201d", "'''\"\"")
_AROUND = " \t\r\n.,;:!?\"'`()[]{}*"
"""Characters around an answer that say nothing."""
_ARTICLE = re.compile(r"(?:a|an|the)\s+")
_WHOLE_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.0*)?", re.ASCII)
_BETWEEN = re.compile(r"\s*[,;/&]\s*(?:and\s+)?|\s+and\s+")
_CELL = re.compile(
    r"""
    (?:(?:the\s+)?cell\s+)?
    (?:
        col(?:umn|\.)?:?\s*[a-z]\W+(?:and\s+|in\s+|of\s+)?row:?\s*\d+
        | row:?\s*\d+\W+(?:and\s+|in\s+|of\s+)?col(?:umn|\.)?:?\s*[a-z]
        | [a-z][\s\-_.,:]{0,2}\d{1,3}
    )
    """,
    re.VERBOSE,
)


def plain(text: str) -> str:
    """Return a text without what is no difference: case, spaces, forms of characters, and marks around it.

    >>> plain(' "Café au  lait." ')
    'café au lait'
    """
    if text.isascii():
        return " ".join(text.lower().split()).strip(_AROUND)
    whole = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold())
    return " ".join(whole.split()).strip(_AROUND)


def read_answer(text: str, kind: str, vocabulary: Vocabulary) -> Answer | None:
    """Return the answer that a text is; None if it is none of this kind.

    >>> read_answer("Two.", "integer", Vocabulary()), read_answer("two cubes", "integer", Vocabulary())
    (2, None)
    """
    return _READERS[kind](text, vocabulary)


def _bool(text: str, _: Vocabulary) -> bool | None:
    return TRUTH_WORDS.get(plain(text))


def _integer(text: str, _: Vocabulary) -> int | None:
    word = plain(text)
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word]
    return int(word.partition(".")[0].replace(",", "")) if _WHOLE_NUMBER.fullmatch(word) else None


def _word(text: str, vocabulary: Vocabulary) -> str | None:
    word = plain(text)
    if not vocabulary.words:
        return word or None
    return vocabulary.words.get(word) or vocabulary.words.get(_ARTICLE.sub("", word, count=1))


def _list(text: str, vocabulary: Vocabulary) -> tuple[str, ...] | None:
    """Return the members in alphabetical order: a list is an answer in any order."""
    whole = plain(text.strip().replace("\n", ","))
    if whole in ("", "none", "nothing"):
        return () if whole or "[" in text else None
    members = [_word(each, vocabulary) for each in _BETWEEN.split(whole)]
    return None if None in members else tuple(sorted({each for each in members if each is not None}))


def _cell(text: str, _: Vocabulary) -> str | None:
    cell = plain(text).strip("<>")
    return cell_label(cell) if _CELL.fullmatch(cell) else None


def cell_label(text: str) -> str:
    """Return the label of the cell that a text names.

    >>> cell_label("row 02, column b")
    'B2'
    """
    letter, number = (re.search(part, text, re.IGNORECASE) for part in (r"(?<![a-z])[a-z](?![a-z])", r"\d+"))
    assert letter and number
    return f"{letter[0].upper()}{int(number[0])}"


def _text(text: str, _: Vocabulary) -> str | None:
    return plain(text) or None


_READERS: Mapping[str, Callable[[str, Vocabulary], Answer | None]] = {
    BOOL: _bool,
    INTEGER: _integer,
    WORD: _word,
    LIST: _list,
    CELL: _cell,
    TEXT: _text,
}
