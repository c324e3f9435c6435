"""Pruning: leave out the items that give most away, until the rest passes its probes.

Blocks and pairs, dialogs and single items are left out as wholes. First those go that repeat a scene, or whose program
and scene are in the training file; then, round by round, those that the failing probes guess best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vqagen.judge.audit.audit import FAILS, Audit, audit_items
from vqagen.judge.audit.items import AuditFile

MOST_ROUNDS = 20
MOST_REMOVED = 0.5
"""Share of the items that pruning removes at most."""
PACE = 0.5
"""Share of the guessed items beyond the tolerance that a round removes: each round learns anew."""


class Pruned(NamedTuple):
    """What pruning left."""

    audit: Audit
    """The audit of the rest."""
    records: list[int]
    """The records that are kept, by their places in the file."""
    removed: int
    """Records that are left out."""
    rounds: int


def prune(audit: Audit) -> Pruned:
    """Return the first part of a file that passes its probes, or the last part that was tried."""
    units, records = _units(audit.file), sorted({item.record for item in audit.file.items})
    kept = set(range(len(units)))
    repeated = audit.repetition.repeated_items
    if repeated and not _is_accepted(audit):
        kept -= {number for number, unit in enumerate(units) if not repeated.isdisjoint(unit)}
    whole, rounds = audit.file, 0
    while rounds < MOST_ROUNDS and kept:
        if len(kept) < len(units) or rounds:
            places = [place for number in sorted(kept) for place in units[number]]
            audit = audit_items(whole.only(places), audit.inputs, audit.settings)
        failing = [each for each in audit.probes if each.verdict == FAILS]
        if not failing:
            break
        rounds += 1
        left = sum(len(units[number]) for number in kept)
        excess = max(each.difference.mean * each.items for each in failing)
        remove = list(_most_biased(audit, units, sorted(kept), max(1, round(PACE * excess))))
        if left - sum(len(units[number]) for number in remove) < (1 - MOST_REMOVED) * len(whole.items):
            break
        kept -= set(remove)
    gone = {whole.items[place].record for number, unit in enumerate(units) if number not in kept for place in unit}
    rest = [record for record in records if record not in gone]
    return Pruned(audit, rest, len(gone), rounds)


def _is_accepted(audit: Audit) -> bool:
    found, settings = audit.repetition, audit.settings
    return found.repeated_share <= settings.max_duplicates and found.overlap <= settings.max_overlap


def _units(file: AuditFile) -> list[list[int]]:
    """Return the places of the items that are left out together."""
    units: defaultdict[tuple[str, str | int], list[int]] = defaultdict(list)
    for place, item in enumerate(file.items):
        units[("block", item.block) if item.block else ("record", item.record)].append(place)
    return list(units.values())


def _most_biased(audit: Audit, units: Sequence[Sequence[int]], kept: Sequence[int], items: int) -> Iterator[int]:
    """Yield the units that the failing probes guess best, until they hold as many items."""
    bias = np.sum([np.nan_to_num(e.probe.scores) for e in audit.probes if e.verdict == FAILS], axis=0)
    starts = np.cumsum([0, *(len(units[number]) for number in kept)])
    means = {number: float(bias[at : at + len(units[number])].mean()) for number, at in zip(kept, starts, strict=False)}
    for number in sorted(kept, key=lambda each: (-means[each], each)):
        if items <= 0:
            return
        yield number
        items -= len(units[number])
