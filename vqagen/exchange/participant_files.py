"""Files of trial lists for participants: CSV with a row for each trial, and timelines for jsPsych 7 and 8.

A timeline is a list of trials as jsPsych takes them, but that `type` is the name of a plug-in, which a page replaces
with the plug-in itself: JSON cannot hold it. The first trial loads the pictures, and each of the others shows one with
its instruction above and a button for each cell below. `data` has what an analysis needs. It avoids `trial_index` and
`trial_type`, which jsPsych writes itself: they are `trial` and `condition`.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import orjson

from vqagen import __version__
from vqagen.bits import indexes
from vqagen.errors import UsageError
from vqagen.exchange.director_lists import ListPlan, deal_lists
from vqagen.files.output import atomic_output, check_output
from vqagen.files.reading import content_hash
from vqagen.judge.director.trial import Trial, label, read_trial
from vqagen.judge.director.trial_files import TrialFile, find_trials
from vqagen.judge.stats.fault_list import FaultList
from vqagen.records.formats import LIST
from vqagen.records.writer import info_beside

CSV, JSPSYCH = FORMS = ("csv", "jspsych")
PRELOAD, BUTTONS = "preload", "html-button-response"
"""The plug-ins of jsPsych that a page must load."""
PICTURES = (".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp")
_FORMULA = re.compile(r"[=+\-@\t\n]")
Lists = Sequence[Sequence[Trial]]


@dataclass(frozen=True)
class ListReport:
    """The result of an export."""

    lists: int
    trials: int
    """In all lists."""


def write_lists(trials: str, out: str, form: str, plan: ListPlan, force: bool = False) -> ListReport:
    """Deal lists of the trials in a folder or file, and write them to `out` in a form: `csv` or `jspsych`.

    Raises UsageError if the trials do not suffice, and BadInput with what is wrong with them.
    """
    found = find_trials(trials)
    beside = info_beside(out, LIST) if form == CSV else None
    for target in filter(None, (out, beside)):
        check_output(target, force, [str(path) for path in found.source.files])
    read = read_trials(found)
    if form == JSPSYCH:
        _raise_without_picture(read, str(found.source.path))
    lists = deal_lists(read, plan)
    info = {"generator": _generator(found, plan, form)}
    body = (
        csv_of(lists).encode() if form == CSV else orjson.dumps(timelines_of(lists, info), option=orjson.OPT_INDENT_2)
    )
    with atomic_output(out) as file:
        file.write(body)
    if beside is not None:
        with atomic_output(beside) as file:
            file.write(orjson.dumps(info, option=orjson.OPT_INDENT_2) + b"\n")
    return ListReport(len(lists), sum(map(len, lists)))


def _generator(found: TrialFile, plan: ListPlan, form: str) -> dict[str, Any]:
    """Return what made a file; nothing in it names a path."""
    settings = {"to": form, "lists": plan.lists, "per_list": plan.per_list, "seed": plan.seed}
    inputs = {"trials": content_hash(found.source.files)}
    return {
        "name": "vqagen",
        "version": __version__,
        "settings": {**settings, "allow_pairs": plan.may_hold_pairs},
        "inputs": inputs,
    }


def read_trials(found: TrialFile) -> list[Trial]:
    """Return all trials of a file. BadInput with what is wrong with any."""
    source = found.source
    if found.is_of_reference_shape:
        raise UsageError(f"{source.path}: samples of the reference's shape have no design; give trials.jsonl")
    trials, numbers, faults = list[Trial](), set[int](), FaultList(str(source.path), "trial")
    for place, record in enumerate(source.records()):
        read, path = read_trial(record), source.kind.path(place)
        if isinstance(read, Trial):
            if read.index in numbers:
                faults.add([("trial_index", f"trial {read.index} is there twice")], path)
            numbers.add(read.index)
            trials.append(read)
        else:
            faults.add([(each.place, each.message) for each in read], path)
    faults.finish()
    return trials


def _raise_without_picture(trials: Sequence[Trial], source: str) -> None:
    """Raise UsageError for trials whose image cannot be shown on a page."""
    bare = [trial for trial in trials if not (trial.image or "").lower().endswith(PICTURES)]
    if bare:
        first = f"the image of trial {bare[0].index} is {bare[0].image}" if bare[0].image else "they have no image"
        raise UsageError(
            f"{source}: {len(bare)} of {len(trials)} trials have no picture for jsPsych ({first}); make the trials "
            "with --render png or svg"
        )


# CSV ------------------------------------------------------------------------------------------------------------------

_COLUMNS: Mapping[str, Callable[[Trial], object]] = {
    "trial_index": lambda trial: trial.index,
    "image": lambda trial: trial.image or "",
    "instruction": lambda trial: trial.instruction,
    "correct": lambda trial: _answers(trial, trial.answer),
    "egocentric": lambda trial: _answers(trial, trial.participant_answers),
    "no_director_instruction": lambda trial: trial.twin_instruction or "",
    "no_director_correct": lambda trial: _answers(trial, trial.twin_answers or 0),
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


def _answers(trial: Trial, cells: int) -> str:
    return " ".join(label(cell, trial.width) for cell in indexes(cells))


# jsPsych --------------------------------------------------------------------------------------------------------------


def timelines_of(lists: Lists, info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of timelines, one for each list."""
    return {
        "info": info,
        "lists": [{"list": number, "timeline": list(_timeline(trials, number))} for number, trials in _counted(lists)],
    }


def _timeline(trials: Sequence[Trial], number: int) -> Iterator[dict[str, Any]]:
    yield {"type": PRELOAD, "images": list(dict.fromkeys(_address(trial) for trial in trials))}
    for position, trial in _counted(trials):
        cells = [label(cell, trial.width) for cell in range(trial.width * trial.height)]
        yield {
            "type": BUTTONS,
            "stimulus": f"<p>{html.escape(trial.instruction)}</p>{_picture(trial)}",
            "choices": cells,
            "button_layout": "grid",
            "grid_columns": trial.width,
            "grid_rows": trial.height,
            "data": {
                "list": number,
                "position": position,
                "trial": trial.index,
                "instruction": trial.instruction,
                "condition": trial.type,
                "rule_class": trial.rule_class,
                "rule": trial.rule,
                "frame": trial.frame,
                "is_physics": trial.is_physics,
                "pair": trial.pair,
                "correct": _answers(trial, trial.answer),
                "egocentric": _answers(trial, trial.participant_answers),
                "correct_response": indexes(trial.answer)[0],
            },
        }


def _picture(trial: Trial) -> str:
    """Return the picture in HTML, small enough to leave room for the buttons."""
    return f'<img src="{_address(trial)}" alt="" style="max-width: 100%; max-height: 55vh">'


def _counted(things: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    return enumerate(things, start=1)


def _address(trial: Trial) -> str:
    """Return the address of a picture, relative to the folder of the trials."""
    return quote(trial.image or "")
