"""All scores of a study, computed from its answers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from vqagen.errors import UsageError, unknown
from vqagen.human.answers import AnswerRow, load_answers
from vqagen.human.scores.flags import Flag, excluded_rows, find_flags
from vqagen.human.scores.samples import (
    Estimate,
    Pairing,
    ScoreSample,
    grouped,
    pairing_names,
    pairing_of,
    sample_of,
    two_way_interval,
)
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.study.item import ANSWER, REAL
from vqagen.report.table import Report, Reported

MOST_VALUES = 8
"""A number with more values is grouped by its quarters."""
MISSING = "(none)"
OWN_FIELDS: Mapping[str, Callable[[AnswerRow], str]] = {
    "image": lambda row: row.image or MISSING,
    "item": lambda row: row.item,
    "rater": lambda row: row.rater,
    "task": lambda row: row.task,
    "state": lambda row: row.state,
    "side": lambda row: "second right" if row.second_on_right else "second left",
}
"""Fields that all answers can be grouped by; a stratum of the same name comes first."""
Group = tuple[str, str, Pairing]
"""A field, its value, and what is compared there."""


@dataclass(frozen=True, repr=False)
class StudyScores(Reported):
    """The scores of a study, and what the tables of its report are made of."""

    name: str
    settings: ScoreSettings
    rows: Sequence[AnswerRow]
    """All answers that were read."""
    real: Sequence[AnswerRow]
    """Those to real trials on scales that are scored."""
    answered: Sequence[AnswerRow]
    """Those to questions about images that are scored."""
    names: Mapping[Pairing, str]
    samples: Mapping[Pairing, ScoreSample]
    estimates: Mapping[Pairing, Estimate]
    groups: Mapping[Group, Estimate]
    """The worst first."""
    flags: Sequence[Flag]
    has_events: bool
    """Whether it is known which browsers a program drove."""

    @property
    def dimensions(self) -> list[str]:
        """The dimensions, sorted."""
        return sorted({row.dimension for row in self.rows if row.use == REAL})

    def label(self, pairing: Pairing) -> str:
        """Return the name of a pairing, with its dimension if there are several."""
        name = self.names[pairing]
        return f"{pairing.dimension}, {name}" if len(self.dimensions) > 1 else name

    def report(self) -> Report:
        """Return the report without gates."""
        from vqagen.human.scores.report import rater_report

        return rater_report(self)


def score_study(source: str | Path, settings: ScoreSettings | None = None, *, store: str | Path = "") -> StudyScores:
    """Score the answers of a study, of an export folder, or of its `answers.jsonl`.

    A study may be served meanwhile; `store` is the place of its answers, by default its own file. Raises BadInput for
    answers that are wrong, UsageError if there are none to read, and StoreError.
    """
    rows, automated = load_answers(source, store)
    return score_rows(rows, settings or ScoreSettings(), Path(source).name, automated)


def score_rows(
    rows: Sequence[AnswerRow], settings: ScoreSettings, name: str = "", automated: Iterable[str] | None = None
) -> StudyScores:
    """Score answers. `automated` are assignments whose browser was driven by a program; None where it is not known."""
    flags = find_flags(rows, settings, automated or ())
    kept = [row for row in excluded_rows(rows, flags, settings.excluded) if row.use == REAL]
    real = [row for row in kept if row.kind != ANSWER]
    pairings = grouped(real, pairing_of)
    samples = {pairing: sample_of(pairings[pairing]) for pairing in pairing_names(pairings)}
    return StudyScores(
        name=name,
        settings=settings,
        rows=rows,
        real=real,
        answered=[row for row in kept if row.kind == ANSWER],
        names=pairing_names(pairing_of(row) for row in rows if row.use == REAL and row.kind != ANSWER),
        samples=samples,
        estimates={pairing: two_way_interval(sample) for pairing, sample in samples.items()},
        groups=group_scores(real, settings.fields),
        flags=flags,
        has_events=automated is not None,
    )


# Groups -----------------------------------------------------------------------------------------------------------


def group_scores(rows: Sequence[AnswerRow], fields: Sequence[str]) -> dict[Group, Estimate]:
    """Return the scores of all pairings in all groups, the worst first. UsageError for unknown fields."""
    known = list(dict.fromkeys((*sorted({name for row in rows for name in row.strata}), *OWN_FIELDS)))
    faults = [f"--by: {unknown('field', field, known)}" for field in fields if field not in known]
    if faults and rows:
        raise UsageError("\n".join(faults))
    found = [each for field in fields if rows for each in _of_field(rows, field)]
    return dict(sorted(found, key=lambda each: (each[1].mean, *each[0][1:])))


def _of_field(rows: Sequence[AnswerRow], field: str) -> list[tuple[Group, Estimate]]:
    label = _labels(rows, field)
    members = grouped(rows, lambda row: (field, label(row), pairing_of(row)))
    return [(group, two_way_interval(sample_of(of_group))) for group, of_group in members.items()]


def _labels(rows: Sequence[AnswerRow], field: str) -> Callable[[AnswerRow], str]:
    """Return what names the group of an answer: its value, or the quarter of a number with many values."""
    values = [row.strata[field] for row in rows if field in row.strata]
    if not values:
        return OWN_FIELDS[field]
    if len(set(values)) <= MOST_VALUES or not all(isinstance(value, int | float) for value in values):
        return lambda row: str(row.strata.get(field, MISSING))
    ends = np.quantile(np.array(values, float), [0, 0.25, 0.5, 0.75, 1])
    names = [f"{low:g} to {high:g}" for low, high in pairwise(ends)]
    return lambda row: names[int(np.searchsorted(ends[1:-1], row.strata[field]))] if field in row.strata else MISSING
