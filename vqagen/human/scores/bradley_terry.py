"""Strengths of sources by the model of Bradley and Terry: the log odds that one source is preferred to another.

A tie is half a win of each. The reference (or, without one, the first source by name) is fixed at 0. Strengths are
those of largest likelihood. Their intervals are those of `clusters`, by the influence of each answer on a strength: the
inverse of the information times the slope of its likelihood, as for any M-estimator (Huber 1967).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from vqagen.extras import needed
from vqagen.human.scores.samples import Pairing, ScoreSample, two_way
from vqagen.human.study.item import COMPARE, REFERENCE
from vqagen.report.table import Cell
from vqagen.score.intervals import Numbers

REFERENCE_NAME = "(reference)"
"""The reference texts together."""
_WHAT = "vqagen human score --method bt"
ELO = 400 / math.log(10)
"""One log odds on the scale of Elo."""


def strengths(samples: Mapping[Pairing, ScoreSample]) -> list[tuple[Cell, ...]]:
    """Return the strengths of the sources of one dimension, or a single row that says why none exist.

    A row has the source, its answers, the strength in log odds, its error, df, low, high and p, the strength on the
    scale of Elo, the error by the likelihood, which takes answers as independent, and a note.
    """
    games = {each: ends for each in samples if each.kind == COMPARE and len(set(ends := _ends(each))) == 2}
    if not games:
        return []
    sources = sorted({source for ends in games.values() for source in ends})
    names = [name for _, name in sources]
    places = [[sources.index(source) for source in ends] for ends in games.values()]
    first, second = np.repeat(places, [len(samples[each].scores) for each in games], axis=0).T
    scores, raters, images = (
        np.concatenate([getattr(samples[each], column) for each in games]) for column in ("scores", "raters", "images")
    )
    won = (np.sign(scores) + 1) / 2
    beaten = np.zeros((len(names), len(names)))
    np.add.at(beaten, (second, first), won)
    np.add.at(beaten, (first, second), 1 - won)
    if why := _why_none(beaten, names):
        return [("-", *[None] * 9, why)]
    found = needed("choix", "human", _WHAT).ilsr_pairwise_dense(beaten, max_iter=10_000)
    influence, errors = _influence(found, first, second, won)
    counts = (beaten + beaten.T).sum(axis=1).round().astype(int).tolist()
    rows: list[tuple[Cell, ...]] = [(names[0], counts[0], 0.0, *[None] * 5, 0.0, None, "")]
    for place, name in enumerate(names[1:]):
        of = two_way(float(found[place + 1] - found[0]), influence[:, place], raters, images)
        rows.append((name, counts[place + 1], *of[3:-1], ELO * of.mean, float(errors[place]), of.why))
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
            named = ", ".join(names[each] for each in missing)
            return f"{'not compared with' if is_apart else how} the other sources: {named}"
    return ""


def _influence(found: Numbers, first: Numbers, second: Numbers, won: Numbers) -> tuple[Numbers, Numbers]:
    """Return how far each answer moves each strength but that at 0, and the errors that independent ones would have."""
    identity = np.eye(len(found))
    design = (identity[second] - identity[first])[:, 1:]
    share = 1 / (1 + np.exp(-design @ (found[1:] - found[0])))
    covariance = np.linalg.inv((design * (share * (1 - share))[:, None]).T @ design)
    return (design * (won - share)[:, None]) @ covariance, np.sqrt(np.diag(covariance))
