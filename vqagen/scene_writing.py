"""Scene files out of nothing, from start to end: what `vqagen scenes sample` does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from vqagen import __version__
from vqagen.errors import UsageError
from vqagen.files import content_hash
from vqagen.materials import DomainFiles, PathLike, check_hashes, find_domain, load_catalogue
from vqagen.run.journal import left_behind
from vqagen.run.layouts import encode_lines
from vqagen.run.means import Means
from vqagen.run.output import Output, check_record_file, chosen_layout
from vqagen.run.progress import OnProgress, Progress
from vqagen.run.runner import Made, check_place, is_complete, run
from vqagen.run.windows import windows_of
from vqagen.run.work import Block, Item, Window, WindowTask
from vqagen.world.sampler import sample_scene, scene_document_info
from vqagen.world.sampling_rules import SamplingRules

WINDOW = 250
"""Scenes that one process draws at once; each depends on the seed and its index alone."""


@dataclass(frozen=True)
class SceneNumber:
    """A scene to be drawn."""

    index: int


@dataclass(frozen=True)
class SamplingWork:
    """What a process needs in order to draw scenes."""

    files: DomainFiles
    hashes: dict[str, str]
    """Of the metadata: a worker must read what the run began with."""
    seed: int
    split: str

    def load(self) -> WindowTask:
        """Load the domain."""
        check_hashes(self.hashes, hashes_of(self.files))
        catalogue, _ = load_catalogue(self.files)
        rules = SamplingRules.from_domain(catalogue.domain)

        def draw(items: Iterable[Item]) -> Iterator[Block]:
            numbers = [item.index for item in items]
            records = [sample_scene(rules, self.seed, number, self.split) for number in numbers]
            yield Block(numbers[0], numbers[-1] + 1, encode_lines(records), len(records), {})

        return draw


@dataclass(frozen=True)
class SamplingJob:
    """Scenes to be drawn, for the runner."""

    files: DomainFiles
    seed: int
    first: int
    count: int
    split: str

    def work(self, first: int) -> SamplingWork:
        """What workers need."""
        return SamplingWork(self.files, hashes_of(self.files), self.seed, self.split)

    def windows(self, first: int) -> Iterator[Window]:
        """The windows from scene `first` on."""
        return windows_of((SceneNumber(index) for index in range(first, self.first + self.count)), WINDOW)

    def info(self) -> dict[str, Any]:
        """The `info` of the output: what it is, and how to make it again."""
        made_by = {
            "name": "vqagen",
            "version": __version__,
            "settings": {"seed": self.seed, "start_index": self.first, "count": self.count},
            "inputs": hashes_of(self.files),
        }
        return {**scene_document_info(self.split), "generator": made_by}


def hashes_of(files: DomainFiles) -> dict[str, str]:
    """The content hash of what scenes are drawn by."""
    return {"metadata": content_hash([files.metadata])}


def write_scenes(
    count: int,
    out: PathLike,
    files: DomainFiles | None = None,
    *,
    seed: int = 0,
    start: int = 0,
    split: str = "sample",
    means: Means | None = None,
    on_progress: OnProgress = lambda _: None,
) -> bool:
    """Draw scenes by the rules in a domain's metadata, and write them to `out`; False if that was done before."""
    out, files, means = str(out), files or find_domain(), means or Means()
    layout = chosen_layout(out, None)
    if count < 1 or start < 0:
        raise UsageError(f"cannot draw {count} scenes from scene {start} on: at least one, and from 0 on")
    if layout == "parquet":
        raise UsageError(f"{out}: scenes are written as JSON (.json or .jsonl), not as Parquet")
    engine = means.engine(WINDOW)
    check_record_file(out, layout, means.force or means.resume, files.inputs)
    check_place(out, means.resume, means.force)
    job = SamplingJob(files, seed, start, count, split)
    output = Output(out, layout, job.info(), key="scenes", number_key=None)
    if means.resume and is_complete(output):
        left_behind(output.place)
        return False
    progress = Progress(expected=count)

    def tell(made: Made) -> None:
        progress.add(made)
        on_progress(progress)

    run(job, engine, output, tell, means.resume)
    return True
