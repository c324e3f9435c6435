"""The settings of baselines."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting


@dataclass(frozen=True)
class BaselineSettings(CheckedSettings):
    """All that decides the answers of a baseline, beside its name and the files."""

    top_k: int = setting(1, "Candidates of each answer, best first.", least=1)
    seed: int = setting(0, "Random seed: the same seed gives the same answers.")
