"""The blocks on trials, from an evaluation and the grids of its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from vqagen.files.locations import locate
from vqagen.score.director.mistakes import INVALID, KINDS, kinds_of_cells
from vqagen.score.director.trial import Trial, read_trial
from vqagen.score.director.trial_files import find_trials
from vqagen.score.director.vocabulary import read_vocabulary
from vqagen.score.report.table import Table
from vqagen.score.scoring.blocks.trials import NO_ANSWER_KIND, Answered, gap_table, mistakes_table
from vqagen.score.scoring.columns import NONE
from vqagen.score.scoring.evaluation import GIVEN, Evaluation

TYPE = "type"


def trial_tables(evaluation: Evaluation) -> Iterator[Table]:
    """Yield the gap and, for trials that come with their items, the kinds of answers."""
    types = {row.name: Answered(round(row.correct), row.n) for row in evaluation.table(TYPE)}
    for table in (gap_table(types), mistakes_table(_kinds_of_answers(evaluation), KINDS)):
        if table is not None:
            yield table


def _kinds_of_answers(evaluation: Evaluation) -> Counter[tuple[str, str]]:
    """Return (type of trial, kind of answer) -> trials; nothing if the file does not name its items."""
    found: Counter[tuple[str, str]] = Counter()
    file = find_trials(locate(evaluation.gold.name))
    catalogue = file.info.get("catalogue")
    if file.is_of_reference_shape or not isinstance(catalogue, Mapping):
        return found
    items = read_vocabulary(catalogue, evaluation.gold.name).items
    givens = evaluation.codes[GIVEN].tolist()
    for place, (_, record, _) in enumerate(file.source.entries()):
        trial = read_trial(record)
        if not isinstance(trial, Trial) or not evaluation.is_counted[place]:
            continue
        kind = NO_ANSWER_KIND
        if givens[place] != NONE:
            kind = kinds_of_cells(trial, items).get(str(evaluation.values[GIVEN][givens[place]]), INVALID)
        found[trial.group, kind] += 1
    return found
