"""Files of trial lists for participants: CSV with a row for each trial."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from vqagen import __version__
from vqagen.errors import UsageError
from vqagen.exchange.director_lists import ListPlan, deal_lists
from vqagen.files.fault_list import FaultList
from vqagen.files.formats import LIST
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.reading import content_hash
from vqagen.files.source import RecordSource
from vqagen.files.writer import info_beside
from vqagen.language.domain_files import PathLike
from vqagen.score.file_kinds import SAMPLES, find_trials
from vqagen.tasks.director.reading import WrittenTrial, read_trial

_FORMULA = re.compile(r"[=+\-@\t\n]")
Lists = Sequence[Sequence[WrittenTrial]]


@dataclass(frozen=True)
class ListReport:
    """The result of an export."""

    lists: int
    trials: int
    """In all lists."""


def export_trials(
    trials: PathLike, out: PathLike, *, lists: int, per_list: int, seed: int = 0, force: bool = False
) -> ListReport:
    """Write lists of the trials in a folder for participants, balanced over the cells of the design.

    The lists are one CSV table with an info beside it. Raises UsageError if a cell has too few trials, or pairs cannot
    be kept apart, and BadInput with what is wrong with the trials.
    """
    plan, out = ListPlan(lists, per_list, seed), str(out)
    check_ending(out, (".csv",), "lists of trials")
    found = find_trials(str(trials))
    beside = info_beside(out, LIST)
    for target in filter(None, (out, beside)):
        check_output(target, force, [str(path) for path in found.files])
    dealt = deal_lists(read_trials(found), plan)
    with atomic_output(out) as file:
        file.write(csv_of(dealt).encode())
    if beside is not None:
        with atomic_output(beside) as file:
            file.write(orjson.dumps({"generator": _generator(found, plan)}, option=orjson.OPT_INDENT_2) + b"\n")
    return ListReport(len(dealt), sum(map(len, dealt)))


def _generator(source: RecordSource, plan: ListPlan) -> dict[str, Any]:
    """Return what made a file; nothing in it names a path."""
    return {
        "name": "vqagen",
        "version": __version__,
        "settings": asdict(plan),
        "inputs": {"trials": content_hash(source.files)},
    }


def read_trials(source: RecordSource) -> list[WrittenTrial]:
    """Return all trials of a file. BadInput with what is wrong with any."""
    if source.kind is SAMPLES:
        raise UsageError(f"{source.path}: samples of the reference's shape have no design; give trials.jsonl")
    trials, numbers, faults = list[WrittenTrial](), set[int](), FaultList(str(source.path), "trial")
    for place, record in enumerate(source.records()):
        read, path = read_trial(record), source.kind.path(place)
        if isinstance(read, WrittenTrial):
            if read.index in numbers:
                faults.add([("trial_index", f"trial {read.index} is there twice")], path)
            numbers.add(read.index)
            trials.append(read)
        else:
            faults.add(read, path)
    faults.finish()
    return trials


# CSV ------------------------------------------------------------------------------------------------------------------

_COLUMNS: Mapping[str, Callable[[WrittenTrial], object]] = {
    "trial_index": lambda trial: trial.index,
    "image": lambda trial: trial.image or "",
    "instruction": lambda trial: trial.instruction,
    "correct": lambda trial: " ".join(trial.labels(trial.answer)),
    "egocentric": lambda trial: " ".join(trial.labels(trial.participant_answers)),
    "no_director_instruction": lambda trial: trial.twin_instruction,
    "no_director_correct": lambda trial: " ".join(trial.labels(trial.twin_answers)),
    "trial_type": lambda trial: trial.type,
    "rule_class": lambda trial: trial.rule_class,
    "rule": lambda trial: trial.rule,
    "frame": lambda trial: trial.frame or "",
    "is_physics": lambda trial: str(trial.is_physics).lower(),
    "pair": lambda trial: "" if trial.pair is None else trial.pair,
    "width": lambda trial: trial.width,
    "height": lambda trial: trial.height,
}
"""Column -> its content; `list` and `position` stand before them. Several cells are separated by blanks."""


def csv_of(lists: Lists) -> str:
    """Return lists as CSV, with a row for each trial. List and position count from 1.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("list", "position", *_COLUMNS))
    for number, trials in enumerate(lists, start=1):
        for position, trial in enumerate(trials, start=1):
            writer.writerow((number, position, *(_plain(content(trial)) for content in _COLUMNS.values())))
    return text.getvalue()


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = "\n".join(value.splitlines()) if "\r" in value else value  # a lone \r would not be quoted
    return f"'{text}" if _FORMULA.match(text) else text
