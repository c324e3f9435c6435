"""From nothing, or from scenes, to a dataset: each step is a file or a folder, and a step that is there is done.

    scenes -> pictures -> splits -> questions (-> dialogs) -> those that can be seen -> options -> Parquet -> card

    OUT/dataset.json         what was asked for; a run with other settings is another dataset
    OUT/pictures/            pictures, and scenes with boxes and masks; scenes of condition B: `pictures-test`
    OUT/scenes/SPLIT.json    the scenes of each split
    OUT/questions/SPLIT.jsonl
    OUT/data, OUT/dialogs    Parquet
    OUT/README.md            the card, written last
    OUT/build/               what lies between the steps; deleted in the end

Steps that take long are runs of `vqagen.run`, which go on where they were interrupted. The questions of a split are
made apart, so that each is balanced by itself, and have neither text nor program in common with those of splits before.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, islice
from math import ceil
from pathlib import Path
from typing import Any

import orjson

from vqagen import __version__
from vqagen.dataset.card import Contents, audited, card
from vqagen.dataset.choice_settings import ChoiceSettings
from vqagen.dataset.choices_file import write_choices
from vqagen.dataset.holdout import HoldOut, choose_held, longest_kept
from vqagen.dataset.parquet import write_rows
from vqagen.dataset.rows import (
    ANSWER_TYPES,
    DIALOG_FEATURES,
    FEATURES,
    SPLITS,
    Row,
    dialog_row,
    picture_columns,
    question_row as row_of_question,
)
from vqagen.dataset.settings import (
    CONDITION,
    LENGTH,
    OF_DOMAIN,
    PICTURES,
    TEST_CONDITION,
    TRAIN_CONDITION,
    DatasetSettings,
)
from vqagen.dataset.splits import groups_of, outline_of, split_scenes
from vqagen.dataset.visibility import hardly_visible, is_visible
from vqagen.errors import BadInput, PlaceError, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.files.formats import JSON, JSON_LINES, Arrangement, Format, record_file
from vqagen.files.info import differences
from vqagen.files.locations import content_hash
from vqagen.files.output import atomic_output
from vqagen.files.records import RecordSource, open_records
from vqagen.language.domain_files import (
    DEFAULT_DOMAIN,
    DIALOGS,
    DomainFiles,
    LoadedDomain,
    PathLike,
    find_domain,
    load_domain_files,
)
from vqagen.language.program import Program
from vqagen.language.question_files import QUESTIONS
from vqagen.run.making import write_dialogs, write_pictures, write_questions, write_scenes
from vqagen.run.options import RunOptions
from vqagen.run.runner import OnProgress, Progress
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.tasks.rendering.settings import RENDERED, PictureSettings
from vqagen.tasks.rendering.task import FOLDER
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.loading import SCENES, find_scenes
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import compile_scene

MARK, CARD, BUILD = "dataset.json", "README.md", "build"
BATCH = 1000
PICTURES_OF_A_FILE = 2000
"""Pictures in one Parquet file, half a gigabyte of rendered ones."""
HIDDEN, HELD_OUT = "an object can hardly be seen", "held out of the split"
"""Why questions are left out, besides the reasons of options."""
SHOWN = 8
"""Differences from another dataset that are named."""

OnStep = Callable[[str], AbstractContextManager[OnProgress]]
"""Called with the name of a step; within it, the function that it gives is called with how far the step is."""


@dataclass(frozen=True)
class DatasetReport:
    """What is in a dataset."""

    pictures: Mapping[str, int]
    """Split -> pictures."""
    questions: Mapping[str, int]
    """Split -> rows."""
    dialogs: Mapping[str, int]
    left_out: Mapping[str, int]
    """Reason -> questions that are not in it."""
    audit_passes: Mapping[str, bool]
    """Split -> whether the audit found no shortcut; without splits too small to tell."""
    was_complete: bool = False

    def summary(self) -> str:
        """Return a few lines for people."""
        lines = [
            f"{split}: {counted(self.pictures[split], 'picture')}, {counted(self.questions[split], 'question')}"
            + (f", {counted(self.dialogs[split], 'dialog')}" if self.dialogs else "")
            + {None: "", True: ", audit passes", False: ", audit FAILS"}[self.audit_passes.get(split)]
            for split in self.pictures
        ]
        if self.left_out:
            reasons = "; ".join(f"{why} {number:,}×" for why, number in self.left_out.items())
            lines.append(f"left out: {reasons}")
        return "\n".join(lines)

    def to_record(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {name: dict(value) for name, value in vars(self).items() if isinstance(value, Mapping)}


def write_dataset(
    out: PathLike,
    settings: DatasetSettings | None = None,
    *,
    scenes: PathLike | None = None,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    options: RunOptions | None = None,
    on_step: OnStep = lambda _: nullcontext(lambda _: None),
) -> DatasetReport:
    """Make a dataset of questions with pictures, options, splits, Parquet files and a card in the folder `out`.

    `scenes` are those of a file or folder; without them, scenes are sampled by the rules in the domain's metadata.
    Whatever ends this early, `RunOptions(resume=True)` goes on. Raises UsageError for a folder that is there and is
    neither to be finished nor replaced, or is another dataset's, and BadInput for what is wrong with scenes or domain.
    """
    given: dict[str, Any] = {
        "metadata": metadata, "templates": templates, "synonyms": synonyms, "plugins": plugins,
    }  # fmt: skip
    for module, extra in (("pyarrow", "parquet"), ("sklearn", "stats")):
        needed(module, extra, "a dataset")  # before the pictures, not after them
    settings = settings or DatasetSettings()
    if settings.pictures == RENDERED:
        needed("mitsuba", "render", "rendering; drawn pictures do not: --pictures drawn")
    if scenes is not None and settings.hold_out == CONDITION:
        raise UsageError("--hold-out condition samples scenes by the metadata's conditions; leave out --scenes")
    return _Build(Path(out), settings, scenes, domain, given, options or RunOptions(), on_step).run()


@dataclass(frozen=True)
class _Part:
    """Scenes whose pictures are made in one run."""

    folder: str
    condition: str
    start: int
    count: int


@dataclass
class _Build:
    """The steps of a dataset. Each method that makes a file does nothing if the file is there."""

    out: Path
    settings: DatasetSettings
    scenes: PathLike | None
    domain: PathLike | None
    given: Mapping[str, Any]
    options: RunOptions
    on_step: OnStep
    left_out: Counter[str] = field(default_factory=Counter)

    @cached_property
    def files(self) -> DomainFiles:
        return find_domain(self.domain, **self.given)

    @cached_property
    def loaded(self) -> LoadedDomain:
        return load_domain_files(self.files)

    @cached_property
    def rules(self) -> SamplingRules:
        return SamplingRules.from_domain(self.loaded.domain)

    @property
    def resuming(self) -> RunOptions:
        """The options of the runs inside."""
        return replace(self.options, resume=True, force=False)

    def path(self, *names: str) -> Path:
        """Return a place in the dataset, in a folder that exists."""
        found = self.out.joinpath(*names)
        found.parent.mkdir(parents=True, exist_ok=True)
        return found

    def run(self) -> DatasetReport:
        """Do all steps."""
        held_out = choose_held(self.settings, self.loaded)
        if self._is_complete():
            shutil.rmtree(self.out / BUILD, ignore_errors=True)
            said = orjson.loads((self.out / MARK).read_bytes())["report"]
            return DatasetReport(**said, was_complete=True)
        pictured = [self._pictures(part) for part in self._parts()]
        numbers = self._splits(pictured)
        made = [split for split in SPLITS if numbers[split]]
        held_out = self._questions(made, held_out)
        dialogs = {split: self._dialogs(split, numbers[split]) for split in made} if self.settings.dialogs else {}
        questions, first = dict[str, int](), 0
        for split in made:
            questions[split] = self._rows(split, numbers[split], first)
            first += questions[split]
        if not first:
            reasons = "; ".join(f"{why} {number:,}×" for why, number in self.left_out.items())
            raise BadInput([Problem(f"no question is left ({reasons or 'none was made'}); make more", str(self.out))])
        return self._finish(Contents(numbers, questions, dialogs, dict(self.left_out), held_out.sentence()), made)

    # The folder -------------------------------------------------------------------------------------------------------

    def _is_complete(self) -> bool:
        """Claim the folder; True if the dataset in it is complete. UsageError if it is not ours to write."""
        out, mark = self.out, self.out / MARK
        if self.options.resume and self.options.force:
            raise UsageError("--resume finishes what is there and --force replaces it; choose one")
        if out.exists() and not out.is_dir():
            raise PlaceError(f"output {out} is no folder; name a new folder")
        if not out.absolute().parent.is_dir():
            raise PlaceError(f"folder {out.absolute().parent} does not exist; create it first")
        wanted = self._wanted()
        if out.is_dir() and any(out.iterdir()):
            if not mark.is_file():
                raise UsageError(f"{out} holds something else than a dataset; name a new folder")
            if self.options.force:
                shutil.rmtree(out)
            elif not self.options.resume:
                raise UsageError(f"{out} holds a dataset; give --resume to finish it, or --force to replace it")
            else:
                there = orjson.loads(mark.read_bytes())
                found = list(differences(wanted, {key: there.get(key) for key in wanted}))
                if found:
                    shown = "\n".join(f"  {each}" for each in found[:SHOWN])
                    raise UsageError(f"{out} is another dataset; --force replaces it. There:\n{shown}")
                return "report" in there and (out / CARD).is_file()
        self._write_mark(wanted)
        return False

    def _wanted(self) -> dict[str, Any]:
        """Return what makes this dataset what it is."""
        inputs = dict(self.loaded.hashes)
        if self.scenes is not None:
            inputs["scenes"] = content_hash(find_scenes(self.scenes).files)
        return {
            "vqagen": __version__,
            "domain": self.files.name,
            "settings": orjson.loads(orjson.dumps(self.settings.to_record())),
            "inputs": inputs,
        }

    def _write_mark(self, content: Mapping[str, Any]) -> None:
        with atomic_output(str(self.path(MARK))) as file:
            file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")

    # Scenes and pictures ----------------------------------------------------------------------------------------------

    def _parts(self) -> list[_Part]:
        start, count = self.settings.start_index, self.settings.count
        if self.scenes is not None:
            return [_Part("pictures", "", start, count)]
        count = count or PICTURES
        if self.settings.hold_out != CONDITION:
            return [_Part("pictures", "", start, count)]
        of_test = max(1, round(count * self.settings.parts[2] / 100))
        return [
            _Part("pictures", TRAIN_CONDITION, start, count - of_test),
            _Part("pictures-test", TEST_CONDITION, start + count - of_test, of_test),
        ]

    def _pictures(self, part: _Part) -> Path:
        """Make the pictures of a part; return the file of its scenes."""
        scenes, seed = self.scenes, self.settings.seed
        drawn = PictureSettings(seed=seed, kind=self.settings.pictures)
        if scenes is None:
            scenes = self.path(BUILD, f"{part.folder}.json")
            sampling = SamplingSettings(seed=seed, start_index=part.start, count=part.count, condition=part.condition)
            with self.on_step("scenes") as on_progress:
                write_scenes(scenes, sampling, self.files, options=self.resuming, on_progress=on_progress)
        else:
            drawn = replace(drawn, start_index=part.start, count=part.count)
        folder = self.path(part.folder)
        with self.on_step("pictures") as on_progress:
            write_pictures(scenes, folder, self.files, drawn, options=self.resuming, on_progress=on_progress)
        return folder / "scenes.json"

    def _splits(self, pictured: Sequence[Path]) -> dict[str, list[int]]:
        """Write the scenes of each split; return split -> the numbers of its scenes among all."""
        sources = [open_records(str(path), SCENES) for path in pictured]
        attributes = [each.key for each in self.loaded.domain.attributes if each.compute is None]
        outlines = [outline_of(scene, attributes) for source in sources for scene in source.records()]
        test_from = sources[0].count() if self.settings.hold_out == CONDITION else None
        split = split_scenes(groups_of(outlines), self.settings.parts, self.settings.seed, test_from)
        if split.left_out:
            self.left_out["the scene is nearly one of another split"] += split.left_out
        numbers = {name: [place for place, each in enumerate(split.names) if each == name] for name in SPLITS}
        for name in filter(numbers.__getitem__, SPLITS):
            path = self.path("scenes", f"{name}.json")
            if not path.exists():
                kept = zip(split.names, (scene for source in sources for scene in source.records()), strict=True)
                records = ({**scene, "split": name} for of, scene in kept if of == name)
                _write(path, JSON, {**sources[0].info, "split": name}, "scenes", records)
        return numbers

    # Questions --------------------------------------------------------------------------------------------------------

    def _questions(self, made: Sequence[str], held_out: HoldOut) -> HoldOut:
        """Write the questions of each split, with options; return what is held out of all but test."""
        earlier = list[Path]()
        for split in made:
            asked = self._asked(split, held_out, earlier)
            earlier.append(asked)
        if held_out.kind == LENGTH:
            lengths = [
                len(each["program"]) for path in earlier for each in open_records(str(path), QUESTIONS).records()
            ]
            held_out = replace(held_out, longest=longest_kept(lengths))
        for split, asked in zip(made, earlier, strict=True):
            self._options(split, self._kept(split, asked, held_out))
        return held_out

    def _asked(self, split: str, held_out: HoldOut, earlier: Sequence[Path]) -> Path:
        path = self.path(BUILD, f"asked-{split}.jsonl")
        families = len(self.loaded.templates)
        wanted = min(held_out.asks(split, self.settings.questions, families), families)
        asking = QuestionSettings(seed=self.settings.seed, templates_per_image=wanted, only=held_out.only(split))
        with self.on_step(f"questions, {split}") as on_progress:
            write_questions(
                self._scenes(split),
                path,
                self.files,
                asking,
                options=self.resuming,
                disjoint_from=earlier,
                on_progress=on_progress,
            )
        return path

    def _kept(self, split: str, asked: Path, held_out: HoldOut) -> Path:
        """Write the questions about objects that can be seen, and that belong into the split."""
        path = self.path(BUILD if self.settings.choices != "none" else "questions", f"{split}.jsonl")
        source = open_records(str(asked), QUESTIONS)
        least = self.settings.min_visible
        if least == OF_DOMAIN:
            least = self.rules.min_visible_pixels
        reasons = Counter[str]()

        def kept() -> Iterator[Mapping[str, Any]]:
            scenes = find_scenes(self._scenes(split)).records()
            place, hidden, scene = -1, 0, None
            for record in source.records():
                while place < record["scene_index"]:
                    place, given = place + 1, next(scenes)
                    hidden, scene = hardly_visible(given, least) or 0, compile_scene(given, self.loaded.domain)
                assert scene is not None
                program = Program.from_records(record["program"], self.loaded.catalogue)
                if not is_visible(program, scene, hidden):
                    reasons[HIDDEN] += 1
                elif not held_out.keeps(split, program, str(record["answer"])):
                    reasons[HELD_OUT] += 1
                else:
                    yield record

        if not path.exists():
            _write(path, JSON_LINES, source.info, "questions", kept(), lambda: {"left_out": dict(reasons)})
        self.left_out.update(open_records(str(path), QUESTIONS).info["left_out"])
        return path

    def _options(self, split: str, kept: Path) -> None:
        if self.settings.choices == "none":
            return
        path, seed = self.path("questions", f"{split}.jsonl"), self.settings.seed
        choosing = ChoiceSettings(seed=seed, hard=self.settings.choices == "hard", rotations=self.settings.rotations)
        if not path.exists():
            names = {key: value for key, value in self.given.items() if key != "templates"}
            with self.on_step(f"options, {split}") as on_progress:
                progress = Progress("question", "question")

                def count(number: int) -> None:
                    progress.items += number
                    on_progress(progress)

                write_choices(kept, self._scenes(split), path, choosing, domain=self.domain, on_read=count, **names)
        self.left_out.update(open_records(str(path), QUESTIONS).info["choices"]["left_out"])

    def _dialogs(self, split: str, numbers: Sequence[int]) -> int:
        """Make the dialogs of a split and their rows; return how many."""
        path = self.path(BUILD, f"dialogs-{split}.jsonl")
        talking = DialogSettings(seed=self.settings.seed, dialogs_per_image=self.settings.dialogs)
        own = {key: value for key, value in self.given.items() if key != "templates"}
        files = find_domain(self.domain, **own, task=DIALOGS)
        with self.on_step(f"dialogs, {split}") as on_progress:
            write_dialogs(self._scenes(split), path, files, talking, options=self.resuming, on_progress=on_progress)
        records = find_dialogs(path)
        return self._parquet(split, "dialogs", numbers, records, DIALOG_FEATURES, dialog_row)

    # Rows -------------------------------------------------------------------------------------------------------------

    def _rows(self, split: str, numbers: Sequence[int], first: int) -> int:
        """Write the rows of the questions of a split, of which `first` is the number of the first; return how many."""
        catalogue = self.loaded.catalogue
        family_of = {(each.file, each.index): each.id for each in self.loaded.templates}

        def row(record: Mapping[str, Any], picture: Mapping[str, Any], number: int) -> Row:
            output = catalogue[record["program"][-1]["type"]].output
            family = family_of[record["template_filename"], record["question_family_index"]]
            return row_of_question(record, picture, first + number, ANSWER_TYPES.get(output, "value"), family)

        source = open_records(str(self.out / "questions" / f"{split}.jsonl"), QUESTIONS)
        return self._parquet(split, "data", numbers, source, FEATURES, row)

    def _parquet(
        self,
        split: str,
        folder: str,
        numbers: Sequence[int],
        source: RecordSource,
        features: Mapping[str, Any],
        row_of: Callable[[Mapping[str, Any], Mapping[str, Any], int], Row],
    ) -> int:
        """Write records about pictures as rows; return how many. Files have PICTURES_OF_A_FILE pictures each."""
        scenes = enumerate(find_scenes(self._scenes(split)).records())
        written = 0

        def rows(pictures: Iterator[Any], progress: Progress, on_progress: OnProgress) -> Iterator[Row]:
            nonlocal written
            for index, records in pictures:
                place, scene = next(scenes)
                while place < index:
                    place, scene = next(scenes)
                picture = picture_columns(scene, self.settings.start_index + numbers[place], self._image(scene))
                for record in records:
                    yield row_of(record, picture, written)
                    written += 1
                progress.items += 1
                on_progress(progress)

        files = ceil(len(numbers) / PICTURES_OF_A_FILE)
        pictures = groupby(source.records(), key=lambda record: record["scene_index"])
        with self.on_step(f"rows, {split}") as on_progress:
            progress = Progress("picture", "row", expected=len(numbers))
            for number in range(files):
                name = f"{split}-{number:05}-of-{files:05}.parquet"
                some = islice(pictures, PICTURES_OF_A_FILE)
                write_rows(self.path(folder, name), rows(some, progress, on_progress), features)
        return written

    def _image(self, scene: Mapping[str, Any]) -> bytes:
        name: str = scene["image_filename"]
        found = (self.out / folder / FOLDER / name for folder in ("pictures", "pictures-test"))
        path = next((each for each in found if each.is_file()), None)
        if path is None:
            message = f"there is no picture {name} any more; delete {self.out / 'pictures'} and give --resume"
            raise PlaceError(message)
        return path.read_bytes()

    def _scenes(self, split: str) -> Path:
        return self.out / "scenes" / f"{split}.json"

    # The card ---------------------------------------------------------------------------------------------------------

    def _finish(self, contents: Contents, made: Sequence[str]) -> DatasetReport:
        """Audit the splits, and write the card."""
        with self.on_step("audit"):
            audits = {
                split: audit
                for split in made
                if (audit := audited(self.out / "questions" / f"{split}.jsonl", self._scenes(split)))
            }
        report = DatasetReport(
            {split: len(contents.numbers[split]) for split in made},
            contents.questions,
            contents.dialogs,
            contents.left_out,
            {split: audit.passes for split, audit in audits.items()},
        )
        self._write_mark({**self._wanted(), "report": report.to_record()})
        info, domain = find_scenes(self._scenes(made[0])).info, str(self.domain or DEFAULT_DOMAIN)
        text = card(self.out, self.settings, domain, contents, audits, info, self.scenes is None)
        with atomic_output(str(self.path(CARD))) as file:
            file.write(text.encode())
        shutil.rmtree(self.out / BUILD, ignore_errors=True)
        return report


def find_dialogs(path: Path) -> RecordSource:
    """Return the dialogs of a file."""
    from vqagen.tasks.dialog.dialog_files import DIALOGS as KIND

    return open_records(str(path), KIND)


def _write(
    path: Path,
    form: Format,
    info: Mapping[str, Any],
    key: str,
    records: Iterator[Mapping[str, Any]],
    more: Callable[[], Mapping[str, Any]] = dict,
) -> None:
    """Write records in batches. What `more` returns when all are written is added to the `info` of JSON Lines."""
    said = dict(info)
    with record_file(str(path), form, said, Arrangement(key, "", "scene", 0)) as writer:
        while batch := list(islice(records, BATCH)):
            writer.write(batch)
        said.update(more())
