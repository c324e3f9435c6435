"""Scenes drawn at random, as typed calls: written to files, or as records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.run.options import RunOptions
from vqagen.run.progress import OnProgress
from vqagen.run.writing import write_records
from vqagen.tasks.contract import RunReport
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.tasks.sampling.task import SamplingTask
from vqagen.world.sampler import sample_scenes as sample_scene_records
from vqagen.world.sampling_rules import SamplingRules


def write_scenes(
    out: PathLike,
    settings: SamplingSettings,
    files: DomainFiles | None = None,
    *,
    format: str | None = None,
    options: RunOptions | None = None,
    shard: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> RunReport:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`; see `write_records`."""
    task = SamplingTask(settings, files or find_domain())
    return write_records(task, out, format=format, options=options, shard=shard, on_progress=on_progress)


def sample_scenes(
    count: int,
    *,
    seed: int = 0,
    start_index: int = 0,
    split: str = "sample",
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
) -> Iterable[dict[str, Any]]:
    """Return scene records drawn by the rules in a domain's metadata (default: CLEVR's), without pictures."""
    catalogue, _ = load_catalogue(find_domain(domain, metadata=metadata, plugins=plugins))
    return sample_scene_records(SamplingRules.from_domain(catalogue.domain), seed, start_index, count, split)
