"""Evaluations: predictions joined with items, accuracies of groups, further tables, and every kind of fault."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn, strategies as st
from item_tables import table

import vqagen
from vqagen.errors import BadInput, InputWarning, UsageError
from vqagen.items.table import CHOICE, OPEN, Column, Gold, Items
from vqagen.score.evaluate import evaluate_items
from vqagen.score.evaluation import SKIP, Evaluation, EvaluationSettings
from vqagen.score.predictions.reading import read_predictions
from vqagen.score.tables import (
    confusion_table,
    counting_table,
    dialogs_table,
    gap_table,
    mistakes_table,
    pairs_table,
    yes_no_table,
)

SKIPPING = EvaluationSettings(missing=SKIP)


def scored(items: Items, answers: Sequence[str | None], settings: EvaluationSettings | None = None) -> Evaluation:
    """The evaluation of an answer to each item, in their order; None for a missing one."""
    given = {id: answer for id, answer in zip(items.ids, answers, strict=True) if answer is not None}
    return evaluate_items(items, read_predictions(given), settings)


def oracle(items: Items, settings: EvaluationSettings | None = None) -> Evaluation:
    """The evaluation of the right answers."""
    return scored(items, items.answers.cells(), settings)


# Faults of predictions ------------------------------------------------------------------------------------------------

FAULTY = [
    *((0, "red"), (1, "blue"), (2, "I cannot tell."), (3, "red or blue"), (4, "Caf\u00e9"), (99, "red"), (98, "red")),
    (0, "red"),  # again
    (5, "blue"),
    (5, "red"),  # another answer
    (0, "red"),
]


@pytest.mark.parametrize("seed", range(2))
def test_faults_are_counted_in_any_order_of_the_predictions(seed: int) -> None:
    """The accuracy does not depend on the order either: a question with two different predictions is answered wrong."""
    shuffled = random.Random(seed).sample(FAULTY, len(FAULTY))
    answers = ["red", "red", "red", "red", "caf\u00e9", "red", "red"]
    items = replace(table(answers, options=[("red", "blue", "caf\u00e9")] * 7), mode=CHOICE)

    found = evaluate_items(items, read_predictions([{"id": id, "answer": answer} for id, answer in shuffled]))

    coverage = found.coverage._asdict()
    examples = coverage.pop("examples")
    assert coverage == {
        "questions": 7,
        "predictions": 11,
        "answered": 6,
        "missing": 1,
        "duplicate": 3,
        "unknown": 2,
        "read": 3,
        "ambiguous": 2,
        "not_read": 0,
        "no_valid_answer": 1,
        "not_an_option": 0,
    }
    assert (examples["missing"], examples["unknown"], examples["no_valid_answer"]) == (("6",), ("98", "99"), ("2",))
    assert examples["duplicate"] == ("0", "5"), "each once"
    assert (found.overall().correct, found.overall().n) == (2, 7)


def test_an_answer_that_is_no_option_is_counted() -> None:
    items = replace(table(["red"], options=[("red", "blue")]), mode=CHOICE)

    found = scored(items, ["green"], EvaluationSettings(preset="exact"))

    assert (found.coverage.not_an_option, found.coverage.examples) == (1, {"not_an_option": ("0",)})
    assert (found.coverage.answered, found.coverage.read) == (1, 0)


def test_one_right_answer_is_not_the_accuracy_of_a_file() -> None:
    """The toolkit of Visual7W divides by the number of predictions."""
    given = [None] * 3 + ["red"] + [None] * 6

    assert scored(table(["red"] * 10), given).overall().accuracy == 0.1
    skipped = scored(table(["red"] * 10), given, SKIPPING).overall()
    assert (skipped.n, skipped.accuracy) == (1, 1.0)


def test_predictions_of_other_questions_are_no_score() -> None:
    message = "no prediction belongs to a question: predictions are for 7, 8; questions are 0"

    with pytest.raises(BadInput, match=message):
        evaluate_items(table(["red"]), read_predictions({8: "red", 7: "red"}))
    with pytest.raises(BadInput, match="no predictions to score"):
        evaluate_items(table(["red"]), read_predictions([]))
    with pytest.raises(BadInput, match="no questions"):
        evaluate_items(table([]), read_predictions({8: "red"}))


@pytest.mark.parametrize("ids", [["7", "8", "7"], ["a", "b", "a"]])
def test_two_questions_of_one_id_are_rejected(ids: list[str]) -> None:
    """Whether their id has a prediction or not."""
    items = replace(table(["red"] * 3), ids=ids)

    for id in ids[:2]:
        with pytest.raises(BadInput, match=f"question {ids[0]}: its id is that of an earlier question"):
            evaluate_items(items, read_predictions({id: "red"}))


def test_lines_answer_the_items_in_their_order() -> None:
    """Their ids are the places of the items, whatever the ids of these; another number of lines is refused."""
    items = replace(table(["red", "blue"]), ids=["17", "0"])

    found = evaluate_items(items, replace(read_predictions({0: "red", 1: "blue"}), is_in_order=True))

    assert (found.overall().correct, found.coverage.unknown) == (2, 0)
    with pytest.raises(BadInput, match=r"3 lines for 2 questions: .* one line for each question"):
        evaluate_items(items, replace(read_predictions({0: "red", 1: "blue", 2: "gray"}), is_in_order=True))


# Ids and places -------------------------------------------------------------------------------------------------------


def asked(ids: Iterable[Any], splits: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Questions with these ids; the answer of each is its id."""
    shown = [{"question_index": id, "image_index": at, "question": "?", "answer": f"{id}"} for at, id in enumerate(ids)]
    return [{**each, "split": split} for each, split in zip(shown, splits, strict=True)] if splits else shown


def given(key: str, numbers: Iterable[Any], answers: Iterable[Any]) -> list[dict[str, Any]]:
    return [{key: number, "prediction": f"{answer}"} for number, answer in zip(numbers, answers, strict=True)]


GAPS, MIXED, WHOLE, ZEROS = (2, 3, 5, 8), (3, 0, 2, 1), (0, 1, 2, 3), ("02", "03", "05", "08")
TWO = ("train", "train", "val", "val")
NUMBERED, UNCLEAR = "predictions are numbered from", "may number rows or name questions: give each prediction the id"
PLACES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]], str, str]] = {
    "places": (asked(GAPS), given("id", range(4), GAPS), "", NUMBERED),
    "places under the name of an id": (asked(GAPS), given("question_index", range(4), GAPS), "", NUMBERED),
    "places of the first ones": (asked(GAPS), given("id", range(3), GAPS[:3]), "", NUMBERED),
    "places from 1 on": (asked(WHOLE), given("id", range(1, 5), WHOLE), "", NUMBERED),
    "places of ids from 1 on": (asked((1, 2, 3)), given("id", range(3), (1, 2, 3)), "", NUMBERED),
    "numbers of rows": (asked(GAPS), given("doc_id", range(4), GAPS), "", NUMBERED),
    "some rows": (asked(GAPS), given("index", (2, 3), GAPS[2:]), "", UNCLEAR),
    "rows from 1 on": (asked(WHOLE), given("index", (1, 2), (0, 1)), "", UNCLEAR),
    "rows of questions in another order": (asked(MIXED), given("doc_id", WHOLE, MIXED), "", UNCLEAR),
    "rows of a split in a whole file": (asked(WHOLE, TWO), given("doc_id", (0, 1), (2, 3)), "", UNCLEAR),
    "rows of a split": (asked(MIXED, TWO), given("doc_id", (0, 1), (2, 1)), "val", UNCLEAR),
    "rows of a split that are ids of others": (
        asked((0, 2, 3, 1), ("train", "val", "val", "train")), given("id", (0, 1, 2), GAPS[1:]), "val", NUMBERED,
    ),
    "as many as a split has": (asked((0, 1, 2, 3, 4), ("train", *TWO)), given("id", (0, 1), (3, 4)), "", NUMBERED),
    "some from 1 on": (asked(range(9)), given("id", range(1, 5), range(4)), "", NUMBERED),
    "the text of another question": (
        [{**each, "question": f"{each['answer']}?"} for each in asked(WHOLE)],
        [{**each, "question": f"{each['prediction']}?"} for each in given("question_index", WHOLE, MIXED)],
        "",
        "3 predictions with the text of another question than their id: 0, 1, 3",
    ),
    "another split": (asked(WHOLE, TWO), given("id", (0, 1), (0, 1)), "val", "questions of another split are"),
    "another split with the same numbers": (
        asked((*WHOLE, 0, 1), ("train",) * 4 + ("val",) * 2), given("id", WHOLE, WHOLE), "val", NUMBERED,
    ),
    "no ids": (asked(WHOLE), given("id", ("q_0", "q_1", "q_2", "q_3"), WHOLE), "", "no prediction belongs to a"),
}  # fmt: skip
"""Questions, predictions of a perfect model, the split, and why they are refused."""
IDS = {
    "ids": (asked(GAPS), given("id", GAPS, GAPS), ""),
    "ids as texts, floats and with zeros": (asked(GAPS), given("id", ("2", 3.0, "5.0", "008"), GAPS), ""),
    "ids of a file with zeros": (asked(ZEROS), given("questionId", ("2", 3, "05", "8.0"), ZEROS), ""),
    "ids in another order": (asked(MIXED), given("id", WHOLE, WHOLE), ""),
    "ids as index": (asked(GAPS), given("index", GAPS, GAPS), ""),
    "ids as index in another order": (asked(MIXED), given("index", MIXED, MIXED), ""),
    "ids that are the places": (asked(WHOLE), given("doc_id", (3, 1, 0, 2), (3, 1, 0, 2)), ""),
    "ids of the whole file": (asked(WHOLE, TWO), given("id", WHOLE, WHOLE), "val"),
    "ids of a split as index": (asked(WHOLE, TWO), given("index", (2, 3), (2, 3)), "val"),
    "ids in documents": (
        asked(GAPS),
        [{"doc_id": at, "doc": {"id": f"{id}"}, "filtered_resps": [f"{id}"]} for at, id in enumerate(GAPS)],
        "",
    ),
    "ids under another key": ([{"id": f"q{id}", "question": "?", "answer": f"{id}", "image_index": 0} for id in GAPS],
                              given("id", [f"q{id}" for id in GAPS], GAPS), ""),
    "questions of GQA": ([{"0002": {"question": "?", "answer": "yes", "imageId": "7", "semantic": []}}],
                         given("questionId", ["0002"], ["yes"]), ""),
}  # fmt: skip
"""Questions, predictions of a perfect model, and the split."""


@pytest.mark.parametrize("name", PLACES)
def test_numbers_that_may_be_places_are_no_ids(name: str) -> None:
    questions, predictions, split, message = PLACES[name]

    with pytest.raises(BadInput, match=message):
        vqagen.evaluate(questions, predictions, split=split)


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", IDS)
def test_an_id_is_an_id_however_it_is_written(name: str) -> None:
    """And a prediction for a question of another split is not unknown."""
    questions, predictions, split = IDS[name]

    found = vqagen.evaluate(questions[0] if name == "questions of GQA" else questions, predictions, split=split)

    assert found.overall().accuracy == 1
    assert (found.coverage.missing, found.coverage.unknown, found.coverage.duplicate) == (0, 0, 0)


def test_predictions_for_another_file_are_said() -> None:
    with pytest.warns(InputWarning, match="5 of 6 predictions are for no question of given questions: are they for an"):
        assert vqagen.evaluate(asked(GAPS), given("id", range(8, 14), range(8, 14))).overall().accuracy == 0.25


def test_predictions_that_tell_other_questions_are_said() -> None:
    """A prompt around the question is no other one."""
    questions = [{**each, "question": f"How many {each['answer']}?"} for each in asked(WHOLE)]
    told = [{**each, "prompt": "<image>\nWhat?"} for each in given("id", WHOLE, WHOLE)]
    prompts = [{**each, "prompt": f"Look.\nHow many {each['id']}?\nA) 1"} for each in given("id", WHOLE, WHOLE)]

    assert vqagen.evaluate(questions, prompts).overall().accuracy == 1
    with pytest.warns(InputWarning, match="no prediction tells a question of given questions: are they for another"):
        vqagen.evaluate(questions, told)


# Candidates -----------------------------------------------------------------------------------------------------------


def test_the_first_candidates_count_without_repetitions() -> None:
    """Under the profile of Visual7W a repeated candidate takes a place, as it does there."""
    items, given = table(["blue"]), read_predictions([{"id": 0, "candidates": ["red", "Red", "green", "blue"]}])

    ours = evaluate_items(items, given, EvaluationSettings(top_k=(1, 2, 3)))
    theirs = evaluate_items(items, given, EvaluationSettings(preset="visual7w", top_k=(3, 4)))

    assert [float(credit[0]) for credit in ours.credits.values()] == [0, 0, 1]
    assert [float(credit[0]) for credit in theirs.credits.values()] == [0, 1]
    assert [row[:3] for row in theirs.report().table("top_k").rows] == [(3, 1, 0), (4, 1, 1)]


def test_options_are_chosen_by_text_or_letter() -> None:
    items = replace(table(["blue"], options=[("red", "blue")]), mode=CHOICE)

    for given, is_right in {"B": True, "blue": True, "ANSWER: (b)": True, "A": False}.items():
        assert scored(items, [given]).overall().accuracy == is_right
    assert scored(replace(items, mode=OPEN), ["B"]).overall().accuracy == 0
    with pytest.raises(BadInput, match="no options, so no multiple choice"):
        oracle(replace(table(["blue"]), mode=CHOICE))


# Groups ---------------------------------------------------------------------------------------------------------------


def test_groups_and_crosses_are_those_of_a_plain_count() -> None:
    rng = random.Random(0)
    shapes, sizes = rng.choices(["cube", "sphere", None], k=300), rng.choices([10, 9, None], k=300)
    given = rng.choices(["yes", "no"], k=300)
    found = scored(table(["yes"] * 300, shape=shapes, size=sizes), given)

    cross = {row.values: (row.n, row.correct) for row in found.table("shape*size")}

    keys = list(zip(shapes, sizes, strict=True))
    count = Counter(keys)
    right = Counter(key for key, text in zip(keys, given, strict=True) if text == "yes")
    assert cross == {key: (count[key], right[key]) for key in count if None not in key}
    assert [row.name for row in found.table("size")] == ["9", "10"]
    assert [row.name for row in found.table("shape*size")] == ["cube, 9", "cube, 10", "sphere, 9", "sphere, 10"]


def test_a_field_that_does_not_exist_is_named() -> None:
    with pytest.raises(UsageError, match="unknown field to group by 'shap'; did you mean 'shape'"):
        oracle(table(["yes"], shape=["cube"])).table("shap")


def test_intervals_are_clustered_by_any_field() -> None:
    """Items that the field does not concern are clusters of their own."""
    items = table(
        ["yes"] * 40, block=[at // 10 for at in range(40)], half=[at // 10 if at < 20 else None for at in range(40)]
    )
    given = ["yes" if at < 20 else "no" for at in range(40)]

    plain, clustered, half = (
        scored(items, given, EvaluationSettings(cluster=field)).overall() for field in ("image", "block", "half")
    )

    assert clustered.low < half.low < plain.low < 0.5 < plain.high < half.high < clustered.high


def test_skill_is_the_share_above_the_floor() -> None:
    found = oracle(table(["1"] * 9 + ["2"])).overall()

    assert (found.floor, found.skill) == (pytest.approx(0.9), 1.0)
    assert scored(table(["1"] * 9 + ["2"]), ["1"] * 10).overall().skill == pytest.approx(0)


def test_an_evaluation_is_a_data_frame() -> None:
    """Of its items, of the groups of a field, or of another table of its report; and it shows itself on a screen."""
    asked = replace(table(["yes", "no", "2"], category=["exist", "exist", "count"]), groups=("category",))
    found = scored(asked, ["yes", "yes", None], SKIPPING)

    items = found.frame()
    assert items[["id", "answer", "given", "category"]].fillna("").values.tolist() == [
        ["0", "yes", "yes", "exist"],
        ["1", "no", "yes", "exist"],
        ["2", "2", "", "count"],
    ]
    assert items.correct.tolist()[:2] == [1, 0] and np.isnan(items.correct[2])
    assert found.frame("category*answer").accuracy.tolist() == [0, 1]
    assert found.frame("yes_no").n.tolist() == [2]
    assert "  exist     2" in repr(found) and "<h2" in found._repr_html_()


# Single answers -------------------------------------------------------------------------------------------------------

TRUTHS = [("yes", "yes")] * 3 + [("yes", "no")] * 2 + [("no", "yes")] + [("no", "no")] * 4
COLORS = [("red", "red")] * 5 + [("red", "blue")] * 2 + [("blue", "blue")] + [("blue", "pink")] + [("green", "")]


def test_yes_no_figures_take_yes_for_the_positive_answer() -> None:
    """Accuracy, precision, recall and F1 of three true and one false "yes", four true and two false "no"."""
    [row] = yes_no_table(Counter(TRUTHS)).rows

    assert row[1:5] == pytest.approx((7 / 10, 3 / 4, 3 / 5, 2 / 3))
    assert row[5:] == (0.4, 0.5, 0)


def test_other_answers_to_yes_no_questions() -> None:
    """A missing answer and another word are wrong and no "yes"; a model that never says yes has no precision."""
    assert yes_no_table(Counter([("yes", ""), ("no", "red"), ("no", "no")])).rows == (
        (3, 1 / 3, None, 0, 0, 0, 1 / 3, 2),
    )
    missing = scored(table(["yes", "no", "no"]), ["", None, "no"]).report().table("yes_no").rows
    assert missing == ((3, 1 / 3, None, 0, 0, 0, 1 / 3, 2),), "an empty answer and none are both counted"
    assert yes_no_table(Counter([("no", "yes")])).rows == ((1, 0, 0, None, 0, 1, 0, 0),)


def test_counting_figures() -> None:
    """Counting is exact, off by one or further; the mean error is over the numbers that were given."""
    given = [("2", "2"), ("2", "3"), ("4", "3"), ("5", "2"), ("1", ""), ("0", "red")]

    [row] = counting_table(Counter(given)).rows

    assert row == (6, 1 / 6, 1 / 2, 1 / 3, 5 / 4, -3 / 4, 2)


def test_recall_and_confusion_of_answers() -> None:
    """Each right answer has its recall, its precision and the answer that it is most often taken for."""
    many = Counter((str(number), str(number)) for number in range(41))

    table = confusion_table({"text": many, "word": Counter(COLORS)})

    assert table.rows == (
        ("word", "red", 7, 5 / 7, 5, 1.0, "blue", 2),
        ("word", "blue", 2, 0.5, 3, 1 / 3, "pink", 1),
        ("word", "green", 1, 0.0, 0, None, "(no answer)", 1),
    )
    assert table.notes == ("left out: text answers, of which there are more than 40",)
    assert confusion_table({"text": many}) is None


def test_a_right_answer_is_given_as_the_right_one_is_shown() -> None:
    """Tables of answers count it as right, although what is compared has no case, marks or order."""
    gold = Column.of([Gold("text", ("Red.",))] * 3 + [Gold("list", (("red", "blue"),))])
    items = replace(table(["?"] * 4, answer_type=["text"] * 3 + ["list"]), gold=gold)

    rows = oracle(items).report().table("answers").rows

    assert [row[:4] for row in rows] == [("list", "blue, red", 1, 1), ("text", "red", 3, 1)]


# Pairs, dialogs and trials --------------------------------------------------------------------------------------------


def of_judged(make: Callable[[Items, Any, Any], Any], judged: Evaluation) -> Any:
    return make(judged.items, judged.correct, judged.is_counted)


def test_pairs_by_right_answers() -> None:
    """A pair has both, one or none of its questions right; a question whose partner is missing is only counted."""
    pairs: list[Any] = [0, 1, None, 0, 2, 1, 3, 2]
    kinds = ["b", "a", "a", "b", "b", "c", "a", "b"]  # of a pair, the first counts
    items = table(["yes"] * 8, pairs=pairs, category=kinds)

    table_ = of_judged(pairs_table, scored(items, ["yes", "no", "yes", "yes", "yes", "no", "yes", "no"]))

    assert [row[:5] for row in table_.rows] == [("overall", 3, 1, 1, 1), ("a", 1, 0, 0, 1), ("b", 2, 1, 1, 0)]
    assert table_.notes == ("1 question without partner",)
    assert of_judged(pairs_table, oracle(table(["yes"] * 8))) is None


def test_a_question_that_is_left_out_is_in_no_pair() -> None:
    """With `--missing skip`, its partner is without one, and the pair is not wrong."""
    items = table(["yes", "no", "yes", "no"], pairs=[0, 0, 1, 1])

    found = of_judged(pairs_table, scored(items, ["yes", "no", "yes", None], SKIPPING))

    assert found.rows[0][:5] == ("overall", 1, 1, 0, 0)
    assert found.notes == ("1 question without partner",)


def test_errors_propagate_in_dialogs() -> None:
    """Rounds are right or wrong after a right or a wrong one; the first round is after none, and a left out one too."""
    items = replace(table(["yes"] * 6), ids=["7/0", "7/1", "7/2", "10/0", "10/1", "10/2"])

    table_ = of_judged(dialogs_table, scored(items, ["yes", "yes", "yes", "yes", "no", "yes"]))
    skipped = of_judged(dialogs_table, scored(items, ["yes", "yes", None, "no", None, None], SKIPPING))

    assert table_.rows == ((2, 0.5, 2.0, 2 / 3, 3, 1.0, 1),)
    assert skipped.rows == ((2, 0.5, 1.0, 1.0, 1, None, 0),)


def test_the_interval_of_a_published_gap() -> None:
    """Newcombe 1998, method 10: 56 of 70 less 48 of 80."""
    *_, (_, _, difference, *interval) = gap_table([("control", 70, 56), ("test", 80, 48)]).rows

    assert [difference, *interval] == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


@pytest.mark.slow
@drawn(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_interval_of_the_gap_is_newcombes(control: int, test: int, data: st.DataObject) -> None:
    """The interval of the difference of two accuracies is the one that statsmodels calls `newcomb`."""
    first, second = data.draw(st.integers(0, control)), data.draw(st.integers(0, test))

    *_, (_, n, difference, *interval) = gap_table([("control", control, first), ("test", test, second)]).rows

    assert (n, difference) == (control + test, pytest.approx(first / control - second / test))
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    bounds = proportion.confint_proportions_2indep(first, control, second, test, compare="diff", method="newcomb")
    assert interval == pytest.approx(bounds, abs=1e-9)


def test_tables_of_trials() -> None:
    """There is a gap if there are trials of both types; kinds of answers stand in their order, with shares by type."""
    types, given = ["test"] * 4 + ["control"] * 2, ["A1", "B2", "B2", "B2", None, None]
    outcomes = Column.of([(("B2", "correct"), ("A1", "foil"))] * 6)
    items = replace(table(["B2"] * 6, type=types, given=given), outcomes=outcomes, format="trials")

    found = mistakes_table(items, np.ones(6, dtype=bool))

    assert gap_table([("control", 2, 1)]) is None
    assert found.rows == (("correct", 0, 3, 0.0, 0.75), ("foil", 0, 1, 0.0, 0.25), ("no answer", 2, 0, 1.0, 0.0))
