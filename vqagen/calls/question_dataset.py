"""Questions as objects, in this process: scene by scene, or about any scene at any time for programs that train."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, overload

from vqagen.errors import UsageError
from vqagen.language.domain_files import DomainFiles, LoadedDomain, PathLike, check_hashes
from vqagen.language.question import Question
from vqagen.records.source import RecordSource
from vqagen.run.windows import Span, span_to_read, window_of, windows_of
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.family_choice import load_families
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.tasks.questions.tally import Tally
from vqagen.tasks.questions.task import questions_about
from vqagen.world.image_names import warn_repeats
from vqagen.world.loading import (
    SceneSource,
    SceneText,
    UnreadableScene,
    find_scenes,
    given_scene_texts,
    scene_texts,
)
from vqagen.world.scene import Scene

WINDOWS_KEPT = 4
"""Balance windows whose questions a dataset remembers: those that were used last."""


class Generation:
    """A run of the question generator in this process: `by_scene` makes the questions, `tally` counts what happens."""

    def __init__(
        self,
        scenes: SceneSource | Iterable[Mapping[str, Any]],
        loaded: LoadedDomain,
        settings: QuestionSettings,
        marks: bool = False,
        exclusion: Exclusion | None = None,
    ) -> None:
        """Load nothing yet. `scenes`: of a file, or records.

        With `marks`, questions say where their text mentions objects; `exclusion` is what must not be asked.
        """
        self.scenes, self.loaded, self.settings = scenes, loaded, settings
        self.generator = QuestionGenerator(loaded.templates, loaded.synonyms, settings, marks, exclusion)
        self.tally = Tally()

    def by_scene(self) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield each scene of the run, in order, with its questions."""
        settings, domain = self.settings, self.loaded.domain
        first, size = settings.start_index, settings.reset_counts_every
        texts = texts_of(self.scenes, span_to_read(first, settings.count, size, settings.reads_ahead))
        with unreadable_located(self.scenes):
            for window in windows_of(texts, size):
                yield from questions_about(window, domain, self.generator, self.tally, first)


def texts_of(scenes: SceneSource | Iterable[Mapping[str, Any]], span: Span) -> Iterator[SceneText]:
    """Yield the scenes of a file, or given records, as texts."""
    if not isinstance(scenes, RecordSource):
        return given_scene_texts(scenes, *span)
    return warn_repeats(scene_texts(scenes, *span), scenes, span.first)


@contextmanager
def unreadable_located(scenes: SceneSource | Iterable[Mapping[str, Any]]) -> Iterator[None]:
    """Say of a scene that cannot be read where in its file it is."""
    try:
        yield
    except UnreadableScene as unreadable:
        assert isinstance(scenes, RecordSource)  # a record that was given can be read
        scenes.raise_unreadable(unreadable.index)


class QuestionDataset(Sequence[list[Question]]):
    """A map-style dataset: item i is the list of questions about the i-th scene, the same that `generate` yields.

    The questions about a scene depend on those about the scenes before it in its balance window (`reset_counts_every`
    scenes), which are made first where they are not remembered; with pairs, on those about its whole window. Items in
    order cost no more than `generate`; for items in random order choose small windows.

    The texts of all scenes are held in memory. A dataset can be pickled, as for the workers of a PyTorch DataLoader;
    each process then makes its own questions. The templates are pickled with it.
    """

    def __init__(
        self,
        scenes: SceneSource | Iterable[Mapping[str, Any]],
        files: DomainFiles,
        settings: QuestionSettings,
        marks: bool = False,
    ) -> None:
        if settings.dedupe == "all":
            raise UsageError("--dedupe all needs a whole output; a dataset cannot have it")
        self.settings, self._marks = settings, marks
        self._loaded = load_families(files, settings)
        self._hashes = self._loaded.hashes
        whole = Span(settings.start_index, settings.count)
        span = span_to_read(*whole, settings.reset_counts_every, settings.reads_ahead)
        self._texts = list(texts_of(scenes, span))
        self._base = self._texts[0].index if self._texts else whole.first
        self._counts: list[int] | None = None
        self._source = scenes if isinstance(scenes, RecordSource) else ()
        self._begin()

    def _begin(self) -> None:
        loaded = self._loaded
        self._generator = QuestionGenerator(loaded.templates, loaded.synonyms, self.settings, self._marks, None)
        self._windows: OrderedDict[int, _Window] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_generator", "_windows")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        check_hashes(self._hashes, self._loaded.hashes)
        self._begin()

    def __len__(self) -> int:
        """Return the number of scenes."""
        end = self._base + len(self._texts)
        return max(min(end, self.settings.end or end) - self.settings.start_index, 0)

    @overload
    def __getitem__(self, place: int) -> list[Question]: ...
    @overload
    def __getitem__(self, place: slice) -> list[list[Question]]: ...
    def __getitem__(self, place: int | slice) -> list[Question] | list[list[Question]]:
        """Return the questions about one scene, or a list of those about several."""
        if isinstance(place, slice):
            return [self._about(each) for each in range(len(self))[place]]
        return self._about(range(len(self))[place])

    def _about(self, place: int) -> list[Question]:
        index = self.settings.start_index + place
        number = window_of(index, self.settings.reset_counts_every)
        if number not in self._windows:
            self._windows[number] = self._window(number)
        self._windows.move_to_end(number)
        if len(self._windows) > WINDOWS_KEPT:
            self._windows.popitem(last=False)
        with unreadable_located(self._source):
            return list(self._windows[number].about(index))

    def _window(self, number: int) -> _Window:
        size = self.settings.reset_counts_every
        first = max(number * size, self._base)
        texts = self._texts[first - self._base : first - self._base + size if size else None]
        made = questions_about(texts, self._loaded.domain, self._generator, Tally(), first)
        return _Window(first, [], (questions for _, questions in made))

    @property
    def questions(self) -> Sequence[Question]:
        """All questions one by one, as a map-style dataset of questions.

        Their number is known when all were made, which the first use does: about a second for a thousand scenes.
        Use it once before the dataset goes to other processes, and they need not count again.
        """
        if self._counts is None:
            self._counts = list(accumulate(len(questions) for questions in self))
        return _SingleQuestions(self, self._counts)


@dataclass
class _Window:
    """The questions of one balance window, as far as they were asked for."""

    first: int
    made: list[list[Question]]
    rest: Iterator[list[Question]]

    def about(self, index: int) -> list[Question]:
        while len(self.made) <= index - self.first:
            self.made.append(next(self.rest))
        return self.made[index - self.first]


@dataclass(frozen=True)
class _SingleQuestions(Sequence[Question]):
    """The questions of a dataset, one by one. `ends[i]`: how many there are about the first i + 1 scenes."""

    dataset: QuestionDataset
    ends: list[int]

    def __len__(self) -> int:
        return self.ends[-1] if self.ends else 0

    @overload
    def __getitem__(self, place: int) -> Question: ...
    @overload
    def __getitem__(self, place: slice) -> list[Question]: ...
    def __getitem__(self, place: int | slice) -> Question | list[Question]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        number = range(len(self))[place]
        scene = bisect_right(self.ends, number)
        return self.dataset[scene][number - (self.ends[scene - 1] if scene else 0)]


def scenes_of(scenes: PathLike | Iterable[Mapping[str, Any]]) -> SceneSource | Iterable[Mapping[str, Any]]:
    """Return scenes to read from a file or folder, or the records that are given. UsageError for anything else."""
    if isinstance(scenes, str | Path):
        return find_scenes(scenes)
    if isinstance(scenes, Mapping) or not isinstance(scenes, Iterable):
        raise UsageError("scenes must be a file, a folder or a list of scene records, such as document['scenes']")
    return scenes
