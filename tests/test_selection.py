"""Rules about a whole output, and what is read of another set: by themselves, on small made-up records."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import vqagen
from vqagen.errors import BadInput
from vqagen.tasks.questions.exclusion import FAULTS_TOLD, Exclusion
from vqagen.tasks.questions.selection import QuestionSelection, is_needed, must_know_of_shards

Record = dict[str, Any]


def record(template: str, text: str, index: int = 0) -> Record:
    """As the generator writes one, as far as the rules read it."""
    return {"template_filename": template, "question_family_index": index, "question": text}


RECORDS = st.lists(st.builds(record, st.sampled_from("ab"), st.sampled_from("wxyz"), st.integers(0, 1)), max_size=30)
ONE_RULE = st.sampled_from([{}, {"dedupe": "all"}, {"max_per_template": 1}, {"max_per_template": 3}])
ANY_RULES = st.fixed_dictionaries({"dedupe": st.sampled_from(["none", "all"]), "max_per_template": st.integers(0, 3)})
CUTS = st.lists(st.integers(0, 30), max_size=4)


def selected(rules: dict[str, Any], records: list[Record], is_shard: bool = False) -> list[Record]:
    selection = QuestionSelection(vqagen.QuestionSettings(**rules), is_shard)
    return [each for each in records if selection.keeps(each)]


def cut(records: list[Record], cuts: list[int]) -> list[list[Record]]:
    return [records[start:end] for start, end in pairwise([0, *sorted(cuts), 30])]


@given(records=RECORDS, rules=ONE_RULE, cuts=CUTS)
def test_one_rule_is_the_same_for_parts_and_their_whole(
    records: list[Record], rules: dict[str, Any], cuts: list[int]
) -> None:
    """Runs cut anywhere, each with its own selection, need not know that they will be merged."""
    parts = [each for part in cut(records, cuts) for each in selected(rules, part)]

    assert selected(rules, parts) == selected(rules, records)


@given(records=RECORDS, rules=ANY_RULES, cuts=CUTS)
@example([record("a", "x"), record("b", "x"), record("b", "y")], {"dedupe": "all", "max_per_template": 1}, [1])
def test_shards_lose_nothing_that_the_whole_keeps(
    records: list[Record], rules: dict[str, Any], cuts: list[int]
) -> None:
    """Whatever the rules, when each part is made as a shard; merging some of them first changes nothing."""
    shards = [selected(rules, part, is_shard=True) for part in cut(records, cuts)]
    first = selected(rules, [each for shard in shards[:2] for each in shard], is_shard=True)
    rest = [each for shard in shards[2:] for each in shard]

    assert selected(rules, first + rest) == selected(rules, records)


def test_both_rules_in_parts_that_do_not_know_lose_a_question() -> None:
    """Why `must_know_of_shards`: the second part gave its one place to a question that the first has as well."""
    rules = {"dedupe": "all", "max_per_template": 1}
    first, second = [record("a", "x")], [record("b", "x"), record("b", "y")]

    assert selected(rules, first + second) == [record("a", "x"), record("b", "y")]
    assert selected(rules, selected(rules, first) + selected(rules, second)) == [record("a", "x")]


@given(records=RECORDS, rules=ANY_RULES)
def test_what_is_kept_obeys_every_rule(records: list[Record], rules: dict[str, Any]) -> None:
    """And is a part of the output in its order; whatever is left out has a reason among what came before it."""
    kept = selected(rules, records)
    texts = [each["question"] for each in kept]
    families = [(each["template_filename"], each["question_family_index"]) for each in kept]

    rest = iter(records)
    assert all(each in rest for each in kept)
    assert rules["dedupe"] == "none" or len(texts) == len(set(texts))
    assert not rules["max_per_template"] or all(families.count(one) <= rules["max_per_template"] for one in families)


@pytest.mark.parametrize(
    ("rules", "needed", "both"),
    [
        ({}, False, False),
        ({"dedupe": "image"}, False, False),
        ({"dedupe": "all"}, True, False),
        ({"max_per_template": 2}, True, False),
        ({"dedupe": "image", "max_per_template": 2}, True, False),
        ({"dedupe": "all", "max_per_template": 2}, True, True),
    ],
    ids=str,
)
def test_when_a_selection_is_needed(rules: dict[str, Any], needed: bool, both: bool) -> None:
    assert is_needed(vqagen.QuestionSettings(**rules)) == needed
    assert must_know_of_shards(vqagen.QuestionSettings(**rules)) == both


def test_families_are_told_apart_without_a_file() -> None:
    """In the release dialect their index counts over all files."""
    records = [{"question_family_index": index, "question": "?"} for index in (0, 1, 0)]

    assert selected({"max_per_template": 1}, records) == records[:2]


# Another set ------------------------------------------------------------------------------------------------------

STEPS = [("scene", (), ()), ("filter_color", (0,), ("red",)), ("count", (1,), ())]


def written(function_key: str, values_key: str) -> list[Record]:
    return [{function_key: name, "inputs": [*inputs], values_key: [*values]} for name, inputs, values in STEPS]


@pytest.mark.parametrize(
    "program",
    [
        written("type", "value_inputs"),
        written("function", "value_inputs"),
        written("type", "side_inputs"),
        [
            {"type": "scene"},
            {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
            *written("type", "_")[2:],
        ],
    ],
    ids=["generator", "release", "side_inputs", "empty lists left out"],
)
def test_a_program_is_known_in_every_dialect(program: list[Record]) -> None:
    exclusion = Exclusion.from_records([{"program": program}])

    assert exclusion.has_program(STEPS)
    assert not exclusion.has_program(STEPS[:2])
    assert not exclusion.has_program([STEPS[0], ("filter_color", (0,), ("blue",)), STEPS[2]])


@given(
    texts=st.lists(st.text(), max_size=8), others=st.lists(st.text(), max_size=8), asked=st.lists(st.text(), max_size=4)
)
def test_exactly_the_texts_of_the_set_are_known(texts: list[str], others: list[str], asked: list[str]) -> None:
    """Joined with another set, and sent to another process, as well."""
    exclusion = Exclusion.from_records({"question": text} for text in texts)
    joined = pickle.loads(pickle.dumps(exclusion.joined(Exclusion.from_records({"question": text} for text in others))))

    for text in [*texts, *others, *asked]:
        assert exclusion.has_text(text) == (text in texts)
        assert joined.has_text(text) == (text in texts or text in others)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({}, "questions[1]: a question has a text or a program; found neither"),
        ({"question": 3}, "questions[1].question: expected a text, found 3"),
        ({"program": "scene()"}, "questions[1].program: expected a list of program nodes, found 'scene()'"),
        ({"program": ["scene"]}, "questions[1].program: expected a list of program nodes, found a list of 1"),
        ({"program": [{"inputs": []}]}, "questions[1].program: expected a list of program nodes, found a list of 1"),
        ({"program": [{"type": "scene", "inputs": 0}, {"type": "count", "inputs": 1}]}, "questions[1].program: "),
    ],
)
def test_records_that_are_no_questions_are_refused(wrong: Record, told: str) -> None:
    """Taken for empty, they would let everything through."""
    with pytest.raises(BadInput) as caught:
        Exclusion.from_records([{"question": "Is it?"}, wrong], "old.json")

    assert str(caught.value).startswith(f"old.json: {told}")


def test_a_file_of_something_else_does_not_flood_the_screen() -> None:
    with pytest.raises(BadInput) as caught:
        Exclusion.from_records({} for _ in range(10_000))

    assert len(caught.value.problems) == FAULTS_TOLD
