"""Verification of a dialog file: each dialog is judged from its texts, and its annotations are checked against that.

Dialogs and scenes are both read as streams; dialogs in another order than the scenes cost further passes over these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from vqagen.files.reading import content_hash
from vqagen.records.source import RecordSource
from vqagen.score.dialogs.annotations import annotation_faults, dependence_faults
from vqagen.score.dialogs.dialog_sets import DialogsSeen, settings_faults
from vqagen.score.dialogs.judging import DialogJudge, Judged
from vqagen.score.dialogs.records import WrittenDialog, dialogs_of
from vqagen.score.dialogs.report import WHOLE, DialogFault, DialogVerificationReport, fault_of
from vqagen.score.dialogs.sentences import SentenceParser
from vqagen.score.dialogs.verdicts import HARD, Verdict
from vqagen.score.origin import check_origin, settings_of
from vqagen.score.scene_lookup import HeldScenes, QuestionFault, SceneNames, contradiction
from vqagen.tasks.dialog.loading import LoadedDialogDomain
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

BATCH = 100
"""Records whose scenes are held at once."""


class DialogVerification:
    """Verifies the dialogs of one file."""

    def __init__(self, judge: DialogJudge, settings: Mapping[str, Any]) -> None:
        """`settings` are those of the run that made the file, as far as they are known."""
        self._judge, self._settings = judge, settings
        self._seen = DialogsSeen()
        self.report = DialogVerificationReport()

    def take(self, record: Mapping[str, Any], position: int, scene: Scene | QuestionFault) -> int:
        """Verify the dialogs of a record; return their number."""
        dialogs = list(dialogs_of(record, position))
        for dialog in dialogs:
            self._take(dialog, scene)
        return len(dialogs)

    def _take(self, dialog: WrittenDialog, scene: Scene | QuestionFault) -> None:
        report, faults = self.report, list[DialogFault]()
        report.dialogs += 1
        index = scene.index if isinstance(scene, Scene) else None
        for place, verdict in self._verdicts(dialog, scene):
            faults.append(fault_of(verdict, dialog.name, index, _sentence(dialog, place)))
        for fault in faults:
            report.add(fault)
        report.faulty += any(fault.kind in HARD for fault in faults)

    def _verdicts(self, dialog: WrittenDialog, scene: Scene | QuestionFault) -> Iterator[tuple[int | None, Verdict]]:
        """Yield (round, verdict); the round is None for a verdict on the whole dialog."""
        report, text = self.report, dialog.text
        if text is None:
            yield None, Verdict("unparseable", dialog.fault)
            return
        report.rounds += len(text.rounds)
        report.sentences.update([text.label or "caption", *(asked.label for asked in text.rounds)])
        if isinstance(scene, QuestionFault):
            report.unjudged += len(text.rounds)
            yield None, Verdict("set", scene.problem)
            return
        judged = self._judge.judge(text, scene)
        report.unjudged += len(text.rounds) + 1 - len(judged.verdicts)
        for place, verdicts in enumerate(judged.verdicts):
            yield from ((place, verdict) for verdict in verdicts)
        yield from self._annotation_faults(dialog, judged, scene)
        yield from ((None, verdict) for verdict in self._seen.faults(text, scene.index, dialog.name))
        keeps_quotas = dialog.is_native and not dialog.record.get("relaxed")
        yield from ((None, verdict) for verdict in settings_faults(text.rounds, self._settings, keeps_quotas))

    def _annotation_faults(
        self, dialog: WrittenDialog, judged: Judged, scene: Scene
    ) -> Iterator[tuple[int | None, Verdict]]:
        if not (judged.is_understood and judged.is_certain):
            return
        if dialog.is_native:
            yield from annotation_faults(dialog.record, judged, scene)
        else:
            yield from dependence_faults(dialog.dependences, judged)


def _sentence(dialog: WrittenDialog, place: int | None) -> tuple[int | None, str, str]:
    """Return (round, label, sentence) of a place in a dialog."""
    if place is None or dialog.text is None:
        return None, WHOLE, ""
    if place == 0:
        return 0, dialog.text.label or "caption", dialog.text.caption
    asked = dialog.text.rounds[place - 1]
    return place, asked.label, asked.question


def verify_dialogs(
    dialogs: RecordSource,
    scenes: SceneSource,
    loaded: LoadedDialogDomain,
    on_checked: Callable[[int], None] = lambda _: None,
) -> DialogVerificationReport:
    """Verify every dialog of a file; `on_checked` is called now and then with the number of dialogs checked since."""
    hashes = {role: partial(str, content) for role, content in loaded.hashes.items()}
    at_hand = {"scenes": partial(content_hash, scenes.files)} if scenes.files else {}
    check_origin(dialogs, {**at_hand, **hashes})
    judge = DialogJudge(
        SentenceParser(loaded.templates.templates, loaded.synonyms, loaded.vocabulary), loaded.vocabulary
    )
    verification = DialogVerification(judge, settings_of(dialogs))
    stream = enumerate(dialogs.records())
    names, held = SceneNames(scenes), HeldScenes(scenes, loaded.domain)
    while batch := list(islice(stream, BATCH)):
        places = [names.place_of(record) for _, record in batch]
        held.hold({place for place in places if isinstance(place, int)})
        checked = 0
        for (position, record), place in zip(batch, places, strict=True):
            scene = place if isinstance(place, QuestionFault) else held[place]
            fault = contradiction(record, scene) if isinstance(scene, Scene) else None
            checked += verification.take(record, position, fault or scene)
        on_checked(checked)
    return verification.report
