"""The facts of a question record, of vqagen or of another generator, that statistics are made of."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import vqagen.language.functions  # noqa: F401  (importing the module declares them)
from vqagen.errors import Fault, describe
from vqagen.language.program import Node
from vqagen.language.question_records import release_answer
from vqagen.plugin import BUILT_IN
from vqagen.records.fault_list import FaultList

YES_NO = frozenset({"yes", "no"})


class QuestionFacts(NamedTuple):
    """One question."""

    text: str
    image: str
    scene_index: int | None
    file: str
    """The template file; "" if the record names none."""
    family: str
    type: str
    """The question type; "" if neither the record nor a program tells."""
    answer: str | None
    """The answer as text; None if it is left out."""
    steps: tuple[Node, ...] | None
    """The program, of whatever domain; None if it is left out."""
    pair: str | None


class FactReader:
    """Reads the records of one file, and collects their faults."""

    def __init__(self, source: str) -> None:
        self._faults = FaultList(source, "question")

    def facts(self, record: Mapping[str, Any], path: str) -> QuestionFacts | None:
        """Return the facts of a record at a JSON path; None if it has faults."""
        faults: list[Fault] = []
        steps = _steps(record.get("program"), faults)
        text, answer, pair = record.get("question"), record.get("answer"), record.get("pair")
        if not isinstance(text, str):
            faults.append(("question", f"expected text, found {describe(text)}"))
        if isinstance(answer, Mapping):
            faults.append(("answer", "expected true, false, a number, a text or a list of texts, found an object"))
        if pair is not None and (isinstance(pair, bool) or not isinstance(pair, int | str)):
            faults.append(("pair", f"expected a number, found {describe(pair)}"))
        if faults:
            self._faults.add(faults, path)
            return None
        file, family = str(record.get("template_filename") or ""), record.get("question_family_index")
        scene_index = record.get("scene_index")
        return QuestionFacts(
            str(text),
            image_of(record),
            scene_index if type(scene_index) is int else None,
            file,
            "" if family is None else f"{file}#{family}" if file else f"#{family}",
            str(record.get("question_type") or (steps and question_type(steps[-1].function)) or ""),
            _answer_text(answer),
            steps,
            None if pair is None else str(pair),
        )

    def finish(self) -> None:
        """Raise BadInput if there were faults."""
        self._faults.finish()


def image_of(record: Mapping[str, Any]) -> str:
    """Return the name of the image that a record is about, or else its number."""
    name = record.get("image_filename")
    return str(name) if name else f"#{record.get('image_index')}"


def _answer_text(answer: Any) -> str | None:
    if answer is None or isinstance(answer, str):
        return answer
    return release_answer(tuple(map(str, answer)) if isinstance(answer, list) else answer)


def _steps(program: object, faults: list[Fault]) -> tuple[Node, ...] | None:
    """Return the steps of a program; None, perhaps with faults, if there is none."""
    if program is None or program == []:
        return None
    if not isinstance(program, list):
        faults.append(("program", f"expected a list of program nodes, found {describe(program)}"))
        return None
    before = len(faults)
    steps = tuple(_step(node, number, faults) for number, node in enumerate(program))
    return steps if len(faults) == before else None


def _step(node: object, number: int, faults: list[Fault]) -> Node:
    place = f"program[{number}]"
    if not isinstance(node, Mapping):
        faults.append((place, f"expected a program node, found {describe(node)}"))
        return Node("")
    function = node.get("type") or node.get("function")
    inputs, values = node.get("inputs") or [], node.get("value_inputs") or node.get("side_inputs") or []
    if not isinstance(function, str):
        faults.append((f"{place}.function", f"expected the name of a function, found {describe(function)}"))
    if not isinstance(inputs, list) or any(type(i) is not int or not 0 <= i < number for i in inputs):
        faults.append((f"{place}.inputs", f"expected a list of earlier nodes, found {describe(inputs)}"))
        inputs = []
    if not isinstance(values, list):
        faults.append((f"{place}.value_inputs", f"expected a list, found {describe(values)}"))
        values = []
    return Node(str(function), tuple(inputs), tuple(map(str, values)))


@lru_cache
def question_type(function: str) -> str:
    """Return the question type of programs that end in a function, in a domain that need not be known.

    >>> question_type("query_color"), question_type("equal_season"), question_type("less_than")
    ('query', 'compare_attribute', 'compare_integer')
    """
    declared = BUILT_IN.functions
    own = [each for each in declared.values() if function in (each.name, *each.aliases)]
    families = [each for each in declared.values() if each.per_attribute and function.startswith(_beginning(each.name))]
    found = next(iter(own or families), None)
    return (found.asks if found else None) or function


def _beginning(pattern: str) -> str:
    """Return how the functions of a family begin: `query_` of `query_{name}`."""
    return pattern.partition("{")[0]


def answer_kind(answer: str) -> str:
    """Return the kind of an answer, where no question type is known: yes/no, number or other.

    >>> answer_kind("no"), answer_kind("12"), answer_kind("red")
    ('yes/no', 'number', 'other')
    """
    if answer in YES_NO:
        return "yes/no"
    return "number" if answer.isdecimal() else "other"
