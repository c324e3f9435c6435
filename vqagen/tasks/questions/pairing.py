"""Pairs: each question is asked about two scenes of a window, with different answers.

Whatever is read in the words of a question alone is the same for both of a pair, so it cannot tell their answers apart
(as the complementary pairs of VQA v2, Goyal et al. 2017, which people found; here they follow from the scenes). In the
other scene all that the question presupposes holds as well. For each relation of the program, at least one of the two
scenes answers differently without it: whoever ignores a relation gets a pair wrong.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.rng import shuffled
from vqagen.search.filling import FOUND, REPEATED, UNBALANCED, Filling
from vqagen.search.pool import Pool
from vqagen.search.tables import SceneTables
from vqagen.tasks.questions.exclusion import TRIES, Exclusion, Screen
from vqagen.tasks.questions.family import Family, FamilyAnswers, FamilyUses, subject_of
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.tasks.questions.tally import Tally
from vqagen.world.scene import Scene

UNPAIRED = "no partner"
FILLINGS = 12
"""Fillings of a template for which a partner is sought before the template gives up on a scene. Of the hardest shipped
template, three_hop, one in three finds one."""
CHECKED = 6
"""Scenes with one answer that are looked at closely: whether the constraints hold there too. Four in five do."""


class _Side(NamedTuple):
    """One scene of a pair, by its place in the window, and the filling for it."""

    place: int
    filling: Filling


@dataclass
class _Asked:
    """One question of a pair."""

    question: Question
    pair: int
    """The number of its pair, in the order in which the window's pairs were made."""
    other: int
    """The place of the other scene."""


class PairedWindow:
    """All questions of one window: every scene begins pairs in turn, with the templates used least."""

    def __init__(
        self,
        settings: QuestionSettings,
        families: Sequence[Family],
        exclusion: Exclusion | None,
        scenes: Sequence[Scene],
    ) -> None:
        self.settings, self.families = settings, families
        self.subjects = [subject_of(scene, settings.seed) for scene in scenes]
        self.pool = Pool(scenes, families[0].template.catalogue)
        self.taken = np.zeros(len(scenes), np.int64)
        """How often each scene was taken as a partner."""
        self.uses = FamilyUses(len(families), not settings.is_compat)
        self.answers = FamilyAnswers(families, by_words=True)
        self.answers.meet(max((scene.size for scene in scenes), default=0))
        self.asked: list[list[_Asked]] = [[] for _ in scenes]
        self.picked: defaultdict[tuple[int, int], set[Any]] = defaultdict(set)
        """(family, place of the scene) -> what was picked in the questions about it."""
        screens = [Screen(settings.dedupe, exclusion) for _ in scenes]
        self.screens = screens if settings.dedupe == "image" else screens[:1] * len(scenes)
        self.pairs = 0

    def questions(self, tally: Tally, first: int) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield the scenes from index `first` to the end of the run with their questions; count each as it is yielded.

        The run may have scenes before `first`, which are counted already: it was resumed.
        """
        start, end = self.settings.start_index, self.settings.end or sys.maxsize
        tallies = [self.begin_pairs(place) for place in range(len(self.subjects))]
        numbers = self._numbered()
        for place, subject in enumerate(self.subjects):
            scene = subject.scene
            if first <= scene.index < end:
                asked = self.asked[place]
                tally.add(tallies[place])
                for each in asked:
                    tally.questions[each.question.template.id] += 1
                others = [self.subjects[each.other].scene.index for each in asked]
                tally.parted_pairs += sum(1 for index in others if not start <= index < end)
                yield scene, [replace(each.question, pair=numbers[each.pair]) for each in asked]

    def _numbered(self) -> dict[int, int]:
        """Put the questions of each scene in random order; return pair -> its number, in the order of the output.

        Neither order nor number shows which of a pair came first.
        """
        first = self.subjects[0].scene.index * -(-self.settings.templates_per_image // 2) if self.subjects else 0
        numbers: dict[int, int] = {}
        for place, subject in enumerate(self.subjects):
            self.asked[place] = shuffled(subject.rng, self.asked[place])
            for each in self.asked[place]:
                numbers.setdefault(each.pair, first + len(numbers))
        return numbers

    def begin_pairs(self, place: int) -> Tally:
        """Begin half as many pairs as the scene shall have questions, the least used templates first; count tries."""
        scene, rng = self.subjects[place].scene, self.subjects[place].rng
        tables = SceneTables(scene)  # the subject's own stay empty: a window's filled tables would take 100 MB
        wanted = share_of(scene.index, self.settings.templates_per_image)
        tally = Tally(scenes=1)
        for number in self.uses.order(rng):
            if not wanted:
                break
            family = self.families[number]
            tally.tries[family.template.id] += 1
            reason = self.pair(number, place, tables)
            if reason == FOUND:
                self.uses.add(number)
                wanted -= 1
            else:
                tally.failures[family.template.id, reason] += 1
        tally.short_scenes += bool(wanted)
        return tally

    def pair(self, number: int, place: int, tables: SceneTables) -> str:
        """Make one pair of a family that begins with a scene; return FOUND, or why there is none."""
        family, answers = self.families[number], self.answers[number]
        rng, seen = self.subjects[place].rng, self.picked[number, place]
        if not self.free_others(place):
            return UNPAIRED
        failure = family.least_objects.refusal(self.subjects[place].scene.size, answers.refused)
        if failure:
            return failure
        for _ in range(FILLINGS):
            found = family.search.find(tables, rng, answers.refused, seen)
            filling, reason = found.filling, found.reason
            if filling is None:
                return failure if failure and reason == REPEATED else reason
            if answers.refuses(filling):
                failure = UNBALANCED
                continue
            program = filling.program()
            partner = self.partner(number, place, tables, filling, program)
            failure = UNPAIRED if partner is None else self.ask(number, program, _Side(place, filling), partner)
            if failure == FOUND:
                return FOUND
        return failure

    def ask(self, number: int, program: Program, *sides: _Side) -> str:
        """Word the question for both scenes; return FOUND, or why it is not wanted about one of them."""
        family, questions = self.families[number], []
        for place, filling in sides:
            question, refusal = self.worded(family, place, filling, program)
            if question is None:
                return refusal
            questions.append(question)
        (first, filling), (second, other) = sides
        for each, place, elsewhere in zip(questions, (first, second), (second, first), strict=True):
            self.asked[place].append(_Asked(each, self.pairs, elsewhere))
        self.picked[number, second].add(other.picked)
        self.taken[second] += 1
        self.pairs += 1
        self.answers[number].add(filling)
        self.answers[number].add(other)
        return FOUND

    def worded(self, family: Family, place: int, filling: Filling, program: Program) -> tuple[Question | None, str]:
        """Return the question in a wording that the screen lets pass, or why there is none."""
        subject = self.subjects[place]
        refusal = ""
        for _ in range(TRIES):
            question = family.question(subject.scene, filling, subject.rng.random, program)
            refusal = self.screens[place].refusal(question)
            if not refusal:
                return question, ""
        return None, refusal

    # Partners --------------------------------------------------------------------------------------------------------

    def partner(self, number: int, place: int, tables: SceneTables, filling: Filling, program: Program) -> _Side | None:
        """Find the other scene for a filling; None if there is none.

        Of the answers to be had it gives the one used least, and of the scenes with that answer it is the one that was
        taken least.
        """
        family = self.families[number]
        idle = family.replay.idle(tables, filling)
        for other in self.candidates(number, place, filling, program, idle):
            taken_over = self.taken_over(number, other, filling, idle)
            if taken_over is not None:
                return _Side(other, taken_over)
        return None

    def candidates(
        self, number: int, place: int, filling: Filling, program: Program, idle: Sequence[int]
    ) -> Iterator[int]:
        """Yield the scenes that may be the partner, the best first."""
        counts = self.answers[number]
        run = self.pool.run(program)
        if run is None:
            yield from self.candidates_one_by_one(number, place, filling, idle)
            return
        fits = run.answered & (run.answers != run.answers[place]) & (self.taken < self.settings.templates_per_image)
        relations = program.relations if idle else []
        for each in idle:
            fits &= run.needs(relations[each])
        places = np.flatnonzero(fits)
        places = places[np.lexsort(((places - place) % len(self.subjects), self.taken[places]))]
        answers = run.answers[places]
        found = np.unique(answers).tolist()
        found.sort(key=lambda answer: counts.used(filling, self.pool.answer(program, answer)))
        for answer in found:
            yield from places[answers == answer][:CHECKED].tolist()

    def candidates_one_by_one(self, number: int, place: int, filling: Filling, idle: Sequence[int]) -> Iterator[int]:
        """Yield the same for a program that cannot be run on all scenes at once."""
        found = []
        for other in range(len(self.subjects)):
            if other != place and self.taken[other] < self.settings.templates_per_image:
                taken_over = self.taken_over(number, other, filling, idle)
                if taken_over is not None:
                    used = self.answers[number].used(filling, taken_over.answer)
                    found.append((used, int(self.taken[other]), (other - place) % len(self.subjects), other))
        return (other for _, _, _, other in sorted(found))

    def taken_over(self, number: int, other: int, filling: Filling, idle: Sequence[int]) -> Filling | None:
        """Return the filling taken over to another scene; None if that makes no pair."""
        family, tables = self.families[number], self.subjects[other].tables
        taken_over = family.replay.filling(tables, filling.picked)
        if taken_over is None or taken_over.answer == filling.answer:
            return None
        if taken_over.picked in self.picked[number, other] or taken_over.anchor_fits() != filling.anchor_fits():
            return None
        if taken_over.coinciding() != filling.coinciding():
            return None
        if idle and not set(idle).isdisjoint(family.replay.idle(tables, taken_over)):
            return None
        return taken_over

    def free_others(self, place: int) -> int:
        """Return how many other scenes may still be a partner."""
        free = self.taken < self.settings.templates_per_image
        return int(free.sum() - free[place])


def share_of(index: int, wanted: int) -> int:
    """Return how many pairs a scene begins, so that on average each scene has `wanted` questions.

    >>> [share_of(index, 5) for index in range(4)]
    [2, 3, 2, 3]
    """
    return (index + 1) * wanted // 2 - index * wanted // 2
