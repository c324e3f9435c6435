"""The scenes of a run as items: which are read, in which windows, and what an output's `info` says of them.

The `info` names the scenes by the hash of their files, so the files must not change while a run reads them: see
`vqagen.run.unchanged`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vqagen.errors import BadInput, Problem, VqagenError, counted
from vqagen.files.locations import Stamp, content_hash, locate, stamp_of
from vqagen.language.domain_files import PathLike
from vqagen.run.shards import Shard, ShardPlan, plan_shard
from vqagen.run.unchanged import check_unchanged, check_while_reading
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.run.work import Window
from vqagen.world.loading import SceneSource, SceneText, UnreadableScene, find_scenes, scene_texts, warn_repeats


@dataclass
class ReadSoFar:
    """How many scenes have been read, and their bytes, from which their number is estimated."""

    scenes: int = 0
    bytes: int = 0
    end: int = 0
    """One behind the last scene, when that has been read."""

    def count(self, texts: Iterable[SceneText], first: int) -> Iterator[SceneText]:
        """Yield the texts of the scenes from `first` on, counting them."""
        end = first
        for text in texts:
            self.scenes += 1
            self.bytes += len(text.text)
            end += 1
            yield text
        self.end = end

    def estimate(self, source: SceneSource) -> int | None:
        """Return the number of scenes of a source; None if nothing is known."""
        if source.length is not None:
            return source.length
        if self.end:
            return self.end
        size = source.size
        return round(size * self.scenes / self.bytes) if size and self.bytes else None


@dataclass(frozen=True)
class SceneItems:
    """Scenes that records are made about."""

    source: SceneSource
    own: Span
    """The scenes that records are written about; a length of 0 means all that follow."""
    window: int
    """Scenes in a window; 0 for one window of all."""
    shard_plan: ShardPlan | None = None
    """The shard, if only that is made."""
    reads_ahead: bool = False
    """True if windows are read to their ends, beyond the run's."""
    stamps: Sequence[Stamp] = ()
    """The stamps of the source's files from before they were read; empty if they are not checked."""
    read: ReadSoFar = field(default_factory=ReadSoFar)

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows from that of scene `first` on; it begins with the scenes before. None if all is done."""
        start, length = self.own
        if length and first >= start + length:
            return iter(())
        span = span_to_read(first, start + length - first if length else 0, self.window, self.reads_ahead)
        return windows_of(self._texts(span), self.window)

    def _texts(self, span: Span) -> Iterator[SceneText]:
        texts = warn_repeats(self.read.count(scene_texts(self.source, *span), span.first), self.source, span.first)
        return check_while_reading(texts, self.source, self.stamps) if self.stamps else texts

    def expected(self) -> int | None:
        """Return the number of scenes of the run, as far as is known by now."""
        start, length = self.own
        there = self.read.estimate(self.source)
        if there is None:
            return length or None
        there = max(there - start, 0)
        return min(there, length) if length else there

    def info(self) -> dict[str, Any]:
        """Return what an output's `info` takes over from that of the scenes."""
        # The info beside JSON Lines is in none of the files that `hashes` names.
        info = dict(self.source.info) if self.source.layout != "lines" else {}
        made_scenes = info.pop("generator", None)
        return {**info, **({"scene_generator": made_scenes} if made_scenes else {})}

    def hashes(self) -> dict[str, str]:
        """Return the content hash of all files, by their role. Reads them."""
        return {"scenes": content_hash(self.source.files)}

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window as its cause: a file that has changed, or a scene that cannot be read."""
        try:
            if self.stamps:
                check_unchanged(self.source, self.stamps)
            if isinstance(error, UnreadableScene):
                self.source.raise_unreadable(error.index)
        except BadInput as cause:
            return cause
        except VqagenError:  # a store that cannot be reached says nothing about the error
            return error
        return error


def find_scene_items(
    scenes: PathLike, whole: Span, window: int, shard: Shard | None = None, reads_ahead: bool = False
) -> SceneItems:
    """Find the scenes of a file or folder or, of these, those of a shard. Raises UsageError or BadInput.

    For a shard of a file the scenes are counted, which reads all of it.
    """
    path = locate(scenes)
    before = stamp_of(path)
    source = find_scenes(path)
    stamps = [before if file == path else stamp_of(file) for file in source.files]
    _check_start(source, whole.first)
    plan = plan_shard(shard, whole, source.count(*whole), window) if shard else None
    return SceneItems(source, plan.own if plan else whole, window, plan, reads_ahead, stamps)


def _check_start(source: SceneSource, start: int) -> None:
    """Raise BadInput if no scene has the index `start`."""
    if start and not source.count(start, 1):
        last = f"{counted(source.count(), 'scene')}, numbered from 0"
        raise BadInput([Problem(f"no scene {start} to start at: there are {last}", str(source.path))])
