"""Questions of vqagen, in both dialects, and of released CLEVR files, as gold items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.errors import Fault, describe
from vqagen.language.question_files import QUESTIONS
from vqagen.records.fault_list import FaultList
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import BOOL, INTEGER, LIST, WORD, Answer
from vqagen.score.gold.fields import NO_PROGRAM, FamilyNames, ProgramReader
from vqagen.score.gold.file import CHOICE, OPEN, GoldFile, Splits, file_info, no_answers
from vqagen.score.gold.item import FieldValue, GoldItem
from vqagen.score.gold.question_facts import answer_kind, image_of
from vqagen.score.gold.scenes import NO_SCENE, SceneFields

GROUPS = ("answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
SHARED = 1 << 15
"""Mappings of fields that are held to be shared."""
OPTION_KEYS = ("options", "choices", "multiple_choices")
"""Keys under which a question lists the options of multiple choice, in the order that a model sees."""
BLOCK_KEYS = ("block", "pair")
"""Keys of what a question shares with others whose answers exclude its own."""
_KINDS = {"yes/no": BOOL, "number": INTEGER, "other": WORD}
_TRUTHS = {"yes": True, "no": False}
_DECLARED = {"Bool": BOOL, "Integer": INTEGER, "list": LIST}
"""Type of answers in the info -> kind."""


def question_file(
    source: RecordSource,
    mode: str = "",
    split: str = "",
    scenes: SceneFields | None = None,
) -> GoldFile:
    """Return the gold file of questions."""
    info = file_info(source)

    def read() -> Iterator[GoldItem]:
        reader, splits = QuestionReader(str(source.path), info, scenes), Splits(split)
        for index, record, _ in source.entries():
            if splits.has(record):
                item = reader.item(record, index)
                if item is not None:
                    yield item
        reader.finish()
        splits.finish(str(source.path), "question")

    return GoldFile(str(source.path), "vqagen", read, info, mode or _mode_of(source), GROUPS)


def _mode_of(source: RecordSource) -> str:
    """Return multiple choice if the first question has options, else open."""
    first = next(source.records(0, 1), {})
    return CHOICE if any(key in first for key in OPTION_KEYS) else OPEN


class QuestionReader:
    """Reads the questions of one file, and collects their faults."""

    def __init__(self, name: str, info: Mapping[str, Any], scenes: SceneFields | None) -> None:
        self._name, self._faults = name, FaultList(name, "question")
        self._scenes = scenes
        self._programs, self._families = ProgramReader(), FamilyNames(info)
        generator = info.get("generator")
        declared = generator.get("answer_types") if isinstance(generator, Mapping) else None
        types = declared if isinstance(declared, Mapping) else {}
        self._kinds: Mapping[str, str] = {str(name): _DECLARED.get(str(each), WORD) for name, each in types.items()}
        self._has_kinds = bool(self._kinds)
        self._known_fields: dict[tuple[Any, ...], Mapping[str, FieldValue]] = {}
        self._answers: dict[tuple[type, Any, Any], tuple[str, Answer]] = {}

    def item(self, record: Mapping[str, Any], index: int) -> GoldItem | None:
        """Return the item of a record; None if it has faults. BadInput for a question without answer."""
        answer, program, text = record.get("answer"), record.get("program"), record.get("question")
        if answer is None:
            raise no_answers(self._name, QUESTIONS.path(index))
        try:
            facts = self._programs.fields(program) if program else NO_PROGRAM
            kind, canonical = self._answer(answer, facts["function"])
            options, right = _options(record, answer)
            if not isinstance(text, str):
                raise _FieldFault("question", f"expected text, found {describe(text)}")
            for key in ("split", "question_type", *BLOCK_KEYS):
                if isinstance(record.get(key), list | dict):
                    raise _FieldFault(key, f"expected a text or a number, found {describe(record[key])}")
        except ValueError as error:
            fault: Fault = (error.key if isinstance(error, _FieldFault) else "program", str(error))
            self._faults.add([fault], QUESTIONS.path(index))
            return None
        number = record.get("question_index", record.get("question_id", index))
        return GoldItem(
            str(number),
            kind,
            (canonical,),
            image_of(record),
            self._fields(record, index, kind, text, facts),
            options,
            text,
            right=right,
            pair=record.get("pair"),
            block=record.get("block"),
        )

    def _fields(
        self, record: Mapping[str, Any], index: int, kind: str, text: str, facts: Mapping[str, FieldValue]
    ) -> Mapping[str, FieldValue]:
        """Return the fields of a question; equal ones are one object, which spares the evaluation most of its work."""
        length, split = text.count(" ") + 1, record.get("split")
        family, category = self._families.name(record), record.get("question_type", facts["category"])
        scene = NO_SCENE if self._scenes is None else self._scenes.of(record, index)
        key = id(facts), id(scene), kind, family, category, length, split
        known = self._known_fields.get(key)
        if known is None:
            if len(self._known_fields) >= SHARED:
                self._known_fields.clear()
            own: dict[str, FieldValue] = {"answer_type": kind, "family": family}
            own |= {**facts, "category": category, "question_length": length, "split": split, **scene}
            known = self._known_fields[key] = own
        return known

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        self._faults.finish()
        if self._scenes is not None:
            self._scenes.finish()

    def _answer(self, answer: Any, function: Any) -> tuple[str, Answer]:
        """Return the kind of an answer, and its canonical value."""
        try:
            key = type(answer), answer, function
            return self._answers[key]
        except KeyError:
            found = self._answers[key] = self._kind_of(answer, function)
            return found
        except TypeError:  # a list, or no answer at all
            return self._kind_of(answer, function)

    def _kind_of(self, answer: Any, function: Any) -> tuple[str, Answer]:
        if isinstance(answer, bool):
            return BOOL, answer
        if isinstance(answer, int):
            return INTEGER, answer
        if isinstance(answer, list):
            return LIST, tuple(answer)
        if not isinstance(answer, str):
            message = "expected true, false, a number, a text or a list of texts"
            raise _FieldFault("answer", f"{message}, found {describe(answer)}")
        kind = self._kinds.get(function, WORD) if self._has_kinds and function else _KINDS[answer_kind(answer)]
        if kind == BOOL and answer in _TRUTHS:
            return BOOL, _TRUTHS[answer]
        if kind == INTEGER and answer.isdecimal():
            return INTEGER, int(answer)
        return (LIST, tuple(answer.split(", "))) if kind == LIST else (WORD, answer)


class _FieldFault(ValueError):
    """A fault of one field of a record."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        super().__init__(message)


def _options(record: Mapping[str, Any], answer: Any) -> tuple[tuple[str, ...], int | None]:
    """Return the options of a question and the index of the right one."""
    key = next((each for each in OPTION_KEYS if each in record), None)
    if key is None:
        return (), None
    listed = record[key]
    if not isinstance(listed, list) or not listed:
        raise _FieldFault(key, f"expected a list of options, found {describe(listed)}")
    options, right = tuple(map(_option, listed)), _option(answer)
    if right not in options:
        raise _FieldFault(key, f"the answer {right!r} is not among the options")
    return options, options.index(right)


def _option(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
