"""`vqagen director generate`: the design's shares, the laws, pairs, and bad input."""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from handmade_trials import views_of

import vqagen
from vqagen.rng import stream
from vqagen.tasks.director.design import Design, ExactShares, number_of_trials
from vqagen.tasks.director.pictures import TrialPictures
from vqagen.tasks.director.policies import POLICIES, expected_accuracy
from vqagen.tasks.director.settings import DirectorSettings

Record = dict[str, Any]


class Stopped(BaseException):
    """Ends a run in this process."""


def contents(folder: str) -> dict[str, bytes]:
    """Name -> content of each file in a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


# The design -----------------------------------------------------------------------------------------------------------

SHARES = [(0.5, 0.5), (0.25,) * 4, (0.3, 0.7), (0.1, 0.2, 0.3, 0.4), (0.05, 0.9, 0.05), (1.0,), (1 / 3, 2 / 3)]


def test_after_any_number_of_draws_each_share_is_off_by_less_than_one() -> None:
    """Tijdeman's bound, at every step of 500."""
    for seed, shares in product(range(2), SHARES):
        deal, drawn = ExactShares(shares, stream(seed, "test")), Counter[int]()
        for draws in range(1, 501):
            drawn[deal.draw()] += 1
            assert all(abs(drawn[number] - draws * share) < 1 for number, share in enumerate(shares))


def test_every_part_of_the_design_has_its_share() -> None:
    """Types, rule classes inside types, frames inside these, and so on, for uneven shares too."""
    settings = DirectorSettings(count=960, test_share=0.3, size_share=0.1, vertical_share=0.2, physics_share=0.4)
    cells = [cell for cell, _ in zip(Design(settings, 0).cells(), range(960), strict=False)]

    types = Counter(cell.is_test for cell in cells)
    classes = Counter((cell.is_test, cell.rule_class) for cell in cells)
    frames = Counter((cell.is_test, cell.frame) for cell in cells if cell.rule_class == "horizontal")
    assert types == {True: 288, False: 672}
    assert abs(classes[True, "size"] - 28.8) < 1
    assert abs(classes[False, "none"] - 672 * 0.45) < 1
    assert abs(frames[False, "director"] - classes[False, "horizontal"] * 0.5) < 1
    assert {cell.frame for cell in cells if cell.rule_class != "horizontal"} == {None}


def test_the_design_counts_what_a_run_makes() -> None:
    """Also of a part that begins inside a window."""
    settings = DirectorSettings(count=200, start_index=900, seed=4, physics_share=0.3, width=3)
    made = Counter(
        (record["trial_type"] == "test", record["rule"], record["frame"], record["is_physics"])
        for record in vqagen.trials(count=200, start_index=900, seed=4, physics_share=0.3, width=3)
    )
    numbers = number_of_trials(settings, 960)

    assert {(cell.is_test, cell.rule, cell.frame, cell.is_physics): numbers[cell] for cell in numbers} == made


# The laws -------------------------------------------------------------------------------------------------------------

KINDS = {
    "plain": {},
    "paired": {"paired": True},
    "relational": {"questions": "relational"},
    "paired relational": {"questions": "relational", "paired": True},
    "loose": {"compat": "reference"},
    "wide": {"width": 7, "height": 5},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_runs_laid_end_to_end_equal_one_run(kind: str) -> None:
    """Any cut, inside a window and across its end; no two trials of a window are the same."""
    whole = list(vqagen.trials(count=1000, seed=5, **KINDS[kind]))
    looks = Counter(json.dumps([each["instruction"], each["cells"], each["blocked"]]) for each in whole[:960])
    assert max(looks.values()) == 1

    cuts = [0, 2, 962, 1000]
    parts = []
    for first, end in pairwise(cuts):
        parts += vqagen.trials(start_index=first, count=end - first, seed=5, **KINDS[kind])
    assert parts == whole
    assert [record["trial_index"] for record in whole] == list(range(1000))


@pytest.mark.slow
def test_a_run_that_is_stopped_between_pictures_is_finished_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records and its pictures, across the end of a window; without `resume` nothing of it is touched."""
    monkeypatch.chdir(tmp_path)
    settings = DirectorSettings(start_index=957, count=6, seed=2, render=("svg", "md"))
    vqagen.write_trials("whole", settings)
    draw, drawn = TrialPictures.draw, Counter[str]()

    def stop(pictures: TrialPictures, number: int, *grid: Any) -> dict[str, bytes]:
        drawn["trials"] += 1
        if drawn["trials"] == 5:
            raise Stopped
        return draw(pictures, number, *grid)

    with monkeypatch.context() as patched, pytest.raises(Stopped):
        patched.setattr(TrialPictures, "draw", stop)
        vqagen.write_trials("stopped", settings)
    assert not Path("stopped").exists()
    with pytest.raises(vqagen.UsageError, match="resume"):
        vqagen.write_trials("stopped", settings)
    vqagen.write_trials("stopped", settings, options=vqagen.RunOptions(resume=True))

    assert contents("stopped") == contents("whole")


# Pairs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("questions", ["superlative", "relational"])
def test_one_block_moves_in_a_pair_and_the_answer_with_it(questions: str) -> None:
    """All else is the same, counts too; with a rule one is a control trial. Their order does not give away which."""
    records = list(vqagen.trials(count=480, seed=7, paired=True, questions=questions))
    first = Counter(record["trial_type"] for record in records[::2] if record["rule"] != "none")
    assert 0.35 < first["test"] / first.total() < 0.65

    same = ("pair", "cells", "instruction", "template", "rule", "frame", "counts")
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert [one[key] for key in same] == [other[key] for key in same]
        moved = set(one["blocked"]) ^ set(other["blocked"])
        assert moved == {one["answer"], other["answer"]}
        types = sorted((one["trial_type"], other["trial_type"]))
        assert types == (["test", "test"] if one["rule"] == "none" else ["control", "test"])


# Loose trials ---------------------------------------------------------------------------------------------------------


def test_trials_by_the_looser_rules_keep_their_types_and_numbers() -> None:
    """An idle adjective is left out of most of them."""
    trials = list(vqagen.trials(count=300, seed=4, compat="reference"))
    for trial in trials:
        assert (trial["participant_answers"] == [trial["answer"]]) == (trial["trial_type"] == "control")
        assert trial["counts"]["items"] == 10

    assert sum(len(trial["adjectives"]) < 2 for trial in trials) > 250
    assert len(list(vqagen.trials(count=8, fill=0.13, compat="reference"))) == 8, "a target and one other item suffice"


# Decoys ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_answer_is_not_the_item_most_like_the_others() -> None:
    """Who never reads the instruction and looks for alike items is wrong in three of four trials."""
    views = [views_of(record) for record in vqagen.trials(count=fewer(960), seed=1)]
    right = sum(expected_accuracy(POLICIES["look-alike"][1], one) for one in views)

    assert right / len(views) < 0.3


@pytest.mark.slow
def test_where_blocked_items_stand_does_not_show_the_type() -> None:
    """Who only knows that the topmost item is meant, and sees how high blocked items stand, is right in 75 % at most.

    When decoys were of the type of their trial, this was 92 %.
    """
    heights = []
    for trial in vqagen.trials(count=960, seed=3, size_share=0, vertical_share=1, horizontal_share=0):
        rows = [
            int(label[1:])
            for label in trial["blocked"]
            if trial["cells"]["ABCD".index(label[0]) + 4 * int(label[1:]) - 4]
        ]
        upwards = -1 if trial["rule"] == "topmost" else 1
        heights.append((upwards * sum(rows) / len(rows), trial["trial_type"] == "test"))

    best = max(sum((height > bar) == is_test for height, is_test in heights) for bar, _ in heights)
    assert best / len(heights) < 0.75


# Bad input ------------------------------------------------------------------------------------------------------------

USAGE = [
    ("--width 9", ["--width must be at most 8, found 9"]),
    ("--height 1", ["--height must be at least 2, found 1"]),
    ("--fill 1.5 --blocked nan", ["--fill must be a share from 0 to 1, found 1.5", "--blocked must be a share"]),
    ("--size-share 0.5 --vertical-share 0.6", ["together at most 1"]),
    ("--render gif", ["--render must be one of png, svg, md, ascii, json, none, found 'gif'"]),
    ("--compat reference --paired", ["--compat reference has neither pairs nor relational questions"]),
    ("--paired", ["--start-index and --count must be even"]),
    ("--height 2", ["  control and test trials, topmost and bottommost, no physics and physics: needs more rows"]),
    ("--fill 0.1", ["control and test trials, smallest and largest", "needs 3 items, and --fill 0.1 makes 1"]),
    ("--blocked 0", ["needs 1 blocked cell, and --blocked 0 makes 0"]),
    ("--questions relational --fill 1", ["needs 1 cell without an item, found 0"]),
    ("--catalogue lost.json", ["catalogue not found: lost.json"]),
    ("--templates lost", ["lost"]),
]


def test_wrong_usage_is_reported_at_once_and_nothing_is_written(vqagen_: Commands) -> None:
    """All that is wrong, and the cell of the design for which nothing can be made; exit code 2 (lost files: 3)."""
    unlike = []
    for options, messages in USAGE:
        ran = vqagen_(f"director generate --count 11 --out t {options}")
        is_lost = "lost" in options
        if ran.code != (3 if is_lost else 2) or not all(message in ran.err for message in messages):
            unlike.append((options, ran.code, ran.err))

    assert unlike == []
    assert os.listdir() == []


def test_a_design_without_enough_different_trials_ends_with_a_message(vqagen_: Commands) -> None:
    """Two items of one kind on four cells cannot give 900 trials."""
    catalogue = json.loads((Path(vqagen.__file__).parents[1] / "metadata/director.json").read_text("utf-8"))
    kinds = {name: catalogue["kinds"][name] for name in ("apple", "coin")}
    colors = [{"class": "color", "values": {"red": {"paint": "#dd0000"}}}]
    other = [each for each in catalogue["adjectives"] if each["class"] != "color"]
    small = {**catalogue, "kinds": kinds, "adjectives": [*other, *colors], "sizes": [1.0]}
    small.pop("nouns")
    Path("small.json").write_text(json.dumps(small), "utf-8")

    shares = "--size-share 0 --vertical-share 0 --horizontal-share 0 --physics-share 0"
    ran = vqagen_(f"director generate --count 900 --width 2 --height 2 {shares} --catalogue small.json --out t")

    assert ran.code == 2
    assert "100 draws in a row made a trial again" in ran.err
