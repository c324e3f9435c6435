"""The settings of pictures of scenes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.pictures.variants import SCALAR, VARIANTS
from vqagen.tasks.settings import RunSettings, setting

RENDERED, DRAWN = KINDS = ("rendered", "drawn")

WIDEST = 4096
"""The largest width of a picture, as of a camera."""


@dataclass(frozen=True)
class DrawingSettings(RunSettings):
    """All that decides how pictures are drawn."""

    width: int = setting(
        0, "Width of the pictures in pixels; 0 for that of the scene's camera.", least=0, group="choice"
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.width > WIDEST:
            yield f"--width must be at most {WIDEST}, found {self.width}"


@dataclass(frozen=True)
class RenderingSettings(DrawingSettings):
    """All that decides how pictures are rendered. The seed moves the lamps."""

    samples: int = setting(8, "Paths of light a pixel, before noise is removed.", least=1, group="choice")
    variant: str = setting(
        SCALAR,
        "The renderer's engine. scalar: plain, needs nothing else; llvm: faster, needs LLVM; cuda: needs a GPU.",
        choices=(*VARIANTS, *VARIANTS.values()),
        metavar="|".join(VARIANTS),
        group="choice",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        short = next(name for name in VARIANTS if self.variant in (name, VARIANTS[name]))
        object.__setattr__(self, "variant", short)


@dataclass(frozen=True)
class PictureSettings(RenderingSettings):
    """All that decides how pictures of either kind are made."""

    kind: str = setting(RENDERED, "How pictures are made.", choices=KINDS)
