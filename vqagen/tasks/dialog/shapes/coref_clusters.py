"""The coreferences of a dialog, as corefnmn reads them beside a file of VisDial's shape, dialog by dialog.

    {"version", "data": {"dialogs": [{"image_id", "dialog_id", "split", "image_filename",
        "caption_reference_clusters": [mention, …], "caption_coref_clusters": [mention, …],
        "dialog": [{"question_reference_clusters": [], "question_referrer_clusters": [], "question_coref_clusters": [],
                    "answer_reference_clusters": []}, …]}, …]}, "split"}

A cluster is an entity of the dialog that is mentioned at least twice in words; `cluster_id` is the entity's number. A
mention is {"cluster_id", "start_word", "end_word"}: the words of its sentence, split at white space and counted from 0,
from `start_word` up to but not including `end_word`. The first mention of a cluster is its reference. Every later one
is a referrer, and says where the reference stands: "reference_sentence_id" (0 is the caption, 2k - 1 the question of
round k and 2k its answer), "reference_start_word" and "reference_end_word". `…_coref_clusters` has both kinds. Answers
mention nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

import orjson

from vqagen.files.locations import Location
from vqagen.records.layouts import Record
from vqagen.records.shape import Entry, FoundEntry, Shape
from vqagen.tasks.dialog.shapes.documents import read_dialogs
from vqagen.tasks.dialog.shapes.visdial import named

MENTIONS = ("reference", "referrer", "coref")


class ClusterMention(NamedTuple):
    """A mention of a cluster in words."""

    round: int
    """0 is the caption."""
    start: int
    end: int
    cluster: int
    is_reference: bool
    record: dict[str, Any]


class CorefClusters(Shape):
    """The clusters of a dialog."""

    key = "dialogs"
    number_key = "dialog_id"

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each dialog."""
        for record in records:
            by_round = {at: list(found) for at, found in groupby(_mentions(record), key=lambda each: each.round)}
            caption = _clusters("caption", by_round.get(0, []), ("reference", "coref"))
            rounds = [
                {**_clusters("question", by_round.get(number, []), MENTIONS), "answer_reference_clusters": []}
                for number in range(1, len(record["rounds"]) + 1)
            ]
            yield {**named(record), **caption, "dialog": rounds}

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file."""
        for entry in read_dialogs(path):
            yield FoundEntry(entry, orjson.dumps(entry))


def _mentions(record: Record) -> list[ClusterMention]:
    """Return the mentions of a dialog's clusters in the order of its words."""
    return sorted((each for entity in record["entities"] for each in _mentions_of(entity)), key=lambda each: each[:4])


def _mentions_of(entity: Record) -> Iterator[ClusterMention]:
    """Yield the mentions of an entity; none if fewer than two are in words, for a span is missing where words are."""
    number = entity["id"]
    spans = sorted((each["round"], *each["span"]) for each in entity["mentions"] if each["span"])
    if len(spans) < 2:
        return
    (first, start, end), *_ = spans
    reference = {
        "reference_sentence_id": max(2 * first - 1, 0),
        "reference_start_word": start,
        "reference_end_word": end,
    }
    for place, (at, begin, behind) in enumerate(spans):
        mention = {"cluster_id": number, "start_word": begin, "end_word": behind}
        yield ClusterMention(at, begin, behind, number, not place, mention if not place else {**mention, **reference})


def _clusters(text: str, mentions: list[ClusterMention], names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the clusters of a caption or question: those that begin in it, those that it refers to, and all."""
    kept = {
        "reference": [each.record for each in mentions if each.is_reference],
        "referrer": [each.record for each in mentions if not each.is_reference],
        "coref": [each.record for each in mentions],
    }
    return {f"{text}_{name}_clusters": kept[name] for name in names}
