"""Statistics of files as typed calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from vqagen.errors import UsageError
from vqagen.language.domain_files import PathLike
from vqagen.language.shipped_domains import DIALOGS
from vqagen.score.director.statistics import TrialStatistics, trial_statistics
from vqagen.score.director.statistics_report import trial_report
from vqagen.score.file_kinds import TRIALS, kind_of_file, require_records
from vqagen.score.report.table import Report
from vqagen.shortcuts.figures import question_figures
from vqagen.shortcuts.stats.dialog_report import dialog_report
from vqagen.shortcuts.stats.dialog_statistics import DialogStatistics, dialog_statistics
from vqagen.shortcuts.stats.question_statistics import QuestionStatistics, question_statistics
from vqagen.shortcuts.stats.statistics_report import statistics_report

Statistics = QuestionStatistics | DialogStatistics | TrialStatistics


def stats(
    file: PathLike, *, against: PathLike | None = None, on_read: Callable[[int], None] = lambda _: None
) -> Statistics:
    """Return the statistics of a file of questions, dialogs or trials, with guesses of its answers.

    Guesses of questions and dialogs see no picture, and are tested on `against`, a file about other scenes; without it,
    on images of the file that they were not learned from. Trials are answered by policies that miss a view or words.
    `on_read` is called now and then with the number of questions, dialogs or trials read since, for a progress bar.
    """
    kind = kind_of_file(require_records(file))
    if kind is TRIALS:
        if against is not None:
            raise UsageError(f"{file} holds trials, whose policies learn nothing: leave out against")
        return trial_statistics(str(file), on_read)
    of_file = dialog_statistics if kind.key == DIALOGS else question_statistics
    return of_file(str(file), None if against is None else str(against), on_read)


def stats_report(statistics: Statistics) -> Report:
    """Return the report of statistics. Figures are of questions alone."""
    if isinstance(statistics, TrialStatistics):
        return trial_report(statistics)
    if isinstance(statistics, DialogStatistics):
        return dialog_report(statistics)
    return replace(statistics_report(statistics), figures=tuple(question_figures(statistics)))
