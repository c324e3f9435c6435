"""The endless environment: samples by index, levels, balanced answers."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from commands import ROOT
from depth import fewer
from oracles.oracle import answer, check_answer

from vqagen import rewards
from vqagen.dataset.rows import COLUMNS
from vqagen.environments.endless import (
    CURRICULUM_SAMPLES,
    LEVELS,
    NAMED,
    Environment,
    Level,
    Levels,
    Schedule,
    environment,
)
from vqagen.errors import UsageError
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.language.program import Program
from vqagen.language.question import release_answer
from vqagen.rng import stream
from vqagen.search.balance import place_of
from vqagen.world.scene import compile_scene

SOME = fewer(40)


@pytest.fixture(scope="module")
def endless() -> Environment:
    return environment()


def _facts(made: Environment, index: int) -> tuple[object, ...]:
    sample = made[index]
    return sample.question, sample.answer, sample.program, sample.scene, sample.family, sample.level


def test_a_sample_depends_on_its_index_alone(endless: Environment) -> None:
    """Not on what was asked for before, nor on the process that a data loader starts."""
    forwards = [_facts(endless, index) for index in range(4)]
    other = pickle.loads(pickle.dumps(environment()))

    assert [_facts(other, index) for index in reversed(range(4))] == forwards[::-1]
    assert [each.question for each in islice(other, 3)] == [facts[0] for facts in forwards[:3]]
    assert environment(seed=1)[0].question != forwards[0][0]


def test_indices_have_no_end_and_begin_at_0(endless: Environment) -> None:
    assert endless[10**12].question
    with pytest.raises(IndexError):
        endless[-1]


@pytest.mark.quick(1)
@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_answers_are_proven_and_samples_within_their_level(domain: str) -> None:
    catalogue, _ = load_catalogue(find_domain(domain))
    made = environment(domain, seed=3)

    for index in range(SOME):
        sample = made[index]
        scene = compile_scene(sample.scene, catalogue.domain, index)
        program, level = Program.from_records(sample.program, catalogue), LEVELS[sample.level - 1]
        assert release_answer(program.run(scene)) == sample.answer
        assert level.objects[0] <= scene.size <= level.objects[1]
        assert level.steps[0] <= len(program.nodes) <= level.steps[1]
        assert level.relations[0] <= len(program.relations) <= level.relations[1]
        assert sample.scene["image_index"] == index


def test_a_level_may_have_its_own_questions() -> None:
    """Answers from a point of view follow from coordinates alone; other levels keep the domain's questions."""
    metadata = json.loads((ROOT / "metadata/clevr.json").read_text("utf-8"))
    made = environment(levels=[1, replace(NAMED["viewpoint"], trials=0.0)], seed=2)
    known = {template.id for template in made._generators["clevr-viewpoint"].templates}

    samples = [made[index] for index in range(fewer(60, least=12))]
    for sample in samples:
        question = {"program": sample.program, "answer": sample.answer}
        assert (sample.family in known) == (sample.level == 2)
        assert check_answer(question, sample.scene, metadata) == []
    assert {sample.level for sample in samples} == {1, 2}


@pytest.mark.slow
def test_a_level_may_have_trials() -> None:
    """A trial depends on its index alone, and is a row as questions are; its picture is that of its shelf."""
    made, other = (environment(levels=Level((3, 3), trials=1.0), seed=4) for _ in range(2))
    sample = made[10**9]
    row = sample.to_row()

    assert (sample.answer_type, sample.program, row["boxes"]) == ("cell", [], [])
    assert sample.question.endswith('"') and "blocked" not in sample.question and "grey back" in row["problem"]
    assert pickle.loads(pickle.dumps(other[10**9])).to_row() == row
    assert row["solution"] == f"<answer> {sample.answer} </answer>"
    cells = sample.scene["cells"]
    assert cells[(int(sample.answer[1]) - 1) * 4 + "ABCD".index(sample.answer[0])] is not None
    assert made[0].question != made[1].question
    assert sample.picture.shape == (600, 800, 3) and len({*map(tuple, sample.picture[::50, ::50].reshape(-1, 3))}) > 4


@pytest.mark.slow
def test_places_are_proven_and_earn_their_reward() -> None:
    """By the places of the row, in the pixels of its picture: a point for one object, boxes for a set."""
    metadata = json.loads((ROOT / "metadata/clevr.json").read_text("utf-8"))
    made = environment(levels=["places"], seed=1)
    samples = [made[index] for index in range(fewer(60, least=15))]

    for sample in samples:
        row = sample.to_row()
        assert rewards.grounding(None, [row["solution"]], **{name: [value] for name, value in row.items()}) == [1.0]
        numbers = [int(number) for number in row["answer"].split(", ")] if row["answer"] != "none" else []
        assert row["answer_boxes"] == [row["boxes"][number] for number in numbers]
        assert row["answer_points"] == [row["points"][number] for number in numbers]
        assert {*numbers} == answer(sample.program, sample.scene, metadata)
    assert {sample.family.partition("#")[0] for sample in samples} == {"point.json", "mark.json"}


@pytest.mark.slow
def test_no_place_leads_before_the_middle(tmp_path: Path) -> None:
    """Whatever relation is said, "in the middle" is the best guess; see `search.balance.OtherAnswers`."""
    templates = json.loads((ROOT / "templates/clevr-places/point.json").read_text("utf-8"))
    one_hop = [template for template in templates["templates"] if template["name"] == "one_hop"]
    (tmp_path / "point.json").write_text(json.dumps({**templates, "templates": one_hop}))
    made = environment(levels=Level((4, 7), templates=str(tmp_path)), seed=5)
    said = Counter[tuple[str, int]]()
    for index in range(count := fewer(160, least=80)):
        sample = made[index]
        (word,) = {node["value_inputs"][0] for node in sample.program if node["type"] == "relate"}
        scene = compile_scene(sample.scene, made._domain, index)
        said[word, place_of(scene, int(sample.answer))[word in ("behind", "front")]] += 1

    assert {word for word, _ in said} == {"behind", "front", "left", "right"}
    assert sum(said[word, 1] for word, third in said if third == 1) > 0.4 * count
    assert [said["left", 2], said["right", 0], said["front", 0], said["behind", 2]] == [0, 0, 0, 0]


@pytest.mark.slow
def test_answers_of_a_type_are_balanced(endless: Environment) -> None:
    counts: dict[str, Counter[str]] = {}
    count = fewer(240, least=72)
    for index in range(count):
        sample = endless[index]
        counts.setdefault(sample.answer_type, Counter())[sample.answer] += 1

    assert min(counter.total() for counter in counts.values()) > 0.2 * count
    assert abs(counts["yes/no"]["yes"] / counts["yes/no"].total() - 0.5) < 0.2
    assert counts["count"].most_common(1)[0][1] < counts["count"].total() * 0.4


@pytest.mark.parametrize(
    ("levels", "at"),
    [
        (2, {0: 0, 99: 0}),
        ("curriculum", {0: 0, CURRICULUM_SAMPLES - 1: 0, CURRICULUM_SAMPLES: 1, CURRICULUM_SAMPLES * 4: 4, 10**9: 4}),
        ([Level((3, 3), samples=5), Level((4, 4), samples=5)], {4: 0, 5: 1, 10**6: 1}),
        ([1, Level((3, 3), samples=5)], {0: 1, 4: 1, 5: 0, 10**6: 0}),
    ],
)
def test_levels_follow_each_other(levels: Levels, at: dict[int, int]) -> None:
    schedule = Schedule(levels)

    assert {index: schedule.at(index, stream(0, "")) for index in at} == at


def test_levels_without_an_end_are_mixed() -> None:
    schedule = Schedule("all")

    assert {schedule.at(index, stream(0, "", index)) for index in range(60)} == set(range(5))


@pytest.mark.slow
def test_visibility_is_a_rule_of_the_level() -> None:
    """The rule itself is the sampler's."""
    anyhow, easy = (environment(levels=Level((5, 5), visible=share)) for share in (0.0, 0.95))

    assert [anyhow[index].scene for index in range(5)] != [easy[index].scene for index in range(5)]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        (0, "a number from 1 to 5"),
        ("hard", "'hard'"),
        ([], "must not be empty"),
        ([1, "all"], "'all'"),
        ([["places"]], r"found \['places'\]"),
        (None, "found None"),
    ],
)
def test_an_unknown_level_is_named(levels: Levels, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        environment(levels=levels)


@pytest.mark.parametrize(
    "level",
    [
        {"objects": (4, 3)},
        {"objects": (3, 4), "visible": 2},
        {"objects": (3, 4), "samples": -1},
        {"objects": (3, 4), "trials": -1},
        {"objects": (3, 4), "trials": "half"},
        {"objects": 4},
        {"objects": (3, 4, 5)},
    ],
)
def test_a_wrong_level_is_refused(level: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Level(**level)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [0, -5, 2.5, "240"])
def test_a_wrong_width_is_refused(width: int) -> None:
    with pytest.raises(UsageError, match="width must be a whole number from 1 on"):
        environment(width=width)


def test_a_level_that_nothing_fits_is_refused() -> None:
    with pytest.raises(UsageError, match="no question fits"):
        environment(levels=Level((3, 4), relations=(9, 9)))
    with pytest.raises(UsageError, match="widen its ranges"):
        environment(levels=Level((1, 1), steps=(6, 6), relations=(1, 1)))[0]


def test_a_sample_is_drawn_when_its_picture_is_asked_for() -> None:
    sample = environment(width=120)[3]

    assert sample.picture.shape == (80, 120, 3)
    assert sample.picture is sample.picture
    assert sample.png()[:4] == b"\x89PNG"
    other = pickle.loads(pickle.dumps(sample))
    assert np.array_equal(other.picture, sample.picture)
    assert other.to_row() == sample.to_row()


def test_a_sample_is_a_row_of_a_dataset(endless: Environment) -> None:
    """With the box of each object in the pixels of its picture."""
    row = endless[5].to_row()

    assert tuple(row) == COLUMNS
    assert row["solution"] == f"<answer> {endless[5].answer} </answer>"
    assert rewards.accuracy(None, [row["solution"]], **{name: [value] for name, value in row.items()}) == [1]
    boxes = np.array(row["boxes"])
    assert boxes.shape == (len(endless[5].scene["objects"]), 4)
    assert (
        (boxes[:, :2] < boxes[:, 2:]).all() and boxes.min() >= 0 and (boxes.max(axis=0) <= [240, 160, 240, 160]).all()
    )
