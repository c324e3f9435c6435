"""Sentences read back by the templates: the ways to understand each, whatever texts and ways to say a value it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen.tasks.dialog.recognition import Parse, SentenceReader


class Reading(NamedTuple):
    """One way to understand a sentence."""

    label: str
    form: str
    slots: Mapping[str, Any]
    """A: attribute, R and E: relation, K: number, D, D2 and V: {attribute: value}."""
    spans: Mapping[str, tuple[int, int]]
    """Role -> its words, by their offsets."""
    variants: frozenset[int]
    """The texts of the template that say it."""
    cases: frozenset[frozenset[str]]
    """The sets of conditions where it is said, such as {"far"}."""
    comes_back: bool


def readings_of(reader: SentenceReader, sentence: str, label: str) -> list[Reading]:
    """The ways to understand a sentence of a label, each once."""
    found: dict[str, Reading] = {}
    for each in reader.read(sentence, label):
        meaning, comes_back = repr((each.form, sorted(each.slots.items()))), each.phrasing.comes_back
        new = Reading(label, each.form, each.slots, each.said.spans, frozenset(), frozenset(), comes_back)
        known = found.setdefault(meaning, new)
        variants, cases = known.variants | {each.said.variant}, known.cases | cases_of(reader, each)
        found[meaning] = known._replace(variants=variants, cases=cases, comes_back=known.comes_back and comes_back)
    return list(found.values())


def cases_of(reader: SentenceReader, parse: Parse) -> frozenset[frozenset[str]]:
    """The sets of conditions where the text of a parse is said as it was."""
    return frozenset(
        case
        for case in reader.rules[parse.label].cases
        for text in reader.wordings.texts(parse.label, parse.form, case, has_extreme=True)
        if parse.phrasing in text
    )
