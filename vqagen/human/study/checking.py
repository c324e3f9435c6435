"""What to know of a study before it is served: faults, the precision to expect, and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

from vqagen.errors import Problem, counted
from vqagen.extras import needed
from vqagen.human.study.images import IMAGES_FOLDER
from vqagen.human.study.item import ANSWER, COMPARE, REAL, SYSTEM, Item
from vqagen.human.study.serving import SERVING_FILE
from vqagen.human.study.study import Study, digest_of, load_study
from vqagen.human.study.texts import ITEM_WORDS, TEXTS_FILE
from vqagen.language.domain_files import PathLike

TYPICAL_DEVIATION = 0.6
"""Standard deviation of an answer from -1 to 1 in studies of captions."""
_TAIL = 0.975


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
        if digest_of((study.folder / file).read_bytes()) != digest:
            yield Problem("the image changed since the study was made; restore it", file)
    for name in sorted(path.name for path in (study.folder / IMAGES_FOLDER).iterdir()):
        if f"{IMAGES_FOLDER}/{name}" not in files:
            yield Problem("this file is no image of the study; delete it", f"{IMAGES_FOLDER}/{name}")
    for name in study.texts.placeholders():
        yield Problem(f"no value for {{{{{name}}}}}, which the words use", TEXTS_FILE, f"values.{name}")


def _notes(study: Study) -> Iterator[Problem]:
    for key in (each for each in study.texts.absent if each not in ITEM_WORDS):
        yield Problem("missing key; the English words are shown", TEXTS_FILE, key)
    if study.serving.keep_withdrawn_answers:
        yield Problem("true: the consent and withdraw_question must say so", SERVING_FILE, "keep_withdrawn_answers")


# Forecast -------------------------------------------------------------------------------------------------------------


def forecast_lines(study: Study, reward_per_task: float = 0) -> Iterator[str]:
    """Yield what a study asks of raters, what precision to expect, and what it costs, in lines."""
    sizes = sorted({len(task.trials) for task in study.tasks.values()})
    trials = f"{sizes[0]} to {counted(sizes[-1], 'trial')}" if len(sizes) > 1 else counted(sizes[0], "trial")
    assignments = counted(len(study.tasks) * study.slots, "assignment")
    tasks = f"{counted(len(study.tasks), 'task')} of {trials}"
    yield f"study {study.id}: {tasks} for {counted(study.slots, 'rater')} each, {assignments}"
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


def _group(item: Item) -> tuple[str, str, str]:
    """Return kind, dimension and sources: a system, or `first - second` for two systems or two people."""
    sources = [each.source for each in item.candidates]
    is_against_reference = item.kind == COMPARE and [each.role == SYSTEM for each in item.candidates] == [False, True]
    return item.kind, item.dimension, sources[1] if is_against_reference else " - ".join(sources)


def _precision(kind: str, answers: int) -> str:
    """Return the half-width of the 95 % interval of a mean of independent answers: raters that differ make it wider."""
    if kind == ANSWER or answers < 2:
        return ""
    quantile = float(needed("scipy.special", "human", "the expected precision").stdtrit(answers - 1, _TAIL))
    return f", half-width of the 95 % interval about {quantile * TYPICAL_DEVIATION / sqrt(answers):.3f}"
