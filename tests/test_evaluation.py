"""Evaluations: predictions joined with gold items, accuracies of groups, and counts of every kind of fault."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from gold_files import Prediction, gold_of, oracle, predicted, prediction, text_items

from vqagen.errors import BadInput, UsageError
from vqagen.score.answers.kinds import INTEGER, LIST, TEXT, WORD
from vqagen.score.gold.file import CHOICE, OPEN
from vqagen.score.gold.item import GoldItem
from vqagen.score.scoring.evaluation import evaluate
from vqagen.score.scoring.floors import guessed_by_others
from vqagen.score.scoring.score_report import score_report
from vqagen.score.scoring.settings import SKIP, EvaluationSettings

# Faults of predictions ------------------------------------------------------------------------------------------------

FAULTY = [
    *predicted(_0="red", _1="blue", _2="I cannot tell.", _3="red or blue", _4="Caf\u00e9", _99="red", _98="red"),
    *predicted(_0="red"),  # again
    *predicted(_5="blue"),
    *predicted(_5="red"),  # another answer
    *predicted(_0="red"),
]


@pytest.mark.parametrize("seed", range(2))
def test_faults_are_counted_in_any_order_of_the_predictions(seed: int) -> None:
    """The accuracy does not depend on the order either: a question with two different predictions is answered wrong."""
    shuffled = random.Random(seed).sample(FAULTY, len(FAULTY))
    items = [
        GoldItem(str(at), TEXT, (answer,), "a", options=("red", "blue", "caf\u00e9"), right=0)
        for at, answer in enumerate(["red", "red", "red", "red", "caf\u00e9", "red", "red"])
    ]

    found = evaluate(gold_of(items, CHOICE), shuffled)

    coverage = found.coverage.to_record()
    examples = coverage.pop("examples")
    assert coverage == {
        "questions": 7,
        "predictions": 11,
        "answered": 6,
        "missing": 1,
        "duplicate": 3,
        "unknown": 2,
        "parsed": 3,
        "ambiguous": 2,
        "refused": 1,
        "not_an_option": 0,
    }
    assert (examples["missing"], examples["unknown"], examples["refused"]) == (["6"], ["98", "99"], ["2"])
    assert (found.overall().correct, found.overall().n) == (2, 7)


def test_an_answer_that_is_no_option_is_counted() -> None:
    items = [GoldItem("0", TEXT, ("red",), "", options=("red", "blue"), right=0)]

    found = evaluate(gold_of(items, CHOICE), predicted(_0="green"), EvaluationSettings(preset="exact"))

    assert (found.coverage.not_an_option, found.coverage.examples) == (1, {"not_an_option": ("0",)})


def test_one_right_answer_is_not_the_accuracy_of_a_file() -> None:
    """The toolkit of Visual7W divides by the number of predictions."""
    gold = gold_of(text_items(["red"] * 10))

    assert evaluate(gold, predicted(_3="red")).overall().accuracy == 0.1
    skipped = evaluate(gold, predicted(_3="red"), EvaluationSettings(missing=SKIP)).overall()
    assert (skipped.n, skipped.accuracy) == (1, 1.0)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([], "no predictions to score"),
        (
            predicted(_7="red", _8="red"),
            "no prediction belongs to a question: predictions are for 7, 8; questions are 0",
        ),
    ],
)
def test_predictions_of_other_questions_are_no_score(predictions: list[Prediction], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        evaluate(gold_of(text_items(["red"])), predictions)


def test_two_questions_of_one_id_are_rejected() -> None:
    items = text_items(["red", "blue"])

    with pytest.raises(BadInput, match="question 0: its id is that of an earlier question"):
        evaluate(gold_of([*items, items[0]]), predicted(_0="red"))
    with pytest.raises(BadInput, match="question 1: its id is that of an earlier question"):
        evaluate(gold_of([*items, items[1]]), predicted(_0="red"))


def test_a_right_answer_is_given_as_the_right_one_is_shown() -> None:
    """Tables of answers count it as right, although what is compared has no case, marks or order."""
    items = [
        *(GoldItem(str(at), TEXT, ("Red.",), str(at), {"type": "what", "answer_type": "text"}) for at in range(3)),
        GoldItem("3", LIST, (("red", "blue"),), "3", {"type": "what", "answer_type": "list"}),
    ]

    report = score_report(evaluate(gold_of(items), oracle(items)))

    assert [row[:4] for row in report.table("answers").rows] == [("list", "blue, red", 1, 1), ("text", "red", 3, 1)]


def test_answers_of_annotators_who_differ_are_one_row() -> None:
    """VQA's official rule compares "The two." with "2" where annotators differ, and so do the tables."""
    items = [
        GoldItem(str(at), TEXT, (right, "some"), str(at), {"type": "how"}, weights=(9, 1))
        for at, right in enumerate(["2", "two"])
    ]

    found = evaluate(gold_of(items), predicted(_0="The two.", _1="2"), EvaluationSettings(preset="vqa-official"))

    assert [row[1:4] for row in score_report(found).table("answers").rows] == [("2", 2, 1)]


# Candidates -----------------------------------------------------------------------------------------------------------


def test_the_first_candidates_count_without_repetitions() -> None:
    """Under the profile of Visual7W a repeated candidate takes a place, as it does there."""
    gold, given = gold_of(text_items(["blue"])), [prediction(0, "red", "Red", "green", "blue")]

    ours = evaluate(gold, given, EvaluationSettings(top_k=(1, 2, 3)))
    theirs = evaluate(gold, given, EvaluationSettings(preset="visual7w", top_k=(3, 4)))

    assert [float(credit[0]) for credit in ours.credits.values()] == [0, 0, 1]
    assert [float(credit[0]) for credit in theirs.credits.values()] == [0, 1]


def test_options_are_chosen_by_text_or_letter() -> None:
    items = [GoldItem("0", WORD, ("blue",), "", options=("red", "blue"), right=1)]

    for given, is_right in {"B": True, "blue": True, "ANSWER: (b)": True, "A": False}.items():
        assert evaluate(gold_of(items, CHOICE), predicted(_0=given)).overall().accuracy == is_right
    with pytest.raises(BadInput, match="no options, so no multiple choice"):
        evaluate(gold_of(text_items(["blue"]), CHOICE), predicted(_0="blue"))


# Groups ---------------------------------------------------------------------------------------------------------------


def test_groups_and_crosses_are_those_of_a_plain_count() -> None:
    rng = random.Random(0)
    shapes, sizes = rng.choices(["cube", "sphere", None], k=300), rng.choices([10, 9, None], k=300)
    items = text_items(["yes"] * 300, shape=shapes, size=sizes)
    given = rng.choices(["yes", "no"], k=300)
    found = evaluate(gold_of(items), [prediction(at, text) for at, text in enumerate(given)])

    cross = {row.values: (row.n, row.correct) for row in found.table("shape*size")}

    keys = list(zip(shapes, sizes, strict=True))
    count = Counter(keys)
    right = Counter(key for key, text in zip(keys, given, strict=True) if text == "yes")
    assert cross == {key: (count[key], right[key]) for key in count if None not in key}
    assert [row.name for row in found.table("size")] == ["9", "10"]
    assert [row.name for row in found.table("shape*size")] == ["cube, 9", "cube, 10", "sphere, 9", "sphere, 10"]


def test_items_may_share_fields_before_and_after_a_new_one() -> None:
    """A mapping that several items share is coded once, and again when another item has brought a further field."""
    shared, other = {"shape": "cube"}, {"shape": "cube", "size": 3}
    items = [
        item._replace(fields=each) for item, each in zip(text_items(["yes"] * 3), (shared, other, shared), strict=True)
    ]

    found = evaluate(gold_of(items), oracle(items))

    assert [[row.n for row in found.table(by)] for by in ("shape", "size")] == [[3], [1]]


def test_a_field_that_does_not_exist_is_named() -> None:
    found = evaluate(gold_of(text_items(["yes"], shape=["cube"])), predicted(_0="yes"))

    with pytest.raises(UsageError, match="unknown field to group by 'shap'; did you mean 'shape'"):
        found.table("shap")


def test_intervals_are_clustered_by_any_field() -> None:
    items = text_items(["yes"] * 40, block=[at // 10 for at in range(40)])
    made = [prediction(at, "yes" if at < 20 else "no") for at in range(40)]

    plain = evaluate(gold_of(items), made).overall()
    clustered = evaluate(gold_of(items), made, EvaluationSettings(cluster="block")).overall()

    assert clustered.low < plain.low < 0.5 < plain.high < clustered.high


# Floors ---------------------------------------------------------------------------------------------------------------


def guessed_plainly(groups: Sequence[int], images: Sequence[int], answers: Sequence[int], k: int) -> list[float]:
    """Return `guessed_by_others`, counted again for each item."""
    found = []
    for group, image, answer in zip(groups, images, answers, strict=True):
        others = zip(groups, images, answers, strict=True)
        counts = Counter(each for its, about, each in others if its == group and about != image)
        best = sorted(counts, key=lambda each: (-counts[each], each))[:k]
        found.append(float(answer in best))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_most_frequent_answers_are_counted_on_other_images(seed: int) -> None:
    rng = random.Random(seed)
    items, k = rng.randint(1, 60), rng.randint(1, 3)
    columns = [[rng.randrange(most) for _ in range(items)] for most in (3, rng.randint(1, 12), rng.randint(1, 6))]

    found = guessed_by_others(*(np.array(column, dtype=np.int32) for column in columns), k)

    assert found.tolist() == guessed_plainly(*columns, k)


def test_a_balanced_family_has_a_floor_of_a_half() -> None:
    """Counting without an item makes its own answer the rarer one, and a guess by counts always wrong."""
    items = text_items(["yes", "no"] * 10, family=["a"] * 20)

    row = evaluate(gold_of(items), oracle(items)).overall()

    assert (row.floor, row.skill) == (0.5, 1.0)


@pytest.mark.parametrize(("mode", "floor"), [(OPEN, 0.9), (CHOICE, 0.25)])
def test_free_answers_are_not_guessed_among_options(mode: str, floor: float) -> None:
    """A dataset may be answered freely although it has options: then its floor is the most frequent answer."""
    answers = ["red"] * 9 + ["blue"]
    options = ("red", "blue", "green", "gray")
    items = [GoldItem(str(at), TEXT, (each,), str(at), options=options) for at, each in enumerate(answers)]

    assert evaluate(gold_of(items, mode), oracle(items)).overall().floor == floor


def test_a_question_that_is_left_out_is_in_no_pair() -> None:
    """With `--missing skip`, its partner is without one, and the pair is not wrong."""
    items = [item._replace(pair=at // 2) for at, item in enumerate(text_items(["yes", "no", "yes", "no"]))]

    found = evaluate(gold_of(items), oracle(items)[:3], EvaluationSettings(missing=SKIP))
    table = score_report(found).table("pairs")

    assert table.rows[0][:5] == ("overall", 1, 1, 0, 0)
    assert table.notes == ("1 question without partner",)


def test_a_round_that_is_left_out_is_in_no_dialog() -> None:
    """With `--missing skip`, a dialog whose other rounds are right is all right."""
    items = [item._replace(id=f"0/{at}") for at, item in enumerate(text_items(["yes", "no", "yes"]))]

    found = evaluate(replace(gold_of(items), format="dialogs"), oracle(items)[:2], EvaluationSettings(missing=SKIP))

    assert score_report(found).table("dialogs").rows[0][:3] == (1, 1.0, 2.0)


def test_a_policy_that_does_not_exist_is_rejected() -> None:
    """A typing error must not fall back on another one."""
    with pytest.raises(UsageError, match="did you mean"):
        EvaluationSettings(missing="skp")


def test_the_floor_is_that_of_the_first_field_that_any_question_has() -> None:
    """Without programs there is no function: yes is guessed by the kind of the answer, not among all answers."""
    answers = ["yes", "no"] * 10 + ["red", "blue", "green", "gray"]
    kinds = ["bool"] * 20 + ["word"] * 4
    items = text_items(answers, family=[None] * 24, function=[None] * 24, answer_type=kinds)

    found = {row.name: row.floor for row in evaluate(gold_of(items), oracle(items)).table("answer_type")}

    assert found == {"bool": 0.5, "word": 0.25}


def test_an_id_is_an_example_once() -> None:
    """However often its prediction is repeated."""
    found = evaluate(gold_of(text_items(["red"])), predicted(_0="red") * 4)

    assert (found.coverage.duplicate, found.coverage.examples["duplicate"]) == (3, ("0",))


def test_skill_is_the_share_above_the_floor() -> None:
    items = [GoldItem(str(at), INTEGER, (1 if at < 9 else 2,), str(at)) for at in range(10)]

    row = evaluate(gold_of(items), [prediction(at, "1") for at in range(10)]).overall()

    assert (row.accuracy, row.floor, row.skill) == (0.9, 0.9, 0.0)
