"""From nothing to a picture dataset: scenes, pictures, splits, questions, options, rows and a card, step by step.

Scenes, pictures, questions and dialogs are runs of their tasks, with workers, and go on where they were interrupted.
All other steps write their files whole, or not at all. What a step needs is read from the files of the steps before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import orjson

from vqagen import __version__
from vqagen.dataset.card import write_card
from vqagen.dataset.choices import write_choices
from vqagen.dataset.folder import LAST, Counts, DatasetFolder, changed_files, left_out_of, open_folder, write_sums
from vqagen.dataset.holdout import HoldOut, choose_held, hardly_visible, longest_kept, referred
from vqagen.dataset.joining import by_scene, join, shown, write_split
from vqagen.dataset.rows import (
    SPLITS,
    TEST,
    TRAIN,
    without_masks,
)
from vqagen.dataset.settings import (
    CONDITION,
    LENGTH,
    OF_DOMAIN,
    PICTURES,
    TEST_CONDITION,
    TRAIN_CONDITION,
    ChoiceSettings,
    DatasetSettings,
)
from vqagen.dataset.splits import groups_of, outline_of, split_scenes
from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import require_package
from vqagen.files.formats import JSON, JSON_LINES, Arrangement, record_file
from vqagen.files.locations import content_hash
from vqagen.files.parquet import pyarrow
from vqagen.files.records import open_records
from vqagen.language.domain_files import (
    DIALOGS,
    QUESTIONS,
    DomainFiles,
    LoadedDomain,
    PathLike,
    find_domain,
    load_domain_files,
)
from vqagen.language.program import Program
from vqagen.language.question import QUESTIONS as QUESTION_FILE
from vqagen.language.template import PLACE, PLACES
from vqagen.pictures.looks import SceneLooks
from vqagen.run.making import write_dialogs, write_pictures, write_questions, write_scenes
from vqagen.run.options import RunOptions
from vqagen.run.runner import OnProgress, Progress
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.rendering.settings import RENDERED, PictureSettings
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.loading import find_scenes
from vqagen.world.scene import compile_scene

ASKED_MORE = 4
"""Questions that are asked for each that is wanted, where most are then left out."""
OnStep = Callable[[str], AbstractContextManager[OnProgress]]
"""Called with what is made next; the context gives what to call with its progress."""


@dataclass(frozen=True)
class DatasetReport:
    """What is in a dataset."""

    place: Path
    steps: Mapping[str, Counts]
    """What each step counted."""
    was_complete: bool
    """True if there was nothing left to do."""

    def summary(self) -> str:
        """Return what was made and left out, in a few lines."""
        rows = {name: self.steps[f"rows {name}"] for name in SPLITS if f"rows {name}" in self.steps}
        pictures, questions = (sum(counts[key] for counts in rows.values()) for key in ("pictures", "questions"))
        splits = ", ".join(f"{name} {counts['questions']:,}" for name, counts in rows.items())
        lines = [f"{counted(pictures, 'picture')} and {counted(questions, 'question')} ({splits}) in {self.place}"]
        if dialogs := sum(counts.get("dialogs", 0) for counts in rows.values()):
            lines.append(counted(dialogs, "dialog"))
        left_out = left_out_of(self.steps)
        lines += [f"left out: {number:,} ({reason})" for reason, number in left_out.items()]
        lines += [f"audit of {name}: {verdict}" for name, verdict in self.steps[LAST]["verdicts"].items()]
        return "\n".join([*lines, f"open it: datasets.load_dataset({str(self.place)!r})"])


def write_dataset(
    out: PathLike,
    settings: DatasetSettings | None = None,
    files: DomainFiles | None = None,
    *,
    scenes: PathLike | None = None,
    options: RunOptions | None = None,
    on_step: OnStep = lambda _: nullcontext(lambda _: None),
) -> DatasetReport:
    """Make a dataset of pictures and questions in the folder `out`, or finish one of the same settings.

    `scenes` are pictured and asked about in place of sampled ones. Finished steps are never done again, also without
    `RunOptions(resume=True)`; `force` begins anew. Raises UsageError, with what differs, if the folder is another's.
    """
    settings, options = settings or DatasetSettings(), options or RunOptions()
    files = files or find_domain(task=QUESTIONS)
    if scenes is not None and settings.hold_out == CONDITION:
        raise UsageError(f"--hold-out {CONDITION} samples scenes by two conditions; leave out --scenes")
    if options.resume and options.force:
        raise UsageError("--resume finishes what is there and --force replaces it; choose one")
    pyarrow()
    require_package("sklearn", "stats", "the audit of a dataset")
    if settings.pictures == RENDERED:
        require_package("mitsuba", "render", "a rendered picture (a drawn one does not: --pictures drawn)")
    elif (settings.samples, settings.variant) != (DatasetSettings.samples, DatasetSettings.variant):
        raise UsageError(f"--samples and --variant are about rendered pictures; found --pictures {settings.pictures}")
    loaded = load_domain_files(files)
    if settings.choices != "none" and any(each.last_function.output in (PLACE, PLACES) for each in loaded.templates):
        require_package("PIL", "draw", "a letter on an object (none is drawn with --choices none)")
    holdout = choose_held(settings, loaded)
    recipe = {
        "vqagen": __version__,
        "settings": settings.to_record(),
        "domain": files.name,
        "inputs": {
            **loaded.hashes,
            **({"scenes": content_hash(find_scenes(scenes).files)} if scenes is not None else {}),
        },
    }
    folder = open_folder(out, recipe, options.force)
    running = replace(options, resume=True, force=False)
    build = _Build(folder, settings, loaded, holdout, running, None if scenes is None else str(scenes), on_step)
    was_complete = LAST in folder.steps
    build.run()
    if was_complete and (changed := [*changed_files(folder.place, {"steps": folder.steps})]):
        again = "--force makes the dataset anew"
        raise BadInput(Problem(f"{why}; {again}", str(folder.place / name)) for name, why in changed)
    return DatasetReport(folder.place, folder.steps, was_complete)


@dataclass
class _Build:
    """The steps of a dataset, in order."""

    folder: DatasetFolder
    settings: DatasetSettings
    loaded: LoadedDomain
    holdout: HoldOut
    options: RunOptions
    scenes: str | None
    on_step: OnStep

    def run(self) -> None:
        """Do all steps that are not finished."""
        if self.scenes is None:
            self._once("scenes", self._sample)
        self._once("pictures", self._picture)
        self._once("splits", self._split)
        splits = [name for name in SPLITS if self.folder.steps["splits"]["scenes"][name]]
        for name in splits:
            self._once(f"questions {name}", partial(self._ask, name, splits))
            if name == TRAIN and self.holdout.kind == LENGTH:
                longest = self.folder.once("longest", self._longest)["steps"]
                self.holdout = replace(self.holdout, longest=longest)
            self._once(f"kept {name}", partial(self._keep, name))
            if self.settings.choices != "none":
                self._once(f"options {name}", partial(self._give_options, name))
            if self.settings.dialogs:
                self._once(f"dialogs {name}", partial(self._talk, name))
        self._once("joined", partial(join, self.folder, self.settings, splits))
        for name in splits:
            self._once(f"rows {name}", partial(write_split, self.folder, self.settings, self.loaded, name))
        self._once(LAST, self._finish)

    def _finish(self, on_progress: OnProgress) -> Counts:
        counts = write_card(self.folder, self.settings, self.holdout, self.loaded, self.scenes)
        return {**counts, "files": write_sums(self.folder.place)}

    def _once(self, step: str, do: Callable[[OnProgress], Counts]) -> Counts:
        def shown() -> Counts:
            with self.on_step(step) as on_progress:
                return do(on_progress)

        return self.folder.once(step, shown)

    # Scenes -----------------------------------------------------------------------------------------------------------

    @property
    def _number(self) -> int:
        return self.settings.count or PICTURES

    @property
    def _test_from(self) -> int | None:
        """The place of the first scene of condition B, by which all test scenes are sampled; None without."""
        if self.settings.hold_out != CONDITION:
            return None
        return self._number - max(1, round(self._number * self.settings.parts[2] / 100))

    def _sample(self, on_progress: OnProgress) -> Counts:
        first, test_from = self.settings.start_index, self._test_from
        all_scenes = SamplingSettings(seed=self.settings.seed, start_index=first, count=self._number)
        parts = {"scenes.json": all_scenes}
        if test_from is not None:
            start, count = first + test_from, self._number - test_from
            parts = {
                "scenes-A.json": replace(all_scenes, count=test_from, condition=TRAIN_CONDITION),
                "scenes-B.json": replace(all_scenes, start_index=start, count=count, condition=TEST_CONDITION),
            }
        paths = [self.folder.path("steps", name) for name in parts]
        for path, settings in zip(paths, parts.values(), strict=True):
            write_scenes(path, settings, self.loaded.files, options=self.options, on_progress=on_progress)
        if test_from is not None:
            out, info = str(self.folder.path("steps", "scenes.json")), find_scenes(paths[0]).info
            with record_file(out, JSON, info, _ABOUT_SCENES) as writer:
                for path in paths:
                    writer.write(find_scenes(path).records())
        return {"scenes": self._number}

    def _picture(self, on_progress: OnProgress) -> Counts:
        chosen, given = self.settings, self.scenes is not None
        settings = PictureSettings(
            seed=chosen.seed,
            start_index=chosen.start_index if given else 0,
            count=chosen.count if given else 0,
            width=chosen.width,
            samples=chosen.samples,
            variant=chosen.variant,
            kind=chosen.pictures,
        )
        scenes = self.scenes or str(self.folder.path("steps", "scenes.json"))
        out = self.folder.path("pictures")
        write_pictures(scenes, out, self.loaded.files, settings, options=self.options, on_progress=on_progress)
        return {}

    def _split(self, on_progress: OnProgress) -> Counts:
        """Write the scenes with their splits and without their masks, all together and each split by itself."""
        source = find_scenes(self.folder.path("pictures", "scenes.json"))
        keys = [attribute.key for attribute in self.loaded.domain.attributes if attribute.compute is None]
        groups = groups_of(outline_of(scene, keys) for scene in source.records())
        splits = split_scenes(groups, self.settings.parts, self.settings.seed, self._test_from)
        files = {"": self.folder.path("scenes.json")}
        files |= {name: self.folder.path("steps", name, "scenes.json") for name in SPLITS}
        with ExitStack() as stack:
            writers = {
                name: stack.enter_context(record_file(str(path), JSON, source.info, _ABOUT_SCENES))
                for name, path in files.items()
            }
            scenes = shown(source.records(), "scene", len(splits), on_progress)
            for scene, name in zip(scenes, splits, strict=True):
                plain = without_masks(scene) | ({"split": name} if name else {})
                for file in dict.fromkeys(("", name)):
                    writers[file].write([plain])
        places = {name: [place for place, split in enumerate(splits) if split == name] for name in SPLITS}
        self.folder.path("steps", "places.json").write_bytes(orjson.dumps(places))
        near = "scenes of test nearly the same as one of another split"
        return {
            "scenes": {name: len(places[name]) for name in SPLITS},
            "together": len(splits) - len(groups),
            "left_out": {near: splits.count("")},
        }

    # Questions --------------------------------------------------------------------------------------------------------

    def _ask(self, name: str, splits: list[str], on_progress: OnProgress) -> Counts:
        """Ask what no earlier split asks, by text or program."""
        only = self.holdout.only(name)
        families = len(only or self.loaded.templates)
        asked = self.settings.questions
        if self.holdout.keeps_few(name) or self._looks.unshown:
            asked *= ASKED_MORE
        settings = QuestionSettings(
            seed=self.settings.seed, templates_per_image=min(asked, families), only=only, dedupe="image"
        )
        report = write_questions(
            self.folder.path("steps", name, "scenes.json"),
            self.folder.path("steps", name, "asked.jsonl"),
            self.loaded.files,
            settings,
            RecordForm(trace=True, reasoning=self.settings.reasoning),
            options=self.options,
            disjoint_from=[
                self.folder.path("steps", earlier, "asked.jsonl") for earlier in splits[: splits.index(name)]
            ],
            on_progress=on_progress,
        )
        return {"questions": report.records} if not report.was_complete else {}

    def _longest(self) -> Counts:
        source = open_records(self.folder.path("steps", TRAIN, "asked.jsonl"), QUESTION_FILE)
        return {"steps": longest_kept([len(record["program"]) for record in source.records()])}

    def _keep(self, name: str, on_progress: OnProgress) -> Counts:
        """Keep the questions that belong into the split, and whose objects can be seen."""
        scenes = find_scenes(self.folder.path("steps", name, "scenes.json"))
        source = open_records(self.folder.path("steps", name, "asked.jsonl"), QUESTION_FILE)
        left_out = Counter[str]()
        out, number = str(self.folder.path("steps", name, "kept.jsonl")), self.folder.steps["splits"]["scenes"][name]
        with record_file(out, JSON_LINES, source.info, _ABOUT_QUESTIONS) as writer:
            about = by_scene(shown(scenes.records(), "scene", number, on_progress), source.records())
            for place, scene, records in about:
                writer.write(self._kept(name, place, scene, records, left_out))
        return {"left_out": dict(left_out)}

    def _kept(
        self, name: str, place: int, scene: dict[str, Any], records: list[dict[str, Any]], left_out: Counter[str]
    ) -> Iterator[dict[str, Any]]:
        """Yield the questions about a scene that stay, at most as many as are wanted."""
        least, kept = self._least(scene), 0
        hidden = hardly_visible(scene, least)
        world = compile_scene(scene, self.loaded.domain, place)
        for record in records:
            program = Program.from_records(record["program"], self.loaded.catalogue)
            if not self.holdout.keeps(name, program, record["answer"]):
                left_out[f"question without what only test has, in {TEST}" if name == TEST else HELD] += 1
            elif not self._looks.shows(program):
                left_out[f"pictures do not show {', '.join(sorted(self._looks.unshown))}"] += 1
            elif hidden and hidden & referred(program, world):
                left_out[f"an object shows fewer than {least} pixels"] += 1
            elif kept == self.settings.questions:
                left_out[ENOUGH] += 1
            else:
                kept += 1
                yield record

    @cached_property
    def _looks(self) -> SceneLooks:
        return SceneLooks.from_domain(self.loaded.domain)

    def _least(self, scene: Mapping[str, Any]) -> int:
        """Return the pixels that an object must show; the domain's limit is that of pictures of its own width."""
        if self.settings.min_visible != OF_DOMAIN:
            return self.settings.min_visible
        return round(self._looks.rules.least_pixels(scene["camera"]["width"]))

    def _give_options(self, name: str, on_progress: OnProgress) -> Counts:
        chosen, files = self.settings, self.loaded.files
        source = self.folder.path("steps", name, "kept.jsonl")
        out = self.folder.path("steps", name, "options.jsonl")
        kept = open_records(source, QUESTION_FILE)
        if not kept.count():
            with record_file(str(out), JSON_LINES, kept.info, _ABOUT_QUESTIONS):
                return {}
        progress = Progress("question", "question", self.folder.steps.get(f"questions {name}", {}).get("questions"))

        def on_read(number: int) -> None:
            progress.items += number
            on_progress(progress)

        report = write_choices(
            source,
            self.folder.path("steps", name, "scenes.json"),
            out,
            ChoiceSettings(chosen.seed, hard=chosen.choices == "hard", rotations=chosen.rotations),
            metadata=files.metadata,
            synonyms=files.synonyms,
            plugins=files.plugins,
            force=True,
            on_read=on_read,
        )
        return {"left_out": dict(report.left_out)}

    def _talk(self, name: str, on_progress: OnProgress) -> Counts:
        files = self.loaded.files
        files = replace(files, templates=find_domain(files.name, task=DIALOGS).templates)
        write_dialogs(
            self.folder.path("steps", name, "scenes.json"),
            self.folder.path("steps", name, "dialogs.jsonl"),
            files,
            DialogSettings(seed=self.settings.seed, dialogs_per_image=self.settings.dialogs),
            options=self.options,
            on_progress=on_progress,
        )
        return {}


HELD = "question with what only test has"
ENOUGH = "more questions about a picture than wanted"
_ABOUT_SCENES = Arrangement("scenes", "", "scene", 0)
_ABOUT_QUESTIONS = Arrangement("questions", "", "scene", 0)
