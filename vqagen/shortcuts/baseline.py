"""Baselines: what a predictor answers, written as predictions, and the ladder of how often each is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import orjson

from vqagen import __version__
from vqagen.errors import BadInput, Problem, UsageError, counted, unknown
from vqagen.files.formats import JSON_LINES, Arrangement, choose_format, record_file
from vqagen.files.locations import Location, content_hash, files_below, locate
from vqagen.files.output import atomic_output, check_output
from vqagen.items.groups import FAMILIES, TYPES, places_by
from vqagen.items.guessing import Guessing
from vqagen.items.table import NONE, Items
from vqagen.language.domain_files import PathLike
from vqagen.report.table import SHARE, Cell, Column, Report, Reported, Table
from vqagen.score.intervals import Interval, cluster_interval, clustered_mean
from vqagen.score.items import read_items
from vqagen.shortcuts.predictors import NAMED, RETIRED, Predictor, applicable, predict
from vqagen.shortcuts.settings import BaselineSettings
from vqagen.tasks.record_files import trials_file

REFERENCE = "majority"
"""The baseline that every lift is measured from."""
VISUAL7W = "visual7w"
ID_KEYS = {VISUAL7W: "qa_id", "trials": "trial_index"}
"""Format of the items -> the key of their ids; `question_index` for all others."""
_GROUPS = {"category": ("category", *TYPES), "type": TYPES, "family": FAMILIES}
"""Name of groups -> the fields of which the first that any item has tells them."""
_PREDICTIONS = Arrangement("predictions", "", "question", 0)


class GroupResult(NamedTuple):
    """How often a baseline was right in one group of items."""

    n: int
    correct: float
    """The sum of credits; a whole number unless annotators differ."""
    accuracy: float
    interval: Interval
    expected: float
    """The accuracy, where answers are drawn at random before they are drawn."""
    lift: float
    """The accuracy above that of REFERENCE."""
    lift_interval: Interval

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {name: np.round(value, 6).tolist() for name, value in self._asdict().items()}


@dataclass(frozen=True, repr=False)
class BaselineResult:
    """What one baseline answered, and how often it was right."""

    baseline: Predictor
    texts: Sequence[tuple[str, ...]]
    """The answers to each item, best first; empty for an item without an answer."""
    everything: GroupResult
    """All items; those without an answer count as wrong."""
    groups: Mapping[str, Mapping[str, GroupResult]]
    """category, type or family -> its name -> result."""

    def __repr__(self) -> str:
        (low, high), every = self.everything.interval, self.everything
        accuracy = f"{every.accuracy:.3f} of {every.n:,} right ({low:.3f} to {high:.3f})"
        return f"{self.baseline.name}: {accuracy}, expected {every.expected:.3f}"

    @property
    def unanswered(self) -> int:
        """Items without an answer."""
        return sum(not text for text in self.texts)

    @property
    def notes(self) -> str:
        """What is to be said beside the accuracy; "" for nothing."""
        if not (missing := self.unanswered):
            return ""
        rest = self.everything.correct / max(1, self.everything.n - missing)
        return f"no answer to {counted(missing, 'question')}, counted as wrong; of the others {rest:.3f} are right"

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "baseline": self.baseline.name,
            "meaning": self.baseline.meaning,
            "unanswered": self.unanswered,
            **self.everything.to_record(),
            **{f"by_{key}": {name: found[name].to_record() for name in found} for key, found in self.groups.items()},
        }


@dataclass(frozen=True, repr=False)
class Ladder(Reported):
    """The results of baselines on one file of items, from the weakest to the strongest."""

    items: int
    rungs: Sequence[BaselineResult]

    def report(self) -> Report:
        """Return the table for people: a row for each baseline, with a column for each category."""
        categories = list(self.rungs[0].groups["category"]) if self.rungs else []
        shares = ("accuracy", "low", "high", "expected", "lift", *categories)
        notes = tuple(f"{rung.baseline.name}: {rung.notes}" for rung in self.rungs if rung.notes)
        rows: list[tuple[Cell, ...]] = []
        for rung in self.rungs:
            found, of_categories = rung.everything, rung.groups["category"]
            own = (found.accuracy, *found.interval, found.expected, found.lift)
            rows.append((rung.baseline.name, *own, *(of_categories[name].accuracy for name in categories)))
        heads = (Column("baseline"), *(Column(name, SHARE) for name in shares))
        return Report(
            "Baselines",
            (
                f"{counted(self.items, 'question')}; low and high are bounds of 95 % intervals",
                f"lift: the accuracy above that of {REFERENCE}",
            ),
            (Table("baselines", "Baselines", heads, tuple(rows), notes),),
            {"questions": self.items, "baselines": [rung.to_record() for rung in self.rungs]},
        )


def _result(baseline: Predictor, guessing: Guessing, items: Items) -> BaselineResult:
    """Return the answers of a baseline to `items`, the last of all. UsageError if they lack what it needs."""
    asked = np.arange(len(guessing.items) - len(items), len(guessing.items))
    reference = guessing.credits(asked, predict(NAMED[REFERENCE], guessing).ranked[asked])
    guesses = predict(baseline, guessing)
    ranked, vocabulary = guesses.ranked[asked], guessing.vocabulary
    right, expected = guessing.credits(asked, ranked), np.nan_to_num(guesses.expected[asked])

    def result(places: Any) -> GroupResult:
        own, images = right[places], items.images.codes[places]
        lift = clustered_mean(own - reference[places], images)
        return GroupResult(
            len(own),
            float(own.sum()),
            float(own.mean()),
            cluster_interval(own, images),
            float(expected[places].mean()),
            lift.mean,
            lift.interval(-1.0, 1.0),
        )

    columns = {key: items.first_column(names) for key, names in _GROUPS.items()}
    places = {key: places_by(column.map(str)) if column else {} for key, column in columns.items()}
    groups = {key: {name: result(own[name]) for name in sorted(own)} for key, own in places.items()}
    texts = [tuple(vocabulary[code] for code in row if code != NONE) for row in ranked.tolist()]
    return BaselineResult(baseline, texts, result(slice(None)), groups)


# Predictions ----------------------------------------------------------------------------------------------------------


def write_predictions(target: str, items: Items, texts: Sequence[tuple[str, ...]], generator: dict[str, Any]) -> None:
    """Write predictions; items without an answer are left out.

    About a Visual7W dataset, a file named `.json` is one list, as the toolkit's scorer reads it.
    """
    answered = [(place, answers) for place, answers in enumerate(texts) if answers]
    if _is_result_file(target):
        with atomic_output(target) as file:
            file.write(orjson.dumps([_visual7w_record(items, place, answers) for place, answers in answered]) + b"\n")
        return
    with record_file(target, JSON_LINES, {"generator": generator}, _PREDICTIONS) as writer:
        writer.write(_record(items, place, answers) for place, answers in answered)


def _is_result_file(target: str) -> bool:
    """Return true for a name that asks for a result file of the Visual7W toolkit."""
    return target.lower().endswith(".json")


def _record(items: Items, place: int, texts: Sequence[str]) -> dict[str, Any]:
    named = {"candidates": list(texts)} if len(texts) > 1 else {"answer": texts[0]}
    return {**_id_of(items.ids[place], ID_KEYS.get(items.format, "question_index")), **named}


def _visual7w_record(items: Items, place: int, texts: Sequence[str]) -> dict[str, Any]:
    """Return an entry of a result file. A box is named by its number."""
    offered = items.options.at(place)
    boxes = offered.texts if offered and all(text.isdecimal() for text in offered.texts) else ()
    candidates = [{"answer": int(text) if text in boxes else text} for text in texts]
    named = _id_of(items.ids[place], ID_KEYS[VISUAL7W])
    return {**named, "question": items.learning.texts.at(place), "candidates": candidates}


def _id_of(written: str, key: str) -> dict[str, Any]:
    """Return the id of a question; of a round, the numbers of its dialog and of the round."""
    dialog, slash, number = written.partition("/")
    if slash and dialog.isdecimal() and number.isdecimal():
        return {"dialog_index": int(dialog), "round": int(number)}
    return {key: int(written) if written.isdecimal() and str(int(written)) == written else written}


# Files ----------------------------------------------------------------------------------------------------------------


class BaselineFiles(NamedTuple):
    """The files that a baseline reads."""

    questions: PathLike
    train: PathLike | None = None
    """The questions to learn from; None to learn from the other images of `questions`."""
    mode: str = ""
    """How the questions are answered; "" for the way of their file."""
    split: str = ""
    train_split: str = ""
    image_key: str = ""
    """The key of a question's image; "" for one that is known."""

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by its role."""
        given = {"questions": _files_at(self.questions), "train": _files_at(self.train)}
        return {role: content_hash(files) for role, files in given.items() if files}


def _files_at(path: PathLike | None) -> Sequence[Location]:
    """Return a file, or the files of a folder that hold its records."""
    if path is None:
        return ()
    place = locate(path)
    own = trials_file(place) or place
    return files_below(own) if own.is_dir() else [own]


def baseline(
    name: str, files: BaselineFiles, out: PathLike, settings: BaselineSettings | None = None, *, force: bool = False
) -> BaselineResult:
    """Answer the questions of a file by a baseline, write the predictions to `out`, and return how often it is right.

    Raises UsageError if the files lack what the baseline needs.
    """
    if name in RETIRED:
        raise UsageError(f"the baseline {name!r} was removed in version 2.0: {RETIRED[name]}")
    if name not in NAMED:
        raise UsageError(unknown("baseline", name, [*NAMED, "all"]))
    chosen, target = settings or BaselineSettings(), str(out)
    if not _is_result_file(target):
        choose_format(target, None, (JSON_LINES,), "predictions")
    check_output(target, force, [str(path) for path in (files.questions, files.train) if path])
    items, guessing = _open(files, chosen)
    if _is_result_file(target) and items.format != VISUAL7W:
        raise UsageError(f"{target}: predictions are JSON Lines; name it {target[:-5]}.jsonl (.json: for Visual7W)")
    result, made = _result(NAMED[name], guessing, items), {"baseline": name, **chosen.to_record()}
    generator = {"name": "vqagen", "version": __version__, "settings": made, "inputs": files.hashes()}
    write_predictions(target, items, result.texts, generator)
    return result


def baseline_ladder(
    files: BaselineFiles,
    settings: BaselineSettings | None = None,
    on_done: Callable[[int], None] = lambda _: None,
) -> Ladder:
    """Return how often each baseline is right that the files allow; `on_done` is called with 1 after each of them."""
    items, guessing = _open(files, settings or BaselineSettings())
    rungs = []
    for predictor in applicable(guessing.items):
        rungs.append(_result(predictor, guessing, items))
        on_done(1)
    return Ladder(len(items), rungs)


def _open(files: BaselineFiles, settings: BaselineSettings) -> tuple[Items, Guessing]:
    """Read the questions and those to learn from."""
    read = partial(read_items, mode=files.mode, learning=True, image_key=files.image_key)
    items = read(files.questions, split=files.split)
    if not len(items):
        raise BadInput([Problem("no questions to answer", items.name)])
    if files.train is not None and (str(files.train), files.train_split) != (str(files.questions), files.split):
        train = read(files.train, split=files.train_split)
        return items, Guessing.across(train, items, settings.top_k, settings.seed)
    return items, Guessing.within(items, settings.top_k, settings.seed)
