"""GQA's measures for questions with programs: consistency, paraphrases, validity and plausibility.

GQA's files list what follows from what, and which answers are possible. Here, programs and scenes tell: see
`entailment` for what follows. An answer is valid if it is one of those to the question's last function (a color to
`query_color`), and plausible if the scene allows it: a color that is in it, or at most as many objects as there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vqagen.errors import UsageError, counted
from vqagen.judge.answers.kinds import BOOL, INTEGER
from vqagen.judge.gold.file import CHOICE, OPEN
from vqagen.judge.intervals import Interval, cluster_interval, wilson
from vqagen.judge.report.table import COUNT, SHARE, TEXT, Cell, Table, columns
from vqagen.judge.scoring.answer_columns import KIND, AnswerColumns
from vqagen.judge.scoring.blocks.answer_counts import rights
from vqagen.judge.scoring.blocks.counting import is_whole_number
from vqagen.judge.scoring.columns import NONE, Codes
from vqagen.judge.scoring.entailment.consistency import Asked, ConsistencyCount, Paraphrases, paraphrases
from vqagen.judge.scoring.entailment.meaning import meaning_of
from vqagen.judge.scoring.evaluation import GIVEN, Evaluation
from vqagen.world.domain import Domain
from vqagen.world.image_names import image_name
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene, compile_scene

FUNCTION = "function"
QUERY = "query_"
YES_NO = frozenset({"yes", "no"})
_COLUMNS = columns(measure=TEXT, n=COUNT, value=SHARE, low=SHARE, high=SHARE)
_PARAPHRASE_COLUMNS = columns(
    groups=COUNT, questions=COUNT, all_right=COUNT, some=COUNT, none=COUNT, all_right_share=SHARE, low=SHARE, high=SHARE
)


class SceneAnswers(NamedTuple):
    """The answers that scenes allow: of each image, the number of objects and the values of each attribute."""

    sizes: Mapping[str, int]
    values: Mapping[str, Mapping[str, frozenset[str]]]


def scene_answers(source: SceneSource, domain: Domain) -> SceneAnswers:
    """Return the answers that the scenes of a source allow."""
    sizes: dict[str, int] = {}
    values: dict[str, Mapping[str, frozenset[str]]] = {}
    shared: dict[frozenset[str], frozenset[str]] = {}
    for index, record, place in source.entries():
        image = image_name(record) or f"#{record.get('image_index')}"
        scene = compile_scene(record, domain, index, place)
        sizes[image] = scene.everything.bit_count()
        found = {attribute.name: _present(scene, attribute.name) for attribute in domain.attributes}
        values[image] = {name: shared.setdefault(present, present) for name, present in found.items()}
    return SceneAnswers(sizes, values)


def _present(scene: Scene, attribute: str) -> frozenset[str]:
    return frozenset(value for value, objects in scene.having[attribute].items() if objects)


# Validity and plausibility ----------------------------------------------------------------------------------------


def possible_table(evaluation: Evaluation, scenes: SceneAnswers | None, why_not: str = "") -> Table | None:
    """Return validity and, with scenes, plausibility of the given answers; None for questions without programs.

    `why_not` is the note if scenes were given that cannot be used.
    """
    if evaluation.mode not in (OPEN, CHOICE) or FUNCTION not in evaluation.codes or KIND not in evaluation.codes:
        return None
    if (evaluation.codes[FUNCTION] == NONE).all():
        return None
    valid = _validity(evaluation)
    rows = [_share_row("validity", evaluation, valid)]
    if scenes is not None:
        rows.append(_share_row("plausibility", evaluation, valid & _plausibility(evaluation, scenes)))
    notes = ["validity: answers that are answers to the last function of the question's program"]
    notes += ["plausibility: valid answers that the scene allows"] * (scenes is not None) + [why_not] * bool(why_not)
    return Table("possible", "Possible answers", _COLUMNS, tuple(rows), tuple(notes))


def _share_row(name: str, evaluation: Evaluation, is_so: npt.NDArray[np.bool_]) -> tuple[Cell, ...]:
    kept = evaluation.is_counted & (evaluation.codes[FUNCTION] != NONE)
    share, n = is_so[kept], int(kept.sum())
    low, high = cluster_interval(share.astype(float), evaluation.images[kept]) if n else Interval(0.0, 1.0)
    return name, n, float(share.mean()) if n else None, low, high


def _validity(evaluation: Evaluation) -> npt.NDArray[np.bool_]:
    """Return true for each item whose given answer is one to its function."""
    allowed = {name: frozenset(rights(counts)) for name, counts in AnswerColumns(evaluation).by_field(FUNCTION).items()}
    functions, kinds = evaluation.values[FUNCTION], evaluation.values[KIND]

    def is_valid(function: int, kind: int, given: int) -> bool:
        if function == NONE or given == NONE:
            return False
        answer = str(evaluation.values[GIVEN][given])
        if kinds[kind] == BOOL:
            return answer in YES_NO
        return is_whole_number(answer) if kinds[kind] == INTEGER else answer in allowed[str(functions[function])]

    columns = [evaluation.codes[name] for name in (FUNCTION, KIND, GIVEN)]
    kept = {key: is_valid(*key) for key in set(zip(*(column.tolist() for column in columns), strict=True))}
    return np.array([kept[key] for key in zip(*(column.tolist() for column in columns), strict=True)], dtype=bool)


def _plausibility(evaluation: Evaluation, scenes: SceneAnswers) -> npt.NDArray[np.bool_]:
    """Return true for each item whose given answer its scene allows."""
    found = np.zeros(len(evaluation), dtype=bool)
    givens = evaluation.codes[GIVEN].tolist()
    for place, item in enumerate(evaluation.gold.items()):
        if givens[place] == NONE:
            continue
        answer, function = str(evaluation.values[GIVEN][givens[place]]), str(item.fields.get(FUNCTION))
        if item.kind == INTEGER:
            size = scenes.sizes.get(item.image)
            found[place] = size is not None and is_whole_number(answer) and int(answer) <= size
        elif function.startswith(QUERY):
            present = scenes.values.get(item.image, {}).get(function.removeprefix(QUERY), frozenset())
            found[place] = answer in present
        else:
            found[place] = True
    return found


# Consistency and paraphrases --------------------------------------------------------------------------------------


def consistency_tables(evaluation: Evaluation) -> Iterator[Table]:
    """Yield consistency and paraphrases. UsageError for questions without programs."""
    count = ConsistencyCount(_values(evaluation))
    found: list[Paraphrases] = []
    understood = 0
    for asked in _by_image(evaluation):
        understood += len(asked)
        count.add(asked)
        found.append(paraphrases([asked]))
    rows: list[tuple[Cell, ...]] = []
    for name, only_right in (("consistency", True), ("consistency, all premises", False)):
        premises, _, score, interval = count.consistency(only_right)
        rows.append((name, premises, score, *interval))
    notes = ["mean accuracy on the questions that follow from a question; of questions answered right, and of all"]
    if lost := int((evaluation.is_counted & (evaluation.codes[FUNCTION] != NONE)).sum()) - understood:
        notes.append(f"left out: {counted(lost, 'question')} whose program is malformed; see `vqagen verify`")
    if count.contradictions:
        notes.append(f"{len(count.contradictions):,} answers in the file contradict each other; see `vqagen verify`")
    yield Table("consistency", "Consistency", _COLUMNS, tuple(rows), tuple(notes))
    groups, questions, whole, some, none = (sum(column) for column in zip(*found, strict=True))
    if groups:
        row = (groups, questions, whole, some, none, whole / groups, *wilson(whole, groups))
        note = "groups of questions about one image with one meaning and several texts"
        yield Table("paraphrases", "Paraphrases", _PARAPHRASE_COLUMNS, (row,), (note,))


def _values(evaluation: Evaluation) -> dict[str, frozenset[str]]:
    """Return attribute -> the right answers of its `query_`, of which an object has one."""
    if FUNCTION not in evaluation.codes or not len(evaluation.values[FUNCTION]):
        raise UsageError(f"consistency is derived from programs, and {evaluation.gold.name} has none")
    asked = AnswerColumns(evaluation).by_field(FUNCTION)
    return {
        name.removeprefix(QUERY): frozenset(rights(counts))
        for name, counts in asked.items()
        if name.startswith(QUERY) and not any(", " in answer for answer in rights(counts))
    }


def _by_image(evaluation: Evaluation) -> Iterator[list[Asked]]:
    """Yield the questions about each image as soon as its last one was read."""
    images = evaluation.images.tolist()
    last = _last_places(evaluation.images)
    held: dict[int, list[Asked]] = {}
    for place, item in enumerate(evaluation.gold.items()):
        image = images[place]
        if item.program and evaluation.is_counted[place] and (meaning := meaning_of(item.program)) is not None:
            is_right = bool(evaluation.correct[place] >= 1)
            held.setdefault(image, []).append(Asked(place, item.question, meaning, item.answers[0], is_right))
        if place == last[image] and image in held:
            yield held.pop(image)


def _last_places(images: Codes) -> list[int]:
    """Return the last place of each image."""
    last = np.zeros(int(images.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(last, images, np.arange(len(images)))
    found: list[int] = last.tolist()
    return found
