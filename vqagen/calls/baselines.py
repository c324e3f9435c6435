"""Baselines as typed calls: one, written as predictions, or all, as a ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.locations import Location, locate
from vqagen.files.reading import content_hash, files_below
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.score.file_kinds import record_file
from vqagen.score.items.reading import find_items, read_items
from vqagen.score.items.table import Items
from vqagen.score.origin import check_origin, shipped_domain
from vqagen.shortcuts.baseline import (
    REFERENCE,
    Ladder,
    RungResult,
    answer,
    check_questions,
    check_target,
    find_baseline,
    rungs,
    write_predictions,
)
from vqagen.shortcuts.execution import Programs
from vqagen.shortcuts.settings import BaselineSettings
from vqagen.shortcuts.task import Task
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
    items: Items
    task: Task
    programs: Programs | None


def baseline(
    name: str, files: BaselineFiles, out: PathLike, settings: BaselineSettings | None = None, *, force: bool = False
) -> RungResult:
    """Answer the questions of a file by a baseline, write the predictions to `out`, and return how often it is right.

    Raises UsageError if the files lack what the baseline needs.
    """
    found, chosen, target = find_baseline(name), settings or BaselineSettings(), str(out)
    check_target(target, force, [str(each) for each in (files.questions, files.train, files.scenes) if each])
    opened = _open(files, chosen)
    check_questions(target, opened.items.format)
    answered = answer(found, opened.task, opened.items, opened.programs)
    record = {"baseline": name, **chosen.to_record()}
    write_predictions(target, opened.items, answered.texts, record, files.hashes())
    return _ladder(opened).add(answered)


def baseline_ladder(
    files: BaselineFiles,
    settings: BaselineSettings | None = None,
    on_done: Callable[[int], None] = lambda _: None,
) -> Ladder:
    """Return how often each baseline is right that the files allow; `on_done` is called with 1 after each of them."""
    opened = _open(files, settings or BaselineSettings())
    found = _ladder(opened)
    for each in rungs(opened.task, opened.programs):
        found.add(answer(each, opened.task, opened.items, opened.programs))
        on_done(1)
    return found


def _ladder(opened: _Opened) -> Ladder:
    return Ladder(opened.items, answer(find_baseline(REFERENCE), opened.task, opened.items, None).right)


def _open(files: BaselineFiles, settings: BaselineSettings) -> _Opened:
    """Read the questions, those to learn from, and the scenes if they were given."""
    items = read_items(files.questions, split=files.split, mode=files.mode, scenes=files.scenes, learning=True)
    if not len(items):
        raise BadInput([Problem("no questions to answer", items.name)])
    if files.train is not None and files.learns_from_others:
        train = read_items(files.train, split=files.train_split, mode=files.mode, learning=True)
        task = Task.across(train, items, settings.top_k, settings.seed)
    else:
        task = Task.within(items, settings.top_k, settings.seed)
    return _Opened(items, task, None if files.scenes is None else _programs(files, str(files.scenes), items))


def _programs(files: BaselineFiles, scenes: str, items: Items) -> Programs:
    """Read the programs; without a domain of the user, by the functions of the one that the questions' info names."""
    if items.format != "vqagen":
        raise UsageError(f"scenes are given, but {files.questions} has no programs to run: leave out --scenes")
    source, domain = find_scenes(scenes), files.domain or find_domain(shipped_domain(items.info))
    catalogue, plugins = load_catalogue(domain)
    hashes = {
        "scenes": lambda: content_hash(source.files),
        "metadata": lambda: content_hash([domain.metadata]),
        "plugins": lambda: plugins.hash if plugins.hashes else "",
    }
    check_origin(find_items(files.questions), hashes)
    return Programs(items, source, catalogue)
