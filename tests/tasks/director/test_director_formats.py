"""Trials in the JSON of the first director-task generator: by the rules of its loader, and through the one runner."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vqagen import export_file, merge, write_trials
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.settings import ALWAYS, RELATIONAL, SUPERLATIVE, DirectorSettings

RULE_TYPES = ("size_related", "spatial_same_perspective", "spatial_different_perspective", "none")
TRIALS = {SUPERLATIVE: 32, RELATIONAL: 16}
CATALOGUE = load_catalogue_file()
Document = dict[str, Any]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def write(out: str, questions: str = SUPERLATIVE, shard: str | None = None) -> bytes:
    """Write trials into a folder, and a file of samples beside it; return the samples."""
    settings = DirectorSettings(
        count=TRIALS[questions], questions=questions, suffix=ALWAYS, render=("none",), start_index=7
    )
    write_trials(out, settings, shard=shard)
    export_file(out, f"{out}.json", "reference")
    return Path(f"{out}.json").read_bytes()


@pytest.fixture(scope="module", params=TRIALS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write(str(tmp_path_factory.mktemp("written") / "trials"), questions=request.param)


@pytest.fixture
def document(written: bytes) -> Document:
    return json.loads(written)


# The loader's rules ---------------------------------------------------------------------------------------------------


QUESTION = {"question_type": str, "is_reversed": bool, "natural_language": str, "full_question": str}
ITEM = {"name": str, "image_path": str, "boolean_properties": dict, "scalar_properties": dict}
CELL = {"position": {"x": int, "y": int}, "is_blocked": bool}
SAMPLE = {
    "sample_id": int,
    "sample_type": str,
    "image_path": str,
    "question": QUESTION,
    "grid": {"width": int, "height": int, "items": list},
    "answers": {"participant_coordinates": list, "director_coordinates": list, "is_ambiguous": bool},
    "selection_rule_type": str,
    "is_physics": bool,
    "is_reversed": bool,
}
FILE = {"dataset_name": str, "total_samples": int, "control_samples": int, "test_samples": int, "samples": list}
"""The types of the fields that the reference's loader demands."""


def wrong_types(record: Document, shape: Document, place: str = "") -> Iterator[str]:
    for key, kind in shape.items():
        if isinstance(kind, dict):
            yield from wrong_types(record[key], kind, f"{place}{key}.")
        elif type(record.get(key)) is not kind:
            yield place + key


def faults(document: Document) -> Iterator[str]:
    """Yield which rules of the reference's loader a document breaks: types of fields, values, and sums."""
    yield from wrong_types(document, FILE)
    types = Counter(sample["sample_type"] for sample in document["samples"])
    if (types["control"], types["test"]) != (document["control_samples"], document["test_samples"]):
        yield "counts"
    if document["total_samples"] != types["control"] + types["test"]:
        yield "total_samples"
    for sample in document["samples"]:
        yield from wrong_types(sample, SAMPLE)
        if {sample["selection_rule_type"], sample["question"]["selection_rule_type"]} - set(RULE_TYPES):
            yield "selection_rule_type"  # its Inspect task looks it up in the question
        grid = sample["grid"]
        places = [(each["position"]["x"], each["position"]["y"]) for each in grid["items"]]
        if places != [(x, y) for y in range(grid["height"]) for x in range(grid["width"])]:
            yield "position"
        for each in grid["items"]:
            yield from wrong_types(each, CELL)
            yield from wrong_types(each["item"], ITEM) if each["item"] else ()


@pytest.mark.quick(1)
def test_the_reference_s_loader_accepts_every_sample(document: Document) -> None:
    """Relations too, although samples of the reference's own generator lack a key for them."""
    assert list(faults(document)) == []
    assert len(document["samples"]) in TRIALS.values()


# What a sample says ---------------------------------------------------------------------------------------------------


def answers(sample: Document, is_director: bool) -> list[list[int]]:
    """The answers by the criteria, the rule and the grid of a sample, as the reference finds them."""
    question, cells = sample["question"], sample["grid"]["items"]
    seen = [each for each in cells if each["item"] and not (is_director and each["is_blocked"])]
    criteria = question.get("filter_criteria", question.get("reference_criteria"))
    fitting = [
        each
        for each in seen
        if all(each["item"]["boolean_properties"][key] == value for key, value in criteria.items())
    ]
    if question["question_type"] == "relational":
        (reference,) = fitting
        return _nearest(reference, seen, question["spatial_relation"])
    worth = {
        None: lambda each: 0,
        "smallest": lambda each: each["item"]["scalar_properties"][question["selection_property"]],
        "largest": lambda each: -each["item"]["scalar_properties"][question["selection_property"]],
        "topmost": lambda each: each["position"]["y"],
        "bottommost": lambda each: -each["position"]["y"],
        "leftmost": lambda each: each["position"]["x"],
        "rightmost": lambda each: -each["position"]["x"],
    }[question["selection_rule"]]
    best = min(map(worth, fitting))
    return [[each["position"]["x"], each["position"]["y"]] for each in fitting if worth(each) == best]


def _nearest(reference: Document, seen: list[Document], relation: str) -> list[list[int]]:
    dx, dy = {"right_of": (1, 0), "left_of": (-1, 0), "above": (0, -1), "below": (0, 1)}[relation]
    x, y = reference["position"]["x"], reference["position"]["y"]
    places = [[each["position"]["x"], each["position"]["y"]] for each in seen]
    return [place for place in ([x + n * dx, y + n * dy] for n in range(1, 9)) if place in places][:1]


def test_the_answers_follow_from_the_sample_alone(document: Document) -> None:
    for sample in document["samples"]:
        found = {"participant": answers(sample, False), "director": answers(sample, True)}

        assert sample["answers"] == {
            "participant_coordinates": found["participant"],
            "director_coordinates": found["director"],
            "is_ambiguous": found["participant"] != found["director"],
        }
        assert sample["answers"]["is_ambiguous"] == (sample["sample_type"] == "test")


def test_an_item_says_every_noun_and_adjective(document: Document) -> None:
    items = {item.name: item for item in CATALOGUE.items}
    written = [each["item"] for sample in document["samples"] for each in sample["grid"]["items"] if each["item"]]
    keys = {tuple(each["boolean_properties"]) for each in written}
    known = {name for item in items.values() for name in item.true} - {"item"}

    assert [set(each) for each in keys] == [known]
    for each in written:
        true = {name for name, is_true in each["boolean_properties"].items() if is_true}
        assert true == items[each["name"]].true - {"item"}
        assert each["scalar_properties"] == {"size": items[each["name"]].size}


# The runner -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_samples_are_made_of_any_trials() -> None:
    """Shards of samples, which version 1.0 wrote, merge: the numbers at the end count all."""
    whole = write("trials")
    for number in (1, 2):
        write(f"part-{number}", shard=f"{number}/2")
    merge(["part-2", "part-1"], "merged")
    export_file("merged/trials.jsonl", "of-merged.json", "reference")
    merge(["part-2.json", "part-1.json"], "of-samples.json")

    assert Path("of-merged.json").read_bytes() == Path("of-samples.json").read_bytes() == whole
