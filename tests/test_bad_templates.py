"""Templates with mistakes among sound ones: `--skip-bad-templates` names and skips them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

SOUND = {"name": "count", "text": "How many <S>s are there?", "params": [{"type": "Shape", "name": "<S>"}],
         "nodes": [{"type": "scene"}, {"type": "filter_count", "inputs": [0], "side_inputs": ["<S>"]}]}  # fmt: skip
EXIST = {**SOUND, "name": "exist", "text": "Is there a <S>?",
         "nodes": [{"type": "scene"}, {"type": "filter_exist", "inputs": [0], "side_inputs": ["<S>"]}]}  # fmt: skip
BAD = {**SOUND, "name": "bad", "text": "How many <Z>s are there [?"}
FILES: dict[str, Any] = {"a.json": [SOUND, BAD], "b.json": "[,]", "c.json": [EXIST]}


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes, and with three template files of which two have mistakes."""
    Path("templates").mkdir()
    for name, content in FILES.items():
        Path("templates", name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(4)}))
    return vqagen_


LINE = "generate --scenes scenes.json --templates templates -o out.json"


def document(file: str = "out.json") -> Any:
    """The content of a JSON file."""
    return json.loads(Path(file).read_bytes())


def test_one_bad_template_stops_a_run_that_is_not_told_to_skip(vqagen_: Commands) -> None:
    ran = vqagen_(LINE)

    assert ran.code == 3
    assert "a.json:" in ran.err and "b.json:" in ran.err
    assert ran.err.endswith("  vqagen generate --skip-bad-templates uses the others\n")
    assert not Path("out.json").exists()


def test_compat_ignores_the_constraints_that_the_clevr_generator_ignores(vqagen_: Commands) -> None:
    """It looks a parameter up, finds nothing, and never applies the constraint; what else is wrong stays wrong."""
    nodes_for_slots = {"type": "NEQ", "params": [0, 1]}
    no_such_node = {"type": "OUT_NEQ", "params": [1, 2]}
    idle = {**SOUND, "name": "idle", "constraints": [nodes_for_slots, {"type": "NULL", "params": ["<Q>"]}]}
    late = {**EXIST, "name": "late", "constraints": [no_such_node]}
    Path("math.json").write_text(json.dumps([idle, late], indent=1))
    Path("plain.json").write_text(json.dumps([{**SOUND, "name": "idle"}, {**EXIST, "name": "late"}], indent=1))
    line = "generate --scenes scenes.json --dialect generator --compat clevr"
    assert vqagen_(f"{line[:-15]} --templates math.json -o no.json").code == 3
    ran = vqagen_.done(f"{line} --templates math.json -o math_q.json")
    vqagen_.done(f"{line} --templates plain.json -o plain_q.json")

    left_out = "this constraint is left out, as the CLEVR generator does: "
    assert ran.err.count(left_out) == 4
    assert f"[1].constraints[0].params[1]: {left_out}there is no node 2; nodes are 0 to 1" in ran.err
    asked = [[each["question"] for each in document(file)["questions"]] for file in ("math_q.json", "plain_q.json")]
    assert asked[0] == asked[1] != []

    Path("math.json").write_text(json.dumps([{**idle, "text": "How many <Z>s?"}]))
    assert vqagen_(f"{line} --templates math.json -o no.json").code == 3


def test_bad_templates_are_skipped_and_named(vqagen_: Commands) -> None:
    """By template where the file can be read as JSON, by file where it cannot; once each."""
    ran = vqagen_.done(f"{LINE} --skip-bad-templates --reset-counts-every 2 --report report.json")
    generator = document()["info"]["generator"]

    assert generator["families"] == ["a.json#count", "c.json#exist"]
    assert generator["settings"]["skip_bad_templates"] is True
    assert {question["question_type"] for question in document()["questions"]} == {"count", "exist"}
    assert document("report.json")["skipped_templates"] == ["a.json#bad", "b.json"]
    assert ran.err.count("skipped a.json#bad: ") == ran.err.count("skipped b.json: not valid JSON") == 1
    assert "templates/a.json:28:11: [1].text: " in ran.err and "(and 1 more mistake)" in ran.err
    assert "  skipped: 2 bad templates (a.json#bad, b.json)" in ran.err


def test_nobody_can_ask_for_skipped_templates_alone(vqagen_: Commands) -> None:
    ran = vqagen_(f"{LINE} --skip-bad-templates --only bad")
    assert (ran.code, "--only: unknown question type or template 'bad'" in ran.err) == (2, True)

    Path("templates", "a.json").unlink()
    Path("templates", "c.json").unlink()
    ran = vqagen_(f"{LINE} --skip-bad-templates")
    assert (ran.code, "no template is left: " in ran.err) == (2, True)


def test_shards_and_resumed_runs_skip_the_same(vqagen_: Commands) -> None:
    flags = "--skip-bad-templates --reset-counts-every 2"
    vqagen_.done(f"{LINE} {flags}")
    whole = Path("out.json").read_bytes()
    for k in (1, 2):
        vqagen_.done(f"{LINE.replace('out.json', f's{k}.json')} {flags} --shard {k}/2")
    vqagen_.done("merge s1.json s2.json -o merged.json")

    assert Path("merged.json").read_bytes() == whole
    assert "is complete" in vqagen_.done(f"{LINE} {flags} --resume").err
