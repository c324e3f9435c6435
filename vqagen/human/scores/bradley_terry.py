"""Strengths of sources by the model of Bradley and Terry: the log odds that one source is preferred to another.

A tie is half a win of each. The reference (or, without one, the first source by name) is fixed at 0. Standard errors
are those of the likelihood, which takes answers as independent; intervals come from resamples of raters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vqagen.human.scores.bootstrap import generator, resample_counts
from vqagen.score.intervals import LEVEL, Numbers

RESAMPLES = 999
_STEPS = 60
_CLOSE = 1e-10
_LONGEST_STEP = 2.0
_LARGEST = 25.0
"""A log odds of 25 is no estimate: likelihood grows without end."""
_LEAST_INFORMATION = 1e-8
"""Less than that about a strength, or a sum of strengths, is no estimate either: a source has no games."""
_MOST_LOST = 0.05
"""Share of resamples without finite strengths up to which an interval is given."""
ELO = 400 / math.log(10)


class Strength(NamedTuple):
    """The strength of a source."""

    name: str
    log_odds: float
    error: float | None
    """None for the one that is fixed."""
    low: float | None
    high: float | None
    why: str = ""

    @property
    def elo(self) -> float:
        """The strength on the scale of Elo."""
        return ELO * self.log_odds


@dataclass(frozen=True, slots=True)
class Games:
    """Comparisons of two sources each."""

    names: tuple[str, ...]
    """The sources; the first is fixed at 0."""
    first: Numbers
    second: Numbers
    """Numbers of the sources."""
    won: Numbers
    """1 where the second source is preferred, 0.5 for a tie, 0 where the first is."""
    raters: Numbers


class Ranking(NamedTuple):
    """The strengths of all sources; none where there is no estimate, and why."""

    games: int
    strengths: tuple[Strength, ...]
    why: str = ""


def rank(games: Games, resamples: int = RESAMPLES) -> Ranking:
    """Return the strengths with standard errors and intervals."""
    count = len(games.won)
    if reason := _why_none(games):
        return Ranking(count, (), reason)
    design = _design(games)
    rows, places = np.unique(design, axis=0, return_inverse=True)
    raters = np.unique(games.raters, return_inverse=True)[1]
    shape = (int(raters.max()) + 1, len(rows))
    played, won = np.zeros(shape), np.zeros(shape)
    np.add.at(played, (raters, places.reshape(-1)), 1.0)
    np.add.at(won, (raters, places.reshape(-1)), games.won)
    fit, is_finite = fit_strengths(rows, played.sum(axis=0)[None], won.sum(axis=0)[None])
    if not is_finite[0]:
        return Ranking(count, (), "the likelihood has no maximum: some preference is never contradicted")
    covariance = np.linalg.inv(_information(rows, played.sum(axis=0)[None], fit)[0])
    errors = np.sqrt(np.diag(covariance))
    low, high, why = _bounds(rows, played, won, resamples)
    found = [
        Strength(name, float(fit[0, at]), float(errors[at]), low[at], high[at], why)
        for at, name in enumerate(games.names[1:])
    ]
    return Ranking(count, (Strength(games.names[0], 0.0, None, None, None), *found))


def _why_none(games: Games) -> str:
    """Return why no finite strengths exist: every group of sources must both win and lose against the others."""
    if len(games.names) < 2:
        return "fewer than two sources are compared"
    beaten = [set[int]() for _ in games.names]
    for first, second, won in zip(games.first.tolist(), games.second.tolist(), games.won.tolist(), strict=True):
        if won > 0:
            beaten[second].add(first)
        if won < 1:
            beaten[first].add(second)
    losers = [set[int]() for _ in games.names]
    for winner, others in enumerate(beaten):
        for loser in others:
            losers[loser].add(winner)
    for edges, how in ((losers, "never"), (beaten, "always")):
        missing = set(range(len(games.names))) - _reached(edges)
        if missing:
            named = ", ".join(games.names[each] for each in sorted(missing))
            what = "not compared with" if _is_apart(games, missing) else f"{how} preferred to"
            return f"{what} the other sources: {named}"
    return ""


def _is_apart(games: Games, group: set[int]) -> bool:
    return not any(
        (first in group) != (second in group)
        for first, second in zip(games.first.tolist(), games.second.tolist(), strict=True)
    )


def _reached(edges: Sequence[set[int]]) -> set[int]:
    """Return the numbers that lead from 0 along edges."""
    found, waiting = {0}, [0]
    while waiting:
        new = edges[waiting.pop()] - found
        found |= new
        waiting += sorted(new)
    return found


def _design(games: Games) -> Numbers:
    """Return a row for each game: 1 for the second source, -1 for the first one; none for the one that is fixed."""
    count = len(games.won)
    rows = np.zeros((count, len(games.names)))
    rows[np.arange(count), games.second] += 1
    rows[np.arange(count), games.first] -= 1
    return rows[:, 1:]


def fit_strengths(rows: Numbers, played: Numbers, won: Numbers) -> tuple[Numbers, Numbers]:
    """Return the strengths of largest likelihood for each of a stack of counts, and whether they are finite.

    `rows[row][source]` are kinds of games; `played[fit][row]` and `won[fit][row]` count them. Newton's method.
    """
    found = np.zeros((len(played), rows.shape[1]))
    is_done = np.zeros(len(played), bool)
    for _ in range(_STEPS):
        slope = (won - played * _logistic(found @ rows.T)) @ rows
        information = _information(rows, played, found) + 1e-12 * np.eye(rows.shape[1])
        step = np.linalg.solve(information, slope[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        found = np.clip(found + step * np.minimum(1, _LONGEST_STEP / np.maximum(longest, _CLOSE)), -_LARGEST, _LARGEST)
        is_done = longest[:, 0] < _CLOSE
        if is_done.all():
            break
    least = np.linalg.eigvalsh(_information(rows, played, found))[:, 0]
    return found, is_done & (np.abs(found).max(axis=1) < _LARGEST) & (least > _LEAST_INFORMATION)


def _information(rows: Numbers, played: Numbers, strengths: Numbers) -> Numbers:
    """Return the second derivatives of the likelihood, with a minus."""
    share = _logistic(strengths @ rows.T)
    found: Numbers = np.einsum("fr,ra,rb->fab", played * share * (1 - share), rows, rows)
    return found


def _logistic(odds: Numbers) -> Numbers:
    found: Numbers = 1 / (1 + np.exp(-odds))
    return found


def _bounds(
    rows: Numbers, played: Numbers, won: Numbers, resamples: int
) -> tuple[list[float | None], list[float | None], str]:
    """Return the bounds of the middle 95 % of resamples of raters, and why there are none."""
    nothing: list[float | None] = [None] * rows.shape[1]
    if len(played) < 2:
        return nothing, nothing, "one rater only"
    fits, finite = [], []
    for counts in resample_counts(generator("strengths"), len(played), resamples):
        fit, is_finite = fit_strengths(rows, counts @ played, counts @ won)
        fits.append(fit[is_finite])
        finite.append(is_finite)
    lost = 1 - float(np.concatenate(finite).mean())
    if lost > _MOST_LOST:
        return nothing, nothing, f"{lost:.0%} of the resamples of raters have no finite strengths"
    low, high = np.quantile(np.concatenate(fits), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low.tolist(), high.tolist(), ""
