"""Baselines that run each question's program: on its own scene, on other scenes, and on imagined ones.

oracle        its own scene
noisy-oracle  its own scene, of which some values were misread
wrong-image   other scenes of the file
scene-blind   scenes whose attributes were drawn independently

A run may have no answer, as when `unique` finds two objects; such runs are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, counted
from vqagen.files.locations import Location
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question_files import read_questions
from vqagen.language.question_records import release_answer
from vqagen.plugin import Undefined
from vqagen.rng import below, shuffled, stream
from vqagen.score.gold.item import GoldItem
from vqagen.score.scene_lookup import HeldScenes, QuestionFault, SceneNames
from vqagen.shortcuts.baselines.imagined_scenes import marginal_scene, misread_scene
from vqagen.shortcuts.baselines.learning_task import Guess, LearningTask, credit
from vqagen.world.loading import SceneSource, load_scenes
from vqagen.world.scene import Scene

BATCH = 2000
"""Questions whose scenes are held at once."""
POOL = 1000
"""Other scenes that programs are run on at most: they stay in memory."""
SHOWN = 5
"""Faulty questions that a message lists."""


@dataclass
class Executed:
    """The guesses of a baseline that runs programs, and how many of its runs there were."""

    guesses: list[Guess] = field(default_factory=list)
    runs: int = 0
    invalid: int = 0
    """Runs without an answer."""

    def notes(self) -> str:
        """Return the numbers of runs, for people."""
        return f"runs without an answer: {self.invalid:,} of {self.runs:,}" if self.invalid else ""


class _Asked(NamedTuple):
    """A question with its program and its scene."""

    place: int
    item: GoldItem
    program: Program
    scene: Scene


class ProgramRunner:
    """The programs of a question file and the scenes that they are about."""

    def __init__(self, questions: Location, scenes: SceneSource, catalogue: Catalogue, split: str = "") -> None:
        """Take the questions of a split, or all of a file."""
        self._questions, self._scenes, self._catalogue, self._split = questions, scenes, catalogue, split
        self._names = SceneNames(scenes)
        self._programs: dict[str, Program | str] = {}

    def oracle(self, learning: LearningTask) -> Executed:
        """Run each program on its own scene."""
        return self._run_alone(learning, lambda scene: scene)

    def noisy_oracle(self, learning: LearningTask, rate: float) -> Executed:
        """Run each program on its own scene, of which values were misread at a rate: once for each scene."""
        misread: dict[int, Scene] = {}

        def seen(scene: Scene) -> Scene:
            if scene.index not in misread:
                if len(misread) >= BATCH:
                    misread.clear()
                rng = stream(learning.seed, "noisy-oracle", scene.index)
                misread[scene.index] = misread_scene(scene, self._catalogue.domain, rate, rng)
            return misread[scene.index]

        return self._run_alone(learning, seen)

    def wrong_image(self, learning: LearningTask, runs: int) -> Executed:
        """Run each program on other scenes of the file, `runs` of them, and answer as the first that has an answer.

        The expected value is the share of the runs with an answer that give the right one.
        """
        pool, done = self._pool(learning.seed), Executed()
        for asked in self._asked(learning):
            rng = stream(learning.seed, "wrong-image", asked.place)
            others = [scene for scene in _sample(pool, runs + 1, rng) if scene.index != asked.scene.index][:runs]
            answers = [text for scene in others if (text := _run(asked.program, scene)) is not None]
            done.runs += len(others)
            done.invalid += len(others) - len(answers)
            done.guesses.append(_drawn_guess(learning, asked.item, answers))
        return done

    def scene_blind(self, learning: LearningTask, runs: int) -> Executed:
        """Run each program on imagined scenes, `runs` of them, and answer as most of them do."""
        pool, done = self._pool(learning.seed), Executed()
        rng = stream(learning.seed, "scene-blind")
        imagined = [marginal_scene(pool, self._catalogue.domain, rng) for _ in range(runs)]
        known: dict[Program, tuple[list[str], int]] = {}
        for asked in self._asked(learning):
            if asked.program not in known:
                found = [text for scene in imagined if (text := _run(asked.program, scene)) is not None]
                ranked = sorted(Counter(found).items(), key=lambda each: (-each[1], each[0]))
                known[asked.program] = [text for text, _ in ranked], runs - len(found)
            candidates, invalid = known[asked.program]
            done.runs += runs
            done.invalid += invalid
            done.guesses.append(learning.sure(asked.place, _allowed(candidates, asked.item)))
        return done

    def _run_alone(self, learning: LearningTask, seen: Callable[[Scene], Scene]) -> Executed:
        done = Executed()
        for asked in self._asked(learning):
            text = _run(asked.program, seen(asked.scene))
            done.runs += 1
            done.invalid += text is None
            done.guesses.append(learning.sure(asked.place, () if text is None else (text,)))
        return done

    def _pool(self, seed: int) -> list[Scene]:
        """Return all scenes, or POOL of them."""
        count = len(self._names)
        chosen = set(shuffled(stream(seed, "pool"), range(count))[:POOL])
        if len(chosen) < 2:
            raise BadInput([Problem("only one scene: programs are to be run on other scenes", str(self._scenes.path))])
        return [scene for scene in load_scenes(self._scenes, self._catalogue.domain) if scene.index in chosen]

    def _asked(self, learning: LearningTask) -> Iterator[_Asked]:
        """Yield the questions with their programs and scenes. BadInput with all questions that lack one of them."""
        held, faults = HeldScenes(self._scenes, self._catalogue.domain), _Faults(str(self._questions))
        records = read_questions(self._questions)
        chosen = (record for record in records if not self._split or record.get("split") == self._split)
        stream_of = enumerate(zip(learning.items, chosen, strict=True))
        while batch := list(islice(stream_of, BATCH)):
            places = [self._names.place_of(record) for _, (_, record) in batch]
            held.hold({place for place in places if isinstance(place, int)})
            for (place, (item, record)), found in zip(batch, places, strict=True):
                program = self._program(record)
                if isinstance(found, QuestionFault) or isinstance(program, str):
                    faults.add(place, found.problem if isinstance(found, QuestionFault) else str(program))
                elif not faults.count:
                    yield _Asked(place, item, program, held[found])
        faults.raise_any()

    def _program(self, record: Any) -> Program | str:
        """Return the program of a question, or the fault in it; equal programs are read once."""
        written = record.get("program")
        key = repr(written)
        if key not in self._programs:
            try:
                self._programs[key] = Program.from_records(written, self._catalogue)
            except BadInput as error:
                self._programs[key] = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        return self._programs[key]


class _Faults:
    """Questions that cannot be run."""

    def __init__(self, source: str) -> None:
        self.count = 0
        self._source = source
        self._problems: list[Problem] = []

    def add(self, place: int, message: str) -> None:
        self.count += 1
        if len(self._problems) < SHOWN:
            self._problems.append(Problem(message, self._source, f"questions[{place}]"))

    def raise_any(self) -> None:
        if more := self.count - len(self._problems):
            self._problems.append(Problem(f"and {counted(more, 'other question')} that cannot be run", self._source))
        if self._problems:
            raise BadInput(self._problems)


def _run(program: Program, scene: Scene) -> str | None:
    """Return the answer of a program in a scene; None if there is none."""
    try:
        return release_answer(program.run(scene))
    except Undefined:
        return None


def _sample(scenes: Sequence[Scene], number: int, rng: Any) -> list[Scene]:
    """Return different scenes, all of them if there are no more."""
    if number >= len(scenes):
        return shuffled(rng, scenes)
    chosen: dict[int, None] = {}
    while len(chosen) < number:
        chosen[below(rng, len(scenes))] = None
    return [scenes[place] for place in chosen]


def _drawn_guess(learning: LearningTask, item: GoldItem, answers: Sequence[str]) -> Guess:
    answers = _allowed(answers, item)
    candidates = list(dict.fromkeys(answers))[: learning.top_k]
    share = sum(credit([text], item) for text in answers) / len(answers) if answers else 0.0
    return Guess(tuple(candidates), share)


def _allowed(answers: Sequence[str], item: GoldItem) -> Sequence[str]:
    """Return the answers that are among the options; all of them if there are no options, or none is."""
    options = {option.lower() for option in item.options}
    return [answer for answer in answers if answer.lower() in options] or answers
