"""Statistics of files as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.score.file_kinds import SAMPLES, TRIALS
from vqagen.score.items.reading import Source, find_items, read_items
from vqagen.score.items.table import Items
from vqagen.score.report.table import Report
from vqagen.shortcuts.dialog_statistics import dialog_statistics
from vqagen.shortcuts.guessing import guess_questions, guess_rounds
from vqagen.shortcuts.question_statistics import question_statistics
from vqagen.shortcuts.trial_statistics import trial_statistics


def stats(source: Source, *, against: Source | None = None, on_read: Callable[[int], None] | None = None) -> Report:
    """Return the statistics of questions, dialogs or trials, with guesses of their answers.

    The `source` is a file or folder, or records in memory. Guesses of questions and dialogs see no picture, and are
    tested on `against`, which is about other scenes; without it, on images that they were not learned from. Trials are
    answered by policies that miss a view or words. `on_read` is called now and then with the number of questions,
    dialogs or trials read since, for a progress bar.
    """
    source = source if isinstance(source, str | Path | Mapping) else list(source)
    found = find_items(source)
    if found.kind in (TRIALS, SAMPLES):
        if against is not None:
            raise UsageError(f"{found.path} holds trials, whose policies learn nothing: leave out against")
        return trial_statistics(found, on_read or (lambda _: None))
    items = _read(source, on_read)
    if not len(items):
        raise BadInput([Problem("no rounds" if items.kind == "dialogs" else f"no {items.kind}", items.name)])
    tested = None if against is None else _read(against, on_read)
    if tested is not None and tested.name == items.name:
        raise UsageError(f"--against {tested.name} is the file itself; name one about other scenes, or leave it out")
    if tested is not None and tested.kind != items.kind:
        raise UsageError(f"--against {tested.name} holds {tested.kind}, but {items.name} holds {items.kind}")
    if items.kind == "dialogs":
        return dialog_statistics(items, *guess_rounds(items, tested))
    return question_statistics(items, *guess_questions(items, tested))


def _read(source: Source, on_read: Callable[[int], None] | None) -> Items:
    return read_items(source, learning=True, allow_unanswered=True, on_read=on_read)
