"""Nodes like those of earlier programs are not checked again: that changes no program, answer or fault."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from scene_records import sampled_scenes

import vqagen
from vqagen import Generation, find_scenes, load_domain_files
from vqagen.errors import BadInput
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import record_writer
from vqagen.plugin import Undefined
from vqagen.rng import Random, pick, stream
from vqagen.world.domain import load_domain
from vqagen.world.scene import Scene, compile_scene

CATALOGUE, CLEAN = (Catalogue(load_domain(Path(__file__).parents[2] / "metadata" / "clevr.json")) for _ in range(2))
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
