"""What a listener understands of a dialog: the captions or questions that its sentences can be, and their faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from vqagen.bits import indexes, is_single
from vqagen.tasks.dialog.answers import (
    alike,
    attribute_of_focus,
    attribute_of_next,
    group_itself,
    having_value,
    having_value_in_group,
    related,
    rest,
    whole_scene,
)
from vqagen.tasks.dialog.captions import CENTER, Caption, central, farthest, knowledge_after
from vqagen.tasks.dialog.consequences import answer_follows
from vqagen.tasks.dialog.knowledge import Knowledge, Move, Rules
from vqagen.tasks.dialog.recognition import Parse
from vqagen.tasks.dialog.round_kind import (
    FOCUS,
    GROUP,
    NAMED,
    NOTHING,
    ROUND_KINDS,
    TOPIC,
    Learn,
    Pick,
    RoundKind,
    Situation,
)
from vqagen.tasks.dialog.scene import TIE, DialogScene
from vqagen.tasks.dialog.search import Beam, play


class Verdict(NamedTuple):
    """What is wrong with one sentence."""

    kind: str
    why: str


class Listener:
    """Listens to one dialog, by the rules that it was made by and, to see what is clear and new, by the strict ones."""

    def __init__(self, scene: DialogScene, caption: Caption, rules: Rules) -> None:
        self.scene, self.caption, self.rules = scene, caption, rules
        self.beam, self.rounds = Beam(knowledge_after(caption, scene, rules)), 0
        self._strict = self.beam.knowledge if rules.is_strict else knowledge_after(caption, scene, Rules())

    def hear(self, parses: Sequence[Parse], answer: object) -> Iterator[Verdict]:
        """Go on by one round, and yield what is wrong with it; stay where it is if nothing can be meant."""
        kind, before = ROUND_KINDS[parses[0].label], self.beam
        moves = list(dict.fromkeys(move for parse in parses for move in self._moves(kind, parse.slots)))
        if not moves:
            yield Verdict("unlicensed", f"nothing was said that it can refer to ({kind.refers})")
            return
        self.rounds += 1
        played = [(move, *play(self.scene, before.knowledge, move, self.rounds, self.rules)) for move in moves]
        right = [each for each in played if str(each[2].answer) == str(answer)]
        move, knowledge, outcome = (right or played)[0]
        self.beam = Beam(knowledge, move=move, outcome=outcome, parent=before)
        if not right:
            yield Verdict("wrong", f"the answer is {answer!r}, but the scene gives {outcome.answer!r}")
        if why := "it can be read in several ways" if len(moves) > 1 else _why_unclear(self.scene, self._strict, move):
            yield Verdict("ambiguous", why)
        elif _is_known(Situation(self.scene, self._strict, _NO_CHOICE, Rules()), move):
            yield Verdict("redundant", "the answer follows from what was said before")
        self._strict = knowledge if self.rules.is_strict else self._after(before.knowledge, move)

    def _after(self, own: Knowledge, move: Move) -> Knowledge:
        """Return what is known by the strict rules after a question that looser ones allow."""
        known = self._strict.copy()
        known.topic, known.group, known.is_sized, known.described = own.topic, own.group, own.is_sized, own.described
        return play(self.scene, known, move, self.rounds, Rules())[0]

    def _moves(self, kind: RoundKind, slots: Mapping[str, Any]) -> Iterator[Move]:
        """Yield every question that these words can ask."""
        known, words = self.beam.knowledge, self.scene.vocabulary
        if not kind.has_referent(known) or (kind.after and known.label not in kind.after):
            return
        numbers = {slot: [words.number[each] for each in slots[slot].items()] for slot in ("D", "V") if slot in slots}
        if any(len(each) > 1 for each in numbers.values()):
            return
        (value,), (name,) = numbers.get("V", [-1]), numbers.get("D", [-1])
        attribute = -1
        if "A" in slots:
            attribute = [each.name for each in words.attributes].index(slots["A"])
        elif kind.learn is attribute_of_focus and known.move:
            attribute = known.move.attribute
        relation = words.relations.index(slots["R"]) if "R" in slots else -1
        for focus in self._foci(kind, name):
            yield Move(kind.label, focus, relation, attribute, value, name if kind.refers == NAMED else -1)

    def _foci(self, kind: RoundKind, name: int) -> Sequence[int]:
        """Return the objects that a question can refer to; -1 if it refers to none, or to a group."""
        known = self.beam.knowledge
        if kind.refers in (NOTHING, GROUP):
            return [-1]
        if kind.refers == NAMED:
            return _bearing(self.scene, known, name)
        return [known.move.focus if kind.refers == FOCUS and known.move else known.topic]


def _bearing(scene: DialogScene, known: Knowledge, value: int) -> list[int]:
    """Return the objects introduced one by one of which a value was told."""
    return [i for i in indexes(known.singles) if known.told >> i * len(scene.counts) + value & 1]


# Captions -------------------------------------------------------------------------------------------------------------


def captions_said(parse: Parse, scene: DialogScene, rules: Rules) -> Iterator[Caption]:
    """Yield every caption that the words can be, and that is true of the scene."""
    label, slots, words = parse.label, parse.slots, scene.vocabulary
    numbers = {slot: sorted(words.number[each] for each in slots[slot].items()) for slot in slots.keys() & _VALUES}
    objects = {slot: _having(scene, each) for slot, each in numbers.items()}
    if label == "obj-relation":
        relation = words.relations.index(slots["R"])
        for anchor in indexes(objects["D2"]):
            for i in indexes(scene.related[relation][anchor] & objects["D"]):
                yield Caption(label, "", 1 << i, tuple(numbers["D"]), relation, anchor, numbers["D2"][0])
    elif "V" in objects:
        count = objects["V"].bit_count()
        if count == slots["K"] if "K" in slots else count > 1:
            yield Caption(label, "", objects["V"], tuple(numbers["V"]))
    else:
        found, relation = indexes(objects["D"]), -1
        if label == CENTER:
            found = [i for i in central(scene) if i in found]
        elif label.startswith("extreme-"):
            relation = words.relations.index(label.removeprefix("extreme-"))
            found = [i for i in farthest(scene, relation, rules) if i in found]
        for i in found if parse.form != "exact" or len(found) == 1 else ():
            yield Caption(label, parse.form, 1 << i, tuple(numbers["D"]), relation)


_VALUES = {"D", "D2", "V"}
"""Slots that say values."""


def _having(scene: DialogScene, values: Sequence[int]) -> int:
    objects = scene.everything
    for value in values:
        objects &= scene.having[value]
    return objects


# Questions ------------------------------------------------------------------------------------------------------------


def _why_unclear(scene: DialogScene, known: Knowledge, move: Move) -> str:
    """Return why it is open what a question is about; "" if it is clear."""
    kind = ROUND_KINDS[move.label]
    if kind.refers == TOPIC and known.topic != move.focus:
        return "'it' can be another object"
    if kind.refers == FOCUS and move.is_count and is_single(known.result):
        return "'it' can be the object that was found in the round before"
    if kind.refers == GROUP and not known.group:
        return "'they' can be other objects"
    if kind.refers == NAMED:
        if _bearing(scene, known, move.descriptor) != [move.focus]:
            return "several objects were said to be so"
        if known.plural >> move.descriptor & 1:
            return "a set of objects was said to be so"
        if known.topic == move.focus:
            return "the object of the round before is 'it'"
    if kind.learn is rest and known.uncounted:
        return "it was not said how many objects were mentioned"
    if kind.learn is attribute_of_next and scene.next[move.relation][move.focus] == TIE:
        return "no object is the next one there"
    return ""


def _is_known(now: Situation, move: Move) -> bool:
    """True if the answer of a question was told before, or follows from what was told."""
    is_open = _OPEN.get(ROUND_KINDS[move.label].learn)
    return (is_open is not None and not is_open(now, move)) or answer_follows(now.scene, now.knowledge, move)


def _alike_is_open(now: Situation, move: Move) -> bool:
    value = now.scene.value_at[move.attribute][move.focus]
    is_told = now.knowledge.told >> move.focus * len(now.scene.counts) + value & 1
    options = now.uncounted_likes(move.focus) if move.is_count else now.unfound_likes(move.focus)
    return not is_told or bool(options >> value & 1)


def _attribute_is_open(now: Situation, i: int, attribute: int) -> bool:
    return not now.knowledge.known >> i * len(now.scene.value_at) + attribute & 1


def _next_is_open(now: Situation, move: Move) -> bool:
    j = now.scene.next[move.relation][move.focus]
    return _attribute_is_open(now, j, move.attribute) if j >= 0 else _side_is_open(now, move._replace(label="count"))


def _side_is_open(now: Situation, move: Move) -> bool:
    options = now.uncounted(move.focus) if move.is_count else now.unfound(move.focus)
    return bool(options >> move.relation & 1)


def _value_is_open(now: Situation, move: Move) -> bool:
    known = now.knowledge
    return not (known.value_counts if move.is_count else known.value_exists) >> move.value & 1


def _rest_is_open(now: Situation, move: Move) -> bool:
    known = now.knowledge
    return not (known.size_known or (known.all_seen if move.is_count else known.rest_known))


_OPEN: Mapping[Learn, Callable[[Situation, Move], bool]] = {
    whole_scene: lambda now, move: not now.knowledge.size_known,
    rest: _rest_is_open,
    having_value: _value_is_open,
    having_value_in_group: lambda now, move: now.undescribed >> move.value & 1 == 1 and _value_is_open(now, move),
    group_itself: lambda now, move: not now.knowledge.is_sized,
    related: _side_is_open,
    alike: _alike_is_open,
    attribute_of_focus: lambda now, move: _attribute_is_open(now, move.focus, move.attribute),
    attribute_of_next: _next_is_open,
}
"""How a question is answered -> whether its answer is yet to be told; what follows from several facts is not seen."""


_NO_CHOICE = Pick(Random(0))
"""What is asked is written: nothing is drawn."""
