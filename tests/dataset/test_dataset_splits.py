"""Splits: scenes that are nearly the same stay together, and the test split alone has what is held out."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import pytest

from vqagen.dataset.holdout import HoldOut, choose_held, descriptions, hardly_visible, longest_kept, referred
from vqagen.dataset.rows import SPLITS
from vqagen.dataset.settings import DatasetSettings
from vqagen.dataset.splits import NEAR, are_nearly_same, groups_of, outline_of, split_scenes
from vqagen.errors import UsageError
from vqagen.language.domain_files import LoadedDomain, load_domain_files
from vqagen.language.program import Program
from vqagen.world.scene import compile_scene

KEYS = ("color", "shape")


@cache
def clevr() -> LoadedDomain:
    return load_domain_files()


def thing(color: str, x: float, y: float, **more: Any) -> dict[str, Any]:
    about = {"shape": "cube", "size": "large", "material": "metal", "color": color}
    return {**about, "3d_coords": [x, y, 0.7], "rotation": 0.0, "pixel_coords": [0, 0, 9], **more}


def scene(*objects: dict[str, Any]) -> dict[str, Any]:
    return {"objects": list(objects), "relationships": {"left": [[] for _ in objects]}}


def program(*nodes: tuple[str, tuple[int, ...], tuple[str, ...]]) -> Program:
    records = [{"type": name, "inputs": list(inputs), "value_inputs": list(values)} for name, inputs, values in nodes]
    return Program.from_records(records, clevr().catalogue)


# Scenes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([("red", 0, 0), ("blue", 2, 2)], [("blue", 2.2, 2), ("red", 0.3, -0.3)], True),
        ([("red", 0, 0), ("blue", 2, 2)], [("red", 2, 2), ("blue", 0, 0)], False),
        ([("red", 0, 0)], [("red", 0, 0), ("red", 1, 1)], False),
        ([("red", 0, 0), ("red", 0.4, 0)], [("red", 0.4, 0), ("red", 0.8, 0)], True),  # the first must change partners
        ([("red", 0, 0)], [("red", NEAR, 0)], False),
    ],
)
def test_scenes_are_nearly_the_same_if_their_objects_match(one: list[Any], other: list[Any], same: bool) -> None:
    outlines = [outline_of(scene(*(thing(*each) for each in objects)), KEYS) for objects in (one, other)]

    assert are_nearly_same(*outlines) is are_nearly_same(*reversed(outlines)) is same


def test_scenes_without_places_are_compared_by_their_values() -> None:
    one, other = ({"objects": [{"color": "red"}, {"color": color}]} for color in ("blue", "green"))

    assert are_nearly_same(outline_of(one, KEYS), outline_of(one, KEYS))
    assert not are_nearly_same(outline_of(one, KEYS), outline_of(other, KEYS))


def test_groups_are_those_of_comparing_every_pair() -> None:
    rng = Random(3)
    outlines = [
        outline_of(
            scene(*(thing(rng.choice(["red", "blue"]), rng.random() * 2, rng.random() * 2) for _ in range(2))), KEYS
        )
        for _ in range(120)
    ]

    groups = groups_of(outlines)

    owner = {place: number for number, group in enumerate(groups) for place in group}
    pairs = {(a, b) for a in range(120) for b in range(a) if are_nearly_same(outlines[a], outlines[b])}
    assert len(pairs) > 50
    assert all(owner[a] == owner[b] for a, b in pairs)
    for group in groups:  # nobody is there without a reason
        assert len(group) == 1 or all(any((max(a, b), min(a, b)) in pairs for b in group if b != a) for a in group)


def test_shares_are_kept_and_no_group_is_parted() -> None:
    groups = [[3 * n, 3 * n + 1, 3 * n + 2] if n % 5 == 0 else [3 * n] for n in range(100)]
    flat = sorted(place for group in groups for place in group)
    groups = [[flat.index(place) for place in group] for group in groups]

    splits = split_scenes(groups, (80, 10, 10), seed=4, test_from=None)

    assert [splits.count(name) for name in SPLITS] == [112, 14, 14]
    assert all(len({splits[place] for place in group}) == 1 for group in groups)
    assert splits == split_scenes(groups, (80, 10, 10), seed=4, test_from=None)
    assert splits != split_scenes(groups, (80, 10, 10), seed=5, test_from=None)


@pytest.mark.parametrize("parts", [(0, 0, 100), (0, 100, 0), (0, 33, 67), (100, 0, 0), (0, 50, 50)])
def test_a_split_without_a_share_has_no_scene(parts: tuple[int, int, int]) -> None:
    """Also if the shares cannot be kept: these groups are of three scenes each."""
    names = split_scenes([[at, at + 1, at + 2] for at in range(0, 15, 3)], parts, seed=0, test_from=None)

    assert {name for name, share in zip(SPLITS, parts, strict=True) if share} == set(names)


def test_a_test_scene_like_one_of_train_is_left_out() -> None:
    splits = split_scenes([[0, 5], [1], [2], [3], [4], [6]], (50, 25, 25), seed=0, test_from=4)

    assert splits[4:] == ["test", "", "test"]
    assert (splits.count("validation"), splits.count("")) == (1, 1)


# Questions ------------------------------------------------------------------------------------------------------------

RED_CUBE = (
    ("scene", (), ()),
    ("filter_color", (0,), ("red",)),
    ("filter_shape", (1,), ("cube",)),
)
APART = (
    *(("scene", (), ()), ("filter_color", (0,), ("red",)), ("unique", (1,), ())),
    *(("relate", (2,), ("left",)), ("filter_shape", (3,), ("cube",)), ("count", (4,), ())),
)


def test_descriptions_are_chains_of_filters() -> None:
    assert list(descriptions(program(*RED_CUBE, ("count", (2,), ())))) == [{"red"}, {"red", "cube"}]
    assert list(descriptions(program(*APART))) == [{"red"}, {"cube"}]


def test_only_test_names_both_values_of_a_pair() -> None:
    """Test has them as one description; elsewhere they never meet in a question, its answer included."""
    rule = HoldOut("value-pair", pairs=(("red", "cube"),))
    together, apart = program(*RED_CUBE, ("count", (2,), ())), program(*APART)
    asked = program(*RED_CUBE[:2], ("unique", (1,), ()), ("query_shape", (2,), ()))

    assert [rule.keeps("train", each, "1") for each in (together, apart, asked)] == [False, False, True]
    assert not rule.keeps("validation", asked, "cube")
    assert [rule.keeps("test", each, "1") for each in (together, apart, asked)] == [True, False, False]


def test_drawn_pairs_leave_every_value_in_train() -> None:
    held = choose_held(DatasetSettings(hold_out="value-pair", seed=7), clevr())

    assert len(held.pairs) == 8
    assert len({color for color, _ in held.pairs}) == 8
    assert len({shape for _, shape in held.pairs}) == 3


def test_families_are_held_out_by_name_or_by_the_seed() -> None:
    drawn = choose_held(DatasetSettings(hold_out="family"), clevr())
    named = choose_held(DatasetSettings(hold_out="family", held=("count",)), clevr())

    assert len(drawn.families) == len(clevr().templates) // 5
    assert {*drawn.families, *drawn.others} == {each.id for each in clevr().templates}
    assert all(each.last_function.asks == "count" for each in clevr().templates if each.id in named.families)
    assert drawn.only("test") == drawn.families
    assert drawn.only("validation") == drawn.others


def test_longer_programs_are_left_for_test() -> None:
    rule = HoldOut("length", longest=4)
    short, long = program(*RED_CUBE, ("count", (2,), ())), program(*APART)

    assert [rule.keeps(split, each, "1") for split in SPLITS for each in (short, long)] == [True, False] * 2 + [
        False,
        True,
    ]
    assert (longest_kept([5] * 9 + [9]), longest_kept([]), longest_kept([4, 4])) == (5, 0, 4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hold_out": "value-pair", "held": ("red",)}, "must be two values"),
        ({"hold_out": "value-pair", "held": ("red+cub",)}, "cube"),
        ({"hold_out": "value-pair", "held": ("red+blue",)}, "both are a color"),
        ({"hold_out": "family", "held": ("cuont",)}, "count"),
        ({"hold_out": "family", "held": ("count", "exist", "query", "compare_integer", "compare_attribute")}, "all"),
        ({"held": ("count",)}, "goes with --hold-out"),
        ({"shares": "80/20"}, "three whole numbers"),
        ({"shares": "100/0/0", "hold_out": "length"}, "no test split"),
        ({"shares": "0/0/100", "hold_out": "length"}, "no train or"),
        ({"rotations": True, "choices": "none"}, "choose one"),
        ({"min_visible": -2}, "from 0 on"),
    ],
)
def test_what_cannot_be_held_out_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_held(DatasetSettings(**given), clevr())


# Visibility -----------------------------------------------------------------------------------------------------------


def test_a_question_refers_to_the_objects_of_every_step() -> None:
    """All objects, from which programs start, count only where they are asked about themselves."""
    record = scene(thing("red", 0, 0, visible_pixels=900), thing("blue", 2, 2, visible_pixels=50))
    world = compile_scene(record, clevr().domain, 0)
    red, blue = (program(("scene", (), ()), ("filter_color", (0,), (c,)), ("exist", (1,), ())) for c in ("red", "blue"))
    everything = program(("scene", (), ()), ("count", (0,), ()))

    assert hardly_visible(record, 200) == 0b10
    assert [referred(each, world) for each in (red, blue, everything)] == [0b01, 0b10, 0b11]
