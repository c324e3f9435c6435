"""GQA's measures on files of its format, with the numbers that its evaluation script printed for them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen.judge.scoring.gqa import Given, GqaFiles, GqaScores, gqa_scores, grounding


def _question(text: str, answer: str, structural: str, semantic: str, group: str | None, **more: Any) -> dict[str, Any]:
    return {
        "question": text,
        "answer": answer,
        "isBalanced": True,
        "imageId": "1",
        "entailed": [],
        "types": {"structural": structural, "semantic": semantic, "detailed": ""},
        "groups": {"global": group},
        "semantic": [
            {"operation": "select", "argument": "apple (0)"},
            {"operation": "filter color", "argument": "red"},
            {"operation": "exist" if structural == "verify" else "query", "argument": "?" if group else "name"},
        ][: 3 if structural == "verify" else 2],
        "annotations": {"question": {}, "fullAnswer": {}},
        **more,
    }


QUESTIONS = {
    "1": _question("What color is it?", "red", "query", "attr", "color", entailed=["1", "2", "6"]),
    "2": _question("What color is that?", "blue", "query", "attr", "color"),
    "3": _question("What color is the pear?", "green", "query", "attr", "color"),
    "4": _question("Is the apple red now?", "yes", "verify", "attr", None, entailed=["7"]),
    "5": _question("Which animal is that here?", "dog", "query", "cat", "animal"),
    "6": _question("Is it red?", "yes", "verify", "attr", None, isBalanced=False),
    "7": _question("Is it blue?", "no", "verify", "attr", None, isBalanced=False),
}
GIVEN = {"1": "red", "2": "purple", "3": "green", "4": "yes", "5": "cat", "6": "yes", "7": "yes"}
COLORS, TRUTHS = ["red", "blue", "green", "pink"], ["yes", "no"]
CHOICES = {
    "1": {"valid": COLORS, "plausible": COLORS},
    "2": {"valid": COLORS, "plausible": COLORS},
    "3": {"valid": COLORS, "plausible": COLORS},
    "4": {"valid": TRUTHS, "plausible": TRUTHS},
    "5": {"valid": ["dog", "cat"], "plausible": ["dog"]},
}
SCENES = {"1": {"width": 200, "height": 100, "objects": {"0": {"x": 0, "y": 0, "w": 100, "h": 50}}}}
ATTENTION = [[0.4, 0.1], [0.2, 0.3]]


def _scores(given: dict[str, str], questions: dict[str, dict[str, Any]] = QUESTIONS, **files: Any) -> GqaScores:
    answered = {name: Given(answer, answer == questions[name]["answer"]) for name, answer in given.items()}
    return gqa_scores(questions.items, answered, GqaFiles(**files))


@pytest.mark.parametrize(
    ("measure", "percentage"),
    [("accuracy", 60), ("binary", 100), ("open", 50), ("consistency", 25), ("validity", 80), ("plausibility", 60)],
)
def test_measures(measure: str, percentage: float) -> None:
    """The measures are those that GQA's script prints for seven questions, two of which are not balanced."""
    assert _scores(GIVEN, choices=CHOICES).percentage(measure) == pytest.approx(percentage)


def test_distribution() -> None:
    """The distribution is the mean chi-square distance of the groups, divided by 100."""
    distribution = _scores(GIVEN).distribution

    assert distribution is not None and round(distribution, 2) == 0.01


def test_grounding() -> None:
    """Attention counts by the share of each cell that lies in a region of the question or its answer."""
    questions = {**QUESTIONS, "1": {**QUESTIONS["1"], "annotations": {"question": {"0": "0"}, "fullAnswer": {}}}}

    scores = _scores(GIVEN, questions, attentions=dict.fromkeys(QUESTIONS, ATTENTION), scenes=SCENES)

    assert scores.percentage("grounding") == pytest.approx(8)


def test_attention_over_objects() -> None:
    """Attention over objects, on which the script crashes, is scored as over the cells of a map."""
    assert grounding([(0, 0, 0.5, 0.5)], [[0, 0, 0.5, 1, 0.6], [0.5, 0, 1, 1, 0.4]]) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("breakdown", "value", "accuracy", "n"),
    [
        ("structural type", "query", 50, 4),
        ("structural type", "verify", 100, 1),
        ("semantic type", "attr", 75, 4),
        ("semantic type", "cat", 0, 1),
        ("steps", 2, 60, 5),
        ("words", 4, 50, 2),
        ("words", 5, 200 / 3, 3),
    ],
)
def test_breakdowns(breakdown: str, value: str | int, accuracy: float, n: int) -> None:
    """Accuracies by type, steps and words are those that GQA's script prints."""
    scores = _scores(GIVEN).breakdowns[breakdown][value]

    assert (100 * math.fsum(scores) / len(scores), len(scores)) == (pytest.approx(accuracy), n)


def test_measures_without_their_files_are_absent() -> None:
    """Without choices and attention there is no validity, plausibility and grounding, where the script prints 0."""
    assert not {"validity", "plausibility", "grounding"} & _scores(GIVEN).scores.keys()


def test_missing_predictions_are_wrong_and_counted() -> None:
    """A question without prediction, also an entailed one, is wrong and counted; the script stops with an error."""
    scores = _scores({name: answer for name, answer in GIVEN.items() if name not in ("4", "6")})

    assert scores.missing == 2
    assert (scores.percentage("accuracy"), scores.percentage("consistency")) == (pytest.approx(40), 0)


def test_what_objects_have_in_common() -> None:
    """Valid answers of questions for what objects have in common are color, material and shape."""
    common = {**QUESTIONS["2"], "types": {"structural": "query", "semantic": "attr", "detailed": "twoCommon"}}

    scores = _scores({"2": "color"}, {"2": common}, choices=CHOICES)

    assert scores.percentage("validity") == scores.percentage("plausibility") == 100


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions, predictions, choices, attention and scenes as files of GQA."""
    monkeypatch.chdir(tmp_path)
    looked_at = {**QUESTIONS, "1": {**QUESTIONS["1"], "annotations": {"question": {"0": "0"}, "fullAnswer": {}}}}
    given = [{"questionId": name, "prediction": answer} for name, answer in GIVEN.items()]
    attentions = [{"questionId": name, "attention": ATTENTION} for name in QUESTIONS]
    written = {
        "questions": looked_at,
        "given": given,
        "choices": CHOICES,
        "attentions": attentions,
        "scenes": SCENES,
        "others": {},
    }
    for name, content in written.items():
        Path(f"{name}.json").write_text(json.dumps(content))


@pytest.mark.usefixtures("files")
def test_the_command_prints_the_numbers_of_the_script(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """On files of GQA, the command has all measures of the script, beside its own tables."""
    line = "evaluate questions.json given.json --choices choices.json --attentions attentions.json --scenes scenes.json"

    tables = json.loads(Commands(capsysbinary).done(f"{line} --json").out)["tables"]

    measures = {row["measure"]: (row["n"], pytest.approx(row["value"], abs=0.001)) for row in tables["gqa"]["rows"]}
    assert measures == {
        "binary": (1, 100),
        "open": (4, 50),
        "accuracy": (5, 60),
        "consistency": (2, 25),
        "validity": (5, 80),
        "plausibility": (5, 60),
        "grounding": (5, 8),
        "distribution": (4, 0.01),
    }
    assert [row["accuracy"] for row in tables["gqa_structural_type"]["rows"]] == [50, 100]
    assert [(row["value"], row["n"]) for row in tables["gqa_words"]["rows"]] == [("4", 2), ("5", 3)]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("options", "code", "problem"),
    [
        ("--attentions attentions.json", 2, "--attentions needs --scenes, the scene graphs of GQA"),
        ("--choices others.json", 3, "others.json: no answers to any question, such as"),
        ("--choices given.json", 3, "given.json: expected an object, id -> record, found"),
        (
            "--attentions choices.json --scenes scenes.json",
            3,
            "expected a list of objects with questionId and attention",
        ),
        (
            "--attentions attentions.json --scenes choices.json",
            3,
            "GQA's files do not fit each other (KeyError 'objects')",
        ),
        ("--choices nothing.json", 2, "nothing.json"),
    ],
)
def test_files_that_are_not_those_of_gqa(
    options: str, code: int, problem: str, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A file in the place of another one is one clear message, without a score."""
    ran = Commands(capsysbinary)(f"evaluate questions.json given.json {options}")

    assert (ran.code, ran.out) == (code, b"") and problem in ran.err and "Traceback" not in ran.err
