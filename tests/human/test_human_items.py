"""Items for raters from questions, dialogs and director trials; and the demonstration."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from io import BytesIO
from itertools import groupby
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from commands import Commands
from msgspec.structs import replace
from PIL import Image, ImageChops
from study_files import picture

import vqagen
from vqagen.human.answers import answer_rows, read_rows
from vqagen.human.demo import RATERS, Raters, demonstrate, simulated_facts
from vqagen.human.export import commonest
from vqagen.human.settings import ItemSettings
from vqagen.human.store.opening import open_log, read_facts
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.item import (
    AFTER,
    BEFORE,
    CHECK,
    REAL,
    CellForm,
    ChoiceForm,
    NumberForm,
    StudyItem,
)
from vqagen.human.study.study import Study
from vqagen.pictures.canvas import GridStyle
from vqagen.pictures.grid_picture import GridPainter
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.pictures import looks_of

FILES = ("questions.json", "dialogs.json", "trials")
Scenes = dict[str, dict[str, Any]]
SCENES = 5


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenes, questions and dialogs about them, and director trials."""
    folder = tmp_path_factory.mktemp("made")
    scenes = folder / "scenes.json"
    vqagen.write_scenes(scenes, vqagen.SamplingSettings(count=SCENES, seed=3))
    vqagen.write_questions(scenes, folder / "questions.json")
    vqagen.write_dialogs(scenes, folder / "dialogs.json", settings=vqagen.DialogSettings(rounds=4, dialogs_per_image=2))
    vqagen.write_trials(folder / "trials", vqagen.DirectorSettings(count=6, width=4, height=3, render=("png",)))
    return folder


# Answers ------------------------------------------------------------------------------------------------------------


def to_answer(made: Path, file: str, **settings: Any) -> list[StudyItem]:
    """Return items to answer; of a file of trials, the scenes do not count."""
    return vqagen.make_items(made / "scenes.json", made / file, ItemSettings(**{"per_image": 2} | settings))


@pytest.fixture(scope="module")
def answered(made: Path) -> dict[str, list[StudyItem]]:
    """Items to answer, by the file."""
    return {file: to_answer(made, file) for file in FILES}


def test_a_question_has_the_form_of_its_answer(answered: dict[str, list[StudyItem]]) -> None:
    """yes and no, numbers from 0 on, or all values of one attribute in the order of the metadata; of dialogs, none."""
    domain = vqagen.load_domain_files().domain
    values = {value: attribute.values for attribute in domain.attributes for value in attribute.values}
    for file, further in (("questions.json", ()), ("dialogs.json", ("none",))):
        forms = {(item.gold.answer or "", item.form) for item in answered[file] if item.gold}
        assert len({type(form) for _, form in forms}) == 2
        for right, form in forms:
            if right in ("yes", "no"):
                assert form == ChoiceForm(("yes", "no"))
            elif right.isdecimal():
                assert form == NumberForm(0, 10)
            elif right != "none":
                assert form == ChoiceForm((*values[right], *further))


def test_hidden_answers_leave_the_form(made: Path, answered: dict[str, list[StudyItem]]) -> None:
    """The template tells it."""
    vqagen.write_questions(made / "scenes.json", made / "hidden.json", form=vqagen.RecordForm(hide_answers=True))
    hidden = to_answer(made, "hidden.json")

    assert all(item.gold is None for item in hidden)
    assert [(each.prompt, each.form) for each in hidden] == [
        (each.prompt, each.form) for each in answered["questions.json"]
    ]


def test_a_round_follows_the_caption_and_the_rounds_before_it(made: Path, answered: dict[str, list[StudyItem]]) -> None:
    """These have their right answers; a dialog is one series, of which at most as many as asked for are of an image."""
    dialogs = json.loads((made / "dialogs.json").read_text())["dialogs"]
    items = {(item.record["dialog_index"], item.record["round"]): item for item in answered["dialogs.json"]}

    assert len(items) == 4 * len(dialogs)
    for dialog in dialogs:
        said = [(dialog["caption"]["text"], "")]
        for place, asked in enumerate(dialog["rounds"]):
            item = items[dialog["dialog_index"], place]
            assert [(each.text, each.answer) for each in item.history] == said
            assert (item.prompt, item.place) == (asked["question"], place)
            assert (item.series, item.image) == (f"dialog {dialog['dialog_index']}", dialog["image_filename"])
            said.append((asked["question"], str(asked["answer"])))
    assert len({item.series for item in to_answer(made, "dialogs.json", per_image=1)}) == SCENES


def test_cells_lie_where_they_are_drawn(made: Path, answered: dict[str, list[StudyItem]]) -> None:
    """An item is added to each cell of an empty grid: the pixels that change lie in that cell."""
    painter = GridPainter(looks_of(load_catalogue_file()), GridStyle(4, 3, figure=True))
    name = next(iter(load_catalogue_file().by_name))
    empty = Image.open(BytesIO(painter.png([None] * 12, [True] * 12))).convert("RGB")
    form = answered["trials"][0].form
    assert isinstance(form, CellForm) and (form.rows, form.columns) == (3, 4)
    left, top, width, height = form.area
    for number in range(12):
        cells = [name if place == number else None for place in range(12)]
        filled = Image.open(BytesIO(painter.png(cells, [True] * 12))).convert("RGB")
        changed = ImageChops.difference(empty, filled).getbbox()
        assert changed is not None
        corner = left + number % 4 * width / 4, top + number // 4 * height / 3
        x, y = (share * side for share, side in zip(corner, empty.size, strict=True))
        assert x <= changed[0] < x + 60 < changed[2] <= x + 120
        assert y <= changed[1] < changed[3] <= y + 120


def test_cells_with_an_item_can_be_chosen_blocked_or_not(made: Path, answered: dict[str, list[StudyItem]]) -> None:
    for item, line in zip(answered["trials"], (made / "trials" / "trials.jsonl").read_text().splitlines(), strict=True):
        trial = json.loads(line)
        assert isinstance(item.form, CellForm)
        filled = [f"{'ABCD'[place % 4]}{place // 4 + 1}" for place, name in enumerate(trial["cells"]) if name]
        assert [cell for cell in item.form.cells if cell] == filled
        assert (item.image, item.gold and item.gold.answer) == (trial["image"], trial["answer"])
        assert trial["instruction"] in item.prompt


def draw_plainly(scenes: Path, out: Path, files: object = None) -> None:
    """Draw each scene in one color, which takes no time."""
    out.mkdir()
    for number, record in enumerate(json.loads(scenes.read_text())["scenes"]):
        (out / record["image_filename"]).write_bytes(picture(number))


@pytest.fixture(scope="module")
def study(made: Path, answered: dict[str, list[StudyItem]]) -> Study:
    """A study of all that is answered, with the answers of four simulated raters."""
    draw_plainly(made / "scenes.json", made / "pictures")
    copytree(made / "trials" / "images", made / "pictures" / "images")
    vqagen.write_items([item for items in answered.values() for item in items], made / "answers.jsonl")
    settings = vqagen.PlanSettings(raters_per_item=4, trials_per_task=30)
    planned = vqagen.make_item_tasks(made / "study", made / "answers.jsonl", made / "pictures", settings)[0]
    with closing(open_log(planned.store, planned.id, create=True)) as log:
        log.append(StudyState().take(simulated_facts(planned, Raters(), 4, 1)))
    return planned


@pytest.mark.quick(1)
@pytest.mark.parametrize("file", FILES)
def test_answers_of_people_are_scored_like_those_of_a_model(made: Path, study: Study, file: str) -> None:
    """A rater's predictions are right where the answer is the gold one; those of all are the commonest answers."""
    export = made / "export"
    vqagen.export_study(study.folder, export, force=True)
    dimension = file.partition(".")[0]
    rows = [row for row in read_rows(export) if row.dimension == dimension]

    own = {row.item: (row.value, row.gold) for row in rows if row.rater == "rater0001"}
    ordered = groupby(sorted(rows, key=lambda row: row.item), key=lambda row: row.item)
    common = {
        item: (commonest(of_item), of_item[0].gold) for item, of_item in ((item, [*each]) for item, each in ordered)
    }
    for name, given in (("rater0001", own), ("people", common)):
        scored = vqagen.evaluate(made / file, export / "predictions" / dimension / f"{name}.jsonl", missing="skip")
        assert scored.correct.sum() == sum(str(value) == gold for value, gold in given.values()) > 0
        assert scored.overall().n == len(given)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([3, 12, 12], 12),
        ([12, 3], 3),
        (["red", "Blue ", "blue"], "Blue "),
        (["yes", "no"], "no"),
    ],
)
def test_the_commonest_answer_is_predicted(study: Study, given: list[int | str], expected: int | str) -> None:
    """Case and outer space do not count; ties go to the smallest number or the first word."""
    row = next(answer_rows(study, StudyState(read_facts(study.store, study.id))))
    assert commonest([replace(row, value=value) for value in given]) == expected


# The command --------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(made: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder with questions and dialogs."""
    monkeypatch.chdir(made)
    return Commands(capsysbinary)


REFUSED = [
    ("", 2, "missing argument 'QUESTIONS|DIALOGS|TRIALS'"),
    ("dialogs.json --system a=ours.json", 2, "was removed in version 2.0: `vqagen human make-tasks --human FILE"),
    ("questions.json --compare answers", 2, "was removed in version 2.0: leave it out: items are answered"),
    ("nowhere.json", 3, "nowhere.json"),
    ("questions.json --per-image -1", 2, "--per-image"),
    ("drawn/trials.jsonl", 3, "trials[0]: no PNG picture of the participant's view"),
]


def test_items_that_cannot_be_made_say_why(vqagen_: Commands, tmp_path: Path) -> None:
    vqagen.write_trials("drawn", vqagen.DirectorSettings(count=1, render=("png",), view="director"))
    wrong = []
    for line, code, message in REFUSED:
        ran = vqagen_(f"human items {line} --scenes scenes.json --out {tmp_path / 'items.jsonl'}")
        if ran.code != code or message not in ran.err:
            wrong.append((line, ran))

    assert wrong == []
    assert not (tmp_path / "items.jsonl").exists()
    assert "--scenes is missing" in vqagen_(f"human items questions.json -o {tmp_path / 'items.jsonl'}").err


# The demonstration ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_demonstration_has_every_kind_of_trial(tmp_path: Path) -> None:
    """Its answers are exported, and a place is left for the reader."""
    top = tmp_path / "demo"
    report = demonstrate(top)

    study = vqagen.load_study(top / "study")
    (task,) = study.tasks.values()
    kinds = Counter((item.use, item.kind, type(item.form).__name__) for item in study.items.values())
    assert study.slots == RATERS + 1
    assert len(read_rows(top / "export")) == RATERS * len(task.trials)
    assert {row["comparison"] for row in report.to_record()["tables"]["scores"]["rows"]} >= {
        "careful over reference",
        "careless over reference",
    }
    assert kinds[REAL, "compare", "NoneType"] == 6 and kinds[REAL, "rate", "NoneType"] == 2
    assert kinds[REAL, "answer", "CellForm"] == 2 and kinds[CHECK, "compare", "NoneType"] == 1
    assert kinds[BEFORE, "answer", "NumberForm"] == kinds[AFTER, "answer", "TextForm"] == 1
    assert len([item for item in study.items.values() if item.series]) == 3
    assert {name.parent.name for name in top.glob("export/predictions/*/people.jsonl")} == {
        "questions",
        "dialogs",
        "trials",
    }


def test_a_folder_that_exists_is_left_alone(vqagen_: Commands, tmp_path: Path) -> None:
    ran = vqagen_(f"human demo --out {tmp_path}")

    assert (ran.code, ran.out) == (2, b"")
    assert "must be a new folder, in one that exists; name it with --out" in ran.err
