"""A question family: a template made ready to generate, from its search to the finished question.

Also what every window keeps: its scenes with what is known of each, and how often each family was used.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from vqagen.language.program import Program
from vqagen.language.question import Mention, Question
from vqagen.language.sentence import Marked, mention_spans
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.wording import Style, Wording, words_differ
from vqagen.rng import stream
from vqagen.search.balance import FamilyBalance
from vqagen.search.degeneracy import UNTESTED
from vqagen.search.description import Sampling
from vqagen.search.instantiate import Filling, Search
from vqagen.search.plan import make_plan
from vqagen.search.state import SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.search.worded import balance_of
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.scene import Scene

PATIENCE = 24
"""Failures in a row after which a family is not tried in each scene any more: if it has made no question at all, as 18
of CLEVR's 90 have none about three objects, or no pair for so long. With 8, hard ones of CLEVR starve in windows of 70
scenes."""


class Subject:
    """A scene that is asked about."""

    __slots__ = ("rng", "scene", "tables")

    def __init__(self, scene: Scene, tables: SceneTables, rng: Random) -> None:
        """`rng`: its own stream, from which everything about it is drawn."""
        self.scene, self.tables, self.rng = scene, tables, rng


def subject_of(scene: Scene, seed: int) -> Subject:
    """Return a scene as one to ask about, of which nothing is known or drawn yet."""
    return Subject(scene, SceneTables(scene), stream(seed, "questions", scene.index))


class FamilyUses:
    """How often each family was used in a window: the least used ones come first."""

    def __init__(self, families: int, are_shuffled: bool) -> None:
        """`are_shuffled`: families used equally often come in random order, and not in that of their files."""
        self._uses: list[float] = [0] * families
        self.failures = [0] * families
        """How often each family failed since it was used last."""
        self._keys = self._uses.copy()
        self._are_shuffled = are_shuffled

    def order(self, rng: Random) -> list[int]:
        """Return the numbers of all families, those first that are to be tried first."""
        keys, random = self._keys, rng.random
        if self._are_shuffled:
            keys = [key + random() for key in keys]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def add(self, number: int) -> None:
        """Count one use of a family."""
        self._uses[number] += 1
        self.failures[number] = 0
        self._keys[number] = self._uses[number]

    def is_unused(self, number: int) -> bool:
        """True if a family was never used."""
        return not self._uses[number]

    def fail(self, number: int) -> None:
        """Count a failure; after `PATIENCE` in a row each counts as two uses, until the family succeeds."""
        self.failures[number] += 1
        if self.failures[number] > PATIENCE:
            self._keys[number] += 2


class FamilyAnswers:
    """The answers that each family gave in a window, counted from when a family is first tried."""

    def __init__(
        self,
        families: Mapping[int, Family],
        balance: str,
        coins: Callable[[str], Random] | None = None,
        takes_all: bool = False,
    ) -> None:
        """`balance`: that of the settings. `coins`: family id -> what its counts start by; without, at 0."""
        self._families, self._balance, self._coins, self._takes_all = families, balance, coins, takes_all
        self._counts: dict[int, FamilyBalance] = {}
        self._largest = 0

    def __getitem__(self, number: int) -> FamilyBalance:
        counts = self._counts.get(number)
        if counts is None:
            plan = self._families[number].plan
            coins = self._coins(plan.template.id) if self._coins else None
            counts = self._counts[number] = balance_of(plan, self._balance, coins, self._takes_all)
            counts.meet(self._largest)
        return counts

    def meet(self, size: int) -> None:
        """Let the counts know of a scene with so many objects: how far there is to count."""
        if size > self._largest:
            self._largest = size
            for counts in self._counts.values():
                counts.meet(size)


class Family:
    """A template made ready to generate: its plan, search and wording, and what is known of them.

    A run of a few scenes needs few of its families: 20 of 90 for two scenes. So each is made when it is first tried.
    """

    def __init__(
        self,
        template: Template,
        synonyms: Synonyms,
        vocabularies: Vocabularies,
        settings: QuestionSettings,
        marks: bool = False,
    ) -> None:
        """`marks`: whether questions tell where their text mentions objects; it changes nothing else."""
        self.template, self.marks, self.is_compat = template, marks, settings.is_compat
        sampling = Sampling(absent="any") if self.is_compat else Sampling(shortens=True)
        style = Style(mixed_words=True, most_words=sys.maxsize, joins_anything=False) if self.is_compat else Style()
        self.plan = make_plan(template, vocabularies, sampling)
        self.search = Search(self.plan, settings.degeneracy)
        self.wording = Wording(template, synonyms, style)
        asked = template.last_function
        self.needs_relations = asked.asks not in UNTESTED
        """True if each of its relations must matter wherever it is asked: not where it asks for yes or no of sets."""
        self.asks_how_many = not {"ObjectSet", "Integer", "Bool"}.isdisjoint(asked.inputs)
        """True if the answer goes with how many objects there are: that of sets and numbers, not of objects' values."""

    def question(
        self, scene: Scene, filling: Filling, random: Callable[[], float], program: Program | None = None
    ) -> Question:
        """Return a filling as a question, worded by random draws. `program` is the filling's, where it is known."""
        words, wording = filling.words(), self.wording
        keep_other = True
        if wording.mentions_other and self.is_compat:
            keep_other = not words_differ(self.template, words)
        elif wording.mentions_other:  # it is said when the anchor itself fits what is described
            keep_other = filling.needs_other() is not False
        if self.marks:
            marked = wording.say_marked(words, random, keep_other)
            text, mentions = marked.text, tuple(sorted(_mentions(marked, filling)))
        else:
            text, mentions = wording.say(words, random, keep_other), ()
        return Question(scene, self.template, text, program or filling.program(), filling.answer, words, mentions)


def _mentions(marked: Marked, filling: Filling) -> Iterator[Mention]:
    described = filling.described()
    spans_of = mention_spans(marked, [slots for slots, _ in described])
    for spans, (_, objects) in zip(spans_of, described, strict=True):
        yield from (Mention(start, end, objects) for start, end in spans)


@dataclass
class QuestionTally:
    """Questions made and, for every failed try, its reason."""

    scenes: int = 0
    short_scenes: int = 0
    """Scenes for which too few templates succeeded; with pairs, scenes that have too few questions."""
    parted_pairs: int = 0
    """Questions whose partner is about a scene outside the run."""
    questions: Counter[str] = field(default_factory=Counter)
    tries: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def families(self) -> list[str]:
        """The families tried, and those of pairs that a scene of another shard began."""
        return list(dict.fromkeys([*self.tries, *self.questions]))

    def failures_of(self, family: str) -> Counter[str]:
        """Why tries of one template failed."""
        return Counter({reason: count for (name, reason), count in self.failures.items() if name == family})

    def add(self, other: QuestionTally) -> None:
        """Count what another tally counted as well."""
        for counter in ("questions", "tries", "failures"):
            getattr(self, counter).update(getattr(other, counter))
        self.scenes += other.scenes
        self.short_scenes += other.short_scenes
        self.parted_pairs += other.parted_pairs

    def take(self) -> dict[str, Any]:
        """Return the counts as JSON, and start again from zero."""
        record = self.to_record()
        self.scenes = self.short_scenes = self.parted_pairs = 0
        self.questions, self.tries, self.failures = Counter(), Counter(), Counter()
        return record

    def to_record(self) -> dict[str, Any]:
        """For JSON. Families and reasons stay in the order in which they came up."""
        return {
            "scenes": self.scenes,
            "short_scenes": self.short_scenes,
            "parted_pairs": self.parted_pairs,
            "questions": dict(self.questions),
            "tries": dict(self.tries),
            "failures": [[family, reason, count] for (family, reason), count in self.failures.items()],
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> QuestionTally:
        """The tally that gave the record."""
        counters = {name: Counter[str](record[name]) for name in ("questions", "tries")}
        failures = Counter({(family, reason): count for family, reason, count in record["failures"]})
        return QuestionTally(**{**record, **counters, "failures": failures})
