r"""The answer that a model's reply gives, read by few rules, each of which is certain.

    read             "3", "Answer: B", "\boxed{5}", "7 - 2 = 5 objects remain", "The cube left of the blue ball is red."
    ambiguous        several answers: "red or blue", "There are 2 cubes and 3 spheres."
    not read         free text in which no rule is certain: "The sphere is blue. The cube is red."
    no valid answer  nothing, a refusal, or an answer of another type: "I cannot see it.", "red" for a count

Text in tags is reasoning, and no answer, whatever the tag is called and whether it is closed; `<answer>` and its like
excepted. Then the first of these rules that finds an answer decides:

1. The reply is nothing but an answer.
2. A mark, the last: `<answer>`, `\boxed{`, a JSON key, "Answer:", "the answer is". What stands behind it counts alone.
3. Clauses. A conclusion ("so", "in total", "=") beats what stands before it; all answers from there on must be equal.
   A number also counts if what is listed behind it adds up to it, and a sentence that is nothing but an answer.

Rewards are stricter (`strict_answer`): a reply is an answer, or has one in `<answer>` or `\boxed{`, or has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import orjson

from vqagen.items.answers import (
    BOOL,
    CELL,
    INTEGER,
    LIST,
    NO_VOCABULARY,
    TEXT,
    Vocabulary,
    compatible,
    plain,
    text_of,
)
from vqagen.items.table import Gold, Options
from vqagen.score.answers.finders import NEAR, Finder, finder_for

READ, AMBIGUOUS, NOT_READ, NO_VALID_ANSWER = "read", "ambiguous", "not read", "no valid answer"
MOST_CHARACTERS, MOST_READ, LONGEST_ANSWER = 1_000_000, 10_000, 1_000
"""A longer reply has no answer. Of its end so much is read as free text, and so much may be an answer for a reward."""


def read_reply(text: str, gold: Gold, options: Options | None, vocabulary: Vocabulary) -> tuple[list[str], str]:
    """Return the answers that a reply gives to an item, as texts, and its status; one answer if it is READ.

    Of multiple choice, it is the text of the option. Of the right answer, only its kind, and of which attribute it is a
    value, is used; a text that nothing marks as an answer also counts if it is the right one.

    >>> read_reply("I count 2 red ones and 1 blue one. ANSWER: 3", Gold("integer", (3,)), None, Vocabulary())
    (['3'], 'read')
    """
    finder = finder_for(gold, options, vocabulary)
    reply = _cleaned(_marked(shown(text)[-MOST_READ:]))[-MOST_READ:]
    is_right = gold.kind == TEXT and plain(text) in [plain(text_of(answer)) for answer in gold.answers]
    if found := finder.whole(text) if is_right else _answers(reply, finder) if not reply.endswith(":") else []:
        return found, READ if len(found) == 1 else AMBIGUOUS
    said = _MARK.split(reply)[-1]
    return [], NO_VALID_ANSWER if len(said.split()) <= _FEW_WORDS or _REFUSED.search(said) else NOT_READ


def strict_answer(text: str, gold: Gold, options: Options | None, vocabulary: Vocabulary) -> str | None:
    r"""Return the answer in the last complete `<answer>` or `\boxed{}` of a reply; without any, that which it is.

    >>> strict_answer("<think>2 or 3?</think><answer>three</answer>", Gold("integer", (3,)), None, Vocabulary())
    '3'
    """
    said = _LATEX.sub(r"\1", marked_answer(text).strip())
    finder, is_short = finder_for(gold, options, vocabulary), len(said) <= LONGEST_ANSWER and "?" not in said
    found = (finder.whole(said) or finder.whole(_cleaned(said))) if is_short else []
    return found[0] if len(found) == 1 else None


def marked_answer(text: str) -> str:
    r"""Return the answer in the last `<answer>` or `\boxed{}` of a reply; without any, the reply without reasoning."""
    reply = shown(text)
    return next((mark[1] or mark[2] or "" for mark in reversed([*_MARKED.finditer(reply)])), reply)


def cell_in_reply(reply: str) -> str | None:
    """Return the label of the cell that a reply names; None if it names none, or several.

    >>> cell_in_reply("The red book is in B2. ANSWER: column c, row 3")
    'C3'
    """
    cells, status = read_reply(reply, Gold(CELL, ("A1",)), None, NO_VOCABULARY)
    return cells[0] if status == READ else None


# Tags and markup ------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"<\|(?![^|<>]{0,80}(?:think|thought|reason))[^|<>]{0,80}\|>", re.IGNORECASE)
"""A token of a chat template, such as `<|im_end|>`."""
_TAG = re.compile(
    r"(?:<\|?|\[(?=/?think))(?P<end>/|end_(?:of_)?)?(?:(?:begin|start)_(?:of_)?)?"
    r"(?P<name>[bipsu]|[a-z][a-z_-][\w.:-]{0,40})(?:\s[^<>]{0,400}?)?(?P<alone>/?)\|?[>\]]",
    re.IGNORECASE,
)
_LIKE_ANSWER = "final_answer final-answer finalanswer final response output result solution conclusion"
_FORMATTING = """
    b i p s u em strong br hr span div code pre sub sup small big mark font center ul ol li table tr td th body html img
    image bos eos pad unk end_of_turn start_of_turn
"""
_SHOWN: Mapping[str, tuple[str, str]] = {
    "answer": ("<answer>", "</answer>"),
    **dict.fromkeys(_LIKE_ANSWER.split(), ("\nAnswer: ", "\n")),
    **dict.fromkeys(_FORMATTING.split(), ("", "")),
}
"""Tag whose text is no reasoning -> what takes the place of its beginning and of its end."""


def shown(reply: str) -> str:
    """Return a reply without its reasoning: the text in tags, closed or not, and before an end without beginning.

    >>> shown("<THINKING>3?</THINKING>4"), shown("<reason>3"), shown("3?</think>4")
    ('4', '', '4')
    """
    text = _TOKEN.sub("", reply.replace("\u25c1", "<").replace("\u25b7", ">")) if len(reply) <= MOST_CHARACTERS else ""
    parts, at, hidden, depth = list[str](), 0, "", 0
    for tag in _TAG.finditer(text):
        name, is_end = tag["name"].lower(), bool(tag["end"])
        if depth:
            depth += (name == hidden) * (-1 if is_end else 1)
        elif is_end and name not in _SHOWN:
            parts.clear()
        else:
            parts += text[at : tag.start()], _SHOWN.get(name, ("", ""))[is_end]
            hidden, depth = name, int(name not in _SHOWN and not tag["alone"])
        at = tag.end()
    return "".join(parts) + ("" if depth else text[at:])


_MARKED = re.compile(r"<answer>((?:(?!</?answer>).)*)</answer>|\\f?boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}", re.DOTALL)
_LATEX = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|mbox|boxed)\s*\{([^{}]*)\}")
_MARKUP = re.compile(
    r"\\[()\[\],;! ]|^[ \t]*(?:[-\u2022*+][ \t]+|(?:#{1,3}|#{5,})(?=[ \t]))|[*`$\u200b\u2060\ufeff]", re.MULTILINE
)
"""Marks of formulas, bullets of lists, headings, and characters of Markdown."""
_ENUMERATION = re.compile(r"^[ \t]*(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)


def _marked(text: str) -> str:
    """Return a text with `Answer:` in place of other marks; if it holds an object of JSON, its answer."""
    text = _LATEX.sub(r"\1", text)
    try:
        found = orjson.loads(text[text.index("{") : text.rindex("}") + 1])
        fields = {key.lower(): value for key, value in found.items()}
        answer = next(fields[key] for key in ("final_answer", "answer", "prediction", "response") if key in fields)
        return text_of(tuple(answer) if isinstance(answer, list) else "" if answer is None else answer)
    except (ValueError, StopIteration):
        text = _MARKED.sub(lambda mark: f"\nAnswer: {(mark[1] or mark[2] or '').strip()}\n", text)
        return text.replace("<answer>", "\nAnswer: ")


def _cleaned(text: str) -> str:
    text = _MARKUP.sub("", _LATEX.sub(r"\1", compatible(text))).strip()
    numbers = _ENUMERATION.findall(text)
    if len(numbers) < 2:
        return text
    next_number = int(numbers[-1]) + 1  # of an item that was cut off: "1. a cube 2. a sphere 3."
    return _ENUMERATION.sub("", re.sub(rf"\n\s*{next_number}[.)]\Z", "", text))


# Marks and clauses ----------------------------------------------------------------------------------------------------

_MARK = re.compile(
    r"""
    (?<![a-z])answer["']?\s*(?:[:=]|\s-\s|\n)
    | (?<!whether\s)\b(?:(?:the|my|correct|final|right)\s+(?:answer|choice)|(?:correct|right|best)\s+option)
      \s+(?:to\s+(?:\w+\s+){1,3})?(?:is|would\s+be|should\s+be|must\s+be)\b\s*:?
    | \b(?:wait|actually|sorry|correction|i\s+mean)\b(?=\W*\w) | \#{4}\s(?=\s*\S+\s*\Z)
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What is said behind the last of these is the answer, if any is; it takes back what was said before."""
_SO = r"""(?:\b(?:
    so(?!\s+(?:that|far|many|much|is|are|do|does)\b) | thus | hence | therefore | consequently | making
    | giving | totall?ing | for\s+a\s+total | (?:which|this|that)\s+(?:makes|gives|means)
    | but\s+(?:only|just|it|in\s+fact)
    )\b | (?<=\d)\s?=>? | \s=(?=\s\d) | \u2192)"""
"""A word, or a sign behind a number, that begins a conclusion also inside of a sentence."""
_CLAUSE = re.compile(rf"(?<=[.!?;])\s+ | \n+ | (?={_SO})", re.IGNORECASE | re.VERBOSE)
_CONCLUSION = re.compile(
    rf"""\s*(?:{_SO} | =) | \W*(?:and\s+|the\s+|my\s+)?(?:overall|finally|altogether|together|final|total|result|count
    |conclusion|that's|adding\s+(?:them|these|up)|in\s+(?:total|all|conclusion|summary|short))\b""",
    re.IGNORECASE | re.VERBOSE,
)
_REASON = re.compile(
    r"(?<=[.!?;])\s|\n|\s*(?=\()|\s[-\u2013\u2014]\s|,?\s(?=because\b|since\b|as\b)|,\s(?=which\b)", re.IGNORECASE
)
"""What separates an answer from its reason."""
_HEDGED = re.compile(r"\balso\s+(?:be|possible)\b|\b(?:maybe|perhaps)\b", re.IGNORECASE)
_REFUSED = re.compile(
    r"""
    \A.*(?:(?<!\bdirector\s)(?<!\bhe\s)\b(?:cannot|can\s+not|can't|could\s+not|couldn't)\s+(?!help\s+but|(?:see|find)\s+any)
    | \b(?:unable|not\s+able|impossible)\s+to\b
    | (?<!no,\s)\bi\s+(?:do\s+not|don't)\s+(?:really\s+)?know\b | \bno\s+idea\b | \b(?:unclear|unknown)\b
    | \b(?:i'm|i\s+am)\s+sorry\b
    | \bnot\s+(?:\w{1,20}\s+|\d{1,3}%\s+)?(?:sure|certain|clear)\b)
    (?:.*?\b(?:but|however|guess)\b|.*)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""A refusal, up to what is said despite it."""
_SAID = re.compile(
    r"""
    (?:\b(?:is|are|was|were|be|looks?|appears?|seems?|(?:made|consists|shape|colou?r)\s+of|has|have|choose|pick|select
        |mean|say|go\s+for|go\s+with)|'s|'re|'d|[=:])
    (?:\s+(?!(?:behind|left|right|front|next|than|as|of|between|near|beside|above|below|from|that|which|with|to|on|by
        |because|since|the\s+same)\b)[\w',/&-]+){0,4}[\s/]*\(?$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The text before an answer that is said of something: `is a`, `made of`."""
_SAID_BEHIND = re.compile(
    r"""
    (?:\s+(?!(?:on|to|at)\b)[\w-]+){0,3}
    \s+(?:in\s+(?:total|all)|altogether|remain(?:s|ing)?|left(?!\s+of)|(?:will|would)\s+be)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The text behind a number that is a total: `objects in total`, `items remain`, `would be gone`; not `on the left`."""
_FEW_WORDS = 2
"""A reply of no more words that is no answer of its type is not free text."""
_SHORT_TEXT = re.compile(
    r"(?!.*\b(?:is|are|was|were|has|have|shows?|there|see)\b)\S+(?:\s+\S+){0,11}\s*", re.IGNORECASE
)
"""Free text that may be an answer of any words: it is no sentence."""
_IS_THERE = re.compile(
    r"(?!.*\b(?:differen(?:ce|t)|no|not|but|and)\b)there (?:is|are) (?:indeed )?(?:an?|at least one|another|some)\b.*",
    re.IGNORECASE,
)


def _answers(reply: str, finder: Finder) -> list[str]:
    """Return the answers that the first rule finds which finds any."""
    *before, text = _MARK.split(reply)
    line = text.strip().partition("\n")[0]
    head = _REASON.split(line, maxsplit=1)[0]
    if finder.kind == TEXT:
        return finder.whole(head) if (before or _SHORT_TEXT.fullmatch(text)) and not _REFUSED.search(text) else []
    if not before:
        is_there = finder.kind == BOOL and _IS_THERE.fullmatch(reply) and reply == head
        return ["yes"] if is_there else finder.whole(reply) or _concluded(reply, finder)
    return finder.whole(line) or finder.whole(head) or _concluded(head, finder) or _concluded(line, finder)


def _concluded(text: str, finder: Finder) -> list[str]:
    """Return the answer in which all clauses from the last conclusion on agree; several if one clause names them."""
    named = [(clause, _clause_answers(_REFUSED.sub("", clause, count=1), finder)) for clause in _CLAUSE.split(text)]
    named = [clause for clause in named if clause[1]]
    last = max((place for place, (clause, _) in enumerate(named) if _CONCLUSION.match(clause)), default=0)
    clauses = [clause for clause, _ in named[last:]]
    answers = _distinct(found for _, found in named[last:])
    if len(answers) < 2:
        return answers
    if total := _total(text[text.index(clauses[0]) :], finder):
        return total
    wholes = [finder.whole(_REASON.split(clause, maxsplit=1)[0]) for clause in clauses]
    if not last and (wholes[0] or wholes[-1]) and not _HEDGED.search(text):
        return _distinct(wholes)
    return answers if len(clauses) == 1 else []


def _clause_answers(clause: str, finder: Finder) -> list[str]:
    """Return the answers of a clause: it is one, or says them of something; otherwise all that it names."""
    part = clause if not finder.named(head := _REASON.split(clause, maxsplit=1)[0]) else head
    named = finder.named(part)
    if named and not part.endswith("?") and (whole := finder.whole(part)):
        return whole
    is_said = [
        _SAID_BEHIND.match(part, end) if finder.kind == INTEGER else _SAID.search(part[max(0, start - NEAR) : start])
        for start, end, _ in named
    ]
    is_clear = any(is_said) and not _HEDGED.search(clause)
    answers = _distinct([answer] for (*_, answer), said in zip(named, is_said, strict=True) if said or not is_clear)
    if finder.kind == LIST:
        return [", ".join(sorted(answers))] if len(answers) > 1 and " or " not in part else []
    return answers


def _total(text: str, finder: Finder) -> list[str]:
    """Return the number that a text begins with, if those listed behind it, or the first of each line, add up to it."""
    numbers = finder.named(text) if finder.kind == INTEGER else []
    if len(numbers) < 2 or not re.search(r"[:\n(]", text[numbers[0][1] : numbers[1][0]]):
        return []
    total, *parts = (int(answer) for *_, answer in numbers)
    firsts = {text.count("\n", 0, start): int(answer) for start, _, answer in reversed(numbers[1:])}
    return [str(total)] if total in (sum(parts), sum(firsts.values())) else []


def _distinct(found: Iterable[list[str]]) -> list[str]:
    return list(dict.fromkeys(answer for answers in found for answer in answers))
