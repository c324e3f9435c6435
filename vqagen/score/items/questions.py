"""Questions of vqagen, in both dialects, and of released CLEVR files, as items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from vqagen.errors import describe
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import BOOL, INTEGER, LIST, WORD
from vqagen.score.items.builder import FieldFault, TableBuilder, gold_of
from vqagen.score.items.programs import FamilyNames, ProgramFacts, ProgramReader, question_type
from vqagen.score.items.table import CHOICE, NONE, OPEN, Gold, Items, Options

GROUPS = ("answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
OPTION_KEYS = ("options", "choices", "multiple_choices")
"""Keys under which a question lists the options of multiple choice, in the order that a model sees."""
_OPTIONS = frozenset(OPTION_KEYS)
HASHED = ("answer", "template_filename", "question_family_index", "question_type", "split", "block", "pair")
"""Keys of values by which questions are grouped. Answers of one `block` or `pair` exclude each other."""
_ANSWER = "true, false, a number, a text or a list of texts"
_ABSENT = object()
_DECLARED = {"Bool": BOOL, "Integer": INTEGER, "list": LIST}
"""Type of answers in the info -> kind."""


def read_questions(source: RecordSource, table: TableBuilder) -> Items:
    """Return the items of a question file."""
    reader = _QuestionReader(table)
    has_options = any(key in record for record in source.records(0, 1) for key in OPTION_KEYS)
    for record in table.records_of(source):
        try:
            if table.wants(record):
                reader.add(record)
        except FieldFault as fault:
            table.add_fault(fault.key, str(fault))
    return table.table(GROUPS, CHOICE if has_options else OPEN, typed=True)


class _QuestionReader:
    """Adds questions to a table."""

    def __init__(self, table: TableBuilder) -> None:
        self._table, self._families = table, FamilyNames(table.info)
        generator = table.info.get("generator")
        declared = generator.get("answer_types") if isinstance(generator, Mapping) else None
        types = declared if isinstance(declared, Mapping) else {}
        self._kinds = {str(name): _DECLARED.get(str(each), WORD) for name, each in types.items()}
        """Last function -> the kind of its answers, if the info says."""
        self._asked = table.rows("family", "category")
        self._facts, self._rest = table.rows(*ProgramFacts._fields), table.rows("question_length", "split")
        self._programs = ProgramReader(self._facts)
        self._known: dict[tuple[Any, ...], tuple[int, int]] = {}
        """What decides the answer, the family and the category of a question -> the numbers of these."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Add the question of a record. FieldFault for a value of another type; BadInput for one without answer."""
        get, table = record.get, self._table
        answer, program, text = get("answer"), get("program"), get("question")
        row, function = self._programs.find(program) if program else (NONE, None)
        if not isinstance(text, str):
            raise FieldFault("question", f"expected text, found {describe(text)}")
        if type(answer) is list:
            answer = (*answer,)
        named = function, get("template_filename"), get("question_family_index"), get("question_type", _ABSENT)
        number, pair, block = get("question_index"), get("pair"), get("block")
        try:
            key = answer, type(answer), *named
            gold, asked = self._known.get(key) or self._learn(key)
            self._rest.codes.append(self._rest[text.count(" ") + 1, get("split")])
            table.add(get("question_id", table.index) if number is None else number, gold)
            if pair is not None or block is not None or not _OPTIONS.isdisjoint(record):
                table.put(options=_options(record), pairs=pair, blocks=block)
        except TypeError:
            raise _unhashable(record) from None
        self._asked.codes.append(asked)
        self._facts.codes.append(row)
        if table.is_learning:
            table.learn(texts=text, programs=orjson.dumps(program) if program else None)

    def _learn(self, key: Any) -> tuple[int, int]:
        """Return the numbers of the answer, and of family and category."""
        answer, _, function, file, family, category = key
        if category is _ABSENT:
            category = function and question_type(function)
        asked = self._asked[self._families[file, family], category]
        found = self._known[key] = self._table.gold(None if answer is None else self._gold(answer, function)), asked
        return found

    def _gold(self, answer: Any, function: str | None) -> Gold:
        """Return an answer with its kind. FieldFault for what is no answer."""
        if isinstance(answer, tuple):
            return Gold(LIST, (answer,))
        if not isinstance(answer, str | int):
            raise FieldFault("answer", f"expected {_ANSWER}, found {describe(answer)}")
        gold = gold_of(answer)
        if not isinstance(answer, str) or not self._kinds or not function:
            return gold
        # The info says what the function answers: a "2" may be a word, "red, blue" a list.
        kind = self._kinds.get(function, WORD)
        if kind == LIST:
            return Gold(LIST, (tuple(answer.split(", ")),))
        return gold if kind == gold.kind else Gold(WORD, (answer,))


def _unhashable(record: Mapping[str, Any]) -> FieldFault:
    """Return the fault of the first value that is an object or a list; an answer may be a list of texts."""
    for key in HASHED:
        value, is_answer = record.get(key), key == "answer"
        parts = value if is_answer and isinstance(value, list) else [value]
        if any(isinstance(each, list | Mapping) for each in parts):
            return FieldFault(
                key, f"expected {_ANSWER if is_answer else 'a text or a number'}, found {describe(value)}"
            )
    raise AssertionError("all values can be hashed")


def _options(record: Mapping[str, Any]) -> Options | None:
    """Return the options of a question, if it has any."""
    key = next((each for each in OPTION_KEYS if each in record), None)
    if key is None:
        return None
    listed, answer = record[key], record.get("answer")
    if not isinstance(listed, list) or not listed:
        raise FieldFault(key, f"expected a list of options, found {describe(listed)}")
    options, right = tuple(map(_option, listed)), _option(answer)
    if answer is None:
        return Options(options, None)
    if right not in options:
        raise FieldFault(key, f"the answer {right!r} is not among the options")
    return Options(options, options.index(right))


def _option(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
