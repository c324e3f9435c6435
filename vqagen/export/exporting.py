"""An export: the examples of a source, split by split, into the folder of a target; or records as one file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, UsageError, unknown
from vqagen.export import TARGETS, evaluators, trainers
from vqagen.export.examples import DIALOGS, MODES, OPEN, QUESTIONS, TRIALS, Example, examples_of, find_source
from vqagen.export.folder import MARK, README, ExportFolder, ExportTarget
from vqagen.files.formats import LIST, choose_format, info_beside
from vqagen.files.output import atomic_folder, check_folder, check_output, sweep
from vqagen.items.answers import ANSWER_TYPES, PLACES
from vqagen.language.domain_files import PathLike
from vqagen.run.merge import open_output
from vqagen.tasks.foreign import foreign_format

BATCH = 100
"""Examples after which progress is reported."""
PROMPTS = FORMAT, PLAIN = "format", "plain"
ASKING = ("trl", "easyr1", "verl", "llava")
"""Targets whose questions may end with the form of reply that the reward `format` wants."""
HOLD_HIDDEN = ("hf", "imagefolder")
"""Targets that hold questions without answers."""
TABLE = {**trainers.TABLE, **evaluators.TABLE}
_NAME = re.compile(r"[A-Za-z]\w*")
_SPLIT = re.compile(r"\w+(?:\.\w+)*")


class Exported(NamedTuple):
    """What was exported."""

    kind: str
    """questions, trials or dialogs."""
    splits: Mapping[str, int]
    """Split -> the number of its examples."""


def export_dataset(
    source: PathLike,
    out: PathLike,
    to: str,
    *,
    images: PathLike | None = None,
    split: str | None = None,
    mode: str = OPEN,
    without_pictures: bool = False,
    prompt: str | None = None,
    name: str = "vqagen",
    force: bool = False,
    on_exported: Callable[[int], None] = lambda _: None,
) -> Exported:
    """Write a dataset, a file of questions or dialogs, or director trials to the folder `out` as a target reads them.

    `to` is one of `TARGETS`. `images` is the folder of pictures of a file. With `mode="mc"` a question lists its
    options and is answered by a letter. `prompt` is for the targets `ASKING`: by default, "format", questions end with
    the form of reply that the reward `format` wants; with "plain" they do not. `name` is how the target calls the data.
    The folder gets its name when it is complete. `on_exported` is called now and then with the number of examples
    since. Raises UsageError for what the target cannot hold or would score wrongly, and BadInput for the first example
    that cannot be exported.
    """
    for what, named, known in (("target", to, TARGETS), ("mode", mode, MODES), ("prompt", prompt or FORMAT, PROMPTS)):
        if named not in known:
            raise UsageError(unknown(what, named, known))
    if prompt and to not in ASKING:
        raise UsageError(f"{to} does not ask for a form of reply, as {', '.join(ASKING)} do: leave out --prompt")
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name must be letters, digits and _, and begin with a letter; found {name!r}")
    check_folder(Path(out), force, README, MARK, "an export")
    has_pictures, target = not without_pictures, TABLE[to]
    found = find_source(source, images, split, has_pictures)
    for asked in (found.kind, mode, "pictures" if has_pictures else "no pictures"):
        if why := target.cannot.get(asked):
            raise UsageError(f"{to} cannot hold {_SPOKEN.get(asked, asked)}: {why}")
    if found.hides_answers and to not in HOLD_HIDDEN:
        raise UsageError(f"{to} cannot hold hidden answers: it trains or scores by them; export to hf or imagefolder")
    if mode != OPEN and found.kind != QUESTIONS:
        raise UsageError(f"{found.kind} have no options: leave out --mode {mode}")
    if without_pictures and found.kind == TRIALS:
        raise UsageError("trials are about the grids in their pictures: leave out --without-pictures")
    if found.kind == DIALOGS and to == "hf":
        target = trainers.HF_DIALOGS
    examples = _suiting(target, to, examples_of(found, str(source), mode, has_pictures))
    sweep(str(out))
    with atomic_folder(Path(out)) as path:
        folder = ExportFolder(path, name, found, mode, has_pictures, prompt != PLAIN)
        for each, of_split in groupby(examples, key=lambda example: example.split):
            _check_split(each, folder.splits, str(source))
            folder.write_split(target, each, _counted(of_split, each, folder.splits, on_exported))
        if not folder.splits:
            raise BadInput([Problem(f"no {found.kind}{f' of split {split}' if split else ''} to export", str(source))])
        folder.write_readme(target)
    return Exported(found.kind, folder.splits)


_SPOKEN = {OPEN: "questions without options"}


def _suiting(target: ExportTarget, to: str, examples: Iterable[Example]) -> Iterator[Example]:
    """Yield the examples. UsageError for an answer that is a place, and that the target would score wrongly."""
    for example in examples:
        if example.turn.answer_type == ANSWER_TYPES[PLACES] and (why := target.cannot.get(PLACES)):
            raise UsageError(f"{to} cannot hold answers that are places: {why}")
        yield example


def _check_split(split: str, splits: Mapping[str, int], source: str) -> None:
    """Raise BadInput for a split that comes a second time, or whose name would not do for a file."""
    if split in splits:
        message = f"the split {split} comes in several places; sort the file by split, or give --split {split}"
        raise BadInput([Problem(message, source)])
    if not _SPLIT.fullmatch(split):
        raise BadInput([Problem(f"a split must be named by letters, digits and _; found {split!r}", source)])


def _counted(
    examples: Iterable[Example], split: str, splits: dict[str, int], on_exported: Callable[[int], None]
) -> Iterator[Example]:
    """Yield examples, and count those of their split in `splits`."""
    splits[split] = 0
    for example in examples:
        yield example
        splits[split] += 1
        if splits[split] % BATCH == 0:
            on_exported(BATCH)
    on_exported(splits[split] % BATCH)


def export_file(
    source: PathLike, out: PathLike, to: str, force: bool = False, on_exported: Callable[[int], None] = lambda _: None
) -> tuple[str, int]:
    """Write the records of a finished output as a file of another tool, such as Visual7W, with their info beside it.

    Returns their kind and number. Raises VqagenError for records that the format is not for, and for an output that
    was changed after it was made; then nothing is written.
    """
    file, target = open_output(source), str(out)
    choose_format(target, None, (LIST,), file.arrangement.key)
    form = foreign_format(file.arrangement.key, to, file.info)
    for name in filter(None, (target, info_beside(target, LIST))):
        check_output(name, force, file.names)
    return file.arrangement.key, form.write(target, lambda: form.entries(file.records()), on_exported)
