"""Judge a dialog: read each sentence, resolve its references, answer it in every world, and see what was known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from oracles.dialogs.captions import introduce, worlds_of
from oracles.dialogs.closure import learn
from oracles.dialogs.discourse import Answer, Discourse, Entity, Request, Turn, World
from oracles.dialogs.facts import Same
from oracles.dialogs.knowledge import Knowledge, Logic
from oracles.dialogs.labels import LABELS
from oracles.dialogs.manner import manner_verdicts
from oracles.dialogs.meanings import (
    YES,
    Outcome,
    answered,
    is_nearest,
    mentioned_in,
    outcomes,
    presupposed,
    quantity_of,
)
from oracles.dialogs.readings import Reading, readings_of
from oracles.dialogs.redundancy import why_redundant
from oracles.dialogs.references import resolve
from oracles.dialogs.verdicts import Verdict

from vqagen.bits import Objects, only
from vqagen.tasks.dialog.recognition import SentenceReader
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.world.scene import Scene


class Asked(NamedTuple):
    """One round, as written."""

    question: str
    answer: object
    label: str


class Transcript(NamedTuple):
    """A dialog, as written: all that is judged."""

    caption: str
    label: str
    """The label of the caption."""
    rounds: Sequence[Asked]


@dataclass
class Judged:
    """The verdicts on a dialog, and how it was understood as far as it could be."""

    verdicts: list[tuple[Verdict, ...]] = field(default_factory=list)
    """Sentence -> its faults and weaknesses; sentence 0 is the caption. Sentences that are not judged are missing."""
    readings: list[Reading] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    """Round (from 0) -> its answer and result in the first world."""
    mentioned: list[Objects] = field(default_factory=list)
    """Round (from 0) -> the objects mentioned before it, in the first world."""
    discourse: Discourse = field(default_factory=Discourse)

    @property
    def is_understood(self) -> bool:
        """True if the last sentence that was judged could be read and its references resolved."""
        return len(self.readings) == len(self.verdicts) == len(self.discourse.turns)

    @property
    def is_certain(self) -> bool:
        """True if each sentence has one meaning, so that the first world is the only one."""
        return not any(verdict.kind == "ambiguous" for each in self.verdicts for verdict in each)


class DialogJudge:
    """Judges dialogs of one domain."""

    def __init__(self, reader: SentenceReader, vocabulary: DialogVocabulary) -> None:
        self._reader, self._vocabulary = reader, vocabulary

    def judge(self, dialog: Transcript, scene: Scene) -> Judged:
        """Judge every sentence up to the first that cannot be understood."""
        judged = Judged()
        self._take_caption(dialog, scene, judged)
        if judged.is_understood:
            state = _State(scene, self._vocabulary, judged)
            for asked in dialog.rounds:
                self._take_round(asked, state)
                if not judged.is_understood:
                    break
        return judged

    # Captions -------------------------------------------------------------------------------------------------------

    def _take_caption(self, dialog: Transcript, scene: Scene, judged: Judged) -> None:
        readings = readings_of(self._reader, dialog.caption, dialog.label)
        if not readings:
            judged.verdicts.append((Verdict("unparseable", f"no template of {dialog.label} says it"),))
            return
        found = [(reading, worlds_of(reading, scene, self._vocabulary)) for reading in readings]
        reading, caption = next((each for each in found if each[1].worlds), found[0])
        judged.verdicts.append(caption.verdicts)
        if caption.worlds:
            judged.readings.append(reading)
            introduce(reading, caption, judged.discourse)

    # Rounds ---------------------------------------------------------------------------------------------------------

    def _take_round(self, asked: Asked, state: _State) -> None:
        judged = state.judged
        readings = readings_of(self._reader, asked.question, asked.label)
        if not readings:
            judged.verdicts.append((Verdict("unparseable", f"no template of {asked.label} says it"),))
            return
        faults = list[Verdict]()
        resolved = [(reading, resolve(reading, judged.discourse)) for reading in readings]
        understood = [each for each in resolved if each[1].request is not None] or resolved[:1]
        if len(understood) > 1:
            faults.append(Verdict("ambiguous", f"the sentence can be read in {len(understood)} ways"))
        reading, (request, verdicts) = understood[0]
        faults += verdicts
        if request is None:
            judged.verdicts.append(tuple(faults))
            return
        faults += state.look_at_manner(reading, request)
        faults += state.take(request, asked.answer)
        judged.readings.append(reading)
        judged.verdicts.append(tuple(faults))


# One dialog -------------------------------------------------------------------------------------------------------


class _State:
    """One dialog while it is judged."""

    def __init__(self, scene: Scene, vocabulary: DialogVocabulary, judged: Judged) -> None:
        self.scene, self.judged = scene, judged
        self.discourse = judged.discourse
        self.logic = logic_of(scene, vocabulary)
        self._referents: dict[int, int] = {}
        self._has_come_back = False
        self._note_referents()
        self._omniscient = Knowledge(self.logic, self._referents)
        learn(self._omniscient, self.discourse.facts)

    def _note_referents(self) -> None:
        world = self.discourse.worlds[0]
        for entity in self.discourse.singles:
            self._referents.setdefault(entity.number, only(world[entity.number]))

    def take(self, request: Request, given: object) -> list[Verdict]:
        """Judge one round whose references are resolved, and add what it tells."""
        faults = self._why_redundant(request)
        branches = [
            (world, outcome)
            for world in self.discourse.worlds
            for outcome in outcomes(request, self.scene, world, self.discourse)
        ]
        faults += _answer_faults(request, given, branches, len(self.discourse.worlds))
        faults += self._is_not_nearest(request, branches)
        fitting = [branch for branch in branches if _is_same(branch[1].answer, given)] or branches[:1]
        self._tell(request, fitting)
        return faults

    def _is_not_nearest(self, request: Request, branches: Sequence[tuple[World, Outcome]]) -> list[Verdict]:
        """Return a weakness if "the next thing left of it" is another one than the nearest thing there."""
        if LABELS[request.label].about != "attr-rel" or request.focus is None:
            return []
        found = [(only(world[request.focus]), outcome.result) for world, outcome in branches if outcome.result]
        if all(is_nearest(self.scene, request.relation, of, only(result)) for of, result in found):
            return []
        return [Verdict("nearness", f"another thing in {request.relation} is as near to it as the next one")]

    def look_at_manner(self, reading: Reading, request: Request) -> list[Verdict]:
        """Return a fault if the words of a question do not fit what was said before."""
        found = manner_verdicts(reading, request, self.discourse, self._omniscient, self._has_come_back, self.scene)
        self._has_come_back |= reading.comes_back
        return found

    # Redundancy -----------------------------------------------------------------------------------------------------

    def _why_redundant(self, request: Request) -> list[Verdict]:
        """Return a fault if the answer follows from the text, a weakness if one must know who is who.

        The reader who knows who is who concludes at least as much, so the other reader is asked only if that one knows.
        """
        faults = []
        why = why_redundant(request, self._omniscient, self.discourse)
        is_untold = self._is_untold(request)
        if why or is_untold:
            reader = Knowledge(self.logic)
            learn(reader, self.discourse.facts)
            told = why_redundant(request, reader, self.discourse) if why else ""
            if why:
                faults.append(Verdict("redundant", told) if told else Verdict("identity", why))
            if is_untold and reader.value(request.focus or 0, request.attribute) is None:
                faults.append(Verdict("untold", f"the {request.attribute} of the object was not told"))
        return faults

    def _is_untold(self, request: Request) -> bool:
        if LABELS[request.label].about != "obj-exclude" or request.focus is None:
            return False
        return request.attribute not in self.discourse.entities[request.focus].values

    # Telling --------------------------------------------------------------------------------------------------------

    def _tell(self, request: Request, branches: list[tuple[World, Outcome]]) -> None:
        """Add a round: its result becomes an entity in each world."""
        discourse, at = self.discourse, self.discourse.round
        answer, mentioned = branches[0][1].answer, mentioned_in(discourse.worlds[0], discourse)
        facts = [*presupposed(request, discourse), *self._aliases(request)]
        result = self._result(request, branches)
        worlds = [(*world, outcome.result) for world, outcome in branches]
        if result is None or result.number < len(discourse.worlds[0]):
            worlds = [world for world, _ in branches]
        discourse.worlds = list(dict.fromkeys(worlds))
        facts += answered(request, answer, at, result)
        self._tell_sizes(request, answer, at)
        discourse.facts += facts
        discourse.turns.append(Turn(request, answer, None if result is None else result.number))
        self.judged.outcomes.append(branches[0][1])
        self.judged.mentioned.append(mentioned)
        self._note_referents()
        learn(self._omniscient, facts)

    def _aliases(self, request: Request) -> list[Same]:
        """Return that all objects that "the earlier red thing" can be are one: it says that there is only one."""
        if not request.descriptor or request.focus is None:
            return []
        world, focus = self.discourse.worlds[0], request.focus
        described = [each.number for each in self.discourse.singles if each.has(request.descriptor)]
        return [Same(focus, each) for each in described if each != focus and world[each] == world[focus]]

    def _result(self, request: Request, branches: list[tuple[World, Outcome]]) -> Entity | None:
        """Return the entity that the round is about, with what is told of it; None if there is none."""
        discourse, at = self.discourse, self.discourse.round
        answer, objects = branches[0][1]
        label = LABELS[request.label]
        if not objects:
            return None
        if request.label == "count-all-group":
            assert request.group is not None
            group = discourse.entities[request.group]
            group.size, group.is_single, group.is_mentioned = int(answer), answer == 1, True
            return group
        if label.family == "seek" and label.about != "attr-rel":
            assert request.focus is not None
            focus = discourse.entities[request.focus]
            focus.tell({request.attribute: str(answer)}, at)
            return focus
        if label.family == "seek":
            return discourse.introduce(True, {request.attribute: str(answer)}, size=1)
        size = answer if isinstance(answer, int) else None
        is_mentioned = request.label != "exist-other"
        return discourse.introduce(size == 1, self._values(request), size=size, is_mentioned=is_mentioned)

    def _values(self, request: Request) -> dict[str, str]:
        """Return the values that the text tells of what was counted."""
        entities = self.discourse.entities
        values = {}
        if request.group is not None:
            values = {attribute: told.value for attribute, told in entities[request.group].values.items()}
        if LABELS[request.label].about == "obj-exclude" and request.focus is not None:
            told = entities[request.focus].values.get(request.attribute)
            return {} if told is None else {request.attribute: told.value}
        return values | {request.attribute: request.value} if request.value else values

    def _tell_sizes(self, request: Request, answer: Answer, at: int) -> None:
        """Tell the size of sets that were introduced by the same question whether there are any."""
        if not isinstance(answer, int) or not answer or LABELS[request.label].about in ("other", "group"):
            return
        for turn in self.discourse.turns:
            is_of_set = turn.answer == YES and turn.result is not None and turn.request.label in LABELS
            if is_of_set and quantity_of(turn.request, 0) == quantity_of(request, 0):
                entity = self.discourse.entities[turn.result or 0]
                entity.size, entity.is_single = answer, answer == 1


def _answer_faults(
    request: Request, given: object, branches: Sequence[tuple[World, Outcome]], worlds: int
) -> list[Verdict]:
    answers = list(dict.fromkeys(outcome.answer for _, outcome in branches))
    faults = []
    if len(answers) > 1:
        faults.append(Verdict("ambiguous", f"it has several answers: {', '.join(map(str, answers))}"))
    if not any(_is_same(answer, given) for answer in answers):
        faults.append(Verdict("wrong", f"the answer is {given!r}, but the scene gives {answers[0]!r}"))
    if len(answers) == 1 and len(branches) > worlds:
        faults.append(Verdict("ambiguous", f"several things are next in {request.relation} to it"))
    return faults


def _is_same(answer: Answer, given: object) -> bool:
    return type(answer) is type(given) and answer == given


def logic_of(scene: Scene, vocabulary: DialogVocabulary) -> Logic:
    """Return what every reader knows of a scene like this one: values, inverses, and which orders are total."""
    inverse = {
        name: vocabulary.relations[vocabulary.inverse[number]]
        for number, name in enumerate(vocabulary.relations)
        if name in scene.related
    }
    inverse = {name: other for name, other in inverse.items() if other in inverse}
    orders = [name for name, other in inverse.items() if _is_order(scene, name, other)]
    return Logic(
        {attribute.name: attribute.leaves for attribute in vocabulary.attributes},
        {name: inverse[name] for name in orders if inverse[name] in orders},
        frozenset(name for name in orders if _is_total(scene, name, inverse[name])),
    )


def _is_order(scene: Scene, relation: str, inverse: str) -> bool:
    """Return whether a relation is transitive, and the inverse of its inverse."""
    table, back = scene.related[relation], scene.related[inverse]
    for one in range(scene.size):
        for other in range(scene.size):
            is_beyond = bool(table[one] >> other & 1)
            if is_beyond != bool(back[other] >> one & 1) or (is_beyond and table[other] & ~table[one]):
                return False
    return True


def _is_total(scene: Scene, relation: str, inverse: str) -> bool:
    others: list[Objects] = [scene.everything & ~(1 << each) for each in range(scene.size)]
    return all(
        scene.related[relation][each] | scene.related[inverse][each] == others[each] for each in range(scene.size)
    )
