"""The audit of one file: probes, associations, repetition and the shares of answers, each with a verdict."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, log2
from typing import Any

import numpy as np

from vqagen.errors import counted
from vqagen.score.gold.census import evenness
from vqagen.score.intervals import holm
from vqagen.shortcuts.audit.associations import Association, associations
from vqagen.shortcuts.audit.folds import Folds, make_folds
from vqagen.shortcuts.audit.inputs import AuditInputs
from vqagen.shortcuts.audit.items import AuditFile
from vqagen.shortcuts.audit.option_probes import option_probes, trial_probes, visible_scores
from vqagen.shortcuts.audit.probe import Probe, open_chance, option_chance
from vqagen.shortcuts.audit.repetition import Repetition, repetition
from vqagen.shortcuts.audit.settings import AuditSettings
from vqagen.shortcuts.audit.significance import ChanceDifference, Floats, difference
from vqagen.shortcuts.audit.text_probes import text_probes

ONE_WINDOW = (
    "answers are balanced as one whole, so guesses learned from a part of them may be below chance; "
    "a file with four balance windows or more shows the true figures"
)
MAX_ASSOCIATION = 0.1
"""Highest association (Cramér's V) of answers with words, places and indexes."""
PASSES, FAILS, BELOW = "passes", "FAILS", "below chance"
"""Verdicts. Guesses that are certainly below chance fail no file, and are noted."""
EXECUTED = {"wrong image": "the program, run on other scenes", "scene-blind": "the program, run on imagined scenes"}
"""Probes that run programs -> meaning."""


@dataclass(frozen=True)
class ProbeResult:
    """What a probe found."""

    probe: Probe
    items: int
    accuracy: float
    chance: float
    difference: ChanceDifference
    p: float
    """The p-value, adjusted for the number of tests (Holm)."""
    verdict: str
    families: Mapping[str, tuple[int, float, float]]
    """Family -> (items, accuracy, chance)."""

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "meaning": self.probe.meaning,
            "items": self.items,
            "accuracy": round(self.accuracy, 4),
            "chance": round(self.chance, 4),
            "difference": round(self.difference.mean, 4),
            "interval": [round(self.difference.low, 4), round(self.difference.high, 4)],
            "p": _significant(self.difference.p),
            "p_holm": _significant(self.p),
            "verdict": self.verdict,
            "families": {
                name: {"items": n, "accuracy": round(accuracy, 4), "chance": round(chance, 4)}
                for name, (n, accuracy, chance) in sorted(self.families.items())
            },
        }


@dataclass(frozen=True)
class AssociationResult:
    """What an association amounts to."""

    association: Association
    p: float
    """The p-value, adjusted for the number of tests (Holm)."""
    verdict: str
    """"" if the association is no shortcut, and only shown."""

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        found = self.association
        record = {"bits": round(found.bits, 5), "v": round(found.v, 4), "p": _significant(found.p)}
        return record | {"p_holm": _significant(self.p), "detail": found.detail, "verdict": self.verdict}


@dataclass
class Audit:
    """The result of an audit."""

    file: AuditFile
    inputs: AuditInputs
    settings: AuditSettings
    answers: dict[str, Counter[str]]
    """Family -> answer -> items."""
    probes: list[ProbeResult] = field(default_factory=list)
    associations: list[AssociationResult] = field(default_factory=list)
    repetition: Repetition = field(default_factory=Repetition)
    notes: list[str] = field(default_factory=list)
    bias: Floats = field(default_factory=lambda: np.zeros(0))
    """Item -> mean difference of its probes' scores from chance."""

    @property
    def top_shares(self) -> dict[str, float]:
        """Return family -> the share of its most frequent answer."""
        return {name: max(counts.values()) / counts.total() for name, counts in self.answers.items()}

    @property
    def mean_top_share(self) -> float:
        """Return the share of items whose answer is the most frequent one of their family."""
        return sum(max(counts.values()) for counts in self.answers.values()) / len(self.file.items)

    @property
    def family_bits(self) -> dict[str, tuple[float, float]]:
        """Return family -> the entropy of its answers in bits, and the highest there could be."""
        highest = {name: log2(len(counts)) for name, counts in self.answers.items()}
        return {name: (evenness(self.answers[name]) * most, most) for name, most in highest.items()}

    @property
    def answer_bits(self) -> tuple[float, float]:
        """Return the means over items of the `family_bits`."""
        shares = {name: counts.total() / len(self.file.items) for name, counts in self.answers.items()}
        bits = self.family_bits
        found, most = (sum(bits[name][side] * share for name, share in shares.items()) for side in (0, 1))
        return found, most

    def failures(self) -> Iterator[str]:
        """Yield a sentence for each reason to fail."""
        for each in self.probes:
            if each.verdict == FAILS:
                yield f"{each.probe.name}: {each.accuracy:.3f} right without looking, by chance {each.chance:.3f}"
        for found in self.associations:
            if found.verdict == FAILS:
                about = f" ({found.association.detail})" if found.association.detail else ""
                yield f"{found.association.name}{about}: associated with the answer, V {found.association.v:.2f}"
        found_again, most = self.repetition, self.settings.max_repeated
        if found_again.repeated_share > most:
            yield f"duplicate scenes: {found_again.repeated_scenes:,} of {found_again.scenes:,}"
        if found_again.overlap > most:
            shared = f"{found_again.same_program_and_scene:,} of {counted(found_again.questions, 'item')}"
            yield f"training overlap: {shared} have program and scene in the training file"

    @property
    def passes(self) -> bool:
        """True if there is no reason to fail."""
        return not any(self.failures())

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        bits, most = self.answer_bits
        return {
            "file": self.file.name,
            "kind": self.file.kind,
            "items": len(self.file.items),
            "unanswered": self.file.unanswered,
            "passes": self.passes,
            "failures": list(self.failures()),
            "settings": self.settings.to_record(),
            "answers": {
                "bits": round(bits, 4),
                "highest_bits": round(most, 4),
                "families": {
                    name: {
                        "items": counts.total(),
                        "bits": round(self.family_bits[name][0], 4),
                        "highest_bits": round(self.family_bits[name][1], 4),
                        "top_share": round(max(counts.values()) / counts.total(), 4),
                    }
                    for name, counts in sorted(self.answers.items())
                },
            },
            "probes": {each.probe.name: each.to_record() for each in self.probes},
            "associations": {each.association.name: each.to_record() for each in self.associations},
            "repetition": vars(self.repetition),
            "notes": self.notes,
        }

    def item_records(self) -> Iterator[dict[str, Any]]:
        """Yield the bias of each item, and the probability with which each probe is right about it."""
        for place, item in enumerate(self.file.items):
            scores = {each.probe.name: float(each.probe.scores[place]) for each in self.probes}
            yield {
                "id": item.name,
                "record": item.record,
                "bias": round(float(self.bias[place]), 4),
                "probes": {name: None if isnan(score) else round(score, 4) for name, score in scores.items()},
            }


def audit_items(file: AuditFile, inputs: AuditInputs, settings: AuditSettings) -> Audit:
    """Return the audit of items that have been read."""
    answers: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in file.items:
        answers[item.clue.family][item.clue.answer] += 1
    result = Audit(file, inputs, settings, dict(answers), notes=list(file.notes))
    result.repetition = repetition(file, inputs.scenes, inputs.train, inputs.train_has_scenes)
    found = list(associations(file, inputs.sizes(file)))
    folds = make_folds(file)
    probes: list[Probe] = []
    chance = np.zeros(len(file.items))
    if folds is None:
        result.notes.append("one image only: nothing to test guesses on")
    else:
        if not folds.is_apart:
            result.notes.append(ONE_WINDOW)
        chance = option_chance(file) if file.has_options else open_chance(file, folds)
        probes = list(_probes(file, inputs, folds))
        _judge(result, probes, found, chance, folds)
    return result


def _probes(file: AuditFile, inputs: AuditInputs, folds: Folds) -> Iterator[Probe]:
    if file.kind == "trials":
        yield from trial_probes(file, folds)
        return
    if file.has_options:
        yield from option_probes(file, folds)
        if inputs.scenes is not None:
            yield Probe("visible option", "an option that the scene shows", visible_scores(file.items, inputs.scenes))
    else:
        yield from text_probes(file, folds)
    records = [item.record for item in file.items]
    for name, scores in inputs.executed.items():
        yield Probe(name, EXECUTED[name], scores[records])


def _judge(result: Audit, probes: Sequence[Probe], found: Sequence[Association], chance: Floats, folds: Folds) -> None:
    """Fill in the probes, associations and biases; all tests are corrected together for their number."""
    settings = result.settings
    concerned = [~np.isnan(probe.scores) for probe in probes]
    differences = [
        difference(probe.scores[own], chance[own], folds.clusters[own])
        for probe, own in zip(probes, concerned, strict=True)
    ]
    tested = [each for each in found if each.is_tested]
    adjusted = holm([*(each.p for each in differences), *(each.p for each in tested)])
    for probe, own, apart, p in zip(probes, concerned, differences, adjusted, strict=False):
        result.probes.append(
            ProbeResult(
                probe,
                int(own.sum()),
                float(probe.scores[own].mean()),
                float(chance[own].mean()),
                apart,
                p,
                _verdict(apart, p, settings),
                _by_family(result.file, probe, chance, own),
            )
        )
    of_tested = dict(zip((each.name for each in tested), adjusted[len(probes) :], strict=True))
    for each in found:
        p = of_tested.get(each.name, each.p)
        is_over = p < settings.alpha and each.v > MAX_ASSOCIATION
        verdict = (FAILS if is_over else PASSES) if each.is_tested else ""
        result.associations.append(AssociationResult(each, p, verdict))
    if probes:
        scores = np.stack(
            [np.where(own, probe.scores - chance, 0.0) for probe, own in zip(probes, concerned, strict=True)]
        )
        result.bias = scores.mean(axis=0)


def _verdict(found: ChanceDifference, p: float, settings: AuditSettings) -> str:
    if p >= settings.alpha:
        return PASSES
    if found.low > settings.tolerance:
        return FAILS
    return BELOW if found.high < -settings.tolerance else PASSES


def _by_family(file: AuditFile, probe: Probe, chance: Floats, own: Any) -> dict[str, tuple[int, float, float]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place in np.flatnonzero(own):
        places[file.items[place].clue.family].append(int(place))
    return {
        family: (len(each), float(probe.scores[each].mean()), float(chance[each].mean()))
        for family, each in places.items()
    }


def _significant(p: float) -> float:
    return float(f"{p:.3g}")
