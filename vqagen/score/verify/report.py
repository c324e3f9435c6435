"""The result of a verification: the wrong questions, grouped by problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from vqagen.errors import counted

KEPT_MISMATCHES = 1000
"""Wrong questions that are listed one by one in the report as JSON; further ones are only counted."""
FEW = 3
"""Questions of one problem up to which each has a line of its own; of more, the first has."""
EXAMPLES = 5
"""Further questions named on the line of a problem that many have."""
MOST_SHAPES = 1000
"""Problems that are grouped by their sentences; further ones are grouped by their kinds."""
MOST_PROBLEMS = 20
"""Problems that are shown to people."""
_ONE_PROBLEM = frozenset({"bad program", "no answer"})
"""Kinds whose sentences are different problems if more than their numbers differ."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Mismatch:
    """One question that is wrong."""

    position: int
    """Its place in the file, from 0."""
    question_index: object
    image: str
    kind: str
    problem: str

    def __str__(self) -> str:
        return f"questions[{self.position}] (question_index {self.question_index}, {self.image}): {self.problem}"

    @property
    def shape(self) -> str:
        """The text that mismatches of one problem share."""
        return _NUMBER.sub("#", f"{self.kind}: {self.problem}") if self.kind in _ONE_PROBLEM else self.kind


@dataclass
class RepeatedProblem:
    """One problem, and the questions that have it."""

    count: int = 0
    first: list[Mismatch] = field(default_factory=list)
    """The first few of them."""

    def add(self, mismatch: Mismatch) -> None:
        """Count one more question."""
        self.count += 1
        if len(self.first) <= EXAMPLES:
            self.first.append(mismatch)

    def lines(self) -> Iterator[str]:
        """Yield a line for each question if they are few, and one line if they are many."""
        if self.count <= FEW:
            yield from map(str, self.first)
            return
        others = ", ".join(f"questions[{mismatch.position}]" for mismatch in self.first[1:])
        more = ", …" if self.count > len(self.first) else ""
        yield f"{self.first[0]} (and {self.count - 1:,} more like it: {others}{more})"

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        example, *_ = self.first
        positions = [mismatch.position for mismatch in self.first]
        return {"kind": example.kind, "problem": example.problem, "count": self.count, "first_positions": positions}


@dataclass
class VerificationReport:
    """The result of a verification."""

    checked: int = 0
    mismatched: int = 0
    parted_pairs: int = 0
    """Questions whose partner is not in the file, as in a shard."""
    unread_because: str = ""
    """The reason why no text was read; "" if texts were read."""
    unread_texts: int = 0
    """Texts that were not read, as no template at hand asks their programs."""
    undecided_texts: int = 0
    """Texts with too many possible wordings to try them all."""
    by_problem: Counter[str] = field(default_factory=Counter)
    """Kind of problem -> wrong questions."""
    mismatches: list[Mismatch] = field(default_factory=list)
    """The first `KEPT_MISMATCHES`."""
    problems: dict[str, RepeatedProblem] = field(default_factory=dict)
    """Shape -> the problem, in the order of first questions."""

    @property
    def is_clean(self) -> bool:
        """True if no question is wrong."""
        return self.mismatched == 0

    def add(self, mismatch: Mismatch) -> None:
        """Count a mismatch; list it while there are not too many."""
        self.mismatched += 1
        self.by_problem[mismatch.kind] += 1
        shape = mismatch.shape if len(self.problems) < MOST_SHAPES else mismatch.kind
        self.problems.setdefault(shape, RepeatedProblem()).add(mismatch)
        if len(self.mismatches) < KEPT_MISMATCHES:
            self.mismatches.append(mismatch)

    def lines(self) -> Iterator[str]:
        """Yield a line for each problem, and the counts at the end."""
        problems = list(self.problems.values())
        for problem in problems[:MOST_PROBLEMS]:
            yield from problem.lines()
        if rest := problems[MOST_PROBLEMS:]:
            questions = counted(sum(problem.count for problem in rest), "question")
            yield f"… and {counted(len(rest), 'more problem')} in {questions}"
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.by_problem.most_common())
        head = f"{counted(self.checked, 'question')} checked, {self.mismatched:,} wrong"
        yield f"{head}: {kinds}" if kinds else head
        if self.parted_pairs:
            yield f"{counted(self.parted_pairs, 'question')} with a pair whose other question is not in the file"
        if self.unread_because:
            yield f"texts were not read: {self.unread_because}"
        if self.unread_texts:
            yield f"{counted(self.unread_texts, 'text')} not read: no template at hand asks what the program asks"
        if self.undecided_texts:
            yield f"{counted(self.undecided_texts, 'text')} not decided: too many wordings are possible"

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "checked": self.checked,
            "mismatched": self.mismatched,
            "parted_pairs": self.parted_pairs,
            "texts": {
                "read": not self.unread_because,
                "unread_because": self.unread_because or None,
                "unread": self.unread_texts,
                "undecided": self.undecided_texts,
            },
            "by_problem": dict(self.by_problem),
            "problems": [problem.to_record() for problem in self.problems.values()],
            "mismatches": [vars(mismatch) for mismatch in self.mismatches],
        }
