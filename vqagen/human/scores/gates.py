"""Gates of scores: conditions such as `A=-0.2` or `template=-0.3/0` that end the command with exit code 1 if missed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vqagen.errors import UsageError, unknown
from vqagen.human.scores.clusters import Estimate
from vqagen.score.report.table import Gate

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)"
_THRESHOLD = re.compile(rf"(?P<group>.+)=(?P<least>{_NUMBER})(?:/(?P<upper>{_NUMBER}))?")


class Threshold(NamedTuple):
    """The least score of a group."""

    group: str
    """A system, a field (all of its groups), or a field with a group: `template:one_hop`."""
    least: float
    """The upper bound of its interval must not be below this."""
    upper: float | None
    """If given, the mean must be below `least` and the upper bound below this for the gate to be missed."""

    @property
    def name(self) -> str:
        """The threshold as written."""
        return f"{self.group}={self.least:g}" + ("" if self.upper is None else f"/{self.upper:g}")


class NamedScore(NamedTuple):
    """A score that thresholds may be set for."""

    names: tuple[str, ...]
    """Names of groups that it belongs to."""
    shown: str
    estimate: Estimate


def read_thresholds(texts: Sequence[str]) -> list[Threshold]:
    """Read options such as `A=-0.2,template=-0.3/0`. UsageError for all that are no thresholds."""
    found, faults = [], []
    for text in (part.strip() for given in texts for part in given.split(",")):
        match = _THRESHOLD.fullmatch(text)
        if match is None:
            faults.append(f"--fail-under {text!r} is no threshold: write a group and a score, such as A=-0.2")
            continue
        upper = match["upper"]
        found.append(Threshold(match["group"].strip(), float(match["least"]), None if upper is None else float(upper)))
    if faults:
        raise UsageError("\n".join(faults))
    return found


def score_gates(thresholds: Iterable[Threshold], scores: Sequence[NamedScore]) -> list[Gate]:
    """Return a gate for each threshold, which all scores of its group must meet. UsageError for unknown groups."""
    known = list(dict.fromkeys(name for score in scores for name in score.names))
    gates, faults = [], []
    for threshold in thresholds:
        concerned = [score for score in scores if threshold.group in score.names]
        if not concerned:
            faults.append(f"--fail-under: {unknown('group', threshold.group, known)} (fields need --by)")
        missed = "; ".join(_problems(threshold, concerned))
        gates.append(Gate(threshold.name, f"{threshold.name}: {missed}" if missed else ""))
    if faults:
        raise UsageError("\n".join(faults))
    return gates


def _problems(threshold: Threshold, scores: Iterable[NamedScore]) -> Iterator[str]:
    for _, shown, found in scores:
        if found.high is None:
            continue
        if threshold.upper is None:
            if found.high < threshold.least:
                yield f"the upper bound of {shown} is {found.high:.3f}"
        elif found.mean < threshold.least and found.high < threshold.upper:
            yield f"{shown} has {found.mean:.3f}, and {found.high:.3f} for upper bound"
