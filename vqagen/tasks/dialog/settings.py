"""The settings of the dialog generator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from vqagen.errors import unknown
from vqagen.tasks.settings import RunSettings, setting

STRICT, LEGACY = SEMANTICS = "strict", "legacy"
NEAREST, LITERAL = READINGS = "nearest", "literal"
"""Readings of "the thing left of it": the next one in the order, or the only one."""
REPEATED, ANY = EXTREME_ATTRIBUTES = "repeated", "any"
EXTREME, UNIQUE, COUNT, RELATION = CAPTION_CATEGORIES = "extreme", "unique", "count", "relation"
MOST_ROUNDS = 100


@dataclass(frozen=True)
class DialogSettings(RunSettings):
    """All that decides which dialogs are made about a scene."""

    dialogs_per_image: int = setting(5, "Dialogs about each scene.", least=1)
    rounds: int = setting(10, "Rounds of each dialog, after its caption.", least=1)
    semantics: str = setting(
        STRICT,
        "legacy: the looser preconditions of the CLEVR-Dialog generator; its rounds can be ambiguous or redundant.",
        choices=SEMANTICS,
    )
    rel_seek: str = setting(
        NEAREST,
        "Attributes of things in a direction: nearest asks for the next one, literal only where there is just one.",
        choices=READINGS,
    )
    caption_mix: str = setting(
        "",
        "Weights of the kinds of captions, such as extreme=2,unique=1,count=1,relation=0. "
        "[default: one of each, then any]",
        metavar="KIND=N,…",
    )
    extreme_attributes: str = setting(
        REPEATED,
        "Values of the leftmost thing that captions say: repeated ones, which other things have too, or any.",
        choices=EXTREME_ATTRIBUTES,
    )
    beams: int = setting(5, "Unfinished dialogs kept in each round of the search.", least=1)
    quotas: str = setting(
        "smooth",
        "Shares of count, exist and seek questions: smooth, paper, reference, none, or a JSON file.",
        metavar="NAME|FILE",
    )
    target_distance: float = setting(
        0.0, "Mean coreference distance to aim for; 0 for none.", types=(float, int), metavar="ROUNDS"
    )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.rounds > MOST_ROUNDS:
            yield f"--rounds must be at most {MOST_ROUNDS}, found {self.rounds}"
        if not isfinite(self.target_distance) or self.target_distance < 0:
            yield f"--target-distance must be 0 or a distance above it, found {self.target_distance}"
        yield from (f"--caption-mix: {fault}" for fault in _mix_faults(self.caption_mix))

    def to_record(self) -> dict[str, Any]:
        """Return the settings as JSON holds them; a file of quotas without its folder, which others do not have."""
        return {**super().to_record(), "quotas": Path(self.quotas).name}

    @property
    def caption_weights(self) -> dict[str, float]:
        """Category of captions -> its weight; empty for one of each."""
        pairs = (pair.partition("=") for pair in self.caption_mix.split(",") if pair.strip())
        return {name.strip(): float(weight) for name, _, weight in pairs}


def _mix_faults(mix: str) -> Iterator[str]:
    total, names, is_readable = 0.0, [], True
    for pair in mix.split(",") if mix else ():
        name, _, weight = (part.strip() for part in pair.partition("="))
        names.append(name)
        if name in CAPTION_CATEGORIES and _is_weight(weight):
            total += float(weight)
            continue
        is_readable = False
        if name not in CAPTION_CATEGORIES:
            yield unknown("kind of captions", name, CAPTION_CATEGORIES)
        else:
            yield f"expected {name}=WEIGHT with a number of at least 0, found {pair.strip()!r}"
    if len(names) > len(dict.fromkeys(names)):
        yield "a kind of captions is given twice"
    elif mix and is_readable and not total:
        yield "one weight must be above 0"


def _is_weight(text: str) -> bool:
    try:
        return isfinite(float(text)) and float(text) >= 0
    except ValueError:
        return False
