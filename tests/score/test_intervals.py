"""Intervals and corrections have the numbers published for them, and are those of scipy and statsmodels."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vqagen.score.intervals import (
    cluster_interval,
    cluster_intervals,
    clustered_mean,
    holm,
    student_quantiles,
    wilson,
)


def test_published_numbers() -> None:
    """Wilson's of 81 of 263 (Newcombe 1998), and Holm's of four values (Holm 1979)."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0, 0.1611), abs=5e-5)
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 3, 7, 40, 1000])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_that_of_scipy(n: int, level: float) -> None:
    """For every count, the interval is that of scipy's `proportion_ci`."""
    stats = pytest.importorskip("scipy.stats")
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_clustered_error_is_that_of_statsmodels(seed: int) -> None:
    """Mean and standard error are those of OLS on a constant with covariance by cluster."""
    api = pytest.importorskip("statsmodels.api")
    scores, clusters = clustered_sample(seed)
    fit = api.OLS(scores, np.ones(len(scores))).fit(cov_type="cluster", cov_kwds={"groups": clusters})

    found = clustered_mean(scores, clusters)

    assert (found.mean, found.error) == pytest.approx((fit.params[0], fit.bse[0]), rel=1e-9)
    bounds = api.OLS(scores, np.ones(len(scores))).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    assert found.interval() == pytest.approx(tuple(bounds.conf_int()[0]), rel=1e-5)


@pytest.mark.slow
def test_quantiles_of_student_are_those_of_scipy() -> None:
    """Exact for 1 and 2 degrees of freedom; 0.12 % too small for 3, and less for more."""
    stats, df = pytest.importorskip("scipy.stats"), np.arange(1, 1000)
    wrong = student_quantiles(df) / stats.t.ppf(0.975, df) - 1

    assert abs(wrong[:2]).max() < 1e-12 and abs(wrong).max() < 0.00121 and abs(wrong[8:]).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_clustered_interval_is_wilsons_of_as_certain_questions(seed: int) -> None:
    """The variance of a question over that of the mean is their number; z is Student's. Each group has its own."""
    scores, clusters = clustered_sample(seed)
    stats = pytest.importorskip("scipy.stats")
    groups = np.random.default_rng(seed).integers(-1, 4, len(scores))
    low, high = cluster_intervals(scores, clusters, groups, 5)

    for group in range(4):
        mean, error, count = clustered_mean(scores[groups == group], clusters[groups == group])
        n = mean * (1 - mean) / error**2
        level = 1 - 2 * stats.norm.sf(stats.t.ppf(0.975, count - 1))
        expected = wilson(mean * n, n, level)
        assert (low[group], high[group]) == pytest.approx(expected, rel=1e-5)
    assert (low[4], high[4]) == (0, 1)


def test_questions_about_different_images_have_wilsons_interval() -> None:
    scores = np.array([1.0] * 37 + [0.0] * 13)

    assert cluster_interval(scores, np.arange(50)) == pytest.approx(wilson(37, 50), rel=1e-12)


def test_intervals_hold_the_true_accuracy_in_95_of_100_samples() -> None:
    """Also of few images and easy questions, where a normal interval of the clusters would in 85 % (10 images)."""
    generator, samples = np.random.default_rng(0), 1000
    for images, accuracy in ((10, 0.8), (30, 0.8), (100, 0.95)):
        ease = generator.beta(4 * accuracy, 4 * (1 - accuracy), (samples, images, 1))
        scores = (generator.random((samples, images, 10)) < ease).astype(float).ravel()
        clusters, groups = np.repeat(np.arange(samples * images), 10), np.repeat(np.arange(samples), images * 10)
        low, high = cluster_intervals(scores, clusters, groups, samples)
        assert 0.92 < np.mean((low <= accuracy) & (accuracy <= high)) < 0.98


def test_an_accuracy_without_errors_still_has_an_interval() -> None:
    """If all answers are right, the interval is that of the images: a standard error of 0 would claim certainty."""
    low, high = cluster_interval(np.ones(30), np.repeat(np.arange(10), 3))

    assert (round(low, 2), high) == (0.66, 1) and low < wilson(10, 10)[0]


def test_one_image_says_nothing_of_the_spread_between_images() -> None:
    """The interval of one image is Wilson's of one."""
    assert cluster_interval(np.array([1.0, 1.0]), np.array([3, 3])) == wilson(1, 1)
    assert clustered_mean(np.array([1.0, 0.0]), np.array([3, 3])).interval(-1, 1) == (-1, 1)
    assert clustered_mean(np.array([1.0, 0.0]), np.array([3, 4])).error == 0.5


@pytest.mark.slow
def test_holm_is_that_of_statsmodels(monkeypatch: pytest.MonkeyPatch) -> None:
    """For random p-values, ties among them, the corrected ones are those of `multipletests`."""
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    monkeypatch.setattr("gc.collect", lambda: 0)  # it collects garbage on each call: 0.3 s in a run of all tests
    generator = np.random.default_rng(0)
    for size in range(1, 30):
        p_values = np.round(generator.random(size) ** 3, 2)
        assert holm(p_values.tolist()) == pytest.approx(multitest.multipletests(p_values, method="holm")[1])
