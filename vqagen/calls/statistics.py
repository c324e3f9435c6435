"""Statistics of files as typed calls."""

from __future__ import annotations

from collections.abc import Callable

from vqagen.errors import UsageError
from vqagen.judge.director.statistics import TrialStatistics, trial_statistics
from vqagen.judge.file_kinds import TRIALS, kind_of_file, require_records
from vqagen.judge.stats.dialog_statistics import DialogStatistics, dialog_statistics
from vqagen.judge.stats.question_statistics import QuestionStatistics, question_statistics
from vqagen.language.domain_files import PathLike
from vqagen.language.shipped_domains import DIALOGS


def stats(
    file: PathLike, *, against: PathLike | None = None, on_read: Callable[[int], None] = lambda _: None
) -> QuestionStatistics | DialogStatistics | TrialStatistics:
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


def write_stats_page(statistics: QuestionStatistics, out: PathLike, *, force: bool = False) -> None:
    """Write a page with figures of the `statistics` of a question file; it needs the extra `plots`."""
    from vqagen.draw.statistics_page import write_page  # its library takes half a second to import

    write_page(statistics, str(out), force)
