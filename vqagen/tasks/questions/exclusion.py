"""Questions that are not wanted: they were asked before, or belong to another set.

A question counts by its text and its program, of which 8 bytes each are remembered, for there may be millions. Among a
million different texts, two have the same 8 bytes with a chance of 1 in 37 million.

Windows know nothing of each other, so a question may come again in a later one. Where no text may come twice in a whole
output (`--dedupe all`), `QuestionSelection` sees all records in order and keeps the first of equal texts.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import islice
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, VqagenError, counted, describe, warn
from vqagen.files.locations import Location, content_hash, locate
from vqagen.language.question import Question
from vqagen.language.question_files import read_questions

ProgramStep = tuple[str, Sequence[object], Sequence[object]]
"""A function, the steps it takes its inputs from, and its values."""
FAULTS_TOLD = 20
"""Of a file that is no question file every record is wrong."""
ALREADY_ASKED, IN_OTHER_SET = "already asked", "in the other set"
TRIES = 20
"""Unwanted fillings after which a template gives up on one more question about a scene."""


def text_fingerprint(text: str) -> int:
    """Of a text, letter for letter; unsigned, 64 bits."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def program_fingerprint(steps: Iterable[ProgramStep]) -> int:
    """Of a program, step for step; the same whichever dialect it was written in."""
    return text_fingerprint(repr([(function, tuple(inputs), tuple(values)) for function, inputs, values in steps]))


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


@dataclass(frozen=True)
class ExcludedFiles:
    """Where they are. Their fingerprints (16 bytes a question) do not travel: each process reads the files."""

    paths: tuple[Location, ...] = ()

    def __reduce__(self) -> tuple[object, ...]:
        """For another process, which may work in another folder."""
        return _arrived, (tuple(str(path.absolute() if isinstance(path, Path) else path) for path in self.paths),)

    @cached_property
    def hashes(self) -> dict[str, str]:
        """Their content hash, by its role; empty if there are none. Taken when first asked for."""
        return {"disjoint_from": content_hash(self.paths)} if self.paths else {}

    def load(self, known: Mapping[str, str]) -> Exclusion | None:
        """What the files hold; VqagenError if they are not those that the run began with, whose hashes are `known`.

        Warns of questions that hide their programs.
        """
        if not self.paths:
            return None
        exclusion = reduce(Exclusion.joined, map(_read, self.paths))
        if content_hash(self.paths) != known["disjoint_from"]:
            names = ", ".join(map(str, self.paths))
            raise VqagenError(f"{names}: not what the run began with: changed meanwhile, or another file of that name")
        return exclusion


def _arrived(names: tuple[str, ...]) -> ExcludedFiles:
    return ExcludedFiles(tuple(map(locate, names)))


def _read(path: Location) -> Exclusion:
    hidden = 0

    def records() -> Iterator[Mapping[str, Any]]:
        nonlocal hidden
        for record in read_questions(path):
            hidden += "program" not in record
            yield record

    exclusion = Exclusion.from_records(records(), str(path))
    if hidden:
        questions = counted(hidden, "question")
        warn(Problem(f"{questions} without a program: only the text of such a question is not asked again", str(path)))
    return exclusion


class Screen:
    """Sees every question of one balance window as it is made, in order."""

    def __init__(self, dedupe: str, exclusion: Exclusion | None) -> None:
        """`dedupe`: within what no text comes twice; none, image or all."""
        self._exclusion = exclusion
        self._forgets = dedupe == "image"
        self._said: set[int] | None = None if dedupe == "none" else set()

    def next_scene(self) -> None:
        """What follows is about another scene."""
        if self._forgets:
            self._said = set()

    def refusal(self, question: Question) -> str:
        """Why a question is not wanted; "" when it is, and then its text counts as said."""
        if self._exclusion is not None and _is_shared(question, self._exclusion):
            return IN_OTHER_SET
        if self._said is not None:
            fingerprint = text_fingerprint(question.text)
            if fingerprint in self._said:
                return ALREADY_ASKED
            self._said.add(fingerprint)
        return ""


def _is_shared(question: Question, exclusion: Exclusion) -> bool:
    return exclusion.has_text(question.text) or exclusion.has_program(question.program.nodes)


TemplateKey = tuple[str, int]
"""What records say of their template: its file, or "" where families are counted over all files, and its index."""


class QuestionSelection:
    """Asked about every record of an output, in order. It remembers about 80 bytes a question."""

    reads = ("template_filename", "question_family_index", "question", "scene_index")

    def __init__(self) -> None:
        self._said: set[int] = set()
        self.kept: Counter[TemplateKey] = Counter()
        """How many records of each template stayed."""
        self.scenes = self.scenes_left = 0
        """Scenes that had questions, and those that still have."""
        self._scene: object = None
        self._scene_left: object = None

    def keeps(self, record: Mapping[str, Any]) -> bool:
        """True if the next record stays in the output."""
        template = record.get("template_filename") or "", record["question_family_index"]
        return self._keeps(record["question"], template, record.get("scene_index"))

    def keeps_question(self, question: Question) -> bool:
        """The same of a question that is no record yet."""
        return self._keeps(question.text, (question.template.file, question.template.index), question.scene.index)

    def to_record(self) -> dict[str, Any]:
        """What stayed: [file, index, records] of each template, and scenes."""
        kept = [[*template, count] for template, count in self.kept.items()]
        return {"kept": kept, "scenes": self.scenes, "scenes_left": self.scenes_left}

    def _keeps(self, text: str, template: TemplateKey, scene: object) -> bool:
        known = len(self._said)
        self._said.add(text_fingerprint(text))
        is_kept = len(self._said) > known
        if scene != self._scene:
            self._scene, self.scenes = scene, self.scenes + 1
        if is_kept:
            self.kept[template] += 1
            if scene != self._scene_left:
                self._scene_left, self.scenes_left = scene, self.scenes_left + 1
        return is_kept
