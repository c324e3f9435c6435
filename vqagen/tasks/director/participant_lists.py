"""Lists of director trials for people: balanced over the cells of the design, and no trial in two places.

A cell is a type, a rule class, a frame, and physics or not. Every list has the same number of trials of each cell. If
the length of a list is no multiple of the number of cells, the rest goes round: each list has at most one trial more of
one cell than of another, and so have all lists together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import orjson

from vqagen import __version__
from vqagen.errors import FaultList, UsageError, counted
from vqagen.files.formats import LIST, info_beside
from vqagen.files.locations import content_hash
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.records import RecordSource
from vqagen.language.domain_files import PathLike
from vqagen.report.writers import csv_text
from vqagen.rng import shuffled, stream
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.tasks.record_files import SAMPLES, find_trials

SHOWN = 12
"""Cells named in one message."""


DesignCell = tuple[str, str, str, bool]
"""Type, rule class, frame (empty where the text has none), and whether it is physics."""
Lists = Sequence[Sequence[WrittenTrial]]


def cell_of(trial: WrittenTrial) -> DesignCell:
    """Return the cell of the design that a trial is of."""
    return trial.type, trial.rule_class, trial.frame or "", trial.is_physics


def show_cell(cell: DesignCell) -> str:
    """Return a cell in words."""
    type, rule_class, frame, is_physics = cell
    rule = "no rule" if rule_class == "none" else rule_class
    seen = f"{frame}'s view" if frame else "no frame"
    return f"({type}, {rule}, {seen}, {'physics' if is_physics else 'no physics'})"


def deal_lists(trials: Iterable[WrittenTrial], lists: int, per_list: int, seed: int = 0) -> Lists:
    """Return the trials of each list in an order of chance.

    Raises UsageError with every cell that has too few trials.
    """
    groups: dict[DesignCell, list[WrittenTrial]] = {}
    for trial in trials:
        groups.setdefault(cell_of(trial), []).append(trial)
    there = sum(map(len, groups.values()))
    if there < lists:
        raise UsageError(f"too few trials for {counted(lists, 'list')}: there are {there:,}; make more trials")
    cells = sorted(groups)
    quotas = _quotas(cells, lists, per_list, seed)
    short = [cell for cell in quotas if sum(quotas[cell]) > len(groups[cell])]
    if short:
        needs = [f"{show_cell(cell)}: {sum(quotas[cell])} needed, {len(groups[cell])} there" for cell in short[:SHOWN]]
        more = [f"and {len(short) - SHOWN} more cells"] if len(short) > SHOWN else []
        wanted = f"{counted(lists, 'list')} of {counted(per_list, 'trial')}"
        raise UsageError(
            f"trials run out in {len(short)} of {len(groups)} cells for {wanted}; make more trials, or fewer or "
            "shorter lists:\n  " + "\n  ".join((*needs, *more))
        )
    dealt: list[list[WrittenTrial]] = [[] for _ in range(lists)]
    for number, cell in enumerate(cells):
        left = shuffled(stream(seed, "trials of a cell", number), groups[cell])
        for turn in range(max(quotas[cell])):
            for list_number in [place for place, quota in enumerate(quotas[cell]) if turn < quota]:
                _give(dealt, list_number, left, cell)
    return [shuffled(stream(seed, "order of a list", number), own) for number, own in enumerate(dealt)]


def _quotas(cells: Sequence[DesignCell], lists: int, per_list: int, seed: int) -> dict[DesignCell, list[int]]:
    """Return how many trials of each cell each list has."""
    share, rest = divmod(per_list, len(cells))
    quotas = {cell: [share] * lists for cell in cells}
    order = list(_mixed(shuffled(stream(seed, "order of cells"), cells)))
    for extra in range(rest * lists):
        quotas[order[extra % len(order)]][extra // rest] += 1
    return quotas


def _mixed(cells: Sequence[DesignCell]) -> Iterator[DesignCell]:
    """Yield cells of all types in turn, so that any run of them has the types in equal numbers."""
    by_type: dict[str, list[DesignCell]] = {}
    for cell in cells:
        by_type.setdefault(cell[0], []).append(cell)
    for turn in range(len(cells)):
        yield from (of_type[turn] for _, of_type in sorted(by_type.items()) if turn < len(of_type))


def _give(lists: list[list[WrittenTrial]], number: int, left: list[WrittenTrial], cell: DesignCell) -> None:
    """Give a list one of the trials of a cell that are left, or exchange one if it has the partners of all.

    If list 1 has the partner of the only trial left, and that one may go to list 2, list 2 gives list 1 one of its own.
    """

    def may_have(number: int, trial: WrittenTrial) -> bool:
        return trial.pair is None or all(trial.pair != each.pair for each in lists[number])

    for place, trial in enumerate(left):
        if may_have(number, trial):
            lists[number].append(left.pop(place))
            return
    for place, trial in enumerate(left):
        for other, theirs in enumerate(lists):
            for given in theirs if other != number and may_have(other, trial) else ():
                if cell_of(given) == cell and may_have(number, given):
                    theirs.remove(given)
                    theirs.append(left.pop(place))
                    lists[number].append(given)
                    return
    raise UsageError(
        f"pairs cannot be kept apart: list {number + 1} has the partners of all trials that are left in "
        f"{show_cell(cell)}; make more trials or fewer lists"
    )


# Files ---------------------------------------------------------------------------------------------------------------


def export_trials(
    trials: PathLike, out: PathLike, *, lists: int, per_list: int, seed: int = 0, force: bool = False
) -> Lists:
    """Write lists of the trials in a folder for participants, balanced over the cells of the design.

    The lists are one CSV table with an info beside it, and are returned. Raises UsageError if a cell has too
    few trials, or pairs cannot be kept apart, and BadInput with what is wrong with the trials.
    """
    out = str(out)
    check_ending(out, (".csv",), "lists of trials")
    found = find_trials(str(trials))
    beside = info_beside(out, LIST)
    for target in filter(None, (out, beside)):
        check_output(target, force, [str(path) for path in found.files])
    dealt = deal_lists(read_trials(found), lists, per_list, seed)
    with atomic_output(out) as file:
        file.write(csv_of(dealt).encode())
    if beside is not None:
        settings = {"lists": lists, "per_list": per_list, "seed": seed}
        made = {"name": "vqagen", "version": __version__, "settings": settings}  # nothing in it names a path
        info = {"generator": {**made, "inputs": {"trials": content_hash(found.files)}}}
        with atomic_output(beside) as file:
            file.write(orjson.dumps(info, option=orjson.OPT_INDENT_2) + b"\n")
    return dealt


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
    rows: list[tuple[object, ...]] = [("list", "position", *_COLUMNS)]
    for number, trials in enumerate(lists, start=1):
        for position, trial in enumerate(trials, start=1):
            rows.append((number, position, *(content(trial) for content in _COLUMNS.values())))
    return csv_text(rows)
