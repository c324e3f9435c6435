"""The report of a study's scores: tables for every format of reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vqagen import __version__
from vqagen.errors import counted
from vqagen.human.scores.clusters import Estimate
from vqagen.human.scores.figures import score_figures
from vqagen.human.scores.gates import NamedScore, Threshold, score_gates
from vqagen.human.scores.groups import GroupScore
from vqagen.human.scores.samples import Pairing
from vqagen.human.scores.settings import BOOTSTRAP, CLUSTER, NOTHING, WEBDRIVER
from vqagen.human.scores.study_scores import PairedDifference, StudyScores
from vqagen.human.study.item import RATE
from vqagen.score.report.table import COUNT, DECIMAL, NUMBER, TEXT, Cell, Column, Report, Table, columns, nonempty

_INTERVAL = columns(error=DECIMAL, df=COUNT, low=DECIMAL, high=DECIMAL, p=NUMBER)
_ESTIMATE = (*columns(n=COUNT, raters=COUNT, images=COUNT, score=DECIMAL), *_INTERVAL)
_WHY = columns(note=TEXT)
_HUMANR = columns(n=COUNT, sum=DECIMAL, HUMANr=DECIMAL, printed=DECIMAL, SD=DECIMAL, error=DECIMAL, half=DECIMAL)
_MOST_WORST = 10


def study_report(scores: StudyScores, thresholds: Sequence[Threshold] = ()) -> Report:
    """Return the report."""
    tables = [
        *_score_tables(scores),
        _humanr_table(scores),
        _bootstrap_table(scores),
        *_strength_tables(scores),
        _outcome_table(scores),
        _difference_table(scores),
        _agreement_table(scores),
        _side_table(scores),
        *_group_tables(scores),
        _worst_table(scores),
        _exclusion_table(scores),
        _flag_table(scores),
    ]
    gates = score_gates(thresholds, list(_named_scores(scores)))
    return Report(
        "Scores of raters",
        tuple(_head(scores)),
        nonempty(tables),
        _facts(scores),
        tuple(gates),
        tuple(score_figures(scores)),
    )


def _head(scores: StudyScores) -> Iterator[str]:
    yield f"{scores.name}: {counted(scores.rows, 'answer')}, of which {scores.real:,} to real trials are scored"
    excluded = ", ".join(scores.settings.excluded)
    yield f"left out: {excluded or 'nothing'} (check rule: {scores.settings.check_rule})"
    if not scores.real:
        yield "no answers to real trials are left: there are no scores"
        return
    yield "scores: 1 the system is clearly better, 0 both are equal, -1 the reference is clearly better"
    yield "low and high are bounds of 95 % intervals; of a small study they can lie beyond -1 and 1"


def _facts(scores: StudyScores) -> dict[str, object]:
    return {
        "info": {"version": __version__, "study": scores.name, "settings": scores.settings.to_record()},
        "answers": scores.rows,
        "scored": scores.real,
        "raters": scores.raters,
    }


def _named(scores: StudyScores, pairing: Pairing) -> tuple[Cell, ...]:
    """Return the name of a comparison, behind its dimension if there are several."""
    name = scores.names[pairing]
    return (pairing.dimension, name) if len(scores.dimensions) > 1 else (name,)


def _name_columns(scores: StudyScores, **names: str) -> tuple[Column, ...]:
    shown = columns(**(names or {"comparison": TEXT}))
    return (*columns(dimension=TEXT), *shown) if len(scores.dimensions) > 1 else shown


def _cells(found: Estimate) -> tuple[Cell, ...]:
    shown = (found.n, found.raters, found.images, found.mean, found.error, found.df, found.low, found.high, found.p)
    return (*shown, found.why)


def _score_tables(scores: StudyScores) -> Iterator[Table]:
    if CLUSTER not in scores.settings.methods:
        return
    note = "interval: two-way clusters of raters and images; p: of a score as far from 0 by chance"
    for is_rate, key, title in ((False, "scores", "Scores"), (True, "ratings", "Ratings: -1 lowest, 1 highest")):
        rows = tuple(
            (*_named(scores, pairing), *_cells(found)[:-1], scores.holm.get(pairing), found.why)
            for pairing, found in scores.estimates.items()
            if (pairing.kind == RATE) == is_rate
        )
        shown = (*_name_columns(scores), *_ESTIMATE, *columns(p_Holm=NUMBER), *_WHY)
        yield Table(key, title, *_without_empty(shown, rows), (note,))


def _humanr_table(scores: StudyScores) -> Table:
    rows = tuple(
        (
            *_named(scores, pairing),
            *(found.n, found.total, found.mean, found.printed, found.sd, found.error, found.half),
            *(found.low, found.high, found.why),
        )
        for pairing in scores.names
        if (found := scores.humanr.get(pairing)) is not None
    )
    notes = (
        f"without {counted(scores.humanr_failed, 'assignment')} whose checks failed, whatever --exclude says",
        "printed: HUMANr's ±, cut at -1 on the lower side alone; half, low and high are not cut",
        "HUMANr takes answers as independent: its interval is too narrow where raters or images differ",
    )
    shown = (*_name_columns(scores), *_HUMANR, *columns(low=DECIMAL, high=DECIMAL), *_WHY)
    return Table("humanr", "HUMANr's own figures", *_without_empty(shown, rows), notes)


def _bootstrap_table(scores: StudyScores) -> Table:
    rows = tuple(
        (
            *_named(scores, pairing),
            *(found.raters, found.resamples, "all" if found.is_exhaustive else "drawn"),
            *(found.mean, found.sd, found.low, found.high, found.why),
        )
        for pairing, found in scores.bootstraps.items()
    )
    shown = columns(raters=COUNT, resamples=COUNT, taken=TEXT, mean=DECIMAL, SD=DECIMAL, low=DECIMAL, high=DECIMAL)
    return Table(BOOTSTRAP, "Bootstrap by rater", *_without_empty((*_name_columns(scores), *shown, *_WHY), rows))


def _strength_tables(scores: StudyScores) -> Iterator[Table]:
    shown = columns(source=TEXT, log_odds=DECIMAL, error=DECIMAL, low=DECIMAL, high=DECIMAL, Elo=DECIMAL)
    for dimension, found in scores.rankings.items():
        key, title = "strengths", "Strengths by Bradley and Terry"
        if len(scores.dimensions) > 1:
            key, title = f"{key}_{dimension}", f"{title}: {dimension}"
        if found.why:
            yield Table(key, title, columns(source=TEXT, note=TEXT), (("-", found.why),))
        else:
            rows = tuple((*each[:-1], each.elo, each.why) for each in found.strengths)
            notes = (
                f"{counted(found.games, 'answer')}, ties half; error: of independent answers; low, high: by raters",
            )
            yield Table(key, title, *_without_empty((*shown, *_WHY), rows), notes)


def _outcome_table(scores: StudyScores) -> Table:
    rows = tuple((*_named(scores, pairing), *found, found.rate) for pairing, found in scores.outcomes.items())
    shown = columns(wins=COUNT, ties=COUNT, losses=COUNT, rate=DECIMAL)
    return Table("outcomes", "Wins, ties and losses", (*_name_columns(scores), *shown), rows)


def _difference_table(scores: StudyScores) -> Table:
    rows = tuple(_difference_row(scores, each) for each in scores.differences)
    names = _name_columns(scores, first=TEXT, second=TEXT)
    shown = (*names, *columns(n=COUNT, difference=DECIMAL), *_INTERVAL, *columns(p_Holm=NUMBER), *_WHY)
    return Table("differences", "Differences: first minus second", *_without_empty(shown, rows))


def _difference_row(scores: StudyScores, each: PairedDifference) -> tuple[Cell, ...]:
    names = (each.dimension, each.first, each.second) if len(scores.dimensions) > 1 else (each.first, each.second)
    found = each.difference
    return (*names, found.n, found.mean, found.error, found.df, found.low, found.high, found.p, each.holm, found.why)


def _agreement_table(scores: StudyScores) -> Table:
    rows = tuple(
        (dimension, kind, each.metric, each.items, each.values, each.alpha, each.low, each.high, each.why)
        for (dimension, kind), each in scores.agreement.items()
    )
    shown = columns(dimension=TEXT, kind=TEXT, metric=TEXT, items=COUNT, values=COUNT)
    numbers = columns(alpha=DECIMAL, low=DECIMAL, high=DECIMAL)
    title = "Agreement of raters (Krippendorff's alpha)"
    return Table("agreement", title, *_without_empty((*shown, *numbers, *_WHY), rows))


def _side_table(scores: StudyScores) -> Table | None:
    if scores.side is None:
        return None
    found = scores.side
    rows = ((found.left, found.middle, found.right, *_cells(found.estimate)[3:]),)
    shown = columns(left=COUNT, middle=COUNT, right=COUNT, lean=DECIMAL)
    title = "Side bias: 1 always the right text, -1 always the left one"
    return Table("side", title, *_without_empty((*shown, *_INTERVAL, *_WHY), rows))


def _group_tables(scores: StudyScores) -> Iterator[Table]:
    for field in scores.settings.fields:
        groups = sorted((each for each in scores.groups if each.field == field), key=_by_mean)
        yield _group_table(scores, f"by_{field}", f"By {field}, worst first", groups, field)


def _worst_table(scores: StudyScores) -> Table | None:
    """Return the groups that are surely worse than the reference, the worst first."""
    worse = [
        each
        for each in scores.groups
        if each.pairing.is_against_reference and each.estimate.high is not None and each.estimate.high < 0
    ]
    rows = sorted(worse, key=_by_mean)[:_MOST_WORST]
    return _group_table(scores, "worst", "Worst groups: upper bound below 0", rows, "group", with_field=True)


def _by_mean(group: GroupScore) -> tuple[float, str, Pairing]:
    return group.estimate.mean, group.value, group.pairing


def _group_table(
    scores: StudyScores,
    key: str,
    title: str,
    groups: Iterable[GroupScore],
    field: str,
    with_field: bool = False,
) -> Table:
    rows = tuple(
        (
            f"{each.field}:{each.value}" if with_field else each.value,
            *_named(scores, each.pairing),
            *_cells(each.estimate),
        )
        for each in groups
    )
    shown = (Column(field), *_name_columns(scores), *_ESTIMATE, *_WHY)
    return Table(key, title, *_without_empty(shown, rows))


def _exclusion_table(scores: StudyScores) -> Table:
    rows = tuple(
        (each.kind, each.raters, each.assignments, each.answers, "yes" if each.is_excluded else "no")
        for each in scores.exclusions
    )
    notes = (
        ()
        if any(each.kind == WEBDRIVER for each in scores.exclusions)
        else ("webdriver: not known, the export has no events",)
    )
    shown = columns(flag=TEXT, raters=COUNT, assignments=COUNT, answers=COUNT, left_out=TEXT)
    note = f"nothing is deleted: --exclude {NOTHING} scores all answers"
    return Table("flags", "Flags", shown, rows if scores.rows else (), (note, *notes))


def _flag_table(scores: StudyScores) -> Table:
    shown = columns(flag=TEXT, rater=TEXT, assignment=TEXT, detail=TEXT)
    rows = tuple((each.kind, each.rater, each.assignment or "all", each.detail) for each in scores.flags)
    return Table("flagged", "Flagged raters and assignments", shown, rows)


def _without_empty(
    shown: tuple[Column, ...], rows: tuple[tuple[Cell, ...], ...]
) -> tuple[tuple[Column, ...], tuple[tuple[Cell, ...], ...]]:
    """Return columns and rows without the notes, if there are none."""
    if any(row[-1] for row in rows):
        return shown, rows
    return shown[:-1], tuple(row[:-1] for row in rows)


def _named_scores(scores: StudyScores) -> Iterator[NamedScore]:
    """Yield the scores that gates may name: systems by name, and groups of systems by their fields."""
    for pairing, found in scores.estimates.items():
        name = scores.names[pairing]
        if not pairing.is_baseline:
            yield NamedScore((name, f"{pairing.dimension}:{name}"), _shown(scores, pairing), found)
    for each in scores.groups:
        if not each.pairing.is_baseline:
            shown = f"{_shown(scores, each.pairing)} in {each.value}"
            yield NamedScore((each.field, f"{each.field}:{each.value}"), shown, each.estimate)


def _shown(scores: StudyScores, pairing: Pairing) -> str:
    return ", ".join(map(str, _named(scores, pairing)))
