"""Captions: the first sentence of a dialog, true of exactly one object, pair or set, and what it conveys.

There are four categories (CLEVR-Dialog, Kottur et al. 2019). A caption identifies what it is about;
otherwise the conditions are those of the CLEVR-Dialog generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.bits import Objects, indexes, is_single
from vqagen.tasks.dialog.knowledge import Knowledge, Learner
from vqagen.tasks.dialog.scene import DialogScene, Values
from vqagen.tasks.dialog.situation import Pick

EXTRA = 0.3
"""Share of captions about one object that tell a second attribute (CLEVR-Dialog)."""
CENTER = "extreme-center"


class Caption(NamedTuple):
    """A caption without its words."""

    label: str
    form: str
    """Which of several templates of the label it needs."""
    objects: Objects
    """The object or the set that it is about; of a pair, the subject."""
    values: tuple[int, ...]
    """The values it tells of them."""
    relation: int = -1
    """The direction of an extreme, or of the subject from the anchor."""
    anchor: int = -1
    anchor_value: int = -1


Draw = Callable[[DialogScene, Pick], Caption | None]


# Extreme objects ------------------------------------------------------------------------------------------------------


def draw_extreme(scene: DialogScene, pick: Pick) -> Caption | None:
    """Draw a caption about the object that lies farthest in one direction, or in the center."""
    options = _extremes(scene)
    if not options:
        return None
    relation, i, values = options[pick.below(len(options))]
    label = CENTER if relation < 0 else f"extreme-{scene.vocabulary.relations[relation]}"
    told = _some_values(pick, values, values)
    return Caption(label, "", 1 << i, told, relation)


def _extremes(scene: DialogScene) -> list[tuple[int, int, Values]]:
    """Return (direction or -1 for the center, object, values that can be told of it).

    Those that several objects have are told: such a caption does not name its object by a value. Any value is told
    where no extreme object has one of those.
    """
    extremes = [(relation, i) for relation in range(len(scene.related)) for i in farthest(scene, relation)]
    center = central(scene)
    extremes += [(-1, i) for i in center] if len(center) == 1 else []
    repeated = [(relation, i, scene.values_of[i] & scene.repeated) for relation, i in extremes]
    hard = [(relation, i, values) for relation, i, values in repeated if values]
    return hard or [(relation, i, scene.values_of[i]) for relation, i in extremes]


def farthest(scene: DialogScene, relation: int) -> list[int]:
    """Return the objects beyond which nothing lies in a direction, and to which all others lie opposite."""
    back = scene.related[scene.vocabulary.inverse[relation]]
    last = [i for i in range(scene.size) if not scene.related[relation][i]]
    return [i for i in last if back[i] | 1 << i == scene.everything]


def central(scene: DialogScene) -> list[int]:
    """Return the objects with at most half of the objects in each direction."""
    half = scene.size / 2
    return [i for i in range(scene.size) if all(table[i].bit_count() <= half for table in scene.related)]


def _some_values(pick: Pick, first: Values, extra: Values) -> tuple[int, ...]:
    """Return one of the first values, and with the chance `EXTRA` another one."""
    value = pick.one(first)
    more = pick.one(extra & ~(1 << value)) if pick.happens(EXTRA) else -1
    return (value,) if more < 0 else tuple(sorted((value, more)))


# Other captions -------------------------------------------------------------------------------------------------------


def draw_unique(scene: DialogScene, pick: Pick) -> Caption | None:
    """Draw a caption about an object that alone has some value. Half of them say that it is the only one."""
    unique = scene.present & ~scene.repeated
    value = pick.one(unique)
    if value < 0:
        return None
    (i,) = indexes(scene.having[value])
    told = _some_values(pick, 1 << value, scene.values_of[i])
    return Caption("unique-obj", "exact" if pick.happens(0.5) else "bare", 1 << i, told)


def draw_count(scene: DialogScene, pick: Pick) -> Caption | None:
    """Draw a caption about the objects with a value that at least two have; half of them say how many they are."""
    value = pick.one(scene.repeated)
    if value < 0:
        return None
    return Caption("count-att" if pick.happens(0.5) else "count-att-no", "", scene.having[value], (value,))


def draw_relation(scene: DialogScene, pick: Pick) -> Caption | None:
    """Draw a caption about two objects: a red thing is left of a cube."""
    options = list(_pairs(scene))
    if not options:
        return None
    subject, value, relation, anchor, anchor_value = options[pick.below(len(options))]
    return Caption("obj-relation", "", 1 << subject, (value,), relation, anchor, anchor_value)


Pair = tuple[int, int, int, int, int]
"""Subject, its value, relation, anchor, its value."""


def _pairs(scene: DialogScene) -> Iterator[Pair]:
    """Yield the pairs that alone fit their sentence: one of the two values is unique, and one thing fits the other."""
    unique = indexes(scene.present & ~scene.repeated)
    for relation, table in enumerate(scene.related):
        back = scene.related[scene.vocabulary.inverse[relation]]
        for value in unique:
            (i,) = indexes(scene.having[value])
            for other in indexes(scene.present & ~(1 << value)):
                there, behind = table[i] & scene.having[other], back[i] & scene.having[other]
                if is_single(there):
                    yield there.bit_length() - 1, other, relation, i, value
                if is_single(behind):
                    yield i, value, relation, behind.bit_length() - 1, other


CATEGORIES: Mapping[str, Draw] = {
    "extreme": draw_extreme,
    "unique": draw_unique,
    "count": draw_count,
    "relation": draw_relation,
}
"""Category of captions -> the function that draws one."""


# What captions convey -------------------------------------------------------------------------------------------------


def knowledge_after(caption: Caption, scene: DialogScene) -> Knowledge:
    """Return what is known after a caption."""
    learner = Learner(scene, Knowledge.of_nothing(scene.size), 0)
    learner.after.label = caption.label
    if caption.label == "obj-relation":
        _learn_relation(learner, caption)
    elif caption.label in ("count-att", "count-att-no"):
        _learn_set(learner, caption)
    else:
        _learn_object(learner, caption)
    return learner.conclude()


def _learn_object(learner: Learner, caption: Caption) -> None:
    (i,) = indexes(caption.objects)
    learner.introduce(i)
    for value in caption.values:
        learner.tell(i, value)
    if caption.relation >= 0:
        learner.count_related(i, caption.relation)
    if caption.form == "exact" and len(caption.values) == 1:
        learner.learn_value(caption.values[0])


def _learn_set(learner: Learner, caption: Caption) -> None:
    (value,) = caption.values
    is_sized = caption.label == "count-att"
    learner.introduce_set(caption.objects, 1 << value, is_sized)
    learner.after.several |= 1 << value
    if is_sized:
        learner.learn_value(value)


def _learn_relation(learner: Learner, caption: Caption) -> None:
    (subject,) = indexes(caption.objects)
    for i, value in ((subject, caption.values[0]), (caption.anchor, caption.anchor_value)):
        learner.introduce(i)
        learner.tell(i, value)
    learner.after.topic = -1
    learner.after.result = caption.objects | 1 << caption.anchor
    learner.relate(caption.anchor, caption.relation, subject)


def caption_args(caption: Caption, scene: DialogScene) -> dict[str, Any]:
    """Return what fills the caption, as JSON: objects by their ids, values and relations by their names."""
    words, objects = scene.vocabulary, indexes(caption.objects)
    values = words.described(*caption.values)
    if caption.label == "obj-relation":
        return {
            "subject": objects[0],
            "subject_value": values,
            "relation": words.relations[caption.relation],
            "anchor": caption.anchor,
            "anchor_value": words.described(caption.anchor_value),
        }
    if caption.label in ("count-att", "count-att-no"):
        ((attribute, word),) = values.items()
        members: dict[str, Any] = {"objects": objects, "attribute": attribute, "value": word}
        return {**members, "count": len(objects)} if caption.label == "count-att" else members
    told: dict[str, Any] = {"object": objects[0], "values": values}
    return {**told, "exactly": caption.form == "exact"} if caption.label == "unique-obj" else told
