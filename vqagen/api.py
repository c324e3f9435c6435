"""What the commands do, as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, UsageError, VqagenError, unknown
from vqagen.files import content_hash
from vqagen.judge.verification import Mismatch, VerificationReport, verify_questions
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import load_templates
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.materials import DomainFiles, Materials, PathLike, find_domain, load_catalogue, load_materials
from vqagen.plugin import Undefined
from vqagen.run.windows import run_windows, span_to_read
from vqagen.tasks.questions import QuestionTask, Tally
from vqagen.tasks.settings import Settings
from vqagen.world.domain import Domain, load_domain
from vqagen.world.loading import SceneSource, find_scenes, load_scenes
from vqagen.world.sampler import sample_scenes as sample_scene_records
from vqagen.world.sampler import scene_document_info
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

__all__ = [
    "BadInput",
    "Catalogue",
    "Domain",
    "DomainFiles",
    "Generation",
    "Materials",
    "Mismatch",
    "Program",
    "Question",
    "Scene",
    "SceneSource",
    "Settings",
    "Undefined",
    "UsageError",
    "VerificationReport",
    "VqagenError",
    "compile_scene",
    "find_domain",
    "find_scenes",
    "generate",
    "load_domain",
    "load_materials",
    "load_scenes",
    "load_templates",
    "sample_scenes",
    "scene_info",
    "verify",
]


class Generation:
    """A run of the question generator: `by_scene` makes the questions, `tally` counts what happened meanwhile."""

    def __init__(self, scenes: SceneSource, materials: Materials, settings: Settings, marks: bool = False) -> None:
        """`marks`: whether questions tell where their text mentions objects."""
        self.scenes, self.materials, self.settings = scenes, materials, settings
        self.task = QuestionTask(materials.templates, materials.synonyms, settings, marks)
        self.tally = Tally()

    def by_scene(self) -> Iterator[tuple[Scene, list[Question]]]:
        """Each scene of the run, in order, with its questions."""
        settings = self.settings
        span = span_to_read(settings.start_index, settings.count, settings.reset_counts_every)
        scenes = load_scenes(self.scenes, self.materials.domain, span.first, span.length)
        return run_windows(
            scenes,
            settings.reset_counts_every,
            settings.start_index,
            lambda window: self.task.window(window, self.tally, settings.start_index),
        )

    def info(self) -> dict[str, Any]:
        """The output's `info`: the scenes' own, and how to make the file again. Nothing in it names a host or path."""
        scene_info = dict(self.scenes.info)
        made_scenes = scene_info.pop("generator", None)
        return {
            **scene_info,
            **({"scene_generator": made_scenes} if made_scenes else {}),
            "generator": {
                "name": "vqagen",
                "version": __version__,
                "settings": self.settings.to_record(),
                "inputs": {"scenes": content_hash(self.scenes.files), **self.materials.hashes},
                "families": [template.id for template in self.materials.templates],
            },
        }


def generate(
    scenes: PathLike,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: Sequence[str] = (),
    **settings: Any,
) -> Iterator[Question]:
    """Questions about the scenes of a file or folder, as `vqagen generate` makes them.

    `settings` are the fields of `Settings`, such as seed, count or templates_per_image. Raises VqagenError before the
    first question for anything that is wrong with what was given, and while reading for a scene that is.
    """
    chosen = make_settings(**settings)
    files = find_domain(domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins)
    run = Generation(find_scenes(scenes), load_materials(files), chosen)
    return (question for _, questions in run.by_scene() for question in questions)


def make_settings(**settings: Any) -> Settings:
    """Settings from keyword arguments; an unknown name is a UsageError that gives the nearest one."""
    known = Settings.names()
    wrong = [unknown("setting", name, known) for name in settings if name not in known]
    if wrong:
        raise UsageError("\n".join(wrong))
    return Settings(**settings)


def verify(
    questions: PathLike,
    scenes: PathLike,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: Sequence[str] = (),
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Run the program of every question of a file on its scene again, and compare the answers.

    `on_checked` is called now and then with the number of questions checked since, for a progress bar.
    """
    catalogue, _ = load_catalogue(find_domain(domain, metadata=metadata, plugins=plugins))
    return verify_questions(Path(questions), find_scenes(scenes), catalogue, on_checked)


def sample_scenes(
    count: int,
    *,
    seed: int = 0,
    start: int = 0,
    split: str = "sample",
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: Sequence[str] = (),
) -> Iterable[dict[str, Any]]:
    """Scene records drawn by the rules in a domain's metadata (default: CLEVR's), with no picture."""
    catalogue, _ = load_catalogue(find_domain(domain, metadata=metadata, plugins=plugins))
    return sample_scene_records(SamplingRules.from_domain(catalogue.domain), seed, start, count, split)


def scene_info(
    *,
    seed: int = 0,
    start: int = 0,
    split: str = "sample",
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    plugins: Sequence[str] = (),
) -> dict[str, Any]:
    """The `info` of a document of sampled scenes: what it is, and how to make it again."""
    files = find_domain(domain, metadata=metadata, plugins=plugins)
    made_by = {
        "name": "vqagen",
        "version": __version__,
        "settings": {"seed": seed, "start_index": start},
        "inputs": {"metadata": content_hash([files.metadata])},
    }
    return {**scene_document_info(split), "generator": made_by}
