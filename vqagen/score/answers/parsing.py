"""Parsing: the answer inside of a model's reply, or why there is none. A reply is never read in two ways silently.

    parsed     one answer: "ANSWER: B", "\\boxed{5}", "There are two.", "Yes, there is one."
    ambiguous  several: "red or blue", "There are 2 cubes and 3 spheres."; it has no answer, so it is not right
    refused    none: "I cannot see the picture.", "not red", ""

Of a reply that thinks aloud, what stands behind `</think>` counts. An answer is looked for in this order: the reply as
a whole; behind the last of `ANSWER:`, "the answer is", `<answer>` and `\\boxed{`; in all of the reply. How answers of a
kind are found inside other words is in `finders`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from vqagen.score.answers.cells import cells_in_reply
from vqagen.score.answers.finders import Finder, finder_of
from vqagen.score.answers.kinds import CELL, TEXT, Vocabulary
from vqagen.score.items.table import Gold, Options

PARSED, AMBIGUOUS, REFUSED = "parsed", "ambiguous", "refused"

_THOUGHT_END = "</think>"
_MARK = re.compile(
    r"""
    (?<![a-z])answer\s*[:=](?!\s*<)                                     # unless a placeholder such as <word> follows
    | \b(?:the|my|correct|final)\s+answer\s+(?:is|would\s+be|should\s+be)\b\s*:?
    | <answer>
    | \\boxed\s*\{
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MARKUP = re.compile(r"\\(?:text|mathrm|mathbf|boxed)?|</?[a-z]+>|[*`${}\u200b\u2060\ufeff]", re.IGNORECASE)
"""Characters of Markdown, LaTeX, tags, and characters that nobody sees."""
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_REASON = re.compile(r"(?<=[.!?;])\s+|\n+|\s*(?=\()|,?\s+(?=(?:because|since|as)\b)", re.IGNORECASE)
"""What separates an answer behind a mark from its reason."""
_RETRACTING = re.compile(
    r"\b(?:wait|actually|sorry|rather|instead|or|but|correction|alternatively|not)\b", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"""
    \b(?:cannot|can\s+not|can't|could\s+not|couldn't|unable\s+to|not\s+able\s+to|impossible\s+to)\s+(?:\w+\s+){0,2}?
    (?:see|tell|determine|answer|say|view|identify|know|make\s+out|access|help|assist|process|find)\b
    | \b(?:do\s+not|don't|not)\s+(?:really\s+)?(?:know|sure|certain)\b
    | \b(?:no\s+idea|unclear|unknown|i'm\s+sorry|i\s+am\s+sorry)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


class Parsed(NamedTuple):
    """A reply as an answer."""

    status: str
    answer: str
    """The answer as text; of multiple choice, the text of the option. Empty unless parsed."""


_REFUSED, _AMBIGUOUS = Parsed(REFUSED, ""), Parsed(AMBIGUOUS, "")


def parse_reply(text: str, gold: Gold, options: Options | None, vocabulary: Vocabulary) -> Parsed:
    """Return the answer that a reply gives to a question.

    Of the right answer, only its kind, and of which attribute it is a value, is used.

    >>> parse_reply("I count 2 red ones and 1 blue one. ANSWER: 3", Gold("integer", (3,)), None, Vocabulary())
    Parsed(status='parsed', answer='3')
    """
    reply = text.rpartition(_THOUGHT_END)[2].strip()
    if not reply:
        return _REFUSED
    if gold.kind == CELL and not options:
        return _verdict(cells_in_reply(reply))
    finder = finder_of(gold, options, vocabulary)
    if whole := finder.whole(reply):
        return _verdict(whole)
    return _in_words(
        unicodedata.normalize("NFKC", reply).replace("\u2019", "'"), gold.kind == TEXT and not options, finder
    )


def _in_words(reply: str, is_free: bool, finder: Finder) -> Parsed:
    """Parse a reply that has more words than an answer."""
    marks = list(_MARK.finditer(reply))
    if marks:
        return _behind_mark(_first_line(reply[marks[-1].end() :]), finder)
    unmarked = _MARKUP.sub("", reply)
    if whole := finder.whole(unmarked):
        return _verdict(whole)
    if _REFUSAL.search(unmarked):
        return _REFUSED
    if is_free:
        return _verdict(finder.found(unmarked))
    return _verdict(finder.found(unmarked) if not finder.concludes else _concluded(unmarked, finder))


def _behind_mark(marked: str, finder: Finder) -> Parsed:
    line = _MARKUP.sub("", marked).strip()
    if whole := finder.whole(line):
        return _verdict(whole)
    first, *others = _REASON.split(line, maxsplit=1)
    if (whole := finder.whole(first)) and not _RETRACTING.search(" ".join(others)):
        return _verdict(whole)
    return _REFUSED if _REFUSAL.search(line) else _verdict(finder.found(line))


def _concluded(text: str, finder: Finder) -> Sequence[str]:
    """Return the answers in a text or, if these are several, those in its last sentence that has any."""
    found = finder.found(text)
    if len(found) < 2:
        return found
    sentences = _SENTENCE_END.split(text.strip())
    last = finder.found(sentences[-1].rpartition("=")[2])
    return last or found


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _verdict(found: Sequence[str]) -> Parsed:
    if len(found) == 1:
        return Parsed(PARSED, found[0])
    return _AMBIGUOUS if found else _REFUSED
