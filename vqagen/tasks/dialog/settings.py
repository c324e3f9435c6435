"""The settings of the dialog generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from vqagen.tasks.settings import RunSettings, setting

QUOTAS = ("smooth", "paper", "reference", "none")
MOST_ROUNDS = 100


@dataclass(frozen=True)
class DialogSettings(RunSettings):
    """All that decides which dialogs are made about a scene."""

    RETIRED: ClassVar[tuple[str, ...]] = ("semantics", "target_distance")

    dialogs_per_image: int = setting(5, "Dialogs about each scene.", least=1, group="choice")
    rounds: int = setting(10, "Rounds of each dialog, after its caption.", least=1, group="choice")
    quotas: str = setting(
        QUOTAS[0],
        "Shares of count, exist and seek questions: smooth; those of CLEVR-Dialog's paper or of its code (reference);"
        " or none.",
        choices=QUOTAS,
        group="balance",
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.rounds > MOST_ROUNDS:
            yield f"--rounds must be at most {MOST_ROUNDS}, found {self.rounds}"
