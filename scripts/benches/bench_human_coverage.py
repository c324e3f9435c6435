"""Measures how often the 95 % intervals of simulated rater studies hold the true figure."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations, product
from math import hypot, sqrt
from statistics import NormalDist
from typing import Any

import choix
import click
import numpy as np
from bench_costs import count_option

from vqagen.human.answers import AnswerRow
from vqagen.human.demo import IMAGE_SD, NOISE, RATER_SD, Raters
from vqagen.human.scores.methods import strengths
from vqagen.human.scores.report import score_rows
from vqagen.human.scores.samples import difference, rivals
from vqagen.human.settings import ScoreSettings
from vqagen.human.study.item import COMPARE, FIT, REAL, REFERENCE, SYSTEM, Candidate, Scale, StudyItem
from vqagen.human.study.study import ShownTrial
from vqagen.rng import stream

IMAGES = 40
"""Images of a study, which each rater sees in each comparison."""
TRUE: Mapping[str, float] = {"A": -0.3, "B": 0.1, "C": 0.0}
"""Systems, and their true scores against the reference."""
SCALE = Scale()
FARTHEST, HALVINGS = 4.0, 40
"""Opinions lie between -4 and 4; halved 40 times, that is exact to 1e-11."""
SPREAD = hypot(RATER_SD, IMAGE_SD, NOISE)
LEAST, MOST = 0.93, 0.97
PAIRS = list(
    combinations([Candidate("a text", "people", REFERENCE), *(Candidate("a text", n, SYSTEM) for n in TRUE)], 2)
)
Found = tuple[str, float, Any, Any]
"""The name of a figure, its true value, and the bounds of its interval."""


@click.command()
@count_option("--studies", default=200, help="Simulated studies of each number of raters.")
@count_option("--raters", default=(6, 20), multiple=True, help="A number of raters; can be repeated.")
@click.option("--seed", default=1, show_default=True, help="Other seeds simulate other studies.")
def coverage(studies: int, raters: tuple[int, ...], seed: int) -> None:
    """Count the intervals that hold the true figure, and show their mean width; exit code 1 if not 93 to 97 % do.

    Raters compare three systems with a reference and with each other, each on 40 images. Raters and images differ
    as much as those of `vqagen human demo`. Figures are the scores of the systems (means), differences of these, and
    the strengths of the systems by Bradley and Terry. Chance moves a share of 200 studies by 1.5 %: try several seeds,
    or more studies.

    \b
    Example:
      scripts/bench human coverage --studies 50
    """
    names = ("means", "differences", "strengths")
    click.echo("raters  " + "  ".join(f"{name:>13}" for name in names))
    is_missed = False
    for number in raters:
        held: dict[str, list[tuple[bool, float]]] = {name: [] for name in names}
        for study in range(studies):
            rng = stream(seed, f"human/coverage/{number}", study)
            for name, true, low, high in _findings(number, rng.getrandbits(62)):
                assert low is not None and high is not None, "a study of several raters has intervals"
                held[name].append((low <= true <= high, high - low))
        figures = [np.mean(held[name], axis=0) for name in names]
        click.echo(f"{number:6,}  " + "  ".join(f"{share:>6.1%} {width:.3f}" for share, width in figures))
        is_missed |= any(not LEAST <= share <= MOST for share, _ in figures)
    sys.exit(is_missed)


def _findings(raters: int, seed: int) -> Iterator[Found]:
    """Yield the figures of a simulated study."""
    scores = score_rows(list(_rows(raters, seed)), ScoreSettings())
    for pairing, name in scores.names.items():
        if pairing.is_against_reference:
            yield "means", TRUE[name], *scores.estimates[pairing][6:8]
    for pair in rivals(scores.samples):
        apart = difference(*(scores.samples[each] for each in pair))
        yield "differences", TRUE[scores.names[pair[0]]] - TRUE[scores.names[pair[1]]], apart.low, apart.high
    for row in strengths(scores.samples)[1:]:
        yield "strengths", _true_strengths()[str(row[0])], row[5], row[6]


def _rows(raters: int, seed: int) -> Iterator[AnswerRow]:
    """Yield the answers of simulated raters."""
    simulated = Raters(seed, dict(zip(TRUE, _opinions(), strict=True)))
    for number, (place, pair) in product(range(raters), enumerate(PAIRS)):
        rater = f"r{number}"
        for image in range(IMAGES):
            item = StudyItem(id=f"{place}/{image}", image=f"i{image}", candidates=pair, scale=SCALE)
            value = simulated.answer(rater, ShownTrial(1, item, second_on_right=True))
            assert isinstance(value, int)
            yield AnswerRow(
                assignment=rater,
                rater=rater,
                task="",
                slot=0,
                state="complete",
                trial=1,
                item=item.id,
                image=item.image,
                kind=COMPARE,
                use=REAL,
                dimension=FIT,
                value=value,
                second_on_right=True,
                toward_second=value,
                least=SCALE.least,
                largest=SCALE.largest,
                first_source=pair[0].source,
                first_role=pair[0].role,
                second_source=pair[1].source,
                second_role=pair[1].role,
            )


@cache
def _opinions() -> tuple[float, ...]:
    """Return the mean opinion of each system: the scale cuts opinions off, so that -0.34 has a mean score of -0.3."""
    return tuple(map(_opinion_for, TRUE.values()))


def _opinion_for(score: float) -> float:
    """Return the mean opinion whose expected score is `score`."""
    low, high = -FARTHEST, FARTHEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _expected_score(middle) < score else (low, middle)
    return (low + high) / 2


def _expected_score(opinion: float) -> float:
    """Return the mean score of normal opinions on the scale: rounded to its values, and cut off at its ends."""
    half, opinions = (SCALE.largest - SCALE.least) / 2, NormalDist(opinion, SPREAD)
    steps = [(value + 0.5 - SCALE.center) / half for value in range(SCALE.least, SCALE.largest)]
    return 1 - sum(map(opinions.cdf, steps)) / half


@cache
def _true_strengths() -> dict[str, float]:
    """Return the strengths that fit the chances of the model, if each comparison has as many answers.

    A rater likes all systems as much, so that only images and noise matter between two of them.
    """
    between, opinions = hypot(sqrt(2) * IMAGE_SD, NOISE), (0.0, *_opinions())
    half_step = 1 / (SCALE.largest - SCALE.least)
    beaten = np.zeros((len(opinions), len(opinions)))
    for first, second in combinations(range(len(opinions)), 2):
        gap = NormalDist(opinions[second] - opinions[first], between if first else SPREAD)
        beaten[second, first] = (1 - gap.cdf(half_step) + 1 - gap.cdf(-half_step)) / 2
        beaten[first, second] = 1 - beaten[second, first]
    found = choix.ilsr_pairwise_dense(beaten)
    return dict(zip(TRUE, (found[1:] - found[0]).tolist(), strict=True))
