"""Reads the files of other benchmarks (Visual7W, VQAv2, GQA) as items of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from vqagen.errors import BadInput, Problem
from vqagen.language.question_files import QUESTIONS
from vqagen.rng import shuffled, stream
from vqagen.score.gold.discovery import read_gold
from vqagen.score.gold.item import GoldItem
from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import QuestionFacts
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.stats.sample import clue_of

TYPE_FIELDS = ("type", "question_type", "structural", "answer_type")
"""Fields of items that are taken for their family, the first of them that there is."""


def read_gold_items(path: str, on_read: Callable[[int], None]) -> AuditFile:
    """Return the items of a file. BadInput if it has none."""
    gold = read_gold(path)
    file = AuditFile(gold.name, QUESTIONS.key, [])
    words, places = Numbering(), Counter[str]()
    for number, item in enumerate(gold.items()):
        on_read(1)
        if item.answers:
            file.items.append(_item(number, item, places[item.image], words))
            places[item.image] += 1
    if not file.items:
        raise BadInput([Problem("no questions with answers: there is nothing to audit", gold.name)])
    return file


def _item(number: int, item: GoldItem, place: int, words: Numbering) -> AuditItem:
    family = next((str(item.fields[name]) for name in TYPE_FIELDS if item.fields.get(name) is not None), "")
    answer = str(item.answers[0])
    options = item.options if item.right is not None and len(item.options) > 1 else ()
    right = item.right if options and item.right is not None else -1
    if options and not item.has_letters:  # the file does not record an order: any is as good, but not the file's
        order = shuffled(stream(0, "audit/options", number), range(len(options)))
        options, right = tuple(options[each] for each in order), order.index(right)
    facts = QuestionFacts(item.question, item.image, None, "", family, family, answer, None, None)
    clue = clue_of(facts, answer, words)
    return AuditItem(number, item.id, clue, item.image, place=place, options=options, right=right)
