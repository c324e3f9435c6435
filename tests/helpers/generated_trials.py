"""Trials of the generator with varied settings, as their files have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import cache
from random import Random
from typing import Any

import orjson
from handmade_trials import verified

import vqagen

Record = dict[str, Any]
DESIGNS: tuple[Mapping[str, Any], ...] = (
    {},
    {"paired": True, "width": 5},
    {"questions": "relational", "width": 5, "height": 5, "fill": 0.6},
    {"questions": "relational", "paired": True, "suffix": "never"},
    {"compat": "reference", "suffix": "always"},
    {"width": 8, "height": 8, "fill": 0.9, "related": 0.5, "suffix": "always", "size_share": 0.15},
    {"width": 3, "height": 3, "fill": 0.6, "blocked": 0.2},
    {"width": 6, "height": 5, "fill": 0.7, "blocked": 0.5, "related": 0.5, "physics_share": 1.0},
    {"width": 6, "height": 2, "horizontal_share": 1.0, "size_share": 0.0, "vertical_share": 0.0, "physics_share": 0.0},
    {"width": 2, "height": 8, "vertical_share": 0.5, "size_share": 0.5, "horizontal_share": 0.0, "suffix": "never"},
)
"""Settings that differ from each other in what can go wrong."""


def trials(count: int, **settings: Any) -> tuple[Record, ...]:
    """Return the records of the first trials, made once in a process if most are asked for first: each takes 8 ms."""
    settings = {"seed": 4, **settings}
    made = _made(**settings)
    if len(made) < count:
        made[:] = as_written(vqagen.trials(count=count, **settings))
    return tuple(made[:count])


@cache
def _made(**settings: Any) -> list[Record]:
    return []


def as_written(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return records as a file has them."""
    return tuple(orjson.loads(orjson.dumps(record)) for record in records)


def report_on(records: tuple[Record, ...], **settings: Any) -> vqagen.VerificationReport:
    """Return the report on trials made with some settings."""
    known = asdict(vqagen.DirectorSettings(**{"count": len(records), "render": ("none",), **settings}))
    return verified(*records, **known)


def random_designs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield settings at random without end; not all of them can be made."""
    rng = Random(seed)
    while True:
        yield {
            "seed": rng.randrange(1000),
            "width": rng.choice((2, 3, 4, 5, 6, 7, 8)),
            "height": rng.choice((2, 3, 4, 5, 6, 7, 8)),
            "fill": rng.choice((0.3, 0.5, 0.6, 0.7, 0.9, 0.95)),
            "blocked": rng.choice((0.2, 0.3, 0.4, 0.5, 0.6)),
            "related": rng.choice((0.0, 0.1, 0.3, 0.5, 0.7, 0.9)),
            "related_blocked": rng.choice((0.0, 0.2, 0.5, 0.8, 1.0)),
            "test_share": rng.choice((0.5, 0.5, 0.0, 0.3, 1.0)),
            "physics_share": rng.choice((0.5, 0.5, 0.0, 0.25, 1.0)),
            "size_share": rng.choice((0.25, 0.25, 0.0, 0.33)),
            "vertical_share": rng.choice((0.25, 0.25, 0.0, 0.33)),
            "horizontal_share": rng.choice((0.25, 0.25, 0.0, 0.33)),
            "questions": rng.choice(("superlative", "superlative", "relational")),
            "suffix": rng.choice(("directional", "directional", "always", "never")),
            "compat": rng.choice(("strict", "strict", "strict", "reference")),
            "paired": rng.random() < 0.25,
        }
