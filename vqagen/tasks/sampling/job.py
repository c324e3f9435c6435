"""Scenes out of nothing, as a job for the runner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from vqagen.language.domain_files import DomainFiles, check_hashes, load_catalogue, rules_hashes
from vqagen.records.layouts import Encode
from vqagen.run.provenance import Arrangement, generator_info
from vqagen.run.shards import Shard, ShardPlan, share_of_run
from vqagen.run.windows import Span, windows_of
from vqagen.run.work import Block, Item, Window, WindowTask
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.sampler import sample_scene, scene_document_info
from vqagen.world.sampling_rules import SamplingRules

WINDOW = 250
"""Scenes that one process draws at once; each depends on the seed and its index alone."""


@dataclass(frozen=True)
class SceneNumber:
    """A scene to be drawn."""

    noun: ClassVar[str] = "scene"
    index: int


@dataclass(frozen=True)
class SamplingWork:
    """What a process needs in order to draw scenes."""

    files: DomainFiles
    hashes: Mapping[str, str]
    """Of the metadata: a worker must read what the run began with."""
    settings: SamplingSettings
    encode: Encode

    def load(self) -> WindowTask:
        """Load the domain."""
        check_hashes(self.hashes, hashes_of(self.files))
        catalogue, _ = load_catalogue(self.files)
        rules, settings = SamplingRules.from_domain(catalogue.domain), self.settings

        def draw(items: Iterable[Item]) -> Iterator[Block]:
            numbers = [item.index for item in items]
            records = [sample_scene(rules, settings.seed, number, settings.split) for number in numbers]
            yield Block(numbers[0], numbers[-1] + 1, self.encode(records), len(records), {})

        return draw


@dataclass(frozen=True)
class SamplingJob:
    """Scenes to be drawn: those of the settings, which may be a share of a run's."""

    files: DomainFiles
    hashes: Mapping[str, str]
    """Of the metadata, taken once."""
    settings: SamplingSettings
    share: ShardPlan | None = None

    @property
    def first(self) -> int:
        """The first scene."""
        return self.settings.start_index

    def info(self) -> dict[str, Any]:
        """What the output is, and how to make it again."""
        settings, arrangement = self.settings.to_record(), Arrangement("scenes", "", WINDOW)
        made_by = generator_info(settings, self.hashes, arrangement, self.share, {"domain": self.files.name})
        return {**scene_document_info(self.settings.split), "generator": made_by}

    def expected(self) -> int:
        """How many scenes there will be."""
        return self.settings.count

    def work(self, first: int, encode: Encode) -> SamplingWork:
        """What workers need."""
        return SamplingWork(self.files, self.hashes, self.settings, encode)

    def errors_told(self) -> AbstractContextManager[None]:
        """There is no input to tell of."""
        return nullcontext()

    def windows(self, first: int) -> Iterator[Window]:
        """The windows from scene `first` on: as no scene depends on another, they may begin anywhere."""
        end = self.settings.start_index + self.settings.count
        return windows_of((SceneNumber(index) for index in range(first, end)), WINDOW)


def sampling_job(files: DomainFiles, settings: SamplingSettings, shard: Shard | None = None) -> SamplingJob:
    """Find out all that a run needs. `settings` are those of the whole run. Raises VqagenError for what cannot be."""
    whole = Span(settings.start_index, settings.count)
    share = share_of_run(shard, whole, whole.length, WINDOW) if shard else None
    return SamplingJob(files, hashes_of(files), settings.cut_to(*share.own) if share else settings, share)


def hashes_of(files: DomainFiles) -> dict[str, str]:
    """The content hash of what scenes are drawn by."""
    return rules_hashes(files)
