"""Shards K/N: how they are written, and where a run is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from vqagen.errors import UsageError
from vqagen.run.windows import Shard, Span, parse_shard, plan_shard

RUNS = st.tuples(st.integers(0, 40), st.integers(1, 60), st.integers(0, 12), st.integers(1, 60)).filter(
    lambda run: run[3] <= run[1]
)
"""First scene, how many there are, size of a window, how many shards."""


def cuts(first: int, there: int, window: int, of: int) -> list[Span]:
    """All shards of a run over `there` scenes."""
    return [plan_shard(Shard(number, of), Span(first, there), there, window).own for number in range(1, of + 1)]


@pytest.mark.parametrize(("text", "shard"), [("3/8", Shard(3, 8)), ("1/1", Shard(1, 1)), ("08/10", Shard(8, 10))])
def test_a_shard_is_written_as_k_of_n(text: str, shard: Shard) -> None:
    assert parse_shard(text) == shard


@pytest.mark.parametrize("text", ["0/8", "9/8", "3/0", "3", "a/b", "", "/", "3/", "-1/8", "3/8/9", "3 / 8", "1.0/2"])
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_shard(text)

    assert str(refused.value) == f"--shard must be K/N with K from 1 to N, such as 3/8; found {text!r}"


@given(RUNS)
def test_every_scene_is_in_one_shard(run: tuple[int, int, int, int]) -> None:
    """Shards follow each other from the run's first scene to its last, and none is empty."""
    first, there, _, _ = run
    spans = cuts(*run)

    assert spans[0].first == first
    assert all(span.first + span.length == after.first for span, after in pairwise(spans))
    assert spans[-1].first + spans[-1].length == first + there
    assert all(span.length > 0 for span in spans)


def test_a_cut_leaves_a_border_for_each_later_one() -> None:
    """The nearest border to a third of the way is the last but one, which the second cut needs."""
    assert cuts(249, 501, 250, 3) == [Span(249, 1), Span(250, 250), Span(500, 250)]


def test_a_cut_is_at_the_border_that_is_nearest_to_its_share() -> None:
    """Also if that is the last one."""
    assert cuts(0, 38, 10, 3) == [Span(0, 10), Span(10, 20), Span(30, 8)]


def test_two_cuts_are_not_at_one_border() -> None:
    """Both are nearest to the border at 3."""
    assert cuts(0, 7, 3, 3) == [Span(0, 3), Span(3, 3), Span(6, 1)]


@given(RUNS)
def test_cuts_are_at_the_borders_of_windows_if_there_are_enough(run: tuple[int, int, int, int]) -> None:
    first, there, window, of = run
    borders = [index for index in range(first + 1, first + there) if window and index % window == 0]
    begins = [span.first for span in cuts(*run)[1:]]

    assert len(borders) < of - 1 or all(begin in borders for begin in begins)


@given(RUNS)
def test_shards_are_as_even_as_their_cuts_allow(run: tuple[int, int, int, int]) -> None:
    """Within one scene, or, on the borders of windows, no larger than an even share and a window."""
    _, there, window, of = run
    spans = cuts(*run)
    lengths = [span.length for span in spans]

    if window and all(span.first % window == 0 for span in spans[1:]):
        assert max(lengths) < there / of + window
    else:
        assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(("asked", "length"), [(0, 0), (60, 20), (100, 60)])
def test_the_last_shard_ends_as_the_run_does(asked: int, length: int) -> None:
    """All that follow stays all that follow, and what was asked for beyond the input is still asked for."""
    shards = [plan_shard(Shard(number, 3), Span(100, asked), 60, 0).own for number in (1, 2, 3)]

    assert shards == [Span(100, 20), Span(120, 20), Span(140, length)]


@pytest.mark.parametrize(("asked", "there", "least"), [(0, 5, 5), (4, 5, 4), (9, 5, 5), (0, 0, 0)])
def test_more_shards_than_scenes_are_refused(asked: int, there: int, least: int) -> None:
    with pytest.raises(UsageError) as refused:
        plan_shard(Shard(1, 6), Span(0, asked), there, 250)

    assert str(refused.value) == f"--shard 1/6: there are more shards than scenes ({least})"
