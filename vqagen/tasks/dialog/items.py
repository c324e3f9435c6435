"""Rounds of dialogs, of vqagen and in CLEVR-Dialog's shape, as items.

A record in CLEVR-Dialog's shape is an image with its dialogs; of a round it has the label (`template`) and, in the
graph's history, the round that it depends on, from which the distance follows. Files without graphs have no distances.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from vqagen.items.answers import WORD
from vqagen.items.builder import TableBuilder, gold_of
from vqagen.items.table import Gold, Items
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.tasks.dialog.dialog_files import caption_of, dependences, dialogs_in, parts_of, rounds_key
from vqagen.tasks.dialog.rounds import ROUND_KINDS

DIALOG_GROUPS = ("answer_type", "category", "label", "history", "round", "distance", "scene_size")
HISTORIES = {"None": "independent", "All": "whole history", "Coref": "dependent"}
"""The part of the history that a question needs, as files say it (nothing, all, one referent) -> as reports do."""
_DISTANCES = ("d_reveal", "d_last")
"""Keys of the rounds since the referent was told of, and mentioned at all."""


def read_dialogs(table: TableBuilder) -> Items:
    """Return the rounds of a dialog file; a dialog's number is its `dialog_index`, else its place in the file."""
    reader, number = _RoundReader(table), 0
    for record in table.records():
        table.check(record.get("dialogs", []), list, "dialogs", "a list of dialogs")
        for dialog, place in dialogs_in(record):
            if all(table.check(*part) for part in parts_of(dialog, place)):
                name = str(record.get("dialog_index", number))
                if table.wants(record, *(f"{name}/{at}" for at in range(len(dialog[rounds_key(place)[0]])))):
                    reader.add(dialog, place, name)
            number += 1
    return table.table(DIALOG_GROUPS, typed=True)


class _RoundReader:
    """Adds the rounds of dialogs to a table."""

    def __init__(self, table: TableBuilder) -> None:
        self._table = table
        self._named = table.rows("category", "label", "attribute", "caption", "history")
        self._placed = table.rows("round", "distance", "mentioned", "question_length")
        self._families = table.rows("family")

    def add(self, dialog: Mapping[str, Any], place: str, name: str) -> None:
        """Add the rounds of a dialog, of vqagen or in CLEVR-Dialog's shape, which is at a place in its record."""
        (key, label), (before, caption), depends = rounds_key(place), caption_of(dialog), dependences(dialog)
        for at, round in enumerate(dialog[key]):
            told = depends[at] if at < len(depends) else None
            history = {"d_reveal": at - told} if isinstance(told, int) else round.get("history")  # the caption is -1
            named = round[label], caption or None
            placed = at + 1, history if isinstance(history, Mapping) else {}
            gold = self._add_round(f"{name}/{at}", round, named, placed, f"{place}{key}[{at}]")
            self._table.learn(round["question"], before)
            before = f"{before} {round['question']} {gold.text if gold else ''}"

    def _add_round(
        self,
        id: str,
        round: Mapping[str, Any],
        labels: tuple[str, str | None],
        placed: tuple[int, Mapping[str, Any]],
        where: str,
    ) -> Gold | None:
        """Add one round; return its answer. `labels` are its own and that of the caption."""
        answer, attribute = round.get("answer"), _attribute(round.get("program"))
        (label, caption), (number, history) = labels, placed
        self._table.check(answer, str | int | float | None, f"{where}.answer", "a number or a text")
        gold = None if answer is None else gold_of(answer if isinstance(answer, int) else str(answer))
        self._table.add(id, self._table.gold(gold, where))
        needed = str(history.get("class") or (ROUND_KINDS[label].history_class if label in ROUND_KINDS else "Coref"))
        category = str(round.get("family") or label.partition("-")[0])
        self._named.add(category, label, attribute, caption, HISTORIES.get(needed, needed))
        distances = [history.get(key) for key in _DISTANCES]
        for key, distance in zip(_DISTANCES, distances, strict=True):
            self._table.check(distance, int | None, f"{where}.history.{key}", "a number of rounds")
        self._placed.add(number, *distances, round["question"].count(" ") + 1)
        if self._table.is_learning:
            self._families.add(_family(label, attribute, gold))
        return gold


def _attribute(program: object) -> str | None:
    match program:
        case {"args": {"attribute": str(name)}}:
            return name
    return None


def _family(label: str, attribute: str | None, gold: Gold | None) -> str:
    """Return the label of a round and the attribute that it names, which belongs to what is asked for.

    A record that does not name the attribute has values of CLEVR for answers, as CLEVR-Dialog's files have.
    """
    if attribute is None and gold is not None and gold.kind == WORD:
        attribute = _attributes().get(gold.text)
    return f"{label} {attribute or ''}".rstrip()


@cache
def _attributes() -> Mapping[str, str]:
    """Return the attribute of each value in the domain that commands take by default."""
    domain = load_catalogue(find_domain())[0].domain
    return {value: name for name in domain.value_types for value in domain.values_of(name)}
