"""Labels of questions: their families, how each refers back, and how its answer depends on the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NONE, EVERYTHING, COREFERENCE = None, "All", "Coref"


class Label(NamedTuple):
    """One kind of question."""

    family: str
    """count, exist or seek."""
    about: str
    """The part of the label behind the family, such as obj-rel."""
    reference: str
    """"" | mentioned | group | pronoun | ellipsis | early."""

    @property
    def history_class(self) -> str | None:
        """Return the part of the history that the answer depends on: None, All or Coref."""
        return {"": NONE, "mentioned": EVERYTHING}.get(self.reference, COREFERENCE)


def _labels() -> dict[str, Label]:
    both = ("count", "exist")
    found = {
        "count-all": Label("count", "all", ""),
        "count-all-group": Label("count", "group", "group"),
        "seek-attr-imm": Label("seek", "attr", "pronoun"),
        "seek-attr-imm2": Label("seek", "attr", "ellipsis"),
        "seek-attr-early": Label("seek", "attr", "early"),
        "seek-attr-sim-early": Label("seek", "sim", "early"),
        "seek-attr-rel-imm": Label("seek", "attr-rel", "pronoun"),
        "seek-attr-rel-early": Label("seek", "attr-rel", "early"),
    }
    for family in both:
        found |= {
            f"{family}-other": Label(family, "other", "mentioned"),
            f"{family}-attribute": Label(family, "attribute", ""),
            f"{family}-attribute-group": Label(family, "attribute-group", "group"),
            f"{family}-obj-rel-imm": Label(family, "obj-rel", "pronoun"),
            f"{family}-obj-rel-imm2": Label(family, "obj-rel", "ellipsis"),
            f"{family}-obj-rel-early": Label(family, "obj-rel", "early"),
            f"{family}-obj-exclude-imm": Label(family, "obj-exclude", "pronoun"),
            f"{family}-obj-exclude-early": Label(family, "obj-exclude", "early"),
        }
    return found


LABELS: Mapping[str, Label] = _labels()
"""The 24 labels of questions."""
EXTREME, CENTER = "extreme-", "extreme-center"
UNIQUE, COUNT, SEVERAL, RELATION = "unique-obj", "count-att", "count-att-no", "obj-relation"
"""Labels of captions; `extreme-` is followed by a relation or by `center`."""
STANDALONE = ("count-all", "count-other", "exist-other", "count-attribute", "exist-attribute")
"""Labels that the reference calls independent of the history."""
