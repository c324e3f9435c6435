"""The examples of an export: each question, trial or dialog of a source, in one shape.

A source is the folder of a dataset, a file of questions or dialogs with a folder of pictures, or a folder of director
trials. Its examples are read one after the other.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from vqagen.dataset.rows import SINCE_2, Row, data_folder, dialog_row, question_row, read_rows
from vqagen.errors import BadInput, FieldFault, PlaceError, Problem, UsageError, as_written, describe
from vqagen.files.info import find_info_beside
from vqagen.files.pictures import picture_at, picture_kind
from vqagen.files.records import RecordSource
from vqagen.items.answers import ANSWER_TYPES, PLACES, attributes_of
from vqagen.items.builder import gold_of
from vqagen.language.domain_files import PathLike
from vqagen.language.question import MARKS, OPTION_KEYS, family_name, picture_name, release_answer
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.tasks.director.rules import PARTICIPANT
from vqagen.tasks.prompts import DIRECTOR, request, rules
from vqagen.tasks.record_files import (
    DIALOGS as DIALOG_RECORDS,
    SAMPLES,
    TRIALS as TRIAL_RECORDS,
    find_any_records,
    settings_of,
    shipped_domain,
)

QUESTIONS, TRIALS, DIALOGS = "questions", "trials", "dialogs"
OPEN, CHOICE = MODES = "open", "mc"
"""How questions are asked: for an answer, or for the letter of an option."""
DEFAULT_SPLIT = "train"
"""The split of what has none."""
OPTION_COLUMNS = ("choices", "choice")
BLOCK_TEXT = 0
"""The description of blocked cells in trials: the most explicit one."""


class Turn(NamedTuple):
    """A question and its answer."""

    text: str
    answer: str
    answer_type: str
    """count, yes/no, value or cell; "" if answers are hidden."""
    reasoning: str = ""
    """The steps to the answer as sentences; "" if the source has none."""

    @property
    def solution(self) -> str:
        """The answer as trainers read it."""
        return f"<answer> {self.answer} </answer>" if self.answer else ""

    @property
    def reply(self) -> str:
        """What a model should say: the answer, after the steps to it if they are known."""
        return f"<think>{self.reasoning}</think> <answer>{self.answer}</answer>" if self.reasoning else self.answer


class Example(NamedTuple):
    """A question or a trial with its answer, or a whole dialog."""

    id: str
    split: str
    image: Mapping[str, Any] | None
    """Its `bytes` and its `path`, a name; None without a picture."""
    turns: tuple[Turn, ...]
    """One; of a dialog its rounds, the first with the caption before its question."""
    row: Row
    """The columns of a dataset but for `image`: those of `dataset.rows.FEATURES`, or of `DIALOG_FEATURES`.

    Options are in it only if they are asked for: a letter is no answer to an open question.
    """

    @property
    def turn(self) -> Turn:
        """The only turn."""
        return self.turns[0]


class Source(NamedTuple):
    """What is exported."""

    kind: str
    domain: str
    """What `rewards.score` takes as the domain: the name of a shipped one, or the vocabulary of the file as JSON; "" if
    neither is known."""
    card: str
    """The README of a dataset, which names its licences; "" for other sources."""
    rows: Iterator[Row]
    """The columns of a dataset, with the `split` of each row."""
    hides_answers: bool = False


def find_source(place: PathLike, images: PathLike | None, split: str | None, has_pictures: bool) -> Source:
    """Return what a place holds. Raises UsageError if it is nothing that can be exported.

    `images` is the folder of the pictures of a file, or one with them in `images`, by default the folder of the file.
    """
    if data := data_folder(place):
        return _dataset(data, split)
    source = find_any_records(place)
    if source.kind is SAMPLES:
        raise UsageError(f"{place} is of the shape of another generator; name the trials that it was made of")
    kind = {TRIAL_RECORDS: TRIALS, DIALOG_RECORDS: DIALOGS}.get(source.kind, QUESTIONS)
    is_hidden = kind == QUESTIONS and next(source.records(), {"answer": ""}).get("answer") is None
    readers: Mapping[str, ReadRow] = {
        TRIALS: _trial_reader(source),
        DIALOGS: _dialog_row,
        QUESTIONS: partial(_question_row, is_hidden),
    }
    rows = _rows(source, readers[kind], Path(images or Path(str(source.path)).parent), split, has_pictures)
    return Source(kind, domain_of(source.info), "", rows, is_hidden)


def domain_of(info: Mapping[str, Any]) -> str:
    """Return what tells rewards the words of a file; see `Source`."""
    name, generator = shipped_domain(info), info.get("generator")
    carried = generator.get("vocabulary") if isinstance(generator, Mapping) else None
    if not isinstance(carried, Mapping) or (name and carried.get("attributes") == attributes_of(name)):
        return name or ""
    return orjson.dumps(carried).decode()


def _dataset(data: Path, split: str | None) -> Source:
    """Return the rows of a dataset; `data` is its folder of questions, or that of its dialogs."""
    folder, card = data.parent, data.parent / "README.md"
    first = next(read_rows(folder, split, data.name), {})
    return Source(
        DIALOGS if "dialog_id" in first else QUESTIONS,
        domain_of(find_info_beside(folder / "questions.jsonl") or {}),
        card.read_text("utf-8") if card.is_file() else "",
        ({**SINCE_2, **row} for row in read_rows(folder, split, data.name)),
        first.get("answer") == "",
    )


def examples_of(source: Source, name: str, mode: str, has_pictures: bool) -> Iterator[Example]:
    """Yield the example of each row. BadInput for a row that cannot be asked so; `name` is that of the source."""
    for number, row in enumerate(source.rows):
        split, image = row.pop("split"), row.pop("image")
        if not has_pictures:
            image = None
        elif not image or not picture_kind(image["bytes"] or b""):
            message = f"row {number} has no picture; name their folder with --images, or give --without-pictures"
            raise BadInput([Problem(message, name)])
        else:
            plain = PurePosixPath(image["path"] or "").name.strip(".")
            image = {"bytes": image["bytes"], "path": plain or f"{row['image_id']}.png"}
        if source.kind == DIALOGS:
            id, turns = row["dialog_id"], tuple(_turns_of_dialog(row))
        else:
            if mode == CHOICE and not row.get("choices"):
                message = f"question {row['question_id']} has no options to choose from; `vqagen choices` makes them"
                raise BadInput([Problem(message, name)])
            turn = _choice(row) if mode == CHOICE else Turn(row["problem"], row["answer"], row["answer_type"])
            if turn.answer_type == ANSWER_TYPES[PLACES]:  # numbers of objects, which no picture shows
                turn = turn._replace(answer=row["solution"].removeprefix("<answer> ").removesuffix(" </answer>"))
            turn = turn._replace(reasoning=row.get("reasoning") or "")
            id, turns = row["question_id"], (turn,)
            row |= {"problem": turn.text, "solution": turn.solution}
            row |= {"question": turn.text} if row.get("marks") else {}
        if mode == OPEN and row.get("marks"):
            raise BadInput([Problem(f"question {id} asks for a letter on an object: give --mode {CHOICE}", name)])
        if mode == OPEN:
            row = {key: value for key, value in row.items() if key not in OPTION_COLUMNS}
        yield Example(str(id), split, image, turns, row)


def _choice(row: Row) -> Turn:
    """Return a question with its options below it, which is answered by a letter; letters alone are in the picture."""
    texts = () if row.get("marks") else row["choices"]
    options = (f"{letter}) {text}" for letter, text in zip(string.ascii_uppercase, texts, strict=False))
    letter = string.ascii_uppercase[row["choice"]] if row["choice"] >= 0 else ""
    return Turn("\n".join((row["problem"], *options)), letter, row["answer_type"])


def _turns_of_dialog(row: Row) -> Iterator[Turn]:
    for number, (question, answer) in enumerate(zip(row["questions"], row["answers"], strict=True)):
        text = question if number else f"{row['caption']}\n{question}"
        yield Turn(text, answer, ANSWER_TYPES[gold_of(answer).kind])


# Files of records -----------------------------------------------------------------------------------------------------

ReadRow = Callable[[Mapping[str, Any]], Row]
"""Returns the row of a record without its picture. FieldFault for what is wrong."""


def _rows(source: RecordSource, read: ReadRow, folder: Path, split: str | None, has_pictures: bool) -> Iterator[Row]:
    """Yield the row of each record. BadInput for the first that cannot be exported."""
    if not folder.is_dir():
        raise PlaceError(f"no folder of pictures: {folder}")
    key = "image" if source.kind is TRIAL_RECORDS else "image_filename"
    last, image = None, dict[str, Any]()
    for position, record in enumerate(source.records()):
        record_split, path = str(record.get("split") or DEFAULT_SPLIT), source.kind.path(position)
        if split not in (None, record_split):
            continue
        try:
            row = read(record)
        except FieldFault as fault:
            raise BadInput([Problem(str(fault), str(source.path), f"{path}.{fault.key}")]) from None
        if has_pictures and (name := record.get(key) if key == "image" else picture_name(record)) != last:
            file = picture_at(source.path, f"{path}.{key}", name, [folder])
            last, image = name, {"bytes": file.read_bytes(), "path": file.name} if file else {}
        yield {**row, "split": record_split, "image": image}


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise FieldFault(key, f"expected text, found {describe(value)}")
    return value


def _number(record: Mapping[str, Any], *keys: str) -> int:
    """Return the number under the first key that the record has; 0 if it has none."""
    key = next((key for key in keys if record.get(key) is not None), "")
    number = record.get(key, 0)
    if type(number) is not int or not 0 <= number < 2**63:
        raise FieldFault(key, f"expected a number from 0 on, found {describe(number)}")
    return number


def _answer(record: Mapping[str, Any]) -> tuple[str, str]:
    """Return the answer of a question as text, and its type."""
    answer = record.get("answer")
    if answer is None or not isinstance(answer, str | int | list):
        raise FieldFault("answer", f"expected the answer, found {describe(answer)}")
    text = release_answer(tuple(answer) if isinstance(answer, list) else answer)
    return text, ANSWER_TYPES[gold_of(answer).kind] if not isinstance(answer, list) else "list"


def _question_row(is_hidden: bool, record: Mapping[str, Any]) -> Row:
    """Return the row of a question; with `is_hidden`, the first question of the file has no answer."""
    _text(record, "question")
    if is_hidden and record.get("answer") is not None:
        raise FieldFault("answer", "an answer, but the first question of the file has none")
    answer, answer_type = ("", "") if is_hidden else _answer(record)
    key = next((key for key in OPTION_KEYS if record.get(key)), "choices")
    options = [release_answer(option) for option in record.get(key) or ()]
    if options and not is_hidden and answer not in options:
        raise FieldFault(key, f"the answer {answer!r} is not among the options")
    right = options.index(answer) if answer in options else -1
    if not isinstance(marks := record.get(MARKS) or [], list) or {*map(type, marks)} - {int}:
        raise FieldFault(MARKS, f"expected the numbers of objects, found {describe(record[MARKS])}")
    number = _number(record, "question_index", "question_id")
    family = family_name(record.get("template_filename"), record.get("question_family_index", 0))
    columns = {"program": [], **record, "answer": answer, "choices": options, "choice": right}
    return question_row(columns, _picture(record), number, answer_type, family)


_NO_OBJECTS: Row = {"image": None, "scene": "{}", "points": [], "boxes": [], "masks": "[]"}
"""The columns of a picture of which nothing is known."""


def _picture(record: Mapping[str, Any]) -> Row:
    """Return the columns of a picture whose scene is not at hand."""
    number = _number(record, "image_index", "scene_index")
    return {**_NO_OBJECTS, "image_id": number}


def _dialog_row(record: Mapping[str, Any]) -> Row:
    match record:
        case {"caption": {"text": str()} as caption, "rounds": [_, *_] as rounds} if set(map(type, rounds)) == {dict}:
            asked = [{"question": _text(each, "question"), "answer": _answer(each)[0]} for each in rounds]
            row = dialog_row({"caption": caption, "rounds": asked}, _picture(record), _number(record, "dialog_index"))
            return {**row, "dialog": orjson.dumps(record).decode()}
    raise FieldFault("rounds", "no caption and rounds as `vqagen dialog` writes them")


def _trial_reader(source: RecordSource) -> ReadRow:
    """Return the reader of trials, whose pictures show the participant's view."""
    if source.kind is TRIAL_RECORDS and settings_of(source).get("view", PARTICIPANT) == "director":
        raise UsageError(
            f"{source.path}: the pictures show the director's view, in which the question is another one; generate"
            " the trials with --view participant"
        )
    story = rules(DIRECTOR, BLOCK_TEXT, is_picture=True)

    def read(record: Mapping[str, Any]) -> Row:
        trial = read_trial(record)
        if not isinstance(trial, WrittenTrial):
            raise FieldFault(*trial[0])
        if not str(trial.image).endswith(".png"):
            found = as_written(trial.image)
            raise FieldFault("image", f"a trial is asked with its picture, a PNG; found {found}: give --render png")
        (cell,), asked = trial.labels(trial.answer), request(DIRECTOR, trial.instruction)
        grid = {key: record[key] for key in ("width", "height", "cells", "blocked")}
        picture = {**_NO_OBJECTS, "image_id": trial.index, "scene": orjson.dumps(grid).decode()}
        written = {"question": asked, "answer": cell, "program": []}
        row = question_row(written, picture, trial.index, "cell", f"{trial.group}/{trial.rule_class}")
        return {**row, "problem": f"{story}\n\n{asked}"}

    return read
