"""Writing the folder of a study: beside its name first, so that the name never holds half a study."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from vqagen import __version__
from vqagen.errors import PlaceError, UsageError, VqagenError
from vqagen.files.output import atomic_folder, atomic_output, sweep
from vqagen.human.links.link_files import LINKS_FOLDER
from vqagen.human.links.prolific import PROLIFIC_KEYS_FILE
from vqagen.human.links.revoked import REVOKED_FILE
from vqagen.human.links.secret import SECRET_FILE
from vqagen.human.store.lock import LOCK
from vqagen.human.store.opening import ANSWERS
from vqagen.human.study.images import IMAGES_FOLDER, StudyImage
from vqagen.human.study.plan import Material, Plan
from vqagen.human.study.serving import SERVING_FILE, default_serving
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import PARTS, STUDY_FILE, Study, StudyRecord, guarded, load_record
from vqagen.human.study.texts import TEXTS_FILE, default_texts

_KEPT = (TEXTS_FILE, SERVING_FILE, SECRET_FILE, REVOKED_FILE, PROLIFIC_KEYS_FILE)
"""Files that operators edit, or that links need, and that a new plan leaves as they are."""
_REPLACED = (STUDY_FILE, *(f"{kind}.jsonl" for kind in PARTS), IMAGES_FOLDER, LINKS_FOLDER)
"""What else the folder of a study holds. Its links are those of the study that is replaced."""


def check_folder(out: Path, force: bool) -> None:
    """Raise UsageError if a study cannot be written to `out`. A study that was served is never replaced."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise PlaceError(f"output {out} is no folder; name a new folder")
    if not out.absolute().parent.is_dir():
        raise PlaceError(f"folder {out.absolute().parent} does not exist; create it first")
    found = sorted(path.name for path in out.iterdir()) if out.is_dir() else []
    if found and STUDY_FILE not in found:
        raise UsageError(f"output folder {out} holds other files than a study; name a new folder")
    if served := [name for name in (ANSWERS, LOCK) if name in found]:
        raise UsageError(
            f"study {out} was served already, and its answers belong to its tasks ({served[0]} exists);"
            " name another folder"
        )
    if found and not force:
        raise UsageError(f"study {out} exists already; give --force to replace it")
    if foreign := [name for name in found if name not in (*_KEPT, *_REPLACED)]:
        named = ", ".join(foreign[:5]) + (", …" if len(foreign) > 5 else "")
        raise UsageError(f"study {out} also holds {named}, which --force would delete; move that elsewhere first")


def write_study(out: Path, plan: Plan, material: Material, settings: PlanSettings) -> None:
    """Write a study. Words, settings of serving and the secret of the study that it replaces stay."""
    sweep(str(out))
    info = {**_origin(material), "settings": settings.to_record()}
    try:
        with atomic_folder(out) as beside:
            (beside / IMAGES_FOLDER).mkdir()
            hashes = _write_parts(beside, ".jsonl", plan, material, {})
            record = StudyRecord(raters_per_item=settings.raters_per_item, hashes=hashes, info=info)
            (beside / STUDY_FILE).write_bytes(_content(record))
            (beside / TEXTS_FILE).write_bytes(default_texts())
            (beside / SERVING_FILE).write_bytes(default_serving())
            for name in _KEPT:
                if (out / name).is_file():
                    shutil.copy2(out / name, beside / name)
    except OSError as error:
        raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None


def add_to_study(old: Study, slots: int, plan: Plan, material: Material) -> None:
    """Give a study more raters of each task, and new tasks, in parts of their own beside those that it has.

    Nothing else names these until `study.json` does, which is replaced at once.
    """
    record = load_record(old.folder)
    extensions = [*record.info.get("extensions", ()), {**_origin(material), "raters_per_item": slots}]
    try:
        parts = _write_parts(old.folder, f"-{len(extensions) + 1}.jsonl", plan, material, old.images)
        hashes, info = {**record.hashes, **parts}, {**record.info, "extensions": extensions}
        with atomic_output(str(old.folder / STUDY_FILE)) as file:
            file.write(_content(replace(record, raters_per_item=slots, hashes=hashes, info=info)))
    except OSError as error:
        raise VqagenError(f"cannot write {old.folder}: {error.strerror or error}") from None


def _origin(material: Material) -> dict[str, Any]:
    return {"generator": {"version": __version__}, "inputs": material.inputs}


def _content(record: StudyRecord) -> bytes:
    return msgspec.json.format(msgspec.json.encode(guarded(record)), indent=2) + b"\n"


def _write_parts(
    folder: Path, ending: str, plan: Plan, material: Material, known: Mapping[str, StudyImage]
) -> dict[str, str]:
    """Write the parts of a plan, and the images that are not known; return name -> hash of each part."""
    images = [material.images[name] for name in sorted({item.image for item in plan.items.values()} - {"", *known})]
    there = {image.file for image in known.values()}
    for file, image in {image.file: image for image in images}.items():
        if file not in there:
            shutil.copyfile(Path(material.folder, image.id), folder / file)
    hashes = {}
    for kind, lines in {"items": plan.items.values(), "tasks": plan.tasks, "images": images}.items():
        content = msgspec.json.Encoder().encode_lines(lines)
        (folder / f"{kind}{ending}").write_bytes(content)
        hashes[f"{kind}{ending}"] = hashlib.sha256(content).hexdigest()
    return hashes
