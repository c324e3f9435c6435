"""The Python API: what the commands do, as typed calls."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from commands import Commands
from scene_records import SMALL_SCENES

import vqagen
from vqagen import api
from vqagen.tasks.questions.records import record_writer


@pytest.fixture
def scenes(tmp_path: Path) -> Path:
    """A file of sampled scenes."""
    path = tmp_path / "scenes.json"
    path.write_text(json.dumps({"scenes": list(vqagen.sample_scenes(4, seed=2))}))
    return path


@pytest.mark.parametrize("name", vqagen.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(vqagen, name) is getattr(api, name)
    assert name in api.__all__


def test_public_names_are_the_ones_that_type_checkers_see() -> None:
    """The names in __all__, those imported for type checkers, and a sorted order."""
    tree = ast.parse(Path(vqagen.__file__).read_text("utf-8"))
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "vqagen.api"
        for alias in node.names
    ]

    assert imported == vqagen.__all__ == sorted(vqagen.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vqagen' has no attribute 'generat'"):
        vqagen.generat  # noqa: B018


def test_generate_makes_what_the_command_writes(scenes: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    flags = "--seed 8 --start-index 1 --count 2 --templates-per-image 3 --no-shuffle-templates"
    ran = Commands(capsysbinary).done(f"generate --scenes '{scenes}' --out - {flags}")
    questions = vqagen.generate(scenes, seed=8, start_index=1, count=2, templates_per_image=3, shuffle_templates=False)
    to_record = record_writer("generator")

    records = [to_record(question, index) for index, question in enumerate(questions)]
    assert json.loads(json.dumps(records)) == json.loads(ran.out)["questions"]
    assert len(records) == 6


def test_sample_scenes_makes_what_the_command_writes(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    ran = Commands(capsysbinary).done("scenes sample --count 3 --seed 4 --start-index 2 --split mine --out -")

    assert list(vqagen.sample_scenes(3, seed=4, start_index=2, split="mine")) == json.loads(ran.out)["scenes"]


def test_what_is_wrong_is_raised_before_the_first_question(scenes: Path) -> None:
    """Not when the questions are asked for."""
    with pytest.raises(vqagen.UsageError, match="scenes not found: nowhere"):
        vqagen.generate("nowhere")
    with pytest.raises(vqagen.UsageError, match="templates not found: nowhere"):
        vqagen.generate(scenes, templates="nowhere")
    with pytest.raises(vqagen.UsageError, match="--count must be at least 0, found -1"):
        vqagen.generate(scenes, count=-1)


def test_an_unknown_setting_gives_the_nearest(scenes: Path) -> None:
    with pytest.raises(vqagen.UsageError) as caught:
        vqagen.generate(scenes, sede=3, templates_per_scene=2)

    assert str(caught.value).splitlines() == [
        "unknown setting 'sede'; did you mean 'seed'?",
        "unknown setting 'templates_per_scene'; did you mean 'templates_per_image'?",
    ]


def test_a_faulty_scene_is_raised_when_it_is_reached(tmp_path: Path) -> None:
    """With every problem as a value, for programs that want to show them their own way."""
    path = tmp_path / "scenes.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in (*SMALL_SCENES, {"objects": [{}]})))
    questions = vqagen.generate(path)

    with pytest.raises(vqagen.BadInput) as caught:
        list(questions)
    assert {problem.path for problem in caught.value.problems} == {"scenes[3].objects[0]"}
    assert {problem.source for problem in caught.value.problems} == {f"{path}:4"}
    assert isinstance(caught.value, vqagen.VqagenError)


def test_verify_gives_a_report(scenes: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "questions.json"
    Commands(capsysbinary).done(f"generate --scenes '{scenes}' --out '{path}'")
    document = json.loads(path.read_text())
    assert vqagen.verify(path, scenes).is_clean

    document["questions"][3]["answer"] = "maybe"
    path.write_text(json.dumps(document))
    report = vqagen.verify(str(path), str(scenes))
    assert (report.is_clean, report.checked, report.mismatched) == (False, 40, 1)
    assert [mismatch.position for mismatch in report.mismatches] == [3]


def test_a_run_counts_what_it_does(scenes: Path) -> None:
    """Materials are loaded once, and may serve many runs."""
    materials = vqagen.load_domain_files()
    for seed in (1, 2):
        run = vqagen.Generation(api.find_scenes(scenes), materials, vqagen.Settings(seed=seed))
        made = [question for scene, questions in run.by_scene() for question in questions if scene.size]
        assert (run.tally.scenes, run.tally.questions.total()) == (4, len(made)) == (4, 40)


def test_a_program_runs_on_any_scene_and_from_any_start() -> None:
    """Started from a set of objects, or on a view in which only they exist."""
    materials = vqagen.load_domain_files()
    scene, other, _ = (vqagen.compile_scene(record, materials.domain, i) for i, record in enumerate(SMALL_SCENES))
    nodes = [
        {"type": "scene", "inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"type": "count", "inputs": [1]},
    ]
    program = vqagen.Program.from_records(nodes, materials.catalogue)

    assert (program.run(scene), program.run(other)) == (2, 0)
    assert program.run(scene, start=0b110) == 1
    assert program.run(scene.started_from(0b110)) == 1
    assert program.run(scene.seen(0b101)) == 1
    assert program.to_records()[1] == nodes[1]


def test_a_view_mirrors_relations_and_hides_objects() -> None:
    """Another viewer's left is this one's right; what is hidden is nobody's neighbour."""
    domain = vqagen.load_domain_files().domain
    scene = vqagen.compile_scene(SMALL_SCENES[0], domain)
    mirrored = scene.seen(related={"left": scene.related["right"], "right": scene.related["left"]})

    assert list(mirrored.related["left"]) == list(scene.related["right"])
    assert list(mirrored.seen(0b011).related["left"]) == [mask & 0b011 for mask in scene.related["right"]]
    assert mirrored.related["front"] == scene.related["front"]


def test_a_program_without_an_answer_says_so() -> None:
    materials = vqagen.load_domain_files()
    nodes = [{"type": "scene"}, {"type": "unique", "inputs": [0]}, {"type": "query_size", "inputs": [1]}]
    program = vqagen.Program.from_records(nodes, materials.catalogue)

    with pytest.raises(vqagen.Undefined, match="exactly one object"):
        program.run(vqagen.compile_scene(SMALL_SCENES[0], materials.domain))
