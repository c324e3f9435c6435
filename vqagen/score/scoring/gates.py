"""Gates: conditions that a score must meet, such as `overall=0.9,exist=0.95`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from vqagen.errors import UsageError, counted, unknown
from vqagen.score.report.table import Gate
from vqagen.score.scoring.coverage import Coverage

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


def threshold_gates(thresholds: Iterable[Threshold], accuracies: Mapping[str, float | None]) -> list[Gate]:
    """Return the gates of accuracies by name; None for a name of several groups. UsageError for all other names."""
    gates, faults = [], []
    for group, least in thresholds:
        accuracy = accuracies.get(group)
        if group not in accuracies:
            names = [name for name in accuracies if FIELD_SIGN not in name]
            faults.append(f"--fail-under: {unknown('group', group, names)}")
        elif accuracy is None:
            full = ", ".join(name for name in accuracies if name.endswith(f"{FIELD_SIGN}{group}"))
            faults.append(f"--fail-under: several groups are named {group!r}; write one of {full}")
        else:
            problem = "" if accuracy >= least else f"{group}: accuracy {accuracy:.4f} is below {least:g}"
            gates.append(Gate(f"{group}>={least:g}", problem))
    if faults:
        raise UsageError("\n".join(faults))
    return gates


def named_accuracies(rows: Mapping[str, Mapping[str, float]]) -> dict[str, float | None]:
    """Return the accuracies of rows, given by field and name, by each name that a threshold may use.

    >>> named_accuracies({"depth": {"5": 0.5}, "length": {"5": 0.7}})
    {'5': None, 'depth:5': 0.5, 'length:5': 0.7}
    """
    found: dict[str, float | None] = {}
    for named in rows.values():
        for name, accuracy in named.items():
            found[name] = accuracy if found.get(name, accuracy) == accuracy else None
    for field, named in rows.items():
        found.update({f"{field}{FIELD_SIGN}{name}": accuracy for name, accuracy in named.items()})
    return found


def strict_gates(coverage: Coverage) -> list[Gate]:
    """Return the gates of `--strict`: no fault of coverage."""
    gates = []
    for name, (noun, rest) in _STRICT.items():
        number, ids = getattr(coverage, name), coverage.examples.get(name, ())
        shown = f"{counted(number, noun)}{rest}: {', '.join(ids)}{', …' if number > len(ids) else ''}"
        gates.append(Gate(f"no {noun}{rest}", shown if number else ""))
    return gates
