"""What `--balance pairs` promises of questions, checked by the slow twin (see `naive_pairs`), and of its settings."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from families import COLLECTIONS, SHIPPED, Collection
from general_domain import METADATA, SCENES, TEMPLATES
from oracles import naive_pairs

import vqagen
from vqagen import Generation
from vqagen.language.question import record_writer
from vqagen.search.state import UNSUITED
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.world.scene import compile_scene

CLEVR = next(each for each in SHIPPED if each.is_clevr)
FEW, MANY = fewer(30, least=16), 200

Record = dict[str, Any]


class Made:
    """A run with `--balance pairs`, and its questions as they come back from a file."""

    def __init__(
        self, collection: Collection, scenes: list[Record], exclusion: Exclusion | None = None, **chosen: Any
    ) -> None:
        settings = vqagen.QuestionSettings(**{"balance": "pairs", "seed": 3, **chosen})
        run = Generation(scenes, collection.materials, settings, exclusion=exclusion)
        to_record = record_writer("generator")
        self.collection, self.settings = collection, settings
        self.by_scene = [[json.loads(json.dumps(to_record(q))) for q in made] for _, made in run.by_scene()]
        self.records = [record for made in self.by_scene for record in made]
        self.tally = run.tally
        self.scenes = {scene["image_filename"]: scene for scene in scenes}

    @property
    def pairs(self) -> dict[int, list[Record]]:
        """Number -> its records, in order."""
        found: dict[int, list[Record]] = defaultdict(list)
        for record in self.records:
            found[record["pair"]].append(record)
        return found

    def faults(self, records: list[Record] | None = None) -> list[str]:
        """What the slow twin finds wrong."""
        metadata = self.collection.raw_metadata
        return naive_pairs.check_pairs(records or self.records, self.scenes, metadata, self.template_of)

    def template_of(self, record: Record) -> Record:
        """The template of a record, as the twin takes it."""
        return self.collection.raw_template(record["template_filename"], record["question_family_index"])


@cache
def made(collection: Collection, count: int = FEW, **chosen: Any) -> Made:
    """A run over sampled scenes."""
    return Made(collection, collection.sampled(count, seed=17), **chosen)


# The pairs -----------------------------------------------------------------------------------------------------------

VARIED: list[dict[str, Any]] = [
    {"templates_per_image": 5},
    {"templates_per_image": 4, "reset_counts_every": 15},
    {"templates_per_image": 5, "degeneracy": "none"},
    {"templates_per_image": 5, "dedupe": "image", "reset_counts_every": 0},
]


@pytest.mark.quick(1)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
@pytest.mark.parametrize("chosen", VARIED, ids=str)
def test_the_slow_twin_finds_nothing_wrong_with_any_pair(collection: Collection, chosen: dict[str, Any]) -> None:
    """Each is one question about two scenes, true of both, in one of which each relation matters."""
    run = made(collection, **chosen)

    assert run.faults() == []
    assert len(run.records) > 0.8 * FEW * run.settings.templates_per_image


@pytest.mark.slow
def test_references_are_as_distinct_in_both_scenes() -> None:
    """Two things that are one object in one scene alone make no pair: "the cube" and "the thing left of the ball"."""
    run = made(CLEVR, only=("comparison.json",), templates_per_image=3)

    assert run.faults() == []


@pytest.mark.slow
@pytest.mark.parametrize("collection", COLLECTIONS, ids=str)
def test_the_slow_twin_finds_nothing_wrong_with_thousands(collection: Collection) -> None:
    run = made(collection, MANY)

    assert run.faults() == []
    assert naive_pairs.check_fullness(run.records, run.scenes) == []
    assert len(run.records) > 0.97 * 10 * MANY


def turned(record: Record) -> Record:
    """The record with another answer of its type."""
    answer = record["answer"]
    return record | {"answer": not answer if isinstance(answer, bool) else answer + 1}


def reworded(record: Record) -> Record:
    """The record with another first color in its program."""
    program = json.loads(json.dumps(record["program"]))
    step = next(step for step in program if step["type"] == "filter_color")
    step["value_inputs"] = ["red" if step["value_inputs"] != ["red"] else "blue"]
    return record | {"program": program}


def test_the_slow_twin_names_what_is_changed() -> None:
    """An answer, a word of one program, and a number."""
    run = made(CLEVR, **VARIED[1])
    pairs = [pair for pair in run.pairs.values() if not isinstance(pair[0]["answer"], str)]
    colored = next(pair for pair in pairs if any(step["type"] == "filter_color" for step in pair[0]["program"]))
    for change in (turned, reworded, lambda record: record | {"pair": record["pair"] + 1}):
        assert run.faults([change(colored[0]), colored[1]])


def test_the_slow_twin_tells_where_a_relation_matters() -> None:
    """It is the answers that differ because of a relation: of yes and no, often in one of the two scenes alone."""
    for only, both in (("one_hop.json#exist", False), ("one_hop.json#count", True)):
        run = made(CLEVR, only=(only,), templates_per_image=1)
        sides = [side_of(run, record) for pair in run.pairs.values() for record in pair]
        idle = Counter(
            naive_pairs.is_idle(side, step)
            for side in sides
            for step, each in enumerate(side.record["program"])
            if each["type"] == "relate"
        )

        assert len(sides) == idle.total() > 10
        assert (idle[True] == 0) is both, "it may be idle in one of the two scenes of yes and no"
        assert idle[False] >= len(sides) / 2, "and in no pair in both"


def side_of(run: Made, record: Record) -> naive_pairs.Side:
    """A record with its scene, run once."""
    scene = run.scenes[record["image_filename"]]
    world = naive_pairs.make_world(scene, CLEVR.raw_metadata)
    return naive_pairs.Side(record, scene, world, naive_pairs.run(world, record["program"]))


# What does not show ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_neither_order_nor_number_shows_an_answer() -> None:
    """Of pairs answered by yes and no, about half of the first records, and of those with even numbers, say yes."""
    run = made(CLEVR, 70, seed=5)
    firsts = [pair[0] for pair in run.pairs.values() if isinstance(pair[0]["answer"], bool)]
    evens = [record for record in firsts if record["pair"] % 2 == 0]

    assert_even([record["answer"] for record in firsts])
    assert_even([record["answer"] for record in evens])


@pytest.mark.slow
def test_questions_of_images_are_equally_many() -> None:
    """A full picture has as many as an empty one: their number tells neither its objects nor an answer."""
    run = made(CLEVR, 70, seed=4)  # with some seeds nobody is left to join the last one

    assert Counter(map(len, run.by_scene)) == {10: 70}


@pytest.mark.slow
def test_the_fuller_picture_has_not_the_greater_answer() -> None:
    """Scenes of 3, 4 and 5 objects, and a few of more: partners have equally many, except of those few."""
    sizes = Counter[int]()
    scenes = []
    for scene in CLEVR.sampled(200, seed=17):
        size = len(scene["objects"])
        if size < 6 or (size > 8 and sizes[size] < 2):
            sizes[size] += 1
            scenes.append(scene)
    run = Made(CLEVR, scenes, templates_per_image=3, only=("exist", "count", "compare_integer"))

    assert min(sizes[3], sizes[4], sizes[5]) >= 15 and sizes[9] + sizes[10] == 4
    assert naive_pairs.check_fullness(run.records, run.scenes) == []
    assert len(run.records) >= 3 * len(scenes) - 3
    other = [
        record | {"image_filename": scenes[number % len(scenes)]["image_filename"]}
        for number, record in enumerate(run.records)
    ]
    assert naive_pairs.check_fullness(other, run.scenes), "the check finds pairs of unequally many objects"


@pytest.mark.slow
def test_the_place_of_a_question_in_its_scene_shows_no_answer() -> None:
    """A question whose answer is yes stands in either half of its scene's."""
    answers = [
        record["answer"] == (2 * place + 1 < len(questions))
        for questions in made(CLEVR, 70, seed=5).by_scene
        for place, record in enumerate(questions)
        if isinstance(record["answer"], bool) and 2 * place + 1 != len(questions)
    ]
    assert_even(answers)


def test_pairs_are_numbered_as_they_come() -> None:
    """In the order of their first records, from the window's first number on, without gaps inside a window."""
    run = made(CLEVR, **VARIED[1])
    window = run.settings.reset_counts_every
    for first in range(0, FEW, window):
        records = [record for questions in run.by_scene[first : first + window] for record in questions]
        numbers = list(dict.fromkeys(record["pair"] for record in records))
        assert numbers == list(range(first * 2, first * 2 + len(numbers)))


def assert_even(truths: list[bool]) -> None:
    """Fail if the share of True is farther from one half than chance allows (five standard deviations)."""
    assert len(truths) > 50
    assert abs(sum(truths) - len(truths) / 2) < 2.5 * len(truths) ** 0.5


# Settings -------------------------------------------------------------------------------------------------------------


def test_a_scene_has_as_many_questions_as_the_settings_say() -> None:
    """Those of pairs that it begins and of those it joins; one may lack one if all are an odd number."""
    for per_image in (4, 7):
        run = made(CLEVR, templates_per_image=per_image, seed=8)  # with some seeds nobody is left to join the last one

        assert max(map(len, run.by_scene)) == per_image
        assert len(run.records) == FEW * per_image // 2 * 2
        assert run.tally.short_scenes == FEW * per_image % 2


def test_the_scenes_of_a_pair_lie_in_one_window() -> None:
    run = made(CLEVR, templates_per_image=4, reset_counts_every=15)
    window_of = {name: place // 15 for place, name in enumerate(run.scenes)}

    assert all(len({window_of[each["image_filename"]] for each in pair}) == 1 for pair in run.pairs.values())
    whole, larger = (made(CLEVR, templates_per_image=2, reset_counts_every=window) for window in (FEW, 10_000))
    assert whole.records == larger.records


def test_a_window_of_one_scene_has_no_pairs() -> None:
    """Nothing is searched there for nothing."""
    run = made(CLEVR, templates_per_image=2, reset_counts_every=1)

    assert run.records == []
    assert run.tally.short_scenes == FEW
    assert {reason for _, reason in run.tally.failures} == {UNSUITED}


@pytest.mark.slow
def test_no_text_of_another_set_comes_again() -> None:
    """In neither of the two scenes, by text or by program; and only the families named are asked."""
    chosen = {"templates_per_image": 4, "only": ("exist", "count")}
    other = made(CLEVR, seed=4, **chosen)
    run = Made(CLEVR, CLEVR.sampled(FEW, seed=17), Exclusion.from_records(other.records), **chosen)

    assert run.faults() == []
    assert {record["question"] for record in other.records}.isdisjoint(record["question"] for record in run.records)
    programs = {json.dumps(record["program"]) for record in other.records}
    assert programs.isdisjoint(json.dumps(record["program"]) for record in run.records)
    assert {record["question_type"] for record in run.records} == {"exist", "count"}


@pytest.mark.slow
def test_no_question_comes_twice_about_one_image() -> None:
    """By the scene's own pairs or those it joins: by program always, and by text with `dedupe`."""
    run = made(CLEVR, templates_per_image=8, only=("exist", "count"), dedupe="image", reset_counts_every=10)

    for questions in run.by_scene:
        assert max(Counter(record["question"] for record in questions).values(), default=1) == 1
        programs = [(run_family(record), json.dumps(record["program"])) for record in questions]
        assert max(Counter(programs).values(), default=1) == 1


def run_family(record: Record) -> tuple[str, int]:
    return record["template_filename"], record["question_family_index"]


@pytest.mark.slow
def test_families_stay_even() -> None:
    """Hard families do not starve: each makes at least half of what the largest makes, with as many yes as no."""
    run = made(CLEVR, 70, seed=5)
    counts = Counter(map(run_family, run.records))
    answers = Counter((run_family(record), str(record["answer"])) for record in run.records)

    assert len(counts) == len(CLEVR.materials.templates)
    assert min(counts.values()) >= max(counts.values()) / 2
    assert all(answers[family, "True"] == answers[family, "False"] for family in counts)


def test_a_window_that_is_resumed_is_counted_once() -> None:
    """A long window is written in blocks. Their counts add up, and a partner in an earlier block is in the run."""
    loaded, settings = CLEVR.materials, vqagen.QuestionSettings(balance="pairs", templates_per_image=2)
    scenes = [compile_scene(record, loaded.domain, n) for n, record in enumerate(CLEVR.sampled(FEW, seed=17))]
    task = QuestionGenerator(loaded.templates, loaded.synonyms, settings)
    whole, first, resumed = QuestionTally(), QuestionTally(), QuestionTally()
    made = [questions for _, questions in task.window(scenes, whole)]
    head = [questions for _, questions in islice(task.window(scenes, first), FEW // 2)]
    tail = [questions for _, questions in task.window(scenes, resumed, FEW // 2)]
    resumed.add(first)

    assert head + tail == made
    assert resumed == whole
    assert (whole.scenes, whole.parted_pairs) == (FEW, 0)


# Another domain -------------------------------------------------------------------------------------------------------


def pantry(folder: Path) -> Collection:
    """The made-up domain that has everything a domain can have from data."""
    (folder / "templates").mkdir()
    (folder / "metadata.json").write_text(json.dumps(METADATA))
    templates = [template for name, template in TEMPLATES.items() if name != "choose"]  # the oracle does not know it
    (folder / "templates" / "all.json").write_text(json.dumps(templates))
    return Collection("pantry", folder / "metadata.json", folder / "templates")


@pytest.mark.slow
def test_pairs_of_a_domain_with_lists_groups_and_gaps(tmp_path: Path) -> None:
    """Its scenes differ in little, and lists must be compared scene by scene."""
    scenes = [
        scene | {"image_index": 4 * turn + number, "image_filename": f"{turn}_{number}.png"}
        for turn in range(2)
        for number, scene in enumerate(SCENES)
    ]
    run = Made(pantry(tmp_path), scenes, templates_per_image=12)
    asked = {run.template_of(record)["name"] for record in run.records}

    assert run.faults() == []
    assert len(asked) > 12
    assert {"same_list", "sets"} & asked
