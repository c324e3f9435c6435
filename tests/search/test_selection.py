"""Rules about a whole output, and what is read of another set: by themselves, on small made-up records."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from vqagen.errors import BadInput
from vqagen.tasks.questions.exclusion import MOST_FAULTS, Exclusion, QuestionSelection

Record = dict[str, Any]


def record(template: str, text: str, index: int = 0) -> Record:
    """As the generator writes one, as far as the rules read it."""
    return {"template_filename": template, "question_family_index": index, "question": text}


RECORDS = st.lists(st.builds(record, st.sampled_from("ab"), st.sampled_from("wxyz"), st.integers(0, 1)), max_size=30)
TEXTS = st.lists(st.text("ab é?"), max_size=8)
CUTS = st.lists(st.integers(0, 30), max_size=4)


def selected(records: list[Record]) -> list[Record]:
    selection = QuestionSelection()
    return [each for each in records if selection.keeps(each)]


def cut(records: list[Record], cuts: list[int]) -> list[list[Record]]:
    return [records[start:end] for start, end in pairwise([0, *sorted(cuts), 30])]


@settings(max_examples=30)
@given(records=RECORDS, cuts=CUTS)
def test_the_rule_is_the_same_for_parts_and_their_whole(records: list[Record], cuts: list[int]) -> None:
    """Runs cut anywhere, each with its own selection, need not know that they will be merged."""
    parts = [each for part in cut(records, cuts) for each in selected(part)]

    assert selected(parts) == selected(records)
    assert [each["question"] for each in selected(records)] == list(dict.fromkeys(each["question"] for each in records))


# Another set ------------------------------------------------------------------------------------------------------

STEPS = [("scene", (), ()), ("filter_color", (0,), ("red",)), ("count", (1,), ())]


def written(function_key: str, values_key: str) -> list[Record]:
    return [{function_key: name, "inputs": [*inputs], values_key: [*values]} for name, inputs, values in STEPS]


def test_a_program_is_known_in_every_dialect() -> None:
    """Also with empty lists left out."""
    short = [{"type": "scene"}, *written("type", "value_inputs")[1:]]
    for program in (short, written("function", "value_inputs"), written("type", "side_inputs")):
        exclusion = Exclusion.from_records([{"program": program}])

        assert exclusion.has_program(STEPS)
        assert not exclusion.has_program(STEPS[:2])
        assert not exclusion.has_program([STEPS[0], ("filter_color", (0,), ("blue",)), STEPS[2]])


@settings(max_examples=30)
@given(texts=TEXTS, asked=TEXTS)
def test_exactly_the_texts_of_the_set_are_known(texts: list[str], asked: list[str]) -> None:
    exclusion = Exclusion.from_records({"question": text} for text in texts)

    assert [exclusion.has_text(text) for text in [*texts, *asked]] == [text in texts for text in [*texts, *asked]]


REFUSED: list[tuple[Record, str]] = [
    ({}, "questions[1]: a question has a text or a program; found neither"),
    ({"question": 3}, "questions[1].question: expected a text, found 3"),
    ({"program": "scene()"}, "questions[1].program: expected a list of program nodes, found 'scene()'"),
    ({"program": ["scene"]}, "questions[1].program: expected a list of program nodes, found a list of 1"),
    ({"program": [{"inputs": []}]}, "questions[1].program: expected a list of program nodes, found a list of 1"),
    ({"program": [{"type": "scene", "inputs": 0}, {"type": "count", "inputs": 1}]}, "questions[1].program: "),
]


def test_records_that_are_no_questions_are_refused() -> None:
    """Taken for empty, they would let everything through. A file of something else does not flood the screen."""
    for wrong, told in REFUSED:
        with pytest.raises(BadInput) as caught:
            Exclusion.from_records([{"question": "Is it?"}, wrong], "old.json")
        assert str(caught.value).startswith(f"old.json: {told}")
    with pytest.raises(BadInput) as caught:
        Exclusion.from_records({} for _ in range(10_000))
    assert len(caught.value.problems) == MOST_FAULTS
