"""Measures dialogs: time of a scene by rounds and objects, and how well they are asked and answered."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import click
from bench_balance import REAL_SCENES
from bench_costs import count_option, repeats_option

import vqagen

REFERENCE_MS, REFERENCE_OBJECTIVE, REFERENCE_DISTANCE = 8300, 6.37, 3.10
"""Of the CLEVR-Dialog generator with 100 beams: a scene of 5 dialogs of 10 rounds on an idle core of such a machine,
and the means over 200 dialogs."""
LARGE = 10
NEXT = "seek-attr-rel"
"""Labels of questions about the next object in a direction begin so."""
IN_GROUP = ("count-attribute-group", "exist-attribute-group")
Record = dict[str, Any]


class Measured(NamedTuple):
    """A setting measured."""

    milliseconds: float
    """CPU time of a scene, from file to file."""
    objective: float
    """As CLEVR-Dialog scores a dialog, the mean of all."""
    distance: float
    """Mean coreference distance."""
    missing: int
    """Dialogs that could not be made."""


@click.command()
@count_option("--scenes", default=500, help="How many scenes; real ones if ../shared is there.")
@repeats_option(default=3)
def dialog(scenes: int, repeats: int) -> None:
    """Time dialogs about scenes in one process, by rounds and objects; print how well they are asked and answered.

    The objective is CLEVR-Dialog's: labels with imm2, labels with sim, and up to four with early.

    \b
    Example:
      scripts/bench dialog --scenes 100
    """
    with tempfile.TemporaryDirectory() as folder:
        records, origin = _scenes(Path(folder))
        some = records[:scenes]
        click.echo(f"{len(some)} {origin} scenes, 5 dialogs of 10 rounds unless the line says otherwise")
        click.echo(f"{'':22}  ms/scene  objective  distance  missing dialogs")
        for name, settings, about in _cases(some, [each for each in records if len(each["objects"]) == LARGE]):
            click.echo(_line(name, _measured(Path(folder), about, settings, repeats)))
        click.echo(_line("CLEVR-Dialog's", Measured(REFERENCE_MS, REFERENCE_OBJECTIVE, REFERENCE_DISTANCE, 0)))
        dialogs, _ = _made(Path(folder), some, vqagen.DialogSettings())
        for line in (_verified(some, dialogs), *Habits(some, dialogs).lines()):
            click.echo(line)


def _verified(scenes: Sequence[Record], dialogs: Sequence[Record]) -> str:
    """Return a line about verifying dialogs: CPU time, and the faults found."""
    started = time.process_time()
    found = vqagen.verify(dialogs, scenes)
    seconds = time.process_time() - started
    return f"verify: {seconds * 1000 / found.checked:.2f} ms a dialog; {found.summary}"


def _scenes(folder: Path) -> tuple[list[Record], str]:
    """Return scenes, and what they are."""
    path = REAL_SCENES
    if not path.exists():
        path = folder / "sampled.json"
        vqagen.write_scenes(path, vqagen.SamplingSettings(count=1000))
    scenes: list[Record] = json.loads(path.read_bytes())["scenes"]
    return scenes, "real" if path is REAL_SCENES else "sampled"


def _cases(
    some: Sequence[Record], large: Sequence[Record]
) -> Iterator[tuple[str, vqagen.DialogSettings, Sequence[Record]]]:
    """Yield name, settings and scenes. Small scenes have not enough to ask for 20 rounds, which takes long to find."""
    yield "default", vqagen.DialogSettings(), some
    yield "20 rounds", vqagen.DialogSettings(rounds=20), some[:100]
    for rounds in (5, 10, 20):
        yield f"{LARGE} objects, {rounds} rounds", vqagen.DialogSettings(rounds=rounds), large[: len(some)]


def _made(folder: Path, scenes: Sequence[Record], settings: vqagen.DialogSettings) -> tuple[list[Record], float]:
    """Return the dialogs about scenes, and the seconds of CPU time that a run took from file to file."""
    source, out = folder / "scenes.json", folder / "dialogs.json"
    source.write_text(json.dumps({"scenes": scenes}))
    out.unlink(missing_ok=True)
    started = time.process_time()
    vqagen.write_dialogs(source, out, settings=settings)
    seconds = time.process_time() - started
    dialogs: list[Record] = json.loads(out.read_bytes())["dialogs"]
    return dialogs, seconds


def _measured(folder: Path, scenes: Sequence[Record], settings: vqagen.DialogSettings, repeats: int) -> Measured:
    runs = [_made(folder, scenes, settings) for _ in range(repeats)]
    dialogs = runs[-1][0]
    distances = [
        each["history"]["d_reveal"] for record in dialogs for each in record["rounds"] if each["history"]["d_reveal"]
    ]
    return Measured(
        median(seconds for _, seconds in runs) * 1000 / len(scenes),
        mean(_objective(_labels(record)) for record in dialogs),
        mean(distances),
        len(scenes) * settings.dialogs_per_image - len(dialogs),
    )


def _labels(dialog: Record) -> list[str]:
    return [each["label"] for each in dialog["rounds"]]


def _objective(labels: Sequence[str]) -> int:
    """Return the score of a dialog in CLEVR-Dialog's search."""
    imm2, similar, early = (_number(labels, part) for part in ("imm2", "sim", "early"))
    return imm2 + similar + min(4, early)


def _number(labels: Sequence[str], part: str) -> int:
    return sum(part in label for label in labels)


def _line(name: str, found: Measured) -> str:
    figures = f"{found.milliseconds:8,.1f}  {found.objective:9.2f}  {found.distance:8.2f}"
    return f"{name:22}  {figures}  {found.missing:15}"


@dataclass
class Habits:
    """What dialogs ask for, and how they are answered."""

    scenes: Sequence[Record]
    dialogs: Sequence[Record]
    counts: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a report."""
        answers: dict[str, Counter[object]] = defaultdict(Counter)
        for dialog in self.dialogs:
            rounds, scene = dialog["rounds"], self.scenes[dialog["scene_index"]]
            for each in rounds:
                answers[each["label"]][each["answer"]] += 1
                if each["label"].startswith(NEXT) and each["referents"]["result"]:
                    self._look_at_next(each, scene)
            for asked in zip([dialog["caption"], *rounds], rounds, rounds[1:], strict=False):
                self._look_at_group(*asked, scene)
        yield ""
        for kind in ("in space", "in the picture"):
            others = f"another answer {self._share(f'{kind}: other answer', 'next')}"
            yield f"next object not the nearest {kind}: {self._share(kind, 'next')} of {self.counts['next']}; {others}"
        differing = f"with differing answers: {self.counts['differs']}"
        yield f"groups that may be a part or the whole: {self.counts['group']}, {differing}"
        for part in ("early", "sim", "imm2"):
            numbers = Counter(_number(_labels(each), part) for each in self.dialogs)
            yield f"dialogs by rounds with {part}: {_shares(numbers)}"
        for label, counts in sorted(answers.items()):
            yield f"{label:24} {counts.total():6}  {_shares(counts, most=6)}"

    def _share(self, part: str, whole: str) -> str:
        return f"{self.counts[part] / max(self.counts[whole], 1):.1%}"

    def _look_at_next(self, asked: Record, scene: Record) -> None:
        args, (found,) = asked["program"]["args"], asked["referents"]["result"]
        there, objects = scene["relationships"][args["relation"]][args["focus"]], scene["objects"]
        self.counts["next"] += 1
        for kind, key, count in (("in space", "3d_coords", 3), ("in the picture", "pixel_coords", 2)):
            places = [each[key][:count] for each in objects]
            nearest = min(there, key=lambda i, places=places: math.dist(places[args["focus"]], places[i]))
            self.counts[kind] += nearest != found
            self.counts[f"{kind}: other answer"] += objects[nearest][args["attribute"]] != asked["answer"]

    def _look_at_group(self, of_group: Record, of_part: Record, asked: Record, scene: Record) -> None:
        """Count a question about a group that may be a part of another group, by the two questions before it."""
        if of_part["label"] not in IN_GROUP or asked["label"] not in (*IN_GROUP, "count-all-group"):
            return
        group = of_group["referents"]["result"] if "referents" in of_group else of_group["program"]["args"]["objects"]
        args = asked["program"]["args"]
        found = [i for i in group if "value" not in args or scene["objects"][i][args["attribute"]] == args["value"]]
        answer = len(found) if asked["family"] == "count" else "yes" if found else "no"
        self.counts["group"] += 1
        self.counts["differs"] += answer != asked["answer"]


def _shares(counts: Mapping[Any, int], most: int = 10) -> str:
    """Return the commonest things and their shares."""
    common = Counter(counts).most_common(most)
    return "  ".join(f"{thing} {number / sum(counts.values()):.1%}" for thing, number in common)
