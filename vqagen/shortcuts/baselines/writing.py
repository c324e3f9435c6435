"""Write the guesses of a baseline as predictions: JSON Lines with info beside, or the list of Visual7W's toolkit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from vqagen import __version__
from vqagen.errors import UsageError
from vqagen.files.output import atomic_output, check_output
from vqagen.records.formats import JSON_LINES, choose_format
from vqagen.records.layouts import Arrangement
from vqagen.records.writer import record_file
from vqagen.score.gold.item import GoldItem
from vqagen.shortcuts.baselines.learning_task import Guess

VISUAL7W = "visual7w"
ID_KEYS = {VISUAL7W: "qa_id", "vqav2": "question_id", "gqa": "questionId", "trials": "trial_index"}
"""Format of the questions -> the key of their ids; `question_index` for all others."""
_PREDICTIONS = Arrangement("predictions", "", "question", 0)
_BLOCK = 10_000


def check_target(target: str, force: bool, inputs: Sequence[str | None]) -> None:
    """Raise UsageError if predictions cannot be written to a file."""
    if not _is_result_file(target):
        choose_format(target, None, (JSON_LINES,), "predictions")
    check_output(target, force, inputs)


def check_questions(target: str, gold_format: str) -> None:
    """Raise UsageError for the name of a result file of the Visual7W toolkit about other questions."""
    if _is_result_file(target) and gold_format != VISUAL7W:
        raise UsageError(f"{target}: predictions are JSON Lines; name it {target[:-5]}.jsonl (.json: for Visual7W)")


def _is_result_file(target: str) -> bool:
    """Return true for a name that asks for a result file of the Visual7W toolkit."""
    return target.lower().endswith(".json")


def write_predictions(
    target: str,
    items: Sequence[GoldItem],
    guesses: Sequence[Guess],
    gold_format: str,
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
) -> None:
    """Write predictions; questions without a guess are left out. `inputs` are content hashes by role.

    About a Visual7W dataset, a file named `.json` is one list, as the toolkit's scorer reads it.
    """
    if _is_result_file(target):
        with atomic_output(target) as file:
            file.write(orjson.dumps(list(_visual7w_records(items, guesses))) + b"\n")
        return
    generator = {"name": "vqagen", "version": __version__, "settings": dict(settings), "inputs": dict(inputs)}
    with record_file(target, JSON_LINES, {"generator": generator}, _PREDICTIONS) as writer:
        records = list(_records(items, guesses, ID_KEYS.get(gold_format, "question_index")))
        for start in range(0, len(records), _BLOCK):
            writer.write(records[start : start + _BLOCK])


def _records(items: Sequence[GoldItem], guesses: Sequence[Guess], key: str) -> Iterator[dict[str, Any]]:
    for item, guess in zip(items, guesses, strict=True):
        if len(guess.candidates) > 1:
            yield {**_id_of(item.id, key), "candidates": list(guess.candidates)}
        elif guess.candidates:
            yield {**_id_of(item.id, key), "answer": guess.candidates[0]}


def _visual7w_records(items: Sequence[GoldItem], guesses: Sequence[Guess]) -> Iterator[dict[str, Any]]:
    """Yield entries of a result file. A box is named by its number."""
    for item, guess in zip(items, guesses, strict=True):
        if guess.candidates:
            boxes = item.options if all(option.isdecimal() for option in item.options) else ()
            candidates = [{"answer": int(each) if each in boxes else each} for each in guess.candidates]
            yield {**_id_of(item.id, ID_KEYS[VISUAL7W]), "question": item.question, "candidates": candidates}


def _id_of(written: str, key: str) -> dict[str, Any]:
    """Return the id of a question; of a round, the numbers of its dialog and of the round."""
    dialog, slash, number = written.partition("/")
    if slash and dialog.isdecimal() and number.isdecimal():
        return {"dialog_index": int(dialog), "round": int(number)}
    return {key: int(written) if written.isdecimal() and str(int(written)) == written else written}
