"""The section of `bench balance` about one question at a time: its place among those of its family, and its words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from bench_balance_data import Asked

import vqagen
from vqagen.judge.stats.guessing import Guessing, guess_others
from vqagen.judge.stats.sample import Clue
from vqagen.language.program import Node

CHECKED = 10_000
"""Questions whose words are dropped one by one."""


def word_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return what is guessed by family (majority), by words (tree) and by the place in the window (order), and more."""
    guessing = guess_others(learned.all_clues, tested.all_clues, True)
    order = _guess_by_order(learned, tested)
    majority, tree = (guessing.mean_of_types(name) for name in ("majority", "tree"))
    figures: dict[str, float] = {
        "questions learned from": len(learned.all_clues),
        "majority": guessing.everything.share("majority"),
        "tree": guessing.everything.share("tree"),
        "tree minus majority": guessing.everything.share("tree") - guessing.everything.share("majority"),
        "order": _share(sum(order.values(), Counter())),
        "mean of types, majority": majority,
        "mean of types, tree": tree,
        "mean of types, tree minus majority": tree - majority,
    }
    for kind, accuracy in sorted(guessing.types.items()):
        figures |= {f"{kind}, {name}": accuracy.share(name) for name in ("majority", "tree")}
        figures[f"{kind}, order"] = _share(order[kind])
    figures["worst yes/no family, tree"] = _worst(guessing)
    figures |= _families(tested)
    figures |= _droppable(tested)
    figures["wrong answers"] = vqagen.verify(tested.files[0], tested.scenes).mismatched
    figures["questions a scene"] = sum(each.questions for each in tested.censuses) / (
        len(tested.files) * tested.number_of_scenes
    )
    figures["ms a scene"] = tested.milliseconds
    return figures


def _worst(guessing: Guessing) -> float:
    worst = guessing.worst_yes_no()
    return guessing.families[worst].share("tree") if worst else 0.0


def _share(counts: Counter[bool]) -> float:
    return counts[True] / counts.total() if counts else 0.0


def _guess_by_order(learned: Asked, tested: Asked) -> dict[str, Counter[bool]]:
    """Return question type -> how often family and number in the window, from 1 on, tell the answer.

    The fifth question of a family in a window gets the answer that most fifth questions of the family had in windows
    that were learned from; where there were none, that of most questions of the family.
    """
    seen: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    for number, clue in _numbered(learned):
        seen[clue.family, number][clue.answer] += 1
        seen[clue.family, 0][clue.answer] += 1
    guess = {key: min(counts, key=lambda answer: (-counts[answer], answer)) for key, counts in seen.items()}
    right: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for number, clue in _numbered(tested):
        guessed = guess.get((clue.family, number), guess.get((clue.family, 0)))
        right[clue.type][guessed == clue.answer] += 1
    return right


def _numbered(asked: Asked) -> Iterator[tuple[int, Clue]]:
    """Yield each question with its number among those of its family in its window, from 1 on."""
    for clues in asked.clues:
        met: Counter[tuple[int, str]] = Counter()
        for clue in clues:
            assert clue.scene_index is not None
            key = clue.scene_index // asked.window if asked.window else 0, clue.family
            met[key] += 1
            yield met[key], clue


def _families(asked: Asked) -> dict[str, float]:
    """Return how even the shares of families are, all seeds together."""
    counts = sum((census.family_questions for census in asked.censuses), Counter[str]())
    loaded = {template.id for template in vqagen.load_domain_files(vqagen.find_domain()).templates}
    return {
        "families, least/most": min(counts.values()) / max(counts.values()),
        "families without a question": len(loaded) - len(counts),
    }


def _droppable(asked: Asked) -> dict[str, float]:
    """Return the share of references that say more than they need, and of questions with a filter to drop.

    A reference to one object says more than it needs if it means the same object without one of its filters; a filter
    of any phrase can be dropped if the answer is the same without it.
    """
    references = long = questions = droppable = 0
    step = max(1, asked.censuses[0].questions // CHECKED)
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
