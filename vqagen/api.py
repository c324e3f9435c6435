"""What the commands do, as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen import __version__
from vqagen.errors import BadInput, UsageError, VqagenError, unknown
from vqagen.files import content_hash, require, shipped
from vqagen.judge.verification import Mismatch, VerificationReport, verify_questions
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import find_template_files, load_templates
from vqagen.language.program import Program
from vqagen.language.question import Question
from vqagen.language.template import Template
from vqagen.language.wording import Synonyms, load_synonyms
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

PathLike = Path | str
DEFAULT_METADATA, DEFAULT_TEMPLATES, DEFAULT_SYNONYMS = "metadata/clevr.json", "templates/clevr", "synonyms.json"


@dataclass(frozen=True)
class Materials:
    """What questions are made of: a domain, its functions, templates, and ways to say things."""

    domain: Domain
    catalogue: Catalogue
    templates: tuple[Template, ...]
    synonyms: Synonyms
    hashes: dict[str, str]
    """Content hash of each input, by its role."""


def metadata_path(metadata: PathLike | None) -> Path:
    """The metadata file that is meant: the given one, or the shipped CLEVR domain's."""
    return require(Path(metadata) if metadata else shipped(DEFAULT_METADATA), "metadata")


def load_catalogue(metadata: PathLike | None = None) -> Catalogue:
    """A domain's vocabulary and functions, from a metadata file (default: the shipped CLEVR domain)."""
    return Catalogue(load_domain(metadata_path(metadata)))


def load_materials(
    metadata: PathLike | None = None, templates: PathLike | None = None, synonyms: PathLike | None = None
) -> Materials:
    """Load metadata, templates (a file or folder) and synonyms; each defaults to what vqagen ships.

    Raises BadInput with every mistake in the first of them that has any.
    """
    catalogue = load_catalogue(metadata)
    template_path = Path(templates) if templates else shipped(DEFAULT_TEMPLATES)
    synonym_path = require(Path(synonyms) if synonyms else shipped(DEFAULT_SYNONYMS), "synonyms")
    return Materials(
        domain=catalogue.domain,
        catalogue=catalogue,
        templates=load_templates(template_path, catalogue),
        synonyms=load_synonyms(synonym_path, catalogue.domain),
        hashes={
            "metadata": content_hash([metadata_path(metadata)]),
            "templates": content_hash([file.path for file in find_template_files(template_path)]),
            "synonyms": content_hash([synonym_path]),
        },
    )


class Generation:
    """A run of the question generator: `by_scene` makes the questions, `tally` counts what happened meanwhile."""

    def __init__(self, scenes: SceneSource, materials: Materials, settings: Settings) -> None:
        self.scenes, self.materials, self.settings = scenes, materials, settings
        self.task = QuestionTask(materials.templates, materials.synonyms, settings)
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
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    **settings: Any,
) -> Iterator[Question]:
    """Questions about the scenes of a file or folder, as `vqagen generate` makes them.

    `settings` are the fields of `Settings`, such as seed, count or templates_per_image. Raises VqagenError before the
    first question for anything that is wrong with what was given, and while reading for a scene that is.
    """
    chosen = make_settings(**settings)
    run = Generation(find_scenes(scenes), load_materials(metadata, templates, synonyms), chosen)
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
    metadata: PathLike | None = None,
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Run the program of every question of a file on its scene again, and compare the answers.

    `on_checked` is called now and then with the number of questions checked since, for a progress bar.
    """
    return verify_questions(Path(questions), find_scenes(scenes), load_catalogue(metadata), on_checked)


def sample_scenes(
    count: int, *, seed: int = 0, start: int = 0, split: str = "sample", metadata: PathLike | None = None
) -> Iterable[dict[str, Any]]:
    """Scene records drawn by the rules in a domain's metadata (default: CLEVR's), with no picture."""
    domain = load_catalogue(metadata).domain
    return sample_scene_records(SamplingRules.from_metadata(domain.record, domain.source), seed, start, count, split)


def scene_info(
    *, seed: int = 0, start: int = 0, split: str = "sample", metadata: PathLike | None = None
) -> dict[str, Any]:
    """The `info` of a document of sampled scenes: what it is, and how to make it again."""
    made_by = {
        "name": "vqagen",
        "version": __version__,
        "settings": {"seed": seed, "start_index": start},
        "inputs": {"metadata": content_hash([metadata_path(metadata)])},
    }
    return {**scene_document_info(split), "generator": made_by}
