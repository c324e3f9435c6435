"""Question generation, put together: scenes, what questions are made of, the task, and the form of its records.

`Generation` makes questions in this process, for whoever wants them as objects. `QuestionJob` is the same as a job for
the runner, which may do its windows anywhere and writes what comes back.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, Problem
from vqagen.exchange.clevr import Record, RecordForm, ToRecord
from vqagen.files import content_hash
from vqagen.language.question import Question
from vqagen.locations import Location
from vqagen.materials import DomainFiles, Materials, check_hashes, load_materials
from vqagen.run.layouts import Encode
from vqagen.run.shards import Shard
from vqagen.run.windows import Span, block_of, span_to_read, window_of, windows_of
from vqagen.run.work import Block, Engine, Item, Window, WindowTask, Work
from vqagen.tasks.exclusion import Exclusion
from vqagen.tasks.questions import QuestionTask
from vqagen.tasks.settings import Settings
from vqagen.tasks.tally import Tally
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource, SceneText, UnreadableScene, load_scenes, read_scene
from vqagen.world.scene import Scene, compile_scene

Made = tuple[Scene, list[Question]]
"""A scene, and the questions about it."""


class Generation:
    """A run of the question generator: `by_scene` makes the questions, `tally` counts what happened meanwhile."""

    def __init__(
        self,
        scenes: SceneSource,
        materials: Materials,
        settings: Settings,
        marks: bool = False,
        exclusion: Exclusion | None = None,
    ) -> None:
        """`marks`: whether questions tell where their text mentions objects. `exclusion`: what must not be asked."""
        self.scenes, self.materials, self.settings = scenes, materials, settings
        self.task = QuestionTask(materials.templates, materials.synonyms, settings, marks, exclusion)
        self.tally = Tally()

    def by_scene(self) -> Iterator[Made]:
        """Each scene of the run, in order, with its questions."""
        settings, size = self.settings, self.settings.reset_counts_every
        span = span_to_read(settings.start_index, settings.count, size)
        scenes = load_scenes(self.scenes, self.materials.domain, span.first, span.length)
        for _, window in groupby(scenes, key=lambda scene: window_of(scene.index, size)):
            for scene, questions in self.task.window(window, self.tally, settings.start_index):
                if scene.index >= settings.start_index:
                    yield scene, questions


@dataclass(frozen=True)
class QuestionWork:
    """What a process needs in order to make questions. Written records begin with scene `first`."""

    files: DomainFiles
    hashes: dict[str, str]
    """Of the domain's files: those that a worker reads must be the ones that the run began with."""
    settings: Settings
    form: RecordForm
    encode: Encode
    first: int
    exclusion: Exclusion | None = None
    materials: Materials | None = field(default=None, compare=False)
    """If they are loaded already. They stay in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "materials": None}

    def load(self) -> WindowTask:
        """Load the domain, and make its templates ready."""
        materials = self.materials or self._loaded()
        task = QuestionTask(
            materials.templates, materials.synonyms, self.settings, marks=self.form.trace, exclusion=self.exclusion
        )
        maker = _BlockMaker(task, materials.domain, self.form.writer(), self.encode, self.first)
        return maker.blocks

    def _loaded(self) -> Materials:
        materials = load_materials(self.files)
        check_hashes(self.hashes, materials.hashes)
        return materials


@dataclass(frozen=True)
class _BlockMaker:
    """From a window's scenes to blocks."""

    task: QuestionTask
    domain: Domain
    to_record: ToRecord
    encode: Encode
    first: int

    def blocks(self, items: Iterable[Item]) -> Iterator[Block]:
        """The blocks of one window, without the scenes before the first that is wanted."""
        tally, scenes = Tally(), _Scenes(items, self.domain)
        made = scenes.named_in_errors(self.task.window(scenes, tally, self.first))
        while True:
            done = _Done()
            body = self.encode(self._records(made, done))
            if not done.scenes:
                return
            yield Block(done.first, done.first + done.scenes, body, done.records, tally.taken())

    def _records(self, made: Iterator[Made], done: _Done) -> Iterator[Record]:
        """Of one block: one at a time, for the garbage collector goes through all that are held at once."""
        size = self.task.settings.reset_counts_every
        for scene, questions in made:
            number = scene.index
            if number < self.first:
                continue
            done.add(number, len(questions))
            yield from (self.to_record(question, 0) for question in questions)
            if block_of(number, size) != block_of(number + 1, size):
                return


@dataclass
class _Done:
    """What is in a block."""

    first: int = 0
    scenes: int = 0
    records: int = 0

    def add(self, scene: int, records: int) -> None:
        """Count a scene."""
        if not self.scenes:
            self.first = scene
        self.scenes += 1
        self.records += records


class _Scenes:
    """The scenes of a window, each compiled when it is asked for."""

    def __init__(self, items: Iterable[Item], domain: Domain) -> None:
        self._items, self._domain = items, domain
        self._asked: Scene | None = None
        """The one that is being asked about."""

    def __iter__(self) -> Iterator[Scene]:
        for item in self._items:
            assert isinstance(item, SceneText)
            index, record, place = read_scene(item)
            self._asked = compile_scene(record, self._domain, index, place)
            yield self._asked
            self._asked = None

    def named_in_errors(self, made: Iterator[Made]) -> Iterator[Made]:
        """What is made of the scenes. Of an error that comes up meanwhile it is noted which of them it is about."""
        try:
            yield from made
        except Exception as error:
            if self._asked is not None:  # what is wrong with a scene itself names it
                error.add_note(f"while asking about scene {self._asked.index} ({self._asked.image or 'of no image'})")
            raise


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
        if source.layout == "files":
            return len(source.files)
        size = source.size
        return round(size * self.scenes / self.bytes) if size and self.bytes else None


@dataclass(frozen=True)
class QuestionJob:
    """A run of the question generator for the runner."""

    scenes: SceneSource
    files: DomainFiles
    materials: Materials
    settings: Settings
    form: RecordForm
    encode: Encode
    exclusion: Exclusion | None = None
    stamp: list[tuple[int, int]] | None = None
    """Of the scenes, when their hash was taken for the `info`."""
    read: Reading = field(default_factory=Reading)

    @property
    def first(self) -> int:
        """The first scene that questions are asked about."""
        return self.settings.start_index

    def work(self, first: int) -> QuestionWork:
        """What workers need."""
        hashes = self.materials.hashes
        return QuestionWork(
            self.files, hashes, self.settings, self.form, self.encode, first, self.exclusion, self.materials
        )

    def windows(self, first: int) -> Iterator[Window]:
        """The windows from that of scene `first` on."""
        settings = self.settings
        end = settings.start_index + settings.count if settings.count else None
        if end is not None and first >= end:
            return iter(())
        span = span_to_read(first, end - first if end else 0, settings.reset_counts_every)
        return windows_of(self._texts(span), settings.reset_counts_every)

    def _texts(self, span: Span) -> Iterator[SceneText]:
        yield from self.read.counted(self.scenes.texts(span.first, span.length))
        if self.stamp is not None and self.stamp != self.scenes.stamp():
            raise BadInput([Problem("changed while it was read", str(self.scenes.path))])

    def expected_scenes(self) -> int | None:
        """How many scenes the run is about, as far as can be told by now."""
        settings, there = self.settings, self.read.expected(self.scenes)
        if there is None:
            return settings.count or None
        there = max(there - settings.start_index, 0)
        return min(there, settings.count) if settings.count else there


@dataclass(frozen=True)
class Part:
    """A shard of a run: which one, the scenes of the whole run, and its own."""

    shard: Shard
    whole: Span
    own: Span

    def of(self, settings: Settings) -> Settings:
        """The shard's settings, given those of the whole run."""
        return replace(settings, start_index=self.own.first, count=self.own.length)

    def to_record(self) -> dict[str, int]:
        """For the shard's `info`, so that merging can tell what is missing."""
        (number, of), (first, length) = self.shard, self.whole
        return {"number": number, "of": of, "start_index": first, "count": length}


def generation_info(
    scenes: SceneSource,
    materials: Materials,
    settings: Settings,
    form: RecordForm,
    part: Part | None = None,
    excluded: Sequence[Location] = (),
) -> dict[str, Any]:
    """The output's `info`: the scenes' own, and how to make the file again. Nothing in it names a host or path."""
    scene_info = dict(scenes.info)
    made_scenes = scene_info.pop("generator", None)
    disjoint = {"disjoint_from": content_hash(excluded)} if excluded else {}
    return {
        **scene_info,
        **({"scene_generator": made_scenes} if made_scenes else {}),
        "generator": {
            "name": "vqagen",
            "version": __version__,
            "settings": settings.to_record(),
            "records": form.to_record(),
            **({"shard": part.to_record()} if part else {}),
            "inputs": {"scenes": content_hash(scenes.files), **materials.hashes, **disjoint},
            "families": [template.id for template in materials.templates],
        },
        "dialect": form.dialect,
    }


def telling_places(engine: Engine, scenes: SceneSource) -> Engine:
    """The engine, but what cannot be read is told with its place in the file, which only this process knows."""

    def run(work: Work, windows: Iterator[Window]) -> Generator[Block]:
        with closing(engine(work, windows)) as blocks:
            try:
                yield from blocks
            except UnreadableScene as unreadable:
                scenes.tell(unreadable)

    return run
