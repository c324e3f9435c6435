"""The cell that a model's reply names.

    ANSWER: B2        the cell behind the last `ANSWER:`, in many notations: `b 2`, `B-2`, `**B2**`, `column B, row 2`
    ... is B2.        without `ANSWER:`, the last cell in the text; there a letter and a number must stand together, or
                      behind "cell", "in", "at" or "is": `at D 4`
    D4, not C3        a cell behind "not" is no answer

`ANSWER: B2 or C3` names two cells, and so none; so does a text that ends in a list, such as `A1, B2, C3`.
"""

from __future__ import annotations

import re
import unicodedata

_MARKUP = re.compile(r"\\[A-Za-z]+|[*`$\\{}\u200b\u2060\ufeff]")
"""Characters of Markdown and LaTeX that may stand around or inside a cell."""
_MARK = re.compile(r"(?<![A-Za-z])answer\s*[:=](?!\s*<)", re.IGNORECASE)
"""`ANSWER:`, unless the placeholder `<cell>` of the instructions follows."""
_IN_WORDS = (
    r"col(?:umn|\.)?\s*(?P<a>[A-Za-z])\W+(?:and\s+|in\s+)?row\s*(?P<b>\d+)(?!\w)",
    r"row\s*(?P<c>\d+)\W+(?:and\s+|in\s+)?col(?:umn|\.)?\s*(?P<d>[A-Za-z])(?!\w)",
)
_TOGETHER = r"(?<![^\W_])(?P<e>[A-Za-z])[-_]?(?P<f>\d{1,3})(?![^\W_]|\.\d)"
_APART = r"(?<![^\W_])(?P<e>[A-Za-z])[\s\-_.,:]{0,2}(?P<f>\d{1,3})(?![^\W_]|\.\d)"
_BEHIND_A_WORD = r"(?:cell|in|at|is)\s+(?P<g>(?-i:[A-Z]))\s(?P<h>\d{1,3})(?=\W*(?:$|[.,;!?)\n]))"
_IN_TEXT = re.compile("|".join((*_IN_WORDS, _TOGETHER, _BEHIND_A_WORD)), re.IGNORECASE)
_IN_ANSWER = re.compile("|".join((*_IN_WORDS, _APART)), re.IGNORECASE)
_ONLY_A_CELL = re.compile(rf"\W*(?:(?:the\s+)?cell\s+)?(?:{'|'.join((*_IN_WORDS, _APART))})\W*", re.IGNORECASE)
_NEGATED = re.compile(
    r"(?:\b(?:not|cannot|neither|nor|rather than|instead of)|n['’]t)\W+(?:(?:be|in|at|the|cell)\W+)*$", re.IGNORECASE
)
"""The text before a cell that is denied: `not C3`, `rather than in cell C3`, `can't be C3`."""
_ALSO_DENIED = re.compile(r"\W*\bor\b\W*(?:(?:in|at|the|cell)\W+)*", re.IGNORECASE)
"""The text between a denied cell and another: `not C3 or in D4`."""
_LISTED = re.compile(r"[^\w.!?]*(?:(?:and|or)\b[^\w.!?]*)?(?:cell\W+)?", re.IGNORECASE)
"""The text between two cells of a list: `A1, B2 or cell C3`."""


def cell_in_reply(reply: str) -> str | None:
    """Return the label of the cell that a reply names; None if it names none, or several.

    >>> cell_in_reply("The red book is in B2. ANSWER: column c, row 3")
    'C3'
    """
    named = cells_in_reply(reply)
    return named[0] if len(named) == 1 else None


def cells_in_reply(reply: str) -> list[str]:
    """Return the labels of all cells that a reply gives as its answer, each once."""
    text = _MARKUP.sub("", unicodedata.normalize("NFKC", reply))
    marks = list(_MARK.finditer(text))
    if marks:
        line = _first_line(text[marks[-1].end() :])
        return _labels(_named(_IN_ANSWER, line))
    if alone := _ONLY_A_CELL.fullmatch(text):
        return [_label(alone)]
    last: list[re.Match[str]] = []
    for found in reversed(_named(_IN_TEXT, text)):
        if last and not _LISTED.fullmatch(text, found.end(), last[0].start()):
            break
        last.insert(0, found)
    return _labels(last)


def _named(cells: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the cells in a text that it does not deny."""
    named: list[re.Match[str]] = []
    denied_to = len(text)  # the end of the cell before, if that is denied
    for found in cells.finditer(text):
        if _NEGATED.search(text, 0, found.start()) or _ALSO_DENIED.fullmatch(text, denied_to, found.start()):
            denied_to = found.end()
        else:
            denied_to = len(text)
            named.append(found)
    return named


def _labels(named: list[re.Match[str]]) -> list[str]:
    return list(dict.fromkeys(map(_label, named)))


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def _label(found: re.Match[str]) -> str:
    parts = found.groupdict()
    letter = parts["a"] or parts["d"] or parts["e"] or parts.get("g") or ""
    number = parts["b"] or parts["c"] or parts["f"] or parts.get("h") or ""
    return f"{letter.upper()}{int(number)}"
