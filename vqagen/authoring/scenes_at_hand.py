"""Scenes to try templates on: some of a file, or sampled by the domain's own rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.search.tables import SceneTables
from vqagen.world.domain import Domain
from vqagen.world.loading import find_scenes, load_scenes
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

OF_A_FILE = 200
SAMPLED = 20
"""Scenes to try by default: enough to show a rare failure, few enough to wait for."""


@dataclass(frozen=True)
class ScenesAtHand:
    """Some scenes; `source` is their origin, such as "sampled" or "scenes.json"."""

    scenes: tuple[Scene, ...]
    source: str

    @cached_property
    def tables(self) -> tuple[SceneTables, ...]:
        """The tables of each scene for searches; what one template's search fills in, the next one finds."""
        return tuple(map(SceneTables, self.scenes))


def scenes_of_file(path: Path, domain: Domain, index: int | None = None) -> ScenesAtHand:
    """Return the scene of that index or, without one, the first `OF_A_FILE`."""
    start, count = (0, OF_A_FILE) if index is None else (index, 1)
    scenes = tuple(load_scenes(find_scenes(path), domain, start, count))
    if not scenes:
        raise UsageError(f"there is no scene {index} in {path}" if index is not None else f"no scenes in {path}")
    return ScenesAtHand(scenes, str(path))


def sampled_scenes(domain: Domain, seed: int, index: int | None = None) -> ScenesAtHand:
    """Return the sampled scene of that index or, without one, the first `SAMPLED` of this seed."""
    rules = SamplingRules.from_domain(domain)
    indexes = range(SAMPLED) if index is None else [index]
    return ScenesAtHand(tuple(drawn_scene(rules, domain, seed, i) for i in indexes), "sampled")


def drawn_scene(rules: SamplingRules, domain: Domain, seed: int, index: int) -> Scene:
    """Return a sampled scene. It may lack what a plug-in reads; that is no mistake in a file."""
    lacking: set[str] = set()
    record = _noting(sample_scene(rules, seed, index), lacking)
    try:
        scene = compile_scene(record, domain, index, "sampled")
    except BadInput as error:
        raise VqagenError(f"a sampled scene cannot be used ({error.problems[0].message}); give --scenes") from None
    lacking.clear()
    return scene


def lacking_keys(scene: Scene) -> set[str]:
    """Return the keys that plug-ins looked for in a sampled scene and that it lacks; none for a scene of a file.

    The set of a sampled scene grows as plug-ins read; whoever clears it sees what is read from then on.
    """
    return scene.record.lacking if isinstance(scene.record, _Noting) else set()


class _Noting(dict[str, Any]):
    """An object of a scene record that notes the keys that are looked for and that it lacks."""

    def __init__(self, members: dict[str, Any], lacking: set[str]) -> None:
        super().__init__(members)
        self.lacking = lacking

    def __missing__(self, key: str) -> Any:
        self.lacking.add(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        is_there = super().__contains__(key)
        if not is_there:
            self.lacking.add(str(key))
        return is_there

    def get(self, key: str, default: Any = None) -> Any:
        if not super().__contains__(key):
            self.lacking.add(key)
        return super().get(key, default)


def _noting(value: Any, lacking: set[str]) -> Any:
    """Return a record, or a part of it, whose objects note what they lack."""
    if isinstance(value, dict):
        return _Noting({key: _noting(each, lacking) for key, each in value.items()}, lacking)
    return [_noting(each, lacking) for each in value] if isinstance(value, list) else value
