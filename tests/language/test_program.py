"""Programs: JSON in = JSON out, every fault is told with its place, and a program can start from any set or view.

The scene is the one of `test_functions.py`: a large red metal cube (0), a small red rubber sphere (1) and a small blue
metal cube (2), which stand 2, 0, 1 from left to right.
"""

from __future__ import annotations

import copy
import json
from copy import deepcopy
from typing import Any

import pytest
from depth import fewer
from scene_records import sampled_scenes, scene_record

import vqagen
from vqagen import Generation, find_scenes, load_domain_files
from vqagen.bits import union_of
from vqagen.errors import BadInput
from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import record_writer
from vqagen.plugin import Undefined
from vqagen.rng import Random, pick, stream
from vqagen.world.domain import load_domain
from vqagen.world.scene import Scene, compile_scene

CATALOGUE = Catalogue(load_domain(shipped("metadata") / "clevr.json"))
OBJECTS = ("large red metal cube", "small red rubber sphere", "small blue metal cube")
RECORD = scene_record(OBJECTS, [2, 0, 1], [0, 1, 2])
SCENE = compile_scene(RECORD, CATALOGUE.domain)

COLOR_LEFT_OF_LARGE = [
    {"type": "scene", "inputs": [], "value_inputs": []},
    {"type": "filter_size", "inputs": [0], "value_inputs": ["large"]},
    {"type": "unique", "inputs": [1], "value_inputs": []},
    {"type": "relate", "inputs": [2], "value_inputs": ["left"]},
    {"type": "unique", "inputs": [3], "value_inputs": []},
    {"type": "query_color", "inputs": [4], "value_inputs": []},
]


def program_of(records: Any) -> Program:
    return Program.from_records(records, CATALOGUE, "mine.json")


def renamed(records: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    """The records with other keys: the dialect of other tools."""
    return [{names.get(key, key): value for key, value in record.items()} for record in records]


def count_of(*filters: tuple[str, str], first: str = "scene") -> Program:
    """How many objects there are that pass some filters."""
    steps = [{"type": first, "inputs": []}]
    steps += [{"type": name, "inputs": [i], "value_inputs": [value]} for i, (name, value) in enumerate(filters)]
    return program_of([*steps, {"type": "count", "inputs": [len(filters)]}])


# JSON in = JSON out ----------------------------------------------------------------------------------------------


def test_a_program_of_steps_is_the_program_of_its_nodes() -> None:
    """It has the same nodes and JSON text, and is equal to it also when copied, whatever was read of it before."""
    whole = Program.from_records(COLOR_LEFT_OF_LARGE, CATALOGUE)

    made = Program.of_steps([tuple(node) for node in whole.nodes], CATALOGUE)

    for key in ("type", "function", "type"):
        assert json.loads(made.to_json(key)) == whole.to_records(key)
        assert made.to_json(key) == whole.to_json(key)
    assert copy.copy(made) == made == whole
    assert made.nodes == whole.nodes
    assert hash(made) == hash(whole)


@pytest.mark.parametrize("function_key", ["type", "function"])
def test_both_dialects_go_in_and_out_unchanged(function_key: str) -> None:
    records = renamed(COLOR_LEFT_OF_LARGE, {"type": function_key})

    assert json.loads(json.dumps(program_of(records).to_records(function_key))) == records


def test_a_program_keeps_the_names_it_was_written_with() -> None:
    """Who says addition for add reads addition again."""
    counts = [{"type": "scene", "inputs": [], "value_inputs": []}, {"type": "count", "inputs": [0], "value_inputs": []}]
    records = [*counts, {"type": "addition", "inputs": [1, 1], "value_inputs": []}]

    assert program_of(records).to_records() == records
    assert program_of(records).run(SCENE) == 6


def test_what_is_empty_may_be_left_out() -> None:
    """Absent, null and empty lists are the same, and unknown keys do not count."""
    records = [{key: value for key, value in record.items() if value} for record in COLOR_LEFT_OF_LARGE]
    records[0]["value_inputs"] = None
    records[0]["_output"] = [0, 1, 2]

    assert program_of(records) == program_of(COLOR_LEFT_OF_LARGE)


# Running ---------------------------------------------------------------------------------------------------------


def test_answer_and_its_type() -> None:
    program = program_of(COLOR_LEFT_OF_LARGE)

    assert (program.run(SCENE), program.answer_type) == ("blue", "Color")


def test_every_step_can_be_read() -> None:
    """Sets as lists of object indexes, for JSON and people."""
    readable = program_of(COLOR_LEFT_OF_LARGE).readable_outputs(SCENE)

    assert readable == [[0, 1, 2], [0], 0, [2], 2, "blue"]


def test_no_answer_is_undefined() -> None:
    """Two small objects have no one color."""
    records = copy.deepcopy(COLOR_LEFT_OF_LARGE)
    records[1]["value_inputs"] = ["small"]

    with pytest.raises(Undefined):
        program_of(records).run(SCENE)


@pytest.mark.parametrize(("start", "expected"), [([], 0), ([0], 1), ([1], 0), ([0, 1, 2], 2), ([0, 7], 1)])
def test_a_program_starts_from_the_set_it_is_given(start: list[int], expected: int) -> None:
    """What lies outside is not counted, and what is not in the scene does not appear."""
    assert count_of(("filter_shape", "cube")).run(SCENE, union_of(start)) == expected


def test_relations_reach_beyond_the_start() -> None:
    """Started from the large cube alone, what is left of it is still found; only `seen` hides."""
    program = program_of(COLOR_LEFT_OF_LARGE)

    assert program.run(SCENE, union_of([0])) == "blue"


def mirrored(scene: Scene) -> Scene:
    """As someone sees it who stands opposite."""
    return scene.seen(related={"left": scene.related["right"], "right": scene.related["left"]})


def test_a_view_from_the_other_side_swaps_left_and_right() -> None:
    program = program_of(COLOR_LEFT_OF_LARGE)

    assert program.run(mirrored(SCENE)) == "red"
    assert program.run(mirrored(mirrored(SCENE))) == program.run(SCENE) == "blue"


def test_a_view_hides_objects_from_every_step() -> None:
    """Without the blue cube there is nothing left of the large one, one cube, and no other metal thing."""
    view = SCENE.seen(union_of([0, 1]))
    same = [{"type": "scene"}, {"type": "filter_size", "inputs": [0], "value_inputs": ["large"]},
            {"type": "unique", "inputs": [1]}, {"type": "same_material", "inputs": [2]},
            {"type": "exist", "inputs": [3]}]  # fmt: skip

    assert count_of(("filter_shape", "cube")).run(view) == 1
    assert (program_of(same).run(SCENE), program_of(same).run(view)) == (True, False)
    with pytest.raises(Undefined):
        program_of(COLOR_LEFT_OF_LARGE).run(view)


def test_a_view_can_be_started_from_a_set() -> None:
    assert count_of().run(SCENE.seen(union_of([0, 1])), union_of([1, 2])) == 1


# Faults ----------------------------------------------------------------------------------------------------------

START = {"type": "scene", "inputs": []}
ONE = {"type": "unique", "inputs": [0]}

FAULTS: list[tuple[Any, str, str]] = [
    (None, "program", "expected a list of program nodes, found null or nothing"),
    ({}, "program", "expected a list of program nodes, found an object"),
    ([], "program", "expected a list of program nodes, found a list of 0"),
    ([START, 3], "program[1]", "expected a program node, found 3"),
    ([START, [START]], "program[1]", "expected a program node, found a list of 1"),
    ([START, {"inputs": [0]}], "program[1].type", "expected the name of a function, found null or nothing"),
    ([START, {"type": 3}], "program[1].type", "expected the name of a function, found 3"),
    ([START, {"type": "cuont", "inputs": [0]}], "program[1].type", "unknown function 'cuont'; did you mean 'count'?"),
    ([START, {"function": "cuont"}], "program[1].function", "unknown function 'cuont'; did you mean 'count'?"),
    (
        [START, {"type": "filter_count", "inputs": [0]}],
        "program[1].type",
        "unknown function 'filter_count'; known:",
    ),
    ([START, {"type": "count"}], "program[1].inputs", "count takes 1 input, found 0"),
    ([START, {"type": "count", "inputs": [0, 0]}], "program[1].inputs", "count takes 1 input, found 2"),
    ([START, {"type": "union", "inputs": [0]}], "program[1].inputs", "union takes 2 inputs, found 1"),
    ([START, {"type": "count", "inputs": [1]}], "program[1].inputs[0]", "input 1 is not an earlier node"),
    ([START, {"type": "count", "inputs": [-1]}], "program[1].inputs[0]", "input -1 is not an earlier node"),
    ([START, {"type": "count", "inputs": ["0"]}], "program[1].inputs[0]", "input '0' is not an earlier node"),
    ([START, {"type": "count", "inputs": [0.0]}], "program[1].inputs[0]", "input 0.0 is not an earlier node"),
    ([START, {"type": "count", "inputs": [False]}], "program[1].inputs[0]", "input false is not an earlier node"),
    (
        [START, {"type": "query_size", "inputs": [0]}],
        "program[1].inputs[0]",
        "query_size takes Object, but node 0 gives ObjectSet",
    ),
    (
        [START, ONE, {"type": "union", "inputs": [0, 1]}],
        "program[2].inputs[1]",
        "union takes ObjectSet, but node 1 gives Object",
    ),
    ([START, {"type": "filter_size", "inputs": [0]}], "program[1].value_inputs", "filter_size takes 1 value, found 0"),
    ([{"type": "scene", "side_inputs": ["red"]}], "program[0].side_inputs", "scene takes 0 values, found 1"),
    (
        [START, {"type": "filter_color", "inputs": [0], "value_inputs": ["gren"]}],
        "program[1].value_inputs[0]",
        "unknown Color 'gren'; did you mean 'green'?",
    ),
    (
        [START, ONE, {"type": "relate", "inputs": [1], "value_inputs": ["beside"]}],
        "program[2].value_inputs[0]",
        "unknown Relation 'beside'; known: left, right, behind, front",
    ),
    (
        [START, {"type": "filter_size", "inputs": [0], "value_inputs": [3]}],
        "program[1].value_inputs[0]",
        "unknown Size 3",
    ),
]


def problems_of(records: Any) -> list[tuple[str, str]]:
    with pytest.raises(BadInput) as raised:
        program_of(records)
    assert {problem.source for problem in raised.value.problems} == {"mine.json"}
    return [(problem.path, problem.message) for problem in raised.value.problems]


@pytest.mark.parametrize(("records", "path", "message"), FAULTS)
def test_fault(records: Any, path: str, message: str) -> None:
    """One fault is told once, at its place."""
    ((found_path, found_message),) = problems_of(records)

    assert found_path == path
    assert message in found_message


def test_all_faults_are_told_at_once() -> None:
    """In the order of the program; what follows from a fault is not told again."""
    records = [
        {"type": "scen", "inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["gren"]},
        {"type": "unique", "inputs": [2]},
        {"type": "query_color", "inputs": [1]},
    ]

    assert [path for path, _ in problems_of(records)] == [
        "program[0].type",
        "program[1].value_inputs[0]",
        "program[2].inputs[0]",
        "program[3].inputs[0]",
    ]


# Nodes like those of earlier programs are not checked again: that changes no program, answer or fault ----------------

CLEAN = Catalogue(CATALOGUE.domain)
Nodes = list[dict[str, Any]]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    """Some scenes."""
    return [compile_scene(record, CATALOGUE.domain, place) for place, record in enumerate(sampled_scenes(12, seed=3))]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, Nodes]]:
    """The programs of questions about them, as records, each with the index of its scene."""
    path = tmp_path_factory.mktemp("scenes") / "scenes.json"
    path.write_text(json.dumps({"scenes": sampled_scenes(12, seed=3)}))
    run = Generation(find_scenes(path), load_domain_files(), vqagen.QuestionSettings())
    write = record_writer("generator")
    return [(question.scene.index, write(question)["program"]) for _, made in run.by_scene() for question in made]


def read(program: object, scene: Scene, catalogue: Catalogue) -> tuple[object, str] | list[str]:
    """The answer and its type, or the faults of a program."""
    try:
        checked = Program.from_records(program, catalogue)
        answer = checked.run(scene)
    except BadInput as error:
        return [str(each) for each in error.problems]
    except Undefined as error:
        return [str(error)]
    return (answer, type(answer).__name__)


def read_alone(program: object, scene: Scene) -> tuple[object, str] | list[str]:
    """The same by a catalogue that has seen no program before."""
    CLEAN.sound_nodes.clear()
    return read(program, scene, CLEAN)


@pytest.mark.slow
def test_every_program_has_its_answer_in_every_scene(programs: list[tuple[int, Nodes]], scenes: list[Scene]) -> None:
    """Whatever programs came before."""
    for place, program in programs:
        assert read(program, scenes[place], CATALOGUE) == read_alone(program, scenes[place])


STRANGE: tuple[object, ...] = (True, False, 0, 1, 2, -1, 1.0, "", "1", "red", "scene", "unique", None, [], [1], {}, 99)


def spoil(program: Nodes, rng: Random) -> object:
    """Change something of a program: a function, an input, a value, a key, a node, or what the program is."""
    nodes: Any = deepcopy(program)
    node, strange = pick(rng, nodes), pick(rng, STRANGE)
    others = [other for other in nodes if other["value_inputs"]] or nodes
    changes: list[Any] = [
        lambda: node.update(type=strange),
        lambda: node.update(type=pick(rng, nodes)["type"]),
        lambda: node.update(inputs=strange),
        lambda: node.update(inputs=[strange for _ in node["inputs"]]),
        lambda: node.update(inputs=[*node["inputs"], strange]),
        lambda: node.update(inputs=[pick(rng, [True, 1.0, i, -i, i + 1]) for i in node["inputs"]]),
        lambda: node.update(inputs=node["inputs"][:-1]),
        lambda: node.update(value_inputs=strange),
        lambda: node.update(value_inputs=[strange]),
        lambda: pick(rng, others).update(value_inputs=[strange]),
        lambda: pick(rng, others).update(value_inputs=pick(rng, others)["value_inputs"]),
        lambda: node.update(side_inputs=node.pop("value_inputs")),
        lambda: node.update(function=strange),
        lambda: node.pop(pick(rng, sorted(node))),
        lambda: nodes.pop(),
        lambda: nodes.insert(int(rng.random() * len(nodes)), strange),
        lambda: nodes.append(deepcopy(node)),
    ]
    pick(rng, changes)()
    return nodes if rng.random() < 0.98 else strange


def test_a_spoiled_program_has_every_fault(programs: list[tuple[int, Nodes]], scenes: list[Scene]) -> None:
    """However many of its nodes are known of other programs."""
    rng, faults = stream(0, "spoiled"), 0
    for place, program in programs:
        read(program, scenes[place], CATALOGUE)
        for _ in range(fewer(25)):
            spoiled = spoil(program, rng)
            found = read(spoiled, scenes[place], CATALOGUE)
            assert found == read_alone(spoiled, scenes[place]), spoiled
            faults += isinstance(found, list)

    assert faults > fewer(1000)


def test_an_input_that_only_equals_a_number_is_no_input() -> None:
    """Even if the node is known with that number; and a text is no list of letters."""
    nodes: Nodes = [
        {"type": "scene", "inputs": [], "value_inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"type": "count", "inputs": [1], "value_inputs": []},
    ]
    Program.from_records(nodes, CATALOGUE)

    for key, strange in (("inputs", [True]), ("inputs", [1.0]), ("inputs", [-2]), ("value_inputs", "")):
        with pytest.raises(BadInput):
            Program.from_records([*nodes[:2], {**nodes[2], key: strange}], CATALOGUE)
