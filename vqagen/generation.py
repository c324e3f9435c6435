"""Question generation in this process, for whoever wants questions as objects. What is written to files is made by the
same pieces: see `jobs.questions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from vqagen.language.domain_files import LoadedDomain
from vqagen.records.source import RecordSource
from vqagen.run.windows import Span, span_to_read, windows_of
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.generator import QuestionTask
from vqagen.tasks.questions.job import Made, questions_about
from vqagen.tasks.questions.settings import Settings
from vqagen.tasks.questions.tally import Tally
from vqagen.world.image_names import warn_repeats
from vqagen.world.loading import SceneSource, SceneText, UnreadableScene, given_scene_texts, scene_texts


class Generation:
    """A run of the question generator: `by_scene` makes the questions, `tally` counts what happened meanwhile."""

    def __init__(
        self,
        scenes: SceneSource | Iterable[Mapping[str, Any]],
        materials: LoadedDomain,
        settings: Settings,
        marks: bool = False,
        exclusion: Exclusion | None = None,
    ) -> None:
        """Load nothing yet. `scenes`: of a file, or records.

        With `marks`, questions say where their text mentions objects; `exclusion` is what must not be asked.
        """
        self.scenes, self.materials, self.settings = scenes, materials, settings
        self.task = QuestionTask(materials.templates, materials.synonyms, settings, marks, exclusion)
        self.tally = Tally()

    def by_scene(self) -> Iterator[Made]:
        """Each scene of the run, in order, with its questions."""
        settings, domain = self.settings, self.materials.domain
        first, size = settings.start_index, settings.reset_counts_every
        texts = texts_of(self.scenes, span_to_read(first, settings.count, size))
        with unreadable_located(self.scenes):
            for window in windows_of(texts, size):
                yield from questions_about(window, domain, self.task, self.tally, first)


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
