"""Questions of vqagen, in both dialects, and of released CLEVR files, as items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from vqagen.errors import describe
from vqagen.language.question_files import QUESTIONS
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import BOOL, INTEGER, LIST, WORD
from vqagen.score.items.builder import TableBuilder, gold_of
from vqagen.score.items.programs import FACTS, FamilyNames, ProgramReader
from vqagen.score.items.table import CHOICE, OPEN, Gold, Items, Options

GROUPS = ("answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
OPTION_KEYS = ("options", "choices", "multiple_choices")
"""Keys under which a question lists the options of multiple choice, in the order that a model sees."""
GROUPING_KEYS = ("template_filename", "question_family_index", "question_type", "split", "block", "pair")
"""Keys of values by which questions are grouped. Answers of one `block` or `pair` exclude each other."""
_DECLARED = {"Bool": BOOL, "Integer": INTEGER, "list": LIST}
"""Type of answers in the info -> kind."""


def read_questions(source: RecordSource, table: TableBuilder) -> Items:
    """Return the items of a question file."""
    reader = _QuestionReader(table)
    has_options = False
    for index, record, _ in table.entries(source):
        if index == 0:
            has_options = any(key in record for key in OPTION_KEYS)
        if table.wants(record):
            try:
                reader.add(record, index)
            except _FieldFault as fault:
                table.faults.add([(fault.key, str(fault))], QUESTIONS.path(index))
    return table.table(GROUPS, CHOICE if has_options else OPEN, typed=True)


class _FieldFault(ValueError):
    """A fault of one field of a record."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


class _QuestionReader:
    """Adds questions to a table."""

    def __init__(self, table: TableBuilder) -> None:
        self._table, self._programs, self._family_names = table, ProgramReader(), FamilyNames(table.info)
        generator = table.info.get("generator")
        declared = generator.get("answer_types") if isinstance(generator, Mapping) else None
        types = declared if isinstance(declared, Mapping) else {}
        self._kinds = {str(name): _DECLARED.get(str(each), WORD) for name, each in types.items()}
        """Last function -> the kind of its answers, if the info says."""
        self._gold: dict[tuple[type, Any, str | None], Gold] = {}
        self._asked = table.rows("family", "category")
        self._facts, self._rest = table.rows(*FACTS), table.rows("question_length", "split")

    def add(self, record: Mapping[str, Any], index: int) -> None:
        """Add the question of a record. _FieldFault for a value of another type; BadInput for one without answer."""
        get, table = record.get, self._table
        answer, program, text = get("answer"), get("program"), get("question")
        if answer is None:
            table.require_unanswered(QUESTIONS.path(index))
        try:
            facts = self._programs.facts(program) if program else None
        except ValueError as error:
            raise _FieldFault("program", str(error)) from None
        gold = None if answer is None else self._gold_of(answer, facts and facts.function)
        options = _options(record, answer)
        if not isinstance(text, str):
            raise _FieldFault("question", f"expected text, found {describe(text)}")
        file, split, kind = get("template_filename"), get("split"), get("question_type", facts and facts.category)
        number = get("question_index")
        try:
            self._asked.add((self._family_names[file, get("question_family_index")], kind))
            self._rest.add((text.count(" ") + 1, split))
            table.add(record, index, get("question_id", index) if number is None else number, gold)
            table.add_choice(options, get("pair"), get("block"))
        except TypeError:  # a value that is a list or an object
            key = next((key for key in GROUPING_KEYS if isinstance(get(key), list | dict)), None)
            if key is None:
                raise
            raise _FieldFault(key, f"expected a text or a number, found {describe(get(key))}") from None
        self._facts.add(facts and facts[1:])
        if table.is_learning:
            table.add_learning(text, program=orjson.dumps(program) if program else None)

    def _gold_of(self, answer: Any, function: str | None) -> Gold:
        """Return the kind of an answer, and its canonical value."""
        try:
            return self._gold[type(answer), answer, function]
        except KeyError:
            found = self._gold[type(answer), answer, function] = self._kind_of(answer, function)
            return found
        except TypeError:  # a list, or no answer at all
            return self._kind_of(answer, function)

    def _kind_of(self, answer: Any, function: str | None) -> Gold:
        if isinstance(answer, list) and not any(isinstance(each, list | dict) for each in answer):
            return Gold(LIST, (tuple(answer),))
        if not isinstance(answer, str | int):
            message = "expected true, false, a number, a text or a list of texts"
            raise _FieldFault("answer", f"{message}, found {describe(answer)}")
        gold = gold_of(answer)
        if not isinstance(answer, str) or not self._kinds or not function:
            return gold
        # The info says what the function answers: a "2" may be a word, "red, blue" a list.
        kind = self._kinds.get(function, WORD)
        if kind == LIST:
            return Gold(LIST, (tuple(answer.split(", ")),))
        return gold if kind == gold.kind else Gold(WORD, (answer,))


def _options(record: Mapping[str, Any], answer: Any) -> Options | None:
    """Return the options of a question, if it has any."""
    key = next((each for each in OPTION_KEYS if each in record), None)
    if key is None:
        return None
    listed = record[key]
    if not isinstance(listed, list) or not listed:
        raise _FieldFault(key, f"expected a list of options, found {describe(listed)}")
    options, right = tuple(map(_option, listed)), _option(answer)
    if answer is None:
        return Options(options, None)
    if right not in options:
        raise _FieldFault(key, f"the answer {right!r} is not among the options")
    return Options(options, options.index(right))


def _option(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
