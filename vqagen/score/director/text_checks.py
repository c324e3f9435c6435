"""Checks of a trial's texts and of the fields that follow from others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.score.director.case import Case
from vqagen.score.director.grammar import Grammar, Reading
from vqagen.score.director.relation_checks import on_ray
from vqagen.score.director.rules import CLASS_OF, CONTESTED, DIRECTOR, HORIZONTAL, RELATION
from vqagen.score.director.trial import COUNTS, Trial, TrialFault

FRAMED: Mapping[str, frozenset[str]] = {
    "directional": frozenset({HORIZONTAL, RELATION}),
    "always": frozenset(CLASS_OF.values()),
    "never": frozenset(),
}
"""Setting `suffix` -> the classes of rules whose texts say a frame."""


class TextChecks:
    """Checks of texts that a grammar reads."""

    def __init__(self, grammar: Grammar, settings: Mapping[str, Any]) -> None:
        """`settings` are those of the run that made the trials, as far as they are known."""
        self._grammar = grammar
        self._framed = FRAMED.get(str(settings.get("suffix")))

    def __call__(self, case: Case) -> Iterator[TrialFault]:
        """Yield the faults of a trial."""
        trial = case.trial
        reading = self._read(case, trial.instruction)
        if isinstance(reading, str):
            yield TrialFault("O2", "instruction", reading)
        else:
            yield from _instruction_faults(case, reading)
        if trial.twin_instruction is not None:
            twin = self._read(case, trial.twin_instruction)
            if isinstance(twin, str):
                yield TrialFault("twin", "no_director.instruction", twin)
            else:
                yield from _twin_faults(case, twin, None if isinstance(reading, str) else reading)
        yield from _derived_faults(case)
        if self._framed is not None and (trial.frame is not None) != (trial.rule_class in self._framed):
            yield TrialFault("O3", "frame", f"{trial.frame} does not suit the setting suffix and the rule {trial.rule}")

    def _read(self, case: Case, text: str) -> Reading | str:
        """Return the only meaning of a text, or why there is none."""
        if "_" in text:
            return f"an underscore in {text!r}"
        readings = self._grammar.readings(text, case.vocabulary)
        if len(readings) > 1:
            return f"{len(readings)} meanings of {text!r}"
        return readings[0] if readings else f"no template says {text!r} with the words of the catalogue"


def _instruction_faults(case: Case, reading: Reading) -> Iterator[TrialFault]:
    trial = case.trial
    spoken = trial.spoken_rule(trial.frame or DIRECTOR)
    yield from _differences(trial, reading, spoken, "O2", "")
    is_unsaid = trial.template is None and reading.frame is None  # samples do not say whether the text has a frame
    if reading.frame != trial.frame and not is_unsaid:
        yield TrialFault("O2", "frame", f"{trial.frame} is written, and the text says {reading.frame}")
    if trial.template is not None and reading.sentence.template != trial.template:
        yield TrialFault("O2", "template", f"the text is one of {reading.sentence.template}, not of {trial.template}")
    if not case.vocabulary.items:  # the reference has no order of adjectives that its files say
        return
    in_order = sorted(reading.adjectives, key=case.vocabulary.rank.__getitem__)
    if list(reading.adjectives) != in_order or list(trial.adjectives) != in_order or len(set(in_order)) < len(in_order):
        message = f"adjectives in another order than {' '.join(dict.fromkeys(in_order))}: {trial.instruction!r}"
        yield TrialFault("O2", "instruction", message)


def _twin_faults(case: Case, twin: Reading, reading: Reading | None) -> Iterator[TrialFault]:
    trial = case.trial
    yield from _differences(trial, twin, trial.rule, "twin", "no_director.instruction")
    if twin.frame is not None:
        yield TrialFault("twin", "no_director.instruction", f"{twin.frame} is said, where there is no director")
    if reading is not None and (twin.sentence, twin.way) != (reading.sentence, reading.way):
        yield TrialFault("twin", "no_director.instruction", "worded otherwise than the instruction")
    if trial.twin_answers != case.own:
        written, right = trial.labels(trial.twin_answers or 0), trial.labels(case.own)
        yield TrialFault("twin", "no_director.answers", f"written as {written}, but right are {right}")


def _differences(trial: Trial, reading: Reading, rule: str, code: str, place: str) -> Iterator[TrialFault]:
    """Yield what a text says otherwise than the fields of its trial, in which it should say `rule`."""
    said = {"rule": reading.rule, "noun": reading.noun, "adjectives": " ".join(sorted(reading.adjectives))}
    wanted = {"rule": rule, "noun": trial.noun, "adjectives": " ".join(sorted(trial.adjectives))}
    for key, value in said.items():
        if value != wanted[key]:
            yield TrialFault(code, place or key, f"the text says {value or 'nothing'}, and should say {wanted[key]}")


def _derived_faults(case: Case) -> Iterator[TrialFault]:
    """Yield the fields that contradict those that they follow from."""
    trial, rule_class = case.trial, CLASS_OF[case.trial.rule]
    if trial.rule_class != rule_class:
        yield TrialFault("O3", "rule_class", f"{trial.rule} is of the class {rule_class}, not {trial.rule_class}")
    is_physics = not case.vocabulary.physics.isdisjoint(trial.adjectives)
    if trial.is_physics != is_physics:
        yield TrialFault("O3", "is_physics", f"should be {'true' if is_physics else 'false'} by the adjectives")
    if trial.is_contested not in (None, trial.group == CONTESTED):
        yield TrialFault("O3", "is_contested", f"should be {str(not trial.is_contested).lower()} by type and frame")
    if trial.counts is not None:
        related = on_ray(case) if rule_class == RELATION else case.fitting
        sets = (case.views.participant.everything, trial.blocked, related & ~trial.blocked, related & trial.blocked)
        for key, cells in zip(COUNTS, sets, strict=True):
            if trial.counts[key] != cells.bit_count():
                message = f"written as {trial.counts[key]}, but there are {cells.bit_count()}"
                yield TrialFault("O3", f"counts.{key}", message)
