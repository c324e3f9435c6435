"""`vqagen verify` reads datasets in the shape of the first director-task generator, also those of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from handmade_trials import Record

import vqagen
from vqagen.tasks.director.verification import OWN_WORDS

PROPERTIES = ("red", "blue", "small", "large", "Music_instument", "bag", "is_food", "hot")
RULE_TYPES = {"topmost": "spatial_same_perspective", "leftmost": "spatial_different_perspective", None: "none"}
TOPMOST = """
#red:bag    .          .
red:bag     blue:bag   .
.           #.         red:bag
"""


def item(words: str, size: float = 1) -> Record:
    """Return an item of a reference's dataset, such as red:bag."""
    true = words.split(":")
    properties = {name: name in true for name in PROPERTIES}
    scalars = {"size": size}
    return {"name": words, "image_path": "x.png", "boolean_properties": properties, "scalar_properties": scalars}


def sample(drawn: str, rule: str | None, text: str, gold: list[int], own: list[int], **fields: Any) -> Record:
    """Return a sample whose criteria are red bags."""
    rows = [line.split() for line in drawn.strip().splitlines()]
    cells = [
        {
            "position": {"x": x, "y": y},
            "is_blocked": cell.startswith("#"),
            "item": None if cell.strip("#") == "." else item(cell.strip("#")),
        }
        for y, row in enumerate(rows)
        for x, cell in enumerate(row)
    ]
    question = {
        "question_type": "standard",
        "target_type": "bag",
        "filter_criteria": {"red": True, "bag": True},
        "selection_rule": rule,
        "selection_property": None,
        "selection_rule_type": RULE_TYPES[rule],
        "is_reversed": True,
        "natural_language": text,
        "full_question": f"Please select the {text} from my point of view",
    }
    answers = {"participant_coordinates": [own], "director_coordinates": [gold], "is_ambiguous": own != gold}
    return {
        "sample_id": 0,
        "sample_type": "test",
        "image_path": "",
        "question": question,
        "grid": {"width": len(rows[0]), "height": len(rows), "items": cells},
        "answers": answers,
        "selection_rule_type": RULE_TYPES[rule],
        "is_physics": False,
        "is_reversed": True,
        **fields,
    }


def right() -> Record:
    """Return a sample without faults."""
    return sample(TOPMOST, "topmost", "topmost red bag", [0, 1], [0, 0])


@pytest.fixture
def verify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., vqagen.VerificationReport]:
    """Verifies a dataset of samples; returns the report."""
    monkeypatch.chdir(tmp_path)

    def run(*samples: Record, **totals: int) -> vqagen.VerificationReport:
        counts = {"total_samples": len(samples), "control_samples": 0, "test_samples": len(samples), **totals}
        document = {"dataset_name": "x", **counts, "samples": samples}
        Path("x.json").write_text(json.dumps(document))
        return vqagen.verify("x.json")

    return run


def test_a_right_sample_of_another_tool_has_no_fault(verify: Callable[..., vqagen.VerificationReport]) -> None:
    """Its words are those of its own properties; the report says by which rules it is judged."""
    report = verify(right())

    assert report.is_clean
    assert report.remarks[0].startswith("samples of another tool")
    assert report.unproven[OWN_WORDS] == 1


def test_ties_of_other_tools_are_notes(verify: Callable[..., vqagen.VerificationReport]) -> None:
    """The reference allows them."""
    tie = TOPMOST.replace("blue:bag   .", "blue:bag   #red:bag").replace("#red:bag    .", ".           .")

    report = verify(sample(tie, "topmost", "topmost red bag", [0, 1], [0, 1]))

    assert report.notes["O7"] == 1


def _question(**fields: Any) -> Callable[[Record], Any]:
    return lambda record: record["question"].update(fields)


def _fields(**fields: Any) -> Callable[[Record], Any]:
    return lambda record: record.update(fields)


SPOILED: list[tuple[Callable[[Record], Any], str]] = [
    (_question(selection_rule="lowest"), "O1"),
    (_question(filter_criteria={"blue": True, "bag": True}), "O4"),
    (_fields(sample_type="control"), "O5"),
    (_fields(sample_type="both"), "O1"),
    (_fields(grid={"width": 3, "height": 3, "items": []}), "O1"),
    (_fields(grid={"width": 0, "height": 0, "items": []}), "O1"),
    (_fields(grid=None), "O1"),
    (_fields(selection_rule_type="none"), "O3"),
    (lambda record: record["answers"].update(director_coordinates=[[2, 2]]), "O4"),
    (lambda record: record["answers"].update(director_coordinates=[]), "O4"),
    (lambda record: record["answers"].update(director_coordinates=[[0, 3]]), "O1"),
    (lambda record: record["answers"].update(participant_coordinates=[[0, 1]]), "O3"),
    (lambda record: record["answers"].update(is_ambiguous=False), "O3"),
    (lambda record: record["grid"]["items"].reverse(), "O1"),
    (lambda record: record["grid"]["items"][0].update(is_blocked=False), "O6"),
]


def test_a_spoiled_sample_is_found(verify: Callable[..., vqagen.VerificationReport]) -> None:
    """One field of a right sample is changed."""
    missed = []
    for number, (spoil, code) in enumerate(SPOILED):
        record = right()
        spoil(record)
        if code not in verify(record).by_problem:
            missed.append((number, code))

    assert missed == []


def test_no_value_in_a_sample_is_a_traceback(verify: Callable[..., vqagen.VerificationReport]) -> None:
    """Each field of a right sample, and each field inside of one, is replaced by something else."""
    samples = []
    for value in (None, [], {}, 0, -1, 1.5, "x", [[]], {"a": 1}, True):
        samples += [{**right(), key: value} for key in right()]
        for outer in ("question", "grid", "answers"):
            samples += [{**right(), outer: {**right()[outer], key: value}} for key in right()[outer]]
        for key in right()["grid"]["items"][0]:
            samples.append(right())
            samples[-1]["grid"]["items"][0][key] = value

    assert verify(*samples).checked == len(samples)


def test_totals_of_the_document_are_counted_again(verify: Callable[..., vqagen.VerificationReport]) -> None:
    """A dataset that lost samples has wrong totals."""
    for key in ("total_samples", "control_samples", "test_samples"):
        assert [each.path for each in verify(right(), **{key: 7}).mismatches] == [key]
