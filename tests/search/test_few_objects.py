"""Families that need more objects than a scene has are skipped, and only those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import general_domain
import program_notation
import pytest
from families import COLLECTIONS, Collection
from oracles.naive import outputs
from oracles.naive_words import facts_of, trivial_steps
from program_notation import program
from scene_records import SMALL_SCENES, scene_record
from test_search import every, make_search
from toy_scene import DOMAIN, SCENE

import vqagen
from vqagen.language.catalogue import Catalogue, Value
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.plugin.loading import load_plugins
from vqagen.search.description import Sampling, SceneTables
from vqagen.search.filling import TOO_FEW, UNBALANCED, Filling
from vqagen.search.instantiate import Replay, Search
from vqagen.search.least_objects import LeastObjects, least_objects
from vqagen.search.plan import make_plan
from vqagen.search.vocabulary import Vocabularies
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

CLEVR = COLLECTIONS[0]
NUMBERS = range(20)
Record = dict[str, Any]


def least_of(template: Template, policy: str = "all") -> LeastObjects:
    """The objects that a template needs."""
    return least_objects(make_plan(template, Vocabularies(template.catalogue.domain), Sampling()), policy)


def clevr_family(name: str) -> Template:
    """A shipped family of CLEVR."""
    return next(each for each in CLEVR.materials.templates if each.id == name)


def answers_found(search: Search, scene: Scene, rng: Random) -> set[Value]:
    """The answers of all fillings, or of some where there are many; the search knows nothing of few objects."""
    found = set[Value]()

    def take(filling: Filling) -> tuple[()]:
        found.add(filling.answer)
        return ()

    search.find_all(SceneTables(scene), rng, take, (), 1_500)
    return found


def contradictions(templates: Iterable[Template], records: Sequence[Record], seed: int) -> list[Any]:
    """Answers that the plain search finds in scenes of one to five objects, related in any way, though refused."""
    rng, found = Random(seed), []
    for template in templates:
        domain = template.catalogue.domain
        plan = make_plan(template, Vocabularies(domain), Sampling(idle_share=1))
        for policy in ("none", "clevr", "all"):
            search, least = Search(plan, policy, keeps_trivial=True), least_objects(plan, policy)
            for size in range(1, 6):
                record, density = rng.choice(records), rng.choice((0.2, 0.5, 0.8))
                objects = rng.sample(record["objects"], min(size, len(record["objects"])))
                numbers = range(len(objects))
                tables = {
                    name: [[j for j in numbers if j != i and rng.random() < density] for i in numbers]
                    for name in domain.recorded_relations
                }
                scene = compile_scene({**record, "objects": objects, "relationships": tables}, domain)
                for answer in answers_found(search, scene, rng):
                    others = {number for number in NUMBERS if type(answer) is not int or number != answer}
                    if least.refusal(scene.size, others):
                        found.append((template.id, policy, scene.size, answer))
    return found


def test_the_plain_search_finds_no_answer_that_is_said_to_be_impossible() -> None:
    """In every eighth family of CLEVR, which are of all kinds."""
    assert contradictions(CLEVR.materials.templates[::8], CLEVR.sampled(12, seed=8), seed=1) == []


@pytest.mark.slow
@pytest.mark.parametrize("collection", COLLECTIONS, ids=str)
def test_the_same_holds_for_every_family(collection: Collection) -> None:
    """Of every collection, under every policy of degeneracy."""
    assert contradictions(collection.materials.templates, collection.sampled(12, seed=8), seed=2) == []


@pytest.mark.slow
def test_the_same_holds_for_every_function_and_constraint() -> None:
    """The families of the pantry have all functions, constraints and composite nodes between them."""
    catalogue = Catalogue(domain_from_metadata(general_domain.METADATA))
    read = [read_templates(each, "", catalogue, "pantry.json", 0)[0] for each in general_domain.TEMPLATES.values()]

    assert contradictions([template for made in read for template in made], general_domain.SCENES[:3], seed=3) == []


LEAST = {
    "zero_hop.json#query_size": LeastObjects(1),
    "comparison.json#same_size": LeastObjects(2),
    "comparison.json#same_size_both_related": LeastObjects(3),
    "one_hop.json#exist": LeastObjects(1),
    "one_hop.json#count": LeastObjects(2, 0, 2, is_count=True),
    "same_relate.json#query_color_same_size": LeastObjects(3),
    "three_hop.json#query_size": LeastObjects(4),
    "single_and.json#query_size": LeastObjects(5),
    "single_and.json#count": LeastObjects(4, 0, 4, is_count=True),
    "single_or.json#count": LeastObjects(1, 1, 0, is_count=True),
    "single_or.json#count_first_related": LeastObjects(3, 1, 1, is_count=True),
    "single_or.json#count_both_related": LeastObjects(3, 2, 1, is_count=True),
}
"""A reference by way of two others needs five: the two, itself, and one that shows that each relation matters."""


def test_families_need_so_many_objects_and_no_fewer() -> None:
    """An anchor, what it leads to, and what shows that the relation matters are different objects."""
    assert {name: least_of(clevr_family(name)) for name in LEAST} == LEAST
    assert least_of(clevr_family("one_hop.json#count"), "none") == LeastObjects(1, 0, 1, is_count=True)


def test_an_answer_that_is_refused_is_no_reason_to_search() -> None:
    """Of three objects just two can be in either of two related sets; in large scenes nobody counts so far."""
    least = least_of(clevr_family("single_or.json#count_both_related"))

    assert least.refusal(2, ()) == TOO_FEW
    assert [least.refusal(3, refused) for refused in ((), {1, 3}, {2})] == ["", "", UNBALANCED]
    assert least.refusal(5, NUMBERS) == ""


PLUGIN = """
from vqagen.plugin import FILTER, NODE, RELATION, constraint, function

@constraint('OUT_OTHER', NODE, NODE)
def is_other(one, other):
    return one != other or one == 0

@function('Object', output='ObjectSet', role=RELATION)
def group(scene, anchor):
    return 1 << anchor

@function('ObjectSet', values=['Size'], output='ObjectSet', role=FILTER)
def others(scene, objects, size):
    return scene.everything & ~objects
"""


@pytest.mark.parametrize(
    ("nodes", "constraints", "count"),
    [
        ("scene, filter_unique 0 <C>, group 1, unique 2, query_size 3", (), 1),
        ("scene, filter 0 <C>, others 1 <S>, difference 2 1, unique 3, query_size 4", (), 2),
        ("scene, filter_unique 0 <C>, filter_unique 0 <S>, equal_object 1 2", ("OUT_OTHER 1 2",), 1),
    ],
)
def test_functions_of_plug_ins_are_not_taken_for_those_of_vqagen_with_their_role(
    nodes: str, constraints: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    """A relation may lead to its anchor, a filter to other objects, and a constraint may hold for one object."""
    (tmp_path / "plugin.py").write_text(PLUGIN)
    domain = CLEVR.materials.domain
    catalogue = Catalogue(domain, load_plugins([str(tmp_path / "plugin.py")]))
    slots = {slot: kind for slot, kind in {"<C>": "Color", "<S>": "Size"}.items() if slot in nodes}
    raw = {"text": ["Is it?"], **program_notation.template(nodes, slots, *constraints)}
    (template,), _ = read_templates(raw, "", catalogue, "made.json", 0)
    things = ("large red metal cube", "small blue metal cube")[:count]
    scene = compile_scene(scene_record(things, range(count), range(count)), domain)
    search = Search(make_plan(template, Vocabularies(domain), Sampling()), "none", keeps_trivial=True)

    assert answers_found(search, scene, Random(1))
    assert least_of(template, "none").refusal(count, ()) == ""


@pytest.mark.parametrize("balance", ["answers", "pairs"])
def test_a_run_says_which_families_need_more_objects(balance: str) -> None:
    """Such a family is tried in vain, without an option, and the reason is counted."""
    records = [{**SMALL_SCENES[0], "image_index": i, "image_filename": f"{i}.png"} for i in range(12)]
    settings = vqagen.QuestionSettings(balance=balance, only=("three_hop.json", "zero_hop.json"))
    scenes = [compile_scene(record, CLEVR.materials.domain, index) for index, record in enumerate(records)]
    generator = QuestionGenerator(CLEVR.materials.templates, CLEVR.materials.synonyms, settings)
    tally = QuestionTally()

    list(generator.window(scenes, tally))

    assert tally.failures_of("three_hop.json#query_size").keys() == {TOO_FEW}


# Trivial questions ----------------------------------------------------------------------------------------------------

SIDES = {**DOMAIN, "sampling": {"directions": {"left": [-1.0, 0.0, 0.0], "right": [1.0, 0.0, 0.0]}}}
TOY, PANTRY = (DOMAIN, SCENE), (general_domain.METADATA, general_domain.SCENES[0])
BALL = "scene, filter_shape 0 ball, unique 1"
TWO_CUBES = f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 2 right, filter_shape 6 cube, unique 7"

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
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 ball, filter_color 0 red, union 4 5, count 6", "part"),
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 ball, filter_color 0 red, union 5 4, count 6", "part"),
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
    # orders and inverses: only where metadata gives directions
    (TOY, f"{BALL}, relate 2 left, unique 3, relate 4 right, exist 5", ""),
    ((SIDES, SCENE), f"{BALL}, relate 2 left, unique 3, relate 4 right, exist 5", "forced"),
    (TOY, f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 5 left, filter_shape 6 cube, exist 7", ""),
    (
        (SIDES, SCENE),
        f"{BALL}, relate 2 left, filter_shape 3 cube, unique 4, relate 5 left, filter_shape 6 cube, exist 7",
        "forced",
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
    replayed = Replay(search.plan, search.is_trivial).filling(SceneTables(compiled), filling.picked)

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
