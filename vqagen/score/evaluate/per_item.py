"""The result of each item as JSON Lines: its id, right and given answer as compared, credit, and fields to group by."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from vqagen.score.evaluate.evaluation import ANSWER, GIVEN, Evaluation

BATCH = 10_000


def item_lines(evaluation: Evaluation) -> Iterator[bytes]:
    """Yield a line for each item, in the order of the file; some lines at once.

    `given` is null without a prediction; `correct` is null for an item that is left out.
    """
    for start in range(0, len(evaluation), BATCH):
        part = slice(start, start + BATCH)
        cells = {name: column._replace(codes=column.codes[part]).cells() for name, column in evaluation.fields.items()}
        right, given = cells.pop(ANSWER), cells.pop(GIVEN)
        credits = evaluation.correct[part].tolist()
        counts = evaluation.is_counted[part].tolist()
        lines = []
        for at, id in enumerate(evaluation.items.ids[part]):
            record = {
                "id": id,
                ANSWER: right[at],
                GIVEN: given[at],
                "correct": credits[at] if counts[at] else None,
                "fields": {name: values[at] for name, values in cells.items()},
            }
            lines.append(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
        yield b"".join(lines)
