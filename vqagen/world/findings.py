"""What is found wrong or doubtful in one document: collected while it is read, and told all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vqagen.errors import BadInput, Problem, describe, nearest, unknown, warn
from vqagen.json.text import locate


def problem_in(source: str, path: str, message: str, text: str = "") -> Problem:
    """A problem at a JSON path of a document, with line and column where the document's `text` is known."""
    if not text:
        return Problem(message, source, path)
    return Problem(message, source, path, *locate(text, path))


class Findings:
    """Faults and doubts about the document `source`, and readers that note what is of the wrong kind."""

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
        """Note a mistake."""
        self.problems.append(problem_in(self.source, path, message, self.text))

    def doubt(self, path: str, message: str) -> None:
        """Note something that is taken as it stands, but may not be meant so."""
        self.doubts.append(problem_in(self.source, path, message, self.text))

    def settle(self) -> None:
        """Warn of every doubt; BadInput with every mistake, if there is any."""
        for doubt in self.doubts:
            warn(doubt)
        if self.problems:
            raise BadInput(self.problems)

    def mapping(self, value: object, path: str) -> Mapping[str, Any]:
        """An object; an empty one in place of anything else."""
        if isinstance(value, Mapping):
            return value
        self.fault(path, f"expected an object, found {describe(value)}")
        return {}

    def records(self, value: object, path: str) -> tuple[Mapping[str, Any], ...]:
        """A list of objects."""
        if not isinstance(value, list):
            self.fault(path, f"expected a list of objects, found {describe(value)}")
            return ()
        return tuple(self.mapping(item, f"{path}[{i}]") for i, item in enumerate(value))

    def text_at(self, value: object, path: str, may_be_empty: bool = True, expected: str = "text") -> str:
        """Text."""
        if isinstance(value, str) and (value or may_be_empty):
            return value
        self.fault(path, f"expected {expected}, found {describe(value)}")
        return ""

    def flag(self, value: object, path: str) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            self.fault(path, f"expected true or false, found {describe(value)}")
        return value is True

    def words(self, value: object, path: str, expected: str = "text") -> dict[str, str]:
        """Return an object from words to text, without its comment."""
        texts = {word: each for word, each in self.mapping(value, path).items() if word not in ("comment", "$schema")}
        places = {word: f"{path}.{word}".removeprefix(".") for word in texts}
        return {word: self.text_at(each, places[word], expected=expected) for word, each in texts.items()}

    def strange_keys(self, keys: Iterable[str], known: Sequence[str], path: str, only_close: bool = False) -> None:
        """Doubt keys that are not known; `only_close` those that are nearly a known one."""
        for key in keys:
            if key not in known and not (only_close and nearest(key, known) is None):
                self.doubt(f"{path}.{key}".removeprefix("."), f"{unknown('key', key, known)} (it has no effect)")
