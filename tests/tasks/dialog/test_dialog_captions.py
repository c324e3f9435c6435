"""Captions identify what they are about: a slow twin finds everything in the scene that fits each one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

import pytest
from dialog_play import dialog_scene, outcomes
from generated_dialogs import generated
from scene_records import SMALL_SCENES, sampled_scenes, scene_record

from vqagen.tasks.dialog.captions import CATEGORIES, Caption, caption_args
from vqagen.tasks.dialog.situation import Pick

Record = Mapping[str, Any]
OPPOSITE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
LABELS = {
    "extreme": {"extreme-left", "extreme-right", "extreme-front", "extreme-behind", "extreme-center"},
    "unique": {"unique-obj"},
    "count": {"count-att", "count-att-no"},
    "relation": {"obj-relation"},
}


# The slow twin --------------------------------------------------------------------------------------------------------


def all_with(scene: Record, values: Mapping[str, str]) -> list[int]:
    """The objects with all of the values."""
    return [i for i, each in enumerate(scene["objects"]) if values.items() <= each.items()]


def at_place(scene: Record, place: str) -> list[int]:
    """The objects at an extreme place: in the center, or with all others in the opposite direction."""
    count, tables = len(scene["objects"]), scene["relationships"]
    if place == "center":
        return [i for i in range(count) if all(len(table[i]) <= count / 2 for table in tables.values())]
    others = [set(range(count)) - {i} for i in range(count)]
    return [i for i in range(count) if not tables[place][i] and set(tables[OPPOSITE[place]][i]) == others[i]]


def fitting(scene: Record, label: str, args: Record) -> list[Any]:
    """All objects, pairs or sets of a scene that a caption is true of."""
    if label == "obj-relation":
        subjects, anchors = all_with(scene, args["subject_value"]), all_with(scene, args["anchor_value"])
        table = scene["relationships"][args["relation"]]
        return [(i, j) for i in subjects for j in anchors if i in table[j]]
    if label == "unique-obj":
        return all_with(scene, args["values"])
    if label.startswith("extreme"):
        return at_place(scene, label.removeprefix("extreme-"))
    members = all_with(scene, {args["attribute"]: args["value"]})
    return [members] if len(members) > 1 else []


def meant(label: str, args: Record) -> Any:
    """The object, pair or set that a caption is about."""
    if label == "obj-relation":
        return args["subject"], args["anchor"]
    return args["objects"] if "objects" in args else args["object"]


def count_of(scene: Record, attribute: str, value: str) -> int:
    return len(all_with(scene, {attribute: value}))


# Draws ----------------------------------------------------------------------------------------------------------------


def drawn(scenes: Sequence[Record], each: int = 6) -> Iterator[tuple[Record, str, Caption, Record]]:
    """Draw captions of every category: (scene, category, caption, its args)."""
    for number, record in enumerate(scenes):
        scene, pick = dialog_scene(record), Pick(Random(number))
        for category, draw in CATEGORIES.items():
            yield from _with_args(record, category, (draw(scene, pick) for _ in range(each)))


def every(scenes: Sequence[Record]) -> Iterator[tuple[Record, str, Caption, Record]]:
    """Yield every caption that can be drawn for scenes."""
    for record in scenes:
        scene = dialog_scene(record)
        for category, draw in CATEGORIES.items():
            yield from _with_args(record, category, outcomes(lambda pick, d=draw, s=scene: d(s, pick)))


def _with_args(
    record: Record, category: str, captions: Iterable[Caption | None]
) -> Iterator[tuple[Record, str, Caption, Record]]:
    scene = dialog_scene(record)
    for caption in dict.fromkeys(captions):
        if caption is not None:
            yield record, category, caption, caption_args(caption, scene)


def assert_strict(scene: Record, category: str, caption: Caption, args: Record) -> None:
    """Check a caption against spec 2, MUST 1 to 3."""
    label = caption.label
    assert label in LABELS[category]
    assert fitting(scene, label, args) == [meant(label, args)], (label, args)
    if "values" in args:
        assert args["values"].items() <= scene["objects"][args["object"]].items()
        assert 1 <= len(args["values"]) <= 2
    if label == "unique-obj":
        assert any(count_of(scene, *value) == 1 for value in args["values"].items())
    if label == "count-att":
        assert args["count"] == len(args["objects"])


def test_every_caption_of_a_small_scene_is_true_of_one_thing_only() -> None:
    """Spec 2, MUST 1 to 3, for everything that can be drawn."""
    captions = list(every(SMALL_SCENES))

    for each in captions:
        assert_strict(*each)
    assert {caption.label for _, _, caption, _ in captions} == set().union(*LABELS.values())


def test_captions_of_many_scenes_are_true_of_one_thing_only() -> None:
    for each in drawn(sampled_scenes(20)):
        assert_strict(*each)


def test_all_relations_of_a_pair_alone_are_found() -> None:
    """Spec 2, MUST 3: one value of the pair is unique, and exactly one object with the other value lies there."""
    for record in SMALL_SCENES:
        found = {
            tuple(args[name] for name in ("subject", "relation", "anchor"))
            + tuple(args["subject_value"].values())
            + tuple(args["anchor_value"].values())
            for _, category, _, args in every([record])
            if category == "relation"
        }
        assert found == set(_pairs_alone(record))


def _pairs_alone(scene: Record) -> Iterator[tuple[Any, ...]]:
    for (i, subject), (j, anchor) in permutations(enumerate(scene["objects"]), 2):
        for relation in OPPOSITE:
            for one in subject.items():
                for other in anchor.items():
                    is_unique = 1 in (count_of(scene, *one), count_of(scene, *other))
                    args = {"subject_value": dict([one]), "anchor_value": dict([other]), "relation": relation}
                    if one != other and is_unique and fitting(scene, "obj-relation", args) == [(i, j)]:
                        yield i, relation, j, one[1], other[1]


# Extreme things -------------------------------------------------------------------------------------------------------


def test_extreme_things_are_told_values_that_other_things_have() -> None:
    """The thing is found by its place, and later by the history."""
    for scene, category, _, args in drawn(sampled_scenes(20)):
        if category == "extreme":
            assert all(count_of(scene, *value) > 1 for value in args["values"].items()), args


def test_extreme_thing_without_repeated_values_is_told_what_there_is() -> None:
    """B13: objects with unique attributes only vanished."""
    unlike = scene_record(["large red metal cube", "small blue rubber sphere"], [0, 1], [0, 1])

    assert {caption.label for _, category, caption, _ in every([unlike]) if category == "extreme"}


def test_place_of_two_things_is_no_place() -> None:
    """Objects 0 and 1 both have nothing left of them; object 2 alone has nothing right of it."""
    record = scene_record(["large red metal cube"] * 3, [0, 1, 2], [0, 1, 2])
    record["relationships"] |= {"left": [[], [], [0, 1]], "right": [[2], [2], []]}
    labels = {caption.label for _, category, caption, _ in every([record]) if category == "extreme"}

    assert "extreme-left" not in labels
    assert "extreme-right" in labels


# Shares ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("category", "one", "other"), [("unique", "exact", "bare"), ("count", "count-att", "count-att-no")]
)
def test_both_forms_of_a_caption_come(category: str, one: str, other: str) -> None:
    """Half of the captions say how many there are."""
    captions = [caption for _, kind, caption, _ in drawn(sampled_scenes(20)) if kind == category]
    forms = Counter(each.form or each.label for each in captions)

    assert set(forms) == {one, other}
    assert min(forms.values()) > len(captions) / 3


def category_of(dialog: Record) -> str:
    return next(name for name, labels in LABELS.items() if dialog["caption"]["label"] in labels)


def test_b8_dialogs_of_a_scene_begin_with_captions_of_every_kind() -> None:
    """Half of all captions were relations, often the same. The fifth dialog may have any kind, but a new caption."""
    kinds: dict[int, list[str]] = {}
    captions: dict[int, list[str]] = {}
    for dialog in generated(20, rounds=2):
        kinds.setdefault(dialog["scene_index"], []).append(category_of(dialog))
        captions.setdefault(dialog["scene_index"], []).append(str(dialog["caption"]["program"]))

    assert sum(set(found[:4]) == set(LABELS) for found in kinds.values()) >= 18
    fifth = Counter(found[4] for found in kinds.values())
    assert max(fifth.values()) < 12
    assert sum(len(set(found)) < 5 for found in captions.values()) <= 1
