"""The settings of the dialog generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from vqagen.tasks.settings import RunSettings, setting

STRICT, LEGACY = SEMANTICS = "strict", "legacy"
QUOTAS = ("smooth", "paper", "reference", "none")
MOST_ROUNDS = 100


@dataclass(frozen=True)
class DialogSettings(RunSettings):
    """All that decides which dialogs are made about a scene."""

    dialogs_per_image: int = setting(5, "Dialogs about each scene.", least=1, group="choice")
    rounds: int = setting(10, "Rounds of each dialog, after its caption.", least=1, group="choice")
    semantics: str = setting(
        STRICT,
        "legacy: the looser preconditions of the CLEVR-Dialog generator; its rounds can be ambiguous or redundant.",
        choices=SEMANTICS,
        group="compatibility",
    )
    quotas: str = setting(
        QUOTAS[0],
        "Shares of count, exist and seek questions: smooth; those of CLEVR-Dialog's paper or of its code (reference);"
        " or none.",
        choices=QUOTAS,
        group="balance",
    )
    target_distance: float = setting(
        0.0, "Mean coreference distance to aim for; 0 for none.", types=(float, int), metavar="ROUNDS", group="balance"
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.rounds > MOST_ROUNDS:
            yield f"--rounds must be at most {MOST_ROUNDS}, found {self.rounds}"
        if not isfinite(self.target_distance) or self.target_distance < 0:
            yield f"--target-distance must be 0 or a distance above it, found {self.target_distance}"
