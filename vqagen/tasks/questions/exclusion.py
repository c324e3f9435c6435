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
from typing import Any

from vqagen.errors import BadInput, Problem, VqagenError, counted, describe, warn
from vqagen.files.locations import Location, content_hash
from vqagen.language.question import Question

ProgramStep = tuple[str, Sequence[object], Sequence[object]]
"""A function, the steps it takes its inputs from, and its values."""
MOST_FAULTS = 20
"""Faults of a file that are reported: of a file that is no question file every record is wrong."""
ALREADY_ASKED, IN_OTHER_SET = "already asked", "in the other set"
TRIES = 20
"""Unwanted fillings after which a template gives up on one more question about a scene."""


def fingerprint(text: str) -> int:
    """Return 64 bits, unsigned, of a text, letter for letter."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def program_fingerprint(steps: Iterable[ProgramStep]) -> int:
    """Return that of a program, step for step; it is the same whichever dialect the program was written in."""
    return fingerprint(repr([(function, tuple(inputs), tuple(values)) for function, inputs, values in steps]))


class Exclusion:
    """The texts and programs of another set, as ascending fingerprints: 16 bytes a question."""

    def __init__(self, fingerprints: array[int]) -> None:
        import numpy as np

        self._all = fingerprints  # sorted by numpy, which needs no objects for it
        if fingerprints:
            self._all = array("Q", np.unique(np.frombuffer(fingerprints, np.uint64)).tobytes())

    @staticmethod
    def from_records(records: Iterable[Mapping[str, Any]], source: str = "questions") -> Exclusion:
        """Take the texts and programs of question records of either dialect; one may lack its program or its text.

        Raises BadInput, with places in `source`, for records that have neither or whose program cannot be read.
        """
        return Exclusion(_fingerprints(records, source))

    def has_text(self, text: str) -> bool:
        """True if a question of the other set has this text."""
        return self._has(fingerprint(text))

    def has_program(self, steps: Iterable[ProgramStep]) -> bool:
        """True if a question of the other set has this program."""
        return self._has(program_fingerprint(steps))

    def _has(self, wanted: int) -> bool:
        at = bisect_left(self._all, wanted)
        return at < len(self._all) and self._all[at] == wanted


def _fingerprints(records: Iterable[Mapping[str, Any]], source: str) -> array[int]:
    """Return the fingerprints of texts and programs; BadInput if records have neither."""
    fingerprints, problems = array("Q"), list[Problem]()
    for number, record in enumerate(records):
        path, text, program = f"questions[{number}]", record.get("question"), record.get("program")
        if text is None and not program:
            problems.append(Problem("a question has a text or a program; found neither", source, path))
        elif isinstance(text, str):
            fingerprints.append(fingerprint(text))
        elif text is not None:
            problems.append(Problem(f"expected a text, found {describe(text)}", source, f"{path}.question"))
        try:
            if program:
                fingerprints.append(program_fingerprint(map(_step, program)))
        except (LookupError, TypeError, AttributeError):
            expected = f"expected a list of program nodes, found {describe(program)}"
            problems.append(Problem(expected, source, f"{path}.program"))
        if len(problems) == MOST_FAULTS:
            break
    if problems:
        raise BadInput(problems)
    return fingerprints


def _step(node: Mapping[str, Any]) -> ProgramStep:
    """Return a written node. Raises LookupError, TypeError or AttributeError for anything else."""
    values = node.get("value_inputs", node.get("side_inputs"))
    return node["type"] if "type" in node else node["function"], node.get("inputs") or (), values or ()


def load_exclusion(paths: Sequence[Location], known: str) -> Exclusion | None:
    """Read the questions of another set; None if there are no files. Each process does so for itself.

    Raises VqagenError if they are not those that the run began with, whose hash is `known`. Warns of questions that
    hide their programs.
    """
    if not paths:
        return None
    fingerprints = array("Q")
    for path in paths:
        fingerprints += _fingerprints_in(path)
    if content_hash(paths) != known:
        names = ", ".join(map(str, paths))
        raise VqagenError(f"{names}: not what the run began with: changed meanwhile, or another file of that name")
    return Exclusion(fingerprints)


def _fingerprints_in(path: Location) -> array[int]:
    from vqagen.language.question import read_questions

    hidden = 0

    def records() -> Iterator[Mapping[str, Any]]:
        nonlocal hidden
        for record in read_questions(path):
            hidden += "program" not in record
            yield record

    fingerprints = _fingerprints(records(), str(path))
    if hidden:
        questions = counted(hidden, "question")
        warn(Problem(f"{questions} without a program: only the text of such a question is not asked again", str(path)))
    return fingerprints


class Screen:
    """Sees every question of one balance window as it is made, in order."""

    def __init__(self, dedupe: str, exclusion: Exclusion | None = None) -> None:
        """`dedupe`: within what no text comes twice; none, image or all."""
        self._exclusion, self._dedupe = exclusion, dedupe
        self._said: set[int] = set()

    def next_scene(self) -> None:
        """Expect questions about another scene."""
        if self._dedupe == "image":
            self._said.clear()

    def refusal(self, question: Question) -> str:
        """Return why a question is not wanted; "" if it is, and then its text counts as said."""
        other = self._exclusion
        if other is not None and (other.has_text(question.question) or other.has_program(question.program.nodes)):
            return IN_OTHER_SET
        if self._dedupe != "none":
            text_hash = fingerprint(question.question)
            if text_hash in self._said:
                return ALREADY_ASKED
            self._said.add(text_hash)
        return ""


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
        scene, text_hash = record.get("scene_index"), fingerprint(record["question"])
        if scene != self._scene:
            self._scene, self.scenes = scene, self.scenes + 1
        if text_hash in self._said:
            return False
        self._said.add(text_hash)
        self.kept[record.get("template_filename") or "", record["question_family_index"]] += 1
        if scene != self._scene_left:
            self._scene_left, self.scenes_left = scene, self.scenes_left + 1
        return True

    def to_record(self) -> dict[str, Any]:
        """Return what stayed: [file, index, records] of each template, and scenes."""
        kept = [[*template, count] for template, count in self.kept.items()]
        return {"kept": kept, "scenes": self.scenes, "scenes_left": self.scenes_left}
