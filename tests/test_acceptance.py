"""Documents that are accepted at once: exactly those that fit the schema, as `jsonschema` judges it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commands import ROOT
from hypothesis import given
from hypothesis import strategies as st
from test_fuzz_loaders import spoiled_document

from vqagen.json.acceptance import acceptor
from vqagen.json.schema import _acceptor, _validator, shape_faults
from vqagen.language.loading import find_template_files

ROUNDS = 2000
"""Spoiled documents for each schema."""
OF_LOADERS = {
    ("templates", ""): ("templates/clevr", "templates/market", "clevr_v1/templates"),
    ("dialog-templates", ""): ("templates/dialog",),
    ("director-templates", ""): ("templates/director",),
    ("director", ""): ("metadata/director.json",),
    ("metadata", "sampling"): ("metadata/clevr.json", "metadata/market.json"),
}
"""Schema and definition by which a loader reads -> files of it; those of the reference are in the shared data."""


def documents(name: str, places: tuple[str, ...], data: Path) -> list[Any]:
    """Return right documents, each with one record where it is a list of many."""
    found = []
    for place in places:
        folder = data / place if place.startswith("clevr_v1") else ROOT / place
        for file in find_template_files(folder):
            document = json.loads(file.path.read_text("utf-8"))
            if name == "metadata":
                found.append(document["sampling"])
            elif "templates" in (document if isinstance(document, dict) else ()):
                found += [{**document, "templates": [each]} for each in document["templates"]]
            elif isinstance(document, list):
                found += [[each] for each in document]
            elif name == "director":
                found += [{**document, "kinds": {kind: document["kinds"][kind]}} for kind in document["kinds"]]
            else:
                found.append(document)
    return found


@pytest.mark.parametrize(("name", "definition"), OF_LOADERS)
def test_the_documents_of_loaders_are_accepted_at_once(name: str, definition: str, shared: Path) -> None:
    accepts = _acceptor(name, definition)

    refused = [each for each in documents(name, OF_LOADERS[name, definition], shared / "data") if not accepts(each)]

    assert refused == []


@pytest.mark.quick(5)
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize(("name", "definition"), OF_LOADERS)
def test_a_document_is_accepted_if_and_only_if_it_fits(name: str, definition: str, part: int, shared: Path) -> None:
    """However it is spoiled: types, missing and extra keys, null, true for 1, 1.0 for 1, empty and nested lists."""
    accepts, validator = _acceptor(name, definition), _validator(name, definition)
    right = documents(name, OF_LOADERS[name, definition], shared / "data")
    accepted = 0
    for seed in range(part * ROUNDS // 5, (part + 1) * ROUNDS // 5):
        rng = Random(f"{name} {seed}")
        document = copy.deepcopy(rng.choice(right))
        for _ in range(rng.choice((1, 1, 2, 4))):
            document = spoiled_document(document, rng)

        assert accepts(document) == validator.is_valid(document), f"{name} {seed}"
        accepted += accepts(document)

    assert 0 < accepted < ROUNDS // 5


VALUES = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, -1, 10**400, float("nan"), "", "a", "<X>", "b", "bb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "c"]), inner, max_size=3),
    max_leaves=6,
)
LIMITS: dict[str, Any] = {
    "type": ["array", "object", "string", "integer", "number", "boolean", "null", ["integer", "array"]],
    "enum": [["a", "b"], ["a", None], [1]],
    "minItems": [1, 2], "maxItems": [1], "uniqueItems": [True, False], "minLength": [1, 2], "pattern": ["^a", "b$"],
    "minimum": [0, 1], "maximum": [1, 1.5], "exclusiveMinimum": [0, 0.5], "required": [["a"], ["a", "b"]],
    "minProperties": [1], "maxProperties": [0, 1], "anyOf": [[{"required": ["a"]}, {"required": ["b"]}]],
    "$ref": ["#/$defs/text", "#/$defs/tree"], "multipleOf": [2], "const": ["a"],
}  # fmt: skip
SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    st.fixed_dictionaries({}, optional={name: st.sampled_from(limits) for name, limits in LIMITS.items()}),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "items": inner,
            "if": st.sampled_from([{"type": "array"}, {"type": "number"}, {"required": ["a"]}, {"minimum": 1}]),
            "then": inner,
            "else": inner,
            "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "type": st.sampled_from(LIMITS["type"]),
        },
    ),
    max_leaves=4,
)
DEFINITIONS = {"text": {"type": "string"}, "tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}


@given(SCHEMAS, VALUES)
def test_no_schema_accepts_what_does_not_fit(schema: Any, value: Any) -> None:
    """Keywords that are not known to the acceptor, such as multipleOf, leave the decision to `jsonschema`."""
    schema = {**schema, "$defs": DEFINITIONS}
    validator = type(_validator("templates", ""))(schema)

    assert not acceptor(schema)(value) or validator.is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"multipleOf": 2}, 4), ({"const": "a"}, "a"), ({"if": {"minimum": 1}}, 1), ({"enum": [1]}, 1)],
)
def test_what_is_not_known_is_left_to_jsonschema(schema: Any, value: Any) -> None:
    """A keyword, a condition or an enumeration that is not compiled accepts nothing."""
    assert not acceptor(schema)(value)


def test_a_document_that_is_accepted_needs_no_jsonschema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its import takes 70 ms."""
    monkeypatch.setattr("vqagen.json.schema._validator", None)
    (file, *_) = find_template_files(ROOT / "templates" / "clevr")

    assert shape_faults(json.loads(file.path.read_text("utf-8")), "templates") == []
