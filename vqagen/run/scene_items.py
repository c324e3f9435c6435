"""The scenes of a run, for any task about scenes: which are read, in which windows, and what its `info` says of them.

They are watched, for the `info` names them by the hash of their files; see `watching`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from vqagen.errors import BadInput, Problem, counted
from vqagen.files.locations import Stamp, locate, stamp_of
from vqagen.files.reading import content_hash
from vqagen.language.domain_files import PathLike
from vqagen.run.shards import Shard, ShardPlan, share_of_run
from vqagen.run.watching import watched
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.run.work import Window
from vqagen.world.image_names import warn_repeats
from vqagen.world.loading import SceneSource, SceneText, UnreadableScene, find_scenes, scene_texts


@dataclass
class Reading:
    """What has been read of the scenes, from which is guessed how many there are."""

    scenes: int = 0
    bytes: int = 0

    def counted(self, texts: Iterable[SceneText]) -> Iterator[SceneText]:
        """The texts as they come."""
        for text in texts:
            self.scenes += 1
            self.bytes += len(text.text)
            yield text

    def expected(self, source: SceneSource) -> int | None:
        """The scenes of a source; None if there is no telling."""
        if source.length is not None:
            return source.length
        size = source.size
        return round(size * self.scenes / self.bytes) if size and self.bytes else None


@dataclass(frozen=True)
class SceneInput:
    """Scenes that a run is about."""

    source: SceneSource
    whole: Span
    """Those of the whole run; a length of 0 means all that follow."""
    window: int
    """Scenes in a window; 0 for one window of all."""
    share: ShardPlan | None = None
    """The shard, if only that is made."""
    stamps: Sequence[Stamp] | None = None
    """Of the source's files, from before they were looked into. None for scenes that no `info` names."""
    read: Reading = field(default_factory=Reading)

    @property
    def own(self) -> Span:
        """The scenes that records are written of."""
        return self.share.own if self.share else self.whole

    def windows(self, first: int) -> Iterator[Window]:
        """The windows from that of scene `first` on, which begins with the scenes before it; none if all is done."""
        start, length = self.own
        if length and first >= start + length:
            return iter(())
        span = span_to_read(first, start + length - first if length else 0, self.window)
        return windows_of(self._texts(span), self.window)

    def _texts(self, span: Span) -> Iterator[SceneText]:
        texts = warn_repeats(self.read.counted(scene_texts(self.source, *span)), self.source, span.first)
        return texts if self.stamps is None else watched(texts, self.source, self.stamps)

    def expected(self) -> int | None:
        """How many scenes the run is about, as far as can be told by now."""
        start, length = self.own
        there = self.read.expected(self.source)
        if there is None:
            return length or None
        there = max(there - start, 0)
        return min(there, length) if length else there

    def info(self) -> dict[str, Any]:
        """What an output's `info` takes over from that of the scenes."""
        # The info beside JSON Lines is in none of the files that `hashes` names.
        info = dict(self.source.info) if self.source.layout != "lines" else {}
        made_scenes = info.pop("generator", None)
        return {**info, **({"scene_generator": made_scenes} if made_scenes else {})}

    def hashes(self) -> dict[str, str]:
        """The content hash of all files, by their role. Reads them."""
        return {"scenes": content_hash(self.source.files)}

    @contextmanager
    def places_told(self) -> Iterator[None]:
        """Tell of a scene that cannot be read where that is."""
        try:
            yield
        except UnreadableScene as unreadable:
            self.source.raise_unreadable(unreadable.index)


def find_scene_input(scenes: PathLike, whole: Span, window: int, shard: Shard | None = None) -> SceneInput:
    """The scenes of a file or folder or, of these, those of a shard. Raises UsageError or BadInput.

    For a shard of a file the scenes are counted, which reads all of it.
    """
    path = locate(scenes)
    before = stamp_of(path)
    source = find_scenes(path)
    stamps = [before if file == path else stamp_of(file) for file in source.files]
    _check_start(source, whole.first)
    share = share_of_run(shard, whole, source.count(*whole), window) if shard else None
    return SceneInput(source, whole, window, share, stamps)


def _check_start(source: SceneSource, start: int) -> None:
    """Raise BadInput if no scene has the index `start`."""
    if start and not source.count(start, 1):
        last = f"{counted(source.count(), 'scene')}, numbered from 0"
        raise BadInput([Problem(f"no scene {start} to start at: there are {last}", str(source.path))])
