"""Question records as typed columns, which Parquet files hold: what `pyarrow`, `pandas` and `datasets` read at once.

    split image_filename image template_filename question_type question    text
    image_index scene_index question_index question_family_index pair      whole numbers
    answer           text: one column has one type
    program          a list of {function (or type), inputs, value_inputs}
    trace            a list of JSON texts, one for each step of the program
    mentions         a list of {span, objects}
    reasoning        text
    answer_points answer_boxes       lists of lists of whole numbers, where places are asked for

The options of a run decide which columns there are, and the data never does: all row groups and all shards of a run
agree. What a scene lacks, such as a split, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from vqagen.files.formats import Record
from vqagen.files.parquet import RecordColumns, pyarrow, refuse_misfits
from vqagen.language.question import GENERATOR, RELEASE, SPOT_KEYS, ProgramRecords, release_answer, typed_answer
from vqagen.language.template import PLACE, PLACES
from vqagen.tasks.questions.settings import RecordForm

NUMBER = "question_index"
"""The column of a question's place in the file. Batches lack it: only the writer of the file knows the places."""
_TEXTS = ("split", "image_filename", "image", "template_filename", "question_type", "question")
_NUMBERS = ("image_index", "scene_index", "question_family_index", "pair")
_ORDER = (
    *("split", "image_filename", "image_index", "image", "scene_index", NUMBER, "question_family_index"),
    *("template_filename", "question_type", "pair", "question", "answer", *SPOT_KEYS, "program", "trace", "mentions"),
    "reasoning",
)


@dataclass(frozen=True)
class QuestionColumns(RecordColumns):
    """The columns that question records of a form have."""

    form: RecordForm = field(default_factory=RecordForm)
    answer_types: Mapping[str, str] = field(default_factory=dict)
    """Last function of a program -> type of its answers, if these are not texts, which alone the column holds."""
    are_paired: bool = False

    @property
    def number_key(self) -> str:
        """The column of a question's place in the file."""
        return NUMBER

    def types(self) -> dict[str, Any]:
        """Return column -> `pyarrow` type, in the order of the file."""
        form, arrow = self.form, pyarrow()
        text, numbers = arrow.string(), _list_of(arrow.int32())
        node = arrow.struct([(form.function_key, text), ("inputs", numbers), ("value_inputs", _list_of(text))])
        types = {
            **dict.fromkeys((*_TEXTS, "answer", "reasoning"), text),
            **dict.fromkeys((*_NUMBERS, NUMBER), arrow.int64()),
            **dict.fromkeys(SPOT_KEYS, _list_of(numbers)),
            "program": _list_of(node),
            "trace": _list_of(text),
            "mentions": _list_of(arrow.struct([("span", numbers), ("objects", numbers)])),
        }
        dropped = {
            "template_filename": form.dialect == RELEASE,
            "pair": not self.are_paired,
            "answer": form.hide_answers,
            **dict.fromkeys(SPOT_KEYS, form.hide_answers or not {PLACE, PLACES} & {*self.answer_types.values()}),
            "program": form.hide_answers,
            "trace": not form.trace,
            "mentions": not form.trace,
            "reasoning": form.reasoning == "none",
        }
        return {name: types[name] for name in _ORDER if not dropped.get(name)}

    def rows(self, records: Sequence[Record], names: Sequence[str]) -> list[Record]:
        """Return what the columns hold of each record. Raises BadInput for records that do not fit."""
        wanted = {name: str for name in _TEXTS if name in names} | {name: int for name in _NUMBERS if name in names}
        refuse_misfits(records, wanted, "question")
        converted = [(name, convert) for name, convert in _CONVERTED.items() if name in names]
        return [{**record, **{name: convert(record.get(name)) for name, convert in converted}} for record in records]

    def restored(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record that a row was made of."""
        if "trace" in row:
            row["trace"] = [orjson.loads(step) for step in row["trace"]]
        if "answer" in row and self.form.dialect == GENERATOR:
            last = row["program"][-1][self.form.function_key]
            row["answer"] = typed_answer(row["answer"], self.answer_types.get(last, ""))
        return row


def _list_of(inner: Any) -> Any:
    """Lists, whose items bear the name that Parquet has for them: they come back as the same type."""
    arrow = pyarrow()
    return arrow.list_(arrow.field("element", inner))


def _answer(value: Any) -> str:
    return value if isinstance(value, str) else release_answer(tuple(value) if isinstance(value, list) else value)


_CONVERTED: Mapping[str, Callable[[Any], object]] = {
    "answer": _answer,
    "program": lambda nodes: list(nodes) if isinstance(nodes, ProgramRecords) else nodes,
    "trace": lambda steps: [orjson.dumps(step).decode() for step in steps],
}
"""Column -> what makes its value out of a record's."""
