"""The given answers of an evaluation, counted beside the right ones: of each kind of answer."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

from vqagen.score.answers.kinds import BOOL, INTEGER, LIST, TEXT, WORD
from vqagen.score.answers.presets import VQA_OFFICIAL
from vqagen.score.answers.vqa_words import vqa_normal
from vqagen.score.gold.question_facts import answer_kind
from vqagen.score.scoring.blocks.answer_counts import NO_ANSWER, AnswerCounts
from vqagen.score.scoring.columns import NONE, Codes
from vqagen.score.scoring.evaluation import ANSWER, GIVEN, Evaluation

KIND = "answer_type"
_KINDS = {"yes/no": BOOL, "number": INTEGER, "other": TEXT}
"""Type of answers as VQAv2 names it -> kind."""
_ORDER = (BOOL, INTEGER, WORD, LIST, TEXT)


class AnswerColumns:
    """Counts of (right, given) answers of an evaluation. Answers are as they are compared."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        rights, givens = (tuple(map(str, evaluation.values[name])) for name in (ANSWER, GIVEN))
        if evaluation.settings.preset == VQA_OFFICIAL:  # which compares texts so where annotators differ
            rights, givens = tuple(map(vqa_normal, rights)), tuple(map(vqa_normal, givens))
        self._rights, self._givens = rights, (*givens, NO_ANSWER)
        """The last one stands for NONE."""

    def by_kind(self) -> dict[str, AnswerCounts]:
        """Return kind of answer -> counts."""
        codes, names = self._kinds()
        found = self._by_code(codes, names)
        return {kind: found[kind] for kind in _ORDER if kind in found}

    def _kinds(self) -> tuple[Codes, tuple[str, ...]]:
        """Return the kind of each item as a code, and the kinds; by the right answer where no field says it."""
        if KIND in self._evaluation.codes:
            named = map(str, self._evaluation.values[KIND])
            return self._evaluation.codes[KIND], tuple(_KINDS.get(name, name) for name in named)
        names = tuple(dict.fromkeys(_KINDS.values()))
        of_answer = np.array([names.index(_KINDS[answer_kind(each)]) for each in self._rights], dtype=np.int32)
        return of_answer[self._evaluation.codes[ANSWER]], names

    def _by_code(self, codes: Codes, names: tuple[str, ...]) -> dict[str, Counter[tuple[str, str]]]:
        """Return name -> counts, of the items that count."""
        kept = np.flatnonzero(self._evaluation.is_counted & (codes != NONE))
        answers, givens = self._evaluation.codes[ANSWER][kept], self._evaluation.codes[GIVEN][kept]
        number = self._joined(codes[kept], answers, givens)
        _, first, counts = np.unique(number, return_index=True, return_counts=True)
        found: dict[str, Counter[tuple[str, str]]] = {}
        for at, count in zip(first.tolist(), counts.tolist(), strict=True):
            pair = self._rights[answers[at]], self._givens[givens[at]]
            found.setdefault(names[codes[kept[at]]], Counter())[pair] += count
        return found

    def _joined(self, codes: Codes, answers: Codes, givens: Codes) -> npt.NDArray[np.int64]:
        """Return one number for each combination of a code, a right answer and a given one."""
        joined = codes.astype(np.int64) * len(self._rights) + answers
        numbers: npt.NDArray[np.int64] = joined * len(self._givens) + givens + 1
        return numbers
