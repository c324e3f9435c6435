"""`vqagen director export`: balanced lists for participants, as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from generated_trials import trials

from vqagen.errors import UsageError
from vqagen.tasks.director.participant_lists import DesignCell, cell_of, csv_of, deal_lists, show_cell
from vqagen.tasks.director.reading import WrittenTrial, read_trial

CELLS = 20
Record = dict[str, Any]


@cache
def records(count: int = 480, **settings: Any) -> tuple[Record, ...]:
    """Trials with pictures; by default five of each cell of the design."""
    found, kept = Counter[DesignCell](), list[Record]()
    for record in trials(count, **settings):
        cell = cell_of(read((record,))[0])
        found[cell] += 1
        if settings or found[cell] <= 5:
            kept.append({**record, "image": f"images/{record['trial_index']:06}.png"})
    return tuple(kept)


def read(given: tuple[Record, ...]) -> list[WrittenTrial]:
    found = [read_trial(record) for record in given]
    assert all(isinstance(trial, WrittenTrial) for trial in found)
    return [trial for trial in found if isinstance(trial, WrittenTrial)]


def deal(lists: int, per_list: int, given: tuple[Record, ...] = (), **options: Any) -> list[list[WrittenTrial]]:
    return deal_lists(read(given or records()), lists, per_list, **options)


def cells(dealt: list[WrittenTrial]) -> Counter[DesignCell]:
    return Counter(map(cell_of, dealt))


# Lists ----------------------------------------------------------------------------------------------------------------


def test_each_list_has_as_many_trials_of_each_cell() -> None:
    for dealt in deal(2, 2 * CELLS):
        assert set(cells(dealt).values()) == {2}
        assert len(cells(dealt)) == CELLS


@pytest.mark.slow
def test_what_is_left_over_goes_round() -> None:
    """Cells differ by at most one trial in each list and in all; types differ by at most one in each list."""
    for lists, per_list in ((4, 14), (1, 1), (7, 5), (4, 19)):
        dealt = deal(lists, per_list)
        total = sum((cells(each) for each in dealt), Counter())

        assert [len(each) for each in dealt] == [per_list] * lists
        for counts in (*map(cells, dealt), total):
            numbers = [counts[cell] for cell in cells(read(records()))]
            assert max(numbers) - min(numbers) <= 1
        for each in dealt:
            types = Counter(trial.type for trial in each)
            assert abs(types["test"] - types["control"]) <= 1


def test_the_seed_decides_the_trials_and_their_order() -> None:
    """And nothing else; the order is not that of the file, nor of the cells."""
    first, again, other = ([[each.index for each in dealt] for dealt in deal(2, 40, seed=seed)] for seed in (1, 1, 2))

    assert first == again != other
    assert {len(each) for each in first} == {40}
    for dealt in deal(2, 40, seed=1):
        assert [each.index for each in dealt] != sorted(each.index for each in dealt)
        assert list(map(cell_of, dealt)) != sorted(map(cell_of, dealt))


def test_a_cell_that_runs_out_is_named() -> None:
    short = [("test", "horizontal", frame, True) for frame in ("director", "participant")]
    of_cells = {cell: [each for each in records() if cell_of(read((each,))[0]) == cell] for cell in short}
    kept = tuple(each for each in records() if not any(each in of_cell[2:] for of_cell in of_cells.values()))
    with pytest.raises(UsageError) as caught:
        deal(4, CELLS, kept)
    first, *told = str(caught.value).splitlines()

    assert first.startswith("trials run out in 2 of 20 cells for 4 lists of 20 trials; make more trials, or fewer")
    there = Counter(map(cell_of, read(kept)))
    assert told == [f"  {show_cell(cell)}: 4 needed, {there[cell]} there" for cell in short]
    assert show_cell(short[0]) == "(test, horizontal, director's view, physics)"


@pytest.mark.quick(1)
@pytest.mark.parametrize(("count", "lists"), [(0, 1), (32, 33), (32, 10**12)])
def test_more_lists_than_trials_are_refused_at_once(count: int, lists: int) -> None:
    with pytest.raises(UsageError, match=rf"too few trials for {lists:,} list.*: there are {count}; make more trials"):
        deal_lists(read(records()[:count]), lists, 1)


# Pairs ----------------------------------------------------------------------------------------------------------------


def pairs_together(dealt: list[list[WrittenTrial]]) -> int:
    """How many pairs are in one list."""
    return sum(number > 1 for each in dealt for number in Counter(trial.pair for trial in each).values())


@pytest.mark.quick(1)
@pytest.mark.parametrize("seed", range(2))
def test_pairs_are_kept_apart(seed: int) -> None:
    """Also if nearly all trials are used, so that the second half must go where the partners are not."""
    given = records(128, paired=True)
    cell_count = len(cells(read(given)))
    rest = min(cells(read(given)).values()) // 2

    assert pairs_together(deal(2, cell_count * rest, given, seed=seed)) == 0


def test_pairs_that_cannot_be_kept_apart_are_refused() -> None:
    given = records(128, paired=True)
    size = len(cells(read(given))) * (min(cells(read(given)).values()))

    with pytest.raises(UsageError, match=r"pairs cannot be kept apart: list 1 has the partners"):
        deal(1, size, given)


def test_a_trial_is_exchanged_where_only_partners_are_left() -> None:
    """Three pairs fill three lists of a control and a test, and the last list may be left with its own partner."""
    kinds = [next(each for each in records() if each["trial_type"] == kind) for kind in ("control", "test")]
    same = {key: kinds[0][key] for key in ("rule_class", "rule", "frame", "is_physics")}
    given = tuple(
        {**kind, **same, "trial_index": 3 * number + pair, "pair": pair}
        for number, kind in enumerate(kinds)
        for pair in range(3)
    )
    for seed in range(20):
        dealt = deal(3, 2, given, seed=seed)
        assert pairs_together(dealt) == 0
        assert sorted(trial.index for each in dealt for trial in each) == list(range(6))


# CSV ------------------------------------------------------------------------------------------------------------------


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_says_what_a_trial_is() -> None:
    dealt = deal(2, CELLS)
    found = rows(csv_of(dealt))
    by_number = {record["trial_index"]: record for record in records()}

    assert [(row["list"], row["position"]) for row in found] == [
        (str(number), str(position)) for number in (1, 2) for position in range(1, CELLS + 1)
    ]
    for row in found:
        record = by_number[int(row["trial_index"])]
        assert row["instruction"] == record["instruction"]
        assert (row["correct"], row["egocentric"]) == (record["answer"], " ".join(record["participant_answers"]))
        assert row["no_director_instruction"] == record["no_director"]["instruction"]
        assert row["no_director_correct"].split() == record["no_director"]["answers"]
        assert row["is_physics"] == ("true" if record["is_physics"] else "false")
        for key in ("image", "trial_type", "rule_class", "rule", "frame"):
            assert row[key] == (record[key] or "")


def test_no_text_is_a_formula_and_all_come_back() -> None:
    """A spreadsheet runs what begins like a formula; an apostrophe makes it text."""
    texts = {text: "'" + text.replace("\r", "\n") for text in ("=1+1", "+cmd", "-2", "@sum", "\tx", "\rx")}
    other = 'Nimm, bitte, das "größte" Buch — 書.\nJetzt.'
    for text, shown in (texts | {other: other}).items():
        (row,) = rows(csv_of([read(({**records()[0], "instruction": text},))]))
        assert row["instruction"] == shown


# The command ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    write_trials(records())
    return vqagen_


def write_trials(given: tuple[Record, ...]) -> None:
    Path("trials").mkdir(exist_ok=True)
    Path("trials/trials.jsonl").write_text("".join(json.dumps(record) + "\n" for record in given), "utf-8")


EXPORT = "director export trials --lists 2 --per-list 20 --seed 4"


def test_the_command_writes_a_table_and_its_info(vqagen_: Commands) -> None:
    ran = vqagen_.done(f"{EXPORT} --out lists.csv")
    info = json.loads(Path("lists.csv.info.json").read_bytes())

    assert ran.err == "2 lists, 40 trials in all\n"
    assert Path("lists.csv").read_bytes() == csv_of(deal(2, 20, seed=4)).encode()
    assert info["generator"]["settings"] == {"lists": 2, "per_list": 20, "seed": 4}
    assert info["generator"]["inputs"]["trials"].startswith("sha256:")


def test_every_broken_trial_is_named(vqagen_: Commands) -> None:
    write_trials(({**records()[0], "answer": "Z9"}, records()[1], {**records()[2], "frame": "me"}, records()[1]))
    ran = vqagen_(f"{EXPORT} --out lists.csv")

    assert ran.code == 3
    assert [line.partition("trials.jsonl: ")[2] for line in ran.err.splitlines()] == [
        "trials[0].answer: 'Z9' is no cell of a grid of 4 x 4",
        "trials[2].frame: expected director, participant or null, found 'me'",
        "trials[3].trial_index: trial 1 is there twice",
    ]
