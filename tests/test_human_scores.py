"""Scores of raters: the worked example of the specification to six digits, and laws that hold for any study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import choix
import numpy as np
import pytest
from naive_agreement import naive_alpha
from worked_study import worked_rows

from vqagen.human.scores.agreement import METRICS, alpha
from vqagen.human.scores.bootstrap import all_resamples, bootstrap
from vqagen.human.scores.bradley_terry import Games, rank
from vqagen.human.scores.clusters import two_way_interval, variances
from vqagen.human.scores.humanr import humanr_score
from vqagen.human.scores.samples import Sample
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import StudyScores, score_rows

ALL = "humanr,cluster,bootstrap,bt"


@pytest.fixture(scope="module")
def worked() -> StudyScores:
    """The scores of the worked example by all methods."""
    return score_rows(worked_rows(), ScoreSettings(method=ALL))


def named(scores: StudyScores, found: Any) -> dict[str, Any]:
    """Return figures of pairings by name."""
    return {name: found[pairing] for pairing, name in scores.names.items() if pairing in found}


def six(*values: float | None) -> tuple[float, ...]:
    """Return numbers with six digits behind the point."""
    return tuple(round(value, 6) + 0.0 for value in values if value is not None)


# The worked example -------------------------------------------------------------------------------------------------


def test_worked_example_discards_the_two_assignments_that_fail_their_checks(worked: StudyScores) -> None:
    assert [flag.assignment for flag in worked.flags] == ["a7", "a8"]
    assert (worked.rows, worked.real, worked.humanr_failed) == (40, 24, 2)


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("A", (9, -1.75, -0.194444, 0.390868, 0.130289, 0.300448, -0.494892, 0.106003)),
        ("B", (9, -5.25, -0.583333, 0.353553, 0.117851, 0.271765, -0.855099, -0.311568)),
        ("human", (6, -0.5, -0.083333, 0.341565, 0.139443, 0.358451, -0.441784, 0.275117)),
    ],
)
def test_worked_example_has_humanrs_figures(worked: StudyScores, name: str, figures: tuple[float, ...]) -> None:
    found = named(worked, worked.humanr)[name]

    assert six(found.n, found.total, found.mean, found.sd, found.error, found.half, found.low, found.high) == figures
    assert found.printed == pytest.approx(found.half)


@pytest.mark.parametrize(
    ("name", "parts", "figures"),
    [
        ("A", (0.044378398, 0.005401235, 0.016975309, 0.032804324, 0.044378398), (0.906405, -1.100849, 0.711960)),
        ("B", (0.007773205, 0.006944444, 0.013888889, 0.000828761, 0.007773205), (0.379347, -0.962680, -0.203987)),
    ],
)
def test_worked_example_has_cluster_intervals(
    worked: StudyScores, name: str, parts: tuple[float, ...], figures: tuple[float, ...]
) -> None:
    found = named(worked, worked.estimates)[name]
    sample = worked_sample(name)
    of = variances(sample.influence(), sample.raters, sample.images)

    assert (found.raters, found.images, found.df) == (4, 3, 2)
    assert tuple(round(each, 9) for each in (*of, of.two_way, of.used)) == parts
    assert six((found.high - found.low) / 2, found.low, found.high) == figures


def worked_sample(name: str) -> Sample:
    """Return the scores of a system in the kept rows."""
    kept = [row for row in worked_rows() if row.second_source == name and row.assignment not in ("a7", "a8")]
    return Sample(
        np.array([(row.toward_second - 5) / 4 for row in kept]),
        np.ones(len(kept)),
        np.unique([row.rater for row in kept], return_inverse=True)[1],
        np.unique([row.image for row in kept], return_inverse=True)[1],
    )


def test_worked_example_has_the_paired_difference(worked: StudyScores) -> None:
    (pair,) = worked.differences
    found = pair.difference

    assert (pair.first, pair.second, found.df, pair.holm) == ("A", "B", 2, found.p)
    assert six(found.mean, found.error, found.p) == (0.388889, 0.275828, 0.293975)


@pytest.mark.parametrize(
    ("name", "figures"),
    [("A", (-0.207042, 0.182558, -0.527778, 0.125)), ("B", (-0.567367, 0.095794, -0.666667, -0.333333))],
)
def test_worked_example_has_exhaustive_bootstraps(worked: StudyScores, name: str, figures: tuple[float, ...]) -> None:
    found = named(worked, worked.bootstraps)[name]

    assert (found.resamples, found.is_exhaustive) == (256, True)
    assert six(found.mean, found.sd, found.low, found.high) == figures


def test_worked_example_has_alpha(worked: StudyScores) -> None:
    everything = score_rows(worked_rows(), ScoreSettings(exclude="none"))

    (found,) = worked.agreement.values()
    (of_all,) = everything.agreement.values()
    assert (found.values, six(found.alpha, of_all.alpha)) == (24, (0.049333, -0.201682))
    others = [
        score_rows(worked_rows(), ScoreSettings(alpha=metric)).agreement.values() for metric in ("ordinal", "nominal")
    ]
    assert six(*(each.alpha for values in others for each in values)) == (0.024515, -0.15)


def test_worked_example_has_outcomes_strengths_and_no_side_bias(worked: StudyScores) -> None:
    outcomes = named(worked, worked.outcomes)
    assert (tuple(outcomes["A"]), tuple(outcomes["B"])) == ((2, 1, 6), (0, 1, 8))
    assert six(outcomes["A"].rate, outcomes["B"].rate) == (0.277778, 0.055556)

    strengths = {each.name: each.log_odds for each in worked.rankings["fit"].strengths}
    assert six(strengths["A"], strengths["B"]) == (-0.955511, -2.833213)

    assert worked.side is not None
    assert (worked.side.estimate.n, six(worked.side.estimate.mean)) == (24, (0.0,))


def games_of_wins(names: tuple[str, ...], wins: Sequence[tuple[str, str, float, float]]) -> Games:
    """Return games by wins of the first source, and of the second one; halves are those of a tie. One rater each."""
    rows = []
    for first, second, lost, won in wins:
        results = [0.0] * int(lost) + [1.0] * int(won) + ([0.5] if lost % 1 else [])
        rows += [(names.index(first), names.index(second), result) for result in results]
    first_, second_, won_ = map(np.array, zip(*rows, strict=True))
    return Games(names, first_, second_, won_, np.arange(len(rows)))


@pytest.mark.parametrize(
    ("values", "mean", "half", "printed"),
    [
        ((1, 1, 3, 1), -0.875, 0.397806, 0.125),
        ((9, 9, 7, 9), 0.875, 0.397806, 0.397806),
        ((4, 4, 4), -0.25, 0.0, 0.0),
    ],
)
def test_humanr_cuts_its_half_width_on_one_side(
    values: tuple[int, ...], mean: float, half: float, printed: float
) -> None:
    """At -1, and not at 1: documented, as HUMANr prints it. Equal answers have ±0."""
    found = humanr_score([(value - 5) / 4 for value in values])

    assert six(found.mean, found.half, found.printed) == (mean, half, printed)


# Intervals ----------------------------------------------------------------------------------------------------------


def sample_of(scores: Sequence[float], raters: Sequence[int], images: Sequence[int]) -> Sample:
    return Sample(np.array(scores, float), np.ones(len(scores)), np.array(raters), np.array(images))


def random_sample(rng: np.random.Generator, raters: int = 20, trials: int = 27, images: int = 60) -> Sample:
    """Return a study of one system whose true score is 0, with the deviations of the specification's fact 2."""
    of_raters, of_images = rng.normal(0, 0.2, raters), rng.normal(0, 0.25, images)
    seen = np.concatenate([rng.permutation(images)[:trials] for _ in range(raters)])
    who = np.repeat(np.arange(raters), trials)
    return sample_of(of_raters[who] + of_images[seen] + rng.normal(0, 0.5, len(seen)), who, seen)


def naive_two_way(sample: Sample) -> float:
    """Return the variance of two-way clusters by loops over pairs of answers that share a cluster."""
    n, residuals = len(sample), sample.scores - sample.scores.mean()
    cells = [f"{rater} {image}" for rater, image in zip(sample.raters, sample.images, strict=True)]
    found = []
    for clusters in (list(sample.raters), list(sample.images), cells):
        total = sum(residuals[i] * residuals[j] for i, j in product(range(n), range(n)) if clusters[i] == clusters[j])
        count = len(set(clusters))
        found.append(count / (count - 1) * total / n**2)
    return float(max(found[0] + found[1] - found[2], found[0], found[1]))


def test_cluster_variance_equals_that_of_another_implementation() -> None:
    """Sums over all pairs of answers that share a rater or an image."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        sample = random_sample(rng, raters=5, trials=7, images=9)

        error = two_way_interval(sample).error
        assert error is not None
        assert error**2 == pytest.approx(naive_two_way(sample), abs=1e-12)


def test_weights_count_as_repeated_answers() -> None:
    """An answer of weight 2 moves mean and variance as two equal answers do."""
    sample = random_sample(np.random.default_rng(3), 4, 5, 8)
    weights = np.array([1.0, 2.0] * 10)
    doubled = np.repeat(np.arange(20), weights.astype(int))

    weighted = replace(sample, weights=weights)
    repeated = sample_of(sample.scores[doubled], sample.raters[doubled], sample.images[doubled])
    assert (weighted.mean, two_way_interval(weighted).error) == pytest.approx(
        (repeated.mean, two_way_interval(repeated).error)
    )


@pytest.mark.parametrize(
    ("raters", "images", "why"),
    [
        ([0, 0], [0, 1], "one rater only"),
        ([0, 1], [0, 0], "one image only"),
        ([0, 0], [0, 0], "one rater and one image only"),
    ],
)
def test_intervals_that_do_not_exist_say_why(raters: list[int], images: list[int], why: str) -> None:
    found = two_way_interval(sample_of([0.5, 1], raters, images))

    assert (found.mean, found.error, found.low, found.high, found.p, found.why) == (0.75, *[None] * 4, why)


def test_equal_answers_have_an_interval_of_no_width() -> None:
    """As HUMANr's ±0; rounding makes no test of them."""
    found = two_way_interval(
        sample_of([0.1] * 30, [place % 3 for place in range(30)], [place % 7 for place in range(30)])
    )

    assert (found.error, found.low, found.high, found.p, found.why) == (
        *(0.0, found.mean, found.mean, None, "all answers are equal"),
    )


def test_cluster_intervals_hold_the_truth_in_95_percent_of_studies() -> None:
    """Of 300 studies; HUMANr's intervals do in about 59 %."""
    rng = np.random.default_rng(7)
    robust = naive = 0
    for _ in range(300):
        sample = random_sample(rng)
        found, humanrs = two_way_interval(sample), humanr_score(sample.scores.tolist())
        robust += holds(found.low, found.high)
        naive += holds(humanrs.low, humanrs.high)

    assert 275 <= robust <= 296
    assert 150 <= naive <= 205


def holds(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= 0 <= high


# Bootstrap ----------------------------------------------------------------------------------------------------------


def test_all_resamples_of_few_units_are_taken() -> None:
    counts = all_resamples(3)

    assert len(counts) == 27
    assert sorted(map(tuple, counts.tolist())) == sorted(
        tuple(drawn.count(unit) for unit in range(3)) for drawn in product(range(3), repeat=3)
    )


def test_drawn_resamples_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the figures of the same study, up to chance."""
    sample = random_sample(np.random.default_rng(4), 6, 10, 20)
    everything = bootstrap(sample)
    monkeypatch.setattr("vqagen.human.scores.bootstrap.MOST_EXHAUSTIVE", 0)
    drawn = bootstrap(sample, resamples=20_000)

    assert (everything.is_exhaustive, drawn.is_exhaustive) == (True, False)
    assert (everything.resamples, drawn.resamples) == (6**6, 20_000)
    for one, other in zip(everything[3:7], drawn[3:7], strict=True):
        assert one == pytest.approx(other, abs=0.01)


# Strengths ----------------------------------------------------------------------------------------------------------


def random_games(rng: np.random.Generator, truth: Sequence[float], count: int) -> Games:
    pairs = np.array([rng.choice(len(truth), 2, replace=False) for _ in range(count)])
    odds = np.array(truth)[pairs[:, 1]] - np.array(truth)[pairs[:, 0]]
    won = (rng.random(count) < 1 / (1 + np.exp(-odds))).astype(float)
    names = tuple(f"s{number}" for number in range(len(truth)))
    return Games(names, pairs[:, 0], pairs[:, 1], won, rng.integers(0, 20, count))


@pytest.mark.parametrize("seed", range(2))
def test_strengths_equal_those_of_choix(seed: int) -> None:
    games = random_games(np.random.default_rng(seed), [0, -0.5, 0.3, 1.0], 200)
    won = [
        (int(second), int(first)) if result else (int(first), int(second))
        for first, second, result in zip(games.first, games.second, games.won, strict=True)
    ]

    found = np.array([each.log_odds for each in rank(games, resamples=20).strengths])
    expected = choix.opt_pairwise(4, won, alpha=0, method="BFGS", tol=1e-12)
    assert found == pytest.approx(expected - expected[0], abs=1e-5)


@pytest.mark.parametrize(
    ("wins", "why"),
    [
        ([("human", "A", 3, 2), ("human", "B", 4, 0), ("A", "B", 2, 0)], "never preferred to the other sources: B"),
        ([("human", "A", 3, 2), ("human", "B", 0, 4)], "always preferred to the other sources: B"),
        ([("human", "A", 3, 2)], "not compared with the other sources: B"),
    ],
)
def test_strengths_that_do_not_exist_say_why(wins: list[tuple[str, str, float, float]], why: str) -> None:
    found = rank(games_of_wins(("human", "A", "B"), wins))

    assert (found.strengths, found.why) == ((), why)


# Agreement ----------------------------------------------------------------------------------------------------------


def test_alpha_equals_a_brute_force_definition() -> None:
    """On 200 random tables with gaps, for all three metrics."""
    rng = Random(3)
    for _ in range(200):
        items = [
            [value for value in (rng.randint(1, 9) if rng.random() < 0.7 else None for _ in range(4)) if value]
            for _ in range(rng.randint(2, 10))
        ]
        for metric in METRICS:
            found, expected = alpha(items, metric, resamples=2), naive_alpha(items, metric)
            if expected is None:
                assert found.alpha is None and found.why
            else:
                assert found.alpha == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("items", "why"),
    [
        ([], "no item has two answers"),
        ([[1], [2]], "no item has two answers"),
        ([[3, 3], [3, 3]], "all answers are equal"),
    ],
)
def test_alpha_that_does_not_exist_says_why(items: list[list[float]], why: str) -> None:
    assert alpha(items)[3:] == (None, None, None, why)


def test_alpha_has_the_published_figures() -> None:
    """Krippendorff 2011, data C: four observers, twelve units, gaps."""
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[int(row[unit]) for row in observers if row[unit] != "."] for unit in range(12)]

    found = {metric: round(alpha(units, metric).alpha or 0, 3) for metric in METRICS}
    assert found == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}


# Rows ---------------------------------------------------------------------------------------------------------------


def rows_of(scores: StudyScores) -> list[str]:
    return list(named(scores, scores.estimates))


def test_systems_may_have_the_names_of_humanr() -> None:
    """A system called human, correct or human1 is scored as any other: roles say what a source is."""
    rename = {"A": "human", "B": "correct"}
    rows = [replace(row, second_source=rename.get(row.second_source, row.second_source)) for row in worked_rows()]

    plain, renamed = score_rows(worked_rows(), ScoreSettings()), score_rows(rows, ScoreSettings())
    assert rows_of(plain) == ["A", "B", "human"]
    assert rows_of(renamed) == ["correct", "human over human", "human2 over human1"]
    assert sorted(plain.estimates.values()) == sorted(renamed.estimates.values())
