"""Making a study: what its inputs have in common, and all that its folder will hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vqagen import __version__
from vqagen.errors import BadInput, Problem
from vqagen.human.study.folder import StudyFiles
from vqagen.human.study.humanr_tasks import COMPARISON_TASKS, RESERVED, comparison_tasks
from vqagen.human.study.item import COMPARE, SYSTEM
from vqagen.human.study.plan import Material, make_plan
from vqagen.human.study.settings import HUMANR, PlanSettings
from vqagen.human.study.texts import Texts, default_document, load_texts, texts_of


class MadeStudy(NamedTuple):
    """A study that is ready to be written, and what its maker should know."""

    files: StudyFiles
    notes: tuple[str, ...]


def read_texts(file: Path | None) -> Texts:
    """Read the words that raters see; None are the English ones. BadInput with every mistake in the file."""
    return texts_of(default_document()) if file is None else load_texts(file)


def planned_study(material: Material, settings: PlanSettings, folder: str, inputs: Mapping[str, object]) -> StudyFiles:
    """Plan a study of material whose images lie in `folder`; `inputs` are the hashes of what it was made from."""
    if settings.compat == HUMANR:
        _check_names(material)
    plan = make_plan(material, settings)
    used = {item.image: material.images[item.image] for item in plan.items.values() if item.image}
    info = {"generator": {"version": __version__}, "settings": settings.to_record(), "inputs": inputs}
    more = {COMPARISON_TASKS: comparison_tasks(plan, settings.seed)} if settings.compat == HUMANR else {}
    return StudyFiles(plan, used, Path(folder), settings.raters_per_item, info, more)


def _check_names(material: Material) -> None:
    """Raise BadInput for what HUMANr's own format cannot say."""
    systems = dict.fromkeys(each.source for item in material.real for each in item.candidates if each.role == SYSTEM)
    problems = [
        Problem(f"system {name!r} has a name that HUMANr takes for something else; rename it, or leave out --compat")
        for name in systems
        if name in RESERVED
    ]
    if any(item.kind != COMPARE or not item.image for item in material.real):
        problems.append(Problem("--compat humanr is for two texts about an image; leave it out for other items"))
    if problems:
        raise BadInput(problems)
