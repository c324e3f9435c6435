"""Making, extending and checking studies, as typed calls."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.files.locations import locate
from vqagen.files.reading import content_hash
from vqagen.files.shipped import require
from vqagen.human.store.lock import study_lock
from vqagen.human.study.captions import OF_SYSTEM, PEOPLE, common_images, read_captions
from vqagen.human.study.checks import right_texts
from vqagen.human.study.folder import add_to_study, check_folder, write_study
from vqagen.human.study.images import IMAGES_FOLDER, StudyImage, find_images, read_images
from vqagen.human.study.item import AFTER, BEFORE, PRACTICE, REAL, SYSTEM, Item
from vqagen.human.study.item_file import identified_items, read_item_file
from vqagen.human.study.pairs import comparisons
from vqagen.human.study.plan import PRACTICE_TRIALS, Material, Plan, make_plan
from vqagen.human.study.serving import SERVING_FILE
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_record, load_study
from vqagen.human.study.texts import ITEM_WORDS, TEXTS_FILE, Texts, default_document, load_texts, texts_of
from vqagen.language.domain_files import PathLike
from vqagen.rng import shuffled, stream


class PlannedStudy(NamedTuple):
    """A study that was written, and what its maker should know, such as what was left out."""

    study: Study
    notes: tuple[str, ...]


def make_caption_tasks(
    out: PathLike,
    human: PathLike,
    systems: Mapping[str, PathLike],
    images: PathLike,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> PlannedStudy:
    """Plan a study that compares captions, and write its folder.

    `human` is a JSON file from image names to lists of captions, each of `systems` one from image names to captions.
    With `force` a study that was not served yet is replaced, whose words stay. Raises BadInput with every mistake in
    the files, and PlanError if a task would show an image twice.
    """
    settings = settings or PlanSettings()
    if not systems and not settings.human_human:
        raise UsageError("no system to compare with people: give --system, or --human-human to compare people")
    check_folder(Path(out), force)
    files = {name: str(systems[name]) for name in sorted(systems)}
    texts = _words(out)
    return _made(out, _caption_material(str(human), files, str(images), texts, settings), texts, settings)


def make_item_tasks(
    out: PathLike,
    items: PathLike,
    images: PathLike | None = None,
    settings: PlanSettings | None = None,
    *,
    force: bool = False,
) -> PlannedStudy:
    """Plan a study of the items in a file of JSON Lines, and write its folder.

    `images` is the folder that items name images of. Raises BadInput with every mistake in the files, and PlanError if
    a task would show an image twice.
    """
    check_folder(Path(out), force)
    texts = _words(out)
    return _made(out, _item_material(str(items), images, texts, {}), texts, settings or PlanSettings())


def _words(out: PathLike) -> Texts:
    """Return the words of the study that is replaced, or the English ones: those of trials are written into items."""
    path = Path(out, TEXTS_FILE)
    return load_texts(path) if path.is_file() else texts_of(default_document())


def _made(out: PathLike, material: Material, texts: Texts, settings: PlanSettings) -> PlannedStudy:
    plan = make_plan(material, texts, settings)
    write_study(Path(out), plan, material, settings)
    return PlannedStudy(load_study(out), (*material.notes, *plan.notes))


# Inputs ---------------------------------------------------------------------------------------------------------------


def _caption_material(
    human: str, files: Mapping[str, str], folder: str, texts: Texts, settings: PlanSettings
) -> Material:
    """Return what captions are made into. BadInput with all mistakes of the inputs."""
    there = find_images(folder)
    documents = read_captions({human: PEOPLE, **dict.fromkeys(files.values(), OF_SYSTEM)})
    common, notes = common_images({"the folder": there, **documents})
    people = {name: list(dict.fromkeys(documents[human][name])) for name in common}
    order = shuffled(stream(settings.seed, "human/images"), common)
    number = settings.num_images or len(order)
    single = sum(len(people[name]) < 2 for name in order[:number]) if settings.human_human else 0
    if single == len(order[:number]):
        images = counted(single, "image")
        message = f"none of {images} has two different human captions, which --human-human compares; leave it out"
        raise BadInput([Problem(message, human)])
    found = read_images(folder, order[: number + PRACTICE_TRIALS])  # practice is made of others, if there are any
    shown = {name: found[name] for name in order[:number]}
    systems = {name: documents[file] for name, file in files.items()}
    items = list(comparisons(shown, people, systems, texts, settings.seed, human_human=settings.human_human))
    notes += _caption_notes(items, found, single)
    right = {name: people[name] for name in found}
    return Material(items, found, right, folder, {**_hashes({"human": human}), "systems": _hashes(files)}, notes)


def _caption_notes(items: Sequence[Item], images: Mapping[str, StudyImage], single: int) -> Iterator[str]:
    if single:
        yield f"no human-human pair for {counted(single, 'image')} with one human caption"
    equal = sum(item.candidates[0].text == item.candidates[1].text for item in items)
    if equal:
        yield f"{counted(equal, 'comparison')} show the same text twice: the system wrote what people wrote"
    copies = len(images) - len({image.sha256 for image in images.values()})
    if copies:
        yield f"{counted(copies, 'image')} are copies of another under a second name; no task shows a picture twice"


def _item_material(file: str, folder: PathLike | None, texts: Texts, known: Mapping[str, StudyImage]) -> Material:
    """Return what is in a file of items. BadInput with all mistakes of the inputs.

    `known` are images of the study; others lie in the folder.
    """
    path = require(locate(file), "items")
    there = find_images(str(folder)) if folder is not None else {}
    filed = read_item_file(path, texts, [*there, *known])
    named = {item.image for item in filed.values() if item.image}
    found = read_images(str(folder), named.intersection(there)) if there else {}
    other = [name for name in found if name in known and known[name].sha256 != found[name].sha256]
    if other:
        raise BadInput(Problem("the study has another picture of this name; rename it", name) for name in other)
    images = {**found, **known}
    items = identified_items(filed, images, file)
    unused = sorted(there.keys() - named)
    notes = [f"left out: {counted(len(unused), 'image')} that no item shows, such as {unused[0]}"] if unused else []
    return Material(items, images, right_texts(items), str(folder), _hashes({"items": file}), notes)


def _hashes(files: Mapping[str, str]) -> dict[str, str]:
    """Return the content hash of each input; images have theirs among the parts of a study."""
    return {name: content_hash([locate(file)]) for name, file in files.items()}


# Extension ------------------------------------------------------------------------------------------------------------


def extend_study(
    study: PathLike,
    *,
    raters_per_item: int | None = None,
    systems: Mapping[str, PathLike] | None = None,
    items: PathLike | None = None,
    images: PathLike | None = None,
) -> PlannedStudy:
    """Add raters, systems or items to a study that may have answers already, but is not served now.

    Its id, words, answers and tasks stay as they are, with their order and sides. More raters continue the balance of
    sides; what is new is compared in new tasks, in which sides are balanced too. Captions of `systems` are compared
    with texts by people in the study's own items, items that the study has are left out.
    """
    top = Path(study)
    load_record(top)
    with study_lock(top):
        old = load_study(top)
        slots = old.slots if raters_per_item is None else raters_per_item
        if slots < old.slots:
            raise UsageError(f"--raters-per-item must be at least {old.slots}, which each task has; found {slots}")
        if slots == old.slots and not systems and items is None:
            raise UsageError(f"nothing to add to {study}: give --raters-per-item, --system or --items")
        material = Material([], {}, {}, "", {}, [])
        if systems:
            material = _systems_material(old, {name: str(systems[name]) for name in sorted(systems)})
        elif items is not None:
            material = _item_material(str(items), images, old.texts, old.images)
        plan = _plan_of_new(old, material) if systems or items is not None else Plan({}, [], [])
        add_to_study(old, slots, plan, material)
        return PlannedStudy(load_study(top), (*material.notes, *plan.notes))


def _systems_material(old: Study, files: Mapping[str, str]) -> Material:
    """Return comparisons of new systems with the texts by people that the study has."""
    sources = {each.source for item in old.items.values() for each in item.candidates if each.role == SYSTEM}
    if known := sorted(sources.intersection(files)):
        raise UsageError(f"the study has captions of {', '.join(known)} already; give a new system another name")
    people = right_texts(list(old.items.values()))
    documents = read_captions(dict.fromkeys(files.values(), OF_SYSTEM))
    common, notes = common_images({"the study": people, **documents})
    systems = {name: documents[file] for name, file in files.items()}
    items = list(comparisons({name: old.images[name] for name in common}, people, systems, old.texts, old.seed))
    return Material(items, old.images, {}, "", {"systems": _hashes(files)}, notes)


def _plan_of_new(old: Study, material: Material) -> Plan:
    """Return new tasks for what the study does not have. BadInput for items that would change a task that it has."""
    new = [item for item in material.items if item.id not in old.items]
    problems = [
        Problem(f"{item.prompt!r} is new, and its use is {item.use}: the tasks of a study keep what they have of those")
        for item in new
        if item.use in (PRACTICE, BEFORE, AFTER)
    ]
    units = {item.unit for item in new} & {item.unit for item in old.items.values()}
    problems += [
        Problem(f"{each} stands in a task already; name that of new items otherwise") for each in sorted(units)
    ]
    if all(item.use != REAL for item in new):
        problems.append(Problem("no new items to score: the study has all of them already"))
    if problems:
        raise BadInput(problems)
    items = [*old.items.values(), *new]
    settings = PlanSettings(**old.info["settings"])
    everything = replace(material, items=items, right=right_texts(items))
    plan = make_plan(everything, old.texts, settings, list(old.tasks.values()))
    return plan._replace(items={name: item for name, item in plan.items.items() if name not in old.items})


# Checking -------------------------------------------------------------------------------------------------------------


class StudyReport(NamedTuple):
    """The faults of a study, which can be served if there is none, and what else should be known."""

    study: Study
    faults: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def check_study(study: PathLike) -> StudyReport:
    """Check the images and the words of a study. BadInput if its items, tasks or images were changed."""
    loaded = load_study(study)
    return StudyReport(loaded, tuple(_faults(loaded)), tuple(_notes(loaded)))


def _faults(study: Study) -> Iterator[Problem]:
    files = {image.file: image.sha256 for image in study.images.values()}
    for file, digest in files.items():
        if hashlib.sha256((study.folder / file).read_bytes()).hexdigest() != digest:
            yield Problem("the image changed since the study was made; restore it", file)
    for name in sorted(path.name for path in (study.folder / IMAGES_FOLDER).iterdir()):
        if f"{IMAGES_FOLDER}/{name}" not in files:
            yield Problem("this file is no image of the study; delete it", f"{IMAGES_FOLDER}/{name}")
    for name in study.texts.placeholders():
        message = f"the placeholder {{{{{name}}}}} is not filled; write its value under `values`"
        yield Problem(message, TEXTS_FILE, f"values.{name}")


def _notes(study: Study) -> Iterator[Problem]:
    for key in (each for each in study.texts.absent if each not in ITEM_WORDS):
        yield Problem("missing key; the English words are shown", TEXTS_FILE, key)
    if study.serving.keep_withdrawn_answers:
        message = "answers of raters who withdraw are kept; make sure that the consent and withdraw_question say so"
        yield Problem(message, SERVING_FILE, "keep_withdrawn_answers")
