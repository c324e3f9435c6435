"""HUMANr's own figures, as its toolkit computes them from the same answers.

Every answer counts as independent, answers of partial assignments count, a check that has no answer counts as passed,
and the half-width that it prints is cut at -1 on the lower side alone. For compatibility: `clusters` is better.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.clusters import t_quantile
from vqagen.human.scores.samples import Pairing, by_pairing, pairing_of, score_of
from vqagen.human.study.item import CHECK, COMPARE, REAL


class HumanrScore(NamedTuple):
    """HUMANr's figures for one type of comparison."""

    n: int
    total: float
    mean: float
    """The HUMANr: -1 where the human text is always better, 1 where the model's is."""
    sd: float | None
    error: float | None
    half: float | None
    """Half of the interval, as it is."""
    printed: float | None
    """The half that HUMANr prints behind ±: cut at -1 on the lower side. None for one answer, where it prints nan."""
    why: str = ""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half is None else self.mean + self.half


def humanr_scores(rows: Sequence[AnswerRow]) -> dict[Pairing, HumanrScore]:
    """Return HUMANr's figures for every pairing with a reference, without assignments whose checks failed."""
    failed = humanr_failures(rows)
    kept = [
        row
        for row in rows
        if row.use == REAL and row.kind == COMPARE and row.assignment not in failed and _has_reference(row)
    ]
    return {pairing: humanr_score(list(map(score_of, of_pairing))) for pairing, of_pairing in by_pairing(kept).items()}


def humanr_failures(rows: Iterable[AnswerRow]) -> set[str]:
    """Return the assignments that HUMANr discards."""
    return {row.assignment for row in rows if row.use == CHECK and is_check_failed(row)}


def is_check_failed(row: AnswerRow) -> bool:
    """True if the wrong text of an attention check was found as good as the right one, or better."""
    return toward_wrong(row) >= (row.least + row.largest) / 2


def toward_wrong(row: AnswerRow) -> float:
    """Return the value of an attention check, turned so that the least value is clearly right."""
    return row.least + row.largest - row.toward_second if row.gold_is_second else row.toward_second


def humanr_score(scores: Sequence[float]) -> HumanrScore:
    """Return HUMANr's figures for scores from -1 to 1."""
    n, mean = len(scores), float(np.mean(scores))
    total = float(np.sum(scores))
    if n == 1:
        return HumanrScore(n, total, mean, None, None, None, None, "one answer only")
    sd = float(np.std(scores, ddof=1))
    error = sd / math.sqrt(n)
    half = t_quantile(n - 1) * error
    return HumanrScore(n, total, mean, sd, error, half, mean - max(mean - half, -1.0))


def _has_reference(row: AnswerRow) -> bool:
    pairing = pairing_of(row)
    return pairing.is_against_reference or pairing.is_baseline
