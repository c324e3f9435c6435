"""The scenes of a window, for any task about scenes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vqagen.tasks.contract import Item
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneText, read_scene
from vqagen.world.scene import Scene, compile_scene


def compiled_scenes(items: Iterable[Item], domain: Domain) -> Iterator[Scene]:
    """Yield the scene of each item, compiled when it is asked for. Raises UnreadableScene, or BadInput."""
    for item in items:
        assert isinstance(item, SceneText)
        yield compile_scene(read_scene(item), domain, item.index, item.place)
