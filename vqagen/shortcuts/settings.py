"""The settings of baselines and audits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, flag, setting

_NUMBER = (float, int)


@dataclass(frozen=True)
class BaselineSettings(CheckedSettings):
    """All that decides the answers of a baseline, beside its name and the files."""

    top_k: int = setting(1, "Candidates of each answer, best first.", least=1)
    seed: int = setting(0, "Random seed: the same seed gives the same answers.")


@dataclass(frozen=True)
class AuditSettings(CheckedSettings):
    """What an audit accepts."""

    tolerance: float = setting(
        0.02, "A probe fails if its accuracy is certainly more than this above chance.", types=_NUMBER, metavar="SHARE"
    )
    alpha: float = setting(
        0.05, "Chance that a file without shortcuts fails, over all tests.", types=_NUMBER, metavar="SHARE"
    )
    max_repeated: float = setting(
        0.0,
        "Highest share of scenes that repeat another, and of questions whose program and scene are in --train too.",
        types=_NUMBER,
        metavar="SHARE",
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in ("tolerance", "alpha", "max_repeated"):
            if not 0 <= getattr(self, name) <= 1:  # also false for NaN
                yield f"{flag(name)} must be from 0 to 1, found {getattr(self, name)}"
        if self.alpha in (0, 1):
            yield f"--alpha must lie between 0 and 1, found {self.alpha}"
