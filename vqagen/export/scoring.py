"""The score of a reply in the tasks that exports bring to evaluators: that of `vqagen evaluate`."""

from __future__ import annotations

import string
from collections.abc import Sequence

from vqagen.language.domain_files import DEFAULT_DOMAIN
from vqagen.rewards import KIND_OF, words_of
from vqagen.score.answers.judging import judge
from vqagen.score.answers.kinds import LIST, WORD, read_answer
from vqagen.score.items.table import Gold, Options


def reply_score(
    reply: str, answer: str, answer_type: str, choices: Sequence[str] | None = None, domain: str | None = None
) -> float:
    """Return the credit for a reply; with `choices`, the answer is the letter of one.

    >>> reply_score("There are three.", "3", "count"), reply_score("(B) red", "B", "value", ["blue", "red"])
    (1.0, 1.0)
    """
    text = choices[string.ascii_uppercase.index(answer)] if choices else answer
    kind, words = KIND_OF[answer_type], words_of(domain or DEFAULT_DOMAIN)
    kind = LIST if kind == WORD and ", " in text else kind
    read = read_answer(text, kind, words)
    options = Options(tuple(choices), None) if choices else None
    return judge([reply], Gold(kind, (text if read is None else read,)), options, vocabulary=words).credits[0]
