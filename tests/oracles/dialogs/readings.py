"""Sentences read back by the templates: the ways to understand each, whatever texts and ways to say a value it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen.tasks.dialog.recognition import SentenceReader


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
        meaning = repr((each.form, sorted(each.slots.items())))
        new = Reading(label, each.form, each.slots, each.said.spans, frozenset(), frozenset(), each.comes_back)
        known = found.setdefault(meaning, new)
        variants, cases = known.variants | {each.said.variant}, known.cases | each.cases
        found[meaning] = known._replace(variants=variants, cases=cases, comes_back=known.comes_back and each.comes_back)
    return list(found.values())
