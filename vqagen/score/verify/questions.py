"""Verification: every program of a question file is run on its scene again, and must give the written answer.

The text must say what the program asks (see `question_texts`).

Questions and scenes are both read as streams, so files of any size are checked in little memory; questions in another
order than the scenes cost further passes over the scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from vqagen.errors import BadInput, Problem, as_written
from vqagen.files.locations import Location
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question_files import read_questions
from vqagen.language.question_records import same_answer
from vqagen.language.registry import Value
from vqagen.plugin import Undefined
from vqagen.score.scene_lookup import HeldScenes, QuestionFault, SceneNames, contradiction
from vqagen.score.verify.derivation import Derivations, Derived
from vqagen.score.verify.pairs import PairsSeen
from vqagen.score.verify.question_texts import QuestionTexts
from vqagen.score.verify.report import Mismatch, VerificationReport
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

BATCH = 2000
"""Questions whose scenes are held at once."""


class QuestionVerification:
    """Verifies the questions of one file."""

    def __init__(self, catalogue: Catalogue, texts: QuestionTexts | None) -> None:
        """`texts` reads the texts; None leaves them unread."""
        self._catalogue, self._texts = catalogue, texts
        self._derivations = Derivations(catalogue)

    def fault(self, record: Mapping[str, Any], scene: Scene) -> QuestionFault | None:
        """Return the first fault of a question about a scene."""
        fault = contradiction(record, scene)
        if fault:
            return fault
        derived = self._derivations.derive(record.get("program"), scene) or self._derived_plainly(record, scene)
        if isinstance(derived, QuestionFault):
            return derived
        fault = _answer_fault(record, derived.outputs[-1])
        return self._texts.fault(record, scene, derived) if self._texts and not fault else fault

    def _derived_plainly(self, record: Mapping[str, Any], scene: Scene) -> Derived | QuestionFault:
        """Return the results of a question's program, or all faults for which it has no answer."""
        try:
            program = Program.from_records(record.get("program"), self._catalogue)
        except BadInput as error:
            faults = (f"{problem.path}: {problem.message}" for problem in error.problems)
            return QuestionFault("bad program", "; ".join(faults))
        last = program.nodes[-1].function
        if not self._catalogue[last].asks:
            return QuestionFault("bad program", f"program[{len(program.nodes) - 1}]: {last} gives no answer")
        try:
            return Derived(program.nodes, program.outputs(scene))
        except Undefined as error:
            return QuestionFault("no answer", f"the program has no answer in this scene: {error}")


def verify_questions(
    questions: Location,
    scenes: SceneSource,
    catalogue: Catalogue,
    texts: QuestionTexts | str = "no templates are given",
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Check every question of a file of any dialect. `texts` reads the texts, or says why they are not read.

    `on_checked` is called now and then with the number of questions checked since.
    """
    reader = texts if isinstance(texts, QuestionTexts) else None
    report = VerificationReport(unread_because="" if isinstance(texts, QuestionTexts) else texts)
    stream = enumerate(read_questions(questions))
    names, held, pairs = SceneNames(scenes), HeldScenes(scenes, catalogue.domain), PairsSeen()
    verification = QuestionVerification(catalogue, reader)
    while batch := list(islice(stream, BATCH)):
        places = [names.place_of(record) for _, record in batch]
        held.hold({place for place in places if isinstance(place, int)})
        for (position, record), place in zip(batch, places, strict=True):
            if position == 0 and record.keys().isdisjoint({"program", "answer"}):
                raise BadInput([Problem("neither programs nor answers, so nothing to verify", str(questions))])
            report.checked += 1
            fault = place if isinstance(place, QuestionFault) else verification.fault(record, held[place])
            if isinstance(place, int):
                unpaired = pairs.fault(position, record, place)
                fault = fault or unpaired
            if fault:
                report.add(Mismatch(position, record.get("question_index"), _image_of(record), *fault))
        on_checked(len(batch))
    report.parted_pairs = pairs.parted
    if reader:
        report.unread_texts, report.undecided_texts = reader.unread, reader.undecided
    return report


def _answer_fault(record: Mapping[str, Any], derived: Value) -> QuestionFault | None:
    if "answer" not in record:
        return QuestionFault("answer missing", f"no answer is written; the program gives {as_written(derived)}")
    if same_answer(record["answer"], derived):
        return None
    written = as_written(record["answer"])
    message = f"the answer is written as {written}, but the program gives {as_written(derived)}"
    return QuestionFault("wrong answer", message)


def _image_of(record: Mapping[str, Any]) -> str:
    """Return the name of the image for people."""
    if record.get("image_filename"):
        return str(record["image_filename"])
    index = record.get("image_index")
    return "no image named" if index is None else f"image_index {index}"
