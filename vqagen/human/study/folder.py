"""Writing the folder of a study: beside its name first, so that the name never holds half a study."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import PlaceError, UsageError, VqagenError
from vqagen.files.output import atomic_folder, sweep
from vqagen.human.links.link_files import LINKS_FOLDER
from vqagen.human.links.prolific import PROLIFIC_KEYS_FILE
from vqagen.human.links.revoked import REVOKED_FILE
from vqagen.human.links.secret import SECRET_FILE
from vqagen.human.store.lock import LOCK
from vqagen.human.store.opening import ANSWERS
from vqagen.human.study.humanr_tasks import COMPARISON_TASKS
from vqagen.human.study.images import IMAGES_FOLDER, StudyImage
from vqagen.human.study.item_record import item_record
from vqagen.human.study.plan import Plan
from vqagen.human.study.serving import SERVING_FILE, default_serving
from vqagen.human.study.study import (
    HASHED,
    IMAGES_FILE,
    ITEMS_FILE,
    STUDY_FILE,
    STUDY_SCHEMA,
    TASKS_FILE,
    study_id,
    task_record,
)
from vqagen.human.study.texts import TEXTS_FILE, default_texts

_KEPT = (TEXTS_FILE, SERVING_FILE, SECRET_FILE, REVOKED_FILE, PROLIFIC_KEYS_FILE)
"""Files that operators edit, or that links need, and that a new plan leaves as they are."""
_REPLACED = (STUDY_FILE, ITEMS_FILE, TASKS_FILE, IMAGES_FILE, IMAGES_FOLDER, COMPARISON_TASKS, LINKS_FOLDER)
"""What else the folder of a study holds. Its links are those of the study that is replaced."""
_INDENTED = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE


@dataclass(frozen=True)
class StudyFiles:
    """All that is written into the folder of a study."""

    plan: Plan
    images: Mapping[str, StudyImage]
    """The images that items show."""
    image_folder: Path
    """Where they lie by their ids."""
    slots: int
    info: Mapping[str, Any]
    more: Mapping[str, bytes]
    """Further files by name."""


def check_folder(out: Path, force: bool) -> None:
    """Raise UsageError if a study cannot be written to `out`. A study that was served is never replaced."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise PlaceError(f"output {out} is no folder; name a new folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / STUDY_FILE).is_file():
            raise UsageError(f"output folder {out} holds other files than a study; name a new folder")
        for name in (ANSWERS, LOCK):
            if (out / name).exists():
                raise UsageError(
                    f"study {out} was served already, and its answers belong to its tasks ({name} exists);"
                    " name another folder"
                )
        if not force:
            raise UsageError(f"study {out} exists already; give --force to replace it")
        if foreign := sorted(path.name for path in out.iterdir() if path.name not in (*_KEPT, *_REPLACED)):
            named = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
            raise UsageError(f"study {out} also holds {named}, which --force would delete; move that elsewhere first")
    if not out.absolute().parent.is_dir():
        raise PlaceError(f"folder {out.absolute().parent} does not exist; create it first")


def write_study(out: Path, files: StudyFiles, *, force: bool) -> None:
    """Write a study. Words, settings of serving and the secret of the study that it replaces stay."""
    check_folder(out, force)
    sweep(str(out))
    try:
        with atomic_folder(out) as beside:
            _write_images(beside, files)
            for name, content in _contents(files):
                (beside / name).write_bytes(content)
            for name in _KEPT:
                if (out / name).is_file():
                    shutil.copy2(out / name, beside / name)
    except OSError as error:
        raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None


def _contents(files: StudyFiles) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file but the images."""
    plan = files.plan
    hashed = {
        ITEMS_FILE: _lines(item_record(item) for item in plan.items.values()),
        TASKS_FILE: _lines(task_record(task) for task in plan.tasks.values()),
        IMAGES_FILE: orjson.dumps([files.images[name].to_record() for name in sorted(files.images)], option=_INDENTED),
    }
    hashes = {name: hashlib.sha256(hashed[name]).hexdigest() for name in HASHED}
    record = {
        "schema": STUDY_SCHEMA,
        "info": files.info,
        "hashes": hashes,
        "raters_per_item": files.slots,
        "practice": [item.id for item in plan.practice],
    }
    yield STUDY_FILE, orjson.dumps({**record, "study": study_id(record)}, option=_INDENTED)
    yield from hashed.items()
    yield TEXTS_FILE, default_texts()
    yield SERVING_FILE, default_serving()
    yield from files.more.items()


def _lines(records: Iterable[Mapping[str, Any]]) -> bytes:
    content = bytearray()
    for record in records:  # a list of 55,000 such lines takes 400 MB: each keeps the buffer that it was written in
        content += orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    return bytes(content)


def _write_images(folder: Path, files: StudyFiles) -> None:
    (folder / IMAGES_FOLDER).mkdir()
    for image in files.images.values():
        if not (folder / image.file).exists():
            shutil.copyfile(files.image_folder / image.id, folder / image.file)
