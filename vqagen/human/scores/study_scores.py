"""All scores of a study, computed from its answers alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from vqagen.human.answers import AnswerRow
from vqagen.human.scores.agreement import Alpha, alpha
from vqagen.human.scores.bootstrap import Bootstrap, bootstrap
from vqagen.human.scores.bradley_terry import Games, Ranking, rank
from vqagen.human.scores.clusters import Estimate, difference, two_way_interval
from vqagen.human.scores.flags import Exclusion, Flag, excluded_rows, exclusions, find_flags
from vqagen.human.scores.groups import GroupScore, group_scores
from vqagen.human.scores.humanr import HumanrScore, humanr_failures, humanr_scores
from vqagen.human.scores.samples import (
    Pairing,
    Sample,
    Sampler,
    by_pairing,
    lean_of,
    pairing_names,
    score_of,
)
from vqagen.human.scores.settings import BOOTSTRAP, BRADLEY_TERRY, FLAGS, HUMANR, WEBDRIVER, ScoreSettings
from vqagen.human.study.item import COMPARE, REAL, REFERENCE
from vqagen.score.intervals import holm
from vqagen.score.report.table import Report, Reported

REFERENCE_NAME = "(reference)"
"""The reference texts together, among strengths."""


class Outcomes(NamedTuple):
    """How often the second text was preferred, was found equal, and the first was preferred."""

    won: int
    tied: int
    lost: int

    @property
    def rate(self) -> float:
        """The share of wins, ties counted half."""
        return (self.won + self.tied / 2) / sum(self)


class SideBias(NamedTuple):
    """How much raters lean to the right text, whatever it is."""

    estimate: Estimate
    left: int
    middle: int
    right: int


class PairedDifference(NamedTuple):
    """The score of a system minus that of another, both against the same reference."""

    dimension: str
    first: str
    second: str
    difference: Estimate
    holm: float | None
    """Its p-value, corrected for the number of pairs of a dimension."""


@dataclass(frozen=True, repr=False)
class StudyScores(Reported):
    """All scores of a study. Those of methods that were not asked for are empty."""

    name: str
    settings: ScoreSettings
    rows: int
    """Answers that were read."""
    real: int
    """Answers to real trials that are scored."""
    raters: int
    names: Mapping[Pairing, str]
    estimates: Mapping[Pairing, Estimate]
    holm: Mapping[Pairing, float]
    """p-values corrected for the number of systems of a dimension."""
    humanr: Mapping[Pairing, HumanrScore]
    humanr_failed: int
    bootstraps: Mapping[Pairing, Bootstrap]
    rankings: Mapping[str, Ranking]
    """By dimension."""
    outcomes: Mapping[Pairing, Outcomes]
    answers: Mapping[Pairing, Counter[float]]
    """How often each score was given."""
    differences: tuple[PairedDifference, ...]
    agreement: Mapping[tuple[str, str], Alpha]
    """By dimension and kind."""
    side: SideBias | None
    groups: tuple[GroupScore, ...]
    flags: tuple[Flag, ...]
    exclusions: tuple[Exclusion, ...]

    @property
    def dimensions(self) -> list[str]:
        """The dimensions, sorted."""
        return sorted({pairing.dimension for pairing in self.names})

    def report(self) -> Report:
        """Return the report without gates."""
        from vqagen.human.scores.report import study_report

        return study_report(self)


def score_rows(
    rows: Sequence[AnswerRow], settings: ScoreSettings, name: str = "", automated: Iterable[str] | None = None
) -> StudyScores:
    """Score answers. `automated` are assignments whose browser was driven by a program; None where it is not known."""
    flags = find_flags(rows, settings, automated or ())
    real = [row for row in excluded_rows(rows, flags, settings.excluded) if row.use == REAL]
    sampler, pairings = Sampler(rows), by_pairing(real)
    names = pairing_names([*pairings, *by_pairing(row for row in rows if row.use == REAL)])
    samples = {pairing: sampler.sample(pairings[pairing]) for pairing in names if pairing in pairings}
    estimates = {pairing: two_way_interval(sample) for pairing, sample in samples.items()}
    has_humanr, methods = HUMANR in settings.methods, settings.methods
    kinds = [kind for kind in FLAGS if kind != WEBDRIVER or automated is not None]
    return StudyScores(
        name=name,
        settings=settings,
        rows=len(rows),
        real=len(real),
        raters=len({row.rater for row in real}),
        names=names,
        estimates=estimates,
        holm=_holm_over_systems(estimates),
        humanr=humanr_scores(rows) if has_humanr else {},
        humanr_failed=len(humanr_failures(rows)),
        bootstraps={pairing: bootstrap(sample) for pairing, sample in samples.items()} if BOOTSTRAP in methods else {},
        rankings=_rankings(real) if BRADLEY_TERRY in methods else {},
        outcomes={pairing: _outcomes(pairings[pairing]) for pairing in samples if pairing.kind == COMPARE},
        answers={pairing: Counter(map(score_of, pairings[pairing])) for pairing in samples},
        differences=_differences(samples, names),
        agreement=_agreement(real, settings.alpha),
        side=_side(real, sampler),
        groups=tuple(group_scores(real, sampler, settings.fields)),
        flags=flags,
        exclusions=tuple(exclusions(rows, flags, kinds, settings.excluded)),
    )


def _holm_over_systems(estimates: Mapping[Pairing, Estimate]) -> dict[Pairing, float]:
    """Return the p-values of systems against their reference, corrected within each dimension."""
    found: dict[Pairing, float] = {}
    for dimension in sorted({pairing.dimension for pairing in estimates}):
        tested = {
            pairing: of_pairing.p
            for pairing, of_pairing in estimates.items()
            if pairing.dimension == dimension and pairing.is_against_reference and of_pairing.p is not None
        }
        found.update(zip(tested, holm(list(tested.values())), strict=True))
    return found


def _outcomes(rows: Iterable[AnswerRow]) -> Outcomes:
    scores = list(map(score_of, rows))
    return Outcomes(sum(s > 0 for s in scores), sum(s == 0 for s in scores), sum(s < 0 for s in scores))


def _differences(samples: Mapping[Pairing, Sample], names: Mapping[Pairing, str]) -> tuple[PairedDifference, ...]:
    """Compare each two systems of a dimension that stand against the same reference."""
    found = []
    systems = [pairing for pairing in samples if pairing.is_against_reference]
    for dimension in sorted({pairing.dimension for pairing in systems}):
        pairs = [
            (one, other, difference(samples[one], samples[other]))
            for one, other in combinations([each for each in systems if each.dimension == dimension], 2)
            if one.first == other.first
        ]
        corrected = _holm([apart.p for _, _, apart in pairs])
        found += [
            PairedDifference(dimension, names[one], names[other], apart, p)
            for (one, other, apart), p in zip(pairs, corrected, strict=True)
        ]
    return tuple(found)


def _holm(given: Sequence[float | None]) -> list[float | None]:
    """Correct the p-values that are defined."""
    corrected = iter(holm([p for p in given if p is not None]))
    return [None if p is None else next(corrected) for p in given]


def _rankings(rows: Sequence[AnswerRow]) -> dict[str, Ranking]:
    compared = [row for row in rows if row.kind == COMPARE and _node(row, True) != _node(row, False)]
    dimensions = sorted({row.dimension for row in compared})
    return {name: rank(games_of([row for row in compared if row.dimension == name])) for name in dimensions}


def games_of(rows: Sequence[AnswerRow]) -> Games:
    """Return comparisons as games. All reference texts are one source, which is fixed at 0."""
    nodes = sorted({_node(row, is_second) for row in rows for is_second in (False, True)})
    number = {node: place for place, node in enumerate(nodes)}
    scores = np.array(list(map(score_of, rows)))
    return Games(
        tuple(name or REFERENCE_NAME for _, name in nodes),
        np.array([number[_node(row, False)] for row in rows], int),
        np.array([number[_node(row, True)] for row in rows], int),
        (np.sign(scores) + 1) / 2,
        np.unique([row.rater for row in rows], return_inverse=True)[1],
    )


def _node(row: AnswerRow, is_second: bool) -> tuple[bool, str]:
    """Return a source so that the reference sorts first."""
    role, source = (row.second_role, row.second_source) if is_second else (row.first_role, row.first_source)
    return (False, "") if role == REFERENCE else (True, source)


def _agreement(rows: Iterable[AnswerRow], metric: str) -> dict[tuple[str, str], Alpha]:
    """Return alpha of each dimension and kind, by answers turned toward the second text."""
    items: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        items.setdefault((row.dimension, row.kind), {}).setdefault(row.item, []).append(row.toward_second)
    return {key: alpha(items[key].values(), metric) for key in sorted(items)}


def _side(rows: Iterable[AnswerRow], sampler: Sampler) -> SideBias | None:
    compared = [row for row in rows if row.kind == COMPARE]
    if not compared:
        return None
    leans = list(map(lean_of, compared))
    found = two_way_interval(sampler.sample(compared, lean_of))
    return SideBias(found, sum(x < 0 for x in leans), sum(x == 0 for x in leans), sum(x > 0 for x in leans))
