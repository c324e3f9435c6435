"""Rendered pictures of scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.errors import UsageError
from vqagen.pictures.looks import SceneLooks, Thing
from vqagen.world.camera import Camera


class Studio:
    """Renders objects with lamps on a floor."""

    name = "mitsuba"

    def __init__(self, looks: SceneLooks, samples: int) -> None:
        raise UsageError("rendering is not there yet")

    def lights(self, scene: Mapping[str, Any], rng: Random) -> list[dict[str, Any]]:
        """Return the lamps."""
        raise NotImplementedError

    def render(self, camera: Camera, things: Sequence[Thing], lights: Sequence[Mapping[str, Any]]) -> NDArray[np.uint8]:
        """Return the pixels."""
        raise NotImplementedError
