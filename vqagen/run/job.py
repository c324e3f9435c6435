"""Jobs of the runner: a task and the items of a run, which are numbers, or the scenes of a file or folder.

An output's `info` names scenes by the hash of their files, so the files must not change while a run reads them. Blocks
are kept when a run is killed, so a change is detected before any record is made from a changed file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, Problem, UsageError, VqagenError, counted
from vqagen.files.formats import Arrangement, Encode
from vqagen.files.info import VERSION
from vqagen.files.locations import Stamp, content_hash, locate, stamp_of
from vqagen.frozen import frozen
from vqagen.language.domain_files import PathLike
from vqagen.run.windows import Shard, Span, Window, Work, parse_shard, plan_shard, span_to_read, windows_of
from vqagen.tasks.contract import Item, Task
from vqagen.world.loading import SceneSource, SceneText, UnreadableScene, find_scenes, scene_texts, warn_repeats


@frozen
class Number:
    """An item that is nothing but its index."""

    noun: str
    index: int

    def __str__(self) -> str:
        return f"{self.noun} {self.index}"


@dataclass
class Job:
    """A run of a task about numbers, or a shard of one."""

    task: Task
    """Its settings are those of the shard."""
    span: Span
    """The items that records are written about; a length of 0 means all that follow."""
    shard: Mapping[str, int] | None = None
    """What the `info` says of the shard, if only one is made."""

    @property
    def first(self) -> int:
        """The absolute index of the first item that records are written about."""
        return self.span.first

    @cached_property
    def _hashes(self) -> dict[str, str]:
        return self.task.hashes()

    def info(self) -> dict[str, Any]:
        """Return the `info` of the output. May take long: inputs are hashed.

        Its `generator` is enough to make the output again, to resume its run, and to merge it. Nothing in it names a
        host or path.
        """
        task = self.task
        generator = {
            "name": "vqagen",
            "version": __version__,
            "settings": task.settings.to_record(),
            "arrangement": Arrangement(task.key, task.number_key, task.item, task.window)._asdict(),
            **({"shard": self.shard} if self.shard else {}),
            "inputs": {**self.item_hashes(), **self._hashes},
            **task.generator_info(),
        }
        return {**self.item_info(), "format": VERSION, **task.info(generator)}

    def work(self, encode: Encode) -> Work:
        """Return what workers need; reads what the task needs."""
        return Work(self.task, self._hashes, encode, self.task.load(self._hashes))

    @property
    def window(self) -> int:
        """Items in a window; 0 for one window of all."""
        return self.task.window

    def windows(self, first: int) -> Iterator[Window]:
        """Yield the windows from the one that holds item `first` on; none if `first` is behind the last item.

        That window begins with the items before `first`, which are replayed: of windows of 250, `windows(260)` yields
        items 250 to 499 first.
        """
        start, length = self.span
        if length and first >= start + length:
            return iter(())
        size = self.task.window
        count = start + length - first if length else 0
        return windows_of(self.items(span_to_read(first, count, size, self.task.reads_ahead)), size)

    def items(self, span: Span) -> Iterator[Item]:
        """Yield the items to be read."""
        return (Number(self.task.item, index) for index in range(span.first, span.first + span.length))

    def item_info(self) -> dict[str, Any]:
        """Return what the output's `info` takes over from the input."""
        return {}

    def item_hashes(self) -> dict[str, str]:
        """Return the content hash of the files of items, by their role."""
        return {}

    def expected(self) -> int | None:
        """Return how many items there are, as far as is known by now."""
        return self.span.length

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window with its place in the input, which a worker does not know."""
        return error


@dataclass
class SceneJob(Job):
    """A run of a task about scenes."""

    source: SceneSource = field(kw_only=True)
    stamps: Sequence[Stamp] = ()
    """The stamps of the source's files from before they were read."""

    def items(self, span: Span) -> Iterator[Item]:
        """Yield the texts of scenes."""
        return self._unchanged(warn_repeats(scene_texts(self.source, *span), self.source, span.first))

    def _unchanged(self, texts: Iterable[SceneText]) -> Iterator[SceneText]:
        """Yield texts; raise BadInput before one whose file changed.

        A file is checked after a text has been read: if it is unchanged then, it was when any byte of the text was
        read. For what the reader has read ahead, the file is checked again, text by text. Checking a local file takes
        2 µs, the questions about a scene take 1,500. One file in a store, where checking is a request over the network,
        is checked behind the first text and at the end only; a folder there takes requests for each file anyway.
        """
        is_folder, is_local = self.source.layout == "files", isinstance(self.source.files[0], Path)
        for number, text in enumerate(texts):
            if is_folder or is_local or number == 0:
                self._check_unchanged(text.index if is_folder else 0)
            yield text
        if not is_folder:  # lines may have gone from its end
            self._check_unchanged(0)

    def _check_unchanged(self, number: int) -> None:
        """Raise BadInput if a file of the source changed since it was found."""
        file = self.source.files[number]
        if stamp_of(file) != self.stamps[number]:
            raise BadInput([Problem("changed while it was read", str(file))])

    def item_info(self) -> dict[str, Any]:
        """Return what the output's `info` takes over from that of the scenes."""
        # The info beside JSON Lines is in none of the files that `item_hashes` names.
        info = dict(self.source.info) if self.source.layout != "lines" else {}
        scene_generator = info.pop("generator", None)
        return {**info, **({"scene_generator": scene_generator} if scene_generator else {})}

    def item_hashes(self) -> dict[str, str]:
        """Return the content hash of all files. Reads them."""
        return {"scenes": content_hash(self.source.files)}

    def expected(self) -> int | None:
        """Return the number of scenes; None where only reading all of a packed file or a pipe would say."""
        return self._number

    @cached_property
    def _number(self) -> int | None:
        """Counted once: finding the scenes of a file takes a fiftieth of the time of asking about them."""
        if self.source.length is None and not self.source.size:
            return self.span.length or None
        with suppress(VqagenError):  # the run itself reports a fault in the file, with its place
            return self.source.count(*self.span)
        return None

    def located(self, error: VqagenError) -> VqagenError:
        """Return an error of a window as its cause: a file that has changed, or a scene that cannot be read."""
        try:
            for number in range(len(self.source.files)):
                self._check_unchanged(number)
            if isinstance(error, UnreadableScene):
                self.source.raise_unreadable(error.index)
        except BadInput as cause:
            return cause
        except VqagenError:  # a store that cannot be reached says nothing about the error
            return error
        return error


def make_job(task: Task, scenes: PathLike | None = None, shard: str | None = None) -> Job:
    """Find the items of a run. The settings of `task` are those of the whole run; `shard` is written K/N.

    Raises VqagenError for scenes that cannot be found and for a shard that there cannot be.
    """
    whole, parsed = Span(task.settings.start_index, task.settings.count), parse_shard(shard) if shard else None
    if task.reads_scenes:
        if scenes is None:
            raise UsageError(f"{task.key} are made about scenes: name them")
        return _scene_job(task, scenes, whole, parsed)
    if not whole.length:
        raise UsageError(f"say how many {task.key} to make: the count must be at least 1")
    span = plan_shard(parsed, whole, whole.length, task.window, task.item) if parsed else whole
    return Job(task.cut_to(*span), span, _shard_record(parsed, whole))


def _scene_job(task: Task, scenes: PathLike, whole: Span, shard: Shard | None) -> Job:
    """Find the scenes of a file or folder, or of one shard of them; a shard needs the number of all."""
    path = locate(scenes)
    before = stamp_of(path)
    source = find_scenes(path)
    stamps = [before if file == path else stamp_of(file) for file in source.files]
    if whole.first and not source.count(whole.first, 1):
        last = f"{counted(source.count(), 'scene')}, numbered from 0"
        raise BadInput([Problem(f"no scene {whole.first} to start at: there are {last}", str(source.path))])
    span = plan_shard(shard, whole, source.count(*whole), task.window) if shard else whole
    return SceneJob(task.cut_to(*span), span, _shard_record(shard, whole), stamps, source=source)


def _shard_record(shard: Shard | None, whole: Span) -> dict[str, int] | None:
    """Return what an output's `info` says about its shard: `merge` finds missing shards by it."""
    return {**shard._asdict(), "start_index": whole.first, "count": whole.length} if shard else None
