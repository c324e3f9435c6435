"""The result of a check: the errors and warnings of each file."""

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
"""Errors listed for one file of scenes or questions; further ones are counted."""
T = TypeVar("T")


@dataclass(frozen=True)
class CheckWarning:
    """A warning: something that is accepted but probably unintended. `code` is one of CODES."""

    code: str
    problem: Problem


@dataclass
class FileReport:
    """The errors and warnings of one file."""

    path: str
    kind: str = ""
    """The kind of file, such as "templates"; "" if it is not known."""
    domain: str = ""
    """The metadata that it was checked against."""
    errors: list[Problem] = field(default_factory=list)
    warnings: list[CheckWarning] = field(default_factory=list)
    unlisted: int = 0
    """Number of errors beyond those in `errors`."""
    not_checked: list[str] = field(default_factory=list)
    """Parts that could not be checked, with the reason."""
    _noted: set[tuple[str, Problem]] = field(default_factory=set, repr=False)
    """The members of both lists, for quick look-up: to search a list of 50,000 each time takes a minute."""

    def error(self, problem: Problem) -> None:
        """Add an error, once."""
        if ("error", problem) not in self._noted:
            self._noted.add(("error", problem))
            self.errors.append(problem)

    def one_of_many(self, problem: Problem) -> None:
        """Add an error of one scene or question; only count it if `MOST` are listed."""
        if len(self.errors) < MOST:
            self.error(problem)
        else:
            self.unlisted += 1

    def warn(self, code: str, problem: Problem) -> None:
        """Add a warning, once."""
        assert code in CODES, f"{code} has no meaning yet"
        if ("warning", problem) not in self._noted:
            self._noted.add(("warning", problem))
            self.warnings.append(CheckWarning(code, problem))

    def in_order(self) -> FileReport:
        """Return the report with errors and warnings in reading order."""
        return replace(
            self,
            errors=sorted(self.errors, key=reading_order),
            warnings=sorted(self.warnings, key=lambda warning: reading_order(warning.problem)),
        )

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "domain": self.domain,
            "errors": [_record(problem) for problem in self.errors],
            "unlisted_errors": self.unlisted,
            "warnings": [{"code": warning.code, **_record(warning.problem)} for warning in self.warnings],
            "not_checked": self.not_checked,
        }


def reading_order(problem: Problem) -> tuple[int, int]:
    """Return the sort key of a problem; problems without a place sort first."""
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
    """The reports of all files. `notes` name what the check chose by itself, such as a domain or the scenes."""

    files: list[FileReport] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def errors(self) -> int:
        """Number of errors."""
        return sum(len(file.errors) + file.unlisted for file in self.files)

    @property
    def warnings(self) -> int:
        """Number of warnings."""
        return sum(len(file.warnings) for file in self.files)

    def of(self, path: Path | str) -> FileReport:
        """Return the report of a file; a new one if the file has none."""
        found = next((file for file in self.files if file.path == str(path)), None)
        if found is None:
            found = FileReport(str(path))
            self.files.append(found)
        return found

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)

    def finished(self) -> CheckReport:
        """Return the report with every file in reading order."""
        return CheckReport([file.in_order() for file in self.files], self.notes)

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "errors": self.errors,
            "warnings": self.warnings,
            "files": [file.to_record() for file in self.files],
            "notes": self.notes,
        }

    def read(self, path: Path | str, code: str, load: Callable[[], T]) -> T | None:
        """Return the result of `load`; None if it raises BadInput, whose problems become errors.

        Its InputWarnings become warnings with this `code`. A problem belongs to the file that is its source; if there
        is no such file, it belongs to `path`.
        """
        with self.listening(path, code):
            try:
                return load()
            except BadInput as error:
                self.add_errors(path, error.problems)
        return None

    @contextmanager
    def listening(self, path: Path | str, code: str) -> Iterator[None]:
        """Add every InputWarning of the block as a warning with this `code`."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            yield
        for each in caught:
            if isinstance(each.message, InputWarning):
                self._owner(path, each.message.problem).warn(code, each.message.problem)
            else:
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)

    def add_errors(self, path: Path | str, problems: Iterable[Problem]) -> None:
        """Add errors found while `path` was read."""
        for problem in problems:
            if problem.source and not Path(problem.source).is_file():
                problem = replace(problem, message=f"{problem.source}: {problem.message}")
            self._owner(path, problem).error(problem)

    def _owner(self, path: Path | str, problem: Problem) -> FileReport:
        return self.of(problem.source if problem.source and Path(problem.source).is_file() else path)
