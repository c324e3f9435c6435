"""HUMANr's own figures, as its toolkit computes them from the same answers.

Every answer counts as independent, answers of partial assignments count, a check that has no answer counts as passed,
and the half-width that it prints is cut at -1 on the lower side alone. For compatibility: `clusters` is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.samples import Pairing, grouped, is_right, pairing_of, score_of, t_quantile
from vqagen.human.study.item import ANSWER, CHECK, COMPARE, REAL
from vqagen.report.table import Cell


def humanr_scores(rows: Sequence[AnswerRow]) -> dict[Pairing, tuple[Cell, ...]]:
    """Return HUMANr's figures for every pairing with a reference, without assignments whose checks failed."""
    failed = humanr_failures(rows)
    kept = [row for row in rows if row.use == REAL and row.kind == COMPARE and row.assignment not in failed]
    return {
        pairing: humanr_score(list(map(score_of, of_pairing)))
        for pairing, of_pairing in grouped(kept, pairing_of).items()
        if pairing.is_against_reference or pairing.is_baseline
    }


def humanr_failures(rows: Iterable[AnswerRow]) -> set[str]:
    """Return the assignments that HUMANr discards."""
    return {row.assignment for row in rows if row.use == CHECK and wrongness(row) >= 0}


def wrongness(row: AnswerRow) -> float:
    """Return the answer to an attention check as a number from -1 for clearly right to 1 for clearly wrong.

    To HUMANr, a check fails from 0 on: where the wrong text was found as good as the right one, or better.
    """
    if row.kind == ANSWER:
        return -1.0 if is_right(row) else 1.0
    return -score_of(row) if row.gold_is_second else score_of(row)


def humanr_score(scores: Sequence[float]) -> tuple[Cell, ...]:
    """Return HUMANr's figures for scores from -1 to 1: n, sum, mean, printed, SD, error, half, low, high, note.

    The mean is the HUMANr: -1 where the human text is always better, 1 where the model's is. `printed` is the half of
    the interval that HUMANr prints behind ±, cut at -1 on the lower side; for one answer, it prints nan.
    """
    n, total, mean = len(scores), float(np.sum(scores)), float(np.mean(scores))
    if n == 1:
        return n, total, mean, *[None] * 6, "one answer only"
    sd = float(np.std(scores, ddof=1))
    error = sd / math.sqrt(n)
    half = t_quantile(n - 1) * error
    return n, total, mean, mean - max(mean - half, -1.0), sd, error, half, mean - half, mean + half, ""
