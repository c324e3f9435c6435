"""The audit of a file: what predicts its answers better than chance without looking, and what is in it twice.

Each predictor of `shortcuts.predictors` that tells anything of the file is a probe. All tests are corrected together,
so that a file without shortcuts fails with a chance of `alpha` at most. Two-sided: guesses below chance are a sign of
folds that betray each other, or of answers that are balanced too well. What reads right answers about the same image,
which no model has, is shown and fails no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, log2
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.items.builder import ONE_WHOLE, window_of
from vqagen.items.groups import answered, counts_within, entropy, families_of
from vqagen.items.table import NONE, Items
from vqagen.language.domain_files import PathLike
from vqagen.report.table import Report, Reported
from vqagen.score.items import Source, find_items, read_items
from vqagen.shortcuts.predictors import CHOOSING, Predictor, applicable, known, trial_predictors
from vqagen.shortcuts.probes import BELOW, FAILS, INCONCLUSIVE, PASSES, Probe, chance_of, effect_sought, probe
from vqagen.shortcuts.scenes import Repetition, read_scene_facts, repetition, visible_options
from vqagen.shortcuts.settings import AuditSettings
from vqagen.shortcuts.task import NOT_TESTED, Floats, Task, make_folds
from vqagen.tasks.record_files import task_of
from vqagen.world.loading import find_scenes

PRIORS = ("uniform", "majority-all", "majority", "majority-family", "random-option")
"""Predictors that know how often answers occur and nothing else: what chance is compared with."""
ONE_WINDOW = (
    "answers are balanced as one whole, so guesses learned from a part of them may be below chance; "
    "a file with several balance windows shows the true figures"
)
BELOW_IN_ONE = "guesses fall below chance, as answers are balanced as one whole: needs "


class FamilyAnswers(NamedTuple):
    """How evenly the items of a family are answered."""

    items: int
    bits: float
    """The entropy of the answers."""
    highest_bits: float
    """The highest entropy there could be."""
    top_answer: str
    top_share: float


@dataclass(frozen=True, repr=False)
class Audit(Reported):
    """The result of an audit."""

    items: Items
    settings: AuditSettings
    answers: Mapping[str, FamilyAnswers]
    """Family -> its answers."""
    probes: Sequence[Probe] = ()
    repetition: Repetition = field(default_factory=Repetition)
    notes: Sequence[str] = ()
    chance: Floats = field(default_factory=lambda: np.zeros(0))
    """Of each item."""
    unanswered: int = 0
    """Items without an answer, which are left out."""
    untested: str = ""
    """Why guesses could not be tested; "" if they were."""

    def mean(self, name: str) -> float:
        """Return the mean of a field of FamilyAnswers over items."""
        own: list[tuple[float, int]] = [(getattr(each, name), each.items) for each in self.answers.values()]
        return sum(value * items for value, items in own) / len(self.items)

    def failures(self) -> Iterator[str]:
        """Yield a sentence for each reason to fail."""
        for each in self.probes:
            if each.verdict == FAILS:
                yield f"{each.name}: {each.accuracy:.3f} right without looking, by chance {each.chance:.3f}"
        again, most = self.repetition, self.settings.max_repeated
        if again.repeated_share > most:
            yield f"duplicate scenes: {again.repeated_scenes:,} of {again.scenes:,}"
        if again.overlap > most:
            shared = f"{again.same_program_and_scene:,} of {counted(again.questions, 'item')}"
            yield f"training overlap: {shared} have program and scene in the training file"

    def doubts(self) -> Iterator[str]:
        """Yield a sentence for each reason for which a file without a reason to fail does not pass."""
        if self.untested:
            yield f"{NOT_TESTED}: {self.untested}"
        if any(self.failures()):
            return
        unsure = [each for each in self.probes if each.verdict in (INCONCLUSIVE, BELOW)]
        if found := [each for each in unsure if each.images[0] < each.images[1]]:
            scarcest = max(found, key=lambda each: each.images[1] / each.images[0])
            number, needed = scarcest.images
            of_all = ceil(needed * len(np.unique(self.items.images.codes)) / number)
            few = f"too few images to find guesses {effect_sought(self.settings):g} above chance"
            yield f"{INCONCLUSIVE}: {few}: needs about {_about(of_all):,} images ({scarcest.name})"
        if ONE_WINDOW in self.notes and any(each.verdict == BELOW for each in self.probes):
            window = window_of(self.items.info)
            more = f"two balance windows, about {2 * window:,} images" if window < ONE_WHOLE else "smaller windows"
            yield f"{INCONCLUSIVE}: {BELOW_IN_ONE}{more}"

    @property
    def verdict(self) -> str:
        """Whether the file passes, fails, is tested on too little (inconclusive) or was not tested."""
        if any(self.failures()):
            return FAILS
        doubt = next(self.doubts(), PASSES)
        return doubt.partition(":")[0]

    @property
    def passes(self) -> bool:
        """True if there is no reason to fail, and enough was tested to find one."""
        return self.verdict == PASSES

    @property
    def conclusion(self) -> str:
        """The verdict with its reasons."""
        if failures := list(self.failures()):
            return f"{FAILS}: {'; '.join(failures)}"
        return next(self.doubts(), f"{PASSES}: no shortcut found")

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        named = ((name, each._asdict()) for name, each in sorted(self.answers.items()))
        families = {name: {k: round(v, 4) for k, v in own.items() if k != "top_answer"} for name, own in named}
        return {
            "file": self.items.name,
            "kind": self.items.kind,
            "items": len(self.items),
            "unanswered": self.unanswered,
            "verdict": self.verdict.lower(),
            "passes": self.passes,
            "failures": list(self.failures()),
            "doubts": list(self.doubts()),
            "settings": self.settings.to_record(),
            "answers": {**{key: round(self.mean(key), 4) for key in ("bits", "highest_bits")}, "families": families},
            "probes": {each.name: each.to_record() for each in self.probes},
            "repetition": vars(self.repetition),
            "notes": list(self.notes),
        }

    def report(self) -> Report:
        """Return the report."""
        from vqagen.shortcuts.audit_report import audit_report

        return audit_report(self)


def audit_items(
    items: Items,
    settings: AuditSettings,
    found: Repetition,
    more: Sequence[Predictor] = (),
    notes: Sequence[str] = (),
    unanswered: int = 0,
) -> Audit:
    """Return the audit of items, all of which have answers.

    `more` are predictors besides those of the list; `unanswered` is the number of items that were left out.
    """
    folds, answers = make_folds(items), dict[str, FamilyAnswers]()
    for name, counts in counts_within(families_of(items), items.answers).items():
        (top, number), total = next(iter(counts.items())), sum(counts.values())
        answers[name] = FamilyAnswers(total, entropy(counts), log2(len(counts)), top, number / total)
    if untested := folds.fault(items):
        return Audit(items, settings, answers, (), found, notes, np.zeros(len(items)), unanswered, untested)
    task = Task.within(items, folds=folds)
    chance = chance_of(task)
    probes = probe([*probing(items), *more], chance, task, folds, settings)
    own = notes if folds.is_apart else [*notes, ONE_WINDOW]
    return Audit(items, settings, answers, probes, found, own, chance, unanswered)


def probing(items: Items) -> Iterator[Predictor]:
    """Yield the predictors that may know more than chance.

    Where all items have options, those that read the text alone are left to `question-and-choices`. Of trials, the
    options are cells, of which the instruction picks one: it is not read. Who answers a dialog does not see the others
    about its image.
    """
    has_options = not (items.options.codes == NONE).any()
    skipped = {*PRIORS, "others"} if items.kind == "dialogs" else PRIORS
    for each in applicable(items):
        if each.name not in skipped and (not has_options or each.needs in CHOOSING or each.name == "order"):
            yield each


def _about(number: int) -> int:
    """Return a number rounded up to two digits.

    >>> _about(1234), _about(7)
    (1300, 7)
    """
    unit = int(10 ** max(0, len(str(number)) - 2))
    return ceil(number / unit) * unit


def audit(
    file: Source,
    *,
    scenes: PathLike | None = None,
    train: Source | None = None,
    train_scenes: PathLike | None = None,
    settings: AuditSettings | None = None,
    on_read: Callable[[int], None] | None = None,
    image_key: str = "",
) -> Audit:
    """Return what lets a model answer questions, dialogs or trials without looking; a file, or records in memory.

    `scenes` are those of the file, and `train` is the file that models are trained on, with its `train_scenes`.
    `audit(...).passes` is true if nothing exceeds the thresholds of the `settings`, and the file is large enough to
    show it; `.verdict` is also "inconclusive" or "not tested". Needs the extra `stats`. `on_read` is called with the
    number of records read since, for a progress bar. `image_key` is the key of a record's image, by default one that is
    known.
    """
    if train is None and train_scenes is not None:
        raise UsageError("--train-scenes are the scenes of --train, which is missing")
    if not isinstance(file, str | Path | Mapping):
        file = list(file)  # trials are read twice
    items = _read(file, scenes, on_read, image_key)
    trained = None if train is None else _read(train, train_scenes, on_read, image_key)
    if trained is not None and trained.kind != items.kind:
        raise UsageError(f"--train {trained.name} holds {trained.kind}, but {items.name} holds {items.kind}")
    facts, others = (None if each is None else read_scene_facts(find_scenes(each)) for each in (scenes, train_scenes))
    again = repetition(items, facts, trained, others)
    chosen = settings or AuditSettings()
    own = answered(items)
    more = list[Predictor]()
    notes: Sequence[str] = ()
    if items.kind == "trials":
        source = find_items(file)
        clues, notes = task_of(source.kind).option_clues(source)
        has_options = np.flatnonzero(own.options.codes != NONE)
        own = own.take(has_options)
        more += trial_predictors([clues[place] for place in has_options.tolist()])
    elif facts is not None and own.options.values:
        more.append(known("visible-option", "an option that the scene shows", visible_options(own, facts)))
    return audit_items(own, chosen, again, more, notes, len(items) - len(own))


def _read(file: Source, scenes: PathLike | None, on_read: Callable[[int], None] | None, image_key: str) -> Items:
    """Return the items of a file. BadInput if none has an answer."""
    items = read_items(file, scenes=scenes, learning=True, allow_unanswered=True, on_read=on_read, image_key=image_key)
    if len(items) == items.unanswered:
        message = "no answers in the file: there is nothing to audit" if len(items) else f"no {items.kind}"
        raise BadInput([Problem(message, items.name)])
    return items
