"""The report of audits as lines for people: of one file in full, of several files side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import counted
from vqagen.judge.audit.audit import FAILS, Audit, ProbeResult
from vqagen.judge.audit.repetition import Repetition

SHOWN_FAMILIES = 5
"""Families that are shown for each probe that fails; JSON and the page have all."""
LEAST_ITEMS = 30
"""Items that a family needs in order to be shown."""
_NOUNS = {"questions": "question", "dialogs": "round", "trials": "trial"}


def report_lines(audits: Sequence[Audit]) -> Iterator[str]:
    """Yield the report of one audit, or a table of several."""
    if len(audits) == 1:
        yield from _single(audits[0])
    else:
        yield from _side_by_side(audits)


def overview_lines(audit: Audit) -> Iterator[str]:
    """Yield what was audited; then, indented, the shares of its answers and its repetition."""
    yield _counted(audit)
    bits, most = audit.answer_bits
    shares = audit.top_shares
    worst = max(shares, key=lambda name: (shares[name], name))
    yield f"  entropy of a family's answers  {bits:.2f} of {most:.2f} bits in the mean"
    top = (
        f"{audit.mean_top_share:.2f} in the mean; most: {shares[worst]:.2f} of {worst}"
        if worst
        else f"{audit.mean_top_share:.2f}"
    )
    yield f"  top answer of a family         {top}"
    for name, value in _repeated(audit.repetition):
        yield f"  {name:29}  {value}"


def _single(audit: Audit) -> Iterator[str]:
    yield from overview_lines(audit)
    if audit.probes:
        yield ""
        yield from _probe_lines(audit)
    if audit.associations:
        yield ""
        yield from _association_lines(audit)
    yield from _family_lines(audit)
    yield ""
    yield from (f"note: {note}" for note in audit.notes)
    yield from (f"{FAILS}: {failure}" for failure in audit.failures())
    if audit.passes:
        yield "passes: no shortcut found"


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
    for name, count in _overlaps(found).items():
        yield name, f"{count:,} of {found.questions:,} ({count / found.questions:.1%})"


def _overlaps(found: Repetition) -> dict[str, int]:
    if not found.questions:
        return {}
    return {
        "text in the training file": found.same_text,
        "program in it": found.same_program,
        "scene in it": found.same_scene,
        "program and scene in it": found.same_program_and_scene,
    }


def _probe_lines(audit: Audit) -> Iterator[str]:
    width = max(len(each.probe.name) for each in audit.probes)
    yield f"{'answered without looking':{width}}    items  accuracy  chance  95 % of the difference       p  verdict"
    first = max(width, len("answered without looking"))
    for each in audit.probes:
        found = each.difference
        interval = f"{found.low:+.3f} to {found.high:+.3f}" if found.low > -1 else "too few images"
        yield (
            f"{each.probe.name:{first}}  {each.items:7,}  {each.accuracy:8.3f}  {each.chance:6.3f}"
            f"  {interval:>22}  {_p(each.p):>6}  {each.verdict}"
        )


def _association_lines(audit: Audit) -> Iterator[str]:
    yield f"{'associated with the answer':26}     bits  Cramér's V       p  verdict"
    for each in audit.associations:
        found = each.association
        detail = f" ({found.detail})" if found.detail else ""
        line = f"{found.name:26}  {found.bits:7.3f}  {found.v:10.3f}  {_p(each.p):>6}  {each.verdict or 'shown only'}"
        yield line + detail


def _family_lines(audit: Audit) -> Iterator[str]:
    """Yield the families in which probes that fail are best."""
    for each in audit.probes:
        if each.verdict != FAILS:
            continue
        shown = best_families(each)[:SHOWN_FAMILIES]
        if shown:
            yield ""
            yield f"{each.probe.name} is best in"
            width = max(map(len, shown))
            for name in shown:
                number, accuracy, chance = each.families[name]
                yield f"  {name:{width}}  {number:7,}  {accuracy:.3f}, by chance {chance:.3f}"


def best_families(result: ProbeResult) -> list[str]:
    """Return the families with enough items, those in front that a probe guesses furthest above chance."""
    apart = {name: accuracy - chance for name, (n, accuracy, chance) in result.families.items() if n >= LEAST_ITEMS}
    return sorted(apart, key=lambda name: (-apart[name], name))


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


# Side by side -----------------------------------------------------------------------------------------------------


def _side_by_side(audits: Sequence[Audit]) -> Iterator[str]:
    rows = list(_rows(audits))
    names = max(len(name) for name, _ in rows)
    widths = [max(len(row[column]) for _, row in rows) for column in range(len(audits))]
    for name, row in rows:
        cells = "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        yield f"{name:{names}}  {cells}".rstrip()
    yield ""
    for audit in audits:
        failures = list(audit.failures())
        yield from (f"{FAILS}: {audit.file.name}: {failure}" for failure in failures)
        if not failures:
            yield f"passes: {audit.file.name}"


def _rows(audits: Sequence[Audit]) -> Iterator[tuple[str, list[str]]]:
    yield "", [audit.file.name for audit in audits]
    yield "items", [f"{len(audit.file.items):,}" for audit in audits]
    yield "entropy of answers, of the highest", [f"{_evenness(audit):.3f}" for audit in audits]
    yield "top answer of a family, mean", [f"{audit.mean_top_share:.3f}" for audit in audits]
    yield "chance", [f"{audit.probes[0].chance:.3f}" if audit.probes else "" for audit in audits]
    of_probes = [{each.probe.name: each for each in audit.probes} for audit in audits]
    for name in _names(of_probes):
        yield f"right by {name}", [_probe_cell(probes.get(name)) for probes in of_probes]
    of_associations = [{each.association.name: each for each in audit.associations} for audit in audits]
    for name in _names(of_associations):
        found = [own.get(name) for own in of_associations]
        yield f"V of {name}", ["" if each is None else _marked(each.association.v, each.verdict) for each in found]
    if any(audit.repetition.scenes for audit in audits):
        yield "duplicate scenes", [f"{audit.repetition.repeated_scenes:,}" for audit in audits]
    if any(audit.repetition.questions for audit in audits):
        shares = [f"{audit.repetition.overlap:.3f}" for audit in audits]
        yield "program and scene in the training file", shares


def _names(of_audits: Sequence[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for own in of_audits for name in own))


def _probe_cell(result: ProbeResult | None) -> str:
    return "" if result is None else _marked(result.accuracy, result.verdict)


def _marked(number: float, verdict: str) -> str:
    """Return a number, marked where it fails."""
    return f"{number:.3f}{'!' if verdict == FAILS else ' '}"


def _evenness(audit: Audit) -> float:
    bits, most = audit.answer_bits
    return bits / most if most else 0.0
