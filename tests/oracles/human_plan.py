"""Everything that must be true of a plan, checked in the plan alone: nothing here knows how it was made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from vqagen.human.study.item_record import identified

from vqagen.errors import Problem
from vqagen.human.study.item import CHECK, COMPARE, INSTRUCTED, PRACTICE, REAL, REFERENCE, SYSTEM, Item
from vqagen.human.study.study import ITEMS_FILE, STUDY_FILE, TASKS_FILE, Study

Sides = dict[tuple[str, ...], list[bool]]


def plan_faults(study: Study) -> Iterator[Problem]:
    """Yield each way in which a plan is not what every plan is."""
    yield from _item_faults(study)
    yield from _placing_faults(study)
    yield from _task_faults(study)
    yield from _side_faults(study)
    yield from _slot_faults(study)


def _in_item(item: Item, message: str) -> Problem:
    return Problem(message, ITEMS_FILE, f"item {item.id}")


def _in_task(task: str, message: str) -> Problem:
    return Problem(message, TASKS_FILE, f"task {task}")


# Items -------------------------------------------------------------------------------------------------------------


def _item_faults(study: Study) -> Iterator[Problem]:
    texts = _texts_by_picture(study)
    for item in study.items.values():
        if item.image and item.image not in study.images:
            yield _in_item(item, f"its image {item.image} is not among the images of the study")
            continue
        digest = study.images[item.image].sha256 if item.image else ""
        if identified(item, digest).id != item.id:
            yield _in_item(item, "its id is not the hash of its content")
        yield from (_in_item(item, message) for message in _candidate_faults(item))
        if item.use in (CHECK, PRACTICE):
            yield from _gold_faults(item, texts[digest])
        elif item.use == INSTRUCTED:
            yield from _instructed_faults(item)
        elif item.gold is not None:
            yield _in_item(item, "it is scored, and has a known answer")


def _candidate_faults(item: Item) -> Iterator[str]:
    expected = 2 if item.kind == COMPARE else 1
    if len(item.candidates) != expected:
        yield f"it has {len(item.candidates)} texts, not {expected}"
    if any(not each.text.strip() for each in item.candidates):
        yield "one of its texts is empty"
    if item.use == REAL and len(item.candidates) == 2:
        first, second = item.candidates
        if first.role == SYSTEM and second.role == REFERENCE:
            yield "its reference is not the first text"
        if first.role == second.role and first.source > second.source:
            yield "its sources are not in sorted order"


def _texts_by_picture(study: Study) -> Mapping[str, set[str]]:
    """Return the texts by people about each picture in scored items."""
    texts: dict[str, set[str]] = defaultdict(set)
    for item in study.items.values():
        if item.use == REAL and item.image in study.images:
            texts[study.images[item.image].sha256].update(
                each.text for each in item.candidates if each.role == REFERENCE
            )
    return texts


def _gold_faults(item: Item, about: set[str]) -> Iterator[Problem]:
    """Yield faults of an attention check or practice: one text is right, and the other is no text about its image."""
    ids = [each.id for each in item.candidates]
    if item.gold is None or item.gold.better not in ids:
        yield _in_item(item, "it does not say which of its texts is right")
        return
    if len(ids) != 2:
        return
    right, wrong = sorted(item.candidates, key=lambda each: item.gold is None or each.id != item.gold.better)
    if right.text == wrong.text:
        yield _in_item(item, "its right and its wrong text are the same")
    if wrong.text in about:
        yield _in_item(item, "its wrong text is one by people about its image")


def _instructed_faults(item: Item) -> Iterator[Problem]:
    value = item.gold.value if item.gold else None
    if value is None or not item.scale.least <= value <= item.scale.largest:
        yield _in_item(item, "it does not say which value of its scale to choose")


# Tasks -------------------------------------------------------------------------------------------------------------


def _placing_faults(study: Study) -> Iterator[Problem]:
    """Yield scored items that do not stand in exactly one task, and trials of unknown or practice items."""
    placed = Counter(trial.item for task in study.tasks.values() for trial in task.trials)
    for item in study.items.values():
        if item.use == REAL and placed[item.id] != 1:
            yield _in_item(item, f"it is scored and stands in {placed[item.id]} tasks, not in one")
        if item.use == PRACTICE and placed[item.id]:
            yield _in_item(item, "it is practice and stands in a task")
        if item.use in (CHECK, INSTRUCTED) and not placed[item.id]:
            yield _in_item(item, "it stands in no task")
    for task in study.tasks.values():
        for name in sorted({trial.item for trial in task.trials} - study.items.keys()):
            yield _in_task(task.id, f"item {name} does not exist")


def _task_faults(study: Study) -> Iterator[Problem]:
    settings = study.info["settings"]
    exact = {CHECK: settings["checks_per_task"], INSTRUCTED: settings["imc_per_task"]}
    scored = []
    for task in study.tasks.values():
        items = [study.items[trial.item] for trial in task.trials if trial.item in study.items]
        uses = Counter(item.use for item in items)
        scored.append(uses[REAL])
        for use, number in exact.items():
            if uses[use] != number:
                yield _in_task(task.id, f"it has {uses[use]} trials whose use is {use}, not {number}")
        if len(task.trials) > settings["trials_per_task"]:
            yield _in_task(task.id, f"it has {len(task.trials)} trials, more than {settings['trials_per_task']}")
        yield from _repetitions(study, task.id, items)
    if scored and (min(scored) < 1 or max(scored) - min(scored) > 1):
        message = f"tasks have from {min(scored)} to {max(scored)} scored trials, which differ by more than one"
        yield Problem(message, TASKS_FILE)


def _repetitions(study: Study, task: str, items: list[Item]) -> Iterator[Problem]:
    """Yield pictures and items that a task shows twice."""
    pictures = Counter(study.images[item.image].sha256 for item in items if item.image in study.images)
    for item in items:
        if item.image in study.images and pictures[study.images[item.image].sha256] > 1:
            yield _in_task(task, f"it shows image {item.image} more than once")
    for name, number in Counter(item.id for item in items).items():
        if number > 1:
            yield _in_task(task, f"it has item {name} {number} times")


# Sides -------------------------------------------------------------------------------------------------------------


def _side_faults(study: Study) -> Iterator[Problem]:
    """Yield sources whose texts stand on one side more often than on the other, by more than one item."""
    pairs, systems = _sides(study)
    for (dimension, *sources), sides in pairs.items():
        if abs(_surplus(sides)) > 1:
            message = f"the second text is on the right in {sum(sides)} of {len(sides)} items"
            yield Problem(message, TASKS_FILE, f"{dimension}, {' - '.join(sources)}")
    for (dimension, source), sides in systems.items():
        if abs(_surplus(sides)) > 1:
            message = f"its text is on the right in {sum(sides)} of {len(sides)} items"
            yield Problem(message, TASKS_FILE, f"{dimension}, {source}")


def _surplus(sides: list[bool]) -> int:
    return 2 * sum(sides) - len(sides)


def _sides(study: Study) -> tuple[Sides, Sides]:
    """Return for each pair of sources and for each system whether its text is on the right, for each item."""
    pairs: Sides = defaultdict(list)
    systems: Sides = defaultdict(list)
    for task in study.tasks.values():
        for trial in task.trials:
            item = study.items.get(trial.item)
            if item is None or len(item.candidates) != 2 or item.use not in (REAL, CHECK):
                continue
            names = [f"{each.source} ({each.role})" for each in item.candidates]
            pairs[(f"{item.use} {item.dimension}", *names)].append(trial.second_on_right)
            for candidate, is_right in zip(
                item.candidates, (not trial.second_on_right, trial.second_on_right), strict=True
            ):
                if candidate.role == SYSTEM:
                    systems[f"{item.use} {item.dimension}", candidate.source].append(is_right)
                    systems[f"{item.use}, all dimensions", candidate.source].append(is_right)
    return pairs, systems


def _slot_faults(study: Study) -> Iterator[Problem]:
    """Yield trials whose sides are not balanced over the raters of a task, or that not every rater sees once.

    A task with an item that does not exist is skipped: `_placing_faults` names it.
    """
    if study.slots < 1:
        yield Problem(f"{study.slots} raters do each task", STUDY_FILE, "raters_per_item")
    for task in study.tasks.values():
        if not study.items.keys() >= {trial.item for trial in task.trials}:
            continue
        right: Counter[str] = Counter()
        for slot in range(study.slots):
            trials = study.trials(task.id, slot)
            if sorted(each.item.id for each in trials) != sorted(each.item for each in task.trials):
                yield _in_task(task.id, f"rater {slot} does not see each of its trials once")
            right.update(each.item.id for each in trials if each.second_on_right and each.item.kind == COMPARE)
        for trial in task.trials:
            if study.items[trial.item].kind == COMPARE and abs(2 * right[trial.item] - study.slots) > 1:
                yield _in_task(task.id, f"the sides of item {trial.item} are not balanced over the raters")
