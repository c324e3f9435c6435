"""The settings of baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting

PER = ("all", "type", "family", "question")


@dataclass(frozen=True)
class BaselineSettings(CheckedSettings):
    """All that decides the answers of a baseline, beside the files."""

    per: str = setting("type", "Group whose answers majority and prior know.", choices=PER)
    top_k: int = setting(1, "Candidates of each answer, best first.", least=1)
    neighbours: int = setting(1, "Similar questions that vote for the answer of nearest.", least=1)
    position: int = setting(1, "Position of the option that option-at takes, from 1.", least=1)
    rate: float = setting(0.1, "Share of values that noisy-oracle misreads.", types=(float, int))
    runs: int = setting(20, "Other scenes on which wrong-image runs a program.", least=1)
    imagined: int = setting(100, "Imagined scenes on which scene-blind runs a program.", least=1)
    seed: int = setting(0, "Random seed: the same seed gives the same answers.")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not 0 <= self.rate <= 1:
            yield f"--rate must lie from 0 to 1, found {self.rate}"
