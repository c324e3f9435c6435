"""Verification: every program of a question file is run on its scene again, and must give the written answer.

Questions and scenes are both read as streams. Scenes are looked up by image file name (by image index where a question
gives no name) and are read in step with the questions, so files of any size are checked in little memory; questions
in another order than the scenes cost further passes over the scenes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput
from vqagen.exchange.clevr import same_answer
from vqagen.exchange.question_files import read_questions
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.registry import Undefined
from vqagen.world.loading import SceneSource, load_scenes
from vqagen.world.scene import Scene

BATCH = 5000
"""Questions whose scenes are held at once."""
KEPT_MISMATCHES = 1000
"""Mismatches told one by one; further ones are only counted."""
SceneKey = tuple[str, object]


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


def verify_questions(questions: Path, scenes: SceneSource, catalogue: Catalogue) -> VerificationReport:
    """Check every question of a file of either dialect."""
    report = VerificationReport()
    stream = enumerate(read_questions(questions))
    feed = _SceneFeed(scenes, catalogue)
    while batch := list(islice(stream, BATCH)):
        found = feed.find({_scene_key(record) for _, record in batch})
        for position, record in batch:
            report.checked += 1
            fault = _fault(record, found.get(_scene_key(record)), catalogue)
            if fault:
                kind, problem = fault
                image = str(record.get("image_filename", record.get("image_index", "no image named")))
                report.add(Mismatch(position, record.get("question_index"), image, problem), kind)
    return report


def _fault(record: Mapping[str, Any], scene: Scene | None, catalogue: Catalogue) -> tuple[str, str] | None:
    """(kind, sentence) for a question that does not check out."""
    if scene is None:
        return "no scene", "there is no scene of this image"
    try:
        program = Program.from_records(record.get("program"), catalogue)
    except BadInput as error:
        return "bad program", "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
    try:
        derived = program.run(scene)
    except Undefined as error:
        return "no answer", f"the program has no answer in this scene: {error}"
    if "answer" not in record:
        return "answer missing", f"no answer is written; the program gives {derived!r}"
    if not same_answer(record["answer"], derived):
        return "wrong answer", f"the answer is written as {record['answer']!r}, but the program gives {derived!r}"
    return None


def _scene_key(record: Mapping[str, Any]) -> SceneKey:
    name = record.get("image_filename")
    return ("image_filename", name) if name else ("image_index", record.get("image_index"))


def _keys_of(scene: Scene) -> list[SceneKey]:
    return [(key, scene.record[key]) for key in ("image_filename", "image_index") if key in scene.record]


class _SceneFeed:
    """Finds scenes by key while reading the source round and round, each time from where it stopped."""

    def __init__(self, source: SceneSource, catalogue: Catalogue) -> None:
        self._source, self._domain = source, catalogue.domain
        self._stream: Iterator[Scene] = iter(())
        self._held: dict[SceneKey, Scene] = {}

    def find(self, wanted: set[SceneKey]) -> dict[SceneKey, Scene]:
        """The wanted scenes that exist, in at most one full pass over the source."""
        self._held = {key: scene for key, scene in self._held.items() if key in wanted}
        missing = wanted - self._held.keys()
        for _ in range(2):  # the rest of this pass, then the part of a new one that was skipped
            while missing and (scene := next(self._stream, None)) is not None:
                keys = [key for key in _keys_of(scene) if key in wanted]
                self._held.update((key, scene) for key in keys)
                missing.difference_update(keys)
            if not missing:
                break
            self._stream = load_scenes(self._source, self._domain)
        return self._held
