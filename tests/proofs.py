"""Read the proofs that stand in `gold.reason` of made items."""

from __future__ import annotations

import json
import re

from vqagen.human.items.proof import Proof

_PROOF = re.compile(r"program (\[.*\]) gives (\d+)")


def read_proof(reason: str) -> Proof | None:
    """Return the proof in a reason; None if there is none."""
    found = _PROOF.fullmatch(reason)
    return Proof(tuple(tuple(step) for step in json.loads(found[1])), int(found[2])) if found else None
