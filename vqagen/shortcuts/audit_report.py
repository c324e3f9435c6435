"""An audit: what predicts the answers of a file better than chance, its verdict, and the reports of one or several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.items.builder import ONE_WHOLE, window_of
from vqagen.items.folds import NOT_TESTED
from vqagen.items.groups import counts_of
from vqagen.items.table import Items
from vqagen.report.table import (
    COUNT,
    DECIMAL,
    NUMBER,
    SHARE,
    TEXT,
    Cell,
    Column,
    Gate,
    Report,
    Reported,
    Table,
    columns,
    nonempty,
)
from vqagen.shortcuts.predictors import ASKED
from vqagen.shortcuts.probes import (
    BELOW,
    FAILS,
    INCONCLUSIVE,
    PASSES,
    SHOWN,
    Probe,
    Ruling,
    effect_sought,
    rulings,
)
from vqagen.shortcuts.settings import AuditSettings

SHOWN_FAMILIES = 5
"""Families that are shown for each probe that fails; the table of families has all."""
LEAST_ITEMS = 30
"""Items that a family needs in order to be shown."""
_MARKS = {FAILS: "!", INCONCLUSIVE: "?"}
_NOUNS = {"questions": "question", "dialogs": "round", "trials": "trial"}
ONE_WINDOW = (
    "answers are balanced as one whole, so guesses learned from a part of them may be below chance; "
    "a file with several balance windows shows the true figures"
)


class AnswerSpread(NamedTuple):
    """How evenly the items of a family are answered."""

    items: int
    bits: float
    """The entropy of the answers."""
    highest_bits: float
    """The highest entropy there could be."""
    top_answer: str
    top_share: float


@dataclass(frozen=True)
class Repetition:
    """How often an audit found the same again."""

    scenes: int = 0
    """Scenes that are asked about, if scenes were given; else 0."""
    repeated_scenes: int = 0
    """Scenes of those that repeat an earlier one."""
    questions: int = 0
    """Questions that were compared with a training file; 0 without one."""
    same_text: int = 0
    same_program: int = 0
    same_program_and_scene: int = 0
    same_scene: int = 0
    """Questions about a scene of the training file."""

    @property
    def overlap(self) -> float:
        """The share of questions whose program and scene are in the training file."""
        return self.same_program_and_scene / self.questions if self.questions else 0.0


@dataclass(frozen=True, repr=False)
class Audit(Reported):
    """The result of an audit."""

    items: Items
    settings: AuditSettings
    answers: Mapping[str, AnswerSpread]
    """Family -> its answers."""
    probes: Sequence[Probe] = ()
    repetition: Repetition = field(default_factory=Repetition)
    notes: Sequence[str] = ()
    unanswered: int = 0
    """Items without an answer, which are left out."""
    untested: str = ""
    """Why guesses could not be tested; "" if they were."""

    @property
    def counted(self) -> str:
        """How many items were tested, in words."""
        return counted(len(self.items), _NOUNS[self.items.kind])

    def mean(self, name: str) -> float:
        """Return the mean of a field of AnswerSpread over items."""
        return sum(float(getattr(own, name)) * own.items for own in self.answers.values()) / len(self.items)

    def failures(self) -> Iterator[str]:
        """Yield a sentence for each reason to fail."""
        for probe in self.probes:
            if probe.verdict == FAILS:
                yield f"{probe.name}: {probe.accuracy:.3f} right without looking, by chance {probe.chance:.3f}"
        again, most = self.repetition, self.settings.max_repeated
        if again.repeated_scenes > most * again.scenes:
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
        unsure = [probe for probe in self.probes if probe.verdict in (INCONCLUSIVE, BELOW)]
        if found := [probe for probe in unsure if probe.items < probe.needed]:
            scarcest = max(found, key=lambda probe: probe.needed / probe.items)
            of_all = _about(ceil(len(self.items) * scarcest.needed / scarcest.items))
            yield (
                f"{INCONCLUSIVE}: {self.counted} are too few to find guesses {effect_sought(self.settings):g} above"
                f" chance: needs about {of_all:,} ({scarcest.name})"
            )
        if ONE_WINDOW in self.notes and any(probe.verdict == BELOW for probe in self.probes):
            window = window_of(self.items.info)
            more = f"two balance windows, about {2 * window:,} images" if window < ONE_WHOLE else "smaller windows"
            yield f"{INCONCLUSIVE}: guesses fall below chance, as answers are balanced as one whole: needs {more}"

    @property
    def verdict(self) -> str:
        """Whether the file passes, fails, is tested on too little (inconclusive) or was not tested."""
        return self.conclusion.partition(":")[0]

    @property
    def passes(self) -> bool:
        """True if there is no reason to fail, and enough was tested to find one."""
        return self.verdict == PASSES

    @property
    def conclusion(self) -> str:
        """The verdict with its reasons."""
        if failures := list(self.failures()):
            return f"{FAILS}: {'; '.join(failures)}"
        nothing = f"{PASSES}: nothing above {effect_sought(self.settings):g} found with {self.counted}"
        return next(self.doubts(), nothing)

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        named = ((name, spread._asdict()) for name, spread in sorted(self.answers.items()))
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
            "asked": {
                found.asks: {"verdict": found.verdict.lower(), "probe": found.best.name, "items_needed": found.needed}
                for found in rulings(self.probes)
            },
            "probes": {probe.name: probe.to_record() for probe in self.probes},
            "repetition": vars(self.repetition),
            "notes": list(self.notes),
        }

    def report(self) -> Report:
        """Return the report."""
        failures = list(self.failures())
        verdict = f"{FAILS} for {counted(len(failures), 'reason')}" if failures else self.conclusion
        return Report(
            f"Audit of {self.items.name}",
            (*_overview(self), *(f"note: {note}" for note in self.notes), verdict),
            nonempty([_asked(self), _best_families(self), _probes(self), _families(self)]),
            self.to_record(),
            (
                *(Gate(failure, f"{FAILS}: {failure}") for failure in failures),
                *(Gate(doubt, doubt) for doubt in self.doubts()),
            ),
        )


# One file ---------------------------------------------------------------------------------------------------------


def _about(number: int) -> int:
    """Return a number rounded up to two digits.

    >>> _about(1234), _about(7)
    (1300, 7)
    """
    unit = int(10 ** max(0, len(str(number)) - 2))
    return ceil(number / unit) * unit


def _overview(audit: Audit) -> list[str]:
    """Return what was audited; then, indented, the shares of its answers and its repetition."""
    found = audit.repetition
    about = "" if audit.items.kind == "trials" else f" about {counted(len(counts_of(audit.items.images)), 'image')}"
    families = "1 family" if len(audit.answers) == 1 else f"{len(audit.answers):,} families"
    left_out = f" ({audit.unanswered:,} without an answer left out)" if audit.unanswered else ""
    bits, most, top = (audit.mean(name) for name in ("bits", "highest_bits", "top_share"))
    worst, share = max(((name, spread.top_share) for name, spread in audit.answers.items()), key=lambda row: row[::-1])
    of_worst = f" in the mean; most: {share:.2f} of {worst}" if len(audit.answers) > 1 else ""
    overlaps = {
        "text in the training file": found.same_text,
        "program in it": found.same_program,
        "scene in it": found.same_scene,
        "program and scene in it": found.same_program_and_scene,
    }
    return [
        f"{audit.counted}{about}, {families}{left_out}",
        f"  entropy of a family's answers  {bits:.2f} of {most:.2f} bits in the mean",
        f"  top answer of a family         {top:.2f}{of_worst}",
        *([f"  {'duplicate scenes':29}  {found.repeated_scenes:,} of {found.scenes:,}"] if found.scenes else []),
        *(
            f"  {name:29}  {count:,} of {found.questions:,} ({count / found.questions:.1%})"
            for name, count in overlaps.items()
            if found.questions
        ),
    ]


_FIGURES = columns(items=COUNT, accuracy=SHARE, chance=SHARE, effect=SHARE, low=SHARE, high=SHARE, p=NUMBER)
_LEGEND = "effect: accuracy above chance; low and high: its bounds, 95 %, none of too few images; p by Holm"


def _figures(probe: Probe) -> tuple[Cell, ...]:
    low, high = (None, None) if probe.low == -1 else (probe.low, probe.high)
    return probe.items, probe.accuracy, probe.chance, probe.mean, low, high, probe.p_holm


def _asked(audit: Audit) -> Table:
    """Return a row for each thing that is asked, with the predictor that decides it."""
    rows, notes = list[tuple[Cell, ...]](), [_LEGEND]
    for asks, verdict, best, needed in rulings(audit.probes):
        if verdict == INCONCLUSIVE:
            verdict += f", needs {_about(needed):,}"
        if verdict == SHOWN:
            notes.append(f"{SHOWN}: told by other questions about the image; ask one at a time. It fails no file")
        rows.append((asks, verdict, best.name, *_figures(best)))
    return Table(
        "asked",
        "Answered without looking",
        (*columns(asked=TEXT, verdict=TEXT, best=TEXT), *_FIGURES),
        tuple(rows),
        tuple(notes),
    )


def _probes(audit: Audit) -> Table:
    rows = tuple((probe.name, probe.verdict, probe.asks, probe.meaning, *_figures(probe)) for probe in audit.probes)
    heads = (*columns(probe=TEXT, verdict=TEXT, asked=TEXT, guess=TEXT), *_FIGURES)
    return Table("probes", "Each predictor", heads, rows, (_LEGEND,), is_detail=True)


def _best_families(audit: Audit) -> Table:
    """Return the families with enough items in which probes that fail are furthest above chance."""
    rows: list[tuple[Cell, ...]] = []
    failing = (probe for probe in audit.probes if probe.verdict == FAILS)
    for probe in failing:
        apart = {name: right - chance for name, (n, right, chance) in probe.families.items() if n >= LEAST_ITEMS}
        best = sorted(apart, key=lambda name: (-apart[name], name))[:SHOWN_FAMILIES]
        rows += [(probe.name, name, *probe.families[name]) for name in best]
    heads = columns(probe=TEXT, family=TEXT, items=COUNT, accuracy=SHARE, chance=SHARE)
    return Table("best_families", "Probes that fail are best in", heads, tuple(rows))


def _families(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, own in sorted(audit.answers.items()):
        found = [probe.families.get(name) for probe in audit.probes]
        chance = next((figures[2] for figures in found if figures), None)
        rows.append((name, *own, chance, *(figures and figures[1] for figures in found)))
    heads = (
        *columns(
            family=TEXT, items=COUNT, bits=DECIMAL, highest=DECIMAL, top_answer=TEXT, top_share=SHARE, chance=SHARE
        ),
        *(Column(probe.name, SHARE) for probe in audit.probes),
    )
    return Table("families", "Families", heads, tuple(rows), is_detail=True)


# Side by side -----------------------------------------------------------------------------------------------------


def audit_report(*audits: Audit) -> Report:
    """Return the report of an audit, or of several side by side."""
    if len(audits) == 1:
        return audits[0].report()
    heads = (Column("figure"), *(Column(audit.items.name, SHARE) for audit in audits))
    failures = [(audit.items.name, failure) for audit in audits for failure in audit.failures()]
    doubts = [(audit.items.name, doubt) for audit in audits for doubt in audit.doubts()]
    again = [audit.repetition for audit in audits]
    of_audits = [{found.asks: found for found in rulings(audit.probes)} for audit in audits]
    asked = [asks for asks in ASKED if any(asks in own for own in of_audits)]
    rows: list[tuple[Cell, ...]] = [
        ("items", *(f"{len(audit.items):,}" for audit in audits)),
        (
            "entropy of answers, of the highest",
            *(audit.mean("bits") / (audit.mean("highest_bits") or 1.0) for audit in audits),
        ),
        ("top answer of a family, mean", *(audit.mean("top_share") for audit in audits)),
        ("chance", *(audit.probes[0].chance if audit.probes else None for audit in audits)),
        *((asks, *(_marked(own.get(asks)) for own in of_audits)) for asks in asked),
    ]
    if any(found.scenes for found in again):
        rows.append(("duplicate scenes", *(f"{found.repeated_scenes:,}" for found in again)))
    if any(found.questions for found in again):
        rows.append(("program and scene in the training file", *(found.overlap for found in again)))
    return Report(
        "Audits",
        tuple(f"{audit.verdict}: {audit.items.name}" for audit in audits),
        (
            Table(
                "audits",
                "Audits",
                heads,
                tuple(rows),
                ("what is asked: the effect of the predictor that decides it; !: fails; ?: inconclusive",),
            ),
        ),
        {"audits": [audit.to_record() for audit in audits]},
        (
            *(Gate(f"{name}: {failure}", f"{FAILS}: {name}: {failure}") for name, failure in failures),
            *(Gate(f"{name}: {doubt}", f"{name}: {doubt}") for name, doubt in doubts),
        ),
    )


def _marked(found: Ruling | None) -> str | None:
    """Return how far the best guess is above chance, with the mark of the verdict."""
    return found and f"{found.best.mean:+.3f}{_MARKS.get(found.verdict, ' ')}"
