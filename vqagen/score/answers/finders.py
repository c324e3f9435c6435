"""Finders: the answers of one kind, or the options of one question, that a text names or that it is.

Words count as a whole and unless they are denied: "10" holds no 0, "I know" no "no". Words of other attributes than
that of the question are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache

from vqagen.items.answers import (
    BOOL,
    CELL,
    INTEGER,
    LIST,
    NONE_THERE,
    NUMBER_WORDS,
    TEXT,
    WORD,
    Vocabulary,
    cell_label,
    plain,
    read_answer,
    text_of,
)
from vqagen.items.table import Gold, Options

NEAR = 60
"""Characters before an answer that tell what is said of it."""
_RELATED = re.compile(
    r"""
    \b(?:(?<!made\s)(?<!shape\s)of|behind|beside|near|above|below|under|between|than|as|to|from|like)
    \s+(?:the|an?|that|this|another|any)\s+
    (?:(?!(?:is|are|was|were|has|looks?|appears?|seems?|colou?r|material|shape|size)\b)[\w-]+\s+){0,3}$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The text before a word that describes another object: `behind the large `."""
_DENYING = (
    r"(?:\b(?:not|cannot|never|neither|nor|without|rather\s+than|instead\s+of|other\s+than|anything\s+but{})\b|n't)"
    r"\s+(?:(?!(?:but|so|is|are|it|that)\b)[\w-]+\s+){{0,4}}\W?$"
)
_UNTRUE, _DENIED = (re.compile(_DENYING.format(more), re.IGNORECASE) for more in ("", "|no"))
"""The text before an answer that is denied: `not `, `neither red nor `, `isn't in cell `. "Yes, no" denies nothing."""
_REJECTED = re.compile(
    r"\)?\s+(?:is|are)\s+(?:wrong|incorrect|not\s+right|hidden|blocked|covered|empty)\b", re.IGNORECASE
)
_NO_COUNT = re.compile(
    r"""
    \b(?:at\s+least|at\s+most|(?:more|fewer|less)\s+than|over|under|other|remaining|steps?|objects?|item|option|question
    |figure|(?:out\s+of|of\s+(?:the|these|those|all)|among|from)(?:\s+(?:the|all))?)\s+$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The text before a number that is a bound, a label ("step 2"), or of how many there are ("of the 8 objects")."""
_ONE_AS_COUNT = re.compile(
    r"(?:^|[^\w\s]\s*|\n|'s\s+|\b(?:is|was|be|only|exactly|just|see|find|count|has|have|and|or|so|of)\s+)$",
    re.IGNORECASE,
)


_LETTERED = re.compile(
    r"""
    \W*(?:(?:option|choice)\s+)?\(?([a-z])
    (?: [).:]*\W* | (?:[).:]+\s*|\s+[-\u2013\u2014=]\s+)(\S.*) )
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
"""A letter, alone or before a text: `B`, `(b)`, `Option B: metal`."""
OPTION = "option"
"""The kind of a finder of options."""
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Letters of options; also the options of a question whose texts are not known, as EasyR1 hands over the letter."""
_WORD = re.compile(r"[\w-]{2,}\W*")
_NAMED: Mapping[str, str] = {
    BOOL: r"""
    (?<![\w-])(?:
        yes|yeah|yep|yup|true|nope|nah|false
        | no(?=\s*(?:$|[.,;:!?)\]"'\u2013\u2014-]|\b(?:there|it|they|the|i|this|that|these|those|we|you|or|and)\b))
    )(?![\w-])
    | \A\W*(?P<none>no(?!\s+one\b)|there\s+(?:(?:is|are|was|were)\s+no(?:t\s+an?y?)?|isn't|aren't))
      \s+(?!(?:doubt|problem|idea|question|worries|way|need|image|picture|answer|longer)\b)\w
""",  # a "no" before another word is a determiner, unless the text begins with it
    INTEGER: r"""
    (?P<none>\b(?:(?:is|are|was|were|see|has|have|contains?)\s+no|not\s+any)|\A\W*no|n't\s+any)
      \s+(?!(?:doubt|question|way|need|image|picture|more|fewer|less|idea|or|and)\b)[a-z]
    | (?P<nothing>n't\s+any)(?=\W*\Z) | \ba\s+(?P<single>single)\s+(?=[a-z])
    | (?<![\w./:])(?<![A-Za-z][-_])(?:(?<!\d)-)?(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(?:\.0{1,3})?(?![\w%/]|\.\d|:\d)
      (?!\s+or\s+(?:more|fewer|less)\b)
""",
    CELL: r"""
    col(?:umn|\.)?:?\s*[a-z]\W{1,9}(?:and\s+|in\s+|of\s+)?row:?\s*\d{1,3}(?!\w)
    | row:?\s*\d{1,3}\W{1,9}(?:and\s+|in\s+|of\s+)?col(?:umn|\.)?:?\s*[a-z](?!\w)
    | (?<![^\W_])[a-z][-_]?\d{1,3}(?![^\W_]|\.\d)
    | \b(?:cell|in|at|is)\s+(?-i:[A-Z])\s\d{1,3}(?=\W*(?:$|[.,;!?)\n]))
""",  # a letter and a number stand together, or behind a word: `B2`, `at D 4`
    OPTION: r"""
    \b(?:option|choice|answer|pick|choose|select)\s*:?\s*\(?(?P<a>[a-z])(?=\s*[).,:;!?]|\s*$|\s+(?:is|or|and|says)\b)
    | \((?P<b>[a-z])\)
    | (?<![\w'.-])(?P<c>(?-i:[B-HJ-Z]))(?![\w'-])
    | (?<![\w'.-])(?P<d>(?-i:A))(?=[).:,;!?]|\s*$|\s+(?:is|or|nor|and|says|because|(?-i:[A-Z]))\b)
""",  # an `A` before another word is an article, and `I` a pronoun
}
"""Kind -> the pattern of what a text may name besides words."""


class Finder:
    """Finds answers to one kind of question, or the options of one."""

    def __init__(self, kind: str, among: frozenset[str], options: Options | None, vocabulary: Vocabulary) -> None:
        """Of words, those `among` some values are found; a letter names an option if the model saw their order."""
        self.read_as, self.vocabulary = TEXT if kind == WORD and not vocabulary.words else kind, vocabulary
        self.kind = OPTION if options else self.read_as
        texts = options.texts if options and options.has_letters else ()
        self.letters = {letter.lower(): option for letter, option in zip(LETTERS, texts, strict=False)}
        self.is_unknown = texts == LETTERS
        words = vocabulary.words if kind in (WORD, LIST) else {}
        self.ways = {way: of for way, of in words.items() if not among or of in among or of == NONE_THERE}
        if options:
            self.ways = _ways_of_options(kind, options.texts, vocabulary)
        self.denied = {BOOL: (_UNTRUE,), WORD: (_DENIED, _RELATED), INTEGER: (_DENIED, _NO_COUNT)}.get(
            self.kind, (_DENIED,)
        )

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of what a text may name."""
        words = sorted(NUMBER_WORDS if self.kind == INTEGER else self.ways, key=lambda word: (-len(word), word))
        named = rf"(?<![\w-])(?:{'|'.join(map(re.escape, words)) or '(?!)'})(?![\w-])(?!\s+or\s+(?:more|fewer|less)\b)"
        return re.compile(f"{named}|{_NAMED.get(self.kind, '(?!)')}", re.IGNORECASE | re.VERBOSE)

    def whole(self, text: str) -> list[str]:
        """Return the answer that a text is, if it is nothing else; two for a letter beside another option's text."""
        if self.kind != OPTION:
            return self._read(text)
        lettered = _LETTERED.fullmatch(text)
        if (found := self._option(text)) or not lettered or lettered[1].lower() not in self.letters:
            return found or (self._read(text) if self.read_as != TEXT else [])
        beside = self._option(lettered[2] or "")
        is_one = not lettered[2] or (_WORD.fullmatch(lettered[2]) if self.is_unknown else beside)
        return list(dict.fromkeys((self.letters[lettered[1].lower()], *beside))) if is_one else []

    def _read(self, text: str) -> list[str]:
        answer = read_answer(text, self.read_as, self.vocabulary)
        return [] if answer is None else [text_of(answer)]

    def _option(self, text: str) -> list[str]:
        """Return the option whose text a text is."""
        return [self.ways[way] for way in (plain(text), *self._read(text)) if way in self.ways][:1]

    def named(self, text: str) -> list[tuple[int, int, str]]:
        """Return the answers that a text names and does not deny, with the places where they begin and end."""
        found = []
        for match in self.pattern.finditer(text):
            start = match.start(match.lastgroup or 0)
            before, answer = text[max(0, start - NEAR) : start], self._answer(match, match.lastgroup or "")
            is_pronoun = match[0].lower() == "one" and self.kind == INTEGER and not _ONE_AS_COUNT.search(before)
            is_denied = any(way.search(before) for way in self.denied) or _REJECTED.match(text, match.end())
            if answer and not is_pronoun and not is_denied:
                found.append((start, match.end(), answer))
        return found

    def _answer(self, found: re.Match[str], group: str) -> str:
        if group:
            number = "1" if group == "single" else "0"
            return {INTEGER: number, BOOL: "no"}.get(self.kind) or self.letters.get(found[group].lower(), "")
        if self.kind in (BOOL, INTEGER):
            return next(iter(self._read(found[0])), "")
        return cell_label(found[0]) if self.kind == CELL else self.ways.get(found[0].lower(), "")


_finder = lru_cache(maxsize=1 << 12)(Finder)


def finder_for(gold: Gold, options: Options | None, vocabulary: Vocabulary) -> Finder:
    """Return the finder for the answers to an item."""
    among = vocabulary.beside([text_of(answer) for answer in gold.answers]) if gold.kind == WORD else frozenset[str]()
    return _finder(gold.kind, among, options, vocabulary)


def _ways_of_options(kind: str, options: tuple[str, ...], vocabulary: Vocabulary) -> dict[str, str]:
    """Return the ways to say the options: way -> option. A way to say two options says neither."""
    words: Mapping[str, object] = vocabulary.words if kind == WORD else NUMBER_WORDS if kind == INTEGER else {}
    meant: dict[str, set[str]] = {}
    for option in options:
        read = read_answer(option, kind, vocabulary)
        values = {plain(option), plain(option) if read is None else text_of(read)}
        for way in (*values, *(way for way, value in words.items() if str(value) in values)):
            meant.setdefault(way.lower(), set()).add(option)
    return {way: min(said) for way, said in meant.items() if way and len(said) == 1}
