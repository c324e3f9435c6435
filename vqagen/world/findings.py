"""Collect what is wrong or doubtful in a document while it is read, so that all of it is reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vqagen.errors import BadInput, Problem, describe, nearest, unknown, warn
from vqagen.files.parsing import locate_path


def problem_in(source: str, path: str, message: str, text: str = "") -> Problem:
    """Return a problem at a JSON path of a document, with line and column if the document's `text` is given."""
    if not text:
        return Problem(message, source, path)
    return Problem(message, source, path, *locate_path(text, path))


class Findings:
    """Faults and doubts about the document `source`, with readers that note values of the wrong kind."""

    def __init__(self, source: str, text: str = "") -> None:
        self.source, self.text = source, text
        self.problems: list[Problem] = []
        self.doubts: list[Problem] = []

    def for_file(self, source: str, text: str) -> Findings:
        """Return findings about another file, which are settled together with these."""
        other = Findings(source, text)
        other.problems, other.doubts = self.problems, self.doubts
        return other

    def fault(self, path: str, message: str) -> None:
        """Note a fault."""
        self.problems.append(problem_in(self.source, path, message, self.text))

    def doubt(self, path: str, message: str) -> None:
        """Note something that is accepted but probably unintended."""
        self.doubts.append(problem_in(self.source, path, message, self.text))

    def settle(self) -> None:
        """Warn of every doubt. Raises BadInput with every fault, if there is one."""
        for doubt in self.doubts:
            warn(doubt)
        if self.problems:
            raise BadInput(self.problems)

    def mapping(self, value: object, path: str) -> Mapping[str, Any]:
        """Return an object; an empty one in place of anything else, which is a fault."""
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"expected an object, found {describe(value)}")
        return {}

    def records(self, value: object, path: str) -> tuple[Mapping[str, Any], ...]:
        """Return a list of objects; anything else is a fault."""
        if not isinstance(value, list):
            self.fault(path, f"expected a list of objects, found {describe(value)}")
            return ()
        return tuple(self.mapping(item, f"{path}[{i}]") for i, item in enumerate(value))

    def text_at(self, value: object, path: str, may_be_empty: bool = True, expected: str = "text") -> str:
        """Return text; "" in place of anything else, which is a fault."""
        if isinstance(value, str) and (value or may_be_empty):
            return value
        self.fault(path, f"expected {expected}, found {describe(value)}")
        return ""

    def flag(self, value: object, path: str) -> bool:
        """Return true or false; anything else is a fault."""
        if not isinstance(value, bool):
            self.fault(path, f"expected true or false, found {describe(value)}")
        return value is True

    def words(self, value: object, path: str, expected: str = "text") -> dict[str, str]:
        """Return an object from words to text, without its comment."""
        texts = {word: each for word, each in self.mapping(value, path).items() if word not in ("comment", "$schema")}
        places = {word: f"{path}.{word}".removeprefix(".") for word in texts}
        return {word: self.text_at(each, places[word], expected=expected) for word, each in texts.items()}

    def strange_keys(self, keys: Iterable[str], known: Sequence[str], path: str, only_close: bool = False) -> None:
        """Doubt keys that are not known; with `only_close` those that are nearly a known one."""
        for key in keys:
            if key not in known and not (only_close and nearest(key, known) is None):
                self.doubt(f"{path}.{key}".removeprefix("."), f"{unknown('key', key, known)} (it has no effect)")
