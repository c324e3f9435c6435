"""Shipped domains with their dialog templates, and what reads and judges their dialogs, made once in a process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from vqagen.language.domain_files import find_domain
from vqagen.score.dialogs.judging import DialogJudge
from vqagen.score.dialogs.sentences import SentenceParser
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.world.scene import Scene, compile_scene


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
