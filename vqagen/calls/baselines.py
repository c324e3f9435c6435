"""Baselines as typed calls: one, written as predictions, or all, as a ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.locations import Location, locate
from vqagen.files.reading import content_hash, files_below
from vqagen.files.shipped import require
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import find_records
from vqagen.score.file_kinds import record_file
from vqagen.score.gold.discovery import read_gold
from vqagen.score.gold.file import GoldFile
from vqagen.score.origin import check_origin, shipped_domain
from vqagen.shortcuts.baselines.execution import ProgramRunner
from vqagen.shortcuts.baselines.ladder import Ladder, RungResult
from vqagen.shortcuts.baselines.learning_task import LearningTask
from vqagen.shortcuts.baselines.rungs import answer_all, find_rung, ladder
from vqagen.shortcuts.baselines.settings import BaselineSettings
from vqagen.shortcuts.baselines.writing import check_questions, check_target, write_predictions
from vqagen.world.loading import find_scenes


class BaselineFiles(NamedTuple):
    """The files that a baseline reads."""

    questions: PathLike
    train: PathLike | None = None
    """The questions to learn from; None to learn from the other images of `questions`."""
    scenes: PathLike | None = None
    mode: str = ""
    """How the questions are answered; "" for the way of their file."""
    split: str = ""
    train_split: str = ""
    domain: DomainFiles | None = None
    """The functions of the programs; None for the domain that the questions name, or CLEVR's."""

    @property
    def learns_from_others(self) -> bool:
        """True if the questions to learn from are not those to answer."""
        return self.train is not None and (str(self.train) != str(self.questions) or self.split != self.train_split)

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each file, by its role."""
        given: dict[str, Sequence[Location]] = {"questions": _files_at(self.questions)}
        if self.train is not None:
            given["train"] = _files_at(self.train)
        if self.scenes is not None:
            given["scenes"] = find_scenes(str(self.scenes)).files
        return {role: content_hash(files) for role, files in given.items()}


def _files_at(path: PathLike) -> Sequence[Location]:
    """Return a file, or the files of a folder that hold its records."""
    place = locate(path)
    if not place.is_dir():
        return [place]
    own = record_file(place)
    return [own] if own else files_below(place)


class _Opened(NamedTuple):
    gold: GoldFile
    learning: LearningTask
    runner: ProgramRunner | None


def baseline(
    name: str, files: BaselineFiles, out: PathLike, settings: BaselineSettings | None = None, *, force: bool = False
) -> RungResult:
    """Answer the questions of a file by a baseline, write the predictions to `out`, and return how often it is right.

    Raises UsageError if the files lack what the baseline needs.
    """
    rung, chosen, target = find_rung(name), settings or BaselineSettings(), str(out)
    check_target(target, force, [str(each) for each in (files.questions, files.train, files.scenes) if each])
    opened = _open(files, chosen)
    check_questions(target, opened.gold.format)
    answered = answer_all(rung, opened.learning, opened.runner)
    record = {"baseline": name, **chosen.to_record()}
    write_predictions(target, opened.learning.items, answered.guesses, opened.gold.format, record, files.hashes())
    return Ladder(opened.learning).add(answered)


def baseline_ladder(
    files: BaselineFiles,
    settings: BaselineSettings | None = None,
    on_done: Callable[[int], None] = lambda _: None,
) -> Ladder:
    """Return how often each baseline is right that the files allow; `on_done` is called with 1 after each of them."""
    opened = _open(files, settings or BaselineSettings())
    found = Ladder(opened.learning)
    for rung in ladder(opened.learning, opened.runner is not None):
        found.add(answer_all(rung, opened.learning, opened.runner))
        on_done(1)
    return found


def _open(files: BaselineFiles, settings: BaselineSettings) -> _Opened:
    """Read the questions, and find the scenes if they were given."""
    gold = read_gold(files.questions, split=files.split, mode=files.mode)
    train = None
    if files.train is not None and files.learns_from_others:
        train = list(read_gold(files.train, split=files.train_split, mode=files.mode).items())
    items = list(gold.items())
    if not items:
        raise BadInput([Problem("no questions to answer", str(files.questions))])
    runner = None if files.scenes is None else _runner(files, str(files.scenes), gold)
    return _Opened(gold, LearningTask(items, train, settings.seed, settings.top_k), runner)


def _runner(files: BaselineFiles, scenes: str, gold: GoldFile) -> ProgramRunner:
    """Find scenes and functions; without a domain of the user, those of the domain that the questions' info names."""
    if gold.format != "vqagen":
        raise UsageError(f"scenes are given, but {files.questions} has no programs to run: leave out --scenes")
    questions, source = require(locate(files.questions), "questions"), find_scenes(scenes)
    domain = files.domain or find_domain(shipped_domain(gold.info))
    catalogue, plugins = load_catalogue(domain)
    hashes = {
        "scenes": lambda: content_hash(source.files),
        "metadata": lambda: content_hash([domain.metadata]),
        "plugins": lambda: plugins.hash if plugins.hashes else "",
    }
    check_origin(find_records(questions, QUESTIONS), hashes)
    return ProgramRunner(questions, source, catalogue, files.split)
