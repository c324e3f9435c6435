"""Exchange blocks: questions that share their options, each of which is the right answer of one of them.

A block of four questions has four different answers, and these are the options of all four. A rule that sees only the
options says the same for each question of a block, and so is right for one of four, whatever it is and whatever it has
learned. Their texts also name the same of the options, so that it does not help to choose or to avoid what is said.
Example: three scenes, whose objects are of these colors, and a question about a color in each.

    right   others in the scene
    red     blue, green, gray         a block of the options red, blue and green; gray cannot be added, which is in no
    blue    red, green                other scene, and without which three questions are left
    green   red, blue
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count
from random import Random
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.bits import Objects, indexes, union_of
from vqagen.dataset.settings import ChoiceSettings
from vqagen.rng import pick, shuffled, stream

NO_SCENE = -1


class Posed(NamedTuple):
    """A question that is to get options."""

    kind: str
    """The type of its answers."""
    function: str
    """The last function of its program."""
    family: str
    answer: str
    wrong: tuple[str, ...]
    mistakes: tuple[str, ...]
    """With `hard`, the mistake that gives each wrong answer; else empty."""
    said: tuple[str, ...] = ()
    """The answers of its type that its text names."""
    steps: int = 0
    """The length of its program."""
    scene: int = NO_SCENE
    """The scene whose objects are its options, if they are objects: a block has one picture, with letters on them."""
    lacks: str = ""
    """Why it has no wrong answers, if it has none."""


class Dealt(NamedTuple):
    """The options of a question."""

    block: int
    options: tuple[str, ...]
    choice: int
    """The place of the right one."""


_LENGTH, _FAMILY, _FUNCTION = "length", "family", "function"
"""What the questions of a block have in common; of a family and length, of a family, or of the last function."""


def deal(posed: Sequence[Posed], settings: ChoiceSettings) -> list[Dealt | None]:
    """Return the options of each question, or None. The seed and the order of the questions decide them."""
    dealt: list[Dealt | None] = [None] * len(posed)
    blocks = count()
    sizes = range(settings.options, 1, -1)
    rounds = [(by, size) for size in sizes for by in (_LENGTH, _FAMILY)] + [(_FUNCTION, size) for size in sizes]
    for round_, (by, size) in enumerate(rounds):
        groups: dict[tuple[str | int, ...], list[int]] = {}
        for number, each in enumerate(posed):
            if dealt[number] is None and len(each.wrong) >= size - 1:
                keys = each.kind, each.function if by == _FUNCTION else each.family or each.function
                groups.setdefault((*keys, each.steps if by == _LENGTH else 0, each.scene), []).append(number)
        for index, members in enumerate(groups.values()):
            rng = stream(settings.seed, f"options {round_}", index)
            codes = {text: code for code, text in enumerate(sorted({posed[number].answer for number in members}))}
            texts = list(codes)
            for block in exchange_blocks([_asked(number, posed[number], codes) for number in members], size, rng):
                name = next(blocks)
                for number, order in arranged(block, rng, posed[next(iter(block))].scene != NO_SCENE):
                    dealt[number] = Dealt(name, tuple(texts[code] for code in order), order.index(block[number]))
    return dealt


def _asked(number: int, posed: Posed, codes: Mapping[str, int]) -> BlockQuestion:
    fitting, said = (
        union_of(codes[text] for text in texts if text in codes) for texts in ((posed.answer, *posed.wrong), posed.said)
    )
    return BlockQuestion(number, codes[posed.answer], fitting, said)


# Blocks ---------------------------------------------------------------------------------------------------------------


class BlockQuestion(NamedTuple):
    """A question as blocks see it: answers are numbers, sets of them ints (see `bits`)."""

    number: int
    """The question's own number."""
    answer: int
    fitting: Objects
    """The answers that can be its options, the right one included."""
    said: Objects = 0
    """The answers that its text names, such as red in "What color is the thing behind the red cube?"."""


Block = Mapping[int, int]
"""Number of a question -> its answer."""
_Kind = tuple[int, Objects, Objects]
"""Answer, fitting answers and those of them that are said: questions in which these are the same are exchangeable."""
_Cell = tuple[int, int]
"""Row and column of the table of sets."""


def exchange_blocks(questions: Sequence[BlockQuestion], size: int, rng: Random) -> Iterator[Block]:
    """Yield blocks of `size` questions as long as there are any; those that are left are in none.

    Each block takes the set of options whose scarcest answer has the most questions left, so that frequent answers are
    used up first; ties are drawn. Of the questions with an answer, those with the fewest fitting options come first.
    """
    of_kind: dict[_Kind, list[int]] = {}
    for each in shuffled(rng, questions):
        of_kind.setdefault((each.answer, each.fitting, each.said & each.fitting), []).append(each.number)
    kinds = sorted(of_kind, key=lambda kind: (kind[1].bit_count(), kind))
    sets, cells_of = _sets_of(kinds, size)
    if not sets:
        return
    left = np.zeros((len(sets), size), dtype=np.int64)
    kinds_at: dict[_Cell, list[_Kind]] = {}
    for kind in kinds:
        rows, columns = cells_of[kind]
        left[rows, columns] += len(of_kind[kind])
        for cell in zip(rows.tolist(), columns.tolist(), strict=True):
            kinds_at.setdefault(cell, []).append(kind)
    scores = _scores(left)
    while True:
        row = pick(rng, np.flatnonzero(scores == scores.max()).tolist())
        if not left[row].all():
            return
        block = {}
        for column, answer in enumerate(sets[row]):
            kind = next(each for each in kinds_at[row, column] if of_kind[each])
            block[of_kind[kind].pop()] = answer
            rows, columns = cells_of[kind]
            left[rows, columns] -= 1
            scores[rows] = _scores(left[rows])
        yield block


def _scores(left: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the score of each set of options: how often its scarcest answer is left, and next how often all are."""
    scores: NDArray[np.int64] = (left.min(axis=1) << 32) + left.sum(axis=1)
    return scores


def _sets_of(
    kinds: Sequence[_Kind], size: int
) -> tuple[list[tuple[int, ...]], dict[_Kind, tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Return all sets of `size` options that a question fits, and the cells (set, answer) that each kind fits.

    A set of which questions name other options is another set.
    """
    rows: dict[tuple[tuple[int, ...], Objects], int] = {}
    found = {}
    for kind in kinds:
        answer, fitting, said = kind
        others = indexes(fitting & ~(1 << answer))
        sets = [tuple(sorted((answer, *rest))) for rest in combinations(others, size - 1)]
        numbers = [rows.setdefault((each, said & union_of(each)), len(rows)) for each in sets]
        columns = np.array([each.index(answer) for each in sets], dtype=np.int64)
        found[kind] = np.array(numbers, dtype=np.int64), columns
    return [each for each, _ in rows], found


def arranged(block: Block, rng: Random, is_marked: bool = False) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield each question of a block with its options in order: the right one stands once at every place.

    With `is_marked`, all have the same order.
    """
    if is_marked:
        common = tuple(shuffled(rng, list(block.values())))
        yield from ((number, common) for number in block)
        return
    places = shuffled(rng, range(len(block)))
    for place, (number, answer) in zip(places, block.items(), strict=True):
        order = shuffled(rng, [other for other in block.values() if other != answer])
        order.insert(place, answer)
        yield number, tuple(order)
