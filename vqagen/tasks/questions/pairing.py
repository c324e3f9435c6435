"""Pairs: each question is asked about two scenes of a window, with different answers.

Whatever is read in the words of a question alone is the same for both of a pair, so it cannot tell their answers apart
(as the complementary pairs of VQA v2, Goyal et al. 2017, which people found; here they follow from the scenes). In the
other scene all that the question presupposes holds as well. Both scenes answer differently, or not at all, without any
one of the relations of the program. Of questions whether there is any, or more, one of the two does: whoever ignores a
relation gets a pair wrong. Where the answer goes with how many objects there are, both scenes have equally many.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.language.template import Template
from vqagen.rng import shuffled, stream
from vqagen.search.filling import Filling
from vqagen.search.instantiate import Replay
from vqagen.search.pool import Pool
from vqagen.search.state import FOUND, REPEATED, SceneTables
from vqagen.search.vocabulary import Memo
from vqagen.tasks.questions.exclusion import TRIES, Exclusion, Screen
from vqagen.tasks.questions.family import Family, FamilyAnswers, FamilyUses, QuestionTally, subject_of
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.scene import Scene

UNPAIRED = "no partner"
FILLINGS = 12
"""Fillings of a template for which a partner is sought before the template gives up on a scene. Of the hardest shipped
template, three_hop, one in 20 finds one."""
LEAST = 20
"""Scenes of a window with one number of objects below which they join those with the next larger one. Of 60 scenes
asked whether there is something, all get ten questions; with 10, four do not."""
CHECKED = 6
"""Scenes with one answer that are looked at closely: whether the constraints hold there too. Four in five do."""


_Side = tuple[int, Filling]
"""One scene of a pair, by its place in the window, and the filling for it."""


@dataclass
class _PairQuestion:
    """One question of a pair."""

    question: Question
    pair: int
    """The number of its pair, in the order in which the window's pairs were made."""
    other: int
    """The place of the other scene."""


class PairedWindow:
    """All questions of one window, made in rounds: each scene that has too few begins one pair of a family.

    Scenes take turns in random order and seek partners in that order, so that nothing in the output shows who began.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        families: Mapping[int, Family],
        settings: QuestionSettings,
        exclusion: Exclusion | None,
        scenes: Sequence[Scene],
    ) -> None:
        """`families` are those of the templates by number; `exclusion` is what must not be asked."""
        self.families, self.settings = families, settings
        self.replays: Memo[int, Replay] = Memo(
            lambda number: Replay(families[number].plan, families[number].search.is_trivial), len(templates)
        )
        """Family -> what takes its fillings over to other scenes."""
        catalogue = templates[0].catalogue
        self.subjects = [subject_of(scene, settings.seed) for scene in scenes]
        self.turns = shuffled(stream(settings.seed, "turns", scenes[0].index), range(len(scenes))) if scenes else []
        self.everyone = _Partners(self.turns, scenes, catalogue)
        self.alike: dict[int, _Partners] = {}
        """Place of a scene -> the scenes of as many objects."""
        for places in alike([scene.size for scene in scenes], self.turns):
            self.alike |= dict.fromkeys(places, _Partners(places, scenes, catalogue))
        self.had = np.zeros(len(scenes), np.int64)
        """How many questions each scene has, those of pairs that it began and that it joined."""
        self.uses = FamilyUses(len(templates), not settings.is_compat)
        self.answers = FamilyAnswers(families, settings.balance)
        self.answers.meet(max((scene.size for scene in scenes), default=0))
        self.asked: list[list[_PairQuestion]] = [[] for _ in scenes]
        self.picked: defaultdict[tuple[int, int], set[Any]] = defaultdict(set)
        """(family, place of the scene) -> what was picked in the questions about it."""
        self.begun: list[set[int]] = [set() for _ in scenes]
        """The families of which each scene has begun a pair."""
        screens = [Screen(settings.dedupe, exclusion) for _ in scenes]
        self.screens = screens if settings.dedupe == "image" else screens[:1] * len(scenes)
        self.pairs = 0

    def questions(self, tally: QuestionTally, first: int) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield the scenes from index `first` to the end of the run with their questions; count each as it is yielded.

        The run may have scenes before `first`, which are counted already: it was resumed.
        """
        start, end = self.settings.start_index, self.settings.end or sys.maxsize
        tallies = self.ask_all()
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

    def ask_all(self) -> list[QuestionTally]:
        """Begin pairs, round by round, until each scene has its questions or no family is left; count tries.

        Then families that failed are tried once more: of a small window's last scenes, each needs that of few others.
        """
        tallies = [QuestionTally(scenes=1) for _ in self.subjects]
        for _ in range(2):
            tried = [set(begun) for begun in self.begun]
            left = self.turns
            while left:
                left = [place for place in left if self.begins(place, tried[place], tallies[place])]
        for tally, had in zip(tallies, self.had.tolist(), strict=True):
            tally.short_scenes += had < self.settings.templates_per_image
        return tallies

    def begins(self, place: int, tried: set[int], tally: QuestionTally) -> bool:
        """Begin one pair if the scene has too few questions, of the family used least that it has not tried.

        Returns False if there is none.
        """
        if self.had[place] >= self.settings.templates_per_image:
            return False
        tables = SceneTables(self.subjects[place].scene)  # a window's filled tables would take 100 MB
        for number in self.uses.order(self.subjects[place].rng):
            if number in tried:
                continue
            tried.add(number)
            family = self.families[number]
            tally.tries[family.template.id] += 1
            reason = self.pair(number, place, tables)
            if reason == FOUND:
                self.uses.add(number)
                self.begun[place].add(number)
                return True
            if reason == UNPAIRED:
                self.uses.fail(number)
            tally.failures[family.template.id, reason] += 1
        return False

    def pair(self, number: int, place: int, tables: SceneTables) -> str:
        """Make one pair of a family that begins with a scene; return FOUND, or why there is none."""
        family, answers = self.families[number], self.answers[number]
        rng, seen = self.subjects[place].rng, self.picked[number, place]
        if not self.free_others(number, place):
            return UNPAIRED
        failure = ""
        for _ in range(FILLINGS):
            found = family.search.find(tables, rng, answers, seen)
            filling, reason = found.filling, found.reason
            if filling is None:
                return failure if failure and reason == REPEATED else reason
            program = filling.program()
            partner = self.partner(number, place, tables, filling, program)
            failure = UNPAIRED if partner is None else self.ask(number, program, (place, filling), partner)
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
            self.asked[place].append(_PairQuestion(each, self.pairs, elsewhere))
        self.picked[number, second].add(other.picked)
        self.had[[first, second]] += 1
        self.pairs += 1
        self.answers[number].add(filling.answer, filling.said())
        self.answers[number].add(other.answer, other.said())
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

        Of the answers to be had it gives the one used least, and of the scenes with that answer it is the one that has
        the fewest questions.
        """
        family = self.families[number]
        replay = self.replays[number]
        idle = replay.idle(tables, filling)
        if family.needs_relations and idle:
            return None
        needed = range(len(replay)) if family.needs_relations else idle
        for other in self.candidates(number, place, filling, program, needed):
            taken_over = self.taken_over(number, other, filling, needed)
            if taken_over is not None:
                return other, taken_over
        return None

    def candidates(
        self, number: int, place: int, filling: Filling, program: Program, needed: Sequence[int]
    ) -> Iterator[int]:
        """Yield the scenes that may be the partner, the best first."""
        counts, group = self.answers[number], self.group(number, place)
        run = group.pool.run(program)
        if run is None:
            yield from self.candidates_one_by_one(number, place, filling, needed)
            return
        own, had = group.at[place], self.had[group.places]
        fits = run.answered & (run.answers != run.answers[own]) & (had < self.settings.templates_per_image)
        for each in needed:
            if fits.any():
                fits &= run.needs(program.relations[each])
        found = np.flatnonzero(fits)
        if not len(found):
            return
        found = found[np.lexsort(((found - own) % len(had), had[found]))]
        answers = run.answers[found]
        wanted = np.unique(answers).tolist()
        wanted.sort(key=lambda answer: counts.used(group.pool.answer(program, answer), filling.said()))
        for answer in wanted:
            yield from group.places[found[answers == answer][:CHECKED]].tolist()

    def candidates_one_by_one(self, number: int, place: int, filling: Filling, needed: Sequence[int]) -> Iterator[int]:
        """Yield the same for a program that cannot be run on all scenes at once."""
        found, group = [], self.group(number, place)
        for turn, other in enumerate(np.roll(group.places, -group.at[place]).tolist()):
            if turn and self.had[other] < self.settings.templates_per_image:
                taken_over = self.taken_over(number, other, filling, needed)
                if taken_over is not None:
                    used = self.answers[number].used(taken_over.answer, filling.said())
                    found.append((used, int(self.had[other]), turn, other))
        return (other for _, _, _, other in sorted(found))

    def taken_over(self, number: int, other: int, filling: Filling, needed: Sequence[int]) -> Filling | None:
        """Return the filling taken over to another scene; None if that makes no pair."""
        replay, tables = self.replays[number], self.subjects[other].tables
        taken_over = replay.filling(tables, filling.picked)
        if taken_over is None or taken_over.answer == filling.answer:
            return None
        if (
            self.answers[number].refuses(taken_over.answer, taken_over.said())
            or taken_over.picked in self.picked[number, other]
        ):
            return None
        if taken_over.needs_other() != filling.needs_other() or taken_over.coinciding() != filling.coinciding():
            return None
        if needed and not set(needed).isdisjoint(replay.idle(tables, taken_over)):
            return None
        return taken_over

    def group(self, number: int, place: int) -> _Partners:
        """Return the scenes among which a family seeks the partner of a scene."""
        return self.alike[place] if self.families[number].asks_how_many else self.everyone

    def free_others(self, number: int, place: int) -> int:
        """Return how many other scenes may still be a partner."""
        free = self.had[self.group(number, place).places] < self.settings.templates_per_image
        return int(free.sum()) - 1


class _Partners:
    """Scenes of a window that find partners among themselves, in the order of their turns."""

    def __init__(self, places: Sequence[int], scenes: Sequence[Scene], catalogue: Catalogue) -> None:
        self.places, self.pool = np.array(places, np.int64), Pool([scenes[place] for place in places], catalogue)
        self.at = {place: at for at, place in enumerate(places)}


def alike(sizes: Sequence[int], turns: Sequence[int], least: int = LEAST) -> list[list[int]]:
    """Return the scenes in groups of equally many objects, each in the order of the turns.

    A number that fewer than `least` scenes have makes no group of its own: it joins the next larger one, or the last.

    >>> alike([3, 4, 3, 5, 3], [0, 1, 2, 3, 4], least=2)
    [[0, 2, 4], [1, 3]]
    """
    groups: list[list[int]] = []
    group: list[int] = []
    for size in sorted(set(sizes)):
        group += [place for place in turns if sizes[place] == size]
        if len(group) >= least:
            groups.append(group)
            group = []
    if group:
        groups[-1:] = [[*(groups[-1] if groups else []), *group]]
    return groups
