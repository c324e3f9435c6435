"""Tables of a report that need more than the columns of an evaluation: programs, scenes, grids, or files of GQA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, UsageError, VqagenError, describe
from vqagen.files.locations import locate
from vqagen.files.shipped import require
from vqagen.json.stream import reading
from vqagen.judge.report.table import Table
from vqagen.judge.scoring.columns import NONE
from vqagen.judge.scoring.evaluation import GIVEN, Evaluation
from vqagen.judge.scoring.gqa import Given, GqaFiles, gqa_scores
from vqagen.judge.scoring.suite import SceneAnswers, consistency_tables, possible_table, scene_answers
from vqagen.judge.scoring.trial_tables import trial_tables
from vqagen.language.domain_files import PathLike, find_domain
from vqagen.world.domain import load_domain
from vqagen.world.loading import find_scenes

GQA, TRIALS = "gqa", "trials"
ATTENTION_KEYS = ("questionId", "attention")


class FurtherFiles(NamedTuple):
    """Files that a report may use beside questions and predictions."""

    consistency: bool = False
    scenes: PathLike | None = None
    choices: PathLike | None = None
    attentions: PathLike | None = None


def further_tables(evaluation: Evaluation, files: FurtherFiles) -> Iterator[Table]:
    """Yield the further tables. UsageError for files that the questions have no use for."""
    is_gqa = evaluation.gold.format == GQA
    if not is_gqa and (files.choices or files.attentions):
        raise UsageError("--choices and --attentions are files of GQA, and the questions are not GQA's")
    if files.attentions and not files.scenes:
        raise UsageError("--attentions needs --scenes, the scene graphs of GQA, for the regions of objects")
    if is_gqa:
        yield from _gqa_tables(evaluation, files)
        return
    if evaluation.gold.format == TRIALS:
        yield from trial_tables(evaluation)
    scenes, why_not = _scene_answers(evaluation, files.scenes)
    if possible := possible_table(evaluation, scenes, why_not):
        yield possible
    if files.consistency:
        yield from consistency_tables(evaluation)


def _scene_answers(evaluation: Evaluation, scenes: PathLike | None) -> tuple[SceneAnswers | None, str]:
    """Return the answers that scenes allow, or why they are unknown."""
    if scenes is None:
        return None, ""
    generator = evaluation.gold.info.get("generator")
    named = generator.get("domain") if isinstance(generator, Mapping) else None
    try:
        domain = load_domain(find_domain(evaluation.gold.domain or named).metadata)
    except VqagenError as error:
        return None, f"no plausibility, because the domain cannot be read: {str(error).splitlines()[0]}"
    return scene_answers(find_scenes(scenes), domain), ""


def _gqa_tables(evaluation: Evaluation, files: FurtherFiles) -> Iterator[Table]:
    def read() -> Iterable[tuple[str, Mapping[str, Any]]]:
        with reading(locate(evaluation.gold.name)) as reader:
            for name in reader.members():
                yield name, reader.value()

    givens, rights = evaluation.codes[GIVEN].tolist(), (evaluation.correct >= 1).tolist()
    given = {
        name: Given(str(evaluation.values[GIVEN][code]), right)
        for name, code, right in zip(evaluation.ids, givens, rights, strict=True)
        if code != NONE
    }
    choices = None if files.choices is None else _object(files.choices)
    if choices is not None and choices.keys().isdisjoint(evaluation.ids):
        ids = ", ".join(evaluation.ids[:3])
        raise BadInput([Problem(f"no answers to any question, such as {ids}", str(files.choices))])
    attentions = scenes = None
    if files.attentions is not None and files.scenes is not None:
        attentions, scenes = _attentions(files.attentions), _object(files.scenes)
    try:
        yield from gqa_scores(read, given, GqaFiles(choices, attentions, scenes)).tables()
    except (KeyError, TypeError, ValueError) as error:
        message = f"GQA's files do not fit each other ({error.__class__.__name__} {error}): give those of one release"
        raise BadInput([Problem(message, evaluation.gold.name)]) from error


def _object(path: PathLike) -> Mapping[str, Any]:
    """Return a file that is one JSON object. BadInput for others."""
    found = _read(path)
    if not isinstance(found, Mapping):
        raise BadInput([Problem(f"expected an object, id -> record, found {describe(found)}", str(path))])
    return found


def _attentions(path: PathLike) -> dict[str, Any]:
    """Return question -> attention from a list of both. BadInput for others."""
    found = _read(path)
    id_key, map_key = ATTENTION_KEYS
    if not isinstance(found, list) or not all(
        isinstance(each, Mapping) and {*ATTENTION_KEYS} <= {*each} for each in found
    ):
        raise BadInput([Problem(f"expected a list of objects with {id_key} and {map_key}", str(path))])
    return {str(each[id_key]): each[map_key] for each in found}


def _read(path: PathLike) -> Any:
    with reading(require(locate(path), "file")) as reader:
        return reader.value()
