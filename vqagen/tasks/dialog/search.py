"""Dialogs about one scene: which captions they begin with, and the beam search for their rounds.

A scene's dialogs depend on the settings, the scene's index and the answers of the window's dialogs before it.

In the search each beam is an unfinished dialog. In each round the beams are continued by kinds of rounds. What a new
beam may come to depends on the label alone, so (beam, kind) pairs are tried from the most hopeful on, equal ones in
random order, until there are enough new beams. That gives the same beams as trying all pairs and cutting afterwards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from vqagen.rng import shuffled, stream, take
from vqagen.tasks.dialog.annotation import Annotator, PlayedRound
from vqagen.tasks.dialog.captions import CATEGORIES, Caption, knowledge_after
from vqagen.tasks.dialog.knowledge import Answer, Knowledge, Learner, Move
from vqagen.tasks.dialog.loading import LoadedDialogDomain
from vqagen.tasks.dialog.quotas import (
    NO_ROUNDS,
    PRESETS,
    AnswerBalance,
    Quotas,
    RoundCounts,
    Wants,
    attribute_asked,
)
from vqagen.tasks.dialog.rounds import FAMILIES, NOTHING, ROUND_KINDS, RoundKind, kinds_after, referents
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.situation import Pick, Refused, Situation, none_refused
from vqagen.tasks.dialog.wording import DialogWords, Wordings
from vqagen.world.scene import Scene

SHARED = 2
"""The longest prefix of labels and answers that two dialogs of a scene may share."""
Prefix = tuple[tuple[str, Answer], ...]


@dataclass(slots=True)
class Beam:
    """A dialog up to some round."""

    knowledge: Knowledge
    counts: RoundCounts = NO_ROUNDS
    wants: Wants = ()
    score: int = 0
    move: Move | None = None
    answer: Answer = ""
    parent: Beam | None = None
    prefix: Prefix = ()
    """Labels and answers of the first rounds."""
    situation: Situation | None = field(default=None, compare=False)

    def rounds(self) -> list[PlayedRound]:
        """Return what was played in each round, the first round first."""
        played, beam = list[PlayedRound](), self
        while beam.parent and beam.move:
            played.append((beam.parent.knowledge, beam.move, beam.answer, beam.knowledge))
            beam = beam.parent
        return played[::-1]


class Step(NamedTuple):
    """A kind of round that may continue a dialog, and the counts of the dialog after it."""

    kind: RoundKind
    counts: RoundCounts
    wants: Wants
    gain: int
    """What it adds to the score."""


Steps = Mapping[int, tuple[Step, ...]]
"""What they, and the rounds that can follow, may add to the score of a dialog -> steps."""


class DialogSearch:
    """Searches for dialogs. One serves all scenes: what it keeps depends on the quotas and the rounds alone."""

    def __init__(self, quotas: Quotas, rounds: int, beams: int) -> None:
        self.quotas, self.rounds, self.beams = quotas, rounds, beams
        self.can_finish = cache(self._can_finish)  # there are few different counts
        self._find_steps = cache(self._steps_after)

    def find(
        self,
        scene: DialogScene,
        caption: Beam,
        pick: Pick,
        taken: Container[Prefix] = (),
        balance: AnswerBalance | None = None,
    ) -> Beam | None:
        """Return the best finished dialog after a caption; None if the search ends before the last round.

        `taken` are the first rounds of other dialogs of the scene, which it may not have. Answers that are too common
        by the `balance` are not given.
        """
        beams = [caption]
        for round in range(1, self.rounds + 1):
            beams = self._children(scene, beams, round, pick, taken, balance)
        return beams[0] if beams else None

    def _children(
        self,
        scene: DialogScene,
        beams: list[Beam],
        round: int,
        pick: Pick,
        taken: Container[Prefix],
        balance: AnswerBalance | None,
    ) -> list[Beam]:
        """Return the best continuations of beams, at most as many as there may be beams; at the end one.

        With beams that can come to 7, 6 and 6 points, the kinds of rounds by which the first keeps its 7 are tried in
        random order; those of the others, and those that cost the first a point, only if there are still places.
        """
        most = self.beams if round < self.rounds else 1
        by_hope: dict[int, list[tuple[Beam, Step]]] = defaultdict(list)
        for beam in beams:
            for more, steps in self.steps(beam, round).items():
                by_hope[beam.score + more] += [(beam, step) for step in steps]
        children: dict[object, Beam] = {}
        for _, pairs in sorted(by_hope.items(), reverse=True):
            while pairs:
                beam, step = take(pick.rng, pairs)
                if beam.situation is None:
                    beam.situation = Situation(scene, beam.knowledge, pick, _refused(balance, beam.knowledge))
                child = self._child(beam, beam.situation, step, round)
                if child is None or (round == SHARED + 1 and child.prefix in taken):
                    continue
                if round < self.rounds and not child.knowledge.singles and not self.steps(child, round + 1):
                    continue  # the quotas leave only questions about objects, and no object is known
                children.setdefault((child.knowledge.key(), child.counts), child)
                if len(children) == most:
                    return list(children.values())
        return list(children.values())

    def _child(self, beam: Beam, now: Situation, step: Step, round: int) -> Beam | None:
        """Return a beam continued by one kind of round, or None if it has nothing to ask."""
        kind, counts, wants, gain = step
        move = kind.ask(now, kind)
        if move is None:
            return None
        knowledge, answer = play(now.scene, beam.knowledge, move, round)
        if knowledge.is_alias or answer in now.refused(move.label, attribute_asked(now.scene.vocabulary, move)):
            return None
        prefix = (*beam.prefix, (kind.label, answer)) if round <= SHARED + 1 else beam.prefix
        return Beam(knowledge, counts, wants, beam.score + gain, move, answer, beam, prefix)

    def steps(self, beam: Beam, round: int) -> Steps:
        """Return the steps that may continue a beam."""
        known = beam.knowledge
        return self._find_steps(round, beam.counts, beam.wants, known.label, referents(known))

    def _steps_after(self, round: int, before: RoundCounts, wants: Wants, label: str, there: tuple[str, ...]) -> Steps:
        steps: dict[int, tuple[Step, ...]] = defaultdict(tuple)
        for kind in kinds_after(label):
            counts = before.add(kind.family, kind.refers == NOTHING) if self.quotas.shares else before
            if kind.refers in there and self.can_finish(round, counts):
                gain, left = self.quotas.gain(wants, kind.label, label)
                steps[gain + min(sum(left), self.rounds - round)] += (Step(kind, counts, left, gain),)
        return steps

    def _can_finish(self, round: int, counts: RoundCounts) -> bool:
        """True if the quotas admit these counts after a round, and some way on to the end of the dialog.

        This takes every kind of round to have a question, whatever is known by then.
        """
        if round and not self.quotas.admits(round, counts):
            return False
        return (
            round == self.rounds
            or not self.quotas.shares
            or any(self.can_finish(round + 1, counts.add(*added)) for added in product(FAMILIES, (False, True)))
        )


def _refused(balance: AnswerBalance | None, known: Knowledge) -> Refused:
    if balance is None:
        return none_refused
    return balance.refused if known.singles else balance.refused_at_first


def play(scene: DialogScene, before: Knowledge, move: Move, round: int) -> tuple[Knowledge, Answer]:
    """Return what is known after a round, and its answer."""
    learner = Learner(scene, before, round)
    after = learner.after
    after.topic, after.group, after.described, after.is_sized, after.result = -1, 0, 0, False, 0
    after.label, after.move, after.is_alias = move.label, move, False
    if move.name:
        after.names[move.focus] = move.name
    answer = ROUND_KINDS[move.label].learn(learner, move)
    return learner.conclude(), answer


# Dialogs of a scene ---------------------------------------------------------------------------------------------------


BEAMS = 3
"""Unfinished dialogs kept in each round of the search; more find dialogs that need more of the history, slowly."""
TRIES = 6
"""Captions that are tried for one dialog with so many beams."""
WIDER, WIDER_TRIES = 8, 4
"""If no search finds a dialog: so many times as many beams, and captions tried with them; then again without quotas."""
FRESH = 4
"""Draws of a caption, at most, until it differs from those of the scene's other dialogs."""
NO_CAPTION, TOO_FEW_QUESTIONS, NO_RELATIONS = "no caption", "too few questions", "no relations"
"""Reasons for which a scene lacks a dialog."""


class DialogGenerator:
    """Makes the dialogs of scenes. Everything here is the same for all scenes of a run."""

    def __init__(self, loaded: LoadedDialogDomain, settings: DialogSettings, quotas: Quotas) -> None:
        self.settings, self.vocabulary = settings, loaded.vocabulary
        self.wordings = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary)
        rounds = settings.rounds
        free = replace(PRESETS["none"], objective=quotas.objective, repeated=quotas.repeated)
        self.searches = [
            (DialogSearch(quotas, rounds, BEAMS), TRIES),
            (DialogSearch(quotas, rounds, BEAMS * WIDER), WIDER_TRIES),
            (DialogSearch(free, rounds, BEAMS * WIDER), WIDER_TRIES // 2),
        ]
        """Each search with the number of captions that it tries; where one finds nothing, the next one begins."""

    def balance(self, first: int) -> AnswerBalance:
        """Return the balance of a window before its first scene, which has the index `first`."""
        return AnswerBalance(self.vocabulary, self.settings.seed, first)

    def dialogs(self, scene: Scene, balance: AnswerBalance) -> tuple[list[dict[str, Any]], Counter[str]]:
        """Return the dialogs of a scene, and reason -> how many are missing; their answers are added to the balance."""
        if any(name not in scene.related for name in self.vocabulary.relations):
            return [], Counter({NO_RELATIONS: self.settings.dialogs_per_image})
        about = _SceneDialogs(self, scene, balance)
        words = stream(self.settings.seed, "dialog words", scene.index)  # so that templates do not change what is asked
        records, failures = list[dict[str, Any]](), Counter[str]()
        for category in self._categories(about.pick):
            dialog = about.find(category)
            if isinstance(dialog, str):
                failures[dialog] += 1
                continue
            caption, beam, is_relaxed = dialog
            numbers = {"dialog_index": 0, "scene_index": scene.index, "dialog": len(records)}
            annotator = Annotator(about.scene, DialogWords(self.wordings, words), words)
            record = annotator.dialog(caption, beam.rounds())
            records.append({**numbers, **({"relaxed": True} if is_relaxed else {}), **record})
        return records, failures

    def _categories(self, pick: Pick) -> list[str]:
        """Return the categories of captions to begin with: one of each, then any."""
        names, wanted = list(CATEGORIES), self.settings.dialogs_per_image
        first = shuffled(pick.rng, names)[:wanted]
        return first + [names[pick.below(len(names))] for _ in range(wanted - len(first))]


class _SceneDialogs:
    """The dialogs of one scene while they are searched for: what those found so far may not repeat."""

    def __init__(self, generator: DialogGenerator, scene: Scene, balance: AnswerBalance) -> None:
        self.generator, self.balance = generator, balance
        self.scene = DialogScene(scene, generator.vocabulary)
        self.pick = Pick(stream(generator.settings.seed, "dialogs", scene.index))
        self.captions: set[Caption] = set()
        self.prefixes: set[Prefix] = set()
        """The first rounds of the dialogs found."""

    def find(self, category: str) -> tuple[Caption, Beam, bool] | str:
        """Return a dialog as (caption, last round, whether it keeps no quotas), or why there is none.

        Other captions are tried first, then more beams with any answers, then those without quotas.
        """
        reason = NO_CAPTION
        for number, (search, tries) in enumerate(self.generator.searches):
            for attempt in range(tries):
                caption = self._caption(category if attempt < tries / 2 else None)
                if caption is None:
                    continue
                reason = TOO_FEW_QUESTIONS
                start = Beam(knowledge_after(caption, self.scene), wants=self._plan(search.quotas))
                beam = search.find(self.scene, start, self.pick, self.prefixes, None if number else self.balance)
                if beam is not None:
                    self._note(caption, beam)
                    return caption, beam, search is self.generator.searches[-1][0]
        return reason

    def _note(self, caption: Caption, beam: Beam) -> None:
        self.captions.add(caption)
        self.prefixes.add(beam.prefix)
        for _, move, answer, _ in beam.rounds():
            self.balance.add(move, answer)

    def _plan(self, quotas: Quotas) -> Wants:
        """Draw the rounds that a dialog should have."""
        return tuple(numbers[self.pick.below(len(numbers))] for _, _, numbers in quotas.objective)

    def _caption(self, category: str | None) -> Caption | None:
        """Draw a caption, of any category if None is given or has none; one that is new if that is easy."""
        order: Sequence[str] = shuffled(self.pick.rng, list(CATEGORIES))
        for name in order if category is None else (category, *order):
            drawn = None
            for _ in range(FRESH):
                drawn = CATEGORIES[name](self.scene, self.pick)
                if drawn is None or drawn not in self.captions:
                    break
            if drawn is not None:
                return drawn
        return None
