"""Finders: the answers of one kind that a text names, or that it is.

Words count as a whole and unless they are denied: "10" holds no 0, "I know" no "no", and "not red" no red. Words of
other attributes than that of the question are passed over: "The large red cube is metal" names one material.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from vqagen.score.answers.kinds import BOOL, CELL, INTEGER, LIST, TEXT, WORD, Vocabulary, text_of
from vqagen.score.answers.reading import NUMBER_WORDS, cell_label, plain, read_answer


class Named(NamedTuple):
    """An answer that a text names."""

    start: int
    end: int
    answer: str


class Finder(NamedTuple):
    """Finds answers to one kind of question."""

    kind: str
    whole: Callable[[str], list[str]]
    """Returns the answer that a text is, if it is nothing else; two for a letter beside the text of another option."""
    named: Callable[[str], list[Named]]
    """Returns the answers that a text names and does not deny."""


@lru_cache(maxsize=1 << 12)
def finder_of(
    kind: str, options: tuple[str, ...], has_letters: bool, among: frozenset[str], vocabulary: Vocabulary
) -> Finder:
    """Return the finder for answers of a kind.

    `options` are those of multiple choice, which letters may name. Of words, those `among` some values are found.
    """
    if options:
        return _option_finder(kind, options, has_letters, vocabulary)
    if kind == WORD and not vocabulary.words:
        kind = TEXT

    def whole(text: str) -> list[str]:
        return [] if kind == TEXT else _read(text, kind, vocabulary)

    def value(found: re.Match[str]) -> str | None:
        if kind == CELL:
            return cell_label(found[0])
        if kind == INTEGER and not _is_count(found):
            return None
        read = _read(found[0], WORD if kind == LIST else kind, vocabulary)
        return read[0] if read else None

    @lru_cache(maxsize=1)
    def pattern() -> re.Pattern[str]:
        return _PATTERNS.get(kind) or _any_of([way for way, of in vocabulary.words.items() if not among or of in among])

    return Finder(kind, whole, lambda text: _named(text, pattern(), value, _UNTRUE if kind == BOOL else _DENIED))


def _read(text: str, kind: str, vocabulary: Vocabulary) -> list[str]:
    answer = read_answer(text, kind, vocabulary)
    return [] if answer is None else [text_of(answer)]


# Denial ---------------------------------------------------------------------------------------------------------------

_DENYING = (
    r"(?:\b(?:not|cannot|never|neither|nor|without|rather\s+than|instead\s+of|other\s+than|anything\s+but{})\b|n't)"
    r"\s+(?:(?!(?:but|so|is|are|it|that)\b)[\w-]+\s+){{0,4}}\W?$"
)
_UNTRUE = re.compile(_DENYING.format(""), re.IGNORECASE)
"""What denies "yes" and "no"."""
_DENIED = re.compile(_DENYING.format("|no"), re.IGNORECASE)
"""The text before an answer that is denied: `not `, `neither red nor `, `isn't in cell `."""
_REJECTED = re.compile(r"\)?\s+(?:is|are)\s+(?:wrong|incorrect|not\s+right)\b", re.IGNORECASE)
_LONGEST_DENIAL = 60


def _named(
    text: str, pattern: re.Pattern[str], value: Callable[[re.Match[str]], str | None], denied: re.Pattern[str]
) -> list[Named]:
    found = []
    for each in pattern.finditer(text):
        start, answer = each.start(each.lastgroup or 0), value(each)
        is_denied = denied.search(text[max(0, start - _LONGEST_DENIAL) : start]) or _REJECTED.match(text, each.end())
        if answer is not None and not is_denied:
            found.append(Named(start, each.end(), answer))
    return found


# Patterns -------------------------------------------------------------------------------------------------------------


def _any_of(words: list[str]) -> re.Pattern[str]:
    """Return the pattern of some words, longest first."""
    listed = "|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) or "(?!)"
    return re.compile(rf"(?<![\w-])(?:{listed})(?![\w-])", re.IGNORECASE)


_TRUTH = r"""
    (?<![\w-])(?:
        yes|yeah|yep|yup|true|nope|nah|false
        | no(?=\s*(?:$|[.,;:!?)\]"'\u2013\u2014-]|\b(?:there|it|they|the|i|this|that|these|those|we|you|or|and)\b))
    )(?![\w-])
    | \A\W*no(?=\s+(?!doubt|problem|idea|question|worries|way|image|picture|answer|one\b|longer)\w)
"""
"""A "no" before another word is a determiner, unless the reply begins with it."""
_DIGITS = r"(?<![\w./:])(?<![A-Za-z][-_])(?:(?<!\d)-)?(?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.0+)?(?![\w%/]|\.\d|:\d)"
_CELL = r"""
    col(?:umn|\.)?:?\s*[a-z]\W+(?:and\s+|in\s+|of\s+)?row:?\s*\d+(?!\w)
    | row:?\s*\d+\W+(?:and\s+|in\s+|of\s+)?col(?:umn|\.)?:?\s*[a-z](?!\w)
    | (?<![^\W_])[a-z][-_]?\d{1,3}(?![^\W_]|\.\d)
    | \b(?:cell|in|at|is)\s+(?-i:[A-Z])\s\d{1,3}(?=\W*(?:$|[.,;!?)\n]))
"""
"""A letter and a number stand together, or behind a word: `B2`, `at D 4`."""
_PATTERNS: Mapping[str, re.Pattern[str]] = {
    BOOL: re.compile(_TRUTH, re.IGNORECASE | re.VERBOSE),
    INTEGER: re.compile(f"{_DIGITS}|{_any_of(list(NUMBER_WORDS)).pattern}", re.IGNORECASE | re.ASCII),
    CELL: re.compile(_CELL, re.IGNORECASE | re.VERBOSE),
    TEXT: re.compile("(?!)"),
}
_NO_COUNT = re.compile(r"\b(?:at\s+least|at\s+most|(?:more|fewer|less)\s+than|over|under|other|remaining)\s+$", re.I)
_ONE_AS_COUNT = re.compile(
    r"(?:^|[^\w\s]\s*|\n|'s\s+|\b(?:is|was|be|only|exactly|just|see|count|has|have|and|or|so|of)\s+)$", re.IGNORECASE
)
_OR_MORE = re.compile(r"\s+or\s+(?:more|fewer|less)\b", re.IGNORECASE)


def _is_count(found: re.Match[str]) -> bool:
    """False for a bound ("at least 3") and for a pronoun ("the red one")."""
    before = found.string[max(0, found.start() - _LONGEST_DENIAL) : found.start()]
    is_bound = _NO_COUNT.search(before) or _OR_MORE.match(found.string, found.end())
    return not is_bound and (found[0].lower() != "one" or _ONE_AS_COUNT.search(before) is not None)


# Options --------------------------------------------------------------------------------------------------------------

_LETTERED = re.compile(
    r"""
    \W*(?:(?:option|choice)\s+)?\(?([a-z])
    (?: [).:]*\W* | (?:[).:]+\s*|\s+[-\u2013\u2014=]\s+)(\S.*) )
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""A letter, alone or before a text: `B`, `(b)`, `Option B: metal`."""
_LETTER_INSIDE = r"""
    \b(?:option|choice|answer|pick|choose|select)\s*:?\s*\(?(?P<a>[a-z])(?=\s*[).,:;!?]|\s*$|\s+(?:is|or|and|says)\b)
    | \((?P<b>[a-z])\)
    | (?<![\w'.-])(?P<c>(?-i:[B-HJ-Z]))(?![\w'-])
    | (?<![\w'.-])(?P<d>(?-i:A))(?=[).:,;!?]|\s*$|\s+(?:is|or|nor|and|says|because)\b)
"""
"""An `A` before another word is an article, and `I` a pronoun."""


def _option_finder(kind: str, options: tuple[str, ...], has_letters: bool, vocabulary: Vocabulary) -> Finder:
    letters = {chr(ord("a") + place): option for place, option in enumerate(options[:26])} if has_letters else {}
    ways = _ways_of_options(kind, options, vocabulary)

    def of_text(text: str) -> list[str]:
        """Return the option that a text is."""
        return [ways[each] for each in (plain(text), *_read(text, kind, vocabulary)) if each in ways][:1]

    def whole(text: str) -> list[str]:
        if by_text := of_text(text):
            return by_text
        if (lettered := _LETTERED.fullmatch(text)) and lettered[1].lower() in letters:
            option, by_text = letters[lettered[1].lower()], of_text(lettered[2] or "")
            return list(dict.fromkeys([option, *by_text])) if by_text or not lettered[2] else []
        return _read(text, kind, vocabulary) if kind != TEXT else []

    def value(found: re.Match[str]) -> str | None:
        by_letter = found.lastgroup and letters.get(found[found.lastgroup].lower())
        return by_letter if found.lastgroup else ways.get(found[0].lower())

    @lru_cache(maxsize=1)
    def pattern() -> re.Pattern[str]:
        return re.compile(f"{_any_of(list(ways)).pattern}|{_LETTER_INSIDE}", re.IGNORECASE | re.VERBOSE)

    return Finder(kind, whole, lambda text: _named(text, pattern(), value, _DENIED))


def _ways_of_options(kind: str, options: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, str]:
    """Return the ways to say the options: way -> option. A way to say two options says neither."""
    words: Mapping[str, object] = vocabulary.words if kind == WORD else NUMBER_WORDS if kind == INTEGER else {}
    meant: dict[str, set[str]] = {}
    for option in options:
        values = {*_read(option, kind, vocabulary), plain(option)}
        for way in (*values, *(way for way, value in words.items() if str(value) in values)):
            meant.setdefault(way.lower(), set()).add(option)
    return {way: min(said) for way, said in meant.items() if way and len(said) == 1}
