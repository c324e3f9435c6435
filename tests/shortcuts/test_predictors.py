"""Predictors answer as they say, from other folds alone; the floor is the best of the cheap ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from item_tables import table

from vqagen.errors import UsageError
from vqagen.items.folds import make_folds
from vqagen.items.guessing import Guessing
from vqagen.items.table import CHOICE, Items
from vqagen.score.evaluation import floor
from vqagen.score.intervals import wilson
from vqagen.shortcuts.predictors import CHOOSING, NAMED, applicable, predict

# Folds ----------------------------------------------------------------------------------------------------------------


def _is_divided(folds: Sequence[int], groups: Sequence[object]) -> bool:
    return len({*zip(folds, groups, strict=True)}) > len({*groups})


def test_folds_divide_no_image_pair_or_block() -> None:
    """Images that share a pair or block lie in one fold; the folds are of about equal size."""
    images = [i for i in range(40) for _ in range(3)]
    pairs = [i // 2 if j == 0 else None for i in range(40) for j in range(3)]
    blocks = [f"b{i % 20}" if j == 1 else None for i in range(40) for j in range(3)]

    found = make_folds(table(["a"] * 120, images=images, pairs=pairs, blocks=blocks))

    assert found.number == 5
    assert not _is_divided(found.of_items.tolist(), images)
    assert not _is_divided(
        found.of_items.tolist(), [pair if pair is not None else f"i{i}" for i, pair in enumerate(pairs)]
    )
    assert min(np.bincount(found.of_items)) == 24


def test_folds_hold_whole_windows() -> None:
    """Of half a window, the other half would tell the answers. Of one window alone, clusters are divided."""
    windows = [i // 10 for i in range(70)]

    several, one = make_folds(table(["a"] * 70, windows=windows)), make_folds(table(["a"] * 70, windows=[0] * 70))

    assert (several.number, several.is_apart, one.number, one.is_apart) == (5, True, 5, False)
    assert not _is_divided(several.of_items.tolist(), windows)


def test_folds_are_shuffled_by_the_seed() -> None:
    items = table(["a"] * 100)

    same, other = make_folds(items, 0), make_folds(items, 1)

    assert same.of_items.tolist() == make_folds(items).of_items.tolist() != other.of_items.tolist()
    assert {same.of_items[20 * number] for number in range(5)} != {same.of_items[0]}, "not dealt in the file's order"


def test_images_that_all_share_blocks_are_divided_into_blocks() -> None:
    images, blocks = [i // 2 for i in range(60)], [None, *[i // 2 for i in range(58)], None]

    found = make_folds(table(["a"] * 60, images=images, blocks=blocks))

    assert found.number == 5
    assert not _is_divided(found.of_items.tolist()[1:-1], blocks[1:-1])


# Answers by their frequency -------------------------------------------------------------------------------------------

GROUPED = [
    *[("count", "a", "0")] * 5,
    *[("count", "a", "1")] * 2,
    *[("count", "b", "1")] * 4,
    *[("color", "c", "red")] * 3,
    *[("color", "c", "blue")] * 2,
    *[("color", "d", "blue")] * 2,
]
"""(type, family, answer) of each item."""


def grouped() -> Items:
    """GROUPED as items."""
    types, families, answers = zip(*GROUPED, strict=True)
    return table(answers, family=families, function=types)


def named(name: str, task: Guessing) -> list[list[str]]:
    """The answers of a predictor to each item, best first."""
    words = [*task.vocabulary, None]
    return [[word for code in row if (word := words[code])] for row in predict(NAMED[name], task).ranked.tolist()]


def test_majority_is_right_as_often_as_its_answers_occur() -> None:
    """Learned from the items themselves, the accuracy is the sum of the largest share of each group."""
    task = Guessing.across(grouped(), grouped())

    for name, right in {"majority-all": 6, "majority": 6 + 4, "majority-family": 5 + 4 + 3 + 2}.items():
        assert np.nansum(predict(NAMED[name], task).expected) == right, name


def test_equally_frequent_answers_are_ranked_by_first_occurrence() -> None:
    """Count descends; then the answer that was learned first comes first, whatever its text."""
    train = table(["zebra", "ant", "ant", "zebra", "bee", "cat", "cat", "cat"])

    found = named("majority-all", Guessing.across(train, table(["bee"]), top_k=5))

    assert found[-1] == ["cat", "zebra", "ant", "bee"]


def test_an_unknown_group_is_answered_by_the_next_larger_one() -> None:
    """A family that was not learned from is answered by its type, and an unknown type by all items."""
    train = table(["1", "red", "red"], function=["count", "color", "color"], family=["a", "b", "b"], texts="xyz")
    asked = table(["2", "2"], function=["count", "new"], family=["new", "new"], texts="vw")

    assert named("majority-family", Guessing.across(train, asked))[-2:] == [["1"], ["red"]]


def test_drawn_answers_are_right_as_often_as_expected() -> None:
    """The accuracy of drawn answers has the expected value, in its interval of 99.9 %."""
    items = table(["red" if i < 300 else "blue" if i < 450 else "green" for i in range(500)])
    task = Guessing.across(items, items, seed=3)

    found, wanted = predict(NAMED["uniform"], task), 1 / 3
    right = task.credits(np.arange(500, 1000), found.ranked[500:])

    assert np.nanmean(found.expected) == pytest.approx(wanted)
    low, high = wilson(right.sum(), 500, level=0.999)
    assert low < wanted < high


def test_several_drawn_answers_are_different() -> None:
    items = table(["red", "blue", "green"] * 20)

    assert {len(set(row)) for row in named("uniform", Guessing.within(items, top_k=3))} == {3}


# Options --------------------------------------------------------------------------------------------------------------


def multiple_choice(count: int) -> Items:
    """Items of four options, the right one, always the third by length, at each position in turn."""
    rows = [[f"{'abcdefg'[(i + shift) % 7]}" * (shift + 1) for shift in range(4)] for i in range(count)]
    options = [row[i % 4 :] + row[: i % 4] for i, row in enumerate(rows)]
    return table([row[2] for row in rows], options=options, texts=["What?"] * count)


def expected(name: str, items: Items) -> float:
    """The mean credit of a predictor."""
    return float(np.nanmean(predict(NAMED[name], Guessing.within(items)).expected))


def test_any_option_is_right_by_chance() -> None:
    items = table(["5", "5"], options=[["2", "5", "4", "11"], ["x", "5", "zzz", "y"]])

    assert predict(NAMED["random-option"], Guessing.within(items)).expected.tolist() == [1 / 4, 1 / 4]


def test_a_rank_is_one_of_numbers_among_as_many() -> None:
    """Learned of five numbers, the least is chosen of five; options that are words get no guess."""
    fives = [["3", "11", "4", "8", "6"], ["9", "2", "7", "5", "6"], ["12", "15", "20", "30", "14"]]
    items = table(["3", "2", "12", "1", "red"], options=[*fives, ["2", "1"], ["red", "blue"]])

    guesses = predict(NAMED["number-rank"], Guessing.within(items)).expected

    assert guesses[:3].tolist() == [1, 1, 1] and np.isnan(guesses[4])


def test_learned_choices() -> None:
    """What only options tell is found by these, and what only question and options tell by both together."""
    items = multiple_choice(120)
    assert (expected("position", items) < 0.3, expected("choices-only", items)) == (True, 1.0)
    joint = table(
        [("red", "blue")[i % 2] for i in range(120)],
        options=[["blue", "red"]] * 120,
        texts=[f"{('warm', 'cold')[i % 2]}?" for i in range(120)],
    )
    assert expected("choices-only", joint) < 0.7
    assert expected("question-and-choices", joint) == 1.0


def test_a_position_needs_an_order() -> None:
    """Files that do not record the order of options, as Visual7W's, have no position; other rules hold."""
    items = table(["a"] * 9, options=[["a", "b"]] * 9, has_letters=False)

    assert {"position", "random-option"} & {each.name for each in applicable(items)} == {"random-option"}
    with pytest.raises(UsageError, match="position needs options in a known order: items has none"):
        predict(NAMED["position"], Guessing.within(items))


# Shortcuts ------------------------------------------------------------------------------------------------------------

COLORS = ("red", "blue", "green", "gray")
SIZE = 600


def planted(name: str) -> Items:
    """Items that a shortcut tells the answers of, three times in four."""
    rng = random.Random(f"planted {name}")
    places, images = [i % 4 for i in range(SIZE)], [i // 4 for i in range(SIZE)]
    answers = [rng.choice(COLORS) for _ in range(SIZE)]
    told = {
        "period": [COLORS[image % 20 // 5] for image in images],
        "part": [COLORS[image * 16 // SIZE] for image in images],
        "place": [COLORS[place] for place in places],
        "words": [COLORS[i * 7 % 4] for i in range(SIZE)],
        "neighbor": [answers[i - 1] if places[i] % 2 else answers[i] for i in range(SIZE)],
        "pair": [COLORS[(i * 7 + i // 4 * 3) % 4] for i in range(SIZE)],
        "occurrence": [COLORS[i % 100 // 5 % 4] for i in range(SIZE)],
    }
    if name in told:
        answers = [one if rng.random() < 0.75 else own for one, own in zip(told[name], answers, strict=True)]
    if name == "previous":
        for i in range(1, SIZE):
            answers[i] = COLORS[(COLORS.index(answers[i - 1]) + 1) % 4] if rng.random() < 0.75 else answers[i]
    texts = [f"What about {'wxyz'[i * 7 % 4]} {rng.randrange(9)} {'stuv'[i // 4 * 3 % 4]}?" for i in range(SIZE)]
    right = [rng.choice((0, 0, 1) if name == "position" else (0, 1)) for _ in range(SIZE)]
    others = [rng.choice([color for color in COLORS if color != answer]) for answer in answers]
    options = [
        [other, answer] if place else [answer, other]
        for answer, other, place in zip(answers, others, right, strict=True)
    ]
    return table(answers, images=images, texts=texts, options=options, windows=[i // 100 for i in range(SIZE)])


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("shortcut", "predictor"),
    [
        ("period", "order"),
        ("part", "order"),
        ("place", "order"),
        ("words", "words"),
        ("neighbor", "others"),
        ("pair", "tree"),
        ("occurrence", "occurrence"),
        ("previous", "previous"),
        ("position", "position"),
    ],
)
def test_planted_shortcuts_are_found(shortcut: str, predictor: str) -> None:
    """A shortcut that returns in each twentieth image too, which folds in the order of the file would hide; and answers
    that change from some image on."""
    assert expected(predictor, planted(shortcut)) > expected(predictor, planted("")) + 0.1


@pytest.mark.slow
def test_windows_of_the_file_to_learn_from_are_none_of_the_other() -> None:
    """The first question of a family in a window of the second file is counted from 0 again."""
    items = planted("occurrence")

    found = predict(NAMED["occurrence"], Guessing.across(items, items)).expected

    assert np.nanmean(found) > 0.6


@pytest.mark.slow
def test_order_does_not_know_an_image_by_its_number() -> None:
    """Pairs that join all images part the questions about one: in an image that is red, most answers are red."""
    rng = random.Random("images")
    images = [i // 10 for i in range(1000)]
    colors = [rng.choice(COLORS) for _ in range(100)]
    answers = [colors[image] if rng.random() < 0.75 else rng.choice(COLORS) for image in images]
    partners = rng.sample(range(1000), 1000)
    pairs = dict(zip(partners, [number // 2 for number in range(1000)], strict=True))

    items = table(answers, images=images, pairs=[pairs[i] for i in range(1000)], texts=["What?"] * 1000)

    assert _is_divided(make_folds(items).of_items.tolist(), images)
    assert expected("order", items) < 0.4
    assert expected("others", items) > 0.6


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is() -> None:
    """No predictor is better than chance by more than four standard errors."""
    items = planted("")
    for each in applicable(items):
        chance = 0.5 if each.needs in CHOOSING else 0.25
        assert expected(each.name, items) < chance + 0.06, each.name


FEW = {
    "one image": table(["red", "blue", "red"], images=[0, 0, 0], texts="abc", options=[["red", "blue"]] * 3),
    "one item": table(["red"], texts="a", options=[["red", "2"]]),
    "no words": table(["red", "blue"] * 40, texts=["?!"] * 80, options=[None] * 40 + [["red", "blue"]] * 40),
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", FEW)
def test_few_items_and_empty_texts_are_answered_as_well_as_may_be(name: str) -> None:
    """Also where nothing can be learned, or all that was learned is of another type."""
    items = FEW[name]
    other = Guessing.across(table(["green"], function=["x"], texts="z"), items)
    for task in (Guessing.within(items, top_k=3), other):
        for each in applicable(task.items):
            credits = predict(each, task).expected
            assert ((credits >= 0) & (credits <= 1) | np.isnan(credits)).all(), each.name


# The floor ------------------------------------------------------------------------------------------------------------


def _floor_plainly(items: Items) -> list[float]:
    """Return the floor, each answer counted again for each item."""
    fields = {name: [items.fields[name].at(place) for place in range(len(items))] for name in ("family", "function")}
    answers = [items.answers.at(place) for place in range(len(items))]
    folds, everything = make_folds(items).of_items.tolist(), range(len(items))

    def guessed(place: int, *names: str) -> float:
        for name in names:
            group = [other for other in everything if fields[name][other] == fields[name][place]]
            if counts := Counter(answers[other] for other in group if folds[other] != folds[place]):
                return float(counts.most_common(1)[0][0] == answers[place])
        return 0.0

    def chance(place: int) -> float:
        kind = fields["function"][place]
        possible = {answers[other] for other in everything if fields["function"][other] == kind}
        return 1 / len(possible | {"yes", "no"} if possible <= {"yes", "no"} else possible)

    found = [0.0] * len(items)
    for kind in dict.fromkeys(fields["function"]):
        own = [place for place in everything if fields["function"][place] == kind]
        guesses = [
            [chance(place) for place in own],
            [guessed(place, "function") for place in own],
            [guessed(place, "family", "function") for place in own],
        ]
        for place, credit in zip(own, max(guesses, key=sum), strict=True):
            found[place] = credit
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_floor_is_that_of_counting_for_each_item(seed: int) -> None:
    rng = random.Random(seed)
    families = [rng.randrange(6) for _ in range(80)]
    answers = [rng.choice(("yes", "no") if family < 2 else "abcd"[: family - 1]) for family in families]
    items = table(
        answers, images=[i // 3 for i in range(80)], family=families, function=[family // 2 for family in families]
    )

    assert floor(items).tolist() == pytest.approx(_floor_plainly(items))


def test_no_constant_answer_beats_the_floor() -> None:
    """Where families are balanced, their most frequent answers are poor guesses, and "1" to all counts is none."""
    rng = random.Random(0)
    spread = {"a": "0123", "b": "12", "c": "13456", "d": "1289"}
    asked = [(family, answer) for family, answers in spread.items() for answer in answers for _ in range(50)]
    rng.shuffle(asked)
    items = table(
        [answer for _, answer in asked], family=[family for family, _ in asked], function=["count"] * len(asked)
    )

    of_family = predict(NAMED["majority-family"], Guessing.within(items)).expected.mean()
    constant = max(Counter(answer for _, answer in asked).values()) / len(asked)

    assert of_family <= constant == floor(items).mean()


def test_a_balanced_family_has_a_floor_of_a_half() -> None:
    assert floor(table(["yes", "no"] * 10, family=["a"] * 20)).tolist() == [0.5] * 20


def test_one_image_has_a_floor() -> None:
    """There is nothing to learn from: any possible answer is as good as another."""
    assert floor(table(["yes", "red", "blue"], images=[0, 0, 0], function=["e", "q", "q"])).tolist() == [0.5, 0.5, 0.5]


def test_options_have_a_floor_of_chance() -> None:
    """A file with options may be answered freely, and then by the most frequent answer."""
    options = [["red", "blue", "green", "gray"]] * 10
    items = table(["red"] * 9 + ["blue"], options=options)

    assert (floor(replace(items, mode=CHOICE)).mean(), floor(items).mean()) == (0.25, 0.9)
    assert floor(replace(items, mode=CHOICE), top_k=2).mean() == 0.5


def test_images_are_kept_apart() -> None:
    """An image's own questions never teach the answers to its other questions."""
    items = table([f"answer {i // 3}" for i in range(60)], images=[i // 3 for i in range(60)])

    for name in ("majority-all", "majority", "majority-family"):
        assert not predict(NAMED[name], Guessing.within(items)).expected.any()
