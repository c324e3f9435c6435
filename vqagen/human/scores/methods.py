"""Other figures of scores: HUMANr's own, and strengths of sources by the model of Bradley and Terry.

HUMANr's are as its toolkit computes them from the same answers, for compatibility: every answer counts as independent,
answers of partial assignments count, a check that has no answer counts as passed, and the half-width that it prints is
cut at -1 on the lower side alone.

A strength is the log odds that one source is preferred to another. A tie is half a win of each. The reference (or,
without one, the first source by name) is fixed at 0. Strengths are those of largest likelihood. Their intervals are
those of two-way clusters, by the influence of each answer on a strength: the inverse of the information times the slope
of its likelihood, as for any M-estimator (Huber 1967).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from vqagen.extras import needed
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.samples import (
    Pairing,
    ScoreSample,
    grouped,
    is_right,
    pairing_of,
    score_of,
    t_quantile,
    two_way,
)
from vqagen.human.study.item import ANSWER, CHECK, COMPARE, REAL, REFERENCE
from vqagen.report.table import Cell
from vqagen.score.intervals import Numbers

REFERENCE_NAME = "(reference)"
"""The reference texts together."""
_WHAT = "vqagen human score --method bt"
ELO = 400 / math.log(10)
"""One log odds on the scale of Elo."""


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
    return {row.assignment for row in rows if row.use == CHECK and fails_check(row)}


def fails_check(row: AnswerRow) -> bool:
    """True if an answer to an attention check finds the wrong text as good as the right one, or better."""
    if row.kind == ANSWER:
        return not is_right(row)
    return (score_of(row) if row.gold_is_second else -score_of(row)) <= 0


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


# Bradley and Terry ----------------------------------------------------------------------------------------------------


def strengths(samples: Mapping[Pairing, ScoreSample]) -> list[tuple[Cell, ...]]:
    """Return the strengths of the sources of one dimension, or a single row that says why none exist.

    A row has the source, its answers, the strength in log odds, its error, df, low, high and p, the strength on the
    scale of Elo, the error by the likelihood, which takes answers as independent, and a note.
    """
    games = {pairing: ends for pairing in samples if pairing.kind == COMPARE and len(set(ends := _ends(pairing))) == 2}
    if not games:
        return []
    sources = sorted({source for ends in games.values() for source in ends})
    names = [name for _, name in sources]
    places = [[sources.index(source) for source in ends] for ends in games.values()]
    first, second = np.repeat(places, [len(samples[pairing].scores) for pairing in games], axis=0).T
    scores, raters, images = (
        np.concatenate([getattr(samples[pairing], column) for pairing in games])
        for column in ("scores", "raters", "images")
    )
    won = (np.sign(scores) + 1) / 2
    beaten = np.zeros((len(names), len(names)))
    np.add.at(beaten, (second, first), won)
    np.add.at(beaten, (first, second), 1 - won)
    if why := _why_none(beaten, names):
        return [("-", *[None] * 9, why)]
    log_odds = needed("choix", "human", _WHAT).ilsr_pairwise_dense(beaten, max_iter=10_000)
    influence, errors = _influence(log_odds, first, second, won)
    counts = (beaten + beaten.T).sum(axis=1).round().astype(int).tolist()
    rows: list[tuple[Cell, ...]] = [(names[0], counts[0], 0.0, *[None] * 5, 0.0, None, "")]
    for index, name in enumerate(names[1:]):
        of = two_way(float(log_odds[index + 1] - log_odds[0]), influence[:, index], raters, images)
        rows.append((name, counts[index + 1], *of[3:-1], ELO * of.mean, float(errors[index]), of.why))
    return rows


def _ends(pairing: Pairing) -> list[tuple[bool, str]]:
    """Return both sources so that references, which are all one source, sort first."""
    sides = (pairing.first_role, pairing.first), (pairing.second_role, pairing.second)
    return [(False, REFERENCE_NAME) if role == REFERENCE else (True, source) for role, source in sides]


def _why_none(beaten: Numbers, names: list[str]) -> str:
    """Return why no finite strengths exist: every group of sources must both win and lose against the others."""
    graphs = needed("scipy.sparse.csgraph", "human", _WHAT)
    for edges, how in ((beaten.T, "never preferred to"), (beaten, "always preferred to")):
        reached = graphs.breadth_first_order(edges, 0, return_predecessors=False)
        missing = np.setdiff1d(np.arange(len(names)), reached)
        if len(missing):
            is_apart = not (beaten + beaten.T)[np.ix_(missing, reached)].any()
            named = ", ".join(names[index] for index in missing)
            return f"{'not compared with' if is_apart else how} the other sources: {named}"
    return ""


def _influence(log_odds: Numbers, first: Numbers, second: Numbers, won: Numbers) -> tuple[Numbers, Numbers]:
    """Return how far each answer moves each strength but that at 0, and the errors that independent ones would have."""
    identity = np.eye(len(log_odds))
    design = (identity[second] - identity[first])[:, 1:]
    share = 1 / (1 + np.exp(-design @ (log_odds[1:] - log_odds[0])))
    covariance = np.linalg.inv((design * (share * (1 - share))[:, None]).T @ design)
    return (design * (won - share)[:, None]) @ covariance, np.sqrt(np.diag(covariance))
