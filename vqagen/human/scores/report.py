"""The report of the scores of a study, with its gates and, as SVG, its figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vqagen import __version__
from vqagen.errors import UsageError, counted, unknown
from vqagen.human.scores.answered import alpha, answer_tables
from vqagen.human.scores.bradley_terry import strengths
from vqagen.human.scores.flags import concerned
from vqagen.human.scores.humanr import humanr_failures, humanr_scores
from vqagen.human.scores.samples import (
    Estimate,
    Key,
    Pairing,
    by_item,
    difference,
    grouped,
    lean_of,
    rivals,
    sample_of,
    score_of,
    two_way_interval,
)
from vqagen.human.scores.settings import BRADLEY_TERRY, CLUSTER, FLAGS, HUMANR, NOTHING, WEBDRIVER
from vqagen.human.scores.study_scores import StudyScores
from vqagen.human.study.item import COMPARE, RATE
from vqagen.report.table import (
    COUNT,
    DECIMAL,
    NUMBER,
    TEXT,
    Column,
    Figure,
    Gate,
    Report,
    Table,
    Threshold,
    columns,
    matching_thresholds,
    nonempty,
)
from vqagen.report.writers import Axis, Row, bars, draw, interval_figure
from vqagen.score.intervals import holm

_NAMES = columns(dimension=TEXT, comparison=TEXT)
_BOUNDS = columns(low=DECIMAL, high=DECIMAL)
_INTERVAL = (*columns(error=DECIMAL, df=COUNT), *_BOUNDS, *columns(p=NUMBER))
_ESTIMATE = (*columns(n=COUNT, raters=COUNT, images=COUNT, score=DECIMAL), *_INTERVAL)
_HOLM = columns(p_Holm=NUMBER)
_NOTE = columns(note=TEXT)
_MOST_WORST = 10
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_THRESHOLD = re.compile(rf"(?P<group>.+)=(?P<least>{_NUMBER})(?:/(?P<upper>{_NUMBER}))?")


def rater_report(scores: StudyScores, *, fail_under: Sequence[str] = ()) -> Report:
    """Return the report of scores, and whether its gates are met: thresholds such as `A=-0.2`."""
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
    gates, figures = score_gates(read_thresholds(fail_under), scores), score_figures(scores, tables)
    return Report("Scores of raters", _head(scores), tables, facts, tuple(gates), tuple(figures))


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
        f"left out: {', '.join(scores.settings.excluded) or 'nothing'} (check rule: {scores.settings.check_rule})",
        *(explained if scores.real else nothing),
    )


def _without_dimension(table: Table) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.name != "dimension"]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=rows)


# Systems ----------------------------------------------------------------------------------------------------------


def _named(scores: StudyScores, pairing: Pairing) -> tuple[str, str]:
    return pairing.dimension, scores.names[pairing]


def _corrected(tested: Mapping[Key, Estimate], dimension: Callable[[Key], str]) -> dict[Key, float]:
    """Return the p-values that exist, corrected for their number in each dimension."""
    families = grouped((key for key in tested if tested[key].p is not None), dimension).values()
    corrected = [holm([p for key in keys if (p := tested[key].p) is not None]) for keys in families]
    return {key: p for keys, of in zip(families, corrected, strict=True) for key, p in zip(keys, of, strict=True)}


def _score_tables(scores: StudyScores) -> Iterator[Table]:
    against = {pairing: found for pairing, found in scores.estimates.items() if pairing.is_against_reference}
    corrected = _corrected(against, lambda pairing: pairing.dimension)
    notes = ("interval: two-way clusters of raters and images; p: of a score as far from 0 by chance",)
    for is_rate, key, title in ((False, "scores", "Scores"), (True, "ratings", "Ratings: -1 lowest, 1 highest")):
        rows = tuple(
            (*_named(scores, pairing), *found[:-1], corrected.get(pairing), found.why)
            for pairing, found in scores.estimates.items()
            if (pairing.kind == RATE) == is_rate and CLUSTER in scores.settings.methods
        )
        yield Table(key, title, (*_NAMES, *_ESTIMATE, *_HOLM, *_NOTE), rows, notes)


def _humanr_table(scores: StudyScores) -> Iterator[Table]:
    found = humanr_scores(scores.rows) if HUMANR in scores.settings.methods else {}
    rows = tuple((*_named(scores, pairing), *found[pairing]) for pairing in scores.names if pairing in found)
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
    found = {pair: difference(*(scores.samples[each] for each in pair)) for pair in rivals(scores.samples)}
    corrected = _corrected(found, lambda pair: pair[0].dimension)
    apart = tuple(
        (*_named(scores, pair[0]), scores.names[pair[1]], of.n, *of[3:-1], corrected.get(pair), of.why)
        for pair, of in found.items()
    )
    shown = columns(dimension=TEXT, first=TEXT, second=TEXT, n=COUNT, difference=DECIMAL)
    yield Table("differences", "Differences: first minus second", (*shown, *_INTERVAL, *_HOLM, *_NOTE), apart)


# Raters and groups ------------------------------------------------------------------------------------------------


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
    """Yield the groups of each field, and those of all fields that are surely worse than the reference: worst first."""
    shown = (*_NAMES, *_ESTIMATE, *_NOTE)
    for field in scores.settings.fields:
        rows = tuple(
            (group[1], *_named(scores, group[2]), *found) for group, found in scores.groups.items() if group[0] == field
        )
        yield Table(f"by_{field}", f"By {field}, worst first", (Column(field), *shown), rows)
    worse = [
        (":".join(group[:2]), *_named(scores, group[2]), *found)
        for group, found in scores.groups.items()
        if group[2].is_against_reference and found.high is not None and found.high < 0
    ]
    title = "Worst groups: upper bound below 0"
    yield Table("worst", title, (Column("group"), *shown), tuple(worse[:_MOST_WORST]))


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
    flagged = tuple((each.kind, each.rater, each.assignment or "all", each.detail) for each in scores.flags)
    shown = columns(flag=TEXT, rater=TEXT, assignment=TEXT, detail=TEXT)
    yield Table("flagged", "Flagged raters and assignments", shown, flagged)


_TABLES: tuple[Callable[[StudyScores], Iterator[Table]], ...] = (
    *(_score_tables, _humanr_table, _strength_table, _pair_tables),
    lambda scores: answer_tables(scores.answered),
    *(_agreement_table, _side_table, _group_tables, _flag_tables),
)


# Gates ------------------------------------------------------------------------------------------------------------


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Read options such as `A=-0.2,template=-0.3/0`. UsageError for all that are no thresholds.

    A gate is missed where the mean lies below the first number and its upper bound below the second, or else the first.
    """
    return matching_thresholds(texts, _THRESHOLD, "a group and a score, such as A=-0.2")


def score_gates(thresholds: Sequence[Threshold], scores: StudyScores) -> Iterator[Gate]:
    """Yield a gate for each threshold, which all scores of its group must meet. UsageError for unknown groups."""
    named = list(_named_scores(scores))
    known = list(dict.fromkeys(name for names, _, _ in named for name in names))
    groups = [threshold["group"].strip() for threshold in thresholds]
    faults = [
        f"--fail-under: {unknown('group', each, known)} (fields need --by)" for each in groups if each not in known
    ]
    if faults:
        raise UsageError("\n".join(faults))
    for threshold, group in zip(thresholds, groups, strict=True):
        least, upper = float(threshold["least"]), float(threshold["upper"] or threshold["least"])
        missed = "; ".join(
            f"{shown} has {found.mean:.3f}, and {found.high:.3f} for upper bound"
            for names, shown, found in named
            if group in names and found.high is not None and found.mean < least and found.high < upper
        )
        yield Gate(threshold[0], f"{threshold[0]}: {missed}" if missed else "")


def _named_scores(scores: StudyScores) -> Iterator[tuple[tuple[str, str], str, Estimate]]:
    """Yield scores with the groups that name them: a system (`A`, `fit:A`), or a field and its value (`task:t1`)."""
    for pairing, found in scores.estimates.items():
        if not pairing.is_baseline:
            yield (scores.names[pairing], ":".join(_named(scores, pairing))), scores.label(pairing), found
    for (field, value, pairing), found in scores.groups.items():
        if not pairing.is_baseline:
            yield (field, f"{field}:{value}"), f"{scores.label(pairing)} in {value}", found


# Figures -------------------------------------------------------------------------------------------------------------

_AXIS = Axis(-1, 1)
_WORSE, _EQUAL, _BETTER = (209, 97, 46), (217, 222, 227), (64, 125, 171)


def score_figures(scores: StudyScores, tables: Sequence[Table]) -> Iterator[Figure]:
    """Yield the figures: answers, scores in all and by each field, and the accuracy of answers to questions."""
    for table in tables:
        columns = [column.name for column in table.columns]
        if "score" in columns and table.key != "worst":
            yield interval_figure(table, "score", _AXIS, 0, "+.2f")
        elif "accuracy" in columns and "low" in columns:
            yield interval_figure(table)
    if scores.samples:
        rows = [_distribution(scores.label(each), Counter(of.scores.tolist())) for each, of in scores.samples.items()]
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
