"""The shipped JSON Schemas: what they take and refuse, in which words; they fit what is shipped and written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commands import ROOT, Commands
from depth import fewer
from jsonschema import Draft202012Validator

from vqagen.files.parsing import parse_json
from vqagen.files.schema import _SENTENCES, _acceptance, _validator, schema_faults, schema_names, schema_text
from vqagen.language.domain_files import DIALOGS, QUESTIONS, SHIPPED_DOMAINS
from vqagen.language.loading import find_template_files
from vqagen.world.camera import CameraRules
from vqagen.world.sampling_rules import SamplingRules

SCHEMAS: dict[str, Any] = {name: json.loads(schema_text(name)) for name in schema_names()}
SCHEMA_OF = {QUESTIONS: "templates", DIALOGS: "dialog-templates"}
"""Task -> the schema of its templates."""
FILES = [
    ("synonyms", ROOT / "synonyms.json"),
    ("director", ROOT / "metadata" / "director.json"),
    *(("director-templates", file.path) for file in find_template_files(ROOT / "templates" / "director")),
    *(("metadata", ROOT / listed["metadata"]) for listed in SHIPPED_DOMAINS.values()),
    *(
        (SCHEMA_OF[task], file.path)
        for listed in SHIPPED_DOMAINS.values()
        for task in (QUESTIONS, DIALOGS)
        for file in find_template_files(ROOT / listed[task])
    ),
]

SAYS_NOTHING = {"$schema", "$ref", "$defs", "title", "description", "properties", "items", "if", "then", "else"}
"""Keywords that are never broken themselves."""


def schemas_inside(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and all those inside of it, with their places."""
    yield path, schema
    for keyword in ("properties", "$defs"):
        for name, inner in schema.get(keyword, {}).items():
            yield from schemas_inside(inner, f"{path}/{keyword}/{name}")
    for keyword in ("items", "additionalProperties", "if", "then", "else"):
        if isinstance(schema.get(keyword), dict):
            yield from schemas_inside(schema[keyword], f"{path}/{keyword}")


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to put in."""
    reference = schema.get("$ref")
    return {**resolved(root["$defs"][reference.rsplit("/")[-1]], root), **schema} if reference else schema


# The schemas --------------------------------------------------------------------------------------------------------


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_a_schema(name: str) -> None:
    """Each schema fits the schema of schemas."""
    assert list(Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(SCHEMAS[name])) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_keyword_has_its_sentence(name: str) -> None:
    for path, schema in schemas_inside(SCHEMAS[name]):
        known = {*SAYS_NOTHING, "additionalProperties", *map(str, _SENTENCES)}
        assert set(schema) <= known, path
        assert "pattern" not in schema or "title" in schema, path
        assert all(set(branch) == {"required"} for branch in schema.get("anyOf", [])), path


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_property_is_described(name: str) -> None:
    """Editors show it."""
    silent = [
        f"{path}/{key}"
        for path, schema in schemas_inside(SCHEMAS[name])
        for key, inner in schema.get("properties", {}).items()
        if "description" not in resolved(inner, SCHEMAS[name])
    ]

    assert silent == []


# What fits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "path"), FILES, ids=[path.name for _, path in FILES])
def test_a_shipped_file_names_its_schema(name: str, path: Path) -> None:
    document = json.loads(path.read_text("utf-8"))

    assert (path.parent / document["$schema"]).resolve() == ROOT / "vqagen" / "schemas" / f"{name}.schema.json"


def test_the_files_of_the_reference_fit(shared: Path) -> None:
    data = shared / "data"
    scenes = json.loads((data / "clevr_v1_train_scenes_1000.json").read_text("utf-8"))
    for name in ("metadata", "synonyms"):
        assert list(schema_faults(json.loads((data / "clevr_v1" / f"{name}.json").read_text("utf-8")), name)) == []
    for path in sorted((data / "clevr_v1" / "templates").glob("*.json")):
        assert list(schema_faults(json.loads(path.read_text("utf-8")), "templates")) == []
    assert list(schema_faults({**scenes, "scenes": scenes["scenes"][:20]}, "scenes")) == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("dialect", ["generator", "release"])
def test_what_is_written_fits(dialect: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    scenes, questions = tmp_path / "scenes.json", tmp_path / "questions.json"
    run = Commands(capsysbinary)
    run.done(f"scenes sample --count 3 -o {scenes}")
    run.done(f"generate --scenes {scenes} --out {questions} --dialect {dialect} --trace")

    assert list(schema_faults(json.loads(scenes.read_text("utf-8")), "scenes")) == []
    assert list(schema_faults(json.loads(questions.read_text("utf-8")), "questions")) == []


def test_every_sampling_rule_is_in_the_schema() -> None:
    """And nothing else: the loader and editors check the form of the section by this schema."""
    sampling = SCHEMAS["metadata"]["$defs"]["sampling"]["properties"]
    elsewhere = {"source", "attributes", "draw_order", "random_relations"}
    rules = {field.name for field in fields(SamplingRules)} - elsewhere

    assert set(sampling) - {"comment"} == rules
    assert set(sampling["camera"]["properties"]) - {"comment"} == {field.name for field in fields(CameraRules)}


# What does not ------------------------------------------------------------------------------------------------------

NODES = '[{"type": "scene"}]'
FAULTS: list[tuple[str, str, list[str]]] = [
    ("templates", "3", [": expected a list or an object, found 3"]),
    ("templates", "[]", [": expected a list of at least 1, found a list of 0"]),
    ("templates", "{}", [": missing key 'templates'"]),
    ("templates", '{"template": []}', [": missing key 'templates' (found 'template')"]),
    ("templates", '[{"text": ["a"]}]', ["[0]: missing key 'nodes'"]),
    ("templates", '[{"txt": ["a"], "node": []}]',
     ["[0]: missing key 'text' (found 'txt'); missing key 'nodes' (found 'node')"]),
    ("templates", '[{"text": 1, "nodes": []}]',
     ["[0].text: expected text or a list, found 1", "[0].nodes: expected a list of at least 1, found a list of 0"]),
    ("templates", '[{"text": [""], "nodes": [{}, {"typ": "scene"}, {"functoin": "scene"}, {"function": 3}]}]',
     ["[0].text[0]: expected some text, found ''", "[0].nodes[0]: missing key 'type' or 'function'",
      "[0].nodes[1]: missing key 'type' (found 'typ')", "[0].nodes[2]: missing key 'function' (found 'functoin')",
      "[0].nodes[3].function: expected text, found 3"]),
    ("templates", '[{"text": ["a"], "nodes": [{"type": "scene", "inputs": [1.0, -1], "side_inputs": "<X>"}]}]',
     ["[0].nodes[0].inputs[0]: expected a whole number, found 1.0",
      "[0].nodes[0].inputs[1]: expected 0 or more, found -1",
      "[0].nodes[0].side_inputs: expected a list, found '<X>'"]),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "params": [{{"name": "X"}}, {{"type": "A", "name": "<"}}]}}]',
     ["[0].params[0]: missing key 'type'", "[0].params[0].name: expected a slot such as <X>, found 'X'",
      "[0].params[1].name: expected a slot such as <X>, found '<'"]),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "constraints": {{"NULL": "<X>"}}}}]',
     ["[0].constraints: expected a list, found an object"]),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "constraints": [{{"type": "IN", "params": ["", [], null]}}]}}]',
     ["[0].constraints[0].params[1]: expected a list of at least 1, found a list of 0",
      "[0].constraints[0].params[2]: expected text, a whole number or a list, found null or nothing"]),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "for": {{"a": "Color", "b": 3}}, "comment": [1]}}]',
     ["[0].for.a: expected \"*\" or a list of attribute types, found 'Color'",
      "[0].for.b: expected text or a list, found 3", "[0].comment[0]: expected text, found 1"]),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "for": [{{"a": 1}}, {{}}, "b"]}}]',
     ["[0].for[0].a: expected text, found 1", "[0].for[1]: expected an object with at least 1 key, found none",
      "[0].for[2]: expected an object, found 'b'"]),
    ("metadata", '{"type": {}}', [": missing key 'types' (found 'type')"]),
    ("metadata", '{"types": {"A": "x", "B": [], "C": {}, "D": ["x", 3], "E": {"f": ["x"], "g": 3}}}',
     ["types.A: expected null, a list or an object, found 'x'",
      "types.B: expected a list of at least 1, found a list of 0",
      "types.C: expected an object with at least 1 key, found none",
      "types.D[1]: expected text or an object, found 3", "types.E.g: expected null, a list or an object, found 3"]),
    ("metadata", '{"types": {"A": {"values": ["x"], "multi": 1, "optional": "y", "null": null, "display": {"x": 1}}}}',
     ["types.A.multi: expected true or false, found 1", "types.A.optional: expected true or false, found 'y'",
      "types.A.null: expected text, found null or nothing", "types.A.display.x: expected text, found 1"]),
    ("metadata", '{"types": {}, "functions": [{"nam": "x"}], "rewrites": [{"pattern": ""}], "plurals": {"a": null}}',
     ["functions[0]: missing key 'name' (found 'nam')", "rewrites[0]: missing key 'replace'",
      "rewrites[0].pattern: expected some text, found ''", "plurals.a: expected text, found null or nothing"]),
    ("metadata", '{"types": {}, "sampling": {"objetcs": [3, 10], "objects": [3, 4, 5], "solid": "cub", "radius": 0}}',
     ["sampling.objetcs: unknown key 'objetcs'; did you mean 'objects'?",
      "sampling.objects: expected a list of at most 2, found a list of 3",
      "sampling.solid: expected 'sphere', 'cube' or 'cylinder', found 'cub'; did you mean 'cube'?",
      "sampling.radius: expected more than 0, found 0"]),
    ("metadata", '{"types": {}, "sampling": {"missing": {"tag": 2}, "restrict": [{"attribute": "a", "value": "b", '
     '"only": {"c": ["x", "x"]}}], "camera": {"width": 1000000}}}',
     ["sampling.missing.tag: expected 1 or less, found 2", "sampling.restrict[0].only.c: something is listed twice",
      "sampling.camera.width: expected 10000 or less, found 1000000"]),
    ("synonyms", '{"red": "ruby", "Color": {"red": [], "blue": ["<X>"]}}',
     ["red: expected a list or an object, found 'ruby'", "Color.red: expected a list of at least 1, found a list of 0",
      "Color.blue[0]: expected a way to say it, without < > [ ], found '<X>'"]),
    ("director-templates", '{}', [": expected an object with at least 1 key, found none"]),
    ("director-templates", '{"targets": {"left": ["<D>"], "none": [], "above": [""], "below": ["a", "a"]}}',
     ["targets.left: unknown key 'left'; known: comment, none, smallest, largest, topmost, bottommost, leftmost,"
       " rightmost, left_of, right_of, above, below",
      "targets.none: expected a list of at least 1, found a list of 0",
      "targets.above[0]: expected some text, found ''", "targets.below: something is listed twice"]),
    ("director-templates", '{"frames": {"me": ["as I see it"]}, "templates": [{"text": "Pick the <T> <F>."}]}',
     ["frames.me: unknown key 'me'; known: comment, director, participant", "templates[0]: missing key 'name'"]),
    ("scenes", '{"scenes": [{"objects": [{"3d_coords": [0, 1]}, 3]}, {"object": []}]}',
     ["scenes[0].objects[0].3d_coords: expected a list of at least 3, found a list of 2",
      "scenes[0].objects[1]: expected an object, found 3", "scenes[1]: missing key 'objects' (found 'object')"]),
    ("scenes", '{"scenes": [{"objects": [], "relationships": [{"type": "up", "indexes": [[0.5], 1]}, {"type": ""}]}]}',
     ["scenes[0].relationships[0].indexes[0][0]: expected a whole number, found 0.5",
      "scenes[0].relationships[0].indexes[1]: expected a list, found 1",
      "scenes[0].relationships[1]: missing key 'indexes'"]),
    ("questions", '{"questions": [{}, {"qestion": "a"}, {"program": [{"inputs": []}], "answer": 0.5}]}',
     ["questions[0]: missing key 'question' or 'program'", "questions[1]: missing key 'question' (found 'qestion')",
      "questions[2].program[0]: missing key 'type' or 'function'",
      "questions[2].answer: expected true or false, a whole number, text, a list or null, found 0.5"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "told"), FAULTS)
def test_a_fault_is_told_in_our_own_words_and_in_reading_order(name: str, text: str, told: list[str]) -> None:
    assert [f"{path}: {message}" for path, message in schema_faults(parse_json(text, "f.json"), name)] == told


RIGHT: list[tuple[str, str]] = [
    *((name, path.read_text("utf-8")) for name, path in FILES),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "constraints": {{}}, "more": 1}}]'),
    ("templates", '{"templates": [{"text": ["a"], "nodes": [{"function": "x", "value_inputs": ["<X>"], "more": 1}]}]}'),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "for": {{"a": "*", "b": ["Color"]}}, "comment": ["a", "b"]}}]'),
    ("templates", f'[{{"text": ["a"], "nodes": {NODES}, "for": [{{"a": "x"}}, {{"a": "y"}}]}}]'),
    ("templates", f'[{{"text": "a", "nodes": {NODES}, "constraints": [{{"type": "IN", "params": ["<X>", ["a"]]}}]}}]'),
    ("metadata", '{"types": {"A": null, "B": ["x"], "C": {"f": ["x", {"y": null}], "g": {"h": []}}}, "more": 1}'),
    ("metadata", '{"types": {"A": {"values": {"f": ["x"]}, "key": "a.b", "parents": {"x": "f"}, "multi": true}}}'),
    ("synonyms", '{"red": ["ruby"], "Color": {"comment": "x", "red": ["scarlet"]}, "comment": "x", "$schema": "y"}'),
    ("scenes", '{"info": null, "scenes": [{"objects": [{"id": 1, "text": {"body": "x"}, "tag": null}], "more": 1}]}'),
    ("scenes", '{"scenes": [{"objects": [], "relationships": {"left": {"a": ["b"]}, "right": [[0], []]}}]}'),
    ("director-templates", '{"targets": {"comment": "x", "none": ["<D>"]}, "templates": [{"name": "a", "text": "b"}]}'),
    ("questions", '{"questions": [{"question": "a", "answer": ["x"]}, {"program": [{"type": "scene"}]}]}'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), RIGHT)
def test_what_is_right_is_taken_and_so_are_comments_anywhere(name: str, text: str) -> None:
    document = parse_json(text, "f.json")
    assert list(schema_faults(document, name)) == []

    for inside in objects_inside(document):
        inside["comment"] = ["a note", "of two lines"]
    assert list(schema_faults(document, name)) == []


def objects_inside(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a JSON value that is not empty (`constraints` may be `{}`)."""
    if isinstance(value, dict) and value:
        yield value
    for inner in list(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()):
        yield from objects_inside(inner)


ODD: list[Any] = [None, True, 0, 1.0, -1, 10**400, 0.5, "", "red", [], ["a", "a"], {}, {"comment": "x"}, [[]], [{}]]


@pytest.mark.quick(8)
@pytest.mark.parametrize(("name", "text"), [*RIGHT, *((name, text) for name, text, _ in FAULTS if len(text) > 2)])
def test_the_quick_test_agrees_with_jsonschema(name: str, text: str) -> None:
    """About documents as they are, and with one place changed to something odd or gone."""
    accepts, validator = _acceptance(name, ""), _validator(name, "")
    document, rng = parse_json(text, "f.json"), Random(0)
    assert accepts(document) == validator.is_valid(document)
    for _ in range(fewer(60)):
        spoiled = deepcopy(document)
        holder = rng.choice([*objects_inside(spoiled)])
        key = rng.choice([*holder])
        if rng.random() < 0.3:
            del holder[key]
        else:
            holder[key] = rng.choice(ODD)

        assert accepts(spoiled) == validator.is_valid(spoiled), (key, holder)
