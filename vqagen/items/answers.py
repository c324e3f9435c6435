"""Kinds of answers, their canonical values, and the vocabulary in which words are answers.

bool      True or False          "yes", "no", "true", …
integer   an int                 "2", "two", "2.0"
word      a value of a domain    "metal", "metallic", "shiny"
list      a tuple of values      "red, blue and green"
cell      a label                "B2", "column B, row 2"
text      free text              anything
places    indexes of objects     "0, 3", "none"

The texts are nothing but an answer. One inside which an answer stands among other words is read by `replies`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

from vqagen.errors import VqagenError
from vqagen.language.domain_files import DEFAULT_DOMAIN, find_domain, synonyms_file
from vqagen.language.question import answers_in
from vqagen.language.synonyms import Attributes, load_synonyms, words_of
from vqagen.world.domain import load_domain

BOOL, INTEGER, WORD, LIST, CELL, TEXT, PLACES = "bool", "integer", "word", "list", "cell", "text", "places"

ANSWER_TYPES: Mapping[str, str] = {
    INTEGER: "count",
    BOOL: "yes/no",
    WORD: "value",
    **{kind: kind for kind in (CELL, LIST, TEXT, PLACES)},
}
"""Kind -> the type of the answer as datasets and exports write it, and rewards read it."""

Answer = bool | int | str | tuple[Any, ...]
"""The canonical value of an answer."""
_SPELLINGS = {"gray": "grey", "grey": "gray"}
"""Words that British and American English spell differently."""


def text_of(answer: Answer) -> str:
    """Return an answer as files and reports write it.

    >>> text_of(True), text_of(2), text_of(("red", "blue"))
    ('yes', '2', 'red, blue')
    """
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return (", ".join(map(text_of, answer)) or "none") if isinstance(answer, tuple) else str(answer)


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The values that a word may be an answer for. It equals only itself, so that finders can be kept."""

    words: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Lower-case way to say a value -> the value."""
    groups: tuple[frozenset[str], ...] = ()
    """The values of each attribute: an answer is one of the values of one attribute."""
    answers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The domain's own words for "yes", "no" and figures -> these."""

    @classmethod
    def of_attributes(cls, attributes: Attributes) -> Self:
        """Return the values of attributes, as `vocabulary_record` writes them.

        A name of a value always means this value. A synonym of several values means none of them.
        """
        meant: dict[str, set[str]] = defaultdict(set)
        named = [(value, ways) for values in attributes.values() for value, ways in values.items()]
        for value, ways in named:
            for way in (value, *ways):
                british = " ".join(_SPELLINGS.get(word.lower(), word) for word in way.split())
                meant[way.lower()].add(value)
                meant[british.lower()].add(value)
        sure = {way: next(iter(values)) for way, values in meant.items() if len(values) == 1}
        names = {value.lower(): value for value, _ in named}
        return cls(MappingProxyType(sure | names), tuple(map(frozenset, attributes.values())))

    def beside(self, values: Collection[str]) -> frozenset[str]:
        """Return all values of the attributes that have one of these values; empty if no attribute has one."""
        return frozenset().union(*(group for group in self.groups if not group.isdisjoint(values)))


NO_VOCABULARY = Vocabulary()
"""For answers that may be any words."""


NONE_THERE = "none"
"""The answer about the next object of a dialog, or about objects to be marked, where there is none."""


def vocabulary_of(info: Mapping[str, Any], are_dialogs: bool) -> Vocabulary:
    """Return the words that the file's info carries, or those of the shipped domain that it names, and its `answers`.

    Empty if neither is known: then answers are compared as whole texts.
    """
    return replace(_words_of(info, are_dialogs), answers=answers_in(info))


def _words_of(info: Mapping[str, Any], are_dialogs: bool) -> Vocabulary:
    generator = info.get("generator")
    made = generator if isinstance(generator, Mapping) else {}
    further = dict.fromkeys((NONE_THERE, "nothing"), NONE_THERE) if are_dialogs else {}
    own = further | {str(answer).lower(): str(answer) for answer in made.get("answers") or ()}
    name = made.get("domain") or (None if made else DEFAULT_DOMAIN)
    found = Vocabulary.of_attributes(_carried(made.get("vocabulary")) or attributes_of(name))
    return replace(found, words={**own, **found.words}) if found.words else found


def _carried(vocabulary: object) -> Attributes:
    """Return the attributes of a file's vocabulary; none if they are not as `vocabulary_record` writes them."""
    match vocabulary:
        case {"attributes": dict(attributes)} if all(map(_has_ways, attributes.values())):
            return attributes
    return {}


def _has_ways(values: object) -> bool:
    listed = list(values.values()) if isinstance(values, dict) else [None]
    return all(isinstance(ways, list) and all(isinstance(way, str) for way in ways) for ways in listed)


def attributes_of(name: str | None) -> Attributes:
    """Return the attributes of a shipped domain, or of one in a folder; none if it cannot be read."""
    if not name:
        return {}
    try:
        files = find_domain(name)
        domain = load_domain(files.metadata)
        return words_of(domain, load_synonyms(synonyms_file(files, domain), domain))
    except VqagenError:  # it is not at hand
        return {}


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
_PART = re.compile(r"\S{1,200}|\s")
_AROUND = " \t\r\n.,;:!?\"'`()[]{}*"
"""Characters around an answer that say nothing."""
_ARTICLE = re.compile(r"(?:a|an|the)\s+")
_WHOLE_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?:\.0*)?", re.ASCII)
_INDEXES = re.compile(r"\d{1,6}(?:\s*,\s*\d{1,6}){0,999}", re.ASCII)
_BETWEEN = re.compile(r"\s*[,;/&]\s*(?:and\s+)?|\s+and\s+")
_CELL = re.compile(
    r"""
    (?:(?:the\s+)?cell\s+)?
    (?:
        col(?:umn|\.)?:?\s*[a-z]\W+(?:and\s+|in\s+|of\s+)?row:?\s*\d{1,3}
        | row:?\s*\d{1,3}\W+(?:and\s+|in\s+|of\s+)?col(?:umn|\.)?:?\s*[a-z]
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
    return " ".join(compatible(compatible(text).casefold()).split()).strip(_AROUND)


def compatible(text: str) -> str:
    """Return a text with plain forms of characters and of quotes. Long words are taken in parts: time stays linear."""
    if text.isascii():
        return text
    return _PART.sub(lambda part: unicodedata.normalize("NFKC", part[0]), text).translate(_QUOTES)


def read_answer(text: str, kind: str, vocabulary: Vocabulary) -> Answer | None:
    """Return the answer that a text is; None if it is none of this kind.

    >>> read_answer("Two.", "integer", Vocabulary()), read_answer("two cubes", "integer", Vocabulary())
    (2, None)
    """
    if kind in (BOOL, INTEGER) and vocabulary.answers:
        text = vocabulary.answers.get(plain(text), text)
    return _READERS[kind](text, vocabulary)


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
    members = [_word(part, vocabulary) for part in _BETWEEN.split(whole)]
    return None if None in members else tuple(sorted({member for member in members if member is not None}))


def _places(text: str, _: Vocabulary) -> tuple[int, ...] | None:
    """Return the indexes in ascending order."""
    whole = plain(text)
    if whole in (NONE_THERE, "nothing") or (not whole and "[" in text):
        return ()
    if not _INDEXES.fullmatch(whole) or ("[" in text and whole.count(",") == 3):  # "[0, 1, 2, 3]" may be a box
        return None
    return tuple(sorted({int(each) for each in whole.split(",")}))


def _text(text: str, _: Vocabulary) -> str | None:
    """Return any words; a number in digits, as "two" is 2 where nothing else says that a number is asked for."""
    number = None if plain(text) == NONE_THERE else _integer(text, NO_VOCABULARY)
    return (plain(text) or None) if number is None else str(number)


def _cell(text: str, _: Vocabulary) -> str | None:
    cell = plain(text).strip("<>")
    return cell_label(cell) if _CELL.fullmatch(cell) else None


def cell_label(text: str) -> str:
    """Return the label of the cell that a text names.

    >>> cell_label("row 02, column b")
    'B2'
    """
    parts = (r"(?<![a-z])(?:col(?:umn)?)?([a-z])(?![a-z])", r"\d+")
    letter, number = (re.findall(part, text, re.IGNORECASE)[0] for part in parts)
    return f"{letter.upper()}{int(number)}"


_READERS: Mapping[str, Callable[[str, Vocabulary], Answer | None]] = {
    BOOL: lambda text, _: TRUTH_WORDS.get(plain(text)),
    INTEGER: _integer,
    WORD: _word,
    LIST: _list,
    CELL: _cell,
    TEXT: _text,
    PLACES: _places,
}
