"""An export: the examples of a source, split by split, into the folder of a target."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from vqagen.errors import BadInput, Problem, UsageError, unknown
from vqagen.export import TARGETS
from vqagen.export.examples import MODES, OPEN, QUESTIONS, TRIALS, Asked, Example, find_source
from vqagen.export.folder import MARK, README, Folder
from vqagen.files.output import atomic_folder, check_folder, sweep
from vqagen.language.domain_files import PathLike

BATCH = 100
"""Examples after which progress is reported."""
PROMPTS = FORMAT, PLAIN = "format", "plain"
ASKING = ("trl", "easyr1", "verl", "llava")
"""Targets whose questions may end with the form of reply that the reward `format` wants."""
HOLD_HIDDEN = ("hf", "imagefolder")
"""Targets that hold questions without answers."""
_NAME = re.compile(r"[A-Za-z]\w*")
_SPLIT = re.compile(r"\w+(?:\.\w+)*")


class Target(Protocol):
    """What the module of a target has."""

    CANNOT: Mapping[str, str]
    """What it cannot hold -> the reason: a kind of source, a mode of asking, or `no pictures`."""

    def write_split(self, examples: Iterable[Example], split: str, folder: Folder) -> None:
        """Write the files of a split, and take one example after the other."""

    def finish(self, splits: Mapping[str, int], folder: Folder) -> None:
        """Write the README and what else concerns all splits, of which the numbers of examples are given."""


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

    `to` is a key of `TARGETS`. `images` is the folder of pictures of a file. With `mode="mc"` a question lists its
    options and is answered by a letter. `prompt` is for the targets `ASKING`: by default, "format", questions end with
    the form of reply that the reward `format` wants; with "plain" they do not. `name` is how the target calls the data.
    The folder gets its name when it is complete. `on_exported` is called now and then with the number of examples
    since. Raises UsageError for what the target cannot hold or would score wrongly, and BadInput for the first example
    that cannot be exported.
    """
    for what, named, known in (("target", to, [*TARGETS]), ("mode", mode, MODES), ("prompt", prompt, (*PROMPTS, None))):
        if named not in known:
            raise UsageError(unknown(what, named, [each for each in known if each]))
    if prompt and to not in ASKING:
        raise UsageError(f"{to} does not ask for a form of reply, as {', '.join(ASKING)} do: leave out --prompt")
    if not _NAME.fullmatch(name):
        raise UsageError(f"--name must be letters, digits and _, and begin with a letter; found {name!r}")
    target = cast(Target, import_module(TARGETS[to]))
    check_folder(Path(out), force, README, MARK, "an export")
    found = find_source(source, Asked(images, split, mode, without_pictures))
    for asked in (found.kind, mode, "no pictures" if without_pictures else "pictures"):
        if why := target.CANNOT.get(asked):
            raise UsageError(f"{to} cannot hold {_SPOKEN.get(asked, asked)}: {why}")
    if found.hides_answers and to not in HOLD_HIDDEN:
        raise UsageError(f"{to} cannot hold hidden answers: it trains or scores by them; export to hf or imagefolder")
    if mode != OPEN and found.kind != QUESTIONS:
        raise UsageError(f"{found.kind} have no options: leave out --mode {mode}")
    if without_pictures and found.kind == TRIALS:
        raise UsageError("trials are about the grids in their pictures: leave out --without-pictures")
    splits: dict[str, int] = {}
    sweep(str(out))
    with atomic_folder(Path(out)) as path:
        folder = Folder(path, name, found, mode, not without_pictures, {}, prompt != PLAIN)
        for each, examples in groupby(found.examples, key=lambda example: example.split):
            _check_split(each, splits, str(source))
            target.write_split(_counted(examples, each, splits, on_exported), each, folder)
        if not splits:
            raise BadInput([Problem(f"no {found.kind}{f' of split {split}' if split else ''} to export", str(source))])
        target.finish(splits, folder)
    return Exported(found.kind, splits)


_SPOKEN = {OPEN: "questions without options"}


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
