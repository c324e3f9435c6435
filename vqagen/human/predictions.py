"""Answers of people as predictions, which `vqagen evaluate` and `vqagen compare` take like those of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import quote

import orjson

from vqagen.files.locations import natural_order
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.samples import said
from vqagen.human.study.item import ANSWER, REAL

PREDICTIONS, PEOPLE = "predictions", "people"
"""The folder of the files; the name of all raters together."""


def people_predictions(rows: Iterable[AnswerRow]) -> dict[str, bytes]:
    """Return the files of predictions by their names: DIMENSION/people.jsonl, DIMENSION/RATER.jsonl.

    Of all raters, the prediction for a question is their commonest answer; of equally common ones it is the smallest
    number, or the first by the alphabet. Questions, dialogs and trials are dimensions of their own. Only answers to
    scored questions that a file of questions knows, by their `record`, are predictions.
    """
    found: dict[str, dict[str, list[AnswerRow]]] = {}
    for row in rows:
        if row.kind == ANSWER and row.use == REAL and row.record:
            folder, question = quote(row.dimension).replace(".", "%2E"), orjson.dumps(row.record).decode()
            for name in (PEOPLE, row.rater):
                found.setdefault(f"{PREDICTIONS}/{folder}/{name}.jsonl", {}).setdefault(question, []).append(row)
    return {
        name: b"".join(
            orjson.dumps({**questions[each][0].record, "answer": commonest(questions[each])}) + b"\n"
            for each in sorted(questions, key=natural_order)
        )
        for name, questions in found.items()
    }


def commonest(rows: Sequence[AnswerRow]) -> int | str:
    """Return the commonest answer to a question; case and outer space do not count."""
    counts = Counter(said(row.value) for row in rows)
    best = min(counts, key=lambda answer: (-counts[answer], natural_order(answer)))
    return next(row.value for row in rows if said(row.value) == best)
