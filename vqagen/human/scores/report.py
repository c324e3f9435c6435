"""The report of the scores of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vqagen import __version__
from vqagen.errors import counted
from vqagen.human.scores.figures import score_figures
from vqagen.human.scores.gates import NamedScore, Threshold, score_gates
from vqagen.human.scores.groups import GroupScore
from vqagen.human.scores.samples import Pairing
from vqagen.human.scores.settings import BOOTSTRAP, CLUSTER, NOTHING, WEBDRIVER
from vqagen.human.scores.study_scores import StudyScores
from vqagen.human.study.item import RATE
from vqagen.score.report.table import COUNT, DECIMAL, NUMBER, TEXT, Cell, Column, Report, Table, columns, nonempty

_NAMES = columns(dimension=TEXT, comparison=TEXT)
_INTERVAL = columns(error=DECIMAL, df=COUNT, low=DECIMAL, high=DECIMAL, p=NUMBER)
_ESTIMATE = (*columns(n=COUNT, raters=COUNT, images=COUNT, score=DECIMAL), *_INTERVAL)
_HOLM = columns(p_Holm=NUMBER)
_NOTE = columns(note=TEXT)
_MOST_WORST = 10


def study_report(scores: StudyScores, thresholds: Sequence[Threshold] = ()) -> Report:
    """Return the report."""
    tables = nonempty(
        [
            *_score_tables(scores),
            _humanr_table(scores),
            _bootstrap_table(scores),
            *_strength_tables(scores),
            *_pair_tables(scores),
            *_rater_tables(scores),
            *_group_tables(scores),
            *_flag_tables(scores),
        ]
    )
    facts = {
        "info": {"version": __version__, "study": scores.name, "settings": scores.settings.to_record()},
        "answers": scores.rows,
        "scored": scores.real,
        "raters": scores.raters,
    }
    gates = tuple(score_gates(thresholds, list(_named_scores(scores))))
    return Report("Scores of raters", tuple(_head(scores)), tables, facts, gates, tuple(score_figures(scores)))


def _head(scores: StudyScores) -> Iterator[str]:
    yield f"{scores.name}: {counted(scores.rows, 'answer')}, of which {scores.real:,} to real trials are scored"
    excluded = ", ".join(scores.settings.excluded)
    yield f"left out: {excluded or 'nothing'} (check rule: {scores.settings.check_rule})"
    if not scores.real:
        yield "no answers to real trials are left: there are no scores"
        return
    yield "scores: 1 the system is clearly better, 0 both are equal, -1 the reference is clearly better"
    yield "low and high are bounds of 95 % intervals; of a small study they can lie beyond -1 and 1"


def _table(
    scores: StudyScores,
    key: str,
    title: str,
    shown: Sequence[Column],
    rows: Iterable[tuple[Cell, ...]],
    notes: Sequence[str] = (),
) -> Table:
    """Return a table without the column of dimensions if there is one dimension alone."""
    kept = [place for place, column in enumerate(shown) if column.name != "dimension" or len(scores.dimensions) > 1]
    found = tuple(tuple(row[place] for place in kept) for row in rows)
    return Table(key, title, tuple(shown[place] for place in kept), found, tuple(notes))


def _named(scores: StudyScores, pairing: Pairing) -> tuple[str, str]:
    return pairing.dimension, scores.names[pairing]


# Systems ----------------------------------------------------------------------------------------------------------


def _score_tables(scores: StudyScores) -> Iterator[Table]:
    if CLUSTER not in scores.settings.methods:
        return
    notes = ("interval: two-way clusters of raters and images; p: of a score as far from 0 by chance",)
    for is_rate, key, title in ((False, "scores", "Scores"), (True, "ratings", "Ratings: -1 lowest, 1 highest")):
        rows = (
            (*_named(scores, pairing), *found[:-1], scores.holm.get(pairing), found.why)
            for pairing, found in scores.estimates.items()
            if (pairing.kind == RATE) == is_rate
        )
        yield _table(scores, key, title, (*_NAMES, *_ESTIMATE, *_HOLM, *_NOTE), rows, notes)


def _humanr_table(scores: StudyScores) -> Table:
    names = [pairing for pairing in scores.names if pairing in scores.humanr]
    rows = (
        (
            *_named(scores, pairing),
            *(found.n, found.total, found.mean, found.printed, found.sd, found.error, found.half),
            *(found.low, found.high, found.why),
        )
        for pairing, found in ((each, scores.humanr[each]) for each in names)
    )
    notes = (
        f"without {counted(scores.humanr_failed, 'assignment')} whose checks failed, whatever --exclude says",
        "printed: HUMANr's ±, cut at -1 on the lower side alone; half, low and high are not cut",
        "HUMANr takes answers as independent: its interval is too narrow where raters or images differ",
    )
    shown = columns(n=COUNT, sum=DECIMAL, HUMANr=DECIMAL, printed=DECIMAL, SD=DECIMAL, error=DECIMAL, half=DECIMAL)
    bounds = columns(low=DECIMAL, high=DECIMAL)
    return _table(scores, "humanr", "HUMANr's own figures", (*_NAMES, *shown, *bounds, *_NOTE), rows, notes)


def _bootstrap_table(scores: StudyScores) -> Table:
    rows = (
        (
            *_named(scores, pairing),
            *(found.raters, found.resamples, "all" if found.is_exhaustive else "drawn", *found[3:]),
        )
        for pairing, found in scores.bootstraps.items()
    )
    shown = columns(raters=COUNT, resamples=COUNT, taken=TEXT, mean=DECIMAL, SD=DECIMAL, low=DECIMAL, high=DECIMAL)
    return _table(scores, BOOTSTRAP, "Bootstrap by rater", (*_NAMES, *shown, *_NOTE), rows)


def _strength_tables(scores: StudyScores) -> Iterator[Table]:
    shown = columns(source=TEXT, log_odds=DECIMAL, error=DECIMAL, low=DECIMAL, high=DECIMAL, Elo=DECIMAL, note=TEXT)
    for dimension, found in scores.rankings.items():
        key, title = "strengths", "Strengths by Bradley and Terry"
        if len(scores.dimensions) > 1:
            key, title = f"{key}_{dimension}", f"{title}: {dimension}"
        if found.why:
            yield Table(key, title, columns(source=TEXT, note=TEXT), (("-", found.why),))
            continue
        rows = ((*each[:-1], each.elo, each.why) for each in found.strengths)
        games = f"{counted(found.games, 'answer')}, ties half; error: of independent answers; low, high: by raters"
        yield _table(scores, key, title, shown, rows, (games,))


def _pair_tables(scores: StudyScores) -> Iterator[Table]:
    won = ((*_named(scores, pairing), *found, found.rate) for pairing, found in scores.outcomes.items())
    shown = columns(wins=COUNT, ties=COUNT, losses=COUNT, rate=DECIMAL)
    yield _table(scores, "outcomes", "Wins, ties and losses", (*_NAMES, *shown), won)
    apart = (
        (*each[:3], each.difference.n, *each.difference[3:-1], each.holm, each.difference.why)
        for each in scores.differences
    )
    names = columns(dimension=TEXT, first=TEXT, second=TEXT, n=COUNT, difference=DECIMAL)
    title = "Differences: first minus second"
    yield _table(scores, "differences", title, (*names, *_INTERVAL, *_HOLM, *_NOTE), apart)


# Raters and groups ------------------------------------------------------------------------------------------------


def _rater_tables(scores: StudyScores) -> Iterator[Table]:
    shown = columns(kind=TEXT, metric=TEXT, items=COUNT, values=COUNT, alpha=DECIMAL, low=DECIMAL, high=DECIMAL)
    rows = ((dimension, kind, *found) for (dimension, kind), found in scores.agreement.items())
    title = "Agreement of raters (Krippendorff's alpha)"
    yield _table(scores, "agreement", title, (*_NAMES[:1], *shown, *_NOTE), rows)
    if scores.side is not None:
        found = scores.side
        shown = (*columns(left=COUNT, middle=COUNT, right=COUNT, lean=DECIMAL), *_INTERVAL, *_NOTE)
        title = "Side bias: 1 always the right text, -1 always the left one"
        yield _table(scores, "side", title, shown, [(*found[1:], *found.estimate[3:])])


def _group_tables(scores: StudyScores) -> Iterator[Table]:
    """Yield the groups of each field, and those of all fields that are surely worse than the reference: worst first."""
    ordered = sorted(scores.groups, key=lambda each: (each.estimate.mean, each.value, each.pairing))
    for field in scores.settings.fields:
        groups = [each for each in ordered if each.field == field]
        yield _group_table(scores, f"by_{field}", f"By {field}, worst first", field, groups)
    worse = [
        each._replace(value=f"{each.field}:{each.value}")
        for each in ordered
        if each.pairing.is_against_reference and each.estimate.high is not None and each.estimate.high < 0
    ]
    yield _group_table(scores, "worst", "Worst groups: upper bound below 0", "group", worse[:_MOST_WORST])


def _group_table(scores: StudyScores, key: str, title: str, field: str, groups: Iterable[GroupScore]) -> Table:
    rows = ((each.value, *_named(scores, each.pairing), *each.estimate) for each in groups)
    return _table(scores, key, title, (Column(field), *_NAMES, *_ESTIMATE, *_NOTE), rows)


def _flag_tables(scores: StudyScores) -> Iterator[Table]:
    rows = tuple(
        (each.kind, each.raters, each.assignments, each.answers, "yes" if each.is_excluded else "no")
        for each in scores.exclusions
    )
    notes = [f"nothing is deleted: --exclude {NOTHING} scores all answers"]
    if all(each.kind != WEBDRIVER for each in scores.exclusions):
        notes.append("webdriver: not known, the export has no events")
    shown = columns(flag=TEXT, raters=COUNT, assignments=COUNT, answers=COUNT, left_out=TEXT)
    yield Table("flags", "Flags", shown, rows if scores.rows else (), tuple(notes))
    flagged = tuple((each.kind, each.rater, each.assignment or "all", each.detail) for each in scores.flags)
    shown = columns(flag=TEXT, rater=TEXT, assignment=TEXT, detail=TEXT)
    yield Table("flagged", "Flagged raters and assignments", shown, flagged)


# Gates ------------------------------------------------------------------------------------------------------------


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
    dimension, name = _named(scores, pairing)
    return f"{dimension}, {name}" if len(scores.dimensions) > 1 else name
