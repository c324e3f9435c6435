"""The report of an evaluation: what was scored and how, accuracies of groups, and the tables that fit its questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vqagen.errors import UsageError, counted, unknown
from vqagen.files.visual7w import QUESTION_TYPES
from vqagen.items.answers import LIST, WORD, Answer, plain, vocabulary_of
from vqagen.items.table import OPEN
from vqagen.report.table import (
    COUNT,
    SHARE,
    TEXT,
    Column,
    Gate,
    Report,
    Table,
    Threshold,
    columns,
    matching_thresholds,
    nonempty,
)
from vqagen.report.writers import interval_figure
from vqagen.score.answers.judging import TYPED
from vqagen.score.evaluate.evaluation import CROSS, OVERALL, SKIP, SMALL, Coverage, Evaluation, Row
from vqagen.score.evaluate.tables import PAIRS, answer_tables, dialogs_table, pairs_table, share, trial_tables

VISUAL7W = "visual7w"
DIALOGS, TRIALS = "dialogs", "trials"
_GROUP_COLUMNS = columns(
    n=COUNT, correct=COUNT, accuracy=SHARE, low=SHARE, high=SHARE, floor=SHARE, skill=SHARE, note=TEXT
)
_SCREEN_FIELDS = ("category", "type", "answer_type")
"""The groups that a screen shows unless the user asks for others: the first field of these that there is."""
_NOUNS = {DIALOGS: "round", TRIALS: "trial"}
"""Format -> an item, for people."""
_THRESHOLD = re.compile(r"(?P<group>.+)=\s*(?P<least>0(\.\d*)?|1(\.0*)?|\.\d+)")
"""A group (`overall`, the name of a row such as `exist`, or field and row: `category:exist`) and its least accuracy."""
FIELD_SIGN = ":"
_STRICT = {
    "missing": ("missing prediction", ""),
    "duplicate": ("duplicate prediction", ""),
    "unknown": ("prediction", " with an unknown id"),
    "not_an_option": ("answer", " outside of the options"),
}
"""Fault of coverage -> the noun to count, and what follows it."""


def score_report(
    evaluation: Evaluation,
    *,
    group_by: Sequence[str] = (),
    fail_under: Sequence[str] = (),
    strict: bool = False,
    predictions: str = "",
) -> Report:
    """Return the report of an evaluation: accuracies of groups, further measures, and whether its gates are met.

    `group_by` are fields and crosses of fields such as `category*depth`, by default those of the file; `fail_under` are
    thresholds such as `overall=0.9`; `strict` demands complete predictions; the report calls them `predictions`, by
    default as their file. UsageError for groups that the questions do not have.
    """
    evaluation = replace(evaluation, predictions=predictions or evaluation.predictions)
    groups = dict.fromkeys((OVERALL, *(group_by or evaluation.groups)))
    rows = {by: evaluation.table(by) for by in groups}
    tables = nonempty([*(group_table(by, found) for by, found in rows.items()), *_further_tables(evaluation)])
    if evaluation.items.format == TRIALS:  # of pairs the headline is that both are right
        tables = tuple(sorted(tables, key=lambda table: table.key != PAIRS))
    tables = _with_details(tables, group_by)
    accuracies = {(by, row.name): row.accuracy for by, found in rows.items() for row in found}
    gates = [*threshold_gates(read_thresholds(fail_under), accuracies)]
    gates += strict_gates(evaluation.coverage) if strict else ()
    title = f"Scores of {evaluation.predictions} on {evaluation.items.name}"
    figures = tuple(interval_figure(table) for table in tables if table.key in rows and not table.is_detail)
    return Report(title, _head(evaluation), tables, _facts(evaluation), tuple(gates), figures)


def _with_details(tables: Sequence[Table], fields: Sequence[str]) -> tuple[Table, ...]:
    """Mark what a screen leaves out: it shows the headline, overall, and the groups of `fields`, by default of one."""
    keys = [table.key for table in tables]
    shown = [by for by in (OVERALL, *(fields or _SCREEN_FIELDS)) if by in keys]
    shown = [*(shown if fields else shown[:2]), *(key for key in keys[:1] if key == PAIRS)]
    return tuple(replace(table, is_detail=table.key not in shown) for table in tables)


def toolkit_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the lines that Visual7W's toolkit logs, without their times. UsageError for questions without a type."""
    if "type" not in evaluation.items.fields:
        raise UsageError(f"--profile {VISUAL7W} is for questions with a type: {evaluation.items.name} has none")
    order = {name: place for place, name in enumerate(QUESTION_TYPES)}
    types = sorted(evaluation.table("type"), key=lambda row: (order.get(row.name, len(order)), row.name))
    correct, total = sum(round(row.correct) for row in types), sum(row.n for row in types)
    yield f"Evaluated on {total:,} QA pairs with top-{next(iter(evaluation.credits))} predictions."
    yield f"Overall accuracy = {correct / total if total else 0:.3f}"
    for row in types:
        yield f'Question type "{row.name}" accuracy = {round(row.correct) / row.n:.3f} ({round(row.correct)} / {row.n})'


def _head(evaluation: Evaluation) -> tuple[str, ...]:
    """Return what was scored, how much of it, and how answers are compared."""
    found, used, most = evaluation.coverage, evaluation.settings, next(iter(evaluation.credits))
    treated = "left out" if used.missing == SKIP else "counted as wrong"
    asked = counted(found.questions, _NOUNS.get(evaluation.items.format, "question"))
    top = f", first {most} candidates" if most > 1 else ""
    intervals = f"by {used.cluster}" if used.cluster else "Wilson"
    ids = found.first_ids()
    return (
        f"{evaluation.predictions} on {evaluation.items.name}: {asked}, mode {evaluation.items.mode}",
        f"coverage: {found.answered:,} of {found.questions:,} answered "
        f"({found.answered / found.questions:.1%}); {found.missing:,} missing ({treated}), "
        f"{found.duplicate:,} duplicate, {found.unknown:,} unknown, {found.not_an_option:,} not an option",
        f"replies: {found.read:,} read, {found.ambiguous:,} ambiguous, {found.not_read:,} not read "
        f"({found.not_read / found.questions:.1%}), "
        f"{found.no_valid_answer:,} no valid answer",
        *([f"first ids: {ids}"] if ids else []),
        *_unknown_words(evaluation),
        f"answers: compared as {used.preset}{top}; 95 % intervals: {intervals}; floor: best guess without the picture",
    )


def _unknown_words(evaluation: Evaluation) -> Iterator[str]:
    """Yield a line about answers that are no words of the file's domain, in whose replies no answer can be found."""
    items, used = evaluation.items, evaluation.settings
    words = vocabulary_of(items.info, items.kind == DIALOGS).words
    golds = enumerate(items.gold.values)
    bare = [code for code, gold in golds if gold.kind in (WORD, LIST) and not _is_of(gold.answers[0], words)]
    if (number := int(np.isin(items.gold.codes, bare).sum())) and used.preset == TYPED and items.mode == OPEN:
        example = items.gold.values[bare[0]].text
        yield (
            f"words: replies to {counted(number, 'question')} are compared as whole texts, as the file's info does not"
            f" carry words such as {example!r}"
        )


def _is_of(answer: Answer, words: Mapping[str, str]) -> bool:
    return all(plain(str(each)) in words for each in (answer if isinstance(answer, tuple) else (answer,)))


def _facts(evaluation: Evaluation) -> dict[str, object]:
    """Return what the head states, for JSON."""
    used = evaluation.settings
    return {
        "questions": evaluation.items.name,
        "predictions": evaluation.predictions,
        "format": evaluation.items.format,
        "coverage": evaluation.coverage._asdict(),
        "settings": {
            "mode": evaluation.items.mode,
            "normalise": used.preset,
            "top_k": list(evaluation.credits),
            "missing": used.missing,
            "cluster": used.cluster or None,
        },
    }


def group_table(by: str, rows: Sequence[Row]) -> Table:
    """Return the accuracies of groups as a table."""
    title = by.replace("_", " ").replace(CROSS, " × ").capitalize()
    cells = tuple((*row[:8], "small" * (row.n < SMALL)) for row in rows)
    return Table(by, title, (Column("group" if by == OVERALL else by), *_GROUP_COLUMNS), cells)


def _further_tables(evaluation: Evaluation) -> Iterator[Table | None]:
    """Yield the tables beyond accuracies; None for those that have no rows."""
    if len(evaluation.credits) > 1:  # several numbers of candidates were asked for
        kept = evaluation.is_counted
        totals = {k: float(credits[kept].sum()) for k, credits in evaluation.credits.items()}
        n = int(kept.sum())
        rows = tuple((k, n, total, share(total, n)) for k, total in totals.items())
        yield Table("top_k", "First k candidates", columns(k=COUNT, n=COUNT, correct=COUNT, accuracy=SHARE), rows)
    yield from answer_tables(evaluation)
    yield pairs_table(evaluation)
    if evaluation.items.format == DIALOGS:
        yield dialogs_table(evaluation)
    if evaluation.items.format == TRIALS:
        yield from trial_tables(evaluation)


# Gates ----------------------------------------------------------------------------------------------------------------


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Read options such as `overall=0.9,exist=0.95`. UsageError for all that are no thresholds."""
    return matching_thresholds(texts, _THRESHOLD, "a group and a share, such as overall=0.9")


def threshold_gates(thresholds: Iterable[Threshold], accuracies: Mapping[tuple[str, str], float]) -> Iterator[Gate]:
    """Yield the gates of accuracies by field and name of the row.

    UsageError for names of no group, and for those of several groups with different accuracies.
    """
    faults = []
    for threshold in thresholds:
        group, least = threshold["group"].strip(), float(threshold["least"])
        named = {key: share for key, share in accuracies.items() if group in (key[1], FIELD_SIGN.join(key))}
        if len(set(named.values())) == 1:
            accuracy = next(iter(named.values()))
            problem = "" if accuracy >= least else f"{group}: accuracy {accuracy:.4f} is below {least:g}"
            yield Gate(f"{group}>={least:g}", problem)
        elif named:
            full = ", ".join(map(FIELD_SIGN.join, named))
            faults.append(f"--fail-under: several groups are named {group!r}; write one of {full}")
        else:
            names = list(dict.fromkeys(name for _, name in accuracies))
            faults.append(f"--fail-under: {unknown('group', group, names)}")
    if faults:
        raise UsageError("\n".join(faults))


def strict_gates(coverage: Coverage) -> Iterator[Gate]:
    """Yield the gates of `--strict`: no fault of coverage."""
    for fault, (noun, rest) in _STRICT.items():
        number = getattr(coverage, fault)
        problem = f"{counted(number, noun)}{rest}: {coverage.ids(fault)}" if number else ""
        yield Gate(f"no {noun}{rest}", problem)
