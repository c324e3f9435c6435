"""`vqagen director generate`: the design's shares, the laws, pairs, and bad input."""

from __future__ import annotations

import json
import os
from collections import Counter
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from generated_trials import trials

import vqagen
from vqagen.tasks.director.design import cell_shares
from vqagen.tasks.director.pictures import TrialPictures
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


@pytest.mark.quick(1)
@pytest.mark.parametrize("given", [{}, {"test_share": 0.3, "size_share": 0.1, "physics_share": 0.4}, {"paired": True}])
def test_each_part_of_the_design_has_about_its_share(given: dict[str, Any]) -> None:
    """Types inside rule classes, and physics; without a rule, tests are three times as likely."""
    records = trials(fewer(960, least=480), **given)
    settings = DirectorSettings(count=len(records), **given)
    made = Counter((record["trial_type"] == "test", record["rule_class"]) for record in records)
    shares = cell_shares(settings)

    assert sum(shares.values()) == pytest.approx(1)
    assert made.keys() == shares.keys()
    assert {cell: made[cell] / len(records) for cell in shares} == pytest.approx(shares, abs=0.05)
    assert sum(record["is_physics"] for record in records) / len(records) == pytest.approx(
        settings.physics_share, abs=0.06
    )
    frames = Counter(record["frame"] for record in records if record["rule_class"] == "horizontal")
    draws = frames.total() / (2 if settings.paired else 1)  # the trials of a pair share their instruction
    assert frames["director"] / frames.total() == pytest.approx(0.5, abs=4 * sqrt(0.25 / draws))
    assert {record["frame"] for record in records if record["rule_class"] != "horizontal"} == {None}


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
    whole = list(vqagen.trials(count=250, seed=5, **KINDS[kind]))
    looks = Counter(json.dumps([each["instruction"], each["cells"], each["blocked"]]) for each in whole[:240])
    assert max(looks.values()) == 1

    cuts = [0, 2, 242, 250]
    parts = []
    for first, end in pairwise(cuts):
        parts += vqagen.trials(start_index=first, count=end - first, seed=5, **KINDS[kind])
    assert parts == whole
    assert [record["trial_index"] for record in whole] == list(range(250))


@pytest.mark.slow
def test_a_run_that_is_stopped_between_pictures_is_finished_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records and its pictures, across the end of a window; without `resume` nothing of it is touched."""
    monkeypatch.chdir(tmp_path)
    settings = DirectorSettings(start_index=237, count=6, seed=2, render=("svg", "md"))
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
def test_in_a_pair_only_what_is_blocked_and_the_answer_differ(questions: str) -> None:
    """With a rule one is a control trial. Their order does not give away which."""
    records = trials(fewer(480, least=160), seed=7, paired=True, questions=questions)
    first = Counter(record["trial_type"] for record in records[::2] if record["rule"] != "none")
    assert 0.35 < first["test"] / first.total() < 0.65

    same = ("pair", "cells", "instruction", "template", "rule", "frame")
    for one, other in zip(records[::2], records[1::2], strict=True):
        assert [one[key] for key in same] == [other[key] for key in same]
        assert one["answer"] != other["answer"]
        assert set(one["blocked"]) != set(other["blocked"])
        types = sorted((one["trial_type"], other["trial_type"]))
        assert types == (["test", "test"] if one["rule"] == "none" else ["control", "test"])


# Loose trials ---------------------------------------------------------------------------------------------------------


def test_trials_by_the_looser_rules_keep_their_types_and_numbers() -> None:
    """A target and one other item suffice; in some tests the participant's best item is as good as the answer."""
    made = trials(fewer(300, least=100), compat="reference")
    for trial in made:
        assert (trial["participant_answers"] == [trial["answer"]]) == (trial["trial_type"] == "control")
        assert trial["counts"]["items"] == 10

    ties = [trial for trial in made if trial["rule"] != "none" and len(trial["participant_answers"]) > 1]
    assert any(trial["answer"] in trial["participant_answers"] for trial in ties)
    assert len(list(vqagen.trials(count=8, fill=0.13, compat="reference"))) == 8


# Bad input ------------------------------------------------------------------------------------------------------------

USAGE = [
    ("--width 9", ["--width must be at most 8, found 9"]),
    ("--height 1", ["--height must be at least 2, found 1"]),
    ("--fill 1.5 --blocked nan", ["--fill must be a share from 0 to 1, found 1.5", "--blocked must be a share"]),
    ("--size-share 0.5 --vertical-share 0.6", ["together at most 1"]),
    ("--render gif", ["--render must be one of png, svg, md, ascii, json, none, found 'gif'"]),
    ("--compat reference --paired", ["--compat reference has neither pairs nor relational questions"]),
    ("--paired", ["--start-index and --count must be even"]),
    ("--height 2", ["  control trials, vertical: needs more rows", "  test trials, vertical: needs more rows"]),
    ("--width 2", ["  control trials, horizontal: needs more columns", "such grids have about --size-share 0."]),
    ("--fill 0.1", ["a trial needs 3 items, and --fill 0.1 makes 1"]),
    ("--blocked 0", ["a trial needs 1 blocked cell, and --blocked 0 makes 0"]),
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

    shares = "--test-share 1 --size-share 0 --vertical-share 0 --horizontal-share 0 --physics-share 0"
    ran = vqagen_(f"director generate --count 900 --width 2 --height 2 {shares} --catalogue small.json --out t")

    assert ran.code == 2
    assert "20 draws in a row made a trial again" in ran.err
