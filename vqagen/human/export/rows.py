"""Answers as lines of JSON: the fields of `AnswerRow`, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, asdict, fields
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import BadInput, PlaceError, Problem, describe
from vqagen.files.locations import locate
from vqagen.files.packing import DAMAGE
from vqagen.files.reading import open_bytes
from vqagen.human.answers import AnswerRow
from vqagen.human.store.opening import StoreError
from vqagen.human.store.roster import STATES, Assignment
from vqagen.human.study.item import CHECK, KINDS, ROLES, USES
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial
from vqagen.json.stream import BYTE_ORDER_MARK
from vqagen.records.source import mistake_in_line

ANSWERS_FILE = "answers.jsonl"
_MOST_PROBLEMS = 20
_KINDS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "float": (int, float),
    "int | str": (int, str),
    "str | None": (str, type(None)),
    "Mapping[str, int | str]": (dict,),
    "bool | None": (bool, type(None)),
    "int | None": (int, type(None)),
    "Mapping[str, str | int | float]": (dict,),
}
"""Annotation of a field -> types of its values in JSON."""
_NAMES = {str: "text", int: "a whole number", bool: "true or false", float: "a number", dict: "an object"}
_CHOICES = {"state": STATES, "kind": KINDS, "use": USES, "first_role": ROLES, "second_role": (*ROLES, "")}


def answer_rows(study: Study, store: Store) -> Iterator[AnswerRow]:
    """Yield all stored answers of a study, sorted by assignment and trial."""
    for assignment, answers in groupby(store.answers(), lambda answer: answer.assignment):
        taken = store.assignment(assignment)
        assert taken is not None, "a store keeps no answer without its assignment"
        trials = {trial.number: trial for trial in study.trials(taken.task, taken.slot)}
        for answer in answers:
            if answer.trial not in trials:
                raise StoreError(f"assignment {assignment} has an answer to trial {answer.trial}, which does not exist")
            yield answer_row(taken, trials[answer.trial], answer)


def answer_row(assignment: Assignment, trial: Trial, answer: Answer) -> AnswerRow:
    """Return an answer with all that it is about."""
    item = trial.item
    first, second = (*item.candidates, None)[:2]
    assert first is not None
    second_on_right = trial.second_on_right or second is None  # one text has no side
    is_known = item.use == CHECK and item.gold is not None and second is not None
    return AnswerRow(
        assignment=assignment.id,
        rater=assignment.rater,
        task=assignment.task,
        slot=assignment.slot,
        state=assignment.state,
        trial=answer.trial,
        item=item.id,
        image=item.image,
        kind=item.kind,
        use=item.use,
        dimension=item.dimension,
        value=answer.value,
        second_on_right=second_on_right,
        toward_second=int(item.toward_second(answer.value, second_on_right=second_on_right)),
        least=item.scale.least,
        largest=item.scale.largest,
        first_source=first.source,
        first_role=first.role,
        second_source=second.source if second else "",
        second_role=second.role if second else "",
        gold_is_second=item.gold.better == second.id if is_known and item.gold and second else None,
        gold_value=item.gold.value if item.gold else None,
        rt_ms=answer.rt_ms,
        shown_ms=answer.shown_ms,
        blur=answer.blur,
        stored=answer.stored,
        strata=dict(item.strata),
        weight=item.weight,
    )


def row_line(row: AnswerRow) -> bytes:
    """Return an answer as a line of JSON."""
    return orjson.dumps(asdict(row), option=orjson.OPT_APPEND_NEWLINE)


def read_rows(source: str | Path) -> Iterator[AnswerRow]:
    """Yield the answers of an export folder or of its `answers.jsonl`. Raise BadInput with what is wrong in which line.

    UsageError if there is no such file.
    """
    path = Path(source)
    file = path / ANSWERS_FILE if path.is_dir() else path
    if not file.is_file():
        what = f"folder {path} holds no {ANSWERS_FILE}" if path.is_dir() else f"{path} does not exist"
        raise PlaceError(f"{what}; export the study: vqagen human export STUDY --out FOLDER")
    problems: list[Problem] = []
    for row in _rows(file, problems):
        if len(problems) >= _MOST_PROBLEMS:
            break
        if not problems:
            yield row
    if problems:
        raise BadInput(problems[:_MOST_PROBLEMS])


def _rows(file: Path, problems: list[Problem]) -> Iterator[AnswerRow]:
    """Yield the answers that are right; add what is wrong with the others to `problems`."""
    seen: set[tuple[str, int]] = set()
    for number, text in enumerate(_lines(file), 1):
        line = text.removeprefix(BYTE_ORDER_MARK)
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            message, column = mistake_in_line(line.rstrip())
            problems.append(Problem(message, str(file), "", number, column))
            continue
        found = list(faults_of(record))
        if not found and (key := (record["assignment"], record["trial"])) in seen:
            found = [("trial", f"a second answer to trial {key[1]} of assignment {key[0]}")]
        problems += [Problem(message, str(file), path, number, 1) for path, message in found]
        if not found:
            seen.add((record["assignment"], record["trial"]))
            yield row_of_record(record)


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with open_bytes(locate(file)) as opened:
            yield from opened
    except DAMAGE as error:
        raise BadInput([Problem(f"damaged or cut off: {error}", str(file))]) from None


def row_of_record(record: Mapping[str, Any]) -> AnswerRow:
    """Return the answer of a record without faults. Keys that are no field of an answer are ignored."""
    return AnswerRow(**{name: record[name] for name in _FIELDS if name in record})


def faults_of(record: object) -> Iterable[tuple[str, str]]:
    """Yield the key and what is wrong there, for all that is wrong with a record."""
    if not isinstance(record, dict):
        yield "", f"expected an object, found {describe(record)}"
        return
    wrong = dict(_wrong_types(record))
    yield from wrong.items()
    for name, choices in _CHOICES.items():
        if name in record and name not in wrong and record[name] not in choices:
            yield name, f"expected {', '.join(map(repr, choices))}, found {describe(record[name])}"
    if not wrong.keys() & {"value", "toward_second", "least", "largest", "second_on_right"}:
        yield from _wrong_values(record)


def _wrong_types(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, (types, is_needed) in _FIELDS.items():
        if name not in record:
            if is_needed:
                yield name, "is missing"
        elif type(record[name]) not in types:
            yield (
                name,
                f"expected {' or '.join(_NAMES.get(each, 'null') for each in types)}, found {describe(record[name])}",
            )


def _wrong_values(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    least, largest, value = record["least"], record["largest"], record["value"]
    if least >= largest:
        yield "largest", f"must be above least ({least}), found {largest}"
    elif not least <= value <= largest:
        yield "value", f"must lie on the scale from {least} to {largest}, found {value}"
    elif record["toward_second"] != (value if record["second_on_right"] else least + largest - value):
        yield "toward_second", f"contradicts value {value} and second_on_right, found {record['toward_second']}"
    if not record.get("weight", 1) > 0:
        yield "weight", f"must be above 0, found {record['weight']}"


_FIELDS = {
    each.name: (_KINDS[str(each.type)], each.default is MISSING and each.default_factory is MISSING)
    for each in fields(AnswerRow)
}
"""Name -> types of values, and whether a record must have it."""
