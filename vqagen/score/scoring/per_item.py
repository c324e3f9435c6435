"""The result of each item as JSON Lines: its id, right and given answer as compared, credit, and fields to group by."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from vqagen.score.scoring.columns import NONE
from vqagen.score.scoring.evaluation import ANSWER, GIVEN, Evaluation

BATCH = 10_000


def item_lines(evaluation: Evaluation) -> Iterator[bytes]:
    """Yield a line for each item, in the order of the file; some lines at once.

    `given` is null without a prediction; `correct` is null for an item that is left out.
    """
    fields = [name for name in evaluation.codes if name not in (ANSWER, GIVEN)]
    names = (ANSWER, GIVEN, *fields)
    for start in range(0, len(evaluation), BATCH):
        part = slice(start, start + BATCH)
        columns = {name: evaluation.codes[name][part].tolist() for name in names}
        values = {name: evaluation.values[name] for name in names}
        lines = []
        for at, (id, correct, counts) in enumerate(
            zip(
                evaluation.ids[part],
                evaluation.correct[part].tolist(),
                evaluation.is_counted[part].tolist(),
                strict=True,
            )
        ):
            codes = {name: columns[name][at] for name in names}
            cells = {name: None if code == NONE else values[name][code] for name, code in codes.items()}
            record = {"id": id, ANSWER: cells.pop(ANSWER), GIVEN: cells.pop(GIVEN)}
            record |= {"correct": correct if counts else None, "fields": cells}
            lines.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        yield b"".join(lines)
