"""Settings of simulated raters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting

_EFFECT = re.compile(r"(.+)=([-+]?(?:\d+\.?\d*|\.\d+))")


@dataclass(frozen=True)
class RaterSettings(CheckedSettings):
    """How simulated raters answer. Deviations are of scores, which lie between -1 and 1."""

    effect: tuple[str, ...] = setting((), "True score of a system; 0 for others.", metavar="NAME=SCORE")
    rater_sd: float = setting(0.2, "Deviation of raters in how much they like systems.", least=0, types=(float, int))
    image_sd: float = setting(0.25, "Deviation of a system's score over images.", least=0, types=(float, int))
    noise: float = setting(0.5, "Deviation of single answers.", least=0, types=(float, int))

    @property
    def effects(self) -> dict[str, float]:
        """The true scores by system."""
        return {match[1]: float(match[2]) for match in map(_EFFECT.fullmatch, self.effect) if match}

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for each in self.effect:
            match = _EFFECT.fullmatch(each)
            if match is None:
                yield f"--effect {each!r} is not of the form NAME=SCORE, such as A=-0.2"
            elif abs(float(match[2])) > 1:
                yield f"--effect {each}: a score lies between -1 and 1"
