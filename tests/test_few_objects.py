"""Families that no scene of so few objects can fill are skipped, and only those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import general_domain
import program_notation
import pytest
import test_superclevr
from families import COLLECTIONS, SHIPPED, Collection
from scene_records import SMALL_SCENES, scene_record

import vqagen
from vqagen.api import find_domain, load_domain_files
from vqagen.language.catalogue import Catalogue
from vqagen.language.registry import Value
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.plugin.loading import load_plugins
from vqagen.search import few_objects
from vqagen.search.description import Sampling
from vqagen.search.few_objects import ANY, MOST_OBJECTS, FewObjects
from vqagen.search.filling import TOO_FEW, UNBALANCED, Filling
from vqagen.search.instantiate import Search
from vqagen.search.plan import make_plan
from vqagen.search.tables import SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.tally import Tally
from vqagen.world.domain import Domain, domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

CLEVR = COLLECTIONS[0]
POLICIES = ("none", "clevr", "all")
OPTIONS = 1_500
"""Options tried for one family and scene: some find all fillings, others a sample of them."""
FAMILIES = [
    pytest.param(each, family, id=f"{each}/{template.id}", marks=() if each in SHIPPED else pytest.mark.slow)
    for each in COLLECTIONS
    for family, template in enumerate(each.materials.templates)
]
Record = dict[str, Any]


def small_scenes(records: Sequence[Record], domain: Domain, rng: Random) -> Iterator[Scene]:
    """One scene of each small size: some objects of a record, related in any way."""
    for count in range(1, MOST_OBJECTS + 1):
        record, density = rng.choice(records), rng.choice((0.2, 0.5, 0.8))
        count = min(count, len(record["objects"]))
        tables = {
            name: [[j for j in range(count) if j != i and rng.random() < density] for i in range(count)]
            for name in domain.recorded_relations
        }
        more = {key: value for key, value in record.items() if key not in ("objects", "relationships")}
        yield compile_scene({**more, "objects": rng.sample(record["objects"], count), "relationships": tables}, domain)


def few_of(template: Template, policy: str) -> FewObjects:
    """The possible answers of one template alone."""
    plan = make_plan(template, Vocabularies(template.catalogue.domain), Sampling())
    return FewObjects(plan, policy)


def clevr_family(name: str) -> Template:
    """A shipped family of CLEVR."""
    return next(each for each in CLEVR.materials.templates if each.id == name)


def made(nodes: str, *constraints: str, catalogue: Catalogue = CLEVR.materials.catalogue) -> Template:
    """A template with some of these slots."""
    slots = {"<C>": "Color", "<S>": "Size", "<S2>": "Shape", "<R>": "Relation"}
    named = {slot: kind for slot, kind in slots.items() if slot in nodes}
    raw = {"text": ["Is it?"], **program_notation.template(nodes, named, *constraints)}
    (template,), faults = read_templates(raw, "", catalogue, "made.json", 0)
    assert not faults
    return template


PLUGIN = """
from vqagen.plugin import FILTER, NODE, RELATION, Undefined, constraint, function

@constraint('OUT_EARLIER', NODE, NODE)
def is_earlier(one, other):
    return one < other

@constraint('OUT_LATER', NODE, NODE)
def is_later(one, other):
    return one > other

@constraint('OUT_NEVER', NODE, NODE)
def never(one, other):
    raise Undefined

@function('Object', output='ObjectSet', role=RELATION)
def group(scene, anchor):
    return 1 << anchor

@function('ObjectSet', values=['Size'], output='ObjectSet', role=FILTER)
def others(scene, objects, size):
    return scene.everything & ~objects

@function('Object', 'Object', output='Size', asks='query')
def commoner(scene, one, other):
    return scene.values['size'][one]
"""


def plugged(folder: Path) -> Catalogue:
    """The catalogue of CLEVR with the plug-in."""
    (folder / "plugin.py").write_text(PLUGIN)
    return Catalogue(CLEVR.materials.domain, load_plugins([str(folder / "plugin.py")]).declarations)


def assert_is_searched(template: Template, count: int, is_found: bool = True) -> None:
    """The search is not skipped in a scene of so many objects, in which it finds something."""
    domain = CLEVR.materials.domain
    things = ("large red metal cube", "small blue metal cube")[:count]
    scene = compile_scene(scene_record(things, range(count), range(count)), domain)
    search = Search(make_plan(template, Vocabularies(domain), Sampling()), "none", keeps_foregone=True)

    assert bool(answers_found(search, scene, Random(1))) == is_found
    assert few_of(template, "none").refusal(scene, ()) == ""


def answers_found(search: Search, scene: Scene, rng: Random) -> set[Value]:
    """The answers of all fillings, or of some where there are many; the search knows nothing of few objects."""
    found = set[Value]()

    def take(filling: Filling) -> tuple[()]:
        found.add(filling.answer)
        return ()

    search.find_all(SceneTables(scene), rng, take, (), OPTIONS)
    return found


def assert_nothing_else_is_found(template: Template, records: Sequence[Record], seed: int) -> None:
    """The plain search finds no answer that is said to be impossible."""
    domain, rng = template.catalogue.domain, Random(seed)
    plan = make_plan(template, Vocabularies(domain), Sampling(idle_share=1))
    for policy in POLICIES:
        search, possible = Search(plan, policy, keeps_foregone=True), few_of(template, policy)
        for scene in small_scenes(records, domain, rng):
            found, answers = answers_found(search, scene, rng), possible.answers(scene.size)

            assert found <= answers or any(isinstance(each, few_objects.Unknown) for each in answers)
            assert not (found and possible.refusal(scene, ()))


@pytest.mark.quick(20)
@pytest.mark.parametrize(("collection", "family"), FAMILIES)
def test_the_plain_search_finds_no_answer_that_is_said_to_be_impossible(collection: Collection, family: int) -> None:
    """For every family, in scenes of one to four objects with relations of any kind, under every policy."""
    template = collection.materials.templates[family]

    assert_nothing_else_is_found(template, collection.sampled(12, seed=8), seed=family)


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", general_domain.TEMPLATES)
def test_the_same_holds_for_every_function_and_constraint(name: str) -> None:
    """The families of the pantry have all functions, constraints and composite nodes between them."""
    catalogue = Catalogue(domain_from_metadata(general_domain.METADATA))
    (template,), _ = read_templates(general_domain.TEMPLATES[name], "", catalogue, "pantry.json", 0)

    assert_nothing_else_is_found(template, general_domain.SCENES[:3], seed=len(name))


@pytest.mark.parametrize("name", test_superclevr.SCENES)
def test_the_same_holds_for_functions_of_plug_ins(name: str) -> None:
    """Nothing is known of their results."""
    here, rng = test_superclevr.HERE / name, Random(4)
    files = find_domain(metadata=f"{here}.json", templates=f"{here}_templates.json", plugins=f"{here}.py")
    domain = load_domain_files(files)
    scenes = [compile_scene(test_superclevr.SCENES[name](rng), domain.domain, index) for index in range(30)]

    for template in domain.templates:
        search, possible = Search(make_plan(template, Vocabularies(domain.domain), Sampling())), few_of(template, "all")
        for scene in scenes:
            assert not (answers_found(search, scene, rng) and possible.refusal(scene, ()))


@pytest.mark.parametrize(
    ("name", "count", "answers"),
    [
        ("two_hop.json#count", 2, set()),
        ("three_hop.json#query_size", 3, set()),
        ("single_and.json#query_size", 4, set()),
        ("single_or.json#count_both_related", 3, {2}),
        ("compare_integer.json#less", 1, {True, False}),
    ],
)
def test_a_family_has_these_answers_in_scenes_of_so_many_objects(name: str, count: int, answers: set[Value]) -> None:
    """Of two objects, each relation finds the other one anyway; a chain of four needs four.

    An object by way of two others needs five, for each relation excludes one.
    """
    assert few_of(clevr_family(name), "all").answers(count) == answers


def test_a_family_that_is_said_to_need_more_objects_fits_some_scene_that_has_one_more() -> None:
    """Nothing is skipped without need: three_hop has questions about four objects, single_and about five."""
    for name, count in (("three_hop.json#query_size", 4), ("single_and.json#query_size", 5)):
        assert few_of(clevr_family(name), "all").answers(count)


def test_an_answer_that_is_refused_is_no_reason_to_search() -> None:
    """Of three objects only two can be in either of two related sets; once that is too common, nothing is left."""
    few = few_of(clevr_family("single_or.json#count_both_related"), "all")
    scene = compile_scene(SMALL_SCENES[0], CLEVR.materials.domain)

    assert few.refusal(scene, ()) == few.refusal(scene, {1, 3}) == ""
    assert few.refusal(scene, {2}) == UNBALANCED


def test_nothing_is_said_of_programs_that_start_from_some_objects() -> None:
    """Relations reach the others, so that there are more objects than the program starts from."""
    few = few_of(clevr_family("three_hop.json#query_size"), "all")
    scene = compile_scene(SMALL_SCENES[0], CLEVR.materials.domain)

    assert few.refusal(scene, ()) == TOO_FEW
    assert few.refusal(scene.started_from(0b11), ()) == few.refusal(scene.seen(0b11), ()) == ""


def test_a_plan_with_too_many_states_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any answer is possible then."""
    monkeypatch.setattr(few_objects, "MOST_STEPS", 20)

    assert ANY in few_of(clevr_family("three_hop.json#query_size"), "all").answers(3)


def test_families_of_one_shape_share_what_was_found() -> None:
    """Four families that differ in the attribute asked for are explored once; another policy is another shape."""
    domain = CLEVR.materials.domain
    vocabularies = Vocabularies(domain)
    for policy in ("all", "none"):
        for attribute in domain.attributes:
            plan = make_plan(clevr_family(f"three_hop.json#query_{attribute.name}"), vocabularies, Sampling())
            FewObjects(plan, policy).answers(3)

    assert len(vocabularies.few_objects) == 2


def test_families_share_only_what_each_finds_alone() -> None:
    """Two that differ in a function, a constraint, the order of inputs or the policy have answers of their own."""
    compared = "scene, count 0, filter_count 0 <C>, less_than"
    two = "scene, filter_unique 0 <C>, filter_unique 0 <S>, equal_object 1 2"
    differing = [made(f"{compared} 1 2"), made(f"{compared} 2 1"), made(two), made(two, "OUT_NEQ 1 2")]
    vocabularies = Vocabularies(CLEVR.materials.domain)

    for template, policy in product([*CLEVR.materials.templates, *differing], POLICIES):
        sharing = FewObjects(make_plan(template, vocabularies, Sampling()), policy)
        for count in (1, 2):
            assert sharing.answers(count) == few_of(template, policy).answers(count)


def test_equal_values_of_two_objects_are_possible() -> None:
    """A constraint that two objects have one value does not make them one object."""
    nodes = "scene, filter_unique 0 <C>, filter_unique 0 <S>, query_shape 1, query_shape 2, equal_object 1 2"

    assert few_of(made(nodes, "OUT_EQ 3 4", "OUT_NEQ 1 2"), "none").answers(2) == {False}


def test_a_relation_is_needed_where_one_of_two_compared_results_changes_without_it() -> None:
    """Of the two objects, one is found among all objects, with the relation or without it."""
    template = made(
        "scene, filter_unique 0 <C>, relate 1 <R>, filter_unique 2 <S>, union 0 2, filter_unique 4 <S2>, "
        "equal_object 3 5"
    )

    assert few_of(template, "all").answers(3) == {True, False}


def test_what_is_not_known_is_not_idle() -> None:
    """Nothing is known of how many colors there are, with a relation or without it."""
    template = made("scene, filter_unique 0 <C>, relate 1 <R>, count_different_color 2")

    assert few_of(template, "all").answers(3) == {ANY}


@pytest.mark.parametrize("name", ["OUT_EARLIER", "OUT_LATER", "OUT_NEVER"])
def test_constraints_of_plug_ins_may_tell_objects_apart_by_their_numbers(name: str, tmp_path: Path) -> None:
    """A number of an object means nothing here, and a constraint may have no result: such constraints may hold."""
    nodes = "scene, filter_unique 0 <C>, filter_unique 0 <S>, equal_object 1 2"
    template = made(nodes, f"{name} 1 2", catalogue=plugged(tmp_path))

    assert_is_searched(template, 2, is_found=name != "OUT_NEVER")


@pytest.mark.parametrize(
    ("nodes", "count"),
    [
        ("scene, filter_unique 0 <C>, group 1, unique 2, query_size 3", 1),
        ("scene, filter 0 <C>, others 1 <S>, difference 2 1, unique 3, query_size 4", 2),
        ("scene, filter_unique 0 <C>, filter_unique 0 <S>, commoner 1 2", 2),
    ],
)
def test_functions_of_plug_ins_are_not_taken_for_those_of_vqagen_with_their_role(
    nodes: str, count: int, tmp_path: Path
) -> None:
    """A relation may lead to its anchor, a filter to other objects, and a query may be about two."""
    assert_is_searched(made(nodes, catalogue=plugged(tmp_path)), count)


def test_a_run_over_scenes_of_three_objects_says_which_families_need_more() -> None:
    """Such a family is tried in vain, without an option, and the reason is counted."""
    records = [{**SMALL_SCENES[0], "image_index": i, "image_filename": f"{i}.png"} for i in range(12)]
    settings = vqagen.QuestionSettings(only=("three_hop.json", "zero_hop.json"), search_budget=1)
    scenes = [compile_scene(record, CLEVR.materials.domain, index) for index, record in enumerate(records)]
    generator = QuestionGenerator(CLEVR.materials.templates, CLEVR.materials.synonyms, settings)
    tally = Tally()

    list(generator.window(scenes, tally))

    assert tally.failures_of("three_hop.json#query_size") == {TOO_FEW: 12}


def test_pairs_skip_families_that_need_more_objects() -> None:
    """They say so, as other runs do."""
    records = [{**SMALL_SCENES[0], "image_index": i, "image_filename": f"{i}.png"} for i in range(4)]
    settings = vqagen.QuestionSettings(balance="pairs", only=("three_hop.json",), search_budget=1)
    scenes = [compile_scene(record, CLEVR.materials.domain, index) for index, record in enumerate(records)]
    generator = QuestionGenerator(CLEVR.materials.templates, CLEVR.materials.synonyms, settings)
    tally = Tally()

    list(generator.window(scenes, tally))

    assert tally.failures_of("three_hop.json#query_size").keys() == {TOO_FEW}
