"""Plans of rater studies: what every plan keeps, and what makes none."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from oracles.human_plan import plan_faults
from study_files import make_study, picture, write_json

from vqagen.errors import BadInput, VqagenError
from vqagen.human.settings import PlanSettings
from vqagen.human.store.opening import study_lock
from vqagen.human.study import making
from vqagen.human.study.item import INSTRUCTED
from vqagen.human.study.making import extend_study, make_caption_tasks, make_item_tasks
from vqagen.human.study.study import load_study


class Inputs(NamedTuple):
    """A random study of captions."""

    pictures: list[int]
    """The picture of each image; equal numbers are copies of one file."""
    captions: list[int]
    """How many human captions each image has."""
    systems: int
    settings: PlanSettings


@st.composite
def caption_inputs(draw: st.DrawFn) -> Inputs:
    """Draw images, captions and settings, among them many that no plan fits."""
    number = draw(st.integers(1, 14))
    small = st.integers(0, 2)
    chosen = PlanSettings(
        seed=draw(st.integers(0, 5)),
        num_images=draw(st.sampled_from([0, 0, 3, 8])),
        trials_per_task=draw(st.integers(1, 8)),
        checks_per_task=draw(small),
        imc_per_task=draw(small),
        raters_per_item=draw(st.integers(1, 4)),
        human_human=draw(st.booleans()),
    )
    pictures = draw(st.lists(st.integers(0, 30), min_size=number, max_size=number))
    captions = draw(st.lists(st.integers(1, 3), min_size=number, max_size=number))
    return Inputs(pictures, captions, draw(st.integers(1, 4)), chosen)


def planned(inputs: Inputs, folder: Path) -> str:
    """Plan the inputs in a folder; return the study's id, or "" if no plan fits them."""
    (folder / "images").mkdir()
    names = [f"{number}.png" for number in range(len(inputs.pictures))]
    for name, shown in zip(names, inputs.pictures, strict=True):
        (folder / "images" / name).write_bytes(picture(shown))
    human = {
        name: [f"text {number} of picture {name}" for number in range(count)]
        for name, count in zip(names, inputs.captions, strict=True)
    }
    write_json(folder / "human.json", human)
    systems = [("human", "correct", "b", "c")[place] for place in range(inputs.systems)]
    for system in systems:
        write_json(folder / f"{system}_.json", {name: f"{system} on {name}" for name in names})
    files = {system: folder / f"{system}_.json" for system in systems}
    out = folder / "study"
    try:
        return make_caption_tasks(out, folder / "human.json", files, folder / "images", inputs.settings)[0].id
    except BadInput:
        assert not out.exists()
        return ""


QUIETLY = [HealthCheck.too_slow]


@settings(max_examples=80, deadline=None, suppress_health_check=QUIETLY, derandomize=True)
@given(caption_inputs())
def test_a_plan_has_every_property_or_is_refused(inputs: Inputs) -> None:
    """Each comparison once, no picture twice in a task, exact checks, balanced sides (specification 6.1.1 to 6.1.3)."""
    with tempfile.TemporaryDirectory() as made:
        if planned(inputs, Path(made)):
            assert list(plan_faults(load_study(Path(made) / "study"))) == []


RandomItems = tuple[list[dict[str, Any]], PlanSettings]
"""Items about a few images, and settings."""


@st.composite
def random_items(draw: st.DrawFn) -> RandomItems:
    """Draw comparisons of any two of three people and four systems, texts that are rated, questions and dialogs."""
    who = st.tuples(st.sampled_from(["reference", "system"]), st.sampled_from(["a", "b", "c", "d"]))
    image = st.sampled_from(["", *(f"{number}.png" for number in range(10))])
    records: list[dict[str, Any]] = [
        {**question(f"Before {number}?"), "use": "before"} for number in range(draw(st.integers(0, 2)))
    ]
    for number in range(draw(st.integers(1, 25))):
        shown = {"image": draw(image)}
        pair = draw(st.lists(who, max_size=2, unique=True))
        texts = [{"text": f"{number} {role} {name}", "role": role, "source": name} for role, name in pair]
        if texts:
            dimension = draw(st.sampled_from(["fit", "fit", "clarity"]))
            kind = "compare" if len(pair) == 2 else "rate"
            records.append({"kind": kind, "dimension": dimension, "candidates": texts, **shown})
        else:
            rounds = draw(st.sampled_from([1, 1, 2, 4]))
            for place in range(rounds):
                asked = {**question(f"{number}, {place}?"), **shown, "gold": {"answer": "yes"}}
                records.append({**asked, "series": f"s{number}", "place": -place} if rounds > 1 else asked)
    records += [{**question("After?"), "use": "after"}] * draw(st.integers(0, 1))
    small = st.integers(0, 1)
    chosen = PlanSettings(
        seed=draw(small),
        trials_per_task=draw(st.integers(1, 6)),
        checks_per_task=draw(small),
        imc_per_task=draw(small),
        raters_per_item=draw(st.integers(1, 3)),
    )
    return records, chosen


@settings(max_examples=60, deadline=None, suppress_health_check=QUIETLY, derandomize=True)
@given(random_items())
def test_a_plan_of_any_items_has_every_property_or_is_refused(inputs: RandomItems) -> None:
    """Systems that are compared with each other and with people are on both sides equally often, too; dialogs stand
    together."""
    with tempfile.TemporaryDirectory() as made:
        folder, study = Path(made), Path(made) / "study"
        (folder / "images").mkdir()
        for number in range(10):
            (folder / "images" / f"{number}.png").write_bytes(picture(number))
        write_lines(folder / "items.jsonl", inputs[0])
        try:
            make_item_tasks(study, folder / "items.jsonl", folder / "images", inputs[1])
        except BadInput:
            assert not study.exists()
            return
        assert list(plan_faults(load_study(study))) == []


# One study --------------------------------------------------------------------------------------------------------


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    """From another folder too; another seed gives another study."""
    made = [make_study(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    files = [
        {path.relative_to(study.folder): path.read_bytes() for path in study.folder.rglob("*") if path.is_file()}
        for study in made
    ]

    assert files[0] == files[1]
    assert made[2].id != made[0].id


def test_raters_of_a_task_see_its_trials_in_different_orders(tmp_path: Path) -> None:
    """Or the last trials would always be judged by tired raters."""
    study = make_study(tmp_path, images=16, trials_per_task=9, raters_per_item=4)
    for task in study.tasks:
        orders = {tuple(trial.item.id for trial in study.trials(task, slot)) for slot in range(4)}
        assert len(orders) == 4


def test_a_check_shows_a_human_caption_that_no_comparison_shows(tmp_path: Path) -> None:
    """As long as there is one."""
    study = make_study(tmp_path, images=12, systems=("a", "b"))
    scored = {each.text for item in study.items.values() if item.use == "real" for each in item.candidates}
    right = [item.candidates[0].text for item in study.items.values() if item.use == "check"]

    assert len(right) == 6
    assert scored.isdisjoint(right)


def test_practice_shows_images_that_are_not_scored_if_there_are_any(tmp_path: Path) -> None:
    study = make_study(tmp_path, images=12, num_images=9)
    scored = {item.image for item in study.items.values() if item.use == "real"}

    assert len(study.practice) == 2
    assert scored.isdisjoint(item.image for item in study.practice)


def test_instructed_trials_ask_for_any_value_but_the_middle(tmp_path: Path) -> None:
    """In each task as many as were asked for, all different, with the words of the study on both sides."""
    study = make_study(tmp_path, trials_per_task=10, imc_per_task=8, human_human=True)
    for task in study.tasks:
        asked = [trial for trial in study.trials(task, 0) if trial.item.use == INSTRUCTED]
        values = [trial.item.gold.value for trial in asked if trial.item.gold]
        assert sorted(map(int, filter(None, values))) == [1, 2, 3, 4, 6, 7, 8, 9]
        for trial, value in zip(asked, values, strict=True):
            assert trial.item.prompt == f"This trial is about reading. Please choose the number {value}."
            assert set(trial.texts) == {f"In this trial, please choose the number {value} on the scale below."}


# Files ------------------------------------------------------------------------------------------------------------


TEXTS_WITH_MISTAKES = (
    '{"titel": "x", "consent": [], "direction": "up", "values": {"pay": "by {{contact}}", "contact": 1}}'
)


def test_all_problems_of_a_folder_are_one_message(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    (study.folder / "tasks.jsonl").unlink()
    (study.folder / "texts.json").write_text(TEXTS_WITH_MISTAKES, "utf-8")
    (study.folder / "serving.json").write_text(
        '{"lease_minutes": 0, "lease_minute": 1, "redirect_completed": "http://x"}', "utf-8"
    )

    with pytest.raises(BadInput) as raised:
        load_study(study.folder)
    message = str(raised.value)
    for part in (
        "tasks.jsonl: No such file",
        "unknown key 'titel'; did you mean 'title'?",
        "consent: expected a list of at least 1, found a list of 0",
        "direction: expected 'ltr' or 'rtl', found 'up'",
        "values.pay: expected a value without {{…}}, as it is shown, found 'by {{contact}}'",
        "values.contact: expected text, found 1",
        "redirect_completed must be an address that begins with https://, found 'http://x'",
        "unknown key 'lease_minute'; did you mean 'lease_minutes'?",
        "lease_minutes: lease-minutes must be at least 1",
    ):
        assert part in message


def test_a_changed_study_is_refused(tmp_path: Path) -> None:
    """A study that was edited would not say what raters saw, nor how sides are balanced."""
    study = make_study(tmp_path)
    record = json.loads((study.folder / "study.json").read_text("utf-8"))
    kept, told = {file: file.read_bytes() for file in study.folder.glob("*.json*")}, []

    def refusal() -> str:
        with pytest.raises(BadInput) as raised:
            load_study(study.folder)
        for file, content in kept.items():
            file.write_bytes(content)
        return str(raised.value)

    for change in ({"raters_per_item": 9}, {"hashes": {}}, {"info": {}}, {"study": "x"}, {"study": 1}):
        write_json(study.folder / "study.json", {**record, **change})
        told.append(refusal())
    for name in ("items.jsonl", "tasks.jsonl", "images.jsonl"):
        (study.folder / name).write_bytes((study.folder / name).read_bytes() + b"\n")
        told.append(refusal())
    assert [each for each in told if "changed since the study was made" not in each] == []
    write_json(study.folder / "study.json", {**record, "schema": "vqagen.human.study/1"})
    assert "expected 'vqagen.human.study/2', found 'vqagen.human.study/1'; make" in refusal()


def write_lines(path: Path, records: list[Any]) -> None:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


def question(text: str) -> dict[str, Any]:
    """Return an item that asks for one of two answers."""
    return {"kind": "answer", "prompt": text, "form": {"type": "options", "options": ["yes", "no"]}}


# Extensions -------------------------------------------------------------------------------------------------------


def contents(folder: Path) -> dict[str, bytes]:
    """Return name -> content of the files of a study but its lock and `study.json`."""
    kept = (path for path in folder.rglob("*") if path.is_file() and path.name not in (".lock", "study.json"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def test_raters_are_added_to_a_study(tmp_path: Path) -> None:
    """No file of the study changes but `study.json`: trials that raters may have seen stay as they are."""
    before = make_study(tmp_path, images=9, systems=("a", "b"), imc_per_task=1, raters_per_item=3)
    files = contents(before.folder)
    after = extend_study(before.folder, 5)

    assert list(plan_faults(after)) == []
    assert (after.id, after.slots, after.tasks, after.items) == (before.id, 5, before.tasks, before.items)
    for task in before.tasks:
        assert [after.trials(task, slot) for slot in range(3)] == [before.trials(task, slot) for slot in range(3)]
    assert contents(after.folder) == files
    assert [each["raters_per_item"] for each in extend_study(before.folder, 6).info["extensions"]] == [5, 6]


def test_what_would_change_a_study_is_no_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer raters, a study that is served, and a full disk leave the study as it was."""
    study = make_study(tmp_path)
    for number in (2, 3):
        with pytest.raises(VqagenError, match=rf"must be more than the 3 that each task has; found {number}"):
            extend_study(study.folder, number)
    with study_lock(study.folder), pytest.raises(VqagenError, match="is in use by process"):
        extend_study(study.folder, 4)
    with monkeypatch.context() as patched:
        patched.setattr(making, "_content", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(VqagenError, match=r"cannot write .*: No space left on device"):
            extend_study(study.folder, 4)
    assert load_study(study.folder) == study


# The oracle -------------------------------------------------------------------------------------------------------
