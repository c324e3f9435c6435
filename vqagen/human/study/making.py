"""Making studies: from their inputs to their folders, as typed calls."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import msgspec

from vqagen import __version__
from vqagen.errors import Problem, UsageError, VqagenError, counted
from vqagen.extras import needed
from vqagen.files.locations import content_hash, locate
from vqagen.files.output import atomic_folder, atomic_output, names_in, sweep
from vqagen.human.links import LINKS_FOLDER
from vqagen.human.settings import PlanSettings
from vqagen.human.store.facts import ANSWERS, LOCK, SERVED
from vqagen.human.store.opening import study_lock
from vqagen.human.study.images import IMAGES_FOLDER
from vqagen.human.study.item import ANSWER, REAL, REFERENCE, SYSTEM, StudyItem
from vqagen.human.study.item_file import item_draft
from vqagen.human.study.pairs import caption_draft
from vqagen.human.study.plan import Draft, make_plan
from vqagen.human.study.study import (
    PARTS,
    SERVING_FILE,
    STUDY_FILE,
    STUDY_SCHEMA,
    Study,
    default_serving,
    digest_of,
    guarded,
    load_record,
    load_study,
)
from vqagen.human.study.texts import DEFAULT_TEXTS, ITEM_WORDS, TEXTS_FILE, Texts, first_texts, load_texts
from vqagen.language.domain_files import PathLike

TYPICAL_DEVIATION = 0.6
"""Standard deviation of an answer from -1 to 1 in studies of captions."""
_REPLACED = (STUDY_FILE, *(f"{kind}.jsonl" for kind in PARTS), IMAGES_FOLDER, LINKS_FOLDER)
"""What a new plan replaces. Words, settings of serving, keys and all else in the folder stay."""


def make_caption_tasks(
    out: PathLike,
    human: PathLike,
    systems: Mapping[str, PathLike],
    images: PathLike,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> tuple[Study, list[str]]:
    """Plan a study that compares captions, and write its folder; return it, and notes such as what was left out.

    `human` is a JSON file from image names to lists of captions, each of `systems` one from image names to captions.
    With `force` a study that was not served yet is replaced, whose words stay. Raises BadInput with every mistake in
    the files, or if a task would show an image twice.
    """
    chosen, files = settings or PlanSettings(), {name: str(systems[name]) for name in sorted(systems)}
    if not files and not chosen.human_human:
        raise UsageError("no system to compare with people: give --system, or --human-human to compare people")
    return _made(out, chosen, force, lambda texts: caption_draft(str(human), files, str(images), texts, chosen))


def make_item_tasks(
    out: PathLike,
    items: PathLike,
    images: PathLike | None = None,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> tuple[Study, list[str]]:
    """Plan a study of the items in a file of JSON Lines, and write its folder; return it, and notes.

    `images` is the folder that items name images of. Raises BadInput with every mistake in the files, or if a task
    would show an image twice.
    """
    return _made(out, settings or PlanSettings(), force, lambda texts: item_draft(str(items), images, texts))


def _made(
    out: PathLike, settings: PlanSettings, force: bool, draft: Callable[[Texts], Draft]
) -> tuple[Study, list[str]]:
    """Plan and write a study with the words of the one that it replaces, or the English ones."""
    check_folder(Path(out), force)
    path = Path(out, TEXTS_FILE)
    texts = load_texts(path if path.is_file() else DEFAULT_TEXTS)
    plan = make_plan(draft(texts), texts, settings)
    _write_study(Path(out), plan, settings)
    return load_study(out), list(plan.notes)


def extend_study(study: PathLike, raters_per_item: int) -> Study:
    """Have more raters do each task of a study that may have answers already, but is not served now.

    Its id, words, answers and tasks stay as they are, and more raters continue the balance of sides.
    """
    top = Path(study)
    record = load_record(top)
    with study_lock(top):
        old = load_study(top)
        if raters_per_item <= old.slots:
            raise UsageError(
                f"--raters-per-item must be more than the {old.slots} that each task has; found {raters_per_item}"
            )
        extended = [
            *record["info"].get("extensions", ()),
            {"generator": {"version": __version__}, "raters_per_item": raters_per_item},
        ]
        changed = {**record, "raters_per_item": raters_per_item, "info": {**record["info"], "extensions": extended}}
        try:
            with atomic_output(str(top / STUDY_FILE)) as file:
                file.write(_content(changed))
        except OSError as error:
            raise VqagenError(f"cannot write {top}: {error.strerror or error}") from None
    return load_study(top)


# Folders --------------------------------------------------------------------------------------------------------------


def check_folder(out: Path, force: bool) -> None:
    """Raise UsageError if a study cannot be written to `out`. A study that was served is never replaced."""
    present = names_in(out)
    if present and STUDY_FILE not in present:
        raise UsageError(f"output folder {out} holds other files than a study; name a new folder")
    if served := ", ".join(name for name in (ANSWERS, LOCK, SERVED) if name in present):
        raise UsageError(
            f"study {out} was served already, and its answers belong to its tasks ({served} exists);"
            " name another folder"
        )
    if present and not force:
        raise UsageError(f"study {out} exists already; give --force to replace it")


def _write_study(out: Path, plan: Draft, settings: PlanSettings) -> None:
    """Write a study. Words, settings of serving and the secret of the study that it replaces stay."""
    sweep(str(out))
    try:
        with atomic_folder(out) as beside:
            (beside / IMAGES_FOLDER).mkdir()
            hashes = _write_parts(beside, plan)
            seen = [hashes, settings.raters_per_item, settings.seed]  # which decide what raters see
            record = {
                "schema": STUDY_SCHEMA,
                "study": digest_of(msgspec.json.encode(seen))[:16],
                "raters_per_item": settings.raters_per_item,
                "hashes": hashes,
                "info": {
                    "generator": {"version": __version__},
                    "inputs": {name: content_hash([locate(file)]) for name, file in plan.files.items()},
                    "settings": settings.to_record(),
                },
            }
            (beside / STUDY_FILE).write_bytes(_content(record))
            has_questions = any(item.kind == ANSWER and item.use == REAL for item in plan.items)
            (beside / TEXTS_FILE).write_bytes(first_texts(has_questions=has_questions))
            (beside / SERVING_FILE).write_bytes(default_serving())
            for path in out.iterdir() if out.is_dir() else ():
                if path.name not in _REPLACED:
                    (shutil.copytree if path.is_dir() else shutil.copy2)(path, beside / path.name)
    except OSError as error:
        raise VqagenError(f"cannot write {out}: {error.strerror or error}") from None


def _content(record: Mapping[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(guarded(record)), indent=2) + b"\n"


def _write_parts(folder: Path, plan: Draft) -> dict[str, str]:
    """Write the parts and images of a plan; return name -> hash of each part."""
    for image in plan.images.values():
        shutil.copyfile(Path(plan.folder, image.id), folder / image.file)
    lines = {"items": plan.items, "tasks": plan.tasks, "images": plan.images.values()}
    parts = {
        f"{kind}.jsonl": msgspec.json.Encoder().encode_lines(records) for kind, records in lines.items() if records
    }
    for name, content in parts.items():
        (folder / name).write_bytes(content)
    return {name: digest_of(content) for name, content in parts.items()}


# Before a study is served ---------------------------------------------------------------------------------------------


def check_study(study: PathLike) -> tuple[Study, list[Problem], list[Problem]]:
    """Check the images and the words of a study. BadInput if its items, tasks or images were changed.

    Return the study, its faults, without which it can be served, and what else should be known.
    """
    loaded = load_study(study)
    return loaded, list(_faults(loaded)), list(_notes(loaded))


def _faults(study: Study) -> Iterator[Problem]:
    files = {image.file: image.sha256 for image in study.images.values()}
    for file, digest in files.items():
        if digest_of((study.folder / file).read_bytes()) != digest:
            yield Problem("the image changed since the study was made; restore it", file)
    for name in sorted(path.name for path in (study.folder / IMAGES_FOLDER).iterdir()):
        if f"{IMAGES_FOLDER}/{name}" not in files:
            yield Problem("this file is no image of the study; delete it", f"{IMAGES_FOLDER}/{name}")
    for name in study.texts.placeholders():
        yield Problem(f"no value for {{{{{name}}}}}, which the words use", TEXTS_FILE, f"values.{name}")


def _notes(study: Study) -> Iterator[Problem]:
    for key in (absent for absent in study.texts.absent if absent not in ITEM_WORDS):
        yield Problem("missing key; the English words are shown", TEXTS_FILE, key)
    if study.serving.keep_withdrawn_answers:
        yield Problem("true: the consent and withdraw_question must say so", SERVING_FILE, "keep_withdrawn_answers")


def forecast_lines(study: Study, reward_per_task: float = 0) -> Iterator[str]:
    """Yield what a study asks of raters, what precision to expect, and what it costs, in lines."""
    sizes = sorted({len(task.trials) for task in study.tasks.values()})
    trials = f"{sizes[0]} to {counted(sizes[-1], 'trial')}" if len(sizes) > 1 else counted(sizes[0], "trial")
    assignments = counted(len(study.tasks) * study.slots, "assignment")
    raters = f"{counted(study.slots, 'rater')} each, {assignments}"
    yield f"study {study.id}: {counted(len(study.tasks), 'task')} of {trials} for {raters}"
    scored = [item for item in study.items.values() if item.use == REAL]
    for (kind, dimension, sources), number in sorted(Counter(map(_group, scored)).items()):
        answers = number * study.slots
        named = "questions" if kind == ANSWER else f"{dimension}, {sources}"
        yield f"{named}: {counted(number, 'item')}, {counted(answers, 'answer')}{_precision(kind, answers)}"
    if any(item.kind != ANSWER for item in scored):
        yield f"(standard deviation {TYPICAL_DEVIATION}, independent answers; wider where raters or images differ)"
    if reward_per_task:
        cost = f"{len(study.tasks) * study.slots * reward_per_task:,.2f} for {assignments}"
        yield f"cost: {cost} at {reward_per_task:.2f}, before the platform's fee"


def _group(item: StudyItem) -> tuple[str, str, str]:
    """Return kind, dimension and sources: a system, or `first - second` for two systems or two people."""
    sources = [candidate.source for candidate in item.candidates]
    roles = [candidate.role for candidate in item.candidates]
    return item.kind, item.dimension, sources[1] if roles == [REFERENCE, SYSTEM] else " - ".join(sources)


def _precision(kind: str, answers: int) -> str:
    """Return the half-width of the 95 % interval of a mean of independent answers: raters that differ make it wider."""
    if kind == ANSWER or answers < 2:
        return ""
    quantile = float(needed("scipy.special", "human", "the expected precision").stdtrit(answers - 1, 0.975))
    return f", half-width of the 95 % interval about {quantile * TYPICAL_DEVIATION / sqrt(answers):.3f}"
