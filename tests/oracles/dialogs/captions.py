"""Captions: the worlds in which each is true, and the facts that it tells (section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from oracles.dialogs.discourse import Discourse, Request, Turn, Values, World
from oracles.dialogs.facts import Bounds, Defined, Extreme, Fact, Single, Stands, Valued
from oracles.dialogs.labels import CENTER, COUNT, EXTREME, RELATION, SEVERAL, UNIQUE
from oracles.dialogs.readings import Reading
from oracles.dialogs.verdicts import Verdict

from vqagen.bits import Objects, indexes
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.world.scene import Scene

EXACT = "exact"


class Caption(NamedTuple):
    """A caption as understood: its worlds, or what is wrong with it."""

    worlds: tuple[World, ...]
    verdicts: tuple[Verdict, ...] = ()


def worlds_of(reading: Reading, scene: Scene, vocabulary: DialogVocabulary) -> Caption:
    """Return a world for each object, pair or set of which the caption is true, and a fault if that is not one."""
    label, slots = reading.label, reading.slots
    if label == RELATION:
        return _relation(slots["D"], slots["R"], slots["D2"], scene)
    if label in (COUNT, SEVERAL):
        return _count(having(scene, slots["V"]), slots.get("K"))
    described = having(scene, slots["D"])
    if label == UNIQUE:
        found = indexes(described)
        if reading.form == EXACT and len(found) > 1:
            return _false(f"there are {len(found)}")
        return _one([(1 << each,) for each in found], "object of this description")
    if label == CENTER:
        places = _central(scene, vocabulary)
    else:
        relation = label.removeprefix(EXTREME)
        inverse = vocabulary.relations[vocabulary.inverse[vocabulary.relations.index(relation)]]
        others = [scene.everything & ~(1 << each) for each in range(scene.size)]
        places = [
            each
            for each in range(scene.size)
            if not scene.related[relation][each] and scene.related[inverse][each] == others[each]
        ]
    if len(places) == 1 and not described >> places[0] & 1:
        return _false(f"the object there is a {scene.describe(1 << places[0])}")
    return _one([(1 << each,) for each in places if described >> each & 1], "object at this place")


def having(scene: Scene, values: Values) -> Objects:
    """Return the objects with all these values."""
    objects = scene.everything
    for attribute, value in values.items():
        objects &= scene.having[attribute][value]
    return objects


def _central(scene: Scene, vocabulary: DialogVocabulary) -> list[int]:
    tables = [scene.related[relation] for relation in vocabulary.relations]
    return [each for each in range(scene.size) if all(2 * table[each].bit_count() <= scene.size for table in tables)]


def _relation(subject: Values, relation: str, anchor: Values, scene: Scene) -> Caption:
    anchors, subjects = indexes(having(scene, anchor)), having(scene, subject)
    pairs = [(1 << one, 1 << of) for of in anchors for one in indexes(scene.related[relation][of] & subjects)]
    return _one(pairs, "pair of objects")


def _count(objects: Objects, number: int | None) -> Caption:
    is_several = number is None and objects.bit_count() >= 2
    if is_several or number == objects.bit_count() != 0:
        return Caption(((objects,),))
    return _false(f"there are {objects.bit_count()}")


def _one(worlds: Sequence[World], noun: str) -> Caption:
    if not worlds:
        return _false(f"there is no such {noun}")
    if len(worlds) == 1:
        return Caption(tuple(worlds))
    return Caption(tuple(worlds), (Verdict("ambiguous", f"it is true of more than one {noun}: {len(worlds)}"),))


def _false(why: str) -> Caption:
    return Caption((), (Verdict("wrong", f"it is false: {why}"),))


def introduce(reading: Reading, caption: Caption, discourse: Discourse) -> None:
    """Begin a dialog with a caption that is true in the scene."""
    label, slots = reading.label, reading.slots
    discourse.worlds = list(caption.worlds)
    facts: list[Fact]
    if label == RELATION:
        one, of = discourse.introduce(True, slots["D"]), discourse.introduce(True, slots["D2"])
        one.size = of.size = 1
        facts = [Single(0), Single(1), *_valued(0, slots["D"]), *_valued(1, slots["D2"]), Stands(0, slots["R"], 1)]
        result = None
    elif label in (COUNT, SEVERAL):
        number = slots.get("K")
        discourse.introduce(number == 1, slots["V"], size=number)
        ((attribute, value),) = slots["V"].items()
        quantity = ("value", attribute, value)
        bounds = Bounds(quantity, 2) if number is None else Bounds(quantity, number, number)
        facts = [bounds, Defined(0, quantity), *_valued(0, slots["V"])]
        result = 0
    else:
        discourse.introduce(True, slots["D"], size=1)
        facts = [Single(0), *_valued(0, slots["D"])]
        if label == UNIQUE and reading.form == EXACT and len(slots["D"]) == 1:
            ((attribute, value),) = slots["D"].items()
            facts.append(Bounds(("value", attribute, value), 1, 1))
        if label.startswith(EXTREME) and label != CENTER:
            facts.append(Extreme(0, label.removeprefix(EXTREME)))
        result = 0
    discourse.facts += facts
    discourse.turns.append(Turn(Request(label), result=result))


def _valued(entity: int, values: Values) -> list[Fact]:
    return [Valued(entity, attribute, value) for attribute, value in values.items()]
