"""Beam search for the rounds of one dialog.

Each beam is an unfinished dialog. In each round the beams are continued by kinds of rounds. What a new beam may come to
depends on the label alone, so (beam, kind) pairs are tried from the most hopeful on, equal ones in random order, until
there are enough new beams. That gives the same beams as trying all pairs and cutting afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from vqagen.tasks.dialog.consequences import answer_follows
from vqagen.tasks.dialog.knowledge import Knowledge, Learner, Move, Rules, reveal_round
from vqagen.tasks.dialog.quotas import NO_GAINS, NO_ROUNDS, Gains, Prospect, Quotas, RoundCounts, attribute_asked
from vqagen.tasks.dialog.round_kind import (
    NOTHING,
    Pick,
    Refused,
    RoundAnswer,
    RoundKind,
    Situation,
    none_refused,
)
from vqagen.tasks.dialog.rounds import ROUND_KINDS, kinds_after
from vqagen.tasks.dialog.scene import DialogScene

SHARED = 2
"""The longest prefix of labels and answers that two dialogs of a scene may share."""
FINALISTS = 20
"""Finished dialogs of which the first without a fault is taken."""
Prefix = tuple[tuple[str, int | str], ...]


@dataclass(slots=True)
class Beam:
    """A dialog up to some round."""

    knowledge: Knowledge
    counts: RoundCounts = NO_ROUNDS
    gains: Gains = NO_GAINS
    """As far as the objective counts them."""
    score: int = 0
    misfit: float = 0.0
    """The difference of the mean coreference distance from the one to aim for."""
    move: Move | None = None
    outcome: RoundAnswer | None = None
    parent: Beam | None = None
    prefix: Prefix = ()
    """Labels and answers of the first rounds."""
    distances: tuple[int, int] = (0, 0)
    """Sum of the coreference distances, and their number."""
    situation: Situation | None = field(default=None, compare=False)
    is_new: bool | None = None
    """False if the answer follows from what was known; None if that is not worked out."""

    @property
    def start(self) -> Beam:
        """The dialog before its first round."""
        return self.parent.start if self.parent else self

    def rounds(self) -> list[tuple[Knowledge, Move, RoundAnswer, Knowledge]]:
        """Return (knowledge before, question, answer, knowledge after) of each round, the first round first."""
        found, beam = [], self
        while beam.parent and beam.move and beam.outcome:
            found.append((beam.parent.knowledge, beam.move, beam.outcome, beam.knowledge))
            beam = beam.parent
        return found[::-1]


class Step(NamedTuple):
    """A kind of round that may continue a dialog, and the counts of the dialog after it."""

    kind: RoundKind
    counts: RoundCounts
    gains: Gains
    gain: int
    """What it adds to the score."""


Steps = Mapping[int, tuple[Step, ...]]
"""What they, and the best rounds that can follow, add to the score of a dialog -> steps."""


@dataclass(frozen=True)
class SearchRules:
    """All that decides which dialogs are searched for."""

    rules: Rules
    quotas: Quotas
    rounds: int
    beams: int
    target_distance: float = 0.0
    """The wanted mean coreference distance; 0 for none."""


class Limits(NamedTuple):
    """What one dialog may not have, for the sake of the others."""

    taken: Container[Prefix] = ()
    """Labels and answers of the first rounds of other dialogs of the scene."""
    refused: Refused = none_refused
    """The answers that are too common."""
    refused_at_first: Refused = none_refused
    """The same, before any one object was found."""


class DialogSearch:
    """Searches for dialogs. One serves all scenes: what it keeps depends on the rules alone."""

    def __init__(self, how: SearchRules) -> None:
        self.how = how
        self._prospect = Prospect(how.quotas, how.rounds)
        self._known_steps: dict[tuple[object, ...], Steps] = {}

    def find(self, scene: DialogScene, caption: Beam, rng: Random, limits: Limits) -> Beam | None:
        """Return the best finished dialog after a caption; None if the search ends before the last round."""
        pick, beams = Pick(rng), [caption]
        for round in range(1, self.how.rounds + 1):
            beams = self._children(scene, beams, round, pick, limits)
        return next((beam for beam in beams if self._asks_nothing_known(scene, beam)), None)

    def _children(self, scene: DialogScene, beams: list[Beam], round: int, pick: Pick, limits: Limits) -> list[Beam]:
        """Return the best continuations of beams, at most as many as there may be beams; `FINALISTS` at the end.

        With beams that can come to 7, 6 and 6 points, the kinds of rounds by which the first keeps its 7 are tried in
        random order; those of the others, and those that cost the first a point, only if there are still places.
        """
        most = self.how.beams if round < self.how.rounds else min(self.how.beams, FINALISTS)
        by_hope: dict[float, list[tuple[Beam, Step]]] = defaultdict(list)
        for beam in beams:
            for more, steps in self._steps(beam, round).items():
                by_hope[beam.score - beam.misfit + more] += [(beam, step) for step in steps]
        children: list[Beam] = []
        seen: set[object] = set()
        for hope in sorted(by_hope, reverse=True):
            for beam, step in _drawn(by_hope[hope], pick):
                if beam.situation is None:
                    refused = limits.refused if beam.knowledge.singles else limits.refused_at_first
                    beam.situation = Situation(scene, beam.knowledge, pick, self.how.rules, refused)
                child = self._child(beam, beam.situation, step, round)
                if child is None or (round == SHARED + 1 and child.prefix in limits.taken):
                    continue
                if round < self.how.rounds and not child.knowledge.singles and not self._steps(child, round + 1):
                    continue  # the quotas leave only questions about objects, and no object is known
                key = child.knowledge.key(), child.counts
                if key not in seen:
                    seen.add(key)
                    children.append(child)
                    if len(children) == most and not self.how.target_distance:
                        return children
        children.sort(key=lambda child: child.misfit - child.score)
        return children[:most]

    def _child(self, beam: Beam, now: Situation, step: Step, round: int) -> Beam | None:
        """Return a beam continued by one kind of round, or None if it has nothing to ask."""
        kind, counts, gains, gain = step
        scene, move = now.scene, kind.ask(now)
        if move is None:
            return None
        knowledge, outcome = play(scene, beam.knowledge, move, round, self.how.rules)
        if knowledge.is_alias and self.how.rules.is_strict:
            return None
        if outcome.answer in now.refused(move.label, attribute_asked(scene.vocabulary, move)):
            return None
        distance, target = _distance(scene, beam.knowledge, move, kind, round), self.how.target_distance
        total, number = beam.distances[0] + distance, beam.distances[1] + (distance > 0)
        misfit = abs(total / max(number, 1) - target) if target else 0.0
        prefix = (*beam.prefix, (kind.label, outcome.answer)) if round <= SHARED + 1 else beam.prefix
        return Beam(knowledge, counts, gains, beam.score + gain, misfit, move, outcome, beam, prefix, (total, number))

    def _asks_nothing_known(self, scene: DialogScene, beam: Beam) -> bool:
        """True if no question of a dialog asks what follows from what was known; legacy semantics allow it."""
        if beam.parent is None or beam.move is None or not self.how.rules.is_strict:
            return True
        if beam.is_new is None:
            beam.is_new = not answer_follows(scene, beam.parent.knowledge, beam.move)
        return beam.is_new and self._asks_nothing_known(scene, beam.parent)

    def _steps(self, beam: Beam, round: int) -> Steps:
        """Return the steps that may continue a beam."""
        known = beam.knowledge
        key = round, beam.counts, beam.gains, known.label, known.topic >= 0, known.group != 0, known.singles != 0
        found = self._known_steps.get(key)
        if found is None:
            found = self._known_steps[key] = self._find_steps(beam, round)
        return found

    def _find_steps(self, beam: Beam, round: int) -> Steps:
        known, objective = beam.knowledge, self.how.quotas.objective
        found: dict[int, tuple[Step, ...]] = defaultdict(tuple)
        for kind in kinds_after(known.label):
            counts = self._prospect.counts_after(beam.counts, kind.label)
            if kind.has_referent(known) and self._prospect.can_finish(round, counts):
                gains = self._prospect.gains_after(beam.gains, kind.label)
                gain = sum(gains) - sum(beam.gains) - objective.repeats * (kind.label == known.label)
                more = self._prospect.most_gain(round, counts, gains, kind.label) if self.how.rules.is_strict else 0
                found[gain + more] += (Step(kind, counts, gains, gain),)
        return found


def play(scene: DialogScene, before: Knowledge, move: Move, round: int, rules: Rules) -> tuple[Knowledge, RoundAnswer]:
    """Return what is known after a round, and its answer."""
    learner = Learner(scene, before, round, rules)
    after = learner.after
    after.topic, after.group, after.described, after.is_sized, after.result = -1, 0, 0, False, 0
    after.anchor, after.lacking, after.rest_of = None, 0, 0
    after.label, after.move, after.is_alias = move.label, move, False
    learner.call(move.focus, 1 << move.descriptor if move.descriptor >= 0 else 0)
    outcome = ROUND_KINDS[move.label].learn(learner, move)
    return learner.conclude(), outcome


def _distance(scene: DialogScene, before: Knowledge, move: Move, kind: RoundKind, round: int) -> int:
    """Return the coreference distance of a question: the rounds since the words by which it refers; 0 for none."""
    if kind.refers == NOTHING:
        return 0
    return 1 if move.descriptor < 0 else round - reveal_round(scene, before, move.focus, move.descriptor)


def _drawn(pairs: list[tuple[Beam, Step]], pick: Pick) -> Iterator[tuple[Beam, Step]]:
    """Yield the pairs in random order; the list is emptied."""
    while pairs:
        place = pick.below(len(pairs))
        pairs[place], pairs[-1] = pairs[-1], pairs[place]
        yield pairs.pop()
