"""Exclusion: the texts and programs of another set of questions, none of which may be asked again."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from vqagen.errors import BadInput, Problem, describe
from vqagen.tasks.questions.fingerprints import ProgramStep, program_fingerprint, text_fingerprint

FAULTS_TOLD = 20
"""Of a file that is no question file every record is wrong."""


@dataclass(frozen=True, eq=False)
class Exclusion:
    """What the other set holds, as ascending fingerprints: 16 bytes a question."""

    texts: array[int]
    programs: array[int]

    @staticmethod
    def from_records(records: Iterable[Mapping[str, Any]], source: str = "questions") -> Exclusion:
        """The texts and programs of question records of either dialect; one without a program counts by its text.

        Raises BadInput, with places in `source`, for records that have neither or whose program cannot be read.
        """
        texts, programs = array("Q"), array("Q")
        problems = list(islice(_read_all(records, source, texts, programs), FAULTS_TOLD))
        if problems:
            raise BadInput(problems)
        return Exclusion(_ascending(texts), _ascending(programs))

    def joined(self, other: Exclusion) -> Exclusion:
        """What either of the two holds."""
        return Exclusion(_ascending(self.texts + other.texts), _ascending(self.programs + other.programs))

    def has_text(self, text: str) -> bool:
        """True if a question of the other set has this text."""
        return _holds(self.texts, text_fingerprint(text))

    def has_program(self, steps: Iterable[ProgramStep]) -> bool:
        """True if a question of the other set has this program."""
        return _holds(self.programs, program_fingerprint(steps))


def _holds(fingerprints: array[int], wanted: int) -> bool:
    at = bisect_left(fingerprints, wanted)
    return at < len(fingerprints) and fingerprints[at] == wanted


def _ascending(found: array[int]) -> array[int]:
    """Each fingerprint once, in order; sorted by numpy, which needs no objects for it."""
    import numpy as np

    return array("Q", np.unique(np.frombuffer(found, np.uint64)).tobytes()) if found else found


def _read_all(
    records: Iterable[Mapping[str, Any]], source: str, texts: array[int], programs: array[int]
) -> Iterator[Problem]:
    """Add what the records hold to `texts` and `programs`, and tell what is wrong with them."""
    for number, record in enumerate(records):
        text, program = record.get("question"), record.get("program")
        if text is None and not program:
            yield Problem("a question has a text or a program; found neither", source, f"questions[{number}]")
        if isinstance(text, str):
            texts.append(text_fingerprint(text))
        elif text is not None:
            yield Problem(f"expected a text, found {describe(text)}", source, f"questions[{number}].question")
        if program:
            steps = _steps(program)
            if steps is None:
                expected = f"expected a list of program nodes, found {describe(program)}"
                yield Problem(expected, source, f"questions[{number}].program")
            else:
                programs.append(program_fingerprint(steps))


def _steps(program: object) -> list[ProgramStep] | None:
    """The steps of a written program; None where it is none."""
    if not isinstance(program, list):
        return None
    steps: list[ProgramStep] = []
    for node in program:
        if not isinstance(node, Mapping):
            return None
        function = node.get("type", node.get("function"))
        inputs, values = node.get("inputs") or [], node.get("value_inputs", node.get("side_inputs")) or []
        if not (isinstance(function, str) and isinstance(inputs, list) and isinstance(values, list)):
            return None
        steps.append((function, inputs, values))
    return steps
