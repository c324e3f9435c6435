"""One dialog of a file, explained: what the questioner knows in each round, and what each question refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.authoring.known_facts import Fact, KnownFacts
from vqagen.errors import BadInput, Problem, UsageError, describe
from vqagen.judge.scene_lookup import QuestionFault, SceneNames
from vqagen.language.synonyms import Synonyms
from vqagen.records.discovery import find_records
from vqagen.records.source import RecordEntry
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.tasks.dialog.origin import DialogOrigin, origin_of
from vqagen.tasks.dialog.prospect import Prospect
from vqagen.tasks.dialog.replay import replay
from vqagen.tasks.dialog.tables import DialogScene
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
from vqagen.world.domain import Domain
from vqagen.world.image_names import image_name
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene, compile_scene

Record = Mapping[str, Any]
Reasons = Sequence[Mapping[str, str]]
"""Of each round: label -> why no question of that kind was possible; "" if one was."""


@dataclass(frozen=True)
class Reference:
    """Words of a question that refer back."""

    words: str
    """As said; "" for what is left out."""
    via: str
    """np, pronoun, group or ellipsis."""
    objects: list[int]
    round: int
    """The round that it refers to; 0 is the caption."""
    antecedent: str
    """The words there that mention the same; "" if none do."""


@dataclass(frozen=True)
class ExplainedRound:
    """A round, or the caption as round 0."""

    number: int
    label: str
    text: str
    answer: str
    program: str
    """The label with its arguments, as a call."""
    history: str
    """None, All or Coref."""
    since_told: int | None
    since_mentioned: int | None
    references: list[Reference]
    result: list[int]
    """The objects that the answer, or the caption, is about."""
    knows: list[str]
    """Known before the round: a line for each object, and one for the scene."""
    tells: list[str]
    """Conveyed by the answer, with all that follows from it."""
    not_possible: dict[str, str]
    """Label of another kind of round -> why there was no such question."""
    possible: list[str]
    """The labels of other kinds of rounds of which there was a question."""


@dataclass(frozen=True)
class DialogExplanation:
    """One dialog."""

    place: str
    """The file and the number of the dialog."""
    scene: int
    image: str
    objects: list[str]
    """The objects of the scene, by their values."""
    rounds: list[ExplainedRound]

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return asdict(self)


# Finding ----------------------------------------------------------------------------------------------------------


def split_place(place: str) -> tuple[str, int]:
    """Return the file and the number of `FILE#N`; 0 without a number.

    >>> split_place("dialogs.json#12"), split_place("dialogs.json")
    (('dialogs.json', 12), ('dialogs.json', 0))
    """
    file, _, number = place.rpartition("#")
    if file and number.isdecimal() and not Path(place).exists():
        return file, int(number)
    return place, 0


class FoundDialog(NamedTuple):
    """A dialog of a file."""

    entry: RecordEntry
    origin: DialogOrigin | None
    """How the file was made; None if that is unknown."""


def find_dialog(file: str, number: int) -> FoundDialog:
    """Return a dialog by its place in a file. UsageError if there is none, or if the file has another shape."""
    source = find_records(file, DIALOGS)
    entry = next(source.entries(number, 1), None)
    if entry is None:
        raise UsageError(f"there is no dialog {number} in {file}: it has {source.count():,}, counted from 0")
    if DIALOGS.key in entry.record:
        raise UsageError(f"{file} is in CLEVR-Dialog's shape, without programs and referents; give the original file")
    return FoundDialog(entry, origin_of(source.info, file))


def scene_of(dialog: RecordEntry, source: SceneSource, domain: Domain) -> Scene:
    """Return the scene that a dialog is about. BadInput if there is none."""
    index = dialog.record.get("scene_index")
    if type(index) is int and index >= 0:
        found = next(source.entries(index, 1), None)
        if found is not None and image_name(found.record) == str(dialog.record.get("image_filename") or ""):
            return compile_scene(found.record, domain, index, found.place)
    place = SceneNames(source).place_of(dialog.record)
    if isinstance(place, QuestionFault):
        raise BadInput([Problem(f"{place.problem} in {source.path}", dialog.place, DIALOGS.path(dialog.position))])
    found = next(source.entries(place, 1))
    return compile_scene(found.record, domain, place, found.place)


# Explaining -------------------------------------------------------------------------------------------------------


def explain_dialog(dialog: FoundDialog, file: str, scene: Scene, synonyms: Synonyms) -> DialogExplanation:
    """Explain a dialog about a scene. BadInput if it is not as `vqagen dialog` writes it, or about another scene."""
    reader = _DialogReader(dialog.entry, scene)
    phrases = {name: synonyms.of(synonyms.domain.relation_type, name)[0] for name in synonyms.domain.relations}
    reasons = _reasons(dialog, scene, synonyms.domain)
    rounds = list(reader.rounds(phrases, reasons))
    objects = [scene.describe(1 << i) for i in range(scene.size)]
    return DialogExplanation(f"{file}#{dialog.entry.position}", scene.index, scene.image, objects, rounds)


def _reasons(dialog: FoundDialog, scene: Scene, domain: Domain) -> Reasons:
    """Return why other kinds of rounds were not possible; nothing if it is unknown how the dialog was made."""
    record, origin = dialog.entry.record, dialog.origin
    if origin is None:
        return ()
    try:
        table = DialogScene(scene, DialogVocabulary.of(domain))
        moments = replay(record, table, origin.rules, Prospect(origin.quotas, len(record["rounds"])))
        return [moment.reasons for moment in moments]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        message = "its programs cannot be run again on this scene: is it of another file or version of vqagen?"
        raise BadInput([Problem(message, dialog.entry.place, DIALOGS.path(dialog.entry.position))]) from None


class _DialogReader:
    """Reads the parts of a dialog's record, and refuses what is not as it should be."""

    def __init__(self, dialog: RecordEntry, scene: Scene) -> None:
        self._dialog, self._scene = dialog, scene
        listed = self._list(dialog.record, "rounds", "")
        self._said = [self._mapping(dialog.record, "caption", ""), *map(self._as_mapping, listed, range(len(listed)))]
        entities = self._list(dialog.record, "entities", "")
        self._objects_of = {
            each.get("id"): self._objects(each.get("objects"), f"entities[{number}].objects")
            for number, each in enumerate(entities)
            if isinstance(each, Mapping)
        }

    def rounds(self, phrases: Mapping[str, str], reasons: Reasons) -> Iterator[ExplainedRound]:
        """Yield the caption and the rounds."""
        known = KnownFacts(phrases)
        for number, record in enumerate(self._said):
            knows = known.lines()
            facts = self._facts(record, number)
            known.add(facts)
            of_round = reasons[number - 1] if number and reasons else {}
            yield self._round(number, record, knows, KnownFacts(phrases).add(facts).lines(), of_round)

    def _round(
        self, number: int, record: Record, knows: list[str], tells: list[str], reasons: Mapping[str, str]
    ) -> ExplainedRound:
        path = self._path(number)
        history = record.get("history") if isinstance(record.get("history"), Mapping) else {}
        assert isinstance(history, Mapping)
        label = str(record.get("label"))
        others = {name: reason for name, reason in reasons.items() if name != label}
        return ExplainedRound(
            number,
            label,
            self._text(number),
            "" if number == 0 else str(record.get("answer")),
            self._program(record, path),
            str(history.get("class") or ""),
            history.get("d_reveal"),
            history.get("d_last"),
            list(self._references(number, history)) if number else [],
            self._result(number, record),
            knows,
            tells,
            {name: reason for name, reason in others.items() if reason},
            [name for name, reason in others.items() if not reason],
        )

    def _result(self, number: int, record: Record) -> list[int]:
        """Return the objects that the answer is about; of a caption, those that it mentions."""
        if number:
            referents = self._mapping(record, "referents", self._path(number))
            return self._objects(referents.get("result") or [], f"{self._path(number)}.referents.result")
        mentions = self._list(record, "mentions", "caption")
        found = (self._objects_of.get(each.get("entity"), []) for each in mentions if isinstance(each, Mapping))
        return sorted({i for objects in found for i in objects})

    def _references(self, number: int, history: Record) -> Iterator[Reference]:
        path = f"{self._path(number)}.history"
        for each in self._list(history, "antecedents", path) if history else []:
            to = each.get("round") if isinstance(each, Mapping) else None
            if type(to) is not int or not 0 <= to < number:
                raise self._bad(f"{path}.antecedents", f"expected the number of an earlier round, found {describe(to)}")
            yield Reference(
                self._words(number, each.get("span")),
                str(each.get("via")),
                self._objects_of.get(each.get("entity"), []),
                to,
                self._words(to, each.get("antecedent_span")),
            )

    def _words(self, number: int, span: Any) -> str:
        """Return the words of a round's text in a span; "" without one."""
        match span:
            case [int(start), int(stop)]:
                return " ".join(self._text(number).split()[start:stop]).strip(",.;?")
        return ""

    def _text(self, number: int) -> str:
        key = "question" if number else "text"
        text = self._said[number].get(key)
        if not isinstance(text, str):
            raise self._bad(f"{self._path(number)}.{key}", f"expected text, found {describe(text)}")
        return text

    def _program(self, record: Record, path: str) -> str:
        program = self._mapping(record, "program", path)
        args = self._mapping(program, "args", f"{path}.program")
        return f"{program.get('label')}({', '.join(f'{name}={_argument(value)}' for name, value in args.items())})"

    def _facts(self, record: Record, number: int) -> Sequence[Fact]:
        path = self._path(number)
        facts = self._list(record, "knowledge_delta", path)
        for place, fact in enumerate(facts):
            at = f"{path}.knowledge_delta[{place}]"
            if not isinstance(fact, Mapping):
                raise self._bad(at, f"expected a fact, found {describe(fact)}")
            if "object" in fact:
                self._objects([fact["object"]], f"{at}.object")
            try:
                KnownFacts({}).add([fact])
            except (KeyError, TypeError, AttributeError):
                kind = fact.get("fact")
                raise self._bad(at, f"expected a fact as `vqagen dialog` writes it, found another {kind!r}") from None
        return facts

    def _objects(self, given: Any, path: str) -> list[int]:
        if not isinstance(given, list):
            raise self._bad(path, f"expected a list of objects, found {describe(given)}")
        for each in given:
            if type(each) is not int or not 0 <= each < self._scene.size:
                last = self._scene.size - 1
                raise self._bad(path, f"expected objects 0 to {last} of scene {self._scene.index}, found {each!r}")
        return given

    def _path(self, number: int) -> str:
        return f"rounds[{number - 1}]" if number else "caption"

    def _as_mapping(self, value: Any, number: int) -> Record:
        if isinstance(value, Mapping):
            return value
        raise self._bad(f"rounds[{number}]", f"expected a round, found {describe(value)}")

    def _mapping(self, record: Record, key: str, path: str) -> Record:
        value = record.get(key)
        if isinstance(value, Mapping):
            return value
        raise self._bad(f"{path}.{key}" if path else key, f"expected an object, found {describe(value)}")

    def _list(self, record: Record, key: str, path: str) -> list[Any]:
        value = record.get(key)
        if isinstance(value, list):
            return value
        raise self._bad(f"{path}.{key}" if path else key, f"expected a list, found {describe(value)}")

    def _bad(self, path: str, message: str) -> BadInput:
        return BadInput([Problem(message, self._dialog.place, f"{DIALOGS.path(self._dialog.position)}.{path}")])


def _argument(value: Any) -> str:
    """Return an argument of a program for people."""
    if isinstance(value, Mapping):
        return " ".join(map(str, value.values()))
    return "[" + " ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)
