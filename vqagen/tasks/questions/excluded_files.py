"""The question files of which a run asks nothing again, wherever its windows are done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from vqagen.errors import Problem, VqagenError, counted, warn
from vqagen.files.locations import Location, locate
from vqagen.files.reading import content_hash
from vqagen.language.question_files import read_questions
from vqagen.tasks.questions.exclusion import Exclusion


@dataclass(frozen=True)
class ExcludedFiles:
    """Where they are. Their fingerprints (16 bytes a question) do not travel: each process reads the files."""

    paths: tuple[Location, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        """For another process, which may work in another folder."""
        return _arrived, (tuple(str(path.absolute() if isinstance(path, Path) else path) for path in self.paths),)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Their content hash, by its role; empty if there are none. Taken when first asked for."""
        return {"disjoint_from": content_hash(self.paths)} if self.paths else {}

    def load(self, known: Mapping[str, str]) -> Exclusion | None:
        """What the files hold; VqagenError if they are not those that the run began with, whose hashes are `known`.

        Warns of questions that hide their programs.
        """
        if not self.paths:
            return None
        exclusion = reduce(Exclusion.joined, map(_read, self.paths))
        if content_hash(self.paths) != known["disjoint_from"]:
            names = ", ".join(map(str, self.paths))
            raise VqagenError(f"{names}: not what the run began with: changed meanwhile, or another file of that name")
        return exclusion


def _arrived(names: tuple[str, ...]) -> ExcludedFiles:
    return ExcludedFiles(tuple(map(locate, names)))


def _read(path: Location) -> Exclusion:
    hidden = 0

    def records() -> Iterator[Mapping[str, Any]]:
        nonlocal hidden
        for record in read_questions(path):
            hidden += "program" not in record
            yield record

    exclusion = Exclusion.from_records(records(), str(path))
    if hidden:
        questions = counted(hidden, "question")
        warn(Problem(f"{questions} without a program: only the text of such a question is not asked again", str(path)))
    return exclusion
