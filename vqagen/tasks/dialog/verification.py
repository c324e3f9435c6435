"""Verification of dialogs: read from their sentences, answered on their scenes, and made again.

Each sentence is recognised as one of a template's, and what it asks is answered on the scene. What it refers to is
worked out by the generator's own rules. From the rounds so understood the record is annotated again, and must be what
is written. Dialogs in CLEVR-Dialog's shape have sentences, answers and labels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat, starmap, takewhile
from random import Random
from typing import Any, NamedTuple

from vqagen.bits import first_n
from vqagen.errors import as_written, describe
from vqagen.files.locations import content_hash
from vqagen.files.records import RecordSource
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.domain_files import find_domain
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.tasks.dialog.annotation import COPIED, Annotator, new_facts
from vqagen.tasks.dialog.captions import caption_args
from vqagen.tasks.dialog.dialog_files import NUMBER, caption_of, dependences, dialogs_in, parts_of, rounds_key
from vqagen.tasks.dialog.knowledge import Knowledge
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.quotas import NO_ROUNDS, PRESETS
from vqagen.tasks.dialog.recognition import Listener, Parse, SentenceFault, SentenceReader, captions_said
from vqagen.tasks.dialog.rounds import NOTHING, ROUND_KINDS
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.search import SHARED
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.template import CAPTION
from vqagen.tasks.dialog.wording import DialogWords, Sentence, Wordings
from vqagen.tasks.record_files import DIALOGS, check_origin, settings_of
from vqagen.tasks.whole import CHANGED_FILE, WRONG_ID, missing_ends, unknown_settings, unread, whole_records
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

BATCH = 100
"""Records whose scenes are held at once."""
FAULT_KINDS: Mapping[str, str] = {
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


class Written(NamedTuple):
    """One dialog, as written."""

    name: str
    path: str
    """Where it is inside the record: "", or such as `dialogs[2].`."""
    sentences: list[tuple[str, str, object]]
    """(text, label, answer) of the caption, of which the file may not say the label, and of each round."""
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
        inside = f"{rounds_key(self.path)[0]}[{number - 1}]" if number else "caption"
        return f"{self.path}{inside}", self.sentences[number][1] or "caption"


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
        self.report = VerificationReport("dialogs", FAULT_KINDS, remarks=[TRUSTED])

    def take(self, record: Mapping[str, Any], position: int, scene: Scene | QuestionFault) -> int:
        """Verify the dialogs of a record, and return their number."""
        table = scene if isinstance(scene, QuestionFault) else self._table(scene)
        image = record.get("image_filename") or f"image_index {record.get('image_index')}"
        dialogs = [*dialogs_in(record)]
        self.report.checked += len(dialogs)
        for number, (dialog, path) in enumerate(dialogs):
            name = f"dialog {number} of {image}" if path else f"dialog {record.get(NUMBER, position)}"
            wrong = next((part for part in parts_of(dialog, path) if not isinstance(part[0], part[1])), None)
            if wrong:
                value, _, place, expected = wrong
                why = f"{place}: expected {expected}, found {describe(value)}"
                self.report.add(Mismatch(position, "unparseable", why, path.removesuffix("."), name))
                continue
            key, label = rounds_key(path)
            asked = ((round["question"], round[label], round.get("answer")) for round in dialog[key])
            written = Written(name, path, [(*caption_of(dialog), None), *asked], dialog)
            for sentence, kind, why in self._faults(written, table):
                self.report.add(
                    Mismatch(position, kind, why, written.place(sentence)[0], name, written.place(sentence)[1])
                )
        return len(dialogs)

    def _table(self, scene: Scene) -> DialogScene | QuestionFault:
        missing = [name for name in self._vocabulary.relations if name not in scene.related]
        if missing:
            return QuestionFault("no relation", f"the scene does not say {missing[0]!r}, which dialogs talk of")
        return DialogScene(scene, self._vocabulary)

    def _faults(self, dialog: Written, scene: DialogScene | QuestionFault) -> Iterator[SentenceFault]:
        if isinstance(scene, QuestionFault):
            self.report.unproven[BEHIND] += dialog.rounds
            yield None, "set", scene.problem
            return
        numbers = range(len(dialog.sentences))
        parses = list(takewhile(bool, (self._parses(dialog, number) for number in numbers)))
        listener = self._listener(dialog, parses, scene) if parses else None
        heard = len(listener.parses) if listener else 0
        if self._is_loose and dialog.is_native:
            self.report.unproven[LOOSE] += 1
        if listener:
            yield from listener.faults
        elif parses:
            yield 0, "wrong", f"{dialog.sentences[0][0]!r} is false"
        if heard == len(parses) < len(numbers):
            yield from self._unread(dialog, heard)
        if heard + 1 < len(numbers):
            self.report.unproven[BEHIND] += len(numbers) - heard - 1
        if listener and heard == len(numbers) and not self._is_loose and not listener.is_in_doubt:
            yield from self._annotation_faults(dialog, scene, listener)
        yield from self._set_faults(dialog, scene.scene.index)
        yield from _settings_faults(dialog, self._settings)

    # Sentences --------------------------------------------------------------------------------------------------------

    def _parses(self, dialog: Written, number: int) -> list[Parse]:
        """Return the ways to understand a sentence."""
        text, label, _ = dialog.sentences[number]
        captions = (known for known, rule in self._reader.rules.items() if rule.family == CAPTION)
        labels = [known for known in ([label] if label else captions) if (known in ROUND_KINDS) == (number > 0)]
        return [parse for known in labels for parse in self._reader.read(text, known, dialog.is_ours)]

    def _unread(self, dialog: Written, number: int) -> Iterator[SentenceFault]:
        """Yield the fault of a sentence that cannot be read; if another generator wrote it, that is none."""
        text, label, _ = dialog.sentences[number]
        others = self._reader.labels_of(text)
        if dialog.is_ours or others:
            instead = f"; one of {others[0]} does" if others else ""
            yield number, "unparseable", f"{text!r}: no template of {label or 'a caption'} says it{instead}"
        else:
            self.report.unproven[UNREAD] += 1

    def _listener(self, dialog: Written, parses: Sequence[list[Parse]], scene: DialogScene) -> Listener | None:
        """Return who heard a dialog; of several captions that its words can be, by the one with fewest faults."""
        captions = list(dict.fromkeys(caption for parse in parses[0] for caption in captions_said(parse, scene)))
        if self._is_loose and dialog.is_native:  # by looser rules several fit
            args = _args_of(dialog.record["caption"])
            captions = [caption for caption in captions if caption_args(caption, scene) == args] or captions
        heard = [self._heard(dialog, parses, Listener(scene, caption, parses[0])) for caption in captions]
        best = min(heard, key=lambda listener: (len(listener.faults), -len(listener.parses)), default=None)
        if best and len(captions) > 1 and not self._is_loose:
            why = f"{dialog.sentences[0][0]!r} is true of {len(captions)} objects, pairs or sets"
            best.faults.insert(0, (0, "ambiguous", why))
        return best

    def _heard(self, dialog: Written, parses: Sequence[list[Parse]], listener: Listener) -> Listener:
        """Go on after the caption, up to the first question that cannot be understood."""
        listener.is_strict = dialog.is_ours and not self._is_loose
        for number, ((text, _, answer), of_round) in enumerate(zip(dialog.sentences[1:], parses[1:], strict=False)):
            if self._is_loose and dialog.is_native:
                listener.recall(_args_of(dialog.record["rounds"][number]))
            if not listener.hear(of_round, text, answer):
                break
        return listener

    # Annotations ------------------------------------------------------------------------------------------------------

    def _annotation_faults(self, dialog: Written, scene: DialogScene, listener: Listener) -> Iterator[SentenceFault]:
        """Make the record again from what was understood, and yield where it is not what is written."""
        record = dialog.record
        if dialog.is_native:
            given = [record["caption"], *record["rounds"]]
        else:  # only the graph of CLEVR-Dialog can be compared, and it may be missing
            given = [{}, *({"dependence in the graph": number} for number in dependences(record))]
        words = _WrittenWords(self._wordings, listener.parses, [sentence.get("variant") for sentence in given])
        made = Annotator(scene, words, Random(0)).dialog(listener.caption, listener.beam.rounds())
        again = [made.pop("caption"), *made.pop("rounds")]
        if not dialog.is_native:
            depends = ({"dependence in the graph": round["history"]["dependence"]} for round in again[1:])
            again, made = [{}, *depends], {}
        listed, true = list[Any](), _facts_of(scene) if self._may_infer else []
        for number, (sentence, expected) in enumerate(zip(given, again, strict=False)):
            expected.pop("answer", None)
            told = expected.pop("knowledge_delta") if self._may_infer and dialog.is_native else None
            why = _difference(sentence, expected)
            if told is not None:
                why = why or _fact_fault(sentence, told, listed, true)
            if why:
                yield number, "annotation", why
        for key, expected in made.items():
            is_optional = key in (*COPIED, "objects") and record.get(key) is None
            if not is_optional and (why := _difference(record.get(key), expected, key)):
                yield None, "annotation", why

    # Dialogs beside each other ----------------------------------------------------------------------------------------

    def _set_faults(self, dialog: Written, scene: int) -> Iterator[SentenceFault]:
        """Yield a fault for an earlier dialog of the scene that a dialog is too much like."""
        opening = tuple((label, str(answer)) for _, label, answer in dialog.sentences[1 : SHARED + 2])
        keys: dict[str, tuple[object, ...]] = {"the same sentences": tuple(text for text, *_ in dialog.sentences)}
        if len(opening) > SHARED:
            keys[f"the same labels and answers in the first {len(opening)} rounds"] = opening
        for what, key in keys.items():
            first = self._seen.setdefault((scene, what, hash(key)), dialog.name)
            if first is not dialog.name:
                yield None, "set", f"{first} has {what}"


# Words ----------------------------------------------------------------------------------------------------------------


class _WrittenWords(DialogWords):
    """Says the sentences of a dialog as they are written."""

    def __init__(self, wordings: Wordings, sentences: Iterable[Sequence[Parse]], variants: Iterable[object]) -> None:
        super().__init__(wordings, Random(0))
        self._written = zip(sentences, chain(variants, repeat(None)), strict=False)

    def say(
        self, label: str, form: str, slots: Mapping[str, Any], rng: Random, conditions: frozenset[str] = frozenset()
    ) -> Sentence:
        """Return the next sentence; of several texts that say it, by the one that the record names."""
        parses, variant = next(self._written)
        meant = [parse for parse in parses if parse.form == form and _says(parse, slots)]
        return min(meant, key=lambda parse: parse.said.variant != variant).said

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
    return (
        ""
        if written == expected
        else (f"{path} is {as_written(written, expected)}, expected {as_written(expected, written)}")
    )


def _settings_faults(dialog: Written, settings: Mapping[str, Any]) -> Iterator[SentenceFault]:
    """Yield a fault for each setting of the run that a dialog does not keep."""
    wanted = settings.get("rounds")
    if type(wanted) is int and dialog.rounds != wanted:
        yield None, "set", f"it has {dialog.rounds} rounds, and the settings say {wanted}"
    quotas, counts = PRESETS.get(str(settings.get("quotas"))), NO_ROUNDS
    if quotas is None or not dialog.is_native or dialog.record.get("relaxed"):
        return
    for number, (_, label, _) in enumerate(dialog.sentences[1:], start=1):
        if kind := ROUND_KINDS.get(label):
            counts = counts.add(kind.family, kind.refers == NOTHING)
        if not quotas.admits(number, counts):
            has = ", ".join(f"{count} {name}" for name, count in counts._asdict().items())
            yield None, "set", f"after round {number} it has {has}: more or fewer than {quotas.name!r} allows"
            return


# Version 1: with `--semantics legacy` references followed looser rules, and dialogs listed more facts -----------------


def _args_of(said: object) -> Mapping[str, Any]:
    """Return the arguments of the program of a caption or a round, as far as it has any."""
    match said:
        case {"program": {"args": Mapping() as args}}:
            return args
    return {}


def _fact_fault(said: Mapping[str, Any], told: list[Any], listed: list[Any], true: list[Any]) -> str:
    """Return why the facts of a round are not those that its answer conveys; "" if they can be.

    Version 1 listed what follows, too: that there are cubes, where three cubes are small. So each fact that is told has
    to be `listed` by now, as itself or by its number, and any other fact has to be true of the scene.
    """
    written = said.get("knowledge_delta")
    if not isinstance(written, list):
        return f"knowledge_delta is {as_written(written)}, expected a list"
    listed += [*written, *map(_exists, written)]
    faults = [f"{as_written(fact)} is not so" for fact in written if fact not in told and fact not in true]
    faults += [f"{as_written(fact)} is missing" for fact in told if fact not in listed]
    return f"knowledge_delta: {faults[0]}" if faults else ""


def _exists(fact: object) -> object:
    """Return what a number of objects says about there being any."""
    match fact:
        case {"fact": str(name), "count": int(count), **said} if name.endswith("-count"):
            return {"fact": f"{name.removesuffix('count')}exists", **said, "exists": count > 0}
    return fact


def _facts_of(scene: DialogScene) -> list[Any]:
    """Return all facts about a scene that dialogs can convey."""
    nothing, values = Knowledge.of_nothing(scene.size), scene.values_of
    of_scene, _, relations = (first_n(width) for width in scene.widths)
    sides = [relations] * scene.size
    known = replace(nothing, told=values, value_exists=of_scene, related_exists=sides, alike_exists=values)
    counted = replace(known, value_counts=of_scene, related_counts=sides, alike_counts=values, size_known=True)
    return [*new_facts(scene, nothing, known), *new_facts(scene, nothing, counted)]
