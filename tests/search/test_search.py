"""The search finds exactly the fillings that the slow twin (`naive.py`) finds, for every family."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import program_notation
import pytest
from commands import ROOT
from families import COLLECTIONS, SHIPPED, Collection
from general_domain import METADATA, SCENES, TEMPLATES
from oracles import naive
from scene_records import SMALL_SCENES, scene_record

from vqagen import find_domain, load_domain_files, sample_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.template import Constraint, Parameter, Template
from vqagen.language.template_check import read_templates
from vqagen.plugin import BUILT_IN, SLOT
from vqagen.search import vocabulary
from vqagen.search.description import Sampling
from vqagen.search.instantiate import Filling, Search
from vqagen.search.plan import make_plan
from vqagen.search.state import FOUND, GAVE_UP, UNBALANCED, Balance, SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

EVERYTHING = Sampling(idle_share=1, absent="none")
Record = dict[str, Any]
POLICIES = ("none", "clevr", "all")
SLOTS = {"<C>": "Color", "<C2>": "Color", "<S>": "Shape", "<S2>": "Shape", "<Z>": "Size", "<R>": "Relation"}
SLOTS |= {"<R2>": "Relation"}
THINGS = ("small gray rubber sphere", "large blue rubber cylinder", "small blue metal cube", "small red metal cube")

FAMILIES = [
    pytest.param(each, family, id=f"{each}/{template.id}", marks=() if each in SHIPPED else pytest.mark.slow)
    for each in COLLECTIONS
    for family, template in enumerate(each.materials.templates)
]


def as_instantiation(filling: Filling) -> naive.Instantiation:
    """A filling in the twin's form."""
    steps = tuple((node.function, node.inputs, node.values) for node in filling.program().nodes)
    return naive.Instantiation(tuple(sorted(filling.words().items())), steps, filling.answer)


def make_search(template: Template, policy: str, sampling: Sampling = EVERYTHING) -> Search:
    """A search over one template alone."""
    return Search(make_plan(template, Vocabularies(template.catalogue.domain), sampling), policy)


def every(search: Search, scene: Scene) -> list[Filling]:
    """Every filling, whatever its answer."""
    found: list[Filling] = []
    search.find_all(SceneTables(scene), Random(0), found.append, Balance(), 1 << 60)
    return found


def assert_found(raw: Record, template: Template, record: Record, metadata: Record, policy: str) -> bool:
    """Fail if the search finds other fillings than the twin, or one twice; return whether there are any."""
    found = every(make_search(template, policy), compile_scene(record, template.catalogue.domain))
    expected = naive.instantiations(raw, record, metadata, degeneracy=policy)
    assert {as_instantiation(filling) for filling in found} == expected
    assert len(found) == len(expected), "a filling was found twice"
    return bool(expected)


def made(
    nodes: str, slots: Mapping[str, str], *constraints: str, catalogue: Catalogue = COLLECTIONS[0].materials.catalogue
) -> tuple[Record, Template]:
    """A template in few words, raw and read; of the slots, those that it has."""
    used = {slot: kind for slot, kind in slots.items() if slot in nodes}
    raw = {"text": ["How?"], **program_notation.template(nodes, used, *constraints)}
    (template,), faults = read_templates(raw, "", catalogue, "made.json", 0)
    assert faults == []
    return raw, template


def narrowed(template: Template, open_types: tuple[str, ...]) -> Template:
    """The template with all slots of some types left open, as `naive.narrowed` does it to raw ones."""
    slots = [side for node in template.nodes if node.composite for side in node.side_inputs]
    extra = [
        Constraint(BUILT_IN.constraints["NULL"], (Parameter(SLOT, slot),))
        for slot in slots
        if template.slots[slot] in open_types
    ]
    return replace(template, constraints=(*template.constraints, *extra))


def open_types_for(template: Template) -> tuple[str, ...]:
    """Attributes to leave open, so that a family of several references stays small enough for brute force."""
    references = sum(1 for node in template.nodes if node.composite)
    described = [
        attribute.type
        for attribute in template.catalogue.domain.attributes
        if attribute.type in template.slots.values()
    ]
    asked = {template.answer_type} | {t for t in described if template.last_function.name.endswith(t.lower())}
    tied = {template.slots[s] for each in template.constraints if each.kind.name != "NULL" for s in each.slots}
    spare = [name for name in described if name not in asked | tied]
    return tuple(spare[: {1: 0, 2: 1, 3: 2}.get(references, 3)])


def compile_for(collection: Collection, record: dict[str, Any]) -> Scene:
    return compile_scene(record, collection.materials.domain)


@pytest.mark.quick(1)
@pytest.mark.parametrize(("collection", "family"), FAMILIES)
def test_the_search_finds_what_brute_force_finds(collection: Collection, family: int) -> None:
    """On small scenes the sets of fillings, programs and answers are the same, under every degeneracy policy."""
    whole = collection.materials.templates[family]
    open_types = open_types_for(whole)
    template = narrowed(whole, open_types)
    raw = naive.narrowed(collection.raw_template(whole.file, whole.index), open_types)
    record = collection.small_scenes[family % 3]

    for policy in POLICIES:
        assert_found(raw, template, record, collection.raw_metadata, policy)


@pytest.mark.quick(14)
@pytest.mark.parametrize(("collection", "family"), FAMILIES)
def test_one_filling_is_found_exactly_when_there_is_one(collection: Collection, family: int) -> None:
    """`find` gives a member of the full set; with answers refused, one with another answer; or says there is none."""
    whole = collection.materials.templates[family]
    template = narrowed(whole, open_types_for(whole))
    search = make_search(template, POLICIES[(family + 1) % len(POLICIES)])
    scene = compile_for(collection, collection.small_scenes[(family + 1) % 3])
    fillings = {(filling.picked, filling.answer) for filling in every(search, scene)}
    answers = {answer for _, answer in fillings}

    for wanted in [*sorted(answers, key=str), "no such answer"]:
        outcome = search.find(SceneTables(scene), Random(family), Balance(answers - {wanted}), set(), budget=1 << 40)
        found = outcome.filling
        if wanted == "no such answer":
            assert found is None and outcome.reason != FOUND and (outcome.reason == UNBALANCED) == bool(fillings)
        else:
            assert found is not None and found.answer == wanted and (found.picked, found.answer) in fillings


def test_a_search_gives_up_when_its_budget_is_used_up() -> None:
    """With one step to spend no family of two references can be filled, and the reason is said."""
    collection = COLLECTIONS[0]
    template = next(t for t in collection.materials.templates if t.file == "two_hop.json")
    scene = compile_for(collection, SMALL_SCENES[2])

    outcome = make_search(template, "none").find(SceneTables(scene), Random(0), Balance(), set(), budget=1)

    assert outcome.filling is None and outcome.reason == GAVE_UP


@pytest.mark.quick(8)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("nodes", "refused"),
    [
        ("scene, filter_unique 0 <C> <S>, relate 1 <R>, filter 2 <C2>, filter_unique 3 <S2>, query_size 4", ("small",)),
        ("scene, filter_unique 0 <C> <S>, relate 1 <R>, filter_color 2 <C2>, count 3", (1, 2)),
    ],
    ids=["description", "filter"],
)
def test_what_failed_for_an_idle_relation_is_tried_again_where_it_would_not_be_idle(
    nodes: str, refused: tuple[Any, ...], seed: int
) -> None:
    """The same objects, or none, come by with another relation, description or word, may be needed for an answer."""
    _, template = made(nodes, SLOTS)
    things = ["small cyan rubber sphere", "large blue rubber cylinder", "small blue metal cube"]
    scene = compile_for(COLLECTIONS[0], scene_record(things, [2, 0, 1], [0, 2, 1]))

    outcome = make_search(template, "all", Sampling()).find(
        SceneTables(scene), Random(seed), Balance(refused), set(), 1 << 40
    )

    assert outcome.reason == FOUND


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("nodes", "constraints"),
    [
        ("scene, filter_unique 0 <C>, relate 1 <R>, filter_unique 2 <S>, query_color 3", ()),
        ("scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <S>, query_color 2", ()),
        ("scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <C2>, same_size 2, count 3", ("OUT_GT_CONST 4 0",)),
        ("scene, filter_unique 0 <C>, same_size 1, count 2, equal_integer 3 3", ("OUT_GT_CONST 3 0",)),
        ("scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <Z>, query_shape 2", ()),
        (
            "scene, filter_unique 0 <C>, relate 1 <R>, filter 2 <C2>, filter 2 <S>, filter_count 3 <Z>, count 4, "
            "add 5 6",
            (),
        ),
        ("scene, filter_unique 0 <C>, relate 1 <R>, filter_color 2 <C2>, unique 3, query_size 4", ()),
        (
            "scene, filter 0 <C>, filter 0 <S>, difference 1 2, unique 3, filter 0 <S2>, difference 1 5, unique 6, "
            "query_size 4, query_size 7, equal_size 8 9",
            (),
        ),
        ("scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <S>, relate 2 <R>, count 3", ()),
        ("scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <S>, relate 2 <R2>, count 3", ("NEQ <R> <R2>",)),
        (
            "scene, filter_unique 0 <C>, relate_filter_unique 1 <R> <C2>, query_size 2",
            ("IN <C> gray|red", "NOT_IN <C2> red"),
        ),
    ],
    ids=[
        "reference",
        "relation",
        "check",
        "early check",
        "two vocabularies",
        "two sets",
        "unique alone",
        "differences",
        "again",
        "another",
        "some words",
    ],
)
@pytest.mark.parametrize("policy", POLICIES)
def test_relations_and_checks_are_followed_to_the_end(nodes: str, constraints: tuple[str, ...], policy: str) -> None:
    """What an idle relation is compared with, and what a check or a node reads, may be the last that is computed.

    Gray and small have the same code, in their own vocabularies, and are not the same words. Of two sets by way of a
    relation, it is enough that one differs without the relation.
    """
    raw, template = made(nodes, SLOTS, *constraints)
    record = scene_record(THINGS, [2, 0, 1, 3], [0, 2, 1, 3])

    assert assert_found(raw, template, record, COLLECTIONS[0].raw_metadata, policy) or policy != "none"


def test_repeated_searches_enumerate_without_repeats() -> None:
    """Asking again with what was seen gives every filling once, then says that there is no new one."""
    collection = COLLECTIONS[0]
    template = next(t for t in collection.materials.templates if t.file == "zero_hop.json" and t.answer_type == "Color")
    scene = compile_for(collection, SMALL_SCENES[2])
    search, seen = make_search(template, "none"), set[Any]()

    found = []
    while (
        outcome := search.find(SceneTables(scene), Random(len(found)), Balance(), seen, 1 << 40)
    ).filling is not None:
        found.append(outcome.filling.picked)

    assert len(found) == len(set(found)) == len(every(search, scene))


def test_a_search_for_every_filling_leaves_out_answers_that_are_refused_from_then_on() -> None:
    """Whoever takes each answer once gets all of them, and reads that there were some. What is refused at first may be
    wanted later.
    """
    collection = COLLECTIONS[0]
    template = next(t for t in collection.materials.templates if t.file == "zero_hop.json" and t.answer_type == "Color")
    search, scene = make_search(template, "none"), compile_for(collection, SMALL_SCENES[2])
    known = {filling.answer for filling in every(search, scene)}
    answers, balance = list[Any](), Balance()

    def take(filling: Filling) -> None:
        answers.append(filling.answer)
        balance.refused = frozenset(answers)

    assert search.find_all(SceneTables(scene), Random(0), take, balance, 1 << 40) == FOUND
    assert sorted(answers) == sorted(known)

    def open_up(filling: Filling) -> None:
        later.append(filling.answer)
        balance.refused = frozenset()

    later, balance.refused = list[Any](), frozenset(known - {"red"})
    search.find_all(SceneTables(scene), Random(0), open_up, balance, 1 << 40)
    assert later[0] == "red" and {*later} > {"red"}


@pytest.mark.quick(5)
@pytest.mark.parametrize("family", range(0, len(COLLECTIONS[0].materials.templates), 7))
def test_the_search_serves_a_start_set_and_a_view(family: int) -> None:
    """Questions about some objects, or from where left is right, need no other engine: their programs run there too."""
    template = COLLECTIONS[0].materials.templates[family]
    whole = compile_for(COLLECTIONS[0], SMALL_SCENES[2])
    swapped = {"left": whole.related["right"], "right": whole.related["left"]}
    views = [whole.started_from(0b1011), whole.seen(0b0111), whole.seen(related=swapped)]
    search = make_search(template, "none", Sampling(absent="none"))

    for scene in views:
        tables = SceneTables(scene)
        fillings = [search.find(tables, Random(seed), Balance(), set(), 1 << 40).filling for seed in range(30)]
        for filling in fillings:
            assert filling is None or filling.program().run(scene) == filling.answer


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "nodes",
    [
        "scene, count 0",
        "scene, filter_color 0 red, exist 1",
        "scene, filter_shape 0 sphere, unique 1, relate 2 left, count 3",
        "scene, filter_count 0",
        "scene, filter_shape 0 sphere, unique 1, relate_filter_count 2 right",
    ],
    ids=["no slot", "literal", "literal relation", "no attribute", "a relation alone"],
)
def test_a_template_without_a_choice_is_a_question_too(nodes: str, policy: str) -> None:
    """Nothing to fill, or only literal values: one filling, or none where a relation is idle."""
    assert_found(*made(nodes, {}), SMALL_SCENES[0], COLLECTIONS[0].raw_metadata, policy)


# A general domain -----------------------------------------------------------------------------------------------------

CATALOGUE = Catalogue(domain_from_metadata(METADATA))
CASES = [(name, scene) for name in TEMPLATES for scene in range(len(SCENES))]


@pytest.mark.quick(14)
@pytest.mark.parametrize(("name", "scene"), CASES, ids=[f"{name}-{scene}" for name, scene in CASES])
def test_the_search_finds_what_the_twin_finds(name: str, scene: int) -> None:
    """Under every degeneracy policy, and each filling once."""
    (template,), faults = read_templates(TEMPLATES[name], "", CATALOGUE, "pantry.json", 0)
    assert not faults
    for policy in POLICIES:
        assert_found(TEMPLATES[name], template, SCENES[scene], METADATA, policy)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", TEMPLATES)
def test_of_many_descriptions_the_short_ones_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if six attributes were too many to list: all fillings whose descriptions say at most two words, each once."""
    monkeypatch.setattr(vocabulary, "MOST_LISTED", 1)
    (template,), _ = read_templates(TEMPLATES[name], "", CATALOGUE, "pantry.json", 0)
    for record in SCENES:
        expected = naive.instantiations(TEMPLATES[name], record, METADATA, degeneracy="all")
        compiled = compile_scene(record, CATALOGUE.domain)
        found = every(make_search(template, "all", EVERYTHING), compiled)

        assert {*map(as_instantiation, found)} == {each for each in expected if longest_chain(each) <= 2}
        assert len(found) == len({as_instantiation(filling) for filling in found})


@pytest.mark.slow
def test_few_of_many_descriptions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 11 attributes: an answer that one description of hundreds gives is given in each scene that has it."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "benches"))
    folder = importlib.import_module("wide_domain").make_wide_domain(tmp_path / "wide")
    loaded = load_domain_files(find_domain(folder))
    template = next(each for each in loaded.templates if each.name == "same_count_hue")
    search, found = make_search(template, "all", Sampling()), []
    for index, record in enumerate(sample_scenes(12, metadata=folder / "metadata.json")):
        scene = compile_scene(record, loaded.domain)
        if any(objects & (objects - 1) for objects in scene.having["hue"].values()):
            found.append(search.find(SceneTables(scene), Random(index), Balance((0,)), set()).reason)

    assert len(found) > 6 and set(found) == {FOUND}


def longest_chain(each: naive.Instantiation) -> int:
    """The most filters that follow one another."""
    chains = [0]
    for function, inputs, _ in each.program:
        chains.append(chains[inputs[0] + 1] + 1 if function.startswith("filter_") else 0)
    return max(chains)
