"""Question records as typed columns, which Parquet files hold: what `pyarrow`, `pandas` and `datasets` read at once.

    split image_filename image template_filename question_type question    text
    image_index scene_index question_index question_family_index           whole numbers
    answer           text, as the released CLEVR files write it: one column has one type
    program          a list of {function (or type), inputs, value_inputs}
    trace            a list of JSON texts, one for each step of the program
    mentions         a list of {span, objects}
    template_extra   a JSON text

The options of a run decide which columns there are, and the data never does: all row groups and all shards of a run
agree. What a scene lacks, such as a split, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import orjson

from vqagen.errors import BadInput, Problem, as_written, counted
from vqagen.language.question_records import release_answer
from vqagen.records.parquet import decode, pyarrow, write_tables
from vqagen.tasks.questions.settings import RecordForm

Record = Mapping[str, Any]
NUMBER = "question_index"
"""The column of a question's place in the file. Batches lack it: only the writer of the file knows the places."""
_TEXTS = ("split", "image_filename", "image", "template_filename", "question_type", "question")
_NUMBERS = ("image_index", "scene_index", "question_family_index")
_ORDER = (
    "split",
    "image_filename",
    "image_index",
    "image",
    "scene_index",
    NUMBER,
    "question_family_index",
    "template_filename",
    "question_type",
    "question",
    "answer",
    "program",
    "trace",
    "mentions",
    "template_extra",
)
_EXPECTED: dict[type, str] = {str: "text", int: "a whole number"}


@dataclass(frozen=True)
class Columns:
    """The columns that records of a form have. Can be pickled."""

    form: RecordForm = field(default_factory=RecordForm)

    @staticmethod
    def from_info(info: Mapping[str, Any]) -> Columns:
        """Those of the file that has this info."""
        return Columns(RecordForm(info["dialect"], **info["generator"]["records"]))

    @property
    def names(self) -> list[str]:
        """In the order of the file."""
        form = self.form
        dropped = {
            "template_filename": form.dialect == "release",
            "answer": form.hide_answers,
            "program": form.hide_answers,
            "trace": not form.trace,
            "mentions": not form.trace,
            "template_extra": not form.template_extra,
        }
        return [name for name in _ORDER if not dropped.get(name)]

    @property
    def function_key(self) -> str:
        """What names the function of a program's node."""
        return "function" if self.form.dialect == "release" else "type"

    @cached_property
    def schema(self) -> Any:
        """The `pyarrow.Schema` of the file, without its info."""
        types = _types(self.function_key)
        return pyarrow().schema([(name, types[name]) for name in self.names])

    def encode(self, given: Iterable[Record]) -> bytes:
        """Records, without their number, as an Arrow stream of one batch; records that do not fit are BadInput."""
        records = list(given)
        arrow, schema = pyarrow(), self.schema.remove(self.schema.get_field_index(NUMBER))
        _refuse_misfits(records, schema.names)
        converted = [(name, convert) for name, convert in _CONVERTED.items() if name in schema.names]
        rows = [{**record, **{name: convert(record.get(name)) for name, convert in converted}} for record in records]
        sink = arrow.BufferOutputStream()
        with arrow.ipc.new_stream(sink, schema) as stream:
            stream.write_batch(arrow.RecordBatch.from_pylist(rows, schema=schema))
        return bytes(sink.getvalue())

    def write(self, batches: Iterable[bytes], file: IO[bytes], info: Mapping[str, Any]) -> None:
        """Encoded batches into a Parquet file, a row group for each."""
        write_tables((decode(batch) for batch in batches), file, self.schema, info, NUMBER)


# Types ---------------------------------------------------------------------------------------------------------------


def _types(function_key: str) -> dict[str, Any]:
    """Column -> type."""
    arrow = pyarrow()
    text, numbers = arrow.string(), _list_of(arrow.int32())
    node = arrow.struct([(function_key, text), ("inputs", numbers), ("value_inputs", _list_of(text))])
    return {
        **dict.fromkeys(_TEXTS, text),
        **dict.fromkeys((*_NUMBERS, NUMBER), arrow.int64()),
        "answer": text,
        "program": _list_of(node),
        "trace": _list_of(text),
        "mentions": _list_of(arrow.struct([("span", numbers), ("objects", numbers)])),
        "template_extra": text,
    }


def _list_of(inner: Any) -> Any:
    """Lists, whose items bear the name that Parquet has for them: they come back as the same type."""
    arrow = pyarrow()
    return arrow.list_(arrow.field("element", inner))


def _json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _answer(value: Any) -> str:
    return value if isinstance(value, str) else release_answer(tuple(value) if isinstance(value, list) else value)


def _trace(steps: Iterable[object]) -> list[str]:
    return [orjson.dumps(step).decode() for step in steps]


_CONVERTED: Mapping[str, Callable[[Any], object]] = {"answer": _answer, "trace": _trace, "template_extra": _json}
"""Column -> what makes its value out of a record's."""


# What does not fit --------------------------------------------------------------------------------------------------


def _refuse_misfits(records: Sequence[Record], names: Iterable[str]) -> None:
    """BadInput for values that the scenes brought along, and that their columns cannot hold."""
    shown = list(names)
    wanted = {name: str for name in _TEXTS if name in shown} | {name: int for name in _NUMBERS if name in shown}
    problems = [problem for name, kind in wanted.items() if (problem := _misfit(records, name, kind))]
    if problems:
        raise BadInput(problems)


def _misfit(records: Sequence[Record], name: str, kind: type) -> Problem | None:
    """What is wrong with the first value that does not fit, and how many more there are."""
    wrong = [record for record in records if not _fits(record.get(name), kind)]
    if not wrong:
        return None
    place = f"scene {wrong[0].get('image_filename') or wrong[0].get('image_index')}"
    more = f" (and of {counted(len(wrong) - 1, 'more question')})" if wrong[1:] else ""
    found = f"a column holds {_EXPECTED[kind]}, found {as_written(wrong[0][name])}{more}"
    return Problem(f"{found}; change it in the scenes, or write JSON Lines (--format jsonl)", place, name)


def _fits(value: object, kind: type) -> bool:
    if value is None or type(value) is str:
        return value is None or kind is str
    return kind is int and type(value) is int and -(2**63) <= value < 2**63
