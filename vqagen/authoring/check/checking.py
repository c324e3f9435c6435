"""Checks files: finds the kind and the domain of each, then its errors and warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.domains import DomainGroup, Grouping
from vqagen.authoring.check.reasoning_rules import check_reasoning
from vqagen.authoring.check.recognition import (
    DIALOG_TEMPLATES,
    DIALOGS,
    DIRECTOR,
    DIRECTOR_TEMPLATES,
    METADATA,
    OF_DIRECTOR,
    PLUGIN,
    QUESTIONS,
    SCENES,
    SYNONYMS,
    TEMPLATES,
    TRIALS,
    CheckedFile,
    find_files,
    recognise_all,
)
from vqagen.authoring.check.scene_files import check_scenes
from vqagen.authoring.check.synonym_rules import warn_ambiguous, warn_own_section, warn_plurals, warn_unknown
from vqagen.authoring.check.template_rules import (
    add_findings,
    add_rule_warnings,
    check_dialog_templates,
    read_template_file,
)
from vqagen.authoring.check.tryouts import SAMPLED, SEED, drawn_scene, try_out
from vqagen.authoring.item_catalogue import add_catalogue_findings
from vqagen.errors import BadInput, VqagenError
from vqagen.files.locations import shipped
from vqagen.files.parsing import parse_json, read_text
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import PlacedTemplate, TemplateFile
from vqagen.language.synonyms import Synonyms, load_synonyms
from vqagen.pictures.looks import SceneLooks
from vqagen.plugin import Declarations
from vqagen.plugin.loading import load_plugins
from vqagen.tasks.director.instructions import read_instructions
from vqagen.world.domain import Domain, load_domain
from vqagen.world.loading import SceneSource, find_scenes, load_scenes
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene

T = TypeVar("T")
SAMPLES = 2_000
OnCounted = Callable[[int], None]


def check_paths(
    paths: Sequence[Path | str],
    *,
    domain: str | None = None,
    metadata: str | None = None,
    plugins: Sequence[str] = (),
    scenes: Path | str | None = None,
    samples: int = SAMPLES,
    on_progress: OnCounted = lambda _: None,
) -> CheckReport:
    """Check files, and all files in folders. No file is changed; a mistake in a file raises nothing.

    The content of a file shows whether it holds metadata, templates, synonyms, scenes, a plug-in, or a catalogue or
    instructions of the director task.
    `domain` or `metadata` names the domain to check against; the default is the nearest metadata. Templates are tried
    on the scenes of the file `scenes`, or else on up to `samples` sampled scenes (0: none). `on_progress` is called
    with numbers of scenes tried. Raises UsageError if there is nothing to check.
    """
    report = CheckReport()
    items = recognise_all(find_files(paths, report), report)
    of_director = [item for item in items if item.kind in OF_DIRECTOR]
    _check_director_files(of_director, report)
    items = [item for item in items if item not in of_director]
    groups = Grouping(items, domain, metadata, plugins, report).run()
    checks = [_DomainCheck(group, report) for group in groups]
    for check in checks:
        placed = check.run()
        if placed and samples:
            check.try_out(placed, Path(scenes) if scenes else None, samples, on_progress)
    for item in items:
        if item.kind in (QUESTIONS, DIALOGS) and item.path in map(Path, paths):  # in a folder, beside what made them
            report.of(item.path).not_checked.append(f"{item.kind}: see `vqagen verify`")
        if item.kind == SYNONYMS:
            _check_unknown_synonyms(item.path, checks, report)
    return report.finished()


def _check_unknown_synonyms(path: Path, checks: Sequence[_DomainCheck], report: CheckReport) -> None:
    served = [check.catalogue.domain for check in checks if check.catalogue and check.synonyms_path == path]
    if served and not report.of(path).errors:
        with report.listening(path, "not-json"):
            warn_unknown(path, served, report)


def _check_director_files(items: Sequence[CheckedFile], report: CheckReport) -> None:
    """Add the findings of catalogues and of instructions, which belong to no domain.

    The instructions of one folder are used together.
    """
    for item in items:
        if item.kind == TRIALS:
            report.of(item.path).not_checked.append("trials: see `vqagen verify`")
        elif item.kind == DIRECTOR and not report.of(item.path).errors:
            add_catalogue_findings(item.path, report)
    instructions = sorted((item for item in items if item.kind == DIRECTOR_TEMPLATES), key=lambda item: item.folders[0])
    for _, together in groupby(instructions, key=lambda item: item.folders[0]):
        paths = [item.path for item in together]
        with report.listening(paths[0], "not-json"):
            _, problems = read_instructions([TemplateFile(path, path.name) for path in paths])
        report.add_errors(paths[0], problems)


class _DomainCheck:
    """Checks the files of one domain."""

    def __init__(self, group: DomainGroup, report: CheckReport) -> None:
        self.group, self.report = group, report
        self.catalogue: Catalogue | None = None
        self.synonyms_path: Path | None = None
        self.sound: list[tuple[CheckedFile, SceneSource]] = []
        """Scene files without errors."""

    def run(self) -> list[PlacedTemplate]:
        """Add all findings but those of trying templates out; return the templates that have no mistakes."""
        metadata = self.group.metadata
        for item in self.group.items:
            self.report.of(item.path).domain = str(metadata)
        declared = self.declarations()
        if declared is None:
            self.skip((METADATA, TEMPLATES, DIALOG_TEMPLATES, SYNONYMS, SCENES), "a plug-in")
            return []
        self.read(lambda: parse_json(read_text(metadata), str(metadata)), "not-json")
        domain = self.read(lambda: load_domain(metadata, declared), "no-effect")
        if domain is None:
            self.skip((TEMPLATES, DIALOG_TEMPLATES, SYNONYMS, SCENES), f"the metadata ({metadata})")
            return []
        self.catalogue = self.read(lambda: Catalogue(domain, declared), "no-effect")
        if self.catalogue and any(self.of_kind(METADATA)):
            check_reasoning(self.catalogue, self.report)
        synonyms = self.check_vocabulary(domain)
        dialog_templates = [item.path for item in self.of_kind(DIALOG_TEMPLATES)]
        check_dialog_templates(dialog_templates, domain, synonyms, self.report)
        for item in self.readable(SCENES):
            load = partial(check_scenes, item.path, domain, self.report.of(item.path))
            source = self.report.read(item.path, "not-json", load)
            self.sound += [(item, source)] if source else []
        if self.catalogue is None:
            self.skip((TEMPLATES,), f"the metadata ({metadata})")
            return []
        files = [read_template_file(item.path, self.catalogue, self.report) for item in self.of_kind(TEMPLATES)]
        placed = [each for of_file in files for each in of_file]
        add_rule_warnings(placed, self.report)
        return placed

    def of_kind(self, *kinds: str) -> Iterator[CheckedFile]:
        return (item for item in self.group.items if item.kind in kinds)

    def readable(self, kind: str) -> Iterator[CheckedFile]:
        """Yield the files of a kind that are JSON; the others have their error already."""
        return (item for item in self.of_kind(kind) if not self.report.of(item.path).errors)

    def skip(self, kinds: Sequence[str], culprit: str) -> None:
        for item in self.of_kind(*kinds):
            if not self.report.of(item.path).errors:
                self.report.of(item.path).not_checked.append(f"{culprit} has mistakes")

    def read(self, load: Callable[[], T], code: str) -> T | None:
        return self.report.read(self.group.metadata, code, load)

    # Metadata, plug-ins, synonyms -----------------------------------------------------------------------------------

    def declarations(self) -> Declarations | None:
        """Return what plug-ins add; None if one has mistakes."""
        path = next((item.path for item in self.of_kind(PLUGIN)), self.group.metadata)
        return self.report.read(path, "no-effect", lambda: load_plugins(self.group.plugins))

    def check_vocabulary(self, domain: Domain) -> Synonyms | None:
        """Check what is said about the domain; return its synonyms if they have no mistakes."""
        path = self.group.metadata
        if any(self.of_kind(METADATA)):
            warn_own_section(domain, self.report)
            if {"sampling", "render"} & domain.record.keys():
                rules = self.read(lambda: SamplingRules.from_domain(domain), "no-effect")
                if rules and "render" in domain.record:
                    self.read(lambda: SceneLooks.from_domain(domain), "no-effect")
        shared = None if domain.synonyms_section else self.group.shared
        self.synonyms_path = self.group.synonyms or shared
        used = self.synonyms_path or (None if domain.synonyms_section else shipped("synonyms.json"))
        synonyms = self.report.read(used or path, "not-json", lambda: load_synonyms(used, domain))
        if synonyms and any(self.of_kind(METADATA, SYNONYMS)):
            with self.report.listening(used or path, "not-json"):
                warn_ambiguous(synonyms, domain, self.synonyms_path, self.report)
                warn_plurals(synonyms, domain, self.report)
        return synonyms

    # Templates ----------------------------------------------------------------------------------------------------

    def try_out(self, placed: Sequence[PlacedTemplate], path: Path | None, samples: int, on_scene: OnCounted) -> None:
        """Try templates on the scenes of a file, or on up to `samples` sampled ones, and add what that shows."""
        scenes, source = self.scenes_to_try(placed[0].template.catalogue.domain, path, samples)
        if scenes is None:
            return
        try:
            add_findings(try_out(placed, scenes, source, on_scene, self.note), placed, self.report)
        except BadInput as error:
            self.report.add_errors(path or self.group.metadata, error.problems)
        except VqagenError as error:
            self.report.note(f"templates were not tried out: {error}")

    def note(self, text: str) -> None:
        self.report.note(f"{self.group.metadata}: {text}")

    def scenes_to_try(self, domain: Domain, path: Path | None, samples: int) -> tuple[Iterator[Scene] | None, str]:
        """Return the scenes to try templates on, and a word for their source.

        The scenes are those of the given file; else sampled ones; else, if the domain cannot sample, those of a checked
        file.
        """
        if path:
            source = self.report.read(path, "not-json", lambda: find_scenes(path))
            return (load_scenes(source, domain) if source else None), "given"
        try:
            rules = SamplingRules.from_domain(domain)
        except BadInput as error:
            if self.sound:
                return load_scenes(self.sound[0][1], domain), "checked"
            why = f"no scenes can be sampled ({error.problems[0].message})"
            self.note(f"{why}, so templates were not tried out; give --scenes")
            return None, ""
        return (drawn_scene(rules, domain, SEED, index) for index in range(samples)), SAMPLED
