"""Items for raters from questions and dialogs, and the proofs that wrong texts of checks are wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from io import BytesIO
from itertools import groupby
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from msgspec.structs import replace
from PIL import Image, ImageChops
from study_files import picture

import vqagen
from vqagen.human.answers import answer_rows, read_rows
from vqagen.human.demo import RATERS, demonstrate
from vqagen.human.export.folder import commonest
from vqagen.human.items.settings import ItemSettings
from vqagen.human.raters import Raters, simulated_facts
from vqagen.human.store.opening import open_log, read_facts
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.item import (
    AFTER,
    BEFORE,
    CHECK,
    REAL,
    REFERENCE,
    SYSTEM,
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
SCENES = 20


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 20 scenes, questions about them, dialogs of two systems, longer dialogs, and director trials."""
    folder = tmp_path_factory.mktemp("made")
    scenes = folder / "scenes.json"
    vqagen.write_scenes(scenes, vqagen.SamplingSettings(count=SCENES, seed=3))
    vqagen.write_questions(scenes, folder / "questions.json")
    for seed, name in enumerate(("people", "ours", "theirs")):
        settings = vqagen.DialogSettings(seed=seed, rounds=1)
        vqagen.write_dialogs(scenes, folder / f"{name}.json", settings=settings)
    vqagen.write_dialogs(scenes, folder / "dialogs.json", settings=vqagen.DialogSettings(rounds=4, dialogs_per_image=2))
    vqagen.write_trials(folder / "trials", vqagen.DirectorSettings(count=6, width=4, height=3, render=("png",)))
    return folder


@pytest.fixture(scope="module")
def scenes(made: Path) -> Scenes:
    """The record of each scene by the name of its picture."""
    return {scene["image_filename"]: scene for scene in json.loads((made / "scenes.json").read_text())["scenes"]}


def of_captions(made: Path, **settings: Any) -> list[StudyItem]:
    systems = {"ours": made / "ours.json", "theirs": made / "theirs.json"}
    return vqagen.make_items(made / "scenes.json", made / "people.json", systems, ItemSettings(**settings))


# Checks -------------------------------------------------------------------------------------------------------------


def counted(steps: Sequence[Sequence[str]], objects: Sequence[Mapping[str, Any]]) -> int:
    """Count the objects that filters leave, by plain loops over the scene's record."""
    assert (steps[0], steps[-1]) == (["scene"], ["count"])
    wanted = [(name.removeprefix("filter_"), value) for name, value in steps[1:-1]]
    return sum(all(each[attribute] == value for attribute, value in wanted) for each in objects)


def is_proven(proof: str, scene: Mapping[str, Any]) -> bool:
    """True if a proof says that a program leaves nothing of a scene, and plain loops say so too."""
    found = re.fullmatch(r"program (\[.*\]) gives 0", proof)
    return found is not None and counted(json.loads(found[1]), scene["objects"]) == 0


def test_wrong_texts_of_checks_are_untrue_of_their_scenes(made: Path, scenes: Scenes) -> None:
    """Plain loops run the proof again: no object is left of what the text takes for granted."""
    checked = 0
    for seed in range(fewer(6, 3)):
        for item in of_captions(made, seed=seed, per_image=0):
            assert item.use == CHECK and item.gold is not None
            assert is_proven(item.gold.reason, scenes[item.image]), item.gold.reason
            checked += 1
    assert checked > 2 * SCENES


# Comparisons --------------------------------------------------------------------------------------------------------


def test_captions_of_systems_are_compared_with_a_reference(made: Path) -> None:
    items = [item for item in of_captions(made, per_image=1) if item.use == REAL]

    assert len(items) == 2 * SCENES
    assert {tuple((each.source, each.role) for each in item.candidates) for item in items} == {
        (("reference", REFERENCE), ("ours", SYSTEM)),
        (("reference", REFERENCE), ("theirs", SYSTEM)),
    }
    assert all(item.candidates[0].text != item.candidates[1].text for item in items)


# Answers ------------------------------------------------------------------------------------------------------------


def to_answer(made: Path, file: str, **settings: Any) -> list[StudyItem]:
    """Return items to answer; of a file of trials, the scenes do not count."""
    return vqagen.make_items(made / "scenes.json", made / file, settings=ItemSettings(**{"per_image": 2} | settings))


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
    planned = vqagen.make_item_tasks(made / "study", made / "answers.jsonl", made / "pictures", settings).study
    with closing(open_log(planned.store, planned.id, create=True)) as log:
        log.append(StudyState().take(simulated_facts(planned, Raters(), 4, 1)))
    return planned


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


def test_items_are_planned_with_their_proven_checks(vqagen_: Commands, tmp_path: Path, scenes: Scenes) -> None:
    """The same seed gives the same bytes; no check is made by make-tasks itself."""
    line = "human items people.json --system ours=ours.json --scenes scenes.json"
    for name in ("one.jsonl", "two.jsonl"):
        vqagen_.done(f"{line} --out {tmp_path / name}")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()

    images, study = tmp_path / "images", tmp_path / "study"
    draw_plainly(Path("scenes.json"), images)
    vqagen_.done(
        f"human make-tasks --items {tmp_path / 'one.jsonl'} --images {images} --out {study} --trials-per-task 4"
    )
    checks = [item for item in vqagen.load_study(study).items.values() if item.use == CHECK]
    assert checks
    assert all(item.gold is not None and is_proven(item.gold.reason, scenes[item.image]) for item in checks)


REFUSED = [
    ("", 2, "nothing to ask: name a file to answer, or dialogs of two sources"),
    ("--system a=ours.json", 2, "found ours.json holds dialogs"),
    ("questions.json --system a=ours.json", 2, "found questions.json holds questions, ours.json holds dialogs"),
    ("people.json --system reference=ours.json", 2, "a system cannot be called 'reference'"),
    ("questions.json --compare answers", 2, "was removed in version 2.0: leave it out: a file alone is answered"),
    ("nowhere.json", 3, "nowhere.json"),
    ("questions.json --per-image -1", 2, "--per-image"),
    ("people.json --system ours", 2, "--system 'ours' is not of the form NAME=FILE"),
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
    """Its mistakes are proven, its answers are exported, and a place is left for the reader."""
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

    scenes = {scene["image_filename"]: scene for scene in json.loads((top / "scenes.json").read_text())["scenes"]}
    mistakes = json.loads((top / "mistakes.json").read_text())
    assert mistakes.keys() == scenes.keys()
    assert all(is_proven(mistake["proof"], scenes[image]) for image, mistake in mistakes.items())
    careless = [item for item in study.items.values() if item.candidates and item.candidates[-1].source == "careless"]
    assert all(item.candidates[-1].text == mistakes[item.image.removeprefix("images/")]["caption"] for item in careless)


def test_a_folder_that_exists_is_left_alone(vqagen_: Commands, tmp_path: Path) -> None:
    ran = vqagen_(f"human demo --out {tmp_path}")

    assert (ran.code, ran.out) == (2, b"")
    assert "must be a new folder, in one that exists; name it with --out" in ran.err
