"""A program on many scenes at once has in each the result that it has there by itself (see `pool`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from families import SHIPPED, Collection
from general_domain import METADATA, SCENES
from hypothesis import given, settings, strategies as st
from oracles import naive_pairs
from oracles.naive_programs import Undefined, run
from oracles.naive_vocabulary import make_world
from oracles.oracle import signatures
from program_notation import program

import vqagen
from vqagen import Generation
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.plugin import Undefined as NoResult
from vqagen.tasks.questions.pool import ScenePool
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

RELATIONS = ("relate", "same_", "different_")
CLEVR = next(each for each in SHIPPED if each.is_clevr)

Record = dict[str, Any]


class Scenes:
    """Scene records with all that can be made of them, and the pool of all."""

    def __init__(self, records: Sequence[Record], metadata: Record, catalogue: Catalogue) -> None:
        self.records, self.metadata, self.catalogue = records, metadata, catalogue
        self.scenes = [compile_scene(record, catalogue.domain, index) for index, record in enumerate(records)]
        self.worlds = [make_world(record, metadata) for record in records]
        self.pool = ScenePool(self.scenes, catalogue)

    def read(self, steps: list[Record]) -> Program:
        return Program.from_records(steps, self.catalogue)

    def wrong(self, steps: list[Record]) -> list[str]:
        """Where the pool has another result than the slow twin: which scenes have an answer, it, and the needs."""
        checked = self.read(steps)
        columns = self.pool.run(checked.nodes)
        running = self.pool.running(columns)
        answers = {answer: scenes & running for answer, scenes in columns[-1].values.items()}
        related = [n for n, step in enumerate(steps) if step["type"].startswith(RELATIONS)]
        needs = {n: {*self.pool.lanes(self.pool.needing(checked.nodes, columns, n))} for n in related}
        wrong = []
        for place, world in enumerate(self.worlds):
            found = [answer for answer, scenes in answers.items() if place in self.pool.lanes(scenes)]
            try:
                outputs = run(world, steps)
            except Undefined:
                wrong += [f"{place}: answered"] if found else []
                continue
            if [(type(answer), answer) for answer in found] != [(type(outputs[-1]), outputs[-1])]:
                wrong.append(f"{place}: {found!r}, not {outputs[-1]!r}")
            side = naive_pairs.Side({"program": steps}, self.records[place], world, outputs)
            wrong += [
                f"{place}: needs {n}: {place in needs[n]}"
                for n in related
                if (place in needs[n]) == naive_pairs.is_idle(side, n)
            ]
        return wrong


def has_answer(checked: Program, scene: Scene) -> bool:
    try:
        checked.run(scene)
    except NoResult:
        return False
    return True


@cache
def sampled(collection: Collection, count: int = 40) -> Scenes:
    """Sampled scenes of a shipped domain."""
    records = collection.sampled(count, seed=29)
    return Scenes(records, collection.raw_metadata, collection.materials.catalogue)


@cache
def programs(collection: Collection, count: int) -> list[Program]:
    """The programs of a run over many families, each once."""
    chosen = vqagen.QuestionSettings(templates_per_image=60, count=count, balance="answers", degeneracy="none")
    run_ = Generation(collection.sampled(count, seed=30), collection.materials, chosen)
    found = {question.program.nodes: question.program for _, made in run_.by_scene() for question in made}
    return list(found.values())


# The programs of the shipped templates --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_programs_of_templates_have_the_same_results(collection: Collection, count: int) -> None:
    """The same answers, the same scenes without one, and the same relations that matter."""
    scenes = sampled(collection)
    made = programs(collection, count)

    faults = {str(each.nodes): scenes.wrong(each.to_records()) for each in made}

    assert {steps: wrong for steps, wrong in faults.items() if wrong} == {}
    assert len(made) > 40 * count**0.5


# Functions that no shipped template has -------------------------------------------------------------------------------

BY_RED = "scene, filter_color 0 red, unique 1"
UNUSUAL = [
    "scene, filter_color 0 red, scene, filter_shape 2 cube, difference 1 3, count 4",
    "scene, filter_color 0 red, scene, filter_shape 2 cube, difference 3 1, exist 4",
    "scene, filter_color 0 red, scene, filter_shape 2 cube, union 1 3, count 4",
    "scene, filter_color 0 red, count 1, scene, filter_shape 3 cube, count 4, add 2 5",
    "scene, filter_color 0 red, count 1, scene, filter_shape 3 cube, count 4, subtract 2 5",
    "scene, count 0, scene, filter_shape 2 cube, count 3, subtract 1 4",
    "scene, filter_shape 0 cube, choose 1 two",
    "scene, filter_shape 0 cube, choose 1 one, scene, filter_shape 3 cube, count 4, equal_integer 2 5",
    "scene, filter_color 0 red, count 1, scene, filter_shape 3 cube, count 4, addition 2 5",
    "scene, filter_color 0 red, count 1, scene, filter_shape 3 cube, count 4, subtraction 2 5",
    f"{BY_RED}, different_color 2, count 3",
    f"{BY_RED}, different_shape 2, filter_size 3 large, exist 4",
    f"{BY_RED}, different_size 2, filter_shape 3 sphere, unique 4, query_material 5",
    "scene, filter_size 0 large, count_different_color 1",
    "scene, filter_shape 0 cube, not_unique 1, count_different_material 2",
    f"{BY_RED}, relate 2 left, count_different_shape 3",
    f"{BY_RED}, scene, filter_shape 3 cube, unique 4, equal_object 2 5",
    f"{BY_RED}, relate 2 left, filter_shape 3 cube, unique 4, scene, filter_size 6 large, unique 7, equal_object 5 8",
    "scene, filter_color 0 red, exist 1, scene, filter_color 3 blue, exist 4, and 2 5",
    "scene, filter_color 0 red, exist 1, scene, filter_color 3 blue, exist 4, or 2 5",
    "scene, filter_color 0 red, exist 1, not 2",
    f"{BY_RED}, filter_color 0 blue, unique 3, relate_facing 2 4 left, count 5",
    f"{BY_RED}, filter_color 0 blue, unique 3, nearest 2 0, unique 5, is_related_facing 2 4 6 front",
    f"{BY_RED}, relate_across 2 behind, filter_size 3 small, exist 4",
    f"{BY_RED}, filter_color 0 blue, unique 3, is_related_across 2 4 right",
    f"{BY_RED}, farthest 2 0, filter_shape 3 cube, exist 4",
    f"{BY_RED}, filter_color 0 blue, unique 3, nearest 2 0, unique 5, farther 2 4 6, nearer 2 4 7, query_size 8",
    f"{BY_RED}, farthest 2 0, unique 3, nearest 2 0, unique 5, times_as_far 2 4 6",
    "scene, filter_shape 0 cube, not_unique 1, filter_color 2 red, count 3",
    f"{BY_RED}, query_shape 2, query_shape 2, equal_shape 3 4",
    f"{BY_RED}, query_color 2, scene, filter_shape 4 cube, unique 5, query_color 6, equal_color 3 7",
    f"{BY_RED}, same_shape 2, same_shape 2, union 3 4, count 5",
    f"{BY_RED}, relate 2 left, unique 3, relate 4 behind, unique 5, same_size 6, unique 7, query_color 8",
    f"{BY_RED}, relate 2 left, count 3, {BY_RED.replace('0', '5').replace(' 1', ' 6')}, "
    "relate 7 right, count 8, less_than 4 9",
    "scene, unique 0, query_color 1",
    "scene, filter_color 0 red, filter_color 1 blue, exist 2",
    "scene, count 0",
]


@pytest.mark.quick(1)
@pytest.mark.parametrize("text", UNUSUAL)
def test_programs_by_hand_have_the_same_results(text: str) -> None:
    """A number that is chosen is written as a word, for the notation takes numbers for inputs."""
    steps = program(text)
    for step in steps:
        step["value_inputs"] = [{"one": "1", "two": "2"}.get(value, value) for value in step["value_inputs"]]

    assert sampled(CLEVR, fewer(150, least=40)).wrong(steps) == []


def test_every_function_of_the_domain_is_among_them() -> None:
    """By its family."""
    used = {step["type"].rpartition("_")[0] for text in UNUSUAL for step in program(text)}
    used |= {step["type"] for text in UNUSUAL for step in program(text)}
    used |= {name.rpartition("_")[0] for each in programs(CLEVR, 2) for name, _, _ in each.nodes}
    used |= {name for each in programs(CLEVR, 2) for name, _, _ in each.nodes}
    families = [name if name in used else name.rpartition("_")[0] for name in CLEVR.materials.catalogue]

    assert [name for name in families if name not in used] == []


@st.composite
def any_program(draw: st.DrawFn, metadata: Record) -> list[Record]:
    """A well-typed program of up to nine random steps, and what it takes to end in an answer."""
    known = signatures(metadata)
    kinds: list[str] = ["ObjectSet"]
    steps: list[Record] = [{"type": "scene", "inputs": [], "value_inputs": []}]
    for _ in range(draw(st.integers(1, 9))):
        fitting = sorted(n for n, each in known.items() if each.inputs and set(each.inputs) <= set(kinds))
        add_step(draw, metadata, steps, kinds, draw(st.sampled_from(fitting)))
    if kinds[-1] == "Object":
        add_step(draw, metadata, steps, kinds, draw(st.sampled_from(["query_color", "same_size", "query_shape"])))
    if kinds[-1] == "ObjectSet":
        add_step(draw, metadata, steps, kinds, draw(st.sampled_from(["count", "exist", "count_different_color"])))
    return steps


def add_step(draw: st.DrawFn, metadata: Record, steps: list[Record], kinds: list[str], name: str) -> None:
    """Add a step, the first input of which is the latest that fits more often than not."""
    signature = signatures(metadata)[name]
    inputs = []
    for wanted in signature.inputs:
        fitting = [number for number, kind in enumerate(kinds) if kind == wanted]
        inputs.append(draw(st.sampled_from([fitting[-1], *fitting])))
    values = [draw(st.sampled_from(naive_pairs.values_of(metadata, kind))) for kind in signature.values]
    steps.append({"type": name, "inputs": inputs, "value_inputs": values})
    kinds.append(signature.output)


@pytest.mark.parametrize("examples", [20, pytest.param(1500, marks=pytest.mark.slow)])
def test_any_program_has_the_same_results(examples: int) -> None:
    """Programs of any functions, also such as no one would write, in which steps are used twice or not at all."""

    @given(steps=any_program(CLEVR.raw_metadata))
    @settings(max_examples=examples)
    def are_same(steps: list[Record]) -> None:
        assert sampled(CLEVR, 25).wrong(steps) == []

    are_same()


# Scenes of all kinds --------------------------------------------------------------------------------------------------


def with_gaps() -> Scenes:
    """Scenes of the pantry, in which labels are missing, kinds have groups, and lists may be said of an object."""
    return Scenes(SCENES, METADATA, Catalogue(domain_from_metadata(METADATA)))


@pytest.mark.parametrize(
    "text",
    [
        "scene, filter_kind 0 loaf, count 1",
        "scene, filter_topping 0 salt, count 1",
        "scene, filter_origin 0 mainland, filter_tint 1 pale, count 2",
        "scene, filter_kind 0 pear, unique 1, query_label 2",
        "scene, filter_kind 0 apple, unique 1, query_kind 2",
        "scene, filter_kind 0 apple, unique 1, same_label 2, count 3",
        "scene, filter_kind 0 bun, unique 1, same_label 2, count 3",
        "scene, filter_kind 0 bun, unique 1, different_label 2, count 3",
        "scene, filter_kind 0 fruit, unique 1, different_origin 2, filter_kind 3 bread, count 4",
        "scene, count_different_label 0",
        "scene, filter_kind 0 loaf, count_different_kind 1",
        "scene, filter_kind 0 bun, unique 1, relate 2 beside, count 3",
        "scene, filter_label 0 sale, unique 1, query_label 2, scene, filter_kind 4 loaf, unique 5, query_label 6, "
        "equal_label 3 7",
        "scene, filter_kind 0 bun, unique 1, same_topping 2, count 3",
        "scene, filter_kind 0 bun, unique 1, different_topping 2, count 3",
        "scene, filter_kind 0 bun, unique 1, query_topping 2",
        "scene, count_different_topping 0",
    ],
)
def test_missing_values_groups_and_lists_are_as_in_one_scene(text: str) -> None:
    assert with_gaps().wrong(program(text)) == []


@pytest.mark.slow
def test_a_scene_that_does_not_know_a_relation_has_no_answer() -> None:
    steps = program("scene, filter_color 0 red, unique 1, relate 2 left, count 3")
    records = [dict(record) for record in CLEVR.sampled(90, seed=29)]
    for record in records[::2]:
        record["relationships"] = {}
        record.pop("directions", None)
    scenes = Scenes(records, CLEVR.raw_metadata, CLEVR.materials.catalogue)
    checked = scenes.read(steps)
    answered = {*scenes.pool.lanes(scenes.pool.running(scenes.pool.run(checked.nodes)))}

    assert answered == {place for place, scene in enumerate(scenes.scenes) if has_answer(checked, scene)}
    assert answered and all(place % 2 for place in answered)


@pytest.mark.parametrize("size", [0, 1, 65])
def test_scenes_of_any_size(size: int) -> None:
    """The others of the pool are small."""
    scenes = Scenes([big_scene(size), *CLEVR.sampled(3, seed=29)], CLEVR.raw_metadata, CLEVR.materials.catalogue)
    for text in ("scene, count 0", "scene, filter_size 0 large, count 1", "scene, unique 0, query_color 1",
                 "scene, filter_shape 0 cylinder, unique 1, relate 2 left, count 3",
                 "scene, filter_shape 0 cylinder, unique 1, same_color 2, count 3"):  # fmt: skip
        assert scenes.wrong(program(text)) == []


def big_scene(size: int) -> Record:
    """Cubes in a row, large and small in turn, with a cylinder at the end."""
    rows = {
        "left": [[*range(i)] for i in range(size)],
        "right": [[*range(i + 1, size)] for i in range(size)],
        "front": [[] for _ in range(size)],
        "behind": [[] for _ in range(size)],
    }
    things = [{"size": "large" if i % 2 else "small", "color": "red" if i % 3 else "gray", "material": "metal",
               "shape": "cube" if i < size - 1 else "cylinder"} for i in range(size)]  # fmt: skip
    return {"image_filename": "big.png", "image_index": 0, "objects": things, "relationships": rows}


# Functions of plug-ins -----------------------------------------------------------------------------------------------

PLUGIN = '''
"""Heavier things."""

from vqagen.bits import union_of
from vqagen.plugin import RELATION, function


@function("Object", output="ObjectSet", role=RELATION)
def heavier(scene, anchor):
    """The objects that weigh more than an object."""
    return union_of(i for i, size in enumerate(scene.values["size"]) if size < scene.values["size"][anchor])
'''
HEAVIER = {
    "name": "heavier",
    "text": ["How many <C2> things are heavier than the <Z> <C> <S>?"],
    "params": [{"type": kind, "name": slot} for kind, slot in
               (("Size", "<Z>"), ("Color", "<C>"), ("Shape", "<S>"), ("Color", "<C2>"))],
    "nodes": [
        {"type": "scene", "inputs": []},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<Z>", "<C>", "<S>"]},
        {"type": "heavier", "inputs": [1]},
        {"type": "filter_count", "inputs": [2], "side_inputs": ["<C2>"]},
    ],
}  # fmt: skip


@pytest.mark.slow
def test_questions_with_functions_of_plugins_are_paired(tmp_path: Path) -> None:
    """In both scenes the program has its answer, they differ, and the relation of the plug-in matters."""
    (tmp_path / "t.json").write_text(json.dumps([HEAVIER]))
    (tmp_path / "mine.py").write_text(PLUGIN)
    made = vqagen.generate(
        CLEVR.sampled(90, seed=29),
        templates=tmp_path / "t.json",
        plugins=[str(tmp_path / "mine.py")],
        balance="pairs",
        templates_per_image=1,
    )
    pairs: dict[int, list[vqagen.Question]] = {}
    for question in made:
        pairs.setdefault(question.pair, []).append(question)

    assert len(pairs) > 8
    for first, second in pairs.values():
        assert first.scene.index != second.scene.index
        assert first.program.nodes == second.program.nodes
        assert first.value == first.program.run(first.scene) != second.value == second.program.run(second.scene)
        assert matters(first) and matters(second)


def matters(question: vqagen.Question) -> bool:
    """Whether the answer changes if everything else in the scene were heavier."""
    outputs = question.program.outputs(question.scene)
    at = next(n for n, node in enumerate(question.program.nodes) if node.function == "heavier")
    anchor = outputs[question.program.nodes[at].inputs[0]]
    words = [node.values[0] for node in question.program.nodes[at + 1 :] if node.values]
    among = [each for n, each in enumerate(question.scene.record["objects"]) if n != anchor]
    return sum(1 for each in among if all(word == each["color"] for word in words)) != question.value
