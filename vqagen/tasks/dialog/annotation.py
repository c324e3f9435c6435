"""From a finished search to a dialog's record: words, programs, coreference, referents, and what each round conveys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from random import Random
from typing import Any

from vqagen.bits import Objects, indexes, is_single, only
from vqagen.tasks.dialog.captions import Caption, caption_args, knowledge_after
from vqagen.tasks.dialog.knowledge import RECENT, Answer, Knowledge, Move, reveal_round
from vqagen.tasks.dialog.rounds import (
    NAMED,
    NOTHING,
    ROUND_KINDS,
    RoundKind,
    attribute_of_next,
    group_itself,
    rest,
)
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.template import BACK, FAR, FOCUS, GROUP, NEAR, SURE, UNSURE
from vqagen.tasks.dialog.wording import DialogWords, Sentence, Span

BOXES = ("pixel_coords", "bbox", "box")
"""Keys of an object record that say where in the image the object is."""
COPIED = ("split", "image_index", "image_filename")


PlayedRound = tuple[Knowledge, Move, Answer, Knowledge]
"""What was known before, the question, its answer, and what is known after it."""


@dataclass
class _Entity:
    """An object or a set that a dialog talks about."""

    number: int
    objects: Objects
    spans: dict[int, Span] = field(default_factory=dict)
    """Round -> where its text mentions the entity."""
    last_round: int = 0
    """The last round that mentioned it, or whose answer was about it."""

    def to_record(self) -> dict[str, Any]:
        mentions = [{"round": round, "span": list(span)} for round, span in self.spans.items()]
        return {"id": self.number, "objects": indexes(self.objects), "mentions": mentions}


class Annotator:
    """Makes the record of one dialog, round by round."""

    def __init__(self, scene: DialogScene, words: DialogWords, rng: Random) -> None:
        self.scene, self.words, self.rng = scene, words, rng
        self.entities: list[_Entity] = []
        """An object has one, however often it is found."""
        self._singles: dict[int, _Entity] = {}
        self._group: _Entity | None = None
        """The set that "they" stands for."""

    def dialog(self, caption: Caption, rounds: Iterable[PlayedRound]) -> dict[str, Any]:
        """Return the record of a dialog, without its place among those of its scene."""
        record = self.scene.scene.record
        return {
            **{name: record[name] for name in COPIED if name in record},
            "caption": self.caption(caption),
            "rounds": [self.round(number, *played) for number, played in enumerate(rounds, start=1)],
            "entities": [entity.to_record() for entity in self.entities],
            **self._boxes(),
        }

    def _single(self, i: int) -> _Entity:
        """Return the entity of an object."""
        if i not in self._singles:
            self._singles[i] = self._new(1 << i)
        return self._singles[i]

    def _new(self, objects: Objects) -> _Entity:
        """Return a new entity, such as that of a set."""
        self.entities.append(_Entity(len(self.entities), objects))
        return self.entities[-1]

    # The caption -----------------------------------------------------------------------------------------------------

    def caption(self, caption: Caption) -> dict[str, Any]:
        """Return the record of the caption."""
        said = self.words.say(caption.label, caption.form, self._caption_slots(caption), self.rng)
        knowledge = knowledge_after(caption, self.scene)
        return {
            "text": said.text,
            "label": caption.label,
            "variant": said.variant,
            "program": {"label": caption.label, "args": caption_args(caption, self.scene)},
            "mentions": list(self._caption_mentions(caption, knowledge, said)),
            "knowledge_delta": list(new_facts(self.scene, Knowledge.of_nothing(self.scene.size), knowledge)),
        }

    def _caption_slots(self, caption: Caption) -> dict[str, Any]:
        words = self.scene.vocabulary
        values = words.described(*caption.values)
        relation = words.relations[caption.relation] if caption.relation >= 0 else None
        anchor = words.described(caption.anchor_value) if caption.anchor >= 0 else None
        return _given(D=values, V=values, K=caption.objects.bit_count(), R=relation, E=relation, D2=anchor)

    def _caption_mentions(self, caption: Caption, knowledge: Knowledge, said: Sentence) -> Iterator[dict[str, Any]]:
        if caption.anchor >= 0:
            yield self._mention(self._single(only(caption.objects)), 0, "subject", said)
            yield self._mention(self._single(caption.anchor), 0, "anchor", said)
        elif knowledge.group:
            self._group = self._new(caption.objects)
            yield self._mention(self._group, 0, "result", said)
        else:
            yield self._mention(self._single(only(caption.objects)), 0, "result", said)

    def _mention(self, entity: _Entity, round: int, role: str, said: Sentence) -> dict[str, Any]:
        span = said.spans.get(role)
        entity.last_round = round
        if span is not None:
            entity.spans.setdefault(round, span)
        return {"entity": entity.number, "role": role, "span": list(span) if span else None}

    # Rounds ----------------------------------------------------------------------------------------------------------

    def round(self, number: int, before: Knowledge, move: Move, answer: Answer, after: Knowledge) -> dict[str, Any]:
        """Return the record of a round."""
        kind = ROUND_KINDS[move.label]
        said = self.words.say(move.label, "", self._slots(move), self.rng, self._conditions(kind, number, before, move))
        history = self._history(kind, number, before, move, said)
        mentions = list(self._mentions(kind, number, move, after, said))
        if kind.family == "seek" and after.result:
            self.words.hear(self.scene.vocabulary.attributes[move.attribute].name, str(answer))
        return {
            "question": said.text,
            "answer": str(answer),  # one type, so that Arrow and `datasets` read JSON Lines
            "label": move.label,
            "family": kind.family,
            "variant": said.variant,
            "program": {"label": move.label, "args": self._args(kind, before, move)},
            "history": history,
            "referents": {
                "focus": indexes(before.group if kind.refers == GROUP else _bit(move.focus)),
                "result": indexes(after.result),
            },
            "mentions": mentions,
            "knowledge_delta": list(new_facts(self.scene, before, after)),
        }

    def _conditions(self, kind: RoundKind, number: int, before: Knowledge, move: Move) -> frozenset[str]:
        """Return which conditions of wordings hold, by what the listener knows; see `template`."""
        name, doubt = tuple[str, ...](), tuple[str, ...]()
        if kind.refers == NAMED:
            name = (NEAR,) if number - self._single(move.focus).last_round <= RECENT else (FAR, BACK)
        if kind.learn is attribute_of_next:
            is_known = before.related_exists[move.focus] >> move.relation & 1
            doubt = (SURE,) if is_known and self.scene.related[move.relation][move.focus] else (UNSURE,)
        return frozenset((*name, *doubt))

    def _slots(self, move: Move) -> dict[str, Any]:
        """Return what the question says, as templates call it."""
        words = self.scene.vocabulary
        return _given(
            A=words.attributes[move.attribute].name if move.attribute >= 0 else None,
            R=words.relations[move.relation] if move.relation >= 0 else None,
            V=words.described(move.value) if move.value >= 0 else None,
            D=words.described(*indexes(move.name)) if move.name else None,
        )

    def _args(self, kind: RoundKind, before: Knowledge, move: Move) -> dict[str, Any]:
        """Return what runs the program on the scene: objects by their ids, the rest by its names."""
        slots = self._slots(move)
        ((attribute, value),) = slots["V"].items() if "V" in slots else [(slots.get("A"), None)]
        return _given(
            mentioned=indexes(before.mentioned) if kind.learn is rest else None,
            group=indexes(before.group) if kind.refers == GROUP else None,
            focus=move.focus if move.focus >= 0 else None,
            relation=slots.get("R"),
            attribute=attribute,
            value=value,
            reading="nearest" if kind.learn is attribute_of_next else None,
            descriptor=slots.get("D"),
        )

    def _history(self, kind: RoundKind, number: int, before: Knowledge, move: Move, said: Sentence) -> dict[str, Any]:
        """Return what of the history the question depends on; to be called before its own mentions are noted."""
        if kind.refers == NOTHING:
            distances = dict.fromkeys(("dependence", "d_reveal", "d_last", "d_ellipsis"))
            return {"class": kind.history_class, **distances, "antecedents": []}
        entity, span, revealed = self._referent(kind, move), said.spans.get(_role_of(kind)), number - 1
        if kind.refers == NAMED:
            revealed = reveal_round(self.scene, before, move.focus, move.name)
        antecedents = [self._antecedent(entity, revealed, _VIA.get(kind.refers, "pronoun"), span)]
        is_elliptic = bool(kind.after)
        if is_elliptic and span:
            previous = entity if kind.refers != NAMED else self._single(before.topic)
            antecedents.append(self._antecedent(previous, number - 1, "ellipsis", None))
        return {
            "class": kind.history_class,
            "dependence": revealed - 1,
            "d_reveal": number - revealed,
            "d_last": number - entity.last_round,
            "d_ellipsis": 1 if is_elliptic else None,
            "antecedents": antecedents,
        }

    def _referent(self, kind: RoundKind, move: Move) -> _Entity:
        if kind.refers == GROUP:
            assert self._group is not None
            return self._group
        return self._single(move.focus)

    def _antecedent(self, entity: _Entity, round: int, via: str, span: Span | None) -> dict[str, Any]:
        earlier = entity.spans.get(round)
        return {
            "round": round,
            "entity": entity.number,
            "via": via if span else "ellipsis",
            "span": list(span) if span else None,
            "antecedent_span": list(earlier) if earlier else None,
        }

    def _mentions(
        self, kind: RoundKind, number: int, move: Move, after: Knowledge, said: Sentence
    ) -> Iterator[dict[str, Any]]:
        """Yield the mentions of a round, and note the set that it leaves as the group."""
        result = after.result
        if kind.refers != NOTHING:
            yield self._mention(self._referent(kind, move), number, _role_of(kind), said)
        if kind.learn is group_itself:
            if self._group and is_single(self._group.objects):  # a group of one object is that object
                self._singles.setdefault(only(self._group.objects), self._group)
        elif not result or result == _bit(move.focus):
            self._group = None
        else:
            is_one = is_single(result) and kind.family != "exist"  # "yes" does not say how many there are
            entity = self._single(only(result)) if is_one else self._new(result)
            self._group = entity if after.group else None
            yield self._mention(entity, number, "result", said)

    def _boxes(self) -> dict[str, Any]:
        """Return where in the image the objects are that the dialog talks about, as far as the scene says it."""
        talked_of = reduce(or_, (entity.objects for entity in self.entities))
        records = self.scene.scene.record["objects"]
        boxes = {i: {name: records[i][name] for name in BOXES if name in records[i]} for i in indexes(talked_of)}
        there = {str(i): of_object for i, of_object in boxes.items() if of_object}
        return {"objects": there} if there else {}


_VIA = {NAMED: "np", GROUP: "group"}


def _role_of(kind: RoundKind) -> str:
    """Return the role of the words that say what a question refers to."""
    return GROUP if kind.refers == GROUP else FOCUS


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _bit(i: int) -> Objects:
    return 1 << i if i >= 0 else 0


# What a round conveys -------------------------------------------------------------------------------------------------


def new_facts(scene: DialogScene, before: Knowledge, after: Knowledge) -> Iterator[Mapping[str, Any]]:
    """Yield the facts known after a round and not before it, as JSON, with what follows from its numbers."""
    words = scene.vocabulary

    def said(value: int) -> dict[str, Any]:
        attribute, word = words.values[value]
        return {"attribute": words.attributes[attribute].name, "value": word}

    for i, value in _gained(before.told, after.told):
        yield {"fact": "attribute", "object": i, **said(value)}
    if after.group:
        told = words.described(*indexes(after.described))
        size = after.group.bit_count() if after.is_sized else None
        yield {"fact": "group", "objects": indexes(after.group), "size": size, "values": told}
    for _, value, is_counted in _numbers(
        [before.value_counts], [before.value_exists], [after.value_counts], [after.value_exists]
    ):
        yield {"fact": f"value-{_ENDINGS[is_counted]}", **said(value), **_number(scene.counts[value], is_counted)}
    for i, relation, is_counted in _numbers(
        before.related_counts, before.related_exists, after.related_counts, after.related_exists
    ):
        number = _number(scene.related[relation][i].bit_count(), is_counted)
        yield {"fact": f"related-{_ENDINGS[is_counted]}", "object": i, "relation": words.relations[relation], **number}
    for i, value, is_counted in _numbers(
        before.alike_counts, before.alike_exists, after.alike_counts, after.alike_exists
    ):
        number = _number(scene.counts[value] - 1, is_counted)
        yield {"fact": f"alike-{_ENDINGS[is_counted]}", "object": i, "attribute": said(value)["attribute"], **number}
    if after.size_known and not before.size_known:
        yield {"fact": "scene-count", "count": scene.size}
    if after.rest_known and not before.rest_known:
        yield {"fact": "rest-exists", "exists": not after.all_seen}


Table = Sequence[int]
"""Object -> a set."""
_ENDINGS = ("exists", "count")


def _gained(before: Table, after: Table) -> list[tuple[int, int]]:
    """Return (object, member) of what a table has gained."""
    pairs = enumerate(zip(before, after, strict=True))
    return [(i, member) for i, (old, new) in pairs for member in indexes(new & ~old)]


def _numbers(counts: Table, exists: Table, new_counts: Table, new_exists: Table) -> Iterator[tuple[int, int, bool]]:
    """Yield (object, member, is_counted) of each number that became known, or of which it became known if it is 0."""
    counted = _gained(counts, new_counts)
    for pair in sorted({*counted, *_gained(exists, new_exists)}):
        yield *pair, pair in counted


def _number(number: int, is_counted: bool) -> dict[str, Any]:
    return {"count": number} if is_counted else {"exists": number > 0}
