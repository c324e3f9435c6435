"""A question is trivial where its words tell the answer: found by hand, by the slow twin, and by the search."""

from __future__ import annotations

import general_domain
import pytest
from oracles.naive import outputs
from oracles.naive_words import facts_of, trivial_steps
from program_notation import program
from test_search import every, make_search
from toy_scene import DOMAIN, SCENE

from vqagen.language.catalogue import Catalogue
from vqagen.language.template_check import read_templates
from vqagen.search.state import SceneTables
from vqagen.tasks.questions.replay import replay
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import compile_scene

SIDES = {**DOMAIN, "sampling": {"directions": {"left": [-1.0, 0.0, 0.0], "right": [1.0, 0.0, 0.0]}}}
TOY, PANTRY = (DOMAIN, SCENE), (general_domain.METADATA, general_domain.SCENES[0])
BALL = "scene, filter_shape 0 ball, unique 1"
TWO_CUBES = f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 2 right, filter_shape 6 cube, unique 7"
TWO_NAMES = f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 2 left, filter_shape 6 cube, unique 7"
TO_BALL = "scene, filter_color 0 blue, unique 1, relate 2 left, filter_shape 3 ball, unique 4, relate 5 left"

ROWS = [
    # what an object's own words, or those of another one, leave open
    (TOY, f"{BALL}, query_shape 2", "forced"),
    (TOY, f"{BALL}, query_color 2", ""),
    (TOY, f"{BALL}, relate 2 left, unique 3, query_shape 4", "forced"),
    (TOY, f"{BALL}, relate 2 left, unique 3, query_color 4", ""),
    (TOY, f"{BALL}, same_color 2, unique 3, query_shape 4", "forced"),
    # values that are compared: two that follow, and one that follows beside one that does not
    (TOY, f"{BALL}, relate 2 left, unique 3, query_shape 4, query_shape 2, equal_shape 5 6", "forced"),
    (TOY, f"{BALL}, relate 2 left, unique 3, query_color 4, query_color 2, equal_color 5 6", ""),
    (
        PANTRY,
        "scene, filter_kind 0 apple, filter_size 1 small, unique 2, same_size 3, unique 4, filter_tint 0 dark, "
        "unique 6, query_size 5, query_size 7, equal_size 8 9",
        "",
    ),
    # the only ball is neither left of itself nor like itself
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 ball, count 4", "forced"),
    (TOY, f"{BALL}, relate 2 left, filter_color 3 red, count 4", ""),
    (TOY, f"{BALL}, relate 2 left, filter_color 3 red, filter_shape 4 ball, exist 5", "forced"),
    (TOY, f"{BALL}, same_color 2, filter_shape 3 ball, exist 4", "forced"),
    (TOY, f"{BALL}, same_color 2, filter_shape 3 cube, exist 4", ""),
    (TOY, "scene, exist 0", "forced"),
    (TOY, "scene, filter_color 0 red, exist 1", ""),
    # a part of a set beside the set
    (
        TOY,
        "scene, filter_shape 0 cube, filter_color 1 red, count 2, filter_shape 0 cube, count 4, less_than 3 5",
        "part",
    ),
    (TOY, "scene, filter_shape 0 cube, count 1, filter_color 0 red, count 3, less_than 2 4", ""),
    (TOY, "scene, filter_shape 0 cube, filter_color 0 red, filter_shape 2 cube, union 1 3, count 4", "part"),
    (TOY, "scene, filter_shape 0 cube, filter_color 0 red, union 1 2, count 3", ""),
    (
        TOY,
        f"{BALL}, relate 2 left, filter_shape 3 cube, count 4, filter_shape 0 cube, count 6, equal_integer 5 7",
        "part",
    ),
    (TOY, "scene, filter_shape 0 cube, exist 1, filter_shape 0 cube, exist 3, and 2 4", "part"),
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 ball, filter_color 0 red, union 4 5, count 6", "one"),
    (TOY, "scene, filter_shape 0 cube, filter_color 1 red, difference 1 2, count 3", ""),
    # "the ball" says that there is one: nothing is asked about balls, nor about red ones
    (TOY, f"{BALL}, relate 2 left, unique 3, relate 4 right, filter_shape 5 ball, exist 6", "one"),
    (TOY, f"{BALL}, relate 2 left, count 3, filter_shape 0 ball, filter_color 5 red, count 6, less_than 4 7", "one"),
    (TOY, f"{BALL}, relate 2 left, count 3, filter_color 0 red, count 5, less_than 4 6", ""),
    (TOY, f"{BALL}, relate 2 left, filter_shape 0 ball, union 3 4, count 5", "one"),
    (PANTRY, "scene, filter_kind 0 fruit, unique 1, relate 2 beside, filter_kind 0 apple, union 3 4, count 5", "one"),
    # two objects by the same words, or one object twice
    (TOY, f"{TWO_CUBES}, query_color 5, query_color 8, equal_color 9 10", "alike"),
    (TOY, f"{TWO_CUBES}, relate 5 right, intersect 9 6, count 10", "alike"),
    (TOY, f"{BALL}, filter_shape 0 ball, unique 3, relate 2 left, count 5, relate 4 right, count 7, less_than 6 8", ""),
    # orders: only where metadata gives directions
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 5 left, filter_shape 6 cube, exist 7", ""),
    (
        (SIDES, SCENE),
        f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 5 left, filter_shape 6 cube, exist 7",
        "forced",
    ),
    (TOY, f"{TO_BALL}, unique 6, query_shape 7", ""),
    ((SIDES, SCENE), f"{TO_BALL}, unique 6, query_shape 7", "forced"),
    (
        (SIDES, SCENE),
        f"{TO_BALL}, filter_shape 6 cube, unique 7, relate 8 left, filter_shape 9 ball, exist 10",
        "forced",
    ),
    ((SIDES, SCENE), f"{TO_BALL}, filter_shape 6 ball, filter_color 0 red, union 7 8, count 9", "forced"),
    # a set beside the one object that it may have; two names of one object
    (
        TOY,
        f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 2 left, filter_shape 6 cube, "
        "filter_color 7 red, exist 8",
        "",
    ),
    (
        TOY,
        "scene, filter_color 0 blue, unique 1, relate 2 left, filter_shape 3 ball, unique 4, filter_color 0 red, "
        "filter_shape 6 cube, unique 7, relate 2 left, relate 8 right, intersect 9 10, unique 11, query_shape 12",
        "",
    ),
    (TOY, f"{TWO_NAMES}, query_color 5, query_color 8, equal_color 9 10", ""),
    # two relations, and functions whose sets no words describe
    ((SIDES, SCENE), f"{TO_BALL[:-4]}right, filter_shape 6 ball, exist 7", ""),
    (
        TOY,
        "scene, filter_shape 0 cube, filter_color 1 red, count 2, filter_color 0 blue, difference 1 4, count 5, "
        "less_than 3 6",
        "",
    ),
    (
        TOY,
        "scene, filter_shape 0 ball, filter_color 0 blue, union 1 2, filter_color 3 red, unique 4, "
        "filter_shape 0 cube, filter_color 6 red, union 7 2, filter_color 8 red, unique 9, "
        "query_shape 5, query_shape 10, equal_shape 11 12",
        "",
    ),
    (
        PANTRY,
        "scene, filter_kind 0 rye, filter_tint 1 dark, filter_size 2 big, count 3, filter_tint 0 dark, "
        "filter_origin 0 north, difference 5 6, intersect 1 7, count 8, less_than 4 9",
        "",
    ),
    (TOY, "scene, filter_shape 0 cube, count 1, filter_color 0 red, intersect 3 1, count 4, less_than 2 5", "part"),
    ((SIDES, SCENE), f"{TO_BALL}, filter_color 0 red, intersect 7 6, filter_shape 8 ball, exist 9", "forced"),
    (
        TOY,
        "scene, filter_color 0 blue, unique 1, different_color 2, filter_shape 3 cube, unique 4, filter_shape 0 ball, "
        "unique 6, different_color 7, filter_shape 8 cube, unique 9, query_color 5, query_color 10, equal_color 11 12",
        "alike",
    ),
    (
        PANTRY,
        "scene, filter_kind 0 apple, filter_size 1 small, unique 2, filter_tint 0 dark, unique 4, query_size 3, "
        "query_size 5, equal_size 6 7",
        "",
    ),
    # groups of values: rye is bread; lists: what has salt may have seeds
    (PANTRY, "scene, filter_kind 0 rye, count 1, filter_kind 0 bread, count 3, less_than 2 4", "part"),
    (PANTRY, "scene, filter_kind 0 rye, count 1, filter_kind 0 fruit, count 3, less_than 2 4", ""),
    (PANTRY, "scene, filter_topping 0 salt, count 1, filter_topping 0 seeds, count 3, less_than 2 4", ""),
    (PANTRY, "scene, filter_kind 0 bun, unique 1, query_kind 2", "forced"),
    (PANTRY, "scene, filter_kind 0 fruit, unique 1, query_kind 2", ""),
]


@pytest.mark.parametrize(("world", "text", "expected"), ROWS, ids=[text for _, text, _ in ROWS])
def test_a_question_is_trivial_where_it_is_by_hand(world: tuple[dict, dict], text: str, expected: str) -> None:
    """Found by the slow twin, for the reason given, and refused by the search, which refuses no others."""
    metadata, scene = world
    steps = program(text)
    domain = domain_from_metadata(metadata)
    nodes = [{"type": s["type"], "inputs": s["inputs"], "side_inputs": s["value_inputs"]} for s in steps]
    (template,), faults = read_templates({"text": ["How?"], "nodes": nodes}, "", Catalogue(domain), "made.json", 0)

    found = trivial_steps(facts_of(metadata), steps, outputs(steps, scene, metadata))
    reasons = {each.partition(" ")[0] for each in found}
    search, compiled = make_search(template, "all"), compile_scene(scene, domain)
    (filling,) = every(make_search(template, "none"), compiled)
    replayed = replay(search, SceneTables(compiled), filling.picked)

    assert faults == []
    assert (expected in reasons) if expected else not reasons
    assert (replayed is None) == bool(expected)
    assert not (expected and every(search, compiled))


def test_nothing_is_refused_where_a_program_starts_from_some_objects() -> None:
    """Others may fit a reference's words then: the only ball of the start set is left of another one."""
    domain = domain_from_metadata(DOMAIN)
    nodes = [
        {"type": step["type"], "inputs": step["inputs"], "side_inputs": step["value_inputs"]}
        for step in program(f"{BALL}, relate 2 left, filter_shape 3 ball, exist 4")
    ]
    (template,), _ = read_templates({"text": ["How?"], "nodes": nodes}, "", Catalogue(domain), "made.json", 0)
    balls = {**SCENE, "objects": [{"color": "red", "shape": "ball"}, *SCENE["objects"][1:]]}

    found = every(make_search(template, "all"), compile_scene(balls, domain).started_from(0b110))

    assert [filling.answer for filling in found] == [True]
