"""Rewards: one scorer in the shapes of three trainers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from depth import fewer

from vqagen import rewards
from vqagen.errors import InputWarning, UsageError

THOUGHT = "<think>Three or four?</think><answer>{}</answer>"


@pytest.mark.parametrize(
    ("reply", "answer", "answer_type", "reward"),
    [
        (THOUGHT.format("3"), "3", "count", 1),
        (THOUGHT.format("three"), "3", "count", 1),
        (THOUGHT.format("3 or 4"), "3", "count", 0),
        ("I see 2 cubes and a ball, so there are 3.", "3", "count", 0),
        ("<answer>4</answer> <answer>3</answer>", "3", "count", 1),
        ("<answer>3</answer> <answer>4", "3", "count", 1),
        (r"So $\boxed{\text{three}}$.", "3", "count", 1),
        ("<answer>3 cubes</answer>", "3", "count", 0),
        ("The answer is 3.", "3", "count", 0),
        ("<answer>3", "3", "count", 0),
        ("three.", "3", "count", 1),
        (THOUGHT.format("a cube."), "cube", "value", 1),
        (THOUGHT.format("red cube"), "red", "value", 0),
        (THOUGHT.format("yes 1 large red metal cube"), "yes", "yes/no", 0),
        (THOUGHT.format("yes 1 large red metal cube"), "1", "count", 0),
        (THOUGHT.format("yes 1 large red metal cube"), "cube", "value", 0),
        (THOUGHT.format("yes, there is"), "yes", "yes/no", 0),
        ("3 3 4", "3", "count", 0),
        (THOUGHT.format("Yes."), "yes", "yes/no", 1),
        (THOUGHT.format("yes and no"), "yes", "yes/no", 0),
        (THOUGHT.format("shiny"), "metal", "value", 1),
        (THOUGHT.format("The cube is metallic"), "metal", "value", 0),
        (THOUGHT.format("rubber"), "metal", "value", 0),
        (THOUGHT.format("column b, row 2"), "B2", "cell", 1),
        ("", "3", "count", 0),
        (THOUGHT.format("swirls and dots"), "dots, swirls", "list", 1),
        (THOUGHT.format("dots"), "dots, swirls", "list", 0),
    ],
)
def test_a_reply_is_scored_by_the_type_of_its_answer(reply: str, answer: str, answer_type: str, reward: float) -> None:
    assert rewards.score(reply, answer, answer_type) == reward
    assert rewards.score(reply, f"<answer> {answer} </answer>") == reward, "the type is found from a solution"


@pytest.mark.parametrize(
    ("reply", "reward"),
    [("<answer>B</answer>", 1), ("(b) metal", 1), ("metal", 1), ("A", 0), ("A or B", 0), ("B: rubber", 0)],
)
def test_a_letter_names_an_option(reply: str, reward: float) -> None:
    assert rewards.score(reply, "metal", "value", ["rubber", "metal"]) == reward


@pytest.mark.parametrize("reply", ["metal?", "B?", "(B)?", "metal? Yes"])
def test_a_question_is_no_answer(reply: str) -> None:
    assert rewards.score(reply, "metal", "value", ["rubber", "metal"]) == 0
    assert rewards.score(THOUGHT.format(reply), "metal", "value", ["rubber", "metal"]) == 0


def test_a_value_of_several_words_is_a_list() -> None:
    """Datasets know no type `list`."""
    assert rewards.score(THOUGHT.format("swirls, dots"), "dots, swirls", "value") == 1


def test_partial_credit_halves_with_each_step_of_a_count_and_is_off_by_default() -> None:
    replies = ["3", "4", "1", "red", ""]

    columns: dict[str, Any] = {"answer": ["3"] * 5, "answer_type": ["count"] * 5}
    assert rewards.accuracy(None, replies, **columns) == [1, 0, 0, 0, 0]
    assert rewards.partial_accuracy(None, replies, **columns) == [1, 0.5, 0.25, 0, 0]
    assert rewards.partial_accuracy(None, ["0", "1", "-1"], answer=["0"] * 3) == [1, 0.5, 0], "no count is below 0"


@pytest.mark.parametrize(
    ("reply", "reward"),
    [
        ("<think>a</think>\n<answer>3</answer>\n", 1),
        ("<think></think><answer>3</answer>", 0),
        ("<think> \u2026 </think><answer>3</answer>", 0),
        ("<think>_</think><answer>3</answer>", 0),
        ("<think>a</think><answer>\u2026</answer>", 0),
        ("<think>a</think><answer> </answer>", 0),
        ("<think>a</think><answer>3</answer><answer>4</answer>", 0),
        ("<think>a<think>b</think><answer>3</answer>", 0),
        ("<answer>3</answer>", 0),
        ("<think>a</think><answer>3</answer> done", 0),
        ("3", 0),
    ],
)
def test_the_format_is_one_thought_and_one_answer(reply: str, reward: float) -> None:
    assert rewards.format([], [reply], completion_ids=[[1]]) == [reward]


def test_trl_hands_over_chats_or_texts_and_columns() -> None:
    parts = [
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "<answer>red"}, {"type": "text", "text": "</answer>"}],
        }
    ]
    chats = [parts, [{"role": "assistant", "content": "<answer>2</answer>"}], "yes", []]

    solutions = ["<answer> red </answer>", "<answer> 2 </answer>", "<answer> no </answer>", "<answer> 1 </answer>"]
    made = rewards.accuracy(
        prompts=["?"] * 4, completions=chats, completion_ids=[[1]] * 4, solution=solutions, image=[0] * 4
    )
    assert made == [1, 1, 0, 0]


def test_a_row_without_options_stands_beside_one_with() -> None:
    choices = [None, ["red", "blue"]]

    assert rewards.accuracy(None, ["B", "B"], answer=["blue", "blue"], choices=choices) == [0, 1]


def test_easyr1_asks_for_one_or_for_a_batch() -> None:
    one = {"response": THOUGHT.format("3"), "response_length": 9, "ground_truth": "3"}

    assert rewards.easyr1_score(one) == {"overall": 1, "format": 1, "accuracy": 1}
    assert rewards.easyr1_score([one, {**one, "response": "3"}], format_weight=0.5) == [
        {"overall": 1, "format": 1, "accuracy": 1},
        {"overall": 0.5, "format": 0, "accuracy": 1},
    ]


def test_easyr1_may_know_nothing_but_the_letter_of_an_option() -> None:
    replies = {
        "B": 1,
        "B) red": 1,
        "(b)": 1,
        "The answer is B.": 0,
        "B) red or A": 0,
        "A) blue": 0,
        "A or B": 0,
        "red": 0,
    }
    assert {reply: rewards.score(THOUGHT.format(reply), "B") for reply in replies} == replies
    assert rewards.easyr1_score({"response": THOUGHT.format("B"), "ground_truth": "B"})["accuracy"] == 1  # type: ignore[call-overload]
    assert rewards.easyr1_score({"response": THOUGHT.format("A"), "ground_truth": "B"})["accuracy"] == 0  # type: ignore[call-overload]


def test_verl_loads_the_file_and_calls_by_keyword() -> None:
    spec = importlib.util.spec_from_file_location("custom_module", str(Path(rewards.__file__)))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    extra = {"split": "train", "index": 3, "answer_type": "value", "choices": ["red", "blue"]}
    found = module.verl_score(data_source="clevr", solution_str="A", ground_truth="red", extra_info=extra, router=None)
    assert found == {"score": 0.9, "acc": 1, "format": 0}


def test_what_is_missing_or_unknown_is_named() -> None:
    with pytest.raises(UsageError, match="`answer` or `solution`"):
        rewards.accuracy(None, ["3"], problem=["How many?"])
    with pytest.raises(UsageError, match=r"'counts'.*count"):
        rewards.score("3", "3", "counts")
    for columns in ({"answer": ["3"]}, {"answer": "33"}, {"answer": ["3", "3"], "answer_type": ["count"]}):
        with pytest.raises(UsageError, match=f"each of 2 completions in {list(columns)[-1]}"):
            rewards.accuracy(None, ["3", "3"], **columns)
    with pytest.raises(UsageError, match="list of choices"):
        rewards.score("B", "red", "value", {"A": "blue", "B": "red"})  # type: ignore[arg-type]
    with pytest.warns(InputWarning, match="clever"):
        assert rewards.score("<answer>Red</answer>", "red", "value", domain="clever") == 1


def test_columns_may_be_empty_or_arrays() -> None:
    assert rewards.accuracy(completions=[], answer=[]) == []
    assert rewards.accuracy(completions=["3", "4"], answer=np.array([3, 3]), answer_type=np.array(["count"] * 2)) == [
        1,
        0,
    ]
    assert rewards.accuracy(completions=["3"], answer=None, solution=["<answer> 3 </answer>"], domain=None) == [1]


@pytest.mark.parametrize(
    "reply",
    [
        "<think>There are 3, so the answer is 3",
        "<think><answer>3</answer>",
        "<think>a<think>b</think><answer>3</answer>",
        "<reasoning effort='high'>3",
        "<Scratchpad>\\boxed{3}",
        "\u25c1think\u25b7<answer>3</answer>",
        "<answer><thinking>3</answer>",
        "3</thinking>",
    ],
)
def test_reasoning_earns_nothing_whatever_its_tag(reply: str) -> None:
    assert rewards.score(reply, "3", "count") == 0
    assert rewards.credit(reply, "3", "count") == 0


def test_tags_of_reasoning_are_passed_over() -> None:
    replies = [f"<{name}>2</{name}> <answer>3</answer>" for name in ("think", "THINKING", "reasoning", "reason", "x-y")]

    assert rewards.accuracy(None, [*replies, "2?</think>3"], answer=["3"] * 6) == [1] * 6


UNITS = [
    "{",
    "(",
    "[",
    "<",
    "<think>",
    "<answer>",
    "<a b=",
    "</x>",
    "\\boxed{",
    "\\boxed{{",
    "1,000,",
    "answer: ",
    "\n",
]
UNITS += [
    "is a,",
    "of the red ",
    "so 3 ",
    "I cannot but ",
    "red or ",
    "a\u0300\u0327",
    "\ud800",
    "\0",
    "- ",
    "'answer': ",
]


@pytest.mark.quick(2)
@pytest.mark.parametrize("unit", UNITS)
def test_no_text_ends_a_run(unit: str) -> None:
    """Python takes no number of more than 4,300 digits; 100 kB of braces took 9 seconds."""
    text = unit * (fewer(fewer(100_000)) // len(unit))
    for answer, kind in (("3", "count"), ("yes", "yes/no"), ("red", "value"), ("B2", "cell"), ("dog", "text")):
        assert rewards.score(text, answer, kind) == rewards.score(f"<answer>{text}</answer>", answer, kind) == 0
        assert rewards.credit(f"3 {text}", answer, kind) in (0, 1)
    assert rewards.score(text, "red", "value", ["red", "blue"]) == rewards.score(text, "A") == 0
    assert rewards.format(None, [text]) == [0]


def test_odd_digits_and_letters_are_no_answer() -> None:
    assert rewards.score("1" + ",000" * 1440, "3", "count") == 0
    assert rewards.score("column b, row " + "1" * 5000, "B2", "cell") == 0
    for odd in ("\u0663", "n\u0131ne", "\u01312", "colb row 2", "columnb, row 2", "fal\u017fe"):
        assert rewards.credit(f"There is {odd}.", answer := "3", "count") + rewards.score(odd, answer, "count") == 0
        assert rewards.credit(f"It is in {odd}.", "A1", "cell") + rewards.score(odd, "A1", "cell") == 0


def test_a_completion_that_is_no_text_earns_nothing() -> None:
    completions: list[Any] = [None, 3, {}, [], [None], [{"content": None}], [{"content": [{"type": "image"}]}]]

    assert rewards.accuracy(None, completions, answer=["3"] * 7) == [0] * 7
    assert rewards.format(None, completions) == [0] * 7


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float64("nan"), "", "<answer> </answer>"])
def test_a_row_without_answer_is_not_rewarded(missing: Any) -> None:
    """TRL takes None for rows that a reward is not for; EasyR1 and verl need a number."""
    assert rewards.accuracy(None, ["2", "None"], answer=["2", missing]) == [1, None]
    for call in (
        lambda: rewards.easyr1_score({"response": "None", "ground_truth": missing}),
        lambda: rewards.verl_score("vqagen", "None", missing),
    ):
        with pytest.raises(UsageError, match="no right answer"):
            call()


def test_pandas_says_that_an_answer_is_missing() -> None:
    import pandas  # not while tests are collected: each process would take half a second for it

    assert rewards.accuracy(None, ["<NA>", "NaT"], answer=[pandas.NA, pandas.NaT]) == [None, None]
    assert rewards.score("red", "red", pandas.NA, pandas.NA, domain=pandas.NA) == 1  # type: ignore[arg-type]


def test_cells_of_tables_may_be_of_numpy() -> None:
    info = {"answer_type": np.str_("value"), "choices": np.array(["blue", "red"]), "domain": np.str_("clevr")}

    assert rewards.verl_score("vqagen", THOUGHT.format("B"), np.str_("red"), info)["score"] == 1
    assert rewards.accuracy(
        None, ["yes", "3", "blue, red"], answer=[np.True_, np.int64(3), np.array(["red", "blue"])]
    ) == [
        1,
        1,
        1,
    ]
    missing = {"answer_type": [None, np.nan], "choices": [None, np.nan], "domain": [np.nan, None]}
    assert rewards.accuracy(None, ["3", "red"], answer=["3", "red"], **missing) == [1, 1]


def test_a_letter_as_right_answer_is_its_option() -> None:
    assert rewards.score("red", "B", None, ["blue", "red"]) == rewards.score("B", "B", None, ["blue", "red"]) == 1


def test_evaluation_gives_credit_for_free_text_and_rewards_do_not() -> None:
    reply = "The color of the red cube is blue."

    assert (rewards.credit(reply, "blue", "value"), rewards.score(reply, "blue", "value")) == (1, 0)
