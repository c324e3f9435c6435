"""The scene that a question is about.

A question names its scene by `image_filename`; without one by `image_index`; without that by `scene_index`. If several
scenes have the name, `scene_index` says which of them it is. All scenes are read once for their names, so that the
answer does not depend on which scenes are at hand; the scenes themselves are read in step with the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem, as_written, counted
from vqagen.world.domain import Domain
from vqagen.world.loading import PlacesOfNames, SceneSource, image_name, listed_places
from vqagen.world.scene import Scene, compile_scene, image_index_fault


class QuestionFault(NamedTuple):
    """A fault of one question: its kind, such as "wrong answer", and the sentence."""

    kind: str
    problem: str


class SceneNames:
    """The places of all scenes of a source, by what questions call them."""

    def __init__(self, source: SceneSource) -> None:
        self._names, self._numbers = PlacesOfNames(), PlacesOfNames()
        for index, record in enumerate(source.records()):
            name, number = image_name(record), record.get("image_index")
            if number is None and not name:  # as questions are written
                number = index
            self._names.add(name)
            self._numbers.add("" if number is None else str(number))

    def __len__(self) -> int:
        """Return the number of scenes."""
        return len(self._names)

    def place_of(self, question: Mapping[str, Any]) -> int | QuestionFault:
        """Return the absolute index of the question's scene, or the fault if there is none."""
        key, places = self._places_of(question)
        if len(places) == 1:
            return places[0]
        if not key:
            return QuestionFault("no scene", "the question names no image: image_filename is missing")
        if not places:
            return QuestionFault("no scene", f"there is no scene of this {key}")
        asked = question.get("scene_index")
        if type(asked) is int and asked in places:
            return asked
        known = f"{counted(len(places), 'scene')} have this {key} (scenes {listed_places(places)})"
        reason = "the question has no scene_index"
        if asked is not None:
            reason = f"scene_index {as_written(asked)} is none of them"
        return QuestionFault("several scenes", f"{known}, and {reason}")

    def _places_of(self, question: Mapping[str, Any]) -> tuple[str, list[int]]:
        """Return the key that names the scene, and the places of scenes that have it."""
        name, number, place = (question.get(key) for key in ("image_filename", "image_index", "scene_index"))
        if name:
            return "image_filename", self._names.of(str(name))
        if number is not None:
            return "image_index", self._numbers.of(str(number))
        if type(place) is int and 0 <= place < len(self._names):
            return "scene_index", [place]
        return "" if place is None else "scene_index", []


def contradiction(question: Mapping[str, Any], scene: Scene) -> QuestionFault | None:
    """Return a fault if `image_index` is invalid, or is not that of the scene."""
    given, own = question.get("image_index"), scene.record.get("image_index")
    fault = image_index_fault(given)
    if fault:
        return QuestionFault("bad image_index", f"image_index: {fault}")
    if given is None or own is None or str(given) == str(own):
        return None
    return QuestionFault("wrong image", f"image_index is {as_written(given)}, but its scene has {as_written(own)}")


def records_with_scenes(
    records: Iterable[dict[str, Any]],
    scenes: SceneSource,
    domain: Domain,
    batch: int,
    on_read: Callable[[int], None] = lambda _: None,
) -> Iterator[tuple[int, dict[str, Any], Scene | QuestionFault]]:
    """Yield (position, record, its scene or the reason why it has none).

    Records and scenes are both read as streams, so files of any size take little memory; records in another order than
    the scenes cost further passes over the scenes. The scenes of a `batch` of records are held at once; `on_read` is
    called with the number of records in each.
    """
    stream, names, held = enumerate(records), SceneNames(scenes), dict[int, Scene]()
    entries, following = scenes.entries(), 0
    while found := list(islice(stream, batch)):
        places = [names.place_of(record) for _, record in found]
        wanted = {place for place in places if isinstance(place, int)}
        held = {index: scene for index, scene in held.items() if index in wanted}
        for index in sorted(wanted - held.keys()):  # scenes that lie in the order of the questions are read once
            if index < following:
                entries = scenes.entries(index)
            entry = next((entry for entry in entries if entry[0] == index), None)
            if entry is None:
                raise BadInput([Problem("changed while it was read", str(scenes.path), f"scenes[{index}]")])
            held[index], following = compile_scene(entry[1], domain, index, entry[2]), index + 1
        for (position, record), place in zip(found, places, strict=True):
            scene = place if isinstance(place, QuestionFault) else held[place]
            fault = None if isinstance(scene, QuestionFault) else contradiction(record, scene)
            yield position, record, fault or scene
        on_read(len(found))
