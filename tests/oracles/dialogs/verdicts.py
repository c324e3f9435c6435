"""Verdicts on sentences of a dialog."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

HARD: Mapping[str, str] = {
    "wrong": "the scene gives another answer, or the caption is false",
    "ambiguous": "it can be understood in several ways",
    "redundant": "the answer follows from the text so far",
    "unlicensed": "a reference has no single antecedent",
    "unparseable": "no template says the sentence",
    "misworded": "'if there is one' of what is known to be there, 'the earlier cube' of what was just said; or neither",
    "annotation": "a field of the record is wrong",
    "set": "dialogs of an image are too alike, or settings are not kept",
}
"""Kind of a fault -> its meaning."""
SOFT: Mapping[str, str] = {
    "antecedents": "a pronoun has two antecedents",
    "nearness": "the next object in a direction is not the nearest one there",
    "presupposed": "an object is taken for granted that only the scene shows to be there",
    "untold": "the value that others share was not told",
    "identity": "the answer follows if two mentions are known to be of one object",
}
"""Kind of a weakness -> its meaning."""


class Verdict(NamedTuple):
    """One fault or weakness of one sentence."""

    kind: str
    why: str
