"""`vqagen human import`: the figures are HUMANr's, and all that its data has lost is named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from humanr_data import Dump, Tasks, ids, naive_figures, oriented, random_data, trial, worked_data, write_humanr_files

from vqagen.human.answers import read_rows
from vqagen.human.humanr_import import FINDINGS

LINE = "human import redis.json --tasks comparison_tasks.json --out answers"


def figures(vqagen_: Commands) -> dict[str, tuple[float, float]]:
    """Return HUMANr's figures of the imported answers by type."""
    tables = json.loads(vqagen_.done("human score answers --method humanr --json").out)["tables"]
    return {row["comparison"]: (row["HUMANr"], row["printed"]) for row in tables["humanr"]["rows"]}


def findings() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(Path("answers/import.json").read_text())
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("seed", range(2))
def test_figures_are_those_of_humanr(vqagen_: Commands, seed: int) -> None:
    """On data with repeated images, missing answers and failed checks, by another reading of its rules."""
    tasks, dump = random_data(seed)
    write_humanr_files(Path(), tasks, dump)
    vqagen_.done(LINE)

    expected = naive_figures(tasks, dump)
    found = figures(vqagen_)
    assert found.keys() == expected.keys()
    for kind, pair in expected.items():
        assert found[kind] == pytest.approx(pair, abs=1e-9)
    assert findings()["ambiguous"]


def test_results_give_the_same_figures(vqagen_: Commands) -> None:
    """The CSV has no tasks, and its first column is a row number."""
    tasks, dump = worked_data()
    write_results(tasks, dump)
    vqagen_.done("human import results.csv --out answers")

    found, expected = figures(vqagen_), naive_figures(tasks, dump)
    assert found.keys() == expected.keys()
    assert all(found[kind] == pytest.approx(pair) for kind, pair in expected.items())
    assert findings() == {kind: [] for kind in FINDINGS}


def write_results(tasks: Tasks, dump: Dump) -> None:
    rows: list[dict[str, Any]] = []
    for link, answers in dump.items():
        for shown in tasks[link]:
            value = int(answers[shown["image"]])
            kind, score = oriented(shown, value)
            named = {key: answers[key] for key in ("assignmentID", "hitID", "workerID")}
            rows.append({"": len(rows), **shown, "type": kind, "raw_score": value, "score": score, **named})
    with open("results.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_no_worker_id_is_in_the_output(vqagen_: Commands) -> None:
    write_humanr_files(Path())
    ran = vqagen_.done(LINE)

    written = [*Path("answers").iterdir()]
    assert sorted(path.name for path in written) == ["answers.jsonl", "import.json"]
    assert not any(b"WORKER" in path.read_bytes() for path in written)
    assert ran.err == "40 answers in answers\n"
    assert len({row.rater for row in read_rows("answers")}) == 6


def test_lost_and_ambiguous_answers_are_counted_and_named(vqagen_: Commands) -> None:
    """A link that shows an image twice keeps one answer, and nobody knows to which trial."""
    tasks = {
        "aa": [trial("x.png", "human", "A"), trial("y.png", "A", "human"), trial("x.png", "correct", "distractor")],
        "bb": [trial("z.png", "human", "A")],
    }
    write_humanr_files(Path(), tasks, {"aa": {**ids("1", "1"), "x.png": "9"}})

    ran = vqagen_.done(LINE)
    assert findings() == {
        "ambiguous": ["link aa: one answer about x.png for trials 1, 3"],
        "lost": [
            "link bb has no answers",
            "link aa, trial 2: no answer about y.png",
            "link aa, trial 3: x.png was shown before, one answer is kept",
        ],
        "rejected": [],
        "skipped": [],
        "unnamed": [],
    }
    assert "vqagen: 1 ambiguous: may be about another trial" in ran.err
    assert "vqagen: 3 lost: trials without an answer" in ran.err
    assert [(row.trial, row.state) for row in read_rows("answers")] == [(1, "expired")]

    vqagen_.done(f"{LINE} --drop-ambiguous --force")
    assert list(read_rows("answers")) == []


NAMED: list[tuple[str, Any, str, str]] = [
    ("aa", {**ids("1", "1"), "x.png": "999"}, "rejected", "link aa, trial 1: '999' is no value from 1 to 9"),
    ("aa", {**ids("1", "1"), "x.png": "five"}, "rejected", "link aa, trial 1: 'five' is no value from 1 to 9"),
    ("aa", {**ids("1", "1"), "q.png": "3"}, "rejected", "link aa: 'q.png' is no image of the task"),
    ("aa", "text", "skipped", "key aa is no hash: 'text'"),
    ("hacked", {"x": "9999"}, "skipped", "key hacked is no link of the tasks"),
    ("aa", {"x.png": "3"}, "unnamed", "link aa has no worker id: its rater counts as one of its own"),
]


def test_what_stopped_humanr_is_named(vqagen_: Commands) -> None:
    """Anyone could write such answers; the reference then cancels the whole study."""
    missing = []
    for link, answers, kind, message in NAMED:
        write_humanr_files(Path(), {"aa": [trial("x.png", "human", "A")]}, {link: answers})
        vqagen_.done(f"{LINE} --force")
        if message not in findings()[kind]:
            missing.append((message, findings()))
    assert missing == []


REFUSED: list[tuple[Any, Any, str, int, str]] = [
    ([], {}, LINE, 3, "comparison_tasks.json: no file of HUMANr: Expected `object`, got `array`"),
    ({"aa": 3}, {}, LINE, 3, "comparison_tasks.json: aa: no file of HUMANr: Expected `array`, got `int`"),
    ({"aa": [{"image": "x"}]}, {}, LINE, 3, "aa: no file of HUMANr: Object missing required field `c1_text`"),
    ({}, [], LINE, 3, "redis.json: no file of HUMANr: Expected `object`, got `array`"),
    ({}, {}, "human import redis.json --out answers", 2, "give the tasks, comparison_tasks.json"),
    ({}, {}, "human import plain.csv --out answers", 3, "plain.csv: no result of HUMANr: lacks the columns image, c1"),
    ({}, {}, "human import plain.csv --tasks redis.json --out answers", 2, "leave out redis.json"),
    ({}, {}, LINE.replace("redis", "broken"), 3, "broken.json: no file of HUMANr: Input data was truncated"),
    ({}, {}, "human import nowhere.json --out answers", 3, "cannot read nowhere.json"),
    ({}, {}, LINE.replace("--out answers", "--out mine"), 2, "output folder mine holds other files than an export"),
]


def test_files_of_other_programs_and_calls_that_cannot_work_are_refused(vqagen_: Commands) -> None:
    Path("plain.csv").write_text("a,b\n1,2\n")
    Path("broken.json").write_text("{")
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("mine")
    wrong = []
    for tasks, dump, line, code, message in REFUSED:
        write_humanr_files(Path(), tasks, dump)
        ran = vqagen_(line)
        if ran.code != code or message not in ran.err:
            wrong.append((message, ran))

    assert wrong == []
    assert not Path("answers").exists()
