"""Files of predictions scored against files of questions, with the numbers that the original tools gave for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gold_files import write_visual7w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vqagen.judge.gold.discovery import read_gold
from vqagen.judge.predictions.discovery import find_predictions
from vqagen.judge.scoring.evaluation import Evaluation, evaluate
from vqagen.judge.scoring.settings import EvaluationSettings


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def evaluated(questions: Path, predictions: Path, mode: str = "", **chosen: Any) -> Evaluation:
    return evaluate(read_gold(questions, mode=mode), find_predictions(predictions), EvaluationSettings(**chosen))


def shares(evaluation: Evaluation, by: str) -> dict[str, str]:
    return {row.name: f"{row.accuracy:.3f} ({row.correct:.0f}/{row.n})" for row in evaluation.table(by)}


# Visual7W -------------------------------------------------------------------------------------------------------------

PAIRS = [
    {"qa_id": 6, "question": "What color?", "answer": "Red.", "multiple_choices": ["blue", "3", "x"], "type": "what"},
    {"qa_id": 7, "question": "How many?", "answer": "3", "multiple_choices": ["Red.", "4", "y"], "type": "how"},
    {"qa_id": 8, "question": "How come?", "answer": "rain", "multiple_choices": ["Red.", "3", "z"], "type": "how"},
]
CAFE = {"qa_id": 9, "question": "Where?", "answer": "Café", "multiple_choices": ["bar", "3", "u"], "type": "where"}


def most_frequent(pairs: list[dict[str, Any]], *answers: str) -> list[dict[str, Any]]:
    return [{"qa_id": pair["qa_id"], "candidates": [{"answer": answer} for answer in answers]} for pair in pairs]


def test_open_predictions_of_visual7w_score_as_in_the_original(tmp_path: Path) -> None:
    """The two most frequent answers for all questions."""
    gold = write_visual7w(tmp_path / "dataset.json", PAIRS)
    results = written(tmp_path / "result.json", most_frequent(PAIRS, "Red.", "3"))
    found = evaluated(gold, results, preset="visual7w", top_k=(2,))

    assert shares(found, "overall") == {"overall": "0.667 (2/3)"}
    assert shares(found, "type") == {"how": "0.500 (1/2)", "what": "1.000 (1/1)"}


def test_choices_of_visual7w_score_as_in_the_original(tmp_path: Path) -> None:
    """The most frequent of the options: "Red." for all."""
    gold = write_visual7w(tmp_path / "dataset.json", PAIRS)
    results = written(tmp_path / "result.json", most_frequent(PAIRS, "Red."))
    found = evaluated(gold, results, mode="mc", preset="visual7w")

    assert shares(found, "overall") == {"overall": "0.333 (1/3)"}
    assert shares(found, "type") == {"how": "0.000 (0/2)", "what": "1.000 (1/1)"}


def test_a_pair_that_is_not_ascii_is_scored(tmp_path: Path) -> None:
    """The original crashes."""
    gold = write_visual7w(tmp_path / "dataset.json", [*PAIRS, CAFE])
    results = written(tmp_path / "result.json", most_frequent([*PAIRS, CAFE], "Red.", "CAFÉ"))
    found = evaluated(gold, results, preset="visual7w", top_k=(2,))

    assert shares(found, "type") == {"how": "0.000 (0/2)", "what": "1.000 (1/1)", "where": "1.000 (1/1)"}


def test_one_right_answer_twice_is_a_duplicate_and_not_all(tmp_path: Path) -> None:
    """The original prints 1.000 (2 / 2)."""
    gold = write_visual7w(tmp_path / "dataset.json", PAIRS)
    results = written(tmp_path / "result.json", most_frequent(PAIRS[:1] * 2, "Red."))
    found = evaluated(gold, results, preset="visual7w")

    assert shares(found, "overall") == {"overall": "0.333 (1/3)"}
    assert (found.coverage.duplicate, found.coverage.missing, found.coverage.is_clean) == (1, 2, False)


# VQAv2 ----------------------------------------------------------------------------------------------------------------

ANNOTATED = {1: ["net"] * 9 + ["mesh"], 2: ["pitcher"] * 8 + ["catcher", "umpire"], 3: ["orange"] * 10}
"""Three questions with ten answers each; of the last all annotators agree."""


def write_vqav2(folder: Path) -> Path:
    annotations = [
        {
            "question_id": id,
            "image_id": id,
            "question_type": "what",
            "answer_type": "other",
            "multiple_choice_answer": answers[0],
            "answers": [{"answer": answer, "answer_id": at} for at, answer in enumerate(answers, 1)],
        }
        for id, answers in ANNOTATED.items()
    ]
    return written(folder / "annotations.json", {"annotations": annotations})


@pytest.mark.parametrize(
    ("preset", "place", "template", "percents", "overall"),
    [
        ("vqa-official", 0, "{}", [100, 100, 100], 100.0),
        ("vqa-official", -1, "The {}!", [30, 30, 0], 20.0),
        ("vqa-always", -1, "The {}!", [30, 30, 100], 53.33),
    ],
)
def test_results_of_vqa_score_as_in_the_official_script(
    preset: str, place: int, template: str, percents: list[float], overall: float, tmp_path: Path
) -> None:
    """The most common answers; and the rarest in capitals, which the script leaves so if annotators agree."""
    said = {id: template.format(answers[place]) for id, answers in ANNOTATED.items()}
    results = [{"question_id": id, "answer": text.upper() if place else text} for id, text in said.items()]
    found = evaluated(write_vqav2(tmp_path), written(tmp_path / "results.json", results), preset=preset)

    assert [round(100 * credit, 2) for credit in found.correct] == percents
    assert round(100 * found.overall().accuracy, 2) == overall


# Faults ---------------------------------------------------------------------------------------------------------------

GOLD = [*PAIRS, {**CAFE, "answer": "bar", "multiple_choices": ["red bus", "3", "u"]}, {**CAFE, "qa_id": 10}]
FAULTY: list[dict[str, Any]] = [
    {"qa_id": 6, "answer": "Red."},
    {"qa_id": 6, "answer": "Red."},  # a duplicate that changes nothing
    {"qa_id": 7, "answer": "3"},
    {"qa_id": 7, "answer": "4"},  # a duplicate that contradicts
    {"qa_id": 9, "answer": "bar or bus"},
    {"qa_id": 10, "answer": "I think it is the CAFÉ."},
    {"qa_id": 99, "answer": "3"},  # unknown; 8 is missing
]
CHOICES: list[dict[str, Any]] = [
    {"qa_id": 6, "answer": "A purple one"},  # no option
    {"qa_id": 7, "answer": "I cannot see that."},
    {"qa_id": 8, "answer": "3 and z"},
    {"qa_id": 9, "answer": "u"},
    {"qa_id": 10, "answer": "It is a café."},
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.permutations(FAULTY))
def test_every_fault_is_counted_in_any_order(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    gold = write_visual7w(tmp_path / "dataset.json", GOLD)
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = evaluated(gold, path)
    counts = found.coverage

    assert found.correct.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0], "options are nothing to an open answer"
    assert (counts.questions, counts.predictions, counts.answered) == (5, 7, 4)
    assert (counts.missing, counts.duplicate, counts.unknown) == (1, 2, 1)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.permutations(CHOICES))
def test_replies_to_choices_are_counted_in_any_order(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    gold = write_visual7w(tmp_path / "dataset.json", GOLD)
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    found = evaluated(gold, path, mode="mc")
    counts = found.coverage

    assert found.correct.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert (counts.parsed, counts.ambiguous, counts.refused, counts.not_an_option) == (2, 1, 1, 1)
