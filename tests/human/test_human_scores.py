"""Scores of raters: the worked example of the specification to six digits, and laws that hold for any study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from depth import fewer
from oracles.naive_agreement import naive_alpha
from worked_study import changed, worked_rows

from vqagen.human.scores.answered import METRICS, alpha
from vqagen.human.scores.methods import humanr_score, strengths
from vqagen.human.scores.report import score_rows
from vqagen.human.scores.samples import Pairing, ScoreSample, difference, sample_of, two_way_interval, variances
from vqagen.human.settings import ScoreSettings
from vqagen.report.table import Report


@pytest.fixture(scope="module")
def worked() -> Report:
    """The scores of the worked example by all methods."""
    return score_rows(worked_rows(), ScoreSettings(method="humanr,cluster,bt")).report()


def row(report: Report, key: str, name: str, column: str = "comparison") -> dict[str, Any]:
    """Return a row of a table by its name."""
    return next(each for each in report.table(key).to_record()["rows"] if each[column] == name)


def six(*values: Any) -> tuple[float, ...]:
    """Return numbers with six digits behind the point."""
    return tuple(round(value, 6) + 0.0 for value in values)


# The worked example -------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("A", (9, -1.75, -0.194444, 0.390868, 0.130289, 0.300448, -0.494892, 0.106003)),
        ("B", (9, -5.25, -0.583333, 0.353553, 0.117851, 0.271765, -0.855099, -0.311568)),
        ("human", (6, -0.5, -0.083333, 0.341565, 0.139443, 0.358451, -0.441784, 0.275117)),
    ],
)
def test_worked_example_has_humanrs_figures(worked: Report, name: str, figures: tuple[float, ...]) -> None:
    found = row(worked, "humanr", name)

    assert six(*(found[each] for each in ("n", "sum", "HUMANr", "SD", "error", "half", "low", "high"))) == figures
    assert found["printed"] == pytest.approx(found["half"])


@pytest.mark.parametrize(
    ("name", "parts", "figures"),
    [
        ("A", (0.044378398, 0.005401235, 0.016975309), (0.906405, -1.100849, 0.711960)),
        ("B", (0.007773205, 0.006944444, 0.013888889), (0.379347, -0.962680, -0.203987)),
    ],
)
def test_worked_example_has_cluster_intervals(
    worked: Report, name: str, parts: tuple[float, ...], figures: tuple[float, ...]
) -> None:
    found = row(worked, "scores", name)
    kept = [each for each in worked_rows() if each.second_source == name and each.assignment not in ("a7", "a8")]
    sample = sample_of(kept)

    assert (found["raters"], found["images"], found["df"]) == (4, 3, 2)
    assert tuple(round(each, 9) for each in variances(sample.influence(), sample.raters, sample.images)) == parts
    assert round(found["error"] ** 2, 9) == parts[0]
    assert six((found["high"] - found["low"]) / 2, found["low"], found["high"]) == figures


def test_worked_example_has_the_paired_difference(worked: Report) -> None:
    found = row(worked, "differences", "A", "first")

    assert (found["second"], found["df"], found["p Holm"]) == ("B", 3, found["p"])
    figures = six(*(found[each] for each in ("difference", "error", "low", "high", "p")))
    assert figures == (0.388889, 0.275828, -0.488918, 1.266696, 0.253360)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("settings", "figure"),
    [({}, 0.049333), ({"exclude": "none"}, -0.201682), ({"alpha": "ordinal"}, 0.024515), ({"alpha": "nominal"}, -0.15)],
)
def test_worked_example_has_alpha(settings: dict[str, str], figure: float) -> None:
    found = row(score_rows(worked_rows(), ScoreSettings(**settings)).report(), "agreement", "compare", "kind")

    assert (found["values"], six(found["alpha"])) == (32 if settings.get("exclude") else 24, (figure,))


def test_worked_example_has_outcomes_strengths_and_no_side_bias(worked: Report) -> None:
    outcomes = [row(worked, "outcomes", name) for name in ("A", "B")]
    assert [(each["wins"], each["ties"], each["losses"]) for each in outcomes] == [(2, 1, 6), (0, 1, 8)]
    assert six(*(each["rate"] for each in outcomes)) == (0.277778, 0.055556)

    found = [row(worked, "strengths", name, "source")["log odds"] for name in ("(reference)", "A", "B")]
    assert six(*found) == (0, -0.955511, -2.833213)

    (side,) = worked.table("side").to_record()["rows"]
    assert (side["left"] + side["middle"] + side["right"], six(side["lean"])) == (24, (0.0,))


def samples_of_wins(wins: Sequence[tuple[str, str, float, float]]) -> dict[Pairing, ScoreSample]:
    """Return samples by wins of the first source, and of the second one; halves are a tie. One rater each."""
    found = {}
    for first, second, lost, won in wins:
        scores = [-1.0] * int(lost) + [1.0] * int(won) + [0.0] * (lost % 1 > 0)
        role = "reference" if first == "human" else "system"
        number = np.arange(len(scores)) + 100 * len(found)
        found[Pairing("fit", "compare", first, role, second, "system")] = sample_of_scores(scores, number, number)
    return found


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

    assert six(found[2], found[6], found[3]) == (mean, half, printed)


# Intervals ----------------------------------------------------------------------------------------------------------


def sample_of_scores(scores: Sequence[float], raters: Any, images: Any) -> ScoreSample:
    return ScoreSample(np.array(scores, float), np.ones(len(scores)), np.array(raters), np.array(images))


def random_sample(rng: np.random.Generator, raters: int = 20, trials: int = 27, images: int = 60) -> ScoreSample:
    """Return a study of one system whose true score is 0, with the deviations of the specification's fact 2."""
    of_raters, of_images = rng.normal(0, 0.2, raters), rng.normal(0, 0.25, images)
    seen = np.concatenate([rng.permutation(images)[:trials] for _ in range(raters)])
    who = np.repeat(np.arange(raters), trials)
    return sample_of_scores(list(of_raters[who] + of_images[seen] + rng.normal(0, 0.5, len(seen))), who, seen)


def naive_two_way(influence: Sequence[float], raters: Sequence[int], images: Sequence[int]) -> float:
    """Return the variance of two-way clusters by loops over pairs of answers that share a cluster."""
    n, found = len(influence), []
    for clusters in (list(raters), list(images), list(zip(raters, images, strict=True))):
        total = sum(influence[i] * influence[j] for i, j in product(range(n), range(n)) if clusters[i] == clusters[j])
        found.append(len(set(clusters)) / (len(set(clusters)) - 1) * total)
    return float(max(found[0] + found[1] - found[2], found[0], found[1]))


def test_cluster_variance_equals_that_of_another_implementation() -> None:
    """Sums over all pairs of answers that share a rater or an image, of a mean and of a difference."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        one, other = (random_sample(rng, raters=5, trials=7, images=9) for _ in range(2))
        moved = [(one.scores - one.scores.mean()) / 35, (other.scores.mean() - other.scores) / 35]

        error = two_way_interval(one).error or 0
        assert error**2 == pytest.approx(naive_two_way(moved[0], one.raters, one.images), abs=1e-12)
        error = difference(one, other).error or 0
        who, what = (np.concatenate([getattr(of, name) for of in (one, other)]) for name in ("raters", "images"))
        assert error**2 == pytest.approx(naive_two_way(np.concatenate(moved), who, what), abs=1e-12)


def test_weights_count_as_repeated_answers() -> None:
    """An answer of weight 2 moves mean and variance as two equal answers do."""
    sample = random_sample(np.random.default_rng(3), 4, 5, 8)
    weights = np.array([1.0, 2.0] * 10)
    doubled = np.repeat(np.arange(20), weights.astype(int))

    weighted = replace(sample, weights=weights)
    repeated = sample_of_scores(sample.scores[doubled], sample.raters[doubled], sample.images[doubled])
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
    found = two_way_interval(sample_of_scores([0.5, 1], raters, images))

    assert (found.mean, found.error, found.low, found.high, found.p, found.why) == (0.75, *[None] * 4, why)


def test_equal_answers_have_an_interval_of_no_width() -> None:
    """As HUMANr's ±0; rounding makes no test of them."""
    found = two_way_interval(sample_of_scores([0.1] * 30, np.arange(30) % 3, np.arange(30) % 7))

    assert (found.error, found.low, found.high, found.p, found.why) == (
        *(0.0, found.mean, found.mean, None, "all answers are equal"),
    )


# Strengths ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_strengths_and_errors_equal_those_of_statsmodels(seed: int) -> None:
    """A logistic regression, also with errors by cluster; each rater has an image of his own here."""
    rng, ends = np.random.default_rng(seed), [(0, 1), (0, 2), (1, 2), (3, 1), (3, 0)]
    scores, raters = rng.integers(-1, 2, (5, 40)), rng.integers(0, 20, (5, 40))
    pairings = [Pairing("fit", "compare", f"s{first}", "system", f"s{second}", "system") for first, second in ends]
    design = np.repeat([np.eye(4)[second] - np.eye(4)[first] for first, second in ends], 40, axis=0)[:, 1:]
    sm = pytest.importorskip("statsmodels.api")
    model = sm.GLM((scores.ravel() + 1) / 2, design, sm.families.Binomial())
    plain = model.fit(tol=1e-12)
    clustered = model.fit(tol=1e-12, cov_type="cluster", cov_kwds={"groups": raters.ravel(), "use_correction": False})

    samples = map(sample_of_scores, scores, raters, raters)
    found = np.array([each[2:10] for each in strengths(dict(zip(pairings, samples, strict=True)))[1:]], float)
    assert found[:, 0] == pytest.approx(plain.params, abs=1e-6)
    assert found[:, 1] == pytest.approx(clustered.bse * (20 / 19) ** 0.5, abs=1e-6)
    assert found[:, 7] == pytest.approx(plain.bse, abs=1e-6)


@pytest.mark.parametrize(
    ("wins", "why"),
    [
        ([("human", "A", 3, 2), ("human", "B", 4, 0), ("A", "B", 2, 0)], "never preferred to the other sources: B"),
        ([("human", "A", 3, 2), ("human", "B", 0, 4)], "always preferred to the other sources: B"),
        ([("human", "A", 3, 2), ("B", "C", 2, 2)], "not compared with the other sources: B, C"),
    ],
)
def test_strengths_that_do_not_exist_say_why(wins: list[tuple[str, str, float, float]], why: str) -> None:
    assert strengths(samples_of_wins(wins)) == [("-", *[None] * 9, why)]


# Agreement ----------------------------------------------------------------------------------------------------------


def test_alpha_equals_a_brute_force_definition() -> None:
    """On 200 random tables with gaps, for all three metrics."""
    rng = Random(3)
    for _ in range(fewer(200)):
        items = [
            [value for value in (rng.randint(1, 9) if rng.random() < 0.7 else None for _ in range(4)) if value]
            for _ in range(rng.randint(2, 10))
        ]
        for metric in METRICS:
            *_, found, _, _, why = alpha(items, metric, resamples=2)
            expected = naive_alpha(items, metric)
            assert (found is None and why) if expected is None else found == pytest.approx(expected, abs=1e-9)


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


# Rows ---------------------------------------------------------------------------------------------------------------


def test_systems_may_have_the_names_of_humanr() -> None:
    """A system called human, correct or human1 is scored as any other: roles say what a source is."""
    rename = {"A": "human", "B": "correct"}
    rows = [changed(row, second_source=rename.get(row.second_source, row.second_source)) for row in worked_rows()]

    plain, renamed = score_rows(worked_rows(), ScoreSettings()), score_rows(rows, ScoreSettings())
    assert list(plain.names.values()) == ["A", "B", "human"]
    assert list(renamed.names.values()) == ["correct", "human over human", "human2 over human1"]
    assert sorted(plain.estimates.values()) == sorted(renamed.estimates.values())
