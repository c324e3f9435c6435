"""Lists of director trials for people: balanced over the cells of the design, and no trial in two places.

A cell is a type, a rule class, a frame, and physics or not. Every list has the same number of trials of each cell. If
the length of a list is no multiple of the number of cells, the rest goes round: each list has at most one trial more of
one cell than of another, and so have all lists together.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import orjson

from vqagen import __version__
from vqagen.errors import FaultList, UsageError, counted
from vqagen.files.formats import LIST, info_beside
from vqagen.files.locations import content_hash
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.records import RecordSource
from vqagen.language.domain_files import PathLike
from vqagen.rng import shuffled, stream
from vqagen.score.record_files import SAMPLES, find_trials
from vqagen.tasks.director.reading import WrittenTrial, read_trial

SHOWN = 12
"""Cells named in one message."""


class DesignCell(NamedTuple):
    """A cell of the design."""

    type: str
    rule_class: str
    frame: str
    """Empty where the text has none."""
    is_physics: bool

    @staticmethod
    def of(trial: WrittenTrial) -> DesignCell:
        """Return the cell that a trial is of."""
        return DesignCell(trial.type, trial.rule_class, trial.frame or "", trial.is_physics)

    def __str__(self) -> str:
        rule = "no rule" if self.rule_class == "none" else self.rule_class
        frame = f"{self.frame}'s view" if self.frame else "no frame"
        return f"({self.type}, {rule}, {frame}, {'physics' if self.is_physics else 'no physics'})"


@dataclass(frozen=True)
class ListPlan:
    """The lists to deal."""

    lists: int
    per_list: int
    seed: int = 0


def deal_lists(trials: Iterable[WrittenTrial], plan: ListPlan) -> list[list[WrittenTrial]]:
    """Return the trials of each list in an order of chance.

    Raises UsageError with every cell that has too few trials.
    """
    groups: dict[DesignCell, list[WrittenTrial]] = {}
    for trial in trials:
        groups.setdefault(DesignCell.of(trial), []).append(trial)
    there = sum(map(len, groups.values()))
    if there < plan.lists:
        raise UsageError(f"too few trials for {counted(plan.lists, 'list')}: there are {there:,}; make more trials")
    cells = sorted(groups)
    quotas = _quotas(cells, plan)
    _raise_short(groups, quotas, plan)
    dealer = _Dealer(plan.lists)
    for number, cell in enumerate(cells):
        dealer.deal(cell, shuffled(stream(plan.seed, "trials of a cell", number), groups[cell]), quotas[cell])
    return [shuffled(stream(plan.seed, "order of a list", number), dealt) for number, dealt in enumerate(dealer.lists)]


def _quotas(cells: Sequence[DesignCell], plan: ListPlan) -> dict[DesignCell, list[int]]:
    """Return how many trials of each cell each list has."""
    share, rest = divmod(plan.per_list, len(cells))
    quotas = {cell: [share] * plan.lists for cell in cells}
    order = list(_mixed(shuffled(stream(plan.seed, "order of cells"), cells)))
    for extra in range(rest * plan.lists):
        quotas[order[extra % len(order)]][extra // rest] += 1
    return quotas


def _mixed(cells: Sequence[DesignCell]) -> Iterator[DesignCell]:
    """Yield cells of all types in turn, so that any run of them has the types in equal numbers."""
    by_type: dict[str, list[DesignCell]] = {}
    for cell in cells:
        by_type.setdefault(cell.type, []).append(cell)
    for turn in range(len(cells)):
        yield from (of_type[turn] for _, of_type in sorted(by_type.items()) if turn < len(of_type))


def _raise_short(
    groups: dict[DesignCell, list[WrittenTrial]], quotas: dict[DesignCell, list[int]], plan: ListPlan
) -> None:
    """Raise UsageError if a cell has fewer trials than all lists together need."""
    short = [cell for cell, of_lists in quotas.items() if sum(of_lists) > len(groups[cell])]
    if short:
        needs = [f"{cell}: {sum(quotas[cell])} needed, {len(groups[cell])} there" for cell in short[:SHOWN]]
        more = [f"and {len(short) - SHOWN} more cells"] if len(short) > SHOWN else []
        wanted = f"{counted(plan.lists, 'list')} of {counted(plan.per_list, 'trial')}"
        raise UsageError(
            f"trials run out in {len(short)} of {len(groups)} cells for {wanted}; make more trials, or fewer or "
            "shorter lists:\n  " + "\n  ".join((*needs, *more))
        )


class _Dealer:
    """Deals the trials of one cell after the other, and keeps pairs apart."""

    def __init__(self, lists: int) -> None:
        self.lists: list[list[WrittenTrial]] = [[] for _ in range(lists)]
        self.pairs: list[set[int]] = [set() for _ in range(lists)]
        """The pairs of which each list has a trial."""

    def deal(self, cell: DesignCell, trials: Sequence[WrittenTrial], quota: Sequence[int]) -> None:
        """Give each list its number of trials, list by list in turn."""
        left = list(trials)
        dealt: list[list[WrittenTrial]] = [[] for _ in quota]
        for turn in range(max(quota)):
            for number in range(len(quota)):
                if turn < quota[number]:
                    self._give(number, left, dealt, cell)
        for own, of_cell in zip(self.lists, dealt, strict=True):
            own += of_cell

    def _give(self, number: int, left: list[WrittenTrial], dealt: list[list[WrittenTrial]], cell: DesignCell) -> None:
        """Give a list one of the trials that are left, or exchange one if it has the partners of all."""
        place = next((place for place, trial in enumerate(left) if self._may_have(number, trial)), None)
        if place is not None:
            self._add(number, left.pop(place), dealt)
            return
        for place, trial in enumerate(left):
            for other, theirs in enumerate(dealt):
                for given in theirs if other != number and self._may_have(other, trial) else ():
                    if self._may_have(number, given):
                        theirs.remove(given)
                        self.pairs[other].discard(-1 if given.pair is None else given.pair)
                        self._add(other, left.pop(place), dealt)
                        self._add(number, given, dealt)
                        return
        raise UsageError(
            f"pairs cannot be kept apart: list {number + 1} has the partners of all trials that are left in {cell}; "
            "make more trials or fewer lists"
        )

    def _may_have(self, number: int, trial: WrittenTrial) -> bool:
        return trial.pair is None or trial.pair not in self.pairs[number]

    def _add(self, number: int, trial: WrittenTrial, dealt: list[list[WrittenTrial]]) -> None:
        dealt[number].append(trial)
        if trial.pair is not None:
            self.pairs[number].add(trial.pair)


# Files ---------------------------------------------------------------------------------------------------------------

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
