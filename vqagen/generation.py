"""Question generation in this process, for whoever wants questions as objects. What is written to files is made by the
same pieces: see `jobs.questions`.
"""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.language.domain_files import LoadedDomain
from vqagen.run.scene_items import SceneInput
from vqagen.run.windows import Span
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.generator import QuestionTask
from vqagen.tasks.questions.job import Made, questions_about
from vqagen.tasks.questions.settings import Settings
from vqagen.tasks.questions.tally import Tally
from vqagen.world.loading import SceneSource


class Generation:
    """A run of the question generator: `by_scene` makes the questions, `tally` counts what happened meanwhile."""

    def __init__(
        self,
        scenes: SceneSource,
        materials: LoadedDomain,
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
        settings, domain = self.settings, self.materials.domain
        whole = Span(settings.start_index, settings.count)
        scenes = SceneInput(self.scenes, whole, settings.reset_counts_every)
        with scenes.places_told():
            for window in scenes.windows(whole.first):
                yield from questions_about(window, domain, self.task, self.tally, whole.first)
