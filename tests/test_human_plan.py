"""Plans of rater studies: what every plan keeps, and what makes none."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from study_files import make_study, picture, write_json
from vqagen.calls.human_studies import make_caption_tasks, make_item_tasks
from vqagen.human.study.checking import check_study
from vqagen.human.study.invariants import plan_faults
from vqagen.human.study.item_record import identified

from vqagen.errors import BadInput
from vqagen.human.study.item import CHECK, INSTRUCTED, Gold
from vqagen.human.study.plan import PlanError
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.human.study.trial import PlannedTrial, Task


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
        return make_caption_tasks(out, folder / "human.json", files, folder / "images", inputs.settings).study.id
    except (BadInput, PlanError):
        assert not out.exists()
        return ""


def check_random_plan(inputs: Inputs) -> None:
    """Plan the inputs, and check the plan, by rules that do not know how it was made."""
    with tempfile.TemporaryDirectory() as made:
        if planned(inputs, Path(made)):
            assert check_study(Path(made) / "study").plan == ()


QUIETLY = [HealthCheck.too_slow]


@settings(max_examples=80, suppress_health_check=QUIETLY, derandomize=True)
@given(caption_inputs())
def test_a_plan_has_every_property_or_is_refused(inputs: Inputs) -> None:
    """Each comparison once, no picture twice in a task, exact checks, balanced sides (specification 6.1.1 to 6.1.3)."""
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
    )
    return RandomItems(records, chosen)


def check_random_items(inputs: RandomItems) -> None:
    """Plan random items, and check the plan, by rules that do not know how it was made."""
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
        assert check_study(folder / "study").plan == ()


@settings(max_examples=80, suppress_health_check=QUIETLY, derandomize=True)
@given(random_items())
def test_a_plan_of_any_items_has_every_property_or_is_refused(inputs: RandomItems) -> None:
    """Systems that are compared with each other and with people are on both sides equally often, too."""
    check_random_items(inputs)


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


def test_a_text_that_is_rated_has_no_side(tmp_path: Path) -> None:
    """Reversing its values in odd slots would reverse its score."""
    write_lines(tmp_path / "items.jsonl", [RATED])
    study = make_item_tasks(tmp_path / "study", tmp_path / "items.jsonl", None, NO_CHECKS).study
    task = next(iter(study.tasks))

    assert [study.trials(task, slot)[0].second_on_right for slot in range(3)] == [True] * 3


# Files ------------------------------------------------------------------------------------------------------------


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

    for change in ({"raters_per_item": 9}, {"practice": []}, {"hashes": {}}, {"info": {}}, {"study": 1}):
        write_json(study.folder / "study.json", {**record, **change})
        told.append(refusal())
    for name in ("items.jsonl", "tasks.jsonl", "images.json"):
        (study.folder / name).write_bytes((study.folder / name).read_bytes() + b"\n")
        told.append(refusal())
    assert [each for each in told if "changed since the study was made" not in each] == []
    write_json(study.folder / "study.json", {**record, "schema": "vqagen.human.study/0"})
    assert "expected 'vqagen.human.study/1', found 'vqagen.human.study/0'; make" in refusal()


def write_lines(path: Path, records: list[Any]) -> None:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")


RATED = {"kind": "rate", "candidates": [{"text": "Is it red?", "source": "grammar", "role": "system"}]}
NO_CHECKS = PlanSettings(checks_per_task=0)


# What `vqagen human check` finds ------------------------------------------------------------------------------------

Change = Callable[[Study], Study]


@pytest.fixture(scope="module")
def planned_study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study without faults."""
    return make_study(tmp_path_factory.mktemp("study"), systems=("a", "b"), imc_per_task=1, raters_per_item=2)


def first_of(study: Study, use: str) -> Any:
    """Return the first item of a use."""
    return next(item for item in study.items.values() if item.use == use)


def with_item(study: Study, item: Any, **changes: Any) -> Study:
    """Return the study with another content of an item, under a new id that fits it."""
    changed = replace(item, **changes)
    changed = identified(changed, study.images[changed.image].sha256 if changed.image else "")
    items = {
        changed.id if name == item.id else name: changed if name == item.id else each
        for name, each in study.items.items()
    }
    tasks = {
        name: Task(
            name, tuple(replace(each, item=changed.id) if each.item == item.id else each for each in task.trials)
        )
        for name, task in study.tasks.items()
    }
    return replace(study, items=items, tasks=tasks)


def with_trials(study: Study, change: Callable[[list[PlannedTrial]], object]) -> Study:
    """Return the study with a change of the trials of its first task."""
    name, task = next(iter(study.tasks.items()))
    trials = list(task.trials)
    change(trials)
    return replace(study, tasks={**study.tasks, name: Task(name, tuple(trials))})


def without(use: str) -> Change:
    """Return the change that takes the trials of a use out of the first task."""

    def change(study: Study) -> Study:
        return with_trials(
            study,
            lambda trials: trials.remove(next(each for each in trials if study.items[each.item].use == use)),
        )

    return change


def all_on_the_right(study: Study) -> Study:
    return replace(
        study,
        tasks={
            name: Task(name, tuple(PlannedTrial(each.item, True) for each in task.trials))
            for name, task in study.tasks.items()
        },
    )


def show_the_picture_of_another(study: Study) -> Study:
    """Give two scored items of a task one image."""
    task = next(iter(study.tasks.values()))
    first, second = [study.items[each.item] for each in task.trials if study.items[each.item].use == "real"][:2]
    return with_item(study, first, image=second.image)


def distract_by_a_caption_of_the_image(study: Study) -> Study:
    """Give a check a wrong text that stands in a comparison about its image."""
    check = first_of(study, "check")
    text = (
        next(item for item in study.items.values() if item.use == "real" and item.image == check.image)
        .candidates[0]
        .text
    )
    return with_item(study, check, candidates=(check.candidates[0], replace(check.candidates[1], text=text)))


CHANGES: list[tuple[Change, str]] = [
    (lambda study: with_trials(study, lambda trials: trials.pop(0)), "it is scored and stands in 0 tasks, not in one"),
    (lambda study: with_trials(study, lambda trials: trials.append(trials[0])), "stands in 2 tasks, not in one"),
    (lambda study: with_trials(study, lambda trials: trials.append(trials[0])), "it has 6 trials, more than 5"),
    (without(CHECK), "0 trials whose use is check, not 1"),
    (without(INSTRUCTED), "0 trials whose use is instructed, not 1"),
    (lambda study: with_trials(study, lambda trials: trials.append(PlannedTrial("x", True))), "item x does not exist"),
    (
        lambda study: with_trials(study, lambda trials: trials.append(PlannedTrial(study.practice[0].id, True))),
        "it is practice and stands in a task",
    ),
    (show_the_picture_of_another, "more than once"),
    (all_on_the_right, "its text is on the right in 12 of 12 items"),
    (lambda study: with_item(study, first_of(study, "check"), gold=Gold(better="x")), "which of its texts is right"),
    (
        lambda study: with_item(study, first_of(study, "real"), gold=Gold(better="x")),
        "it is scored, and has a known answer",
    ),
    (
        lambda study: with_item(study, first_of(study, "instructed"), gold=Gold(value=0)),
        "does not say which value of its scale",
    ),
    (
        lambda study: with_item(study, first_of(study, "check"), candidates=first_of(study, "check").candidates[:1]),
        "it has 1 texts, not 2",
    ),
    (distract_by_a_caption_of_the_image, "its wrong text is one by people about its image"),
    (lambda study: replace(study, images={}), "is not among the images of the study"),
    (
        lambda study: replace(
            study, items={name: replace(item, prompt="Other?") for name, item in study.items.items()}
        ),
        "its id is not the hash of its content",
    ),
    (
        lambda study: with_item(study, first_of(study, "real"), candidates=first_of(study, "real").candidates[::-1]),
        "its reference is not the first text",
    ),
]


def test_a_plan_without_faults_has_none(planned_study: Study) -> None:
    assert list(plan_faults(planned_study)) == []


def test_a_broken_property_is_found(planned_study: Study) -> None:
    """And a plan with one broken property is read to its end."""

    def is_found(change: Change, message: str) -> bool:
        return any(message in str(fault) for fault in list(plan_faults(change(planned_study))))

    assert [message for change, message in CHANGES if not is_found(change, message)] == []
