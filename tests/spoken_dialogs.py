"""Dialogs for tests, written as they are spoken, and judged by the oracle with the shipped templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from scene_records import scene_record

from vqagen.judge.dialogs.judging import Asked, DialogJudge, Judged, Transcript
from vqagen.judge.dialogs.sentences import SentenceParser
from vqagen.language.domain_files import find_domain
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.world.scene import Scene, compile_scene

ROW = scene_record(
    [
        "large red metal cube",
        "small red rubber sphere",
        "small blue metal cube",
        "large green rubber cylinder",
        "small green metal sphere",
    ],
    [0, 1, 2, 3, 4],
    [4, 3, 2, 1, 0],
)
"""Five objects, numbered from left to right and from behind to the front."""


@cache
def dialog_domain(name: str = "clevr") -> LoadedDialogDomain:
    """A shipped domain with its dialog templates."""
    return load_dialog_domain(find_domain(name, task="dialogs"))


@cache
def dialog_parser(name: str = "clevr") -> SentenceParser:
    """The reader of a shipped domain's sentences."""
    loaded = dialog_domain(name)
    return SentenceParser(loaded.templates.templates, loaded.synonyms, loaded.vocabulary)


@cache
def dialog_judge(name: str = "clevr") -> DialogJudge:
    """The oracle of a shipped domain."""
    return DialogJudge(dialog_parser(name), dialog_domain(name).vocabulary)


def compiled(record: Mapping[str, Any], name: str = "clevr") -> Scene:
    """The scene of a record."""
    return compile_scene(record, dialog_domain(name).domain)


def spoken(caption: str, rounds: Sequence[str]) -> Transcript:
    """A dialog. A caption is written as "label: text", a round as "label: question answer".

    >>> spoken("unique-obj: There is a blue thing in the image.", ["count-all: How many things are there? 5"]).rounds
    [Asked(question='How many things are there?', answer=5, label='count-all')]
    """
    label, text = caption.split(": ", 1)
    return Transcript(text, label, [_asked(each) for each in rounds])


def _asked(written: str) -> Asked:
    label, said = written.split(": ", 1)
    question, answer = said.rsplit(" ", 1)
    return Asked(question, int(answer) if answer.isdigit() else answer, label)


def judged(caption: str, rounds: Sequence[str], record: Mapping[str, Any] = ROW) -> Judged:
    """The verdicts on a dialog about a scene."""
    return dialog_judge().judge(spoken(caption, rounds), compiled(record))


def kinds(found: Judged) -> list[list[str]]:
    """The kinds of verdicts on each sentence that was judged."""
    return [[verdict.kind for verdict in verdicts] for verdicts in found.verdicts]
