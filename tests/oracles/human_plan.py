"""Everything that must be true of a plan, checked in the study alone: nothing here knows how it was made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from vqagen.human.study.item import (
    AFTER,
    ANSWER,
    BEFORE,
    CHECK,
    COMPARE,
    INSTRUCTED,
    PRACTICE,
    REAL,
    REFERENCE,
    SYSTEM,
    StudyItem,
    identified,
)
from vqagen.human.study.study import Study

TEXTS = {"compare": 2, "rate": 1, "answer": 0}


def plan_faults(study: Study) -> Iterator[str]:
    """Yield each way in which a plan is not what every plan is."""
    for item in study.items.values():
        yield from (f"item {item.id}: {fault}" for fault in _item_faults(study, item))
    placed = Counter(trial.item for task in study.tasks.values() for trial in task.trials)
    for item in study.items.values():
        if (item.use == REAL and placed[item.id] != 1) or (item.use == PRACTICE) == (placed[item.id] > 0):
            yield f"item {item.id}: it is {item.use}, and stands in {placed[item.id]} tasks"
    yield from _size_faults(study)
    for task in study.tasks:
        slots = [[trial.item.id for trial in study.trials(task, slot)] for slot in range(study.slots)]
        yield from (f"task {task}: {fault}" for fault in _task_faults(study, task, slots))
    yield from _side_faults(study)


def _item_faults(study: Study, item: StudyItem) -> Iterator[str]:
    digest = study.images[item.image].sha256 if item.image else ""
    if identified(item, digest).id != item.id:
        yield "its id is not the hash of its content"
    if len(item.candidates) != TEXTS[item.kind]:
        yield f"it has {len(item.candidates)} texts"
    if (item.kind == ANSWER) != (item.form is not None) or (item.kind == ANSWER) != (item.scale is None):
        yield "it has not either a form or a scale"
    if item.use == REAL and item.kind == COMPARE:
        keys = [(each.role != REFERENCE, each.source) for each in item.candidates]
        if keys != sorted(keys):
            yield "its texts are not in order: the reference first, else by source"
    gold = item.gold
    if item.use in (CHECK, PRACTICE) and item.kind == COMPARE:
        right, wrong = item.candidates
        about = {
            each.text
            for other in study.items.values()
            if other.use == REAL and other.image and study.images[other.image].sha256 == digest
            for each in other.candidates
            if each.role == REFERENCE
        }
        if gold is None or gold.better != right.id or wrong.text in about or right.text == wrong.text:
            yield "it is not one right text and one that is wrong of its image"
    elif item.use in (CHECK, PRACTICE, INSTRUCTED) and (gold is None or (gold.value is None and gold.answer is None)):
        yield "it does not say what is right"
    elif item.use == REAL and item.kind != ANSWER and gold is not None:
        yield "it is scored, and has a known answer"


def _size_faults(study: Study) -> Iterator[str]:
    """Yield numbers of trials that no setting asked for. Those with series and of extensions may differ in size."""
    settings = study.info["settings"]
    uses = [Counter(study.items[trial.item].use for trial in task.trials) for task in study.tasks.values()]
    is_extended = "extensions" in study.info
    has_checks = any(item.use == CHECK for item in study.items.values())
    checks = {settings["checks_per_task"] * has_checks, *([0] if is_extended else [])}
    for found in uses:
        if found[CHECK] not in checks or found[INSTRUCTED] != settings["imc_per_task"]:
            yield f"a task has {found[CHECK]} checks and {found[INSTRUCTED]} instructed trials"
        if found[REAL] < 1:
            yield "a task has nothing to score"
        ends = sum(item.use in (BEFORE, AFTER) for item in study.items.values())
        if found[BEFORE] + found[AFTER] != ends:
            yield "a task lacks a question to the rater"
    if any(item.series for item in study.items.values()) or is_extended:
        return
    sizes = [found[REAL] + found[CHECK] + found[INSTRUCTED] for found in uses]
    if max(sizes) > settings["trials_per_task"] or max(sizes) - min(sizes) > 1:
        yield f"tasks have from {min(sizes)} to {max(sizes)} trials"


def _task_faults(study: Study, task: str, slots: Sequence[Sequence[str]]) -> Iterator[str]:
    names = [trial.item for trial in study.tasks[task].trials]
    items = [study.items[name] for name in names]
    if len(set(names)) < len(names) or any(sorted(slot) != sorted(names) for slot in slots):
        yield "a rater does not see each of its trials once"
    units = Counter(study.images[image].sha256 for image, _ in {(item.image, item.unit) for item in items} if image)
    if any(number > 1 for number in units.values()):
        yield "it shows a picture more than once"
    series = {item.series for item in items if item.series}
    for name in sorted(series):
        rounds = [item.id for item in sorted(study.items.values(), key=lambda item: item.place) if item.series == name]
        starts = [slot.index(rounds[0]) for slot in slots if rounds[0] in slot]
        if [slot[at : at + len(rounds)] for slot, at in zip(slots, starts, strict=True)] != [rounds] * len(slots):
            yield f"series {name} is torn"
    for use in (BEFORE, AFTER):
        ends = [item.id for item in study.items.values() if item.use == use]
        for slot in slots:
            if ends and (slot[: len(ends)] if use == BEFORE else slot[-len(ends) :]) != ends:
                yield f"questions {use} the trials do not stand there in their order"
    for item in items:
        seen = [trial for slot in range(study.slots) for trial in study.trials(task, slot)]
        right = [trial.second_on_right for trial in seen if trial.item is item]
        if item.kind == COMPARE and abs(_surplus(right)) > 1:
            yield f"the sides of item {item.id} are not balanced over the raters"
        if item.kind != COMPARE and not all(right):
            yield f"item {item.id} has sides"


def _surplus(sides: Sequence[bool]) -> int:
    return 2 * sum(sides) - len(sides)


def _side_faults(study: Study) -> Iterator[str]:
    """Yield sources whose texts stand on one side more often than on the other, by more than one item.

    Each extension is balanced in itself.
    """
    sides: dict[tuple[str, ...], list[bool]] = defaultdict(list)
    for task in study.tasks.values():
        for trial in task.trials:
            item = study.items[trial.item]
            if item.kind != COMPARE or item.use not in (REAL, CHECK):
                continue
            first, second = item.candidates
            names = (f"{each.source} ({each.role})" for each in item.candidates)
            sides[(f"{item.use} {item.dimension}", *names)].append(trial.second_on_right)
            for candidate, is_right in ((first, not trial.second_on_right), (second, trial.second_on_right)):
                if candidate.role == SYSTEM:
                    sides[f"{item.use} {item.dimension}", candidate.source].append(is_right)
                    sides[f"{item.use}, all dimensions", candidate.source].append(is_right)
    for name, found in sides.items():
        if abs(_surplus(found)) > 1 + len(study.info.get("extensions", ())):
            yield f"{name}: on the right in {sum(found)} of {len(found)} items"
