"""The benchmark `export`: the time and memory of writing a dataset for each target."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from bench_costs import count_option, report, run_command

import vqagen
from vqagen.dataset.rows import question_row, write_rows
from vqagen.export.exporting import TARGETS
from vqagen.pictures.png import png_file

ROOT = Path(__file__).parents[2]
PER_PICTURE = 10
OPTIONS = ["0", "1", "2", "3"]


@click.command()
@count_option("--count", default=100_000, help="How many questions.")
@click.option("--with-pictures", is_flag=True, help="Pictures of 40 kB, one for ten questions.")
@click.option("--to", "targets", multiple=True, type=click.Choice(list(TARGETS)), help="Only these targets.")
def export(count: int, with_pictures: bool, targets: tuple[str, ...]) -> None:
    """Time an export of a dataset and of its tenth, whose memory should be the same.

    \b
    Example:
      scripts/bench export --count 20000 --to trl
    """
    with tempfile.TemporaryDirectory() as name:
        folders = {number: Path(name, str(number)) for number in (max(count // 10, PER_PICTURE), count)}
        for number, folder in folders.items():
            (folder / "data").mkdir(parents=True)
            write_rows(folder / "data/train-00000-of-00001.parquet", rows(number, with_pictures))
        for target in targets or TARGETS:
            line = [sys.executable, "-m", "vqagen", "export", "--to", target]
            line += ["--mode", "mc"] if target == "vlmevalkit" else []
            if not with_pictures and target == "imagefolder":
                continue
            line += [] if with_pictures else ["--without-pictures"]
            ran = [
                run_command([*line, str(folder), "-o", str(folder / target)], PYTHONPATH=str(ROOT))
                for folder in folders.values()
            ]
            report(target, f"{ran[1].seconds:.1f} s, {ran[1].peak:.0f} MB; a tenth of it {ran[0].peak:.0f} MB")


def rows(count: int, with_pictures: bool) -> Iterator[dict[str, Any]]:
    """Yield rows about a hundred sampled scenes, over and over, each time with other pictures."""
    scenes = list(vqagen.sample_scenes(100))
    asked = [question.to_record() for question in vqagen.generate(scenes, templates_per_image=PER_PICTURE)]
    for number in range(count):
        record, image = asked[number % len(asked)], number // PER_PICTURE
        if number % PER_PICTURE == 0:
            shown = picture(scenes[record["scene_index"]], image, with_pictures)
        given = {**record, "choices": [*OPTIONS, record["answer"]][-4:], "choice": 3}
        yield question_row(given, shown, number, "value", record["template_filename"])


def picture(scene: Any, number: int, is_there: bool) -> dict[str, Any]:
    """Return the columns of a picture of noise, or of one byte."""
    noise = np.random.default_rng(number).integers(0, 255, (120, 110, 3), dtype=np.uint8)
    image = {"bytes": png_file(noise) if is_there else b"-", "path": f"{number:06d}.png"}
    boxes = [[0, 0, 9, 9]] * len(scene["objects"])
    about = {"scene": json.dumps(scene), "points": [], "boxes": boxes, "masks": "[]"}
    return {"image": image, "image_id": number, **about}
