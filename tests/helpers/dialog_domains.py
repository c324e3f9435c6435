"""Shipped domains with their dialog templates, and what reads and judges their dialogs, made once in a process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from oracles.dialogs.annotations import annotation_faults
from oracles.dialogs.judging import Asked, DialogJudge, Transcript
from oracles.dialogs.verdicts import Verdict

from vqagen.language.domain_files import find_domain
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.recognition import SentenceReader
from vqagen.tasks.dialog.wording import Wordings
from vqagen.world.scene import Scene, compile_scene


@cache
def dialog_domain(name: str = "clevr") -> LoadedDialogDomain:
    """A shipped domain with its dialog templates."""
    return load_dialog_domain(find_domain(name, task="dialogs"))


@cache
def dialog_reader(name: str = "clevr") -> SentenceReader:
    """The reader of a shipped domain's sentences."""
    loaded = dialog_domain(name)
    return SentenceReader(Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary), loaded.vocabulary)


@cache
def dialog_judge(name: str = "clevr") -> DialogJudge:
    """The oracle of a shipped domain."""
    return DialogJudge(dialog_reader(name), dialog_domain(name).vocabulary)


def transcript(record: Mapping[str, Any]) -> Transcript:
    """The texts, answers and labels of a dialog of `vqagen dialog`."""
    rounds = [Asked(each["question"], _typed(each), each["label"]) for each in record["rounds"]]
    return Transcript(record["caption"]["text"], record["caption"]["label"], rounds)


def _typed(asked: Mapping[str, Any]) -> int | str:
    """The answer of a round; a number if it counts."""
    return int(asked["answer"]) if asked["label"].startswith("count") else asked["answer"]


def faults_found(record: Mapping[str, Any], scene: Scene, name: str = "clevr") -> list[tuple[int | None, Verdict]]:
    """What the oracle finds wrong or weak in a dialog and its annotations: (round, verdict)."""
    judged = dialog_judge(name).judge(transcript(record), scene)
    found: list[tuple[int | None, Verdict]] = [
        (at, verdict) for at, verdicts in enumerate(judged.verdicts) for verdict in verdicts
    ]
    return [*found, *(annotation_faults(record, judged, scene) if judged.is_understood and judged.is_certain else ())]


def compiled(record: Mapping[str, Any], name: str = "clevr") -> Scene:
    """The scene of a record."""
    return compile_scene(record, dialog_domain(name).domain)
