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
from collections.abc import Iterable, Sequence
from itertools import takewhile

import orjson

from vqagen.score.answers.kinds import CELL, INTEGER, LIST, NO_VOCABULARY, TEXT, WORD, Vocabulary, text_of
from vqagen.score.answers.naming import Finder, Named, finder_of
from vqagen.score.answers.reading import plain
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
