"""Errors that point: what is wrong, where it stands, and what would be right."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from vqagen.frozen import frozen

Fault = tuple[str, str]
"""A JSON path inside of what is read, and what is wrong there."""


class VqagenError(Exception):
    """A mistake the user can mend. Shown without a traceback; `exit_code` ends the process."""

    exit_code = 3


class UsageError(VqagenError):
    """The command was called in a way that cannot work (exit code 2)."""

    exit_code = 2


class PlaceError(UsageError):
    """A file or folder is not there, or cannot be read or written (exit code 3)."""

    exit_code = 3


MEMORY_SIGNS = (
    *("failed to map segment", "annot allocate memory", "can't start new thread"),
    *("without exception set", "without setting an exception"),  # Python itself, in code that does not check
)
"""Parts of the messages of other errors than MemoryError that a lack of memory causes."""


def is_out_of_memory(error: BaseException) -> bool:
    """True for an error that a lack of memory causes, also while a library is loaded or a thread started."""
    of_system = isinstance(error, ImportError | RuntimeError | OSError | SystemError)
    return isinstance(error, MemoryError) or (of_system and any(sign in str(error) for sign in MEMORY_SIGNS))


@frozen
class Problem:
    """One mistake in one input.

    `path` is the JSON path inside `source`, such as `templates[3].nodes[2].type`; `line` and `column` count from 1.
    `excerpt` shows the place, where that helps: the line of the source and, below it, a caret (see `files/parsing.py`).
    """

    message: str
    source: str = ""
    path: str = ""
    line: int | None = None
    column: int | None = None
    excerpt: str = ""

    def __str__(self) -> str:
        place = self.source
        if self.line is not None:
            place += f":{self.line}:{self.column}"
        return ": ".join(part for part in (place, self.path, self.message) if part)


def reading_order(problem: Problem) -> tuple[int, int]:
    """Return the sort key of a problem; problems without a place sort first."""
    return problem.line or 0, problem.column or 0


class BadInput(VqagenError):
    """One or more mistakes in what was read; all of them, in reading order, each with its excerpt below it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        assert self.problems, "BadInput needs at least one problem"
        super().__init__("\n".join(_with_excerpt(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[BadInput], tuple[tuple[Problem, ...]], dict[str, object]]:
        """As `Exception` pickles itself, the text would come back in place of the problems."""
        return type(self), (self.problems,), self.__dict__


@contextmanager
def collecting(problems: list[Problem]) -> Iterator[None]:
    """Add what is wrong in the body to `problems`, so that it can be told with what is wrong elsewhere."""
    try:
        yield
    except BadInput as error:
        problems += error.problems
    except VqagenError as error:
        problems.append(Problem(str(error)))


def _with_excerpt(problem: Problem) -> str:
    return "\n    ".join((str(problem), *problem.excerpt.splitlines()))


MOST_FAULTS = 20
"""Faults of a file that are listed; further ones are counted."""


class FieldFault(ValueError):
    """A fault of one field of a record, or of the record as a whole, whose `key` is ""."""

    def __init__(self, key: str, message: str, column: int = 1) -> None:
        super().__init__(message)
        self.key, self.column = key, column


class FaultList:
    """The faults of one file."""

    def __init__(self, source: str, noun: str) -> None:
        """`noun` is one record, for people."""
        self._source, self._noun = source, noun
        self._problems: list[Problem] = []
        self._faulty = 0

    def add(self, faults: Sequence[Fault], path: str, line: int | None = None, column: int | None = None) -> None:
        """Add faults of the record at a JSON path, or in a line."""
        self._faulty += len(faults)
        for place, message in faults:
            if len(self._problems) < MOST_FAULTS:
                where = ".".join(filter(None, (path, place)))
                self._problems.append(Problem(message, self._source, where, line, column))

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        if not self._problems:
            return
        if self._faulty > len(self._problems):
            more = counted(self._faulty - len(self._problems), "more fault")
            self._problems.append(Problem(f"… and {more} in other {self._noun}s", self._source))
        raise BadInput(self._problems)


class InputWarning(UserWarning):
    """Something in the input that is taken as it stands, and that its author should know of."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


def warn(problem: Problem) -> None:
    """Tell of a `problem` without stopping. Commands print it to standard error; `check` collects it."""
    warnings.warn(InputWarning(problem), stacklevel=2)


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "scene"), counted(2000, "scene")
    ('1 scene', '2,000 scenes')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` may be a slip of the keyboard for: of the fewest letters. Case does not count.

    A third of the letters, and two at most, may be missing, spare, wrong or exchanged with the next.

    >>> nearest("colro", ["shape", "color"]), nearest("MUST_BE_NULL", ["NOT_NULL", "NULL"]), nearest("EQ", ["GT"])
    ('color', None, None)
    """
    slips = [(slips_between(name.lower(), each.lower()), each) for each in known]
    close = [(count, each) for count, each in slips if count <= min(2, max(len(name), len(each)) // 3)]
    return min(close, key=lambda pair: pair[0])[1] if close else None


def slips_between(one: str, other: str) -> int:
    """The letters that differ: the Damerau-Levenshtein distance of adjacent letters; 3 for more than two.

    >>> slips_between("teh", "the"), slips_between("cub", "cubes"), slips_between("red", "blue")
    (1, 2, 3)
    """
    if abs(len(one) - len(other)) > 2:
        return 3
    rows: list[list[int]] = [[*range(len(other) + 1)]]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, facing in enumerate(other, 1):
            least = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != facing))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == facing:
                least = min(least, rows[-2][j - 2] + 1)
            row.append(least)
        if min(row) > 2:
            return 3
        rows.append(row)
    return min(3, rows[-1][-1])


def unknown(kind: str, name: object, known: Sequence[str]) -> str:
    """The sentence for a name that does not exist: the nearest one, or all of a short list.

    >>> unknown("colour", "gren", ["red", "green"]), unknown("digit", 2, ["1", "2"])
    ("unknown colour 'gren'; did you mean 'green'?", "unknown digit 2, which is no text; did you mean '2'?")
    """
    if not isinstance(name, str):
        written = as_written(name)
        if written in known:
            return f"unknown {kind} {written}, which is no text; did you mean {written!r}?"
        named, close = f"unknown {kind} {written}", None
    else:
        named, close = f"unknown {kind} {name!r}", nearest(name, known)
    if close is not None:
        return f"{named}; did you mean {close!r}?"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{named}; known: {shown or 'none'}"


def describe(value: object) -> str:
    """A short name for a JSON value in an error sentence.

    >>> describe({}), describe([1, 2]), describe("red")
    ('an object', 'a list of 2', "'red'")
    """
    if value is None:
        return "null or nothing"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return as_written(value)


def as_written(value: object, other: object = ...) -> str:
    """A value as JSON writes it, text in Python's quotes; cut where it is long.

    Beside an `other` value, it is cut so that the place is left where the two begin to differ.
    The readers of records round whole numbers beyond 64 bits, so that a file may have another number than is shown.

    >>> as_written(2.5), as_written(2.0**64)
    ('2.5', '1.8446744073709552e+19 (rounded: beyond 64 bits)')
    >>> as_written("a" * 50 + "b" * 50, "a" * 60)
    '…aaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbb…'
    """
    if isinstance(value, float) and 2**63 <= abs(value) < float("inf"):
        return f"{value!r} (rounded: beyond 64 bits)"
    shown, beside = (
        repr(each) if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=repr)
        for each in (value, value if other is ... else other)
    )
    if len(shown) <= 40:
        return shown
    differing = next((place for place, (one, two) in enumerate(zip(shown, beside, strict=False)) if one != two), 0)
    start = max(0, differing - 12)
    return f"{'…' if start else ''}{shown[start:][:37]}{'…' if len(shown) > start + 37 else ''}"
