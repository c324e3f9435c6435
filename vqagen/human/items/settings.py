"""The settings of items that are made of questions, dialogs and director trials."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting


@dataclass(frozen=True)
class ItemSettings(CheckedSettings):
    """Which items are made."""

    seed: int = setting(0, "Random seed: the same seed and inputs give the same items.")
    per_image: int = setting(1, "Comparisons, questions or dialogs about each scene, at most.", least=0)
