"""Which answers are too common to be given again: by hand, and in questions that say as much."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest
from depth import fewer
from families import SHIPPED
from oracles.naive_programs import is_filter

import vqagen
from vqagen import load_domain_files
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.search.balance import INTEGERS, AnswerCounts, known_answers
from vqagen.search.vocabulary import Vocabularies
from vqagen.tasks.questions.family import Family, FamilyAnswers
from vqagen.tasks.questions.settings import QuestionSettings

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


LEADING = [
    ((30, 28, 20, 6, 6, 6, 6, 6, 0, 0, 0), {0, 1}),  # the third is not rare: it catches up
    ((30, 28, 11, 6, 6, 6, 6, 6, 0, 0, 0), set()),  # the third is rare: the two go on
    ((31, 28, 0, 6, 6, 6, 6, 6, 0, 0, 0), {0}),
]


def test_an_answer_is_refused_when_it_is_too_common() -> None:
    """The counts are those of the type's answers in their order. A third count runs level only if it is not rare: a
    family that cannot count to two would otherwise make nothing after its first questions.
    """
    known = {"Bool": (True, False), "Integer": tuple(range(11)), "Color": COLORS}
    cases = [(*case, 2) for case in REFUSED] + [("Integer", *case, 3) for case in LEADING]
    for answer_type, counts, refused, leading in cases:
        answers = AnswerCounts(known_answers(template_with(answer_type)), leading)
        for answer, count in zip(known[answer_type], counts, strict=False):
            for _ in range(count):
                answers.add(answer)
        assert answers.refused == refused, counts


def test_steady_answers_are_not_bound_by_those_that_are_never_given() -> None:
    """Of 0 to 10, two were given 30 times each: most others never, so that the median refuses both elsewhere."""
    steady, other = (AnswerCounts(INTEGERS, 3, is_steady=is_steady) for is_steady in (True, False))
    for answers in (steady, other):
        for answer in (2, 3) * 30:
            answers.add(answer)
    assert (steady.refused, other.refused) == (frozenset(), {2, 3})

    for _ in range(7):
        steady.add(4)
    assert steady.refused == {2, 3}, "a third that has a fifth of the second is level with both"


def test_a_scene_may_have_as_many_objects_as_it_has() -> None:
    """A scene of 11 objects makes 11 a known answer, and 12 not: so all answers are refused only if 11 is."""
    answers = AnswerCounts(known_answers(template_with("Integer")))
    answers.meet(11)

    assert not answers.all_refused(frozenset(range(11)))
    assert answers.all_refused(frozenset(range(12)))


def test_a_family_counts_to_the_largest_scene_whenever_it_is_first_tried() -> None:
    """Most answers of scenes of 40 objects were never given, so that the median is 0 and two leaders are refused."""
    template = template_with("Integer")
    domain = template.catalogue.domain
    family = Family(template, Synonyms({}, domain), Vocabularies(domain), QuestionSettings(degeneracy="none"))
    answers = FamilyAnswers({0: family, 1: family}, "answers")

    for number in (0, 1):
        for answer in [0, 1] * 28 + [*range(2, 11)] * 6:
            answers[number].add(answer, ())
        answers.meet(40)
        answers[number].add(0, ())

    assert answers[0].refused == answers[1].refused == {0, 1}


@pytest.mark.slow
def test_the_place_of_a_question_among_those_of_its_family_tells_no_answer() -> None:
    """Each place in a window has both answers: were all counts 0 at first, each window would begin with "yes", which
    more questions can have, go on with "no", and so on.
    """
    scenes = next(each for each in SHIPPED if each.is_clevr).sampled(240, seed=17)
    chosen = {"only": ("zero_hop.json#exist",), "templates_per_image": 1, "reset_counts_every": 4}
    windows: dict[int, list[bool]] = defaultdict(list)
    for question in vqagen.generate(scenes, **chosen):
        windows[question.scene.index // 4].append(question.value)

    for place in range(3):
        answers = [made[place] for made in windows.values() if len(made) > place]
        assert len(answers) > 55
        assert 0.25 < answers.count(True) / len(answers) < 0.75


@pytest.mark.slow
def test_the_answers_of_one_file_tell_none_of_another_of_the_same_seed() -> None:
    """What is asked for first hangs on what the first scene shows, and not on the seed alone."""
    scenes = next(each for each in SHIPPED if each.is_clevr).sampled(240, seed=17)
    named = [{key: scene[key] for key in ("image_index", "image_filename")} for scene in scenes]
    others = [scene | name for scene, name in zip([*scenes[1:], scenes[0]], named, strict=True)]
    chosen = {"only": ("zero_hop.json#exist",), "templates_per_image": 1, "reset_counts_every": 1}
    one, other = (
        {each.scene.index: each.value for each in vqagen.generate(file, **chosen)} for file in (scenes, others)
    )

    alike = [one[index] == other[index] for index in one.keys() & other.keys()]
    assert len(alike) > 100
    assert 0.35 < sum(alike) / len(alike) < 0.65


@pytest.mark.slow
def test_the_place_of_a_question_in_its_image_tells_nothing() -> None:
    """What is tried first was asked less often, in many images because the answer that was wanted did not fit."""
    scenes = next(each for each in SHIPPED if each.is_clevr).sampled(fewer(120, least=60), seed=17)
    chosen = {"only": FAMILIES, "templates_per_image": 2, "reset_counts_every": 2}
    made: dict[int, list[str]] = defaultdict(list)
    for question in vqagen.generate(scenes, **chosen):
        made[question.scene.index].append(question.template.id)

    is_first = [made[i + 1][0] not in made[i] for i in range(0, 120, 2) if set(made[i + 1]) - {*made[i]}]
    assert len(is_first) > 55
    assert 0.25 < sum(is_first) / len(is_first) < 0.75


# By words ------------------------------------------------------------------------------------------------------------


def measures(question: vqagen.Question) -> list[tuple[str, Any]]:
    """How many words the last phrase says, of two that are compared how many more the first; what each phrase says."""
    steps = question.program.to_records()
    said: list[list[str]] = []
    for last in steps[-1]["inputs"]:
        at = steps[last]["inputs"][0] if steps[last]["type"] == "count" else last
        said.append([])
        while is_filter(steps[at]):
            said[-1].append(steps[at]["type"])
            at = steps[at]["inputs"][0]
    words = len(said[0]) - sum(map(len, said[1:]))
    return [("words", words), *((f"phrase {number}", tuple(each)) for number, each in enumerate(said))]


FAMILIES = ("zero_hop.json#exist", "one_hop.json#exist", "compare_integer.json#less")


def yes_and_no(balance: str) -> dict[tuple[str, Any], Counter[bool]]:
    """Family and what its questions say -> how often each answer was given in one window."""
    scenes = next(each for each in SHIPPED if each.is_clevr).sampled(fewer(120, least=60), seed=17)
    counts: dict[tuple[str, Any], Counter[bool]] = defaultdict(Counter)
    for question in vqagen.generate(scenes, only=FAMILIES, templates_per_image=3, balance=balance):
        for measure in measures(question):
            counts[question.template.id, measure][question.value] += 1
    return counts


def most_uneven(counts: dict[tuple[str, Any], Counter[bool]]) -> float:
    """By how much an answer's count exceeds 1.1 times the other's and one more; 1.1 may come of how counts start."""
    return max(max(c[True], c[False]) - 1.1 * min(c[True], c[False]) - 1 for c in counts.values())


def test_yes_and_no_are_even_whatever_is_said() -> None:
    """For each number of words and for the attributes that each phrase says; with `answers` only over all of them, so
    that what is said may give the answer away.
    """
    words, answers = yes_and_no("words"), yes_and_no("answers")

    assert {family for family, _ in words} == {*FAMILIES}
    assert len([each for _, (name, each) in words if name == "words"]) >= 10
    assert len([each for _, (name, each) in words if name == "phrase 1"]) >= 10
    assert most_uneven(words) <= 1.1 + 1e-9
    assert most_uneven(answers) > 5
    for counts in (words, answers):
        overall: dict[tuple[str, Any], Counter[bool]] = defaultdict(Counter)
        for (family, (name, _)), counted in counts.items():
            if name == "words":
                overall[family, 0].update(counted)
        assert most_uneven(overall) <= 1.1 + 1e-9
