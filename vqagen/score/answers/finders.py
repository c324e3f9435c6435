"""Finders: the answers of one kind that stand inside of a text, each once, as text.

Words count as a whole and unless they are negated: "10" holds no 0, "I know" no "no", and "not red" no red. Words of
other attributes than that of the question are passed over: "The large red cube is metal" has one material.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from vqagen.score.answers.kinds import BOOL, INTEGER, LIST, TEXT, WORD, Vocabulary, text_of
from vqagen.score.answers.reading import NUMBER_WORDS, TRUTH_WORDS, plain, read_answer
from vqagen.score.items.table import Gold, Options

Find = Callable[[str], list[str]]
_NEGATED = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|rather than|instead of|other than)|n't)\s+(?:(?!but\b)[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
_UNTRUE = re.compile(r"(?:\b(?:not|never|neither|nor)|n't)\s+(?:(?!but\b)[\w-]+\s+){0,2}$", re.IGNORECASE)
"""Negations of "yes" and "no": the same without "no"."""
_LONGEST_NEGATION = 60
_TRUTH = re.compile(r"(?<![\w-])(yes|yeah|yep|yup|true|no|nope|nah|false)(?![\w-])", re.IGNORECASE)
_FIRST_NO = re.compile(
    r"\W*no\s+(?!doubt|problem|idea|question|worries|way|image|picture|answer|one\b|longer)\w", re.IGNORECASE
)
_NO_AS_ANSWER = re.compile(
    r"\s*(?:$|[.,;:!?)\]\"'\u2013\u2014-]|\b(?:there|it|they|the|i|this|that|these|those|none|neither|he|she|we|you|or|and)\b)",
    re.IGNORECASE,
)
"""What follows "no" if it is an answer, and not a determiner as in "no cube"."""
_BOUND_BEFORE = re.compile(r"\b(?:at\s+least|at\s+most|(?:more|fewer|less)\s+than|over|under)\s+$", re.IGNORECASE)
_BOUND_BEHIND = re.compile(r"\s+or\s+(?:more|fewer|less)\b", re.IGNORECASE)
_ENUMERATION = re.compile(r"^\s*\d+[.)]\s+(?=\S)", re.MULTILINE)
_INTEGER = re.compile(
    r"(?<![\w./:])(?<![A-Za-z][-_])(?:(?<!\d)-)?(?:\d{1,3}(?:,\d{3})+|\d{1,18})(?:\.0+)?(?![\w%/]|\.\d|:\d)", re.ASCII
)
_NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(NUMBER_WORDS, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
_NONE_THERE = re.compile(
    r"\bthere\s+(?:is|are|were|was)\s+no\s+(?!doubt|question|way|need|image|picture|more|fewer|less)", re.IGNORECASE
)
_WORD_BEFORE = re.compile(r"([\w-]+)\s+$")
_NOT_A_COUNT = frozenset(("the", "this", "that", "which", "each", "every", "another", "other", "no", "any", "some"))
"""Words before "one" that make it a pronoun."""


@dataclass(frozen=True)
class Finder:
    """Finds answers to one kind of question."""

    whole: Find
    """Returns the answer that a text is, if it is nothing else; two for a letter beside the text of another option."""
    found: Find
    """Returns the answers inside of a text."""
    concludes: bool = False
    """True if, of several answers, that of the last sentence counts."""


def finder_of(gold: Gold, options: Options | None, vocabulary: Vocabulary) -> Finder:
    """Return the finder for an item."""
    values = frozenset(text_of(answer) for answer in gold.answers) if gold.kind == WORD else frozenset()
    among = vocabulary.beside(values) if values else values
    texts, has_letters = (options.texts, options.has_letters) if options else ((), False)
    return _finder(gold.kind, texts, has_letters, among, _Words(vocabulary))


class _Words:
    """A vocabulary that is compared by identity, so that finders can be kept."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Words) and other.vocabulary is self.vocabulary

    def __hash__(self) -> int:
        return id(self.vocabulary)


@lru_cache(maxsize=1 << 12)
def _finder(kind: str, options: tuple[str, ...], has_letters: bool, among: frozenset[str], words: _Words) -> Finder:
    vocabulary = words.vocabulary
    if options:
        return _option_finder(kind, options, has_letters, vocabulary)
    if kind == WORD and vocabulary.words:
        ways = {way: value for way, value in vocabulary.words.items() if not among or value in among}
        return Finder(_whole(kind, vocabulary), _finding_words(ways))
    return _BY_KIND.get(kind, _text_finder)(kind, vocabulary)


def _whole(kind: str, vocabulary: Vocabulary) -> Find:
    def whole(text: str) -> list[str]:
        answer = read_answer(text, kind, vocabulary)
        return [] if answer is None else [text_of(answer)]

    return whole


def _text_finder(kind: str, vocabulary: Vocabulary) -> Finder:
    """Any text is an answer, but is only taken whole if the reply marks no part of it."""
    return Finder(lambda text: [], _whole(kind, vocabulary))


def _integer_finder(kind: str, vocabulary: Vocabulary) -> Finder:
    def found(text: str) -> list[str]:
        return _distinct(map(str, _numbers(text, vocabulary)))

    return Finder(_whole(kind, vocabulary), found, concludes=True)


def _bool_finder(kind: str, vocabulary: Vocabulary) -> Finder:
    return Finder(_whole(kind, vocabulary), lambda text: _distinct(_truths(text)))


def _list_finder(kind: str, vocabulary: Vocabulary) -> Finder:
    """Any words of a list that is not the whole text may be all of it or not, so that they count as several answers."""
    words = _finding_words(vocabulary.words)

    def found(text: str) -> list[str]:
        inside = words(text)
        return inside if len(inside) != 1 else inside * 2

    return Finder(_whole(kind, vocabulary), found)


_BY_KIND: Mapping[str, Callable[[str, Vocabulary], Finder]] = {
    BOOL: _bool_finder,
    INTEGER: _integer_finder,
    LIST: _list_finder,
}


# Words ----------------------------------------------------------------------------------------------------------------


def _finding_words(meaning: Mapping[str, str]) -> Find:
    """Return a function that finds words of a table, longest first: way to say it -> what it means."""
    if not meaning:
        return lambda text: []
    by_length = sorted(meaning, key=lambda way: (-len(way), way))
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, by_length))})(?![\w-])", re.IGNORECASE)
    by_plain = {way.lower(): value for way, value in meaning.items()}

    def found(text: str) -> list[str]:
        return _distinct(by_plain[each[0].lower()] for each in pattern.finditer(text) if not _is_negated(text, each))

    return found


def _is_negated(text: str, found: re.Match[str], negations: re.Pattern[str] = _NEGATED) -> bool:
    return negations.search(text[max(0, found.start() - _LONGEST_NEGATION) : found.start()]) is not None


def _distinct(found: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(found))


def _truths(text: str) -> Iterator[str]:
    if _FIRST_NO.match(text):
        yield "no"
    for each in _TRUTH.finditer(text):
        word = each[1].lower()
        is_answer = word != "no" or _NO_AS_ANSWER.match(text, each.end())
        if is_answer and not _is_negated(text, each, _UNTRUE):
            yield text_of(TRUTH_WORDS[word])


def _numbers(text: str, vocabulary: Vocabulary) -> Iterator[int]:
    if "\n" in text.strip():
        text = _ENUMERATION.sub("", text)
    for digits in _INTEGER.finditer(text):
        if not _is_negated(text, digits) and not _is_bound(text, digits):
            yield int(digits[0].partition(".")[0].replace(",", ""))
    for word in _NUMBER_WORD.finditer(text):
        if not (_is_negated(text, word) or _is_bound(text, word) or _is_pronoun(text, word, vocabulary)):
            yield NUMBER_WORDS[word[0].lower()]
    if _NONE_THERE.search(text):
        yield 0


def _is_bound(text: str, number: re.Match[str]) -> bool:
    """True for 3 in "at least 3" and "3 or more"."""
    before = text[max(0, number.start() - _LONGEST_NEGATION) : number.start()]
    return _BOUND_BEFORE.search(before) is not None or _BOUND_BEHIND.match(text, number.end()) is not None


def _is_pronoun(text: str, word: re.Match[str], vocabulary: Vocabulary) -> bool:
    """True for "one" in "the red one"."""
    before = _WORD_BEFORE.search(text, 0, word.start())
    return word[0].lower() == "one" and before is not None and _is_describing(before[1].lower(), vocabulary)


def _is_describing(word: str, vocabulary: Vocabulary) -> bool:
    return word in _NOT_A_COUNT or word in vocabulary.words


# Options --------------------------------------------------------------------------------------------------------------

_LETTER_ALONE = re.compile(r"\W*(?:(?:option|choice)\s+)?\(?([A-Za-z])[).:]*\W*", re.IGNORECASE)
_LETTER_AND_TEXT = re.compile(
    r"\W*(?:(?:option|choice)\s+)?\(?([A-Za-z])(?:[).:]+\s*|\s+[-\u2013\u2014=]\s+)(\S.*)", re.DOTALL
)
_LETTER_INSIDE = re.compile(
    r"""
    \b(?:option|choice)\s+\(?([A-Z])(?!\w)
    | \b(?:answer|choice|option|pick|choose|select)\s*:?\s*([A-Z])(?=\s*(?:[.,;!?]|$))
    | \(([A-Z])\)
    | ^\s*([A-Z])[).:](?=\s|$)
    """,
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)


def _option_finder(kind: str, options: tuple[str, ...], has_letters: bool, vocabulary: Vocabulary) -> Finder:
    letters = {chr(ord("a") + place): option for place, option in enumerate(options[:26])} if has_letters else {}
    by_value = _options_by_value(kind, options, vocabulary)
    inside = _finding_words(_ways_of_options(kind, options, vocabulary))
    read = _whole(kind, vocabulary)

    def named(text: str) -> list[str]:
        """Return the option that a text is."""
        value = read(text)
        return [by_value[each] for each in (plain(text), *value) if each in by_value][:1]

    def whole(text: str) -> list[str]:
        if by_text := named(text):
            return by_text
        if (alone := _LETTER_ALONE.fullmatch(text)) and alone[1].lower() in letters:
            return [letters[alone[1].lower()]]
        if (both := _LETTER_AND_TEXT.fullmatch(text)) and both[1].lower() in letters:
            by_text = named(both[2])
            return _distinct([letters[both[1].lower()], *by_text]) if by_text else []
        return read(text) if kind != TEXT else []

    def found(text: str) -> list[str]:
        marked = (next(filter(None, each.groups())).lower() for each in _LETTER_INSIDE.finditer(text))
        named_inside = _distinct([*(letters[each] for each in marked if each in letters), *inside(text)])
        return named_inside or (read(text) if kind == TEXT else [])

    return Finder(whole, found)


def _options_by_value(kind: str, options: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, str]:
    """Return text or value -> the option that is this."""
    read = _whole(kind, vocabulary)
    found = {value: option for option in reversed(options) for value in read(option)}
    return found | {plain(option): option for option in reversed(options)}


def _ways_of_options(kind: str, options: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, str]:
    """Return the ways to say the options: way -> option. A way to say two options says neither."""
    words: Mapping[str, object] = vocabulary.words if kind == WORD else NUMBER_WORDS if kind == INTEGER else {}
    meant: dict[str, set[str]] = {}
    for option in options:
        values = {*_whole(kind, vocabulary)(option), plain(option)}
        for way in (*values, *(way for way, value in words.items() if str(value) in values)):
            meant.setdefault(way, set()).add(option)
    return {way: min(said) for way, said in meant.items() if way and len(said) == 1}
