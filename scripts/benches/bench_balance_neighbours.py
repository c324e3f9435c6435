"""The section of `bench balance` about neighbours: what the other questions about an image tell of an answer."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from bench_balance_data import Asked, Record

import vqagen
from vqagen.items.groups import places_by, types_of
from vqagen.items.guessing import Guessing
from vqagen.shortcuts.predictors import NAMED, predict

sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("tests", "tests/helpers")]

from oracles.naive_entailment import Question, entailed
from oracles.naive_vocabulary import make_world
from oracles.naive_words import facts_of

CHECKED = 1_000
"""Scenes in which is looked for questions that the others tell the answer of."""
ZERO_HOP = "zero_hop queries"


def neighbour_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return how many questions the others settle, and what is guessed of an answer by words and by the others too.

    `tree` learns from the phrases of a question's program; `others` also from the answers to the other questions about
    the image. Both are predictors of vqagen, which `stats` and `audit` show.
    """
    told, questions = _told(tested)
    figures: dict[str, float] = {
        "told by the others": sum(told.values()) / sum(questions.values()),
        f"told by the others, {ZERO_HOP}": told[ZERO_HOP] / max(1, questions[ZERO_HOP]),
    }
    own, others = (_accuracy(learned, tested, name) for name in ("tree", "others"))
    for kind in sorted(own, key=lambda kind: (kind != "", kind)):
        name = f", {kind}" if kind else ""
        figures |= {f"tree{name}": own[kind], f"others{name}": others[kind]}
    return figures


def _told(asked: Asked) -> tuple[Counter[str], Counter[str]]:
    """Return the questions whose answers the others tell, and all, by kind."""
    metadata = json.loads(vqagen.find_domain("clevr").metadata.read_text("utf-8"))
    scenes, facts = json.loads(asked.scenes.read_bytes())["scenes"][:CHECKED], facts_of(metadata)
    found, questions = Counter[str](), Counter[str]()
    for index, records in _by_scene(asked, 0).items():
        if index < len(scenes):
            world = make_world(scenes[index], metadata)
            told = [*entailed([Question(facts, record["program"], world) for record in records])]
            found.update(_kind(records[place]) for place in told)
            questions.update(map(_kind, records))
    return found, questions


def _kind(record: Record) -> str:
    is_query = record["question_type"] == "query" and record["template_filename"] == "zero_hop.json"
    return ZERO_HOP if is_query else "other"


def _by_scene(asked: Asked, seed: int) -> dict[int, list[Record]]:
    found: defaultdict[int, list[Record]] = defaultdict(list)
    for record in asked.records(seed):
        found[record["scene_index"]].append(record)
    return found


def _accuracy(learned: Asked, tested: Asked, predictor: str) -> dict[str, float]:
    """Return type -> share of the tested questions that a predictor answers, seed by seed; "" for all."""
    right, questions = Counter[str](), Counter[str]()
    for taught, asked in zip(learned.items, tested.items, strict=True):
        found = predict(NAMED[predictor], Guessing.across(taught, asked)).expected[-len(asked) :]
        for kind, places in {"": range(len(asked)), **places_by(types_of(asked))}.items():
            questions[kind] += len(places)
            right[kind] += float(found[places].sum())
    return {kind: right[kind] / questions[kind] for kind in questions}
