"""The scores of a study, computed from its answers alone, and their report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from vqagen import __version__
from vqagen.errors import UsageError, counted, unknown
from vqagen.human.answers import AnswerRow, load_answers
from vqagen.human.scores.answered import alpha, answer_tables
from vqagen.human.scores.flags import Flag, concerned, excluded_rows, find_flags
from vqagen.human.scores.methods import humanr_failures, humanr_scores, strengths
from vqagen.human.scores.samples import (
    Estimate,
    Key,
    Pairing,
    ScoreSample,
    by_item,
    difference,
    grouped,
    lean_of,
    pairing_names,
    pairing_of,
    rivals,
    sample_of,
    score_of,
    two_way_interval,
)
from vqagen.human.settings import BRADLEY_TERRY, CLUSTER, FLAGS, HUMANR, NOTHING, WEBDRIVER, ScoreSettings
from vqagen.human.study.item import ANSWER, COMPARE, RATE, REAL
from vqagen.report.table import (
    COUNT,
    DECIMAL,
    NUMBER,
    TEXT,
    Column,
    Figure,
    Report,
    Reported,
    Table,
    columns,
    nonempty,
)
from vqagen.report.writers import Axis, Row, bars, draw, interval_figure
from vqagen.score.intervals import holm

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
        """Return the report."""
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
    flags = find_flags(rows, automated or ())
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


# Groups ----------------------------------------------------------------------------------------------------------


def group_scores(rows: Sequence[AnswerRow], fields: Sequence[str]) -> dict[Group, Estimate]:
    """Return the scores of all pairings in all groups, the worst first. UsageError for unknown fields."""
    known = list(dict.fromkeys((*sorted({name for row in rows for name in row.strata}), *OWN_FIELDS)))
    faults = [f"--by: {unknown('field', field, known)}" for field in fields if field not in known]
    if faults and rows:
        raise UsageError("\n".join(faults))
    scored = [scored_group for field in fields if rows for scored_group in _of_field(rows, field)]
    return dict(sorted(scored, key=lambda scored_group: (scored_group[1].mean, *scored_group[0][1:])))


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


# The report -----------------------------------------------------------------------------------------------------------


_NAMES = columns(dimension=TEXT, comparison=TEXT)
_BOUNDS = columns(low=DECIMAL, high=DECIMAL)
_INTERVAL = (*columns(error=DECIMAL, df=COUNT), *_BOUNDS, *columns(p=NUMBER))
_ESTIMATE = (*columns(n=COUNT, raters=COUNT, images=COUNT, score=DECIMAL), *_INTERVAL)
_HOLM = columns(p_Holm=NUMBER)
_NOTE = columns(note=TEXT)


def rater_report(scores: StudyScores) -> Report:
    """Return the report of scores."""
    tables = nonempty(table for make in _TABLES for table in make(scores))
    if len(scores.dimensions) < 2:
        tables = tuple(map(_without_dimension, tables))
    facts = {
        "info": {"version": __version__, "study": scores.name, "settings": scores.settings.to_record()},
        "answers": len(scores.rows),
        "scored": len(scores.real),
        "answered": len(scores.answered),
        "raters": len({row.rater for row in (*scores.real, *scores.answered)}),
    }
    return Report("Scores of raters", _head(scores), tables, facts, figures=tuple(score_figures(scores, tables)))


def _head(scores: StudyScores) -> tuple[str, ...]:
    to_questions = f", and {len(scores.answered):,} to questions" if scores.answered else ""
    explained = (
        "scores: 1 the system is clearly better, 0 both are equal, -1 the reference is clearly better",
        "low and high are bounds of 95 % intervals; of a small study they can lie beyond -1 and 1",
    )
    nothing = () if scores.answered else ("no answers to real trials are left: there are no scores",)
    return (
        f"{scores.name}: {counted(len(scores.rows), 'answer')}, of which {len(scores.real):,} to real trials"
        f"{to_questions} are scored",
        f"left out: {', '.join(scores.settings.excluded) or 'nothing'}",
        *(explained if scores.real else nothing),
    )


def _without_dimension(table: Table) -> Table:
    kept = [index for index, column in enumerate(table.columns) if column.name != "dimension"]
    rows = tuple(tuple(row[index] for index in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[index] for index in kept), rows=rows)


# Systems ---------------------------------------------------------------------------------------------------------


def _named(scores: StudyScores, pairing: Pairing) -> tuple[str, str]:
    return pairing.dimension, scores.names[pairing]


def _corrected(tested: Mapping[Key, Estimate], dimension: Callable[[Key], str]) -> dict[Key, float]:
    """Return the p-values that exist, corrected for their number in each dimension."""
    families = grouped((key for key in tested if tested[key].p is not None), dimension).values()
    corrected = [holm([p for key in keys if (p := tested[key].p) is not None]) for keys in families]
    return {key: p for keys, of in zip(families, corrected, strict=True) for key, p in zip(keys, of, strict=True)}


def _score_tables(scores: StudyScores) -> Iterator[Table]:
    against = {pairing: estimate for pairing, estimate in scores.estimates.items() if pairing.is_against_reference}
    corrected = _corrected(against, lambda pairing: pairing.dimension)
    notes = ("interval: two-way clusters of raters and images; p: of a score as far from 0 by chance",)
    for is_rate, key, title in ((False, "scores", "Scores"), (True, "ratings", "Ratings: -1 lowest, 1 highest")):
        rows = tuple(
            (*_named(scores, pairing), *estimate[:-1], corrected.get(pairing), estimate.why)
            for pairing, estimate in scores.estimates.items()
            if (pairing.kind == RATE) == is_rate and CLUSTER in scores.settings.methods
        )
        yield Table(key, title, (*_NAMES, *_ESTIMATE, *_HOLM, *_NOTE), rows, notes)


def _humanr_table(scores: StudyScores) -> Iterator[Table]:
    figures = humanr_scores(scores.rows) if HUMANR in scores.settings.methods else {}
    rows = tuple((*_named(scores, pairing), *figures[pairing]) for pairing in scores.names if pairing in figures)
    failed = len(humanr_failures(scores.rows))
    notes = (
        f"without {counted(failed, 'assignment')} whose checks failed, whatever --exclude says",
        "printed: HUMANr's ±, cut at -1 on the lower side alone; half, low and high are not cut",
        "HUMANr takes answers as independent: its interval is too narrow where raters or images differ",
    )
    shown = columns(n=COUNT, sum=DECIMAL, HUMANr=DECIMAL, printed=DECIMAL, SD=DECIMAL, error=DECIMAL, half=DECIMAL)
    yield Table("humanr", "HUMANr's own figures", (*_NAMES, *shown, *_BOUNDS, *_NOTE), rows, notes)


def _strength_table(scores: StudyScores) -> Iterator[Table]:
    if BRADLEY_TERRY in scores.settings.methods:
        rows = tuple(
            (dimension, *row)
            for dimension, pairings in grouped(scores.samples, lambda pairing: pairing.dimension).items()
            for row in strengths({pairing: scores.samples[pairing] for pairing in pairings})
        )
        shown = (*columns(dimension=TEXT, source=TEXT, n=COUNT, log_odds=DECIMAL), *_INTERVAL)
        shown += columns(Elo=DECIMAL, plain_error=DECIMAL, note=TEXT)
        notes = ("ties half; interval: two-way clusters of raters and images; plain error: of independent answers",)
        yield Table("strengths", "Strengths by Bradley and Terry", shown, rows, notes)


def _pair_tables(scores: StudyScores) -> Iterator[Table]:
    compared = {pairing: sample for pairing, sample in scores.samples.items() if pairing.kind == COMPARE}
    won = []
    for pairing, sample in compared.items():
        wins, ties, losses = (int((np.sign(sample.scores) == sign).sum()) for sign in (1, 0, -1))
        won.append((*_named(scores, pairing), wins, ties, losses, (wins + ties / 2) / len(sample.scores)))
    shown = (*_NAMES, *columns(wins=COUNT, ties=COUNT, losses=COUNT, rate=DECIMAL))
    yield Table("outcomes", "Wins, ties and losses", shown, tuple(won))
    differences = {pair: difference(*(scores.samples[pairing] for pairing in pair)) for pair in rivals(scores.samples)}
    corrected = _corrected(differences, lambda pair: pair[0].dimension)
    apart = tuple(
        (*_named(scores, pair[0]), scores.names[pair[1]], of.n, *of[3:-1], corrected.get(pair), of.why)
        for pair, of in differences.items()
    )
    shown = columns(dimension=TEXT, first=TEXT, second=TEXT, n=COUNT, difference=DECIMAL)
    yield Table("differences", "Differences: first minus second", (*shown, *_INTERVAL, *_HOLM, *_NOTE), apart)


# Raters and groups -----------------------------------------------------------------------------------------------


def _agreement_table(scores: StudyScores) -> Iterator[Table]:
    by_kind = sorted(grouped(scores.real, lambda row: (row.dimension, row.kind)).items())
    metric = scores.settings.alpha
    rows = tuple((*key, *alpha(by_item(of_kind, score_of), metric)) for key, of_kind in by_kind)
    shown = columns(dimension=TEXT, kind=TEXT, metric=TEXT, items=COUNT, values=COUNT, alpha=DECIMAL)
    yield Table("agreement", "Agreement of raters (Krippendorff's alpha)", (*shown, *_BOUNDS, *_NOTE), rows)


def _side_table(scores: StudyScores) -> Iterator[Table]:
    if compared := [row for row in scores.real if row.kind == COMPARE]:
        sides = Counter(np.sign(list(map(lean_of, compared))).tolist())
        lean = two_way_interval(sample_of(compared, lean_of))
        shown = (*columns(left=COUNT, middle=COUNT, right=COUNT, lean=DECIMAL), *_INTERVAL, *_NOTE)
        title = "Side bias: 1 always the right text, -1 always the left one"
        yield Table("side", title, shown, ((sides[-1], sides[0], sides[1], *lean[3:]),))


def _group_tables(scores: StudyScores) -> Iterator[Table]:
    """Yield the groups of each field, the worst first."""
    shown = (*_NAMES, *_ESTIMATE, *_NOTE)
    for field in scores.settings.fields:
        rows = tuple(
            (group[1], *_named(scores, group[2]), *estimate)
            for group, estimate in scores.groups.items()
            if group[0] == field
        )
        yield Table(f"by_{field}", f"By {field}, worst first", (Column(field), *shown), rows)


def _flag_tables(scores: StudyScores) -> Iterator[Table]:
    rows = tuple(
        (kind, *concerned(scores.rows, scores.flags, kind), "yes" if kind in scores.settings.excluded else "no")
        for kind in FLAGS
        if scores.rows and (kind != WEBDRIVER or scores.has_events)
    )
    notes = [f"nothing is deleted: --exclude {NOTHING} scores all answers"]
    if not scores.has_events:
        notes.append("webdriver: not known, the export has no events")
    shown = columns(flag=TEXT, raters=COUNT, assignments=COUNT, answers=COUNT, left_out=TEXT)
    yield Table("flags", "Flags", shown, rows, tuple(notes))
    flagged = tuple((flag.kind, flag.rater, flag.assignment or "all", flag.detail) for flag in scores.flags)
    shown = columns(flag=TEXT, rater=TEXT, assignment=TEXT, detail=TEXT)
    yield Table("flagged", "Flagged raters and assignments", shown, flagged)


_TABLES: tuple[Callable[[StudyScores], Iterator[Table]], ...] = (
    *(_score_tables, _humanr_table, _strength_table, _pair_tables),
    lambda scores: answer_tables(scores.answered),
    *(_agreement_table, _side_table, _group_tables, _flag_tables),
)


# Figures ------------------------------------------------------------------------------------------------------------

_AXIS = Axis(-1, 1)
_WORSE, _EQUAL, _BETTER = (209, 97, 46), (217, 222, 227), (64, 125, 171)


def score_figures(scores: StudyScores, tables: Sequence[Table]) -> Iterator[Figure]:
    """Yield the figures: answers, scores in all and by each field, and the accuracy of answers to questions."""
    for table in tables:
        columns = [column.name for column in table.columns]
        if "score" in columns:
            yield interval_figure(table, "score", _AXIS, 0, "+.2f")
        elif "accuracy" in columns and "low" in columns:
            yield interval_figure(table)
    if scores.samples:
        rows = [
            _distribution(scores.label(pairing), Counter(of.scores.tolist())) for pairing, of in scores.samples.items()
        ]
        caption = "blue: for the system; orange: for the reference; middle of the scale at 0"
        yield Figure("Answers", caption, draw(_AXIS, rows))


def _distribution(label: str, counts: Counter[float]) -> Row:
    """Return bars of the answers from the worst to the best, half of those in the middle on each side of 0."""
    total = counts.total()
    left = -(sum(count for score, count in counts.items() if score < 0) + counts[0.0] / 2) / total
    parts = [(f"{score:+.2f}: {counts[score]:,}", counts[score] / total, _shade(score)) for score in sorted(counts)]
    return Row(label, f"n = {total:,}", bars(_AXIS, left, parts))


def _shade(score: float) -> str:
    """Return the color of an answer: grey in the middle, stronger towards the ends."""
    end = _BETTER if score > 0 else _WORSE
    mixed = (round(grey + (full - grey) * abs(score)) for grey, full in zip(_EQUAL, end, strict=True))
    return f"rgb({','.join(map(str, mixed))})"
