"""Replay of a dialog: what was known before each round, and why other kinds of rounds could not come next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.bits import indexes, union_of
from vqagen.tasks.dialog.captions import Caption, knowledge_after
from vqagen.tasks.dialog.consequences import answer_follows
from vqagen.tasks.dialog.knowledge import Knowledge, Move, Rules
from vqagen.tasks.dialog.prospect import NO_ROUNDS, Prospect
from vqagen.tasks.dialog.round_kind import FOCUS, GROUP, NAMED, TOPIC, Pick, RoundKind, Situation
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.search import play
from vqagen.tasks.dialog.tables import DialogScene

POSSIBLE = ""
"""The reason of a label that could have been taken."""
_MISSING = {
    TOPIC: "no object that 'it' stands for",
    GROUP: "no group that 'they' stands for",
    NAMED: "no object introduced before",
    FOCUS: "no focus to keep",
}


class Moment(NamedTuple):
    """A round of a dialog before it is asked."""

    knowledge: Knowledge
    reasons: Mapping[str, str]
    """Label -> why it could not be taken; `POSSIBLE` if it could."""


def replay(record: Mapping[str, Any], scene: DialogScene, rules: Rules, prospect: Prospect) -> Iterator[Moment]:
    """Yield the moment before each round of a dialog, from its record."""
    knowledge, counts = knowledge_after(_caption(record["caption"], scene), scene, rules), NO_ROUNDS
    for number, each in enumerate(record["rounds"], start=1):
        reasons = {}
        for label, kind in ROUND_KINDS.items():
            is_open = prospect.can_finish(number, prospect.counts_after(counts, kind))
            reasons[label] = why_not(kind, scene, knowledge, rules) or (POSSIBLE if is_open else "the quotas")
        yield Moment(knowledge, reasons)
        counts = prospect.counts_after(counts, ROUND_KINDS[each["label"]])
        knowledge, _ = play(scene, knowledge, _move(each["program"], scene), number, rules)


def why_not(kind: RoundKind, scene: DialogScene, knowledge: Knowledge, rules: Rules) -> str:
    """Return why a kind of round cannot come next; `POSSIBLE` if it can."""
    if kind.after and knowledge.label not in kind.after:
        return f"not after {knowledge.label}"
    if not kind.has_referent(knowledge):
        return _MISSING[kind.refers]
    if kind.refers == NAMED and not Situation(scene, knowledge, _Every(), rules, 0.0).descriptors:
        return "no value names an earlier object alone"
    moves = dict.fromkeys(possible_moves(kind, scene, knowledge, rules))
    is_open = any(_is_accepted(move, scene, knowledge, rules) for move in moves)
    return POSSIBLE if is_open else "nothing to ask that is not known"


def _is_accepted(move: Move, scene: DialogScene, knowledge: Knowledge, rules: Rules) -> bool:
    """True if the search accepts a question: its answer is not known and finds no object introduced before."""
    if not rules.is_strict:
        return True
    after, _ = play(scene, knowledge, move, 1, rules)
    return not after.is_alias and not answer_follows(scene, knowledge, move)


def possible_moves(kind: RoundKind, scene: DialogScene, knowledge: Knowledge, rules: Rules) -> Iterator[Move]:
    """Yield every question that a kind of round may ask next, some of them several times."""
    for wish in (0.0, 1.0):
        every = _Every()
        while every.begin():
            move = kind.ask(Situation(scene, knowledge, every, rules, wish))
            if move is not None:
                yield move


class _Every(Pick):
    """Makes every series of choices, one after the other."""

    def __init__(self) -> None:
        self._choices: list[tuple[int, int]] = []
        """(place of the choice, number of choices) of this series."""
        self._depth = -1

    def begin(self) -> bool:
        """Begin the next series; return false if there is none."""
        if self._depth >= 0:
            while self._choices and self._choices[-1][0] + 1 == self._choices[-1][1]:
                self._choices.pop()
            if not self._choices:
                return False
            place, number = self._choices[-1]
            self._choices[-1] = place + 1, number
        self._depth = 0
        return True

    def one(self, options: int) -> int:
        return indexes(options)[self.below(options.bit_count())] if options else -1

    def happens(self, probability: float) -> bool:
        return self.below(2) == 1

    def share(self) -> float:
        return self.below(2) / 2

    def below(self, count: int) -> int:
        if self._depth == len(self._choices):
            self._choices.append((0, count))
        self._depth += 1
        return self._choices[self._depth - 1][0]


# From records ---------------------------------------------------------------------------------------------------------


def _caption(record: Mapping[str, Any], scene: DialogScene) -> Caption:
    label, args = record["label"], record["program"]["args"]
    if label == "obj-relation":
        relation = scene.vocabulary.relations.index(args["relation"])
        (anchor_value,) = _values(args["anchor_value"], scene)
        values = _values(args["subject_value"], scene)
        return Caption(label, "", 1 << args["subject"], values, relation, args["anchor"], anchor_value)
    if "objects" in args:
        values = _values({args["attribute"]: args["value"]}, scene)
        return Caption(label, "", union_of(args["objects"]), values)
    place = label.removeprefix("extreme-")
    relation = scene.vocabulary.relations.index(place) if place in scene.vocabulary.relations else -1
    form = "exact" if args.get("exactly") else ""
    return Caption(label, form, 1 << args["object"], _values(args["values"], scene), relation)


def _move(program: Mapping[str, Any], scene: DialogScene) -> Move:
    args, words = program["args"], scene.vocabulary
    names = [each.name for each in words.attributes]
    has_value = "value" in args
    return Move(
        program["label"],
        args.get("focus", -1),
        words.relations.index(args["relation"]) if "relation" in args else -1,
        names.index(args["attribute"]) if "attribute" in args and not has_value else -1,
        _values({args["attribute"]: args["value"]}, scene)[0] if has_value else -1,
        _values(args["descriptor"], scene)[0] if "descriptor" in args else -1,
    )


def _values(described: Mapping[str, str], scene: DialogScene) -> tuple[int, ...]:
    """Return the numbers of values, as their sorted numbers."""
    words = scene.vocabulary
    names = [each.name for each in words.attributes]
    return tuple(sorted(words.values.index((names.index(name), value)) for name, value in described.items()))
