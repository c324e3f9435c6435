"""Checking a study before it is served: its plan, its images, and the words that raters consent to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vqagen.errors import Problem
from vqagen.human.study.images import IMAGES_FOLDER, decoded
from vqagen.human.study.invariants import plan_faults
from vqagen.human.study.study import Study, load_study
from vqagen.human.study.texts import ITEM_WORDS, TEXTS_FILE


@dataclass(frozen=True)
class StudyReport:
    """The faults of a study. It can be served if there is none."""

    study: Study
    plan: tuple[Problem, ...]
    """Broken properties of the plan."""
    images: tuple[Problem, ...]
    """Images that were changed or cannot be decoded, and files that no item shows."""
    texts: tuple[Problem, ...]
    """Words that are missing."""
    notes: tuple[Problem, ...]
    """Facts that should be known, and do not keep a study from being served."""

    @property
    def faults(self) -> tuple[Problem, ...]:
        """All faults."""
        return (*self.plan, *self.images, *self.texts)


def check_study(folder: str | Path) -> StudyReport:
    """Check a study. BadInput if it cannot be loaded, as after a change of its items or tasks."""
    study = load_study(folder)
    return StudyReport(
        study,
        tuple(plan_faults(study)),
        tuple(_image_faults(study)),
        tuple(_text_faults(study)),
        tuple(_notes(study)),
    )


def _image_faults(study: Study) -> Iterator[Problem]:
    checked = set()
    for image in study.images.values():
        if image.file in checked:
            continue
        checked.add(image.file)
        content = (study.folder / image.file).read_bytes()
        fault, _, size = decoded(content)
        if hashlib.sha256(content).hexdigest() != image.sha256:
            yield Problem("the image changed since the study was made; restore it", image.file)
        elif fault or size != (image.width, image.height):
            yield Problem(fault or f"its size is {size[0]} × {size[1]}", image.file)
    folder = study.folder / IMAGES_FOLDER
    for name in sorted(path.name for path in folder.iterdir()) if folder.is_dir() else ():
        if f"{IMAGES_FOLDER}/{name}" not in checked:
            yield Problem("this file is no image of the study; delete it", f"{IMAGES_FOLDER}/{name}")


def _text_faults(study: Study) -> Iterator[Problem]:
    for name in study.texts.placeholders():
        message = f"the placeholder {{{{{name}}}}} is not filled; write its value under `values`"
        yield Problem(message, TEXTS_FILE, f"values.{name}")


def _notes(study: Study) -> Iterator[Problem]:
    for key in (each for each in study.texts.absent if each not in ITEM_WORDS):
        yield Problem("missing key; the English words are shown", TEXTS_FILE, key)
    if study.serving.keep_withdrawn_answers:
        message = "answers of raters who withdraw are kept; make sure that the consent and withdraw_question say so"
        yield Problem(message, "serving.json", "keep_withdrawn_answers")
