"""Dialogs about one scene: which captions they begin with, and the beam search for their rounds.

A scene's dialogs depend on the settings, the scene's index and the answers of the window's dialogs before it.

In the search each beam is an unfinished dialog. In each round the beams are continued by kinds of rounds. What a new
beam may come to depends on the label alone, so (beam, kind) pairs are tried from the most hopeful on, equal ones in
random order, until there are enough new beams. That gives the same beams as trying all pairs and cutting afterwards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from random import Random
from typing import Any, NamedTuple

from vqagen.rng import shuffled, stream
from vqagen.tasks.dialog.annotation import Annotator, PlayedRound
from vqagen.tasks.dialog.captions import CATEGORIES, Caption, knowledge_after
from vqagen.tasks.dialog.knowledge import Knowledge, Learner, Move
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
from vqagen.tasks.dialog.rounds import FAMILIES, NOTHING, ROUND_KINDS, RoundAnswer, RoundKind, kinds_after
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.situation import Pick, Refused, Situation, none_refused
from vqagen.tasks.dialog.wording import Wordings
from vqagen.world.scene import Scene

SHARED = 2
"""The longest prefix of labels and answers that two dialogs of a scene may share."""
Prefix = tuple[tuple[str, int | str], ...]


@dataclass(slots=True)
class Beam:
    """A dialog up to some round."""

    knowledge: Knowledge
    counts: RoundCounts = NO_ROUNDS
    wants: Wants = ()
    score: int = 0
    move: Move | None = None
    outcome: RoundAnswer | None = None
    parent: Beam | None = None
    prefix: Prefix = ()
    """Labels and answers of the first rounds."""
    situation: Situation | None = field(default=None, compare=False)

    def rounds(self) -> list[PlayedRound]:
        """Return what was played in each round, the first round first."""
        found, beam = [], self
        while beam.parent and beam.move and beam.outcome:
            found.append((beam.parent.knowledge, beam.move, beam.outcome, beam.knowledge))
            beam = beam.parent
        return found[::-1]


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
        self._known_steps: dict[tuple[object, ...], Steps] = {}

    def find(
        self,
        scene: DialogScene,
        caption: Beam,
        rng: Random,
        taken: Container[Prefix] = (),
        balance: AnswerBalance | None = None,
    ) -> Beam | None:
        """Return the best finished dialog after a caption; None if the search ends before the last round.

        `taken` are the first rounds of other dialogs of the scene, which it may not have. Answers that are too common
        by the `balance` are not given.
        """
        pick, beams = Pick(rng), [caption]
        for round in range(1, self.rounds + 1):
            beams = self._children(scene, beams, round, pick, taken, balance)
        return beams[0] if beams else None

    def _children(
        self,
        scene: DialogScene,
        beams: list[Beam],
        round: int,
        pick: Pick,
        taken: Container[Prefix] = (),
        balance: AnswerBalance | None = None,
    ) -> list[Beam]:
        """Return the best continuations of beams, at most as many as there may be beams; at the end one.

        With beams that can come to 7, 6 and 6 points, the kinds of rounds by which the first keeps its 7 are tried in
        random order; those of the others, and those that cost the first a point, only if there are still places.
        """
        most = self.beams if round < self.rounds else 1
        by_hope: dict[int, list[tuple[Beam, Step]]] = defaultdict(list)
        for beam in beams:
            for more, steps in self._steps(beam, round).items():
                by_hope[beam.score + more] += [(beam, step) for step in steps]
        children: list[Beam] = []
        seen: set[object] = set()
        for hope in sorted(by_hope, reverse=True):
            for beam, step in _drawn(by_hope[hope], pick):
                if beam.situation is None:
                    beam.situation = Situation(scene, beam.knowledge, pick, _refused(balance, beam.knowledge))
                child = self._child(beam, beam.situation, step, round)
                if child is None or (round == SHARED + 1 and child.prefix in taken):
                    continue
                if round < self.rounds and not child.knowledge.singles and not self._steps(child, round + 1):
                    continue  # the quotas leave only questions about objects, and no object is known
                key = child.knowledge.key(), child.counts
                if key not in seen:
                    seen.add(key)
                    children.append(child)
                    if len(children) == most:
                        return children
        return children

    def _child(self, beam: Beam, now: Situation, step: Step, round: int) -> Beam | None:
        """Return a beam continued by one kind of round, or None if it has nothing to ask."""
        kind, counts, wants, gain = step
        scene, move = now.scene, kind.ask(now, kind)
        if move is None:
            return None
        knowledge, outcome = play(scene, beam.knowledge, move, round)
        if knowledge.is_alias:
            return None
        if outcome.answer in now.refused(move.label, attribute_asked(scene.vocabulary, move)):
            return None
        prefix = (*beam.prefix, (kind.label, outcome.answer)) if round <= SHARED + 1 else beam.prefix
        return Beam(knowledge, counts, wants, beam.score + gain, move, outcome, beam, prefix)

    def _steps(self, beam: Beam, round: int) -> Steps:
        """Return the steps that may continue a beam."""
        known = beam.knowledge
        key = round, beam.counts, beam.wants, known.label, known.topic >= 0, known.group != 0, known.singles != 0
        found = self._known_steps.get(key)
        if found is None:
            found = self._known_steps[key] = self._find_steps(beam, round)
        return found

    def _find_steps(self, beam: Beam, round: int) -> Steps:
        known = beam.knowledge
        found: dict[int, tuple[Step, ...]] = defaultdict(tuple)
        for kind in kinds_after(known.label):
            counts = beam.counts if self.quotas.are_free else beam.counts.add(kind.family, kind.refers == NOTHING)
            if kind.has_referent(known) and self.can_finish(round, counts):
                gain, wants = self.quotas.gain(beam.wants, kind.label, known.label)
                found[gain + min(sum(wants), self.rounds - round)] += (Step(kind, counts, wants, gain),)
        return found

    def _can_finish(self, round: int, counts: RoundCounts) -> bool:
        """True if the quotas admit these counts after a round, and some way on to the end of the dialog.

        This takes every kind of round to have a question, whatever is known by then.
        """
        if round and not self.quotas.admits(round, counts):
            return False
        return (
            round == self.rounds
            or self.quotas.are_free
            or any(self.can_finish(round + 1, counts.add(*each)) for each in product(FAMILIES, (False, True)))
        )


def _refused(balance: AnswerBalance | None, known: Knowledge) -> Refused:
    if balance is None:
        return none_refused
    return balance.refused if known.singles else balance.refused_at_first


def play(scene: DialogScene, before: Knowledge, move: Move, round: int) -> tuple[Knowledge, RoundAnswer]:
    """Return what is known after a round, and its answer."""
    learner = Learner(scene, before, round)
    after = learner.after
    after.topic, after.group, after.described, after.is_sized, after.result = -1, 0, 0, False, 0
    after.label, after.move, after.is_alias = move.label, move, False
    learner.call(move.focus, 1 << move.descriptor if move.descriptor >= 0 else 0)
    outcome = ROUND_KINDS[move.label].learn(learner, move)
    return learner.conclude(), outcome


def _drawn(pairs: list[tuple[Beam, Step]], pick: Pick) -> Iterator[tuple[Beam, Step]]:
    """Yield the pairs in random order; the list is emptied."""
    while pairs:
        place = pick.below(len(pairs))
        pairs[place], pairs[-1] = pairs[-1], pairs[place]
        yield pairs.pop()


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


@dataclass
class SceneDialogs:
    """The dialogs of a scene."""

    records: list[dict[str, Any]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    """Reason -> dialogs that it cost."""


@dataclass
class _Search:
    """The dialogs of one scene while they are searched for."""

    scene: DialogScene
    rng: Random
    pick: Pick
    balance: AnswerBalance
    captions: set[Caption] = field(default_factory=set)
    """The captions of the dialogs found."""
    prefixes: set[Prefix] = field(default_factory=set)
    """The first rounds of the dialogs found."""


class DialogGenerator:
    """Makes the dialogs of scenes. Everything here is the same for all scenes of a run."""

    def __init__(self, loaded: LoadedDialogDomain, settings: DialogSettings, quotas: Quotas) -> None:
        self.settings = settings
        self.vocabulary = loaded.vocabulary
        self._wordings = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary)
        self._quotas = quotas
        free, rounds = replace(PRESETS["none"], wanted=quotas.wanted, repeated=quotas.repeated), settings.rounds
        searches = (quotas, BEAMS), (quotas, BEAMS * WIDER), (free, BEAMS * WIDER)
        self._beam_searches = [DialogSearch(each, rounds, beams) for each, beams in searches]

    def balance(self, first: int) -> AnswerBalance:
        """Return the balance of a window before its first scene, which has the index `first`."""
        return AnswerBalance(self.vocabulary, self.settings.seed, first)

    def dialogs(self, scene: Scene, balance: AnswerBalance) -> SceneDialogs:
        """Return the dialogs of a scene, and why some are missing; their answers are added to the balance."""
        if any(name not in scene.related for name in self.vocabulary.relations):
            return SceneDialogs(failures=Counter({NO_RELATIONS: self.settings.dialogs_per_image}))
        table, rng = DialogScene(scene, self.vocabulary), stream(self.settings.seed, "dialogs", scene.index)
        words = stream(self.settings.seed, "dialog words", scene.index)  # so that templates do not change what is asked
        search, made = _Search(table, rng, Pick(rng), balance), SceneDialogs()
        for category in self._categories(rng):
            found = self._found(category, search)
            if isinstance(found, str):
                made.failures[found] += 1
                continue
            caption, start, beam, is_relaxed = found
            search.captions.add(caption)
            search.prefixes.add(beam.prefix)
            for _, move, outcome, _ in beam.rounds():
                balance.add(move, outcome.answer)
            place = {"dialog_index": 0, "scene_index": scene.index, "dialog": len(made.records)}
            record = Annotator(table, self._wordings.dialog(words), words).dialog(caption, start, beam.rounds())
            made.records.append({**place, **({"relaxed": True} if is_relaxed else {}), **record})
        return made

    def _categories(self, rng: Random) -> list[str]:
        """Return the categories of captions to begin with: one of each, then any."""
        names, wanted = list(CATEGORIES), self.settings.dialogs_per_image
        first = shuffled(rng, names)[:wanted]
        return first + [names[int(rng.random() * len(names))] for _ in range(wanted - len(first))]

    def _found(self, category: str, search: _Search) -> tuple[Caption, Knowledge, Beam, bool] | str:
        """Return a dialog as (caption, what it tells, rounds, whether only without quotas), or why there is none.

        Other captions are tried first, then more beams with any answers, then those without quotas.
        """
        reason = NO_CAPTION
        for beams, tries in zip(self._beam_searches, (TRIES, WIDER_TRIES, WIDER_TRIES // 2), strict=True):
            balance = search.balance if beams is self._beam_searches[0] else None
            for number in range(tries):
                caption = self._caption(category if number < tries / 2 else None, search)
                if caption is None:
                    continue
                reason = TOO_FEW_QUESTIONS
                start = knowledge_after(caption, search.scene)
                planned = Beam(start, wants=self._plan(search.pick))
                beam = beams.find(search.scene, planned, search.rng, search.prefixes, balance)
                if beam is not None:
                    return caption, start, beam, beams is self._beam_searches[-1]
        return reason

    def _plan(self, pick: Pick) -> Wants:
        """Draw the rounds that a dialog should have."""
        return tuple(each.most - each.spared[pick.below(len(each.spared))] for each in self._quotas.wanted)

    def _caption(self, category: str | None, search: _Search) -> Caption | None:
        """Draw a caption, of any category if None is given or has none; one that is new if that is easy."""
        order: Sequence[str] = shuffled(search.rng, list(CATEGORIES))
        for name in order if category is None else (category, *order):
            drawn = None
            for _ in range(FRESH):
                drawn = CATEGORIES[name](search.scene, search.pick)
                if drawn is None or drawn not in search.captions:
                    break
            if drawn is not None:
                return drawn
        return None
