"""The settings of items that are made of questions and dialogs."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting

WORDINGS, FAMILIES = "wordings", "families"


@dataclass(frozen=True)
class ItemSettings(CheckedSettings):
    """Which items are made."""

    seed: int = setting(0, "Random seed: the same seed and inputs give the same items.")
    compare: str = setting(
        WORDINGS,
        "Of questions: two texts of one template for the same program, or two families of one answer type.",
        choices=(WORDINGS, FAMILIES),
    )
    per_image: int = setting(1, "Comparisons about each scene, at most.", least=0)
