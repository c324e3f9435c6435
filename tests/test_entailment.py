"""What follows from the answers of questions about one image, by their programs alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import pytest
from program_notation import program
from scene_records import sampled_scenes

import vqagen
from vqagen.judge.answers.kinds import Answer
from vqagen.judge.scoring.entailment.consistency import (
    Asked,
    ConsistencyCount,
    entailments,
    paraphrase_groups,
    paraphrases,
)
from vqagen.judge.scoring.entailment.knowledge import Knowledge
from vqagen.judge.scoring.entailment.meaning import Meaning, meaning_of

VALUES = {"color": frozenset({"red", "blue"}), "shape": frozenset({"cube", "sphere"})}
CUBE = "scene, filter_shape 0 cube"
COLOR = f"{CUBE}, unique 1, query_color 2"
RED_CUBES = f"{CUBE}, filter_color 1 red"
SPHERE_COLOR = "scene, filter_shape 0 sphere, unique 1, query_color 2"
SAME_COLOR = f"{CUBE}, unique 1, query_color 2, scene, filter_shape 4 sphere, unique 5, query_color 6, equal_color 3 7"
FEWER = f"{CUBE}, count 1, scene, filter_shape 3 sphere, count 4, less_than 2 5"
MORE = f"scene, filter_shape 0 sphere, count 1, {CUBE.replace(' 0 ', ' 3 ')}, count 4, greater_than 2 5"
AS_MANY = f"{CUBE}, count 1, scene, filter_shape 3 sphere, count 4, equal_integer 2 5"
NEAR = "scene, filter_shape 0 cube, unique 1, relate 2 left, exist 3"
NEAR_RED = "scene, filter_shape 0 cube, unique 1, relate 2 left, filter_color 3 red, exist 4"


def meaning(text: str) -> Meaning:
    found = meaning_of(program(text))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("premise", "answer", "question", "follows"),
    [
        (COLOR, "red", f"{RED_CUBES}, exist 2", True),
        (COLOR, "red", f"{CUBE}, filter_color 1 blue, exist 2", False),
        (COLOR, "red", f"{CUBE}, count 1", 1),
        (COLOR, "red", "scene, filter_color 0 red, filter_shape 1 cube, count 2", 1),
        (COLOR, "red", "scene, filter_color 0 red, exist 1", True),
        (COLOR, "red", "scene, filter_color 0 red, count 1", None),
        (COLOR, "red", f"{RED_CUBES}, filter_size 2 small, exist 3", None),
        (COLOR, "red", SAME_COLOR, None),
        (f"{RED_CUBES}, exist 2", True, COLOR, "red"),
        (f"{RED_CUBES}, exist 2", True, f"{CUBE}, exist 1", True),
        (f"{RED_CUBES}, exist 2", False, f"{CUBE}, exist 1", None),
        (f"{CUBE}, exist 1", False, f"{RED_CUBES}, count 2", 0),
        (f"{CUBE}, exist 1", True, f"{RED_CUBES}, count 2", None),
        (f"{CUBE}, count 1", 2, f"{CUBE}, exist 1", True),
        (f"{CUBE}, count 1", 0, f"{RED_CUBES}, exist 2", False),
        (f"{CUBE}, count 1", 0, "scene, filter_shape 0 sphere, exist 1", None),
        (f"{CUBE}, count 1", 0, MORE, None),
        (FEWER, True, MORE, True),
        (FEWER, False, MORE, False),
        (FEWER, True, AS_MANY, False),
        (FEWER, False, AS_MANY, None),
        (AS_MANY, True, FEWER, False),
        (NEAR_RED, True, NEAR, True),
        (NEAR, False, NEAR_RED, False),
        (NEAR, False, f"{CUBE}, count 1", 1),
        (SAME_COLOR, True, SAME_COLOR.replace("cube", "?").replace("sphere", "cube").replace("?", "sphere"), True),
    ],
)
def test_an_answer_follows_or_not(premise: str, answer: Answer, question: str, follows: Answer | None) -> None:
    """What follows from an answer follows from sets that lie within each other, and nothing else does."""
    knowledge = Knowledge(VALUES)
    knowledge.add(meaning(premise), answer)

    found = knowledge.answer(meaning(question))

    assert (type(found), found) == (type(follows), follows)


@pytest.mark.parametrize(
    "text",
    [
        "unique",
        "scene, count 0, filter_color 1 red",
        "scene, exist",
        "scene",
        "scene, count 0, exist 1",
        "scene, not 0",
    ],
)
def test_a_malformed_program_has_no_meaning(text: str) -> None:
    """A program that lacks inputs, takes a number for a set, or gives no answer, is left out."""
    assert meaning_of(program(text)) is None


@pytest.mark.parametrize(("left", "right", "follows"), [("red", "red", True), ("red", "blue", False)])
def test_two_answers_decide_a_comparison(left: str, right: str, follows: bool) -> None:
    """From the colors of two objects follows whether they are the same; neither color alone decides it."""
    asked = [
        Asked(0, "", meaning(COLOR), left, True),
        Asked(1, "", meaning(SPHERE_COLOR), right, True),
        Asked(2, "", meaning(SAME_COLOR), follows, True),
    ]

    found = [each for each in entailments(asked, VALUES) if each.entailed == 2]

    assert found == [((0, 1), 2, follows)]


def _by_image(domain: str, count: int) -> Iterator[tuple[list[Asked], dict[str, frozenset[str]]]]:
    """The questions about each image, all of which are right, and the values of the attributes asked for."""
    images: dict[int, list[Asked]] = defaultdict(list)
    values: dict[str, set[str]] = defaultdict(set)
    made = vqagen.generate(
        sampled_scenes(count, domain=domain), domain=domain, templates_per_image=200, instances_per_template=2
    )
    for position, question in enumerate(made):
        record = question.to_record()
        found = meaning_of(record["program"])
        assert found is not None
        images[record["image_index"]].append(Asked(position, record["question"], found, record["answer"], True))
        if found.root.function.startswith("query_"):
            values[found.root.function.removeprefix("query_")].add(record["answer"])
    fixed = {name: frozenset(seen) for name, seen in values.items()}
    yield from ((asked, fixed) for asked in images.values())


@pytest.mark.quick(1)
@pytest.mark.parametrize(("domain", "count"), [("clevr", 3), ("market", 6)])
def test_what_follows_is_written_in_the_file(domain: str, count: int) -> None:
    """In generated questions, whose answers come from scenes, each answer that follows is the written one."""
    kinds: Counter[str] = Counter()
    for asked, values in _by_image(domain, count):
        written = {each.position: each for each in asked}
        for found in entailments(asked, values):
            assert written[found.entailed].answer == found.answer, found
            kinds[written[found.entailed].meaning.root.function] += 1
    assert {"exist", "count"} <= kinds.keys() and kinds.total() > 20


def test_consistency_of_right_and_of_all_premises() -> None:
    """The score of a premise is the accuracy on what follows from it; the mean is over right premises, or all."""
    answers = {COLOR: "red", f"{RED_CUBES}, exist 2": True, f"{CUBE}, exist 1": True}
    right = (True, False, True)
    asked = [
        Asked(number, text, meaning(text), answer, is_right)
        for number, ((text, answer), is_right) in enumerate(zip(answers.items(), right, strict=True))
    ]
    count = ConsistencyCount({"color": frozenset({"red"})})

    count.add(asked)

    # color -> both others: 1/2; red cubes -> color, cubes: 1; cubes -> nothing
    assert count.consistency(only_right=True)[:3] == (1, 2, 0.5)
    assert count.consistency(only_right=False)[:3] == (2, 4, 0.75)


def test_a_file_that_contradicts_itself() -> None:
    """An answer that contradicts what follows from another one is listed, and scores nothing."""
    asked = [Asked(0, "", meaning(f"{CUBE}, count 1"), 0, True), Asked(1, "", meaning(f"{CUBE}, exist 1"), True, True)]
    count = ConsistencyCount({})

    count.add(asked)

    assert [(each.premise, each.entailed, each.answer) for each in count.contradictions] == [((0,), 1, False)]
    assert count.consistency(only_right=False).premises == 0


def test_paraphrases_are_texts_of_one_meaning() -> None:
    """Questions about an image with one meaning and other texts are a group; the order of filters is no meaning."""
    texts = {"red cubes?": RED_CUBES, "cubes that are red?": "scene, filter_color 0 red, filter_shape 1 cube"}
    asked = [
        Asked(number, text, meaning(f"{steps}, count 2"), 1, number == 0)
        for number, (text, steps) in enumerate(texts.items())
    ]
    other = Asked(2, "cubes?", meaning(f"{CUBE}, count 1"), 1, True)

    assert paraphrase_groups([*asked, other]) == [asked]
    assert paraphrases([[*asked, other], [asked[0]], [asked[0], asked[0]]]) == (1, 2, 0, 1, 0)
