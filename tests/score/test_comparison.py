"""Comparisons of models: their tests have the published values, and their tables say what the predictions say."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from commands import Commands

from vqagen.errors import BadInput
from vqagen.score.compare import Difference, compare, difference, mcnemar
from vqagen.score.intervals import clustered_mean, holm

pytestmark = pytest.mark.usefixtures("in_empty_folder")


# Tests ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_mcnemar_of_the_published_table() -> None:
    """Of [[30, 12], [5, 40]], exact p is .143463; without a discordant question it is 1."""
    assert mcnemar(12, 5) == pytest.approx(0.143463, abs=1e-6)
    assert (mcnemar(0, 0), mcnemar(1, 0)) == (1, 1)


def paired_difference(first: np.ndarray, second: np.ndarray, images: np.ndarray) -> Difference:
    """The difference of two models over all questions."""
    return difference(("overall", "overall", "first", "second"), first, second, images)


def scores(text: str) -> np.ndarray:
    """Right and wrong answers, written as 1 and 0."""
    return np.array([float(each) for each in text])


@pytest.mark.slow
def test_the_difference_is_that_of_clustered_differences() -> None:
    """Mean, interval and p are those of the differences, by image, with Student's t of one image less."""
    generator = np.random.default_rng(0)
    first, second = (generator.random(200) < 0.5).astype(float), (generator.random(200) < 0.7).astype(float)
    images = np.repeat(np.arange(50), 4)
    expected = clustered_mean(second - first, images)

    found = paired_difference(first, second, images)

    student = pytest.importorskip("scipy.stats").t(49)
    assert found.mean == expected.mean
    assert found.high - found.mean == pytest.approx(student.ppf(0.975) * expected.error)
    assert found.p == pytest.approx(2 * student.sf(abs(expected.mean) / expected.error))
    assert found.only_second - found.only_first == pytest.approx(200 * found.mean)


@pytest.mark.slow
def test_few_images_find_no_more_differences_than_many() -> None:
    """Of equal models on six images whose questions agree, about 5 % of samples have p below .05."""
    generator, images = np.random.default_rng(5), np.repeat(np.arange(6), 40)
    found = 0
    for _ in range(150):
        shares = 0.5 + generator.normal(0, 0.1, 6)[images]
        first, second = ((generator.random(240) < each).astype(float) for each in (0.5, shares))
        found += paired_difference(first, second, images).p < 0.05

    assert 0.01 < found / 150 < 0.08


def test_few_discordant_questions_are_tested_exactly() -> None:
    """Below ten discordant questions, p is that of McNemar's exact test."""
    first, second = scores("1111100000" * 3), scores("1111100111" + "1111100000" * 2)

    found = paired_difference(first, second, np.arange(30))

    assert found.mcnemar is not None
    assert found.p == found.mcnemar == 0.25


def test_equal_models_are_not_certainly_equal() -> None:
    """Without a discordant question p is 1, and the interval is as wide as the number of images leaves open."""
    found = paired_difference(scores("1100"), scores("1100"), np.arange(4))

    assert (found.mean, found.p) == (0, 1)
    assert found.low == -found.high < -0.4
    assert found.detectable is None


def test_the_detectable_difference_follows_from_the_discordant_questions() -> None:
    """With 200 of 1,000 independent questions discordant, it is (1.96 + 0.84) · √200 / 1,000."""
    first = np.array([1.0] * 100 + [0.0] * 900)
    second = np.array([0.0] * 100 + [1.0] * 100 + [0.0] * 800)

    found = paired_difference(first, second, np.arange(1000))

    assert found.detectable == pytest.approx((1.959964 + 0.841621) * math.sqrt(200) / 1000, rel=1e-3)


# Files ------------------------------------------------------------------------------------------------------------

PROGRAM = [{"type": "scene", "inputs": [], "value_inputs": []}, {"type": "exist", "inputs": [0], "value_inputs": []}]
COUNT = [PROGRAM[0], {"type": "count", "inputs": [0], "value_inputs": []}]


def written(right: Mapping[str, str]) -> None:
    """Write 40 questions, half of them with numbers, and a prediction file for each model: 1 right, 0 wrong, - none."""
    questions = [
        {
            "question_index": i,
            "image_filename": f"{i // 2}.png",
            "question": "?",
            "answer": True if i < 20 else 3,
            "program": PROGRAM if i < 20 else COUNT,
        }
        for i in range(40)
    ]
    Path("q.json").write_text(json.dumps({"questions": questions}))
    for name, text in right.items():
        answers = {"1": ("yes", "3"), "0": ("no", "4")}
        lines = [
            json.dumps({"question_index": i, "answer": answers[each][i >= 20]})
            for i, each in enumerate(text)
            if each != "-"
        ]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")


A, B = "1" * 10 + "0" * 10 + "1" * 15 + "0" * 5, "1" * 10 + "0" * 10 + "1" * 5 + "0" * 15


def test_two_files_are_compared_over_all_questions_and_in_groups() -> None:
    """The differences are those of the files; what is equal in one group is not in another."""
    written({"a": A, "b": B})

    found = compare("q.json", "a.jsonl", "b.jsonl")

    assert [(model.name, model.correct) for model in found.models] == [("a", 25), ("b", 15)]
    [pair] = found.pairs
    assert (pair.mean, pair.only_first, pair.only_second) == (-0.25, 10, 0)
    by_name = {(group.field, group.group): group.mean for group in found.groups}
    assert by_name["category", "exist"] == 0
    assert by_name["category", "count"] == -0.5
    assert (found.questions, found.images) == (40, 20)


def test_pairs_and_groups_of_several_models_are_corrected_together() -> None:
    """Holm's p takes the groups of all fields into account, as all are read; a cross has a group for each pair."""
    written({"a": A, "b": B, "c": "1" * 40})

    found = compare("q.json", "a.jsonl", "b.jsonl", "c.jsonl", group_by=["category", "category*function"])

    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [(group.group, group.n) for group in found.groups if group.field != "category" and group.second == "b"] == [
        ("count, count", 20),
        ("exist, exist", 20),
    ]
    for tested in (found.pairs, found.groups):
        assert [each.corrected_p for each in tested] == holm([each.p for each in tested])


def test_a_missing_prediction_is_wrong_or_left_out_for_all_models() -> None:
    """By default it counts as wrong; with skip, no model is scored on the question."""
    written({"a": "-" * 10 + "1" * 30, "b": "1" * 40})

    wrong = compare("q.json", "a.jsonl", "b.jsonl")
    skipped = compare("q.json", "a.jsonl", "b.jsonl", missing="skip")

    assert (wrong.questions, wrong.models[0].accuracy, wrong.models[0].missing) == (40, 0.75, 10)
    assert (skipped.questions, skipped.left_out) == (30, 10)
    assert [model.accuracy for model in skipped.models] == [1, 1]


def test_files_without_a_common_question_are_not_compared() -> None:
    """Whatever the policy for missing predictions, the error names the files and how much they answer."""
    written({"a": "1" * 15 + "-" * 25, "b": "-" * 15 + "1" * 25})

    for missing in ("wrong", "skip"):
        with pytest.raises(BadInput, match="answered by both a and b, which answer 15 questions and 25 questions"):
            compare("q.json", "a.jsonl", "b.jsonl", missing=missing)


def test_the_head_names_faulty_predictions(vqagen_: Commands) -> None:
    """Predictions that count for nothing are counted."""
    written({"a": A, "b": B})
    with Path("b.jsonl").open("a") as file:
        file.write('{"question_index": 99, "answer": "no"}\n{"question_index": 0, "answer": "yes"}\n')

    lines = vqagen_.done("compare q.json a.jsonl b.jsonl ").out.decode().splitlines()

    assert lines[:3] == [
        "40 questions about 20 images; low and high are bounds of 95 % intervals",
        "faulty predictions (see vqagen evaluate): b: 1 duplicate, 1 unknown",
        "p: of the difference, robust to questions about one image; exact McNemar if fewer than 10 differ",
    ]


def test_models_are_named_by_their_files() -> None:
    """Endings are left out; files of equal names are called by their paths, and one file twice by numbers."""
    written({"a": A, "b": B})
    Path("old").mkdir()
    Path("old/a.jsonl").write_text(Path("a.jsonl").read_text())

    def names(*files: str) -> list[str]:
        return [model.name for model in compare("q.json", *files).models]

    assert names("a.jsonl", "b.jsonl") == ["a", "b"]
    assert names("a.jsonl", "old/a.jsonl") == ["a.jsonl", "old/a.jsonl"]
    assert names("a.jsonl", "a.jsonl") == ["a.jsonl (1)", "a.jsonl (2)"]


# The command ------------------------------------------------------------------------------------------------------


MISTAKES = {
    "q.json a.jsonl": (2, "give two or more"),
    "q.json a.jsonl b.jsonl --group-by categry": (2, "did you mean 'category'?"),
    "q.json a.jsonl nowhere.jsonl": (3, "nowhere.jsonl"),
    "q.json a.jsonl other.jsonl": (3, "no prediction in other.jsonl belongs to a question"),
}


def test_mistakes_are_one_line(vqagen_: Commands) -> None:
    """Each mistake is named, without a traceback."""
    written({"a": A, "b": B})
    Path("other.jsonl").write_text('{"question_index": 999, "answer": "yes"}\n')

    for line, (code, said) in MISTAKES.items():
        ran = vqagen_(f"compare {line}")
        assert (ran.code, said in ran.err, len(ran.err.splitlines())) == (code, True, 1), ran.err


def test_the_report_as_json_and_csv_has_the_same_numbers(vqagen_: Commands) -> None:
    """Both have unrounded numbers, and no value that is no JSON."""
    written({"a": A, "b": B, "c": A})

    found = json.loads(vqagen_.done("compare q.json a.jsonl b.jsonl c.jsonl --json").out)
    vqagen_.done("compare q.json a.jsonl b.jsonl c.jsonl -o models.csv")

    pairs = found["tables"]["pairs"]["rows"]
    lines = [line for line in csv.DictReader(Path("models.csv").read_text().splitlines()) if line["table"] == "pairs"]
    assert [float(line["difference"]) for line in lines] == [pair["difference"] for pair in pairs] == [-0.25, 0, 0.25]
    assert [pair["detectable"] is None for pair in pairs] == [False, True, False]
    assert "40 questions about 20 images" in vqagen_.done("compare q.json a.jsonl b.jsonl").out.decode()
