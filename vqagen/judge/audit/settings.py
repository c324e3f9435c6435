"""The thresholds of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, flag, setting

_NUMBER = (float, int)
_SHARES = ("tolerance", "alpha", "max_association", "max_top_share", "max_duplicates", "max_overlap")


@dataclass(frozen=True)
class AuditSettings(CheckedSettings):
    """What an audit accepts."""

    tolerance: float = setting(
        0.02, "A probe fails if its accuracy is certainly more than this above chance.", types=_NUMBER, metavar="SHARE"
    )
    alpha: float = setting(
        0.05, "Chance that a file without shortcuts fails, over all tests.", types=_NUMBER, metavar="SHARE"
    )
    max_association: float = setting(
        0.1, "Highest association (Cramér's V) of answers with words, places and indexes.", types=_NUMBER, metavar="V"
    )
    max_top_share: float = setting(
        1.0, "Highest share of one answer among those of a family; 1 for no limit.", types=_NUMBER, metavar="SHARE"
    )
    max_duplicates: float = setting(
        0.0, "Highest share of scenes that repeat another scene.", types=_NUMBER, metavar="SHARE"
    )
    max_overlap: float = setting(
        0.0, "Highest share of questions whose program and scene are in --train too.", types=_NUMBER, metavar="SHARE"
    )
    permutations: int = setting(999, "Permutations of each permutation test.", least=99)
    seed: int = setting(0, "Random seed: the same seed gives the same report.")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:  # also false for NaN
                yield f"{flag(name)} must be from 0 to 1, found {getattr(self, name)}"
        if self.alpha in (0, 1):
            yield f"--alpha must lie between 0 and 1, found {self.alpha}"
