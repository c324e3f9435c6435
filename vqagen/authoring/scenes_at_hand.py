"""Scenes to try templates on: some of a file, or sampled by the domain's own rules."""

from __future__ import annotations

from pathlib import Path

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.world.domain import Domain
from vqagen.world.loading import find_scenes, load_scenes
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

OF_A_FILE, DRAWN = 200, 20
"""Scenes to try by default: enough to show a rare failure, few enough to wait for."""
SAMPLED = "sampled"
"""The source of scenes that are drawn."""


def scenes_of_file(path: Path, domain: Domain, index: int | None = None) -> list[Scene]:
    """Return the scene of that index or, without one, the first `OF_A_FILE`."""
    start, count = (0, OF_A_FILE) if index is None else (index, 1)
    scenes = list(load_scenes(find_scenes(path), domain, start, count))
    if not scenes:
        raise UsageError(f"there is no scene {index} in {path}" if index is not None else f"no scenes in {path}")
    return scenes


def sampled_scenes(domain: Domain, seed: int, index: int | None = None) -> list[Scene]:
    """Return the sampled scene of that index or, without one, the first `DRAWN` of this seed."""
    rules = SamplingRules.from_domain(domain)
    return [drawn_scene(rules, domain, seed, i) for i in (range(DRAWN) if index is None else [index])]


def drawn_scene(rules: SamplingRules, domain: Domain, seed: int, index: int) -> Scene:
    """Return a sampled scene. Raises VqagenError if it lacks what a plug-in's attribute or relation reads."""
    try:
        return compile_scene(sample_scene(rules, seed, index), domain, index, SAMPLED)
    except BadInput as error:
        raise VqagenError(f"a sampled scene cannot be used ({error.problems[0].message}); give --scenes") from None
