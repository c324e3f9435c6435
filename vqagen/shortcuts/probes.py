"""Probes: what each predictor amounts to beside chance, and its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from vqagen.items.folds import Folds
from vqagen.items.groups import families_of, places_by
from vqagen.items.guessing import Floats, Guessing
from vqagen.items.table import NONE, Codes, Column as Values
from vqagen.score.intervals import clustered_mean, holm, student_test
from vqagen.shortcuts.predictors import ASKED, NAMED, OTHERS, OnGuess, Predictor, in_turn, not_shown, predict
from vqagen.shortcuts.settings import AuditSettings

PASSES, FAILS, INCONCLUSIVE, BELOW, SHOWN = "passes", "FAILS", "inconclusive", "below chance", "shown"
"""Verdicts, of which a file has one of the first three or NOT_TESTED.

Guesses that are certainly below chance fail no file; SHOWN are those that see other questions.
"""
_WORST = {FAILS: 2, INCONCLUSIVE: 1}
FEW_CLUSTERS = 10
"""Clusters of which no interval is given."""
UNSEEN = 3.0
"""An effect on less than this over the number of images may be in none of them (the rule of three)."""
SMALL_FAMILY = 30
"""Items below which the different answers of a family tell nothing about how many it may have."""


def difference(scores: Floats, chance: Floats, clusters: Codes) -> tuple[float, float, float, float]:
    """Test whether `scores` (the probability of a right answer of each item) differ from chance.

    Returned are the mean difference, the bounds of its 95 % interval, and the p-value of a two-sided test.

    The test is Student's, with the cluster-robust standard error of the mean: items of one cluster are no independent
    evidence.
    """
    estimate = clustered_mean(scores - chance, clusters)
    if estimate.clusters < FEW_CLUSTERS:
        return estimate.mean, -1.0, 1.0, 1.0
    if estimate.error < 1e-12:
        return estimate.mean, estimate.mean, estimate.mean, 1.0 if abs(estimate.mean) < 1e-12 else 0.0
    (low, high), p = student_test(estimate, "vqagen audit")
    return estimate.mean, low, high, p


class Probe(NamedTuple):
    """What a predictor amounts to."""

    name: str
    asks: str
    """What it tests, one of ASKED."""
    meaning: str
    items: int
    """The number of items that it concerns."""
    needed: int
    """About how many items are needed to find a reason to fail."""
    accuracy: float
    chance: float
    mean: float
    """Of the difference of accuracy and chance; the next two are the bounds of its interval."""
    low: float
    high: float
    p: float
    """Of a two-sided test that the difference is 0."""
    p_holm: float
    """The same, adjusted for the number of tests (Holm); that of its own test for one that is only shown."""
    verdict: str
    families: Mapping[str, tuple[int, float, float]]
    """Family -> (items, accuracy, chance)."""

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "asks": self.asks,
            "meaning": self.meaning,
            **_rounded(self.items, self.accuracy, self.chance),
            "difference": round(self.mean, 4),
            "interval": [round(self.low, 4), round(self.high, 4)],
            "p": float(f"{self.p:.3g}"),
            "p_holm": float(f"{self.p_holm:.3g}"),
            "verdict": self.verdict,
            "items_needed": self.needed,
            "families": {name: _rounded(*found) for name, found in sorted(self.families.items())},
        }


def _rounded(items: int, accuracy: float, chance: float) -> dict[str, Any]:
    return {"items": items, "accuracy": round(accuracy, 4), "chance": round(chance, 4)}


def chance_of(guessing: Guessing) -> Floats:
    """Return the chance of each item: one over its options, or 1 if the most frequent answer of its family is right.

    In a family of which the latter is worse than one over the number of its answers, chance is that. (Where answers are
    exactly balanced, an answer that is rarer among the others is more frequent among those that are guessed.) Families
    of few items, which do not show their answers, are taken together by type.
    """
    items = guessing.items
    sizes = items.options.map(lambda options: len(options.texts))
    if not (items.options.codes == NONE).any():
        return 1 / np.array(sizes.values)[sizes.codes]
    right = predict(NAMED["majority-family"], guessing).expected
    numbers = np.bincount(guessing.families)
    is_small = numbers[guessing.families] < SMALL_FAMILY
    groups = np.where(is_small, len(numbers) + guessing.types, guessing.families).astype(np.int32)
    for places in places_by(Values(groups, tuple(range(int(groups.max()) + 1)))).values():
        uniform = 1 / len(np.unique(guessing.answers[places]))
        if right[places].mean() < uniform:
            right[places] = uniform
    return right


def probe(
    predictors: Sequence[Predictor],
    guessing: Guessing,
    folds: Folds,
    settings: AuditSettings,
    on_guess: OnGuess = not_shown,
) -> list[Probe]:
    """Return what each predictor amounts to; all tests that a file can fail are corrected together for their number."""
    families, chance, found = places_by(families_of(guessing.items)), chance_of(guessing), list[Probe]()
    for predictor in in_turn(predictors, on_guess):
        scores = predict(predictor, guessing).expected
        known = {name: places[~np.isnan(scores[places])] for name, places in families.items()}
        means = {
            name: (len(own), float(scores[own].mean()), float(chance[own].mean()))
            for name, own in known.items()
            if len(own)
        }
        if len(own := np.flatnonzero(~np.isnan(scores))):
            apart = difference(scores[own], chance[own], folds.clusters[own])
            of_all = float(scores[own].mean()), float(chance[own].mean())
            verdict = SHOWN if predictor.asks == OTHERS else ""
            needed = _items_needed(
                scores[own] - chance[own], folds.clusters[own], guessing.items.images.codes[own], settings
            )
            found.append(Probe(*predictor[:3], len(own), needed, *of_all, *apart, apart[-1], verdict, means))
    adjusted = iter(holm([result.p for result in found if not result.verdict]))
    found = [result if result.verdict else result._replace(p_holm=next(adjusted)) for result in found]
    return [result if result.verdict else result._replace(verdict=_verdict(result, settings)) for result in found]


def effect_sought(settings: AuditSettings) -> float:
    """Return how far above chance guesses are that a file must be large enough to tell from chance."""
    return settings.tolerance or AuditSettings().tolerance


def _items_needed(differences: Floats, clusters: Codes, images: Codes, settings: AuditSettings) -> int:
    """Return about how many items make an interval that reaches no further than the effect on each side.

    An effect of twice as much is then more likely found than not.
    """
    estimate = clustered_mean(differences, clusters)
    low, high = estimate.interval(-1.0, 1.0)
    effect = effect_sought(settings)
    unseen = UNSEEN / effect / len(np.unique(images))
    times = max(((high - low) / 2 / effect) ** 2, FEW_CLUSTERS / estimate.clusters, unseen)
    return ceil(len(differences) * times)


def _verdict(probe: Probe, settings: AuditSettings) -> str:
    if probe.p_holm < settings.alpha and probe.low > settings.tolerance:
        return FAILS
    if probe.p_holm < settings.alpha and probe.high < -settings.tolerance:
        return BELOW
    return INCONCLUSIVE if probe.items < probe.needed else PASSES


class Ruling(NamedTuple):
    """What is found of one thing that an audit asks, by all predictors that test it."""

    asks: str
    verdict: str
    best: Probe
    """Of those with this verdict, the one that is furthest above chance."""
    needed: int
    """Items that the most demanding of the predictors needs."""


def rulings(probes: Sequence[Probe]) -> Iterator[Ruling]:
    """Yield what is found of each thing that is asked: the worst verdict of its probes."""
    for asks in ASKED:
        if own := [probe for probe in probes if probe.asks == asks]:
            worst = max(own, key=lambda probe: (_WORST.get(probe.verdict, 0), probe.mean))
            verdict = PASSES if worst.verdict == BELOW else worst.verdict
            yield Ruling(asks, verdict, worst, max(probe.needed for probe in own))
