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
from itertools import islice
from typing import Any

from vqagen.bits import union
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.language.template import Template
from vqagen.rng import shuffled, stream
from vqagen.search.description import Pick
from vqagen.search.instantiate import Filling
from vqagen.search.plan import Op, ProgramWriter
from vqagen.search.state import FOUND, UNSUITED, SceneTables, SearchState
from vqagen.search.vocabulary import Memo
from vqagen.tasks.questions.exclusion import TRIES, Exclusion, Screen
from vqagen.tasks.questions.family import Family, FamilyAnswers, FamilyUses, QuestionTally, subject_of
from vqagen.tasks.questions.pool import Column, Lanes, ScenePool
from vqagen.tasks.questions.replay import coinciding, replay
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.scene import Scene

FILLINGS = 7
"""Fillings of a template for which a partner is sought before the template gives up on a scene; one more for each scene
in a row on which it gave up, or hard templates starve: with 8 always, three_hop may make 14 questions where others make
28."""
TABLES = 125_000
"""Pairs of objects of the scenes whose filled tables are kept. Those of 1,000 scenes of ten objects take 60 MB."""
LEAST = 20
"""Scenes of a window with one number of objects below which they join those with the next larger one. Of 60 scenes
asked whether there is something, all get ten questions; with 10, four do not."""
CHECKED = 20
"""Scenes with one answer that are looked at closely: whether the constraints hold there too. Half of them do."""


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
        self.subjects = [subject_of(scene, settings.seed) for scene in scenes]
        largest = max((scene.size for scene in scenes), default=0)
        self.tables: Memo[int, SceneTables] = Memo(
            lambda place: SceneTables(scenes[place]), TABLES // (largest + 1) ** 2
        )
        self.turns = shuffled(stream(settings.seed, "turns", scenes[0].index), range(len(scenes))) if scenes else []
        self.everyone = _Partners(self.turns, scenes, templates[0].catalogue, settings.templates_per_image)
        self.alike: dict[int, _Partners] = {}
        """Place of a scene -> the scenes of as many objects."""
        for places in alike([scene.size for scene in scenes], self.turns):
            partners = _Partners(places, scenes, templates[0].catalogue, settings.templates_per_image)
            self.alike |= dict.fromkeys(places, partners)
        self.had = [0] * len(scenes)
        """How many questions each scene has, those of pairs that it began and that it joined."""
        self.uses = FamilyUses(len(templates), not settings.is_compat)
        self.answers = FamilyAnswers(families, settings.balance)
        self.answers.meet(largest)
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
                left.sort(key=self.had.__getitem__)  # else one scene may need two when nobody is left to join it
        for tally, had in zip(tallies, self.had, strict=True):
            tally.short_scenes += had < self.settings.templates_per_image
        return tallies

    def begins(self, place: int, tried: set[int], tally: QuestionTally) -> bool:
        """Begin one pair if the scene has too few questions, of the family used least that it has not tried.

        Returns False if there is none.
        """
        if self.had[place] >= self.settings.templates_per_image:
            return False
        for number in self.uses.order(self.subjects[place].rng):
            if number in tried:
                continue
            tried.add(number)
            family = self.families[number]
            tally.tries[family.template.id] += 1
            reason = self.pair(number, place)
            if reason == FOUND:
                self.uses.add(number)
                self.begun[place].add(number)
                return True
            if reason == UNSUITED:
                self.uses.fail(number)
            tally.failures[family.template.id, reason] += 1
        return False

    def pair(self, number: int, place: int) -> str:
        """Make one pair of a family that begins with a scene; return FOUND, or why there is none."""
        family, partners = self.families[number], self.partners(number, place)
        others = partners.others(place)
        if not others:
            return UNSUITED
        plan, stages = family.plan, family.plan.stages
        begun = [_Beginning(ProgramWriter(), plan.prelude, (), partners.pool, others)] * (1 + len(stages))
        left, failure, partner = FILLINGS + self.uses.failures[number], "", None

        def suits(state: SearchState, depth: int) -> bool:
            """True if a beginning is good for another scene; if a whole filling has a partner, or is the last one."""
            nonlocal left, partner
            if depth:
                begun[depth] = begun[depth - 1].after(stages[depth - 1].ops, state.picked)
            if depth < len(stages) or not begun[depth].others:
                return begun[depth].others != 0
            left -= 1
            filling = Filling(plan, tuple(state.picked), tuple(state.values))
            partner = self.partner(number, place, filling, begun[depth])
            return partner is not None or left <= 0

        while left > 0:
            rng, seen = self.subjects[place].rng, self.picked[number, place]
            found = family.search.find(self.tables[place], rng, self.answers[number], seen, suits=suits)
            if found.filling is None:
                return failure or found.reason
            failure = UNSUITED if partner is None else self.ask(number, (place, found.filling), partner)
            if failure == FOUND:
                return FOUND
        return failure

    def ask(self, number: int, *sides: _Side) -> str:
        """Word the question for both scenes; return FOUND, or why it is not wanted about one of them."""
        family, questions, program = self.families[number], list[Question](), sides[0][1].program()
        for place, filling in sides:
            question, refusal = self.worded(family, place, filling, program)
            if question is None:
                return refusal
            questions.append(question)
        (first, filling), (second, other) = sides
        for each, place, elsewhere in zip(questions, (first, second), (second, first), strict=True):
            self.asked[place].append(_PairQuestion(each, self.pairs, elsewhere))
            self.everyone.count(place, self.had[place])
            self.alike[place].count(place, self.had[place])
            self.had[place] += 1
        self.picked[number, second].add(other.picked)
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

    def partner(self, number: int, place: int, filling: Filling, program: _Beginning) -> _Side | None:
        """Find the other scene for a filling; None if there is none."""
        for other in self.candidates(number, place, filling, program):
            taken_over = self.taken_over(number, other, filling)
            if taken_over is not None:
                return other, taken_over
        return None

    def candidates(self, number: int, place: int, filling: Filling, program: _Beginning) -> Iterator[int]:
        """Yield the scenes that may be the partner, the best first.

        Of the answers to be had they give the one used least, and of the scenes with that answer they are those that
        have the fewest questions.
        """
        counts, said, partners = self.answers[number], filling.said(), self.partners(number, place)
        having = {
            answer: scenes & program.others
            for answer, scenes in program.columns[-1].values.items()
            if answer != filling.answer and scenes & program.others and not counts.refuses(answer, said)
        }
        others = union(having.values())
        needs_relations = self.families[number].needs_relations
        for relation in program.relations:
            if not others:
                return
            needing = partners.pool.needing(program.writer.steps, program.columns, relation)
            is_needed = needing & partners.mark(place)
            if needs_relations and not is_needed:
                return
            if needs_relations or not is_needed:
                others &= needing
        for answer in sorted(having, key=lambda answer: counts.used(answer, said)):
            yield from islice(partners.in_turn(place, having[answer] & others), CHECKED)

    def taken_over(self, number: int, other: int, filling: Filling) -> Filling | None:
        """Return the filling taken over to another scene; None if that makes no pair."""
        taken_over = replay(self.families[number].search, self.tables[other], filling.picked)
        if taken_over is None or taken_over.picked in self.picked[number, other]:
            return None
        if taken_over.needs_other() != filling.needs_other() or coinciding(taken_over) != coinciding(filling):
            return None
        return taken_over

    def partners(self, number: int, place: int) -> _Partners:
        """Return the scenes among which a family seeks the partner of a scene."""
        return self.alike[place] if self.families[number].asks_how_many else self.everyone


class _Partners:
    """Scenes of a window that find partners among themselves, in the order of their turns."""

    def __init__(self, places: Sequence[int], scenes: Sequence[Scene], catalogue: Catalogue, most: int) -> None:
        """`most`: how many questions a scene may have."""
        self.places, self.pool = places, ScenePool([scenes[place] for place in places], catalogue)
        self.lanes = {place: lane for lane, place in enumerate(places)}
        self.levels = [self.pool.everyone, *[0] * most]
        """The scenes that have so many questions."""

    def mark(self, place: int) -> Lanes:
        """Return one scene."""
        return self.pool.mark(self.lanes[place])

    def others(self, place: int) -> Lanes:
        """Return the other scenes that have too few questions."""
        return union(self.levels[:-1]) & ~self.mark(place)

    def in_turn(self, place: int, scenes: Lanes) -> Iterator[int]:
        """Yield the places of some scenes: those with the fewest questions first, then those whose turn is next."""
        for level in self.levels:
            for lane in self.pool.lanes(scenes & level, self.lanes[place]):
                yield self.places[lane]

    def count(self, place: int, had: int) -> None:
        """Count a question of a scene that had so many before."""
        self.levels[had] ^= self.mark(place)
        self.levels[had + 1] ^= self.mark(place)


class _Beginning:
    """What the beginning of a program gives in many scenes."""

    def __init__(
        self,
        before: ProgramWriter,
        ops: Sequence[Op],
        picked: Sequence[Pick],
        pool: ScenePool,
        others: Lanes,
        columns: Sequence[Column] = (),
    ) -> None:
        """Write `ops` behind a beginning that gives `columns`. `others`: the scenes that are asked for."""
        self.pool, self.writer = pool, ProgramWriter(before.steps, before.places)
        self.writer.write(ops, picked)
        self.columns = pool.run(self.writer.steps[len(columns) :], columns)
        self.others = others & pool.running(self.columns[len(columns) :])
        """The scenes that are left: in which all steps give something."""

    def after(self, ops: Sequence[Op], picked: Sequence[Pick]) -> _Beginning:
        """Return the beginning with the ops of one more stage."""
        return _Beginning(self.writer, ops, picked, self.pool, self.others, self.columns)

    @property
    def relations(self) -> list[int]:
        """The numbers of the nodes that go from an object to others: relations, and `same_…` functions."""
        return Program.of_steps(self.writer.steps, self.pool.catalogue).relations


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
