"""The settings of answer options."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.errors import UsageError
from vqagen.tasks.settings import CheckedSettings, setting

MOST_OPTIONS = 4


@dataclass(frozen=True)
class ChoiceSettings(CheckedSettings):
    """All that decides which options questions get."""

    seed: int = setting(0, "Random seed: the same seed gives the same options.", group="choice")
    options: int = setting(
        MOST_OPTIONS, "Most options of a question, the right one included: 2 to 4.", least=2, group="choice"
    )
    hard: bool = setting(
        False,
        "Wrong options are answers that follow from a mistake, such as ignoring the size, which `mistakes` names.",
        group="choice",
    )
    rotations: bool = setting(
        False, "Ask each question once for every rotation of its options; renumbers the questions.", group="choice"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.options > MOST_OPTIONS:
            raise UsageError(f"--options must be at most {MOST_OPTIONS}, found {self.options}")
