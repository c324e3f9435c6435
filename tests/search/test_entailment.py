"""No question is asked whose answer the image's other questions tell: by hand, in the slow twin, in what is made."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from families import SHIPPED, Collection
from oracles.naive_entailment import Question, entailed
from oracles.naive_vocabulary import make_world
from oracles.naive_words import facts_of
from program_notation import program
from scene_records import scene_record
from test_search import every, make_search

import vqagen
from vqagen.language.catalogue import Catalogue
from vqagen.language.template_check import read_templates
from vqagen.search.filling import Filling
from vqagen.tasks.questions.entailment import Statements, Told
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import compile_scene

METADATA = SHIPPED[0].raw_metadata
DOMAIN = domain_from_metadata(METADATA)
SCENE = scene_record(
    ["large red metal cube", "small red rubber cube", "small blue rubber sphere"], [0, 1, 2], [0, 1, 2]
)
BALL = "scene, filter_shape 0 sphere, unique 1"
BLUE_BALL = "scene, filter_color 0 blue, filter_shape 1 sphere, unique 2"
RUBBER_BALL = "scene, filter_material 0 rubber, filter_shape 1 sphere, unique 2"
LEFT_OF_BLUE_BALL = f"{BLUE_BALL}, relate 3 left, count 4"
MATERIAL_OF_BLUE = "scene, filter_color 0 blue, unique 1, query_material 2"
CUBES, BALLS = "scene, filter_shape 0 cube, count 1", "scene, filter_shape 0 sphere, count 1"
BLUE_AND_RED = "scene, filter_color 0 blue, exist 1, filter_color 0 red, exist 3, and 2 4"
GREEN_OR_ROUND = "scene, filter_color 0 green, filter_shape 0 cylinder, union 1 2, count 3"

ROWS: list[tuple[list[str], bool]] = [
    ([f"{BALL}, query_color 2", f"{BALL}, query_size 2"], True),
    ([f"{BALL}, query_color 2", f"{BALL}, query_color 2"], False),
    # the ball is the blue ball, whichever is spoken of first
    ([LEFT_OF_BLUE_BALL, f"{BALL}, query_color 2"], False),
    ([f"{BALL}, query_color 2", LEFT_OF_BLUE_BALL], False),
    ([LEFT_OF_BLUE_BALL, f"{BALL}, query_material 2"], True),
    ([LEFT_OF_BLUE_BALL, MATERIAL_OF_BLUE], True),
    # two names of one object: known where both are names of "the ball"
    ([LEFT_OF_BLUE_BALL, f"{RUBBER_BALL}, relate 3 front, count 4", MATERIAL_OF_BLUE], True),
    (
        [
            LEFT_OF_BLUE_BALL,
            f"{RUBBER_BALL}, relate 3 front, count 4",
            f"{BALL}, relate 2 behind, count 3",
            MATERIAL_OF_BLUE,
        ],
        False,
    ),
    # how many there are: of what is spoken of one by one, of parts, and of parts of nothing
    ([f"{BALL}, query_color 2", BALLS], False),
    ([BALLS, f"{BALL}, query_color 2"], False),
    ([CUBES, "scene, filter_size 0 large, filter_shape 1 cube, exist 2"], True),
    ([CUBES, "scene, filter_shape 0 cube, exist 1"], False),
    (["scene, filter_color 0 blue, filter_shape 1 cube, exist 2", "scene, filter_color 0 blue, exist 1"], True),
    (
        [
            "scene, filter_color 0 blue, filter_shape 1 cube, exist 2",
            "scene, filter_size 0 small, filter_color 1 blue, filter_shape 2 cube, count 3",
        ],
        False,
    ),
    ([LEFT_OF_BLUE_BALL, "scene, filter_color 0 blue, exist 1"], False),
    ([LEFT_OF_BLUE_BALL, f"{BLUE_BALL}, relate 3 left, filter_size 4 large, exist 5"], True),
    ([LEFT_OF_BLUE_BALL, f"{BLUE_BALL}, relate 3 left, exist 4"], False),
    ([LEFT_OF_BLUE_BALL, f"{RUBBER_BALL}, relate 3 left, exist 4"], False),
    ([f"{BALL}, query_color 2", f"{BLUE_BALL}, relate 3 left, filter_shape 4 sphere, exist 5"], False),
    # what is joined or compared
    ([CUBES, BALLS, "scene, filter_shape 0 cube, count 1, filter_shape 0 sphere, count 3, greater_than 2 4"], False),
    ([CUBES, "scene, filter_shape 0 cube, count 1, filter_color 0 red, count 3, greater_than 2 4"], True),
    ([BLUE_AND_RED, "scene, filter_color 0 blue, exist 1"], False),
    (["scene, filter_color 0 blue, exist 1", BLUE_AND_RED], False),
    ([BLUE_AND_RED.replace("blue", "green").replace("and", "or"), "scene, filter_color 0 green, exist 1"], True),
    ([GREEN_OR_ROUND, "scene, filter_color 0 green, exist 1"], False),
    ([f"{BALL}, filter_size 0 large, unique 3, query_color 2, query_color 4, equal_color 5 6"], True),
    (
        [
            f"{BALL}, query_color 2",
            "scene, filter_size 0 large, unique 1, query_color 2",
            f"{BALL}, filter_size 0 large, unique 3, query_color 2, query_color 4, equal_color 5 6",
        ],
        False,
    ),
]
"""Programs, asked in turn, and whether the last may be asked; all before it may."""


def _filling(text: str) -> tuple[Statements, Filling]:
    nodes = [{"type": s["type"], "inputs": s["inputs"], "side_inputs": s["value_inputs"]} for s in program(text)]
    (template,), faults = read_templates({"text": ["How?"], "nodes": nodes}, "", Catalogue(DOMAIN), "made.json", 0)
    assert faults == []
    search = make_search(template, "none")
    (filling,) = every(search, compile_scene(SCENE, DOMAIN))
    return Statements(search.plan), filling


@pytest.mark.parametrize(("texts", "expected"), ROWS, ids=[" / ".join(texts) for texts, _ in ROWS])
def test_a_question_is_asked_if_the_others_leave_it_open(texts: list[str], expected: bool) -> None:
    """As found by hand, by the slow twin and by the generator's own rule."""
    told, world, facts = Told(), make_world(SCENE, METADATA), facts_of(METADATA)
    asked = [Question(facts, program(text), world) for text in texts]

    added = [told.add(*_filling(text)) for text in texts]

    assert added == [True] * (len(texts) - 1) + [expected]
    assert not list(entailed(asked[:-1]))
    assert bool(list(entailed(asked))) != expected


def test_a_question_that_was_taken_back_tells_nothing() -> None:
    """What it said of objects, and how they are tied, is as if it had never been asked."""
    told = Told()

    assert told.add(*_filling(f"{BALL}, query_color 2"))
    assert not told.add(*_filling(LEFT_OF_BLUE_BALL))
    assert told.add(*_filling(f"{RUBBER_BALL}, relate 3 left, count 4"))
    told.forget()
    assert told.add(*_filling(f"{BALL}, query_material 2"))


def _entailed(collection: Collection, count: int, **settings: Any) -> tuple[int, list[str]]:
    """How many questions there are, and the texts of those that others tell."""
    scenes, facts = collection.sampled(count, 17), facts_of(collection.raw_metadata)
    of_scene: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for made in vqagen.generate(scenes=scenes, domain=collection.name, **settings):
        record = made.to_record()
        of_scene[record["scene_index"]].append(record)
    found = []
    for index, records in of_scene.items():
        world = make_world(scenes[index], collection.raw_metadata)
        asked = [Question(facts, record["program"], world) for record in records]
        found += [records[place]["question"] for place in entailed(asked)]
    return sum(map(len, of_scene.values())), found


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("balance", "instances", "count"),
    [
        ("words", 1, 12),
        ("words", 3, 4),
        ("pairs", 1, 12),
        pytest.param("words", 1, 400, marks=pytest.mark.slow),
        pytest.param("words", 3, 100, marks=pytest.mark.slow),
        pytest.param("pairs", 1, 250, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_no_question_made_is_told_by_the_others(
    collection: Collection, balance: str, instances: int, count: int
) -> None:
    """The slow twin finds none, whichever came first."""
    number, found = _entailed(collection, count, balance=balance, instances_per_template=instances)

    assert number > count
    assert found == []


def test_all_instances_are_asked_whatever_they_tell() -> None:
    """`--instances-per-template 0` lists what can be asked."""
    _, found = _entailed(SHIPPED[0], 1, instances_per_template=0, only=("zero_hop.json",), balance="answers")

    assert found


def test_clevr_asks_what_its_other_questions_tell() -> None:
    """`--compat clevr` keeps CLEVR's distribution; and the slow twin finds what there is to find."""
    number, found = _entailed(SHIPPED[0], 20, compat="clevr")

    assert len(found) > 0.03 * number
