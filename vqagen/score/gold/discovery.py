"""Find what is to be answered: recognise the format of a file by its keys, and read it as gold items."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from vqagen.errors import UsageError, unknown
from vqagen.files.locations import Location
from vqagen.json.stream import reading
from vqagen.language.domain_files import PathLike
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import find_records, first_keys
from vqagen.score.file_kinds import TRIALS, find_trials, kind_of_file, require_records
from vqagen.score.gold.dialogs import dialog_file
from vqagen.score.gold.file import MODES, GoldFile
from vqagen.score.gold.gqa import gqa_file
from vqagen.score.gold.questions import question_file
from vqagen.score.gold.scenes import SceneFields
from vqagen.score.gold.trials import trial_file
from vqagen.score.gold.visual7w import visual7w_file
from vqagen.score.gold.vqav2 import vqav2_file
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import find_scenes

VQAGEN, DIALOG, TRIAL, VISUAL7W, VQAV2, GQA = "vqagen", "dialogs", "trials", "visual7w", "vqav2", "gqa"
_KEYS = {
    **dict.fromkeys(("images", "boxes"), VISUAL7W),
    **dict.fromkeys(("annotations", "task_type", "data_subtype"), VQAV2),
}
"""Key of a document -> the format that it tells."""
_GQA_KEYS = frozenset({"imageId", "isBalanced", "semantic", "fullAnswer"})
_OF_KIND = {QUESTIONS.key: VQAGEN, DIALOGS.key: DIALOG, TRIALS.key: TRIAL}
LOOKED_AT = 12
"""Keys of a document that are looked at."""


def read_gold(
    path: PathLike,
    *,
    split: str = "",
    mode: str = "",
    scenes: PathLike | None = None,
) -> GoldFile:
    """Find the items of a file or folder; nothing but its first keys is read yet.

    Only items of the `split` are read, if there is one.
    `mode` is one of MODES, by default that of the file. With `scenes`, items get fields of their scenes. UsageError
    where nothing lies, and for scenes that the format has not.
    """
    if mode and mode not in MODES:
        raise UsageError(unknown("mode", mode, MODES))
    place = require_records(path)
    name = recognise(place)
    if scenes is not None and name not in (VQAGEN, DIALOG):
        raise UsageError(f"scenes are for questions and dialogs of vqagen; {path} is of format {name}")
    if split and name not in (VQAGEN, DIALOG, VISUAL7W):
        raise UsageError(f"no splits in format {name}: leave out {split!r}")
    fields = None if scenes is None else SceneFields(find_scenes(scenes))
    readers: dict[str, Callable[[], GoldFile]] = {
        VQAGEN: lambda: question_file(find_records(place, QUESTIONS), mode, split, fields),
        DIALOG: lambda: dialog_file(find_records(place, DIALOGS), split, fields),
        TRIAL: lambda: trial_file(find_trials(place)),
        VISUAL7W: lambda: visual7w_file(place, mode, split),
        VQAV2: lambda: vqav2_file(place, mode),
        GQA: lambda: gqa_file(place, mode),
    }
    return readers[name]()


def recognise(path: Location) -> str:
    """Return the format of a file by its first keys; VQAGEN if no key tells."""
    if path.is_file():
        keys = []
        for key in islice(first_keys(path), LOOKED_AT):
            keys.append(key)
            if key in _KEYS and (key != "images" or keys[0] != "info"):
                return _KEYS[key]
            if key in (QUESTIONS.key, DIALOGS.key, TRIALS.key):
                break
        if keys and _holds_gqa(path):
            return GQA
    return _OF_KIND.get(kind_of_file(path).key, VQAGEN)


def _holds_gqa(path: Location) -> bool:
    """Return true for an object whose first member is a question of GQA."""
    with reading(path) as reader:
        if reader.peek() != b"{":
            return False
        for _ in reader.members():
            value = reader.value() if reader.peek() == b"{" else None
            return isinstance(value, dict) and not _GQA_KEYS.isdisjoint(value)
    return False
