"""Questions and captions by the scene that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.language.catalogue import Catalogue
from vqagen.records.discovery import find_records
from vqagen.records.kind import RecordKind
from vqagen.score.scene_lookup import HeldScenes, QuestionFault, SceneNames
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

_SHOWN = 20
"""Mistakes that are shown."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Caption:
    """The caption of a dialog."""

    text: str
    label: str
    """The kind of caption, such as `unique-obj`."""
    arguments: Mapping[str, Any]
    """Its content: objects, values, relations."""


@dataclass(frozen=True)
class SceneTexts:
    """A scene, and its records in each file, in the order of the files."""

    scene: Scene
    image: str
    """The name of its picture."""
    records: tuple[tuple[Record, ...], ...]

    @property
    def stem(self) -> str:
        """The name of the picture without its ending."""
        return self.image.rpartition(".")[0] or self.image


def texts_of_scenes(
    files: Sequence[Location], kind: RecordKind, scenes: SceneSource, catalogue: Catalogue
) -> list[SceneTexts]:
    """Return the scenes that every file has records about, in their order.

    BadInput with all records whose scene does not exist or has no picture.
    """
    names, problems = SceneNames(scenes), list[Problem]()
    by_file = [_by_place(file, kind, names, problems) for file in files]
    raise_first(problems)
    shared = sorted(set(by_file[0]).intersection(*by_file[1:]))
    if not shared:
        listed = " and ".join(str(file) for file in files)
        raise BadInput([Problem(f"no scene has {kind.key} in {listed}", str(scenes.path))])
    held = HeldScenes(scenes, catalogue.domain).hold(shared)
    found = [
        SceneTexts(held[place], held[place].image, tuple(tuple(each[place]) for each in by_file)) for place in shared
    ]
    raise_first(
        [
            Problem("image_filename is missing: raters see the picture of this name", f"{scenes.path}: scenes[{place}]")
            for place, each in zip(shared, found, strict=True)
            if not each.image
        ]
    )
    return found


def _by_place(file: Location, kind: RecordKind, names: SceneNames, problems: list[Problem]) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for position, record in enumerate(find_records(file, kind).records()):
        place = names.place_of(record)
        if isinstance(place, QuestionFault):
            problems.append(Problem(place.problem, str(file), kind.path(position)))
        else:
            found.setdefault(place, []).append(record)
    return found


def raise_first(problems: Sequence[Problem]) -> None:
    """Raise BadInput with the first problems, if there are any."""
    if problems:
        raise BadInput(problems[:_SHOWN])


def captions_of(records: Iterable[Record], source: str) -> list[Caption]:
    """Return the different captions of dialogs. BadInput for dialogs without the arguments of their captions."""
    found: dict[str, Caption] = {}
    for record in records:
        match record:
            case {"caption": {"text": str(text), "label": str(label), "program": {"args": dict(arguments)}}}:
                found.setdefault(text, Caption(text, label, arguments))
            case _:
                message = f"expected {DIALOGS.key} in vqagen's own format, with caption.program; make them so"
                raise BadInput([Problem(message, source)])
    return list(found.values())
