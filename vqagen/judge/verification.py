"""Verification: every program of a question file is run on its scene again, and must give the written answer.

Questions and scenes are both read as streams, so files of any size are checked in little memory; questions in another
order than the scenes cost further passes over the scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

from vqagen.errors import BadInput, Problem, as_written
from vqagen.files.locations import Location
from vqagen.judge.derivation import Derivations, Derived
from vqagen.judge.pairs import PairsSeen
from vqagen.judge.scene_lookup import HeldScenes, QuestionFault, SceneNames, contradiction
from vqagen.judge.verification_report import Mismatch, VerificationReport
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question_files import read_questions
from vqagen.language.question_records import same_answer
from vqagen.plugin import Undefined
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

BATCH = 2000
"""Questions whose scenes are held at once."""


def verify_questions(
    questions: Location, scenes: SceneSource, catalogue: Catalogue, on_checked: Callable[[int], None] = lambda _: None
) -> VerificationReport:
    """Check every question of a file of either dialect; `on_checked` is called now and then with the number of
    questions checked since.
    """
    report = VerificationReport()
    stream = enumerate(read_questions(questions))
    names, held, pairs = SceneNames(scenes), HeldScenes(scenes, catalogue.domain), PairsSeen()
    derivations = Derivations(catalogue)
    while batch := list(islice(stream, BATCH)):
        places = [names.place_of(record) for _, record in batch]
        held.hold({place for place in places if isinstance(place, int)})
        for (position, record), place in zip(batch, places, strict=True):
            if position == 0 and record.keys().isdisjoint({"program", "answer"}):
                raise BadInput([Problem("neither programs nor answers, so nothing to verify", str(questions))])
            report.checked += 1
            fault = place if isinstance(place, QuestionFault) else _fault(record, held[place], catalogue, derivations)
            if isinstance(place, int):
                unpaired = pairs.fault(position, record, place)
                fault = fault or unpaired
            if fault:
                report.add(Mismatch(position, record.get("question_index"), _image_of(record), *fault))
        on_checked(len(batch))
    report.parted_pairs = pairs.parted
    return report


def _fault(
    record: Mapping[str, Any], scene: Scene, catalogue: Catalogue, derivations: Derivations
) -> QuestionFault | None:
    return contradiction(record, scene) or _answer_fault(record, scene, catalogue, derivations)


def _answer_fault(
    record: Mapping[str, Any], scene: Scene, catalogue: Catalogue, derivations: Derivations
) -> QuestionFault | None:
    found = derivations.derive(record.get("program"), scene) or _derived_plainly(record, scene, catalogue)
    if isinstance(found, QuestionFault):
        return found
    derived = found.answer
    if "answer" not in record:
        return QuestionFault("answer missing", f"no answer is written; the program gives {as_written(derived)}")
    if not same_answer(record["answer"], derived):
        written = as_written(record["answer"])
        message = f"the answer is written as {written}, but the program gives {as_written(derived)}"
        return QuestionFault("wrong answer", message)
    return None


def _derived_plainly(record: Mapping[str, Any], scene: Scene, catalogue: Catalogue) -> Derived | QuestionFault:
    """Return the answer of a question's program, or all faults for which it has none."""
    try:
        program = Program.from_records(record.get("program"), catalogue)
    except BadInput as error:
        faults = (f"{problem.path}: {problem.message}" for problem in error.problems)
        return QuestionFault("bad program", "; ".join(faults))
    last = program.nodes[-1].function
    if not catalogue[last].asks:
        return QuestionFault("bad program", f"program[{len(program.nodes) - 1}]: {last} gives no answer")
    try:
        return Derived(program.run(scene))
    except Undefined as error:
        return QuestionFault("no answer", f"the program has no answer in this scene: {error}")


def _image_of(record: Mapping[str, Any]) -> str:
    """Return the name of the image for people."""
    if record.get("image_filename"):
        return str(record["image_filename"])
    index = record.get("image_index")
    return "no image named" if index is None else f"image_index {index}"
