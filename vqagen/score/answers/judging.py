"""Judging: the credit for the answers to one question, and what was made of the reply.

A vocabulary that lacks the right answer is that of another domain: the question is then judged as free text. An option
that the vocabulary lacks is an answer all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vqagen.score.answers.kinds import LIST, NO_VOCABULARY, WORD, Answer, Vocabulary, text_of
from vqagen.score.answers.parsing import PARSED, REFUSED, Parsed, parse_reply
from vqagen.score.answers.presets import Preset
from vqagen.score.answers.reading import read_answer
from vqagen.score.gold.item import GoldItem

_MOST_KEPT = 1 << 16
"""AnswerCredits that are kept, because models repeat few answers."""


class AnswerCredit(NamedTuple):
    """The credit for the answers to one question."""

    credit: float
    """0 to 1: the best among the first k candidates, for the first k that was asked for."""
    status: str
    """Of the first candidate: parsed, ambiguous or refused."""
    is_option: bool
    """False if the first candidate is an answer, and none of the options."""
    given: str
    """The first candidate as it is compared; "" if it is no answer."""
    credits: tuple[float, ...] = ()
    """The credit for each k."""


class AnswerJudge:
    """Judges candidates by a preset; right is one of the first `top_k`, which may be several numbers.

    A model that does not know the options of an item (`knows_options`) is judged without them.
    """

    def __init__(
        self, preset: Preset, vocabulary: Vocabulary, top_k: int | Sequence[int] = 1, knows_options: bool = True
    ) -> None:
        self._knows_options = knows_options
        self.top_k = (top_k,) if isinstance(top_k, int) else tuple(top_k)
        self._preset, self._vocabulary = preset, vocabulary
        self._known: dict[tuple[object, ...], AnswerCredit] = {}

    def judge(self, candidates: Sequence[str], item: GoldItem) -> AnswerCredit:
        """Return the judgement of candidates, best first."""
        answers = tuple((type(answer), answer) for answer in item.answers)  # True is not 1
        options = item.options if self._knows_options else ()
        key = tuple(candidates), item.kind, answers, options, item.weights, item.has_letters
        if key not in self._known:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[key] = self._judged(candidates, item._replace(options=options))
        return self._known[key]

    def right_answer(self, item: GoldItem) -> str:
        """Return the canonical answer of an item as `given` shows an equal one."""
        [answer, *_] = item.answers
        found = self._normal(text_of(answer), item, self._vocabulary_of(item))
        return text_of(answer if found is None else found)

    def _judged(self, candidates: Sequence[str], item: GoldItem) -> AnswerCredit:
        preset, most, vocabulary = self._preset, max(self.top_k), self._vocabulary_of(item)
        first: Answer | None = None
        status, seen = REFUSED, set[Answer | None]()
        best = [0.0]
        """The best credit of the first 0, 1, 2, … candidates."""
        for place, candidate in enumerate(candidates):
            if len(best) > most:
                break
            parsed = self._parsed(candidate, item, vocabulary)
            answer = self._normal(parsed.answer, item, vocabulary) if parsed.status == PARSED else None
            if place == 0:
                status, first = parsed.status if answer is not None else _unread(parsed), answer
            if answer not in seen or preset.keeps_duplicates:
                seen.add(answer)
                best.append(max(best[-1], preset.is_right(answer, item)))
        credits = tuple(best[min(k, len(best) - 1)] for k in self.top_k)
        is_option = first is None or not item.options or self._is_option(first, item, vocabulary)
        return AnswerCredit(credits[0], status, is_option, "" if first is None else text_of(first), credits)

    def _vocabulary_of(self, item: GoldItem) -> Vocabulary:
        """Return the words that answer an item; none if the right answer is not among them."""
        if item.kind not in (WORD, LIST):
            return self._vocabulary
        right = (read_answer(text_of(answer), item.kind, self._vocabulary) for answer in item.answers)
        return NO_VOCABULARY if None in right else self._vocabulary

    def _parsed(self, candidate: str, item: GoldItem, vocabulary: Vocabulary) -> Parsed:
        if self._preset.parses:
            return parse_reply(candidate, item, vocabulary)
        return Parsed(PARSED if candidate else REFUSED, candidate)

    def _normal(self, text: str, item: GoldItem, vocabulary: Vocabulary) -> Answer | None:
        answer = self._preset.normalise(text, item.kind, vocabulary)
        return text if answer is None and text in item.options else answer

    def _is_option(self, given: Answer, item: GoldItem, vocabulary: Vocabulary) -> bool:
        return any(self._normal(option, item, vocabulary) == given for option in item.options)


def _unread(parsed: Parsed) -> str:
    return REFUSED if parsed.status == PARSED else parsed.status
