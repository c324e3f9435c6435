"""Verification of dialogs: read from their sentences, answered on their scenes, and made again.

Each sentence is recognised as one of a template's, and what it asks is answered on the scene. What it refers to is
worked out by the generator's own rules. From the rounds so understood the record is annotated again, and must be what
is written. Dialogs in CLEVR-Dialog's shape have sentences, answers and labels alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import compress, starmap
from random import Random
from typing import Any, NamedTuple

from vqagen.errors import as_written, describe
from vqagen.files.locations import content_hash
from vqagen.files.records import RecordSource
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.domain_files import find_domain
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.tasks.dialog.annotation import COPIED, Annotator
from vqagen.tasks.dialog.dialog_files import NUMBER, caption_label, dependences
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.quotas import NO_ROUNDS, PRESETS
from vqagen.tasks.dialog.recognition import Listener, Parse, SentenceReader, Verdict, captions_said
from vqagen.tasks.dialog.rounds import NOTHING, ROUND_KINDS
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.search import SHARED
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.template import CAPTION
from vqagen.tasks.dialog.version_1 import args_of, captions_named, fact_fault, facts_of
from vqagen.tasks.dialog.wording import DialogWords, Sentence, Wordings
from vqagen.tasks.record_files import DIALOGS, check_origin, settings_of
from vqagen.tasks.whole import CHANGED_FILE, WRONG_ID, missing_ends, unknown_settings, unread, whole_records
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

BATCH = 100
"""Records whose scenes are held at once."""
KINDS: Mapping[str, str] = {
    "wrong": "the scene gives another answer, or the caption is false",
    "ambiguous": "it can be understood in several ways",
    "unlicensed": "a reference has no antecedent",
    "unparseable": "no template says the sentence",
    "annotation": "a field of the record is not what the sentences and the scene give",
    WRONG_ID: "the number of a dialog is not its place in the file, or another one has it",
    CHANGED_FILE: "the records are not those that the run wrote",
    "set": "dialogs of an image are too alike, or settings are not kept",
}
"""Kind of a fault -> its meaning."""
UNREAD = "sentences of another generator not read: no template says them"
BEHIND = "rounds not judged, behind a sentence that could not be understood"
TRUSTED = "answers recomputed; texts match their templates; references read by the rules of `vqagen dialog`"
LOOSE = "references of looser rules taken as they are written"


class WrittenSentence(NamedTuple):
    """A caption, or a question with its answer, as written."""

    text: str
    label: str
    """"" for a caption of which the file does not say it."""
    answer: object = None


class Written(NamedTuple):
    """One dialog, as written."""

    name: str
    path: str
    """Where it is inside the record: "", or such as `dialogs[2].`."""
    sentences: list[WrittenSentence]
    """The caption, and the question of each round."""
    record: Mapping[str, Any]

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self.sentences) - 1

    @property
    def is_native(self) -> bool:
        """True if it has annotations."""
        return not self.path

    @property
    def is_ours(self) -> bool:
        """True if vqagen worded it; in CLEVR-Dialog's own files a dialog has no template."""
        return self.is_native or "template" in self.record

    def place(self, number: int | None) -> tuple[str, str]:
        """Return the path and the label of a sentence; 0 is the caption, None the whole dialog."""
        if number is None:
            return self.path.removesuffix("."), ""
        inside = f"{'rounds' if self.is_native else 'dialog'}[{number - 1}]" if number else "caption"
        return f"{self.path}{inside}", self.sentences[number].label or "caption"


Placed = tuple[int | None, Verdict]
"""The number of a sentence, 0 for the caption and None for the whole dialog, and what is wrong with it."""


@dataclass
class Understood:
    """A dialog as far as it could be understood."""

    faults: list[Placed] = field(default_factory=list)
    parses: list[Sequence[Parse]] = field(default_factory=list)
    """Sentence -> the ways to understand it."""
    listener: Listener | None = None
    """Who listened to it; None if the caption says nothing that is true."""
    is_unread: bool = False
    """True if a sentence of another generator could not be read."""


def verify_file(
    dialogs: RecordSource,
    scenes: SceneSource | None,
    given: Mapping[str, Any],
    on_checked: Callable[[int], None],
) -> VerificationReport:
    """Verify every dialog by the files of the domain that is `given`; see `Task.verify`."""
    assert scenes is not None
    loaded = load_dialog_domain(find_domain(**given, task=DIALOGS.key))
    if not given["templates"] and (report := unread(dialogs, loaded.hashes["templates"])):
        return report
    hashes = {role: partial(str, content) for role, content in loaded.hashes.items()}
    at_hand = {"scenes": partial(content_hash, scenes.files)} if scenes.files else {}
    check_origin(dialogs, {**at_hand, **hashes})
    verification = DialogVerification(loaded, settings_of(dialogs))
    verification.report.remarks += [*missing_ends(dialogs, scenes), *unknown_settings(dialogs, DialogSettings)]
    records = whole_records(dialogs, verification.report, NUMBER)
    for position, record, scene in records_with_scenes(records, scenes, loaded.domain, BATCH):
        on_checked(verification.take(record, position, scene))
    return verification.report


class DialogVerification:
    """Verifies the dialogs of one file."""

    def __init__(self, loaded: LoadedDialogDomain, settings: Mapping[str, Any]) -> None:
        """`settings` are those of the run that made the file, as far as they are known."""
        self._vocabulary, self._settings = loaded.vocabulary, settings
        self._is_loose = settings.get("semantics") == "legacy"  # an option of version 1
        self._may_infer = "semantics" in settings or not settings  # version 1 also listed facts that follow
        self._wordings = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary)
        self._reader = SentenceReader(self._wordings, loaded.vocabulary)
        self._seen: dict[tuple[object, ...], str] = {}
        self.report = VerificationReport("dialogs", KINDS, remarks=[TRUSTED])

    def take(self, record: Mapping[str, Any], position: int, scene: Scene | QuestionFault) -> int:
        """Verify the dialogs of a record, and return their number."""
        table = scene if isinstance(scene, QuestionFault) else self._table(scene)
        dialogs = [*_dialogs_of(record, position)]
        self.report.checked += len(dialogs)
        for name, path, each in dialogs:
            try:
                written = _written(name, path, each)
            except _Missing as fault:
                self.report.add(Mismatch(position, "unparseable", str(fault), path.removesuffix("."), name))
                continue
            for number, (kind, why) in self._faults(written, table):
                place, label = written.place(number)
                self.report.add(Mismatch(position, kind, why, place, name, label))
        return len(dialogs)

    def _table(self, scene: Scene) -> DialogScene | QuestionFault:
        missing = [name for name in self._vocabulary.relations if name not in scene.related]
        if missing:
            return QuestionFault("no relation", f"the scene does not say {missing[0]!r}, which dialogs talk of")
        return DialogScene(scene, self._vocabulary)

    def _faults(self, dialog: Written, scene: DialogScene | QuestionFault) -> Iterator[Placed]:
        if isinstance(scene, QuestionFault):
            self.report.unproven[BEHIND] += dialog.rounds
            yield None, Verdict("set", scene.problem)
            return
        found = self._understood(dialog, scene)
        self.report.unproven[LOOSE] += self._is_loose and dialog.is_native
        behind = max(len(dialog.sentences) - len(found.parses) - 1, 0)
        self.report.unproven += Counter({UNREAD: int(found.is_unread), BEHIND: behind})
        yield from found.faults
        if found.listener and not self._is_loose:
            yield from self._annotation_faults(dialog, scene, found, found.listener)
        yield from self._set_faults(dialog, scene.scene.index)
        yield from _settings_faults(dialog, self._settings)

    # Parse ----------------------------------------------------------------------------------------------------------

    def _understood(self, dialog: Written, scene: DialogScene) -> Understood:
        """Return a dialog as understood; of several captions that its words can be, by the one with fewest faults."""
        parses = self._parses(dialog, 0)
        captions = list(dict.fromkeys(each for parse in parses for each in captions_said(parse, scene)))
        if not captions:
            wrong = Understood([(0, Verdict("wrong", f"{dialog.sentences[0].text!r} is false"))])
            return wrong if parses else self._unread(dialog, 0, Understood())
        if self._is_loose:
            args = args_of(dialog.record.get("caption")) if dialog.is_native else {}
            captions = captions_named(captions, args, scene)
        is_strict = dialog.is_ours and not self._is_loose
        heard = [self._heard(dialog, parses, Listener(scene, each, is_strict)) for each in captions]
        best = min(heard, key=lambda each: (len(each.faults), -len(each.parses)))
        if len(captions) > 1 and not self._is_loose:
            why = f"{dialog.sentences[0].text!r} is true of {len(captions)} objects, pairs or sets"
            best.faults.insert(0, (0, Verdict("ambiguous", why)))
        return best

    def _parses(self, dialog: Written, number: int) -> list[Parse]:
        """Return the ways to understand a sentence."""
        text, label, _ = dialog.sentences[number]
        rules = self._reader.rules
        labels = [label] if label else [each for each, rule in rules.items() if rule.family == CAPTION]
        is_right = [(each in ROUND_KINDS) == (number > 0) for each in labels]
        return [parse for each in compress(labels, is_right) for parse in self._reader.read(text, each, dialog.is_ours)]

    def _heard(self, dialog: Written, caption: Sequence[Parse], listener: Listener) -> Understood:
        """Go on after the caption, up to the first question that cannot be understood."""
        found = Understood([], [caption], listener)
        for number, (text, _, answer) in enumerate(dialog.sentences[1:], start=1):
            parses = self._parses(dialog, number)
            if not parses:
                return self._unread(dialog, number, found)
            if self._is_loose and dialog.is_native:
                listener.recall(args_of(dialog.record["rounds"][number - 1]))
            for kind, why in listener.hear(parses, answer):
                if kind == "wrong" or listener.is_strict:
                    found.faults.append((number, Verdict(kind, f"{text!r}: {why}")))
            if listener.rounds < number:
                break
            found.parses.append(parses)
        return found

    def _unread(self, dialog: Written, number: int, found: Understood) -> Understood:
        """Note that a sentence cannot be read; if another generator wrote it, that is no fault."""
        text, label, _ = dialog.sentences[number]
        others = self._reader.labels_of(text)
        found.is_unread = not (dialog.is_ours or others)
        if not found.is_unread:
            instead = f"; one of {others[0]} does" if others else ""
            why = f"{text!r}: no template of {label or 'a caption'} says it{instead}"
            found.faults.append((number, Verdict("unparseable", why)))
        return found

    # Annotations ------------------------------------------------------------------------------------------------------

    def _annotation_faults(
        self, dialog: Written, scene: DialogScene, found: Understood, listener: Listener
    ) -> Iterator[Placed]:
        """Make the record again from what was understood, and yield where it is not what is written."""
        record = dialog.record
        given = [record["caption"], *record["rounds"]] if dialog.is_native else []
        words = _WrittenWords(self._wordings, found.parses, [each.get("variant") for each in given])
        made = Annotator(scene, words, Random(0)).dialog(listener.caption, listener.start, listener.beam.rounds())
        if len(found.parses) <= dialog.rounds or any(kind == "ambiguous" for _, (kind, _) in found.faults):
            return
        again = [made.pop("caption"), *made.pop("rounds")]
        if not dialog.is_native:  # only the graph of CLEVR-Dialog can be compared, and it may be missing
            given = [{}, *({"dependence in the graph": each} for each in dependences(record))]
            again, made = [{}, *({"dependence in the graph": each["history"]["dependence"]} for each in again[1:])], {}
        listed, true = list[Any](), facts_of(scene) if self._may_infer else []
        for number, (each, expected) in enumerate(zip(given, again, strict=False)):
            expected.pop("answer", None)
            told = expected.pop("knowledge_delta") if self._may_infer and dialog.is_native else None
            why = _difference(each, expected)
            if told is not None:
                why = why or fact_fault(each, told, listed, true)
            if why:
                yield number, Verdict("annotation", why)
        for key, expected in made.items():
            is_optional = key in (*COPIED, "objects") and record.get(key) is None
            if not is_optional and (why := _difference(record.get(key), expected, key)):
                yield None, Verdict("annotation", why)

    # Dialogs beside each other ----------------------------------------------------------------------------------------

    def _set_faults(self, dialog: Written, scene: int) -> Iterator[Placed]:
        """Yield a fault for an earlier dialog of the scene that a dialog is too much like."""
        opening = tuple((each.label, str(each.answer)) for each in dialog.sentences[1 : SHARED + 2])
        keys: dict[str, tuple[object, ...]] = {"the same sentences": tuple(each.text for each in dialog.sentences)}
        if len(opening) > SHARED:
            keys[f"the same labels and answers in the first {len(opening)} rounds"] = opening
        for what, key in keys.items():
            first = self._seen.setdefault((scene, what, hash(key)), dialog.name)
            if first is not dialog.name:
                yield None, Verdict("set", f"{first} has {what}")


# Words ----------------------------------------------------------------------------------------------------------------


class _WrittenWords(DialogWords):
    """Says the sentences of a dialog as they are written."""

    def __init__(self, wordings: Wordings, sentences: Sequence[Sequence[Parse]], variants: Sequence[object]) -> None:
        super().__init__(wordings, Random(0))
        self._written = zip(sentences, [*variants] or [None] * len(sentences), strict=False)

    def say(
        self, label: str, form: str, slots: Mapping[str, Any], rng: Random, conditions: frozenset[str] = frozenset()
    ) -> Sentence:
        """Return the next sentence; of several texts that say it, by the one that the record names."""
        parses, variant = next(self._written)
        meant = [each for each in parses if each.form == form and _says(each, slots)]
        return min(meant, key=lambda each: each.said.variant != variant).said

    def hear(self, attribute: str, value: str) -> None:
        """Do nothing: the words are written."""


def _says(parse: Parse, slots: Mapping[str, Any]) -> bool:
    return all(slots[name] == said for name, said in parse.slots.items())


def _difference(written: object, expected: object, path: str = "") -> str:
    """Return the first difference of a record from the one expected, of which null may be missing; "" if none."""
    if isinstance(expected, Mapping) and isinstance(written, Mapping):
        inside = ((written.get(key), value, f"{path}.{key}".lstrip(".")) for key, value in expected.items())
        return next(filter(None, starmap(_difference, inside)), "")
    if isinstance(expected, list) and isinstance(written, list) and len(expected) == len(written):
        pairs = enumerate(zip(written, expected, strict=True))
        return next(filter(None, (_difference(one, other, f"{path}[{i}]") for i, (one, other) in pairs)), "")
    return "" if written == expected else f"{path} is {as_written(written)}, expected {as_written(expected)}"


def _settings_faults(dialog: Written, settings: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield a fault for each setting of the run that a dialog does not keep."""
    wanted = settings.get("rounds")
    if type(wanted) is int and dialog.rounds != wanted:
        yield None, Verdict("set", f"it has {dialog.rounds} rounds, and the settings say {wanted}")
    quotas, counts = PRESETS.get(str(settings.get("quotas"))), NO_ROUNDS
    if quotas is None or not dialog.is_native or dialog.record.get("relaxed"):
        return
    for number, (_, label, _) in enumerate(dialog.sentences[1:], start=1):
        if kind := ROUND_KINDS.get(label):
            counts = counts.add(kind.family, kind.refers == NOTHING)
        if not quotas.admits(number, counts):
            has = ", ".join(f"{count} {name}" for name, count in counts._asdict().items())
            yield None, Verdict("set", f"after round {number} it has {has}: more or fewer than {quotas.name!r} allows")
            return


# Records --------------------------------------------------------------------------------------------------------------


class _Missing(Exception):
    """A part of a dialog that its record lacks."""


def _dialogs_of(record: Mapping[str, Any], position: int) -> Iterator[tuple[str, str, object]]:
    """Yield (name, path in the record, dialog) for each dialog of a record."""
    if DIALOGS.key not in record:
        yield f"dialog {record.get('dialog_index', position)}", "", record
        return
    listed = record[DIALOGS.key]
    image = record.get("image_filename") or f"image_index {record.get('image_index')}"
    for number, dialog in enumerate(listed if isinstance(listed, list) else [listed]):
        yield f"dialog {number} of {image}", f"{DIALOGS.key}[{number}].", dialog


def _written(name: str, path: str, record: object) -> Written:
    """Return the sentences, answers and labels of a dialog. Raises _Missing."""
    dialog = _required(record, Mapping, "the dialog")
    rounds, label = ("dialog", "template") if path else ("rounds", "label")
    said = dialog.get("caption")
    caption = {"text": said, "label": caption_label(dialog) or ""} if path else _required(said, Mapping, "caption")
    sentences = [WrittenSentence(*(_required(caption.get(key), str, f"caption.{key}") for key in ("text", "label")))]
    for i, each in enumerate(_required(dialog.get(rounds), list, rounds)):
        asked = _required(each, Mapping, f"{rounds}[{i}]")
        text, kind = (_required(asked.get(key), str, f"{rounds}[{i}].{key}") for key in ("question", label))
        sentences.append(WrittenSentence(text, kind, asked.get("answer")))
    return Written(name, path, sentences, dialog)


def _required(value: object, kind: Any, path: str) -> Any:
    """Return a value of the kind that a dialog must have there. Raises _Missing."""
    if not isinstance(value, kind):
        raise _Missing(f"{path}: expected {_NOUNS[kind]}, found {describe(value)}")
    return value


_NOUNS: Mapping[Any, str] = {str: "text", list: "a list", Mapping: "an object"}
