"""The result of a check: the errors and warnings of each file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from vqagen.errors import BadInput, InputWarning, Problem, reading_order

MOST = 50
"""Errors listed for one file of scenes or questions; further ones are counted."""
T = TypeVar("T")


CODES: Mapping[str, str] = {
    "not-json": "comments, commas after a last item, or keys written twice: accepted, though they are not JSON",
    "no-effect": "something in the metadata that is never read",
    "unknown-synonym": "synonyms for a value or type that the domain does not have",
    "ambiguous-word": "one word for two values",
    "unsaid-plural": "a plural of a word that no value is said by",
    "unknown-reasoning": "sentences for a function that the domain does not have",
    "no-reasoning": "a function without sentences, for which reasonings say the first line of its docstring",
    "unknown-relation": "relations in scenes that the domain does not have; perhaps misspelt",
    "unused-attribute": "an optional attribute that no object has; its key may be misspelt",
    "repeated-image": "scenes that share an image_filename, so that it does not say which of them a question is about",
    "unused-slot": "a slot that no node uses",
    "unsaid-slot": "a text that leaves out a slot, and so asks something else",
    "other-attribute": "a text that asks for another attribute than the program",
    "other-kind": "a text that asks for another kind of answer than the program",
    "singular-count": "a slot after “How many” that is not in the plural",
    "missing-space": "two slots without a space between them",
    "odd-marks": "marks that do not stand together, such as ??",
    "unreached-node": "a node that neither the answer nor a constraint depends on",
    "no-final-mark": "a text without . ? or ! at its end",
    "repeated-text": "a text that its template has already",
    "same-text": "one text in two templates that compute different things",
    "missing-noun": "a text that can lose its noun, as in “What color is the?”",
    "unused-adjective": "an adjective that is true of no item",
    "idle-adjective": "an adjective that is clearly false of no item",
    "answer-in-text": "words that give the answer away",
    "impossible-answer": "an answer that never occurs",
    "idle-constraint": "a constraint that rules nothing out",
    "unsatisfied": "a template that finds nothing to ask in any scene",
}
"""Code of a warning -> its meaning. The last three are found by trying templates on scenes, unless a rule proves
them before."""


@dataclass
class FileReport:
    """The errors and warnings of one file, each once."""

    path: str
    kind: str = ""
    """The kind of file, such as "templates"; "" if it is not known."""
    domain: str = ""
    """The metadata that it was checked against."""
    errors: dict[Problem, None] = field(default_factory=dict)
    warnings: dict[tuple[str, Problem], None] = field(default_factory=dict)
    """(code, problem): what is accepted but probably unintended."""
    unlisted: int = 0
    """Number of errors beyond those in `errors`."""
    not_checked: list[str] = field(default_factory=list)
    """Parts that could not be checked, with the reason."""

    def error(self, problem: Problem) -> None:
        """Add an error."""
        self.errors[problem] = None

    def one_of_many(self, problem: Problem) -> None:
        """Add an error of one scene or question; only count it if `MOST` are listed."""
        if len(self.errors) < MOST:
            self.error(problem)
        else:
            self.unlisted += 1

    def warn(self, code: str, problem: Problem) -> None:
        """Add a warning."""
        assert code in CODES, f"{code} has no meaning yet"
        self.warnings[code, problem] = None

    def in_order(self) -> FileReport:
        """Return the report with errors and warnings in reading order."""
        warnings = sorted(self.warnings, key=lambda warning: reading_order(warning[1]))
        return replace(
            self, errors=dict.fromkeys(sorted(self.errors, key=reading_order)), warnings=dict.fromkeys(warnings)
        )

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "domain": self.domain,
            "errors": [_record(problem) for problem in self.errors],
            "unlisted_errors": self.unlisted,
            "warnings": [{"code": code, **_record(problem)} for code, problem in self.warnings],
            "not_checked": self.not_checked,
        }


def _record(problem: Problem) -> dict[str, Any]:
    return {key: getattr(problem, key) for key in ("line", "column", "path", "message", "excerpt")}


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
        for file in self.files:
            if file.path == str(path):
                return file
        self.files.append(FileReport(str(path)))
        return self.files[-1]

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
        for warning in caught:
            if isinstance(warning.message, InputWarning):
                self._owner(path, warning.message.problem).warn(code, warning.message.problem)
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)

    def add_errors(self, path: Path | str, problems: Iterable[Problem]) -> None:
        """Add errors found while `path` was read."""
        for problem in problems:
            # A problem of something that is no file, such as the scene "sampled": its source goes into the message.
            if problem.source and not Path(problem.source).is_file():
                problem = replace(problem, message=f"{problem.source}: {problem.message}")
            self._owner(path, problem).error(problem)

    def _owner(self, path: Path | str, problem: Problem) -> FileReport:
        return self.of(problem.source if problem.source and Path(problem.source).is_file() else path)
