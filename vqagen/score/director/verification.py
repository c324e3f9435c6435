"""Verification of trials: each is judged from its grid and its text alone, and its other fields are compared with that.

Trials are read as a stream; a digest of each question is kept, to find repeated ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vqagen.errors import counted
from vqagen.files.locations import Location
from vqagen.files.reading import content_hash
from vqagen.score.director.answer_checks import ANSWER_CHECKS
from vqagen.score.director.case import Case, Found, case_of
from vqagen.score.director.codes import LOOSE
from vqagen.score.director.design import WINDOW, DesignCheck
from vqagen.score.director.grammar import Grammar, instruction_files, load_grammar
from vqagen.score.director.numbers import NumberCheck
from vqagen.score.director.pairs import PairCheck
from vqagen.score.director.pictures import PictureCheck
from vqagen.score.director.reading import Read, TrialReading
from vqagen.score.director.relation_checks import RELATION_CHECKS
from vqagen.score.director.repetition import QuestionsSeen, TypeDifferences
from vqagen.score.director.report import Finding, TrialVerificationReport
from vqagen.score.director.samples import reference_grammar
from vqagen.score.director.text_checks import TextChecks
from vqagen.score.director.trial import TrialFault
from vqagen.score.director.trial_files import find_trials
from vqagen.score.origin import check_origin

BATCH = 1000
"""Trials between two calls for the progress bar."""
REFERENCE = "reference"
"""The setting `compat` of trials that may break `LOOSE` rules."""


class TrialVerification:
    """Verifies the trials of one file, in their order."""

    def __init__(
        self,
        read: Read,
        grammar: Grammar,
        settings: Mapping[str, Any],
        window: int = WINDOW,
        folder: Path | None = None,
    ) -> None:
        """`settings` are those of the run that made the file, as far as they are known; `folder` has its pictures."""
        self.report = TrialVerificationReport()
        self._read = read
        self._is_strict = settings.get("compat") != REFERENCE
        self._settings = settings
        self._last: int | None = None
        """The number of the trial before."""
        self._texts = TextChecks(grammar, settings)
        self._numbers = NumberCheck(settings, self._is_strict)
        self._design = DesignCheck(settings, window)
        self._pairs = PairCheck(settings)
        self._questions = QuestionsSeen(window)
        self._pictures = PictureCheck(folder, settings)
        self._differences = TypeDifferences()

    def take(self, record: Mapping[str, Any]) -> None:
        """Verify a record."""
        found = self._read(record)
        self.report.trials += 1
        if isinstance(found, Found):
            number, faults = found.trial.index, [*self._faults(found)]
        else:
            number, faults = self._next, found
        findings = [self._finding(fault, number) for fault in faults]
        self._last = number
        for finding in findings:
            self.report.add(finding)
        self.report.faulty += any(not finding.is_note for finding in findings)

    def finish(self) -> TrialVerificationReport:
        """Return the report, with what is wrong with all trials together."""
        for message in self._number_faults():
            self.report.add(Finding("O1", None, "", message))
        for message in self._design.faults:
            self.report.add(Finding("O14", None, "", message))
        for difference in self._differences.sentences() if self._is_strict else ():
            self.report.add(Finding("O15", None, "", difference, is_note=True))
        return self.report

    @property
    def _next(self) -> int:
        """The number of the next trial, if none is missing."""
        return int(self._settings.get("start_index") or 0) if self._last is None else self._last + 1

    def _finding(self, fault: TrialFault, number: int) -> Finding:
        is_note = fault.is_note or (fault.code in LOOSE and not self._is_strict)
        return Finding(fault.code, number, fault.place, fault.message, is_note)

    def _number_faults(self) -> Iterator[str]:
        count, start = self._settings.get("count"), self._settings.get("start_index", 0)
        if count is not None and self._last is not None and (self.report.trials, self._next) != (count, start + count):
            found = f"{counted(self.report.trials, 'trial')}, the last with number {self._last}"
            yield f"{found}; the settings ask for {start} to {start + count - 1}"

    def _faults(self, found: Found) -> Iterator[TrialFault]:
        number = found.trial.index
        if self._last is not None and number <= self._last:
            yield TrialFault("O1", "trial_index", f"{number} after {self._last}: numbers must grow")
        yield from self._judged(case_of(found))
        yield from self._pictures.take(found.trial)

    def _judged(self, case: Case) -> Iterator[TrialFault]:
        trial = case.trial
        yield from self._texts(case)
        for check in (*ANSWER_CHECKS, *RELATION_CHECKS):
            yield from check(case)
        yield from self._numbers.take(case)
        yield from self._pairs.take(case)
        self._design.take(trial)
        self._differences.take(case)
        earlier = self._questions.earlier(trial)
        if earlier is not None:
            first, is_near = earlier
            yield TrialFault("O15", "", f"the question and grid of trial {first}", is_note=not is_near)


def verify_trials(
    path: Location, templates: Path | str | None = None, on_checked: Callable[[int], None] = lambda _: None
) -> TrialVerificationReport:
    """Verify every trial of a folder or file; `on_checked` is called now and then with the number checked since.

    Texts are those of `templates`, by default the shipped ones.
    """
    reading = TrialReading(find_trials(path))
    file = reading.file
    check_origin(file.source, {"templates": lambda: content_hash(instruction_files(templates))})
    folder = file.folder if isinstance(file.folder, Path) else None
    window = WINDOW if file.window is None else file.window
    grammar = reference_grammar() if reading.is_foreign else load_grammar(templates)
    verification = TrialVerification(reading.read, grammar, reading.settings, window, folder)
    since = 0
    for record in reading.records():
        verification.take(record)
        since += 1
        if since == BATCH:
            on_checked(since)
            since = 0
    on_checked(since)
    report = verification.finish()
    for fault in reading.faults():
        report.add(Finding(fault.code, None, fault.place, fault.message))
    report.remarks += reading.remarks
    return report
