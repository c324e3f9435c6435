"""Question records as typed columns, which Parquet files hold: what `pyarrow`, `pandas` and `datasets` read at once.

    split image_filename image template_filename question_type question    text
    image_index question_index question_family_index                       whole numbers
    answer           text, as the released CLEVR files write it: one column has one type
    program          a list of {function (or type), inputs, value_inputs}
    trace            a list of JSON texts, one for each step of the program
    mentions         a list of {span, objects}
    template_extra   a JSON text

The options of a run decide which columns there are, and the data never does: all row groups and all shards of a run
agree. What a scene lacks, such as a split, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, Any

import orjson

from vqagen.errors import BadInput, Problem, as_written, counted
from vqagen.extras import needed
from vqagen.files.locations import Location
from vqagen.files.reading import open_as_it_is
from vqagen.records.question_files import QUESTION_KEYS
from vqagen.tasks.questions.records import RecordForm, release_answer

Record = Mapping[str, Any]
NUMBER = "question_index"
"""The column that tells a question's place in the file. A batch lacks it: whoever writes the file knows it."""
INFO = b"vqagen"
"""The key of our info, as JSON, in a file's metadata."""
EMPTY = b"vqagen_empty"
"""The key of a JSON list: of the tables that a file was written from, which were empty."""
READ_AT_ONCE = 500
"""Rows. In files of others, a row group may be as large as the file; and 10,000 take twice as long for each."""
_TEXTS = ("split", "image_filename", "image", "template_filename", "question_type", "question")
_NUMBERS = ("image_index", "question_family_index")
_ORDER = (
    "split",
    "image_filename",
    "image_index",
    "image",
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


def pyarrow(module: str = "pyarrow") -> Any:
    """The library for columns, or a part of it."""
    return needed(module, "parquet", "Parquet")


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
        write_tables((decode(batch) for batch in batches), file, self.schema, info)


# Files ---------------------------------------------------------------------------------------------------------------


def write_tables(tables: Iterable[Any], file: IO[bytes], schema: Any, info: Mapping[str, Any]) -> None:
    """Tables into a Parquet file, each of which becomes a row group.

    For an empty one it is only written down which it was: `datasets` breaks on a file that begins with an empty row
    group. Questions are numbered by their place in the file. The same rows in the same groups give the same bytes,
    however they were put together.
    """
    parquet = pyarrow("pyarrow.parquet")
    described = schema.with_metadata({INFO: orjson.dumps(info)})
    # Of 100,000 questions, zstd leaves 4.6 MB and snappy, the usual one, 6.1 MB; either takes 0.3 s.
    with parquet.ParquetWriter(file, described, compression="zstd") as writer:
        number, empty = 0, list[int]()
        for place, table in enumerate(tables):
            if table.num_rows:
                writer.write_table(_numbered(table, number, schema), row_group_size=table.num_rows)
                number += table.num_rows
            else:
                empty.append(place)
        if empty:
            writer.add_key_value_metadata({EMPTY: orjson.dumps(empty)})


def _numbered(table: Any, first: int, schema: Any) -> Any:
    """The table in one piece, and its questions numbered from `first` on."""
    arrow = pyarrow()
    numbers = arrow.array(range(first, first + table.num_rows), arrow.int64())
    columns = [numbers if name == NUMBER else table.column(name).combine_chunks() for name in schema.names]
    return arrow.Table.from_arrays(columns, schema=schema)


def read_records(path: Location) -> Iterator[dict[str, Any]]:
    """Every record of a file."""
    with _opened(path) as file:
        names = file.schema_arrow.names
        if QUESTION_KEYS.isdisjoint(names):
            found = ", ".join(map(repr, names[:12])) + (", …" if len(names) > 12 else "")
            expected = "expected a column 'program', 'question' or 'answer'"
            raise BadInput([Problem(f"not questions: {expected}; found {found or 'no column'}", str(path))])
        for batch in file.iter_batches(READ_AT_ONCE):
            yield from to_records(batch)


def read_info(path: Location) -> dict[str, Any]:
    """The `info` of a file; empty where it has none."""
    with _opened(path) as file:
        written = (file.schema_arrow.metadata or {}).get(INFO, b"{}")
    try:
        info = orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise BadInput([Problem(f"its metadata is not valid JSON: {error.msg}", str(path), INFO.decode())]) from None
    return info if isinstance(info, dict) else {}


def row_groups(path: Location) -> Iterator[Any]:
    """The tables that `write_tables` was given, each as a `pyarrow.Table`."""
    with _opened(path) as file:
        empty = set(orjson.loads((file.metadata.metadata or {}).get(EMPTY, b"[]")))
        filled = iter(range(file.num_row_groups))
        for place in range(file.num_row_groups + len(empty)):
            yield file.schema_arrow.empty_table() if place in empty else file.read_row_group(next(filled))


@contextmanager
def _opened(path: Location) -> Iterator[Any]:
    """The `pyarrow.parquet.ParquetFile`. Where it is none, or damaged, BadInput says so."""
    arrow, parquet = pyarrow(), pyarrow("pyarrow.parquet")
    with open_as_it_is(path) as file:
        try:
            yield parquet.ParquetFile(file)
        except (arrow.ArrowException, OSError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise BadInput([Problem(f"not a Parquet file, damaged or cut off: {why}", str(path))]) from None


# Rows and types ------------------------------------------------------------------------------------------------------


def decode(batch: bytes) -> Any:
    """The `pyarrow.Table` of an encoded batch."""
    return pyarrow().ipc.open_stream(batch).read_all()


def to_records(table: Any) -> Iterator[dict[str, Any]]:
    """The rows of a table or batch as plain records; what is null is left out."""
    names = table.schema.names
    columns = [_readable(name, table.column(name)) for name in names]
    for row in zip(*columns, strict=True):
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


def _readable(name: str, column: Any) -> list[Any]:
    types, values = pyarrow().types, column.to_pylist()
    if name == "trace" and types.is_list(column.type) and types.is_string(column.type.value_type):
        return [steps and [orjson.loads(step) for step in steps] for steps in values]
    if name == "template_extra" and types.is_string(column.type):
        return [text and orjson.loads(text) for text in values]
    return list(values)


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
