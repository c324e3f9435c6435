"""Which answers are too common to be given again, by hand."""

from __future__ import annotations

import pytest

from vqagen.api import load_domain_files
from vqagen.language.template import Template
from vqagen.search.balance import AnswerCounts

TEMPLATES = load_domain_files().templates
COLORS = ("gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow")


def template_with(answer_type: str) -> Template:
    return next(template for template in TEMPLATES if template.answer_type == answer_type)


REFUSED = [
    # at most 1.1 times the second largest count, of all answers there are
    ("Bool", (1, 0), {True}),
    ("Bool", (10, 11), set()),
    ("Bool", (10, 12), {False}),
    ("Color", (3, 3, 0, 0, 0, 0, 0, 0), set()),
    ("Color", (4, 3, 3, 3, 3, 3, 3, 3), {"gray"}),
    # at most 5 times the median count, or 25
    ("Color", (25, 25, 0, 0, 0, 0, 0, 0), set()),
    ("Color", (26, 26, 0, 0, 0, 0, 0, 0), {"gray", "red"}),
    ("Color", (30, 30, 30, 30, 6, 6, 6, 6), set()),
    ("Integer", (31, 31, 6, 6, 6, 6, 6, 6, 0, 0, 0), {0, 1}),
    ("Integer", (30, 30, 6, 6, 6, 6, 6, 6, 0, 0, 0), set()),
    # of an even number of answers, the median is half way between the two in the middle
    ("Color", (35, 35, 35, 8, 6, 0, 0, 0), set()),
    ("Color", (36, 36, 36, 8, 6, 0, 0, 0), {"gray", "red", "blue"}),
]


@pytest.mark.parametrize(("answer_type", "counts", "refused"), REFUSED)
def test_an_answer_is_refused_when_it_is_too_common(
    answer_type: str, counts: tuple[int, ...], refused: set[object]
) -> None:
    """`counts` are those of the type's answers in their order."""
    known = {"Bool": (True, False), "Integer": tuple(range(11)), "Color": COLORS}[answer_type]
    answers = AnswerCounts(template_with(answer_type))

    for answer, count in zip(known, counts, strict=True):
        for _ in range(count):
            answers.add(answer)

    assert answers.refused == refused


def test_a_scene_may_have_as_many_objects_as_it_has() -> None:
    """A scene of 11 objects makes 11 a known answer, and 12 not: so all answers are refused only if 11 is."""
    answers = AnswerCounts(template_with("Integer"))
    answers.meet(11)

    assert not answers.all_refused(frozenset(range(11)))
    assert answers.all_refused(frozenset(range(12)))
