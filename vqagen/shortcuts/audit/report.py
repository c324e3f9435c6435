"""The report of audits: of one file in full, of several files side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import counted
from vqagen.score.report.table import (
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
from vqagen.shortcuts.audit.audit import FAILS, Audit, ProbeResult
from vqagen.shortcuts.audit.repetition import Repetition

SHOWN_FAMILIES = 5
"""Families that are shown for each probe that fails; the table of families has all."""
LEAST_ITEMS = 30
"""Items that a family needs in order to be shown."""
_NOUNS = {"questions": "question", "dialogs": "round", "trials": "trial"}
_PROBES = (
    *columns(probe=TEXT, guess=TEXT, items=COUNT, accuracy=SHARE, chance=SHARE, low=SHARE, high=SHARE, p=NUMBER),
    Column("verdict"),
)
_ASSOCIATIONS = (Column("with"), *columns(bits=DECIMAL, V=SHARE, p=NUMBER, verdict=TEXT, detail=TEXT))
_BEST = columns(probe=TEXT, family=TEXT, items=COUNT, accuracy=SHARE, chance=SHARE)
_FAMILIES = columns(
    family=TEXT, items=COUNT, bits=DECIMAL, highest=DECIMAL, top_answer=TEXT, top_share=SHARE, chance=SHARE
)


def report_of(audits: Sequence[Audit]) -> Report:
    """Return the report of one audit, or a table of several."""
    return _single(audits[0]) if len(audits) == 1 else _side_by_side(audits)


def _single(audit: Audit) -> Report:
    failures = list(audit.failures())
    verdict = f"{FAILS} for {counted(len(failures), 'reason')}" if failures else "passes: no shortcut found"
    return Report(
        f"Audit of {audit.file.name}",
        (*_overview(audit), *(f"note: {note}" for note in audit.notes), verdict),
        nonempty([_probes(audit), _associations(audit), _best_families(audit), _families(audit)]),
        audit.to_record(),
        tuple(Gate(failure, f"{FAILS}: {failure}") for failure in failures),
    )


# One file ---------------------------------------------------------------------------------------------------------


def _overview(audit: Audit) -> Iterator[str]:
    """Yield what was audited; then, indented, the shares of its answers and its repetition."""
    yield _counted(audit)
    bits, most = audit.answer_bits
    shares = audit.top_shares
    worst = max(shares, key=lambda name: (shares[name], name))
    yield f"  entropy of a family's answers  {bits:.2f} of {most:.2f} bits in the mean"
    of_worst = f" in the mean; most: {shares[worst]:.2f} of {worst}" if worst else ""
    yield f"  top answer of a family         {audit.mean_top_share:.2f}{of_worst}"
    for name, value in _repeated(audit.repetition):
        yield f"  {name:29}  {value}"


def _counted(audit: Audit) -> str:
    items = audit.file.items
    counts = counted(len(items), _NOUNS[audit.file.kind])
    images = counted(len({item.image for item in items}), "image")
    about = "" if audit.file.kind == "trials" else f" about {images}"
    left_out = f" ({audit.file.unanswered:,} without an answer left out)" if audit.file.unanswered else ""
    families = len(audit.answers)
    return f"{counts}{about}, {families:,} {'family' if families == 1 else 'families'}{left_out}"


def _repeated(found: Repetition) -> Iterator[tuple[str, str]]:
    if found.scenes:
        yield "duplicate scenes", f"{found.repeated_scenes:,} of {found.scenes:,}"
    overlaps = {
        "text in the training file": found.same_text,
        "program in it": found.same_program,
        "scene in it": found.same_scene,
        "program and scene in it": found.same_program_and_scene,
    }
    for name, count in overlaps.items() if found.questions else ():
        yield name, f"{count:,} of {found.questions:,} ({count / found.questions:.1%})"


def _probes(audit: Audit) -> Table:
    rows = []
    for each in audit.probes:
        low, high = (None, None) if each.difference.low == -1 else each.difference[1:3]
        found = (each.items, each.accuracy, each.chance, low, high, each.p)
        rows.append((each.probe.name, each.probe.meaning, *found, each.verdict))
    notes = ("low and high: bounds of the difference from chance, 95 %; none of too few images; p by Holm",)
    return Table("probes", "Answered without looking", _PROBES, tuple(rows), notes)


def _associations(audit: Audit) -> Table:
    rows = tuple(
        (
            each.association.name,
            each.association.bits,
            each.association.v,
            each.p,
            each.verdict or "shown only",
            each.association.detail,
        )
        for each in audit.associations
    )
    notes = ("V: Cramér's, corrected for bias; p by Holm",)
    return Table("associations", "Associated with the answer, within families", _ASSOCIATIONS, rows, notes)


def _best_families(audit: Audit) -> Table:
    """Return the families in which probes that fail are best."""
    rows: list[tuple[Cell, ...]] = []
    for each in audit.probes:
        if each.verdict == FAILS:
            rows += [(each.probe.name, name, *each.families[name]) for name in best_families(each)[:SHOWN_FAMILIES]]
    return Table("best_families", "Probes that fail are best in", _BEST, tuple(rows))


def best_families(result: ProbeResult) -> list[str]:
    """Return the families with enough items, those in front that a probe guesses furthest above chance."""
    apart = {name: accuracy - chance for name, (n, accuracy, chance) in result.families.items() if n >= LEAST_ITEMS}
    return sorted(apart, key=lambda name: (-apart[name], name))


def _families(audit: Audit) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, counts in sorted(audit.answers.items()):
        found = [each.families.get(name) for each in audit.probes]
        top = min(counts, key=lambda answer: (-counts[answer], answer))
        chance = next((each[2] for each in found if each), None)
        known = (counts.total(), *audit.family_bits[name], top, audit.top_shares[name], chance)
        rows.append((name, *known, *(each and each[1] for each in found)))
    heads = (*_FAMILIES, *(Column(each.probe.name, SHARE) for each in audit.probes))
    return Table("families", "Families", heads, tuple(rows), is_detail=True)


# Side by side -----------------------------------------------------------------------------------------------------


def _side_by_side(audits: Sequence[Audit]) -> Report:
    heads = (Column("figure"), *(Column(audit.file.name, SHARE) for audit in audits))
    table = Table("audits", "Audits", heads, tuple(_rows(audits)), ("!: fails",))
    failures = [(audit.file.name, failure) for audit in audits for failure in audit.failures()]
    return Report(
        "Audits",
        tuple(f"{'passes' if audit.passes else FAILS}: {audit.file.name}" for audit in audits),
        (table,),
        {"audits": [audit.to_record() for audit in audits]},
        tuple(Gate(f"{name}: {failure}", f"{FAILS}: {name}: {failure}") for name, failure in failures),
    )


def _rows(audits: Sequence[Audit]) -> Iterator[tuple[Cell, ...]]:
    yield "items", *(f"{len(audit.file.items):,}" for audit in audits)
    yield "entropy of answers, of the highest", *(_evenness(audit) for audit in audits)
    yield "top answer of a family, mean", *(audit.mean_top_share for audit in audits)
    yield "chance", *(audit.probes[0].chance if audit.probes else None for audit in audits)
    of_probes = [{each.probe.name: _marked(each.accuracy, each.verdict) for each in audit.probes} for audit in audits]
    yield from _named("right by", of_probes)
    of_associations = [
        {each.association.name: _marked(each.association.v, each.verdict) for each in audit.associations}
        for audit in audits
    ]
    yield from _named("V of", of_associations)
    if any(audit.repetition.scenes for audit in audits):
        yield "duplicate scenes", *(f"{audit.repetition.repeated_scenes:,}" for audit in audits)
    if any(audit.repetition.questions for audit in audits):
        yield "program and scene in the training file", *(audit.repetition.overlap for audit in audits)


def _named(what: str, of_audits: Sequence[Mapping[str, str]]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each name that any audit has."""
    for name in dict.fromkeys(name for own in of_audits for name in own):
        yield f"{what} {name}", *(own.get(name) for own in of_audits)


def _marked(number: float, verdict: str) -> str:
    """Return a number, marked where it fails."""
    return f"{number:.3f}{'!' if verdict == FAILS else ' '}"


def _evenness(audit: Audit) -> float:
    bits, most = audit.answer_bits
    return bits / most if most else 0.0
