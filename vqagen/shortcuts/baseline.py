"""Baselines: what a predictor answers, written as predictions, and the ladder of how often each is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson

from vqagen import __version__
from vqagen.errors import BadInput, Problem, UsageError, counted, unknown
from vqagen.files.formats import JSON_LINES, Arrangement, choose_format, record_file
from vqagen.files.locations import Location, content_hash, files_below, locate
from vqagen.files.output import atomic_output, check_output
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.score.intervals import Interval, cluster_interval, clustered_mean
from vqagen.score.items.reading import find_items, read_items
from vqagen.score.items.table import NONE, Items, Places
from vqagen.score.record_files import check_origin, shipped_domain, trials_file
from vqagen.score.report.table import SHARE, Cell, Column, Report, Reported, Table
from vqagen.shortcuts.groups import FAMILIES, TYPES, places_by
from vqagen.shortcuts.predictors import NAMED, Predictor, applicable, predict
from vqagen.shortcuts.scenes import EXECUTIONS, Execution, Programs
from vqagen.shortcuts.settings import BaselineSettings
from vqagen.shortcuts.task import Floats, Task, best_credit
from vqagen.world.loading import find_scenes

REFERENCE = "majority"
"""The baseline that every lift is measured from."""
VISUAL7W = "visual7w"
ID_KEYS = {VISUAL7W: "qa_id", "vqav2": "question_id", "trials": "trial_index"}
"""Format of the items -> the key of their ids; `question_index` for all others."""
_GROUPS = {"category": ("category", *TYPES), "type": TYPES, "family": FAMILIES}
"""Name of groups -> the fields of which the first that any item has tells them."""
_PREDICTIONS = Arrangement("predictions", "", "question", 0)
_BLOCK = 10_000


class Answered(NamedTuple):
    """The answers of a baseline to all items."""

    baseline: Predictor | Execution
    texts: Sequence[tuple[str, ...]]
    """Best first; empty for an item without an answer."""
    right: Floats
    """The credit of each."""
    expected: Floats
    """The same, where answers are drawn at random before they are drawn."""
    note: str = ""


def find_baseline(name: str) -> Predictor | Execution:
    """Return the baseline of a name. UsageError, with the nearest name, if there is none."""
    known: Mapping[str, Predictor | Execution] = {**NAMED, **{each.name: each for each in EXECUTIONS}}
    if name not in known:
        raise UsageError(unknown("baseline", name, [*known, "all"]))
    return known[name]


def answer(baseline: Predictor | Execution, task: Task, items: Items, programs: Programs | None) -> Answered:
    """Return the answers of a baseline to `items`, the last of the task's. UsageError if they lack what it needs."""
    asked = np.arange(len(task.items) - len(items), len(task.items))
    if isinstance(baseline, Predictor):
        guesses = predict(baseline, task)
        ranked, expected = guesses.ranked[asked], guesses.expected[asked]
        texts = [tuple(task.vocabulary[code] for code in row if code != NONE) for row in ranked.tolist()]
        return Answered(baseline, texts, task.credits(asked, ranked), np.nan_to_num(expected))
    if programs is None:
        raise UsageError(f"{baseline.name} runs programs on scenes: give --scenes")
    found = baseline.answer(programs, task.seed)
    texts = [each[: task.top_k] for each in found.texts]
    right = np.array([best_credit(items.gold.at(place), each) for place, each in enumerate(texts)])
    note = f"runs without an answer: {found.invalid:,} of {found.runs:,}" if found.invalid else ""
    return Answered(baseline, texts, right, found.expected, note)


# The ladder -----------------------------------------------------------------------------------------------------------


class GroupResult(NamedTuple):
    """How often a baseline was right in one group of items."""

    n: int
    correct: float
    """The sum of credits; a whole number unless annotators differ."""
    accuracy: float
    interval: Interval
    expected: float
    lift: float
    """The accuracy above that of REFERENCE."""
    lift_interval: Interval

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {name: np.round(value, 6).tolist() for name, value in self._asdict().items()}


@dataclass(frozen=True)
class RungResult:
    """How often one baseline was right."""

    answered: Answered
    everything: GroupResult
    """All items; those without an answer count as wrong."""
    groups: Mapping[str, Mapping[str, GroupResult]]
    """category, type or family -> its name -> result."""

    @property
    def name(self) -> str:
        """The name of the baseline."""
        return self.answered.baseline.name

    @property
    def unanswered(self) -> int:
        """Items without an answer."""
        return sum(not each for each in self.answered.texts)

    @property
    def notes(self) -> str:
        """What is to be said beside the accuracy; "" for nothing."""
        if not (missing := self.unanswered):
            return self.answered.note
        rest = self.everything.correct / max(1, self.everything.n - missing)
        unanswered = (
            f"no answer to {counted(missing, 'question')}, counted as wrong; of the others {rest:.3f} are right"
        )
        return "; ".join(filter(None, (self.answered.note, unanswered)))

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "baseline": self.name,
            "meaning": self.answered.baseline.meaning,
            "unanswered": self.unanswered,
            "note": self.answered.note,
            **self.everything.to_record(),
            **{f"by_{key}": {name: found[name].to_record() for name in found} for key, found in self.groups.items()},
        }


class Ladder(Reported):
    """The results of baselines on one file of items."""

    def __init__(self, items: Items, reference: Floats) -> None:
        """`reference` is the credit of each item that REFERENCE has."""
        self.items, self._reference = items, reference
        self.rungs: list[RungResult] = []

    def add(self, answered: Answered) -> RungResult:
        """Score the answers of one baseline, and keep its result."""
        columns = {key: self.items.first_column(names) for key, names in _GROUPS.items()}
        places = {key: places_by(column.map(str)) if column else {} for key, column in columns.items()}
        groups = {key: {name: self._result(answered, own[name]) for name in sorted(own)} for key, own in places.items()}
        self.rungs.append(RungResult(answered, self._result(answered, np.arange(len(self.items))), groups))
        return self.rungs[-1]

    def _result(self, answered: Answered, places: Places) -> GroupResult:
        right, images = answered.right[places], self.items.images.codes[places]
        lift = clustered_mean(right - self._reference[places], images)
        return GroupResult(
            len(places),
            float(right.sum()),
            float(right.mean()),
            cluster_interval(right, images),
            float(answered.expected[places].mean()),
            lift.mean,
            lift.interval(-1.0, 1.0),
        )

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {"questions": len(self.items), "baselines": [rung.to_record() for rung in self.rungs]}

    def report(self) -> Report:
        """Return the table for people: a row for each baseline, with a column for each category."""
        categories = list(self.rungs[0].groups["category"]) if self.rungs else []
        shares = ("accuracy", "low", "high", "expected", "lift", *categories)
        columns = (Column("baseline"), *(Column(name, SHARE) for name in shares))
        notes = tuple(f"{rung.name}: {rung.notes}" for rung in self.rungs if rung.notes)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                rung.name,
                rung.everything.accuracy,
                *rung.everything.interval,
                rung.everything.expected,
                rung.everything.lift,
                *(rung.groups["category"][name].accuracy for name in categories),
            )
            for rung in self.rungs
        )
        head = (
            f"{counted(len(self.items), 'question')}; low and high are bounds of 95 % intervals",
            f"lift: the accuracy above that of {REFERENCE}",
        )
        return Report("Baselines", head, (Table("baselines", "Baselines", columns, rows, notes),), self.to_record())


# Predictions ----------------------------------------------------------------------------------------------------------


def check_target(target: str, force: bool, inputs: Sequence[str]) -> None:
    """Raise UsageError if predictions cannot be written to a file."""
    if not _is_result_file(target):
        choose_format(target, None, (JSON_LINES,), "predictions")
    check_output(target, force, inputs)


def check_questions(target: str, format: str) -> None:
    """Raise UsageError for the name of a result file of the Visual7W toolkit about other questions."""
    if _is_result_file(target) and format != VISUAL7W:
        raise UsageError(f"{target}: predictions are JSON Lines; name it {target[:-5]}.jsonl (.json: for Visual7W)")


def _is_result_file(target: str) -> bool:
    """Return true for a name that asks for a result file of the Visual7W toolkit."""
    return target.lower().endswith(".json")


def write_predictions(
    target: str,
    items: Items,
    texts: Sequence[tuple[str, ...]],
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
) -> None:
    """Write predictions; items without an answer are left out. `inputs` are content hashes by role.

    About a Visual7W dataset, a file named `.json` is one list, as the toolkit's scorer reads it.
    """
    answered = [(place, each) for place, each in enumerate(texts) if each]
    if _is_result_file(target):
        with atomic_output(target) as file:
            file.write(orjson.dumps([_visual7w_record(items, place, each) for place, each in answered]) + b"\n")
        return
    generator = {"name": "vqagen", "version": __version__, "settings": dict(settings), "inputs": dict(inputs)}
    with record_file(target, JSON_LINES, {"generator": generator}, _PREDICTIONS) as writer:
        records = [_record(items, place, each) for place, each in answered]
        for start in range(0, len(records), _BLOCK):
            writer.write(records[start : start + _BLOCK])


def _record(items: Items, place: int, texts: Sequence[str]) -> dict[str, Any]:
    named = {"candidates": list(texts)} if len(texts) > 1 else {"answer": texts[0]}
    return {**_id_of(items.ids[place], ID_KEYS.get(items.format, "question_index")), **named}


def _visual7w_record(items: Items, place: int, texts: Sequence[str]) -> dict[str, Any]:
    """Return an entry of a result file. A box is named by its number."""
    offered = items.options.at(place)
    boxes = offered.texts if offered and all(text.isdecimal() for text in offered.texts) else ()
    candidates = [{"answer": int(text) if text in boxes else text} for text in texts]
    asked = items.learning.texts.at(place)
    return {**_id_of(items.ids[place], ID_KEYS[VISUAL7W]), "question": asked, "candidates": candidates}


def _id_of(written: str, key: str) -> dict[str, Any]:
    """Return the id of a question; of a round, the numbers of its dialog and of the round."""
    dialog, slash, number = written.partition("/")
    if slash and dialog.isdecimal() and number.isdecimal():
        return {"dialog_index": int(dialog), "round": int(number)}
    return {key: int(written) if written.isdecimal() and str(int(written)) == written else written}


class BaselineFiles(NamedTuple):
    """The files that a baseline reads."""

    questions: PathLike
    train: PathLike | None = None
    """The questions to learn from; None to learn from the other images of `questions`."""
    scenes: PathLike | None = None
    mode: str = ""
    """How the questions are answered; "" for the way of their file."""
    split: str = ""
    train_split: str = ""
    domain: DomainFiles | None = None
    """The functions of the programs; None for the domain that the questions name, or CLEVR's."""

    @property
    def learns_from_others(self) -> bool:
        """True if the questions to learn from are not those to answer."""
        return self.train is not None and (str(self.train) != str(self.questions) or self.split != self.train_split)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by its role."""
        given: dict[str, Sequence[Location]] = {"questions": _files_at(self.questions)}
        if self.train is not None:
            given["train"] = _files_at(self.train)
        if self.scenes is not None:
            given["scenes"] = find_scenes(str(self.scenes)).files
        return {role: content_hash(files) for role, files in given.items()}


def _files_at(path: PathLike) -> Sequence[Location]:
    """Return a file, or the files of a folder that hold its records."""
    place = locate(path)
    if not place.is_dir():
        return [place]
    own = trials_file(place)
    return [own] if own else files_below(place)


def baseline(
    name: str, files: BaselineFiles, out: PathLike, settings: BaselineSettings | None = None, *, force: bool = False
) -> RungResult:
    """Answer the questions of a file by a baseline, write the predictions to `out`, and return how often it is right.

    Raises UsageError if the files lack what the baseline needs.
    """
    found, chosen, target = find_baseline(name), settings or BaselineSettings(), str(out)
    check_target(target, force, [str(each) for each in (files.questions, files.train, files.scenes) if each])
    items, task, programs = _open(files, chosen)
    check_questions(target, items.format)
    answered = answer(found, task, items, programs)
    record = {"baseline": name, **chosen.to_record()}
    write_predictions(target, items, answered.texts, record, files.hashes())
    return _ladder(items, task).add(answered)


def baseline_ladder(
    files: BaselineFiles,
    settings: BaselineSettings | None = None,
    on_done: Callable[[int], None] = lambda _: None,
) -> Ladder:
    """Return how often each baseline is right that the files allow; `on_done` is called with 1 after each of them."""
    items, task, programs = _open(files, settings or BaselineSettings())
    found = _ladder(items, task)
    allowed: list[Predictor | Execution] = [*applicable(task.items), *(EXECUTIONS if programs else ())]
    for each in allowed:  # from the weakest to the strongest
        found.add(answer(each, task, items, programs))
        on_done(1)
    return found


def _ladder(items: Items, task: Task) -> Ladder:
    return Ladder(items, answer(find_baseline(REFERENCE), task, items, None).right)


def _open(files: BaselineFiles, settings: BaselineSettings) -> tuple[Items, Task, Programs | None]:
    """Read the questions, those to learn from, and the scenes if they were given."""
    items = read_items(files.questions, split=files.split, mode=files.mode, scenes=files.scenes, learning=True)
    if not len(items):
        raise BadInput([Problem("no questions to answer", items.name)])
    if files.train is not None and files.learns_from_others:
        train = read_items(files.train, split=files.train_split, mode=files.mode, learning=True)
        task = Task.across(train, items, settings.top_k, settings.seed)
    else:
        task = Task.within(items, settings.top_k, settings.seed)
    return items, task, None if files.scenes is None else _programs(files, str(files.scenes), items)


def _programs(files: BaselineFiles, scenes: str, items: Items) -> Programs:
    """Read the programs; without a domain of the user, by the functions of the one that the questions' info names."""
    if items.format != "vqagen":
        raise UsageError(f"scenes are given, but {files.questions} has no programs to run: leave out --scenes")
    source, domain = find_scenes(scenes), files.domain or find_domain(shipped_domain(items.info))
    catalogue, plugins = load_catalogue(domain)
    hashes = {
        "scenes": lambda: content_hash(source.files),
        "metadata": lambda: content_hash([domain.metadata]),
        "plugins": lambda: plugins.hash if plugins.hashes else "",
    }
    check_origin(find_items(files.questions), hashes)
    return Programs(items, source, catalogue)
