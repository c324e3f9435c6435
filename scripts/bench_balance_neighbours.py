"""The section of `bench balance` about neighbours: what the other questions about an image tell of an answer."""

from __future__ import annotations

import json
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from bench_balance_data import Asked, Record

import vqagen
from vqagen.score.gold.phrases import Phrase, phrases
from vqagen.shortcuts.stats.guessing import guess_each
from vqagen.shortcuts.stats.sample import Clue

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from naive_entailment import Question, entailed
from naive_vocabulary import make_world
from naive_words import facts_of

CHECKED = 1_000
"""Scenes in which is looked for questions that the others tell the answer of."""
NEAREST = 2
"""Last phrases of a question that the phrases of others are compared with."""
ZERO_HOP = "zero_hop queries"
_DOMAIN = vqagen.load_domain_files(vqagen.find_domain()).catalogue.domain
_VALUES = [(f"filter_{attribute.name}", value) for attribute in _DOMAIN.attributes for value in attribute.values]


def neighbour_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return how many questions the others settle, and what is guessed of an answer by words and by the others too.

    `tree` learns from the words of a question as in the section `words`; `tree with the others` also from the phrases
    and answers of the other questions about the image.
    """
    told, questions = _told(tested)
    figures: dict[str, float] = {
        "told by the others": sum(told.values()) / sum(questions.values()),
        f"told by the others, {ZERO_HOP}": told[ZERO_HOP] / max(1, questions[ZERO_HOP]),
    }
    own, others = _accuracy(learned.all_clues, tested.all_clues), _accuracy(_with_others(learned), _with_others(tested))
    for kind in sorted(own, key=lambda kind: (kind != "", kind)):
        name = f", {kind}" if kind else ""
        figures |= {f"tree{name}": own[kind], f"tree with the others{name}": others[kind]}
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


def _accuracy(learned: Sequence[Clue], tested: Sequence[Clue]) -> dict[str, float]:
    """Return type -> share of the tested questions that a tree answers; "" for all."""
    folds = [0] * len(learned) + [1] * len(tested)
    guesses = guess_each([*learned, *tested], folds, ("tree",))["tree"][len(learned) :]
    right, questions = Counter[str](), Counter[str]()
    for clue, guess in zip(tested, guesses, strict=True):
        for kind in ("", clue.type):
            questions[kind] += 1
            right[kind] += guess == clue.answer
    return {kind: right[kind] / questions[kind] for kind in questions}


# What the others say ----------------------------------------------------------------------------------------------


class _Said(NamedTuple):
    """What a question says: its phrases, with the answer where it is a value of the last one; and a count or yes/no."""

    phrases: Sequence[Phrase]
    told: Sequence[Phrase]
    number: int


def _with_others(asked: Asked) -> list[Clue]:
    """Return the clues of all seeds; features of the other questions about the image are added."""
    found = []
    for seed, clues in enumerate(asked.clues):
        places = iter(clues)
        for records in _by_scene(asked, seed).values():
            said = [_said(asked, record) for record in records]
            for place in range(len(records)):
                clue = next(places)
                extra = _features(said[place], [*said[:place], *said[place + 1 :]])
                found.append(clue._replace(features=clue.features + array("i", extra)))
    return found


def _said(asked: Asked, record: Record) -> _Said:
    nodes = asked.program(record).nodes
    own, answer, last = list(phrases(nodes)), str(record["answer"]), nodes[-1].function
    told = list(own)
    if last.startswith("query_") and told:
        told[-1] |= {(f"filter_{last.removeprefix('query_')}", answer)}
    number = int(answer) if answer.isdigit() else {"yes": 11, "true": 11, "no": 12, "false": 12}.get(answer.lower(), -1)
    return _Said(own, told, number)


def _features(question: _Said, others: Sequence[_Said]) -> Iterator[int]:
    """Yield how often the others say each value, of phrases that hold the question's last ones and of any phrase."""
    said = [phrase for other in others for phrase in other.told]
    for place in range(NEAREST):
        asked = question.phrases[-1 - place] if place < len(question.phrases) else None
        nearest = [phrase for phrase in said if asked is not None and asked <= phrase]
        yield len(nearest)
        yield sum(1 for phrase in said if asked is not None and phrase < asked)
        yield from _values(nearest)
        ends = [each.number for each in others if asked is not None and each.told and each.told[-1] == asked]
        yield max(ends, default=-1)
    yield from _values(said)
    yield len(others)
    yield max((each.number for each in others if each.number < 11), default=-1)


def _values(found: Sequence[Phrase]) -> list[int]:
    counts = Counter(chain.from_iterable(found))
    return [counts[value] for value in _VALUES]
