"""Scenes out of nothing, as a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vqagen.files.locations import Location
from vqagen.frozen import frozen
from vqagen.language.domain_files import DomainFiles, check_hashes, load_catalogue, rules_hashes
from vqagen.tasks.contract import Item, ItemRecords, Make, Tally, Task
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.sampler import sample_scene, scene_document_info
from vqagen.world.sampling_rules import SamplingRules


@frozen
class SamplingTask(Task):
    """Draws scenes by the rules in a domain's metadata. Each depends on the seed and its index alone."""

    settings: SamplingSettings
    files: DomainFiles

    key = "scenes"
    reads_scenes = False

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files of the domain."""
        return self.files.inputs

    def hashes(self) -> dict[str, str]:
        """Return the content hash of the rules."""
        return rules_hashes(self.files)

    def load(self, hashes: Mapping[str, str]) -> Make:
        """Load the rules."""
        check_hashes(hashes, self.hashes())
        catalogue, _ = load_catalogue(self.files)
        settings = self.settings
        rules = SamplingRules.from_domain(catalogue.domain, settings.condition)

        def make(items: Iterable[Item], first: int, tally: Tally) -> Iterator[ItemRecords]:
            for item in items:
                if item.index >= first:
                    yield ItemRecords(item.index, [sample_scene(rules, settings.seed, item.index, settings.split)])

        return make

    def generator_info(self) -> dict[str, Any]:
        """Return the domain's name."""
        return {"domain": self.files.name}

    def info(self, generator: dict[str, Any]) -> dict[str, Any]:
        """Return the `info` of a scene document."""
        return {**scene_document_info(self.settings.split), "generator": generator}
