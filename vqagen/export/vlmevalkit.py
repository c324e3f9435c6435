"""VLMEvalKit: <name>_<split>.tsv of questions with options, which it evaluates without any code.

pandas reads the table, and guesses the type of a column from a few hundred kB at a time. So no cell may look like a
missing value, and a number as an option is written as a word: 3 would become 3.0 beside an empty cell.
"""

from __future__ import annotations

import base64
import csv
from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.export.examples import DIALOGS, OPEN, TRIALS, Example
from vqagen.export.folder import IMAGE, TEXT, Folder
from vqagen.items.answers import NUMBER_WORDS

CANNOT: Mapping[str, str] = {
    OPEN: "it scores only questions with options without code (CustomVQADataset.evaluate raises NotImplementedError);"
    " make options with `vqagen choices`, and export with --mode mc",
    DIALOGS: "a row is one question with options; export to inspect",
    TRIALS: "a trial has no options; export to inspect",
}
MISSING = frozenset(
    ("", "#n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na", "nan", "none", "null")
)
"""Texts that pandas takes for a missing value, in lower case: it knows most of them in some cases only."""
RESERVED = ("openended", "video")
"""Parts of a name by which VLMEvalKit takes a table for something else."""
_WORD_OF = {str(number): word for word, number in NUMBER_WORDS.items() if word != "none" and " " not in word}
LETTERS = "ABCD"
"""Options of a row. Those with fewer leave cells empty, which VLMEvalKit does not show."""
FEATURES: Mapping[str, Any] = {
    "index": TEXT,
    "image": IMAGE,
    **dict.fromkeys(("question", *LETTERS, "answer", "category", "l2-category", "split"), TEXT),
}
USE = """Copy the tables into the folder that `LMUData` names (by default ~/LMUData), and name one without its ending:

    python run.py --data {names} --model …

The name must stay free of "openended" and "video". A picture stands in its first row; the others name that row.
The index is the id of the question, by which `vqagen evaluate` scores a table of predictions."""


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a table with a row for each question."""
    name = f"{folder.name}_{split}"
    if reserved := next((each for each in RESERVED if each in name.lower()), None):
        raise UsageError(f"--name {name} holds {reserved!r}, by which VLMEvalKit takes it for another kind of data")
    rows_of = dict[int, str]()
    with (folder.path / f"{name}.tsv").open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out, delimiter="\t", lineterminator="\n")
        table.writerow(folder.kept(FEATURES))
        for each in examples:
            row = each.row
            shown = [] if each.image is None else [_picture(each.image, each.id, rows_of)]
            options = [_cell(_WORD_OF.get(text, text), each) for text in row["choices"]]
            if len(options) > len(LETTERS):
                raise BadInput([Problem(f"question {each.id} has {len(options)} options; at most {len(LETTERS)} fit")])
            options += [""] * (len(LETTERS) - len(options))
            asked = [_cell(text, each) for text in (row["question"], each.turn.answer, row["family"] or "all")]
            question, answer, family = asked
            table.writerow([each.id, *shown, question, *options, answer, family, row["answer_type"], split])


def _picture(image: Mapping[str, Any], id: str, rows_of: dict[int, str]) -> str:
    """Return a picture as text, or the index of the row that has it."""
    first = rows_of.setdefault(hash(image["bytes"]), id)
    return base64.b64encode(image["bytes"]).decode() if first == id else first


def _cell(text: str, each: Example) -> str:
    """Return the text of a cell. BadInput for one that pandas would not read as this text."""
    if text.lower() in MISSING:
        message = f"question {each.id} says {text!r}, which VLMEvalKit would read as a missing value"
        raise BadInput([Problem(f"{message}; rename the value in the metadata")])
    return text


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the README."""
    names = " ".join(f"{folder.name}_{split}" for split in splits)
    folder.write_readme("VLMEvalKit", USE.format(names=names), FEATURES)
