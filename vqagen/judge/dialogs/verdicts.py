"""Verdicts on sentences of a dialog."""

from __future__ import annotations

from typing import NamedTuple

HARD = ("wrong", "ambiguous", "redundant", "unlicensed", "unparseable", "annotation", "set")
"""Kinds of faults: the answer is not the scene's, or the caption is false; the sentence can be understood in several
ways; the answer follows from what is known; a reference has no single antecedent; no template says the sentence; a
field of the record is wrong; two dialogs of an image are too alike, or the settings of the run are not kept."""
SOFT = ("antecedents", "nearest", "untold", "identity")
"""Kinds of weaknesses: a pronoun with two singular antecedents; the next object is meant and not said; others of a
value that was not told; an answer that follows if one knows that two mentions are of one object."""


class Verdict(NamedTuple):
    """One fault or weakness of one sentence."""

    kind: str
    why: str

    @property
    def is_hard(self) -> bool:
        """True for a fault."""
        return self.kind in HARD
