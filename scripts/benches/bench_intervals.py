"""Measures how often 95 % intervals of an accuracy hold the true one, if questions about an image are alike."""

from __future__ import annotations

import click
import numpy as np
from bench_costs import count_option

from vqagen.score.intervals import Numbers, cluster_intervals, clustered_mean, quantile, student_quantiles

ABOUT_AN_IMAGE = 10
IMAGES = (10, 30, 100, 1000)
ACCURACIES = (0.5, 0.8, 0.95)
METHODS = ("Wilson", "normal", "Student", "ours")


@click.command()
@count_option("--samples", default=2000, help="Samples of each number of images.")
@click.option("--alike", default=0.2, show_default=True, help="Share of the variance that the images explain.")
def intervals(samples: int, alike: float) -> None:
    """Count the samples whose interval holds the true accuracy, and show the mean width of the intervals.

    Wilson takes questions as independent. normal and Student have the cluster-robust standard error: normal is what
    statsmodels gives with cov_type="cluster", Student with use_t=True. ours is that of `vqagen evaluate`.

    \b
    Example:
      scripts/bench intervals --samples 200
    """
    click.echo("accuracy  images  " + "  ".join(f"{name:>15}" for name in METHODS))
    for accuracy in ACCURACIES:
        for images in IMAGES:
            measured = _measure(samples, images, accuracy, alike)
            shown = "  ".join(f"{held:>7.3f} {width:>7.3f}" for held, width in measured)
            click.echo(f"{accuracy:8.2f}  {images:6,}  {shown}")


def _measure(samples: int, images: int, accuracy: float, alike: float) -> list[tuple[float, float]]:
    """Return (share of intervals that hold the accuracy, mean width) of each method."""
    generator = np.random.default_rng(0)
    spread = (1 - alike) / alike
    ease = generator.beta(accuracy * spread, (1 - accuracy) * spread, (samples, images, 1))
    scores = (generator.random((samples, images, ABOUT_AN_IMAGE)) < ease).reshape(samples, -1).astype(float)
    clusters = np.repeat(np.arange(images), ABOUT_AN_IMAGE)
    found = [clustered_mean(each, clusters) for each in scores]
    means, errors = (np.array([each[place] for each in found]) for place in (0, 1))
    groups = np.repeat(np.arange(samples), scores.shape[1])
    alone = np.arange(scores.size)
    student = student_quantiles(np.array([images - 1]))
    bounds = [
        cluster_intervals(scores.ravel(), alone, groups, samples),
        *((means - half * errors, means + half * errors) for half in (quantile(), student)),
        cluster_intervals(scores.ravel(), np.tile(clusters, samples), groups, samples),
    ]
    return [_held(low, high, accuracy) for low, high in bounds]


def _held(low: Numbers, high: Numbers, accuracy: float) -> tuple[float, float]:
    return float(np.mean((low <= accuracy) & (accuracy <= high))), float(
        np.mean(np.minimum(high, 1) - np.maximum(low, 0))
    )
