"""The report on evaluations: the published director task's tables, kinds of answers, and the gap to the twin story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from vqagen.inspect_tasks.logs import read_runs
from vqagen.inspect_tasks.outcomes import LoggedRun, Outcome, Share, describe_run, share_of, share_of_pairs
from vqagen.inspect_tasks.prompts import DIRECTOR
from vqagen.judge.director.mistakes import KINDS
from vqagen.judge.director.rules import CONTROL, HORIZONTAL, MIRRORED, NONE, PARTICIPANT, RELATION, SIZE, TEST, VERTICAL
from vqagen.language.domain_files import PathLike

Cells = Mapping[str, Share | float | None]
"""Column -> a share, a difference of shares, or nothing."""
ALL = "all"
GAP = "gap"
SHARED, DIFFERENT = "shared", "different"
RULE_CLASSES = (NONE, SIZE, VERTICAL, HORIZONTAL, RELATION)


@dataclass(frozen=True)
class Table:
    """A table of shares."""

    name: str
    """The key in JSON."""
    title: str
    rows: Mapping[str, Cells]

    def lines(self) -> Iterator[str]:
        """Yield the table for people."""
        columns = list(next(iter(self.rows.values())))
        cells = [["", *columns], *([name, *(_shown(row[each]) for each in columns)] for name, row in self.rows.items())]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        yield self.title
        for row in cells:
            yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()

    def to_record(self) -> dict[str, dict[str, Any]]:
        """Return the rows, for JSON."""
        return {
            name: {column: cell.to_record() if isinstance(cell, Share) else cell for column, cell in row.items()}
            for name, row in self.rows.items()
        }


def _shown(cell: Share | float | None) -> str:
    if cell is None:
        return "–"
    return str(cell) if isinstance(cell, Share) else f"{cell:+.1%}"


@dataclass(frozen=True)
class RunReport:
    """The tables of one run."""

    run: LoggedRun
    twin: LoggedRun | None
    """The run of the story without a director that answered the same trials."""

    def tables(self) -> Iterator[Table]:
        """Yield the tables that have rows."""
        outcomes = self.run.outcomes
        made = [
            Table("overall", "correct answers", _overall(outcomes)),
            *(_perspective_tables(outcomes) if self.run.story == DIRECTOR else ()),
            Table("kinds", "kinds of answers", _kinds(outcomes)),
            Table("conditions", "by rule, words and physics", _conditions(outcomes)),
        ]
        if self.twin is not None:
            title = "against the same trials without a director"
            made.append(Table("no_director", title, _against_twin(outcomes, self.twin.outcomes)))
        return (table for table in made if table.rows)

    def lines(self, number: str = "") -> Iterator[str]:
        """Yield the report for people; `number` stands before its title."""
        yield f"{number}{describe_run(self.run)}"
        for table in self.tables():
            yield ""
            yield from table.lines()

    def to_record(self) -> dict[str, Any]:
        """Return the report, for JSON."""
        run = self.run
        return {
            "log": run.log,
            "respondent": run.respondent,
            "story": run.story,
            "format": run.format,
            "dataset": run.dataset,
            "conditions": dict(run.conditions),
            "status": run.status,
            "answers": len(run.outcomes),
            "unscored": run.unscored,
            "twin": self.twin.log if self.twin else None,
            "tables": {table.name: table.to_record() for table in self.tables()},
        }


@dataclass(frozen=True)
class EvaluationReport:
    """The reports of runs, those with a director first, each beside its twin if that is among the runs."""

    runs: tuple[RunReport, ...]

    @classmethod
    def of(cls, runs: Iterable[LoggedRun]) -> Self:
        """Return the report of runs."""
        all_runs = list(runs)
        directed = [run for run in all_runs if run.story == DIRECTOR]
        others = [run for run in all_runs if run.story != DIRECTOR]
        alone = (RunReport(run, None) for run in others)
        return cls((*(RunReport(run, _twin_of(run, others)) for run in directed), *alone))

    def lines(self) -> Iterator[str]:
        """Yield the report for people, below a table of all runs if there are several."""
        if len(self.runs) == 1:
            yield from self.runs[0].lines()
            return
        rows = {f"{place}. {each.run.name}": _by_type(each.run.outcomes) for place, each in enumerate(self.runs, 1)}
        yield from Table("runs", "correct answers", rows).lines()
        for place, each in enumerate(self.runs, 1):
            yield from ("", "", *each.lines(f"{place}. "))
        yield from (f"\nnote: {note}" for note in self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The runs without a director that are the twin of no other."""
        used = {each.twin.log for each in self.runs if each.twin is not None}
        return tuple(
            f"{each.run.log}: no log with a director is of the same model, format and trials"
            for each in self.runs
            if each.run.story != DIRECTOR and each.run.log not in used and len(self.runs) > 1
        )

    def to_record(self) -> dict[str, Any]:
        """Return the report, for JSON."""
        return {"runs": [each.to_record() for each in self.runs], "notes": list(self.notes)}


def _twin_of(run: LoggedRun, candidates: Iterable[LoggedRun]) -> LoggedRun | None:
    """Return the candidate of the same respondent, format and trials that shares the most conditions."""
    trials = {outcome.trial for outcome in run.outcomes}
    twins = [
        each
        for each in candidates
        if (each.respondent, each.format) == (run.respondent, run.format)
        and any(outcome.trial in trials for outcome in each.outcomes)
    ]
    return min(twins, key=lambda each: len(each.conditions.items() ^ run.conditions.items()), default=None)


# Tables -----------------------------------------------------------------------------------------------------------


def _overall(outcomes: Sequence[Outcome]) -> dict[str, Cells]:
    pairs = share_of_pairs(outcomes)
    return {ALL: {**_by_type(outcomes), **({} if pairs is None else {"both of a pair": pairs})}}


def _by_type(outcomes: Sequence[Outcome]) -> dict[str, Share | float | None]:
    control = share_of(each for each in outcomes if each.trial_type == CONTROL)
    test = share_of(each for each in outcomes if each.trial_type == TEST)
    return {CONTROL: control, TEST: test, GAP: _gap(control, test)}


def _gap(first: Share | None, second: Share | None) -> float | None:
    return None if first is None or second is None else first.rate - second.rate


def _perspective_tables(outcomes: Sequence[Outcome]) -> Iterator[Table]:
    """Yield the three tables of the published task.

    It judges visual perspective by trials without left and right that are not in the participant's words, spatial
    perspective by control trials, and both at once by all trials of spatial rules.
    """
    visual = [each for each in outcomes if each.rule not in MIRRORED and each.frame != PARTICIPANT]
    yield Table(
        "visual",
        "visual perspective: the director sees the same answer (control trials), or another one (test trials)",
        _compared(visual, (ALL, *RULE_CLASSES), lambda each: each.differs_visually),
    )
    spatial = [each for each in outcomes if each.rule_class in (VERTICAL, HORIZONTAL, RELATION)]
    yield Table(
        "spatial",
        "spatial perspective, in control trials: the participant's directions, or the director's left and right",
        _compared(
            [each for each in spatial if each.trial_type == CONTROL],
            (ALL, *RULE_CLASSES),
            lambda x: x.differs_spatially,
        ),
    )
    joint = {
        f"visual {name}": _split([each for each in spatial if each.differs_visually is differs], _differs_spatially)
        for name, differs in ((SHARED, False), (DIFFERENT, True))
    }
    title = "both perspectives at once: trials with spatial rules"
    yield Table("joint", title, {name: _renamed(row) for name, row in joint.items()} if spatial else {})


def _differs_spatially(outcome: Outcome) -> bool:
    return outcome.differs_spatially


def _renamed(row: Cells) -> Cells:
    return {f"spatial {name}" if name != GAP else name: cell for name, cell in row.items()}


def _compared(outcomes: Sequence[Outcome], rows: Sequence[str], differs: Callable[[Outcome], bool]) -> dict[str, Cells]:
    """Return a row for each class of rules with outcomes, and for all."""
    return {
        name: _split(chosen, differs)
        for name in rows
        if (chosen := [each for each in outcomes if name in (ALL, each.rule_class)])
    }


def _split(outcomes: Sequence[Outcome], differs: Callable[[Outcome], bool]) -> Cells:
    shared = share_of(each for each in outcomes if not differs(each))
    different = share_of(each for each in outcomes if differs(each))
    return {SHARED: shared, DIFFERENT: different, GAP: _gap(shared, different)}


def _kinds(outcomes: Sequence[Outcome]) -> dict[str, Cells]:
    """Return the shares of the kinds of answers."""
    by_type = {each: [one.kind for one in outcomes if one.trial_type == each] for each in (CONTROL, TEST)}
    return {
        kind: {name: Share(kinds.count(kind), len(kinds)) if kinds else None for name, kinds in by_type.items()}
        for kind in KINDS
        if any(kind in kinds for kinds in by_type.values())
    }


def _conditions(outcomes: Sequence[Outcome]) -> dict[str, Cells]:
    """Return a row for each class of rules, frame and physics."""
    found: dict[tuple[int, str, bool], list[Outcome]] = {}
    for each in outcomes:
        key = RULE_CLASSES.index(each.rule_class), each.frame, each.is_physics
        found.setdefault(key, []).append(each)
    rows: dict[str, Cells] = {}
    for (place, frame, is_physics), chosen in sorted(found.items()):
        words = "" if frame == NONE else f", {frame}'s words"
        rows[f"{RULE_CLASSES[place]}{words}{', physics' if is_physics else ''}"] = _by_type(chosen)
    return rows


def _against_twin(outcomes: Sequence[Outcome], twins: Sequence[Outcome]) -> dict[str, Cells]:
    """Return the shares of the trials that were answered in both stories, by class of rules."""
    common = {each.trial for each in outcomes} & {each.trial for each in twins}
    rows: dict[str, Cells] = {}
    for name in (ALL, *RULE_CLASSES):
        row: dict[str, Share | float | None] = {}
        for type_ in (CONTROL, TEST):
            ours, theirs = (_matching(each, common, name, type_) for each in (outcomes, twins))
            row |= {type_: ours, f"{type_}, no director": theirs, f"{type_} gap": _gap(theirs, ours)}
        if any(cell is not None for cell in row.values()):
            rows[name] = row
    return rows


def _matching(outcomes: Sequence[Outcome], trials: set[str], rule_class: str, type_: str) -> Share | None:
    return share_of(
        each
        for each in outcomes
        if each.trial in trials and rule_class in (ALL, each.rule_class) and each.trial_type == type_
    )


def report_evaluations(*logs: PathLike) -> EvaluationReport:
    """Report how models answered director trials, by logs of Inspect AI and folders of them. Needs the extra `inspect`.

    Raises BadInput that names every log of another task.
    """
    return EvaluationReport.of(read_runs(map(str, logs)))
