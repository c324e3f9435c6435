"""The section of `bench balance` about one question at a time: its place among those of its family, and its words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import compress
from statistics import fmean
from typing import NamedTuple

import numpy as np
from bench_balance_data import Asked, Record

import vqagen
from vqagen.extras import in_one_thread
from vqagen.items.groups import RANKED, counts_of, families_of, types_of
from vqagen.items.guessing import YES_NO
from vqagen.language.program import Node
from vqagen.shortcuts.clues import PHRASES, clues_of, phrases
from vqagen.shortcuts.learners import LEARNABLE

CHECKED = 10_000
"""Questions whose words are dropped one by one."""


def word_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return what is guessed by family (majority), by words (tree) and by the place in the window (order), and more."""
    asked = list(_questions(tested))
    taught = list(_questions(learned))
    guesses = {"majority": _majority(taught, asked), "tree": _tree(taught, asked), "order": _order(taught, asked)}
    right = {
        name: [each.answer == one for each, one in zip(asked, found, strict=True)] for name, found in guesses.items()
    }
    kinds = [each.type for each in asked]
    figures: dict[str, float] = {"questions learned from": len(taught)}
    for kind in ("all", *sorted(set(kinds))):
        chosen = [kind in ("all", each) for each in kinds]
        shares = {name: fmean(compress(found, chosen)) for name, found in right.items()}
        figures |= {f"{kind}, {name}": share for name, share in shares.items()}
        figures[f"{kind}, tree minus majority"] = shares["tree"] - shares["majority"]
    figures["worst yes/no family, tree"] = _worst_yes_no(asked, right["tree"])
    figures |= _families(tested)
    figures |= _droppable(tested)
    figures["wrong answers"] = vqagen.verify(tested.files[0], tested.scenes, domain=tested.domain).mismatched
    figures["questions a scene"] = len(asked) / (len(tested.files) * tested.number_of_scenes)
    figures["ms a scene"] = tested.milliseconds
    return figures


class _Question(NamedTuple):
    """What is known of a question without the picture, and its answer."""

    family: str
    type: str
    answer: str
    place: int
    """Its number among the questions of its family in its window, from 1 on."""
    features: tuple[int, ...]
    """How much phrases say and share with each other (see `phrases`), and which attributes each says."""


def _questions(asked: Asked) -> Iterator[_Question]:
    for seed, items in enumerate(asked.items):
        met: Counter[tuple[int, str]] = Counter()
        families, types, clues = families_of(items), types_of(items), clues_of(items.learning.programs)
        for place, record in enumerate(asked.records(seed)):
            family = families.at(place)
            key = record["scene_index"] // asked.window if asked.window else 0, family
            met[key] += 1
            features = (*clues.at(place), *_attributes_said(asked, record))
            yield _Question(family, types.at(place), items.answers.at(place), met[key], features)


def _attributes_said(asked: Asked, record: Record) -> Iterator[int]:
    """Yield 1 for each attribute that a phrase says and 0 for each other; -1 for attributes of absent phrases."""
    filters = [f"filter_{attribute.name}" for attribute in asked.loaded.domain.attributes]
    said = [{word[0] for word in phrase} for phrase in phrases(asked.program(record).nodes)]
    for number in range(PHRASES):
        for name in filters:
            yield int(name in said[number]) if number < len(said) else -1


def _most_frequent(answers: Counter[str]) -> str:
    return min(answers, key=lambda answer: (-answers[answer], answer))


def _majority(taught: Sequence[_Question], asked: Sequence[_Question]) -> list[str]:
    """Guess the most frequent answer of the family; "" for an unknown family."""
    return _by_key(taught, asked, lambda each: each.family)


def _by_key(taught: Sequence[_Question], asked: Sequence[_Question], key: Callable[[_Question], Hashable]) -> list[str]:
    answers: defaultdict[Hashable, Counter[str]] = defaultdict(Counter)
    for each in taught:
        answers[key(each)][each.answer] += 1
    guesses = {known: _most_frequent(counts) for known, counts in answers.items()}
    return [guesses.get(key(each), "") for each in asked]


def _order(taught: Sequence[_Question], asked: Sequence[_Question]) -> list[str]:
    """Guess for the fifth question of a family in its window what most fifth questions of the family had, and so on."""
    found = _by_key(taught, asked, lambda each: (each.family, each.place))
    return [one or other for one, other in zip(found, _majority(taught, asked), strict=True)]


def _tree(taught: Sequence[_Question], asked: Sequence[_Question]) -> list[str]:
    """Guess by boosted trees of what phrases say, learned for each family by itself.

    One for all families of a type sees less: of 80,000 questions it gained .022 where these gained .035.
    """
    guesses = list(_majority(taught, asked))
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(asked):
        places[each.family].append(place)
    own: defaultdict[str, list[_Question]] = defaultdict(list)
    for each in taught:
        own[each.family].append(each)
    with in_one_thread("guessing"):
        from sklearn.ensemble import HistGradientBoostingClassifier

        for family, theirs in places.items():
            answers = [each.answer for each in own[family]]
            if len(answers) < LEARNABLE or len(set(answers)) < 2:
                continue
            trees = HistGradientBoostingClassifier(
                random_state=0, max_iter=30, max_leaf_nodes=4, early_stopping=False
            ).fit(np.array([each.features for each in own[family]]), answers)
            found = trees.predict(np.array([asked[place].features for place in theirs]))
            for place, answer in zip(theirs, found, strict=True):
                guesses[place] = str(answer)
    return guesses


def _worst_yes_no(asked: Sequence[_Question], right: Sequence[bool]) -> float:
    """Return the share that the tree gets right of the yes/no family that it guesses best."""
    by_family: defaultdict[str, list[bool]] = defaultdict(list)
    for each, is_right in zip(asked, right, strict=True):
        if each.answer in YES_NO:
            by_family[each.family].append(is_right)
    return max((fmean(found) for found in by_family.values() if len(found) >= RANKED), default=0.0)


def _families(asked: Asked) -> dict[str, float]:
    """Return how even the shares of families are, all seeds together."""
    counts = sum((Counter(counts_of(families_of(items))) for items in asked.items), Counter[str]())
    return {
        "families, least/most": min(counts.values()) / max(counts.values()),
        "families without a question": len(asked.loaded.templates) - len(counts),
    }


def _droppable(asked: Asked) -> dict[str, float]:
    """Return the share of references that say more than they need, and of questions with a filter to drop.

    A reference to one object says more than it needs if it means the same object without one of its filters; a filter
    of any phrase can be dropped if the answer is the same without it.
    """
    references = long = questions = droppable = 0
    step = max(1, len(asked.items[0]) // CHECKED)
    for place, record in enumerate(asked.records()):
        if place % step:
            continue
        program, scene = asked.program(record), asked.compiled[record["scene_index"]]
        outputs = program.outputs(scene)
        spare = [number for number in _filters(program) if _without(program, scene, number, -1) == outputs[-1]]
        questions, droppable = questions + 1, droppable + bool(spare)
        for number, node in enumerate(program.nodes):
            if node.function == "unique":
                references += 1
                chain = _chain(program.nodes, number)
                long += any(_without(program, scene, each, number) == outputs[number] for each in chain)
    return {
        "references that say more than needed": long / references,
        "questions with a spare filter": droppable / questions,
    }


def _filters(program: vqagen.Program) -> list[int]:
    return [number for number, node in enumerate(program.nodes) if node.function.startswith("filter_")]


def _chain(nodes: Sequence[Node], end: int) -> Iterator[int]:
    """Yield the filters that end in a node."""
    at = nodes[end].inputs[0]
    while nodes[at].function.startswith("filter_"):
        yield at
        at = nodes[at].inputs[0]


def _without(program: vqagen.Program, scene: vqagen.Scene, dropped: int, asked_for: int) -> object:
    """Return the result of a node (-1: the answer) if a filter gives what it takes; None if there is none."""
    results: list[object] = []
    try:
        for number, (function, inputs, values) in enumerate(program.nodes):
            given = [results[i] for i in inputs]
            results.append(given[0] if number == dropped else program.catalogue[function].run(scene, *given, *values))
    except vqagen.Undefined:
        if not 0 <= asked_for < len(results):
            return None
    return results[asked_for]
