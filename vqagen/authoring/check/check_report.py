"""What a check found: for each file its mistakes, and what is doubtful in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from vqagen.authoring.check.codes import CODES
from vqagen.errors import BadInput, InputWarning, Problem

MOST = 50
"""Mistakes told of one file of scenes or questions; further ones are counted."""
T = TypeVar("T")


@dataclass(frozen=True)
class Doubt:
    """Something that is taken as it stands, and probably not meant so; `code` is one of CODES."""

    code: str
    problem: Problem


@dataclass
class FileReport:
    """What was found in one file."""

    path: str
    kind: str = ""
    """What the file is, such as "templates"; "" where that could not be told."""
    domain: str = ""
    """The metadata that it was checked against."""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Doubt] = field(default_factory=list)
    unlisted: int = 0
    """Mistakes beyond those in `errors`."""
    not_checked: list[str] = field(default_factory=list)
    """What could not be looked at, and why."""
    _noted: set[tuple[str, Problem]] = field(default_factory=set, repr=False)
    """Errors and warnings that are in the lists: to look through these takes a minute where there are 50,000."""

    def error(self, problem: Problem) -> None:
        """Note a mistake, once."""
        if ("error", problem) not in self._noted:
            self._noted.add(("error", problem))
            self.errors.append(problem)

    def one_of_many(self, problem: Problem) -> None:
        """Note a mistake of one scene or question, or only count it where there are too many."""
        if len(self.errors) < MOST:
            self.error(problem)
        else:
            self.unlisted += 1

    def doubt(self, code: str, problem: Problem) -> None:
        """Note a doubt, once."""
        assert code in CODES, f"{code} has no meaning yet"
        if ("warning", problem) not in self._noted:
            self._noted.add(("warning", problem))
            self.warnings.append(Doubt(code, problem))

    def in_order(self) -> FileReport:
        """The same in reading order."""
        return replace(
            self,
            errors=sorted(self.errors, key=reading_order),
            warnings=sorted(self.warnings, key=lambda doubt: reading_order(doubt.problem)),
        )

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "domain": self.domain,
            "errors": [_record(problem) for problem in self.errors],
            "unlisted_errors": self.unlisted,
            "warnings": [{"code": doubt.code, **_record(doubt.problem)} for doubt in self.warnings],
            "not_checked": self.not_checked,
        }


def reading_order(problem: Problem) -> tuple[int, int]:
    """To sort by; problems without a place come first."""
    return problem.line or 0, problem.column or 0


def _record(problem: Problem) -> dict[str, Any]:
    return {
        "line": problem.line,
        "column": problem.column,
        "path": problem.path,
        "message": problem.message,
        "excerpt": problem.excerpt,
    }


@dataclass
class CheckReport:
    """What was found in all files; `notes` say on what grounds they were checked, where that was not asked for."""

    files: list[FileReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """How many mistakes there are."""
        return sum(len(file.errors) + file.unlisted for file in self.files)

    @property
    def warnings(self) -> int:
        """How many doubts there are."""
        return sum(len(file.warnings) for file in self.files)

    def of(self, path: Path | str) -> FileReport:
        """The report of a file; a new one where there is none yet."""
        found = next((file for file in self.files if file.path == str(path)), None)
        if found is None:
            found = FileReport(str(path))
            self.files.append(found)
        return found

    def note(self, text: str) -> None:
        """Say something once."""
        if text not in self.notes:
            self.notes.append(text)

    def finished(self) -> CheckReport:
        """The same, with what was found in reading order."""
        return CheckReport([file.in_order() for file in self.files], self.notes)

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "errors": self.errors,
            "warnings": self.warnings,
            "files": [file.to_record() for file in self.files],
            "notes": self.notes,
        }

    def read(self, path: Path | str, code: str, load: Callable[[], T]) -> T | None:
        """What `load` gives, or None with all its mistakes noted; what it warns of is doubtful under `code`.

        Each goes to the file that it names as its source or, where that is no file that is known, to `path`.
        """
        with self.listening(path, code):
            try:
                return load()
            except BadInput as error:
                self.add_errors(path, error.problems)
        return None

    @contextmanager
    def listening(self, path: Path | str, code: str) -> Iterator[None]:
        """Note what is warned of meanwhile."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            yield
        for each in caught:
            if isinstance(each.message, InputWarning):
                self._owner(path, each.message.problem).doubt(code, each.message.problem)
            else:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

    def add_errors(self, path: Path | str, problems: Iterable[Problem]) -> None:
        """Note mistakes found while `path` was read."""
        for problem in problems:
            if problem.source and not Path(problem.source).is_file():
                problem = replace(problem, message=f"{problem.source}: {problem.message}")
            self._owner(path, problem).error(problem)

    def _owner(self, path: Path | str, problem: Problem) -> FileReport:
        return self.of(problem.source if problem.source and Path(problem.source).is_file() else path)
