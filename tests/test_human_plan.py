"""Plans of rater studies: what every plan keeps, and what makes none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import PROGRAM, ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from naive_human_plan import faults_of_folder
from study_files import make_study, picture, write_caption_files, write_json

from vqagen.calls.human_studies import make_caption_tasks, make_item_tasks
from vqagen.errors import BadInput
from vqagen.human.study.checking import check_study
from vqagen.human.study.plan import PlanError
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.sides import FREE, directed
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
        practice=draw(small),
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
        return make_caption_tasks(out, folder / "human.json", files, folder / "images", inputs.settings).study.id
    except (BadInput, PlanError):
        assert not out.exists()
        return ""


def check_random_plan(inputs: Inputs) -> None:
    """Plan the inputs, and check the plan by both checkers."""
    with tempfile.TemporaryDirectory() as made:
        if planned(inputs, Path(made)):
            assert faults_of_folder(Path(made) / "study") == []
            assert check_study(Path(made) / "study").plan == ()


QUIETLY = [HealthCheck.too_slow]


@settings(max_examples=50, suppress_health_check=QUIETLY, derandomize=True)
@given(caption_inputs())
def test_a_plan_has_every_property_or_is_refused(inputs: Inputs) -> None:
    """Each comparison once, no picture twice in a task, exact checks, balanced sides (specification 6.1.1 to 6.1.3)."""
    check_random_plan(inputs)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=QUIETLY)
@given(caption_inputs())
def test_500_plans_have_every_property_or_are_refused(inputs: Inputs) -> None:
    """The same with other inputs in each run."""
    check_random_plan(inputs)


class RandomItems(NamedTuple):
    """Random items about a few images, and settings."""

    records: list[dict[str, Any]]
    settings: PlanSettings


@st.composite
def random_items(draw: st.DrawFn) -> RandomItems:
    """Draw comparisons of any two of three people and four systems, and texts that are rated."""
    who = st.tuples(st.sampled_from(["reference", "system"]), st.sampled_from(["a", "b", "c", "d"]))
    records = []
    for number in range(draw(st.integers(1, 25))):
        pair = draw(st.lists(who, min_size=1, max_size=2, unique=True))
        texts = [{"text": f"{number} {role} {name}", "role": role, "source": name} for role, name in pair]
        shown = {"context": {"image": f"{draw(st.integers(0, 9))}.png"}} if draw(st.integers(0, 3)) else {}
        kind = "compare" if len(pair) == 2 else "rate"
        dimension = draw(st.sampled_from(["fit", "fit", "clarity"]))
        records.append({"kind": kind, "dimension": dimension, "candidates": texts, **shown})
    small = st.integers(0, 1)
    chosen = PlanSettings(
        seed=draw(small),
        trials_per_task=draw(st.integers(1, 6)),
        checks_per_task=draw(small),
        imc_per_task=draw(small),
        raters_per_item=draw(st.integers(1, 3)),
        practice=draw(small),
    )
    return RandomItems(records, chosen)


def check_random_items(inputs: RandomItems) -> None:
    """Plan random items, and check the plan by both checkers."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "images").mkdir()
        for number in range(10):
            (folder / "images" / f"{number}.png").write_bytes(picture(number))
        write_lines(folder / "items.jsonl", inputs.records)
        try:
            make_item_tasks(folder / "study", folder / "items.jsonl", folder / "images", inputs.settings)
        except (BadInput, PlanError):
            assert not (folder / "study").exists()
            return
        assert faults_of_folder(folder / "study") == []
        assert check_study(folder / "study").plan == ()


@settings(max_examples=40, suppress_health_check=QUIETLY, derandomize=True)
@given(random_items())
def test_a_plan_of_any_items_has_every_property_or_is_refused(inputs: RandomItems) -> None:
    """Systems that are compared with each other and with people are on both sides equally often, too."""
    check_random_items(inputs)


@pytest.mark.slow
@settings(max_examples=500, suppress_health_check=QUIETLY)
@given(random_items())
def test_500_plans_of_any_items_have_every_property_or_are_refused(inputs: RandomItems) -> None:
    """The same with other items in each run."""
    check_random_items(inputs)


@settings(max_examples=60, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from(["f", "g", "a", FREE])), max_size=40))
def test_directions_leave_each_vertex_as_often_as_they_enter_it(edges: list[tuple[str, str]]) -> None:
    """Up to one edge, and but for the free vertex; the same holds of groups of vertices."""
    surplus: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    for (first, second), is_forward in zip(edges, directed(edges, group_of), strict=True):
        for vertex, change in ((first, 1), (second, -1)):
            surplus[vertex] += change if is_forward else -change
            groups[group_of(vertex)] += change if is_forward else -change

    assert all(abs(each) <= 1 for vertex, each in surplus.items() if vertex != FREE)
    assert all(abs(each) <= 1 for vertex, each in groups.items() if vertex != FREE)


def group_of(vertex: Any) -> str:
    """Return one letter for two vertices."""
    return {"a": "group", "b": "group"}.get(vertex, vertex)


# One study --------------------------------------------------------------------------------------------------------


def test_a_study_is_loaded_as_it_was_made(tmp_path: Path) -> None:
    """Each comparison stands in one task, and every rater sees each trial once."""
    study = make_study(tmp_path, systems=("ours", "human"), imc_per_task=1)
    placed = [trial.item for task in study.tasks.values() for trial in task.trials]
    real = [name for name in placed if study.items[name].use == "real"]

    assert len(real) == len(set(real)) == 24
    assert {len(task.trials) for task in study.tasks.values()} == {5}
    assert [trial.number for trial in study.trials(next(iter(study.tasks)), 1)] == [1, 2, 3, 4, 5]
    assert study.texts.placeholders() == []
    assert check_study(study.folder).faults == ()


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    """From another folder too; another seed gives another study."""
    made = [make_study(tmp_path / name, seed=seed) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    files = [
        {path.relative_to(study.folder): path.read_bytes() for path in study.folder.rglob("*") if path.is_file()}
        for study in made
    ]

    assert files[0] == files[1]
    assert made[2].id != made[0].id


def test_each_task_has_each_system_equally_often(tmp_path: Path) -> None:
    """So that differences between raters do not look like differences between systems."""
    study = make_study(tmp_path, images=16, systems=("a", "b", "c", "d"), trials_per_task=9)
    for task in study.tasks.values():
        sources = [study.items[each.item].candidates[1].source for each in task.trials]
        assert Counter(sources) == {"a": 2, "b": 2, "c": 2, "d": 2, "distractor": 1}


@pytest.mark.parametrize("systems", [("a",), ("a", "b", "c")])
def test_each_rater_sees_second_texts_on_both_sides(systems: tuple[str, ...], tmp_path: Path) -> None:
    """In each task both sides are equally frequent, up to one trial, checks included."""
    study = make_study(tmp_path, images=15, systems=systems, trials_per_task=6, human_human=True)
    for task in study.tasks.values():
        sides = [trial.second_on_right for trial in task.trials]
        assert abs(2 * sum(sides) - len(sides)) <= 1


def test_raters_of_a_task_see_its_trials_in_different_orders(tmp_path: Path) -> None:
    """Or the last trials would always be judged by tired raters."""
    study = make_study(tmp_path, images=16, trials_per_task=9, raters_per_item=4)
    for task in study.tasks:
        orders = {tuple(trial.item.id for trial in study.trials(task, slot)) for slot in range(4)}
        assert len(orders) == 4


@pytest.mark.slow
def test_a_study_does_not_depend_on_the_process(tmp_path: Path) -> None:
    """Nor on the order of hashes in it."""
    write_caption_files(tmp_path, systems=("a", "b"))
    line = "human make-tasks --human human.json --system b=b.json --system a=a.json --images images --trials-per-task 5"
    for number in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", PROGRAM, *line.split(), "--human-human", "--out", number]
        subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True)

    assert (tmp_path / "1" / "study.json").read_bytes() == (tmp_path / "2" / "study.json").read_bytes()


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


def test_a_text_that_is_rated_has_no_side(tmp_path: Path) -> None:
    """Reversing its values in odd slots would reverse its score."""
    write_lines(tmp_path / "items.jsonl", [RATED])
    study = make_item_tasks(tmp_path / "study", tmp_path / "items.jsonl", None, NO_CHECKS).study
    task = next(iter(study.tasks))

    assert [study.trials(task, slot)[0].second_on_right for slot in range(3)] == [True] * 3


# Files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["items.jsonl", "tasks.jsonl", "images.json"])
def test_a_changed_file_is_refused(name: str, tmp_path: Path) -> None:
    """A study whose trials were edited would not say what raters saw."""
    study = make_study(tmp_path)
    path = study.folder / name
    path.write_text(path.read_text("utf-8").replace("5", "6", 1), "utf-8")

    with pytest.raises(BadInput, match="changed since the study was made"):
        load_study(study.folder)


def test_all_problems_of_a_folder_are_one_message(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    (study.folder / "tasks.jsonl").unlink()
    (study.folder / "texts.json").write_text('{"titel": "x", "consent": [], "direction": "up"}', "utf-8")
    (study.folder / "serving.json").write_text('{"lease_minutes": 0, "lease_minute": 1}', "utf-8")

    with pytest.raises(BadInput) as raised:
        load_study(study.folder)
    message = str(raised.value)
    for part in (
        "tasks.jsonl: cannot read: No such file",
        "unknown key 'titel'; did you mean 'title'?",
        "consent: expected a list of paragraphs",
        "direction: expected 'ltr' or 'rtl', found 'up'",
        "unknown key 'lease_minute'; did you mean 'lease_minutes'?",
        "lease-minutes must be at least 1",
    ):
        assert part in message


@pytest.mark.parametrize(
    "change", [{"raters_per_item": 9}, {"practice": []}, {"hashes": {}}, {"info": {}}, {"study": 1}]
)
def test_a_changed_study_file_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    """The number of raters decides how sides are balanced, and the seed the order of trials."""
    study = make_study(tmp_path)
    record = json.loads((study.folder / "study.json").read_text("utf-8"))
    write_json(study.folder / "study.json", {**record, **change})

    with pytest.raises(BadInput, match=r"study\.json: changed since the study was made"):
        load_study(study.folder)


def test_an_old_version_of_a_study_is_refused(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    record = json.loads((study.folder / "study.json").read_text("utf-8"))
    write_json(study.folder / "study.json", {**record, "schema": "vqagen.human.study/0"})

    with pytest.raises(BadInput, match=r"expected 'vqagen\.human\.study/1', found 'vqagen\.human\.study/0'; make"):
        load_study(study.folder)


def write_lines(path: Path, records: list[Any]) -> None:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


RATED = {"kind": "rate", "candidates": [{"text": "Is it red?", "source": "grammar", "role": "system"}]}
NO_CHECKS = PlanSettings(checks_per_task=0)
