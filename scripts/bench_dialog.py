"""Measures dialogs: time of a scene by rounds and objects, and how good the dialogs are."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import click
from bench_balance import REAL_SCENES
from bench_costs import count_option, repeats_option

import vqagen
from vqagen.language.domain_files import find_domain
from vqagen.language.shipped_domains import DIALOGS
from vqagen.tasks.dialog.generator import DialogGenerator
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.tasks.dialog.quotas import PRESETS
from vqagen.tasks.dialog.settings import DialogSettings

REFERENCE_MS, REFERENCE_OBJECTIVE, REFERENCE_DISTANCE = 8300, 6.37, 3.10
"""Of the CLEVR-Dialog generator with 100 beams: a scene of 5 dialogs of 10 rounds on an idle core of such a machine,
and the means over 200 dialogs."""
LARGE = 10
Scenes = Sequence[vqagen.Scene]


class Measured(NamedTuple):
    """A setting measured."""

    milliseconds: float
    """CPU time of a scene, records and words included."""
    objective: float
    """As CLEVR-Dialog scores a dialog, the mean of all."""
    distance: float
    """Mean coreference distance."""
    missing: int
    """Dialogs that could not be made."""


@click.command()
@count_option("--scenes", default=200, help="How many scenes; real ones if ../shared is there.")
@repeats_option(default=3)
def dialog(scenes: int, repeats: int) -> None:
    """Time dialogs about scenes in one process, by rounds and objects; print how good they are.

    The objective is CLEVR-Dialog's: labels with imm2, labels with sim, and up to four with early.

    \b
    Example:
      scripts/bench dialog --scenes 100
    """
    loaded = load_dialog_domain(find_domain(task=DIALOGS))
    with tempfile.TemporaryDirectory() as folder:
        path, origin = _scenes(Path(folder))
        compiled = list(islice(vqagen.load_scenes(path, loaded.domain), max(scenes, 1000)))
        some, large = compiled[:scenes], [scene for scene in compiled if scene.size == LARGE][:scenes]
        click.echo(f"{len(some)} {origin} scenes, 5 dialogs of 10 rounds unless the line says otherwise")
        click.echo(f"{'':22}  ms/scene  objective  distance  missing dialogs")
        for name, settings, about in _cases(some, large):
            generator = DialogGenerator(loaded, settings, PRESETS[settings.quotas])
            click.echo(_line(name, _measure(generator, about, repeats)))
        click.echo(_line("CLEVR-Dialog's", Measured(REFERENCE_MS, REFERENCE_OBJECTIVE, REFERENCE_DISTANCE, 0)))
        click.echo(_line_of_files(path, Path(folder), scenes))


def _scenes(folder: Path) -> tuple[Path, str]:
    """Return the file of scenes, and what they are."""
    if REAL_SCENES.exists():
        return REAL_SCENES, "real"
    path = folder / "scenes.json"
    vqagen.write_scenes(path, vqagen.SamplingSettings(count=1000))
    return path, "sampled"


def _cases(some: Scenes, large: Scenes) -> Iterator[tuple[str, DialogSettings, Scenes]]:
    """Yield name, settings and scenes. Small scenes have not enough to ask for 20 rounds, which takes long to find."""
    yield "default", DialogSettings(), some
    yield "20 rounds", DialogSettings(rounds=20), some
    for rounds in (5, 10, 20):
        yield f"{LARGE} objects, {rounds} rounds", DialogSettings(rounds=rounds), large


def _measure(generator: DialogGenerator, scenes: Scenes, repeats: int) -> Measured:
    """Measure the dialogs about scenes; the first run also warms up what is kept between scenes."""
    seconds, dialogs = [], []
    for _ in range(repeats):
        gc.collect()
        started = time.process_time()
        dialogs = [record for scene in scenes for record in generator.dialogs(scene).records]
        seconds.append(time.process_time() - started)
    rounds = [each for record in dialogs for each in record["rounds"]]
    distances = [each["history"]["d_reveal"] for each in rounds if each["history"]["d_reveal"] is not None]
    return Measured(
        median(seconds) * 1000 / len(scenes),
        mean(_objective([each["label"] for each in record["rounds"]]) for record in dialogs),
        mean(distances),
        len(scenes) * generator.settings.dialogs_per_image - len(dialogs),
    )


def _objective(labels: Sequence[str]) -> int:
    """Return the score of a dialog in CLEVR-Dialog's search."""
    imm2, similar, early = (sum(part in label for label in labels) for part in ("imm2", "sim", "early"))
    return imm2 + similar + min(4, early)


def _line(name: str, found: Measured) -> str:
    figures = f"{found.milliseconds:8,.1f}  {found.objective:9.2f}  {found.distance:8.2f}"
    return f"{name:22}  {figures}  {found.missing:15}"


def _line_of_files(scenes: Path, folder: Path, count: int) -> str:
    """Time a whole run from the file of scenes to that of dialogs."""
    out = folder / "dialogs.json"
    started = time.process_time()
    vqagen.write_dialogs(scenes, out, settings=DialogSettings(count=count))
    seconds, size = time.process_time() - started, out.stat().st_size
    return f"{'from file to file':22}  {seconds * 1000 / count:8,.1f}  {size / count / 1000:.0f} kB a scene"
