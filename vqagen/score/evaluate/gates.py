"""Gates: conditions that a score must meet, such as `overall=0.9,exist=0.95`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from vqagen.errors import UsageError, counted, unknown
from vqagen.score.evaluate.coverage import Coverage
from vqagen.score.report.table import Gate

FIELD_SIGN = ":"
_STRICT = {
    "missing": ("missing prediction", ""),
    "duplicate": ("duplicate prediction", ""),
    "unknown": ("prediction", " with an unknown id"),
    "not_an_option": ("answer", " outside of the options"),
}
"""Fault of coverage -> the noun to count, and what follows it."""


class Threshold(NamedTuple):
    """The least accuracy of a group."""

    group: str
    """`overall`, the name of a row (`exist`), or field and row (`category:exist`)."""
    least: float


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Read options such as `overall=0.9,exist=0.95`. UsageError for all that are no thresholds."""
    found, faults = [], []
    for text in (part.strip() for given in texts for part in given.split(",")):
        group, _, least = text.rpartition("=")
        if not group or not re.fullmatch(r"(0(\.\d*)?|1(\.0*)?|\.\d+)", least.strip()):
            faults.append(f"--fail-under {text!r} is no threshold: write a group and a share, such as overall=0.9")
        else:
            found.append(Threshold(group.strip(), float(least)))
    if faults:
        raise UsageError("\n".join(faults))
    return found


def threshold_gates(thresholds: Iterable[Threshold], accuracies: Mapping[tuple[str, str], float]) -> list[Gate]:
    """Return the gates of accuracies by field and name of the row.

    UsageError for names of no group, and for those of several groups with different accuracies.
    """
    gates, faults = [], []
    for group, least in thresholds:
        named = {key: share for key, share in accuracies.items() if group in (key[1], FIELD_SIGN.join(key))}
        if not named:
            names = list(dict.fromkeys(name for _, name in accuracies))
            faults.append(f"--fail-under: {unknown('group', group, names)}")
        elif len(set(named.values())) > 1:
            full = ", ".join(map(FIELD_SIGN.join, named))
            faults.append(f"--fail-under: several groups are named {group!r}; write one of {full}")
        else:
            accuracy = next(iter(named.values()))
            problem = "" if accuracy >= least else f"{group}: accuracy {accuracy:.4f} is below {least:g}"
            gates.append(Gate(f"{group}>={least:g}", problem))
    if faults:
        raise UsageError("\n".join(faults))
    return gates


def strict_gates(coverage: Coverage) -> list[Gate]:
    """Return the gates of `--strict`: no fault of coverage."""
    gates = []
    for fault, (noun, rest) in _STRICT.items():
        number = getattr(coverage, fault)
        problem = f"{counted(number, noun)}{rest}: {coverage.ids(fault)}"
        gates.append(Gate(f"no {noun}{rest}", problem if number else ""))
    return gates
