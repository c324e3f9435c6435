"""The report of audits: of one file in full, of several files side by side."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.errors import counted
from vqagen.items.groups import counts_of
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
    Table,
    columns,
    nonempty,
)
from vqagen.shortcuts.audit import Audit
from vqagen.shortcuts.probes import FAILS, INCONCLUSIVE, SHOWN

SHOWN_FAMILIES = 5
"""Families that are shown for each probe that fails; the table of families has all."""
LEAST_ITEMS = 30
"""Items that a family needs in order to be shown."""
_MARKS = {FAILS: "!", INCONCLUSIVE: "?"}
_NOUNS = {"questions": "question", "dialogs": "round", "trials": "trial"}


def audit_report(*audits: Audit) -> Report:
    """Return the report of an audit, or of several side by side."""
    return _single(audits[0]) if len(audits) == 1 else _side_by_side(audits)


# One file ---------------------------------------------------------------------------------------------------------


def _single(audit: Audit) -> Report:
    failures = list(audit.failures())
    verdict = f"{FAILS} for {counted(len(failures), 'reason')}" if failures else audit.conclusion
    return Report(
        f"Audit of {audit.items.name}",
        (*_overview(audit), *(f"note: {note}" for note in audit.notes), verdict),
        nonempty([_probes(audit), _best_families(audit), _families(audit)]),
        audit.to_record(),
        (
            *(Gate(failure, f"{FAILS}: {failure}") for failure in failures),
            *(Gate(each, each) for each in audit.doubts()),
        ),
    )


def _overview(audit: Audit) -> list[str]:
    """Return what was audited; then, indented, the shares of its answers and its repetition."""
    counts, found = counted(len(audit.items), _NOUNS[audit.items.kind]), audit.repetition
    images = counted(len(counts_of(audit.items.images)), "image")
    about = "" if audit.items.kind == "trials" else f" about {images}"
    families = "1 family" if len(audit.answers) == 1 else f"{len(audit.answers):,} families"
    left_out = f" ({audit.unanswered:,} without an answer left out)" if audit.unanswered else ""
    bits, most, top = (audit.mean(name) for name in ("bits", "highest_bits", "top_share"))
    worst, share = max(((name, each.top_share) for name, each in audit.answers.items()), key=lambda each: each[::-1])
    of_worst = f" in the mean; most: {share:.2f} of {worst}" if len(audit.answers) > 1 else ""
    overlaps = {
        "text in the training file": found.same_text,
        "program in it": found.same_program,
        "scene in it": found.same_scene,
        "program and scene in it": found.same_program_and_scene,
    }
    return [
        f"{counts}{about}, {families}{left_out}",
        f"  entropy of a family's answers  {bits:.2f} of {most:.2f} bits in the mean",
        f"  top answer of a family         {top:.2f}{of_worst}",
        *([f"  {'duplicate scenes':29}  {found.repeated_scenes:,} of {found.scenes:,}"] if found.scenes else []),
        *(
            f"  {name:29}  {count:,} of {found.questions:,} ({count / found.questions:.1%})"
            for name, count in overlaps.items()
            if found.questions
        ),
    ]


def _probes(audit: Audit) -> Table:
    rows = []
    for each in audit.probes:
        low, high = (None, None) if each.difference.low == -1 else each.difference[1:3]
        rows.append((each.name, each.meaning, each.items, each.accuracy, each.chance, low, high, each.p, each.verdict))
    notes = ["low and high: bounds of the difference from chance, 95 %; none of too few images; p by Holm"]
    if any(each.verdict == SHOWN for each in audit.probes):
        notes.append(f"{SHOWN}: told by right answers about the same image, which no model has; fails no file")
    heads = columns(probe=TEXT, guess=TEXT, items=COUNT, accuracy=SHARE, chance=SHARE, low=SHARE, high=SHARE, p=NUMBER)
    return Table("probes", "Answered without looking", (*heads, Column("verdict")), tuple(rows), tuple(notes))


def _best_families(audit: Audit) -> Table:
    """Return the families with enough items in which probes that fail are furthest above chance."""
    rows: list[tuple[Cell, ...]] = []
    for each in audit.probes:
        if each.verdict != FAILS:
            continue
        apart = {name: right - chance for name, (n, right, chance) in each.families.items() if n >= LEAST_ITEMS}
        best = sorted(apart, key=lambda name: (-apart[name], name))[:SHOWN_FAMILIES]
        rows += [(each.name, name, *each.families[name]) for name in best]
    heads = columns(probe=TEXT, family=TEXT, items=COUNT, accuracy=SHARE, chance=SHARE)
    return Table("best_families", "Probes that fail are best in", heads, tuple(rows))


def _families(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, own in sorted(audit.answers.items()):
        found = [each.families.get(name) for each in audit.probes]
        chance = next((each[2] for each in found if each), None)
        rows.append((name, *own, chance, *(each and each[1] for each in found)))
    heads = columns(
        family=TEXT, items=COUNT, bits=DECIMAL, highest=DECIMAL, top_answer=TEXT, top_share=SHARE, chance=SHARE
    )
    named = (*heads, *(Column(each.name, SHARE) for each in audit.probes))
    return Table("families", "Families", named, tuple(rows), is_detail=True)


# Side by side -----------------------------------------------------------------------------------------------------


def _side_by_side(audits: Sequence[Audit]) -> Report:
    heads = (Column("figure"), *(Column(audit.items.name, SHARE) for audit in audits))
    failures = [(audit.items.name, failure) for audit in audits for failure in audit.failures()]
    doubts = [(audit.items.name, doubt) for audit in audits for doubt in audit.doubts()]
    bits = [(audit.mean("bits"), audit.mean("highest_bits")) for audit in audits]
    again = [audit.repetition for audit in audits]
    of_audits = [{each.name: each for each in audit.probes} for audit in audits]
    names = dict.fromkeys(name for own in of_audits for name in own)
    found = {name: [own.get(name) for own in of_audits] for name in names}
    rows: list[tuple[Cell, ...]] = [
        ("items", *(f"{len(audit.items):,}" for audit in audits)),
        ("entropy of answers, of the highest", *(own / most if most else 0.0 for own, most in bits)),
        ("top answer of a family, mean", *(audit.mean("top_share") for audit in audits)),
        ("chance", *(audit.probes[0].chance if audit.probes else None for audit in audits)),
        *(
            (f"right by {name}", *(each and f"{each.accuracy:.3f}{_MARKS.get(each.verdict, ' ')}" for each in probes))
            for name, probes in found.items()
        ),
    ]
    if any(each.scenes for each in again):
        rows.append(("duplicate scenes", *(f"{each.repeated_scenes:,}" for each in again)))
    if any(each.questions for each in again):
        rows.append(("program and scene in the training file", *(each.overlap for each in again)))
    return Report(
        "Audits",
        tuple(f"{audit.verdict}: {audit.items.name}" for audit in audits),
        (Table("audits", "Audits", heads, tuple(rows), ("!: fails; ?: inconclusive",)),),
        {"audits": [audit.to_record() for audit in audits]},
        (
            *(Gate(f"{name}: {failure}", f"{FAILS}: {name}: {failure}") for name, failure in failures),
            *(Gate(f"{name}: {doubt}", f"{name}: {doubt}") for name, doubt in doubts),
        ),
    )
