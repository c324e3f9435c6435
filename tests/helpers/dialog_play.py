"""Dialogs played by hand in tests: which questions may come next, whatever is drawn, and what each leaves behind.

A question is written as its label and what fills it: "count-obj-rel-early left @red" counts the things left of the
earlier red thing. A question that is played must be one that may come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import cache, cached_property
from random import Random
from typing import Any, NamedTuple, TypeVar

from dialog_domains import dialog_domain

from vqagen.bits import indexes
from vqagen.tasks.dialog.captions import Caption, knowledge_after
from vqagen.tasks.dialog.knowledge import Knowledge, Move
from vqagen.tasks.dialog.quotas import PRESETS
from vqagen.tasks.dialog.rounds import RoundKind
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.search import Beam, DialogSearch, play
from vqagen.tasks.dialog.situation import Pick, Situation
from vqagen.world.scene import compile_scene

T = TypeVar("T")


def dialog_scene(record: Mapping[str, Any], domain: str = "clevr") -> DialogScene:
    """A scene record, compiled for dialogs."""
    loaded = dialog_domain(domain)
    return DialogScene(compile_scene(record, loaded.domain, record.get("image_index", 0)), loaded.vocabulary)


# Whatever is drawn ----------------------------------------------------------------------------------------------------


class Scripted(Pick):
    """Draws by a script, and the first option beyond its end."""

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(Random(0))
        self.script, self.drawn = script, list[tuple[int, int]]()

    def below(self, count: int) -> int:
        place = len(self.drawn)
        self.drawn.append((self.script[place] if place < len(self.script) else 0, count))
        return self.drawn[-1][0]

    def one(self, options: int) -> int:
        return indexes(options)[self.below(options.bit_count())] if options else -1

    def happens(self, probability: float) -> bool:
        return bool(self.below(2))


def outcomes(draw: Callable[[Pick], T]) -> Iterator[T]:
    """Yield each outcome of a draw, some of them several times."""
    script: list[int] = []
    while True:
        pick = Scripted(script)
        yield draw(pick)
        drawn = pick.drawn
        while drawn and drawn[-1][0] + 1 == drawn[-1][1]:
            drawn.pop()
        if not drawn:
            return
        script = [choice for choice, _ in drawn]
        script[-1] += 1


# Moments of a dialog --------------------------------------------------------------------------------------------------


class Left(NamedTuple):
    """All that a round leaves to refer to."""

    topic: int | None = None
    """The object that "it" is."""
    group: tuple[int, ...] = ()
    """The objects that "they" are."""
    is_sized: bool = False


@cache
def _search() -> DialogSearch:
    return DialogSearch(PRESETS["none"], 1, 1)


def _ask(kind: RoundKind, now: Situation, pick: Pick) -> Move | None:
    now.pick = pick
    return kind.ask(now, kind)


class Moment:
    """A moment of a dialog."""

    def __init__(self, scene: DialogScene, knowledge: Knowledge, answers: Sequence[int | str]) -> None:
        self.scene, self.knowledge, self.answers = scene, knowledge, answers

    @property
    def left(self) -> Left:
        """All that the last round left to refer to."""
        known = self.knowledge
        topic = known.topic if known.topic >= 0 else None
        return Left(topic, tuple(indexes(known.group)), known.is_sized and known.group != 0)

    def moves(self, labels: str = "*") -> dict[str, Move]:
        """Return the questions that may come next, by their texts; those that are only drawn less often, too."""
        return {
            self.text(move): move
            for kind in self._kinds
            if fnmatch(kind.label, labels)
            for move in outcomes(lambda pick, kind=kind: _ask(kind, self._situation, pick))
            if move is not None
        }

    @cached_property
    def _kinds(self) -> list[RoundKind]:
        search = _search()
        return [
            step.kind for steps in search.steps(Beam(self.knowledge, wants=(0, 0, 0)), 1).values() for step in steps
        ]

    @cached_property
    def _situation(self) -> Situation:
        return Situation(self.scene, self.knowledge, Scripted([]))

    def text(self, move: Move) -> str:
        """Return a question as tests write it."""
        words = self.scene.vocabulary
        said = [move.label]
        said += [words.relations[move.relation]] if move.relation >= 0 else []
        said += [words.attributes[move.attribute].name] if move.attribute >= 0 else []
        said += [words.values[move.value][1]] if move.value >= 0 else []
        return " ".join([*said, *(f"@{words.values[value][1]}" for value in indexes(move.name))])

    def may(self, pattern: str) -> list[str]:
        """Return the questions that may come next and match a pattern with wildcards."""
        return [text for text in sorted(self.moves(pattern.split()[0])) if fnmatch(text, pattern)]

    def ask(self, text: str) -> Moment:
        """Return the moment after a question that may come next."""
        moves = self.moves(text.split()[0])
        assert text in moves, f"{text} may not come; these may: {sorted(self.moves())}"
        return self.play(moves[text])

    def play(self, move: Move) -> Moment:
        """Return the moment after a question."""
        number = len(self.answers) + 1
        knowledge, answer = play(self.scene, self.knowledge, move, number)
        return Moment(self.scene, knowledge, (*self.answers, answer))


def value_number(scene: DialogScene, value: str) -> int:
    """Return the number of a value."""
    return [word for _, word in scene.vocabulary.values].index(value)


def caption(scene: DialogScene, text: str) -> Caption:
    """Return a caption written as "extreme-left 0 large", "unique-obj:exact 3 green", "count-att small" or
    "obj-relation 4 cube right 3 green".
    """
    label, *words = text.split()
    label, _, form = label.partition(":")
    if label.startswith("count"):
        value = value_number(scene, words[0])
        return Caption(label, form, scene.having[value], (value,))
    values = tuple(sorted(value_number(scene, word) for word in words[1:] if label != "obj-relation"))
    if label == "obj-relation":
        subject, value, relation, anchor, other = words
        number = scene.vocabulary.relations.index(relation)
        told = value_number(scene, value), value_number(scene, other)
        return Caption(label, form, 1 << int(subject), told[:1], number, int(anchor), told[1])
    place = label.removeprefix("extreme-")
    relations = scene.vocabulary.relations
    return Caption(label, form, 1 << int(words[0]), values, relations.index(place) if place in relations else -1)


def begin(scene: DialogScene, text: str) -> Moment:
    """Return the moment after a caption."""
    return Moment(scene, knowledge_after(caption(scene, text), scene), ())
