"""Verification: every program of a question file is run on its scene again, and must give the written answer.

Questions and scenes are both read as streams. Scenes are looked up by image file name (by image index where a question
gives no name) and are read in step with the questions, so files of any size are checked in little memory; questions
in another order than the scenes cost further passes over the scenes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from vqagen.errors import BadInput, Problem, as_written
from vqagen.files.locations import Location
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.plugin import Undefined
from vqagen.records.question_files import read_questions
from vqagen.tasks.questions.records import image_index, same_answer
from vqagen.world.loading import SceneSource, load_scenes
from vqagen.world.scene import Scene

BATCH = 2000
"""Questions whose scenes are held at once."""
KEPT_MISMATCHES = 1000
"""Mismatches told one by one; further ones are only counted."""
Fault = tuple[str, str]
"""Kind and sentence."""
SceneKey = tuple[str, str]
"""How a question names its scene: `image_filename` or `image_index`, and what stands there."""


@dataclass(frozen=True)
class Mismatch:
    """One question that did not check out."""

    position: int
    """Its place in the file, from 0."""
    question_index: object
    image: str
    problem: str

    def __str__(self) -> str:
        return f"questions[{self.position}] (question_index {self.question_index}, {self.image}): {self.problem}"


@dataclass
class VerificationReport:
    """What a verification found."""

    checked: int = 0
    mismatched: int = 0
    by_problem: Counter[str] = field(default_factory=Counter)
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether every question checked out."""
        return self.mismatched == 0

    def add(self, mismatch: Mismatch, kind: str) -> None:
        """Count a mismatch, and keep it while there are not too many."""
        self.mismatched += 1
        self.by_problem[kind] += 1
        if len(self.mismatches) < KEPT_MISMATCHES:
            self.mismatches.append(mismatch)

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "checked": self.checked,
            "mismatched": self.mismatched,
            "by_problem": dict(self.by_problem),
            "mismatches": [vars(mismatch) for mismatch in self.mismatches],
        }


def verify_questions(
    questions: Location, scenes: SceneSource, catalogue: Catalogue, on_checked: Callable[[int], None] = lambda _: None
) -> VerificationReport:
    """Check every question of a file of either dialect; `on_checked` is told, now and then, how many more were."""
    report = VerificationReport()
    stream = enumerate(read_questions(questions))
    feed = _SceneFeed(scenes, catalogue)
    while batch := list(islice(stream, BATCH)):
        feed.hold({_scene_key(record) for _, record in batch})
        for position, record in batch:
            if position == 0 and record.keys().isdisjoint({"program", "answer"}):
                raise BadInput([Problem("neither programs nor answers, so nothing to verify", str(questions))])
            report.checked += 1
            fault = _scene_fault(record, feed) or _fault(record, feed.held[_scene_key(record)], catalogue)
            if fault:
                kind, problem = fault
                report.add(Mismatch(position, record.get("question_index"), _image_of(record), problem), kind)
        on_checked(len(batch))
    return report


def _scene_fault(record: Mapping[str, Any], feed: _SceneFeed) -> Fault | None:
    key = _scene_key(record)
    if key in feed.shared:
        return "several scenes", f"several scenes have this {key[0]}, so it is not known which one is meant"
    if key not in feed.held:
        return "no scene", "there is no scene of this image"
    return None


def _fault(record: Mapping[str, Any], scene: Scene, catalogue: Catalogue) -> Fault | None:
    try:
        program = Program.from_records(record.get("program"), catalogue)
    except BadInput as error:
        return "bad program", "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
    last = program.nodes[-1].function
    if not catalogue[last].asks:
        return "bad program", f"program[{len(program.nodes) - 1}]: {last} gives no answer"
    try:
        derived = program.run(scene)
    except Undefined as error:
        return "no answer", f"the program has no answer in this scene: {error}"
    if "answer" not in record:
        return "answer missing", f"no answer is written; the program gives {as_written(derived)}"
    if not same_answer(record["answer"], derived):
        written = as_written(record["answer"])
        return "wrong answer", f"the answer is written as {written}, but the program gives {as_written(derived)}"
    return None


def _image_of(record: Mapping[str, Any]) -> str:
    """For people."""
    if record.get("image_filename"):
        return str(record["image_filename"])
    index = record.get("image_index")
    return "no image named" if index is None else f"image_index {index}"


def _scene_key(record: Mapping[str, Any]) -> SceneKey:
    name = record.get("image_filename")
    return ("image_filename", str(name)) if name else ("image_index", str(record.get("image_index")))


def _keys_of(scene: Scene) -> list[SceneKey]:
    return [("image_filename", scene.image), ("image_index", str(image_index(scene)))]


class _SceneFeed:
    """Finds scenes by key while reading the source round and round, each time from where it stopped.

    held[key] — a scene; shared — keys that more than one scene was seen to have.
    """

    def __init__(self, source: SceneSource, catalogue: Catalogue) -> None:
        self.held: dict[SceneKey, Scene] = {}
        self.shared: set[SceneKey] = set()
        self._source, self._domain = source, catalogue.domain
        self._stream = load_scenes(source, self._domain)
        self._next_index = 0

    def hold(self, wanted: set[SceneKey]) -> None:
        """Hold the wanted scenes, as far as they exist, and no others; at most one full pass over the source."""
        self.held = {key: scene for key, scene in self.held.items() if key in wanted}
        missing = wanted - self.held.keys()
        scenes = self._one_round()
        while missing and (scene := next(scenes, None)) is not None:
            for key in _keys_of(scene):
                if key in wanted and self.held.setdefault(key, scene).index != scene.index:
                    self.shared.add(key)
            missing -= self.held.keys()

    def _one_round(self) -> Iterator[Scene]:
        """Each scene once: from where the reading stopped to the end, then from the start to there."""
        begun_at = self._next_index
        yield from self._up_to(None)
        self._stream, self._next_index = load_scenes(self._source, self._domain), 0
        yield from self._up_to(begun_at)

    def _up_to(self, end: int | None) -> Iterator[Scene]:
        while self._next_index != end and (scene := next(self._stream, None)) is not None:
            self._next_index = scene.index + 1
            yield scene
