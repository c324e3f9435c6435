"""Intervals and corrections equal those of scipy and statsmodels, and the numbers published for them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vqagen.score.intervals import (
    cluster_interval,
    clustered_mean,
    holm,
    wilson,
)

stats = pytest.importorskip("scipy.stats")


@pytest.mark.parametrize("n", [1, 3, 7, 40, 1000])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_that_of_scipy(n: int, level: float) -> None:
    """For every count, the interval is that of scipy's `proportion_ci`."""
    for correct in range(0, n + 1, max(1, n // 20)):
        expected = stats.binomtest(correct, n).proportion_ci(level, method="wilson")
        assert wilson(correct, n, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_nothing_observed_allows_everything() -> None:
    """Without questions, every accuracy is possible, by each method."""
    nothing = np.array([])

    assert wilson(0, 0) == (0, 1)
    assert cluster_interval(nothing, nothing.astype(int)) == (0, 1)
    assert math.isnan(clustered_mean(nothing, nothing.astype(int)).mean)


def clustered_sample(seed: int, images: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Scores of 0, ½ and 1, more alike within an image than between images."""
    generator = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(images) * 2, generator.integers(1, 9, images))  # every other number has no question
    easy = generator.random(2 * images)[clusters]
    return (generator.random(len(clusters)) < easy) * generator.choice([0.5, 1.0], len(clusters)), clusters


@pytest.mark.parametrize("seed", range(2))
def test_the_clustered_error_is_that_of_statsmodels(seed: int) -> None:
    """Mean and standard error are those of OLS on a constant with covariance by cluster."""
    api = pytest.importorskip("statsmodels.api")
    scores, clusters = clustered_sample(seed)
    fit = api.OLS(scores, np.ones(len(scores))).fit(cov_type="cluster", cov_kwds={"groups": clusters})

    found = clustered_mean(scores, clusters)

    assert (found.mean, found.error) == pytest.approx((fit.params[0], fit.bse[0]), rel=1e-9)
    assert cluster_interval(scores, clusters) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


def test_questions_of_one_image_say_less_than_those_of_many() -> None:
    """If all questions of an image are right or wrong together, the interval is as wide as for one question each."""
    scores = np.array([0.0, 1.0] * 20)
    alone, ten = np.arange(40), np.repeat(np.arange(40), 10)

    assert clustered_mean(np.repeat(scores, 10), ten).error == pytest.approx(clustered_mean(scores, alone).error)


def test_an_accuracy_without_errors_still_has_an_interval() -> None:
    """If all answers are right, the interval is Wilson's of the images: a standard error of 0 would claim certainty."""
    scores, clusters = np.ones(30), np.repeat(np.arange(10), 3)

    assert cluster_interval(scores, clusters) == wilson(10, 10)


def test_one_image_says_nothing_of_the_spread_between_images() -> None:
    """The interval of one image is Wilson's of one."""
    assert cluster_interval(np.array([1.0, 1.0]), np.array([3, 3])) == wilson(1, 1)
    assert clustered_mean(np.array([1.0, 0.0]), np.array([3, 3])).interval(-1, 1) == (-1, 1)


def test_holm_is_that_of_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    """For random p-values, ties among them, the corrected ones are those of `multipletests`."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    monkeypatch.setattr("gc.collect", lambda: 0)  # it collects garbage on each call: 0.3 s in a run of all tests
    generator = np.random.default_rng(0)
    for size in range(1, 30):
        p_values = np.round(generator.random(size) ** 3, 2)
        assert holm(p_values.tolist()) == pytest.approx(multitest.multipletests(p_values, method="holm")[1])
