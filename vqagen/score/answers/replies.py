r"""The answer that a model's reply gives, or why there is none. A reply is never read in two ways silently.

    parsed     one answer: "ANSWER: B", "\boxed{5}", "There are two.", "The cube left of the blue ball is red."
    ambiguous  several: "red or blue", "There are 2 cubes and 3 spheres."; it has no answer, so it is not right
    refused    none: "I cannot see the picture.", "not red", ""

A reply is normalised first: what stands behind `</think>` counts; an object of JSON is its `answer`; `\boxed{` and
`<answer>` are `Answer:`; other markup goes. Then the answer is looked for in the whole, behind the last mark such as
`Answer:` or "the answer is", in a first sentence that is nothing but an answer, and among all that are named: it is the
last one that is said of something ("is red", "= 5"), or the last one if none is. Others in its clause must be equal.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

import orjson

from vqagen.score.answers.kinds import (
    BOOL,
    CELL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    NUMBER_WORDS,
    TEXT,
    WORD,
    Vocabulary,
    cell_label,
    plain,
    read_answer,
    text_of,
)
from vqagen.score.items.table import Gold, Options


def answers_in(text: str, gold: Gold, options: Options | None, vocabulary: Vocabulary) -> list[str]:
    """Return the answer that a reply gives to an item, as text; several if it is ambiguous, none if it refuses.

    Of multiple choice, it is the text of the option. Of the right answer, only its kind, and of which attribute it is a
    value, is used.

    >>> answers_in("I count 2 red ones and 1 blue one. ANSWER: 3", Gold("integer", (3,)), None, Vocabulary())
    ['3']
    """
    among = vocabulary.beside([text_of(each) for each in gold.answers]) if gold.kind == WORD else frozenset[str]()
    texts, has_letters = (options.texts, options.has_letters) if options else ((), False)
    finder = finder_of(gold.kind, texts, has_letters, among, vocabulary)
    reply = _normalised(text)
    if whole := finder.whole(text) or finder.whole(reply):
        return whole
    if marks := list(_MARK.finditer(reply)):
        return _behind_mark(reply[marks[-1].end() :].strip(), finder)
    return _concluded(reply, finder)


def cell_in_reply(reply: str) -> str | None:
    """Return the label of the cell that a reply names; None if it names none, or several.

    >>> cell_in_reply("The red book is in B2. ANSWER: column c, row 3")
    'C3'
    """
    cells = answers_in(reply, Gold(CELL, ("A1",)), None, NO_VOCABULARY)
    return cells[0] if len(cells) == 1 else None


# Normal replies -------------------------------------------------------------------------------------------------------

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_MARKING = re.compile(r"\\boxed\s*\{|<answer>", re.IGNORECASE)
_MARKUP = re.compile(
    r"\\[a-z]+|</?[a-z]+>|^[ \t]*[-\u2022][ \t]+|(?<=\s)[ \t]+|[*`#${}\\\u200b\u2060\ufeff]",
    re.IGNORECASE | re.MULTILINE,
)
"""Commands of LaTeX, tags, bullets of lists, spaces behind others, and characters of Markdown."""
_ENUMERATION = re.compile(r"^[ \t]*\d+[.)][ \t]+(?=\S)", re.MULTILINE)
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")


def _normalised(reply: str) -> str:
    text = unicodedata.normalize("NFKC", reply.rpartition("</think>")[2]).translate(_QUOTES)
    if found := _OBJECT.search(text):
        try:
            answer = orjson.loads(found[0])["answer"]
            text = text_of(tuple(answer) if isinstance(answer, list) else "" if answer is None else answer)
        except (orjson.JSONDecodeError, KeyError):
            pass
    text = _MARKUP.sub("", _MARKING.sub("\nAnswer: ", text)).strip()
    return _ENUMERATION.sub("", text) if len(_ENUMERATION.findall(text)) > 1 else text


# Sentences ------------------------------------------------------------------------------------------------------------

_MARK = re.compile(
    r"""
    (?<![a-z])answer"?\s*(?:[:=]|\s-\s|\n)
    | (?<!whether\s)\b(?:the|my|correct|final)\s+answer\s+(?:to\s+\w+\s+\w+\s+)?(?:is|would\s+be|should\s+be)\b\s*:?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = r"(?<=[.!?;])\s+|\n+"
_SENTENCE = re.compile(_SENTENCE_END)
_CLAUSE = re.compile(rf"{_SENTENCE_END}|\b(?:so|thus|hence|therefore|making|but|however)\b|=>?|\u2192", re.IGNORECASE)
_REASON = re.compile(
    r"(?<=[.!?;])\s+|\n+|\s*(?=\()|\s+[-\u2013\u2014]\s+|,?\s+(?=because\b|since\b|as\b)", re.IGNORECASE
)
"""What separates an answer from its reason."""
_BECAUSE = re.compile(r",?\s*\b(?:because|since)\b[^.;\n]*|\s\([^()]{3,}\)", re.IGNORECASE)
"""Reasons, and what stands in parentheses."""
_HEDGED = re.compile(r"\balso\s+(?:be|possible)\b|\b(?:maybe|perhaps)\b", re.IGNORECASE)
_RETRACTED = re.compile(r".*\b(?:wait|actually|sorry|correction|i\s+mean)\b", re.IGNORECASE | re.DOTALL)
_REFUSAL = re.compile(
    r"""
    (?:\bi\s+(?:\w+\s+)?|^\W*)(?:cannot|can\s+not|can't|could\s+not|couldn't)\s+(?!help\s+but)
    | \b(?:unable|not\s+able|impossible)\s+to\b | \b(?:cannot|can't|could\s+not)\s+be\s+(?:determined|told|known)
    | (?<!no,\s)\bi\s+(?:do\s+not|don't)\s+(?:really\s+)?(?:know|see)\b
    | \bnot\s+(?:\w+\s+|\d+%\s+)?(?:sure|certain|clear)\b | \b(?:no\s+idea|unclear|unknown|i'm\s+sorry|i\s+am\s+sorry)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DESPITE = re.compile(r"\b(?:but|however|guess)\b", re.IGNORECASE)
_SAID = re.compile(
    r"""
    (?: (?:\b(?:is|are|was|were|be|looks?|appears?|seems?|(?:made|consists|total|shape|color|colour)\s+of|see|count
        |counted|find|found|have|has|leaves?|gives?|makes?|choose|pick|select|mean|say)|'s|'re|'d|[=:])
        (?:\s+(?!(?:behind|left|right|front|next|than|as|of|between|near|beside|above|below|from|that|which|with|to|on|by
            |because|since|the\s+same)\b)[\w'-]+){0,4}
      | \b(?:so|thus|hence|therefore)[,:]?
    )\s*\(?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The text before an answer that is said of something: `is a`, `made of`, `I count exactly`, `so`."""
_LONGEST_SAID = 60
_SAID_BEHIND = re.compile(r"\s+(?:of\s+(?:them|these|those|the|which)|are|in\s+total)\b", re.IGNORECASE)
"""The same behind it: `of them`, `are small`."""
_LISTED = re.compile(
    r"(?:\s+[\w-]+){0,2}\s*(?:[,/&-]|\bor\b|\band\b|\bto\b)\s*(?:(?:and|or|a|an|the|in|cell)\s+)*", re.IGNORECASE
)
"""The text between two answers of a list: `, `, ` or a `, ` cubes and `."""
_NONE_THERE = re.compile(
    r"(?:\b(?:is|are|was|were|see)\s+|^)no\s+(?!doubt|question|way|need|image|picture|more|fewer|less|other|(?:or|and)\b)"
    r"|(?:not|n't)\s+any\b",
    re.IGNORECASE,
)


def _behind_mark(text: str, finder: Finder) -> list[str]:
    """Return the answers behind a mark: in its line, unless it is taken back."""
    if _RETRACTED.match(text):
        return _concluded(text, finder)
    line = text.partition("\n")[0].strip()
    return finder.whole(line) or finder.whole(_REASON.split(line, maxsplit=1)[0]) or _concluded(line, finder)


def _concluded(text: str, finder: Finder) -> list[str]:
    """Return the answers that are named last: one, or several that stand in one clause or list."""
    while refusal := _REFUSAL.search(text):
        despite = _DESPITE.search(text, refusal.end())
        text = text[despite.end() :] if despite else ""
    if (retracted := _RETRACTED.match(text)) and finder.named(text[retracted.end() :]):
        text = text[retracted.end() :]
    wholes = [_verdict(each, finder) for each in _SENTENCE.split(text)]
    if wholes[0] and len(verdict := _distinct(wholes)) == 1:
        return verdict
    if len(listed := _distinct(takewhile(bool, reversed(wholes)))) > 1:
        return listed
    for each in (_BECAUSE.sub("", text), text):
        if named := finder.named(each):
            return _last(each, named, finder)
    if finder.kind == INTEGER and _NONE_THERE.search(text):
        return finder.whole("0")
    free = plain(_BECAUSE.sub("", text)) if finder.kind == TEXT else ""
    return [free] if free else []


def _verdict(sentence: str, finder: Finder) -> list[str]:
    """Return the answer that a sentence is, but for a reason; a word must be of the attribute that is asked for."""
    head = _REASON.split(sentence, maxsplit=1)[0]
    is_said = not head.endswith("?") and (finder.kind != WORD or finder.named(head))
    return finder.whole(head) if is_said else []


def _last(text: str, named: Sequence[Named], finder: Finder) -> list[str]:
    """Return the last of the answers that a text names, and those in its clause; all members of a list as one."""
    said = list[Named]()
    for place, each in enumerate(named):
        is_listed = (
            said and said[-1:] == [named[place - 1]] and _LISTED.fullmatch(text, named[place - 1].end, each.start)
        )
        before = text[max(0, each.start - _LONGEST_SAID) : each.start]
        if is_listed or _SAID.search(before) or _SAID_BEHIND.match(text, each.end):
            said.append(each)
    if _HEDGED.search(text):
        return _distinct([each.answer] for each in named)
    clauses = [found.end() for found in _CLAUSE.finditer(text)]
    last = bisect(clauses, (said or named)[-1].start)
    answers = _distinct([each.answer] for each in said or named if bisect(clauses, each.start) == last)
    if finder.kind == LIST:
        is_list = said and len(answers) > 1 and " or " not in text
        return [", ".join(sorted(answers))] if is_list else answers * 2
    return answers


def _distinct(found: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(answer for each in found for answer in each))


# Finders --------------------------------------------------------------------------------------------------------------
#
# The answers of one kind that a text names, or that it is. Words count as a whole and unless they are denied: "10"
# holds no 0, "I know" no "no". Words of other attributes than that of the question are passed over.


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
