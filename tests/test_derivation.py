"""Answers that are derived with a memo are those of programs that are read and run one by one."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from scene_records import sampled_scenes

import vqagen
from vqagen.api import Generation, find_scenes, load_domain_files
from vqagen.errors import BadInput
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question_records import record_writer
from vqagen.plugin import Undefined
from vqagen.rng import Random, pick, stream
from vqagen.score.verify.derivation import Derivations
from vqagen.world.domain import load_domain
from vqagen.world.scene import Scene, compile_scene

CATALOGUE = Catalogue(load_domain(Path(__file__).parents[1] / "metadata" / "clevr.json"))
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
    return [(question.scene.index, write(question, 0)["program"]) for _, made in run.by_scene() for question in made]


def derived_plainly(program: object, scene: Scene) -> tuple[object, str] | None:
    """The answer and its type, or None for a program with a fault or without an answer."""
    try:
        checked = Program.from_records(program, CATALOGUE)
        answer = checked.run(scene)
    except (BadInput, Undefined):
        return None
    return (answer, type(answer).__name__) if CATALOGUE[checked.nodes[-1].function].asks else None


def derived(derivations: Derivations, program: object, scene: Scene) -> tuple[object, str] | None:
    """The same with a memo."""
    found = derivations.derive(program, scene)
    return found and (found.outputs[-1], type(found.outputs[-1]).__name__)


def test_every_program_has_its_answer_in_every_scene(programs: list[tuple[int, Nodes]], scenes: list[Scene]) -> None:
    """In its own scene, and where it has one in others; whatever scene came before."""
    derivations = Derivations(CATALOGUE)
    for place, program in programs:
        for scene in (scenes[place], scenes[(place + 1) % 12], scenes[(place + 5) % 12]):
            assert derived(derivations, program, scene) == derived_plainly(program, scene)


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


def test_a_spoiled_program_has_no_answer_but_its_own(programs: list[tuple[int, Nodes]], scenes: list[Scene]) -> None:
    """Every fault that reading it one by one finds is left to that, however much of it is known of other programs."""
    derivations, rng, faults = Derivations(CATALOGUE), stream(0, "spoiled"), 0
    for place, program in programs:
        derivations.derive(program, scenes[place])
        for _ in range(fewer(25)):
            spoiled = spoil(program, rng)
            wanted = derived_plainly(spoiled, scenes[place])
            found = derived(derivations, spoiled, scenes[place])
            assert found in (wanted, None), spoiled
            assert found == wanted or _is_unusual(spoiled), spoiled
            faults += wanted is None

    assert faults > fewer(1000)


def _is_unusual(program: object) -> bool:
    """True for programs that leave out a list or have null for one, which mean an empty list."""
    given = program if isinstance(program, list) else []
    return any(
        node.get("inputs") is None or node.get("value_inputs", node.get("side_inputs")) is None for node in given
    )


def test_an_input_that_only_equals_a_number_is_no_input(scenes: list[Scene]) -> None:
    """Even if the step it would be is known."""
    nodes: Nodes = [
        {"type": "scene", "inputs": [], "value_inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"type": "count", "inputs": [1], "value_inputs": []},
    ]
    derivations = Derivations(CATALOGUE)

    assert derived(derivations, nodes, scenes[0]) == derived_plainly(nodes, scenes[0]) is not None
    for strange in (True, 1.0, -2, "1"):
        nodes[2]["inputs"] = [strange]
        assert derived(derivations, nodes, scenes[0]) is None
