"""Measures rendered pictures: CPU seconds of each variant of the renderer, and the error that few paths leave."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import click
import numpy as np
from bench_costs import VQAGEN, count_option, in_turn, repeats_option, run_command

import vqagen
from vqagen.errors import UsageError
from vqagen.pictures.marks import pixels_of
from vqagen.pictures.variants import VARIANTS, check_variant

FIRST = 2
"""Scenes of the shorter run, which is taken off the longer one: loading, and compiling by LLVM."""
PATHS = 4, 8, 16
SEED = 3


@click.command()
@count_option("--count", default=12, help="Scenes of which each variant makes pictures.")
@repeats_option(default=3)
@count_option("--reference", default=512, help="Paths a pixel of the pictures that errors are measured against.")
@click.option("--width", default=480, show_default=True, help="Width of pictures in pixels.")
def pictures(count: int, repeats: int, reference: int, width: int) -> None:
    """Time the variants of the renderer in turn, then compare pictures of few paths with those of many.

    Times are of whole commands. Errors are mean squares of levels of 0 to 255, of four scenes by the fastest variant.

    \b
    Example:
      scripts/bench pictures --count 4 --repeats 1 --reference 64
    """
    with tempfile.TemporaryDirectory() as folder:
        scenes, out = Path(folder, "scenes.json"), Path(folder, "out")
        vqagen.write_scenes(scenes, vqagen.SamplingSettings(count=FIRST + count, seed=SEED))

        def seconds(variant: str) -> float:
            line = f"scenes render {scenes} -o {out} --force --workers 1 --width {width} --variant {variant} --count"
            short, long = (run_command([str(VQAGEN), *line.split(), str(n)]).cpu for n in (FIRST, FIRST + count))
            return (long - short) / count

        variants = [variant for variant in VARIANTS if _works(variant)]
        for variant, runs in in_turn({name: partial(seconds, name) for name in variants}, repeats).items():
            click.echo(f"{variant:8} {median(runs):5.2f} CPU s a picture ({min(runs):.2f} to {max(runs):.2f})")

        def pixels(samples: int) -> np.ndarray:
            settings = vqagen.PictureSettings(count=4, samples=samples, variant=variants[-1], width=width)
            made = Path(folder, f"paths {samples}")
            vqagen.write_pictures(scenes, made, settings=settings, options=vqagen.RunOptions(force=True))
            return np.stack([pixels_of(path.read_bytes()) for path in sorted(made.glob("images/*"))]).astype(float)

        many = pixels(reference)
        for samples in PATHS:
            click.echo(f"{samples:3} paths: squared error {np.mean((pixels(samples) - many) ** 2):.2f}")


def _works(variant: str) -> bool:
    try:
        check_variant(variant)
    except UsageError as error:
        click.echo(str(error))
        return False
    return True
