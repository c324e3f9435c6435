"""Questions about scenes as a job for the runner: what they are made of, what workers get, what the `info` says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.files.locations import locate
from vqagen.files.shipped import require
from vqagen.language.domain_files import DomainFiles, LoadedDomain, PathLike, check_hashes
from vqagen.language.question import Question
from vqagen.language.question_records import record_writer
from vqagen.records.layouts import Encode
from vqagen.run.provenance import Arrangement, generator_info
from vqagen.run.scene_items import SceneInput, find_scene_input
from vqagen.run.shards import Shard, ShardPlan
from vqagen.run.windows import Span
from vqagen.run.work import Block, Item, Window, WindowTask
from vqagen.tasks.questions.excluded_files import ExcludedFiles
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.family_choice import load_families
from vqagen.tasks.questions.generator import QuestionTask
from vqagen.tasks.questions.settings import RecordForm, Settings
from vqagen.tasks.questions.tally import Tally
from vqagen.tasks.scene_blocks import CompiledScenes, blocks_of
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene

Made = tuple[Scene, list[Question]]
"""A scene, and the questions about it."""


class LoadedInputs(NamedTuple):
    """What a recipe names, loaded."""

    materials: LoadedDomain
    exclusion: Exclusion | None


@dataclass(frozen=True)
class QuestionInputs:
    """All that decides which questions are made about a scene, and how they are written."""

    files: DomainFiles
    settings: Settings
    form: RecordForm
    excluded: ExcludedFiles = field(default_factory=ExcludedFiles)

    def load(self, hashes: Mapping[str, str]) -> LoadedInputs:
        """Load the files, which must be those that the run began with: of these are the hashes."""
        materials = load_families(self.files, self.settings)
        check_hashes({role: known for role, known in hashes.items() if role != "disjoint_from"}, materials.hashes)
        return LoadedInputs(materials, self.excluded.load(hashes))


@dataclass(frozen=True)
class QuestionWork:
    """What a process needs in order to make questions. Written records begin with scene `first`."""

    recipe: QuestionInputs
    hashes: Mapping[str, str]
    """Of the files that the recipe names, by their role."""
    encode: Encode
    first: int
    ready: LoadedInputs | None = field(default=None, compare=False)
    """If they are loaded already. They stay in this process."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "ready": None}

    def load(self) -> WindowTask:
        """Load what is needed, and make the templates ready."""
        settings, form = self.recipe.settings, self.recipe.form
        materials, exclusion = self.ready or self.recipe.load(self.hashes)
        task = QuestionTask(materials.templates, materials.synonyms, settings, form.trace, exclusion)
        to_record = record_writer(form.dialect, **form.to_record())

        def blocks(items: Window) -> Iterator[Block]:
            tally = Tally()
            made = questions_about(items, materials.domain, task, tally, self.first)
            written = ((scene.index, (to_record(each, 0) for each in questions)) for scene, questions in made)
            return blocks_of(written, settings.reset_counts_every, self.encode, tally.taken)

        return blocks


def questions_about(
    items: Iterable[Item], domain: Domain, task: QuestionTask, tally: Tally, first: int
) -> Iterator[Made]:
    """The questions about each scene of a window from scene `first` on; those before it are only replayed."""
    scenes = CompiledScenes(items, domain)
    for scene, questions in scenes.named_in_errors(task.window(scenes, tally, first)):
        if scene.index >= first:
            yield scene, questions


@dataclass(frozen=True)
class QuestionJob:
    """A run of the question generator for the runner."""

    recipe: QuestionInputs
    scenes: SceneInput
    materials: LoadedDomain

    @property
    def settings(self) -> Settings:
        """Those of the shard, if it is one."""
        return self.recipe.settings

    @property
    def share(self) -> ShardPlan | None:
        """The shard, if it is one."""
        return self.scenes.share

    @property
    def first(self) -> int:
        """The first scene that questions are asked about."""
        return self.scenes.own.first

    @property
    def arrangement(self) -> Arrangement:
        """How questions stand in outputs."""
        return Arrangement("questions", "question_index", self.scenes.window)

    def info(self) -> dict[str, Any]:
        """The output's `info`: the scenes' own, and how to make the file again. Nothing in it names a host or path."""
        form, families = self.recipe.form, [template.id for template in self.materials.templates]
        return {
            **self.scenes.info(),
            "generator": generator_info(
                self.settings.to_record(),
                {**self.scenes.hashes(), **self._hashes()},
                self.arrangement,
                self.share,
                {"domain": self.recipe.files.name, "records": form.to_record(), "families": families},
            ),
            "dialect": form.dialect,
        }

    def _hashes(self) -> dict[str, str]:
        return {**self.materials.hashes, **self.recipe.excluded.hashes}

    def expected(self) -> int | None:
        """How many scenes the run is about, as far as can be told by now."""
        return self.scenes.expected()

    def work(self, first: int, encode: Encode) -> QuestionWork:
        """What workers need. What must not be asked is read here, and not for a run that has nothing left to do."""
        hashes = self._hashes()
        ready = LoadedInputs(self.materials, self.recipe.excluded.load(hashes))
        return QuestionWork(self.recipe, hashes, encode, first, ready)

    def windows(self, first: int) -> Iterator[Window]:
        """The windows from that of scene `first` on."""
        return self.scenes.windows(first)

    def errors_told(self) -> AbstractContextManager[None]:
        """Tells where a scene is that cannot be read."""
        return self.scenes.places_told()


def question_job(
    scenes: PathLike,
    files: DomainFiles,
    settings: Settings,
    form: RecordForm,
    shard: Shard | None = None,
    disjoint_from: Sequence[PathLike] = (),
) -> QuestionJob:
    """Find and load all that a run needs, but nothing that takes long. `settings` are those of the whole run.

    Raises VqagenError for whatever cannot be.
    """
    materials = load_families(files, settings)
    excluded = ExcludedFiles(tuple(require(locate(path), "questions") for path in disjoint_from))
    whole = Span(settings.start_index, settings.count)
    found = find_scene_input(scenes, whole, settings.reset_counts_every, shard)
    return QuestionJob(QuestionInputs(files, settings.cut_to(*found.own), form, excluded), found, materials)
