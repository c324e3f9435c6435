"""Predictors answer as they say, from other folds alone; the floor is the best of the cheap ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from item_tables import table

from vqagen.score.items.table import CHOICE, Items
from vqagen.shortcuts.floor import floor
from vqagen.shortcuts.folds import make_folds
from vqagen.shortcuts.predictors import NAMED, predict
from vqagen.shortcuts.task import Task

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

    of_family = predict(NAMED["majority-family"], Task.within(items)).expected.mean()
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

    assert (floor(items, mode=CHOICE).mean(), floor(items).mean()) == (0.25, 0.9)
    assert floor(items, top_k=2, mode=CHOICE).mean() == 0.5
