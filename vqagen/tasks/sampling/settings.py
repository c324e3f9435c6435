"""The settings of the scene sampler."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.settings import RunSettings, setting


@dataclass(frozen=True)
class SamplingSettings(RunSettings):
    """All that decides which scenes are drawn. A count must be given: there is no last scene."""

    start_index: int = setting(0, "Index of the first scene.", least=0, group="choice")
    count: int = setting(0, "How many scenes.", least=1, group="choice")
    split: str = setting("sample", "Name of the split, in each scene and its image's name.", group="output")
    condition: str = setting(
        "", "Sampling condition of the domain, such as A or B of clevr. [default: none]", metavar="NAME", group="choice"
    )
