"""Verification of trials: what the text asks and who sees what give the answers, and the record is made again.

Grid, blocked cells, type, rule, frame and words of a record are taken as they are. The text must say them, all other
fields must follow from them, and the trial must keep the rules of the task; `trial_series` compares trials with each
other and with the settings of their run. Samples in the shape of the first director task are read as far as they go:
those of other tools have words of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from vqagen.bits import indexes, is_single, only
from vqagen.errors import as_written
from vqagen.files.locations import content_hash
from vqagen.files.records import RecordSource
from vqagen.language.domain_files import PathLike
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.design import DESIGN, Cell, RecordMaker, Trial
from vqagen.tasks.director.formats import RULE_TYPES
from vqagen.tasks.director.instructions import (
    InstructionMeaning,
    InstructionReader,
    find_instruction_files,
    load_instructions,
    with_shipped,
)
from vqagen.tasks.director.items import trial_reader
from vqagen.tasks.director.rules import CLASS_OF, CONTROL, DIRECTOR, HORIZONTAL, MIRRORED, NONE, RELATION, SIZE, TEST
from vqagen.tasks.director.settings import REFERENCE
from vqagen.tasks.director.trial_series import REPEATED, TrialFault, TrialSeries
from vqagen.tasks.director.version_1 import ExactSeries
from vqagen.tasks.director.views import Views
from vqagen.tasks.record_files import SAMPLES, check_origin
from vqagen.tasks.whole import CHANGED_FILE, unread, whole_records

MEANINGS: Mapping[str, str] = {
    "O1": "grid, cells and labels are well-formed, and every item is in the catalogue",
    "O2": "the text says the question: rule, frame, noun and adjectives",
    "O3": "the fields that follow from the others are right",
    "O4": "the director sees exactly one answer, and it is the written one",
    "O5": "in a control trial, both give the same answer",
    "O6": "in a test trial, the answers differ",
    "O7": "in a test trial with a rule, the participant's own answer is one other cell",
    "O9": "the rule is needed: the director sees two fitting items",
    "O10": "each adjective is needed",
    "O11": "left and right in the other frame give another answer",
    "O12": "items that are compared in size are of one kind",
    "O13": "the numbers of items and blocked cells are as the settings allow",
    "O14": "the shares of types, rules, frames and physics are near those of the settings",
    "O15": "no question is asked twice of one grid",
    REPEATED: "a question is asked again of one grid in another window",
    "O17": "each picture is there, and is the one that was made",
    "R1": "the reference object is the only one of its description, for both, and not blocked",
    CHANGED_FILE: "the records are not those that the run wrote",
    "pair": "two trials of a pair differ in what is blocked and in the answer",
}
"""Code -> the rule that a trial, or a file, breaks."""
LOOSE = frozenset({"O7", "O9", "O10", "O11"})
"""Rules that trials made with `--compat reference` may break."""
NOTED = frozenset({REPEATED})
"""What nobody must mend."""
SAID = ("rule", "frame", "noun", "adjectives", "instruction", "template")
"""Fields that a text says."""
OWN_WORDS = "texts not read: samples of another tool have words of their own"


def verify_trials(
    source: RecordSource, templates: PathLike | None = None, on_checked: Callable[[int], None] = lambda _: None
) -> VerificationReport:
    """Verify every trial; `on_checked` is called with 1 for each.

    Texts are those of `templates`, by default the shipped ones.
    """
    if not templates and (other := unread(source, instruction_hash())):
        return other
    check_origin(source, {"templates": lambda: instruction_hash(templates)})
    report = VerificationReport(source.kind.key, MEANINGS)
    series = (TrialSeries if source.info.get("design") == DESIGN else ExactSeries)(source)
    read_record, catalogue, remark = trial_reader(source)
    report.remarks += [remark] if remark else []
    record_faults = _RecordFaults(catalogue, templates) if catalogue else None
    noted = NOTED | LOOSE if catalogue is None or series.settings.compat == REFERENCE else NOTED
    for position, record in enumerate(whole_records(source, report)):
        read = read_record(record)
        if isinstance(read, list):
            number, faults = series.skip(), [("O1", *fault) for fault in read]
        else:
            views, number = Views(read), read.index
            faults = [*answer_faults(views), *(_sample_faults(views, record) if source.kind is SAMPLES else ())]
            faults += record_faults.of(views, record) if record_faults else ()
            faults += series.take(views, record)
        for code, path, message in faults:
            report.add(Mismatch(position, code, message, path, f"trial {number}", is_note=code in noted))
        report.checked += 1
        on_checked(1)
    for code, path, message in series.file_faults():
        report.add(Mismatch(None, code, message, path))
    report.unproven["trials of a pair whose other trial is not there"] = len(series.halves)
    report.unproven["pictures without a hash in their trial"] = series.unhashed
    report.unproven[OWN_WORDS] = 0 if record_faults else report.checked
    return report


def instruction_hash(templates: PathLike | None = None) -> str:
    """Return the content hash of the instructions that texts are read by, as the info of trials says it."""
    return content_hash([file.path for file in with_shipped(find_instruction_files(templates))])


# Answers --------------------------------------------------------------------------------------------------------------


def answer_faults(views: Views) -> Iterator[TrialFault]:
    """Yield what the grid and the question say otherwise than the answers and the type of a trial."""
    trial, own, gold, fitting = views.trial, views.own, views.gold, views.fitting
    sets = (gold, own, trial.answer, fitting)
    meant, theirs, written, described = (", ".join(trial.labels(cells)) or "no cell" for cells in sets)
    both = f"the director means {meant}, the participant {theirs}"
    rule_class, mirrored = CLASS_OF[trial.rule], MIRRORED.get(trial.rule, NONE)
    is_related, is_test = rule_class == RELATION, trial.type == TEST
    is_shared = own & gold or not is_single(own)
    kinds = sorted({item.kind for item in (views.items[cell] for cell in indexes(fitting)) if item})
    rows: list[tuple[object, str, str, str]] = [
        (not is_single(gold), "O4", "answer", f"the director means {meant}, and must mean one cell"),
        (trial.answer != gold, "O4", "answer", f"written as {written}, but the director means {meant}"),
        (trial.type == CONTROL and own != gold, "O5", "trial_type", f"a control trial with two answers: {both}"),
        (is_test and own == gold, "O6", "trial_type", f"a test trial with one answer: {both}"),
        (
            is_test and own != gold and trial.rule != NONE and is_shared,
            *("O7", "cells", f"the participant's own answer must be one other cell than {meant}: {theirs}"),
        ),
        (
            is_related and not (is_single(fitting) and fitting & views.open),
            *("R1", "cells", f"the reference object must be in one open cell, found {described}"),
        ),
        (
            rule_class not in (NONE, RELATION) and (fitting & views.open).bit_count() < 2,
            *("O9", "rule", f"the director sees no second item of the description: {trial.rule} says nothing"),
        ),
        (
            rule_class == HORIZONTAL and views.picked(views.open, trial.criteria, mirrored) & gold,
            *("O11", "answer", f"{trial.rule} and {mirrored} give the same answer"),
        ),
        (
            rule_class == SIZE and len(kinds) > 1,
            *("O12", "cells", f"items of several kinds are compared in size: {', '.join(kinds)}"),
        ),
    ]
    yield from ((code, path, message) for is_broken, code, path, message in rows if is_broken)
    for cell, item in enumerate(views.items):
        if item and not trial.criteria <= item.true and trial.criteria <= item.true | item.unclear:
            doubtful = ", ".join(sorted(trial.criteria & item.unclear))
            yield "O4", f"cells[{cell}]", f"{item.name}: people may not agree that it is {doubtful}"
    for number, adjective in enumerate(trial.adjectives):
        if views.picked(views.open, trial.criteria - {adjective}, trial.rule) == gold:
            yield "O10", f"adjectives[{number}]", f"without {adjective!r} the director means the same item"


# Fields ---------------------------------------------------------------------------------------------------------------


class _RecordFaults:
    """Reads the texts of records, and makes the records again."""

    def __init__(self, catalogue: ItemCatalogue, templates: PathLike | None) -> None:
        instructions = load_instructions(templates)
        self._catalogue, self._reader = catalogue, InstructionReader(instructions, catalogue)
        self._maker = cache(lambda width, height: RecordMaker(catalogue, instructions, width, height))

    def of(self, views: Views, record: Mapping[str, Any]) -> Iterator[TrialFault]:
        """Yield the fields of a trial that do not follow from its text, its grid and its question."""
        trial = views.trial
        meanings = self._reader.meanings(trial.instruction)
        if len(meanings) != 1:
            why = f"{len(meanings)} meanings of" if meanings else "no template says"
            yield "O2", "instruction", f"{why} {trial.instruction!r} with the words of the catalogue"
        asked = self._asked(meanings[0]) if meanings else {}
        if trial.template:
            yield from _differences(record, {**self._remade(views, meanings[0] if meanings else None), **asked})
        else:
            words = self._catalogue.in_order(trial.adjectives)
            written = {key: getattr(trial, key) for key in asked} | {"adjectives": [*words]}
            yield from _differences(written, asked)

    def _asked(self, meaning: InstructionMeaning) -> dict[str, Any]:
        """Return the fields that say what a text asks, and the text with its adjectives in their spoken order."""
        text = meaning.form.instruction(self._catalogue.describe(meaning.noun, meaning.adjectives))
        words = self._catalogue.in_order(meaning.adjectives)
        asked = {"rule": meaning.rule, "frame": meaning.frame, "noun": meaning.noun}
        return {**asked, "adjectives": [*words], "instruction": text}

    def _remade(self, views: Views, meaning: InstructionMeaning | None) -> dict[str, Any]:
        """Return the record that follows from the grid and the question; without a meaning, nothing about the text."""
        trial = views.trial
        rule_class, words = CLASS_OF[trial.rule], self._catalogue.in_order(trial.adjectives)
        is_relation = rule_class == RELATION
        related = views.ahead(views.fitting, views.all, trial.rule) if is_relation else views.fitting
        seen = (related & views.open).bit_count()
        made = Trial(
            Cell(
                trial.type == TEST, rule_class, trial.rule, trial.frame, not self._catalogue.physics.isdisjoint(words)
            ),
            trial.noun,
            words,
            [],
            frozenset(indexes(trial.blocked)),
            only(trial.answer),
            tuple(indexes(views.own)),
            seen,
            related.bit_count() - seen,
        )
        maker = self._maker(trial.width, trial.height)
        remade = maker.record(trial.index, made, meaning.form if meaning else maker.forms_of(made)[0], [*trial.cells])
        if meaning is None:
            del remade["instruction"], remade["template"], remade["no_director"]["instruction"]
        return remade


def _differences(record: Mapping[str, Any], remade: Mapping[str, Any], path: str = "") -> Iterator[TrialFault]:
    """Yield each field that is written otherwise than it follows from the others."""
    for key, right in remade.items():
        written = record.get(key, right)
        if isinstance(right, dict):
            yield from _differences(written, right, f"{key}.")
        elif written != right:
            by, code = ("the text", "O2") if key in SAID and not path else ("the others", "O3")
            yield (
                code,
                f"{path}{key}",
                f"written as {as_written(written, right)}, but {as_written(right, written)} follows from {by}",
            )


def _sample_faults(views: Views, sample: Mapping[str, Any]) -> Iterator[TrialFault]:
    """Yield the fields of a sample that contradict its question or its grid."""
    trial, given = views.trial, sample["answers"]["is_ambiguous"]
    speaker = trial.frame or (DIRECTOR if trial.rule in MIRRORED else None)
    written = {
        **sample,
        "answers": {"is_ambiguous": given, "participant_coordinates": trial.labels(trial.participant_answers)},
    }
    answers = {
        "is_ambiguous": trial.answer != trial.participant_answers,
        "participant_coordinates": trial.labels(views.own),
    }
    right = {
        "selection_rule_type": RULE_TYPES[trial.rule_class],
        "is_reversed": speaker == DIRECTOR,
        "answers": answers,
    }
    yield from _differences(written, right)
