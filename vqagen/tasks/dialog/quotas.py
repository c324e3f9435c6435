"""Quotas: how many rounds of each family a dialog may have after each round, and what a good dialog is.

Quotas are data: a preset by its name, or a JSON file of the same form as `PRESETS`. Shares are fractions of the rounds
so far: after round t of at least `from_round`, a family must have `floor(least * t)` to `ceil(most * t)` rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, UsageError, describe, unknown
from vqagen.json.parsing import parse_json, read_text
from vqagen.tasks.dialog.round_kind import FAMILIES
from vqagen.world.findings import problem_in

UNLIMITED = 10**6


class Objective(NamedTuple):
    """The score of a dialog: how many rounds of each sort count for it, and what a repeated label costs."""

    ellipses: int = 1
    """Questions that repeat the one before in a few words (labels with imm2)."""
    similar: int = 1
    """Questions that ask the same of another object (labels with sim)."""
    early: int = 6
    """Questions about an object of an earlier round (labels with early)."""
    repeats: int = 1
    """Cost of each round with the label of the round before."""


DEFAULT_OBJECTIVE = Objective()


class RoundCounts(NamedTuple):
    """Rounds so far."""

    counts: int = 0
    exists: int = 0
    seeks: int = 0
    standalone: int = 0
    """Rounds whose questions do not refer to an object or a group."""

    def add(self, family: str, is_standalone: bool) -> RoundCounts:
        """Return the counts after another round."""
        return RoundCounts(
            self.counts + (family == "count"),
            self.exists + (family == "exist"),
            self.seeks + (family == "seek"),
            self.standalone + is_standalone,
        )


Limits = tuple[tuple[int, int], tuple[int, int], tuple[int, int], int, int]
"""(least, most) of count, exist and seek; most of count and exist together; most standalone."""
FREE: Limits = ((0, UNLIMITED), (0, UNLIMITED), (0, UNLIMITED), UNLIMITED, UNLIMITED)


@dataclass(frozen=True)
class Quotas:
    """Quotas for dialogs of any length."""

    name: str
    shares: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Family -> its least and its most share."""
    together: float = 1.0
    """The most that count and exist have together."""
    standalone: float = 1.0
    table: Mapping[int, Limits] = field(default_factory=dict)
    """Limits by round, in place of shares; rounds beyond the last one have its shares."""
    from_round: int = 4
    objective: Objective = DEFAULT_OBJECTIVE

    def to_record(self) -> dict[str, Any]:
        """Return quotas of shares as their file has them."""
        shares = {family: list(span) for family, span in self.shares.items()}
        rest = {"together": self.together, "standalone": self.standalone, "from_round": self.from_round}
        return {**shares, **rest, "objective": self.objective._asdict()}

    @property
    def are_free(self) -> bool:
        """True if anything goes."""
        return not self.table and not self.shares and self.together == self.standalone == 1.0

    def limits(self, round: int) -> Limits:
        """Return the limits after a round."""
        if self.table:
            return self._from_table(round)
        if round < self.from_round or self.are_free:
            return FREE
        spans = [(floor(least * round + EPSILON), ceil(most * round - EPSILON)) for least, most in self._spans()]
        together, standalone = (ceil(share * round - EPSILON) for share in (self.together, self.standalone))
        return spans[0], spans[1], spans[2], together, max(standalone, 1)

    def _spans(self) -> list[tuple[float, float]]:
        return [self.shares.get(family, (0.0, 1.0)) for family in FAMILIES]

    def _from_table(self, round: int) -> Limits:
        last = max(self.table)
        if round <= last:
            return self.table.get(round, FREE)
        spans = [(least * round // last, ceil(most * round / last)) for least, most in self.table[last][:3]]
        together, standalone = (ceil(most * round / last) for most in self.table[last][3:])
        return spans[0], spans[1], spans[2], together, standalone

    def admits(self, round: int, counts: RoundCounts) -> bool:
        """True if a dialog may have these rounds after a round."""
        count, exist, seek, together, standalone = self.limits(round)
        return (
            count[0] <= counts.counts <= count[1]
            and exist[0] <= counts.exists <= exist[1]
            and seek[0] <= counts.seeks <= seek[1]
            and counts.counts + counts.exists <= together
            and counts.standalone <= standalone
        )


EPSILON = 1e-9
PRESETS = {
    "smooth": Quotas("smooth", {"count": (0.1, 0.3), "exist": (0.1, 0.3), "seek": (0.3, 0.7)}, 0.4, 0.1),
    "paper": Quotas("paper", {"count": (0.1, 0.2), "exist": (0.1, 0.2), "seek": (0.3, 0.6)}, 0.4, 0.1),
    "reference": Quotas(
        "reference",
        table={
            4: ((0, 1), (0, 1), (1, 4), 2, 1),
            5: ((0, 1), (0, 1), (2, 4), 2, 1),
            6: ((0, 2), (0, 2), (2, 5), 3, 1),
            7: ((0, 2), (0, 2), (2, 5), 3, 1),
            8: ((0, 2), (0, 2), (3, 5), 3, 2),
            9: ((0, 3), (0, 3), (3, 6), 3, 2),
            10: ((0, 3), (0, 3), (3, 6), 4, 2),
        },
        objective=Objective(UNLIMITED, UNLIMITED, 4, 0),
    ),
    "none": Quotas("none"),
}
"""`paper`: the shares of Kottur et al. 2019; `reference`: the table of their code; `smooth`: more room, so that its
place does not give away the family of a round."""


def quotas_named(name: str) -> Quotas:
    """Return a preset, or the quotas of a JSON file. Raises UsageError or BadInput."""
    if name in PRESETS:
        return PRESETS[name]
    if not Path(name).is_file():
        raise UsageError(f"--quotas {name}: no such file, and {unknown('preset', name, list(PRESETS))}")
    return read_quotas(Path(name))


def read_quotas(path: Path) -> Quotas:
    """Read quotas from a JSON file. Raises BadInput with all problems."""
    text = read_text(path)
    return quotas_from_record(path.name, parse_json(text, str(path)), str(path), text)


def quotas_from_record(name: str, given: Any, source: str, text: str = "") -> Quotas:
    """Return the quotas of parsed JSON, which `source` names in problems. Raises BadInput with all problems."""
    problems = [problem_in(source, place, message, text) for place, message in _faults(given)]
    if problems:
        raise BadInput(problems)
    shares = {family: (float(given[family][0]), float(given[family][1])) for family in FAMILIES if family in given}
    return Quotas(
        name,
        shares,
        given.get("together", 1.0),
        given.get("standalone", 1.0),
        from_round=given.get("from_round", 4),
        objective=Objective(**given.get("objective", {})),
    )


_SHARES = ("together", "standalone")
_KEYS = (*FAMILIES, *_SHARES, "from_round", "objective", "comment")


def _faults(given: Any) -> Iterator[tuple[str, str]]:
    """Yield (JSON path, message) for each mistake in a file of quotas."""
    if not isinstance(given, dict):
        yield "", f"expected an object of shares, found {describe(given)}"
        return
    for key, value in given.items():
        if key not in _KEYS:
            yield key, unknown("quota", key, _KEYS)
        elif key in FAMILIES and not _is_span(value):
            yield key, f"expected [least, most], shares from 0 to 1, found {value!r}"
        elif key in _SHARES and not _is_share(value):
            yield key, f"expected a share from 0 to 1, found {value!r}"
        elif key == "from_round" and not _is_number(value):
            yield key, f"{NUMBER}, found {value!r}"
        elif key == "objective":
            yield from _objective_faults(value)


def _objective_faults(given: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(given, dict):
        yield "objective", f"expected an object of weights, found {describe(given)}"
        return
    for key, value in given.items():
        if key not in Objective._fields:
            yield f"objective.{key}", unknown("weight", key, Objective._fields)
        elif not _is_number(value):
            yield f"objective.{key}", f"{NUMBER}, found {value!r}"


NUMBER = f"expected a whole number from 0 to {UNLIMITED}"


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= UNLIMITED


def _is_share(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1


def _is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_share, value)) and value[0] <= value[1]
